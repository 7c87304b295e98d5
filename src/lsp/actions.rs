//! What can be done about findings: repair them, allow them, say which block their kernel has, or remove a
//! comment that does nothing?

use super::client::Client;
use super::places::Places;
use super::publish::shown;
use super::{Analyst, Checked, Offer};
use crate::analysis::MetKernel;
use crate::diagnostic::Diagnostic;
use crate::source::{FileId, SourceFile, Span};
use crate::suppress::{self, comment};
use ls_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, TextEdit, Uri, WorkspaceEdit,
};
use std::collections::{BTreeSet, HashMap};
use std::path::Path;

/// What can be done about the findings of a range of a file.
pub(super) fn actions(
    analyst: &mut impl Analyst,
    answer: usize,
    places: &Places<'_>,
    checked: &Checked,
    path: &Path,
    params: &CodeActionParams,
    client: &Client,
) -> Vec<CodeActionOrCommand> {
    let wanted = params.context.only.as_ref();
    if wanted.is_some_and(|kinds| !kinds.iter().any(|kind| covers(kind.as_str()))) {
        return Vec::new();
    }
    let holds = |span: Span| {
        let asked = places.span(span.file, params.range);
        let is_of = places.path(span.file).is_some_and(|other| other == path);
        is_of && span.start <= asked.end && asked.start <= span.end.max(span.start)
    };
    let here = |finding: &Diagnostic| finding.each().any(|part| holds(part.primary));
    let numbers: Vec<usize> = (0..checked.findings.len()).filter(|&at| here(&checked.findings[at])).collect();
    let mut all = Vec::new();
    let offers = analyst.offers(answer, &numbers);
    let only = offers.iter().filter(|offer| offer.doubt.is_none()).count() == 1;
    for offer in &offers {
        all.extend(repair(offer, only, places, checked, client));
    }
    let about = |kernel: &MetKernel| {
        let finds =
            |number: &usize| checked.findings[*number].each().any(|it| it.kernel_at == Some(kernel.name));
        holds(kernel.name) || numbers.iter().any(finds)
    };
    let mut told: BTreeSet<Span> = BTreeSet::new();
    for kernel in checked.kernels.iter().filter(|kernel| about(kernel)) {
        all.extend(told.insert(kernel.name).then(|| block(kernel, places)).flatten());
    }
    for number in numbers {
        all.extend(allowed(&checked.findings[number], places, client));
        all.extend(removed(&checked.findings[number], places, client));
    }
    all.into_iter().map(CodeActionOrCommand::CodeAction).collect()
}

/// Whether quick fixes are among the actions of a kind.
fn covers(kind: &str) -> bool {
    kind.is_empty() || kind == CodeActionKind::QUICKFIX.as_str()
}

/// A repair. `only`: there is one of which nothing speaks against it.
fn repair(
    offer: &Offer,
    only: bool,
    places: &Places<'_>,
    checked: &Checked,
    client: &Client,
) -> Option<CodeAction> {
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for (span, text) in &offer.edits {
        let edit = TextEdit { range: places.range(*span), new_text: text.clone() };
        changes.entry(places.uri(span.file)?).or_default().push(edit);
    }
    let title = match &offer.doubt {
        Some(doubt) => format!("{} (unsafe: {doubt})", offer.title),
        None => offer.title.clone(),
    };
    let repaired = offer.findings.iter().filter_map(|number| checked.findings.get(*number));
    Some(CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(repaired.map(|finding| shown(finding, places, client)).collect()),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        is_preferred: Some(offer.doubt.is_none() && only),
        ..CodeAction::default()
    })
}

