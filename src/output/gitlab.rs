//! GitLab's Code Quality report, which a merge request shows.

use super::{Place, other_lines};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Sources;
use serde::Serialize;

#[derive(Serialize)]
struct Issue<'a> {
    description: String,
    check_name: &'a str,
    fingerprint: &'a str,
    severity: &'a str,
    location: Location,
}

#[derive(Serialize)]
struct Location {
    path: String,
    lines: Lines,
}

#[derive(Serialize)]
struct Lines {
    begin: usize,
    end: usize,
}

/// The findings, as one array.
#[must_use]
pub fn render<'a>(sources: &Sources, findings: &'a [Diagnostic], fingerprints: &'a [String]) -> Vec<u8> {
    let issue = |(finding, fingerprint): (_, &'a String)| issue(sources, finding, fingerprint);
    let issues: Vec<Issue<'_>> = findings.iter().zip(fingerprints).map(issue).collect();
    super::json::pretty(&issues)
}

fn issue<'a>(sources: &Sources, finding: &'a Diagnostic, fingerprint: &'a str) -> Issue<'a> {
    let place = Place::of(sources, finding.primary);
    Issue {
        description: format!("{}{}", finding.message, other_lines(sources, finding)),
        check_name: finding.rule,
        fingerprint,
        severity: match finding.level {
            Level::Allow | Level::Note => "info",
            Level::Warn => "minor",
            Level::Deny => "major",
        },
        location: Location { path: place.tracked, lines: Lines { begin: place.line, end: place.end_line } },
    }
}
