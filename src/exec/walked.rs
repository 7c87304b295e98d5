//! Where do the elements of a range begin and end that `for (T x : range)` walks?
//!
//! `lower` writes `range.begin()` and `range.end()`. Of an object they are methods, or functions that take it; of an
//! array, which has no methods, they lead to its first element and behind its last.

use super::machine::Machine;
use super::types::Ty;
use super::value::Value;
use crate::ir::{Expr, ExprKind, Path, Scalar};

impl Machine<'_> {
    /// `range.begin()` or `range.end()`, if the range is an array, or an object that a function takes.
    pub(super) fn bound_of_range(&mut self, expr: &Expr) -> Option<Value> {
        let (range, name) = bound(expr)?;
        match self.type_of(range) {
            Ty::Array(_, length) => {
                let Value::Pointer(first) = self.evaluate(range) else { return None };
                if name == "begin" {
                    return Some(Value::Pointer(first));
                }
                let length = Value::Int((*length?).clone(), Scalar::I64);
                Some(Value::Pointer(self.moved(first, &length, expr.span)))
            }
            Ty::Record(layout) => {
                let path = Path::simple(name.into());
                let args = std::slice::from_ref(range);
                let is_free =
                    !self.has_method(&Ty::Record(layout), &path, &[]) && self.may_call_free(name, args);
                is_free.then(|| self.call_path(expr, &path, args, true))
            }
            _ => None,
        }
    }

    /// The type of such a bound.
    pub(super) fn type_of_bound(&mut self, expr: &Expr) -> Option<Ty> {
        let (range, _) = bound(expr)?;
        match self.type_of(range) {
            Ty::Array(element, _) => Some(Ty::Pointer(element)),
            _ => None,
        }
    }
}

/// The range and which of its ends is asked for.
fn bound(expr: &Expr) -> Option<(&Expr, &str)> {
    let ExprKind::Call { callee, args } = &expr.kind else { return None };
    let ExprKind::Member { base, name, arrow: false, .. } = &callee.kind else { return None };
    (args.is_empty() && matches!(&**name, "begin" | "end")).then_some((base, name))
}
