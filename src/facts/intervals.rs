//! Which accesses lie between two barriers?
//!
//! Anything that may order threads ends an interval, so two accesses in one interval are ordered only within a
//! thread. If one pass stands for all iterations of a loop, the end of an iteration is followed by the start of the
//! next:
//!
//! ```text
//! for (k = 0; k < n; ++k) {
//!     s[t] = in[k];           A     intervals: A and what comes before the loop, with k = 0
//!     __syncthreads();
//!     sum += s[255 - t];      B                B of a round k, and A of the round k + 1
//! }
//! ```
//!
//! If not all threads reach a barrier, they are no longer in step: those that waited in one branch may continue while
//! others are still on their way to the barrier of the other branch. Each thread has a *phase*, the number of
//! barriers that it has passed, and only threads of one phase are in one interval.
//!
//! An atomic whose result is used may let threads wait for each other in a loop, or tell one of them that it is the
//! last. It keeps no thread from what it surely does. So such accesses are looked at once more in intervals that ignore
//! atomics, except that a loop whose exit depends on an atomic's result still ends one:
//!
//! ```text
//! for (;;) {
//!     if (t == 0) tile = atomicAdd(&next, 1);     thread 0 writes it, whatever others do,
//!     __syncthreads();
//!     if (tile >= tiles) break;                   and others may still read here what they got in the round before
//! }
//! ```
//!
//! A fence orders what one thread does, and makes none wait. Threads learn from it only by what they read in a loop that
//! waits, or behind a condition. So where no loop may wait, what surely happens is looked at in intervals that ignore
//! fences, too.
//!
//! If one pass stands for several iterations, the loop may end after any of them. What follows is judged as after a
//! whole pass, unless a condition leads to it: that may depend on the number of iterations.

use super::witness::{is_possible, is_possible_by_choice};
use crate::domain::{Shape, SymbolId};
use crate::events::{AccessEvent, Assumption, Branches, Event, EventTree, GoesOn, Orderer};
use crate::source::Span;
use rustc_hash::{FxHashSet, FxHasher};
use std::hash::{Hash, Hasher};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

/// Of which round of a loop an access is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// Of any, as it was recorded.
    Any,
    /// Of the first; or behind a loop that ended with a whole pass.
    First(SymbolId),
    /// Of the one after that of the accesses before it.
    Next(SymbolId),
}

/// By thread: the number of barriers that it has passed and not all others, and a hash of all else that
/// tells it from them.
type Phases = Rc<Vec<(u32, u64)>>;

/// A loop, the end of one of its rounds and the beginning of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Across {
    /// The loop.
    pub of: Span,
    /// Whether all threads come to the end of a round, or none.
    pub by_all: bool,
}

/// Accesses that are not ordered but by their threads.
#[derive(Debug)]
pub(super) struct Interval {
    /// Threads with different phases are not in step.
    pub phases: Phases,
    /// The numbers of the events, in order, and their rounds: accesses, and where lanes come together.
    pub accesses: Vec<(usize, Round)>,
    /// The loop whose rounds it goes across, if it does.
    pub across: Option<Across>,
    /// The branches that lead to the end of a round of that loop, or to the next round within a pass.
    reached: Branches,
    /// Whether a block may leave that loop on some side of a condition in it.
    may_leave: bool,
    /// The number of the event that begins the loop of whose rounds a part of it is taken to be a certain one.
    pub of_loop: Option<usize>,
    /// Whether a part of it lies in a loop of which data decide whether it goes on.
    pub for_data: bool,
    /// What orders threads before it and behind it.
    pub bounds: Bounds,
}

/// The last thing that may order threads before an interval, and the first behind it.
pub(super) type Bounds = (Option<Span>, Option<Span>);

/// All intervals of a run.
pub(super) fn intervals(tree: &EventTree, shape: Shape) -> Vec<Interval> {
    Walk::of(tree, shape, tree.events().iter().map(order_of).collect())
}

/// Those that no fence ends, with the accesses that surely happen; none where there is no fence, or where threads may
/// wait for what they read.
pub(super) fn past_fences(tree: &EventTree, shape: Shape) -> Vec<Interval> {
    let is_fence = |event: &Event| matches!(event, Event::MayOrder { by: Orderer::Fence(_), .. });
    if tree.has_waiting_loop() || !tree.events().iter().any(is_fence) {
        return Vec::new();
    }
    let order = |event: &Event| order_of(event).filter(|_| !is_fence(event));
    let mut found = Walk::of(tree, shape, tree.events().iter().map(order).collect());
    found.iter_mut().for_each(|interval| interval.keep_sure(tree));
    found
}

