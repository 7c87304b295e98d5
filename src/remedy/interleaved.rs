//! Does a loop add up an array by interleaved addressing, and what would sequential addressing take?
//!
//! ```text
//! for (d = 1; d < 256; d *= 2)                    for (d = 128; d > 0; d /= 2)
//!     if (2 * d * t < 256)                            if (t < d)
//!         s[2 * d * t] += s[2 * d * t + d];               s[t] += s[t + d];
//! ```
//!
//! Both bring all elements together in the first. On the left, lanes are `2 d` elements apart, so more and more of
//! them want one bank; on the right they are neighbours. It is seen in the events of the rounds alone, however the
//! indices are written:
//!
//! - round `k` has threads `0` to `n / 2^k - 1`, each of which reads elements `2^(k+1) t` and `2^(k+1) t + 2^k` and
//!   writes the first of them, up to a round with one thread
//! - between two rounds stands a barrier of all threads, and nothing else goes to the array
//! - afterwards no element is read before it is written again, but the first
//!
//! Other elements are left with other values, and other pairs are added: whoever tells of this has to say what that
//! means for the operation.

use super::rounds::weights;
use crate::banks::Target;
use crate::domain::{Lanes, Shape};
use crate::events::{Access, AccessEvent, AccessOp, Event, Pattern, Trace};
use crate::source::Span;
use crate::verdict::{Judgement, moved_cost};
use rustc_hash::FxHashSet;

/// The most elements that are added up.
const MOST: i64 = 1 << 12;

/// What the text combines: the element that is written, and the two that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Combined {
    /// What is written.
    pub target: Span,
    /// One of those that are read; `target` itself in `s[i] += s[j]`.
    pub one: Span,
    /// The other.
    pub other: Span,
}

/// A loop that could add in another order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sequential {
    /// How many elements come together in the first.
    pub elements: u64,
    /// Wavefronts of its accesses.
    pub before: u64,
    /// With neighbouring lanes on neighbouring elements.
    pub after: u64,
}

/// The run of a kernel that is looked at, with what the bank model says of it on one target.
#[derive(Clone, Copy)]
pub(crate) struct Seen<'a> {
    /// What happened.
    pub trace: &'a Trace,
    /// By access.
    pub judgements: &'a [Judgement],
    /// Threads in x, y and z.
    pub block: [u32; 3],
    /// The target.
    pub target: &'a Target,
}

/// The accesses of a round, by their numbers in the trace: of the element that is written, as it is read before, and
/// of the one that is added.
struct Sites {
    store: usize,
    own: usize,
    other: usize,
}

/// Whether `combined` adds up the array declared at `name` like that.
pub(crate) fn sequential(seen: Seen<'_>, name: Span, combined: Combined) -> Option<Sequential> {
    let Combined { target, one, other } = combined;
    let pair = |own, other| {
        let number = |span, op| {
            let is_it =
                |it: &Access| (it.span, it.op) == (span, op) && seen.trace.arrays[it.array].name_span == name;
            seen.trace.accesses.iter().position(is_it)
        };
        let (store, own) = (number(target, AccessOp::Store)?, number(own, AccessOp::Load)?);
        of_sites(seen, name, &Sites { store, own, other: number(other, AccessOp::Load)? })
    };
    pair(one, other).or_else(|| pair(other, one))
}

fn of_sites(seen: Seen<'_>, name: Span, sites: &Sites) -> Option<Sequential> {
    let [threads, 1, 1] = seen.block else { return None };
    let tree = &seen.trace.tree;
    if tree.is_cut() || tree.is_volatile() {
        return None;
    }
    let bytes = i64::from(seen.trace.accesses[sites.store].bytes?);
    let rounds = Rounds { seen, name, sites, bytes };
    let (first, last, count) = rounds.find()?;
    let elements = 2 * count;
    // Each thread that is needed is there, as it took part in the first round.
    if elements > MOST || count > i64::from(threads) || !rounds.is_free_of_the_rest(first, last) {
        return None;
    }
    let weight = *weights(tree).get(first)?;
    let counted = [sites.store, sites.own, sites.other].into_iter().map(|at| {
        let judgement = seen.judgements.get(at)?;
        let is_counted = !judgement.follows && !judgement.page_only;
        Some(if is_counted { judgement.totals?.wavefronts } else { 0 })
    });
    let before = counted.sum::<Option<u64>>()?;
    let after = rounds.in_sequence(count)?.saturating_mul(weight);
    (after < before).then_some(Sequential { elements: elements.unsigned_abs(), before, after })
}

