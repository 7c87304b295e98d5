//! ## What it does
//! Finds shared-memory accesses whose bank conflicts are unknown from the source, with the reason and the place that
//! causes it.
//!
//! ## Why is this bad
//! It is not bad. It shows where `cudalint` is silent because it does not know, rather than because it found nothing.
//! The rule is off by default: use `-N unresolved-access` to see these accesses, and `-D unresolved-access` for code
//! that must be fully checked. `cudalint accesses --summary` counts them.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void gather(float *out, const float *in, const int *index) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[index[threadIdx.x]];
//! }
//!
//! void launch(float *out, const float *in, const int *index) {
//!     gather<<<1, 256>>>(out, in, index);
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
//!     reverse<<<1, 256>>>(out, in);
//! }
//! ```
//! If the reason is a type, a name or a function that is not visible, provide it (`-I DIR`, `--define NAME=VALUE`,
//! more files). If the reason is the block, state it above the kernel.
//!
//! ## Limits
//! - There is one finding per site: of a template's instances, only the first unknown one is reported.
//! - The finding names the first cause; there may be others behind it.
//! - There is no fix.

use super::{About, Case, Rule, access_words, block_help};
use crate::diagnostic::{Diagnostic, Level};
use crate::domain::Reason;
use crate::events::{Access, AccessOp};
use crate::source::Span;
use crate::verdict::{Judgement, Status};

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "unresolved-access",
    about: About::Performance,
    level: Level::Allow,
    summary: "a shared-memory access whose bank conflicts are unknown, and why",
    docs: include_str!("unresolved_access.rs"),
};

/// Finds the sites without a verdict: one finding per site.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<(Span, AccessOp, Span)> = Vec::new();
    for (run, kernel) in case.runs.iter().enumerate() {
        for judgements in &kernel.judgements {
            for (access, judgement) in kernel.trace.accesses.iter().zip(judgements) {
                let site = (access.span, access.op, kernel.trace.arrays[access.array].name_span);
                if judgement.status == Status::Unknown && !told.contains(&site) {
                    told.push(site);
                    out.push(describe(case, run, access, judgement));
                }
            }
        }
    }
}

/// What is said of an access of a run.
pub(super) fn describe(case: &Case<'_>, run: usize, access: &Access, judgement: &Judgement) -> Diagnostic {
    let kernel = &case.runs[run];
    let array = &kernel.trace.arrays[access.array];
    let reason = judgement.reason.clone().unwrap_or_default();
    let mut labels = vec![(array.name_span, "declared here".to_owned())];
    let elsewhere = judgement.cause.filter(|cause| *cause != access.span);
    labels.extend(elsewhere.map(|cause| (cause, reason.clone())));
    let mut notes = vec![case.block_words(run)];
    notes.extend(case.calls_words(run, access.path(0), &[]));
    let helps = match judgement.kind {
        Some(Reason::BlockShape) => block_help(kernel.block_from).into_iter().collect(),
        _ => Vec::new(),
    };
    Diagnostic {
        rule: RULE.id,
        level: RULE.level,
        message: format!(
            "bank conflicts of this {} `{}` are unknown: {reason}",
            access_words(access.op).0,
            array.name
        ),
        primary: access.span,
        primary_label: if elsewhere.is_some() { String::new() } else { reason },
        labels,
        notes,
        helps,
        fix: None,
        launches: Vec::new(),
        conflict: None,
        dependence: None,
        hazard: None,
        kernel_at: None,
        loudest: Level::Deny,
        parts: Vec::new(),
        kernel: kernel.kernel.clone(),
    }
}
