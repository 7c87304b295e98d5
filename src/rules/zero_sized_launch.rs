//! ## What it does
//! Finds launches whose grid or block surely has a dimension of 0.
//!
//! ## Why is this bad
//! The kernel does not run. The launch fails with an error that is easy to miss, and the results are those of before.
//! Most often, an integer division gives the number of blocks and rounds it down.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void reverse(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[255 - threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     const int n = 200;
//!     reverse<<<n / 256, 256>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void reverse(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[255 - threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     const int n = 200;
//!     reverse<<<(n + 255) / 256, 256>>>(out, in);
//! }
//! ```
//!
//! ## Limits
//! - The text must give the number: it consists of literals and of variables that nothing changes. What a function
//!   receives, or reads from an object, may be anything.
//! - The launch must surely mean this kernel.
//! - Only launches of kernels with shared memory, or with a barrier of the block or warp, are followed; with
//!   `global-race`, all are.
//! - HIP is not checked.

use super::{About, Case, Rule, launches};
use crate::diagnostic::{Diagnostic, Level};
use crate::events::LaunchSite;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "zero-sized-launch",
    about: About::Correctness,
    level: Level::Deny,
    summary: "a launch of no blocks, or of blocks without threads",
    docs: include_str!("zero_sized_launch.rs"),
};

/// Finds such launches: one finding for each.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    for (span, ways) in launches::sites(case) {
        let empty = |(name, grid): (&'static str, bool)| {
            let is_zero = |launch: &LaunchSite, axis: usize| match grid {
                true => launch.is_told[0] && launch.grid[axis] == Some(0),
                false => launch.is_told[1] && launch.block[axis] == Some(0),
            };
            let of_all = |axis: usize| ways.iter().all(|launch| is_zero(launch, axis));
            (0..3).find(|axis| of_all(*axis)).map(|axis| (name, axis))
        };
        let Some((name, axis)) = [("grid", true), ("block", false)].into_iter().find_map(empty) else {
            continue;
        };
        let kernel = launches::name(case);
        let axis = ["x", "y", "z"][axis];
        let message = format!("the {name} of this launch of `{kernel}` is 0 along {axis}");
        out.push(Diagnostic {
            notes: vec!["the launch fails, and the kernel does not run".to_owned()],
            helps: vec!["if a division gives the number of blocks, round it up".to_owned()],
            kernel,
            ..Diagnostic::plain(RULE.id, RULE.level, span, message)
        });
    }
}
