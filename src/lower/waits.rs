//! May a function wait, in a loop, for what another thread writes?
//!
//! A loop waits only if what ends it is read from memory within it. One whose condition holds a counter that the
//! loop itself steps on, by numbers that no thread but its own makes, ends by itself:
//!
//! | loop | may wait |
//! |---|---|
//! | `for (int i = t; i < n; i += 64)`, `while (s > 0) { ...; s >>= 1; }` | no |
//! | `while (*flag == 0);`, `do { seen = *flag; } while (!seen);` | yes |
//! | `for (;;) { if (*flag) break; }`, what a `goto` repeats | yes: nothing says when it ends |

use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Declaration, Expr, ExprKind, LocalId, Param, Stmt, StmtKind, Storage, Type};
use rustc_hash::FxHashSet;
use std::slice;

/// Whether some loop of a body may wait.
pub(super) fn may_wait(params: &[Param], body: &[Stmt]) -> bool {
    let all = within(body);
    let own = own_variables(params, &all);
    let is_lost = |expr: &&Expr| matches!(expr.kind, ExprKind::Damaged | ExprKind::Unsupported(_));
    let waits = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Loop { cond, .. } => !cond.as_ref().is_some_and(|cond| ends(stmt, cond, &own)),
        kind => matches!(
            kind,
            StmtKind::Unsupported(..)
                | StmtKind::Try(_)
                | StmtKind::Throw
                | StmtKind::Damaged
                | StmtKind::Goto(_)
        ),
    };
    all.iter().any(|stmt| waits(stmt) || exprs(stmt).iter().any(is_lost))
}

/// The variables that only the thread itself changes, and only by their name.
fn own_variables(params: &[Param], all: &[&Stmt]) -> FxHashSet<LocalId> {
    let is_value = |ty: &Type| matches!(ty, Type::Scalar(_) | Type::Named(_) | Type::Pointer(_));
    let of_params = params.iter().filter(|param| is_value(&param.ty)).map(|param| param.local);
    let mut own: FxHashSet<LocalId> = of_params.collect();
    let declared = || all.iter().filter_map(|stmt| declarations(stmt)).flatten();
    let by_value = declared().filter(|it| it.storage == Storage::Automatic && is_value(&it.ty));
    own.extend(by_value.map(|it| it.local));
    // What has another name, or is handed to somebody.
    let is_bound = |ty: &Type| matches!(ty, Type::Reference(_) | Type::Auto);
    let bound = declared().filter(|it| is_bound(&it.ty)).filter_map(|it| it.init.as_ref());
    let mut lent: Vec<&Expr> = bound.collect();
    for expr in all.iter().flat_map(|stmt| exprs(stmt)) {
        match &expr.kind {
            ExprKind::AddressOf(of) => lent.push(of),
            ExprKind::Call { args, .. } | ExprKind::Construct(_, args) => lent.extend(args),
            ExprKind::Asm(asm) => lent.extend(asm.outputs.iter().map(|(_, output)| output)),
            ExprKind::Lambda(lambda) => {
                let assigned = within(&lambda.body).into_iter().flat_map(assigned);
                assigned.for_each(|(local, _)| _ = own.remove(&local));
            }
            _ => {}
        }
    }
    for expr in lent {
        if let ExprKind::Local(local) = &expr.kind {
            own.remove(local);
        }
    }
    own
}

/// Whether a loop with this condition ends by itself.
fn ends(whole: &Stmt, cond: &Expr, own: &FxHashSet<LocalId>) -> bool {
    let changed: Vec<_> = within(slice::from_ref(whole)).into_iter().flat_map(assigned).collect();
    // What is made of something that is read.
    let mut read: FxHashSet<LocalId> = FxHashSet::default();
    loop {
        let made_of_it = |value: Option<&Expr>| value.is_some_and(|value| !is_plain(value, own, &read));
        let more: Vec<LocalId> =
            changed.iter().filter(|(_, value)| made_of_it(*value)).map(|it| it.0).collect();
        let before = read.len();
        read.extend(more);
        if read.len() == before {
            break;
        }
    }
    let steps_on = |expr: &&Expr| matches!(&expr.kind, ExprKind::Local(local) if changed.iter().any(|(changed, _)| changed == local));
    parts(cond).iter().any(steps_on) && is_plain(cond, own, &read)
}

/// Whether an expression is made of numbers and of the thread's own variables but for those in `read`.
fn is_plain(expr: &Expr, own: &FxHashSet<LocalId>, read: &FxHashSet<LocalId>) -> bool {
    parts(expr).into_iter().all(|expr| match &expr.kind {
        ExprKind::Local(local) => own.contains(local) && !read.contains(local),
        ExprKind::Member { arrow, .. } => !arrow,
        ExprKind::Call { .. }
        | ExprKind::Index(..)
        | ExprKind::Deref(_)
        | ExprKind::This
        | ExprKind::Lambda(_)
        | ExprKind::Launch(_)
        | ExprKind::Asm(_)
        | ExprKind::Unsupported(_)
        | ExprKind::Damaged => false,
        _ => true,
    })
}

/// Statements and all those inside them, those of lambdas among them.
fn within(stmts: &[Stmt]) -> Vec<&Stmt> {
    let mut all: Vec<&Stmt> = stmts.iter().collect();
    let mut at = 0;
    while let Some(stmt) = all.get(at).copied() {
        own_stmts(stmt, &mut |inner| all.push(inner));
        for expr in exprs(stmt) {
            if let ExprKind::Lambda(lambda) = &expr.kind {
                all.extend(&lambda.body);
            }
        }
        at += 1;
    }
    all
}

/// All expressions of a statement, those of statements inside it aside.
fn exprs(stmt: &Stmt) -> Vec<&Expr> {
    let mut all = Vec::new();
    own_exprs(stmt, &mut |expr| all.push(expr));
    all.into_iter().flat_map(parts).collect()
}

/// An expression and all in it; the body of a lambda is not in it.
fn parts(expr: &Expr) -> Vec<&Expr> {
    let mut all = vec![expr];
    let mut at = 0;
    while let Some(expr) = all.get(at).copied() {
        children(expr, &mut |child| all.push(child));
        at += 1;
    }
    all
}

fn declarations(stmt: &Stmt) -> Option<&[Declaration]> {
    match &stmt.kind {
        StmtKind::Declare(list) => Some(list),
        _ => None,
    }
}

/// Each variable that a statement gives a value, or one of its members, and the expression that this is made of
/// beside itself, if there is one.
fn assigned(stmt: &Stmt) -> Vec<(LocalId, Option<&Expr>)> {
    let by_expr = exprs(stmt).into_iter().filter_map(|expr| {
        let (to, value) = match &expr.kind {
            ExprKind::Assign(_, to, value) => (to, Some(&**value)),
            ExprKind::Step { target, .. } => (target, None),
            _ => return None,
        };
        let mut to = &**to;
        while let ExprKind::Member { base, arrow: false, .. } = &to.kind {
            to = base;
        }
        if let ExprKind::Local(local) = to.kind { Some((local, value)) } else { None }
    });
    let declared = declarations(stmt).unwrap_or_default().iter().map(|it| (it.local, it.init.as_ref()));
    by_expr.chain(declared).collect()
}
