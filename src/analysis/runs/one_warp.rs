//! Does a kernel's text show that its blocks have one warp, or one thread?
//!
//! Where nobody gives the block, a larger one may be supposed than the kernel is written for. Threads of different warps
//! are then held against each other that no launch has:
//!
//! ```text
//! int i = blockIdx.x * 32 + threadIdx.x;      a block for each 32 elements
//! assert(blockDim.x == 32);
//! s[lane] = x; __syncwarp(); y = s[31 - lane];   warps order their lanes, and nothing orders warps
//! if (*count > 0) *count -= 1;                nothing depends on the thread
//! ```

use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{BinaryOp, Expr, ExprKind, Function, Stmt};

/// Threads of a warp.
const WARP: i128 = 32;

/// Whether the text of a kernel shows that it is not written for blocks of several warps.
pub(super) fn is_for_one_warp(kernel: &Function) -> bool {
    let seen = Seen::of(kernel);
    let orders_lanes_only = kernel.mentions.lanes && !kernel.mentions.barrier;
    orders_lanes_only || seen.asks_block || seen.steps_by_warps
}

/// Whether nothing in the text of a kernel depends on the thread.
pub(super) fn is_for_one_thread(kernel: &Function) -> bool {
    let seen = Seen::of(kernel);
    !seen.threads && !seen.calls
}

/// What a text says of the block.
#[derive(Default)]
struct Seen {
    /// It reads `threadIdx`.
    threads: bool,
    /// It calls something, which may.
    calls: bool,
    /// It compares a size of the block with a number.
    asks_block: bool,
    /// It multiplies a number of the block with one that is no larger than a warp.
    steps_by_warps: bool,
}

impl Seen {
    fn of(kernel: &Function) -> Seen {
        let mut seen = Seen::default();
        kernel.body.iter().flatten().for_each(|stmt| seen.look_into(stmt));
        seen
    }

    fn look_into(&mut self, stmt: &Stmt) {
        own_exprs(stmt, &mut |expr| self.look(expr));
        own_stmts(stmt, &mut |inner| self.look_into(inner));
    }

    fn look(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call { .. } => self.calls = true,
            ExprKind::Path(path) if &*path.name == "threadIdx" => self.threads = true,
            ExprKind::Binary(BinaryOp::Eq | BinaryOp::Ne, a, b) => {
                self.asks_block |=
                    is_axis_of(a, "blockDim") && is_number(b) || is_axis_of(b, "blockDim") && is_number(a);
            }
            ExprKind::Binary(BinaryOp::Mul, a, b) => {
                let is_small = |expr: &Expr| matches!(expr.kind, ExprKind::Int(number, _) if number <= WARP);
                self.steps_by_warps |=
                    is_axis_of(a, "blockIdx") && is_small(b) || is_axis_of(b, "blockIdx") && is_small(a);
            }
            _ => {}
        }
        children(expr, &mut |inner| self.look(inner));
    }
}

fn is_number(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Int(..))
}

/// Whether it is an axis of a variable of CUDA.
fn is_axis_of(expr: &Expr, variable: &str) -> bool {
    match &expr.kind {
        ExprKind::Member { base, arrow: false, .. } => {
            matches!(&base.kind, ExprKind::Path(path) if &*path.name == variable)
        }
        ExprKind::Cast(_, inner) => is_axis_of(inner, variable),
        _ => false,
    }
}
