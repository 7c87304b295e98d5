//! ## What it does
//! Finds barriers of the whole block (`__syncthreads()` and its kin, `bar.sync`, `sync()` of a `thread_block`) that some
//! threads do not reach because they exit, or have exited before, without waiting anywhere else.
//!
//! | targets | level |
//! |---|---|
//! | all of compute capability 7.0 or newer | note |
//! | some before 7.0 | warning |
//!
//! ## Why is this bad
//! From compute capability 7.0 on a barrier waits only for the threads of the block that have not exited. So
//! `if (i < n) { ...; __syncthreads(); ... }` at the end of a kernel does the barrier no harm, and neither does
//! `if (i >= n) return;` before it. The CUDA programming guide still calls a barrier in divergent code undefined, and
//! what these threads should have written is missing all the same. Before 7.0 a barrier counts warps, and nothing says
//! that it does not wait for threads that exit: the block may hang.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void first_of_block(float *out, const float *in, int n) {
//!     __shared__ float first;
//!     int i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (i >= n) {
//!         return;
//!     }
//!     if (threadIdx.x == 0) {
//!         first = in[i];
//!     }
//!     __syncthreads();
//!     out[i] = in[i] - first;
//! }
//!
//! void launch(float *out, const float *in, int n) {
//!     first_of_block<<<(n + 127) / 128, 128>>>(out, in, n);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void first_of_block(float *out, const float *in, int n) {
//!     __shared__ float first;
//!     int i = blockIdx.x * blockDim.x + threadIdx.x;
//!     if (threadIdx.x == 0) {
//!         first = in[i];
//!     }
//!     __syncthreads();
//!     if (i < n) {
//!         out[i] = in[i] - first;
//!     }
//! }
//!
//! void launch(float *out, const float *in, int n) {
//!     first_of_block<<<(n + 127) / 128, 128>>>(out, in, n);
//! }
//! ```
//! Keep every thread until the last barrier, and guard only the work.
//!
//! ## Limits
//! - Where data that nobody writes are read behind the barrier, or where the threads come to another barrier, it is a
//!   `divergent-barrier`. So is a barrier of the grid, which waits for every block.
//! - Threads that leave because of what they read from memory are not told of.
//! - One finding for each condition under which threads exit.
//! - No fix is written: which threads are meant to wait is not in the text.

use super::{About, Rule};
use crate::diagnostic::Level;

/// The rule. `divergent-barrier` finds out what becomes of the threads that do not come, and hands over those that exit.
pub(super) static RULE: Rule = Rule {
    id: "barrier-after-exit",
    about: About::Correctness,
    level: Level::Note,
    summary: "a barrier of the whole block that some threads do not reach because they have exited",
    docs: include_str!("barrier_after_exit.rs"),
};
