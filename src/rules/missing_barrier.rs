//! ## What it does
//! Finds two accesses to the same byte of shared memory by threads of different warps, one of which writes, with no
//! barrier in between. They may be in straight-line code, in successive iterations of a loop, or one outside of a loop
//! and one in its first iteration. Two writes count if their values surely differ. A plain access and an atomic count,
//! too, such as a counter that is cleared or read while other threads still add to it.
//!
//! | | |
//! |---|---|
//! | for any data | warning |
//! | data decide which threads do one of the two, or whether a loop continues: "possible" | warning |
//! | an atomic combines data of each thread, and another thread reads the result: "possible" | warning |
//! | data decide which element one of the two accesses: "possible" | note |
//!
//! ## Why is this bad
//! Warps run in any order. Which access comes first changes from run to run and from device to device, so the program
//! works until it does not. `compute-sanitizer --tool racecheck` reports a hazard if the inputs at hand trigger it.
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
//! - On public code, each finding was read. For the fixtures, racecheck on an H200 reports the same pairs, except an
//!   atomic beside a store or a read, which it does not report.
//! - Only accesses that surely happen are checked, at offsets that are known except for what all threads share. Arrays
//!   in unions are left out.
//! - Where neither a launch nor the user gives the block, one is supposed, and the finding is a note. There is none if
//!   threads of that block would leave an array, or if the kernel's text shows that it is for one warp: an index like
//!   `blockIdx.x * 32 + threadIdx.x`, a check of `blockDim.x`, or `__syncwarp()` and no barrier.
//! - Under a bound that is read from memory, as in `t < lengths[blockIdx.x]`, the finding says "possible".
//! - If data from global memory decide the element, and nothing else does, as in a histogram, the finding is a note
//!   that says "possible". Slots that atomics or sums over threads hand out are left out.
//! - If a condition on what a thread reads from global memory decides whether it does one of the two accesses, and
//!   nothing else does, the finding is a warning that says "possible". So is one between iterations of a loop that only
//!   data end, as in `while (true) { ...; if (!go) break; ... }` or `while (go)`.
//! - Anything that may order threads counts as a barrier: a named barrier, inline assembly that waits, an unseen
//!   function. So does a fence, but between warps only where a loop may wait for what it reads.
//! - A barrier under a condition that is the same for the whole block is none for the blocks that take the other side,
//!   if some launch may well take it: one that tests numbers for equality, or that holds for large sizes. Cases of a
//!   `switch` are not compared in this way, nor sides that an assertion may rule out.
//! - A condition that is the same for all threads of the block and not decided is taken to hold if a size makes it hold,
//!   as in `blockIdx.x < rows`, or if both accesses are under it and rest on nothing that it asks for. The
//!   finding names it. Otherwise, code under it is not reported, nor are iterations of a loop whose bound may be small.
//!   A condition on the number of the block is decided for single blocks, also one that lets in only some threads of the
//!   first block, such as `blockIdx.x * 64 + threadIdx.x >= 1`.
//! - Where the block chooses one of two numbers, as for the start of a loop, there has to be a race for each of them.
//! - `warp-synchronous` covers threads of one warp.
//! - A `TempStorage` of `cub::BlockReduce` that is used again needs a barrier, because thread 0 may still read the
//!   results of the warps. `docs/races.md` lists which collectives of CUB are followed.
//! - These are not reported: a thread that reads what the same statement wrote for all, as by `flag = 1` or
//!   `atomicOr(&flag, 1)`; what stands between a loop that waits by an atomic and the atomic that lets others go
//!   on; kernels with `volatile` and loops that may wait for what they read; kernels that may have an object of a class that hides a
//!   barrier in a constructor, a destructor or an operator other than `operator()`.
//! - Only successive iterations of a loop are compared. Of a loop of unknown length in which nothing orders threads, the
//!   first iteration is compared with what stands before or behind it.
//! - There is one finding for each array of a kernel in straight-line order and one across iterations, at the first
//!   such pair, and more only if another instance of the kernel has its races elsewhere. Only `--unsafe-fixes` writes
//!   the barrier, because only the author knows where all threads pass.

use super::fact::{self, Ways};
use super::{About, Case, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::events::{Access, AccessOp, Assumption};
use crate::facts::{Across, Between, Choice, PossibleRace, Race};
use crate::source::Span;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "missing-barrier",
    about: About::Correctness,
    level: Level::Warn,
    summary: "warps that write and read the same shared memory with no barrier in between",
    docs: include_str!("missing_barrier.rs"),
};

