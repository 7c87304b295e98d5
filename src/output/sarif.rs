//! SARIF 2.1.0, for GitHub code scanning and others that collect results of analyses.

use super::json::Figures;
use super::{ADDRESS, Place, details, page_at, related};
use crate::diagnostic::{Diagnostic, Fix, Level};
use crate::fingerprint;
use crate::rules::{self, About, Rule};
#[cfg(not(unix))]
use crate::source::display_path;
use crate::source::{FileId, Sources, Span};
use percent_encoding::{AsciiSet, CONTROLS, percent_encode};
use serde_json::{Value, json};
use std::path::Path;

/// What may not stand in the path of a URI.
const ESCAPED: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'#')
    .add(b'%')
    .add(b'<')
    .add(b'>')
    .add(b'?')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// The findings, as a log with one run.
#[must_use]
pub fn render(sources: &Sources, findings: &[Diagnostic], fingerprints: &[String]) -> Vec<u8> {
    let results = findings.iter().zip(fingerprints).map(|(finding, print)| result(sources, finding, print));
    super::json::pretty(&json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": driver(ADDRESS) },
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Vec<_>>(),
        }],
    }))
}

/// `address`: of the project's repository; empty where there is none.
fn driver(address: &str) -> Value {
    let mut driver = json!({
        "name": "cudalint",
        "version": env!("CARGO_PKG_VERSION"),
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "shortDescription": { "text": env!("CARGO_PKG_DESCRIPTION") },
        "rules": rules::ALL.iter().map(|rule| descriptor(rule, address)).collect::<Vec<_>>(),
    });
    if !address.is_empty() {
        driver["informationUri"] = json!(address);
    }
    driver
}

fn descriptor(rule: &Rule, address: &str) -> Value {
    let help = rule.documentation();
    let mut descriptor = json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": first_paragraph(&help) },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "enabled": rule.level != Level::Allow, "level": level(rule.level) },
        "properties": {
            "tags": tags(rule.about),
            "precision": precision(rule),
            "problem.severity": severity(rule),
        },
    });
    if let Some(page) = page_at(address, rule) {
        descriptor["helpUri"] = json!(page);
    }
    descriptor
}

fn tags(about: About) -> [&'static str; 2] {
    let about = match about {
        About::Correctness => "correctness",
        About::Performance => "performance",
        About::Comments => "maintainability",
    };
    ["cuda", about]
}

/// How often a result is right, in the words of code scanning.
fn precision(rule: &Rule) -> &'static str {
    match (rule.about, rule.level) {
        (About::Comments, _) => "very-high",
        (_, Level::Warn | Level::Deny) => "high",
        // What depends on a run-time value, or is not known.
        (_, Level::Note | Level::Allow) => "medium",
    }
}

/// How bad it is, in the words of code scanning.
fn severity(rule: &Rule) -> &'static str {
    match (rule.about, rule.level) {
        (About::Correctness, _) => "error",
        (About::Performance, Level::Warn | Level::Deny) => "warning",
        (About::Performance | About::Comments, _) => "recommendation",
    }
}

/// The first paragraph under the first heading, on one line.
fn first_paragraph(documentation: &str) -> String {
    let lines = documentation.lines().skip_while(|line| line.starts_with('#') || line.is_empty());
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn result(sources: &Sources, finding: &Diagnostic, fingerprint: &str) -> Value {
    let labels = related(finding);
    let related = labels.iter().zip(1..).map(|((span, text), id)| {
        let mut location = location(sources, *span);
        location["id"] = json!(id);
        location["message"] = json!({ "text": plain(text) });
        location
    });
    let index = rules::ALL.iter().position(|rule| rule.id == finding.rule);
    let mut place = location(sources, finding.primary);
    if !finding.primary_label.is_empty() {
        place["message"] = json!({ "text": plain(&finding.primary_label) });
    }
    if !finding.kernel.is_empty() {
        place["logicalLocations"] = json!([{ "name": finding.kernel, "kind": "function" }]);
    }
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.level),
        "message": { "text": message(sources, finding, &labels) },
        "locations": [place],
        "relatedLocations": related.collect::<Vec<_>>(),
        "partialFingerprints": { (fingerprint::SCHEME): fingerprint },
    });
    if let Some(index) = index {
        result["ruleIndex"] = json!(index);
    }
    if let Some(figures) = Figures::of(finding) {
        result["properties"] = json!({ "conflict": figures });
    }
    if let Some(fix) = &finding.fix {
        result["fixes"] = json!([repair(sources, fix)]);
    }
    result
}

