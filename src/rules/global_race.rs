//! ## What it does
//! Finds two accesses of one place of global memory, one of which writes, by threads that nothing orders: of two
//! blocks, or of two warps of a block with no barrier in between. Two blocks are in order only by a barrier of the
//! grid, or where one hands on what it did by `__threadfence()` and the other may wait for it. Atomics of the block's
//! scope, as `atomicAdd_block`, are no atomics between blocks. Not reported unless asked for: `-W global-race`, or
//! `global-race = "warn"` under `[levels]` in `cudalint.toml`.
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
//! - Blocks are compared with their neighbours, and what only some blocks do among the first three in each direction.
//!   Where the launch does not tell how many there are, enough are supposed, in the directions that the kernel asks
//!   for.
//! - By an atomic whose result is used, or by what is not seen, a thread may wait for any other. What a block does after
//!   that is in order with what another does before a fence of the device's scope. In kernels with `volatile` and loops
//!   that may wait for what they read nothing is said of two blocks, and nothing across the barriers of the grid.
//! - What a thread reads to give it to its own `atomicCAS` is a guess, and no race with the atomics of others.
//! - A block that draws a certain ticket, as the last of `atomicInc(&tickets, gridDim.x)`, may be any, and it is alone:
//!   what it reads there of what others write before they draw theirs needs a fence before the ticket. In loops of such a
//!   block only the first round is looked at. Under a condition on the number of blocks, as `if (gridDim.x > 1)`, nothing
//!   is said.
//! - `cuda::atomic` and `cuda::atomic_ref` count with their scope, and with the fences that their memory order has. Where
//!   the order is not known, it is taken for the strongest.
//! - Two writes by different blocks of values that may be equal are a note that says "possible".
//! - Within a block, threads of one warp are told of only where one loses what another adds.
//! - One finding for each access that comes second, at the first pair found. Each kernel is run once more for this
//!   rule, those without shared memory too.

use super::{About, Case, Rule, fact};
use crate::diagnostic::{Diagnostic, Level};
use crate::facts::{Lack, MemoryRace, TwoBlocks};
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
    let (one_block, other_block) = race.blocks.map_or_else(Default::default, whose);
    let name = &race.name;
    let round = if race.across.is_some() { " in the round before" } else { "" };
    let possible = if race.choice.is_some() { "possible: " } else { "" };
    let message = match (race.is_update, race.is_possible && race.choice.is_none()) {
        (true, _) => format!(
            "`{name}`: {possible}thread {before}{one_block} and thread {after}{other_block} both change the same \
             place, and not atomically"
        ),
        (false, true) => format!(
            "`{name}`: possible: thread {before}{one_block} and thread {after}{other_block} write different values \
             to the same place"
        ),
        (false, false) if race.lack == Lack::Scope => format!(
            "`{name}`: thread {before}{one_block} and thread {after}{other_block} change the same place with atomics \
             that are one step only within a block"
        ),
        (false, false) => {
            let value = fact::another_value(&race.first, &race.second);
            format!(
                "`{name}`: {possible}thread {after}{other_block} {then} what thread {before}{one_block} \
                 {earlier}{round}{value}, and nothing orders them"
            )
        }
    };
    let help = match (race.blocks, race.lack) {
        (_, Lack::Scope) => {
            "use atomics of the device's scope: those without `_block` in their names, or `cuda::thread_scope_device`"
        }
        (_, Lack::Fence { narrow: Some(_), .. }) => {
            "use `__threadfence()`: `__threadfence_block()` hands nothing on to other blocks"
        }
        (_, Lack::Fence { narrow: None, .. }) => {
            "put `__threadfence()` between what is written and the atomic that tells of it, or give the atomic a \
             memory order that releases"
        }
        _ if race.is_update => "use an atomic such as `atomicAdd`, or let one thread do it for all",
        (None, _) => "put `__syncthreads()` between the two; every thread of the block has to reach it",
        (Some(_), _) if race.first.op == race.second.op => {
            "give each block a place of its own, or let only one of them write"
        }
        (Some(_), _) => {
            "write to other memory than is read, or let another launch do what comes second: a launch waits for the \
             one before"
        }
    };
    let mut labels = Vec::new();
    if race.first.span != race.second.span {
        labels.push((race.first.span, format!("thread {before}{one_block} {earlier} it here")));
    }
    let mut finding = fact::finding(&RULE, case, number, &race.second, &race.assumptions, message);
    if let Lack::Fence { waits, narrow } = race.lack {
        labels.push((waits, "a thread may wait here, but that puts no other access in order".to_owned()));
        labels.extend(narrow.map(|it| (it, "this fence is for the threads of one block".to_owned())));
    }
    if race.choice.is_some() {
        let chosen = [&race.second, &race.first].into_iter().find(|access| access.doubt.is_some());
        finding.notes.extend(chosen.map(|access| fact::data_choose(access)));
    }
    if race.grid_is_supposed {
        finding.notes.push("assumed: the grid has more than one block in that direction".to_owned());
    }
    let loudest = match (race.is_possible, race.choice) {
        (true, None) => Level::Note,
        (true, Some(_)) => Level::Warn,
        (false, _) => Level::Deny,
    };
    let primary_label = match race.is_update {
        true => "what one of them adds here may be lost".to_owned(),
        false => format!("thread {after}{other_block} {then} it here"),
    };
    Diagnostic { loudest, primary_label, labels, helps: vec![help.to_owned()], ..finding }
}

/// Of which block each of two threads is.
fn whose(blocks: TwoBlocks) -> (String, String) {
    let TwoBlocks { first, second, are_any } = blocks;
    let apart = [second[0] - first[0], second[1] - first[1], second[2] - first[2]];
    let other = match apart {
        [1, 0, 0] => " of the next block in x",
        [-1, 0, 0] => " of the block before it in x",
        [0, 1, 0] => " of the next block in y",
        [0, -1, 0] => " of the block before it in y",
        [0, 0, 1] => " of the next block in z",
        [0, 0, -1] => " of the block before it in z",
        _ => " of another block",
    };
    let named = |[x, y, z]: [i64; 3]| match (first[1..] == [0, 0], second[1..] == [0, 0]) {
        (true, true) => format!(" of block {x}"),
        _ => format!(" of block ({x}, {y}, {z})"),
    };
    match are_any {
        true => (" of a block".to_owned(), other.to_owned()),
        false => (named(first), named(second)),
    }
}
