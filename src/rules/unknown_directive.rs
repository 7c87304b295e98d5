//! ## What it does
//! Finds comments that start with `cudalint:` and that `cudalint` does not understand: a misspelt word or rule, or a
//! block that no device supports. It also finds comments that lack the colon: `// cudalint allow(bank-conflict)`.
//!
//! ## Why is this bad
//! Whoever wrote the comment believes that it has an effect.
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
//! - Only a comment that starts with `cudalint` is read, not one that mentions it later.
//! - There is no fix.

use super::{About, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "unknown-directive",
    about: About::Comments,
    level: Level::Warn,
    summary: "a cudalint comment that is not understood",
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
