//! What do variables hold after a loop of which one pass stands for several rounds?
//!
//! Buffers take turns, and one pass through the body stands for as many rounds as they take to come back. The loop may
//! end after any of them:
//!
//! ```text
//! int c = 0;
//! for (k = 0; k < n; ++k) { ... c ^= 1; }     a pass is two rounds: k = 2 q, c = 0, and k = 2 q + 1, c = 1
//!                                             after the loop: k = 2 q + r, c = r, with r 0 or 1
//! ```
//!
//! `r`, the *rest*, is one number for all variables. Of one that it does not tell nothing is known but that it is one of
//! a few.

use super::alternatives::ANYWHERE;
use super::loop_plan::Pass;
use super::machine::{Machine, State, slot_value};
use super::revised::part_or_around;
use super::value::{Offset, Pointer, Target, Value};
use crate::domain::{Int, Origin, SymbolId};
use std::rc::Rc;

impl Machine<'_> {
    /// The state after the loop, as one at the start of some round, and the rest if a pass has several.
    pub(super) fn after_pass(&mut self, pass: Pass) -> (State, Option<SymbolId>) {
        let Pass { entry, plan, inside, .. } = pass;
        let Some(last) = i64::try_from(inside.len()).ok().filter(|last| *last > 0) else {
            return (entry, None);
        };
        let name = "the rounds beyond whole passes of a loop";
        let rest = self.world.symbols.fresh(name.into(), Origin::LoopValue, Some(0), Some(last));
        let mut after = entry.clone();
        for (frame, local, _) in &plan {
            let first = slot_value(&entry, *frame, *local);
            let others: Vec<Value> = inside.iter().map(|state| slot_value(state, *frame, *local)).collect();
            let value = self.one_of(&first, &others, rest);
            if let Some(slots) = after.frames.get_mut(*frame).map(|frame| &mut frame.slots)
                && slots.get(local.0 as usize).is_some()
            {
                slots.set_value(local.0 as usize, value);
            }
        }
        (after, Some(rest))
    }

    /// A value that is the first or one of the others, by the rest, as far as that is followed; each part of an object
    /// for itself.
    fn one_of(&mut self, first: &Value, others: &[Value], rest: SymbolId) -> Value {
        if others.iter().all(|other| other == first) {
            return first.clone();
        }
        if let Value::Aggregate(parts) = first
            && others.iter().all(|other| have_same_ways(first, other))
        {
            let parts = parts.iter().enumerate().map(|(at, (way, part))| {
                let others = others.iter().map(|other| part_or_around(other, at, way));
                (way.clone(), self.one_of(part, &others.collect::<Vec<_>>(), rest))
            });
            return Value::Aggregate(Rc::new(parts.collect()));
        }
        self.with_rest(first, others, rest).unwrap_or_else(|| {
            let variation = others.iter().map(Value::variation).fold(first.variation(), Ord::max);
            let objects = others.iter().map(|other| self.object_between(first, other));
            let into = objects.reduce(|a, b| self.either_object(a, b)).unwrap_or(ANYWHERE);
            self.lost_in_loop(first, variation, into)
        })
    }

    /// The same of a number or a pointer, if the rest tells it.
    fn with_rest(&mut self, first: &Value, others: &[Value], rest: SymbolId) -> Option<Value> {
        match first {
            Value::Int(int, scalar) => {
                let numbers = others.iter().map(|other| match other {
                    Value::Int(int, _) => Some(int),
                    _ => None,
                });
                let sum = self.sum_with_rest(int, &numbers.collect::<Option<Vec<_>>>()?, rest)?;
                Some(Value::Int(sum, *scalar))
            }
            Value::Pointer(Pointer {
                target: Target::Memory(object, Offset::Known(offset)),
                pointee,
                volatile,
            }) => {
                let offsets =
                    others.iter().map(|other| match other {
                        Value::Pointer(Pointer {
                            target: Target::Memory(of, Offset::Known(offset)), ..
                        }) if of == object => Some(offset),
                        _ => None,
                    });
                let sum = self.sum_with_rest(offset, &offsets.collect::<Option<Vec<_>>>()?, rest)?;
                let target = Target::Memory(*object, Offset::Known(sum));
                Some(Value::Pointer(Pointer { target, pointee: pointee.clone(), volatile: *volatile }))
            }
            _ => None,
        }
    }

    /// `first + rest * step`, if that tells the others, too.
    fn sum_with_rest(&mut self, first: &Int, others: &[&Int], rest: SymbolId) -> Option<Int> {
        let step = self.world.sub(others.first()?, first);
        let tells =
            |(rounds, other): (i64, &&Int)| self.world.sub(other, first) == self.world.scale(&step, rounds);
        if !(1..).zip(others).all(tells) {
            return None;
        }
        let added = self.world.mul(&step, &Int::symbol(rest)).ok()?;
        Some(self.world.add(first, &added))
    }
}

fn have_same_ways(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Aggregate(x), Value::Aggregate(y)) => {
            x.len() == y.len() && x.iter().zip(y.iter()).all(|((a, _), (b, _))| a == b)
        }
        _ => false,
    }
}
