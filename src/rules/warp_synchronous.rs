//! ## What it does
//! Finds two lanes of one warp that access the same byte of shared memory with no `__syncwarp()` in between:
//!
//! | | |
//! |---|---|
//! | one reads what the other has just written, or both write, in two statements, values that surely differ | warning |
//! | the same, where data decide which lanes write or read | warning, "possible" |
//! | the same, with a shuffle or a vote between the two | note |
//! | one writes what the other has just read, as in `s[t] += s[t + 16]` by all lanes: only lockstep orders the two | note |
//!
//! ## Why is this bad
//! Up to compute capability 6.x, the lanes of a warp ran in lockstep, and much code relies on that: the last steps of
//! a reduction without barriers, with or without `volatile`. From 7.0 on, each lane has its own program counter. The
//! compiler may let some lanes run ahead, and then a lane reads data that is not written yet. Shuffles and votes
//! exchange values between lanes; they do not order memory.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void sum(float *out, const float *in) {
//!     __shared__ float s[64];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     s[threadIdx.x + 32] = in[threadIdx.x + 32];
//!     s[threadIdx.x] += s[threadIdx.x + 32];
//!     s[threadIdx.x] += s[threadIdx.x + 16];
//!     out[threadIdx.x] = s[threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     sum<<<1, 32>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void sum(float *out, const float *in) {
//!     __shared__ float s[64];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     s[threadIdx.x + 32] = in[threadIdx.x + 32];
//!     s[threadIdx.x] += s[threadIdx.x + 32];
//!     __syncwarp();
//!     float v = s[threadIdx.x + 16];
//!     __syncwarp();
//!     s[threadIdx.x] += v;
//!     out[threadIdx.x] = s[threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     sum<<<1, 32>>>(out, in);
//! }
//! ```
//! If lanes only exchange values, `__shfl_down_sync` needs no shared memory at all.
//!
//! ## Limits
//! - Targets before 7.0 are not checked: there, warps work this way.
//! - This rule finds what racecheck on an H200 reports as a "(Warp Level Programming) Potential RAW hazard".
//!   racecheck also warns about lanes that read before others write, as in `s[t] = s[t + 1]`. In lockstep, all lanes
//!   load before any of them stores, so this is a note, and only if the kernel has no other race.
//! - Only accesses that surely happen are checked, at known offsets. Data may decide which lanes do one of the two, but
//!   not of both: they may be meant to exclude each other.
//! - Where neither a launch nor the user gives the block, one is supposed, and the finding is a note; none if threads of
//!   that block would leave an array.
//! - If a shuffle or a vote, or a function that may contain one, is between the two accesses, the finding is a note.
//! - Anything that may order threads counts as `__syncwarp()`: an unseen function, a fence, inline assembly.
//! - Kernels that may have an object of a class that hides a `__syncwarp()` in a constructor, a destructor or an
//!   operator other than `operator()` are not checked.
//! - There is one finding for each array of a kernel, at the first such pair.

use super::fact::{self, Ways};
use super::{About, Case, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::facts::{Between, PossibleRace, Race};
use crate::source::Span;

/// What is said where threads may wait for what they read: then it is not judged what other warps do.
const OF_OTHER_WARPS: &str = "if threads of other warps access it, too, use `__syncthreads()`: cudalint does not judge \
                              that, as threads may wait here for what they read";

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "warp-synchronous",
    about: About::Correctness,
    level: Level::Warn,
    summary: "lanes that read what other lanes of their warp wrote, with no `__syncwarp` in between",
    docs: include_str!("warp_synchronous.rs"),
};

/// Why lanes of a warp race at all.
const APART: &str = "since compute capability 7.0, the lanes of a warp need not run in lockstep";

