//! ## What it does
//! Finds comments for this tool that do nothing: `// cudalint: allow(RULE)` and `allow-file(RULE)`
//! where there is no finding of that rule, and `// cudalint: block(X, Y, Z)` that stands above no
//! function.
//!
//! ## Why is this bad
//! The reason written beside it no longer holds, or never did, and the comment would silence the
//! next finding that comes to its line.
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
//! - Nothing is said where a verdict on the lines is not known, in branches that `#if` leaves out,
//!   and in a header none of whose accesses was met from the files given.
//! - A finding that comes only with another `--target` or `--block` is not there without it.
//! - No fix is written.

use super::{About, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "unused-directive",
    about: About::Comments,
    level: Level::Warn,
    summary: "a comment for this tool that does nothing",
    docs: include_str!("unused_directive.rs"),
};

/// Silence was asked for about a rule that had nothing to say.
#[must_use]
pub fn silences_nothing(at: Span, rule: &str, whole_file: bool) -> Diagnostic {
    let place = if whole_file { "in this file" } else { "here" };
    let what = if rule == "all" { "no finding".to_owned() } else { format!("no finding of `{rule}`") };
    Diagnostic {
        primary_label: "nothing to silence".to_owned(),
        helps: vec!["remove it; `expect` instead of `allow` insists on a finding".to_owned()],
        ..Diagnostic::plain(RULE.id, RULE.level, at, format!("there is {what} {place}"))
    }
}

/// A block shape was given to nothing.
#[must_use]
pub fn block_of_nothing(at: Span) -> Diagnostic {
    Diagnostic {
        primary_label: "the shape is not used".to_owned(),
        helps: vec!["it belongs directly above a kernel".to_owned()],
        ..Diagnostic::plain(RULE.id, RULE.level, at, "this block shape stands above no function".to_owned())
    }
}