/// The rounds of a loop in the events.
struct Rounds<'a> {
    seen: Seen<'a>,
    name: Span,
    sites: &'a Sites,
    /// Bytes of an element.
    bytes: i64,
}

impl Rounds<'_> {
    /// The accesses of the array among some events.
    fn accesses<'e>(&'e self, events: &'e [Event]) -> impl Iterator<Item = &'e AccessEvent> {
        let trace = self.seen.trace;
        events.iter().filter_map(move |event| match event {
            Event::Access(event)
                if trace.arrays[trace.accesses[event.access].array].name_span == self.name =>
            {
                Some(event)
            }
            _ => None,
        })
    }

    /// The first event of the rounds, the last, and how many threads the first round has.
    fn find(&self) -> Option<(usize, usize, i64)> {
        let events = self.seen.trace.tree.events();
        let is_own = |event: &Event| match event {
            Event::Access(it) => {
                it.access == self.sites.own || it.access == self.sites.other || it.access == self.sites.store
            }
            _ => false,
        };
        let first = events.iter().position(is_own)?;
        let last = events.iter().rposition(is_own)?;
        let (mut at, mut threads, mut distance) = (first, None, 1);
        loop {
            let round = events.get(at..=last)?;
            let end = round
                .iter()
                .position(|event| matches!(event, Event::Access(it) if it.access == self.sites.store))?;
            let round = &round[..=end];
            let own: Vec<&AccessEvent> = self.accesses(round).collect();
            let [one, two, store] = own.as_slice() else { return None };
            let (own, other) = match one.access == self.sites.own {
                true => (one, two),
                false => (two, one),
            };
            let is_round = (own.access, other.access) == (self.sites.own, self.sites.other);
            let is_apart = at == first || round.iter().any(is_barrier);
            let is_straight =
                !round.iter().any(|event| matches!(event, Event::Loop { .. } | Event::EndOfLoop { .. }));
            let count = i64::from(store.threads.count());
            let expected = threads.unwrap_or(count);
            if !is_round || !is_apart || !is_straight || count != expected {
                return None;
            }
            let is_tree = self.lies(store, count, 2 * distance, 0)?
                && self.lies(own, count, 2 * distance, 0)?
                && self.lies(other, count, 2 * distance, distance)?;
            if !is_tree {
                return None;
            }
            at += end + 1;
            match count {
                1 if at > last => {
                    // As many rounds as it takes to bring all together: the first had one thread for each pair.
                    return Some((first, last, distance));
                }
                1 => return None,
                _ if count % 2 == 1 => return None,
                _ => (threads, distance) = (Some(count / 2), distance * 2),
            }
        }
    }

    /// Whether threads 0 to `count - 1`, and no others, surely go to elements `stride * t + from`.
    fn lies(&self, event: &AccessEvent, count: i64, stride: i64, from: i64) -> Option<bool> {
        let offset = event.offset.as_ref().filter(|it| it.terms.is_empty())?;
        let shape = Shape { dims: self.seen.block };
        let place = |lanes: &Lanes, thread: usize| lanes.at(thread, shape);
        let is_wide = i64::from(self.seen.trace.accesses[event.access].bytes?) == self.bytes;
        let are_first = i64::from(event.threads.count()) == count;
        let mut all = event.threads.threads().map(|thread| {
            let number = i64::try_from(thread).ok()?;
            Some(number < count && place(&offset.base, thread) == (stride * number + from) * self.bytes)
        });
        let fits = all.try_fold(true, |all, fits| Some(all && fits?))?;
        Some(fits && are_first && is_wide && event.is_sure && !event.is_passable)
    }

    /// Whether, after these events, no element but the first is read before it is written again: on the way on, and
    /// around each loop that they stand in.
    fn is_free_of_the_rest(&self, first: usize, last: usize) -> bool {
        let events = self.seen.trace.tree.events();
        let mut open: Vec<usize> = Vec::new();
        for (at, event) in events[..first].iter().enumerate() {
            match event {
                Event::Loop { .. } => open.push(at),
                Event::EndOfLoop { .. } => drop(open.pop()),
                _ => {}
            }
        }
        if !self.is_free(events[last + 1..].iter()) {
            return false;
        }
        // The innermost loop ends first.
        let (mut depth, mut ends) = (0usize, Vec::new());
        for (at, event) in events.iter().enumerate().skip(last + 1) {
            match event {
                Event::Loop { .. } => depth += 1,
                Event::EndOfLoop { .. } if depth == 0 => ends.push(at),
                Event::EndOfLoop { .. } => depth -= 1,
                _ => {}
            }
        }
        ends.len() == open.len()
            && open
                .iter()
                .rev()
                .zip(ends)
                .all(|(begin, end)| self.is_free(events[last + 1..end].iter().chain(&events[*begin..first])))
    }

    fn is_free<'e>(&self, events: impl Iterator<Item = &'e Event>) -> bool {
        let shape = Shape { dims: self.seen.block };
        let trace = self.seen.trace;
        let mut written: FxHashSet<i64> = FxHashSet::default();
        for event in events {
            let event = match event {
                Event::MayAccess { .. } => return false,
                Event::Access(event) => event,
                _ => continue,
            };
            let access = &trace.accesses[event.access];
            if trace.arrays[access.array].name_span != self.name {
                continue;
            }
            let known = event.offset.as_ref().filter(|it| it.terms.is_empty());
            let is_element = access.bytes.map(i64::from) == Some(self.bytes);
            match (access.op, known.filter(|_| is_element)) {
                (AccessOp::Store, Some(offset)) if event.is_sure && !event.is_passable => {
                    written.extend(event.threads.threads().map(|thread| offset.base.at(thread, shape)));
                }
                (AccessOp::Store, _) => {}
                (AccessOp::Load, Some(offset)) => {
                    let mut places = event.threads.threads().map(|thread| offset.base.at(thread, shape));
                    if !places.all(|place| place == 0 || written.contains(&place)) {
                        return false;
                    }
                }
                _ => return false,
            }
        }
        true
    }

    /// The wavefronts if threads `0` to `d - 1` add elements `t` and `t + d`, for `d` from `count` down to 1.
    fn in_sequence(&self, count: i64) -> Option<u64> {
        let (mut sum, mut distance) = (0u64, count);
        while distance > 0 {
            for warp in 0..distance.unsigned_abs().div_ceil(32) {
                let base = warp as i64 * 32;
                let lanes = (distance - base).min(32);
                let active = u32::MAX >> (32 - lanes);
                for (site, from) in [(self.sites.own, 0), (self.sites.other, distance), (self.sites.store, 0)]
                {
                    let access = &self.seen.trace.accesses[site];
                    let offsets: [i64; 32] =
                        std::array::from_fn(|lane| (base + lane as i64 + from) * self.bytes);
                    let pattern = Pattern { active, ..access.patterns.first()?.clone() };
                    let cost = moved_cost(access, &pattern, &offsets, self.seen.target)?;
                    sum += u64::from(cost.wavefronts);
                }
            }
            distance /= 2;
        }
        Some(sum)
    }
}

/// Whether all threads wait for each other there.
fn is_barrier(event: &Event) -> bool {
    matches!(event, Event::Barrier { all: Some(true), is_sure: true, .. })
}
