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
//! s[t] = in[t];                  whether a block ever takes the next condition is for the caller to say,
//! if (mode == 2)                 but where it does, it does both
//!     out[t] = s[255 - t];
//! ```
//!
//! Host code may launch another block where such a condition holds: `if (n <= 64) k<<<1, 64>>>(n)`. So accesses under
//! different conditions are held against each other only where nothing in host code ties what the kernel is given to
//! the block, and those under the same conditions only where there is one shape. A side that is taken inside a loop
//! may leave it, and has no next round. In one round a condition has one answer, so that what stands under it there meets
//! what stands beside it.
//!
//! Such a condition is *open*. Sizes given at run time are taken to be large, and so are bounds of threads and rounds.
//! If an open condition does not hold for large sizes, what an access rests on must have nothing to do with it: under
//! `if (n <= 32)`, a guard `t < n` does not let every thread in, and a loop of `n` rounds may have only one. Of two
//! accesses, the conditions around one have to be among those around the other. A store that stands on both sides of a
//! condition is done in any case.

use super::intervals::{Interval, Round};
use super::witness::{
    can_hold_for_data, can_hold_in_a_block, is_possible_by_choice, is_possible_in_a_block, let_in,
};
use crate::domain::SymbolId;
use crate::events::{
    AccessEvent, AccessOp, Asks, Assumption, Blocks, Branches, Event, EventTree, Side, Taken, Ties, Trace,
};
use crate::source::Span;
use std::ops::Range;

/// Sets of open conditions that are looked at in one interval, at the most.
const MOST_OPEN: usize = 16;

/// The open conditions around an access, by the numbers of their branches.
type Open = Vec<u32>;

/// A side of a condition on which a block passes by some barriers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct PassedBy {
    /// The branch under which the barriers stand.
    pub branch: u32,
    /// The event of the first of them.
    pub at: usize,
    /// The branches that such a block takes of which it is not known which blocks do.
    pub open: Vec<u32>,
    /// The blocks that take it.
    pub blocks: Blocks,
    /// The side that it takes.
    pub side: Side,
}

/// The accesses of one interval that a block does, whichever sides of open conditions it takes.
pub(super) struct Guards {
    /// By set of open conditions, that of none first: of each access of the interval, whether it also stands on the other
    /// side of the innermost condition around it; `None`: it may not happen there.
    under: Vec<Vec<Option<bool>>>,
}

impl Guards {
    /// Of one interval; `passed`: of a block that passes by some barriers.
    pub(super) fn of(
        trace: &Trace,
        interval: &Interval,
        loops: &Loops<'_>,
        (ties, passed): (Ties, Option<&PassedBy>),
    ) -> Guards {
        let tree = &trace.tree;
        let event = |at: usize| match &tree.events()[at] {
            Event::Access(event) => Some(event),
            _ => None,
        };
        let open_around = |(at, round): &(usize, Round)| {
            let event = event(*at).filter(|event| event.is_sure && can_hold_for_data(&event.assumptions))?;
            let mut open = open(event, tree);
            open.retain(|branch| *round != Round::Any || !leads_on(*branch, interval, tree));
            // Another shape may go with the other side.
            let goes_with_shape =
                ties == Ties::Any && open.iter().any(|branch| of_branch(*branch, tree) == Blocks::NONE);
            (large(event, tree) != Blocks::NONE && !goes_with_shape).then_some((open, false))
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
        let mut sets = vec![passed.map_or_else(Open::new, |passed| passed.open.clone())];
        // On the side on which a block passes by barriers, it does not leave the loop.
        let leaves = Some(interval).filter(|it| it.across.is_some() && passed.is_none());
        let rounds = interval.of_loop.and_then(|at| Around::of(&tree.events()[at], leaves));
        for (at, around) in interval.accesses.iter().zip(&mut around) {
            let Some((open, _)) = around else { continue };
            let is_known = sets.contains(open) || passed.is_some();
            let may_hold = event(at.0).is_some_and(|event| rests_on_nothing_of(event, open, rounds, tree));
            if !may_hold || !is_known && sets.len() > MOST_OPEN {
                *around = None;
            } else if !is_known {
                sets.push(open.clone());
            }
        }
        // In another round of a loop, or in none, a condition may have another answer.
        let fixed = |open: &Open| {
            let under = |(around, _): &(Open, bool)| around == open;
            let deepest = around.iter().position(|it| it.as_ref().is_some_and(under));
            let deepest = deepest.map(|number| interval.accesses[number].0);
            let at = deepest.or(passed.map(|passed| passed.at)).unwrap_or(0);
            // A condition that large sizes decide has one in the first rounds, which are looked at here.
            let is_early = interval.of_loop.is_some() && loops.innermost[at] == interval.of_loop;
            let is_one = |branch: &&u32| {
                is_fixed(**branch, at, loops, tree) || is_early && of_branch(**branch, tree) != Blocks::NONE
            };
            (open.iter().take_while(is_one).count(), at)
        };
        // In one round of one loop it has one.
        let is_one_round = interval.across.is_none() && interval.of_loop.is_none();
        let is_under = |open: &Open, (fixed, deepest): (usize, usize), number: usize| {
            let (around, on_both) = around[number].as_ref()?;
            if around == open {
                return Some(*on_both);
            }
            let at = interval.accesses[number].0;
            let event = event(at)?;
            let in_one_round = is_one_round && loops.innermost[at] == loops.innermost[deepest];
            let others_hold = ties == Ties::None
                && open.starts_with(around)
                && (fixed == open.len() || in_one_round)
                && open[around.len()..].iter().all(|branch| side_of(*branch, tree).is_some());
            (others_hold && rests_on_nothing_of(event, open, rounds, tree)).then_some(*on_both)
        };
        let under = |open: &Open| {
            let fixed = fixed(open);
            (0..around.len()).map(|number| is_under(open, fixed, number)).collect()
        };
        Guards { under: sets.iter().map(under).collect() }
    }

    /// The numbers of the sets of open conditions that are told apart.
    pub(super) fn sets(&self) -> Range<usize> {
        0..self.under.len()
    }

    /// Whether a block surely does an access of the interval where it takes the open conditions of a set; whether it
    /// stands on both sides of another.
    pub(super) fn is_under(&self, number: usize, set: usize) -> Option<bool> {
        self.under[set][number]
    }
}

/// When an access happens that need not happen in every block.
#[derive(Clone, Debug)]
pub(crate) enum Happens {
    /// Where a block takes these sides of conditions; with none, surely.
    Where(Vec<Side>),
    /// In any of its threads for some data.
    ForData,
}

impl Happens {
    /// When it surely happens, or may; `None`: perhaps never.
    pub(super) fn of(event: &AccessEvent, tree: &EventTree, ties: Ties) -> Option<Happens> {
        match sides_to(event, tree, ties) {
            Some(sides) => Some(Happens::Where(sides)),
            None => is_possible_by_choice(event, tree).then_some(Happens::ForData),
        }
    }

