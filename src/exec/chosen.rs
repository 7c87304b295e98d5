//! Where does a pointer lead that leads into the same one of several arrays in all threads?
//!
//! ```text
//! float *row = cached ? tile + 32 : in;       // `cached` is the same for all threads
//! sum += row[threadIdx.x];                    // of `tile`, bytes 128 and on, where it is `tile`
//! ```
//!
//! An access through it is an access of each, under a condition that is not known: a block does it to one of them.
//! Of the compiler less is known than of other accesses. It does not see which array it is, nor how that is aligned,
//! and the same place may be written by another name:
//!
//! | through such a pointer | what is known |
//! |---|---|
//! | `p[t]` | the place in each array |
//! | `p[t]` again, with no barrier in between | not whether the value is still in a register |
//! | `p[2 * t]`, `p[2 * t + 1]` | not whether they become one access |
//! | an atomic, a copy past the registers, a matrix | nothing |

use super::alternatives::ANYWHERE;
use super::machine::{Begins, Machine, Mode, Several};
use super::value::{NOWHERE, ObjectId, Offset, Pointer, Target};
use crate::codegen::{Met, Still};
use crate::domain::{Int, Reason, Unknown, Variation};
use crate::events::{Access, AccessOp};
use crate::source::Span;

/// Objects that a pointer leads to one of, at the most.
const MOST_OBJECTS: usize = 4;

