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
//! Threads that have left the kernel do not count. Several statements may use one barrier: then all that come to any of
//! them are held against the count, where it is known how often they do. Where some threads arrive without waiting,
//! nothing is said.

use super::RULE;
use crate::diagnostic::Diagnostic;
use crate::domain::ThreadSet;
use crate::events::{Barrier, Event, SplitKind};
use crate::rules::{Case, KernelRun};
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
        if is_unsure || !run.is_block_given() {
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
    let same: Vec<&Barrier> =
        run.trace.barriers.iter().filter(|it| it.number == barrier.number || it.number < 0).collect();
    let is_known = |it: &&Barrier| {
        let is_decided = it.splits.iter().all(|split| split.kind == SplitKind::Known);
        it.number >= 0 && it.count == Some(count) && it.doubt.is_none() && is_decided
    };
    if !same.iter().all(is_known) {
        return None;
    }
    let name = &barrier.name;
    if let [_] = same[..] {
        let come = come(run, &barrier.active);
        let fits = come % count == 0;
        return (!fits).then(|| format!("this `{name}` waits for {count} threads, but {come} reach it"));
    }
    let come = in_all(run, &same)?;
    let fits = come % count == 0 || same[0].span != barrier.span;
    (!fits).then(|| {
        let number = barrier.number;
        format!("this `{name}` waits for {count} threads, but {come} reach barrier {number} in all")
    })
}

/// How many threads of a set count at a barrier.
fn come(run: &KernelRun, threads: &ThreadSet) -> i64 {
    let warps = run.block.iter().map(|axis| *axis as usize).product::<usize>().div_ceil(32);
    (0..warps).filter(|warp| threads.warp(*warp) != 0).count() as i64 * WARP
}

/// How many come to some barriers in all, if it is known how often they do.
fn in_all(run: &KernelRun, barriers: &[&Barrier]) -> Option<i64> {
    let (mut all, mut depth) = (0i64, 0usize);
    for event in run.trace.tree.events() {
        match event {
            Event::Loop { .. } => depth += 1,
            Event::EndOfLoop { .. } => depth = depth.saturating_sub(1),
            Event::Barrier { span, threads, .. } if barriers.iter().any(|it| it.span == *span) => {
                if depth > 0 {
                    return None;
                }
                all = all.saturating_add(come(run, threads));
            }
            _ => {}
        }
    }
    Some(all)
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
