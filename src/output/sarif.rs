//! SARIF 2.1.0, for GitHub code scanning and others that collect results of analyses.

use super::{Place, details};
use crate::diagnostic::{Diagnostic, Fix, Level};
use crate::fingerprint;
use crate::rules;
use crate::source::{FileId, Sources, Span};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
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
    super::pretty(&json!({
        "$schema": "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "cudalint",
                "version": env!("CARGO_PKG_VERSION"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "shortDescription": { "text": env!("CARGO_PKG_DESCRIPTION") },
                "rules": rules::ALL.iter().map(|rule| descriptor(rule)).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results.collect::<Vec<_>>(),
        }],
    }))
}

fn descriptor(rule: &rules::Rule) -> Value {
    let help = rule.documentation();
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary },
        "fullDescription": { "text": first_paragraph(&help) },
        "help": { "text": help, "markdown": help },
        "defaultConfiguration": { "enabled": rule.level != Level::Allow, "level": level(rule.level) },
        "properties": { "tags": ["cuda", "performance"], "precision": "high" },
    })
}

/// The first paragraph under the first heading, on one line.
fn first_paragraph(documentation: &str) -> String {
    let lines = documentation.lines().skip_while(|line| line.starts_with('#') || line.is_empty());
    lines.take_while(|line| !line.is_empty()).collect::<Vec<_>>().join(" ")
}

fn result(sources: &Sources, finding: &Diagnostic, fingerprint: &str) -> Value {
    let related = finding.labels.iter().enumerate().map(|(at, (span, text))| {
        let mut location = location(sources, *span);
        location["id"] = json!(at);
        location["message"] = json!({ "text": text });
        location
    });
    let index = rules::ALL.iter().position(|rule| rule.id == finding.rule);
    let mut place = location(sources, finding.primary);
    if !finding.primary_label.is_empty() {
        place["message"] = json!({ "text": finding.primary_label });
    }
    if !finding.kernel.is_empty() {
        place["logicalLocations"] = json!([{ "name": finding.kernel, "kind": "function" }]);
    }
    let mut result = json!({
        "ruleId": finding.rule,
        "level": level(finding.level),
        "message": { "text": details(finding) },
        "locations": [place],
        "relatedLocations": related.collect::<Vec<_>>(),
        "partialFingerprints": { (fingerprint::SCHEME): fingerprint },
    });
    if let Some(index) = index {
        result["ruleIndex"] = json!(index);
    }
    if let Some(fix) = &finding.fix {
        result["fixes"] = json!([repair(sources, fix)]);
    }
    result
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
    let path = utf8_percent_encode(&file.display_path(), ESCAPED).to_string();
    let absolute = Path::new(&file.path).is_absolute();
    json!({ "uri": if absolute { format!("file:///{}", path.trim_start_matches('/')) } else { path } })
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