/// The advice where two threads write different values in one statement.
const ONE_STATEMENT: &str = "let one thread write it, or combine what the threads write with an atomic, such as \
                             `atomicMax`: no barrier can stand between writes of one statement";

/// The advice where the first access is an asynchronous copy.
const BEHIND_THE_WAIT: &str = "put `__syncthreads()` between the wait for the copy and this access; every thread of the \
                               block must reach it";

/// Finds pairs of accesses that nothing orders: one finding for each array and each way.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<(Span, bool)> = Vec::new();
    // Another instance may run other code, with a race of its own.
    let mut places: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        let mut told_here: Vec<(Span, bool)> = Vec::new();
        let mut places_here: Vec<Span> = Vec::new();
        let writes = |race: &&Race| {
            [race.first, race.second].iter().all(|access| run.trace.accesses[*access].op == AccessOp::Store)
        };
        let counts = |race: &&Race| {
            let is_of_rows = writes(race) && fact::are_of_supposed_rows(run, race.threads);
            race.between == Between::Warps && !race.is_update && !is_of_rows
        };
        // What threads read is told of before what they overwrite, which no barrier mends.
        let (written, read): (Vec<&Race>, Vec<&Race>) =
            run.facts.races.iter().filter(counts).partition(writes);
        let races: Vec<&Race> = read.into_iter().chain(written).collect();
        for (at, race) in races.iter().copied().enumerate() {
            let array = |race: &Race| run.trace.accesses[race.first].array;
            let cause = (run.trace.arrays[array(race)].name_span, race.across.is_some());
            let alike = |it: &&Race| array(it) == array(race) && it.across.is_some() == cause.1;
            let others: Vec<&Race> = races[at + 1..].iter().copied().filter(alike).collect();
            let of_race = |it: &Race| [it.first, it.second].map(|access| run.trace.accesses[access].span);
            let here: Vec<Span> = others.iter().copied().chain([race]).flat_map(of_race).collect();
            let is_known = told_here.contains(&cause)
                || told.contains(&cause) && here.iter().any(|place| places.contains(place));
            places_here.extend(here);
            if !is_known {
                out.push(fact::of_block(run, describe(case, number, race, &others)));
            }
            told_here.push(cause);
        }
        told.append(&mut told_here);
        places.append(&mut places_here);
    }
    for (number, run) in case.runs.iter().enumerate() {
        for race in run.facts.rounds.iter().filter(|race| race.between == Between::Warps && !race.is_update) {
            let array = run.trace.arrays[run.trace.accesses[race.first].array].name_span;
            if told.iter().all(|(known, _)| *known != array) {
                told.push((array, true));
                out.push(fact::of_block(run, describe(case, number, race, &[])));
            }
        }
    }
    for (number, run) in case.runs.iter().enumerate() {
        let of_warps = |race: &&PossibleRace| race.between == Between::Warps && !race.is_update;
        for race in run.facts.possible.iter().filter(of_warps) {
            let array = run.trace.arrays[run.trace.accesses[race.first].array].name_span;
            if told.iter().all(|(known, _)| *known != array) {
                told.push((array, false));
                out.push(fact::of_block(run, describe_possible(case, number, race)));
            }
        }
    }
}

