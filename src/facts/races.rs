//! Which accesses of different warps does no barrier order?
//!
//! Two threads of different warps touch the same byte in one interval, and one of them writes it. Each
//! interval is walked once, with a memory of who touched which byte. Worked example, in a block of 64:
//!
//! ```text
//! s[t] = in[t];              thread 32 writes bytes 128 to 131
//! out[t] = s[(t + 1) % 64];  thread 31 reads them: warp 0 reads what warp 1 wrote
//! ```
//!
//! Only accesses that surely happen count, at offsets that are known but for what all threads share. A
//! thread that reads what it wrote in the same statement as all others did reads what it wrote: nothing
//! is said of it. Neither is anything of threads of one warp, of two writes, and of functions that speak
//! of `volatile`.

use super::intervals::{Round, intervals};
use super::witness::{are_possible, is_possible};
use crate::domain::{Lanes, Shape, Spread, SymbolId, gcd};
use crate::events::{Access, AccessEvent, AccessOp, Assumption, Event, Trace};
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Bytes of threads that are looked at in one run, at the most.
const MOST_TOUCHED: usize = 1 << 22;
/// Cells of an array that are kept in mind at the most.
const MOST_CELLS: i64 = 1 << 16;

/// Two accesses that no barrier orders.
#[derive(Clone, Debug)]
pub(crate) struct Race {
    /// The one that comes first in the program: an index into the trace's accesses.
    pub first: usize,
    /// The other.
    pub second: usize,
    /// A thread that does the first, and one of another warp that does the second, at the same byte.
    pub threads: (usize, usize),
    /// The loop in whose next round the second is done.
    pub across: Option<Span>,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// An access at offsets that are known but for a sum that all threads share.
struct Step<'a> {
    access: &'a Access,
    number: usize,
    event: &'a AccessEvent,
    offsets: Arc<Spread>,
    bytes: i64,
}

/// What tells offsets apart whose distance is not known: the variable, and what is added for all threads.
type Group = (u32, Vec<(SymbolId, i64)>);

/// Who touched a cell: two threads of different warps at most, of each kind of access.
#[derive(Clone, Copy, Default)]
struct Cell {
    loads: [Touch; 2],
    stores: [Touch; 2],
    atomics: [Touch; 2],
}

/// A step's number plus one, and a thread; 0 for none.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Touch(u32);

impl Touch {
    fn by(step: usize, thread: usize) -> Touch {
        Touch((step as u32 + 1) << 10 | thread as u32)
    }

    fn get(self) -> Option<(usize, usize)> {
        (self.0 != 0).then(|| ((self.0 >> 10) as usize - 1, self.0 as usize & 1023))
    }
}

/// All races of a run.
pub(super) fn find(trace: &Trace, shape: Shape) -> Vec<Race> {
    let mut found: Vec<Race> = Vec::new();
    let mut left = MOST_TOUCHED;
    // Within a warp nothing is said.
    if shape.threads() <= 32 || trace.tree.is_volatile() {
        return found;
    }
    for interval in intervals(&trace.tree, shape) {
        for steps in groups(trace, shape, &interval.accesses).values() {
            walk(steps, &interval.phases, &mut left, &mut |first, second, threads| {
                let (first, second) = (&steps[first], &steps[second]);
                let known = |race: &Race| (race.first, race.second) == (first.number, second.number);
                if found.iter().any(known) || !are_possible(first.event, second.event) {
                    return;
                }
                let mut assumptions = first.event.assumptions.to_vec();
                for assumed in second.event.assumptions.iter() {
                    if !assumptions.contains(assumed) {
                        assumptions.push(assumed.clone());
                    }
                }
                let (first, second, across) = (first.number, second.number, interval.across);
                found.push(Race { first, second, threads, across, assumptions });
            });
        }
    }
    found
}

/// The accesses by what tells their offsets apart, where some write and others do not.
fn groups<'a>(
    trace: &'a Trace,
    shape: Shape,
    interval: &[(usize, Round)],
) -> FxHashMap<Group, Vec<Step<'a>>> {
    let mut found: FxHashMap<Group, Vec<Step<'a>>> = FxHashMap::default();
    // Most intervals only read or only write an array.
    let mut kinds: FxHashMap<u32, [bool; 3]> = FxHashMap::default();
    let accesses = interval.iter().filter_map(|(at, round)| match &trace.tree.events()[*at] {
        Event::Access(event) if is_possible(event) => {
            Some((event, trace.accesses.get(event.access)?, *round))
        }
        _ => None,
    });
    for (event, access, _) in accesses.clone() {
        kinds.entry(event.object).or_default()[kind(access.op)] = true;
    }
    for (event, access, round) in accesses {
        let several =
            kinds.get(&event.object).is_some_and(|kinds| kinds.iter().filter(|it| **it).count() > 1);
        let (Some(offset), Some(bytes), true) = (&event.offset, access.bytes, several) else { continue };
        let mut base: Lanes = offset.base.clone();
        let mut terms = Vec::new();
        let mut is_shared = true;
        for (id, factor) in &offset.terms {
            let Some(constant) = factor.as_constant() else {
                is_shared = false;
                break;
            };
            match round {
                Round::First(of) if of == *id => continue,
                Round::Next(of) if of == *id => base = base.add(&Lanes::constant(constant), shape),
                _ => {}
            }
            terms.push((*id, constant));
        }
        if is_shared {
            let (number, offsets, bytes) = (event.access, base.spread(shape), i64::from(bytes));
            let step = Step { access, number, event, offsets, bytes };
            found.entry((event.object, terms)).or_default().push(step);
        }
    }
    found
}

