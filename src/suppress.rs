//! Which findings did comments in the source silence, and which of those comments do nothing?
//!
//! Applied to all files of a run together, because a comment in a header silences what was found
//! through any file that includes it.

pub(crate) mod comment;

use crate::analysis::{Asked, FileReport};
use crate::diagnostic::Diagnostic;
use crate::preproc::comments::{self, Ask, Directive};
use crate::rules::{self, unfulfilled_expectation, unknown_directive, unused_directive};
use crate::source::{FileId, Sources, Span};
use crate::verdict::{SiteVerdict, Status};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// What is left to say.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// By report: its findings that no comment silences, and those on its comments.
    pub findings: Vec<Vec<Diagnostic>>,
    /// Those that comments silence.
    pub silenced: Vec<Diagnostic>,
}

/// Applies the comments of all files to all findings.
#[must_use]
pub(crate) fn apply(sources: &Sources, reports: &[FileReport]) -> Heard {
    let mut files: Vec<Comments<'_>> = Vec::new();
    let mut index: FxHashMap<FileId, usize> = FxHashMap::default();
    for (report, asked) in
        reports.iter().enumerate().flat_map(|(at, it)| it.asked.iter().map(move |a| (at, a)))
    {
        let at = *index.entry(asked.file).or_insert_with(|| {
            files.push(Comments::new(report, asked));
            files.len() - 1
        });
        files[at].own |= asked.own;
    }
    let mut heard = Heard::default();
    if files.is_empty() {
        heard.findings = reports.iter().map(|report| report.diagnostics.clone()).collect();
        return heard;
    }
    for report in reports {
        let mut kept = report.diagnostics.clone();
        heard.silenced.extend(silence(&mut kept, &mut files, &index));
        heard.findings.push(kept);
    }
    let mut verdicts: FxHashMap<FileId, Vec<&SiteVerdict>> = FxHashMap::default();
    for verdict in reports.iter().flat_map(|report| &report.verdicts) {
        verdicts.entry(verdict.span.file).or_default().push(verdict);
    }
    // Comments may be silenced by comments; those that are left over then are told of.
    for about_comments in [false, true] {
        let told: Vec<(usize, Vec<Diagnostic>)> = files
            .iter()
            .map(|comments| {
                let verdicts = verdicts.get(&comments.asked.file).map_or(&[][..], Vec::as_slice);
                let met =
                    sources.get(comments.asked.file).is_compiled() && comments.own || !verdicts.is_empty();
                (comments.report, comments.complaints(about_comments, met, verdicts))
            })
            .collect();
        for (report, mut found) in told {
            heard.silenced.extend(silence(&mut found, &mut files, &index));
            heard.findings[report].append(&mut found);
        }
    }
    heard
}

/// Takes away what comments silence, and returns it.
fn silence(
    findings: &mut Vec<Diagnostic>,
    files: &mut [Comments<'_>],
    index: &FxHashMap<FileId, usize>,
) -> Vec<Diagnostic> {
    let is_silenced = |finding: &mut Diagnostic| {
        let comments = index.get(&finding.primary.file).and_then(|&at| files.get_mut(at));
        comments.is_some_and(|comments| comments.silence(finding))
    };
    findings.extract_if(.., is_silenced).collect()
}

/// One file's comments.
struct Comments<'a> {
    /// The first report that met the file.
    report: usize,
    asked: &'a Asked,
    own: bool,
    used: Vec<bool>,
}

impl<'a> Comments<'a> {
    fn new(report: usize, asked: &'a Asked) -> Comments<'a> {
        Comments { report, asked, own: asked.own, used: vec![false; asked.directives.len()] }
    }

    /// Whether a comment silences the finding. Those about the line go before those about the file.
    fn silence(&mut self, finding: &Diagnostic) -> bool {
        let place = finding.primary;
        let mut silenced = false;
        for whole_file in [false, true] {
            for (directive, used) in self.asked.directives.iter().zip(&mut self.used) {
                let covered = whole_file || meet(&directive.covers, place);
                let rule = match &directive.ask {
                    Ask::Allow(rule) | Ask::Expect(rule) if !whole_file => rule,
                    Ask::AllowFile(rule) if whole_file => rule,
                    _ => continue,
                };
                if covered && (rule == finding.rule || rule == ALL && !is_about_comments(finding.rule)) {
                    *used = true;
                    silenced = true;
                }
            }
            if silenced {
                break;
            }
        }
        silenced
    }

    /// What is wrong with the comments. `met`: whether the file's code was looked at.
    fn complaints(&self, about_comments: bool, met: bool, verdicts: &[&SiteVerdict]) -> Vec<Diagnostic> {
        let mut found = Vec::new();
        for (directive, used) in self.asked.directives.iter().zip(&self.used) {
            let at =
                Span { file: self.asked.file, start: directive.span.start, end: directive.span.end, nth: 0 };
            let named = match &directive.ask {
                Ask::Allow(rule) | Ask::AllowFile(rule) | Ask::Expect(rule) => Some(rule.as_str()),
                Ask::Block(_) | Ask::Malformed(..) => None,
            };
            if named.is_some_and(is_about_comments) != about_comments {
                continue;
            }
            if let Some(rule) = named.filter(|rule| *rule != ALL && rules::find(rule).is_none()) {
                found.push(unknown_directive::unknown_rule(at, rule));
                continue;
            }
            found.extend(match &directive.ask {
                Ask::Malformed(what, help) => Some(unknown_directive::describe(at, what, help)),
                Ask::Block(_) => {
                    let unused = self.asked.blocks.as_ref().is_some_and(|blocks| !blocks.contains(&at));
                    unused.then(|| unused_directive::block_of_nothing(at))
                }
                _ if *used || !met => None,
                Ask::Expect(rule) => Some(unfulfilled_expectation::describe(at, rule)),
                Ask::Allow(rule) if is_clear(directive, verdicts) => {
                    Some(unused_directive::silences_nothing(at, rule, false))
                }
                Ask::AllowFile(rule) if verdicts.iter().all(|it| is_known(it)) => {
                    Some(unused_directive::silences_nothing(at, rule, true))
                }
                _ => None,
            });
        }
        found
    }
}

/// What stands for every rule on code.
const ALL: &str = "all";

/// Whether a rule is about the comments for this tool.
#[must_use]
pub(crate) fn is_about_comments(rule: &str) -> bool {
    [unused_directive::RULE.id, unfulfilled_expectation::RULE.id, unknown_directive::RULE.id].contains(&rule)
}

/// The bytes to take out of a text, so that a comment for this tool does not ask any more for what it asks for
/// at a place; `None` where nothing is asked for there, or that would change more.
#[must_use]
pub(crate) fn removal(text: &str, place: Span) -> Option<Range<usize>> {
    comments::removal(text, place.start..place.end)
}

/// Whether a finding says that a comment for this tool does nothing, so that it can go.
#[must_use]
pub(crate) fn is_useless(rule: &str) -> bool {
    is_about_comments(rule) && rule != unknown_directive::RULE.id
}

/// Whether everything that a comment is about is known.
fn is_clear(directive: &Directive, verdicts: &[&SiteVerdict]) -> bool {
    verdicts.iter().all(|verdict| is_known(verdict) || !meet(&directive.covers, verdict.span))
}

fn is_known(verdict: &SiteVerdict) -> bool {
    verdict.status != Status::Unknown
}

fn meet(covers: &Range<u32>, span: Span) -> bool {
    span.start < covers.end && covers.start < span.end.max(span.start.saturating_add(1))
}
