//! ## What it does
//! Finds shared-memory accesses for which a run-time value, such as the length of a row, decides whether lanes of a
//! warp conflict. It says which values are conflict-free and what the others cost.
//!
//! The distance between two lanes counts modulo the banks' period, so all values are tried: 32 of them for a stride
//! in floats. If no launch gives the size of an element type, the sizes are tried in the same way.
//!
//! ## Why is this bad
//! It need not be bad, so the finding is a note. But such a kernel is fast for one size of the data, and for the next
//! one its shared memory is up to 32 times slower. A test with one size does not show this.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void columns(float *out, const float *in, int ld) {
//!     extern __shared__ float s[];
//!     for (int i = threadIdx.x; i < 32 * ld; i += 32) {
//!         s[i] = in[i];
//!     }
//!     __syncthreads();
//!     out[threadIdx.x] = s[threadIdx.x * ld];
//! }
//!
//! void launch(float *out, const float *in, int ld) {
//!     columns<<<1, 32, 32 * ld * sizeof(float)>>>(out, in, ld);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void columns(float *out, const float *in, int ld) {
//!     extern __shared__ float s[];
//!     int pitch = ld / 2 * 2 + 1;
//!     for (int row = 0; row < 32; row++) {
//!         for (int i = threadIdx.x; i < ld; i += 32) {
//!             s[row * pitch + i] = in[row * ld + i];
//!         }
//!     }
//!     __syncthreads();
//!     out[threadIdx.x] = s[threadIdx.x * pitch];
//! }
//!
//! void launch(float *out, const float *in, int ld) {
//!     columns<<<1, 32, 32 * (ld + 1) * sizeof(float)>>>(out, in, ld);
//! }
//! ```
//! Choose a row pitch that is conflict-free for every size: if lanes walk down a column, an odd number of 4-byte
//! words.
//!
//! ## Limits
//! - It is unknown whether the bad values occur. If they do not, use `-A stride-dependent-conflict`.
//! - A site that surely conflicts in another launch is reported by `bank-conflict` alone.
//! - A site that conflicts for every value is a `bank-conflict`; one that conflicts for none is clean.
//! - At most two values are tried together. Values loaded from memory are not tried. One type is tried, with 1, 2, 4,
//!   8 and 16 bytes.
//! - Zero, and numbers so small that lanes share words, may conflict less than the note says.
//! - There is no fix: the value is given elsewhere.
//! - Lines of one array in one kernel of which the same is said are one finding.

use super::bank_conflict::line_of;
use super::lines::OtherLines;
use super::{About, Case, Rule, access_words, block_help};
use crate::diagnostic::{Dependence, Diagnostic, Level};
use crate::events::{Access, AccessOp, Pattern};
use crate::source::{Sources, Span};
use crate::verdict::StrideTable;

/// The most other lines that have a label.
const MOST_LABELS: usize = 3;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "stride-dependent-conflict",
    about: About::Performance,
    level: Level::Note,
    summary: "a run-time value decides whether a shared-memory access has bank conflicts",
    docs: include_str!("stride_dependent_conflict.rs"),
};

/// Finds the sites whose verdict is a table: one finding per site, for the first run that has it.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut told: Vec<(Span, AccessOp, Span)> = Vec::new();
    for (run, kernel) in case.runs.iter().enumerate() {
        for (target, judgements) in kernel.judgements.iter().enumerate() {
            for (access, judgement) in kernel.trace.accesses.iter().zip(judgements) {
                let Some(table) = judgement.table.as_ref().filter(|_| !access.is_of_library()) else {
                    continue;
                };
                let site = (access.span, access.op, kernel.trace.arrays[access.array].name_span);
                if !told.contains(&site) && !conflicts(case, site) {
                    told.push(site);
                    out.push(describe(case, run, target, access, table));
                }
            }
        }
    }
}

/// One finding of several that say the same of an array, each with its number.
pub(super) fn together(sources: &Sources, parts: Vec<(usize, Diagnostic)>) -> Option<(usize, Diagnostic)> {
    let (number, first) = parts.first()?;
    let (number, mut whole) = (*number, first.clone());
    let mut lines = vec![line_of(sources, whole.primary)];
    let mut more = OtherLines::default();
    for (_, part) in &parts {
        let (path, line) = line_of(sources, part.primary);
        if lines.contains(&(path.clone(), line)) {
            continue;
        }
        lines.push((path.clone(), line));
        if lines.len() <= 1 + MOST_LABELS {
            whole.labels.push((part.primary, "and here".to_owned()));
        } else {
            let file = sources.get(part.primary.file);
            more.add((path != sources.get(whole.primary.file).path).then(|| file.display_path()), line);
        }
    }
    whole.notes.splice(0..0, more.and_more());
    whole.parts = parts.into_iter().map(|(_, part)| part).collect();
    Some((number, whole))
}

