//! ## What it does
//! Finds barriers of the whole block (`__syncthreads()` and its kin) that only some of the
//! block's threads reach, because the barrier stands under a condition that differs between
//! threads.
//!
//! ## Why is this bad
//! CUDA allows `__syncthreads()` in conditional code only if the condition is the same for
//! all threads of the block. Otherwise the behaviour is undefined: the kernel hangs, or
//! threads are let through too early and read what has not been written yet.
//! Since Volta each thread is counted by itself, so code that happened to work on an
//! older device can hang on a newer one.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void reduce(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     if (threadIdx.x < 128) {
//!         s[threadIdx.x] += s[threadIdx.x + 128];
//!         __syncthreads();
//!     }
//!     out[threadIdx.x] = s[threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     reduce<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void reduce(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     if (threadIdx.x < 128) {
//!         s[threadIdx.x] += s[threadIdx.x + 128];
//!     }
//!     __syncthreads();
//!     out[threadIdx.x] = s[threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     reduce<<<1, 256>>>(out, in);
//! }
//! ```
//! Take the barrier out of the condition; guard only the work. Where a group of warps works
//! on its own, use a named barrier for these warps, or `__syncwarp()` within one.
//!
//! ## Limits
//! - A condition on values loaded from memory may be the same for the whole block or not:
//!   such barriers are not reported.
//! - A loop whose number of rounds may differ between the threads of a block, by a bound that is given
//!   at run time, is only a note: the bound may be a multiple of what the block takes in a round. So is
//!   a condition on far threads of a block that no launch tells.
//! - Threads past the end of the data (`if (i >= n) return;`) are taken to be absent, as in a
//!   block in the middle of the grid.
//! - Both branches of a condition that splits the block along whole warps may wait as often as
//!   each other: the hardware counts warps, so such pairs are not reported, although the CUDA
//!   guide does not allow them.
//! - Barriers of a part of the block (`bar.sync` with a count, `cuda::barrier`, cooperative
//!   groups smaller than a block) are not judged.
//! - No fix is written: which threads are meant to wait is not in the text.

use super::{Case, KernelRun, Rule, block_help, is_assumed, merged};
use crate::diagnostic::{Diagnostic, Level};
use crate::exec::lanes::{Bits, Shape};
use crate::explanation::{Explanation, Picture, WarpAtBarrier};
use crate::source::Span;
use crate::trace::{Barrier, Split, SplitKind};

/// The rule.
pub static RULE: Rule = Rule {
    id: "divergent-barrier",
    level: Level::Warn,
    summary: "a barrier of the whole block that only some of its threads reach",
    docs: include_str!("divergent_barrier.rs"),
};

/// Finds the barriers that not all threads reach: one finding per barrier.
pub fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<Span> = Vec::new();
    for (run, kernel) in case.runs.iter().enumerate() {
        let shape = Shape { dims: kernel.block };
        for barrier in &kernel.trace.barriers {
            if told.contains(&barrier.span) {
                continue;
            }
            let Some(split) = divided_by(barrier, &kernel.trace.barriers, shape) else { continue };
            told.push(barrier.span);
            out.push(describe(case, run, barrier, split, shape));
        }
    }
}

/// The condition because of which a barrier is a finding.
fn divided_by<'a>(barrier: &'a Barrier, all: &[Barrier], shape: Shape) -> Option<&'a Split> {
    dividing(barrier).filter(|split| !has_partner(barrier, split, all, shape))
}

