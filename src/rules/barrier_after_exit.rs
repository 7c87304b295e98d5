//! ## What it does
//! Finds block-wide barriers (`__syncthreads()` and its variants, `bar.sync`, `sync()` of a `thread_block`) that some
//! threads do not reach because they exit, or have exited before, without waiting anywhere else.
//!
//! | targets | level |
//! |---|---|
//! | all of compute capability 7.0 or newer | note |
//! | some before 7.0 | warning |
//!
//! ## Why is this bad
//! From compute capability 7.0 on, a barrier waits only for threads that have not exited. So
//! `if (i < n) { ...; __syncthreads(); ... }` at the end of a kernel does no harm to the barrier, and neither does the
//! equivalent `if (i >= n) return;` before it. The CUDA programming guide still calls a barrier in divergent code
//! undefined, and the data that these threads should have written is missing. Before 7.0, a barrier counts warps, and
//! nothing documents that it does not wait for threads that exit: the block may hang.
//!
//! If a thread that stays reads what only threads beyond a bound would have written, the finding names both. It stays a
//! note, because the value that is read may have no effect.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void sums_of_blocks(float *out, const float *in, int n) {
//!     __shared__ float s[128];
//!     int t = threadIdx.x;
//!     int i = blockIdx.x * blockDim.x + t;
//!     if (i >= n) {
//!         return;
//!     }
//!     s[t] = in[i];
//!     __syncthreads();
//!     for (int half = 64; half > 0; half /= 2) {
//!         if (t < half) {
//!             s[t] += s[t + half];
//!         }
//!         __syncthreads();
//!     }
//!     if (t == 0) {
//!         out[blockIdx.x] = s[0];
//!     }
//! }
//!
//! void launch(float *out, const float *in, int n) {
//!     sums_of_blocks<<<(n + 127) / 128, 128>>>(out, in, n);
//! }
//! ```
//! In the last block, thread 0 adds up garbage. Here, nothing is missing:
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
//! Keep all threads until the last barrier, and guard only the work.
//!
//! ## Limits
//! - If data that no thread writes is read after the barrier, or if the threads reach another barrier, the finding is a
//!   `divergent-barrier`. So is a grid barrier, which waits for every block. For a run-time bound, reads count that surely
//!   happen, at known places, where no thread that stays may write, in kernels that ask for no other bound and whose block is
//!   given.
//! - Threads that exit because of what they read from memory are reported, as a note, only if the condition consists of
//!   what each thread loads from global memory, of bounds and of thread numbers.
//! - Threads of a launch that surely has no more of them than the bound says are not reported: `n / 256` blocks of 256
//!   threads for `i < n`, or a block of `n` threads for `threadIdx.x < n`.
//! - There is one finding for each condition under which threads exit.
//! - There is no fix: the text does not say which threads should wait.

use super::{About, Rule};
use crate::diagnostic::Level;

/// The rule. `divergent-barrier` finds out what becomes of the threads that do not come, and hands over those that exit.
pub(super) static RULE: Rule = Rule {
    id: "barrier-after-exit",
    about: About::Correctness,
    level: Level::Note,
    summary: "a block-wide barrier that some threads do not reach because they have exited",
    docs: include_str!("barrier_after_exit.rs"),
};
