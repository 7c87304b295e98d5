//! ## What it does
//! Finds `extern __shared__` arrays of one kernel that are used as if they were separate: a write through one
//! overwrites the other before it is read.
//!
//! ## Why is this bad
//! All `extern __shared__` arrays of a kernel start at the first byte of the block's dynamic shared memory. A second
//! declaration is another name for these bytes, not a second array. (CUDA C++ Programming Guide, `__shared__`.)
//!
//! ## Example
//! ```cuda,fires
//! __global__ void weigh(float *out, const float *in, const int *index) {
//!     extern __shared__ float values[];
//!     extern __shared__ int places[];
//!     values[threadIdx.x] = in[threadIdx.x];
//!     places[threadIdx.x] = index[threadIdx.x];
//!     __syncthreads();
//!     out[places[threadIdx.x]] = values[255 - threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in, const int *index) {
//!     weigh<<<1, 256, 256 * 8>>>(out, in, index);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void weigh(float *out, const float *in, const int *index) {
//!     extern __shared__ float values[];
//!     int *places = (int *)&values[256];
//!     values[threadIdx.x] = in[threadIdx.x];
//!     places[threadIdx.x] = index[threadIdx.x];
//!     __syncthreads();
//!     out[places[threadIdx.x]] = values[255 - threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in, const int *index) {
//!     weigh<<<1, 256, 256 * 8>>>(out, in, index);
//! }
//! ```
//! Declare one array, and use pointers into it for the others.
//!
//! ## Limits
//! - This rule reports one pattern only: a byte is stored through one name, then stored through the other with no
//!   read in between, and then read through the first. Arrays that are used one after the other are fine, and so are
//!   two names of which one is a view of the other.
//! - All indices must be known numbers, the block must be given, and no loop may have an unknown bound.

use super::{About, Case, Rule, fact};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "aliased-extern-shared",
    about: About::Correctness,
    level: Level::Warn,
    summary: "two `extern __shared__` arrays that are used as if they were separate",
    docs: include_str!("aliased_extern_shared.rs"),
};

/// Finds such arrays: one finding for each that loses what was written to it.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        for lost in &run.facts.aliased {
            let access = |at: usize| &run.trace.accesses[at];
            let array = |at: usize| &run.trace.arrays[access(at).array];
            let (one, two) = (array(lost.store), array(lost.other));
            if told.contains(&one.name_span) {
                continue;
            }
            told.push(one.name_span);
            let message = format!(
                "`{}` and `{}` start at the same byte: writes to `{1}` overwrite `{0}` before it is read",
                one.name, two.name
            );
            let mut finding = fact::finding(&RULE, case, number, access(lost.other), &[], message);
            finding.primary_label = format!("this overwrites byte {}", lost.byte);
            finding.labels = vec![
                (access(lost.store).span, format!("byte {} is written here", lost.byte)),
                (access(lost.read).span, "and read here".to_owned()),
            ];
            finding.helps = vec![format!(
                "declare one array, and make `{}` a pointer past the elements of `{}`",
                two.name, one.name
            )];
            out.push(finding);
        }
    }
}
