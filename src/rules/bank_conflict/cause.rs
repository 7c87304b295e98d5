//! Which conflicts have one cause, and what is said of them together?
//!
//! A cause is an array: one change of its layout, or of the lanes that walk it, repairs all lines that conflict on it.
//! So they are one finding. If several kernels call the function that declares it, the finding is of the one that
//! loses most, and a note counts the others; dynamic shared memory is another cause in each kernel. Its place is the line that costs most; the others are
//! labels, as many as can be read. What comments, a baseline or `--changed-since` hide is taken away before,
//! line by line: the rest of a cause is still told.

use super::super::lines::OtherLines;
use super::super::plural;
use crate::diagnostic::{Certainty, Conflict, Cost, Diagnostic, Level};
use crate::source::{Sources, Span};
use crate::verdict::ROUNDS;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// The most other lines that have a label.
const MOST_LABELS: usize = 3;

/// The most lines of notes and helps; what is left out is assumptions.
const MOST_NOTES: usize = 8;

/// Under so much of a kernel's wavefronts, a conflict is a note.
const CHEAP: f64 = 0.02;

/// One finding of the conflicts of a cause, each with its number: that of the one whose place it has comes with it.
/// Its level is the rule's own.
pub(crate) fn cause(sources: &Sources, parts: Vec<(usize, Diagnostic)>) -> Option<(usize, Diagnostic)> {
    let kernels = others(&parts);
    let (number, parts) = worst_first(sources, parts);
    let first = parts.first()?;
    let Some(own) = first.conflict.clone() else { return Some((number, first.clone())) };
    let elsewhere = elsewhere(kernels, first);
    let mut whole = first.clone();
    whole.parts = parts;
    let cost = whole.cost()?;
    let cheap = cost.share() < CHEAP;
    whole.level = if own.certainty == Certainty::Possible || cheap { Level::Note } else { Level::Warn };
    whole.message = message(&own, &cost);
    let lines = Lines::of(sources, &whole.parts);
    let (labels, rest) = lines.labels(sources);
    let mut notes = numbers(sources, &whole, &own, &cost);
    notes.extend(rest);
    notes.extend(elsewhere);
    whole.notes.splice(0..0, notes);
    whole.labels.extend(labels);
    for part in &whole.parts[1..] {
        // A remedy of the array may not concern its worst line.
        for help in &part.helps {
            if !whole.helps.contains(help) {
                whole.helps.push(help.clone());
            }
        }
        whole.fix = whole.fix.or_else(|| part.fix.clone());
        for launch in &part.launches {
            if !whole.launches.contains(launch) {
                whole.launches.push(*launch);
            }
        }
    }
    let assumed = assumed(&whole);
    whole.notes.extend(assumed);
    Some((number, whole))
}

/// The kernels in which there are conflicts, each by its definition.
fn others(parts: &[(usize, Diagnostic)]) -> Vec<(Option<Span>, String)> {
    let mut kernels: Vec<(Option<Span>, String)> = Vec::new();
    for (_, part) in parts {
        if kernels.iter().all(|(known, _)| *known != part.kernel_at) {
            kernels.push((part.kernel_at, part.kernel.clone()));
        }
    }
    kernels
}

/// That an array of a function conflicts in several kernels, of which one is told of.
fn elsewhere(kernels: Vec<(Option<Span>, String)>, told: &Diagnostic) -> Option<String> {
    let others: Vec<String> = kernels
        .into_iter()
        .filter(|(at, _)| *at != told.kernel_at)
        .map(|(_, name)| format!("`{name}`"))
        .collect();
    let (first, more) = others.split_first()?;
    Some(match more.len() {
        0 => format!("it conflicts in {first}, too"),
        _ => format!("it conflicts in {}, too, such as {first}", plural(others.len() as u64, "other kernel")),
    })
}

/// What the lines rest on whose costs are added, each once, as far as there is room.
fn assumed(whole: &Diagnostic) -> Vec<String> {
    // Two lists of the same names may differ in their order.
    let word = |word: &str| word.trim_end_matches(',').to_owned();
    let words = |text: &str| text.split_whitespace().map(word).collect::<BTreeSet<String>>();
    let mut all: Vec<String> = Vec::new();
    for assumed in whole.summed().filter_map(|part| part.conflict.as_ref()).flat_map(|it| &it.assumed) {
        if all.iter().all(|known| words(known) != words(assumed)) {
            all.push(assumed.clone());
        }
    }
    let room = MOST_NOTES.saturating_sub(whole.notes.len() + whole.helps.len()).max(1);
    if all.len() > room {
        let more = plural((all.len() + 1 - room) as u64, "more assumption");
        all.truncate(room - 1);
        all.push(format!("and {more}; `cudalint explain` lists them line by line"));
    }
    all
}

