//! ## What it does
//! Finds launches with more threads per block than a block can have, or than the kernel's `__launch_bounds__` allows.
//!
//! ## Why is this bad
//! The kernel does not run. The launch fails with an error that is easy to miss, and the results are those of before.
//! A block has at most 1,024 threads, at most 1,024 along x and y and 64 along z. With `__launch_bounds__(n)`, the
//! compiler may use so many registers that a block of more than `n` threads does not fit.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void __launch_bounds__(128) sum(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[255 - threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     sum<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ```cuda,fires
//! __global__ void fill(float *out) {
//!     __shared__ float s[32];
//!     s[threadIdx.x % 32] = 0.0f;
//!     __syncthreads();
//!     out[threadIdx.x] = s[threadIdx.x % 32];
//! }
//!
//! void launch(float *out) {
//!     dim3 block(64, 32);
//!     fill<<<1, block>>>(out);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void __launch_bounds__(256) sum(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[255 - threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     sum<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Limits
//! - The numbers must be known on every path by which host code reaches the launch, and the launch must surely mean
//!   this kernel.
//! - If host code limits the block by `min`, and only that limit is known, the finding is a note: fewer threads may be
//!   all that there ever are.
//! - Only launches of kernels with shared memory, or with a barrier of the block or warp, are followed; with
//!   `global-race`, all are.
//! - A launch is left out if it depends on a comparison of its threads with an unknown value, such as the limit that the
//!   device reports.
//! - The limits are those of the CUDA C++ Programming Guide. HIP is not checked.

use super::{About, Case, Rule, launches, plural};
use crate::diagnostic::{Diagnostic, Level};
use crate::events::LaunchSite;
use crate::source::Span;

/// Most threads of a block, in all and along x, y and z. (CUDA C++ Programming Guide, technical specifications.)
const MOST: u64 = 1024;
const MOST_ALONG: [u64; 3] = [1024, 1024, 64];

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "launch-bounds-exceeded",
    about: About::Correctness,
    level: Level::Deny,
    summary: "a launch with more threads per block than the device or `__launch_bounds__` allows",
    docs: include_str!("launch_bounds_exceeded.rs"),
};

/// What a block has too much of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Excess {
    /// Threads along a dimension: which, how many.
    Along(usize, u64),
    /// Threads, for any kernel.
    Threads(u64),
    /// Threads, for this kernel: how many, how many there may be, where that stands.
    Bound(u64, u64, Span),
}

/// Finds such launches: one finding for each.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    for (span, ways) in launches::sites(case) {
        let excesses: Option<Vec<Excess>> = ways.iter().map(|launch| excess(case, launch)).collect();
        if let Some(excess) = excesses.and_then(|all| all.first().copied()) {
            let is_at_limit = ways.iter().any(|launch| launch.is_at_limit);
            out.push(describe(case, span, excess, is_at_limit));
        }
    }
}

fn excess(case: &Case<'_>, launch: &LaunchSite) -> Option<Excess> {
    let axis = |number: Option<i64>| u64::try_from(number?).ok();
    let along = launch.block.iter().zip(MOST_ALONG).position(|(own, most)| axis(*own) > Some(most));
    if let Some(at) = along {
        return Some(Excess::Along(at, axis(launch.block[at])?));
    }
    let threads = launch.block.iter().try_fold(1u64, |all, own| all.checked_mul(axis(*own)?))?;
    if threads > MOST {
        return Some(Excess::Threads(threads));
    }
    let (most, place) = (case.bound)(launch)?;
    (most > 0 && threads > most).then_some(Excess::Bound(threads, most, place))
}

/// `is_at_limit`: host code limits the block by `min`, and that many threads are only the most that it may have.
fn describe(case: &Case<'_>, span: Span, excess: Excess, is_at_limit: bool) -> Diagnostic {
    let kernel = launches::name(case);
    let mut labels = Vec::new();
    let has = if is_at_limit { "may have up to" } else { "has" };
    let message = match excess {
        Excess::Along(at, own) => {
            let (axis, most) = (["x", "y", "z"][at], MOST_ALONG[at]);
            format!("a block of `{kernel}` {has} {own} threads along {axis}; the limit is {most}")
        }
        Excess::Threads(own) => {
            format!("a block of `{kernel}` {has} {own} threads; the limit is {MOST}")
        }
        Excess::Bound(own, most, place) => {
            labels.push((place, "the kernel is compiled for this limit".to_owned()));
            let most = plural(most, "thread");
            format!("a block of `{kernel}` {has} {own} threads; its `__launch_bounds__` allow {most}")
        }
    };
    let (level, note) = match is_at_limit {
        true => (Level::Note, "a launch with more fails, and the kernel does not run"),
        false => (RULE.level, "the launch fails, and the kernel does not run"),
    };
    Diagnostic {
        labels,
        notes: vec![note.to_owned()],
        kernel,
        ..Diagnostic::plain(RULE.id, level, span, message)
    }
}