/// Loads, stores, atomics.
fn kind(op: AccessOp) -> usize {
    match op {
        AccessOp::Load | AccessOp::MatrixLoad => 0,
        AccessOp::Store | AccessOp::MatrixStore | AccessOp::AsyncCopy => 1,
        AccessOp::Atomic => 2,
    }
}

impl Step<'_> {
    /// The threads whose addresses it takes.
    fn threads(&self) -> impl Iterator<Item = usize> + '_ {
        let rows = usize::from(self.access.matrices) * 8;
        self.event.threads.threads().filter(move |thread| rows == 0 || thread % 32 < rows)
    }

    /// Whether a thread touches a byte in it.
    fn touches(&self, thread: usize, byte: i64) -> bool {
        let at = self.offsets[thread];
        self.event.threads.has(thread) && (at..at.saturating_add(self.bytes)).contains(&byte)
    }
}

/// Walks the accesses of one interval in order, and tells of those that meet.
fn walk(
    steps: &[Step<'_>],
    phases: &[(u32, u64)],
    left: &mut usize,
    tell: &mut dyn FnMut(usize, usize, (usize, usize)),
) {
    let mut kinds = [false; 3];
    steps.iter().for_each(|step| kinds[kind(step.access.op)] = true);
    if kinds.iter().filter(|it| **it).count() < 2 || steps.len() >= 1 << 21 {
        return;
    }
    let (mut low, mut high, mut grain) = (i64::MAX, i64::MIN, 0u64);
    for step in steps {
        for thread in step.threads() {
            let at = step.offsets[thread];
            (low, high) = (low.min(at), high.max(at.saturating_add(step.bytes)));
            grain = gcd(grain, at.unsigned_abs());
        }
        grain = gcd(grain, step.bytes.unsigned_abs());
    }
    let grain = i64::try_from(grain).unwrap_or(1).max(1);
    let cells = high.saturating_sub(low) / grain;
    if !(1..=MOST_CELLS).contains(&cells) {
        return;
    }
    let mut memory = vec![Cell::default(); cells as usize];
    for (number, step) in steps.iter().enumerate() {
        let kind = kind(step.access.op);
        for thread in step.threads() {
            let at = step.offsets[thread];
            let Some(rest) = left.checked_sub((step.bytes / grain) as usize) else { return };
            *left = rest;
            for byte in (at..at + step.bytes).step_by(grain as usize) {
                let cell = &mut memory[((byte - low) / grain) as usize];
                if let Some((first, other)) = meets(steps, phases, cell, (number, thread), byte) {
                    tell(first, number, (other, thread));
                }
                let touches = [&mut cell.loads, &mut cell.stores, &mut cell.atomics];
                let Some(touches) = touches.into_iter().nth(kind) else { continue };
                note(touches, Touch::by(number, thread));
            }
        }
    }
}

/// The step before, and its thread, that is of another warp and is not ordered before an access to a cell.
fn meets(
    steps: &[Step<'_>],
    phases: &[(u32, u64)],
    cell: &Cell,
    (number, thread): (usize, usize),
    byte: i64,
) -> Option<(usize, usize)> {
    let step = &steps[number];
    let of_other_warp = |touches: &[Touch; 2]| {
        let apart = |other: usize| other / 32 != thread / 32 && phases[other] == phases[thread];
        touches.iter().filter_map(|touch| touch.get()).find(|(_, other)| apart(*other))
    };
    // Who wrote it in the same statement finds what it wrote.
    let written = |touches: &[Touch; 2]| {
        of_other_warp(touches).filter(|(first, _)| !steps[*first].touches(thread, byte))
    };
    let read = || of_other_warp(&cell.loads).filter(|(_, other)| !step.touches(*other, byte));
    match kind(step.access.op) {
        0 => written(&cell.stores).or_else(|| written(&cell.atomics)),
        1 => read().or_else(|| written(&cell.atomics)),
        _ => read().or_else(|| written(&cell.stores)),
    }
}

fn note(touches: &mut [Touch; 2], touch: Touch) {
    match (touches[0].get(), touches[1].get(), touch.get()) {
        (None, _, _) => touches[0] = touch,
        (Some((_, known)), None, Some((_, thread))) if known / 32 != thread / 32 => touches[1] = touch,
        _ => {}
    }
}
