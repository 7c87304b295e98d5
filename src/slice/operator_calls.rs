//! Which operators may call functions that change something?
//!
//! ```text
//! __device__ Mat &operator<<(Mat &m, int k) { m.stride <<= k; return m; }
//!
//! m << 1;       // changes `m`
//! a + b         // changes nothing, though a class defines an `operator+` that makes a new object
//! ```

use super::is_pure;
use crate::ir::program::Program;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Expr, ExprKind, Function, Stmt, Type, UnaryOp, print};
use std::sync::Arc;

/// Whether an operator may be a call that does more than compute its value. Of a method, that is taken for granted.
pub(super) fn may_act(expr: &Expr, program: &Program) -> bool {
    match &expr.kind {
        ExprKind::Binary(op, ..) => acts(&format!("operator{}", print::operator(*op)), 2, program),
        ExprKind::Unary(op, _) => acts(unary_name(*op), 1, program),
        _ => false,
    }
}

/// The name of the function of an operator with one operand.
pub(crate) fn unary_name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Neg => "operator-",
        UnaryOp::Not => "operator!",
        UnaryOp::BitNot => "operator~",
        UnaryOp::Plus => "operator+",
    }
}

fn acts(name: &str, operands: usize, program: &Program) -> bool {
    let functions = program.functions(name).iter();
    let of_so_many = |it: &&Arc<Function>| it.params.len() + usize::from(it.owner.is_some()) == operands;
    functions.filter(of_so_many).any(|function| {
        let by_reference = |ty: &Type| matches!(ty, Type::Reference(_) | Type::Pointer(_));
        function.owner.is_some()
            || function.params.iter().any(|param| by_reference(&param.ty)) && !only_tells(function, program)
    })
}

/// Whether a function changes nothing but its own variables.
fn only_tells(function: &Function, program: &Program) -> bool {
    let body = function.body.as_deref().unwrap_or(&[]);
    body.iter().all(|stmt| stmt_tells(stmt, function, program))
}

fn stmt_tells(stmt: &Stmt, function: &Function, program: &Program) -> bool {
    let mut tells = true;
    own_exprs(stmt, &mut |expr| tells &= expr_tells(expr, function, program));
    own_stmts(stmt, &mut |inner| tells &= stmt_tells(inner, function, program));
    tells
}

fn expr_tells(expr: &Expr, function: &Function, program: &Program) -> bool {
    let is_own = |place: &Expr| match &place.kind {
        ExprKind::Local(local) => function.params.iter().all(|param| param.local != *local),
        _ => false,
    };
    let mut tells = match &expr.kind {
        ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => is_own(target),
        ExprKind::Call { callee, .. } => match &callee.kind {
            ExprKind::Path(path) => is_pure(&path.name, program),
            _ => false,
        },
        ExprKind::Asm(_) | ExprKind::Lambda(_) | ExprKind::Launch(_) => false,
        ExprKind::Unsupported(_) | ExprKind::Damaged => false,
        _ => true,
    };
    children(expr, &mut |child| tells &= expr_tells(child, function, program));
    tells
}
