//! Which asynchronous copies are read before they have surely arrived?
//!
//! A thread puts its copies into groups, in order, and waits until all but the latest few groups have arrived. A wait
//! covers only the thread's own groups: a thread that reads what another copied needs a barrier after that thread's
//! wait. Example, for all threads:
//!
//! ```text
//! copy a; commit;        group 0
//! copy b; commit;        group 1
//! wait for all but 1     group 0 has arrived: a
//! read own a             right
//! read own b             too early: its group may be on its way
//! __syncthreads()
//! read another's a       right: it has waited before the barrier
//! read another's b       too early
//! ```
//!
//! A read in a loop is compared with a copy before the loop as in the loop's first iteration.
//!
//! Unfollowed code that may wait counts as a wait for everything, and a group that may have been committed counts as
//! committed.

use super::guards::{self, are_fixed, sides_to};
use super::witness::are_possible;
use crate::domain::{Int, Lanes, Shape, SymbolId, ThreadSet};
use crate::events::{AccessEvent, AccessOp, Assumption, Event, EventTree, Side, Ties, Trace};
use rustc_hash::FxHashMap;

/// The most pairs of a copy and a read that are held against each other.
const MOST: usize = 1 << 12;

/// A read of what a copy may not have brought yet.
#[derive(Clone, Debug)]
pub(crate) struct EarlyRead {
    /// Index of the copy into the trace's accesses.
    pub copy: usize,
    /// Of the read.
    pub read: usize,
    /// The thread that copies, and the one that reads.
    pub threads: (usize, usize),
    /// What is missing between the two.
    pub lacks: Lacks,
    /// The sides of conditions that a block has to take for it, where not every block does.
    pub sides: Vec<Side>,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// What is missing between a copy and a read of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lacks {
    /// The copying thread does not wait for it.
    Wait,
    /// It waits, but no barrier follows.
    Barrier,
}

/// A copy that some thread may not have seen arrive.
struct Copy<'a> {
    event: &'a AccessEvent,
    bytes: i64,
    /// The loops around, by the numbers of their events.
    loops: Vec<usize>,
    /// Groups that its threads have put together since it was put into one; `None`: it is in none yet. By thread.
    behind: Vec<Option<u32>>,
    /// The threads that have waited for it, and those that have and came to a barrier then.
    waited: ThreadSet,
    told: ThreadSet,
    /// Whether a barrier came after it.
    past_barrier: bool,
}

/// All such reads of a run, one for each copy.
pub(super) fn find(trace: &Trace, shape: Shape, ties: Ties) -> Vec<EarlyRead> {
    let mut found: Vec<EarlyRead> = Vec::new();
    let mut pending: Vec<Copy<'_>> = Vec::new();
    let mut loops: Vec<usize> = Vec::new();
    let around = guards::loops(&trace.tree);
    let rounds = rounds(trace.tree.events());
    let mut pairs = 0;
    for (at, event) in trace.tree.events().iter().enumerate() {
        match event {
            Event::Loop { .. } => loops.push(at),
            Event::EndOfLoop { .. } => drop(loops.pop()),
            Event::MayOrder { .. } => pending.clear(),
            Event::Barrier { .. } => {
                for copy in &mut pending {
                    copy.told = copy.told.or(&copy.waited);
                    copy.past_barrier = true;
                }
                pending.retain(|copy| !copy.event.threads.minus(&copy.told).is_empty());
            }
            Event::CopyGroup { threads, .. } => pending.iter_mut().for_each(|copy| copy.group(threads)),
            Event::CopyWait { threads, but, .. } => {
                pending.iter_mut().for_each(|copy| copy.wait(threads, *but));
            }
            Event::Access(event) => {
                let Some((access, sides)) =
                    trace.accesses.get(event.access).zip(sides_to(event, &trace.tree, ties))
                else {
                    continue;
                };
                if !are_fixed(event, at, &around, &trace.tree) {
                    continue;
                }
                let Some(bytes) = access.bytes.map(i64::from) else { continue };
                match access.op {
                    AccessOp::AsyncCopy => pending.push(Copy {
                        event,
                        bytes,
                        loops: loops.clone(),
                        behind: vec![None; shape.threads()],
                        waited: ThreadSet::NONE,
                        told: ThreadSet::NONE,
                        past_barrier: false,
                    }),
                    AccessOp::Load => {
                        for copy in &pending {
                            let known = |it: &EarlyRead| it.copy == copy.event.access;
                            if found.iter().any(known) || !loops.starts_with(&copy.loops) || pairs >= MOST {
                                continue;
                            }
                            pairs += 1;
                            // In the first round of the loops that began since.
                            let since = loops[copy.loops.len()..].iter();
                            let first: Vec<SymbolId> =
                                since.filter_map(|at| rounds.get(at).copied()).collect();
                            if let Some(offset) = &event.offset {
                                let offset = in_first_round(&trace.tree, offset, &first, shape);
                                let early = early(copy, (event, &offset), bytes, shape);
                                found.extend(early.map(|it| EarlyRead { sides: sides.clone(), ..it }));
                            }
                        }
                    }
                    _ => {}
                }
            }
            Event::Subscript(_)
            | Event::MayAccess { .. }
            | Event::MayDiffer { .. }
            | Event::WarpOrder { .. }
            | Event::NextRound { .. } => {}
        }
    }
    found
}