/// Those of a block that takes the other side of this branch, and does not come to the barriers under it.
pub(super) fn past_branch(tree: &EventTree, shape: Shape, branch: u32) -> Vec<Interval> {
    let order = |event: &Event| match event {
        Event::Barrier { branches, .. } if branches.contains(&branch) => None,
        event => order_of(event),
    };
    let mut found = Walk::of(tree, shape, tree.events().iter().map(order).collect());
    // A block that takes the other side leaves the loop, and has no next round.
    found.retain(|interval| !interval.reached.contains(&branch));
    found
}

/// Those that no atomic ends, with the accesses that surely happen, or that data choose threads for; none where there is
/// no atomic.
pub(super) fn past_atomics(tree: &EventTree, shape: Shape) -> Vec<Interval> {
    let events = tree.events();
    if !events.iter().any(|event| matches!(event, Event::MayOrder { by: Orderer::Atomic(_), .. })) {
        return Vec::new();
    }
    let mut found = Walk::of(tree, shape, orders_but_atomics(events));
    found.iter_mut().for_each(|interval| interval.keep_sure(tree));
    found
}

/// By event: where something stands that may order threads, if the event is such a thing. Instead of an atomic, a loop
/// is that which threads may leave by what the atomic tells them.
fn orders_but_atomics(events: &[Event]) -> Vec<Option<Span>> {
    let mut atomics: Vec<Option<Span>> = Vec::new();
    let order = |event: &Event| match event {
        Event::MayOrder { span, by: Orderer::Atomic(_) } => {
            atomics.iter_mut().for_each(|last| *last = Some(*span));
            None
        }
        Event::Loop { .. } => {
            atomics.push(None);
            None
        }
        Event::EndOfLoop { goes_on, .. } => atomics.pop().flatten().filter(|_| *goes_on != GoesOn::Surely),
        _ => order_of(event),
    };
    events.iter().map(order).collect()
}

/// The way through the events of a run.
struct Walk<'a> {
    tree: &'a EventTree,
    /// By event: where something stands that may order threads, if the event is such a thing.
    orders: Vec<Option<Span>>,
    found: Vec<Interval>,
    /// What nothing has ordered yet.
    current: Vec<(usize, Round)>,
    behind: Vec<Behind>,
    last_order: Option<Span>,
    /// The loops around: their first event, where they stand, and the first symbol that may have been made in them.
    loops: Vec<(usize, Span, SymbolId)>,
    phases: Phases,
    counters: FxHashSet<SymbolId>,
    /// The branches that lead to the next rounds that began since anything ordered threads.
    led_on: Vec<u32>,
}

