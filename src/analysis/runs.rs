//! In which ways is a kernel run, and what do its runs say together?
//!
//! One run for each scenario. A scenario of which something is not known is run in several
//! variants, and a verdict that they do not share is not a verdict.

use crate::banks::Target;
use crate::exec::entry::{Setting, run_kernel};
use crate::exec::value::{Reason, Unknown};
use crate::ir::Function;
use crate::ir::program::Program;
use crate::rules::{self, KernelRun};
use crate::scenario::{Probes, Scenario};
use crate::source::Span;
use crate::trace::{Access, LaunchArg, Trace};
use crate::verdict::{Judgement, Merges, Status, judge};
use std::sync::Arc;

/// Scenarios of one kernel that may run out of budget.
const MOST_STOPPED: usize = 4;

/// The largest modulus of a run-time number whose residues are all tried.
const MOST_RESIDUES: i64 = 32;

/// What a scenario leaves open: a block shape, and what a run-time number is modulo another.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    /// Threads in x, y and z.
    pub block: [u32; 3],
    /// As in [`Setting::residues`].
    pub residues: Vec<(String, i64, i64)>,
}

/// A kernel, in its scenarios.
#[derive(Clone, Copy)]
pub struct Subject<'a> {
    /// The program it belongs to.
    pub program: &'a Program,
    /// The kernel, or a device function that is run like one.
    pub kernel: &'a Arc<Function>,
    /// The ways to run it.
    pub scenarios: &'a [Scenario],
    /// The targets to judge it for.
    pub targets: &'a [Target],
}

impl Subject<'_> {
    /// Runs all scenarios; `probes` are runs that were made before.
    #[must_use]
    pub fn run_all(&self, mut probes: Probes) -> Vec<KernelRun> {
        let mut runs: Vec<KernelRun> = Vec::new();
        for scenario in self.scenarios {
            // A kernel too long to be run is too long in every variant: a few say so.
            if runs.iter().filter(|run| run.trace.stopped.is_some()).count() >= MOST_STOPPED {
                runs.push(self.judged(scenario, &mut |_| not_run(self.kernel, &runs)));
                continue;
            }
            let at = probes.iter().position(|(setting, _)| *setting == scenario.setting);
            let mut probe = at.map(|at| probes.swap_remove(at).1);
            let run = self.judged(scenario, &mut |variant| {
                let plain = variant.block == scenario.setting.block && variant.residues.is_empty();
                let known = if plain { probe.take() } else { None };
                known.unwrap_or_else(|| self.run(scenario, variant, &[]))
            });
            runs.push(run);
        }
        runs
    }

    /// Runs one variant of a scenario with some arrays padded.
    #[must_use]
    pub fn run(&self, scenario: &Scenario, variant: &Variant, pads: &[(Span, u64)]) -> Trace {
        let Variant { block, residues } = variant.clone();
        let setting = Setting { block, residues, pads: pads.to_vec(), ..scenario.setting.clone() };
        run_kernel(self.program, self.kernel, &setting)
    }

    /// What the bank model says of a scenario, with `tracer` to run its variants.
    #[must_use]
    pub fn judged(&self, scenario: &Scenario, tracer: &mut dyn FnMut(&Variant) -> Trace) -> KernelRun {
        let mut run = |block: [u32; 3], residues| -> (Trace, Vec<Vec<Judgement>>) {
            let trace = tracer(&Variant { block, residues });
            let merges = Merges::of(&trace);
            let judge_all =
                |target| (0..trace.accesses.len()).map(|at| judge(&trace, &merges, at, target)).collect();
            let judgements = self.targets.iter().map(judge_all).collect();
            (trace, judgements)
        };
        let (mut trace, mut judgements) = run(scenario.setting.block, Vec::new());
        // A rotation by a run-time number: every residue is tried, and the verdict has to hold for all.
        if let [(name, modulus)] = trace.demands.as_slice()
            && *modulus <= MOST_RESIDUES
        {
            let (name, modulus) = (name.clone(), *modulus);
            let with = |residue| vec![(name.clone(), modulus, residue)];
            (trace, judgements) = run(scenario.setting.block, with(0));
            for residue in 1..modulus {
                let other = run(scenario.setting.block, with(residue));
                let reason = format!("it depends on `{name}` modulo {modulus}");
                reconcile(&trace, &mut judgements, &other, Reason::NotAffine, &reason);
            }
        }
        for block in &scenario.alternatives {
            // Other shapes can only take a verdict back.
            if judgements.iter().flatten().all(|judgement: &Judgement| judgement.totals.is_none()) {
                break;
            }
            let other = run(*block, Vec::new());
            let reason = "it depends on the block shape, which no launch tells";
            reconcile(&trace, &mut judgements, &other, Reason::BlockShape, reason);
        }
        let assumption = rules::block_assumption(scenario.setting.block, scenario.block_from);
        for judgement in judgements.iter_mut().flatten() {
            if let (Some(text), Status::Exact | Status::Assumed) = (&assumption, judgement.status) {
                judgement.status = Status::Assumed;
                judgement.assumptions.insert(0, text.clone());
            }
        }
        KernelRun {
            kernel: kernel_name(self.kernel, scenario),
            block: scenario.setting.block,
            block_from: scenario.block_from,
            launch: scenario.launch,
            trace,
            judgements,
        }
    }
}