/// Finds pairs of accesses within a warp that nothing orders: one finding for each array.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    if case.targets.iter().all(|target| !target.has_independent_lanes()) {
        return;
    }
    let mut told: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        let array = |race: &Race| run.trace.arrays[run.trace.accesses[race.first].array].name_span;
        // A pair with nothing at all in between is the surer one.
        let plain = |race: &&Race| race.between == (Between::Lanes { exchange: None });
        let exchanged = |race: &&Race| matches!(race.between, Between::Lanes { exchange: Some(_) });
        let races: Vec<&Race> = run.facts.races.iter().filter(|race| !race.is_update).collect();
        // Where warps race, too, a barrier of the block helps both.
        let of_warps = |race: &Race| {
            let pair = |it: &Race| (it.first, it.second);
            races.iter().any(|it| it.between == Between::Warps && pair(it) == pair(race))
        };
        let of_each = || races.iter().copied();
        for race in of_each().filter(plain).chain(of_each().filter(exchanged)) {
            if told.contains(&array(race)) || of_warps(race) {
                continue;
            }
            told.push(array(race));
            let others = of_each().filter(|it| *it != race && it.between != Between::Warps);
            let others = others.filter(|it| array(it) == array(race));
            out.push(fact::of_block(run, describe(case, number, race, &others.collect::<Vec<_>>())));
        }
    }
    check_possible(case, &mut told, out);
    for (number, run) in case.runs.iter().enumerate() {
        // A kernel that races anyway is to be mended first.
        let races_anyway = !run.facts.races.is_empty() || !run.facts.rounds.is_empty();
        for race in run.facts.overwritten.iter().filter(|_| !races_anyway) {
            let array = run.trace.arrays[run.trace.accesses[race.first].array].name_span;
            if !told.contains(&array) {
                told.push(array);
                out.push(fact::of_block(run, describe_overwritten(case, number, race)));
            }
        }
    }
}

/// Lanes that write, or read, only for some data.
fn check_possible(case: &Case<'_>, told: &mut Vec<Span>, out: &mut Vec<Diagnostic>) {
    for (number, run) in case.runs.iter().enumerate() {
        let array = |race: &PossibleRace| run.trace.arrays[run.trace.accesses[race.first].array].name_span;
        // Where warps may race, too, a barrier of the block helps both.
        let of_warps = |race: &PossibleRace| {
            let pair = |it: &PossibleRace| (it.first, it.second);
            run.facts.possible.iter().any(|it| it.between == Between::Warps && pair(it) == pair(race))
        };
        let of_lanes = |race: &&PossibleRace| race.between != Between::Warps && !race.is_update;
        let races = run.facts.possible.iter().filter(|race| of_lanes(race) && !of_warps(race));
        let races: Vec<&PossibleRace> = races.collect();
        let plain = |race: &&&PossibleRace| race.between == (Between::Lanes { exchange: None });
        for race in races.iter().filter(plain).chain(&races) {
            if !told.contains(&array(race)) {
                told.push(array(race));
                let others = races.iter().copied().filter(|it| it != race && array(it) == array(race));
                out.push(fact::of_block(
                    run,
                    describe_possible(case, number, race, &others.collect::<Vec<_>>()),
                ));
            }
        }
    }
}

fn describe_possible(
    case: &Case<'_>,
    number: usize,
    race: &PossibleRace,
    others: &[&PossibleRace],
) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let (first, second) = (&trace.accesses[race.first], &trace.accesses[race.second]);
    let (before, after) = (race.threads.0 % 32, race.threads.1 % 32);
    let (earlier, then) = (fact::does(first), fact::does(second));
    let round = if race.across.is_some() { " in the previous iteration" } else { "" };
    let message = format!(
        "`{}`: possible: lane {after} {then} what lane {before} of its warp {earlier}{round}, with no `__syncwarp` in \
         between",
        trace.arrays[first.array].name
    );
    let mut finding = Ways::of_possible(race).finding(&RULE, case, number, &race.assumptions, message);
    finding.notes.insert(0, fact::data_choose(if race.first_is_chosen { first } else { second }));
    finding.notes.insert(0, APART.to_owned());
    let mut labels = vec![(first.span, format!("lane {before} {earlier} it here"))];
    if let Between::Lanes { exchange: Some(span) } = race.between {
        finding.level = Level::Note;
        labels.push((span, "this exchanges values but does not order memory".to_owned()));
    }
    // The other steps of the same tail need one, too.
    let others = others.iter().filter(|other| other.across.is_none());
    let others: Vec<_> = others.map(|other| Ways::of_possible(other).places(trace)).collect();
    let (places, who) = (Ways::of_possible(race).places(trace), "every lane of the warp");
    let (help, fix) =
        fact::barrier(case, (places, &others), (race.across, None), ("__syncwarp()", who), &|_| true);
    let primary_label = format!("lane {after} {then} it here");
    Diagnostic { primary_label, labels, helps: vec![help], fix, ..finding }
}

