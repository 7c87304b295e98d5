//! ## What it does
//! Finds comments `// cudalint: expect(RULE)` without a finding of that rule.
//!
//! ## Why is this bad
//! `expect` says that a finding is known and must stay visible to whoever changes the code. If it is gone, either the
//! code was fixed and the comment can go, or the analysis no longer sees what it saw.
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
//! - Branches that `#if` leaves out are not checked, nor is a header if the given files reach none of its accesses.
//! - There is no fix.

use super::{About, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "unfulfilled-expectation",
    about: About::Comments,
    level: Level::Warn,
    summary: "a comment expects a finding that is not there",
    docs: include_str!("unfulfilled_expectation.rs"),
};

/// A finding of `rule` was expected.
#[must_use]
pub fn describe(at: Span, rule: &str) -> Diagnostic {
    let message = format!("a `{rule}` finding is expected here, but there is none");
    Diagnostic {
        primary_label: "expected".to_owned(),
        helps: vec!["remove the comment if the code was fixed".to_owned()],
        ..Diagnostic::plain(RULE.id, RULE.level, at, message)
    }
}
