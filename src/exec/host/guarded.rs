//! Does host code ask whether a launch fits, of something that is not known?
//!
//! ```text
//! if (bytes > properties.sharedMemPerBlock) return;     `bytes` is 98304: whether that fits, the device says
//! k<<<1, 256, bytes>>>();
//! ```
//!
//! Then the launch is not made where it does not fit. It says nothing of later launches if a message is all that
//! follows:
//!
//! ```text
//! if (bytes > properties.sharedMemPerBlock) printf("too many\n");
//! ```
//!
//! A number that is written out and held against what a function returns is no question about the launch:
//! `if (width() > 512)` asks for the width.

use super::Machine;
use super::unfollowed::names_library;
use crate::exec::loops::has_effects;
use crate::exec::machine::Mode;
use crate::exec::value::Value;
use crate::ir::visit::children;
use crate::ir::{BinaryOp, Declaration, Expr, ExprKind, Stmt, StmtKind, UnaryOp};

impl Machine<'_> {
    /// Adds the numbers that a condition which is not decided holds against something. Returns those that are new.
    pub(super) fn note_asked(&mut self, cond: &Expr) -> Vec<i64> {
        let mut numbers = Vec::new();
        self.numbers_compared(cond, &mut numbers);
        numbers.retain(|number| self.host.asked.insert(*number));
        numbers
    }

    /// The same for an answer that is stored: `bool fits = bytes <= properties.sharedMemPerBlock;`.
    pub(in crate::exec) fn note_asked_in(&mut self, kept: &Expr) {
        if self.mode == Mode::Host && matches!(kept.kind, ExprKind::Binary(..) | ExprKind::Unary(..)) {
            self.note_asked(kept);
        }
    }

    /// Takes numbers back, which [`Machine::note_asked`] added: no launch behind the condition depends on it.
    pub(super) fn forget_asked(&mut self, numbers: &[i64]) {
        numbers.iter().for_each(|number| _ = self.host.asked.remove(number));
    }

    fn numbers_compared(&mut self, cond: &Expr, out: &mut Vec<i64>) {
        match &cond.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.numbers_compared(inner, out),
            ExprKind::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, a, b) => {
                self.numbers_compared(a, out);
                self.numbers_compared(b, out);
            }
            ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, a, b) => {
                for (side, other) in [(a, b), (b, a)] {
                    if names_something(side) || !matches!(other.kind, ExprKind::Call { .. }) {
                        self.number_of(side, out);
                    }
                }
            }
            // The function may hold it against something.
            ExprKind::Call { args, .. } => args.iter().for_each(|arg| {
                self.number_of(arg, out);
                self.numbers_compared(arg, out);
            }),
            _ => {}
        }
    }

    fn number_of(&mut self, expr: &Expr, out: &mut Vec<i64>) {
        if !has_effects(expr)
            && let Value::Int(int, _) = self.evaluate(expr)
        {
            out.extend(int.as_constant());
        }
    }

    /// Whether one of these numbers, of the threads or bytes of a launch, was held against one that is not known.
    pub(in crate::exec) fn is_asked_about(&self, numbers: &[i64]) -> bool {
        numbers.iter().any(|number| *number > 1 && self.host.asked.contains(number))
    }
}

/// Whether statements only print, so that nothing after them depends on them.
pub(super) fn only_tell(stmts: &[Stmt]) -> bool {
    let is_value = |it: &Declaration| it.init.as_ref().is_none_or(only_tells);
    stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::Expr(expr) => only_tells(expr),
        StmtKind::Block(body) => only_tell(body),
        StmtKind::Declare(list) => list.iter().all(is_value),
        StmtKind::If { cond, then, otherwise } => only_tells(cond) && only_tell(then) && only_tell(otherwise),
        _ => false,
    })
}

fn only_tells(expr: &Expr) -> bool {
    let is_known = match &expr.kind {
        ExprKind::Assign(..)
        | ExprKind::Step { .. }
        | ExprKind::Launch(_)
        | ExprKind::Lambda(_)
        | ExprKind::Asm(_)
        | ExprKind::Construct(..)
        | ExprKind::Unsupported(_)
        | ExprKind::Damaged => false,
        ExprKind::Call { callee, .. } => names_library(callee),
        _ => true,
    };
    let mut all = is_known;
    children(expr, &mut |inner| all = all && only_tells(inner));
    all
}

/// Whether an expression holds a name, and so is more than a number that is written out.
fn names_something(expr: &Expr) -> bool {
    let mut found = matches!(expr.kind, ExprKind::Local(_) | ExprKind::Path(_) | ExprKind::This);
    children(expr, &mut |inner| found |= names_something(inner));
    found
}
