//! What is a variable at the start of a round, when it is known how a round changes it?
//!
//! [`loop_plan`](super::loop_plan) finds the change. The more a change says, the more is known of the variable, and a
//! bank verdict often needs little. `v` is what it was before the loop, `k` the number of the round:
//!
//! | written in the loop | change | at the start of a round |
//! |---|---|---|
//! | `i += 32` | by 32 | `v + 32k` |
//! | `if (n & k) p += 32; else p += 64;` | by multiples of 32, the same for all threads | `v + 32d`, `d` unknown |
//! | `swap(front, back)`, 1024 bytes apart, unknown times | by multiples of 1024 | `v + 1024d` |
//! | `s = (s + 16) & 2047` | by 16, around at 2048 | `(v + 16k) % 2048` |
//! | `i = next[i]` | not followed | a number of each thread's own |
//! | `h.sum += x; h.row += 32` | of each part apart | the same of each part |
//!
//! Each holds by induction: of `v` itself, and of what a round makes of any such number.

use super::alternatives::ANYWHERE;
use super::machine::{Change, Machine};
use super::revised::{beside, lost_parts};
use super::value::{ObjectId, Offset, Partial, Pointer, Steps, Target, Value};
use crate::domain::{Int, Lanes, Origin, Reason, Unknown, Variation, gcd};
use std::rc::Rc;

impl Int {
    /// The largest number known to divide one that is the same for all threads.
    fn common_divisor(&self) -> Option<i64> {
        let base = self.base.as_constant().filter(|_| self.is_uniform())?.unsigned_abs();
        i64::try_from(gcd(base, self.terms_gcd())).ok()
    }

    /// Whether it is a multiple of a number, and the same for all threads.
    pub(super) fn is_multiple_of(&self, number: i64) -> bool {
        self.common_divisor().is_some_and(|divisor| divisor % number == 0)
    }
}

