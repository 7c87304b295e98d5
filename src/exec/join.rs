//! What is known where two ways through the code meet?

use super::machine::{Machine, Mode, State};
use super::parts::merge_parts;
use super::value::Value;
use crate::domain::{Int, SymbolId, Unknown};
use crate::events::Taken;
use std::rc::Rc;

/// How two copies of the state are joined.
#[derive(Clone, Debug)]
pub(crate) enum Join {
    /// The same unknown choice for every thread, and a number that is 0 where it is 1 (`true`) or 0.
    Uniform(SymbolId, Unknown, Option<(Int, bool)>),
    /// Any thread may have come either way.
    Varying(Unknown),
}

impl Machine<'_> {
    /// Here code begins that a block may pass by, as it may pass by what comes after it, if it leaves. `taken`: of
    /// which blocks surely the active threads come here.
    pub(super) fn enter_passable(&mut self, taken: Taken) {
        self.around.next_split += 1;
        self.enter_branch(self.around.next_split << 1, taken);
    }

    fn enter_branch(&mut self, number: u32, taken: Taken) {
        self.state.passable.push(number);
        self.trace.tree.note_branch(number, taken);
    }

    /// Here the other side of a condition begins that is the same for all threads, so that no block takes both.
    /// `first`: the number of the branch of the first side. `taken`: who takes this one.
    pub(super) fn enter_other_side(&mut self, first: u32, taken: Taken) {
        self.enter_branch(first ^ 1, taken);
    }

    /// Joins the present state with another that started from the same one. The doubt about
    /// the active threads ends with the branch, unless the branches end with different ones.
    pub(crate) fn join(&mut self, held: State, how: Join) {
        // A side that left goes on where what it left ends.
        let left = match (held.active.is_empty(), self.state.active.is_empty()) {
            (true, _) => Some(held),
            (_, true) => Some(std::mem::replace(&mut self.state, held)),
            _ => {
                self.merge(held, &how);
                None
            }
        };
        match (left, how) {
            (Some(left), Join::Uniform(..)) => self.note_left(left),
            // Any of the threads may have left, as [`Machine::note_maybe_left`] notes.
            (Some(left), Join::Varying(why)) => {
                match self.mode == Mode::Device && !left.leaves_what_goes_on(&self.state) {
                    true => self.state.add_exits(&why, false),
                    false => self.state.add_doubt(&why),
                }
                self.state.add_jumps(&left.jumps);
                self.state.course.also_left(left.course);
            }
            (None, _) => {}
        }
    }

    /// Joins what two sides know of the variables, and whose threads go on.
    pub(super) fn merge(&mut self, held: State, how: &Join) {
        let why = match how {
            Join::Uniform(_, why, _) | Join::Varying(why) => why.clone(),
        };
        let is_one = |here: &Value, there: &Value| match how {
            Join::Uniform(..) => here == there,
            Join::Varying(_) => here.is_surely(there),
        };
        for (at, frame) in held.frames.iter().enumerate() {
            let written = self.state.frames.get(at).is_some_and(|f| !f.slots.same(&frame.slots));
            for (number, slot) in frame.slots.iter().enumerate().filter(|_| written) {
                let Some(slots) = self.state.frames.get(at).map(|f| &f.slots) else { continue };
                let Some(here) = slots.get(number) else { continue };
                if slots.same_at(&frame.slots, number) || is_one(&here.value, &slot.value) {
                    continue;
                }
                let failed = here.value.clone();
                let value = self.join_values(&slot.value, &failed, how);
                if let Some(place) = self.state.frames.get_mut(at).and_then(|f| f.slots.get_mut(number)) {
                    if matches!(place.value, Value::Undefined) {
                        place.ty = slot.ty.clone();
                        place.reference = slot.reference;
                    }
                    place.value = value;
                }
            }
            let Some(here) = self.state.frames.get(at).map(|f| f.result.clone()) else { continue };
            let result =
                if is_one(&here, &frame.result) { here } else { self.join_values(&frame.result, &here, how) };
            if let Some(place) = self.state.frames.get_mut(at) {
                place.result = result;
                place.returned = place.returned.and(&frame.returned);
                place.may_have_returned = place.may_have_returned.or(&frame.may_have_returned);
            }
        }
        if held.active != self.state.active || held.jumps != self.state.jumps {
            self.state.add_doubt(&why);
        }
        self.state.add_jumps(&held.jumps);
        self.state.active = self.state.active.or(&held.active);
        self.state.exited = self.state.exited.and(&held.exited);
        for (here, there) in self.state.loops.iter_mut().zip(&held.loops) {
            here.broken = here.broken.and(&there.broken);
            here.continued = here.continued.and(&there.continued);
            here.together |= there.together;
        }
        let both = self.state.claims.iter().zip(&held.claims).take_while(|(a, b)| Rc::ptr_eq(a, b)).count();
        self.state.claims.truncate(both);
        let both = self.state.path.iter().zip(&held.path).take_while(|(a, b)| a == b).count();
        self.state.path.truncate(both);
        let both = self.state.passable.iter().zip(&held.passable).take_while(|(a, b)| a == b).count();
        self.state.passable.truncate(both);
        let both = self.state.bounds.iter().zip(&held.bounds).take_while(|(a, b)| a == b).count();
        self.state.bounds.truncate(both);
        // Where one side is not refuted, a way leads on.
        if held.refuted.is_none() {
            self.state.refuted = None;
        }
        self.state.course.join(held.course);
        self.state.may_have_left |= held.may_have_left;
        held.assumptions.iter().for_each(|assumption| self.assume(assumption.clone()));
    }

    fn join_values(&mut self, held: &Value, failed: &Value, how: &Join) -> Value {
        match how {
            Join::Uniform(choice, _, zero) => self.choose(held, failed, *choice, zero.as_ref()),
            Join::Varying(why) => self.join_varying(held, failed, why),
        }
    }

    /// A value that may be either in any thread. Of an object only the parts that differ are lost: in a branch that
    /// moves `loader.last`, `loader.end` stays what it was.
    fn join_varying(&self, held: &Value, failed: &Value, why: &Unknown) -> Value {
        match (held, failed) {
            (Value::Undefined, other) | (other, Value::Undefined) => other.clone(),
            (Value::Aggregate(x), Value::Aggregate(y)) => merge_parts(x, y, |held, failed| {
                if held.is_surely(failed) { held.clone() } else { self.join_varying(held, failed, why) }
            }),
            _ => match self.lost(held, failed) {
                Value::Opaque(variation, ..) => Value::opaque(variation, why.clone()),
                other => other,
            },
        }
    }
}