/// Explains the barrier at a place of a run: the execution that is a finding, or else the first.
pub fn explain(case: &Case<'_>, run: usize, span: Span) -> Option<Explanation> {
    let kernel = &case.runs[run];
    let (shape, all) = (Shape { dims: kernel.block }, &kernel.trace.barriers);
    let here = || all.iter().filter(|barrier| barrier.span == span);
    let found = here().find_map(|barrier| Some((barrier, divided_by(barrier, all, shape)?)));
    let barrier = found.map(|(barrier, _)| barrier).or_else(|| here().next())?;
    let mut words = match found {
        Some((barrier, split)) => describe(case, run, barrier, split, shape),
        None => no_finding(case, run, barrier),
    };
    words.notes.insert(0, format!("in kernel `{}`", kernel.kernel));
    for split in &barrier.splits {
        let passes = |taken: u32| format!("{taken} of {} threads pass here", split.before.count());
        let text = match &split.kind {
            SplitKind::Known => passes(split.taken.count()),
            SplitKind::Guard(_) | SplitKind::Rounds(_) => {
                "who passes here depends on a bound given at run time".to_owned()
            }
            SplitKind::Data => "who passes here depends on data".to_owned(),
        };
        if words.labels.iter().all(|(known, _)| *known != split.span) {
            words.labels.push((split.span, text));
        }
    }
    let (exist, threads) = (Bits::all(shape), shape.threads());
    let warp = |warp: usize| WarpAtBarrier {
        exist: exist.warp(warp),
        expected: barrier.expected.warp(warp),
        reach: barrier.active.warp(warp),
    };
    let warps = (0..threads.div_ceil(32)).map(warp).collect();
    Some(Explanation { words, pictures: vec![Picture::Threads(warps)], run: case.run_words(run) })
}

/// What is said of a barrier that is no finding.
fn no_finding(case: &Case<'_>, run: usize, barrier: &Barrier) -> Diagnostic {
    let missing = barrier.expected.minus(&barrier.active);
    let data = barrier.splits.iter().any(|split| split.kind == SplitKind::Data);
    let mut labels = Vec::new();
    let message = match (&barrier.doubt, barrier.count) {
        (_, Some(count)) => format!("this `{}` is for {count} threads, which is not judged", barrier.name),
        (Some(doubt), None) => {
            labels.push((doubt.span, doubt.detail.to_string()));
            format!("whether all threads of the block reach this `{}` is not known", barrier.name)
        }
        (None, None) if missing.is_empty() => {
            format!("no divergence: all threads of the block reach this `{}`", barrier.name)
        }
        (None, None) if data => {
            format!("whether all threads of the block reach this `{}` depends on data", barrier.name)
        }
        (None, None) => format!(
            "no finding: the other branch waits as often as this `{}`, whole warps on either side",
            barrier.name
        ),
    };
    let mut notes = vec![case.block_words(run)];
    notes.extend(case.calls_words(run, &barrier.calls, &[]));
    Diagnostic {
        labels,
        notes,
        kernel: case.runs[run].kernel.clone(),
        ..Diagnostic::plain("", Level::Note, barrier.span, message)
    }
}

/// The condition that keeps threads from a barrier, when one is known to.
fn dividing(barrier: &Barrier) -> Option<&Split> {
    // A barrier with a thread count is for a part of the block.
    if barrier.doubt.is_some() || barrier.count.is_some() {
        return None;
    }
    let missing = barrier.expected.minus(&barrier.active);
    if missing.is_empty() {
        let of = |kind: fn(&SplitKind) -> bool| barrier.splits.iter().find(|split| kind(&split.kind));
        return of(|kind| matches!(kind, SplitKind::Guard(_)))
            .or_else(|| of(|kind| matches!(kind, SplitKind::Rounds(_))));
    }
    if barrier.splits.iter().any(|split| split.kind == SplitKind::Data) {
        return None;
    }
    // The outermost condition that a missing thread did not pass, or the innermost around.
    barrier
        .splits
        .iter()
        .filter(|split| split.kind == SplitKind::Known)
        .find(|split| !split.before.minus(&split.taken).and(&missing).is_empty())
        .or_else(|| barrier.splits.last())
}

/// Whether the other branch of the same condition waits as often, whole warps on either side: the
/// hardware counts warps, and both sides arrive at the same barrier.
fn has_partner(barrier: &Barrier, split: &Split, all: &[Barrier], shape: Shape) -> bool {
    if split.kind != SplitKind::Known || !split.taken.is_whole_warps(shape) {
        return false;
    }
    let of = |branch: bool| -> Vec<&Barrier> {
        let inside = |b: &&Barrier| b.splits.iter().any(|s| s.id == split.id && s.branch == branch);
        all.iter().filter(inside).collect()
    };
    let (own, other) = (of(split.branch), of(!split.branch));
    let Some(position) = own.iter().position(|b| std::ptr::eq(*b, barrier)) else { return false };
    let whole = |b: &Barrier| b.active.is_whole_warps(shape) && b.doubt.is_none();
    other.get(position).is_some_and(|partner| {
        let together: Bits = barrier.active.or(&partner.active);
        whole(barrier) && whole(partner) && barrier.expected.minus(&together).is_empty()
    })
}

