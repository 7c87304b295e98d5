//! Which verdicts hold, whatever is not known?
//!
//! Runs a kernel for one scenario, and again for each value of what the scenario leaves open: the
//! residues of a number by which lanes are rotated, the size of an element type, other block shapes
//! that are as likely. A verdict that they do not share is none.

mod types;

use crate::banks::Target;
use crate::exec::entry::{Setting, run_kernel};
use crate::exec::value::Reason;
use crate::ir::Function;
use crate::ir::program::Program;
use crate::rules::{self, KernelRun};
use crate::scenario::Scenario;
use crate::source::Span;
use crate::trace::Trace;
use crate::verdict::{Judgement, Merges, Status, judge};
use std::sync::Arc;

/// The largest modulus of a run-time number whose residues are all tried.
const MOST_RESIDUES: i64 = 32;

/// Runs a scenario with some arrays padded; `probe` is the run of its own block without padding,
/// if it was made before.
#[must_use]
pub fn run_scenario(
    program: &Program,
    kernel: &Arc<Function>,
    scenario: &Scenario,
    targets: &[Target],
    pads: &[(Span, u64)],
    probe: Option<Trace>,
) -> KernelRun {
    let judged = |trace: Trace| -> Judged {
        let merges = Merges::of(&trace);
        let judge_all =
            |target| (0..trace.accesses.len()).map(|at| judge(&trace, &merges, at, target)).collect();
        let judgements = targets.iter().map(judge_all).collect();
        Judged { trace, judgements }
    };
    let run = |setting: &Setting| judged(run_kernel(program, kernel, setting));
    let mut setting = Setting { pads: pads.to_vec(), ..scenario.setting.clone() };
    let Judged { mut trace, mut judgements } = match probe {
        Some(trace) => judged(trace),
        None => run(&setting),
    };
    // A rotation by a run-time number: every residue is tried, and the verdict has to hold for all.
    if let [(name, modulus)] = trace.demands.as_slice()
        && *modulus <= MOST_RESIDUES
    {
        let (name, modulus) = (name.clone(), *modulus);
        let with = |residue| Setting { residues: vec![(name.clone(), modulus, residue)], ..setting.clone() };
        Judged { trace, judgements } = run(&with(0));
        for residue in 1..modulus {
            let Judged { trace: other, judgements: others } = run(&with(residue));
            for (mine, theirs) in judgements.iter_mut().zip(&others) {
                reconcile(
                    &trace,
                    mine,
                    &other,
                    theirs,
                    Reason::NotAffine,
                    &format!("it depends on `{name}` modulo {modulus}"),
                );
            }
        }
    } else if let Some(open) = types::OpenType::of(kernel, &setting, &trace) {
        let found = open.try_sizes(&setting, &run);
        (setting, Judged { trace, judgements }) = found;
    }
    for block in &scenario.alternatives {
        // Other shapes can only take a verdict back.
        if judgements.iter().flatten().all(|judgement: &Judgement| judgement.status == Status::Unknown) {
            break;
        }
        let Judged { trace: other, judgements: others } = run(&Setting { block: *block, ..setting.clone() });
        for (mine, theirs) in judgements.iter_mut().zip(&others) {
            reconcile(
                &trace,
                mine,
                &other,
                theirs,
                Reason::BlockShape,
                "it depends on the block shape, which no launch tells",
            );
        }
    }
    let assumption = rules::block_assumption(scenario.setting.block, scenario.block_from);
    for judgement in judgements.iter_mut().flatten() {
        if let (Some(text), true) = (&assumption, judgement.status != Status::Unknown) {
            judgement.status = judgement.status.resting_on_more();
            judgement.assumptions.insert(0, text.clone());
        }
    }
    KernelRun {
        kernel: scenario.name_of(kernel),
        block: scenario.setting.block,
        block_from: scenario.block_from,
        launch: scenario.launch,
        trace,
        judgements,
    }
}

/// One run and what the bank model says of it: by target, then by access.
#[derive(Debug)]
struct Judged {
    trace: Trace,
    judgements: Vec<Vec<Judgement>>,
}

/// A verdict that another run, just as likely, does not share is not known.
fn reconcile(
    trace: &Trace,
    mine: &mut [Judgement],
    other: &Trace,
    theirs: &[Judgement],
    kind: Reason,
    reason: &str,
) {
    for (access, judgement) in trace.accesses.iter().zip(mine) {
        let twin = other.accesses.iter().position(|o| {
            (o.span, o.op, o.bytes) == (access.span, access.op, access.bytes)
                && other.arrays[o.array].name_span == trace.arrays[access.array].name_span
        });
        let Some(twin) = twin.and_then(|at| theirs.get(at)) else { continue };
        if !judgement.agrees_with(twin) {
            *judgement = Judgement::unknown(kind, reason);
        }
    }
}
