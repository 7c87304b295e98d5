//! ## What it does
//! Finds launches that pass no dynamic shared memory to a kernel that reads or writes an `extern __shared__` array.
//!
//! ## Why is this bad
//! The array has no bytes: the kernel reads and writes memory of other arrays of the block or of nobody, or it stops.
//! The number of bytes is the third launch argument; if it is omitted, it is 0.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void reverse(float *out, const float *in) {
//!     extern __shared__ float s[];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[255 - threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     reverse<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void reverse(float *out, const float *in) {
//!     extern __shared__ float s[];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[255 - threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     reverse<<<1, 256, 256 * sizeof(float)>>>(out, in);
//! }
//! ```
//!
//! ## Limits
//! - Some thread must surely reach the array, whatever the run-time values are.
//! - Of several launches with the same block and template arguments that pass none, the first is reported.
//! - `shared-out-of-bounds` covers launches that pass some bytes, but too few.

use super::{About, Case, Rule, fact};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "missing-dynamic-shared-size",
    about: About::Correctness,
    level: Level::Deny,
    summary: "a launch that passes no dynamic shared memory to a kernel that uses it",
    docs: include_str!("missing_dynamic_shared_size.rs"),
};

/// Finds such launches: one finding for each.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        let Some(launch) = run.no_dynamic else { continue };
        let Some(first) = run.facts.without_bytes.first() else { continue };
        if told.contains(&launch) {
            continue;
        }
        told.push(launch);
        let access = &run.trace.accesses[first.access];
        let array = &run.trace.arrays[access.array].name;
        let message =
            format!("this launch passes no dynamic shared memory, but `{}` uses `{array}`", run.kernel);
        let finding = fact::finding(&RULE, case, number, access, &first.assumptions, message);
        out.push(Diagnostic {
            primary: launch,
            labels: vec![(access.span, format!("thread {} {} it here", first.thread, fact::does(access)))],
            helps: vec![
                "pass the number of bytes after grid and block: `<<<grid, block, bytes>>>`".to_owned(),
            ],
            ..finding
        });
    }
}