impl Machine<'_> {
    /// A variable at the start of a round, from what it was before the loop.
    pub(super) fn at_round(&mut self, value: &Value, change: &Change, round: &Int) -> Value {
        let moved = match change {
            Change::By(step) => match self.world.mul(step, round) {
                Ok(moved) => moved,
                Err(_) if object_of(value).is_none() && !matches!(value, Value::Int(..)) => {
                    return value.without_parts();
                }
                Err(_) => {
                    let object = object_of(value).unwrap_or(ANYWHERE);
                    return self.lost_value(value, Variation::Maybe, object);
                }
            },
            Change::Multiple(of) => {
                let name = "a variable of a loop".into();
                let often = self.world.symbols.fresh(name, Origin::LoopValue, None, None);
                self.world.scale(&Int::symbol(often), *of)
            }
            Change::Around { step, modulus } => return self.around(value, *step, *modulus, round),
            Change::Renewed => return value.without_parts(),
            Change::Lost(variation, into) => return self.lost_in_loop(value, *variation, *into),
            Change::Parts(changes) => return self.parts_at_round(value, changes, round),
        };
        match value {
            Value::Int(int, scalar) => Value::Int(self.world.add(int, &moved), *scalar),
            Value::Pointer(pointer) => match &pointer.target {
                Target::Memory(object, Offset::Known(offset)) => {
                    let offset = Offset::Known(self.world.add(offset, &moved));
                    let target = Target::Memory(*object, offset);
                    Value::Pointer(Pointer { target, ..pointer.clone() })
                }
                Target::Memory(object, _) => self.lost_value(value, Variation::Maybe, *object),
                Target::Place(_) => self.lost_value(value, Variation::Maybe, ANYWHERE),
            },
            Value::Opaque(variation, why, Some(part)) => {
                let part = Partial { int: self.world.add(&part.int, &moved), scalar: part.scalar };
                Value::Opaque(*variation, why.clone(), Some(Rc::new(part)))
            }
            other => other.without_parts(),
        }
    }

    fn parts_at_round(&mut self, value: &Value, changes: &[(Steps, Change)], round: &Int) -> Value {
        let parts = beside(value, value, changes).into_iter().map(|(way, begins, _, change)| {
            let part = match (&begins, &change) {
                // It has a value from the second round on.
                (Value::Undefined, Change::Lost(variation, _)) => Value::opaque(*variation, not_followed()),
                _ => self.at_round(&begins, &change, round),
            };
            (way, part)
        });
        Value::Aggregate(Rc::new(parts.collect()))
    }

    fn around(&mut self, value: &Value, step: i64, modulus: i64, round: &Int) -> Value {
        let Value::Int(int, scalar) = value else {
            return self.lost_value(value, Variation::Maybe, ANYWHERE);
        };
        let unwound = self.world.add(int, &self.world.scale(round, step));
        match self.world.residue(&unwound, modulus) {
            Some(int) if int.is_per_thread() => {
                let part = Partial { int, scalar: *scalar };
                Value::Opaque(Variation::Maybe, not_followed(), Some(Rc::new(part)))
            }
            Some(int) => Value::Int(int, *scalar),
            None => self.lost_value(value, Variation::Maybe, ANYWHERE),
        }
    }

    /// Whether a round adds `step` to a variable and keeps it below `modulus`, as the rounds before did.
    pub(super) fn turns_on(&mut self, before: &Value, after: &Value, step: i64, modulus: i64) -> bool {
        let parts = before.known_part().zip(after.known_part());
        let Some(((before, _), (after, _))) = parts else { return false };
        let next = self.world.add(before, &Int::constant(step));
        self.world.residue(&next, modulus).is_some_and(|next| next == *after)
    }

    /// What can still be said of a change, where a round from `round.0` led to `round.1` and so by `now` instead.
    pub(super) fn weakened(
        &mut self,
        was: &Change,
        now: &Change,
        begins: &Value,
        round: (&Value, &Value),
    ) -> Option<Change> {
        match (was, now) {
            (Change::By(was), Change::By(now)) => self.multiples(begins, was.common_divisor()?, now),
            (Change::Multiple(of), Change::By(now)) => self.multiples(begins, *of, now),
            (Change::By(was), Change::Lost(..)) => self.found_around(was, begins, round),
            _ => None,
        }
    }

    /// Of a number that is the same for all threads, more is known in another way: which type it has.
    fn multiples(&self, begins: &Value, divisor: i64, now: &Int) -> Option<Change> {
        let counts = match begins {
            Value::Int(int, _) => !int.is_uniform(),
            Value::Pointer(Pointer { target: Target::Memory(_, Offset::Known(_)), .. }) => true,
            Value::Opaque(.., part) => part.is_some(),
            _ => false,
        };
        let divisor = gcd(divisor.unsigned_abs(), now.common_divisor()?.unsigned_abs());
        let divisor = i64::try_from(divisor).ok().filter(|divisor| counts && *divisor > 0)?;
        Some(Change::Multiple(divisor))
    }

    /// A number that is kept below a constant by a remainder or a mask.
    fn found_around(
        &mut self,
        was: &Int,
        begins: &Value,
        (before, after): (&Value, &Value),
    ) -> Option<Change> {
        let (Value::Int(begins, _), Value::Int(before, _)) = (begins, before) else { return None };
        let (after, _) = after.known_part()?;
        let wraps = after.terms.iter().find(|(id, _)| id.is_per_thread())?;
        let modulus = wraps.1.as_constant()?.checked_abs().filter(|modulus| *modulus > 1)?;
        let shape = self.shape();
        let steps = was.as_known()?.map(shape, |step| step.rem_euclid(modulus));
        let step = steps.as_constant()?;
        let (low, high) = self.world.bounds(begins);
        let begins_below = low.is_some_and(|low| low >= 0) && high.is_some_and(|high| high < modulus);
        let next = self.world.add(before, &Int::known(Lanes::constant(step)));
        let holds = begins_below && self.world.residue(&next, modulus).as_ref() == Some(after);
        holds.then_some(Change::Around { step, modulus })
    }

    /// What is left of a variable that is not followed through a loop: a number that is the same for all threads is
    /// that, at least, and a pointer leads where it led or into another object.
    pub(super) fn lost_in_loop(&mut self, value: &Value, variation: Variation, into: ObjectId) -> Value {
        match (value, variation) {
            (Value::Int(_, scalar), Variation::Uniform) => {
                let (low, name) = (super::resolve::low_of(*scalar), "a variable of a loop");
                let high = super::resolve::high_of(*scalar).filter(|_| low.is_some());
                let symbol = self.world.symbols.fresh(name.into(), Origin::LoopValue, low, high);
                Value::Int(Int::symbol(symbol), *scalar)
            }
            // What threads assign to it after that is known in those threads.
            (Value::Int(_, scalar), _) => {
                self.own_integer(*scalar, Origin::Own, variation.max(Variation::Maybe), not_followed())
            }
            _ => self.lost_value(value, variation, into),
        }
    }

    /// What is left of a variable that is not followed through a loop.
    pub(super) fn lost_value(&self, value: &Value, variation: Variation, into: ObjectId) -> Value {
        let why = not_followed();
        match value {
            Value::Pointer(Pointer { target: Target::Memory(object, _), pointee, volatile }) => {
                let object = self.either_object(*object, into);
                let target = Target::Memory(object, Offset::unknown(variation.max(Variation::Maybe), why));
                Value::Pointer(Pointer { target, pointee: pointee.clone(), volatile: *volatile })
            }
            Value::Undefined => Value::Undefined,
            _ => {
                let rest = Value::opaque(variation, why);
                lost_parts(value, rest, |pointer| self.lost_value(pointer, variation, ANYWHERE))
            }
        }
    }

    /// How a variable changes in one run of the body.
    pub(super) fn difference(&self, before: &Value, after: &Value) -> Change {
        let lost = || self.lost_between(before, after);
        match (before, after) {
            (Value::Int(a, _), Value::Int(b, _)) => Change::By(self.among_active(self.world.sub(b, a))),
            (Value::Pointer(p), Value::Pointer(q)) => match (&p.target, &q.target) {
                (Target::Memory(a, Offset::Known(x)), Target::Memory(b, Offset::Known(y))) if a == b => {
                    Change::By(self.among_active(self.world.sub(y, x)))
                }
                _ if p.without_part() == q.without_part() => Change::By(Int::constant(0)),
                _ => lost(),
            },
            (Value::Opaque(.., Some(a)), Value::Opaque(.., Some(b))) => {
                let by = self.among_active(self.world.sub(&b.int, &a.int));
                match before.without_parts() == after.without_parts() {
                    _ if a.scalar == b.scalar && !by.is_per_thread() => Change::By(by),
                    // What a thread reads in each round is another number each time.
                    true => Change::Renewed,
                    false => lost(),
                }
            }
            _ if before.without_parts() == after.without_parts() => Change::By(Int::constant(0)),
            (Value::Aggregate(_), Value::Aggregate(_)) => self.parts_between(before, after),
            _ => lost(),
        }
    }

    /// What a round adds in the threads that go on. Others have left the loop, and what they have is told when they do;
    /// where it is one number in all that go on, it is that.
    fn among_active(&self, by: Int) -> Int {
        let (active, shape) = (&self.state.active, self.shape());
        let is_one = |lanes: &Lanes| lanes.same_over(active, shape);
        let one = active.threads().next();
        let Some(one) = one.filter(|_| !by.is_uniform()) else { return by };
        if !is_one(&by.base) || !by.terms.iter().all(|(_, factor)| is_one(factor)) {
            return by;
        }
        let terms = by.terms.iter().map(|(id, factor)| (*id, Lanes::constant(factor.at(one, shape))));
        let terms = terms.filter(|(_, factor)| !factor.is_zero()).collect();
        Int { sight: by.sight, ..Int::of(Lanes::constant(by.base.at(one, shape)), terms) }
    }

    pub(super) fn lost_between(&self, before: &Value, after: &Value) -> Change {
        Change::Lost(before.variation().max(after.variation()), self.object_between(before, after))
    }

    /// Where a pointer leads that has one value before a round and another one after it.
    pub(super) fn object_between(&self, before: &Value, after: &Value) -> ObjectId {
        match (object_of(before), object_of(after)) {
            (Some(a), Some(b)) => self.either_object(a, b),
            (Some(a), None) => self.either_object(a, ANYWHERE),
            (None, _) => ANYWHERE,
        }
    }
}

fn not_followed() -> Unknown {
    let words = "a variable changes from iteration to iteration in a way that is not followed";
    Unknown::new(Reason::LoopCarried, super::value::NOWHERE, words)
}

pub(super) fn object_of(value: &Value) -> Option<ObjectId> {
    match value {
        Value::Pointer(Pointer { target: Target::Memory(object, _), .. }) => Some(*object),
        _ => None,
    }
}