/// Whether it is known that threads part there in a launch that there is or may be: a bounds check
/// expects threads beyond the bound, a loop's condition does not; and a block that is only assumed says
/// nothing of its far threads.
fn is_sure(kernel: &KernelRun, split: &Split, shape: Shape) -> bool {
    let given = !is_assumed(kernel.block_from);
    let [x, y, z] = shape.dims;
    // The neighbours of thread (0, 0, 0), which nearly any block has.
    let neighbours = [(x, 1), (y, x), (z, x.saturating_mul(y))];
    let first = split.taken.has(0);
    let near = || neighbours.iter().any(|(size, at)| *size > 1 && split.taken.has(*at as usize) != first);
    match split.kind {
        SplitKind::Guard(_) => true,
        SplitKind::Rounds(_) => false,
        SplitKind::Known | SplitKind::Data => given || near(),
    }
}

fn describe(case: &Case<'_>, run: usize, barrier: &Barrier, split: &Split, shape: Shape) -> Diagnostic {
    let kernel = &case.runs[run];
    let sure = is_sure(kernel, split, shape);
    let missing = barrier.expected.minus(&barrier.active);
    let (label, mut notes) = match &split.kind {
        SplitKind::Guard(inside) => (
            "near the bound some threads of a block pass here and others do not".to_string(),
            vec![match inside.as_str() {
                "" => "where the bound falls among the threads of one block, some of them do not get here"
                    .to_string(),
                inside => {
                    format!("safe only where {}: at the edge some threads do not get here", all_of(inside))
                }
            }],
        ),
        SplitKind::Rounds(inside) => (
            "near the bound some threads of a block have a round more than others".to_string(),
            vec![format!(
                "safe only if each round is run by all threads of a block or by none, as where {}",
                all_of(inside)
            )],
        ),
        _ => {
            let reaches = barrier.active.threads().next().map(|t| thread(t, shape));
            let stays = missing.threads().next().map(|t| thread(t, shape));
            let words = match (reaches, stays) {
                (Some(a), Some(b)) => format!("thread {a} reaches the barrier, thread {b} does not"),
                _ => "not all threads pass here".to_string(),
            };
            (words, Vec::new())
        }
    };
    if split.kind == SplitKind::Known {
        let (reach, of) = (barrier.active.count(), barrier.expected.count());
        let verb = if reach == 1 { "reaches" } else { "reach" };
        notes.push(format!("{reach} of {of} threads of the block {verb} it"));
    }
    notes.push(case.block_words(run));
    notes.extend(case.calls_words(run, &barrier.calls, &[]));
    let help = match split.of_rounds {
        true => {
            "let all threads of the block run the same number of rounds: round the bound up, and guard only the work"
        }
        false => {
            "let every thread of the block reach it: take it out of the condition, and guard only the work"
        }
    };
    let mut helps = vec![help.to_owned()];
    helps.extend(block_help(kernel.block_from));
    let name = &barrier.name;
    let message = match (sure, &split.kind) {
        // Other blocks are whole.
        (true, SplitKind::Guard(_)) => {
            format!("divergent barrier: in a block at the edge not all threads reach this `{name}`")
        }
        (true, _) => format!("divergent barrier: not all threads of the block reach this `{name}`"),
        (false, _) => {
            format!("possibly divergent barrier: not all threads of the block may reach this `{name}`")
        }
    };
    Diagnostic {
        rule: RULE.id,
        level: if sure { RULE.level } else { Level::Note },
        message,
        primary: barrier.span,
        primary_label: String::new(),
        labels: vec![(split.span, label)],
        notes,
        helps,
        fix: None,
        kernel: kernel.kernel.clone(),
    }
}

/// The parts of what is assumed, as one clause.
fn all_of(inside: &str) -> String {
    let parts: Vec<String> = inside.split("; ").map(str::to_owned).collect();
    merged(&parts).join(" and ")
}

fn thread(linear: usize, shape: Shape) -> String {
    let [x, y, z] = shape.coordinates(linear);
    format!("({x}, {y}, {z})")
}
