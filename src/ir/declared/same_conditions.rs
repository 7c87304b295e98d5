//! Which conditional expressions ask again what the one before them has asked?
//!
//! ```text
//! a = t < n ? s[2 * t] : 0;
//! b = t < n ? s[2 * t + 1] : 0;   // the same, with nothing between
//! ```
//!
//! Said of neighbours in one block whose values are given to variables of the function that the condition does not
//! name, and of conditions that only compute: what they name is looked at where they are run.

use crate::ir::visit::children;
use crate::ir::{BinaryOp, Expr, ExprKind, LocalId, Stmt, StmtKind};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// By the place of a condition: that of the same condition before it.
pub(super) type Repeated = FxHashMap<Span, Span>;

/// The conditions of a body that are asked again.
pub(super) fn repeated(body: &[Stmt]) -> Repeated {
    let mut found = Found::default();
    found.stmts(body);
    // In a macro, several may have one place.
    found.twice.iter().for_each(|place| {
        found.repeated.remove(place);
    });
    found.repeated
}

#[derive(Default)]
struct Found {
    repeated: Repeated,
    seen: FxHashSet<Span>,
    twice: FxHashSet<Span>,
}

impl Found {
    fn stmts(&mut self, stmts: &[Stmt]) {
        let mut before: Option<(&Expr, LocalId)> = None;
        for stmt in stmts {
            match &stmt.kind {
                StmtKind::Declare(list) => {
                    for it in list {
                        before = self.next(before, it.init.as_ref().map(|init| (init, it.local)));
                    }
                }
                StmtKind::Expr(Expr { kind: ExprKind::Assign(_, target, value), .. }) => {
                    let given = match target.kind {
                        ExprKind::Local(local) => Some((&**value, local)),
                        _ => None,
                    };
                    before = self.next(before, given);
                }
                _ => before = None,
            }
            match &stmt.kind {
                StmtKind::Block(body)
                | StmtKind::Unsupported(_, body)
                | StmtKind::Try(body)
                | StmtKind::Loop { body, .. } => self.stmts(body),
                StmtKind::If { then, otherwise, .. } => {
                    [then, otherwise].iter().for_each(|it| self.stmts(it))
                }
                StmtKind::Switch { cases, .. } => cases.iter().for_each(|case| self.stmts(&case.body)),
                _ => {}
            }
        }
    }

    /// A variable is given a value; what the next one may repeat.
    fn next<'e>(
        &mut self,
        before: Option<(&'e Expr, LocalId)>,
        given: Option<(&'e Expr, LocalId)>,
    ) -> Option<(&'e Expr, LocalId)> {
        let (value, local) = given?;
        let cond = condition(value)?;
        if !self.seen.insert(cond.span) {
            self.twice.insert(cond.span);
        }
        if let Some((asked, changed)) = before
            && is_same(asked, cond)
            && !names(asked, changed)
        {
            self.repeated.insert(cond.span, asked.span);
        }
        Some((cond, local))
    }
}

/// The condition of which a value is the answer, where the sides change nothing.
fn condition(value: &Expr) -> Option<&Expr> {
    match &value.kind {
        ExprKind::Conditional(cond, a, b) => (!changes(a) && !changes(b)).then_some(cond),
        ExprKind::Cast(_, inner) => condition(inner),
        _ => None,
    }
}

/// Whether two conditions compute the same of the same numbers, and do nothing else.
fn is_same(one: &Expr, other: &Expr) -> bool {
    match (&one.kind, &other.kind) {
        (ExprKind::Local(a), ExprKind::Local(b)) => a == b,
        (ExprKind::Int(a, of), ExprKind::Int(b, other)) => a == b && of == other,
        (ExprKind::Path(a), ExprKind::Path(b)) => a == b,
        (
            ExprKind::Member { base: a, name: of, arrow: false, args: None, class: None },
            ExprKind::Member { base: b, name: other, arrow: false, args: None, class: None },
        ) => of == other && is_same(a, b),
        (ExprKind::Unary(op, a), ExprKind::Unary(other, b)) => op == other && is_same(a, b),
        (ExprKind::Binary(op, a, b), ExprKind::Binary(other, c, d)) => {
            op == other
                && !matches!(op, BinaryOp::LogicalAnd | BinaryOp::LogicalOr)
                && is_same(a, c)
                && is_same(b, d)
        }
        _ => false,
    }
}

/// Whether an expression may change a variable.
fn changes(expr: &Expr) -> bool {
    use ExprKind::{Asm, Assign, Call, Damaged, Lambda, Step, Unsupported};
    let mut found = matches!(
        expr.kind,
        Assign(..) | Step { .. } | Call { .. } | Lambda(_) | Asm(_) | Unsupported(_) | Damaged
    );
    children(expr, &mut |child| found |= changes(child));
    found
}

/// Whether a condition names a variable.
fn names(cond: &Expr, local: LocalId) -> bool {
    let mut found = matches!(cond.kind, ExprKind::Local(named) if named == local);
    children(cond, &mut |child| found |= names(child, local));
    found
}