/// Comments that allow a finding: above its line, or all lines of a cause, and for the whole file.
fn allowed(finding: &Diagnostic, places: &Places<'_>, client: &Client) -> Vec<CodeAction> {
    let (rule, Span { file, .. }) = (finding.rule, finding.primary);
    // Who does not want those has other ways.
    if suppress::is_about_comments(rule) {
        return Vec::new();
    }
    let Some(uri) = places.uri(file) else { return Vec::new() };
    let action = |title: String, changes: HashMap<Uri, Vec<TextEdit>>| CodeAction {
        title,
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![shown(finding, places, client)]),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        is_preferred: Some(false),
        ..CodeAction::default()
    };
    let starts = finding.each().map(|part| {
        let Span { file, start, .. } = part.primary;
        (file, places.lines(file).start_of_line(start as usize))
    });
    let starts: BTreeSet<(FileId, usize)> = starts.collect();
    let title = match starts.len() {
        1 => format!("Allow `{rule}` here with a comment"),
        lines => format!("Allow `{rule}` in these {lines} lines with comments"),
    };
    let here = above_lines(rule, &starts, places).map(|changes| action(title, changes));
    let comment = format!("// cudalint: allow-file({rule}){}", line_end(&places.file(file)));
    let whole = HashMap::from([(uri, vec![insertion(places, file, 0, comment)])]);
    let whole = action(format!("Allow `{rule}` in this file with a comment"), whole);
    here.into_iter().chain([whole]).collect()
}

/// A comment above each of some lines, given by their starts; `None` where one cannot stand there.
fn above_lines(
    rule: &str,
    starts: &BTreeSet<(FileId, usize)>,
    places: &Places<'_>,
) -> Option<HashMap<Uri, Vec<TextEdit>>> {
    let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
    for &(file, line) in starts {
        let text = places.file(file);
        let place = comment::place_above(&text, line).ok()?;
        let comment = comment::line(&text, place, &[rule], "");
        changes.entry(places.uri(file)?).or_default().push(insertion(places, file, place, comment));
    }
    Some(changes)
}

/// A comment that gives a kernel the block that was assumed of it, to be corrected.
fn block(kernel: &MetKernel, places: &Places<'_>) -> Option<CodeAction> {
    let Span { file, start, .. } = kernel.whole;
    let (text, assumed) = (places.file(file), kernel.assumed?);
    let place = comment::place_above(&text, start as usize).ok()?;
    let edit = insertion(places, file, place, comment::block(&text, place, assumed));
    let words = comment::block_words(assumed);
    Some(CodeAction {
        title: format!("Give the block of `{}` with a comment: `{words}`", text.slice(kernel.name)),
        kind: Some(CodeActionKind::QUICKFIX),
        edit: Some(WorkspaceEdit {
            changes: Some(HashMap::from([(places.uri(file)?, vec![edit])])),
            ..WorkspaceEdit::default()
        }),
        is_preferred: Some(false),
        ..CodeAction::default()
    })
}

/// The text without a comment that does nothing.
fn removed(finding: &Diagnostic, places: &Places<'_>, client: &Client) -> Option<CodeAction> {
    let Span { file, .. } = finding.primary;
    if !suppress::is_useless(finding.rule) {
        return None;
    }
    let cut = suppress::removal(&places.file(file).text, finding.primary)?;
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    let range = places.range(Span { file, start: offset(cut.start), end: offset(cut.end), nth: 0 });
    let edit = TextEdit { range, new_text: String::new() };
    Some(CodeAction {
        title: "Remove the unused comment".to_owned(),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![shown(finding, places, client)]),
        edit: Some(WorkspaceEdit {
            changes: Some(HashMap::from([(places.uri(file)?, vec![edit])])),
            ..WorkspaceEdit::default()
        }),
        // It may be of use with other targets or blocks.
        is_preferred: Some(false),
        ..CodeAction::default()
    })
}

fn insertion(places: &Places<'_>, file: FileId, offset: usize, new_text: String) -> TextEdit {
    let offset = u32::try_from(offset).unwrap_or(u32::MAX);
    TextEdit { range: places.range(Span { file, start: offset, end: offset, nth: 0 }), new_text }
}

fn line_end(file: &SourceFile) -> &'static str {
    if file.text.contains("\r\n") { "\r\n" } else { "\n" }
}