/// All words of a finding, and a link to each related place, by its number: viewers show no others.
fn message(sources: &Sources, finding: &Diagnostic, labels: &[(Span, String)]) -> String {
    let mut text = plain(&details(finding, ""));
    for ((span, label), id) in labels.iter().zip(1..) {
        let Place { file, line, .. } = Place::of(sources, *span);
        let label = if label.is_empty() { format!("{file}:{line}") } else { label.clone() };
        let label: String = label
            .chars()
            .flat_map(|char| matches!(char, '[' | ']' | '\\').then_some('\\').into_iter().chain([char]))
            .collect();
        text.push_str(&format!("\nsee: [{label}]({id})"));
    }
    text
}

/// A text without links: an access such as `f[i](x)` is none.
fn plain(text: &str) -> String {
    text.replace("](", "\\](")
}

fn repair(sources: &Sources, fix: &Fix) -> Value {
    let mut files: Vec<FileId> = fix.edits.iter().map(|edit| edit.span.file).collect();
    files.sort_unstable();
    files.dedup();
    let changes = files.into_iter().map(|file| {
        let edits = fix.edits.iter().filter(|edit| edit.span.file == file);
        let replacements = edits.map(|edit| {
            json!({ "deletedRegion": region(sources, edit.span), "insertedContent": { "text": edit.text } })
        });
        json!({ "artifactLocation": artifact(sources, file), "replacements": replacements.collect::<Vec<_>>() })
    });
    json!({ "description": { "text": fix.title }, "artifactChanges": changes.collect::<Vec<_>>() })
}

fn location(sources: &Sources, span: Span) -> Value {
    json!({ "physicalLocation": {
        "artifactLocation": artifact(sources, span.file),
        "region": region(sources, span),
    } })
}

fn artifact(sources: &Sources, file: FileId) -> Value {
    let file = sources.get(file);
    let path = encoded(&file.path);
    let absolute = file.path.is_absolute();
    json!({ "uri": if absolute { format!("file:///{}", path.trim_start_matches('/')) } else { path } })
}

/// A path as that of a URI, with the bytes that the system knows it by.
#[cfg(unix)]
fn encoded(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    percent_encode(path.as_os_str().as_bytes(), ESCAPED).to_string()
}

#[cfg(not(unix))]
fn encoded(path: &Path) -> String {
    percent_encode(display_path(path).as_bytes(), ESCAPED).to_string()
}

fn region(sources: &Sources, span: Span) -> Value {
    let Place { line, column, end_line, end_column, .. } = Place::of(sources, span);
    json!({
        "startLine": line,
        "startColumn": column,
        "endLine": end_line,
        "endColumn": end_column,
        "byteOffset": span.start,
        "byteLength": span.end.saturating_sub(span.start),
    })
}

fn level(level: Level) -> &'static str {
    match level {
        Level::Allow => "none",
        Level::Note => "note",
        Level::Warn => "warning",
        Level::Deny => "error",
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn related_places_are_linked_from_the_message_and_nothing_else_is() {
        let (sources, mut finding) = testing::finding("a.cu", "int s[4];\nf[i](x);\n", "f[i](x)");
        finding.primary_label = "here `f[i](http://x)`".into();
        let declared = testing::span("int s[4];", finding.primary.file, "s[4]");
        finding.labels = vec![(declared, "rows of `s[4]`".into()), (declared, String::new())];
        let value = result(&sources, &finding, "0");
        let expected =
            "32-way bank conflict\nhere `f[i\\](http://x)`\nsee: [rows of `s\\[4\\]`](1)\nsee: [a.cu:1](2)";
        assert_eq!(value["message"]["text"], expected);
        assert_eq!(value["relatedLocations"][1]["id"], 2);
        assert_eq!(value["locations"][0]["message"]["text"], "here `f[i\\](http://x)`");
    }

    #[test]
    fn a_rule_has_a_page_only_where_there_is_an_address() {
        let rule = rules::find("bank-conflict").unwrap();
        assert_eq!(descriptor(rule, "")["helpUri"], Value::Null);
        assert_eq!(driver("")["informationUri"], Value::Null);
        assert_eq!(driver("https://example.com/c")["informationUri"], "https://example.com/c");
        let page =
            format!("https://example.com/c/blob/v{}/docs/rules/bank-conflict.md", env!("CARGO_PKG_VERSION"));
        assert_eq!(descriptor(rule, "https://example.com/c")["helpUri"], page);
        assert!(Path::new("docs/rules/bank-conflict.md").is_file());
    }
}
