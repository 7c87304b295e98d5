//! ## What it does
//! Finds two accesses of one byte of shared memory by threads of different warps, one of which writes,
//! with no barrier in between: in straight code, between a loop's end and the beginning of its next round,
//! and between what comes before a loop and its first round. Two writes count where their values surely differ.
//! A plain access and an atomic count, too: a counter that is cleared or read while others still add to it.
//!
//! | | |
//! |---|---|
//! | whatever the data are | warning |
//! | data choose which threads do one of the two, or whether a loop goes on to the next round: "possible" | warning |
//! | data choose the element: "possible" | note |
//!
//! ## Why is this bad
//! Warps run as they like. Which of the two comes first changes from run to run and from device to
//! device, so the program is right until it is not. `compute-sanitizer --tool racecheck` calls it a
//! hazard, where the inputs at hand lead to it.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void neighbours(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     out[threadIdx.x] = s[threadIdx.x] + s[(threadIdx.x + 1) % 256];
//! }
//!
//! void launch(float *out, const float *in) {
//!     neighbours<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void neighbours(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.x] = s[threadIdx.x] + s[(threadIdx.x + 1) % 256];
//! }
//!
//! void launch(float *out, const float *in) {
//!     neighbours<<<1, 256>>>(out, in);
//! }
//! ```
//!
//! ## Limits
//! - On public code each finding was read; for its fixtures an H200's racecheck reports the same pairs, but for
//!   an atomic beside a store or a read, of which it says nothing.
//! - Only accesses that surely happen, in a block that a launch or the user gives, at offsets that are known
//!   but for what all threads share. Arrays through unions are left out.
//! - Where data from global memory choose the element, and nothing else does, as in a histogram, the finding is a
//!   note that says "possible". Slots that atomics or sums over threads hand out are left out.
//! - Where a condition on what a thread reads from global memory chooses whether it does one of the two, and nothing
//!   else does, the finding says "possible", too, and is a warning. So it does where only data that all threads read
//!   end a loop, as in `while (true) { ...; if (!go) break; ... }`.
//! - Whatever may order threads counts as a barrier: a named barrier, a fence, inline assembly that waits, a
//!   function that is not seen. So do barriers on ways that a block may pass by.
//! - Nothing is said of what is done under a condition that is the same for all threads and not decided, nor
//!   of rounds of a loop whose bound may be small.
//! - Threads of one warp are what `warp-synchronous` is about.
//! - Nothing is said of a thread that reads what the same statement wrote for all, as by `flag = 1` or
//!   `atomicOr(&flag, 1)`; of kernels with `volatile` and
//!   loops that may wait for what they read; or of those whose files hide barriers in constructors, destructors or
//!   operators.
//! - Of rounds of a loop only neighbouring ones are compared.
//! - One finding for each array of a kernel and each way (in order, or from round to round), at the first
//!   such pair. Only `--unsafe-fixes` writes the barrier: where all threads come by is for the author to say.

use super::{About, Case, Rule, fact};
use crate::diagnostic::{Diagnostic, Level};
use crate::events::{AccessOp, Assumption};
use crate::facts::{Between, Choice, PossibleRace, Race};
use crate::source::Span;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "missing-barrier",
    about: About::Correctness,
    level: Level::Warn,
    summary: "warps that write and read the same shared memory with no barrier in between",
    docs: include_str!("missing_barrier.rs"),
};

/// Finds pairs of accesses that nothing orders: one finding for each array and each way.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<(Span, bool)> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        for (at, race) in run.facts.races.iter().enumerate() {
            if race.between != Between::Warps || race.is_update {
                continue;
            }
            let array = |race: &Race| run.trace.accesses[race.first].array;
            let cause = (run.trace.arrays[array(race)].name_span, race.across.is_some());
            if told.contains(&cause) {
                continue;
            }
            told.push(cause);
            let others = run.facts.races[at + 1..].iter();
            let alike = |it: &&Race| {
                it.between == Between::Warps
                    && !it.is_update
                    && array(it) == array(race)
                    && it.across.is_some() == cause.1
            };
            out.push(describe(case, number, race, &others.filter(alike).collect::<Vec<_>>()));
        }
    }
    for (number, run) in case.runs.iter().enumerate() {
        for race in run.facts.rounds.iter().filter(|race| race.between == Between::Warps && !race.is_update) {
            let array = run.trace.arrays[run.trace.accesses[race.first].array].name_span;
            if told.iter().all(|(known, _)| *known != array) {
                told.push((array, true));
                out.push(describe(case, number, race, &[]));
            }
        }
    }
    for (number, run) in case.runs.iter().enumerate() {
        for race in run.facts.possible.iter().filter(|race| !race.is_update) {
            let array = run.trace.arrays[run.trace.accesses[race.first].array].name_span;
            if told.iter().all(|(known, _)| *known != array) {
                told.push((array, false));
                out.push(describe_possible(case, number, race));
            }
        }
    }
}

