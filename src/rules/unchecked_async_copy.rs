//! ## What it does
//! Finds reads of shared memory that an asynchronous copy (`__pipeline_memcpy_async`, `cp.async`) fills, if the read
//! may come before the copy has arrived:
//!
//! | | |
//! |---|---|
//! | the copying thread has not waited for its copy | warning |
//! | it has, but another thread reads, and no barrier follows the wait | warning |
//!
//! ## Why is this bad
//! An asynchronous copy continues while its thread does. The thread sees the data after `__pipeline_wait_prior(n)` or
//! `cp.async.wait_group n`, which wait for all groups of copies but the latest `n`, or after `cp.async.wait_all`. A
//! barrier alone does not wait for copies. Each thread waits only for its own copies: other threads may read the data
//! only after a barrier that follows the wait.
//!
//! ## Example
//! ```cuda,fires
//! #include <cuda_pipeline.h>
//!
//! __global__ void reverse(float *out, const float *in) {
//!     __shared__ float s[256];
//!     __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
//!     __pipeline_commit();
//!     __syncthreads();
//!     out[threadIdx.x] = s[255 - threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     reverse<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ```cuda,fires
//! #include <cuda_pipeline.h>
//!
//! __global__ void reverse(float *out, const float *in) {
//!     __shared__ float s[256];
//!     __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
//!     __pipeline_commit();
//!     __syncthreads();
//!     __pipeline_wait_prior(0);
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
//! #include <cuda_pipeline.h>
//!
//! __global__ void reverse(float *out, const float *in) {
//!     __shared__ float s[256];
//!     __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], 4);
//!     __pipeline_commit();
//!     __pipeline_wait_prior(0);
//!     __syncthreads();
//!     out[threadIdx.x] = s[255 - threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     reverse<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Limits
//! - Only copies and reads that surely happen are checked, in a block that a launch or the user gives, at places with
//!   a known distance.
//! - For a `cuda::pipeline` that `cuda::make_pipeline()` makes for each thread, stages are counted as they are
//!   committed, waited for and released. Copies into it count if each takes one instruction.
//! - Anything that may wait and is not followed counts as a wait: an unseen function, `mbarrier` and bulk copies, a
//!   `cuda::pipeline` shared by threads, other calls of `cuda::memcpy_async`, fences, and atomics whose result is
//!   used. So does a wait for an unknown number of groups.
//! - A read in a later iteration of a loop than the copy is not checked. For a loop that begins after the copy, the first
//!   iteration is.
//! - If there is no barrier at all between the two, and another thread reads, it is a `missing-barrier`.
//! - Reads by `ldmatrix`, `wmma` and further copies are not checked.

use super::{About, Case, Rule, fact};
use crate::diagnostic::{Diagnostic, Level};
use crate::facts::{EarlyRead, Lacks};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "unchecked-async-copy",
    about: About::Correctness,
    level: Level::Warn,
    summary: "a read of shared memory before an asynchronous copy into it is sure to have arrived",
    docs: include_str!("unchecked_async_copy.rs"),
};

/// Finds such reads: one finding for each copy.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let describe = |number, early: &EarlyRead| describe(case, number, early);
    fact::of_each_site(case, |facts| &facts.copies, |early| early.copy, describe, out);
}

fn describe(case: &Case<'_>, number: usize, early: &EarlyRead) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let (copy, read) = (&trace.accesses[early.copy], &trace.accesses[early.read]);
    let array = &trace.arrays[copy.array].name;
    let (copier, reader) = early.threads;
    let own = copier == reader;
    let whose = if own { "what it".to_owned() } else { format!("what thread {copier}") };
    let (message, help) = match early.lacks {
        Lacks::Wait => (
            format!(
                "`{array}`: thread {reader} reads {whose} copies asynchronously, with no wait for the copy \
                 in between"
            ),
            match own {
                true => "wait for the copy before the read: `__pipeline_wait_prior(0)`",
                false => {
                    "wait for the copy before the read, and then for the block: `__pipeline_wait_prior(0); \
                     __syncthreads();`"
                }
            },
        ),
        Lacks::Barrier => (
            format!(
                "`{array}`: thread {reader} reads {whose} copies asynchronously, with no barrier after the \
                 wait"
            ),
            "put the barrier after the wait",
        ),
    };
    let mut finding = fact::finding(&RULE, case, number, read, &early.assumptions, message);
    finding.primary_label = format!("thread {reader} reads it here");
    finding.labels = vec![(copy.span, format!("thread {copier} copies it here"))];
    if early.lacks == Lacks::Wait {
        let words = "a wait for all but the latest `n` groups covers neither these nor uncommitted copies";
        finding.notes.insert(0, words.to_owned());
    }
    finding.notes.splice(0..0, fact::sides_words(case, &early.sides));
    finding.helps = vec![help.to_owned()];
    finding
}
