//! Which functions does a function call, which kernels does it launch, and what do its expressions name?

use super::{Expr, ExprKind, Function, LocalId, Name, Stmt, StmtKind};

/// Something that a visit finds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Found<'a> {
    /// A function called, or a name handed on that may be one.
    Name(&'a Name),
    /// A `<<<...>>>`.
    Launch(&'a Expr),
}

/// The names of all functions called in a body, in order, with repetitions.
#[must_use]
pub(crate) fn called_names(function: &Function) -> &[Name] {
    function.calls.get_or_find(|| {
        let mut names = Vec::new();
        visit_stmts(function.body.as_deref().unwrap_or(&[]), &mut |found| {
            if let Found::Name(name) = found {
                names.push(name.clone());
            }
        });
        names
    })
}

/// Whether an expression names a variable of its function.
#[must_use]
pub(crate) fn names_local(expr: &Expr, local: LocalId) -> bool {
    let mut found = matches!(expr.kind, ExprKind::Local(it) if it == local);
    children(expr, &mut |child| found = found || names_local(child, local));
    found
}

/// The launches with `<<<...>>>` in a body.
#[must_use]
pub(crate) fn launches(function: &Function) -> Vec<&Expr> {
    let mut launches = Vec::new();
    visit_stmts(function.body.as_deref().unwrap_or(&[]), &mut |found| {
        if let Found::Launch(launch) = found {
            launches.push(launch);
        }
    });
    launches
}

/// Visits the calls and launches in statements, in order.
pub(crate) fn visit_stmts<'a>(stmts: &'a [Stmt], visit: &mut dyn FnMut(Found<'a>)) {
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
        StmtKind::Block(body) | StmtKind::Unsupported(_, body) | StmtKind::Try(body) => {
            visit_stmts(body, visit)
        }
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
        StmtKind::Return(None)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Goto(_)
        | StmtKind::Label(_)
        | StmtKind::Throw
        | StmtKind::Damaged => {}
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
        ExprKind::Lambda(lambda) => visit_stmts(&lambda.body, visit),
        ExprKind::Launch(launch) => {
            visit(Found::Launch(expr));
            launch.args.iter().for_each(|arg| visit_expr(arg, visit));
        }
        // A function handed on by name may be called.
        ExprKind::Path(path) => visit(Found::Name(&path.name)),
        ExprKind::Asm(_) => {}
        _ => children(expr, &mut |child| visit_expr(child, visit)),
    }
}

/// Visits the expressions directly inside an expression, in order; the body of a lambda is not
/// inside it.
pub(crate) fn children<'a>(expr: &'a Expr, visit: &mut dyn FnMut(&'a Expr)) {
    match &expr.kind {
        ExprKind::Call { callee, args } => {
            visit(callee);
            args.iter().for_each(visit);
        }
        ExprKind::Construct(_, items) | ExprKind::InitList(items) => items.iter().for_each(visit),
        ExprKind::Unary(_, a)
        | ExprKind::Step { target: a, .. }
        | ExprKind::Member { base: a, .. }
        | ExprKind::Deref(a)
        | ExprKind::AddressOf(a)
        | ExprKind::Cast(_, a)
        | ExprKind::Designated(_, a)
        | ExprKind::SizeofExpr(a) => visit(a),
        ExprKind::Binary(_, a, b)
        | ExprKind::Assign(_, a, b)
        | ExprKind::Comma(a, b)
        | ExprKind::Index(a, b) => {
            visit(a);
            visit(b);
        }
        ExprKind::Conditional(a, b, c) => [a, b, c].into_iter().for_each(|e| visit(e)),
        ExprKind::Launch(launch) => {
            visit(&launch.kernel);
            [&launch.grid, &launch.block, &launch.dynamic_bytes].into_iter().flatten().for_each(&mut *visit);
            launch.args.iter().for_each(visit);
        }
        ExprKind::Pack(pack) => {
            [&pack.left, &pack.right].into_iter().flatten().for_each(&mut *visit);
            visit(&pack.otherwise);
        }
        ExprKind::Asm(asm) => asm.outputs.iter().chain(&asm.inputs).for_each(|(_, operand)| visit(operand)),
        ExprKind::Int(..)
        | ExprKind::Float(..)
        | ExprKind::Str(_)
        | ExprKind::Null
        | ExprKind::Local(_)
        | ExprKind::Path(_)
        | ExprKind::This
        | ExprKind::SizeofType(_)
        | ExprKind::SizeofPack(_)
        | ExprKind::Expansion(_)
        | ExprKind::AlignofType(_)
        | ExprKind::Offsetof(..)
        | ExprKind::Lambda(_)
        | ExprKind::Unsupported(_)
        | ExprKind::Damaged => {}
    }
}

/// Visits the expressions directly inside a statement, not those of statements inside it.
pub(crate) fn own_exprs<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Expr)) {
    match &stmt.kind {
        StmtKind::Expr(expr) | StmtKind::If { cond: expr, .. } => visit(expr),
        StmtKind::Declare(list) => list.iter().filter_map(|d| d.init.as_ref()).for_each(visit),
        StmtKind::Loop { cond, step, .. } => cond.iter().chain(step).for_each(visit),
        StmtKind::Switch { value, .. } => visit(value),
        StmtKind::Return(value) => value.iter().for_each(visit),
        StmtKind::Block(_)
        | StmtKind::Unsupported(..)
        | StmtKind::Try(_)
        | StmtKind::Throw
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Goto(_)
        | StmtKind::Label(_)
        | StmtKind::Damaged => {}
    }
}

/// Visits the statements directly inside a statement.
pub(crate) fn own_stmts<'a>(stmt: &'a Stmt, visit: &mut dyn FnMut(&'a Stmt)) {
    match &stmt.kind {
        StmtKind::Block(body)
        | StmtKind::Unsupported(_, body)
        | StmtKind::Try(body)
        | StmtKind::Loop { body, .. } => {
            body.iter().for_each(visit);
        }
        StmtKind::If { then, otherwise, .. } => then.iter().chain(otherwise).for_each(visit),
        StmtKind::Switch { cases, .. } => cases.iter().flat_map(|case| &case.body).for_each(visit),
        StmtKind::Expr(_)
        | StmtKind::Declare(_)
        | StmtKind::Return(_)
        | StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Goto(_)
        | StmtKind::Label(_)
        | StmtKind::Throw
        | StmtKind::Damaged => {}
    }
}
