//! ## What it does
//! Finds reads of shared memory that no thread of the block initializes, either at all or before the read.
//!
//! ## Why is this bad
//! Shared memory holds what the previous block left in it, so the value changes from run to run. Typical causes are a
//! tile without its border, an array that is one element longer than what fills it, or an accumulator that nobody
//! sets to zero. `compute-sanitizer --tool initcheck` looks at global memory only.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void blur(float *out, const float *in) {
//!     __shared__ float s[130];
//!     s[threadIdx.x + 1] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
//! }
//!
//! void launch(float *out, const float *in) {
//!     blur<<<1, 128>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void blur(float *out, const float *in) {
//!     __shared__ float s[130];
//!     s[threadIdx.x + 1] = in[threadIdx.x];
//!     if (threadIdx.x < 2) s[threadIdx.x * 129] = 0;
//!     __syncthreads();
//!     out[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x + 1] + s[threadIdx.x + 2];
//! }
//!
//! void launch(float *out, const float *in) {
//!     blur<<<1, 128>>>(out, in);
//! }
//! ```
//!
//! ## Limits
//! - The block must be given by a launch or the user. For arrays sized at launch, only reads before the first write
//!   are reported, and only if the kernel has one such array.
//! - If a write precedes the read in the text, or nothing orders the two, the read is assumed to come later:
//!   `missing-barrier` covers that. A read in a loop counts only if it surely happens in the first iteration.
//! - A read counts if none of its bytes is written, and if it surely happens, or does under a condition that is the
//!   same for the whole block, tied to the block by nothing in host code, and named with the finding. `+=` and `atomicAdd` do not initialize what they read.
//! - If something that may write shared memory is not followed (an unseen function, a write through an unknown
//!   pointer, inline assembly), or part of the kernel does not parse, the kernel is not checked. If the index of a write is unknown, or asynchronous copies
//!   or tensor-core stores fill an array, that array is not checked.

use super::{About, Case, Rule, fact};
use crate::diagnostic::{Diagnostic, Level};
use crate::facts::Unwritten;
use crate::source::Span;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "uninitialized-shared",
    about: About::Correctness,
    level: Level::Warn,
    summary: "a read of shared memory that no thread initializes",
    docs: include_str!("uninitialized_shared.rs"),
};

/// Other reads that are shown with a finding, at the most.
const MOST_OTHERS: usize = 3;

/// Finds reads of what nobody writes: one finding for each array.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        let trace = &run.trace;
        let array = |it: &Unwritten| trace.arrays[trace.accesses[it.access].array].name_span;
        // What threads leave unwritten that miss a barrier is told with the barrier.
        let absences = || trace.barriers.iter().flat_map(|barrier| &barrier.absences);
        let missed = |it: &Unwritten| {
            let span = trace.accesses[it.access].span;
            absences().any(|absence| {
                absence.missing.as_ref().is_some_and(|it| it.span == span && it.writer.is_none())
            })
        };
        for unwritten in &run.facts.unwritten {
            if told.contains(&array(unwritten)) || missed(unwritten) {
                continue;
            }
            told.push(array(unwritten));
            let others = run.facts.unwritten.iter().filter(|it| it.access != unwritten.access);
            let others = others.filter(|it| array(it) == array(unwritten));
            out.push(describe(case, number, unwritten, &others.collect::<Vec<_>>()));
        }
    }
}

fn describe(case: &Case<'_>, number: usize, unwritten: &Unwritten, others: &[&Unwritten]) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let access = &trace.accesses[unwritten.access];
    let array = &trace.arrays[access.array];
    let element = i64::try_from(array.element_bytes.unwrap_or(1).max(1)).unwrap_or(1);
    let (name, thread, does) = (&array.name, unwritten.thread, fact::does(access));
    let at = match unwritten.offset % element {
        0 if array.dimensions.is_empty() => format!("`{name}`"),
        0 => format!("element {} of `{name}`", unwritten.offset / element),
        _ => format!("byte {} of `{name}`", unwritten.offset),
    };
    let lacks =
        if unwritten.is_early { "before any thread writes it" } else { "which no thread initializes" };
    let comma = if unwritten.is_early { "" } else { "," };
    let message = format!("thread {thread} {does} {at}{comma} {lacks}");
    let whole = if unwritten.whole { "no thread initializes any of it" } else { "declared here" };
    let mut labels = vec![(array.name_span, whole.to_owned())];
    for other in others.iter().take(MOST_OTHERS) {
        let span = trace.accesses[other.access].span;
        if span != access.span {
            labels.push((span, format!("and thread {} here", other.thread)));
        }
    }
    let mut finding = fact::finding(&RULE, case, number, access, &unwritten.assumptions, message);
    finding.notes.splice(0..0, fact::sides_words(case, &unwritten.sides));
    Diagnostic { primary_label: format!("thread {thread} {does} it here"), labels, ..finding }
}
