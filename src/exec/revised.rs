//! Does a variable change in each round of a loop as it was supposed to, and if not, what is left to suppose?
//!
//! Of an object each part is a variable of its own: where a loop adds to `h.sum`, `h.tile` leads where it led before.

use super::machine::{Change, Machine, State, slot_value};
use super::parts::lost_around;
use super::value::{Steps, Value};
use crate::domain::{Int, Variation};
use crate::ir::LocalId;
use std::rc::Rc;

impl Change {
    /// Whether something is lost that was known before.
    pub(super) fn loses(&self) -> bool {
        match self {
            Change::Lost(..) => true,
            Change::Parts(changes) => changes.iter().any(|(_, change)| change.loses()),
            Change::By(_) | Change::Multiple(_) | Change::Around { .. } | Change::Renewed => false,
        }
    }
}

/// What becomes of a supposition.
struct Revised {
    /// What is supposed instead; nothing if it holds.
    next: Option<Change>,
    /// Whether a known number changed by another amount than in the round before.
    cycles: bool,
}

impl Machine<'_> {
    /// Holds the plan against an iteration that began with `entry`. Whether nothing had to be
    /// changed, and whether (if `first`) a known variable changed by another amount than before.
    pub(super) fn revise(
        &mut self,
        plan: &mut [(usize, LocalId, Change)],
        start: &State,
        entry: &State,
        first: bool,
    ) -> (bool, bool) {
        let (mut stable, mut cycles) = (true, false);
        for (frame, local, change) in plan {
            let before = slot_value(entry, *frame, *local);
            let after = slot_value(&self.state, *frame, *local);
            let begins = slot_value(start, *frame, *local);
            let revised = self.revised(change, &begins, (&before, &after));
            cycles |= first && revised.cycles;
            if let Some(next) = revised.next {
                *change = next;
                stable = false;
            }
        }
        (stable, cycles)
    }

    fn revised(&mut self, change: &Change, begins: &Value, (before, after): (&Value, &Value)) -> Revised {
        let holds = Revised { next: None, cycles: false };
        if let (Value::Aggregate(_), Value::Aggregate(_)) = (before, after) {
            match change {
                Change::Parts(changes) => return self.revised_parts(changes, begins, (before, after)),
                Change::By(_) if before.without_parts() != after.without_parts() => {
                    return self.revised_parts(&[], begins, (before, after));
                }
                _ => {}
            }
        }
        let now = self.difference(before, after);
        let next = match (change, now) {
            (Change::By(was), Change::By(now)) if *was == now => return holds,
            (Change::Renewed, Change::Renewed) => return holds,
            (Change::Multiple(of), Change::By(now)) if now.is_multiple_of(*of) => return holds,
            (Change::Around { step, modulus }, _) if self.turns_on(before, after, *step, *modulus) => {
                return holds;
            }
            (Change::Lost(was, into), now) => {
                let (variation, object) = match now {
                    Change::Lost(variation, object) => (variation, self.either_object(*into, object)),
                    _ => (after.variation(), *into),
                };
                if variation <= *was && object == *into {
                    return holds;
                }
                return Revised { next: Some(Change::Lost(variation.max(*was), object)), cycles: false };
            }
            (was, now) => self.weakened(was, &now, begins, (before, after)).unwrap_or_else(|| {
                let varies = match now {
                    Change::Lost(variation, _) => variation,
                    _ => Variation::Uniform,
                };
                let object = self.object_between(before, after);
                Change::Lost(varies.max(after.variation()).max(begins.variation()), object)
            }),
        };
        let cycles = matches!(change, Change::By(_)) && known_twice(before, after);
        Revised { next: Some(next), cycles }
    }

    /// The same of each part of an object.
    fn revised_parts(
        &mut self,
        changes: &[(Steps, Change)],
        begins: &Value,
        (before, after): (&Value, &Value),
    ) -> Revised {
        let mut stable = true;
        let mut next = Vec::new();
        for (at, (way, was, now, change)) in beside(before, after, changes).into_iter().enumerate() {
            let begins = part_or_around(begins, at, &way);
            let revised = self.revised(&change, &begins, (&was, &now));
            stable &= revised.next.is_none();
            next.push((way, revised.next.unwrap_or(change)));
        }
        // How often an object comes back to what it was is not asked.
        Revised { next: (!stable).then(|| Change::Parts(Rc::new(next))), cycles: false }
    }

    /// How each part of an object changes from one value to another.
    pub(super) fn parts_between(&self, before: &Value, after: &Value) -> Change {
        let parts = beside(before, after, &[]).into_iter();
        let changes = parts.map(|(way, was, now, _)| (way, self.difference(&was, &now)));
        Change::Parts(Rc::new(changes.collect()))
    }
}

/// The parts of an object at two times, and how each is said to change; one of which nothing is said stays as it is.
pub(super) fn beside(
    before: &Value,
    after: &Value,
    changes: &[(Steps, Change)],
) -> Vec<(Steps, Value, Value, Change)> {
    let mut ways: Vec<&Steps> = parts_of(before).iter().map(|(way, _)| way).collect();
    let mut add = |at: usize, way| {
        // Mostly they are in the same order.
        if ways.get(at) != Some(&way) && !ways.contains(&way) {
            ways.push(way);
        }
    };
    parts_of(after).iter().enumerate().for_each(|(at, (way, _))| add(at, way));
    changes.iter().enumerate().for_each(|(at, (way, _))| add(at, way));
    let found = ways.into_iter().enumerate().map(|(at, way)| {
        let change = found_at(changes, at, way).cloned().unwrap_or(Change::By(Int::constant(0)));
        (way.clone(), part_or_around(before, at, way), part_or_around(after, at, way), change)
    });
    found.collect()
}

fn parts_of(value: &Value) -> &[(Steps, Value)] {
    match value {
        Value::Aggregate(parts) => parts,
        _ => &[],
    }
}

/// What belongs to a way in a list, where it is mostly at this place.
pub(super) fn found_at<'l, T>(list: &'l [(Steps, T)], at: usize, way: &Steps) -> Option<&'l T> {
    let here = list.get(at).filter(|(other, _)| other == way);
    here.or_else(|| list.iter().find(|(other, _)| other == way)).map(|(_, found)| found)
}

/// What is known of a part: where a whole around it was lost, it is as lost.
pub(super) fn part_or_around(value: &Value, at: usize, way: &Steps) -> Value {
    let Value::Aggregate(parts) = value else {
        return if matches!(value, Value::Opaque(..)) { value.clone() } else { Value::Undefined };
    };
    let part = found_at(parts, at, way).cloned();
    part.or_else(|| lost_around(parts, way)).unwrap_or(Value::Undefined)
}

/// What is left of an object that has become what is not known: the pointers in it may still lead where they led.
pub(super) fn lost_parts(value: &Value, rest: Value, mut lost: impl FnMut(&Value) -> Value) -> Value {
    let pointers = parts_of(value).iter().filter(|(_, part)| matches!(part, Value::Pointer(_)));
    let mut parts: Vec<(Steps, Value)> = pointers.map(|(way, part)| (way.clone(), lost(part))).collect();
    if parts.is_empty() {
        return rest;
    }
    parts.insert(0, (Steps::new(), rest));
    Value::Aggregate(Rc::new(parts))
}

fn known_twice(before: &Value, after: &Value) -> bool {
    matches!((before, after), (Value::Int(..), Value::Int(..)) | (Value::Pointer(_), Value::Pointer(_)))
}
