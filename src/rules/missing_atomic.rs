//! ## What it does
//! Finds statements like `sum += x` or `++count` by which several threads change the same place of shared memory,
//! and that are no atomics.
//!
//! ## Why is this bad
//! The statement reads, computes and writes. Between the read and the write of one thread another may write,
//! and what it added is lost: of a count by 256 threads one or two remain.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void count(int *out, const int *in) {
//!     __shared__ int total;
//!     if (threadIdx.x == 0) total = 0;
//!     __syncthreads();
//!     total += in[threadIdx.x];
//!     __syncthreads();
//!     if (threadIdx.x == 0) *out = total;
//! }
//!
//! void launch(int *out, const int *in) {
//!     count<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void count(int *out, const int *in) {
//!     __shared__ int total;
//!     if (threadIdx.x == 0) total = 0;
//!     __syncthreads();
//!     atomicAdd(&total, in[threadIdx.x]);
//!     __syncthreads();
//!     if (threadIdx.x == 0) *out = total;
//! }
//!
//! void launch(int *out, const int *in) {
//!     count<<<1, 256>>>(out, in);
//! }
//! ```
//! A sum over the block is faster by shuffles within each warp and one atomic for each warp.
//!
//! ## Limits
//! - Only compound assignments, `++` and `--`; not `&=` and `|=`, which may do the same twice, and not
//!   `s[0] = s[0] + x`.
//! - Only in a block that a launch or the user gives, where the threads surely do it, at offsets that are known:
//!   a histogram whose bins data choose is not told.
//! - An H200's racecheck reports the same lines for its fixtures, and `|=` as well.
//! - Nothing is said of kernels with `volatile` and loops that may wait for what they read, but within a warp.

use super::{About, Case, Rule, fact};
use crate::diagnostic::{Diagnostic, Level};
use crate::facts::Race;
use crate::source::Span;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "missing-atomic",
    about: About::Correctness,
    level: Level::Warn,
    summary: "threads that change the same shared memory by a statement that is no atomic",
    docs: include_str!("missing_atomic.rs"),
};

/// Finds updates that lose others: one finding for each statement.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        for race in run.facts.races.iter().filter(|race| race.is_update) {
            let span = run.trace.accesses[race.second].span;
            if !told.contains(&span) {
                told.push(span);
                out.push(describe(case, number, race));
            }
        }
    }
}

fn describe(case: &Case<'_>, number: usize, race: &Race) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let access = &trace.accesses[race.second];
    let array = &trace.arrays[access.array];
    let (one, other) = (race.threads.0.min(race.threads.1), race.threads.0.max(race.threads.1));
    let message =
        format!("`{}`: threads {one} and {other} both change the same place, and not atomically", array.name);
    Diagnostic {
        primary_label: "what one of them adds here may be lost".to_owned(),
        labels: vec![(array.name_span, "declared here".to_owned())],
        hazard: fact::hazard(trace, race),
        helps: vec!["use an atomic such as `atomicAdd`, or let one thread do it for all".to_owned()],
        ..fact::finding(&RULE, case, number, access, &race.assumptions, message)
    }
}
