//! What becomes of a shared address that is held in an integer?
//!
//! Bits are changed by a swizzle (`^`, `|`), and addresses are aligned: `a & ~15`, `a / 16 * 16`, `a >> 4 << 4`.

use super::machine::{Machine, Mode};
use super::value::{Offset, Pointer, Target, Value};
use crate::domain::{Int, Reason, Unknown, Variation};
use crate::ir::{BinaryOp, Expr, ExprKind, Scalar};
use crate::source::Span;

impl Machine<'_> {
    /// Arithmetic on a shared address held in an integer: `^` and `|` with a swizzle, `&`.
    pub(super) fn address_operation(&mut self, op: BinaryOp, p: &Pointer, b: &Value, span: Span) -> Value {
        if let (Target::Memory(object, Offset::Known(offset)), Value::Int(y, _)) = (&p.target, b) {
            let (object, offset, y) = (*object, offset.clone(), y.clone());
            if matches!(op, BinaryOp::Xor | BinaryOp::Or | BinaryOp::And)
                && !self.is_one_of_several(object)
                && let Value::Int(moved, _) = self.integer_operation(op, &offset, &y, Scalar::I64, span)
            {
                let target = Target::Memory(object, Offset::Known(moved));
                return Value::Pointer(Pointer { target, ..p.clone() });
            }
        }
        self.note_pitched_escape(&Value::Pointer(p.clone()), span, "its address is used as a number");
        let why = Unknown::new(Reason::UnknownPointer, span, "an address used as a number");
        Value::opaque(Variation::Maybe, why)
    }

    /// `a / 16 * 16` and `a >> 4 << 4`, if that is an address, which neither half of it is.
    pub(super) fn aligned_address(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) -> Option<Value> {
        // Of a number, the run gets no further by it.
        let steps = self.steps;
        let aligned = self.aligned(op, a, b, span);
        if aligned.is_none() {
            self.steps = steps;
        }
        aligned
    }

    fn aligned(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) -> Option<Value> {
        let (quotient, by) = match op {
            BinaryOp::Mul if is_quotient(b, BinaryOp::Div) => (b, a),
            BinaryOp::Mul => (a, b),
            BinaryOp::Shl => (a, b),
            _ => return None,
        };
        let back = if op == BinaryOp::Mul { BinaryOp::Div } else { BinaryOp::Shr };
        let ExprKind::Binary(inner, address, unit) = &quotient.kind else { return None };
        if *inner != back || !only_computes(address) || self.mode == Mode::Host {
            return None;
        }
        let unit = self.constant(unit)?;
        if self.constant(by) != Some(unit) {
            return None;
        }
        let unit = if op == BinaryOp::Mul { unit } else { 1i64.checked_shl(u32::try_from(unit).ok()?)? };
        if unit < 1 || !unit.unsigned_abs().is_power_of_two() {
            return None;
        }
        let Value::Pointer(pointer) = self.evaluate(address) else { return None };
        let mask = Value::Int(Int::constant(-unit), Scalar::I64);
        Some(self.address_operation(BinaryOp::And, &pointer, &mask, span))
    }
}

fn is_quotient(expr: &Expr, op: BinaryOp) -> bool {
    matches!(&expr.kind, ExprKind::Binary(it, ..) if *it == op)
}

/// Whether an expression is made of variables and numbers alone, so that it may be evaluated twice.
fn only_computes(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(..) | ExprKind::Local(_) | ExprKind::Path(_) | ExprKind::SizeofType(_) => true,
        ExprKind::Cast(_, inner) | ExprKind::Unary(_, inner) => only_computes(inner),
        ExprKind::Binary(_, a, b) => only_computes(a) && only_computes(b),
        _ => false,
    }
}
