//! ## What it does
//! Finds accesses to shared memory that the hardware has to serve in more passes
//! ("wavefronts") than the bytes asked for need, because lanes of one warp want different
//! words of the same bank.
//!
//! The block of threads is run symbolically, each warp's request is put through a model of
//! the target's banks, and the wavefronts it takes are compared with the fewest that a
//! request of its width can take. A 16-byte access that takes 4 wavefronts is at its best
//! and is not reported.
//!
//! ## Why is this bad
//! Shared memory has 32 banks, and each serves one word at a time. When n lanes of a warp need n
//! different words of one bank, the request takes n passes and every other warp of
//! the block waits for the same pipe. A column read of a `float [32][32]` tile takes 32
//! passes where 1 would do.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void transpose(float *out, const float *in) {
//!     __shared__ float tile[32][32];
//!     tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
//! }
//!
//! void launch(float *out, const float *in) {
//!     transpose<<<1, dim3(32, 32)>>>(out, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void transpose(float *out, const float *in) {
//!     __shared__ float tile[32][33];
//!     tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
//!     __syncthreads();
//!     out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
//! }
//!
//! void launch(float *out, const float *in) {
//!     transpose<<<1, dim3(32, 32)>>>(out, in);
//! }
//! ```
//! One more element per row moves each row one bank further. Where the memory is too dear
//! for padding, exclusive-or the column with the row (a swizzle), or let the lanes walk
//! along the rows.
//!
//! ## Limits
//! - An index that is loaded from memory has no banks before the program runs: such accesses
//!   are never reported. `cudalint accesses` lists them with the reason.
//! - A verdict that depends on a run-time stride is not reported either, for the same reason.
//! - The block shape is taken from the launch, from `__launch_bounds__`, from the shape that
//!   the code implies, or is taken to be 256 threads; each finding says which.
//! - A compiler may merge neighbouring accesses into one wider access. The source is judged
//!   as it is written.
//! - On atomics, two lanes that update the same word wait for each other on any layout: that
//!   is contention, which no padding removes.

use super::padding::Padding;
use super::{Case, Rule, plural};
use crate::diagnostic::{Diagnostic, Fix, Level};
use crate::source::Span;
use crate::trace::{Access, Array};
use crate::verdict::{AccessOp, Status, Totals};

/// The rule.
pub static RULE: Rule = Rule {
    id: "bank-conflict",
    level: Level::Warn,
    summary: "a shared-memory access takes more wavefronts than its bytes need",
    docs: include_str!("bank_conflict.rs"),
};

/// One site that conflicts in one run on one target.
#[derive(Clone, Copy)]
struct Conflict<'a> {
    run: usize,
    target: usize,
    access: &'a Access,
    totals: Totals,
}

/// Finds the conflicts of a kernel: one finding per site, for the worst of its runs.
pub fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut sites: Vec<((Span, AccessOp, Span), Vec<Conflict<'_>>)> = Vec::new();
    for (run, kernel) in case.runs.iter().enumerate() {
        for (target, judgements) in kernel.judgements.iter().enumerate() {
            for (access, judgement) in kernel.trace.accesses.iter().zip(judgements) {
                let known = matches!(judgement.status, Status::Exact | Status::Assumed);
                let Some(totals) = judgement.totals.filter(|t| known && t.wavefronts > t.ideal) else {
                    continue;
                };
                let array = kernel.trace.arrays[access.array].name_span;
                let key = (access.span, access.op, array);
                let conflict = Conflict { run, target, access, totals };
                match sites.iter_mut().find(|(other, _)| *other == key) {
                    Some((_, list)) => list.push(conflict),
                    None => sites.push((key, vec![conflict])),
                }
            }
        }
    }
    let mut paddings: Vec<(Span, Option<Padding>)> = Vec::new();
    for ((_, op, array), conflicts) in &sites {
        let excess = |c: &&Conflict<'_>| c.totals.worst.wavefronts.saturating_sub(c.totals.worst.ideal);
        // The first of the worst, so that the same input gives the same words.
        let Some(worst) = conflicts.iter().rev().max_by_key(excess) else { continue };
        let padding = match paddings.iter().find(|(span, _)| span == array) {
            Some((_, padding)) => padding.clone(),
            None => {
                let padding = Padding::search(case, *array);
                paddings.push((*array, padding.clone()));
                padding
            }
        };
        out.push(describe(case, *op, worst, conflicts, padding));
    }
}

