//! What is the editor shown of the findings?

use super::Refused;
use super::client::Client;
use super::places::Places;
use super::position::{Encoding, Lines};
use crate::diagnostic::{Diagnostic, Level};
use crate::{output, rules, suppress};
use ls_types::{
    CodeDescription, Diagnostic as Shown, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag,
    NumberOrString, Range,
};

/// Who says so.
const SOURCE: &str = env!("CARGO_PKG_NAME");

/// A finding as an editor shows it.
pub(super) fn shown(finding: &Diagnostic, places: &Places<'_>, client: &Client) -> Shown {
    let severity = match finding.level {
        Level::Deny => DiagnosticSeverity::ERROR,
        Level::Warn => DiagnosticSeverity::WARNING,
        Level::Note | Level::Allow => DiagnosticSeverity::INFORMATION,
    };
    let related = output::related(finding).into_iter().filter_map(|(span, message)| {
        Some(DiagnosticRelatedInformation { location: places.location(span)?, message })
    });
    let related: Vec<DiagnosticRelatedInformation> =
        related.filter(|_| client.related).filter(|it| !it.message.is_empty()).collect();
    let page = rules::find(finding.rule).and_then(output::page).and_then(|page| page.parse().ok());
    Shown {
        range: places.range(finding.primary),
        severity: Some(severity),
        code: Some(NumberOrString::String(finding.rule.to_owned())),
        code_description: page.map(|href| CodeDescription { href }),
        source: Some(SOURCE.to_owned()),
        message: output::details(finding, ""),
        related_information: (!related.is_empty()).then_some(related),
        tags: suppress::is_useless(finding.rule).then(|| vec![DiagnosticTag::UNNECESSARY]),
        data: None,
    }
}

/// What is wrong with a configuration file, as an editor shows it.
pub(super) fn refusal(refused: &Refused, encoding: Encoding) -> Shown {
    let lines = Lines::of(&refused.text);
    let position = |offset| lines.position(&refused.text, offset, encoding);
    Shown {
        range: Range::new(position(refused.span.start), position(refused.span.end)),
        severity: Some(DiagnosticSeverity::ERROR),
        source: Some(SOURCE.to_owned()),
        message: refused.message.clone(),
        ..Shown::default()
    }
}
