//! Which accesses does a block do together, where it may pass by them?
//!
//! A condition that is the same for all threads of a block and not known parts no threads: what stands under the same
//! such conditions is done by all or by none, and is a race whenever a block comes there. Example:
//!
//! ```text
//! if (rows > 3)                  for large `rows` every block
//!     for (k = 0; k < n; ++k) {
//!         s[t] = in[k];
//!         __syncthreads();
//!         sum += s[255 - t];     the next round writes what others may still read
//!     }
//! if (mode == 2) {               whether a block ever takes it is for the caller to say,
//!     s[t] = in[t];              but where it does, it does both
//!     out[t] = s[255 - t];
//! }
//! ```
//!
//! Such a condition is *open*. Sizes given at run time are taken to be large, and so are bounds of threads and rounds.
//! If an open condition does not hold for large sizes, what an access rests on must have nothing to do with it: under
//! `if (n <= 32)`, a guard `t < n` does not let every thread in, and a loop of `n` rounds may have only one. Where one
//! of two accesses stands under an open condition and the other does not, nothing is said. A store that stands on both
//! sides of a condition is done in any case.

use super::intervals::{Interval, Round};
use super::witness::can_hold;
use crate::events::{AccessEvent, AccessOp, Asks, Assumption, Blocks, Event, EventTree, Taken, Trace};

/// Sets of open conditions that are looked at in one interval, at the most.
const MOST_OPEN: usize = 16;

/// The open conditions around an access, by the numbers of their branches.
pub(super) type Open = Vec<u32>;

/// The accesses of one interval that a block does, whichever sides of open conditions it takes.
pub(super) struct Guards {
    /// Of each access of the interval: the open conditions around it, and whether it also stands on the other side of
    /// the innermost; `None`: it may not happen.
    around: Vec<Option<(Open, bool)>>,
    /// Different sets of open conditions, that of none first.
    sets: Vec<Open>,
}

impl Guards {
    /// Of one interval.
    pub(super) fn of(trace: &Trace, interval: &Interval) -> Guards {
        let tree = &trace.tree;
        let event = |at: usize| match &tree.events()[at] {
            Event::Access(event) => Some(event),
            _ => None,
        };
        let open_around = |(at, _): &(usize, Round)| {
            let event = event(*at).filter(|event| event.is_sure && can_hold(&event.assumptions))?;
            (large(event, tree) != Blocks::NONE).then(|| (open(event, tree), false))
        };
        let mut around: Vec<Option<(Open, bool)>> = interval.accesses.iter().map(open_around).collect();
        let stands_on_both = |number: usize| {
            let (at, (open, _)) = (interval.accesses[number], around[number].as_ref()?);
            let (side, rest) = open.split_last()?;
            let one = event(at.0).filter(|event| trace.accesses[event.access].op == AccessOp::Store)?;
            let is_twin = |other: usize| {
                let twin = event(interval.accesses[other].0);
                let of = around[other].as_ref().map(|(open, _)| open.split_last());
                of == Some(Some((&(side ^ 1), rest)))
                    && interval.accesses[other].1 == at.1
                    && twin.is_some_and(|twin| is_same_place(trace, one, twin))
            };
            (0..around.len()).any(is_twin).then(|| rest.to_vec())
        };
        let both: Vec<Option<Open>> = (0..around.len()).map(stands_on_both).collect();
        for (around, rest) in around.iter_mut().zip(both) {
            if let Some(rest) = rest {
                *around = Some((rest, true));
            }
        }
        let mut sets = vec![Open::new()];
        for (at, around) in interval.accesses.iter().zip(&mut around) {
            let Some((open, _)) = around else { continue };
            let is_known = sets.contains(open);
            let may_hold = event(at.0).is_some_and(|event| is_free(event, open, interval, tree));
            if !may_hold || !is_known && sets.len() > MOST_OPEN {
                *around = None;
            } else if !is_known {
                sets.push(open.clone());
            }
        }
        Guards { around, sets }
    }

    /// The sets of open conditions.
    pub(super) fn sets(&self) -> &[Open] {
        &self.sets
    }

