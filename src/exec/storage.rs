//! What does a function that is not visible do with an object that it is given?
//!
//! `Reduce(storage).sum(x)` of a library works in shared memory whose layout is its own. No access is in
//! the text: what is written there says only which object it is, and the object goes by reference. So
//! the naming of it is no access; what the function does to it is not known, as of any other.
//!
//! | handed over | |
//! |---|---|
//! | `s[i]` with `float s[64]` | read |
//! | `s[i]` with `T s[64]`, of a template parameter `T` | read |
//! | `storage`, of a class that is not visible, at one address for all threads | named only |

use super::machine::{Machine, Mode};
use super::types::{Ty, nameless};
use super::value::{Offset, Pointer, Target, Value};
use crate::ir::{Expr, ExprKind, Type};
use crate::source::Span;

impl Machine<'_> {
    /// An argument of a function whose body is not visible: its value, or where it lies if it is the
    /// storage of a class that is not visible.
    pub(super) fn handed_over(&mut self, arg: &Expr) -> Value {
        match self.storage(arg) {
            Some(pointer) => Value::Pointer(pointer),
            None => self.evaluate(arg),
        }
    }

    /// Whether a class that is not visible is given such storage by its constructor: then that may do
    /// anything with it. The arguments are evaluated if so.
    pub(super) fn takes_storage(&mut self, args: &[Expr], span: Span) -> bool {
        if !args.iter().any(|arg| self.storage(arg).is_some()) {
            return false;
        }
        self.call_unknown("a constructor that is not visible", args, span);
        true
    }

    fn storage(&mut self, arg: &Expr) -> Option<Pointer> {
        if self.mode != Mode::Device || !self.is_plain(arg) || !self.names_hidden_class(arg) {
            return None;
        }
        let pointer = self.locate(arg).ok()?;
        let uniform = match &pointer.target {
            Target::Memory(_, Offset::Known(offset)) => offset.is_uniform(),
            _ => false,
        };
        let hidden = uniform && self.is_shared(&pointer) && self.is_hidden_class(&pointer.pointee);
        hidden.then_some(pointer)
    }

    fn names_hidden_class(&mut self, arg: &Expr) -> bool {
        let ty = self.type_of(arg);
        self.is_hidden_class(&ty)
    }

    /// Whether a type is named and not visible, and no template parameter, which may be any number.
    pub(super) fn is_hidden_class(&self, ty: &Ty) -> bool {
        let Ty::Unknown(name) = ty else { return false };
        let functions = self.state.frames.iter().map(|frame| &frame.function);
        let mut params = functions.flat_map(|it| it.template_params.iter().chain(&it.owner_params));
        !nameless::ALL.contains(&&**name) && !params.any(|param| param.name == *name)
    }

    /// Whether an expression does nothing but name a place, so that it can be asked for twice.
    fn is_plain(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Local(_) | ExprKind::Path(_) => true,
            ExprKind::Member { base, .. } | ExprKind::Deref(base) => self.is_plain(base),
            ExprKind::Cast(Type::Reference(_), inner) => self.is_plain(inner),
            ExprKind::Index(base, index) => self.is_plain(base) && self.is_number(index),
            _ => false,
        }
    }

    /// Whether an index is a number that no memory is read for.
    fn is_number(&self, index: &Expr) -> bool {
        match &index.kind {
            ExprKind::Int(..) => true,
            ExprKind::Local(local) => {
                let slot = self.frame().and_then(|frame| frame.slots.get(local.0 as usize));
                slot.is_some_and(|slot| !slot.reference)
            }
            ExprKind::Path(path) => {
                let variable = self.program.variable_meant(path, &self.namespace());
                variable.is_none_or(|variable| !variable.storage.is_shared())
            }
            _ => false,
        }
    }
}
