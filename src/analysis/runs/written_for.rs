//! Does a kernel's text show that its blocks have one warp, or one thread?
//!
//! Where nobody gives the block, a larger one may be supposed than the kernel is written for. Threads of different warps
//! are then held against each other that no launch has:
//!
//! ```text
//! int i = blockIdx.x * 32 + threadIdx.x;         a block for each 32 elements
//! assert(blockDim.x == 32);
//! s[lane] = x; __syncwarp(); y = s[31 - lane];   warps order their lanes, and nothing orders warps
//! if (*count > 0) *count -= 1;                   nothing depends on the thread
//! ```

use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{BinaryOp, Expr, ExprKind, Function, Stmt};

/// Threads of a warp.
const WARP: i128 = 32;

/// The largest blocks that a kernel is written for, as far as its text shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WrittenFor {
    OneThread,
    OneWarp,
    AnyBlock,
}

/// Looks through the kernel's own text, and not through what it calls.
pub(super) fn written_for(kernel: &Function) -> WrittenFor {
    let mut seen = Seen::default();
    kernel.body.iter().flatten().for_each(|stmt| seen.look_into(stmt));
    let orders_lanes_only = kernel.mentions.lanes && !kernel.mentions.barrier;
    let steps_by_warps = seen.steps_by_warps && !seen.rows;
    if !seen.threads && !seen.calls {
        WrittenFor::OneThread
    } else if orders_lanes_only || seen.asks_for_warps || steps_by_warps {
        WrittenFor::OneWarp
    } else {
        WrittenFor::AnyBlock
    }
}

/// What a text says of the block.
#[derive(Default)]
struct Seen {
    /// It reads `threadIdx`.
    threads: bool,
    /// It reads `threadIdx.y` or `threadIdx.z`.
    rows: bool,
    /// It calls something, which may read these.
    calls: bool,
    /// It compares `blockDim.x` with a number that is no larger than a warp.
    asks_for_warps: bool,
    /// It multiplies `blockIdx.x` with such a number.
    steps_by_warps: bool,
}

impl Seen {
    fn look_into(&mut self, stmt: &Stmt) {
        own_exprs(stmt, &mut |expr| self.look(expr));
        own_stmts(stmt, &mut |inner| self.look_into(inner));
    }

    fn look(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Call { .. } => self.calls = true,
            ExprKind::Path(path) if &*path.name == "threadIdx" => self.threads = true,
            ExprKind::Member { .. } => {
                self.rows |= ["y", "z"].iter().any(|axis| is_axis(expr, "threadIdx", axis))
            }
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Mul), a, b) => {
                let is_of = |variable| {
                    is_axis(a, variable, "x") && is_small(b) || is_axis(b, variable, "x") && is_small(a)
                };
                match op {
                    BinaryOp::Mul => self.steps_by_warps |= is_of("blockIdx"),
                    _ => self.asks_for_warps |= is_of("blockDim"),
                }
            }
            _ => {}
        }
        children(expr, &mut |inner| self.look(inner));
    }
}

/// Whether it is a number that is no larger than a warp.
fn is_small(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Int(number, _) if number <= WARP)
}

/// Whether it is this axis of a variable of CUDA.
fn is_axis(expr: &Expr, variable: &str, axis: &str) -> bool {
    match &expr.kind {
        ExprKind::Member { base, name, arrow: false, .. } => {
            &**name == axis && matches!(&base.kind, ExprKind::Path(path) if &*path.name == variable)
        }
        ExprKind::Cast(_, inner) => is_axis(inner, variable, axis),
        _ => false,
    }
}
