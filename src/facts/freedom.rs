//! Is it proved that no two threads of a block race for shared memory?
//!
//! The walk goes through the events in order and keeps the accesses that nothing has ordered yet. Each new access is
//! compared with them, and a barrier that all threads reach removes them. Everything errs to one side: threads that
//! may do something do it, a barrier that a block may skip is no barrier for a block that skips it, and a loop may
//! run zero times. If no pair is left, freedom from races is proved. Example, in a block of 128:
//!
//! ```text
//! for (k = 0; k < n; ++k) {
//!     s[t] = in[k * 128 + t];   A
//!     __syncthreads();
//!     sum += s[127 - t];        B   A and B are ordered; B of a round and A of the next are not
//! }
//! ```
//!
//! If one pass stands for all iterations of a loop, the loop is walked twice: once for a single iteration, and once
//! to compare what the end of an iteration left open with the start of the next, or of any later one if the body has
//! no barrier. [`meet`] decides whether two accesses can touch the same byte.
//!
//! An asynchronous copy may write at any time until its thread has waited for it, whatever barriers come before. A
//! copy in flight over several iterations is compared with each of them.

mod live;
mod meet;
mod pair;
mod without;

use crate::domain::{Shape, SymbolId, ThreadSet};
use crate::events::{AccessEvent, Assumption, Branches, Differs, Event, PerTile, Trace};
use crate::source::Span;
use live::Live;
use meet::{Meeting, Relation, Side};
use pair::{Kind, Memory, kind};
use std::ops::Range;
pub(super) use without::find as find_needless;
pub(crate) use without::{Needless, NeedlessBarrier};

/// Comparisons of threads, and of accesses, that one proof may take.
const MOST_STEPS: u64 = 1 << 24;
/// Rounds that a copy may be on its way for.
const MOST_ROUNDS: i64 = 8;
/// Doubts that are kept.
const MOST_DOUBTS: usize = 16;

/// Whether a block's threads are proved not to race for shared memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Freedom {
    /// Why it is not proved; empty if it is.
    pub doubts: Vec<Doubt>,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// Why it is not proved that threads do not race.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Doubt {
    /// Two accesses may touch one byte with nothing in between that surely orders them: indices into the
    /// trace's accesses.
    Pair {
        /// The one that comes first in the program.
        first: usize,
        /// The other.
        second: usize,
        /// Two threads that may, if the offsets are known.
        threads: Option<(usize, usize)>,
    },
    /// Part of the function of this name does not parse.
    NotParsed(Span),
    /// Something is not followed that may access shared memory.
    Unfollowed(Span),
    /// What these threads may do is not run.
    MayDiffer(Span, Differs),
    /// Not all threads may come to this barrier: those that do may meet the others at another.
    Apart(Span),
    /// An access rests on a supposed value.
    Supposed(usize),
    /// Of an asynchronous copy it is not known when it has arrived.
    Asynchronous(usize),
    /// This access leaves its array.
    Overrun(usize),
    /// This access leaves its array in a block that may be for other devices than the text.
    OtherDevice(usize),
    /// The events are not kept to the end, or the run was stopped.
    Incomplete,
    /// There are too many accesses between barriers to hold each against each.
    TooMany,
}

/// A loop in the list of events.
struct Loop<'a> {
    body: Range<usize>,
    first_symbol: SymbolId,
    runs: bool,
    /// The symbol of its rounds, if one pass stands for all.
    round: Option<SymbolId>,
    /// Of a pass that stands for several rounds: where each but the first begins, and the symbol of how many there are
    /// beyond whole passes.
    inside: Vec<usize>,
    rest: Option<SymbolId>,
    branches: &'a Branches,
    /// The branches that lead to the end of a round: a block that takes others leaves the loop.
    end: &'a Branches,
}

/// The proof, or the doubts about it, for a run with a block of this shape.
pub(super) fn prove(trace: &Trace, shape: Shape) -> Freedom {
    let mut walk = Walk::new(trace, shape, None, MOST_STEPS);
    if trace.tree.is_cut() || trace.stopped.is_some() {
        walk.found.doubts.push(Doubt::Incomplete);
        return walk.found;
    }
    walk.note_assumptions();
    walk.pass(0..trace.tree.len(), Vec::new(), true);
    walk.found
}

struct Walk<'a> {
    trace: &'a Trace,
    shape: Shape,
    events: &'a [Event],
    /// Barriers that are taken for absent, by their places. In global memory, only what one of them may have
    /// ordered is held against each other then.
    gone: Option<&'a [Span]>,
    found: Freedom,
    left: u64,
}

