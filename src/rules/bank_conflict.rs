//! ## What it does
//! Finds accesses to shared memory that the hardware has to serve in more passes
//! ("wavefronts") than the bytes asked for need, because lanes of one warp want different
//! words of the same bank.
//!
//! The block of threads is run symbolically, each warp's request is put through a model of
//! the target's banks, and the wavefronts it takes are compared with the fewest that a
//! request of its width can take. A 16-byte access that takes 4 wavefronts is at its best
//! and is not reported.
//!
//! ## Why is this bad
//! Shared memory has 32 banks, and each serves one word at a time. When n lanes of a warp need n
//! different words of one bank, the request takes n passes and every other warp of
//! the block waits for the same pipe. A column read of a `float [32][32]` tile takes 32
//! passes where 1 would do.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void transpose(float *out, const float *in) {
//!     __shared__ float tile[32][32];
//!     tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
//! }
//!
//! void launch(float *out, const float *in) {
//!     transpose<<<1, dim3(32, 32)>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void transpose(float *out, const float *in) {
//!     __shared__ float tile[32][33];
//!     tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
//! }
//!
//! void launch(float *out, const float *in) {
//!     transpose<<<1, dim3(32, 32)>>>(out, in);
//! }
//! ```
//! One more element per row moves each row one bank further. Where the memory is too dear
//! for padding, exclusive-or the column with the row (a swizzle), or let the lanes walk
//! along the rows.
//!
//! ## Limits
//! - An index that is loaded from memory has no banks before the program runs: such accesses
//!   are never reported. `cudalint accesses` lists them with the reason.
//! - A verdict that depends on a run-time stride is not reported either, for the same reason.
//! - The block shape is taken from the launch, from `__launch_bounds__`, from the shape that
//!   the code implies, or is taken to be 256 threads; each finding says which.
//! - A compiler may merge neighbouring accesses into one wider access. The source is judged
//!   as it is written.
//! - On atomics, two lanes that update the same word wait for each other on any layout: that
//!   is contention, which no padding removes.

use super::Rule;
use crate::diagnostic::Level;

/// The rule.
pub static RULE: Rule = Rule {
    id: "bank-conflict",
    level: Level::Warn,
    summary: "a shared-memory access takes more wavefronts than its bytes need",
    docs: include_str!("bank_conflict.rs"),
};
