//! Which piece of the source stands above the carets?
//!
//! A copy of the lines that a finding is about: what a terminal would obey is escaped, and of a line
//! that is too long to read only the part around the finding is shown.

use crate::source::{SourceFile, Sources, Span};
use crate::visible::{escape, one_line};
use codespan_reporting::files::{Error, Files};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Longer lines are cut.
const LONG_LINE: usize = 500;
/// How much of a cut line is shown before the span and in all, in bytes.
const BEFORE: usize = 40;
const SHOWN: usize = 160;

/// The snippets of one finding, one for each file.
pub(super) struct Snippets(Vec<Snippet>);

struct Snippet {
    path: PathBuf,
    name: String,
    /// Number of the first line shown, from 0.
    first_line: usize,
    text: String,
    lines: Vec<Line>,
}

/// A line of a snippet.
struct Line {
    /// Where it starts in the snippet's text.
    start: usize,
    /// Where what is shown of it starts and ends in the file.
    shown: Range<usize>,
    /// Bytes of the ellipsis before it.
    ellipsis: usize,
    /// Characters that were cut before it, less those of the ellipsis.
    columns_cut: usize,
    /// What is not shown as it is written, in order.
    escapes: Vec<Escape>,
}

/// A character that is shown as another text.
struct Escape {
    /// Where it is, from the start of what is shown.
    at: usize,
    /// Bytes of the character.
    written: usize,
    /// Bytes of what is shown, each a character of its own.
    shown: usize,
}

impl Snippets {
    /// The snippets that show `spans`, and where in which of them each span lies.
    pub(super) fn new(sources: &Sources, spans: &[Span]) -> (Snippets, Vec<(usize, Range<usize>)>) {
        let files: Vec<_> = spans.iter().map(|span| sources.get(span.file)).collect();
        let ranges: Vec<_> =
            spans.iter().zip(&files).map(|(span, file)| visible(&file.text, span.range())).collect();
        // By path: the same header may have been read twice.
        let mut paths: Vec<&Path> = Vec::new();
        for file in &files {
            if !paths.contains(&file.path.as_path()) {
                paths.push(&file.path);
            }
        }
        let mut snippets = Vec::new();
        for path in paths {
            let of_path = files.iter().zip(&ranges).filter(|(file, _)| file.path == path);
            let here: Vec<Range<usize>> = of_path.map(|(_, range)| range.clone()).collect();
            if let Some(file) = files.iter().find(|file| file.path == path) {
                snippets.push(Snippet::new(file, &here));
            }
        }
        let placed = files.iter().zip(ranges).map(|(file, range)| {
            let at = snippets.iter().position(|it| it.path == file.path).unwrap_or(0);
            (at, snippets.get(at).map_or(0..0, |it| it.place(&range)))
        });
        let placed = placed.collect();
        (Snippets(snippets), placed)
    }
}

/// `range` within the text, on character boundaries, and without the white space at its end,
/// which would draw a box around nothing.
fn visible(text: &str, range: Range<usize>) -> Range<usize> {
    let start = floor_boundary(text, range.start.min(text.len()));
    let end = floor_boundary(text, range.end.clamp(start, text.len()));
    let end = text.get(start..end).map_or(end, |under| start + under.trim_end().len());
    start..end
}

fn floor_boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl Snippet {
    /// The lines of `file` from the first to the last of `spans`, the first of which is the
    /// most important.
    fn new(file: &SourceFile, spans: &[Range<usize>]) -> Snippet {
        let text = &file.text;
        let first = spans.iter().map(|span| span.start).min().unwrap_or(0);
        let last = spans.iter().map(|span| span.end).max().unwrap_or(0);
        let line_start = |at: usize| memchr::memrchr(b'\n', &text.as_bytes()[..at]).map_or(0, |it| it + 1);
        let (line, _) = file.line_column(first as u32);
        let mut snippet = Snippet {
            path: file.path.clone(),
            name: one_line(&file.display_path()).into_owned(),
            first_line: line - 1,
            text: String::new(),
            lines: Vec::new(),
        };
        let mut at = line_start(first);
        loop {
            let end = memchr::memchr(b'\n', &text.as_bytes()[at..]).map_or(text.len(), |it| at + it);
            snippet.push_line(text, at..end, spans);
            if end >= last {
                break;
            }
            at = end + 1;
        }
        snippet
    }

    fn push_line(&mut self, text: &str, line: Range<usize>, spans: &[Range<usize>]) {
        let start = self.text.len();
        let shown = window(text, &line, spans);
        let cut = text.get(line.start..shown.start).unwrap_or("");
        let mut ellipsis = 0;
        if !cut.is_empty() {
            self.text.push('…');
            ellipsis = '…'.len_utf8();
        }
        let ends = (shown.start == 0, shown.end == line.end);
        let escapes = push_visible(&mut self.text, text.get(shown.clone()).unwrap_or(""), ends);
        if shown.end < line.end {
            self.text.push('…');
        }
        self.text.push('\n');
        let columns_cut = cut.chars().count().saturating_sub(1);
        self.lines.push(Line { start, shown, ellipsis, columns_cut, escapes });
    }

    /// Where a range of the file lies in the snippet.
    fn place(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.place_of(range.start);
        start..self.place_of(range.end).max(start)
    }

    fn place_of(&self, at: usize) -> usize {
        let after = self.lines.partition_point(|line| line.shown.start <= at);
        let line = &self.lines[after.saturating_sub(1)];
        // What was cut lies under the ellipsis before or behind.
        match at.checked_sub(line.shown.start) {
            Some(inside) => line.start + line.ellipsis + line.escaped(inside.min(line.shown.len())),
            None => line.start,
        }
    }
}

