//! Which arrays may a pointer lead into that leads into one of several?
//!
//! ```text
//! float *p = threadIdx.x % 2 ? in_global : in_shared;
//! p[threadIdx.x] = 0;            // perhaps a store to `in_shared`
//! ```
//!
//! Such a pointer has an object of its own, which stands for any of the others. What is done through it may be
//! done to each of them, at a place that is not known. Objects of which nothing is recorded are all alike, so that
//! a loop in which a pointer goes from one to the next comes to an end.
//!
//! Where all threads have the same one, as in `cached ? in_shared : in_global`, its place in each is known
//! ([`chosen`](super::chosen)).
//!
//! A pointer that may have become any other keeps what it was beside [`ANYWHERE`]: what is done through it is
//! listed for that array, and may be done to anything else.

use super::machine::{Machine, ObjectKind, Objects, Several};
use super::value::{ObjectId, Offset, Pointer, Target, Value};
use crate::domain::{Reason, Unknown, Variation};
use crate::events::{AccessOp, Atomic};
use crate::source::Span;
use smallvec::{SmallVec, smallvec};

/// What a pointer leads to of which nothing is known: the first object of each machine.
pub(crate) const ANYWHERE: ObjectId = ObjectId(0);

impl Machine<'_> {
    /// The object of a pointer that leads to either of two.
    pub(super) fn either_object(&self, a: ObjectId, b: ObjectId) -> ObjectId {
        let mut objects = self.objects_of(a);
        objects.extend(self.objects_of(b));
        objects.sort_unstable();
        objects.dedup();
        let mut of_no_concern = 0;
        // The lowest number is first, and that is the one of `ANYWHERE`.
        objects.retain(|object| {
            of_no_concern += usize::from(self.array_of(*object).is_none());
            self.array_of(*object).is_some() || of_no_concern == 1
        });
        if let [one] = objects[..] {
            return one;
        }
        self.several(Several { objects, begins: None })
    }

    /// The object that stands for several.
    pub(super) fn several(&self, several: Several) -> ObjectId {
        let mut known = self.memory.alternatives.0.borrow_mut();
        let at = known.iter().position(|of| *of == several).unwrap_or(known.len());
        if at == known.len() {
            known.push(several);
        }
        ObjectId(u32::MAX - at as u32)
    }

    /// A value that may have become another, of which nothing is known but that a pointer led here.
    pub(super) fn anything(&self, value: &Value, variation: Variation, why: Unknown) -> Value {
        match value {
            Value::Pointer(Pointer { target: Target::Memory(object, _), pointee, volatile }) => {
                let object = self.either_object(*object, ANYWHERE);
                let target = Target::Memory(object, Offset::unknown(variation.max(Variation::Maybe), why));
                Value::Pointer(Pointer { target, pointee: pointee.clone(), volatile: *volatile })
            }
            _ => Value::opaque(variation, why),
        }
    }

    /// The objects that one stands for: itself, or several.
    pub(super) fn objects_of(&self, object: ObjectId) -> Objects {
        let known = self.memory.alternatives.0.borrow();
        known.get((u32::MAX - object.0) as usize).map_or_else(|| smallvec![object], |it| it.objects.clone())
    }

    /// Whether it stands for one of several.
    pub(super) fn is_one_of_several(&self, object: ObjectId) -> bool {
        ((u32::MAX - object.0) as usize) < self.memory.alternatives.0.borrow().len()
    }

    /// The numbers in the trace of the arrays that a pointer may lead into.
    pub(super) fn arrays_of(&self, pointer: &Pointer) -> SmallVec<[usize; 2]> {
        let Target::Memory(object, _) = pointer.target else { return SmallVec::new() };
        self.objects_of(object).into_iter().filter_map(|object| self.array_of(object)).collect()
    }

    /// Records an access for each object that it may be of; false if that is one, and known.
    pub(super) fn record_alternatives(
        &mut self,
        op: AccessOp,
        pointer: &Pointer,
        bytes: Option<u64>,
        span: Span,
        atomic: Option<Atomic>,
    ) -> bool {
        let Target::Memory(object, offset) = &pointer.target else { return false };
        let is_read = matches!(op, AccessOp::Load | AccessOp::MatrixLoad);
        match *object {
            ANYWHERE if is_read => self.reads_somewhere(span),
            ANYWHERE => self.write_somewhere(span),
            several if self.is_one_of_several(several) => {
                // Each is accessed at most.
                self.compiler.registers.may_be_read();
                match self.places_in_each(several, (op, bytes), pointer, atomic.is_some()) {
                    Some(places) => self.record_chosen(op, &places, bytes, span),
                    None => {
                        let offset = match offset {
                            Offset::Known(_) => Offset::unknown(Variation::Maybe, one_of_two(span)),
                            Offset::Unknown(..) => offset.clone(),
                        };
                        for object in self.objects_of(several) {
                            let target = Target::Memory(object, offset.clone());
                            self.record_bytes(
                                op,
                                &Pointer { target, ..pointer.clone() },
                                bytes,
                                span,
                                atomic,
                            );
                        }
                    }
                }
                self.compiler.registers.may_be_read();
            }
            _ => return false,
        }
        true
    }

    /// Whether a pointer leads into shared memory, or may.
    #[must_use]
    pub(crate) fn is_shared(&self, pointer: &Pointer) -> bool {
        let Target::Memory(object, _) = pointer.target else { return false };
        let is_shared = |object: ObjectId| self.memory.objects[object.0 as usize].kind != ObjectKind::Global;
        self.objects_of(object).into_iter().any(is_shared)
    }

    /// Whether accesses through a pointer are recorded, or may be of what is.
    #[must_use]
    pub(crate) fn is_recorded(&self, pointer: &Pointer) -> bool {
        let Target::Memory(object, _) = pointer.target else { return false };
        let is_recorded = |object| object == ANYWHERE || self.array_of(object).is_some();
        self.objects_of(object).into_iter().any(is_recorded)
    }

    /// The number of one object in the trace, if what is done to it is recorded.
    pub(super) fn array_of(&self, object: ObjectId) -> Option<usize> {
        self.memory.objects[object.0 as usize].array
    }
}

/// Why it is not known where such a pointer leads.
pub(super) fn one_of_two(span: Span) -> Unknown {
    Unknown::new(Reason::UnknownPointer, span, "it points to one of two arrays")
}
