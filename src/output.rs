//! How do findings and verdicts become bytes?
//!
//! One file per format. Nothing here prints; what is common to the formats is below.

pub mod accesses;
pub mod banks;
pub mod diff;
pub(crate) mod dump;
pub mod explain;
pub mod github;
pub mod gitlab;
pub(crate) mod html;
pub mod json;
pub mod junit;
pub mod markdown;
pub mod order;
pub mod races;
pub mod rule_pages;
pub mod sarif;
pub mod short;
pub mod statistics;
pub mod table;
pub mod text;
mod words;

pub use words::{block_from_word, op_word, reason_words, status_word};

use crate::diagnostic::{Diagnostic, Level};
use crate::rules::Rule;
use crate::rules::lines::OtherLines;
use crate::source::{Sources, Span};

/// Where a span starts and ends, for people and editors.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The file's path, with `/` between its parts.
    pub file: String,
    /// The same as a repository names it.
    pub tracked: String,
    /// First line, from 1.
    pub line: usize,
    /// First column in characters, from 1.
    pub column: usize,
    /// The line of the end, from 1.
    pub end_line: usize,
    /// One past the last column, in characters, from 1.
    pub end_column: usize,
}

impl Place {
    /// The place of `span`.
    #[must_use]
    pub fn of(sources: &Sources, span: Span) -> Place {
        let file = sources.get(span.file);
        let (line, column) = file.line_column(span.start);
        let (end_line, end_column) = file.line_column(span.end.max(span.start));
        let (path, tracked) = (file.display_path(), file.tracked_path());
        Place { file: path, tracked, line, column, end_line, end_column }
    }
}

/// All words of a finding: its message with `more` behind it, and a line for its own label, each note and
/// each help.
pub(crate) fn details(finding: &Diagnostic, more: &str) -> String {
    let mut text = format!("{}{more}", finding.message);
    if !finding.primary_label.is_empty() {
        text.push_str(&format!("\n{}", finding.primary_label));
    }
    for note in &finding.notes {
        text.push_str(&format!("\nnote: {note}"));
    }
    for help in &finding.helps {
        text.push_str(&format!("\nhelp: {help}"));
    }
    text
}

/// The places that matter to a finding beside its own, with a few words each: its labels, and all lines of a
/// cause that have none.
pub(crate) fn related(finding: &Diagnostic) -> Vec<(Span, String)> {
    let mut related = finding.labels.clone();
    for part in finding.parts.iter().skip(1) {
        if part.primary != finding.primary && related.iter().all(|(span, _)| *span != part.primary) {
            related.push((part.primary, part.message.clone()));
        }
    }
    related
}

/// The other lines of a cause, for formats that have one place for a finding: ` (also lines 41 and 44)`.
pub(crate) fn other_lines(sources: &Sources, finding: &Diagnostic) -> String {
    let own = Place::of(sources, finding.primary);
    let mut lines = OtherLines::default();
    for part in &finding.parts {
        let Place { file, line, .. } = Place::of(sources, part.primary);
        if (&file, line) != (&own.file, own.line) {
            lines.add((file != own.file).then_some(file), line);
        }
    }
    lines.also().map_or_else(String::new, |also| format!(" ({also})"))
}

/// Where the project's repository is, as `Cargo.toml` says; empty where it says nothing.
const ADDRESS: &str = env!("CARGO_PKG_REPOSITORY");

/// The address of the page on a rule, if the project has one.
#[must_use]
pub(crate) fn page(rule: &Rule) -> Option<String> {
    page_at(ADDRESS, rule)
}

/// The same where the project is at this address; empty: nowhere.
fn page_at(address: &str, rule: &Rule) -> Option<String> {
    let (version, file) = (env!("CARGO_PKG_VERSION"), rule_pages::file(rule));
    (!address.is_empty()).then(|| format!("{address}/blob/v{version}/docs/rules/{file}"))
}

/// What a level is called in front of a finding.
#[must_use]
pub fn level_word(level: Level) -> &'static str {
    match level {
        Level::Allow => "allow",
        Level::Note => "note",
        Level::Warn => "warning",
        Level::Deny => "error",
    }
}

/// `1 file`, `2 files`, `3 accesses`.
#[must_use]
pub fn count(number: usize, one: &str) -> String {
    let ending = match number {
        1 => "",
        _ if one.ends_with('s') => "es",
        _ => "s",
    };
    format!("{number} {one}{ending}")
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;
    use crate::diagnostic::{Cause, Certainty, Conflict, Cost, Estimated};
    use crate::events::AccessOp;
    use std::path::Path;

    /// A conflict of `extra` wavefronts of the kernel's `all`.
    pub fn conflict(at: Span, extra: u64, all: u64) -> Conflict {
        Conflict {
            cause: Cause { kernel: None, array: at, one_word: false },
            array: "s".to_owned(),
            through: None,
            op: AccessOp::Load,
            ways: 32,
            certainty: Certainty::Sure,
            wavefronts: 32,
            ideal: 1,
            cost: Cost { extra, kernel: all, estimated: Estimated::default(), at_most: false, unknown: 0 },
            counts: None,
            exact: true,
            assumptions: Vec::new(),
            assumed: Vec::new(),
            run: 0,
            target: 0,
            block: [32, 8, 1],
            instances: 1,
            remedy: false,
        }
    }

    /// One file and a finding at the first occurrence of `at` in it.
    pub fn finding(path: &str, source: &str, at: &str) -> (Sources, Diagnostic) {
        let sources = Sources::default();
        let file = sources.add(Path::new(path), source.as_bytes().to_vec());
        let primary = span(&file.text, file.id, at);
        let finding = Diagnostic {
            rule: "bank-conflict",
            level: Level::Warn,
            message: "32-way bank conflict".to_owned(),
            primary,
            primary_label: "lanes 0 and 1 read bytes 0 and 128: bank 0".to_owned(),
            labels: Vec::new(),
            notes: Vec::new(),
            helps: Vec::new(),
            fix: None,
            launches: Vec::new(),
            conflict: None,
            dependence: None,
            hazard: None,
            parts: Vec::new(),
            kernel: "k".to_owned(),
            kernel_at: None,
            loudest: Level::Deny,
        };
        (sources, finding)
    }

    /// The first occurrence of `needle`.
    pub fn span(text: &str, file: crate::source::FileId, needle: &str) -> Span {
        let start = text.find(needle).unwrap() as u32;
        Span { file, start, end: start + needle.len() as u32, nth: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_agrees_with_its_noun() {
        assert_eq!([count(0, "file"), count(1, "file"), count(2, "file")], ["0 files", "1 file", "2 files"]);
        assert_eq!([count(1, "access"), count(2, "access")], ["1 access", "2 accesses"]);
    }

    #[test]
    fn a_place_counts_characters_and_ends_past_the_last() {
        let (sources, finding) = testing::finding("d/a.cu", "int é;\n/* é */ x;\n", "é */ x");
        let expected = Place {
            file: "d/a.cu".into(),
            tracked: "d/a.cu".into(),
            line: 2,
            column: 4,
            end_line: 2,
            end_column: 10,
        };
        assert_eq!(Place::of(&sources, finding.primary), expected);
    }
}