    /// Whether it needs neither conditions nor data.
    pub(crate) fn is_sure(&self) -> bool {
        matches!(self, Happens::Where(sides) if sides.is_empty())
    }
}

/// The side of a condition that some launch may well take: one that tests what the kernel is given, or data, for equality,
/// or that holds for large sizes. Others may depend on the number of threads or of rounds.
pub(super) fn side_of(branch: u32, tree: &EventTree) -> Option<Side> {
    let taken = tree.taken(branch)?;
    let side = taken.side?;
    (taken.is_choice || taken.large != Blocks::NONE).then_some(side)
}

/// The sides of conditions that a block has to take to do an access surely, none where the blocks are known that do;
/// `None`: it may never happen.
pub(super) fn sides_to(event: &AccessEvent, tree: &EventTree, ties: Ties) -> Option<Vec<Side>> {
    if !event.is_sure || !can_hold_in_a_block(&event.assumptions) {
        return None;
    }
    if is_possible_in_a_block(event, tree) {
        return Some(Vec::new());
    }
    let open = open(event, tree);
    if ties != Ties::None
        || large(event, tree) == Blocks::NONE
        || !rests_on_nothing_of(event, &open, None, tree)
    {
        return None;
    }
    open.iter().map(|branch| side_of(*branch, tree)).collect()
}

/// A loop of which one pass stands for all rounds.
#[derive(Clone, Copy)]
pub(super) struct Around<'t> {
    span: Span,
    /// The first symbol that may have been made in it.
    first_symbol: SymbolId,
    /// The branches around it.
    branches: &'t Branches,
    /// One round and the next, where these are looked at and a block may leave the loop in between.
    leaves: Option<&'t Interval>,
}

impl<'t> Around<'t> {
    /// The loop that an event begins.
    fn of(event: &'t Event, leaves: Option<&'t Interval>) -> Option<Around<'t>> {
        match event {
            Event::Loop { span, first_symbol, branches, .. } => {
                Some(Around { span: *span, first_symbol: *first_symbol, branches, leaves })
            }
            _ => None,
        }
    }

    /// Whether a block that takes a branch may have no next round.
    fn may_leave_by(&self, branch: u32) -> bool {
        !self.branches.contains(&branch) && self.leaves.is_some_and(|rounds| rounds.may_leave_by(branch))
    }

    /// Whether a condition has one answer in all its rounds.
    fn fixes(&self, branch: u32, tree: &EventTree) -> bool {
        let asks = || tree.taken(branch).is_some_and(|taken| taken.asks.is_fixed_before(self.first_symbol));
        self.branches.contains(&branch) || !self.may_leave_by(branch) && asks()
    }
}

