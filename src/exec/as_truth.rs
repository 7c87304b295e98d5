//! What is an object where a truth is asked for?
//!
//! What its class's conversion makes of it, also one that is `explicit`:
//!
//! | `struct Maybe { int v; explicit operator bool() const; };` | |
//! |---|---|
//! | `if (maybe)`, `!maybe`, `maybe && x`, `maybe ? a : b` | the conversion runs |
//! | `static_cast<bool>(maybe)` | the same |

use super::machine::{Machine, Mode};
use super::members::BASES;
use super::types::{Layout, Ty};
use super::value::{Pointer, Value};
use crate::domain::Variation;
use crate::ir::{Expr, ExprKind, Function, Path, Scalar, Type};
use std::sync::Arc;

impl Machine<'_> {
    /// The value of a condition, or of an operand of `!`, `&&` and `||`.
    pub(super) fn as_truth(&mut self, expr: &Expr) -> Value {
        match self.conversion_to_truth(expr) {
            Some(function) => self.converted_by(&function, expr),
            None => self.evaluate(expr),
        }
    }

    /// The conversion that is run for it, if it is an object of a class that has one.
    fn conversion_to_truth(&mut self, expr: &Expr) -> Option<Arc<Function>> {
        let may_be_object = matches!(
            expr.kind,
            ExprKind::Local(_)
                | ExprKind::Path(_)
                | ExprKind::Member { .. }
                | ExprKind::Index(..)
                | ExprKind::Deref(_)
                | ExprKind::Call { .. }
                | ExprKind::Construct(..)
        );
        if !may_be_object || self.mode == Mode::Host {
            return None;
        }
        let Ty::Record(layout) = self.type_of(expr) else { return None };
        if self.is_number_object(&layout) {
            return None;
        }
        let program = self.program;
        let converts = |class: &Layout| !program.conversions(&class.name).is_empty();
        let class = self.class_where(&layout, BASES, &converts)?;
        let defined = program.conversions(&class.name).iter().filter(|it| it.body.is_some());
        let own = self.own_definitions(&class, &defined.cloned().collect::<Vec<_>>());
        let to_bool = own.iter().find(|it| it.return_type == Type::Scalar(Scalar::Bool));
        match (to_bool, own.as_slice()) {
            (Some(function), _) => Some(Arc::clone(function)),
            (None, [only]) => Some(Arc::clone(only)),
            _ => None,
        }
    }

    /// What a conversion makes of an object: of a variable where it lies, so that no more is read than it reads.
    fn converted_by(&mut self, function: &Arc<Function>, expr: &Expr) -> Value {
        let path = Path::simple(function.name.clone());
        let owner = function.owner.clone();
        let run = |machine: &mut Self, object: &Pointer| {
            let part = owner.as_ref().and_then(|owner| machine.part_of_class(object, owner, BASES));
            let part = part.unwrap_or_else(|| object.clone());
            machine.call_function(function, &path, Some(part), &[], expr.span)
        };
        let place = match &expr.kind {
            ExprKind::Call { .. } => self.called_place(expr),
            ExprKind::Construct(..) => None,
            _ => Some(self.locate(expr)),
        };
        match place {
            Some(Ok(object)) => run(self, &object),
            Some(Err(why)) => Value::opaque(Variation::Maybe, why),
            None => self.on_temporary(expr, run).unwrap_or(Value::Undefined),
        }
    }
}