impl Walk<'_> {
    fn of(tree: &EventTree, shape: Shape, orders: Vec<Option<Span>>) -> Vec<Interval> {
        let mut walk = Walk {
            tree,
            orders,
            found: Vec::new(),
            current: Vec::new(),
            behind: Vec::new(),
            last_order: None,
            loops: Vec::new(),
            phases: Rc::new(vec![(0, 0); shape.threads()]),
            counters: tree.events().iter().filter_map(counter).collect(),
            led_on: Vec::new(),
        };
        for (at, event) in tree.events().iter().enumerate() {
            match event {
                Event::Access(_) | Event::WarpOrder { .. } => {
                    walk.current.push((at, Round::Any));
                    walk.behind.iter_mut().for_each(|behind| behind.push(at, event));
                }
                Event::Loop { span, first_symbol, .. } => walk.loops.push((at, *span, *first_symbol)),
                Event::EndOfLoop { .. } => walk.end_loop(at),
                Event::NextRound { branches } => walk.led_on.extend_from_slice(branches),
                Event::Barrier { .. }
                | Event::MayOrder { .. }
                | Event::Subscript(_)
                | Event::MayAccess { .. }
                | Event::MayDiffer { .. }
                | Event::CopyGroup { .. }
                | Event::CopyWait { .. } => {}
            }
            if let Some(span) = walk.orders[at] {
                walk.end_interval(Some(span));
                pass(&mut walk.phases, event, at, !walk.loops.is_empty());
            }
        }
        walk.end_interval(None);
        walk.found
    }

    /// What stands here may order what came before and what comes behind.
    fn end_interval(&mut self, by: Option<Span>) {
        let bounds = (std::mem::replace(&mut self.last_order, by), by);
        let reached: Branches = self.led_on.drain(..).collect();
        let open = std::iter::once(std::mem::take(&mut self.current))
            .chain(self.behind.drain(..).map(|it| it.accesses));
        for accesses in open {
            let interval = Interval::straight(&self.phases, accesses, bounds);
            self.found.push(Interval { reached: Arc::clone(&reached), ..interval });
        }
    }

    /// The event with this number ends a loop: what one round leaves and the next begins with, and what comes before the
    /// loop and begins the first round.
    fn end_loop(&mut self, at: usize) {
        let events = self.tree.events();
        let Event::EndOfLoop { round, rest, goes_on, end } = &events[at] else { return };
        let Some((begin, span, first_symbol)) = self.loops.pop() else { return };
        if let (Some(rest), Event::Loop { branches, .. }) = (rest, &events[begin]) {
            let before = self.current.iter().filter(|(at, _)| *at < begin).copied().collect();
            let accesses = std::mem::replace(&mut self.current, before);
            self.behind.push(Behind { rest: *rest, branches: Arc::clone(branches), accesses });
        }
        let Some(round) = round.filter(|_| *goes_on != GoesOn::Perhaps) else { return };
        let for_data = *goes_on == GoesOn::ForData;
        let orders = |at: &usize| self.orders[*at].is_some() || ends_with_rest(&events[*at]);
        // The part of the body before anything that orders, and the part behind.
        let body = begin + 1..at;
        let first = body.clone().find(orders).unwrap_or(body.end);
        let last = body.rev().find(orders).map_or(begin + 1, |at| at + 1);
        let mut accesses = accesses(events, last..at, Round::Any);
        accesses.extend(self::accesses(events, begin + 1..first, Round::Next(round)));
        accesses.retain_mut(|(at, of)| {
            if is_alike_in_each_round(self.tree, *at, first_symbol, &self.counters) {
                return true;
            }
            // What takes turns is looked at in the first round and the one after it.
            if *of == Round::Any {
                *of = Round::First(round);
            }
            takes_turns(self.tree, *at, (first_symbol, round), &self.counters)
        });
        let order = |at: usize| self.orders[at];
        let (of_end, of_next) = ((begin + 1..last).rev().find_map(order), (first..at).find_map(order));
        let phases = &self.phases;
        let across = Interval {
            across: Some(Across { of: span, by_all: end.by_all }),
            reached: Arc::clone(&end.branches),
            may_leave: end.may_leave,
            of_loop: Some(begin),
            for_data,
            ..Interval::straight(phases, accesses, (of_end, of_next))
        };
        let before = (0..begin).rev().find(orders).map_or(0, |at| at + 1);
        let bounds = ((0..before).rev().find_map(order), of_next);
        let mut accesses = self::accesses(events, before..begin, Round::Any);
        let mut first_round = self::accesses(events, begin + 1..first, Round::First(round));
        first_round.retain(|(at, _)| !needs_a_round_before(&events[*at]));
        accesses.append(&mut first_round);
        let entry =
            Interval { of_loop: Some(begin), for_data, ..Interval::straight(phases, accesses, bounds) };
        self.found.push(across);
        if !entry.accesses.is_empty() {
            self.found.push(entry);
        }
    }
}

impl Interval {
    /// Whether a block takes this branch in each round of the loop whose rounds it goes across, but perhaps in the last.
    pub(super) fn is_taken(&self, branch: u32) -> bool {
        self.reached.contains(&branch)
    }

    /// Whether a block may leave that loop when it takes this branch in it.
    pub(super) fn may_leave_by(&self, branch: u32) -> bool {
        self.may_leave && !self.is_taken(branch)
    }

    /// Without what stands behind a place where threads may have waited for each other.
    pub(super) fn without(mut self, behind_waits: &[bool]) -> Interval {
        self.accesses.retain(|(at, _)| !behind_waits[*at]);
        self
    }

    /// Keeps the accesses that surely happen, or that data choose threads for.
    fn keep_sure(&mut self, tree: &EventTree) {
        self.accesses.retain(|(at, _)| match &tree.events()[*at] {
            Event::Access(access) => is_possible(access) || is_possible_by_choice(access, tree),
            _ => true,
        });
    }

