//! ## What it does
//! Finds shared-memory accesses of 2 to 16 bytes at addresses that are not a multiple of that many bytes: vectors such
//! as `float4`, numbers such as `double` through a pointer of another type, asynchronous copies (`cp.async`,
//! `__pipeline_memcpy_async`), and rows of `ldmatrix` and `stmatrix`, which must begin at multiples of 16.
//!
//! ## Why is this bad
//! The hardware has no such access: the kernel stops with "misaligned address".
//!
//! ## Example
//! ```cuda,fires
//! __global__ void quads(float4 *out, const float *in) {
//!     __shared__ float s[260];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = *reinterpret_cast<float4 *>(&s[threadIdx.x]);
//! }
//!
//! void launch(float4 *out, const float *in) {
//!     quads<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void quads(float4 *out, const float *in) {
//!     __shared__ __align__(16) float s[1024];
//!     for (int i = threadIdx.x; i < 1024; i += 256) s[i] = in[i];
//!     __syncthreads();
//!     out[threadIdx.x] = *reinterpret_cast<float4 *>(&s[4 * threadIdx.x]);
//! }
//!
//! void launch(float4 *out, const float *in) {
//!     quads<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Limits
//! - On public code, each finding was read; memcheck on an H200 stops at the same threads.
//! - The block must be given by a launch or the user, and what all threads share must be known to be a multiple of
//!   the width.
//! - An array whose own alignment is less than the width may happen to lie at a suitable address. So only threads
//!   that cannot all be aligned are reported, not a missing `__align__`.
//! - Only what stays one access is checked: the compiler splits a struct of three floats, and packed members. In an
//!   array of structs, only vectors are checked. A `typedef` that lowers a vector's alignment is not seen.
//! - Bulk copies (`cp.async.bulk`, TMA) are not followed.
//! - There is no fix.

use super::{About, Case, Rule, access_words, fact, plural};
use crate::diagnostic::{Diagnostic, Level};
use crate::facts::Misaligned;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "misaligned-vector-access",
    about: About::Correctness,
    level: Level::Deny,
    summary: "a vector access of shared memory that is not aligned to its width",
    docs: include_str!("misaligned_vector_access.rs"),
};

/// Finds wide accesses that cannot be aligned: one finding for each site.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let describe = |number, misaligned: &Misaligned| describe(case, number, misaligned);
    fact::of_each_site(case, |facts| &facts.misaligned, |misaligned| misaligned.access, describe, out);
}

fn describe(case: &Case<'_>, number: usize, misaligned: &Misaligned) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let access = &trace.accesses[misaligned.access];
    let array = &trace.arrays[access.array];
    let (bytes, (thread, at), name) = (misaligned.multiple, misaligned.thread, &array.name);
    let (message, label) = match misaligned.other {
        None => (
            format!(
                "thread {thread} {} {bytes} bytes of `{name}` at byte {at}, which is not a multiple of \
                 {bytes}",
                fact::does(access)
            ),
            format!("byte {at} for thread {thread}"),
        ),
        Some((other, there)) => (
            format!(
                "threads {thread} and {other} each {} {bytes} bytes of `{name}`, {} apart: they cannot both \
                 be multiples of {bytes}",
                access_words(access.op).1,
                plural(there.abs_diff(at), "byte")
            ),
            format!("byte {at} for thread {thread}, {there} for thread {other}"),
        ),
    };
    Diagnostic {
        primary_label: label,
        labels: vec![(array.name_span, "declared here".to_owned())],
        ..fact::finding(&RULE, case, number, access, &misaligned.assumptions, message)
    }
}
