//! How many wavefronts does a kernel take, and how many of them are extra?
//!
//! Judgements count one round of each loop of which it is not known how often it runs. Here such a round
//! counts as several, or a conflict before a loop would look as dear as one inside it. An access that is
//! reached 4 times before a loop and 4 times in a round of it, by 2 wavefronts each, takes 8 + 8 x 8 = 72.

use super::super::{Case, KernelRun};
use crate::diagnostic::{Cost, ROUNDS};
use crate::events::{Access, Call};
use crate::source::Span;
use crate::verdict::Judgement;

/// Of loops inside each other, as many count.
const DEEPEST: u32 = 4;

/// What a kernel takes, by run and target.
pub(super) struct Costs {
    runs: Vec<Run>,
}

/// What a run takes.
struct Run {
    loops: Vec<Span>,
    /// All wavefronts, by target.
    all: Vec<u64>,
    /// How many accesses are not known, by target.
    unknown: Vec<usize>,
}

impl Costs {
    pub(super) fn of(case: &Case<'_>) -> Costs {
        Costs { runs: case.runs.iter().map(Run::of).collect() }
    }

    /// What a conflict costs in a run on a target.
    pub(super) fn cost(&self, run: usize, target: usize, access: &Access, judgement: &Judgement) -> Cost {
        let (extra, _) = self.runs[run].own(access, judgement);
        let at_most = access.at_most || judgement.totals.is_some_and(|it| it.ways.may_part());
        Cost { extra, at_most, ..self.none(run, target) }
    }

    /// What a run on a target takes that has no conflicts.
    pub(super) fn none(&self, run: usize, target: usize) -> Cost {
        let own = &self.runs[run];
        let (kernel, unknown) = (own.all[target], own.unknown[target]);
        Cost { extra: 0, kernel, estimated: !own.loops.is_empty(), at_most: false, unknown }
    }

    /// The extra wavefronts of an access in a run, and all.
    pub(super) fn wavefronts(&self, run: usize, access: &Access, judgement: &Judgement) -> (u64, u64) {
        self.runs[run].wavefronts(access, judgement)
    }
}

impl Run {
    fn of(run: &KernelRun) -> Run {
        let mut loops: Vec<Span> = Vec::new();
        for innermost in run.trace.accesses.iter().flat_map(Access::uncounted_loops) {
            if !loops.contains(&innermost) {
                loops.push(innermost);
            }
        }
        let mut found = Run { loops, all: Vec::new(), unknown: Vec::new() };
        for judgements in &run.judgements {
            let (mut all, mut unknown) = (0u64, 0);
            for (access, judgement) in run.trace.accesses.iter().zip(judgements) {
                // Another access speaks for it, or no counter of the hardware does.
                if !judgement.follows && !judgement.page_only {
                    all = all.saturating_add(found.own(access, judgement).1);
                    unknown += usize::from(judgement.totals.is_none());
                }
            }
            found.all.push(all);
            found.unknown.push(unknown);
        }
        found
    }

    /// The extra wavefronts of an access, and all, without those that another access speaks for.
    fn own(&self, access: &Access, judgement: &Judgement) -> (u64, u64) {
        let (extra, all) = self.wavefronts(access, judgement);
        let path = access.path(judgement.totals.map_or(0, |totals| totals.worst.path));
        judgement.again.iter().fold((extra, all), |(extra, all), it| {
            let weight = self.weight(it.innermost, path);
            (
                extra.saturating_sub(it.extra.saturating_mul(weight)),
                all.saturating_sub(it.all.saturating_mul(weight)),
            )
        })
    }

    /// The extra wavefronts of an access, and all.
    fn wavefronts(&self, access: &Access, judgement: &Judgement) -> (u64, u64) {
        let (mut requests, mut counted) = (0u64, 0u64);
        for pattern in &access.patterns {
            for (innermost, times) in &pattern.within {
                let weight = self.weight(*innermost, access.path(pattern.first.path));
                requests = requests.saturating_add(*times);
                counted = counted.saturating_add(times.saturating_mul(weight));
            }
        }
        let Some(totals) = judgement.totals else { return (0, counted) };
        // A loop whose counter the banks depend on is judged for several of its rounds.
        let rounds = match totals.requests.checked_div(requests) {
            Some(rounds) if rounds > 1 => rounds,
            _ => 1,
        };
        let ideal = totals.ideal.saturating_mul(counted).checked_div(requests.saturating_mul(rounds));
        let path = access.path(totals.worst.path);
        let extra = judgement
            .extra
            .iter()
            .map(|(innermost, extra)| extra.saturating_mul(self.weight(*innermost, path)) / rounds);
        let extra = extra.fold(0, u64::saturating_add);
        (extra, ideal.unwrap_or(totals.ideal).saturating_add(extra))
    }

    /// How often what is in an innermost loop of unknown length counts, reached by these calls.
    fn weight(&self, innermost: Option<Span>, path: &[Call]) -> u64 {
        let Some(innermost) = innermost else { return 1 };
        let holds = |outer: &Span, inner: Span| {
            outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end
        };
        let around =
            |outer: &&Span| holds(outer, innermost) || path.iter().any(|call| holds(outer, call.span));
        let depth = self.loops.iter().filter(around).count();
        ROUNDS.pow((depth as u32).min(DEEPEST))
    }
}
