//! ## What it does
//! Finds shared-memory accesses that take more passes ("wavefronts") than their bytes need, because lanes of one warp
//! want different words of the same bank.
//!
//! `cudalint` runs the block of threads symbolically and puts each warp's request through a model of the target's
//! banks. It compares the wavefronts with the fewest that a request of this width can take. A 16-byte access that
//! takes 4 wavefronts is at its best and is not reported.
//!
//! ## Why is this bad
//! Shared memory has 32 banks, and each serves one word at a time. If n lanes of a warp need n different words of one
//! bank, the request takes n passes, and every other warp of the block waits for the same pipe. A column read of a
//! `float [32][32]` tile takes 32 passes instead of 1.
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
//! One more element per row shifts each row by one bank. If memory is too scarce for padding, exclusive-or the column
//! with the row (a swizzle), or let the lanes walk along the rows.
//!
//! ## Limits
//! - The conflicts of one array, in all instances and blocks of its kernel, are one finding, because one repair
//!   mostly fixes all of them. So are those of all kernels that call the function which declares it. The finding is
//!   placed at the most expensive line. Its numbers are for the block in
//!   which the array conflicts worst. `docs/formats.md` says how the cost is counted.
//! - A finding below 2 % of its kernel's shared-memory wavefronts is a note.
//! - `--fix` pads the declaration of an array that is only subscripted. That is safe if every use of the array has
//!   all its subscripts and takes no address. Otherwise (`sizeof`, an array passed to a function, a declaration in a
//!   macro or a struct) only `--unsafe-fixes` does it.
//! - Rows whose length a type says (a member such as `storage.tile`, a number in a class and its methods, a parameter
//!   `float (*t)[32]`) become longer in all these places, if every access is proved to find its element. So do the
//!   elements of an array of structs, by unused words at their end. `--unsafe-fixes` writes it for members, parameters
//!   and pointers if everything in the text that names them, or the class, is known to stay right. Otherwise the help
//!   says on what it is correct.
//! - If rows are addressed by a number, as in `s[row * 32 + column]`, `--fix` changes it in the indices and the
//!   declaration. That is safe if every access is proved to find its element and a launch gives the block;
//!   `docs/fixes.md` says what is proved. Rows in dynamic shared memory need `--unsafe-fixes`, because the byte
//!   counts of the launches grow too.
//! - If longer rows do not help, `cudalint` searches other layouts. The help says what to type. It says that no
//!   layout can take fewer wavefronts only if that is proved. `--fix` writes longer planes and rows for columns;
//!   `--unsafe-fixes` also writes skews, exclusive ors, rotations, an array for each member, and layouts that leave part
//!   of the conflict, wherever every use of the array can change. `docs/fixes.md` lists the layouts and what is proved.
//! - If the cost of one access of the array is unknown, a layout for the others is judged. The help says which access it
//!   does not count.
//! - Advice that changes what threads do has no fix: distant elements first in a reduction, one update of a word for
//!   each warp, `float4` for four neighbours. The help says what it depends on.
//! - An index that is loaded from memory has no known banks: this rule never reports such an access. `cudalint
//!   accesses` lists it with the reason. If the other subscripts are known, a layout for the array's known conflicts
//!   is judged by its worst case over all data, too.
//! - A load whose value is never used is not reported, as the compiler mostly leaves it out. `cudalint accesses` lists it.
//! - Conflicts within `cub::BlockScan` and others of a library are not reported, because its storage cannot be padded.
//!   `cudalint accesses` lists them.
//! - `stride-dependent-conflict` reports a verdict that depends on a run-time stride, and `unresolved-access` one
//!   that is unknown.
//! - The block shape comes from the launch, from `__launch_bounds__`, or from the shape that the code implies;
//!   otherwise it is assumed to be 256 threads. Each finding says which. If an `assert` in the host code prevents a
//!   launch, the launch still gives the block, and the finding says so.
//! - The cost of a line is the sum over all its requests, through all calls. If a block may skip some of them under
//!   unknown conditions, the cost says "up to".
//! - Neighbouring accesses that the compiler surely combines into a wider one are judged as that one. If it only may
//!   do so, and the wider access has no conflict, nothing is reported. It only may if the trip count of a loop is
//!   given at run time, or if an alignment depends on a launch or a division.
//! - Across branches, lines are judged as they are written. nvcc may make one access of both sides of a condition,
//!   let all warps load what stands at a constant address under a condition, and read again or join what only some
//!   rounds of a loop share. `docs/evidence.md` says how often that was counted.
//! - For an asynchronous copy, only the wavefronts that the banks add are reported. `cudalint accesses` shows all:
//!   for `cp.async.ca`, those for the lines of global memory that it reads; for `cp.async.cg`, those that Nsight's
//!   source page shows and that do not affect run time.
//! - If data decide which lanes do an access, as in `if (a > b) swap(s[i], s[j])`, the finding is a note. Its numbers
//!   are for all lanes that may be active, and fewer may be. Such costs are not added up over several iterations.
//!   Atomics of this kind are not reported.
//! - Atomics of two lanes on the same word wait for each other in any layout. That is contention, and padding does
//!   not remove it. If the compiler sees that all lanes of a warp update one word, it lets one lane do it for the
//!   others, and there is no finding. It does so for `atomicAdd(&total, x)`, but not for
//!   `atomicAdd(&total[threadIdx.x / 32], x)`, an exchange, or an `atomicMax` whose result is used.

