//! ## What it does
//! Finds statements like `sum += x` or `++count` by which several threads change the same place of shared memory,
//! and that are no atomics.
//!
//! ## Why is this bad
//! The statement reads, computes and writes. Between the read and the write of one thread another may write,
//! and what it added is lost: of a count by 256 threads one or two remain.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void count(int *out, const int *in) {
//!     __shared__ int total;
//!     if (threadIdx.x == 0) total = 0;
//!     __syncthreads();
//!     total += in[threadIdx.x];
//!     __syncthreads();
//!     if (threadIdx.x == 0) *out = total;
//! }
//!
//! void launch(int *out, const int *in) {
//!     count<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void count(int *out, const int *in) {
//!     __shared__ int total;
//!     if (threadIdx.x == 0) total = 0;
//!     __syncthreads();
//!     atomicAdd(&total, in[threadIdx.x]);
//!     __syncthreads();
//!     if (threadIdx.x == 0) *out = total;
//! }
//!
//! void launch(int *out, const int *in) {
//!     count<<<1, 256>>>(out, in);
//! }
//! ```
//! A sum over the block is faster by shuffles within each warp and one atomic for each warp.
//!
//! ## Limits
//! - Only compound assignments, `++` and `--`; not `&=` and `|=`, which may do the same twice, and not
//!   `s[0] = s[0] + x`.
//! - Only in a block that a launch or the user gives, where the threads surely do it, at offsets that are known. Where
//!   an `if` on what a thread reads from global memory chooses whether it does it, the finding says "possible"; where
//!   such data choose the element, as in a histogram, it is a note.
//! - An H200's racecheck reports the same lines for its fixtures, and `|=` as well.
//! - Nothing is said of kernels with `volatile` and loops that may wait for what they read, but within a warp.

use super::{About, Case, Rule, fact};
use crate::diagnostic::{Diagnostic, Level};
use crate::events::{Access, Assumption};
use crate::facts::{Choice, PossibleRace, Race};
use crate::source::Span;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "missing-atomic",
    about: About::Correctness,
    level: Level::Warn,
    summary: "threads that change the same shared memory by a statement that is no atomic",
    docs: include_str!("missing_atomic.rs"),
};

/// Finds updates that lose others: one finding for each statement.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        for race in run.facts.races.iter().filter(|race| race.is_update) {
            let span = run.trace.accesses[race.second].span;
            if !told.contains(&span) {
                told.push(span);
                out.push(describe(case, number, race));
            }
        }
    }
    for (number, run) in case.runs.iter().enumerate() {
        for race in run.facts.possible.iter().filter(|race| race.is_update) {
            let span = run.trace.accesses[race.second].span;
            if !told.contains(&span) {
                told.push(span);
                out.push(describe_possible(case, number, race));
            }
        }
    }
}

/// An update that is lost for some data.
fn describe_possible(case: &Case<'_>, number: usize, race: &PossibleRace) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let access = &trace.accesses[race.second];
    let (one, other) = (race.threads.0.min(race.threads.1), race.threads.0.max(race.threads.1));
    let name = &trace.arrays[access.array].name;
    let message = format!(
        "`{name}`: possible: threads {one} and {other} both change the same place, and not atomically"
    );
    let mut finding = lost(case, number, access, &race.assumptions, message);
    let (note, level) = match race.choice {
        Choice::Element => ("data choose the element".to_owned(), Level::Note),
        Choice::Threads => (fact::data_choose(access), Level::Warn),
    };
    finding.notes.insert(0, note);
    Diagnostic { level, loudest: level, ..finding }
}

fn describe(case: &Case<'_>, number: usize, race: &Race) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let access = &trace.accesses[race.second];
    let (one, other) = (race.threads.0.min(race.threads.1), race.threads.0.max(race.threads.1));
    let name = &trace.arrays[access.array].name;
    let message =
        format!("`{name}`: threads {one} and {other} both change the same place, and not atomically");
    let finding = lost(case, number, access, &race.assumptions, message);
    Diagnostic { hazard: fact::hazard(trace, race), ..finding }
}

fn lost(
    case: &Case<'_>,
    number: usize,
    access: &Access,
    assumptions: &[Assumption],
    message: String,
) -> Diagnostic {
    let array = &case.runs[number].trace.arrays[access.array];
    Diagnostic {
        primary_label: "what one of them adds here may be lost".to_owned(),
        labels: vec![(array.name_span, "declared here".to_owned())],
        helps: vec![fact::atomics::advice(case, array, access)],
        ..fact::finding(&RULE, case, number, access, assumptions, message)
    }
}