/// Whether a site conflicts for certain in some run.
fn conflicts(case: &Case<'_>, site: (Span, AccessOp, Span)) -> bool {
    case.runs.iter().any(|run| {
        run.judgements.iter().any(|judgements| {
            run.trace.accesses.iter().zip(judgements).any(|(access, judgement)| {
                let here = (access.span, access.op, run.trace.arrays[access.array].name_span);
                here == site && judgement.totals.is_some_and(|t| t.wavefronts > t.ideal)
            })
        })
    })
}

/// What is said of an access of a run.
pub(super) fn describe(
    case: &Case<'_>,
    run: usize,
    target: usize,
    access: &Access,
    table: &StrideTable,
) -> Diagnostic {
    let kernel = &case.runs[run];
    let array = &kernel.trace.arrays[access.array];
    let classes = table.classes();
    let free = classes.iter().find(|class| class.free);
    let mut parts: Vec<String> =
        free.iter().map(|class| format!("conflict-free exactly when {}", class.when)).collect();
    parts.extend(classes.last().map(|worst| format!("{} when {}", worst.cost, worst.when)));
    let mut notes: Vec<String> = Vec::new();
    if classes.len() > 2 {
        notes.push(format!("by {}: {}", table.over(), table.words()));
    }
    if case.targets.len() > 1 {
        notes.push(format!("the figures are for {}", case.targets[target]));
    }
    notes.push(case.block_words(run));
    notes.extend(case.calls_words(run, access.path(0), &[]));
    notes.extend(case.assumption_words(run, target, access));
    let mut helps: Vec<String> = Vec::new();
    // A stride can be chosen; the size of a type, or what a rest can be, is what it is.
    if let Some(class) = free.filter(|_| table.symbols.iter().all(|symbol| symbol.modulus.is_some())) {
        helps.push(format!("if other values occur, choose the layout so that {}", class.when));
    }
    helps.extend(block_help(kernel.block_from));
    Diagnostic {
        rule: RULE.id,
        level: RULE.level,
        message: format!(
            "whether this {} `{}` has bank conflicts depends on {}: {}",
            access_words(access.op).0,
            array.name,
            table.over(),
            parts.join(", ")
        ),
        primary: access.span,
        primary_label: access.patterns.first().and_then(|it| distance(case, run, it)).unwrap_or_default(),
        labels: vec![(array.name_span, "declared here".to_owned())],
        notes,
        helps,
        fix: None,
        launches: Vec::new(),
        conflict: None,
        dependence: Some(Box::new(Dependence {
            array: array.name_span,
            words: format!("{}: {}", table.over(), table.words()),
        })),
        hazard: None,
        kernel_at: None,
        loudest: Level::Deny,
        parts: Vec::new(),
        kernel: kernel.kernel.clone(),
    }
}

/// How far apart neighbouring lanes are, when all are as far and one symbol says it.
fn distance(case: &Case<'_>, run: usize, pattern: &Pattern) -> Option<String> {
    let [(symbol, factors)] = pattern.varying.as_slice() else { return None };
    if pattern.active != u32::MAX {
        return None;
    }
    let step = |values: &[i64; 32]| {
        let step = values[1].wrapping_sub(values[0]);
        values.windows(2).all(|pair| pair[1].wrapping_sub(pair[0]) == step).then_some(step)
    };
    let (known, factor) = (step(&pattern.offsets)?, step(factors)?);
    let name = &case.runs[run].trace.symbols[*symbol as usize].name;
    let name = if name.contains(' ') { format!("({name})") } else { name.clone() };
    let distance = match known {
        0 => format!("{factor} * {name}"),
        1.. => format!("{factor} * {name} + {known}"),
        _ => format!("{factor} * {name} - {}", known.unsigned_abs()),
    };
    (factor > 0).then(|| format!("neighbouring lanes are `{distance}` bytes apart"))
}
