//! How is a bank conflict put into words?

use super::super::{Case, access_words, listed, plural};
use super::Conflict;
use crate::banks::{Target, Witness};
use crate::diagnostic::Certainty;
use crate::events::{Access, AccessOp, Array, Call, Within};
use crate::source::Span;

/// The most other runs that are told of.
const MOST_RUNS: usize = 4;

/// What is the matter.
pub(super) fn message(conflict: &Conflict<'_>, array: &Array) -> String {
    let figures = conflict.totals.worst;
    let all = conflict.totals.requests.saturating_mul(figures.wavefronts.into());
    let sure = all == conflict.totals.wavefronts && !conflict.lanes_by_data;
    let possible = if conflict.lanes_by_data { "possible " } else { "" };
    let up_to = if sure { "" } else { "up to " };
    // Which of its requests there are is given at run time.
    let open = conflict.access.at_most && possible.is_empty() && figures.ways > 2;
    let most = if open { up_to } else { "" };
    format!(
        "{possible}{most}{}-way bank conflict: this {} `{}` takes {up_to}{} instead of {}",
        figures.ways,
        access_words(conflict.access.op).0,
        array.name,
        plural(figures.wavefronts.into(), "wavefront"),
        figures.ideal
    )
}

/// How sure its ways are.
pub(super) fn certainty(conflict: &Conflict<'_>) -> Certainty {
    let all = conflict.totals.requests.saturating_mul(conflict.totals.worst.wavefronts.into());
    match () {
        () if conflict.lanes_by_data => Certainty::Possible,
        // There is nothing between 2 ways and none.
        () if conflict.totals.worst.ways <= 2 => Certainty::Sure,
        () if all != conflict.totals.wavefronts || conflict.access.at_most => Certainty::UpTo,
        () => Certainty::Sure,
    }
}

/// Whether its lanes update one word, which no layout separates.
pub(super) fn is_one_word(conflict: &Conflict<'_>) -> bool {
    let one_word = |witness: Witness| witness.offsets.0 == witness.offsets.1;
    conflict.access.op == AccessOp::Atomic && conflict.totals.worst.witness.is_some_and(one_word)
}

/// What the access calls the array, if that is another name: `p` in `p[i]` and in `*p`.
pub(super) fn pointer(case: &Case<'_>, conflict: &Conflict<'_>, array: &Array) -> Option<String> {
    let text = (case.text)(conflict.access.span);
    let text = text.trim_start_matches(['*', '(', ' ']);
    let end = text.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(text.len());
    let (name, behind) = text.split_at_checked(end)?;
    // A call is no name, and what stands in front of a dot or an operator may be any object.
    let is_name = name.starts_with(|c: char| c == '_' || c.is_alphabetic());
    let is_pointer = behind.trim_start().starts_with('[') || behind.trim_start_matches(')').is_empty();
    let is_macro = || (case.says)(conflict.access.span, &[&format!("#define {name}")]);
    (is_name && is_pointer && name != array.name && !is_macro()).then(|| name.to_owned())
}

/// Two lanes that collide.
pub(super) fn witness(conflict: &Conflict<'_>) -> String {
    let figures = conflict.totals.worst;
    let Some(witness) = figures.witness else { return String::new() };
    let warp = if figures.warp == 0 { String::new() } else { format!(" of warp {}", figures.warp) };
    let verb = access_words(conflict.access.op).1;
    let ((first, second), (from, to)) = (witness.lanes, witness.offsets);
    let lanes = format!("lanes {first} and {second}{warp} {verb}");
    let bank = match figures.turned {
        true => "the same bank".to_string(),
        false => format!("bank {}", witness.bank),
    };
    match figures.moved {
        Some(moved) if from == to => {
            format!("{lanes} the same word, byte {}: serialized", from.wrapping_add(moved))
        }
        None if from == to => format!("{lanes} the same word: serialized"),
        Some(moved) => {
            let (from, to) = (from.wrapping_add(moved), to.wrapping_add(moved));
            format!("{lanes} bytes {from} and {to}: {bank}")
        }
        None => format!("{lanes} {} bytes apart: {bank}", from.abs_diff(to)),
    }
}

/// By which calls a block comes to the requests that conflict, if it is by calls: to the worst first.
pub(super) fn calls(case: &Case<'_>, conflict: &Conflict<'_>) -> Option<String> {
    let (access, totals) = (conflict.access, conflict.totals);
    let worst = access.path(totals.worst.path);
    let others = totals.ways.paths(access.paths.len()).map(|number| access.path(number));
    let others: Vec<&[Call]> = others.filter(|path| *path != worst).collect();
    case.calls_words(conflict.run, worst, &others)
}

