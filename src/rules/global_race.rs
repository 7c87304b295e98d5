//! ## What it does
//! Finds two accesses to the same global memory that nothing orders, one of which writes: by threads of two blocks,
//! or of two warps of a block with no barrier in between. Two blocks are ordered only by a grid barrier, or if one
//! publishes its writes with `__threadfence()` and the other can wait for that. Block-scope atomics, such as
//! `atomicAdd_block`, are not atomic between blocks. This rule is off by default: turn it on with `-W global-race`,
//! or with `global-race = "warn"` under `[levels]` in `cudalint.toml`.
//!
//! ## Why is this bad
//! Blocks run in any order and at any time. What one block reads of another block's writes changes from run to run,
//! and so does a sum to which both add without an atomic. Only a grid barrier helps, and `compute-sanitizer --tool
//! racecheck` looks at shared memory only.
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
//! - Accesses must go through the same name: a parameter of the kernel or a `__device__` array. Whether two
//!   parameters point to the same memory is not checked.
//! - Only accesses that surely happen are checked, in a block that a launch or the user gives, at addresses built
//!   from thread, block and iteration numbers and the kernel's parameters. Data-dependent accesses are left out.
//! - Blocks are compared with their neighbours; what only some blocks do is compared among the first three in each
//!   direction. If the launch does not give their number, the grid is assumed to be large enough in the directions
//!   that the kernel uses.
//! - At an atomic whose result is used, or in unseen code, a thread may wait for any other thread. What its block
//!   does afterwards is ordered after what another block does before a device-scope fence. In kernels with `volatile`
//!   and loops that may wait for what they read, races between blocks are not reported, nor races across grid
//!   barriers.
//! - What a thread reads for its own `atomicCAS` is a guess, and no race with the atomics of others.
//! - The block that draws a certain ticket, such as the last of `atomicInc(&tickets, gridDim.x)`, may be any block,
//!   and it is alone. If it reads what others write before they draw their tickets, they need a fence before the
//!   ticket. Only the first iteration of loops in such a block is checked. Under a condition on the number of blocks,
//!   such as `if (gridDim.x > 1)`, nothing is reported.
//! - `cuda::atomic` and `cuda::atomic_ref` count with their scope and the fences of their memory order. An unknown
//!   order is assumed to be the strongest.
//! - Two writes by different blocks of values that may be equal are a note that says "possible".
//! - Within a warp, only lost updates are reported.
//! - There is one finding for each access that comes second, at the first pair found. This rule runs each kernel once
//!   more, including those without shared memory.

use super::{About, Case, Rule, fact};
use crate::diagnostic::{Diagnostic, Level};
use crate::facts::{Lack, MemoryRace, TwoBlocks};
use crate::source::Span;

/// The rule.
pub static RULE: Rule = Rule {
    id: "global-race",
    about: About::Correctness,
    level: Level::Allow,
    summary: "accesses of global memory by two blocks or warps that nothing orders",
    docs: include_str!("global_race.rs"),
};

/// Finds pairs of accesses that nothing orders: one finding for each access that comes second.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        let (mut sure, possible): (Vec<_>, Vec<_>) =
            run.facts.memory.iter().partition(|race| !race.is_possible);
        // What orders two blocks orders the warps of each, too.
        sure.sort_by_key(|race| race.blocks.is_none());
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
    let round = if race.across.is_some() { " in the previous iteration" } else { "" };
    let possible = if race.choice.is_some() { "possible: " } else { "" };
    let message = match (race.is_update, race.is_possible && race.choice.is_none()) {
        (true, _) => format!(
            "`{name}`: {possible}thread {before}{one_block} and thread {after}{other_block} both update the \
             same address without an atomic"
        ),
        (false, true) => format!(
            "`{name}`: possible: thread {before}{one_block} and thread {after}{other_block} write different \
             values to the same address"
        ),
        (false, false) if race.lack == Lack::Scope => format!(
            "`{name}`: thread {before}{one_block} and thread {after}{other_block} update the same address \
             with atomics that are atomic only within a block"
        ),
        (false, false) => {
            let value = fact::another_value(&race.first, &race.second);
            let does = fact::does_to(&race.second, value);
            format!(
                "`{name}`: {possible}thread {after}{other_block} {does} what thread {before}{one_block} \
                 {earlier}{round}{value}, and nothing orders them"
            )
        }
    };
    let help = match (race.blocks, race.lack) {
        (_, Lack::Scope) => {
            "use device-scope atomics: those without `_block` in their names, or `cuda::thread_scope_device`"
        }
        (_, Lack::Fence { narrow: Some(_), .. }) => {
            "use `__threadfence()`: `__threadfence_block()` orders nothing for other blocks"
        }
        (_, Lack::Fence { narrow: None, .. }) => {
            "put `__threadfence()` between the write and the atomic that signals it, or give the atomic \
             release order"
        }
        _ if race.is_update => "use an atomic such as `atomicAdd`, or let one thread do it for all",
        (None, _) => "put `__syncthreads()` between the two; every thread of the block must reach it",
        (Some(_), _) if race.first.op == race.second.op => {
            "give each block its own element, or let only one block write"
        }
        (Some(_), _) => {
            "write to another buffer, or move the second access to a later launch, which waits for this one"
        }
    };
    let mut labels = Vec::new();
    if race.first.span != race.second.span {
        labels.push((race.first.span, format!("thread {before}{one_block} {earlier} it here")));
    }
    let mut finding = fact::finding(&RULE, case, number, &race.second, &race.assumptions, message);
    if let Lack::Fence { waits, narrow } = race.lack {
        labels.push((waits, "a thread may wait here, but this orders no other access".to_owned()));
        labels.extend(narrow.map(|it| (it, "this fence covers only one block".to_owned())));
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
        true => "one of the two updates may be lost".to_owned(),
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
        [-1, 0, 0] => " of the previous block in x",
        [0, 1, 0] => " of the next block in y",
        [0, -1, 0] => " of the previous block in y",
        [0, 0, 1] => " of the next block in z",
        [0, 0, -1] => " of the previous block in z",
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
