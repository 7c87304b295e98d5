//! Does the text alone tell a number of a launch, whatever host code does?
//!
//! ```text
//! const int n = 200;
//! dim3 grid(n / 256);                 told: nothing that is written changes `n` or `grid`
//! k<<<grid, threads>>>(...)           `threads` is a parameter: not told
//! ```
//!
//! What host code computes is followed elsewhere, but not all that may change it is seen. Where a number is to be
//! held against host code, it has to be one that nothing can change.

use super::machine::Machine;
use crate::ir::declared::declaration_in;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Declaration, Expr, ExprKind, LocalId, Stmt, StmtKind};

/// Variables that stand for each other, at the most.
const DEEP: usize = 8;

impl Machine<'_> {
    /// Whether the text tells what an expression of the running function is.
    pub(super) fn is_told(&self, expr: &Expr) -> bool {
        self.told_within(expr, DEEP)
    }

    fn told_within(&self, expr: &Expr, deep: usize) -> bool {
        let all = |items: &[Expr]| items.iter().all(|item| self.told_within(item, deep));
        match &expr.kind {
            ExprKind::Int(..) => true,
            ExprKind::Cast(_, inner) | ExprKind::Unary(_, inner) => self.told_within(inner, deep),
            ExprKind::Binary(_, a, b) => self.told_within(a, deep) && self.told_within(b, deep),
            ExprKind::Construct(_, items) | ExprKind::InitList(items) => all(items),
            ExprKind::Call { callee, args } => {
                matches!(&callee.kind, ExprKind::Path(path) if &*path.name == "dim3") && all(args)
            }
            ExprKind::Local(local) if deep > 0 => self.local_is_told(*local, deep - 1),
            ExprKind::Path(path) if deep > 0 => match self.program.variables(&path.name) {
                [only] => {
                    let init = only.init.as_ref().filter(|_| only.constant);
                    init.is_some_and(|init| self.told_within(init, deep - 1))
                }
                _ => false,
            },
            _ => false,
        }
    }

    fn local_is_told(&self, local: LocalId, deep: usize) -> bool {
        let Some(frame) = self.frame().filter(|_| self.lambdas.current.is_none()) else { return false };
        let body = frame.function.body.as_deref().unwrap_or(&[]);
        let Some(declaration) = declaration_in(body, local) else { return false };
        let stays = declaration.constant || !body.iter().any(|stmt| may_change(stmt, local));
        stays && declaration.init.as_ref().is_some_and(|init| self.told_within(init, deep))
    }
}

/// Whether a statement may change a variable after its declaration.
fn may_change(stmt: &Stmt, local: LocalId) -> bool {
    let mut found = matches!(
        stmt.kind,
        StmtKind::Unsupported(..) | StmtKind::Try(_) | StmtKind::Throw | StmtKind::Damaged
    );
    if let StmtKind::Declare(list) = &stmt.kind {
        // A reference to it.
        let bound = |it: &Declaration| {
            let is_reference = !matches!(it.ty, crate::ir::Type::Scalar(_) | crate::ir::Type::Named(_));
            is_reference && it.init.as_ref().is_some_and(|init| is_part(init, local))
        };
        found |= list.iter().any(bound);
    }
    own_exprs(stmt, &mut |expr| found |= changes(expr, local));
    own_stmts(stmt, &mut |inner| found |= may_change(inner, local));
    found
}

fn changes(expr: &Expr, local: LocalId) -> bool {
    let own = match &expr.kind {
        ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => is_part(target, local),
        ExprKind::AddressOf(inner) => is_part(inner, local),
        // It may take it by reference; a lambda may do anything.
        ExprKind::Call { args, .. } => args.iter().any(|arg| is_part(arg, local)),
        ExprKind::Lambda(_) => true,
        _ => false,
    };
    let mut found = own;
    children(expr, &mut |child| found |= changes(child, local));
    found
}

/// Whether an expression is the variable or a part of it.
fn is_part(expr: &Expr, local: LocalId) -> bool {
    match &expr.kind {
        ExprKind::Local(it) => *it == local,
        ExprKind::Member { base, .. } | ExprKind::Index(base, _) => is_part(base, local),
        _ => false,
    }
}