/// Sorts by line: what is sure before what is possible, what costs most first; and within a line likewise. Of lines
/// that are as dear the one comes first whose kernel has most of the others, as the figures are of that kernel.
/// Of an access that several files led to, the dearest stays. Returns the number of the first, too.
fn worst_first(sources: &Sources, mut parts: Vec<(usize, Diagnostic)>) -> (usize, Vec<Diagnostic>) {
    let place = |part: &Diagnostic| line_of(sources, part.primary);
    let rank = |part: &Diagnostic| {
        part.conflict.as_ref().map(|it| {
            (it.certainty != Certainty::Possible, it.cost.extra, it.wavefronts.saturating_sub(it.ideal))
        })
    };
    parts.sort_by_cached_key(|(number, part)| (Reverse(rank(part)), *number));
    let mut seen = Vec::new();
    parts.retain(|(_, part)| {
        let access =
            (place(part).0, part.primary.start, part.primary.end, part.conflict.as_ref().map(|it| it.op));
        let new = !seen.contains(&access);
        seen.push(access);
        new
    });
    let of_kernel = |part: &Diagnostic| {
        let own = parts.iter().filter(|(_, it)| it.is_summed_with(part));
        own.filter_map(|(_, it)| it.conflict.as_ref()).fold(0u64, |sum, it| sum.saturating_add(it.cost.extra))
    };
    let mut lines: FxHashMap<_, (bool, u64, u64)> = FxHashMap::default();
    for (_, part) in &parts {
        if let Some((sure, extra, _)) = rank(part) {
            let line = lines.entry(place(part)).or_insert_with(|| (false, 0, of_kernel(part)));
            *line = (line.0 || sure, line.1.saturating_add(extra), line.2);
        }
    }
    // Stable: within a line, and between lines that are as dear, the order stays.
    parts.sort_by_cached_key(|(_, part)| Reverse(lines.get(&place(part)).copied()));
    let number = parts.first().map_or(0, |(number, _)| *number);
    (number, parts.into_iter().map(|(_, part)| part).collect())
}

/// What is the matter.
fn message(own: &Conflict, cost: &Cost) -> String {
    let Conflict { array, through, ways, certainty, cause, .. } = own;
    let array = match through {
        Some(pointer) => format!("`{array}` (here `{pointer}`)"),
        None => format!("`{array}`"),
    };
    let what = if cause.one_word { "atomic contention on one word" } else { "bank conflict" };
    let up_to = if cost.at_most || cost.unknown > 0 { "up to " } else { "" };
    let costs = format!("costs {up_to}{} of this kernel's shared-memory wavefronts", cost.percent());
    match certainty {
        Certainty::Sure => format!("{array}: {ways}-way {what} {costs}"),
        Certainty::UpTo => format!("{array}: up to {ways}-way {what} {costs}"),
        // Fewer lanes may take part, and what they cost in all is not known.
        Certainty::Possible => format!("{array}: possible {ways}-way {what}"),
    }
}

