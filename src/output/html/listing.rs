//! Which lines of source are shown, and what do they cost?
//!
//! Files come in the order of what they waste. A short file is shown as a whole; of a long one, and where the
//! page has no more room, the lines around those of which there is something to tell. A line's wavefronts are
//! those of its accesses in one kernel: the one that wastes most there, where several come by it.

use super::number;
use super::ranking::{Kernels, block};
use crate::diagnostic::Diagnostic;
use crate::output::op_word;
use crate::source::{SourceFile, Sources, Span};
use crate::visible::{lines, one_line};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The most lines of a file that is shown as a whole.
const WHOLE: usize = 200;
/// Lines that are shown around one of which there is something to tell.
const AROUND: usize = 20;

/// The files of a page.
pub(super) struct Listing<'a> {
    sources: &'a Sources,
    files: Vec<Listed>,
}

/// One file.
struct Listed {
    file: Arc<SourceFile>,
    notes: BTreeMap<usize, Note>,
    /// Where findings are, by the bytes that they cover.
    marks: Vec<Mark>,
    /// The lines that are shown.
    shown: BTreeSet<usize>,
    all: usize,
}

/// What is known of a line.
#[derive(Clone, Default)]
struct Note {
    wavefronts: u64,
    extra: u64,
    /// Of the kernel's, in percent.
    share: f64,
    unknown: usize,
    is_possible: bool,
    /// Of which kernel and block.
    kernel: String,
    ops: Vec<&'static str>,
}

/// A finding in a line.
#[derive(Clone)]
struct Mark {
    span: Span,
    /// The number of the finding, from 1.
    finding: usize,
    rule: &'static str,
}

/// A file as the page has it.
pub(super) struct Sheet {
    pub id: String,
    pub path: String,
    pub extra: String,
    pub rows: Vec<Row>,
}

/// A line, or several that are left out.
pub(super) struct Row {
    /// How many lines are left out; then there is nothing else.
    pub gap: usize,
    pub id: String,
    pub number: usize,
    /// From 0, cold, to 4.
    pub heat: u8,
    pub wavefronts: String,
    pub extra: String,
    /// What the numbers are, in words.
    pub title: String,
    /// `?`, with the reason in the list of the kernel's accesses.
    pub unknown: bool,
    /// The rules of its findings other than conflicts.
    pub tags: Vec<(String, &'static str)>,
    pub parts: Vec<Part>,
}

/// A part of a line.
pub(super) struct Part {
    pub text: String,
    /// The finding that it belongs to; empty if to none.
    pub finding: String,
}

impl<'a> Listing<'a> {
    pub(super) fn new(
        sources: &'a Sources,
        kernels: &Kernels<'_>,
        findings: &[Diagnostic],
        most: usize,
    ) -> Listing<'a> {
        let mut files: BTreeMap<PathBuf, Listed> = BTreeMap::new();
        for (at, note) in notes(sources, kernels) {
            listed(&mut files, sources, at.0).notes.insert(at.1, note);
        }
        for view in kernels.views() {
            let line = line_of(sources, view.at);
            listed(&mut files, sources, view.at).shown.insert(line);
        }
        for (number, finding) in findings.iter().enumerate() {
            for part in finding.each() {
                let file = listed(&mut files, sources, part.primary);
                file.marks.push(Mark { span: part.primary, finding: number + 1, rule: finding.rule });
            }
            for (span, _) in &finding.labels {
                let line = line_of(sources, *span);
                listed(&mut files, sources, *span).shown.insert(line);
            }
        }
        let mut files: Vec<Listed> = files.into_values().collect();
        files.sort_by_cached_key(|file| (Reverse(file.extra()), file.file.path.clone()));
        let mut room = most;
        for file in &mut files {
            file.choose(&mut room);
        }
        Listing { sources, files }
    }

    /// Where on the page a line is, if it is shown.
    pub(super) fn anchor(&self, path: &Path, line: usize) -> Option<String> {
        let at = self.files.iter().position(|file| file.file.path == path)?;
        self.files[at].shown.contains(&line).then(|| format!("#s{}-{line}", at + 1))
    }