impl Copy<'_> {
    /// Threads put their copies into a group.
    fn group(&mut self, threads: &ThreadSet) {
        for thread in threads.threads() {
            let behind = &mut self.behind[thread];
            *behind = Some(behind.map_or(0, |groups| groups.saturating_add(1)));
        }
    }

    /// Threads wait for all groups but the latest `but`; without a number, for all copies.
    fn wait(&mut self, threads: &ThreadSet, but: Option<u32>) {
        for thread in threads.threads() {
            let has_arrived = match (but, self.behind[thread]) {
                (None, _) => true,
                (Some(but), Some(behind)) => behind >= but,
                (Some(_), None) => false,
            };
            if has_arrived {
                self.waited.insert(thread);
            }
        }
    }
}

/// A read of a copy that may not have arrived.
fn early(copy: &Copy<'_>, (read, from): (&AccessEvent, &Int), bytes: i64, shape: Shape) -> Option<EarlyRead> {
    let to = copy.event.offset.as_ref()?;
    if copy.event.object != read.object || !are_alike(to, from) || !are_possible(copy.event, read) {
        return None;
    }
    // Who reads has copied, too.
    if !copy.event.branches.iter().all(|branch| read.branches.contains(branch)) {
        return None;
    }
    let (to, from) = (to.base.spread(shape), from.base.spread(shape));
    // By the byte at which they begin.
    let mut copied: Vec<(i64, usize)> = copy.event.threads.threads().map(|it| (to[it], it)).collect();
    copied.sort_unstable();
    for reader in read.threads.threads() {
        let (first, end) = (from[reader], from[reader] + bytes);
        let begins = copied.partition_point(|(at, _)| at + copy.bytes <= first);
        let copiers = copied[begins..].iter().take_while(|(at, _)| *at < end);
        for &(_, copier) in copiers {
            let lacks = match copier == reader {
                _ if !copy.waited.has(copier) => Lacks::Wait,
                // Without any barrier it is a race like any other.
                false if copy.past_barrier && !copy.told.has(copier) => Lacks::Barrier,
                _ => continue,
            };
            let both = copy.event.assumptions.iter().chain(read.assumptions.iter());
            let mut assumptions: Vec<Assumption> = Vec::new();
            for assumed in both {
                if !assumptions.contains(assumed) {
                    assumptions.push(assumed.clone());
                }
            }
            let threads = (copier, reader);
            return Some(EarlyRead {
                copy: copy.event.access,
                read: read.access,
                threads,
                lacks,
                sides: Vec::new(),
                assumptions,
            });
        }
    }
    None
}

/// By the event that begins a loop of which one pass stands for all rounds: the number of the round.
fn rounds(events: &[Event]) -> FxHashMap<usize, SymbolId> {
    let mut open = Vec::new();
    let mut found = FxHashMap::default();
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Loop { .. } => open.push(at),
            Event::EndOfLoop { round, .. } => {
                found.extend(open.pop().zip(*round));
            }
            _ => {}
        }
    }
    found
}

/// An offset in the first round of loops.
fn in_first_round(tree: &EventTree, offset: &Int, rounds: &[SymbolId], shape: Shape) -> Int {
    let mut base = offset.base.clone();
    let mut terms = Vec::new();
    for (id, factor) in &offset.terms {
        let remainder = tree.remainder(*id).filter(|it| rounds.contains(&it.of));
        match (remainder, factor.as_constant()) {
            _ if rounds.contains(id) => {}
            (Some(remainder), Some(factor)) => {
                base = base.add(&Lanes::constant(remainder.at(0).wrapping_mul(factor)), shape);
            }
            _ => terms.push((*id, factor.clone())),
        }
    }
    Int { base, terms, sight: offset.sight }
}

/// Whether two offsets differ by nothing but numbers that are known.
fn are_alike(one: &Int, two: &Int) -> bool {
    let of_all =
        |(_, factor): &(crate::domain::SymbolId, crate::domain::Lanes)| factor.as_constant().is_some();
    one.terms == two.terms && one.terms.iter().all(of_all)
}