impl<'a> Walk<'a> {
    fn new(trace: &'a Trace, shape: Shape, gone: Option<&'a [Span]>, left: u64) -> Walk<'a> {
        Walk { trace, shape, events: trace.tree.events(), gone, found: Freedom::default(), left }
    }

    fn doubt(&mut self, doubt: Doubt) {
        let same = |known: &Doubt| match (known, &doubt) {
            (Doubt::Pair { first, second, .. }, Doubt::Pair { first: one, second: two, .. }) => {
                (first, second) == (one, two)
            }
            _ => *known == doubt,
        };
        if self.found.doubts.len() < MOST_DOUBTS && !self.found.doubts.iter().any(same) {
            self.found.doubts.push(doubt);
        }
    }

    /// What the accesses rest on; bounds and usual rounds only ever keep threads out.
    fn note_assumptions(&mut self) {
        for event in self.events {
            let Event::Access(event) = event else { continue };
            for assumption in event.assumptions.iter() {
                match assumption {
                    Assumption::InsideBounds { .. }
                    | Assumption::UsualIteration { .. }
                    | Assumption::UsualBlock { .. } => {}
                    Assumption::RunsOn { .. }
                    | Assumption::BeginsAt { .. }
                    | Assumption::AtMost { .. }
                    | Assumption::DamageIsHarmless => self.doubt(Doubt::Supposed(event.access)),
                    other if self.found.assumptions.contains(other) => {}
                    other => self.found.assumptions.push(other.clone()),
                }
            }
        }
    }

    /// Walks events with what is open before them, and says what is open after them. `first`: whether accesses
    /// become open themselves and are held against each other; otherwise only against what was open before.
    fn pass(&mut self, range: Range<usize>, mut open: Vec<Live<'a>>, first: bool) -> Vec<Live<'a>> {
        let mut at = range.start;
        while at < range.end && self.left > 0 {
            match &self.events[at] {
                Event::Access(event) => self.access(at, event, &mut open, first),
                Event::Barrier { span, .. } if self.is_gone(*span) => {
                    open.iter_mut().for_each(|live| live.is_crossed = true);
                }
                Event::Barrier { is_sure: true, branches, .. } => {
                    open.retain_mut(|live| !live.is_passed(branches));
                }
                Event::WarpOrder { threads, tile, is_fence: true, is_sure: true, branches, .. } => {
                    let warps = self.whole_warps(threads);
                    open.iter_mut().for_each(|live| live.meets(*tile, warps, branches));
                }
                Event::CopyGroup { threads, is_sure: true, branches } => {
                    open.iter_mut().for_each(|live| live.is_grouped(threads, branches));
                }
                Event::CopyWait { threads, but, is_sure: true, branches } => {
                    open.iter_mut().for_each(|live| live.is_waited_for(threads, *but, branches));
                }
                Event::MayAccess { span, .. } => self.doubt(Doubt::Unfollowed(*span)),
                Event::MayDiffer { span, why } => self.doubt(Doubt::MayDiffer(*span, *why)),
                Event::Barrier { span, all: None | Some(false), is_sure: false, .. } => {
                    self.doubt(Doubt::Apart(*span));
                }
                Event::Loop { .. } => {
                    if let Some(of) = self.loop_at(at) {
                        at = of.body.end;
                        open = self.rounds(&of, open, first);
                    }
                }
                Event::Subscript(_)
                | Event::Barrier { .. }
                | Event::WarpOrder { .. }
                | Event::MayOrder { .. }
                | Event::CopyGroup { .. }
                | Event::CopyWait { .. }
                | Event::NextRound { .. }
                | Event::EndOfLoop { .. } => {}
            }
            at += 1;
        }
        if self.left == 0 {
            self.doubt(Doubt::TooMany);
        }
        open
    }

    /// Whether a barrier is taken for absent.
    fn is_gone(&self, barrier: Span) -> bool {
        self.gone.is_some_and(|gone| gone.contains(&barrier))
    }

    fn loop_at(&self, begin: usize) -> Option<Loop<'a>> {
        let Event::Loop { first_symbol, runs, branches, .. } = &self.events[begin] else { return None };
        let mut depth = 0;
        let mut inside = Vec::new();
        for (at, event) in self.events.iter().enumerate().skip(begin) {
            match event {
                Event::Loop { .. } => depth += 1,
                Event::NextRound { .. } if depth == 1 => inside.push(at),
                Event::EndOfLoop { round, rest, end, .. } => {
                    depth -= 1;
                    if depth == 0 {
                        let (body, first_symbol) = (begin + 1..at, *first_symbol);
                        let (runs, round, rest) = (*runs, *round, *rest);
                        let end = &end.branches;
                        return Some(Loop { body, first_symbol, runs, round, inside, rest, branches, end });
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// Walks the rounds of a loop.
    fn rounds(&mut self, of: &Loop<'a>, mut open: Vec<Live<'a>>, first: bool) -> Vec<Live<'a>> {
        let (body, orders) = (&of.body, self.has_barrier(of));
        let absent = |event: &Event| matches!(event, Event::Barrier { span, .. } if self.is_gone(*span));
        let crosses = self.events[body.clone()].iter().any(absent);
        // Some round of the loop crosses it.
        open.iter_mut().for_each(|live| live.is_crossed |= crosses);
        if of.round.is_none() {
            // Its rounds stand in order, as supposed values lead through them.
            let supposed = self.events[body.clone()].iter().find_map(|event| match event {
                Event::Access(event) => Some(Doubt::Supposed(event.access)),
                _ => None,
            });
            supposed.into_iter().for_each(|doubt| self.doubt(doubt));
        }
        let numbered = of.round.filter(|_| orders);
        let mut entering = open.clone();
        if let Some(round) = numbered {
            // What comes before the loop meets the first round, and later ones only if it is on its way.
            entering.iter_mut().for_each(|live| live.comes_before_round(round, 0));
        }
        let mut early: Vec<Live<'a>> = Vec::new();
        let mut after = self.pass_by_rounds(of, entering, first, Some(&mut early).filter(|_| first));
        after.iter_mut().for_each(|live| live.is_crossed |= crosses);
        let (inner, outer): (Vec<_>, Vec<_>) =
            after.into_iter().partition(|live| first && body.contains(&live.at));
        let apart = Relation::Apart { from: of.first_symbol, rest: None };
        // Those that are open after a whole pass, and of the last one.
        let mut whole: Vec<usize> = Vec::new();
        if let Some(round) = numbered {
            let mut on_their_way: Vec<Live<'a>> = outer.clone();
            on_their_way.retain(|live| live.is_before_rounds(round));
            self.later_rounds(of, on_their_way, &|live, by| live.comes_before_round(round, by));
        }
        match (first, numbered, of.round) {
            (true, Some(round), _) => {
                let from = of.first_symbol;
                whole.extend(inner.iter().filter(|live| !live.is_on_its_way()).map(|live| live.at));
                // A barrier that only those skip who leave the loop orders one round with the next.
                let mut before: Vec<Live<'a>> = inner
                    .iter()
                    .filter(|live| !live.is_before(of.end))
                    .map(|live| live.clone().leaves(of, Relation::Next { round, by: 1, from }))
                    .collect();
                before = self.pass_by_rounds(of, before, false, Some(&mut early));
                // What is still open then may be of any pass before.
                whole.retain(|at| !before.iter().any(|live| live.at == *at));
                before.retain(|live| !live.is_before(of.end));
                self.later_rounds(of, before, &|live, by| {
                    live.relation = Relation::Next { round, by: by + 1, from };
                });
            }
            (true, None, Some(_)) => {
                let before = inner.iter().map(|live| live.clone().leaves(of, apart)).collect();
                self.pass(body.clone(), before, false);
            }
            _ => {}
        }
        // A loop that may not run at all leaves open what was open.
        let mut result: Vec<Live<'a>> =
            if of.runs { outer.into_iter().map(Live::after_first_round).collect() } else { open };
        early.iter_mut().for_each(|live| live.is_crossed |= crosses);
        result.extend(early);
        let of_last_pass =
            of.rest.map(|rest| Relation::Apart { from: of.first_symbol, rest: Some((rest, 0)) });
        result.extend(inner.into_iter().map(|live| {
            let is_whole = whole.contains(&live.at);
            live.leaves(of, of_last_pass.filter(|_| is_whole).unwrap_or(apart))
        }));
        result
    }

    /// One pass through a loop's body. A pass that stands for several rounds may be the last after any of them, as where
    /// variables take turns (`c ^= 1`): what is open then of the loop's own accesses is put into `early`.
    fn pass_by_rounds(
        &mut self,
        of: &Loop<'a>,
        mut open: Vec<Live<'a>>,
        first: bool,
        mut early: Option<&mut Vec<Live<'a>>>,
    ) -> Vec<Live<'a>> {
        let mut begin = of.body.start;
        for (done, end) in (1..).zip(&of.inside) {
            open = self.pass(begin..*end, open, first);
            if let Some(early) = &mut early {
                let rest = of.rest.map(|rest| (rest, done));
                let relation = Relation::Apart { from: of.first_symbol, rest };
                let own = open.iter().filter(|live| of.body.contains(&live.at));
                early.extend(own.map(|live| live.clone().leaves(of, relation)));
            }
            begin = *end;
        }
        self.pass(begin..of.body.end, open, first)
    }

    /// Holds copies that are on their way against one round after the other, as long as any is.
    fn later_rounds(
        &mut self,
        of: &Loop<'a>,
        mut open: Vec<Live<'a>>,
        put_before: &dyn Fn(&mut Live<'a>, i64),
    ) {
        for by in 1..=MOST_ROUNDS {
            if open.is_empty() {
                return;
            }
            open.iter_mut().for_each(|live| put_before(live, by));
            open = self.pass(of.body.clone(), open, false);
            open.retain(|live| !live.is_before(of.end));
        }
        open.iter().for_each(|live| self.doubt(Doubt::Asynchronous(live.event.access)));
    }

    /// Whether each round of a loop that is not the last has a barrier.
    fn has_barrier(&self, of: &Loop<'a>) -> bool {
        let mut uncertain = 0;
        let mut open: Vec<bool> = Vec::new();
        self.events[of.body.clone()].iter().any(|event| match event {
            Event::Loop { runs, .. } => {
                open.push(*runs);
                uncertain += u32::from(!runs);
                false
            }
            Event::EndOfLoop { .. } => {
                uncertain -= u32::from(open.pop() == Some(false));
                false
            }
            Event::Barrier { span, is_sure: true, branches, .. } => {
                let leads_on = branches.iter().all(|it| of.branches.contains(it) || of.end.contains(it));
                uncertain == 0 && leads_on && !self.is_gone(*span)
            }
            _ => false,
        })
    }

    /// The warps of which all threads are among these, by bit.
    fn whole_warps(&self, threads: &ThreadSet) -> u32 {
        let all = ThreadSet::all(self.shape);
        let warps = 0..self.shape.threads().div_ceil(32);
        warps.filter(|warp| threads.warp(*warp) == all.warp(*warp)).fold(0, |bits, warp| bits | 1 << warp)
    }

    fn access(&mut self, at: usize, event: &'a AccessEvent, open: &mut Vec<Live<'a>>, first: bool) {
        let Some(access) = self.trace.accesses.get(event.access) else { return };
        let new = Live::new(event, access, at);
        let is_global = self.trace.arrays[access.array].global;
        for live in open.iter() {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            let counts = !is_global || live.is_crossed;
            if counts && !live.is_before(&event.branches) {
                self.hold(live, &new);
            }
        }
        if first {
            if !is_global && !matches!(kind(access), Kind::Reads) {
                self.hold(&new.arrived(), &new.arrived());
            }
            open.push(new);
        }
    }

    /// Holds two accesses against each other that nothing surely orders.
    fn hold(&mut self, one: &Live<'a>, other: &Live<'a>) {
        let memory = pair::memory(self.trace, one, other);
        let global = self.trace.arrays[one.access.array].global;
        // Atomics of one place are no race; a barrier that orders them may count.
        let atomic = matches!((kind(one.access), kind(other.access)), (Kind::Atomic, Kind::Atomic));
        if pair::is_harmless(one, other, global) || atomic && !one.is_crossed || memory == Memory::Apart {
            return;
        }
        let side = |live: &Live<'a>| {
            let bytes = i64::from(live.access.bytes?);
            let threads = live.event.threads;
            Some(Side {
                offset: live.event.offset.as_ref()?,
                threads,
                bytes,
                rows: live.access.tiles.matrices,
            })
        };
        let pair = (one.event.access, other.event.access);
        // Which lane of a warp writes last makes no difference then.
        let met = if pair::is_one_value_of_warp(one, other) { PerTile::all(u32::MAX) } else { one.met };
        let threads = match side(one).zip(side(other)).filter(|_| memory == Memory::Same) {
            Some((a, b)) => {
                let relation = one.relation;
                // What a warp writes by one instruction, each of its lanes writes once.
                let is_once = one.at == other.at && relation == Relation::Same;
                let whole_warp = !is_once && (one.access.is_warp_wide() || other.access.is_warp_wide());
                let tree = &self.trace.tree;
                // A thread's own copy is not ordered with what it does itself.
                let own_counts = whole_warp || one.is_on_its_way() || other.is_on_its_way();
                let meeting = Meeting { tree, shape: self.shape, relation, met, own_counts };
                match meeting.first_in_any_turn(&a, &b, &mut self.left) {
                    Some(threads) => Some(threads),
                    None => return,
                }
            }
            None => None,
        };
        let (first, second) = pair;
        // Whether what is on its way arrives in time is asked of the copy.
        match one.is_on_its_way() && one.at != other.at {
            true => self.doubt(Doubt::Asynchronous(first)),
            false => self.doubt(Doubt::Pair { first, second, threads }),
        }
    }
}