    /// Lines of files that are shown, and that are not.
    pub(super) fn left_out(&self) -> usize {
        self.files.iter().map(|file| file.all - file.shown.len()).sum()
    }

    pub(super) fn sheets(&self) -> Vec<Sheet> {
        self.files
            .iter()
            .enumerate()
            .map(|(at, file)| file.sheet(&format!("s{}", at + 1), self.sources))
            .collect()
    }
}

/// The entry of a span's file.
fn listed<'m>(files: &'m mut BTreeMap<PathBuf, Listed>, sources: &Sources, span: Span) -> &'m mut Listed {
    let file = sources.get(span.file);
    files.entry(file.path.clone()).or_insert_with(|| Listed {
        all: file.text.lines().count(),
        file,
        notes: BTreeMap::new(),
        marks: Vec::new(),
        shown: BTreeSet::new(),
    })
}

fn line_of(sources: &Sources, span: Span) -> usize {
    sources.get(span.file).line_column(span.start).0
}

/// What lines cost, each with a span in its file.
fn notes(sources: &Sources, kernels: &Kernels<'_>) -> Vec<((Span, usize), Note)> {
    let mut all: BTreeMap<(PathBuf, usize), (Span, Note)> = BTreeMap::new();
    for view in kernels.views() {
        let mut own: BTreeMap<(PathBuf, usize), (Span, Note)> = BTreeMap::new();
        for site in &view.sites {
            let key = (sources.get(site.span.file).path.clone(), line_of(sources, site.span));
            let (_, note) = own.entry(key).or_insert_with(|| (site.span, Note::default()));
            let (wavefronts, extra) = site.wavefronts.unwrap_or_default();
            note.wavefronts = note.wavefronts.saturating_add(wavefronts);
            note.extra = note.extra.saturating_add(extra);
            note.unknown += usize::from(site.wavefronts.is_none());
            note.is_possible |= site.is_possible && extra > 0;
            note.ops.push(op_word(site.op));
        }
        for (key, (span, mut note)) in own {
            note.share = 100.0 * note.extra as f64 / view.cost.kernel.max(1) as f64;
            note.kernel = format!("{}, block {}, {}", view.name, block(view.block), view.target);
            let rank = |note: &Note| (note.extra, note.wavefronts, note.unknown);
            match all.get_mut(&key) {
                Some((_, known)) if rank(known) >= rank(&note) => {}
                Some(known) => *known = (span, note),
                None => drop(all.insert(key, (span, note))),
            }
        }
    }
    all.into_iter().map(|((_, line), (span, note))| ((span, line), note)).collect()
}

impl Listed {
    fn extra(&self) -> u64 {
        self.notes.values().fold(0, |sum: u64, note| sum.saturating_add(note.extra))
    }

    /// Chooses the lines that are shown, of as many as there is room for.
    fn choose(&mut self, room: &mut usize) {
        let marked = self.marks.iter().map(|mark| self.file.line_column(mark.span.start).0);
        let mut wanted: BTreeSet<usize> = marked.chain(self.notes.keys().copied()).collect();
        wanted.append(&mut self.shown);
        let lines: BTreeSet<usize> = match self.all <= WHOLE.min(*room) {
            true => (1..=self.all).collect(),
            false => {
                let around =
                    |line: &usize| line.saturating_sub(AROUND).max(1)..=(line + AROUND).min(self.all);
                wanted.iter().flat_map(around).collect()
            }
        };
        self.shown = lines.into_iter().take(*room).collect();
        *room -= self.shown.len();
    }

    fn sheet(&self, id: &str, sources: &Sources) -> Sheet {
        let mut rows = Vec::new();
        let mut next = 1;
        let mut start = 0;
        for (line, text) in (1..).zip(self.file.text.split_inclusive('\n')) {
            if self.shown.contains(&line) {
                rows.extend((line > next).then(|| gap(line - next)));
                rows.push(self.row(id, line, start, text, sources));
                next = line + 1;
            }
            start += text.len();
        }
        rows.extend((self.all >= next).then(|| gap(self.all + 1 - next)));
        let extra = self.extra();
        Sheet {
            id: id.to_owned(),
            path: one_line(&self.file.display_path()).into_owned(),
            extra: if extra > 0 { format!("+{}", number(extra)) } else { String::new() },
            rows,
        }
    }

