//! ## What it does
//! Finds launches that need more shared memory per block than the device has: arrays of the kernel and dynamic shared
//! memory together.
//!
//! ## Why is this bad
//! The kernel does not run. The launch fails with an error that is easy to miss, and the results are those of before.
//! More than 48 KiB need an opt-in by `cudaFuncSetAttribute`, and no opt-in goes beyond what the device has.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void wide(float *out, const float *in) {
//!     extern __shared__ float s[];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[255 - threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     wide<<<1, 256, 64 * 1024>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void wide(float *out, const float *in) {
//!     extern __shared__ float s[];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[255 - threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     cudaFuncSetAttribute(wide, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024);
//!     wide<<<1, 256, 64 * 1024>>>(out, in);
//! }
//! ```
//!
//! ## Limits
//! - A launch must give its amount of dynamic shared memory. Of several launches with the same block, the one with
//!   the most counts.
//! - If the kernel's files or the launch's files name the attribute, they are assumed to set it for this kernel. If
//!   it is set in a file that neither includes, the finding is wrong: allow it there.
//! - The limits are those of the CUDA C++ Programming Guide, for the given targets. HIP is not checked.
//! - Arrays that a run does not reach are not counted, though they take their bytes.

use super::{About, Case, KernelRun, Rule, plural};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

/// What allows a kernel more, or says that it is of another language.
const WORDS: [&str; 4] =
    ["MaxDynamicSharedMemorySize", "MAX_DYNAMIC_SHARED_SIZE_BYTES", "FuncSetAttribute", "hip_runtime"];

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "shared-memory-limit",
    about: About::Correctness,
    level: Level::Deny,
    summary: "a launch that needs more shared memory per block than it can have",
    docs: include_str!("shared_memory_limit.rs"),
};

/// Finds such launches: one finding for each.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        let Some((dynamic, launch)) = run.dynamic_bytes.filter(|(bytes, _)| *bytes > 0) else { continue };
        if !told.contains(&launch)
            && run.refuted.is_none()
            && let Some(finding) = describe(case, number, (dynamic, launch))
        {
            told.push(launch);
            out.push(finding);
        }
    }
}

fn describe(case: &Case<'_>, number: usize, (dynamic, launch): (u64, Span)) -> Option<Diagnostic> {
    let run = &case.runs[number];
    let fixed = declared(run);
    let needed = fixed.saturating_add(dynamic);
    let is_too_much = |limit: u32| needed > u64::from(limit);
    let beyond = case.targets.iter().find(|target| is_too_much(target.dynamic_shared_limit()));
    let first = case.targets.first().filter(|target| is_too_much(target.static_shared_limit()))?;
    let hip = (case.says)(launch, &WORDS[3..]);
    let allowed = (case.says)(launch, &WORDS);
    let kernel = &run.kernel;
    let (message, help) = match beyond {
        _ if hip => return None,
        Some(target) => {
            let most = plural(target.dynamic_shared_limit().into(), "byte");
            (
                format!("a block of `{kernel}` needs {needed} bytes of shared memory; {target} has {most}"),
                None,
            )
        }
        None if allowed => return None,
        None => {
            let most = first.static_shared_limit();
            let words = format!(
                "opt in before the launch: `cudaFuncSetAttribute({}, \
                 cudaFuncAttributeMaxDynamicSharedMemorySize, {dynamic})`",
                kernel.split('<').next().unwrap_or(kernel)
            );
            let message = format!(
                "a block of `{kernel}` needs {needed} bytes of shared memory; more than {most} need an opt-in"
            );
            (message, Some(words))
        }
    };
    let parts = match fixed {
        0 => "all of it is dynamic".to_owned(),
        _ => format!("{fixed} static and {dynamic} dynamic bytes"),
    };
    let mut notes = vec![parts, "the launch fails, and the kernel does not run".to_owned()];
    notes.extend(case.instance_words(number));
    Some(Diagnostic {
        primary_label: format!("this launch passes {}", plural(dynamic, "byte")),
        notes,
        helps: help.into_iter().collect(),
        kernel: kernel.clone(),
        ..Diagnostic::plain(RULE.id, RULE.level, launch, message)
    })
}

/// Bytes of the arrays that a run came to, and whose length is written.
fn declared(run: &KernelRun) -> u64 {
    let arrays = run.trace.arrays.iter().filter(|array| !array.dynamic);
    arrays.fold(0, |sum, array| sum.saturating_add(array.bytes().unwrap_or(0)))
}
