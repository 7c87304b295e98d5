//! How much may a run take, and how much all runs for one file?
//!
//! In steps, not in seconds, so that the same input gives the same answer on any machine. A run that
//! spends its budget is tried again with shorter loops. A kernel of many variants, each of which is too
//! long, would take many times as much: once some runs of a kernel were stopped, less is tried with the
//! others. So would a file of thousands of kernels: hence the runs for one file have a budget too. Once it
//! is spent, the kernels that follow are run with less effort, which is enough for most, and say where
//! they stopped if it is not.
//!
//! A kernel may have hundreds of instances. The first few are always run, the others as long as they are cheap. What
//! the others take counts apart, so that the kernels that follow are run as if there were none.

use super::machine::{Effort, Extra, Machine, Mode};
use crate::domain::{Reason, Unknown};
use crate::events::Trace;
use crate::source::Span;
use std::cell::Cell;

/// Expression evaluations and statements one run of a kernel may take.
pub(crate) const STEP_BUDGET: u64 = 75_000;
/// The same for a run that is to prove something of every access.
const PROOF_STEP_BUDGET: u64 = 10 * STEP_BUDGET;
/// The same for host code, whose launches come late.
const HOST_STEP_BUDGET: u64 = 150_000;
/// The same until the first launch. What leads to launches gets to one within 45,000 steps in all of the public
/// repositories that were measured; libraries of expression templates have much host code that never does.
const FIRST_LAUNCH_BUDGET: u64 = HOST_STEP_BUDGET / 3;
/// What all runs of host code for one file take before the others are short. Names as common as `run` lead everywhere.
const FILE_HOST_STEP_BUDGET: u64 = 40 * HOST_STEP_BUDGET;
/// What all runs for one file take before less effort is made.
const FILE_STEP_BUDGET: u64 = 100 * STEP_BUDGET;
/// What the further variants of one kernel take before the rest is left out.
const FURTHER_STEP_BUDGET: u64 = 2 * STEP_BUDGET;
/// The same for all kernels of a file.
const FILE_FURTHER_STEP_BUDGET: u64 = FILE_STEP_BUDGET / 20;
/// What a further run counts for besides its steps: its result is kept, judged and shown.
const FURTHER_RUN: u64 = 500;
/// By how much less a run takes then.
const THRIFT: u64 = 16;
/// Runs of one kernel that may be stopped, until little is tried with the others.
const MOST_STOPPED: usize = 8;
/// Scenarios of one kernel that may be stopped, until the others are not run.
const MOST_STOPPED_SCENARIOS: usize = 4;

/// What the runs for one file have taken.
#[derive(Debug, Default)]
pub(crate) struct FileBudget {
    steps: Cell<u64>,
    /// What further variants of kernels took, which is not among the steps.
    further: Cell<u64>,
    /// Whether the runs that are made now are those of further variants.
    is_further: Cell<bool>,
}

impl FileBudget {
    /// How hard the next run is to try.
    #[must_use]
    pub(crate) fn effort(&self) -> Effort {
        if self.steps.get() < FILE_STEP_BUDGET { Effort::Whole } else { Effort::Least }
    }

    /// Counts the steps of a run.
    pub(super) fn charge(&self, steps: u64) {
        match self.is_further.get() {
            true => self.further.set(self.further.get().saturating_add(steps).saturating_add(FURTHER_RUN)),
            false => self.steps.set(self.steps.get().saturating_add(steps)),
        }
    }

    /// Says whether the runs that follow are those of further variants of a kernel.
    pub(crate) fn run_further(&self, is_further: bool) {
        self.is_further.set(is_further);
    }

    /// What further variants of kernels took so far.
    #[must_use]
    pub(crate) fn further(&self) -> u64 {
        self.further.get()
    }

    /// Whether one more variant may be run of a kernel whose first further variant came after so many steps.
    #[must_use]
    pub(crate) fn has_room(&self, first: u64) -> bool {
        let further = self.further.get();
        #[cfg(test)]
        let (further, first) = (further / super::forgetful::patience(), first / super::forgetful::patience());
        further.saturating_sub(first) < FURTHER_STEP_BUDGET
            && further < FILE_FURTHER_STEP_BUDGET
            && self.effort() == Effort::Whole
    }

    /// What was spent so far.
    #[must_use]
    pub(crate) fn mark(&self) -> Mark {
        Mark { steps: self.steps.get(), further: self.further.get() }
    }

    /// What was spent since then.
    #[must_use]
    pub(crate) fn spent_since(&self, start: Mark) -> Spent {
        let Mark { steps, further } = self.mark();
        let took =
            Mark { steps: steps.saturating_sub(start.steps), further: further.saturating_sub(start.further) };
        Spent { start, took }
    }

