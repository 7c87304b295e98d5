//! What may a write through a pointer change that is not followed?
//!
//! ```text
//! int i = 0, j = 0;
//! int *p = n > 3 ? &i : &j;      // not followed: it may lead to either
//! *p = threadIdx.x;              // neither `i` nor `j` is known from here on
//! ```
//!
//! A variable is *exposed* when its address has become a value, from where it may be lost. A write
//! to an unknown place may be one to any exposed variable.

use super::machine::{Exposed, Machine, Mode, slot_value};
use super::slots::Slot;
use super::types::Ty;
use super::value::{Place, Pointer, Steps, Target, Value};
use crate::domain::{Reason, Unknown, Variation};
use crate::ir::{Expr, ExprKind, LocalId};
use crate::source::Span;

impl Machine<'_> {
    /// Notes that a pointer is a value, which may come to be one that is not followed.
    pub(super) fn expose(&mut self, pointer: &Pointer) {
        if let Target::Place(Place { frame, local, .. }) = pointer.target
            && self.mode == Mode::Device
            && !self.memory.exposed.contains(&(frame, local))
        {
            self.memory.exposed.push((frame, local));
        }
    }

    /// Writes to a place that is not known.
    pub(super) fn write_somewhere(&mut self, span: Span) {
        // It may lead to any array.
        self.index.registers.forget();
        self.may_access(span);
        for (frame, local) in self.memory.exposed.clone() {
            let place = Place { frame, local, path: Steps::new(), blurred: false };
            let words = "a write through a pointer that is not followed may have changed it";
            let why = Unknown::new(Reason::UnknownPointer, span, words);
            self.lose_variable(&place, why);
        }
    }

    /// What is read from a place that is not followed: a pointer may be any whose address is a value.
    pub(super) fn read_somewhere(&mut self, place: &Expr, why: Unknown) -> Value {
        let of_exposed = |(frame, local): &(usize, LocalId)| slot_value(&self.state, *frame, *local);
        let is_pointer =
            |it: &Value| matches!(it, Value::Pointer(Pointer { target: Target::Memory(..), .. }));
        let pointers = self.memory.exposed.iter().map(of_exposed).filter(is_pointer);
        match pointers.reduce(|a, b| self.lost(&a, &b)) {
            Some(any) if matches!(self.type_of(place), Ty::Pointer(_)) => {
                self.anything(&any, Variation::Maybe, why)
            }
            _ => Value::opaque(Variation::Maybe, why),
        }
    }

    /// A reference to what is no followed place, if it is one to a place: what is read there is not
    /// known, and what is written there may be anything.
    pub(super) fn lost_reference(&mut self, target: &Expr) -> Option<Slot> {
        if self.mode != Mode::Device {
            return None;
        }
        let why = match &target.kind {
            ExprKind::Deref(_) | ExprKind::Index(..) => self.locate(target).err()?,
            ExprKind::Unsupported(what) => {
                self.evaluate(target);
                Unknown::new(Reason::Unsupported, target.span, *what)
            }
            ExprKind::Conditional(_, a, b) => {
                for side in [a, b] {
                    match self.locate(side) {
                        Ok(pointer) if matches!(pointer.target, Target::Place(_)) => self.expose(&pointer),
                        _ => return None,
                    }
                }
                Unknown::new(Reason::UnknownPointer, target.span, "a reference to either of two places")
            }
            _ => return None,
        };
        let ty = self.type_of(target);
        Some(Slot { value: Value::opaque(Variation::Maybe, why), ty, reference: true })
    }

    /// Takes out the variables of the frames from this one on.
    pub(super) fn unexpose(&mut self, from: usize) -> Exposed {
        let (gone, left) = self.memory.exposed.drain(..).partition(|(frame, _)| *frame >= from);
        self.memory.exposed = left;
        gone
    }
}