/// The numbers: what all lines cost together, and how often the first is reached.
fn numbers(sources: &Sources, whole: &Diagnostic, own: &Conflict, cost: &Cost) -> Vec<String> {
    let counts = own.counts.clone();
    let lines = whole.summed().map(|part| line_of(sources, part.primary)).collect::<BTreeSet<_>>().len();
    // There is no sum of what may be.
    if own.certainty == Certainty::Possible {
        return counts.into_iter().collect();
    }
    if let (1, false, 0, Some(counts)) = (whole.parts.len(), cost.estimated.any(), cost.unknown, &counts) {
        return vec![format!("{counts}, of the kernel's {}", cost.kernel)];
    }
    let who = if lines == 1 { String::new() } else { format!("{lines} lines: ") };
    let most = if cost.at_most { "up to " } else { "" };
    let (extra, all) = (cost.extra, cost.kernel);
    let are = if extra == 1 { "is" } else { "are" };
    let mut words =
        format!("{who}{most}{extra} of the kernel's {all} shared-memory wavefronts per block {are} extra");
    if cost.estimated.any() {
        words += &format!(", {}", cost.estimated.words(ROUNDS));
    }
    words += &match cost.unknown {
        0 => String::new(),
        1 => "; 1 unknown access counts as conflict-free".to_owned(),
        many => format!("; {many} unknown accesses count as conflict-free"),
    };
    let own_line = line_of(sources, whole.primary);
    let here = |part: &&Diagnostic| line_of(sources, part.primary) == own_line;
    let of_line = whole.summed().filter(here).filter_map(|part| part.conflict.as_ref());
    let of_line: Vec<Cost> = of_line.map(|conflict| conflict.cost).collect();
    let line = own_line.1;
    let counts = match of_line.as_slice() {
        [_, _, ..] if lines == 1 => None,
        [_, _, ..] => {
            let most = if of_line.iter().any(|cost| cost.at_most) { "up to " } else { "" };
            let sum = of_line.iter().fold(0u64, |sum, cost| sum.saturating_add(cost.extra));
            let (accesses, sum) = (of_line.len(), plural(sum, "extra wavefront"));
            Some(format!("line {line}, {accesses} accesses: {most}{sum} per block"))
        }
        _ if lines == 1 => counts,
        _ => counts.map(|counts| format!("line {line}, {counts}")),
    };
    std::iter::once(words).chain(counts).collect()
}

/// The line of a place, whichever file led there.
pub(crate) fn line_of(sources: &Sources, span: Span) -> (PathBuf, usize) {
    let file = sources.get(span.file);
    (file.path.clone(), file.line_column(span.start).0)
}

/// The lines of a cause, the worst first.
struct Lines<'a> {
    lines: Vec<(Span, Vec<&'a Diagnostic>)>,
}

impl<'a> Lines<'a> {
    fn of(sources: &Sources, parts: &'a [Diagnostic]) -> Lines<'a> {
        let place = |span: Span| line_of(sources, span);
        let mut lines: Vec<(Span, Vec<&Diagnostic>)> = Vec::new();
        for part in parts {
            match lines.iter_mut().find(|(span, _)| place(*span) == place(part.primary)) {
                Some((_, parts)) => parts.push(part),
                None => lines.push((part.primary, vec![part])),
            }
        }
        Lines { lines }
    }

    /// Labels for the lines behind the first, and a note on those for which there is no room.
    fn labels(&self, sources: &Sources) -> (Vec<(Span, String)>, Option<String>) {
        let Some((first, others)) = self.lines.split_first() else { return (Vec::new(), None) };
        let (shown, rest) = others.split_at(MOST_LABELS.min(others.len()));
        let label = |(span, parts): &(Span, Vec<&Diagnostic>)| (*span, and_here(&first.1, parts));
        let labels = shown.iter().map(label).collect();
        let mut more = OtherLines::default();
        for (span, _) in rest {
            let file = sources.get(span.file);
            let elsewhere = file.path != sources.get(first.0.file).path;
            more.add(elsewhere.then(|| file.display_path()), file.line_column(span.start).0);
        }
        (labels, more.and_more())
    }
}

/// What stands under a further line.
fn and_here(first: &[&Diagnostic], parts: &[&Diagnostic]) -> String {
    let (Some(first), Some(worst)) = (first.first(), parts.first()) else { return String::new() };
    let (Some(own), Some(conflict)) = (&first.conflict, &worst.conflict) else { return String::new() };
    let hedge = match conflict.certainty {
        Certainty::Sure => "",
        Certainty::UpTo => "up to ",
        Certainty::Possible => "possible ",
    };
    // One array may be cut into several, each with a pointer of its own.
    let pointer = conflict.through.as_ref().filter(|name| Some(*name) != own.through.as_ref());
    let pointer = pointer.map_or_else(String::new, |name| format!(" (`{name}`)"));
    let mut words = format!("and here{pointer}: {hedge}{}-way", conflict.ways);
    // The figures of the first line are those of one run.
    if worst.kernel != first.kernel {
        words += &format!(" in `{}`", worst.kernel);
    } else if conflict.block != own.block {
        let [x, y, z] = conflict.block;
        words += &format!(" with block ({x}, {y}, {z})");
    }
    words
}
