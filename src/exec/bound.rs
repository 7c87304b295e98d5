//! Is a reference bound to what it is given, or to a temporary that is made of it?
//!
//! To an object of its own type, or of a class derived from it, it is bound. Of anything else a temporary is made, once
//! and there: what is given is read with its own size.
//!
//! | `__shared__ float s[64];` | `f(s[t])` |
//! |---|---|
//! | `f(const float &)`, `template <class T> f(const T &)` | binds the element |
//! | `f(const double &)`, `template <> f<double>(const double &)` | reads the element, and binds a `double` |
//! | `f(const Complex &)` where `struct Complex { Complex(double); };` | the same with an object |
//! | `f(const Vec &)` where `struct Vec { float x, y; };` | not valid: it must be another `f` |
//!
//! Numbers of one size may be of one type: what stands for a type that is not known may be the one that is asked for.

use super::converted::Wanted;
use super::machine::{Machine, Mode};
use super::slots::Slot;
use super::types::Ty;
use super::value::{Pointer, Target, Value};
use crate::domain::{Reason, Unknown, Variation};
use crate::events::AccessOp;
use crate::source::Span;
use std::rc::Rc;

impl Machine<'_> {
    /// A reference of the declared type to what lies at a place: bound to it, or a variable that holds the temporary.
    pub(super) fn bound_reference(&mut self, slot: Slot, declared: &Ty, span: Span) -> Slot {
        let Value::Pointer(pointer) = &slot.value else { return slot };
        let pointer = pointer.clone();
        if let Some(temporary) = self.temporary_of(&pointer, declared, span) {
            return temporary;
        }
        let pointer = self.as_declared(pointer, declared);
        Slot { ty: pointer.pointee.clone(), value: Value::Pointer(pointer), reference: true }
    }

    /// The temporary to which a reference of the declared type is bound; none if it is bound to the place itself.
    pub(super) fn temporary_of(&mut self, pointer: &Pointer, declared: &Ty, span: Span) -> Option<Slot> {
        let (lies, asked) = (pointer.pointee.unqualified(), declared.unqualified());
        let as_temporary = |value| Slot { value, ty: declared.clone(), reference: false };
        if let Ty::Record(layout) = &asked {
            let source = Slot { value: Value::Pointer(pointer.clone()), ty: lies.clone(), reference: true };
            if let Some(made) = self.made_of_other(layout, source, span) {
                return Some(as_temporary(made));
            }
        }
        if self.mode != Mode::Device {
            return None;
        }
        match (&lies, &asked) {
            (Ty::Scalar(_) | Ty::Sized { .. } | Ty::Pointer(_), Ty::Scalar(_) | Ty::Sized { .. }) => {
                let is_variable = matches!(pointer.target, Target::Place(_));
                let is_other = lies.constant_size() != asked.constant_size();
                (is_other || is_variable && lies != asked).then(|| {
                    let value = self.read(pointer, span);
                    as_temporary(self.convert(value, declared))
                })
            }
            (Ty::Record(layout), Ty::Scalar(_) | Ty::Pointer(_)) => {
                let value = match self.conversion(&Rc::clone(layout), Wanted::This(&asked), span)? {
                    Ok(function) => self.converted_at(&function, pointer, span),
                    Err(why) => Value::opaque(Variation::Maybe, why),
                };
                Some(as_temporary(self.convert(value, declared)))
            }
            // No function that is seen takes it.
            (Ty::Scalar(_) | Ty::Sized { .. }, Ty::Record(layout)) if layout.record.is_some() => {
                let words = format!("a function that takes a `{}`", lies.describe());
                self.touch_unknown(pointer, (AccessOp::Load, None), &words, span);
                let why = Unknown::new(Reason::UnknownFunction, span, words);
                Some(as_temporary(Value::opaque(Variation::Maybe, why)))
            }
            _ => None,
        }
    }
}
