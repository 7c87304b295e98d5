//! What does one stage of the analysis hand to the next, as text for people?
//!
//! A block for each function or run, in the order of the text. Nothing reads it back, so its form
//! follows the structures that it shows.

mod access;
mod program;
mod runs;
mod series;
mod tree;

pub(crate) use program::program;
pub(crate) use runs::{Recorded, recorded};

use super::{Place, reason_words};
use crate::domain::Unknown;
use crate::events::Call;
use crate::source::{FileId, Sources, Span};
use crate::visible::{lines, one_line, without_commands};
use std::collections::BTreeSet;

/// A part of a dump, to be sorted: the path of a file, a place in it, how many stand before it there, and
/// the text.
type Block = (String, u32, usize, String);

/// All blocks, each once although a header may be reached from many files; `nothing` is said of files
/// that have none.
fn render(blocks: Vec<Block>, files: &[String], nothing: &str) -> Vec<u8> {
    let with: BTreeSet<String> = blocks.iter().map(|(path, ..)| path.clone()).collect();
    let silent = files.iter().filter(|path| !with.contains(*path));
    let mut all: Vec<Block> = blocks;
    all.extend(silent.map(|path| (path.clone(), 0, 0, format!("{}: {nothing}\n", one_line(path)))));
    all.sort();
    let mut seen = BTreeSet::new();
    all.retain(|(path, start, _, text)| seen.insert((path.clone(), *start, text.clone())));
    let texts: Vec<&str> = all.iter().map(|(.., text)| text.as_str()).collect();
    without_commands(lines(&texts.join("\n")).into_owned()).into_bytes()
}

/// Says where something is, in a block about one file.
#[derive(Clone, Copy)]
struct Places<'a> {
    sources: &'a Sources,
    /// That file.
    home: FileId,
}

impl Places<'_> {
    /// `line:column` of the start of a span, with the file if it is another.
    fn of(self, span: Span) -> String {
        if span.file != self.home {
            return place(self.sources, span);
        }
        let at = Place::of(self.sources, span);
        format!("{}:{}", at.line, at.column)
    }

    /// The calls that lead to a place.
    fn by(self, calls: &[Call]) -> String {
        let word = |call: &Call| format!(", by {} called at {}", call.function, self.of(call.span));
        calls.iter().map(word).collect()
    }

    /// Why something is not known.
    fn unknown(self, why: &Unknown) -> String {
        format!("{} ({}, at {})", why.detail, reason_words(why.reason), self.of(why.span))
    }
}

/// `file:line:column` of the start of a span.
fn place(sources: &Sources, span: Span) -> String {
    let at = Place::of(sources, span);
    format!("{}:{}:{}", one_line(&at.file), at.line, at.column)
}
