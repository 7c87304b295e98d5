//! Does an expression only tell where a thread is in its block?
//!
//! `printf("%d %d", threadIdx.x, threadIdx.y)` prints a place, and tells nothing of what the kernel does there. That a
//! kernel names `threadIdx.y` so, and only so, does not make its blocks two-dimensional.

use crate::builtins::{Coordinate, Kind, kind};
use crate::ir::{Expr, ExprKind};

/// Whether a function is called that prints what it is given.
pub(super) fn prints(callee: &Expr) -> bool {
    matches!(&callee.kind, ExprKind::Path(path) if kind(&path.name) == Some(Kind::Print))
}

/// Whether an expression is made of a thread's coordinates, the block's lengths and constants alone.
pub(crate) fn is_own_place(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(..) => true,
        ExprKind::Member { base, .. } => {
            matches!(&base.kind, ExprKind::Path(path) if Coordinate::of(&path.name).is_some())
        }
        ExprKind::Binary(_, a, b) => is_own_place(a) && is_own_place(b),
        ExprKind::Unary(_, a) | ExprKind::Cast(_, a) => is_own_place(a),
        _ => false,
    }
}
