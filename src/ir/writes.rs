//! Which variables may a function's text change?
//!
//! By assigning to them, by counting them up, by taking their address, and by handing them to what may take a
//! reference. What a pointer leads to is not among them.

use super::visit::{children, own_exprs, own_stmts};
use super::{BinaryOp, Expr, ExprKind, Function, LocalId, Name, Path, Stmt, StmtKind, Type};

/// A variable that may be changed, and by what.
#[derive(Clone, Debug)]
pub struct Write {
    pub(crate) variable: Variable,
    pub(crate) by: By,
}

/// One of the function's own, or one by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Variable {
    Local(LocalId),
    Named(Name),
}

/// What changes it.
#[derive(Clone, Debug)]
pub(crate) enum By {
    Itself,
    /// A function as its argument of this number, out of so many.
    Function(Path, usize, usize),
    /// A method.
    Method(Name, usize, usize),
    /// A method whose object it is, with so many arguments.
    Object(Name, usize),
}

/// The variables that a function's text may change, with repetitions.
#[must_use]
pub(crate) fn writes(function: &Function) -> &[Write] {
    function.writes.get_or_find(|| {
        let mut found = Vec::new();
        function.body.iter().flatten().for_each(|stmt| in_stmt(stmt, &mut found));
        found
    })
}

/// The names among them, in order: whether a variable is ever changed is asked of all functions at once.
#[must_use]
pub(crate) fn named(function: &Function) -> Vec<&Name> {
    let mut names: Vec<&Name> = writes(function)
        .iter()
        .filter_map(|write| match &write.variable {
            Variable::Named(name) => Some(name),
            Variable::Local(_) => None,
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    names
}

fn in_stmt(stmt: &Stmt, found: &mut Vec<Write>) {
    if let StmtKind::Declare(list) = &stmt.kind {
        let references = list.iter().filter(|it| matches!(it.ty, Type::Reference(_)));
        references.filter_map(|it| it.init.as_ref()).for_each(|init| note(init, By::Itself, found));
    }
    own_exprs(stmt, &mut |expr| in_expr(expr, found));
    own_stmts(stmt, &mut |stmt| in_stmt(stmt, found));
}

fn in_expr(expr: &Expr, found: &mut Vec<Write>) {
    match &expr.kind {
        ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } | ExprKind::AddressOf(target) => {
            note(target, By::Itself, found);
        }
        ExprKind::Binary(BinaryOp::Shr, _, into) => note(into, By::Itself, found),
        ExprKind::Call { callee, args } => {
            let count = args.len();
            for (at, arg) in args.iter().enumerate() {
                match &callee.kind {
                    ExprKind::Path(path) => note(arg, By::Function((**path).clone(), at, count), found),
                    ExprKind::Member { name, .. } => note(arg, By::Method(name.clone(), at, count), found),
                    _ => note(arg, By::Itself, found),
                }
            }
            if let ExprKind::Member { base, name, arrow: false, .. } = &callee.kind {
                note(base, By::Object(name.clone(), count), found);
            }
        }
        ExprKind::Lambda(lambda) => lambda.body.iter().for_each(|stmt| in_stmt(stmt, found)),
        _ => {}
    }
    children(expr, &mut |child| in_expr(child, found));
}

/// Notes the variable that an lvalue is, or is a part of.
fn note(place: &Expr, by: By, found: &mut Vec<Write>) {
    let variable = match &place.kind {
        ExprKind::Local(local) => Variable::Local(*local),
        ExprKind::Path(path) => Variable::Named(path.name.clone()),
        ExprKind::Member { base, .. } | ExprKind::Index(base, _) => return note(base, by, found),
        _ => return,
    };
    found.push(Write { variable, by });
}
