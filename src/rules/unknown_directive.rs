//! ## What it does
//! Finds comments that begin with `cudalint:` and ask for nothing that is known: a misspelt word or
//! rule, a block that no device has; and those that would be such comments, but for the colon:
//! `// cudalint allow(bank-conflict)`.
//!
//! ## Why is this bad
//! Whoever wrote it believes that it does something.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void halve(float *out, const float *in) {
//!     __shared__ float s[512];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[2 * threadIdx.x]; // cudalint: allow(bank-conflicts): read once
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void halve(float *out, const float *in) {
//!     __shared__ float s[512];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[2 * threadIdx.x]; // cudalint: allow(bank-conflict): read once
//! }
//! ```
//!
//! ## Limits
//! - Only a comment that opens with `cudalint` is read; one that mentions it later is not.
//! - No fix is written.

use super::{About, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "unknown-directive",
    about: About::Comments,
    level: Level::Warn,
    summary: "a comment for this tool that it does not understand",
    docs: include_str!("unknown_directive.rs"),
};

/// A comment was not understood.
#[must_use]
pub fn describe(at: Span, what: &str, help: &str) -> Diagnostic {
    Diagnostic { helps: vec![help.to_owned()], ..Diagnostic::plain(RULE.id, RULE.level, at, what.to_owned()) }
}

/// A comment names a rule that does not exist.
#[must_use]
pub fn unknown_rule(at: Span, name: &str) -> Diagnostic {
    let help = match super::nearest(name) {
        Some(rule) => format!("did you mean `{rule}`?"),
        None => "`cudalint rules` lists them".to_owned(),
    };
    describe(at, &format!("there is no rule `{name}`"), &help)
}