mod cause;
mod cost;
mod declared;
mod explain;
mod interleaved;
mod one_word;
mod padding;
mod remedy;
mod rewrite;
mod spelling;
mod undecided;
mod view;
mod views;
mod wider;
mod words;

use super::{About, Case, Rule, block_help};
use crate::diagnostic::{Cause, Conflict as Figures, Diagnostic, Level};
use crate::events::{Access, AccessOp};
use crate::source::Span;
use crate::verdict::{Judgement, Status, Totals};
pub(super) use cause::{cause, line_of};
use cost::Costs;
pub(super) use explain::explain;
use padding::Padding;
use remedy::Remedy;
pub(super) use view::view;

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

/// An access as the source has it: its place, what it does, and the name of its array.
type Site = (Span, AccessOp, Span);

/// Finds the conflicts of a kernel: one finding per site, for the run in which its array conflicts worst.
/// [`causes`] puts those of an array together.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut sites: Vec<(Site, Vec<Conflict<'_>>)> = Vec::new();
    for (run, kernel) in case.runs.iter().enumerate() {
        for (target, judgements) in kernel.judgements.iter().enumerate() {
            for (access, judgement) in kernel.trace.accesses.iter().zip(judgements) {
                let is_asked = !access.is_of_library() && !access.is_for_nothing();
                let Some(totals) = reported(judgement).filter(|_| is_asked) else { continue };
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
    if sites.is_empty() {
        return;
    }
    let costs = Costs::of(case);
    let mut arrays: Vec<OfArray<'_>> = Vec::new();
    for ((_, _, name), conflicts) in &sites {
        let at = arrays.iter().position(|known| known.name == *name).unwrap_or_else(|| {
            let of_array = sites.iter().filter(|((_, _, other), _)| other == name);
            arrays.push(OfArray::new(case, *name, of_array.flat_map(|(_, conflicts)| conflicts)));
            arrays.len() - 1
        });
        let array = &arrays[at];
        let Some(worst) = array.shown(conflicts) else { continue };
        let mut finding = describe(case, worst, &array.remedy);
        let figures = figures(case, &costs, worst, array);
        // The cause tells these together with those of its other lines.
        let apart = |note: &String| Some(note) == figures.counts.as_ref() || figures.assumed.contains(note);
        finding.notes.retain(|note| !apart(note));
        finding.conflict = Some(Box::new(figures));
        out.push(finding);
    }
}

/// What the conflicts of an array have in common.
struct OfArray<'r> {
    name: Span,
    remedy: Remedy<'r>,
    /// The target and the run of which the figures are.
    shown: Option<(usize, usize)>,
    /// In how many instances of the kernel it conflicts.
    instances: usize,
}

impl<'r> OfArray<'r> {
    fn new<'a>(
        case: &Case<'r>,
        name: Span,
        conflicts: impl Iterator<Item = &'a Conflict<'a>> + Clone,
    ) -> OfArray<'r> {
        let mut instances: Vec<&str> = Vec::new();
        for conflict in conflicts.clone() {
            let kernel = case.runs[conflict.run].kernel.as_str();
            if !instances.contains(&kernel) {
                instances.push(kernel);
            }
        }
        let sure = conflicts.clone().any(|conflict| !conflict.lanes_by_data);
        let conflicts = conflicts.filter(|conflict| conflict.lanes_by_data != sure);
        let target = conflicts.clone().map(|conflict| conflict.target).min();
        let shown = target.and_then(|target| {
            let there = conflicts.filter(|conflict| conflict.target == target);
            let badness = |run: &usize| {
                let of_run = there.clone().filter(|conflict| conflict.run == *run);
                let worst = of_run.clone().map(|conflict| excess(&conflict)).max();
                (
                    worst,
                    of_run.fold(0, |sum: u64, it| sum.saturating_add(it.totals.wavefronts - it.totals.ideal)),
                )
            };
            // The first of the worst.
            let run = (0..case.runs.len()).rev().max_by_key(badness);
            run.map(|run| (target, run))
        });
        OfArray { name, remedy: Remedy::search(case, name, false), shown, instances: instances.len() }
    }

    /// The conflict of a site that is told of: a sure one rather than a possible one, where the array is
    /// worst if it conflicts there, else on the first target that has one, the first of the worst.
    fn shown<'c, 'a>(&self, conflicts: &'c [Conflict<'a>]) -> Option<&'c Conflict<'a>> {
        let sure = conflicts.iter().any(|conflict| !conflict.lanes_by_data);
        let conflicts = || conflicts.iter().filter(|conflict| conflict.lanes_by_data != sure);
        let shown = conflicts().rev().filter(|it| Some((it.target, it.run)) == self.shown);
        shown.max_by_key(excess).or_else(|| {
            let target = conflicts().map(|conflict| conflict.target).min()?;
            conflicts().rev().filter(|conflict| conflict.target == target).max_by_key(excess)
        })
    }
}

