//! ## What it does
//! Finds two accesses of one place of global memory, one of which writes, by threads that nothing orders: of two
//! blocks, or of two warps of a block with no barrier in between. Not reported unless asked for:
//! `-W global-race`, or `global-race = "warn"` under `[levels]` in `cudalint.toml`.
//!
//! ## Why is this bad
//! Blocks run in any order and at any time. What one of them reads of what another writes changes from run to run,
//! and so does the sum to which two add without an atomic. No barrier helps but one of the whole grid, and
//! `compute-sanitizer --tool racecheck` looks at shared memory only.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void smooth(float *a, int n) {
//!     int i = blockIdx.x * 256 + threadIdx.x;
//!     if (i > 0 && i < n - 1) a[i] = (a[i - 1] + a[i + 1]) / 2;
//! }
//!
//! void launch(float *a, int n) {
//!     smooth<<<(n + 255) / 256, 256>>>(a, n);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void smooth(float *out, const float *a, int n) {
//!     int i = blockIdx.x * 256 + threadIdx.x;
//!     if (i > 0 && i < n - 1) out[i] = (a[i - 1] + a[i + 1]) / 2;
//! }
//!
//! void launch(float *out, const float *a, int n) {
//!     smooth<<<(n + 255) / 256, 256>>>(out, a, n);
//! }
//! ```
//!
//! ## Limits
//! - Only memory under one name, a parameter of the kernel or a `__device__` array: whether two parameters lead to the
//!   same memory is not asked.
//! - Only accesses that surely happen, in a block that a launch or the user gives, at addresses made of the numbers
//!   of threads, blocks and rounds and of the kernel's parameters. What data choose is left out.
//! - Blocks are compared with their neighbours. Where the launch does not tell how many blocks there are, two are
//!   supposed, in the directions that the kernel asks for.
//! - Between blocks nothing is said of kernels with fences, with atomics whose result is used, with barriers of
//!   the grid, with `volatile` and loops that may wait for what they read, or that call what is not seen: blocks
//!   may wait for each other there.
//! - Two writes by different blocks of values that may be equal are a note that says "possible".
//! - Within a block, threads of one warp are told of only where one loses what another adds.
//! - One finding for each access that comes second, at the first pair found. Each kernel is run once more for this
//!   rule, those without shared memory too.

use super::{About, Case, Rule, fact};
use crate::diagnostic::{Diagnostic, Level};
use crate::facts::MemoryRace;
use crate::source::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "global-race",
    about: About::Correctness,
    level: Level::Allow,
    summary: "threads of two blocks or warps that access global memory with nothing that orders them",
    docs: include_str!("global_race.rs"),
};

/// Finds pairs of accesses that nothing orders: one finding for each access that comes second.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        let (sure, possible): (Vec<_>, Vec<_>) = run.facts.memory.iter().partition(|race| !race.is_possible);
        for race in sure.into_iter().chain(possible) {
            if !told.contains(&race.second.span) {
                told.push(race.second.span);
                out.push(describe(case, number, race));
            }
        }
    }
}

fn describe(case: &Case<'_>, number: usize, race: &MemoryRace) -> Diagnostic {
    let (before, after) = race.threads;
    let (earlier, then) = (fact::does(&race.first), fact::does(&race.second));
    let (one_block, other_block) = race.apart.map_or(("", ""), |apart| (" of a block", whose(apart)));
    let name = &race.name;
    let round = if race.across.is_some() { " in the round before" } else { "" };
    let message = match (race.is_update, race.is_possible) {
        (true, _) => format!(
            "`{name}`: thread {before}{one_block} and thread {after}{other_block} both change the same place, and \
             not atomically"
        ),
        (false, true) => format!(
            "`{name}`: possible: thread {before}{one_block} and thread {after}{other_block} write different values \
             to the same place"
        ),
        (false, false) => {
            let value = fact::another_value(&race.first, &race.second);
            format!(
                "`{name}`: thread {after}{other_block} {then} what thread {before}{one_block} {earlier}{round}\
                 {value}, and nothing orders them"
            )
        }
    };
    let help = match race.apart {
        _ if race.is_update => "use an atomic such as `atomicAdd`, or let one thread do it for all",
        None => "put `__syncthreads()` between the two, where every thread of the block reaches it",
        Some(_) if race.first.op == race.second.op => {
            "give each block a place of its own, or let only one of them write"
        }
        Some(_) => {
            "write to other memory than is read, or let another launch do what comes second: a launch waits for the \
             one before"
        }
    };
    let mut labels = Vec::new();
    if race.first.span != race.second.span {
        labels.push((race.first.span, format!("thread {before}{one_block} {earlier} it here")));
    }
    let mut finding = fact::finding(&RULE, case, number, &race.second, &race.assumptions, message);
    if race.grid_is_supposed {
        finding.notes.push("assumed: the grid has more than one block in that direction".to_owned());
    }
    let loudest = if race.is_possible { Level::Note } else { Level::Deny };
    let primary_label = match race.is_update {
        true => "what one of them adds here may be lost".to_owned(),
        false => format!("thread {after}{other_block} {then} it here"),
    };
    Diagnostic { loudest, primary_label, labels, helps: vec![help.to_owned()], ..finding }
}

/// Of which block that lies so far from another.
fn whose(apart: [i64; 3]) -> &'static str {
    match apart {
        [1, 0, 0] => " of the next block in x",
        [-1, 0, 0] => " of the block before it in x",
        [0, 1, 0] => " of the next block in y",
        [0, -1, 0] => " of the block before it in y",
        [0, 0, 1] => " of the next block in z",
        [0, 0, -1] => " of the block before it in z",
        _ => " of another block",
    }
}
