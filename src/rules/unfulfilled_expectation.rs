//! ## What it does
//! Finds comments `// cudalint: expect(RULE)` where there is no finding of that rule.
//!
//! ## Why is this bad
//! `expect` says that a finding is known and must stay visible to whoever changes the code: when it
//! is gone, either the code was repaired and the comment can go, or the analysis no longer sees
//! what it saw.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void reverse(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[255 - threadIdx.x]; // cudalint: expect(bank-conflict)
//! }
//!
//! void launch(float *out, const float *in) {
//!     reverse<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void halve(float *out, const float *in) {
//!     __shared__ float s[512];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[2 * threadIdx.x]; // cudalint: expect(bank-conflict)
//! }
//!
//! void launch(float *out, const float *in) {
//!     halve<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Limits
//! - Nothing is said in branches that `#if` leaves out, and in a header none of whose accesses was
//!   met from the files given.
//! - No fix is written.

use super::{About, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "unfulfilled-expectation",
    about: About::Comments,
    level: Level::Warn,
    summary: "a finding that a comment expects is not there",
    docs: include_str!("unfulfilled_expectation.rs"),
};

/// A finding of `rule` was expected.
#[must_use]
pub fn describe(at: Span, rule: &str) -> Diagnostic {
    let message = format!("a finding of `{rule}` is expected here, and there is none");
    Diagnostic {
        primary_label: "expected".to_owned(),
        helps: vec!["remove the comment if the code was repaired".to_owned()],
        ..Diagnostic::plain(RULE.id, RULE.level, at, message)
    }
}