/// By how much the worst request is worse than it could be.
fn excess(conflict: &&Conflict<'_>) -> u32 {
    conflict.totals.worst.wavefronts.saturating_sub(conflict.totals.worst.ideal)
}

/// The numbers of a conflict.
fn figures(case: &Case<'_>, costs: &Costs<'_>, conflict: &Conflict<'_>, of_array: &OfArray<'_>) -> Figures {
    let Conflict { run, target, access, totals, .. } = *conflict;
    let kernel = &case.runs[run];
    let array = &kernel.trace.arrays[access.array];
    let at = kernel.trace.accesses.iter().position(|it| std::ptr::eq(it, access)).unwrap_or_default();
    let judgement = &kernel.judgements[target][at];
    let rests_on = access.assumptions.iter().chain(&judgement.assumptions).cloned();
    let mut assumptions: Vec<&'static str> = Vec::new();
    for assumption in rests_on.chain(kernel.block_assumption()) {
        if !assumptions.contains(&assumption.code()) {
            assumptions.push(assumption.code());
        }
    }
    let worst = totals.worst;
    Figures {
        cause: Cause {
            kernel: array.dynamic.then_some(case.kernel),
            array: array.name_span,
            one_word: words::is_one_word(conflict),
        },
        array: array.name.clone(),
        through: words::pointer(case, conflict, array),
        op: access.op,
        ways: worst.ways,
        certainty: words::certainty(conflict),
        wavefronts: worst.wavefronts,
        ideal: worst.ideal,
        cost: costs.cost(run, target, access, judgement),
        counts: words::counts(case, conflict),
        exact: judgement.status == Status::Exact && assumptions.is_empty(),
        assumptions,
        assumed: case.assumption_words(run, target, access),
        run,
        target,
        block: kernel.block,
        instances: of_array.instances,
        remedy: of_array.remedy.helps(case, conflict),
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
    helps.extend(one_word::help(case, worst));
    let (help, fix) = remedy.help(case, worst);
    helps.extend(help);
    helps.extend(interleaved::help(case, worst));
    helps.extend(wider::help(case, worst));
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
        conflict: None,
        dependence: None,
        hazard: None,
        kernel_at: None,
        loudest: Level::Deny,
        parts: Vec::new(),
        kernel: run.kernel.clone(),
    }
}
