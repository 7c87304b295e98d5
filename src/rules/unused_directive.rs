//! ## What it does
//! Finds cudalint comments that have no effect: `// cudalint: allow(RULE)` and `allow-file(RULE)` without a finding
//! of that rule, and `// cudalint: block(X, Y, Z)` that is not above a function.
//!
//! ## Why is this bad
//! The reason in the comment no longer holds, or never did. And the comment would hide the next finding on its line.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void copy(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[255 - threadIdx.x]; // cudalint: allow(bank-conflict): read once
//! }
//!
//! void launch(float *out, const float *in) {
//!     copy<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void copy(float *out, const float *in) {
//!     __shared__ float s[512];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[2 * threadIdx.x]; // cudalint: allow(bank-conflict): read once
//! }
//!
//! void launch(float *out, const float *in) {
//!     copy<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Limits
//! - Lines with an unknown verdict are not checked, nor are branches that `#if` leaves out, nor a header if the given
//!   files reach none of its accesses.
//! - A finding that exists only with another `--target` or `--block` does not count.
//! - There is no fix.

use super::{About, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "unused-directive",
    about: About::Comments,
    level: Level::Warn,
    summary: "a cudalint comment that has no effect",
    docs: include_str!("unused_directive.rs"),
};

/// Silence was asked for about a rule that had nothing to say.
#[must_use]
pub fn silences_nothing(at: Span, rule: &str, whole_file: bool) -> Diagnostic {
    let place = if whole_file { "in this file" } else { "here" };
    let what = if rule == "all" { "no finding".to_owned() } else { format!("no finding of `{rule}`") };
    Diagnostic {
        primary_label: "nothing to silence".to_owned(),
        helps: vec!["remove it, or use `expect` to insist on a finding".to_owned()],
        ..Diagnostic::plain(RULE.id, RULE.level, at, format!("there is {what} {place}"))
    }
}

/// A block shape was given to nothing.
#[must_use]
pub fn block_of_nothing(at: Span) -> Diagnostic {
    Diagnostic {
        primary_label: "the shape is not used".to_owned(),
        helps: vec!["put it directly above a kernel".to_owned()],
        ..Diagnostic::plain(RULE.id, RULE.level, at, "this block shape is not above a function".to_owned())
    }
}
