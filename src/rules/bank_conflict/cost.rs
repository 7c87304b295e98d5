//! How many wavefronts does a kernel take, and how many of them are extra?
//!
//! A round of a loop of which it is not known how often it runs counts as several.

use super::super::{Case, KernelRun};
use crate::diagnostic::{Cost, Estimated};
use crate::events::{Access, Array, Trace};
use crate::verdict::{Judgement, ROUNDS};

/// What a kernel takes, by run and target.
pub(super) struct Costs<'a> {
    runs: Vec<Run<'a>>,
}

/// What a run takes.
struct Run<'a> {
    trace: &'a Trace,
    /// Which of its loops count for several rounds.
    estimated: Estimated,
    /// All wavefronts, by target.
    all: Vec<u64>,
    /// How many accesses are not known, by target.
    unknown: Vec<usize>,
}

impl<'a> Costs<'a> {
    pub(super) fn of(case: &Case<'a>) -> Costs<'a> {
        Costs { runs: case.runs.iter().map(Run::of).collect() }
    }

    /// What a conflict costs in a run on a target.
    pub(super) fn cost(&self, run: usize, target: usize, access: &Access, judgement: &Judgement) -> Cost {
        let extra = judgement.counted(self.runs[run].trace, access).extra;
        let at_most = access.may_be_fewer() || judgement.totals.is_some_and(|it| it.ways.may_part());
        Cost { extra, at_most, ..self.none(run, target) }
    }

    /// What a run on a target takes that has no conflicts.
    pub(super) fn none(&self, run: usize, target: usize) -> Cost {
        let own = &self.runs[run];
        let (kernel, unknown) = (own.all[target], own.unknown[target]);
        Cost { extra: 0, kernel, estimated: own.estimated, at_most: false, unknown }
    }

    /// The extra wavefronts of an access in a run, and all.
    pub(super) fn wavefronts(&self, run: usize, access: &Access, judgement: &Judgement) -> (u64, u64) {
        let counted = judgement.counted(self.runs[run].trace, access);
        (counted.extra, counted.wavefronts)
    }
}

impl<'a> Run<'a> {
    fn of(run: &'a KernelRun) -> Run<'a> {
        let trace = &run.trace;
        let loops: Vec<_> = trace.accesses.iter().flat_map(Access::uncounted_loops).collect();
        let estimated = Estimated::of(&loops, trace, ROUNDS);
        let mut found = Run { trace, estimated, all: Vec::new(), unknown: Vec::new() };
        for judgements in &run.judgements {
            let (mut all, mut unknown) = (0u64, 0);
            for (access, judgement) in trace.accesses.iter().zip(judgements) {
                // Another access speaks for it, or no counter of the hardware does.
                if !judgement.follows && !judgement.page_only {
                    all = all.saturating_add(judgement.counted(trace, access).wavefronts);
                    unknown += usize::from(judgement.totals.is_none());
                }
            }
            found.all.push(all);
            found.unknown.push(unknown);
        }
        found
    }
}

/// How these figures count loops of which not every round was looked at, if there are any.
pub(super) fn rounds(case: &Case<'_>, array: &Array) -> String {
    let mut estimated = Estimated::default();
    for trace in case.runs.iter().map(|run| &run.trace) {
        let own = trace.accesses.iter().filter(|it| trace.arrays[it.array].name_span == array.name_span);
        let of_each =
            Estimated::of(&own.flat_map(Access::uncounted_loops).collect::<Vec<_>>(), trace, ROUNDS);
        estimated.unknown |= of_each.unknown;
        estimated.long |= of_each.long;
        estimated.short |= of_each.short;
    }
    match estimated.any() {
        true => format!(", {}", estimated.words(ROUNDS)),
        false => String::new(),
    }
}
