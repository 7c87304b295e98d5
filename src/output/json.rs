//! One JSON object per finding and line, for programs. `docs/json.md` describes the fields.

use super::{Place, level_word, op_word, related};
use crate::diagnostic::{Certainty, Diagnostic, Edit};
use crate::fixes;
use crate::source::{Sources, Span};
use crate::visible;
use serde::Serialize;

#[derive(Serialize)]
struct Finding<'a> {
    #[serde(flatten)]
    at: At,
    rule: &'a str,
    level: &'a str,
    message: &'a str,
    label: &'a str,
    kernel: &'a str,
    labels: Vec<Label>,
    notes: &'a [String],
    helps: &'a [String],
    fix: Option<Fix<'a>>,
    conflict: Option<Figures<'a>>,
    lines: Vec<Line<'a>>,
}

/// What a bank conflict costs.
#[derive(Serialize)]
pub(super) struct Figures<'a> {
    array: &'a str,
    ways: u32,
    wavefronts: u32,
    ideal: u32,
    extra: u64,
    kernel_wavefronts: u64,
    /// Of 1, to four digits.
    share: f64,
    at_most: bool,
    estimated: bool,
    unknown_accesses: usize,
    confidence: &'static str,
    assumptions: Vec<&'static str>,
    block: [u32; 3],
    instances: usize,
    remedy: bool,
}

/// One access of a cause.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    at: At,
    op: &'static str,
    ways: u32,
    wavefronts: u32,
    ideal: u32,
    extra: u64,
    kernel: &'a str,
    block: [u32; 3],
    message: &'a str,
    counts: Option<&'a str>,
}

impl<'a> Figures<'a> {
    /// Those of a bank conflict: of a cause, of its worst line, with the cost of all.
    pub(super) fn of(finding: &'a Diagnostic) -> Option<Figures<'a>> {
        let (own, cost) = (finding.conflict.as_ref()?, finding.cost()?);
        let conflicts = || finding.each().filter_map(|part| part.conflict.as_ref());
        let mut assumptions: Vec<&str> = conflicts().flat_map(|it| it.assumptions.iter().copied()).collect();
        assumptions.sort_unstable();
        assumptions.dedup();
        let exact = conflicts().all(|it| it.exact);
        Some(Figures {
            array: &own.array,
            ways: own.ways,
            wavefronts: own.wavefronts,
            ideal: own.ideal,
            extra: cost.extra,
            kernel_wavefronts: cost.kernel,
            share: (cost.share() * 10_000.0).round() / 10_000.0,
            at_most: cost.at_most || own.certainty == Certainty::Possible,
            estimated: cost.estimated.any(),
            unknown_accesses: cost.unknown,
            confidence: if exact { "exact" } else { "assumed" },
            assumptions,
            block: own.block,
            instances: own.instances,
            remedy: conflicts().any(|it| it.remedy),
        })
    }
}

impl<'a> Line<'a> {
    fn of(sources: &Sources, part: &'a Diagnostic) -> Option<Line<'a>> {
        let conflict = part.conflict.as_ref()?;
        Some(Line {
            at: At::of(sources, part.primary),
            op: op_word(conflict.op),
            ways: conflict.ways,
            wavefronts: conflict.wavefronts,
            ideal: conflict.ideal,
            extra: conflict.cost.extra,
            kernel: &part.kernel,
            block: conflict.block,
            message: &part.message,
            counts: conflict.counts.as_deref(),
        })
    }
}

#[derive(Serialize)]
struct At {
    file: String,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    byte_start: u32,
    byte_end: u32,
}

#[derive(Serialize)]
struct Label {
    #[serde(flatten)]
    at: At,
    text: String,
}

#[derive(Serialize)]
struct Fix<'a> {
    title: &'a str,
    r#unsafe: Option<String>,
    edits: Vec<Replacement<'a>>,
}

#[derive(Serialize)]
struct Replacement<'a> {
    #[serde(flatten)]
    at: At,
    replacement: &'a str,
}

impl At {
    fn of(sources: &Sources, span: Span) -> At {
        let Place { file, line, column, end_line, end_column, .. } = Place::of(sources, span);
        At { file, line, column, end_line, end_column, byte_start: span.start, byte_end: span.end }
    }
}

