//! Which conditions that kept threads from a barrier does an `if` behind it repeat?
//!
//! ```text
//! if (x < 48) {
//!     __syncthreads();             // missed by threads from x = 48 on
//! }
//! if (y == 0 && x < 48) {          // nothing for these either: the compiler lets them exit at once
//!     out[x] = s[x];
//! }
//! ```

use crate::domain::ThreadSet;
use crate::exec::interior::Leaving;
use crate::exec::machine::Machine;
use crate::ir::visit::children;
use crate::ir::{BinaryOp, Expr, ExprKind, Stmt, StmtKind};

impl Machine<'_> {
    /// The numbers of such conditions, where the statement is an `if` without `else` that repeats them.
    pub(super) fn repeated(&mut self, stmt: &Stmt) -> Vec<u32> {
        let StmtKind::If { cond, otherwise, .. } = &stmt.kind else { return Vec::new() };
        if !otherwise.is_empty() || !is_arithmetic(cond) {
            return Vec::new();
        }
        let mut parts = Vec::new();
        add_parts(cond, &mut parts);
        let known: Vec<ThreadSet> = self.unrecorded(|machine| {
            let truths = parts.into_iter().map(|part| machine.tested(part, Leaving::No).1);
            truths.filter(|it| it.decided).map(|it| it.can_hold).collect()
        });
        let absences = self.state.course.absent.iter().filter_map(|absent| {
            let barrier = self.trace.barriers.get(absent.barrier)?;
            let absence = barrier.absences.get(absent.absence)?;
            absence.threads.as_ref().map(|_| &absence.split)
        });
        let is_same = |split: &&crate::events::Split| {
            known.iter().any(|holds| holds.and(&split.before) == split.taken.and(&split.before))
        };
        absences.filter(is_same).map(|split| split.id).collect()
    }
}

/// The conditions that all have to hold.
fn add_parts<'a>(cond: &'a Expr, parts: &mut Vec<&'a Expr>) {
    match &cond.kind {
        ExprKind::Binary(BinaryOp::LogicalAnd, a, b) => {
            add_parts(a, parts);
            add_parts(b, parts);
        }
        _ => parts.push(cond),
    }
}

/// Whether it is made of names and numbers alone.
fn is_arithmetic(expr: &Expr) -> bool {
    let mut is_plain = matches!(
        expr.kind,
        ExprKind::Int(..)
            | ExprKind::Local(_)
            | ExprKind::Path(_)
            | ExprKind::Member { arrow: false, .. }
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Cast(..)
    );
    children(expr, &mut |child| is_plain = is_plain && is_arithmetic(child));
    is_plain
}
