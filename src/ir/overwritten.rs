//! Does a round of a loop read what the round before left in a variable?
//!
//! ```text
//! int from = 0;
//! for (int tile = 0; tile < tiles; ++tile) {
//!     from = tile * 64;                  `from` is 0, 0, 64, 128, ... when a round begins: not affine,
//!     copy(a + from);                    but no round reads that
//! }
//! ```
//!
//! Each part of the text is asked two questions: may it read the variable before it writes it, and does it write it on
//! every path that leads on? A round carries the variable where the first holds for its body, or where its condition
//! or its step read it; a loop does also where anything outside of it reads what it leaves.

use super::visit::{children, own_exprs, own_stmts};
use super::{BinaryOp, Expr, ExprKind, LocalId, Stmt, StmtKind};
use crate::source::Span;

/// What a part of the text does with a variable.
#[derive(Clone, Copy, Default)]
struct Use {
    /// It may read what the variable held before.
    reads: bool,
    /// Whatever is run after it finds what it wrote.
    writes: bool,
}

impl Use {
    const READS: Use = Use { reads: true, writes: false };
    /// Nothing that follows is run.
    const LEAVES: Use = Use { reads: false, writes: true };

    fn then(self, next: Use) -> Use {
        Use { reads: self.reads || !self.writes && next.reads, writes: self.writes || next.writes }
    }

    fn or(self, other: Use) -> Use {
        Use { reads: self.reads || other.reads, writes: self.writes && other.writes }
    }

    /// Run any number of times, if at all.
    fn perhaps(self) -> Use {
        Use { reads: self.reads, writes: false }
    }
}

/// Whether a loop of the function with this body, told by its span and number, may be the same loop whatever the
/// variable holds when a round begins: each round writes it before it reads it, and nothing reads what the loop leaves.
pub(crate) fn is_overwritten(function: &[Stmt], (span, number): (Span, u32), variable: LocalId) -> bool {
    let mut found = None;
    let outside = around(function, (span, number), variable, &mut found);
    found.is_some_and(|inside| !inside) && !outside
}

/// Whether something reads the variable in these statements, but for the loop; of that, whether a round reads what the
/// one before left.
fn around(stmts: &[Stmt], wanted: (Span, u32), variable: LocalId, found: &mut Option<bool>) -> bool {
    let mut reads = false;
    for stmt in stmts {
        match &stmt.kind {
            StmtKind::Loop { cond, body, step, number, .. } if (stmt.span, *number) == wanted => {
                let mut ends = cond.iter().chain(step);
                *found = Some(ends.any(|it| expr(it, variable).reads) || of_all(body, variable).reads);
            }
            StmtKind::Damaged => reads = true,
            _ => {
                own_exprs(stmt, &mut |it| reads |= expr(it, variable).reads);
                if let StmtKind::Switch { cases, .. } = &stmt.kind {
                    let mut values = cases.iter().filter_map(|case| case.value.as_ref());
                    reads |= values.any(|it| expr(it, variable).reads);
                }
                own_stmts(stmt, &mut |inner| {
                    reads |= around(std::slice::from_ref(inner), wanted, variable, found)
                });
            }
        }
    }
    reads
}

fn of_all(stmts: &[Stmt], variable: LocalId) -> Use {
    stmts.iter().fold(Use::default(), |before, stmt| before.then(of(stmt, variable)))
}

fn of(stmt: &Stmt, variable: LocalId) -> Use {
    match &stmt.kind {
        StmtKind::Expr(it) => expr(it, variable),
        StmtKind::Declare(list) => {
            let all = list.iter().filter_map(|it| it.init.as_ref());
            all.fold(Use::default(), |before, it| before.then(expr(it, variable)))
        }
        StmtKind::Block(body) => of_all(body, variable),
        StmtKind::If { cond, then, otherwise } => {
            expr(cond, variable).then(of_all(then, variable).or(of_all(otherwise, variable)))
        }
        StmtKind::Loop { cond, body, step, .. } => {
            let parts = cond.iter().chain(step).map(|it| expr(it, variable));
            let reads = parts.fold(of_all(body, variable).reads, |reads, it| reads || it.reads);
            Use { reads, writes: false }
        }
        StmtKind::Switch { value, cases } => {
            let any = cases.iter().fold(Use::default(), |all, case| all.or(of_all(&case.body, variable)));
            expr(value, variable).then(any.perhaps())
        }
        StmtKind::Return(value) => {
            let value = value.as_ref().map_or(Use::default(), |it| expr(it, variable));
            value.then(Use::LEAVES)
        }
        StmtKind::Break | StmtKind::Continue | StmtKind::Throw => Use::LEAVES,
        StmtKind::Goto(_)
        | StmtKind::Label(_)
        | StmtKind::Try(_)
        | StmtKind::Unsupported(..)
        | StmtKind::Damaged => Use::READS,
    }
}

fn expr(it: &Expr, variable: LocalId) -> Use {
    match &it.kind {
        ExprKind::Local(local) => Use { reads: *local == variable, writes: false },
        ExprKind::Assign(None, target, value) if target.kind == ExprKind::Local(variable) => {
            expr(value, variable).then(Use { reads: false, writes: true })
        }
        ExprKind::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, first, second) => {
            expr(first, variable).then(expr(second, variable).perhaps())
        }
        ExprKind::Conditional(cond, a, b) => {
            expr(cond, variable).then(expr(a, variable).or(expr(b, variable)))
        }
        // It may be run later, and more than once.
        ExprKind::Lambda(_) | ExprKind::Unsupported(_) | ExprKind::Damaged => Use::READS,
        // What comes first is not told.
        _ => {
            let mut all = Use::default();
            children(it, &mut |child| {
                let child = expr(child, variable);
                all = Use { reads: all.reads || child.reads, writes: all.writes || child.writes };
            });
            all
        }
    }
}