impl Machine<'_> {
    /// A pointer that is either of two, the same one in all threads; `None` if it leads to one object, or not to known
    /// places.
    pub(super) fn chosen_pointer(&self, p: &Pointer, q: &Pointer) -> Option<Pointer> {
        if self.mode != Mode::Device || self.settings.pitch.is_some() || self.sees_global_memory() {
            return None;
        }
        // What is read through it must not be the same for all threads because it would be of one array.
        let varies = |pointer: &Pointer| match &pointer.target {
            Target::Memory(_, offset) => offset.variation(),
            Target::Place(_) => Variation::Maybe,
        };
        if varies(p) != varies(q) {
            return None;
        }
        let places = [self.places(p)?, self.places(q)?].concat();
        let is_recorded = |object: ObjectId| self.array_of(object).is_some();
        let (_, first) = places.iter().find(|(object, _)| is_recorded(*object))?;
        let mut begins: Vec<(ObjectId, i64)> = Vec::new();
        for (object, at) in &places {
            let begin = match is_recorded(*object) {
                true => self.world.sub(at, first).as_constant()?,
                // One of no concern stands for all of them.
                false if begins.iter().any(|(object, _)| !is_recorded(*object)) => continue,
                false => 0,
            };
            if !begins.contains(&(*object, begin)) {
                begins.push((*object, begin));
            }
        }
        begins.sort_unstable();
        if !(2..=MOST_OBJECTS).contains(&begins.len()) {
            return None;
        }
        let mut objects: Vec<ObjectId> = begins.iter().map(|(object, _)| *object).collect();
        objects.dedup();
        let several = self.several(Several { objects: objects.into(), begins: Some(begins.into()) });
        let target = Target::Memory(several, Offset::Known(first.clone()));
        Some(Pointer { target, ..p.clone() })
    }

    /// The places that a pointer may lead to, if they are known.
    fn places(&self, pointer: &Pointer) -> Option<Vec<(ObjectId, Int)>> {
        match &pointer.target {
            Target::Memory(ANYWHERE, _) => None,
            Target::Memory(object, _) if !self.is_recorded(pointer) => {
                Some(vec![(self.objects_of(*object)[0], Int::constant(0))])
            }
            Target::Memory(object, Offset::Known(at)) => match self.begins_of_each(*object) {
                Some(begins) => {
                    let further = |(object, by): &(ObjectId, i64)| (*object, self.further_on(at, *by));
                    Some(begins.iter().map(further).collect())
                }
                None if self.is_one_of_several(*object) => None,
                None => Some(vec![(*object, at.clone())]),
            },
            _ => None,
        }
    }

    fn further_on(&self, at: &Int, by: i64) -> Int {
        self.world.add(at, &Int::constant(by))
    }

    fn begins_of_each(&self, object: ObjectId) -> Option<Begins> {
        let known = self.memory.alternatives.0.borrow();
        known.get((u32::MAX - object.0) as usize).and_then(|several| several.begins.clone())
    }

    /// Where an access through such a pointer lies in each array; none if that is not known, or what the compiler
    /// makes of it.
    pub(super) fn places_in_each(
        &mut self,
        several: ObjectId,
        (op, bytes): (AccessOp, Option<u64>),
        pointer: &Pointer,
        is_atomic: bool,
    ) -> Option<Vec<Pointer>> {
        let Target::Memory(_, Offset::Known(at)) = &pointer.target else { return None };
        let begins = self.begins_of_each(several)?;
        if is_atomic || !matches!(op, AccessOp::Load | AccessOp::Store) {
            return None;
        }
        let bytes = bytes.and_then(|bytes| u32::try_from(bytes).ok());
        let is_kept = self.recording && bytes.is_some_and(|bytes| self.may_be_kept(several, op, bytes, at));
        let place = |(object, by): &(ObjectId, i64)| {
            let offset = match is_kept {
                true => Offset::unknown(Variation::Maybe, still_in_a_register()),
                false => Offset::Known(self.further_on(at, *by)),
            };
            Pointer { target: Target::Memory(*object, offset), ..pointer.clone() }
        };
        Some(begins.iter().map(place).collect())
    }

    /// An access of each of these places, of which a block does one.
    pub(super) fn record_chosen(&mut self, op: AccessOp, places: &[Pointer], bytes: Option<u64>, span: Span) {
        let mark = self.requests.mark();
        let before = std::mem::replace(&mut self.at_hand.chosen, true);
        for place in places {
            // Which of two accesses are of one array, nobody keeps in mind.
            self.around.next_split += 1;
            self.state.passable.push(self.around.next_split << 1);
            let second = self.requests.mark();
            self.record_bytes(op, place, bytes, span, None);
            self.requests.keep_most([&mark, &second], &mut self.trace.accesses);
            self.state.passable.pop();
        }
        self.at_hand.chosen = before;
    }

    /// Whether the compiler may still have what an access through such a pointer reads, or may leave out what it
    /// writes: the pointer led to the same place before, and no barrier was met since. What else was written, it
    /// may know to lie elsewhere.
    fn may_be_kept(&mut self, several: ObjectId, op: AccessOp, bytes: u32, offset: &Int) -> bool {
        self.compiler.registers.go_on(self.compiler.epoch, self.compiler.region);
        let load = op == AccessOp::Load;
        // Arrays of their own: of all accesses through the pointer, and of its stores.
        let number = (several.0 as usize) << 1;
        let mut is_again = [false; 2];
        for (which, is_again) in is_again.iter_mut().enumerate().take(if load { 1 } else { 2 }) {
            let met = Met {
                array: usize::MAX - (number + which),
                bytes,
                offset,
                active: self.state.active,
                doubt: &self.state.doubt,
                weight: self.weight,
                site: usize::MAX,
                iteration: self.compiler.iteration,
                within: 0,
                in_loop: !self.state.loops.is_empty(),
                load: true,
            };
            *is_again = self.compiler.registers.meet(&met) != Still::No;
        }
        if is_again[1] {
            // It may leave out what was written first.
            let stores = |access: &&mut Access| access.of_several && access.op == AccessOp::Store;
            let stores = self.trace.accesses.iter_mut().filter(stores);
            for access in stores {
                access.unknown.get_or_insert_with(still_in_a_register);
            }
        }
        is_again[usize::from(!load)]
    }
}

fn still_in_a_register() -> Unknown {
    Unknown::new(Reason::Compiler, NOWHERE, "whether the compiler still has it in a register")
}
