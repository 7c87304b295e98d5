//! ## What it does
//! Finds statements such as `sum += x` or `++count` with which several threads update the same shared memory without
//! an atomic.
//!
//! ## Why is this bad
//! The statement reads, computes and writes. If another thread writes between the read and the write, its update is
//! lost: of a count by 256 threads, one or two remain.
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
//! A sum over the block is faster with shuffles within each warp and one atomic per warp.
//!
//! ## Limits
//! - Compound assignments, `++`, `--` and statements such as `s[0] = s[0] + x` are checked; not `&=` and `|=` with what
//!   may be the same in all threads, as they may do the same twice, nor `most = min(most, n)` with the same `n`.
//! - If all lanes of a warp make the same of what they read and do not count, as with `s[0] *= scale`, one update is
//!   what is meant: `warp-synchronous` says that nothing orders them.
//! - The threads must surely run the statement, and the offsets must be known. Where neither a launch nor the user gives
//!   the block, one is supposed, and the finding is a note; none if the threads are in different rows of it.
//! - If an `if` on data from global memory decides whether a thread runs the statement, the finding says "possible". If
//!   such data decide the element, as in a histogram, the finding is a note.
//! - For the fixtures, racecheck on an H200 reports the same lines, and `|=` of one value as well.
//! - Kernels with `volatile` and loops that may wait for what they read are checked only within a warp.
//! - Behind a loop that waits by an atomic, as for a lock, nothing is reported up to the next atomic on the same variable
//!   or the next barrier of the block.

use super::fact::{self, Ways};
use super::{About, Case, KernelRun, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::events::Assumption;
use crate::facts::{Choice, PossibleRace, Race};
use crate::source::Span;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "missing-atomic",
    about: About::Correctness,
    level: Level::Warn,
    summary: "a non-atomic update of shared memory by several threads",
    docs: include_str!("missing_atomic.rs"),
};

/// Finds updates that lose others: one finding for each statement.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        for race in run.facts.races.iter().filter(|race| counts(run, race.is_update, race.threads)) {
            let span = run.trace.accesses[race.second].span;
            if !told.contains(&span) {
                told.push(span);
                out.push(fact::of_block(run, describe(case, number, race)));
            }
        }
    }
    for (number, run) in case.runs.iter().enumerate() {
        for race in run.facts.possible.iter().filter(|race| counts(run, race.is_update, race.threads)) {
            let span = run.trace.accesses[race.second].span;
            if !told.contains(&span) {
                told.push(span);
                out.push(fact::of_block(run, describe_possible(case, number, race)));
            }
        }
    }
}

/// Whether a race is one of updates, of two threads that are surely there.
fn counts(run: &KernelRun, is_update: bool, threads: (usize, usize)) -> bool {
    is_update && !fact::are_of_supposed_rows(run, threads)
}

/// An update that is lost for some data.
fn describe_possible(case: &Case<'_>, number: usize, race: &PossibleRace) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let access = &trace.accesses[race.second];
    let (one, other) = (race.threads.0.min(race.threads.1), race.threads.0.max(race.threads.1));
    let name = &trace.arrays[access.array].name;
    let message = format!(
        "`{name}`: possible: threads {one} and {other} both update the same address without an atomic"
    );
    let mut finding = lost(case, number, Ways::of_possible(race), &race.assumptions, message);
    let (note, level) = match race.choice {
        Choice::Element => ("data decide which element".to_owned(), Level::Note),
        Choice::Threads | Choice::Operand => (fact::data_choose(access), Level::Warn),
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
        format!("`{name}`: threads {one} and {other} both update the same address without an atomic");
    let finding = lost(case, number, Ways::of(race), &race.assumptions, message);
    Diagnostic { hazard: fact::hazard(trace, race), ..finding }
}

fn lost(
    case: &Case<'_>,
    number: usize,
    ways: Ways<'_>,
    assumptions: &[Assumption],
    message: String,
) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let access = &trace.accesses[ways.accesses.1];
    let array = &trace.arrays[access.array];
    Diagnostic {
        primary_label: "one of the two updates may be lost".to_owned(),
        labels: vec![(array.name_span, "declared here".to_owned())],
        helps: vec![fact::atomics::advice(case, array, access)],
        ..ways.finding(&RULE, case, number, assumptions, message)
    }
}