    /// Whether an access of the interval stands under just these open conditions, and so on both sides of another.
    pub(super) fn is_under(&self, number: usize, open: &Open) -> Option<bool> {
        self.around[number].as_ref().filter(|(around, _)| around == open).map(|(_, on_both)| *on_both)
    }
}

/// Whether two threads' stores go to the same places, whoever does them.
fn is_same_place(trace: &Trace, one: &AccessEvent, other: &AccessEvent) -> bool {
    let (access, twin) = (&trace.accesses[one.access], &trace.accesses[other.access]);
    one.object == other.object
        && one.offset.is_some()
        && one.offset == other.offset
        && one.threads == other.threads
        && (access.op, access.bytes, access.is_atomic()) == (twin.op, twin.bytes, twin.is_atomic())
}

/// The branches around an access of which it is not known which blocks take them.
fn open(event: &AccessEvent, tree: &EventTree) -> Open {
    let is_open = |branch: &u32| tree.taken(*branch).is_none_or(|taken| taken.blocks == Blocks::NONE);
    if event.is_passable { event.branches.iter().copied().filter(is_open).collect() } else { Open::new() }
}

/// The blocks that take a branch, where sizes are as large as one likes.
fn of_branch(branch: u32, tree: &EventTree) -> Blocks {
    let of = |taken: &Taken| if taken.blocks == Blocks::NONE { taken.large } else { taken.blocks };
    tree.taken(branch).map_or(Blocks::NONE, of)
}

/// The blocks that come to an access, as far as the open conditions hold that sizes do not tell.
fn large(event: &AccessEvent, tree: &EventTree) -> Blocks {
    let branches = event.branches.iter().filter(|_| event.is_passable);
    let blocks = branches.map(|branch| of_branch(*branch, tree)).filter(|blocks| *blocks != Blocks::NONE);
    blocks.fold(Blocks::ALL, Blocks::and)
}

/// Whether one block does two accesses under the same open conditions.
pub(super) fn are_together(first: &AccessEvent, second: &AccessEvent, tree: &EventTree) -> bool {
    large(first, tree).and(large(second, tree)) != Blocks::NONE
}

/// Whether what an access rests on has nothing to do with these open conditions.
fn is_free(event: &AccessEvent, open: &Open, interval: &Interval, tree: &EventTree) -> bool {
    let of_loop = interval.of_loop.and_then(|at| match &tree.events()[at] {
        Event::Loop { span, first_symbol, branches, .. } => Some((*span, *first_symbol, branches)),
        _ => None,
    });
    let asks = |branch: &u32| tree.taken(*branch).map_or(&Asks::Hidden, |taken| &taken.asks);
    open.iter().all(|branch| {
        if of_branch(*branch, tree) != Blocks::NONE {
            return true;
        }
        let asked = asks(branch);
        // In other rounds another side may be taken, and the loop may have no other.
        let in_rounds = of_loop.is_none_or(|(span, first_symbol, _)| {
            asked.is_fixed_before(first_symbol) && tree.loop_asks(span).is_none_or(|of| !asked.meets(of))
        });
        let others = || event.branches.iter().filter(|other| *other != branch);
        *asked != Asks::Hidden
            && in_rounds
            && event.assumptions.iter().all(|it| has_nothing_of(it, asked))
            && others().all(|other| is_apart(asked, asks(other)))
    })
}

/// Whether two conditions have nothing to do with each other.
fn is_apart(one: &Asks, other: &Asks) -> bool {
    match (one, other) {
        (Asks::Hidden, _) | (_, Asks::Hidden) => false,
        (Asks::Data, _) | (_, Asks::Data) => true,
        _ => !one.meets(other),
    }
}

/// Whether an assumption has nothing to do with what a condition asks for.
fn has_nothing_of(assumption: &Assumption, asked: &Asks) -> bool {
    match assumption {
        Assumption::InsideBounds { roots, .. } => !asked.may_meet(roots.as_ref()),
        Assumption::UsualIteration { .. } | Assumption::UsualBlock { .. } => false,
        _ => true,
    }
}
