//! Which accesses of different warps does nothing order that meet for some data?
//!
//! One of the two goes to an element that data choose: what each thread reads from global memory is all that
//! makes its address, so that any thread may come to any element of a range. The other goes to known elements.
//! Example, in a block of 256, where `in` holds bytes:
//!
//! ```text
//! bins[t] = 0;                    thread 32 clears bytes 128 to 131
//! atomicAdd(&bins[in[t]], 1);     thread 0 adds to any of the bytes 0 to 1023
//! ```
//!
//! Where the thread's own number is a part of the address, or what an atomic or a sum over threads gave, threads
//! may well keep apart, and nothing is said.

use super::intervals::{Interval, Round, intervals};
use super::witness::{are_possible, is_possible};
use crate::domain::{Origin, Shape, Spread};
use crate::events::{Access, AccessEvent, AccessOp, Assumption, Event, Stored, Trace};
use crate::source::Span;
use std::sync::Arc;

/// Accesses of one interval that are looked at, at the most.
const MOST_ACCESSES: usize = 1 << 8;

/// Two accesses that no barrier orders, and that meet for some data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PossibleRace {
    /// The one that comes first in the program: an index into the trace's accesses.
    pub first: usize,
    /// The other.
    pub second: usize,
    /// A thread that does the first, and one of another warp that does the second.
    pub threads: (usize, usize),
    /// Whether data choose where the first goes, rather than the second.
    pub first_is_chosen: bool,
    /// The loop in whose next round the second is done.
    pub across: Option<Span>,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// Where an access goes.
enum Place {
    /// To known bytes, by thread.
    Known(Arc<Spread>),
    /// To bytes from the first to before the second, in steps of so many: data choose.
    Chosen(i64, i64, i64),
}

struct Step<'a> {
    event: &'a AccessEvent,
    access: &'a Access,
    bytes: i64,
    place: Place,
}

/// All such pairs of a run.
pub(super) fn find(trace: &Trace, shape: Shape) -> Vec<PossibleRace> {
    let mut found: Vec<PossibleRace> = Vec::new();
    if shape.threads() <= 32 || trace.tree.may_wait() {
        return found;
    }
    for interval in intervals(&trace.tree, shape) {
        let steps = steps(trace, &interval, shape);
        for (at, first) in steps.iter().enumerate() {
            for second in &steps[at + 1..] {
                let known =
                    |it: &PossibleRace| (it.first, it.second) == (first.event.access, second.event.access);
                if !found.iter().any(known)
                    && let Some((threads, first_is_chosen)) = meet(first, second, &interval)
                    && are_possible(first.event, second.event)
                {
                    let mut assumptions = first.event.assumptions.to_vec();
                    let others =
                        second.event.assumptions.iter().filter(|it| !first.event.assumptions.contains(it));
                    assumptions.extend(others.cloned());
                    let (first, second, across) = (first.event.access, second.event.access, interval.across);
                    found.push(PossibleRace { first, second, threads, first_is_chosen, across, assumptions });
                }
            }
        }
    }
    found
}

fn steps<'a>(trace: &'a Trace, interval: &Interval, shape: Shape) -> Vec<Step<'a>> {
    let step = |(at, _): &(usize, Round)| {
        let Event::Access(event) = &trace.tree.events()[*at] else { return None };
        let access = trace.accesses.get(event.access).filter(|it| !it.is_warp_wide())?;
        let offset = event.offset.as_ref().filter(|_| is_possible(event))?;
        let bytes = i64::from(access.bytes?);
        let place = match offset.terms.is_empty() {
            true => Place::Known(offset.base.spread(shape)),
            false => chosen(trace, event, access, bytes)?,
        };
        Some(Step { event, access, bytes, place })
    };
    interval.accesses.iter().filter_map(step).take(MOST_ACCESSES).collect()
}

/// The bytes that data choose among; `None` if something else than data has a say.
fn chosen(trace: &Trace, event: &AccessEvent, access: &Access, bytes: i64) -> Option<Place> {
    let offset = event.offset.as_ref()?;
    let size = trace.arrays[access.array].bytes().and_then(|size| i64::try_from(size).ok())?;
    let [(id, factor)] = offset.terms.as_slice() else { return None };
    let (base, factor) = (offset.base.as_constant()?, factor.as_constant().filter(|factor| *factor > 0)?);
    let symbol = trace.tree.symbol(*id).filter(|it| id.is_per_thread() && it.origin == Origin::Read)?;
    let end = |value: i64| value.checked_mul(factor).and_then(|bytes| bytes.checked_add(base));
    // Nobody leaves the array.
    let low =
        symbol.low.and_then(end).map_or(base.rem_euclid(factor), |low| low.max(base.rem_euclid(factor)));
    let high = symbol.high.and_then(end).map_or(size, |high| high.saturating_add(bytes).min(size));
    (low < high).then_some(Place::Chosen(low, high, factor))
}

/// Two threads of different warps that may meet in one byte, and whether data choose where the first goes.
fn meet(first: &Step<'_>, second: &Step<'_>, interval: &Interval) -> Option<((usize, usize), bool)> {
    let changes = |step: &Step<'_>| !matches!(step.access.op, AccessOp::Load | AccessOp::MatrixLoad);
    let atomic = |step: &Step<'_>| step.access.op == AccessOp::Atomic;
    let stores = |step: &Step<'_>| changes(step) && !atomic(step);
    let is_race = (changes(first) || changes(second)) && !(atomic(first) && atomic(second));
    // Of two stores it is not known whether they write one value.
    if !is_race || first.event.object != second.event.object || stores(first) && stores(second) {
        return None;
    }
    // What is written there is made of what is read there.
    if first.access.span == second.access.span && matches!(second.event.stored, Stored::Update) {
        return None;
    }
    let (known, free, first_is_chosen) = match (&first.place, &second.place) {
        (Place::Chosen(..), Place::Known(_)) => (second, first, true),
        (Place::Known(_), Place::Chosen(..)) => (first, second, false),
        _ => return None,
    };
    let (Place::Known(offsets), Place::Chosen(low, high, step)) = (&known.place, &free.place) else {
        return None;
    };
    let is_among = |thread: &usize| {
        let at = offsets[*thread];
        let inside = at >= *low && at.saturating_add(known.bytes) <= *high;
        inside && (at - low).rem_euclid(*step) < free.bytes
    };
    for thread in known.event.threads.threads().filter(is_among) {
        let apart =
            |other: &usize| other / 32 != thread / 32 && interval.phases[*other] == interval.phases[thread];
        if let Some(other) = free.event.threads.threads().find(apart) {
            return Some((if first_is_chosen { (other, thread) } else { (thread, other) }, first_is_chosen));
        }
    }
    None
}
