//! Do threads go to four neighbours one by one, and what would one access of 16 bytes take?
//!
//! ```text
//! p[4 * t] + p[4 * t + 1] + p[4 * t + 2] + p[4 * t + 3]        4 reads, each in 4 wavefronts: lanes are 16 bytes apart
//! *reinterpret_cast<const float4 *>(&p[4 * t])                 1 read in 4: 8 lanes fill the banks
//! ```
//!
//! Where the compiler sees that the first of them is aligned, it makes one access by itself. Here it does not, and
//! neither does the analysis: `p` begins where a number given at run time says. All threads lie a multiple of 16 bytes
//! apart, so it is for the author to say that one of them is aligned.

use super::interleaved::Seen;
use crate::domain::Shape;
use crate::events::{Access, AccessEvent, AccessOp, Event, Pattern};
use crate::verdict::moved_cost;

/// Neighbours that one access takes.
const MANY: usize = 4;
/// Bytes of each, and of all.
const NARROW: u32 = 4;
const WIDE: i64 = 16;

/// Four accesses that could be one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wider {
    /// The first of them, by its number in the trace.
    pub first: usize,
    /// Wavefronts of the four.
    pub before: u64,
    /// Of one wide access in place of them.
    pub after: u64,
}

/// Whether an access, by its number in the trace, is one of four such neighbours each time it happens.
pub(crate) fn wider(seen: Seen<'_>, number: usize) -> Option<Wider> {
    let tree = &seen.trace.tree;
    let access = seen.trace.accesses.get(number)?;
    let is_simple = matches!(access.op, AccessOp::Load | AccessOp::Store) && access.atomic.is_none();
    if tree.is_cut() || tree.is_volatile() || !is_simple || access.bytes != Some(NARROW) {
        return None;
    }
    let events = tree.events();
    let groups = (0..events.len()).filter_map(|at| group(seen, events, at));
    let own: Vec<[usize; MANY]> = groups.filter(|group| group.contains(&number)).collect();
    let group = *own.first().filter(|first| own.iter().all(|it| it == *first))?;
    let times = |number: usize| {
        events.iter().filter(|event| matches!(event, Event::Access(it) if it.access == number)).count()
    };
    if group.iter().any(|number| times(*number) != own.len()) {
        return None;
    }
    let wavefronts = group.iter().map(|number| {
        let judgement = seen.judgements.get(*number)?;
        // What is joined already is not for the author to join.
        (!judgement.follows && !judgement.page_only).then_some(judgement.totals?.wavefronts)
    });
    let before = wavefronts.sum::<Option<u64>>()?;
    let first = &seen.trace.accesses[group[0]];
    let wide = Access { bytes: Some(WIDE as u32), align: 0, ..first.clone() };
    let cost = |pattern: &Pattern| {
        let lane = (pattern.active.trailing_zeros() as usize).min(31);
        let beyond = pattern.offsets[lane].rem_euclid(WIDE);
        let offsets = pattern.offsets.map(|offset| offset - beyond);
        let cost = moved_cost(&wide, pattern, &offsets, seen.target)?;
        pattern.varying.is_empty().then_some(u64::from(cost.wavefronts).saturating_mul(pattern.count))
    };
    let after = first.patterns.iter().map(cost).sum::<Option<u64>>()?;
    (after < before).then_some(Wider { first: group[0], before, after })
}

/// The accesses, in the order of their places, of four neighbours of which this event is the first to happen.
fn group(seen: Seen<'_>, events: &[Event], at: usize) -> Option<[usize; MANY]> {
    let Event::Access(first) = events.get(at)? else { return None };
    let key = |event: &AccessEvent| {
        let access = &seen.trace.accesses[event.access];
        (access.op, access.bytes, seen.trace.arrays[access.array].name_span, event.threads)
    };
    let mut places: Vec<(i64, usize)> = vec![(0, first.access)];
    for event in &events[at + 1..] {
        let Event::Access(event) = event else { break };
        if places.len() == MANY || event.access == first.access {
            break;
        }
        if key(event) == key(first) && event.is_sure && first.is_sure {
            places.push((distance(seen, first, event)?, event.access));
        }
    }
    if places.len() != MANY || !are_apart(seen, first)? {
        return None;
    }
    places.sort_unstable();
    let start = places[0].0;
    let are_next = places.iter().zip(0..).all(|((place, _), number)| *place == start + number * 4);
    let mut numbers = places.into_iter().map(|(_, number)| number);
    are_next.then(|| std::array::from_fn(|_| numbers.next().unwrap_or_default()))
}

/// How many bytes behind another access one goes, if that is the same for all threads.
fn distance(seen: Seen<'_>, from: &AccessEvent, to: &AccessEvent) -> Option<i64> {
    let (from, to) = (from.offset.as_ref()?, to.offset.as_ref()?);
    let shape = Shape { dims: seen.block };
    let apart = to.base.sub(&from.base, shape).as_constant();
    apart.filter(|_| from.terms == to.terms)
}

/// Whether threads lie a multiple of 16 bytes apart, and it is not known that none of them is aligned.
fn are_apart(seen: Seen<'_>, event: &AccessEvent) -> Option<bool> {
    let offset = event.offset.as_ref()?;
    let shape = Shape { dims: seen.block };
    let mut threads = event.threads.threads();
    let first = offset.base.at(threads.next()?, shape);
    let alike = offset.terms.iter().all(|(_, factor)| factor.as_constant().is_some());
    let by_run = offset.terms.iter().any(|(_, factor)| !factor.gcd().is_multiple_of(WIDE as u64));
    Some(alike && by_run && threads.all(|thread| (offset.base.at(thread, shape) - first) % WIDE == 0))
}
