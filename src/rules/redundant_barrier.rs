//! ## What it does
//! Finds block barriers that order nothing: of all accesses before and after such a barrier, as far as other barriers
//! do not separate them, either both read or no two threads touch the same byte. All the barriers reported in a
//! kernel can be removed together. This rule is off by default: turn it on with `-W redundant-barrier`, or with
//! `redundant-barrier = "warn"` under `[levels]` in `cudalint.toml`.
//!
//! ## Why is this bad
//! At a barrier, all warps wait for the slowest, and no load moves ahead of it. In a loop over tiles, one barrier too
//! many costs from a few to some tens of per cent.
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
//! - Kernels with `#if` or `#ifdef` in their text are left out, because other builds may see something else. So are
//!   kernels that print, read a clock, or call `__activemask()`.
//! - A finding is proved for all blocks that launches or the user give and for all instances that are run, between
//!   lanes of one warp as well as between warps: without the barriers, no threads race for shared memory. A kernel is
//!   left out if no launch is found, if the block of a launch is unknown, if it is not followed to its end, or if it
//!   is not proved race-free as it is. Only a barrier with no memory access after it needs no proof.
//! - A finding holds for any values of the kernel's integer arguments, whatever today's launches pass.
//! - Only `__syncthreads()` and `sync()` of the block are reported, in the body of a kernel in a source file, and
//!   only if all threads reach them. Headers are left out, because their other users are not seen. Barriers in
//!   functions that kernels call, and `__syncwarp()`, are left out, because they may be needed elsewhere, or to
//!   reconverge lanes.
//! - Global memory counts too. Two parameters of the kernel may point to the same memory unless both are
//!   `__restrict__`; a pointer loaded from memory may point anywhere.
//! - If the kernel calls unseen code, has a fence, uses the result of an atomic or of inline assembly, or waits in
//!   any other way, only a barrier with no memory access after it is reported. If something is `volatile`, a clock is
//!   read, text is printed or a kernel is launched, none is reported; nor is any beside named or grid barriers, or
//!   in a kernel that makes a `cuda::barrier`.
//! - In a kernel that calls `cub::BlockScan` and others of a library, only a barrier with no memory access after it is
//!   reported: what the library does to its own storage may change.
//! - `cudalint` cannot see whether a barrier keeps warps in step so that they share a cache. So only `--unsafe-fixes`
//!   removes it.
//! - This rule runs each kernel with barriers once more.

use super::{About, Case, KernelRun, Rule};
use crate::diagnostic::{Basis, Diagnostic, Fix, Level};
use crate::facts::NeedlessBarrier;
use crate::source::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "redundant-barrier",
    about: About::Performance,
    level: Level::Allow,
    summary: "a barrier that can be removed: no thread touches what another writes on the other side",
    docs: include_str!("redundant_barrier.rs"),
};

/// Barriers that go with one and are named by their lines.
const MOST_NAMED: usize = 5;

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
        false => "no thread touches what another writes on its other side",
    };
    let mut labels = Vec::new();
    if !is_last {
        labels.extend(before.map(|it| (it, "the previous barrier that stays".to_owned())));
        let round = |it: Span| if it.start < span.start { ", in the next iteration" } else { "" };
        let words = |it: Span| format!("the next barrier that stays{}", round(it));
        labels.extend(after.filter(|it| before != Some(*it)).map(|it| (it, words(it))));
    }
    let KernelRun { kernel, facts, .. } = &case.runs[number];
    let mut notes = vec![case.block_words(number)];
    if case.runs.len() > 1 {
        notes.push(format!("this holds for all {} ways in which the kernel runs", case.runs.len()));
    }
    let others: Vec<Span> = all.iter().map(|(_, it)| it.span).filter(|it| *it != span).collect();
    if !others.is_empty() {
        let (named, rest) = others.split_at(MOST_NAMED.min(others.len()));
        let mut words: Vec<String> = named.iter().map(|it| (case.line)(*it)).collect();
        words.extend((!rest.is_empty()).then(|| format!("{} more", rest.len())));
        let which = if others.len() == 1 { "the one" } else { "those" };
        notes.push(format!("it can be removed together with {which} on {}", super::listed(&words)));
    }
    let assumptions = facts.needless.iter().flat_map(|needless| &needless.assumptions);
    notes.extend(assumptions.map(|assumed| format!("assumed: {assumed}")));
    let title = format!("remove `{call};`");
    let doubt = "only you know whether it keeps warps in step for another reason, such as sharing a cache";
    let fix = (case.removal)(span).map(|edit| Fix {
        title: title.clone(),
        edits: vec![edit],
        basis: Basis::Judgement(doubt.to_owned()),
        leaves: false,
    });
    let what = match &fix {
        Some(_) => title,
        None => format!("remove `{call}`, and leave an empty statement where one is needed"),
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