/// The trace of a scenario that is not run: the sites of the others, of which it knows nothing.
fn not_run(kernel: &Function, runs: &[KernelRun]) -> Trace {
    let reason =
        format!("this variant is not run: {MOST_STOPPED} others of the kernel are too long to follow");
    let stopped = Some(Unknown::new(Reason::Budget, kernel.name_span, reason));
    let mut all = Trace { stopped, ..Trace::default() };
    for trace in runs.iter().map(|run| &run.trace) {
        for access in &trace.accesses {
            let array = &trace.arrays[access.array];
            let known = all.arrays.iter().position(|other| other.name_span == array.name_span);
            let array = known.unwrap_or_else(|| {
                all.arrays.push(array.clone());
                all.arrays.len() - 1
            });
            let site = |a: &Access| {
                (a.span, a.op, a.bytes, a.array) == (access.span, access.op, access.bytes, array)
            };
            if !all.accesses.iter().any(site) {
                all.accesses.push(Access {
                    array,
                    occurrences: 0,
                    patterns: Vec::new(),
                    outside: false,
                    unknown: None,
                    doubt: None,
                    assumptions: Vec::new(),
                    ..access.clone()
                });
            }
        }
    }
    all
}

/// A verdict that another run, just as likely, does not share is not known.
fn reconcile(
    trace: &Trace,
    judgements: &mut [Vec<Judgement>],
    (other, theirs): &(Trace, Vec<Vec<Judgement>>),
    kind: Reason,
    reason: &str,
) {
    let conflicts = |j: &Judgement| j.totals.map(|t| t.wavefronts > t.ideal);
    for (number, access) in trace.accesses.iter().enumerate() {
        let twin = other.accesses.iter().position(|o| {
            (o.span, o.op, o.bytes) == (access.span, access.op, access.bytes)
                && other.arrays[o.array].name_span == trace.arrays[access.array].name_span
        });
        let Some(twin) = twin else { continue };
        for (mine, theirs) in judgements.iter_mut().zip(theirs) {
            let (Some(mine), Some(twin)) = (mine.get_mut(number), theirs.get(twin)) else { continue };
            if mine.totals.is_some() && conflicts(mine) != conflicts(twin) {
                *mine = Judgement::unknown(kind, reason);
            }
        }
    }
}

fn kernel_name(kernel: &Function, scenario: &Scenario) -> String {
    let known = |arg: &LaunchArg| *arg != LaunchArg::Unknown;
    if !scenario.setting.template_args.iter().any(known) {
        return kernel.name.to_string();
    }
    let args: Vec<String> = scenario
        .setting
        .template_args
        .iter()
        .map(|arg| match arg {
            LaunchArg::Value(value) => value.to_string(),
            LaunchArg::Type(ty) => crate::ir::print::ty(ty),
            LaunchArg::Unknown => "?".to_string(),
        })
        .collect();
    format!("{}<{}>", kernel.name, args.join(", "))
}

#[cfg(test)]
mod tests;