/// The loops around the events of a run, by the number of the event.
pub(super) struct Loops<'t> {
    /// The outermost one.
    outermost: Vec<Option<Around<'t>>>,
    /// The number of the event that begins the innermost one.
    innermost: Vec<Option<usize>>,
}

/// Whether the data choose this branch and every other branch leaves the loop. If there is another round, this one was
/// taken.
pub(super) fn leads_on(branch: u32, interval: &Interval, tree: &EventTree) -> bool {
    interval.is_taken(branch) && tree.taken(branch).is_some_and(|taken| taken.asks == Asks::Data)
}

/// The loops around the events of a run.
pub(super) fn loops(tree: &EventTree) -> Loops<'_> {
    let mut around = Vec::new();
    let (mut outermost, mut innermost) = (Vec::with_capacity(tree.len()), Vec::with_capacity(tree.len()));
    for (at, event) in tree.events().iter().enumerate() {
        match event {
            Event::Loop { .. } => around.push((at, Around::of(event, None))),
            Event::EndOfLoop { .. } => drop(around.pop()),
            _ => {}
        }
        outermost.push(around.first().and_then(|(_, around)| *around));
        innermost.push(around.last().map(|(at, _)| *at));
    }
    Loops { outermost, innermost }
}

/// Whether a condition has one answer in all rounds of the loops around an event.
fn is_fixed(branch: u32, event: usize, loops: &Loops<'_>, tree: &EventTree) -> bool {
    loops.outermost[event].is_none_or(|around| around.fixes(branch, tree))
}

/// Whether conditions on the way to an event have one answer in all rounds of the loops around it.
pub(super) fn are_fixed(event: &AccessEvent, at: usize, loops: &Loops<'_>, tree: &EventTree) -> bool {
    open(event, tree).iter().all(|branch| is_fixed(*branch, at, loops, tree))
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
    let is_open = |branch: &u32| is_open(*branch, tree);
    if event.is_passable { event.branches.iter().copied().filter(is_open).collect() } else { Open::new() }
}

/// Whether it is not known which blocks take a branch.
pub(super) fn is_open(branch: u32, tree: &EventTree) -> bool {
    tree.taken(branch).is_none_or(|taken| taken.blocks == Blocks::NONE)
}

/// The blocks that take a branch, where sizes are as large as one likes.
pub(super) fn of_branch(branch: u32, tree: &EventTree) -> Blocks {
    let of = |taken: &Taken| if taken.blocks == Blocks::NONE { taken.large } else { taken.blocks };
    tree.taken(branch).map_or(Blocks::NONE, of)
}

/// The blocks that come to an access, as far as the open conditions hold that sizes do not tell.
fn large(event: &AccessEvent, tree: &EventTree) -> Blocks {
    let branches = event.branches.iter().filter(|_| event.is_passable);
    let blocks = branches.map(|branch| of_branch(*branch, tree)).filter(|blocks| *blocks != Blocks::NONE);
    blocks.fold(let_in(event), Blocks::and)
}

/// Whether one block of these does two accesses under the same open conditions.
pub(super) fn are_together(
    first: &AccessEvent,
    second: &AccessEvent,
    blocks: Blocks,
    tree: &EventTree,
) -> bool {
    large(first, tree).and(large(second, tree)).and(blocks) != Blocks::NONE
}

/// Whether what an access rests on has nothing to do with these open conditions. `rounds`: the loop of which several
/// rounds are looked at.
fn rests_on_nothing_of(
    event: &AccessEvent,
    open: &Open,
    rounds: Option<Around<'_>>,
    tree: &EventTree,
) -> bool {
    let asks = |branch: &u32| tree.taken(*branch).map_or(&Asks::Hidden, |taken| &taken.asks);
    open.iter().all(|branch| {
        if of_branch(*branch, tree) != Blocks::NONE {
            // Sizes that are large enough for one round are large enough for the next.
            return rounds.is_none_or(|around| !around.may_leave_by(*branch));
        }
        let asked = asks(branch);
        // In other rounds another side may be taken, and the loop may have no other.
        let of_loop = |around: Around<'_>| tree.loop_asks(around.span);
        let in_rounds = rounds.is_none_or(|around| {
            around.fixes(*branch, tree)
                && of_loop(around)
                    .is_none_or(|of| is_apart(asked, of) && (asked, of) != (&Asks::Data, &Asks::Data))
        });
        let others = || event.branches.iter().filter(|other| *other != branch);
        *asked != Asks::Hidden
            && in_rounds
            && event.assumptions.iter().all(|it| has_nothing_of(it, asked))
            && others().all(|other| is_apart(asked, asks(other)))
    })
}

/// Whether two conditions have nothing to do with each other.
pub(super) fn is_apart(one: &Asks, other: &Asks) -> bool {
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