fn describe(
    case: &Case<'_>,
    op: AccessOp,
    worst: &Conflict<'_>,
    conflicts: &[Conflict<'_>],
    padding: Option<Padding>,
) -> Diagnostic {
    let run = &case.runs[worst.run];
    let array = &run.trace.arrays[worst.access.array];
    let figures = worst.totals.worst;
    let (doing, verb) = words(op);
    let message = format!(
        "{}-way bank conflict: this {doing} `{}` takes {} instead of {}",
        figures.ways,
        array.name,
        plural(figures.wavefronts.into(), "wavefront"),
        figures.ideal
    );
    let primary_label = figures.witness.map_or_else(String::new, |w| {
        let first = if figures.wavefronts > 0 { warp_words(figures.warp) } else { String::new() };
        format!(
            "lanes {} and {}{first} {verb} bytes {} and {}: bank {}",
            w.lanes.0, w.lanes.1, w.offsets.0, w.offsets.1, w.bank
        )
    });
    let mut notes = vec![case.block_words(worst.run)];
    let extra = worst.totals.wavefronts.saturating_sub(worst.totals.ideal);
    notes.push(format!(
        "{} in {}: {} per block",
        plural(worst.totals.requests, "request"),
        plural(warps(run.block), "warp"),
        plural(extra, "extra wavefront")
    ));
    notes.extend(case.calls_words(&worst.access.calls));
    notes.extend(others(case, worst, conflicts));
    notes.extend(case.assumption_words(worst.run, worst.target, worst.access));
    let mut helps = Vec::new();
    let mut fix = None;
    if let Some(padding) = padding {
        helps.push(padding.help.clone());
        fix =
            padding.complete.then(|| Fix { title: padding.title.clone(), edits: vec![padding.edit.clone()] });
    }
    Diagnostic {
        rule: RULE.id,
        level: RULE.level,
        message,
        primary: worst.access.span,
        primary_label,
        labels: vec![(array.name_span, array_label(array, case, worst.target))],
        notes,
        helps,
        fix,
        kernel: run.kernel.clone(),
    }
}

fn warps(block: [u32; 3]) -> u64 {
    block.iter().map(|&n| u64::from(n)).product::<u64>().div_ceil(32)
}

fn warp_words(warp: u32) -> String {
    if warp == 0 { String::new() } else { format!(" of warp {warp}") }
}

fn words(op: AccessOp) -> (&'static str, &'static str) {
    match op {
        AccessOp::Load => ("read of", "read"),
        AccessOp::Store => ("write of", "write"),
        AccessOp::Atomic => ("atomic update of", "update"),
        AccessOp::MatrixLoad => ("matrix read of", "read"),
        AccessOp::MatrixStore => ("matrix write of", "write"),
        AccessOp::AsyncCopy => ("asynchronous copy into", "write"),
    }
}

fn array_label(array: &Array, case: &Case<'_>, target: usize) -> String {
    let line = u64::from(case.targets[target].banks() * case.targets[target].bank_bytes());
    match array.row_bytes() {
        Some(row) if row % line == 0 => format!("each row is {row} bytes, so a column lies in one bank"),
        Some(row) => {
            format!("each row is {row} bytes: {} of a turn of the {line}-byte banks", fraction(row, line))
        }
        None => String::new(),
    }
}

fn fraction(row: u64, line: u64) -> String {
    let divisor = crate::exec::lanes::gcd(row, line).max(1);
    let (a, b) = (row / divisor, line / divisor);
    if b == 1 { a.to_string() } else { format!("{a}/{b}") }
}

/// What the same site does in other runs and on other targets, where that differs.
fn others(case: &Case<'_>, worst: &Conflict<'_>, conflicts: &[Conflict<'_>]) -> Vec<String> {
    let mut notes = Vec::new();
    for (at, target) in case.targets.iter().enumerate().filter(|(at, _)| *at != worst.target) {
        let there = conflicts.iter().find(|c| c.target == at && c.run == worst.run);
        let note = match there {
            Some(c) if c.totals.worst.wavefronts == worst.totals.worst.wavefronts => continue,
            Some(c) => format!("on {target}: {}", plural(c.totals.worst.wavefronts.into(), "wavefront")),
            None => format!("on {target} it is free of conflicts or not known"),
        };
        notes.push(note);
    }
    let mut shapes: Vec<[u32; 3]> = Vec::new();
    for conflict in conflicts.iter().filter(|c| c.target == worst.target && c.run != worst.run) {
        let block = case.runs[conflict.run].block;
        let same = conflict.totals.worst.wavefronts == worst.totals.worst.wavefronts;
        if block != case.runs[worst.run].block && !shapes.contains(&block) && !same {
            shapes.push(block);
            let [x, y, z] = block;
            let wavefronts = plural(conflict.totals.worst.wavefronts.into(), "wavefront");
            notes.push(format!("with block ({x}, {y}, {z}): {wavefronts}"));
        }
    }
    notes
}
