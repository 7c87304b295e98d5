//! What becomes of threads that did not come to a barrier?

use super::exits;
use crate::domain::{Reason, ThreadSet, Unknown};
use crate::events::{Absence, Barrier, Split, SplitKind, Then};
use crate::exec::machine::{Absent, Departure, Machine};
use crate::source::Span;
use std::rc::Rc;

/// The most absences that are followed at a time.
const MOST: usize = 256;

const WHETHER: &str = "whether they come to this one is not known";
const HOW_OFTEN: &str = "how often they wait in the other branch is not known";

impl Machine<'_> {
    /// The active threads come to a barrier of the trace: what that is for those who were absent before.
    pub(super) fn arrive(&mut self, number: usize) {
        if !self.looping.uncounted.is_empty() {
            self.looping.came.push(number);
        }
        for at in 0..self.state.course.absent.len() {
            let absent = &self.state.course.absent[at];
            if let Some(then) = self.meeting(absent, number, &self.world.all) {
                let (barrier, absence) = (absent.barrier, absent.absence);
                self.worsen(barrier, absence, then);
            }
        }
    }

    /// Those who do not come to a barrier are absent from here on; those who do are counted.
    pub(super) fn miss(&mut self, number: usize) {
        let barrier = &self.trace.barriers[number];
        let active = barrier.active;
        let turn = self.state.course.turn(&active);
        let last = turn.saturating_add(self.weight).saturating_sub(1);
        let (expected, doubt) = (barrier.expected, barrier.doubt.is_some());
        for absence in 0..barrier.absences.len() {
            let it = &self.trace.barriers[number].absences[absence];
            if it.threads.is_some() && self.state.course.behind.is_none() {
                self.state.course.behind = Some((number, absence));
            }
            if exits::is_exit_by_bound(it) {
                self.state.course.behind_exit.get_or_insert(number);
            }
            if it.left || matches!(it.then, Then::Barrier(_)) {
                continue;
            }
            let full = self.state.course.absent.len() >= MOST;
            let mut known = self.state.course.absent.iter_mut();
            match known.find(|known| (known.barrier, known.absence) == (number, absence)) {
                Some(known) => known.turns.1 = last,
                None if full => {
                    let here = self.trace.barriers[number].span;
                    let why = Unknown::new(Reason::Budget, here, "too many barriers are missed by some");
                    self.worsen(number, absence, Then::Unknown(why));
                }
                None => self.state.course.absent.push(Absent {
                    barrier: number,
                    absence,
                    turns: (turn, last),
                    passable: self.state.passable.clone(),
                    uncounted: self.looping.uncounted.clone(),
                }),
            }
        }
        // Nothing worse can become of them.
        let barriers = &self.trace.barriers;
        let open = |absent: &Absent| {
            let absence = barriers.get(absent.barrier).and_then(|it| it.absences.get(absent.absence));
            absence.is_some_and(|absence| !matches!(absence.then, Then::Barrier(_)))
        };
        self.state.course.absent.retain(open);
        let even = self.state.course.arrivals.is_none() && expected.minus(&active).is_empty();
        if !(doubt || even) {
            let none = || Rc::new(vec![0; self.world.shape.threads()]);
            let arrivals = Rc::make_mut(self.state.course.arrivals.get_or_insert_with(none));
            active
                .threads()
                .for_each(|thread| arrivals[thread] = arrivals[thread].saturating_add(self.weight));
        }
    }

    /// What is known of threads that miss a barrier from what they did before: they may have waited in
    /// another branch when it was the turn of those who come to this one.
    pub(super) fn before(&self, number: usize, missing: &ThreadSet) -> Then {
        let course = &self.state.course;
        let here = &self.trace.barriers[number];
        let turn = course.turn(&here.active);
        if !missing.threads().any(|thread| course.arrivals_of(thread) > turn) {
            return Then::Exit;
        }
        let partner = course.absent.iter().find(|absent| {
            let Some((there, absence)) = self.absence(absent) else { return false };
            let kept = absence.threads.is_some_and(|kept| !kept.and(&here.active).is_empty());
            let in_turn = (absent.turns.0..=absent.turns.1).contains(&turn);
            kept && in_turn
                && absent.uncounted == self.looping.uncounted
                && !there.active.and(missing).is_empty()
        });
        let same = |absent: &Absent| {
            self.trace.barriers.get(absent.barrier).is_some_and(|it| it.number == here.number)
        };
        match partner.filter(|_| !course.is_unsure) {
            Some(absent) if same(absent) => Then::Pair(absent.barrier),
            Some(absent) => Then::Barrier(absent.barrier),
            None => Then::Unknown(Unknown::new(Reason::DataDependentMask, here.span, HOW_OFTEN)),
        }
    }

    /// The barrier that was missed, and how; `None` if it was taken back.
    fn absence(&self, absent: &Absent) -> Option<(&Barrier, &Absence)> {
        let barrier = self.trace.barriers.get(absent.barrier)?;
        Some((barrier, barrier.absences.get(absent.absence)?))
    }

    /// What it means for absent threads that some come to a barrier, if any of them are `among` those.
    fn meeting(&self, absent: &Absent, number: usize, among: &ThreadSet) -> Option<Then> {
        let (missed, absence) = self.absence(absent)?;
        let here = &self.trace.barriers[number];
        let way = self.state.passable.iter().all(|branch| absent.passable.contains(branch));
        let sure = here.doubt.is_none() && way && !self.state.course.is_unsure;
        let unknown =
            |why: &'static str| Some(Then::Unknown(Unknown::new(Reason::DataDependentMask, here.span, why)));
        match &absence.threads {
            Some(threads) => {
                let turn = |thread: usize| self.state.course.arrivals_of(thread);
                let come = threads.and(&here.active).and(among);
                let turns: Vec<u64> = come.threads().map(turn).filter(|at| *at <= absent.turns.1).collect();
                let last = turns.iter().max()?;
                if !sure {
                    return unknown(WHETHER);
                }
                // At another of the hardware's barriers they do not meet.
                if !missed.active.and(&here.active).is_empty() || missed.number != here.number {
                    return Some(Then::Barrier(number));
                }
                if absent.uncounted != self.looping.uncounted {
                    return unknown(HOW_OFTEN);
                }
                (*last >= absent.turns.0).then_some(Then::Pair(number))
            }
            None => {
                let same = |s: &&Split| s.span == absence.split.span;
                let around = here.splits.iter().find(same);
                match around {
                    Some(split) if split.branch == absence.split.branch => None,
                    Some(_) => Some(Then::Pair(number)),
                    None => {
                        let outer =
                            |s: &Split| missed.splits.iter().any(|it| (it.id, it.branch) == (s.id, s.branch));
                        match sure && here.splits.iter().all(outer) {
                            true => Some(Then::Barrier(number)),
                            false => unknown(WHETHER),
                        }
                    }
                }
            }
        }
    }

    /// The active threads go on here, those who were absent among them.
    pub(in crate::exec) fn go_on(&mut self, span: Span) {
        if self.recording {
            let repeated = std::mem::take(&mut self.around.repeated);
            self.go_on_if(span, |split| !repeated.contains(&split.id));
            self.around.repeated = repeated;
        }
    }

    /// The same of those of whom `may` says that they may be here, by the condition that kept them away.
    fn go_on_if(&mut self, span: Span, may: impl Fn(&Split) -> bool) {
        let active = self.state.active;
        for at in 0..self.state.course.absent.len() {
            let absent = &self.state.course.absent[at];
            let Some((missed, absence)) = self.absence(absent) else { continue };
            let then = Then::Rejoin(span);
            if absence.then.rank() >= then.rank() || !may(&absence.split) {
                continue;
            }
            let stayed = missed.active.and(&active);
            let meet = match &absence.threads {
                Some(threads) => {
                    let come = threads.and(&active);
                    let late = |lane: usize| self.state.course.arrivals_of(lane) <= absent.turns.1;
                    let warps = 0..self.world.shape.threads().div_ceil(32);
                    let mut both = warps.filter(|warp| stayed.warp(*warp) != 0 && come.warp(*warp) != 0);
                    both.any(|warp| {
                        let lanes = come.warp(warp);
                        (0..32).any(|lane| lanes >> lane & 1 == 1 && late(warp * 32 + lane))
                    })
                }
                None => {
                    let around = |s: &Split| s.span == absence.split.span;
                    let departed = self.around.departures.iter().any(|left| around(&left.split));
                    let bound = match &absence.split.kind {
                        SplitKind::Guard(bound) | SplitKind::Iterations(bound) => Some(bound),
                        _ => None,
                    };
                    let cuts = bound.is_some_and(|bound| bound.cuts_warps);
                    cuts && !stayed.is_empty() && !departed && !self.around.splits.iter().any(around)
                }
            };
            if meet {
                let (barrier, absence) = (absent.barrier, absent.absence);
                self.worsen(barrier, absence, then);
            }
        }
    }

    /// The body of a loop has run once for all its iterations: what the next one would be for those who
    /// were absent in it. `came`: how many arrivals there were before.
    pub(in crate::exec) fn next_iteration(&mut self, came: usize, span: Span) {
        let here: Vec<usize> = self.looping.came[came.min(self.looping.came.len())..].to_vec();
        if !here.is_empty() && self.recording {
            let active = self.state.active;
            for at in 0..self.state.course.absent.len() {
                let absent = &self.state.course.absent[at];
                let Some((_, absence)) = self.absence(absent) else { continue };
                // Who left by a `return` does not come again.
                let gone = |Departure { split, .. }: &Departure| {
                    split.span == absence.split.span && !split.of_loop && absence.threads.is_none()
                };
                if !here.contains(&absent.barrier) || self.around.departures.iter().any(gone) {
                    continue;
                }
                let next = here.iter().find_map(|number| self.meeting(absent, *number, &active));
                let (barrier, absence) = (absent.barrier, absent.absence);
                if let Some(then) = next {
                    self.worsen(barrier, absence, then);
                }
            }
            // The condition of a loop has let them out.
            self.go_on_if(span, |split| !split.of_loop);
        }
        if self.looping.uncounted.is_empty() {
            self.looping.came.clear();
        }
    }

    /// Something that is not followed may be a barrier for the active threads.
    pub(in crate::exec) fn may_wait(&mut self, what: &str, span: Span) {
        if !self.recording {
            return;
        }
        for at in 0..self.state.course.absent.len() {
            let absent = &self.state.course.absent[at];
            let Some((_, absence)) = self.absence(absent) else { continue };
            let here = match &absence.threads {
                Some(threads) => !threads.and(&self.state.active).is_empty(),
                None => {
                    let inside = |s: &Split| s.span == absence.split.span && s.branch == absence.split.branch;
                    !self.around.splits.iter().any(inside)
                }
            };
            if here {
                let (barrier, absence) = (absent.barrier, absent.absence);
                let why = Unknown::new(Reason::UnknownFunction, span, format!("{what} may wait for them"));
                self.worsen(barrier, absence, Then::Unknown(why));
            }
        }
    }
}