/// Lanes that read before others write, which in step they do in one instruction: a note, with its own advice.
fn describe_overwritten(case: &Case<'_>, number: usize, race: &Race) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let (first, second) = (&trace.accesses[race.first], &trace.accesses[race.second]);
    let array = &trace.arrays[first.array];
    let (before, after) = (race.threads.0 % 32, race.threads.1 % 32);
    let then = fact::does(second);
    let round = if race.across.is_some() { " in the previous iteration" } else { "" };
    let message = format!(
        "`{}`: lane {after} {then} what lane {before} of its warp reads{round}, and only lockstep orders the two",
        array.name
    );
    let mut finding = Ways::of(race).finding(&RULE, case, number, &race.assumptions, message);
    finding.notes.insert(
        0,
        "in lockstep, all lanes read before any of them writes; since compute capability 7.0, they need not run in \
         lockstep"
            .to_owned(),
    );
    let help = match race.across {
        Some(_) => "put `__syncwarp()` at the end of the loop body; every lane of the warp must reach it",
        None => "read into a variable, call `__syncwarp()`, and then write",
    };
    Diagnostic {
        level: Level::Note,
        primary_label: format!("lane {after} {then} it here"),
        labels: vec![(first.span, format!("lane {before} reads it here"))],
        hazard: fact::hazard(trace, race),
        helps: vec![help.to_owned()],
        ..finding
    }
}

fn describe(case: &Case<'_>, number: usize, race: &Race, others: &[&Race]) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let (first, second) = (&trace.accesses[race.first], &trace.accesses[race.second]);
    let array = &trace.arrays[first.array];
    let (before, after) = race.threads;
    let (earlier, then) = (fact::does(first), fact::does(second));
    let other = fact::another_value(first, second);
    let round = if race.across.is_some() { " in the previous iteration" } else { "" };
    let message = format!(
        "`{}`: lane {} {} what lane {} of its warp {earlier}{round}{other}, with no `__syncwarp` in \
         between",
        array.name,
        after % 32,
        fact::does_to(second, other),
        before % 32
    );
    let mut labels = Vec::new();
    if first.span != second.span {
        labels.push((first.span, format!("lane {} {earlier} it here", before % 32)));
    }
    let mut finding = Ways::of(race).finding(&RULE, case, number, &race.assumptions, message);
    let exchange = match race.between {
        Between::Lanes { exchange } => exchange,
        Between::Warps => None,
    };
    if let Some(span) = exchange {
        finding.level = Level::Note;
        labels.push((span, "this exchanges values but does not order memory".to_owned()));
    }
    labels.extend(fact::also_unordered(trace, &[race.first, race.second], exchange.as_slice(), others));
    finding.notes.insert(0, APART.to_owned());
    let (places, who) = (Ways::of(race).places(trace), "every lane of the warp");
    // The other steps of the same tail need one, too.
    let others = others.iter().filter(|other| other.across.is_none());
    let others: Vec<_> = others.map(|other| Ways::of(other).places(trace)).collect();
    let (help, mut fix) =
        fact::barrier(case, (places, &others), (race.across, race.round), ("__syncwarp()", who), &|_| true);
    let mut helps = vec![help];
    if trace.tree.may_wait() && case.runs[number].block.iter().product::<u32>() > 32 {
        fix = None;
        helps.push(OF_OTHER_WARPS.to_owned());
    }
    let overwritten = &case.runs[number].facts.overwritten;
    if overwritten.iter().any(|it| trace.accesses[it.first].array == first.array) {
        let more = "where lanes write what others read in the same statement, read into a variable, call \
                    `__syncwarp()`, and then write";
        helps.push(more.to_owned());
    }
    Diagnostic {
        primary_label: format!("lane {} {then} it here", after % 32),
        labels,
        hazard: fact::hazard(trace, race),
        helps,
        fix,
        ..finding
    }
}