    /// Counts the steps of runs that were made before. False, and nothing is counted, where they would not take
    /// the same steps now.
    #[must_use]
    pub(crate) fn spend(&self, spent: &Spent) -> bool {
        let now = self.mark();
        let is_alike = |now: u64, start: u64, took: u64, most: u64| {
            let in_time = |start: u64| start.saturating_add(took) < most;
            now == start || in_time(start) && in_time(now)
        };
        let Spent { start, took } = spent;
        let alike = is_alike(now.steps, start.steps, took.steps, FILE_STEP_BUDGET)
            && is_alike(now.further, start.further, took.further, FILE_FURTHER_STEP_BUDGET);
        if alike {
            self.steps.set(now.steps.saturating_add(took.steps));
            self.further.set(now.further.saturating_add(took.further));
        }
        alike
    }
}

/// What was spent up to some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    steps: u64,
    /// On further variants.
    further: u64,
}

/// What the runs of host code for one file have taken.
#[derive(Debug, Default)]
pub(crate) struct HostBudget {
    steps: Cell<u64>,
}

impl HostBudget {
    /// Whether the next run is to be short, as the others were long.
    #[must_use]
    pub(crate) fn is_short(&self) -> bool {
        self.steps.get() > FILE_HOST_STEP_BUDGET
    }

    /// Counts the steps of a run, whether it was made now or is remembered.
    pub(crate) fn charge(&self, steps: u64) {
        self.steps.set(self.steps.get().saturating_add(steps));
    }
}

/// What some runs for a file took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spent {
    /// What was spent before them.
    start: Mark,
    /// Their own.
    took: Mark,
}

/// How many runs of one kernel were stopped, and so how hard the next is tried: a kernel too long to be
/// run to its end is so in another block and in another variant, which need not be found out each time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct KernelBudget {
    runs: usize,
    scenarios: usize,
}

impl KernelBudget {
    /// How hard the next run is to try, if the file's budget allows it.
    #[must_use]
    pub(crate) fn effort(&self) -> Effort {
        match self.runs {
            0 => Effort::Whole,
            1..MOST_STOPPED => Effort::Short,
            _ => Effort::Least,
        }
    }

    /// Counts a run that has ended.
    pub(crate) fn count_run(&mut self, trace: &Trace) {
        self.runs += usize::from(trace.stopped.is_some());
    }

    /// Counts a scenario, by what is made of its runs.
    pub(crate) fn count_scenario(&mut self, trace: &Trace) {
        self.scenarios += usize::from(trace.stopped.is_some());
    }

    /// How many scenarios were stopped, if that is enough to say that the others would be.
    #[must_use]
    pub(crate) fn too_long(&self) -> Option<usize> {
        (self.scenarios >= MOST_STOPPED_SCENARIOS).then_some(MOST_STOPPED_SCENARIOS)
    }
}

impl Machine<'_> {
    /// Steps that the run may take. A proof is asked for seldom, and needs the bounds of loops that are
    /// run for real.
    pub(super) fn budget(&self) -> u64 {
        let budget = match (self.mode, &self.settings.pitch) {
            (Mode::Host, _) if self.host.is_short => HOST_STEP_BUDGET / THRIFT,
            (Mode::Host, _) if self.trace.launches.is_empty() => FIRST_LAUNCH_BUDGET,
            (Mode::Host, _) => HOST_STEP_BUDGET,
            (Mode::Device, Some(pitch)) if pitch.extra == Extra::Any => PROOF_STEP_BUDGET,
            (Mode::Device, _) if self.settings.effort == Effort::Least => STEP_BUDGET / THRIFT,
            (Mode::Device, _) => STEP_BUDGET,
        };
        #[cfg(test)]
        let budget = budget * super::forgetful::patience();
        budget
    }

    /// Steps that the run has taken. One that is given up has spent its budget.
    pub(super) fn steps_taken(&self) -> u64 {
        self.steps.min(self.budget()).saturating_add(self.looping.given_back)
    }

    /// What was run since then did not lead anywhere, so that its steps may be taken again: the rounds of a loop that
    /// turned out to be too many, of which one that stands for all is to be run as if it came first. A run gets back
    /// its budget once, at the most.
    pub(super) fn give_back(&mut self, began: u64) -> bool {
        let steps = self.steps.saturating_sub(began);
        let is_given = self.looping.given_back.saturating_add(steps) <= self.budget();
        if is_given {
            self.looping.given_back += steps;
            self.steps -= steps;
        }
        is_given
    }

    /// Takes a step; false when the budget is spent, which is noted once with its place.
    pub(super) fn step(&mut self, span: Span) -> bool {
        self.steps = self.steps.saturating_add(1);
        let budget = self.budget();
        if self.steps <= budget {
            return true;
        }
        if self.trace.stopped.is_none() {
            self.trace.stopped = Some(Unknown::new(
                Reason::Budget,
                span,
                format!("the analysis stopped here after {budget} steps"),
            ));
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_code_that_took_long_makes_what_follows_short() {
        let budget = HostBudget::default();
        budget.charge(FILE_HOST_STEP_BUDGET);
        assert!(!budget.is_short());
        budget.charge(1);
        assert!(budget.is_short());
    }
}