/// The findings, one object per line.
#[must_use]
pub fn render(sources: &Sources, findings: &[Diagnostic]) -> Vec<u8> {
    let mut out = Vec::new();
    for finding in findings {
        push_line(&mut out, &object(sources, finding));
    }
    out
}

/// Appends one line with `value`.
pub(super) fn push_line(out: &mut Vec<u8>, value: &impl Serialize) {
    out.extend_from_slice(line(value).as_bytes());
    out.push(b'\n');
}

/// `value` on one line.
pub(crate) fn line(value: &impl Serialize) -> String {
    // Strings and numbers always serialise.
    visible::json(serde_json::to_string(value).unwrap_or_default())
}

/// `value` on several lines, with a newline at the end.
pub(super) fn pretty(value: &impl Serialize) -> Vec<u8> {
    let text = visible::json(serde_json::to_string_pretty(value).unwrap_or_default());
    format!("{text}\n").into_bytes()
}

fn object<'a>(sources: &Sources, finding: &'a Diagnostic) -> Finding<'a> {
    // The lines of a conflict are listed with their figures.
    let labels = match finding.conflict {
        Some(_) => finding.labels.clone(),
        None => related(finding),
    };
    let label = |(span, text): (Span, String)| Label { at: At::of(sources, span), text };
    let edit = |edit: &'a Edit| Replacement { at: At::of(sources, edit.span), replacement: &edit.text };
    Finding {
        at: At::of(sources, finding.primary),
        rule: finding.rule,
        level: level_word(finding.level),
        message: &finding.message,
        label: &finding.primary_label,
        kernel: &finding.kernel,
        labels: labels.into_iter().map(label).collect(),
        notes: &finding.notes,
        helps: &finding.helps,
        fix: finding.fix.as_ref().map(|fix| Fix {
            title: &fix.title,
            r#unsafe: fixes::why_unsafe(sources, fix),
            edits: fix.edits.iter().map(edit).collect(),
        }),
        conflict: Figures::of(finding),
        lines: finding.each().filter_map(|part| Line::of(sources, part)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;
    use crate::diagnostic;
    use serde_json::json;

    #[test]
    fn a_finding_is_one_object_with_every_field() {
        let source = "__shared__ float s[32];\n\ts[i] = 0;\n";
        let (sources, mut finding) = testing::finding("d/a.cu", source, "s[i]");
        let declared = testing::span(source, finding.primary.file, "[32]");
        finding.labels.push((declared, "here".into()));
        finding.notes.push("a \"note\"\nin two lines".into());
        finding.helps.push("do it".into());
        let edits = vec![diagnostic::Edit { span: declared, text: "[33]".into() }];
        finding.fix = Some(diagnostic::Fix {
            title: "pad".into(),
            edits,
            basis: diagnostic::Basis::Subscripts,
            leaves: false,
        });
        let bytes = render(&sources, &[finding.clone(), finding]);
        let text = String::from_utf8(bytes).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        let value: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
        assert_eq!(
            value,
            json!({
                "file": "d/a.cu", "line": 2, "column": 2, "end_line": 2, "end_column": 6,
                "byte_start": 25, "byte_end": 29,
                "rule": "bank-conflict", "level": "warning", "message": "32-way bank conflict",
                "label": "lanes 0 and 1 read bytes 0 and 128: bank 0",
                "kernel": "k",
                "labels": [{
                    "file": "d/a.cu", "line": 1, "column": 19, "end_line": 1, "end_column": 23,
                    "byte_start": 18, "byte_end": 22, "text": "here",
                }],
                "notes": ["a \"note\"\nin two lines"],
                "helps": ["do it"],
                "conflict": null,
                "lines": [],
                "fix": {
                    "title": "pad",
                    "unsafe": "the array's declaration is not written out in full",
                    "edits": [{
                        "file": "d/a.cu", "line": 1, "column": 19, "end_line": 1, "end_column": 23,
                        "byte_start": 18, "byte_end": 22, "replacement": "[33]",
                    }],
                },
            })
        );
    }
}
