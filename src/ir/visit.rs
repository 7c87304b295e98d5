//! Which functions does a function's text call, and what does it launch?

use super::{Expr, ExprKind, Function, Name, Stmt, StmtKind};

/// Something that a visit finds.
#[derive(Clone, Copy, Debug)]
pub enum Found<'a> {
    /// A function called, or a name handed on that may be one.
    Name(&'a Name),
    /// A `<<<...>>>`.
    Launch(&'a Expr),
}

/// The names of all functions called in a body, in order, with repetitions.
#[must_use]
pub fn called_names(function: &Function) -> Vec<Name> {
    let mut names = Vec::new();
    visit_stmts(function.body.as_deref().unwrap_or(&[]), &mut |found| {
        if let Found::Name(name) = found {
            names.push(name.clone());
        }
    });
    names
}

/// The launches with `<<<...>>>` in a body.
#[must_use]
pub fn launches(function: &Function) -> Vec<&Expr> {
    let mut launches = Vec::new();
    visit_stmts(function.body.as_deref().unwrap_or(&[]), &mut |found| {
        if let Found::Launch(launch) = found {
            launches.push(launch);
        }
    });
    launches
}

/// Visits the calls and launches in statements, in order.
pub fn visit_stmts<'a>(stmts: &'a [Stmt], visit: &mut dyn FnMut(Found<'a>)) {
    for stmt in stmts {
        visit_stmt(stmt, visit);
    }
}

fn visit_stmt<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(Found<'a>)) {
    match &stmt.kind {
        StmtKind::Expr(expr) => visit_expr(expr, visit),
        StmtKind::Declare(list) => {
            list.iter().filter_map(|d| d.init.as_ref()).for_each(|init| visit_expr(init, visit));
        }
        StmtKind::Block(body) | StmtKind::Unsupported(_, body) => visit_stmts(body, visit),
        StmtKind::If { cond, then, otherwise } => {
            visit_expr(cond, visit);
            visit_stmts(then, visit);
            visit_stmts(otherwise, visit);
        }
        StmtKind::Loop { cond, body, step, .. } => {
            cond.iter().chain(step).for_each(|e| visit_expr(e, visit));
            visit_stmts(body, visit);
        }
        StmtKind::Switch { value, cases } => {
            visit_expr(value, visit);
            cases.iter().for_each(|case| visit_stmts(&case.body, visit));
        }
        StmtKind::Return(Some(expr)) => visit_expr(expr, visit),
        StmtKind::Return(None) | StmtKind::Break | StmtKind::Continue | StmtKind::Damaged => {}
    }
}

fn visit_expr<'a>(expr: &'a Expr, visit: &mut dyn FnMut(Found<'a>)) {
    match &expr.kind {
        ExprKind::Call { callee, args } => {
            match &callee.kind {
                ExprKind::Path(path) => visit(Found::Name(&path.name)),
                ExprKind::Member { base, name, .. } => {
                    visit(Found::Name(name));
                    visit_expr(base, visit);
                }
                _ => visit_expr(callee, visit),
            }
            args.iter().for_each(|arg| visit_expr(arg, visit));
        }
        ExprKind::Construct(_, items) | ExprKind::InitList(items) => {
            items.iter().for_each(|item| visit_expr(item, visit));
        }
        ExprKind::Lambda(lambda) => visit_stmts(&lambda.body, visit),
        ExprKind::Unary(_, a)
        | ExprKind::Step { target: a, .. }
        | ExprKind::Member { base: a, .. }
        | ExprKind::Deref(a)
        | ExprKind::AddressOf(a)
        | ExprKind::Cast(_, a)
        | ExprKind::SizeofExpr(a) => visit_expr(a, visit),
        ExprKind::Binary(_, a, b)
        | ExprKind::Assign(_, a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::Index(a, b) => {
            visit_expr(a, visit);
            visit_expr(b, visit);
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|e| visit_expr(e, visit)),
        ExprKind::Launch(launch) => {
            visit(Found::Launch(expr));
            launch.args.iter().for_each(|arg| visit_expr(arg, visit));
        }
        // A function handed on by name may be called.
        ExprKind::Path(path) => visit(Found::Name(&path.name)),
        _ => {}
    }
}
