//! Which findings have one cause, and are told together?
//!
//! | rule | one finding for |
//! |---|---|
//! | `bank-conflict` | the lines of one declared array, and of dynamic shared memory in one kernel |
//! | `stride-dependent-conflict` | those of one array in one kernel of which the same values say the same |
//!
//! What comments, a baseline or `--changed-since` hide is taken away before, line by line: the rest of a cause is still
//! told.

use super::bank_conflict;
use super::stride_dependent_conflict as stride;
use crate::diagnostic::{Cause, Dependence, Diagnostic};
use crate::source::{Sources, Span};
use rustc_hash::FxHashMap;
use std::path::PathBuf;

/// Where something stands, whichever file led there: the same header may have been read twice.
type Placed = (PathBuf, u32);

/// What findings have in common that have one cause.
#[derive(PartialEq, Eq, Hash)]
enum Common {
    Conflict { kernel: Option<Placed>, array: Placed, one_word: bool },
    Dependence { kernel: Placed, array: Placed, words: String },
}

/// Puts findings together that have one cause, where the first of them stood, and leaves the others as they are. With
/// each comes the number of the one whose place it has.
pub(super) fn causes(sources: &Sources, findings: Vec<Diagnostic>) -> Vec<(usize, Diagnostic)> {
    let mut found: Vec<Vec<(usize, Diagnostic)>> = Vec::new();
    let mut known: FxHashMap<Common, usize> = FxHashMap::default();
    for (number, finding) in findings.into_iter().enumerate() {
        let key = common(sources, &finding);
        let at = key.map_or(found.len(), |key| *known.entry(key).or_insert(found.len()));
        if at == found.len() {
            found.push(Vec::new());
        }
        found[at].push((number, finding));
    }
    let one = |mut parts: Vec<(usize, Diagnostic)>| match parts.as_slice() {
        [(_, first), ..] if first.conflict.is_some() => bank_conflict::cause(sources, parts),
        [_] => parts.pop(),
        _ => stride::together(sources, parts),
    };
    found.into_iter().filter_map(one).collect()
}

fn common(sources: &Sources, finding: &Diagnostic) -> Option<Common> {
    let placed = |span: Span| (sources.get(span.file).path.clone(), span.start);
    if let Some(conflict) = &finding.conflict {
        let Cause { kernel, array, one_word } = conflict.cause;
        return Some(Common::Conflict { kernel: kernel.map(placed), array: placed(array), one_word });
    }
    let Dependence { array, words } = finding.dependence.as_deref()?;
    let (kernel, array) = (placed(finding.kernel_at?), placed(*array));
    Some(Common::Dependence { kernel, array, words: words.clone() })
}
