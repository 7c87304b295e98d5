//! Does a branch only put something in place of what lies beyond the bounds?
//!
//! In `if (x >= width) tile[t] = 0; else tile[t] = in[x];` the first side is for blocks at the edge. The comparison alone
//! does not tell it from `if (x >= first)`, which most blocks pass: that it assigns constants does, where the other side
//! does not.

use crate::ir::{Expr, ExprKind, Stmt, StmtKind};

/// Whether one side of a condition does nothing but assign constants, and the other does something else.
pub(super) fn only_pads(side: &[Stmt], other: &[Stmt]) -> bool {
    pads(side) && !other.is_empty() && !pads(other)
}

fn pads(side: &[Stmt]) -> bool {
    let assigns = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, _, value), .. }) => is_constant(value),
        StmtKind::Block(body) => pads(body),
        _ => false,
    };
    !side.is_empty() && side.iter().all(assigns)
}

/// Whether an expression is made of literals and names of the program alone.
fn is_constant(value: &Expr) -> bool {
    match &value.kind {
        ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::Null | ExprKind::Path(_) => true,
        ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => is_constant(inner),
        // `a = b = 0`
        ExprKind::Assign(None, _, inner) => is_constant(inner),
        ExprKind::Binary(_, a, b) => is_constant(a) && is_constant(b),
        ExprKind::Construct(_, parts) | ExprKind::InitList(parts) => parts.iter().all(is_constant),
        // `make_float4(0, 0, 0, 0)`, `__float2half(0.0f)`
        ExprKind::Call { callee, args } => is_constant(callee) && args.iter().all(is_constant),
        _ => false,
    }
}
