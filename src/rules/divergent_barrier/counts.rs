//! Do as many threads come to a barrier as it waits for?
//!
//! A barrier with a count opens when so many threads have come. They are counted by warps: a warp of which one thread
//! comes counts as 32. (PTX ISA, `barrier`.) Example, of 96 threads at `bar.sync 1, 64`:
//!
//! ```text
//! warps 0 and 1      64: they go on
//! warp 2             32: it waits for another, and the kernel hangs
//! ```
//!
//! Threads that have left the kernel do not count. Several statements may use one barrier, and some threads may arrive without waiting; only where a single
//! statement does is its count held against what comes.

use super::RULE;
use crate::diagnostic::Diagnostic;
use crate::events::{Barrier, Event, SplitKind};
use crate::rules::{Case, KernelRun, is_assumed};
use crate::source::Span;

/// Threads of a warp.
const WARP: i64 = 32;

/// Finds such barriers: one finding for each.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        let events = || run.trace.tree.events().iter();
        let is_unsure = run.trace.stopped.is_some()
            || run.trace.tree.is_cut()
            || events().next().is_none()
            || events().any(|event| is_open(run, event));
        if is_unsure || is_assumed(run.block_from) {
            continue;
        }
        for barrier in &run.trace.barriers {
            if let Some(message) = mismatch(run, barrier)
                && !told.contains(&barrier.span)
            {
                told.push(barrier.span);
                out.push(describe(case, number, barrier, message));
            }
        }
    }
}

/// Whether something is not followed that may come to a barrier, and is not that barrier itself.
fn is_open(run: &KernelRun, event: &Event) -> bool {
    let is_barrier = |span: Span| run.trace.barriers.iter().any(|it| it.span == span);
    matches!(event, Event::MayOrder { span, .. } if !is_barrier(*span))
}

/// What does not fit, if something does not.
fn mismatch(run: &KernelRun, barrier: &Barrier) -> Option<String> {
    // The assembler takes no other number.
    let count = barrier.count.filter(|count| *count > 0 && *count % WARP == 0)?;
    let same = |it: &Barrier| it.number == barrier.number || it.number < 0;
    let alone = run.trace.barriers.iter().filter(|it| same(it)).count() == 1;
    if !alone || barrier.number < 0 || barrier.doubt.is_some() {
        return None;
    }
    let name = &barrier.name;
    let warps = run.block.iter().map(|axis| *axis as usize).product::<usize>().div_ceil(32);
    let come = (0..warps).filter(|warp| barrier.active.warp(*warp) != 0).count() as i64 * WARP;
    let is_decided = barrier.splits.iter().all(|split| split.kind == SplitKind::Known);
    let fits = come == 0 || come % count == 0 || !is_decided;
    (!fits).then(|| format!("this `{name}` waits for {count} threads, but {come} reach it"))
}

fn describe(case: &Case<'_>, number: usize, barrier: &Barrier, message: String) -> Diagnostic {
    let mut notes = vec![
        "a warp counts as 32 threads as soon as one of them arrives".to_owned(),
        "the remaining threads wait for others that never arrive: the kernel may hang".to_owned(),
    ];
    notes.push(case.block_words(number));
    notes.extend(case.calls_words(number, &barrier.calls, &[]));
    let split = barrier.splits.last().map(|split| (split.span, super::words::passes(split)));
    Diagnostic {
        labels: split.into_iter().collect(),
        notes,
        helps: vec!["set the count to the number of threads that reach it".to_owned()],
        kernel: case.runs[number].kernel.clone(),
        ..Diagnostic::plain(RULE.id, RULE.level, barrier.span, message)
    }
}