    /// One that lies across no end of a loop.
    fn straight(phases: &Phases, accesses: Vec<(usize, Round)>, bounds: Bounds) -> Interval {
        let phases = Rc::clone(phases);
        Interval {
            phases,
            accesses,
            across: None,
            reached: Branches::default(),
            may_leave: false,
            of_loop: None,
            for_data: false,
            bounds,
        }
    }
}

/// What lies in one interval with the end of a loop of which one pass stands for several rounds.
struct Behind {
    /// The symbol of the rounds beyond whole passes.
    rest: SymbolId,
    /// The branches around the loop.
    branches: Branches,
    accesses: Vec<(usize, Round)>,
}

impl Behind {
    fn push(&mut self, at: usize, event: &Event) {
        let (Event::Access(AccessEvent { branches, .. }) | Event::WarpOrder { branches, .. }) = event else {
            return;
        };
        if branches.iter().all(|it| self.branches.contains(it)) {
            self.accesses.push((at, Round::First(self.rest)));
        }
    }
}

fn counter(event: &Event) -> Option<SymbolId> {
    match event {
        Event::EndOfLoop { round, .. } => *round,
        _ => None,
    }
}

/// The phases after a barrier, the event of number `at`. In a loop that is passed through once for all
/// rounds it is not known how often threads come to a barrier that others do not come to.
fn pass(phases: &mut Phases, event: &Event, at: usize, in_loop: bool) {
    let Event::Barrier { threads, all, .. } = event else { return };
    let apart = |history: u64, from: usize| {
        let mut hasher = FxHasher::default();
        (history, at, from).hash(&mut hasher);
        hasher.finish()
    };
    match all {
        Some(true) => {}
        Some(false) => {
            let phases = Rc::make_mut(phases);
            for thread in threads.threads() {
                let (passed, history) = phases[thread];
                let next = if in_loop { (passed, apart(history, 0)) } else { (passed + 1, history) };
                phases[thread] = next;
            }
        }
        // Nobody is known to be in step with another from here on.
        None => {
            let phases = Rc::make_mut(phases).iter_mut().enumerate();
            phases.for_each(|(thread, (_, history))| *history = apart(*history, thread));
        }
    }
}

/// Whether a loop ends of which one pass stands for several rounds: what follows may ask how many there were.
fn ends_with_rest(event: &Event) -> bool {
    matches!(event, Event::EndOfLoop { rest: Some(_), .. })
}

/// Where something stands that may order threads, if the event is such a thing.
fn order_of(event: &Event) -> Option<Span> {
    match event {
        Event::Barrier { span, .. } | Event::MayOrder { span, .. } => Some(*span),
        _ => None,
    }
}

fn accesses(events: &[Event], range: Range<usize>, round: Round) -> Vec<(usize, Round)> {
    let is_access = |at: &usize| matches!(events[*at], Event::Access(_) | Event::WarpOrder { .. });
    range.filter(is_access).map(|at| (at, round)).collect()
}

/// Whether it is done in a round of the middle, by a condition on the round's number.
fn needs_a_round_before(event: &Event) -> bool {
    let usual = |it: &Assumption| matches!(it, Assumption::UsualIteration { .. });
    matches!(event, Event::Access(access) if access.assumptions.iter().any(usual))
}

/// Whether an offset changes from round to round by remainders of the round's number, and by nothing else that is not
/// followed; and whether it is one of the first round, too: `buffer[k % 2]`.
fn takes_turns(
    tree: &EventTree,
    at: usize,
    (first, round): (SymbolId, SymbolId),
    counters: &FxHashSet<SymbolId>,
) -> bool {
    let Event::Access(event) = &tree.events()[at] else { return true };
    let Some(offset) = &event.offset else { return false };
    let is_turn = |id: SymbolId| tree.remainder(id).is_some_and(|it| it.of == round);
    let is_followed =
        |id: SymbolId| id < first || counters.contains(&id) || id.is_per_thread() || is_turn(id);
    offset.terms.iter().all(|(id, _)| is_followed(*id)) && !needs_a_round_before(&tree.events()[at])
}

/// Whether nothing in an offset but loops' counters changes from round to round, and what is each thread's own
/// anyway. What is computed of a counter does.
fn is_alike_in_each_round(
    tree: &EventTree,
    at: usize,
    first: SymbolId,
    counters: &FxHashSet<SymbolId>,
) -> bool {
    let Event::Access(event) = &tree.events()[at] else { return true };
    let Some(offset) = &event.offset else { return false };
    offset.terms.iter().all(|(id, _)| *id < first || counters.contains(id) || id.is_per_thread())
}
