//! Which functions does a function's text call?

use super::{Expr, ExprKind, Function, Name, Stmt, StmtKind};

/// The names of all functions called in a body, in order, with repetitions.
#[must_use]
pub fn called_names(function: &Function) -> Vec<Name> {
    let mut names = Vec::new();
    for stmt in function.body.iter().flatten() {
        stmt_names(stmt, &mut names);
    }
    names
}

fn stmts_names(stmts: &[Stmt], names: &mut Vec<Name>) {
    for stmt in stmts {
        stmt_names(stmt, names);
    }
}

fn stmt_names(stmt: &Stmt, names: &mut Vec<Name>) {
    match &stmt.kind {
        StmtKind::Expr(expr) => expr_names(expr, names),
        StmtKind::Declare(list) => {
            list.iter().filter_map(|d| d.init.as_ref()).for_each(|init| expr_names(init, names));
        }
        StmtKind::Block(body) | StmtKind::Unsupported(_, body) => stmts_names(body, names),
        StmtKind::If { cond, then, otherwise } => {
            expr_names(cond, names);
            stmts_names(then, names);
            stmts_names(otherwise, names);
        }
        StmtKind::Loop { cond, body, step, .. } => {
            cond.iter().chain(step).for_each(|e| expr_names(e, names));
            stmts_names(body, names);
        }
        StmtKind::Switch { value, cases } => {
            expr_names(value, names);
            cases.iter().for_each(|case| stmts_names(&case.body, names));
        }
        StmtKind::Return(Some(expr)) => expr_names(expr, names),
        StmtKind::Return(None) | StmtKind::Break | StmtKind::Continue | StmtKind::Damaged => {}
    }
}

fn expr_names(expr: &Expr, names: &mut Vec<Name>) {
    match &expr.kind {
        ExprKind::Call { callee, args } => {
            match &callee.kind {
                ExprKind::Path(path) => names.push(path.name.clone()),
                ExprKind::Member { base, name, .. } => {
                    names.push(name.clone());
                    expr_names(base, names);
                }
                _ => expr_names(callee, names),
            }
            args.iter().for_each(|arg| expr_names(arg, names));
        }
        ExprKind::Construct(_, items) | ExprKind::InitList(items) => {
            items.iter().for_each(|item| expr_names(item, names));
        }
        ExprKind::Lambda(lambda) => stmts_names(&lambda.body, names),
        ExprKind::Unary(_, a)
        | ExprKind::Step { target: a, .. }
        | ExprKind::Member { base: a, .. }
        | ExprKind::Deref(a)
        | ExprKind::AddressOf(a)
        | ExprKind::Cast(_, a)
        | ExprKind::SizeofExpr(a) => expr_names(a, names),
        ExprKind::Binary(_, a, b)
        | ExprKind::Assign(_, a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::Index(a, b) => {
            expr_names(a, names);
            expr_names(b, names);
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|e| expr_names(e, names)),
        ExprKind::Launch(launch) => launch.args.iter().for_each(|arg| expr_names(arg, names)),
        // A function handed on by name may be called.
        ExprKind::Path(path) => names.push(path.name.clone()),
        _ => {}
    }
}