/// How often, and what it costs the block. Where data decide which lanes do it, the lanes of one request
/// may all do so, but seldom those of one round and of the next: then no sum is told.
pub(super) fn counts(case: &Case<'_>, conflict: &Conflict<'_>) -> Option<String> {
    let (access, totals) = (conflict.access, conflict.totals);
    let once = access.requests();
    // A loop whose counter the banks depend on is judged for several of its rounds, and requests that
    // the compiler joins are counted as one.
    let whole = |a: u64, b: u64| if b > 0 && a.is_multiple_of(b) { a / b } else { 1 };
    let (rounds, joined) = (whole(totals.requests, once), whole(once, totals.requests));
    let even = access.even_requests().filter(|(_, each)| {
        totals.requests.saturating_mul(joined) == once.saturating_mul(rounds) && each.is_multiple_of(joined)
    });
    let (in_a_row, told) = rounds_told(conflict, rounds, even.map(|(_, each)| each / joined));
    let of_access = if told > 1 { access.rounds_counted() } else { 1 };
    let extra = totals.wavefronts.saturating_sub(totals.ideal);
    let even = even.map(|(warps, each)| (warps, each / joined / of_access));
    // Not every block comes to all of them.
    let at_most = access.may_be_fewer() || totals.ways.may_part();
    let some = totals.conflicting < totals.requests && totals.conflicting > 0;
    let who = match even.filter(|(warps, _)| !at_most && (!some || *warps == 1)) {
        None => {
            format!(
                "{} by {}",
                plural(totals.requests / told, "request"),
                plural(access.warps().into(), "warp")
            )
        }
        // Of one warp's only request, none would be some.
        Some((warps, 1)) if !some => plural(warps.into(), "warp"),
        Some((warps, 1)) => {
            format!("{} by {}", plural(totals.requests, "request"), plural(warps.into(), "warp"))
        }
        Some((warps, each)) => format!("{} x {each} requests", plural(warps.into(), "warp")),
    };
    let most = if at_most { "up to " } else { "" };
    let place = |span: Span| match span.file == access.span.file {
        true => (case.line)(span),
        false => (case.place)(span),
    };
    let each = |span: Span| format!("in each iteration of the loop at {}", place(span));
    let extra = plural(extra / told, "extra wavefront");
    let extra = match (access.within(), in_a_row / told) {
        (Within::Nothing | Within::Counted, _) => format!("{extra} per block"),
        (Within::Loop(span), 1) => format!("{extra} per block {}", each(span)),
        (Within::Loop(span), rounds) => {
            format!("{extra} per block in {rounds} iterations of the loop at {}", place(span))
        }
        (Within::Several, _) => {
            let mut sums: Vec<_> = conflict.extra.iter().filter(|(_, extra)| *extra > 0).collect();
            sums.sort_by_key(|(innermost, _)| innermost.is_some());
            let place = |innermost: Option<Span>| match (innermost, access.rounds_in_a_row(innermost)) {
                (None, _) => String::new(),
                (Some(it), 1) => format!(" {}", each(it)),
                (Some(it), rounds) => format!(" in {rounds} iterations of the loop at {}", place(it)),
            };
            let words = sums.iter().enumerate().map(|(at, (innermost, extra))| match at {
                0 => format!("{most}{} per block{}", plural(*extra, "extra wavefront"), place(*innermost)),
                _ => format!("{most}{extra}{}", place(*innermost)),
            });
            let who = plural(access.warps().into(), "warp");
            let words = format!("{who}: {}", listed(&words.collect::<Vec<_>>()));
            return (!conflict.lanes_by_data).then_some(words);
        }
    };
    if conflict.lanes_by_data {
        let once = matches!(even, Some((_, 1)));
        return once.then(|| format!("up to {extra}"));
    }
    let who = if some { format!("{who}, {} of them with conflicts", totals.conflicting) } else { who };
    Some(format!("{most}{who}: {most}{extra}"))
}

