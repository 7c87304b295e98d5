//! Which findings does a run have, and which of them are told?

use super::args::{CheckArgs, Format};
use super::changed::Changed;
use super::driver::{Analyzed, Input};
use super::names::Names;
use super::terminal;
use crate::analysis::FileReport;
use crate::baseline::Baseline;
use crate::diagnostic::{Diagnostic, Level};
use crate::fingerprint;
use crate::source::{Sources, Span};
use crate::suppress;
use crate::walk::regular;
use rustc_hash::FxHashSet;
use std::path::Path;

/// What is told of a run.
pub(super) struct Found {
    /// Every finding, before a baseline hides some.
    pub(super) all: Vec<Diagnostic>,
    /// Those to print.
    pub(super) findings: Vec<Diagnostic>,
    /// Their fingerprints, where they are asked for.
    pub(super) fingerprints: Vec<String>,
    /// How many comments in the source silenced.
    pub(super) silenced: usize,
    /// How many a baseline hides.
    pub(super) known: usize,
    /// How many were there before the change, on lines that did not change.
    pub(super) unchanged: usize,
}

/// What hides findings, read once for all times that the files are analysed.
pub(super) struct Hiding {
    pub(super) names: Names,
    pub(super) baseline: Option<Baseline>,
    pub(super) changed: Option<Changed>,
}

impl Hiding {
    /// `None` when something of it cannot be read, which is said on stderr.
    pub(super) fn read(args: &CheckArgs) -> Option<Hiding> {
        let names = Names::new(args.baseline.as_deref().or(args.write_baseline.as_deref()));
        let baseline = match &args.baseline {
            Some(path) => Some(read_baseline(path)?),
            None => None,
        };
        let changed = match &args.changed_since {
            Some(revision) => {
                Some(Changed::since(revision).map_err(|error| terminal::say_error(&error)).ok()?)
            }
            None => None,
        };
        Some(Hiding { names, baseline, changed })
    }
}

/// The findings of a run; `None` when what says which to tell could not be read.
pub(super) fn found(args: &CheckArgs, input: &Input, analyzed: &Analyzed, hiding: &Hiding) -> Option<Found> {
    let sources = analyzed.run.sources();
    let Findings { told: all, silenced } = told(args, input, analyzed)?;
    let wanted = args.format.iter().any(|it| matches!(it.format, Format::Sarif | Format::Gitlab));
    let wanted = wanted || args.baseline.is_some() || args.write_baseline.is_some();
    let name = |path: &Path| hiding.names.of(path);
    let mut fingerprints = if wanted { fingerprint::of_all(sources, &all, &name) } else { Vec::new() };
    let mut findings = all.clone();
    if let Some(baseline) = &hiding.baseline {
        let is_new: Vec<bool> = fingerprints.iter().map(|print| !baseline.contains(print)).collect();
        retain(&mut findings, &is_new);
        retain(&mut fingerprints, &is_new);
    }
    let known = all.len() - findings.len();
    if let Some(changed) = &hiding.changed {
        let before = |earlier: &Analyzed| Some(told(args, input, earlier)?.told);
        let is_new = changed.concern(input, sources, &findings, &before, &name)?;
        retain(&mut findings, &is_new);
        retain(&mut fingerprints, &is_new);
    }
    let unchanged = all.len() - findings.len() - known;
    Some(Found { all, findings, fingerprints, silenced, known, unchanged })
}

/// What a run found, at the levels in force; `None` when a configuration file is not understood.
fn told(args: &CheckArgs, input: &Input, analyzed: &Analyzed) -> Option<Findings> {
    let settings = &input.settings;
    let found = findings(analyzed.run.sources(), &analyzed.reports, &|path, rule, default| {
        // What the user named is told of, whatever a configuration leaves out.
        let hidden = !input.is_given(path) && settings.hides(path);
        // Comments of a file that is only context are not to be judged.
        let hidden = hidden || suppress::is_about_comments(rule) && input.is_context(path);
        if hidden { Level::Allow } else { settings.level(&args.levels, path, rule, default) }
    });
    (!settings.report_errors()).then_some(found)
}

/// The level of a rule in a file, by the rule's own.
pub type LevelOf<'a> = dyn Fn(&Path, &'static str, Level) -> Level + 'a;

/// What a run found.
#[derive(Debug)]
pub struct Findings {
    /// What to print.
    pub told: Vec<Diagnostic>,
    /// How many findings comments in the source silenced.
    pub silenced: usize,
}

/// The findings to print: at the levels in force, by file and then by place, and each
/// once, although a header may be reached from many files.
#[must_use]
pub fn findings(sources: &Sources, reports: &[FileReport], level: &LevelOf<'_>) -> Findings {
    let heard = suppress::apply(sources, reports);
    let mut told: Vec<Diagnostic> = heard.findings.into_iter().flatten().collect();
    for finding in &mut told {
        let path = &sources.get(finding.primary.file).path;
        finding.level = level(path, finding.rule, finding.level);
    }
    told.retain(|finding| finding.level != Level::Allow);
    // What is found in a header is told where the header's turn is, through whichever file it was found.
    told.sort_by_cached_key(|finding| {
        let path = sources.get(finding.primary.file).path.clone();
        (path, finding.primary.start, finding.primary.end, finding.rule, finding.message.clone())
    });
    let mut seen = FxHashSet::default();
    told.retain(|finding| {
        let Span { file, start, end } = finding.primary;
        let place = (sources.get(file).path.clone(), start, end);
        seen.insert((place, finding.rule, finding.message.clone()))
    });
    Findings { told, silenced: heard.silenced }
}

/// Keeps those items for which it says so.
fn retain<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    items.retain(|_| keep.next().copied().unwrap_or(true));
}

fn read_baseline(path: &Path) -> Option<Baseline> {
    let name = path.display();
    let read = regular::text(path).map_err(|problem| problem.to_string());
    let baseline = read
        .and_then(|text| Baseline::read(&text).map_err(|error| format!("`{name}` is no baseline: {error}")));
    baseline.map_err(|error| terminal::say_error(&error)).ok()
}