impl Line {
    /// Where a place of what is shown lies once it is escaped.
    fn escaped(&self, at: usize) -> usize {
        let before = self.escapes.iter().filter(|it| it.at < at);
        before.fold(at, |at, it| (at + it.shown).saturating_sub(it.written))
    }

    /// The column, from 1, of a place of the snippet, which has `chars` characters before it in its line.
    fn column(&self, at: usize, chars: usize) -> usize {
        let at = at.saturating_sub(self.start + self.ellipsis);
        let before = self.escapes.iter().filter(|it| self.escaped(it.at) < at);
        before.fold(self.columns_cut + chars + 1, |column, it| (column + 1).saturating_sub(it.shown))
    }
}

/// The part of a line that is shown: all of it unless it is very long.
fn window(text: &str, line: &Range<usize>, spans: &[Range<usize>]) -> Range<usize> {
    if line.len() <= LONG_LINE {
        return line.clone();
    }
    let of_line = spans.iter().find(|span| line.start <= span.start && span.start <= line.end);
    let anchor = of_line.map_or(line.start, |span| span.start);
    let start = anchor.saturating_sub(BEFORE).max(line.start);
    let end = start.saturating_add(SHOWN).min(line.end);
    floor_boundary(text, start)..floor_boundary(text, end)
}

/// Appends `text`, a part of a line, and says what of it is escaped. `ends`: whether it starts where the file
/// does, where a byte-order mark is left out, and ends where the line does, where `\r` belongs to the end.
fn push_visible(out: &mut String, text: &str, ends: (bool, bool)) -> Vec<Escape> {
    let mut escapes = Vec::new();
    for (at, char) in text.char_indices() {
        let escape = match char {
            '\t' => None,
            '\r' if ends.1 && at + 1 == text.len() => None,
            '\u{feff}' if ends.0 && at == 0 => Some(String::new()),
            _ => escape(char),
        };
        match escape {
            Some(escape) => {
                escapes.push(Escape { at, written: char.len_utf8(), shown: escape.len() });
                out.push_str(&escape);
            }
            None => out.push(char),
        }
    }
    escapes
}

impl<'a> Files<'a> for Snippets {
    type FileId = usize;
    type Name = &'a str;
    type Source = &'a str;

    fn name(&'a self, id: usize) -> Result<&'a str, Error> {
        Ok(&self.get(id)?.name)
    }

    fn source(&'a self, id: usize) -> Result<&'a str, Error> {
        Ok(&self.get(id)?.text)
    }

    fn line_index(&self, id: usize, at: usize) -> Result<usize, Error> {
        let lines = &self.get(id)?.lines;
        Ok(lines.partition_point(|line| line.start <= at).saturating_sub(1))
    }

    fn line_number(&self, id: usize, line: usize) -> Result<usize, Error> {
        Ok(self.get(id)?.first_line + line + 1)
    }

    fn column_number(&self, id: usize, line: usize, at: usize) -> Result<usize, Error> {
        let snippet = self.get(id)?;
        let range = self.line_range(id, line)?;
        let before = snippet.text.get(range.start..at.min(range.end)).unwrap_or("");
        Ok(snippet.lines[line].column(at, before.chars().count()))
    }

    fn line_range(&self, id: usize, line: usize) -> Result<Range<usize>, Error> {
        let snippet = self.get(id)?;
        let start = snippet.lines.get(line).map(|it| it.start);
        let start = start.ok_or(Error::LineTooLarge { given: line, max: snippet.lines.len() })?;
        let end = snippet.lines.get(line + 1).map_or(snippet.text.len(), |next| next.start);
        Ok(start..end)
    }
}

impl Snippets {
    fn get(&self, id: usize) -> Result<&Snippet, Error> {
        self.0.get(id).ok_or(Error::FileMissing)
    }
}
