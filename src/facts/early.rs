//! Which shared memory is read before any thread writes it?
//!
//! [`unwritten`](super::unwritten) finds what nobody ever writes. This module collects everything that may have been
//! written before a read happens for the first time. Example, in a block of 256:
//!
//! ```text
//! for (d = 1; d < 256; d *= 2) {
//!     if (t % (2 * d) == 0)
//!         s[t] += s[t + d];        thread 0 reads bytes 0 to 3, and writes them only then
//!     __syncthreads();
//! }
//! ```
//!
//! A write may happen before a read if it precedes it, or if another thread does it and nothing keeps the two in
//! order: no barrier that all threads reach, and no `__syncwarp` for the two lanes. In the first iteration of a loop,
//! what follows a read happens after it. So a read counts only if it happens in the first iteration.

use super::unwritten::{Unwritten, begins, known};
use super::witness::is_possible;
use crate::domain::{Shape, Spread};
use crate::events::{Access, AccessEvent, AccessOp, Assumption, Branches, Event, MemberOf, Trace};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// Bytes of an array that are kept in mind at the most.
const MOST_BYTES: i64 = 1 << 18;
/// Reads whose later writes are looked at, at the most.
const MOST_READS: usize = 1 << 8;

/// What may have been written of a variable.
#[derive(Default)]
struct Written {
    /// Whether any of it may be.
    any: bool,
    /// By byte.
    bytes: Vec<bool>,
}

impl Written {
    fn add(&mut self, bytes: Range<i64>) {
        if bytes.start < 0 || bytes.end > MOST_BYTES {
            self.any = true;
            return;
        }
        let (start, end) = (bytes.start as usize, bytes.end as usize);
        if self.bytes.len() < end {
            self.bytes.resize(end, false);
        }
        self.bytes[start..end].fill(true);
    }

    fn has_none_of(&self, bytes: &Range<i64>) -> bool {
        let is_unwritten = |at: i64| usize::try_from(at).is_ok_and(|at| self.bytes.get(at) != Some(&true));
        !self.any && bytes.clone().all(is_unwritten)
    }
}

/// Where the threads of an access go.
struct Bytes {
    offsets: Arc<Spread>,
    /// How many lie before the offset.
    before: i64,
    bytes: i64,
}

impl Bytes {
    fn of(&self, thread: usize) -> Range<i64> {
        let at = self.offsets[thread].saturating_sub(self.before);
        at..at.saturating_add(self.bytes)
    }

    /// What is read with them: all of an object that is copied as a whole.
    fn of_object(&self, member: Option<MemberOf>) -> Bytes {
        let (before, bytes) = match member {
            Some(member) => (i64::from(member.at), i64::from(member.size)),
            None => (0, self.bytes),
        };
        Bytes { offsets: Arc::clone(&self.offsets), before, bytes }
    }
}