/// What is told of a pair, of a race or of a possible one.
struct Pair<'a> {
    ways: Ways<'a>,
    threads: (usize, usize),
    across: Option<Across>,
    round: Option<Span>,
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
        let (first, second) = (&trace.accesses[self.ways.accesses.0], &trace.accesses[self.ways.accesses.1]);
        let array = &trace.arrays[first.array];
        let (before, after) = self.threads;
        let (earlier, then) = (fact::does(first), fact::does(second));
        let round = if self.across.is_some() { " in the previous iteration" } else { "" };
        let does = fact::does_to(second, other);
        let what = format!("thread {after} {does} what thread {before} {earlier}{round}{other}");
        let message = format!("`{}`: {possible}{what}, with no barrier in between", array.name);
        let mut labels = Vec::new();
        if first.span != second.span {
            labels.push((first.span, format!("thread {before}, of warp {}, {earlier} it here", before / 32)));
        }
        labels.push((array.name_span, "declared here".to_owned()));
        let finding = self.ways.finding(&RULE, case, number, self.assumptions, message);
        let (places, who) = (self.ways.places(trace), "every thread of the block");
        let others: Vec<(Span, Span)> = others.iter().map(|it| Ways::of(it).places(trace)).collect();
        let may_stand = |place| !trace.is_parted(place);
        let (rounds, of_block) = ((self.across, self.round), ("__syncthreads()", who));
        let is_one_statement = places.0 == places.1 && self.across.is_none() && self.round.is_none();
        let (help, fix) = match (is_one_statement, first.op) {
            (true, _) => (ONE_STATEMENT.to_owned(), None),
            // Before the copies have arrived, it orders nothing.
            (false, AccessOp::AsyncCopy) => (BEHIND_THE_WAIT.to_owned(), None),
            (false, _) => fact::barrier(case, (places, &others), rounds, of_block, &may_stand),
        };
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
    let PossibleRace { first, second, threads, across, round, ref assumptions, .. } = *race;
    let pair = Pair { ways: Ways::of_possible(race), threads, across, round, assumptions };
    let accesses = &case.runs[number].trace.accesses;
    let other = fact::another_value(&accesses[first], &accesses[second]);
    let mut finding = pair.describe(case, number, ("possible: ", other), &[]);
    let chosen = &case.runs[number].trace.accesses[if race.first_is_chosen { first } else { second }];
    let (note, level) = match race.choice {
        Choice::Element => {
            let why = chosen.unknown.as_ref().map_or(String::new(), |why| format!(": {}", why.detail));
            (format!("data decide which element one of the two accesses{why}"), Level::Note)
        }
        Choice::Threads => (fact::data_choose(chosen), Level::Warn),
        Choice::Operand => (
            "each thread combines data of its own with it, so a read may miss what other threads add"
                .to_owned(),
            Level::Warn,
        ),
    };
    finding.notes.insert(0, note);
    let trace = &case.runs[number].trace;
    let ops = (trace.accesses[first].op, trace.accesses[second].op);
    let by_choice = race.choice == Choice::Threads && !race.first_is_chosen;
    if by_choice && ops == (AccessOp::Load, AccessOp::Store) && is_of_several_lanes(&trace.accesses[second]) {
        // A barrier would part the two, and leave those who write it to each other.
        let access = &trace.accesses[second];
        let help = fact::atomics::decided_by_read(case, &trace.arrays[access.array], access);
        (finding.helps, finding.fix) = (vec![help], None);
    }
    Diagnostic { level, loudest: level, ..finding }
}

/// Whether several lanes of a warp access one place, such as `best`. They do not in `s[threadIdx.x]`.
fn is_of_several_lanes(access: &Access) -> bool {
    access.patterns.iter().any(|pattern| {
        let lanes = || (0..32).filter(|lane| pattern.active >> lane & 1 == 1);
        pattern.varying.is_empty()
            && lanes().any(|lane| {
                lanes().take_while(|it| *it < lane).any(|it| pattern.offsets[it] == pattern.offsets[lane])
            })
    })
}

fn describe(case: &Case<'_>, number: usize, race: &Race, others: &[&Race]) -> Diagnostic {
    let trace = &case.runs[number].trace;
    let Race { first, second, threads, across, round, ref assumptions, .. } = *race;
    let other = fact::another_value(&trace.accesses[first], &trace.accesses[second]);
    let pair = Pair { ways: Ways::of(race), threads, across, round, assumptions };
    let possible = if race.needs_data() { "possible: " } else { "" };
    let mut finding = pair.describe(case, number, (possible, other), others);
    finding.labels.extend(fact::also_unordered(trace, &[first, second], &[], others));
    if let Some(Across { of, .. }) = across {
        finding
            .notes
            .insert(0, format!("the two are in successive iterations of the loop at {}", (case.place)(of)));
    }
    if race.for_data {
        finding.notes.insert(0, "data decide whether the loop continues".to_owned());
    }
    if race.is_bound_by_data() {
        finding.notes.insert(0, "the bound that lets these threads in is read from memory".to_owned());
    }
    if race.needs_data() {
        (finding.level, finding.loudest) = (Level::Warn, Level::Warn);
    }
    Diagnostic { hazard: fact::hazard(trace, race), ..finding }
}