    /// A line that begins at byte `start`.
    fn row(&self, id: &str, line: usize, start: usize, text: &str, sources: &Sources) -> Row {
        let text = text.trim_end_matches(['\n', '\r']);
        let here: Vec<&Mark> = self.marks.iter().filter(|mark| self.is_in(mark, line, sources)).collect();
        let mut row = Row {
            id: format!("{id}-{line}"),
            number: line,
            tags: tags(&here),
            parts: parts(text, start, &self.marks),
            ..gap(0)
        };
        if let Some(note) = self.notes.get(&line) {
            let most = if note.is_possible { "≤ " } else { "" };
            row.wavefronts = if note.wavefronts > 0 { number(note.wavefronts) } else { String::new() };
            row.extra = if note.extra > 0 { format!("{most}+{}", number(note.extra)) } else { String::new() };
            row.unknown = note.unknown > 0;
            row.heat = heat(note);
            row.title = one_line(&note.words()).into_owned();
        }
        row
    }

    fn is_in(&self, mark: &Mark, line: usize, sources: &Sources) -> bool {
        line_of(sources, mark.span) == line
    }
}

impl Note {
    fn words(&self) -> String {
        let mut ops: Vec<&str> = Vec::new();
        for op in &self.ops {
            if !ops.contains(op) {
                ops.push(op);
            }
        }
        let unknown = if self.unknown > 0 { format!("; {} not known", self.unknown) } else { String::new() };
        format!(
            "{}: {} wavefronts in a block, {} of them extra{unknown} ({})",
            ops.join(", "),
            self.wavefronts,
            self.extra,
            self.kernel
        )
    }
}

fn heat(note: &Note) -> u8 {
    match note.share {
        _ if note.extra == 0 => 0,
        share if share < 2.0 => 1,
        share if share < 10.0 => 2,
        share if share < 40.0 => 3,
        _ => 4,
    }
}

/// The findings of a line other than conflicts, whose cost stands beside it: finding and rule.
fn tags(marks: &[&Mark]) -> Vec<(String, &'static str)> {
    let mut tags: Vec<(String, &'static str)> = Vec::new();
    for mark in marks.iter().filter(|mark| mark.rule != "bank-conflict") {
        let tag = (format!("f{}", mark.finding), mark.rule);
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags
}

/// A line cut at the findings in it. Of two that overlap, the one that begins first is marked.
fn parts(text: &str, start: usize, marks: &[Mark]) -> Vec<Part> {
    let end = start + text.len();
    let mut spans: Vec<(usize, usize, usize)> = marks
        .iter()
        .map(|mark| (mark.span.start as usize, mark.span.end as usize, mark.finding))
        .filter(|(from, to, _)| *from < end && *to > start)
        .map(|(from, to, finding)| (from.max(start) - start, to.min(end) - start, finding))
        .collect();
    spans.sort_unstable();
    let mut out = Vec::new();
    let mut push = |from: usize, to: usize, finding: String| {
        if let Some(text) = text.get(from..to).filter(|text| !text.is_empty()) {
            out.push(Part { text: lines(text).into_owned(), finding });
        }
    };
    let mut at = 0;
    for (from, to, finding) in spans {
        if from >= at {
            push(at, from, String::new());
            push(from, to, format!("f{finding}"));
            at = to;
        }
    }
    push(at, text.len(), String::new());
    out
}

fn gap(gap: usize) -> Row {
    Row {
        gap,
        id: String::new(),
        number: 0,
        heat: 0,
        wavefronts: String::new(),
        extra: String::new(),
        title: String::new(),
        unknown: false,
        tags: Vec::new(),
        parts: Vec::new(),
    }
}