/// How many rounds of the loop of unknown length around it a verdict is on, several of them for each that the access
/// tells of; and by how many its figures are to be divided: where all cost the same, each is told. `each`: the requests
/// of a warp.
fn rounds_told(conflict: &Conflict<'_>, several: u64, each: Option<u64>) -> (u64, u64) {
    let (access, totals) = (conflict.access, conflict.totals);
    let in_a_row = match access.within() {
        Within::Loop(_) => several.saturating_mul(access.rounds_counted()),
        _ => 1,
    };
    let extra = totals.wavefronts.saturating_sub(totals.ideal);
    let is_same = totals.wavefronts == totals.requests.saturating_mul(totals.worst.wavefronts.into())
        && [extra, totals.requests].iter().all(|sum| sum.is_multiple_of(in_a_row))
        && each.is_none_or(|each| each.is_multiple_of(access.rounds_counted()));
    (in_a_row, if is_same { in_a_row } else { 1 })
}

/// The array's name with its dimensions, where they stand together in the text.
pub(super) fn declarator(case: &Case<'_>, array: &Array) -> Span {
    let name = array.name_span;
    let Some(last) = array.dimension_spans.last() else { return name };
    let whole = Span { end: last.end.saturating_add(1), ..name };
    let text =
        if last.file == name.file && last.start >= name.end { (case.text)(whole) } else { String::new() };
    let together = text.ends_with(']') && !text.contains([';', '\n', '=']);
    if together { whole } else { name }
}

/// How the array's rows lie in the banks, unless its lanes collide for another reason than that: within
/// a row, in one word, or in rows of a pitch that the declaration does not tell.
pub(super) fn rows(array: &Array, target: &Target, conflict: &Conflict<'_>) -> String {
    let apart = conflict.totals.worst.witness.map(|witness| witness.offsets.0.abs_diff(witness.offsets.1));
    let by_rows = |row: u64| apart.is_none_or(|apart| apart > 0 && apart.is_multiple_of(row));
    if array.row_bytes().is_some_and(|row| !by_rows(row)) {
        return "declared here".to_owned();
    }
    let bank = u64::from(target.bank_bytes());
    let line = u64::from(target.banks()) * bank;
    match (array.row_bytes(), array.element_bytes) {
        (Some(row), Some(element)) if row % line == 0 => {
            let banks = if element <= bank { "one bank".to_owned() } else { plural(element / bank, "bank") };
            format!("each row is {row} bytes, so a column lies in {banks}")
        }
        (Some(row), _) if row % bank == 0 => {
            let shift = plural(row % line / bank, "bank");
            format!("each row is {row} bytes, so it starts {shift} after the previous one")
        }
        (Some(row), _) => format!("each row is {row} bytes"),
        (None, _) => "declared here".to_owned(),
    }
}

/// What the same site does in another run or on another target.
#[derive(Clone, PartialEq, Eq)]
enum There {
    Same,
    Conflict(u32, u32),
    Free,
    Unknown,
    /// The access is to another array.
    Other(String),
}

impl There {
    fn words(&self) -> String {
        match self {
            There::Same => "the same".to_owned(),
            There::Conflict(wavefronts, ideal) => {
                format!("{} instead of {ideal}", plural((*wavefronts).into(), "wavefront"))
            }
            There::Free => "no conflict".to_owned(),
            There::Unknown => "not known".to_owned(),
            There::Other(array) => format!("it accesses `{array}` there"),
        }
    }
}

fn there(case: &Case<'_>, conflict: &Conflict<'_>, run: usize, target: usize) -> Option<There> {
    let mine = &case.runs[conflict.run].trace.arrays[conflict.access.array];
    let other = case.runs.get(run)?;
    let here = |access: &&Access| (access.span, access.op) == (conflict.access.span, conflict.access.op);
    let array = |access: &Access| &other.trace.arrays[access.array];
    let mut sites = other.trace.accesses.iter().filter(here);
    let Some(at) = other
        .trace
        .accesses
        .iter()
        .position(|access| here(&access) && array(access).name_span == mine.name_span)
    else {
        // One text may be of several arrays at a time; then each is told of by itself.
        let own = &case.runs[conflict.run].trace;
        let only =
            own.accesses.iter().filter(here).all(|it| own.arrays[it.array].name_span == mine.name_span);
        return sites.next().filter(|_| only).map(|access| There::Other(array(access).name.clone()));
    };
    let own = conflict.totals.worst;
    Some(match other.judgements.get(target)?.get(at)?.totals {
        None => There::Unknown,
        Some(totals) if totals.wavefronts == totals.ideal => There::Free,
        Some(totals) if (totals.worst.wavefronts, totals.worst.ideal) == (own.wavefronts, own.ideal) => {
            There::Same
        }
        Some(totals) => There::Conflict(totals.worst.wavefronts, totals.worst.ideal),
    })
}

