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
//! - `--fix` pads the declaration of an array that is only subscripted. That is safe where everything
//!   that names the array gives it all its subscripts and takes no address; elsewhere (`sizeof`, an
//!   array handed to a function, a declaration in a macro or a struct) only `--unsafe-fixes` does it.
//! - Where rows are walked by a number, `s[row * 32 + column]`, `--fix` changes it in the indices and the
//!   declaration. That is safe where every access is proved to find its element and a launch tells the
//!   block; `docs/fixes.md` says what is proved. Rows in dynamic shared memory,
//!   where the byte counts of the launches grow too, are for `--unsafe-fixes`.
//! - Where longer rows do not help, other layouts are searched: the help says what to type, and that no layout
//!   can take fewer wavefronts only where that is proved. `docs/fixes.md` says which layouts there are.
//! - An index that is loaded from memory has no banks before the program runs: such accesses
//!   are never reported here. `cudalint accesses` lists them with the reason.
//! - A verdict that depends on a run-time stride is told by `stride-dependent-conflict`, and one that is
//!   not known by `unresolved-access`.
//! - The block shape is taken from the launch, from `__launch_bounds__`, from the shape that
//!   the code implies, or is taken to be 256 threads; each finding says which. A launch that an `assert`
//!   of the host code keeps from happening still tells the block, and the finding says that too.
//! - What a block costs is the sum over all requests of the line, by whichever calls. Where a block may
//!   come to some of them and pass others by, under conditions that are not known, it is "at most".
//! - Neighbouring accesses that the compiler surely joins into a wider one are judged as that one;
//!   where it only may, and the wider one would be free of conflicts, nothing is said. It may where the trip
//!   count of a loop is given at run time, and where an alignment rests on what a launch or a division tells.
//! - Of an asynchronous copy only what the banks of shared memory add is reported. `cudalint accesses` has
//!   all its wavefronts: those for the lines of global memory that `cp.async.ca` reads, and for
//!   `cp.async.cg` what Nsight's source page shows, which time does not follow.
//! - Where data decide which lanes do an access, as in `if (a > b) swap(s[i], s[j])`, the finding is a note:
//!   its numbers are those of all lanes that may, and fewer may do it; what is done in several rounds is not
//!   added up. Of atomics nothing is said then.
//! - On atomics, two lanes that update the same word wait for each other on any layout: that
//!   is contention, which no padding removes. Where the compiler sees that all lanes of a warp update one word,
//!   it lets one of them do it for the others, and there is no finding: in `atomicAdd(&total, x)`, but not in
//!   `atomicAdd(&total[threadIdx.x / 32], x)`, and not in `atomicMax` whose result is used, nor in an exchange.

mod explain;
mod padding;
mod remedy;
mod words;

use super::{About, Case, Rule, block_help};
use crate::diagnostic::{Diagnostic, Fix, Level};
use crate::events::{Access, AccessOp};
use crate::source::Span;
use crate::verdict::{Judgement, Status, Totals};
pub(super) use explain::explain;
use padding::Padding;
use remedy::Remedy;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "bank-conflict",
    about: About::Performance,
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
    /// The wavefronts beyond the ideal, by loop of unknown length.
    extra: &'a [(Option<Span>, u64)],
    /// Whether data decide which lanes do it.
    lanes_by_data: bool,
}

/// Finds the conflicts of a kernel: one finding per site, for the worst of its runs.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut sites: Vec<((Span, AccessOp, Span), Vec<Conflict<'_>>)> = Vec::new();
    for (run, kernel) in case.runs.iter().enumerate() {
        for (target, judgements) in kernel.judgements.iter().enumerate() {
            for (access, judgement) in kernel.trace.accesses.iter().zip(judgements) {
                let Some(totals) = reported(judgement) else { continue };
                let array = kernel.trace.arrays[access.array].name_span;
                let key = (access.span, access.op, array);
                let (extra, lanes_by_data) = (judgement.extra.as_slice(), judgement.lanes_by_data);
                let conflict = Conflict { run, target, access, totals, extra, lanes_by_data };
                match sites.iter_mut().find(|(other, _)| *other == key) {
                    Some((_, list)) => list.push(conflict),
                    None => sites.push((key, vec![conflict])),
                }
            }
        }
    }
    let mut remedies: Vec<(Span, Remedy<'_>)> = Vec::new();
    for ((_, _, array), conflicts) in &sites {
        let excess = |c: &&Conflict<'_>| c.totals.worst.wavefronts.saturating_sub(c.totals.worst.ideal);
        // On the first target that has it, the first of the worst; a sure one rather than a possible one.
        let sure = conflicts.iter().any(|conflict| !conflict.lanes_by_data);
        let conflicts = || conflicts.iter().filter(|conflict| conflict.lanes_by_data != sure);
        let Some(target) = conflicts().map(|conflict| conflict.target).min() else { continue };
        let there = conflicts().rev().filter(|conflict| conflict.target == target);
        let Some(worst) = there.max_by_key(excess) else { continue };
        let at = remedies.iter().position(|(span, _)| span == array).unwrap_or_else(|| {
            remedies.push((*array, Remedy::search(case, *array, false)));
            remedies.len() - 1
        });
        out.push(describe(case, worst, &remedies[at].1));
    }
}

/// The figures of a verdict that is a finding.
fn reported(judgement: &Judgement) -> Option<Totals> {
    let known = matches!(judgement.status, Status::Exact | Status::Assumed);
    let reported = known && !judgement.follows && !judgement.page_only;
    judgement.totals.filter(|t| reported && t.wavefronts > t.usual && t.worst.ways > 1)
}

fn describe(case: &Case<'_>, worst: &Conflict<'_>, remedy: &Remedy<'_>) -> Diagnostic {
    let run = &case.runs[worst.run];
    let array = &run.trace.arrays[worst.access.array];
    let mut notes = vec![case.block_words(worst.run)];
    notes.extend(words::counts(case, worst));
    notes.extend(words::calls(case, worst));
    notes.extend(words::other_runs(case, worst));
    notes.extend(words::other_targets(case, worst));
    notes.extend(case.assumption_words(worst.run, worst.target, worst.access));
    let mut helps = Vec::new();
    let mut fix = None;
    helps.extend(words::same_word(worst));
    let (help, padding) = remedy.help(case, worst);
    helps.extend(help);
    if let Some(Padding { title, edits, basis, complete: true, .. }) = padding {
        fix = Some(Fix { title, edits, basis });
    }
    helps.extend(block_help(run.block_from));
    Diagnostic {
        rule: RULE.id,
        level: if worst.lanes_by_data { Level::Note } else { RULE.level },
        message: words::message(worst, array),
        primary: worst.access.span,
        primary_label: words::witness(worst),
        labels: vec![(
            words::declarator(case, array),
            words::rows(array, &case.targets[worst.target], worst),
        )],
        notes,
        helps,
        fix,
        launches: Vec::new(),
        kernel: run.kernel.clone(),
    }
}
