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
//! If one pass stands for several iterations, the loop may end after any of them. What follows is judged as after a
//! whole pass, unless a condition leads to it: that may depend on the number of iterations.

use crate::domain::{Shape, SymbolId};
use crate::events::{AccessEvent, Assumption, Branches, Event, EventTree, GoesOn};
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

/// Accesses that are not ordered but by their threads.
#[derive(Debug)]
pub(super) struct Interval {
    /// Threads with different phases are not in step.
    pub phases: Phases,
    /// The numbers of the events, in order, and their rounds: accesses, and where lanes come together.
    pub accesses: Vec<(usize, Round)>,
    /// The loop whose rounds it goes across, if it does.
    pub across: Option<Span>,
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
    let events = tree.events();
    let mut found = Vec::new();
    let mut current: Vec<(usize, Round)> = Vec::new();
    let mut behind: Vec<Behind> = Vec::new();
    let mut last_order: Option<Span> = None;
    let mut loops: Vec<(usize, Span, SymbolId)> = Vec::new();
    let mut phases: Phases = Rc::new(vec![(0, 0); shape.threads()]);
    let counters: FxHashSet<SymbolId> = events.iter().filter_map(counter).collect();
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Access(_) | Event::WarpOrder { .. } => {
                current.push((at, Round::Any));
                behind.iter_mut().for_each(|behind| behind.push(at, event));
            }
            Event::Subscript(_)
            | Event::MayAccess { .. }
            | Event::MayDiffer { .. }
            | Event::CopyGroup { .. }
            | Event::CopyWait { .. } => {}
            Event::Barrier { span, .. } | Event::MayOrder { span, .. } => {
                let bounds = (last_order.replace(*span), Some(*span));
                for accesses in std::iter::once(std::mem::take(&mut current))
                    .chain(behind.drain(..).map(|it| it.accesses))
                {
                    found.push(Interval::straight(&phases, accesses, bounds));
                }
                pass(&mut phases, event, at, !loops.is_empty());
            }
            Event::Loop { span, first_symbol, .. } => loops.push((at, *span, *first_symbol)),
            Event::NextRound => {}
            Event::EndOfLoop { round, rest, goes_on } => {
                let round = round.as_ref().filter(|_| *goes_on != GoesOn::Perhaps);
                let for_data = *goes_on == GoesOn::ForData;
                let Some((begin, span, first_symbol)) = loops.pop() else { continue };
                if let (Some(rest), Event::Loop { branches, .. }) = (rest, &events[begin]) {
                    let before = current.iter().filter(|(at, _)| *at < begin).copied().collect();
                    let accesses = std::mem::replace(&mut current, before);
                    behind.push(Behind { rest: *rest, branches: Arc::clone(branches), accesses });
                }
                let Some(round) = round else { continue };
                let phases = Rc::clone(&phases);
                let body = begin + 1..at;
                let (first, last) = ends(events, &body);
                let mut accesses = accesses(events, last..at, Round::Any);
                accesses.extend(self::accesses(events, begin + 1..first, Round::Next(*round)));
                accesses.retain(|(at, _)| is_alike_in_each_round(tree, *at, first_symbol, &counters));
                let order = |at: usize| order_of(&events[at]);
                let (of_end, of_next) =
                    ((begin + 1..last).rev().find_map(order), (first..at).find_map(order));
                let bounds = (of_end, of_next);
                let (across, of_loop) = (Some(span), Some(begin));
                found.push(Interval {
                    phases: Rc::clone(&phases),
                    accesses,
                    across,
                    of_loop,
                    for_data,
                    bounds,
                });
                let parts = |at: &usize| orders(&events[*at]) || ends_with_rest(&events[*at]);
                let before = (0..begin).rev().find(parts).map_or(0, |at| at + 1);
                let bounds = ((0..before).rev().find_map(order), of_next);
                let mut accesses = self::accesses(events, before..begin, Round::Any);
                let mut first_round = self::accesses(events, begin + 1..first, Round::First(*round));
                first_round.retain(|(at, _)| !needs_a_round_before(&events[*at]));
                accesses.append(&mut first_round);
                if !accesses.is_empty() {
                    found.push(Interval { phases, accesses, across: None, of_loop, for_data, bounds });
                }
            }
        }
    }
    for accesses in std::iter::once(current).chain(behind.into_iter().map(|it| it.accesses)) {
        found.push(Interval::straight(&phases, accesses, (last_order, None)));
    }
    found
}

impl Interval {
    /// Whether some of it stands behind a place where threads may have waited for each other.
    pub(super) fn is_behind(&self, waits: &[bool]) -> bool {
        self.accesses.iter().any(|(at, _)| waits[*at])
    }

    /// One that lies across no end of a loop.
    fn straight(phases: &Phases, accesses: Vec<(usize, Round)>, bounds: Bounds) -> Interval {
        let phases = Rc::clone(phases);
        Interval { phases, accesses, across: None, of_loop: None, for_data: false, bounds }
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
        Event::EndOfLoop { round, goes_on: GoesOn::Surely | GoesOn::ForData, .. } => *round,
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

/// The end of the part of a loop's body before anything that orders, and the beginning of the part after.
fn ends(events: &[Event], body: &Range<usize>) -> (usize, usize) {
    let parts = |at: &usize| orders(&events[*at]) || ends_with_rest(&events[*at]);
    let first = body.clone().find(parts).unwrap_or(body.end);
    let last = body.clone().rev().find(parts).map_or(body.start, |at| at + 1);
    (first, last)
}

/// Whether a loop ends of which one pass stands for several rounds: what follows may ask how many there were.
fn ends_with_rest(event: &Event) -> bool {
    matches!(event, Event::EndOfLoop { rest: Some(_), .. })
}

fn orders(event: &Event) -> bool {
    order_of(event).is_some()
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