/// On which of several targets it holds, and how the others differ.
pub(super) fn other_targets(case: &Case<'_>, conflict: &Conflict<'_>) -> Option<String> {
    if case.targets.len() < 2 {
        return None;
    }
    let mut groups: Vec<(There, Vec<String>)> = vec![(There::Same, Vec::new())];
    for (at, target) in case.targets.iter().enumerate() {
        let Some(there) = there(case, conflict, conflict.run, at) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == there) {
            Some((_, names)) => names.push(target.to_string()),
            None => groups.push((there, vec![target.to_string()])),
        }
    }
    let words: Vec<String> = groups
        .iter()
        .map(|(there, names)| match there {
            There::Same => format!("the figures are for {}", listed(names)),
            other => format!("on {}: {}", listed(names), other.words()),
        })
        .collect();
    Some(words.join("; "))
}

/// By what a run differs from another, in words; nothing where it is alike.
fn label(case: &Case<'_>, own: usize, run: usize) -> String {
    let (own, run) = (&case.runs[own], &case.runs[run]);
    let [x, y, z] = run.block;
    let block = (run.block != own.block).then(|| format!("with block ({x}, {y}, {z})"));
    let kernel = (run.kernel != own.kernel).then(|| format!("in `{}`", run.kernel));
    kernel.into_iter().chain(block).collect::<Vec<_>>().join(" ")
}

/// Of a conflict's access that another run knows nothing of: by what the first such run differs.
pub(super) fn unknown_elsewhere(case: &Case<'_>, conflict: &Conflict<'_>) -> Option<String> {
    let is_unknown = |run: &usize| {
        let there = |target| there(case, conflict, *run, target);
        (0..case.targets.len()).any(|target| there(target) == Some(There::Unknown))
    };
    let run = (0..case.runs.len()).filter(|run| *run != conflict.run).find(is_unknown)?;
    let label = label(case, conflict.run, run);
    Some(if label.is_empty() { "in another way to run the kernel".to_owned() } else { label })
}

/// In which instance of a kernel and with which block it was found, if others differ.
pub(super) fn other_runs(case: &Case<'_>, conflict: &Conflict<'_>) -> Option<String> {
    let own = &case.runs[conflict.run];
    let named = case.runs.iter().any(|run| run.kernel != own.kernel);
    let mut told: Vec<(String, There)> = Vec::new();
    for run in (0..case.runs.len()).filter(|&run| run != conflict.run) {
        let Some(there) = there(case, conflict, run, conflict.target) else { continue };
        let label = label(case, conflict.run, run);
        if !label.is_empty() && told.iter().all(|(other, _)| *other != label) {
            told.push((label, there));
        }
    }
    if told.iter().all(|(_, there)| *there == There::Same) {
        // Instances that are alike need no word, but the figures are those of one block.
        let blocks = case.runs.iter().filter(|run| run.kernel == own.kernel && run.block != own.block);
        let mut shapes: Vec<String> = Vec::new();
        for [x, y, z] in blocks.map(|run| run.block) {
            let shape = format!("({x}, {y}, {z})");
            if !shapes.contains(&shape) {
                shapes.push(shape);
            }
        }
        let more = shapes.len().saturating_sub(MOST_RUNS);
        shapes.truncate(MOST_RUNS);
        shapes.extend((more > 0).then(|| plural(more as u64, "other")));
        return (!told.is_empty() && !shapes.is_empty())
            .then(|| format!("the worst request takes as many wavefronts with block {}", listed(&shapes)));
    }
    let mut words: Vec<String> = if named { vec![format!("found in `{}`", own.kernel)] } else { Vec::new() };
    let (same, others): (Vec<_>, Vec<_>) = told.iter().partition(|(_, there)| *there == There::Same);
    match same.as_slice() {
        [] => {}
        [(label, _)] => words.push(format!("{label}: the same")),
        many => words.push(format!("the same in {} others", many.len())),
    }
    words.extend(others.iter().take(MOST_RUNS).map(|(label, there)| format!("{label}: {}", there.words())));
    let more = others.len().saturating_sub(MOST_RUNS);
    if more > 0 {
        words.push(format!("and {more} more"));
    }
    Some(words.join("; "))
}