/// What is told of a pair, of a race or of a possible one.
struct Pair<'a> {
    /// The accesses, by their numbers in the trace.
    accesses: (usize, usize),
    threads: (usize, usize),
    across: Option<Span>,
    assumptions: &'a [Assumption],
}

impl Pair<'_> {
    /// The finding; `possible`: words before what happens; `other`: words behind it; `others`: more pairs of the
    /// same cause.
    fn describe(
        &self,
        case: &Case<'_>,
        number: usize,
        (possible, other): (&str, &str),
        others: &[&Race],
    ) -> Diagnostic {
        let trace = &case.runs[number].trace;
        let (first, second) = (&trace.accesses[self.accesses.0], &trace.accesses[self.accesses.1]);
        let array = &trace.arrays[first.array];
        let (before, after) = self.threads;
        let (earlier, then) = (fact::does(first), fact::does(second));
        let round = if self.across.is_some() { " in the round before" } else { "" };
        let what = format!("thread {after} {then} what thread {before} {earlier}{round}{other}");
        let message = format!("`{}`: {possible}{what}, with no barrier in between", array.name);
        let mut labels = Vec::new();
        if first.span != second.span {
            labels.push((first.span, format!("thread {before}, of warp {}, {earlier} it here", before / 32)));
        }
        labels.push((array.name_span, "declared here".to_owned()));
        let finding = fact::finding(&RULE, case, number, second, self.assumptions, message);
        let (places, who) = (fact::places(first, second), "every thread of the block");
        let access = |number: usize| &trace.accesses[number];
        let others = others.iter().map(|it| fact::places(access(it.first), access(it.second)));
        let others: Vec<(Span, Span)> = others.collect();
        let (help, fix) = fact::barrier(case, (places, &others), self.across, "__syncthreads()", who);
        Diagnostic {
            primary_label: format!("thread {after}, of warp {}, {then} it here", after / 32),
            labels,
            helps: vec![help],
            fix,
            ..finding
        }
    }
}

/// A race that takes data that lead there: a note where they choose the element, which they may do so that no threads
/// meet.
fn describe_possible(case: &Case<'_>, number: usize, race: &PossibleRace) -> Diagnostic {
    let PossibleRace { first, second, threads, across, ref assumptions, .. } = *race;
    let pair = Pair { accesses: (first, second), threads, across, assumptions };
    let accesses = &case.runs[number].trace.accesses;
    let other = fact::another_value(&accesses[first], &accesses[second]);
    let mut finding = pair.describe(case, number, ("possible: ", other), &[]);
    let chosen = &case.runs[number].trace.accesses[if race.first_is_chosen { first } else { second }];
    let (note, level) = match race.choice {
        Choice::Element => {
            let why = chosen.unknown.as_ref().map_or(String::new(), |why| format!(": {}", why.detail));
            (format!("data choose the element that one of the two goes to{why}"), Level::Note)
        }
        Choice::Threads => (fact::data_choose(chosen), Level::Warn),
    };
    finding.notes.insert(0, note);
    let trace = &case.runs[number].trace;
    let ops = (trace.accesses[first].op, trace.accesses[second].op);
    if race.choice == Choice::Threads && !race.first_is_chosen && ops == (AccessOp::Load, AccessOp::Store) {
        // A barrier would part the two, and leave those who write it to each other.
        let access = &trace.accesses[second];
        let help = fact::atomics::decided_by_read(case, &trace.arrays[access.array], access);
        (finding.helps, finding.fix) = (vec![help], None);
    }
    Diagnostic { level, loudest: level, ..finding }
}

fn describe(case: &Case<'_>, number: usize, race: &Race, others: &[&Race]) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let Race { first, second, threads, across, ref assumptions, .. } = *race;
    let other = fact::another_value(&trace.accesses[first], &trace.accesses[second]);
    let pair = Pair { accesses: (first, second), threads, across, assumptions };
    let possible = if race.for_data { "possible: " } else { "" };
    let mut finding = pair.describe(case, number, (possible, other), others);
    finding.labels.extend(fact::also_unordered(trace, &[first, second], &[], others));
    if let Some(span) = across {
        let place = (case.place)(span);
        finding.notes.insert(
            0,
            match race.for_data {
                true => {
                    format!("data decide whether the loop at {place} goes on, and each round follows another")
                }
                false => format!("each round of the loop at {place} follows another"),
            },
        );
    }
    if race.for_data {
        (finding.level, finding.loudest) = (Level::Warn, Level::Warn);
        if across.is_none() {
            finding.notes.insert(0, "data decide whether the loop goes on".to_owned());
        }
    }
    Diagnostic { hazard: fact::hazard(trace, race), ..finding }
}