/// All such reads of a run, one for each site, but for those of what is `never` written. `dynamic`: the bytes of
/// dynamic shared memory, if they are known.
pub(super) fn find(trace: &Trace, shape: Shape, dynamic: Option<u64>, never: &[Unwritten]) -> Vec<Unwritten> {
    let mut found: Vec<Unwritten> = Vec::new();
    // By number in `found`: the variable and the bytes.
    let mut places: Vec<(u32, Range<i64>)> = Vec::new();
    let events = trace.tree.events();
    let may_write = |event: &Event| matches!(event, Event::MayAccess { writes: true, .. });
    if trace.tree.is_cut() || trace.stopped.is_some() || events.iter().any(may_write) {
        return found;
    }
    // Arrays that are sized at launch may lie over each other.
    let sized_at_launch = |event: &Event| match event {
        Event::Access(event) => {
            trace.arrays[trace.accesses.get(event.access)?.array].dynamic.then_some(event.object)
        }
        _ => None,
    };
    let mut sized: Vec<u32> = events.iter().filter_map(sized_at_launch).collect();
    sized.sort_unstable();
    sized.dedup();
    let mut written: FxHashMap<u32, Written> = FxHashMap::default();
    let mut looked_at = 0;
    for (at, event) in events.iter().enumerate() {
        let Event::Access(event) = event else { continue };
        let Some(access) = trace.accesses.get(event.access) else { continue };
        let place = known(event, access, shape).map(|(offsets, bytes)| Bytes { offsets, before: 0, bytes });
        let before = written.entry(event.object).or_default();
        // What lies outside is another's.
        let array = &trace.arrays[access.array];
        let size = array.bytes().or(dynamic.filter(|_| array.dynamic));
        let size = size.map_or(MOST_BYTES, |size| size.min(MOST_BYTES as u64) as i64);
        let is_inside = |bytes: &Range<i64>| bytes.start >= 0 && bytes.end <= size;
        let lies_alone = sized.len() < 2 || !sized.contains(&event.object);
        let place_read = place.as_ref().map(|place| place.of_object(event.member));
        if let Some(place) = place_read.filter(|_| lies_alone && is_read(event, access)) {
            let is_new = !never.iter().chain(&found).any(|it| it.access == event.access);
            let unwritten =
                |thread: &usize| is_inside(&place.of(*thread)) && before.has_none_of(&place.of(*thread));
            if is_new && looked_at < MOST_READS && event.threads.threads().any(|thread| unwritten(&thread)) {
                looked_at += 1;
                let later = &events[at + 1..];
                let is_early = |thread: &usize| {
                    unwritten(thread)
                        && is_before_all(trace, event, later, (*thread, place.of(*thread)), shape)
                };
                if let Some(thread) = event.threads.threads().find(is_early) {
                    places.push((event.object, place.of(thread)));
                    found.push(Unwritten {
                        access: event.access,
                        thread,
                        offset: place.offsets[thread],
                        whole: false,
                        is_early: true,
                        sides: Vec::new(),
                        assumptions: event.assumptions.to_vec(),
                    });
                }
            }
        }
        if writes(access) {
            match &place {
                Some(place) => event.threads.threads().for_each(|thread| before.add(place.of(thread))),
                None => before.any = true,
            }
        }
    }
    for (it, (object, bytes)) in found.iter_mut().zip(places) {
        it.is_early = written.get(&object).is_none_or(|written| !written.has_none_of(&bytes));
    }
    found
}

/// Whether it surely reads, in the first round of each loop around it, and does something with what it reads.
fn is_read(event: &AccessEvent, access: &Access) -> bool {
    // What an exchange gives back may be passed over.
    let reads = access.op == AccessOp::Load || access.op == AccessOp::Atomic && !begins(event, access);
    let later_rounds = |it: &Assumption| matches!(it, Assumption::UsualIteration { .. });
    reads && is_possible(event) && !event.may_be_cut_short && !event.assumptions.iter().any(later_rounds)
}

fn writes(access: &Access) -> bool {
    !matches!(access.op, AccessOp::Load | AccessOp::MatrixLoad)
}

/// Whether what `later` writes there is surely written after a thread has read these bytes.
fn is_before_all(
    trace: &Trace,
    read: &AccessEvent,
    later: &[Event],
    (thread, bytes): (usize, Range<i64>),
    shape: Shape,
) -> bool {
    // Who reads comes there, too.
    let surely = |branches: &Branches| branches.iter().all(|branch| read.branches.contains(branch));
    // The threads that do nothing of what follows before the read is done.
    let mut ordered = vec![false; shape.threads()];
    ordered[thread] = true;
    for event in later {
        match event {
            Event::Barrier { all: Some(true), is_sure: true, branches, .. } if surely(branches) => {
                return true;
            }
            Event::WarpOrder { threads, tile, is_fence: true, is_sure: true, branches, .. }
                if surely(branches) =>
            {
                let comes = threads.threads().any(|it| it == thread);
                threads
                    .threads()
                    .filter(|it| comes && tile.holds_both(*it, thread))
                    .for_each(|it| ordered[it] = true);
            }
            Event::Access(event) if event.object == read.object => {
                let Some(access) = trace.accesses.get(event.access) else { return false };
                if !writes(access) {
                    continue;
                }
                let Some((offsets, size)) = known(event, access, shape) else { return false };
                let overlaps = |other: usize| {
                    let at = offsets[other];
                    at < bytes.end && bytes.start < at.saturating_add(size)
                };
                if event.threads.threads().any(|other| !ordered[other] && overlaps(other)) {
                    return false;
                }
            }
            _ => {}
        }
    }
    true
}
