//! Findings for people, in rustc's manner: what, where, why, and what to type instead.

mod links;
mod snippet;

use crate::diagnostic::{Diagnostic, Level};
use crate::rules;
use crate::source::{Sources, display_path};
use crate::visible::{one_line, without_commands};
use codespan_reporting::diagnostic::{Diagnostic as Report, Label, LabelStyle, Severity};
use codespan_reporting::term::termcolor::{Ansi, NoColor, WriteColor};
use codespan_reporting::term::{Config, emit_to_write_style};
use links::{Word, linked};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rustc_hash::FxHashMap;
use snippet::Snippets;
use std::path::Path;

/// What stands for something else in the path of an address.
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// The findings, each followed by an empty line.
#[must_use]
pub fn render(sources: &Sources, findings: &[Diagnostic], colored: bool) -> Vec<u8> {
    let bytes = if colored {
        let mut out = Ansi::new(Vec::new());
        write(&mut out, sources, findings);
        out.into_inner()
    } else {
        let mut out = NoColor::new(Vec::new());
        write(&mut out, sources, findings);
        out.into_inner()
    };
    without_commands(String::from_utf8_lossy(&bytes).into_owned()).into_bytes()
}

/// A text that was rendered with the rules and places of these findings as links, for a terminal. Files without an
/// absolute path lie below `home`.
#[must_use]
pub fn with_links(text: &[u8], sources: &Sources, findings: &[Diagnostic], home: &Path) -> Vec<u8> {
    let mut files: FxHashMap<String, String> = FxHashMap::default();
    for finding in findings {
        let spans = std::iter::once(finding.primary).chain(finding.labels.iter().map(|(span, _)| *span));
        for file in spans.map(|span| sources.get(span.file)) {
            let path = display_path(&home.join(&file.path));
            let slash = if path.starts_with('/') { "" } else { "/" };
            let address = format!("file://{slash}{}", utf8_percent_encode(&path, ESCAPED));
            files.insert(one_line(&file.display_path()).into_owned(), address);
        }
    }
    let address_of = |word: Word<'_>| match word {
        Word::Rule(id) => super::page(rules::find(id)?),
        Word::File(name) => files.get(name).cloned(),
    };
    linked(&String::from_utf8_lossy(text), &address_of).into_bytes()
}

fn write(out: &mut impl WriteColor, sources: &Sources, findings: &[Diagnostic]) {
    let config = Config::default();
    for finding in findings {
        let (snippets, report) = prepare(sources, finding);
        if emit_to_write_style(out, &config, &snippets, &report).is_err() {
            // A finding is never lost over its decoration.
            let plain = super::short::render(sources, std::slice::from_ref(finding));
            let _ = out.write_all(&plain);
        }
    }
}

fn prepare(sources: &Sources, finding: &Diagnostic) -> (Snippets, Report<usize>) {
    let mut labels = vec![(finding.primary, LabelStyle::Primary, finding.primary_label.as_str())];
    for (span, text) in &finding.labels {
        labels.push((*span, LabelStyle::Secondary, text));
    }
    let spans: Vec<_> = labels.iter().map(|(span, ..)| *span).collect();
    let (snippets, ranges) = Snippets::new(sources, &spans);
    let labels = labels.iter().zip(ranges).map(|((_, style, text), (file, range))| {
        Label::new(*style, file, range).with_message(one_line(text))
    });

    let mut notes: Vec<String> = finding.notes.iter().map(|text| item("note", text)).collect();
    notes.extend(finding.helps.iter().map(|text| item("help", text)));
    if finding.helps.is_empty() {
        notes.extend(finding.fix.iter().map(|fix| item("help", &fix.title)));
    }
    let report = Report::new(severity(finding.level))
        .with_code(finding.rule)
        .with_message(one_line(&finding.message))
        .with_labels(labels.collect())
        .with_notes(notes);
    (snippets, report)
}

/// A note; further lines of it stand under its first word.
fn item(word: &str, text: &str) -> String {
    let lines: Vec<_> = text.lines().map(one_line).collect();
    format!("{word}: {}", lines.join("\n      "))
}

fn severity(level: Level) -> Severity {
    match level {
        Level::Deny => Severity::Error,
        Level::Warn => Severity::Warning,
        Level::Note | Level::Allow => Severity::Note,
    }
}

#[cfg(test)]
mod tests;
