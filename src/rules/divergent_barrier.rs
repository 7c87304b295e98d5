//! ## What it does
//! Finds barriers of the whole block (`__syncthreads()` and its kin) that only some of the
//! block's threads reach: the barrier stands under a condition that differs between threads,
//! or threads have left the kernel before it.
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
//! - Threads past the end of the data (`if (i >= n) return;`) are taken to be absent, as in a
//!   block in the middle of the grid.
//! - Barriers of a part of the block (`bar.sync` with a count, `cuda::barrier`, cooperative
//!   groups smaller than a block) are not judged.

use super::Rule;
use crate::diagnostic::Level;

/// The rule.
pub static RULE: Rule = Rule {
    id: "divergent-barrier",
    level: Level::Warn,
    summary: "a barrier of the whole block that only some of its threads reach",
    docs: include_str!("divergent_barrier.rs"),
};
