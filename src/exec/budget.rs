//! How much may a run take, and how much all runs for one file?
//!
//! In steps, not in seconds, so that the same input gives the same answer on any machine. A run that
//! spends its budget is tried again with shorter loops. A kernel of many variants, each of which is too
//! long, would take many times as much: once some runs of a kernel were stopped, less is tried with the
//! others. So would a file of thousands of kernels: hence the runs for one file have a budget too. Once it
//! is spent, the kernels that follow are run with less effort, which is enough for most, and say where
//! they stopped if it is not.

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
/// What all runs for one file take before less effort is made.
const FILE_STEP_BUDGET: u64 = 100 * STEP_BUDGET;
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
}

impl FileBudget {
    /// How hard the next run is to try.
    #[must_use]
    pub(crate) fn effort(&self) -> Effort {
        if self.steps.get() < FILE_STEP_BUDGET { Effort::Whole } else { Effort::Least }
    }

    /// Counts the steps of a run.
    pub(super) fn charge(&self, steps: u64) {
        self.steps.set(self.steps.get().saturating_add(steps));
    }

    /// The steps so far.
    #[must_use]
    pub(crate) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// What was spent since there were so many steps.
    #[must_use]
    pub(crate) fn spent_since(&self, start: u64) -> Spent {
        Spent { start, steps: self.steps.get().saturating_sub(start) }
    }

    /// Counts the steps of runs that were made before. False, and nothing is counted, where they would not take
    /// the same steps now.
    #[must_use]
    pub(crate) fn spend(&self, spent: &Spent) -> bool {
        let in_time = |start: u64| start.saturating_add(spent.steps) < FILE_STEP_BUDGET;
        let alike = self.steps.get() == spent.start || in_time(spent.start) && in_time(self.steps.get());
        if alike {
            self.charge(spent.steps);
        }
        alike
    }
}

/// What some runs for a file took.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spent {
    /// The steps before them.
    start: u64,
    /// Their own.
    steps: u64,
}

/// How many runs of one kernel were stopped, and so how hard the next is tried: a kernel too long to be
/// run to its end is so in another block and in another variant, which need not be found out each time.
#[derive(Debug, Default)]
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
        self.steps.min(self.budget())
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
