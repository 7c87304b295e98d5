//! ## What it does
//! Finds barriers of the block that order nothing: of all accesses before such a barrier and all after it, as far as
//! other barriers do not keep them apart, either both read or no two threads touch one byte. All that are told of in a
//! kernel may be removed together. Not reported unless asked for: `-W redundant-barrier`, or
//! `redundant-barrier = "warn"` under `[levels]` in `cudalint.toml`.
//!
//! ## Why is this bad
//! At a barrier all warps wait for the slowest, and no load goes ahead of it. In a loop over tiles one barrier too many
//! takes a few per cent to some tens of per cent.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void sums(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
//!     __syncthreads();
//!     for (int half = 128; half > 0; half /= 2) {
//!         if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
//!         __syncthreads();
//!     }
//!     if (threadIdx.x == 0) out[blockIdx.x] = s[0];
//!     __syncthreads();
//! }
//!
//! void launch(float *out, const float *in) {
//!     sums<<<64, 256>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void sums(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[blockIdx.x * 256 + threadIdx.x];
//!     __syncthreads();
//!     for (int half = 128; half > 0; half /= 2) {
//!         if (threadIdx.x < half) s[threadIdx.x] += s[threadIdx.x + half];
//!         __syncthreads();
//!     }
//!     if (threadIdx.x == 0) out[blockIdx.x] = s[0];
//! }
//!
//! void launch(float *out, const float *in) {
//!     sums<<<64, 256>>>(out, in);
//! }
//! ```
//!
//! ## Limits
//! - Nothing is told of a kernel with `#if` or `#ifdef` in its text, which other builds may see otherwise, nor of one that
//!   prints, reads a clock, or asks `__activemask()`.
//! - What is told is proved for all blocks that launches or the user give and all instances that are run, for lanes of
//!   one warp as for warps: without the barriers, no threads race for shared memory. A kernel is left out of which no
//!   launch is found or the block of one is not known, that is not followed to its end, or of which it is not proved
//!   that its threads do not race as it is. Only a barrier behind which no memory is accessed needs no proof.
//! - Only `__syncthreads()` and `sync()` of the block, written in the body of a kernel in a source file, and to which
//!   all threads come. Who else uses a header is not seen. Barriers in functions that kernels call, and
//!   `__syncwarp()`, are left out: they may be needed elsewhere, or to bring lanes together.
//! - Global memory counts, too. Two parameters of the kernel may lead to the same memory unless both have
//!   `__restrict__`; what is reached by a pointer from memory may be anything.
//! - Where the kernel calls what is not seen, has a fence, uses what an atomic or an instruction of inline assembly
//!   gives, or waits in any other way, only a barrier behind which no memory is accessed is told of. Where something is
//!   `volatile`, a clock is read, text is printed or a kernel launched, none is, nor beside named barriers and those of
//!   the grid.
//! - Whether a barrier is there to keep warps in step, so that they share a cache, cannot be seen. So only
//!   `--unsafe-fixes` removes it.
//! - Each kernel with barriers is run once more for this rule.

use super::{About, Case, KernelRun, Rule};
use crate::diagnostic::{Basis, Diagnostic, Fix, Level};
use crate::facts::NeedlessBarrier;
use crate::source::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "redundant-barrier",
    about: About::Performance,
    level: Level::Allow,
    summary: "barriers that can be removed: no thread touches what another one writes on the other side",
    docs: include_str!("redundant_barrier.rs"),
};

/// Finds barriers that are needless in all runs of the kernel: a finding for each.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let told: Option<Vec<_>> = case.runs.iter().map(|run| run.facts.needless.as_ref()).collect();
    let Some(told) = told else { return };
    let is_needed = |span: Span| told.iter().any(|needless| needless.needed.contains(&span));
    let mut found: Vec<(usize, &NeedlessBarrier)> = Vec::new();
    for (number, needless) in told.iter().enumerate() {
        for barrier in needless.barriers.iter().filter(|it| !is_needed(it.span)) {
            let is_known = found.iter().any(|(_, known)| known.span == barrier.span);
            if !is_known && says_barrier(&(case.text)(barrier.span)) {
                found.push((number, barrier));
            }
        }
    }
    found.sort_unstable_by_key(|(_, barrier)| barrier.span);
    out.extend(found.iter().map(|(number, barrier)| describe(case, *number, barrier, &found)));
}

/// Whether a text is a call of the barrier itself, not of a macro that may do more.
fn says_barrier(text: &str) -> bool {
    text.starts_with("__syncthreads") || text.contains("sync(")
}

fn describe(
    case: &Case<'_>,
    number: usize,
    barrier: &NeedlessBarrier,
    all: &[(usize, &NeedlessBarrier)],
) -> Diagnostic {
    let NeedlessBarrier { span, before, after, is_last } = *barrier;
    let call = (case.text)(span);
    let why = match is_last {
        true => "no thread accesses memory after it",
        false => "no thread touches what another one writes on the other side of it",
    };
    let mut labels = Vec::new();
    if !is_last {
        labels.extend(before.map(|it| (it, "the nearest barrier before it that stays".to_owned())));
        let round = |it: Span| if it.start < span.start { ", in the next round" } else { "" };
        let words = |it: Span| format!("the nearest barrier after it that stays{}", round(it));
        labels.extend(after.filter(|it| before != Some(*it)).map(|it| (it, words(it))));
    }
    let KernelRun { kernel, facts, .. } = &case.runs[number];
    let mut notes = vec![case.block_words(number)];
    if case.runs.len() > 1 {
        notes.push(format!("the same holds for all {} ways in which the kernel is run", case.runs.len()));
    }
    let others: Vec<String> =
        all.iter().filter(|(_, it)| it.span != span).map(|(_, it)| (case.place)(it.span)).collect();
    if !others.is_empty() {
        notes.push(format!("it can go together with {}", super::listed(&others)));
    }
    let assumptions = facts.needless.iter().flat_map(|needless| &needless.assumptions);
    notes.extend(assumptions.map(|assumed| format!("assumed: {assumed}")));
    let title = format!("remove `{call};`");
    let doubt = "only you can tell whether it keeps warps in step for another reason, as to share a cache";
    let fix = (case.removal)(span).map(|edit| Fix {
        title: title.clone(),
        edits: vec![edit],
        basis: Basis::Judgement(doubt.to_owned()),
        leaves: false,
    });
    let what = match &fix {
        Some(_) => title,
        None => format!("take `{call}` out, and leave an empty statement where one is needed"),
    };
    Diagnostic {
        labels,
        notes,
        helps: vec![format!("{what}, unless it keeps warps in step for another reason")],
        fix,
        kernel: kernel.clone(),
        ..Diagnostic::plain(RULE.id, RULE.level, span, format!("`{call}` is not needed: {why}"))
    }
}
