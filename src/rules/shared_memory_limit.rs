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
//! - A launch must give its amount of dynamic shared memory. An amount that host code bounds by `min` is not known. Of
//!   several launches with the same block, the one with the most counts.
//! - Calls of `cudaFuncSetAttribute` are searched for in the kernel's files and the launch's files. A call that names
//!   another kernel counts for that kernel only, and a product of numbers in it allows this many bytes; any other call
//!   may allow this kernel anything. If the call is in a file that neither includes, the finding is wrong: allow it
//!   there.
//! - A launch is left out if it depends on a comparison of its dynamic bytes with an unknown value, such as the limit that
//!   the device reports. Bytes that are written out as a number there do not count.
//! - The limits are those of the CUDA C++ Programming Guide, for the given targets. HIP is not checked.
//! - Arrays that a run does not reach are not counted, though they take their bytes.

use super::{About, Case, KernelRun, Rule, launches, plural};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Span;

/// The attribute by which a kernel is allowed more, and the calls that set it.
const ATTRIBUTES: [&str; 2] = ["MaxDynamicSharedMemorySize", "MAX_DYNAMIC_SHARED_SIZE_BYTES"];
const SETTER: &str = "FuncSetAttribute";

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
        let Some((dynamic, launch)) = run.dynamic_bytes.or(run.launch.map(|launch| (0, launch))) else {
            continue;
        };
        if !told.contains(&launch)
            && run.refuted.is_none()
            && !run.is_unmet
            && (dynamic == 0 || !launches::is_asked_about(case, launch))
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
    let hip = (case.is_hip)(launch);
    let kernel = &run.kernel;
    let allowed = allowed(case, launch, kernel.split('<').next().unwrap_or(kernel));
    let (message, help) = match beyond {
        _ if hip => return None,
        // No call allows arrays of a kernel's own more.
        _ if fixed > u64::from(first.static_shared_limit()) => {
            let most = plural(first.static_shared_limit().into(), "byte");
            let message = format!(
                "a block of `{kernel}` has {fixed} bytes of shared arrays of its own; {first} has {most} for them"
            );
            let help = "declare the array `extern __shared__`, give its bytes at the launch, and allow them by \
                        `cudaFuncSetAttribute`";
            (message, Some(help.to_owned()))
        }
        Some(target) => {
            let most = plural(target.dynamic_shared_limit().into(), "byte");
            (
                format!("a block of `{kernel}` needs {needed} bytes of shared memory; {target} has {most}"),
                None,
            )
        }
        None if matches!(allowed, Allowed::Any) => return None,
        None if matches!(allowed, Allowed::Bytes(bytes) if bytes >= dynamic) => return None,
        None if let Allowed::Bytes(bytes) = allowed => {
            let message = format!(
                "this launch gives a block of `{kernel}` {dynamic} bytes of dynamic shared memory; {bytes} are allowed"
            );
            (message, Some(format!("allow {dynamic} bytes by `cudaFuncSetAttribute`")))
        }
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
        _ if dynamic == 0 => "all of it is static".to_owned(),
        _ => format!("{fixed} static and {dynamic} dynamic bytes"),
    };
    let fails = match fixed > u64::from(first.static_shared_limit()) {
        true => "the kernel does not compile",
        false => "the launch fails, and the kernel does not run",
    };
    let mut notes = vec![parts, fails.to_owned()];
    notes.extend(case.instance_words(number));
    Some(Diagnostic {
        primary_label: match dynamic {
            0 => String::new(),
            _ => format!("this launch passes {}", plural(dynamic, "byte")),
        },
        notes,
        helps: help.into_iter().collect(),
        kernel: kernel.clone(),
        ..Diagnostic::plain(RULE.id, RULE.level, launch, message)
    })
}

/// How much dynamic shared memory a kernel is allowed by a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowed {
    /// No call allows it more.
    Nothing,
    /// So many bytes at the most.
    Bytes(u64),
    /// Some call may allow it any number.
    Any,
}

/// What the calls in the kernel's files and in that of the launch allow a kernel.
fn allowed(case: &Case<'_>, launch: Span, kernel: &str) -> Allowed {
    let calls = (case.calls)(launch, SETTER);
    if calls.is_empty() {
        let named = (case.says)(launch, &[ATTRIBUTES[0], ATTRIBUTES[1], SETTER]);
        return if named { Allowed::Any } else { Allowed::Nothing };
    }
    let mut most = Allowed::Nothing;
    for call in calls {
        let [function, rest @ ..] = &call.split(',').map(str::trim).collect::<Vec<_>>()[..] else { continue };
        let sets = rest.iter().any(|it| ATTRIBUTES.iter().any(|attribute| it.contains(attribute)));
        let names =
            || function.split(|it: char| !it.is_alphanumeric() && it != '_').filter(|it| !it.is_empty());
        // A function that is handed over by a name that is no kernel's may be any.
        let other = |name: &str| (case.says)(launch, &[&format!("void {name}(")]);
        let is_ours = names().any(|name| name == kernel);
        if !is_ours && names().any(other) {
            continue;
        }
        most = match (most, rest.last().filter(|_| sets && is_ours).and_then(|bytes| product(bytes))) {
            (Allowed::Nothing, Some(bytes)) => Allowed::Bytes(bytes),
            (Allowed::Bytes(known), Some(bytes)) => Allowed::Bytes(known.max(bytes)),
            _ => return Allowed::Any,
        };
    }
    most
}

/// The value of a product of numbers.
fn product(text: &str) -> Option<u64> {
    text.split('*').try_fold(1u64, |all, factor| all.checked_mul(factor.trim().parse().ok()?))
}

/// Bytes of the arrays that a run came to, and whose length is written.
fn declared(run: &KernelRun) -> u64 {
    let arrays = run.trace.arrays.iter().filter(|array| !array.dynamic);
    arrays.fold(0, |sum, array| sum.saturating_add(array.bytes().unwrap_or(0)))
}
