//! Does host code ask whether a launch fits, of something that is not known?
//!
//! ```text
//! if (bytes > properties.sharedMemPerBlock) return;     `bytes` is 98304: whether that fits, the device says
//! k<<<1, 256, bytes>>>();
//! ```
//!
//! Then the launch is not made where it does not fit.

use super::Machine;
use crate::exec::loops::has_effects;
use crate::exec::value::Value;
use crate::ir::{BinaryOp, Expr, ExprKind, UnaryOp};

impl Machine<'_> {
    /// Notes the numbers that a condition which is not decided holds against something.
    pub(super) fn note_asked(&mut self, cond: &Expr) {
        match &cond.kind {
            ExprKind::Unary(UnaryOp::Not, inner) => self.note_asked(inner),
            ExprKind::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, a, b) => {
                self.note_asked(a);
                self.note_asked(b);
            }
            ExprKind::Binary(BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge, a, b) => {
                for side in [a, b] {
                    if !has_effects(side)
                        && let Value::Int(int, _) = self.evaluate(side)
                        && let Some(number) = int.as_constant()
                    {
                        self.host.asked.insert(number);
                    }
                }
            }
            _ => {}
        }
    }

    /// Whether one of these numbers, of the threads or bytes of a launch, was held against one that is not known.
    pub(in crate::exec) fn is_asked_about(&self, numbers: &[i64]) -> bool {
        numbers.iter().any(|number| *number > 1 && self.host.asked.contains(number))
    }
}
