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
use crate::rules::About;
use crate::source::{Sources, Span};
use crate::walk::regular;
use crate::{rules, suppress};
use rustc_hash::FxHashSet;
use std::path::Path;

/// What is told of a run. What is hidden is hidden line by line; what is left is told by its cause.
pub(super) struct Found {
    /// Every finding by itself, before a baseline hides some.
    pub(super) all: Vec<Diagnostic>,
    /// Their fingerprints, where they are asked for.
    pub(super) all_fingerprints: Vec<String>,
    /// Those to print, one for each cause, by file and place.
    pub(super) findings: Vec<Diagnostic>,
    /// Their fingerprints, where they are asked for.
    pub(super) fingerprints: Vec<String>,
    /// How many comments in the source silenced.
    pub(super) silenced: usize,
    /// How many count only if a text is compiled of which nothing tells whether it is.
    pub(super) undecided: usize,
    /// How many a baseline hides.
    pub(super) known: usize,
    /// How many were there before the change, on lines that did not change.
    pub(super) unchanged: usize,
    /// How many bank conflicts cost too little or have too few ways.
    pub(super) small: usize,
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
    let level = level_of(args, input);
    let Findings { told: all, silenced, undecided } = told(&level, input, analyzed)?;
    let wanted = args.format.iter().any(|it| matches!(it.format, Format::Sarif | Format::Gitlab));
    let wanted = wanted || args.baseline.is_some() || args.write_baseline.is_some();
    let name = |path: &Path| hiding.names.of(path);
    let all_fingerprints = if wanted { fingerprint::of_all(sources, &all, &name) } else { Vec::new() };
    let (mut left, mut fingerprints) = (all.clone(), all_fingerprints.clone());
    let (mut known, mut unchanged) = (0, 0);
    if let Some(baseline) = &hiding.baseline {
        let is_new: Vec<bool> = fingerprints.iter().map(|print| !baseline.contains(print)).collect();
        known = count_causes(sources, &split(&mut left, &is_new));
        split(&mut fingerprints, &is_new);
    }
    if let Some(changed) = &hiding.changed {
        let before = |earlier: &Analyzed| Some(told(&level, input, earlier)?.told);
        let is_new = changed.concern(input, sources, &left, &before, &name)?;
        unchanged = count_causes(sources, &split(&mut left, &is_new));
        split(&mut fingerprints, &is_new);
    }
    let mut causes = causes(sources, left, &level);
    let count = causes.len();
    causes.retain(|(_, finding)| {
        let path = &sources.get(finding.primary.file).path;
        !input.settings.is_too_small(&args.choice, path, finding)
    });
    let small = count - causes.len();
    let (numbers, findings): (Vec<usize>, Vec<Diagnostic>) = causes.into_iter().unzip();
    let fingerprints = numbers.into_iter().filter_map(|at| fingerprints.get(at).cloned()).collect();
    Some(Found {
        all,
        all_fingerprints,
        findings,
        fingerprints,
        silenced,
        undecided,
        known,
        unchanged,
        small,
    })
}

/// The level of a rule in a file, as the user has it.
fn level_of<'a>(args: &'a CheckArgs, input: &'a Input) -> impl Fn(&Path, &'static str, Level) -> Level + 'a {
    let settings = &input.settings;
    |path, rule, default| {
        // What the user named is told of, whatever a configuration leaves out.
        let hidden = !input.is_given(path) && settings.hides(path);
        // Comments of a file that is only context are not to be judged.
        let hidden = hidden || suppress::is_about_comments(rule) && input.is_context(path);
        if hidden { Level::Allow } else { settings.level(&args.levels, path, rule, default) }
    }
}

/// What tells of a run whether edits make a program wrong: what is told, and what is found of rules that are off and of
/// files that are hidden, if those are about correctness.
pub(super) fn judged(args: &CheckArgs, input: &Input, analyzed: &Analyzed) -> Option<Vec<Diagnostic>> {
    let told_level = level_of(args, input);
    let level = |path: &Path, rule: &'static str, own: Level| {
        let is_fault = rules::find(rule).is_some_and(|rule| rule.about == About::Correctness);
        match told_level(path, rule, own) {
            Level::Allow if is_fault => own.max(Level::Warn),
            level => level,
        }
    };
    Some(told(&level, input, analyzed)?.told)
}

/// What a run found, at the levels in force; `None` when a configuration file is not understood.
fn told(level: &LevelOf<'_>, input: &Input, analyzed: &Analyzed) -> Option<Findings> {
    let found = findings(analyzed.run.sources(), &analyzed.reports, level);
    (!input.settings.report_errors()).then_some(found)
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
    /// How many count only if a text is compiled of which nothing tells whether it is.
    pub undecided: usize,
}

/// The findings of lines: at the levels in force, by file and then by place, and each
/// once, although a header may be reached from many files. A conflict on a line of a helper is another one
/// for each kernel that calls it, as each has an array of its own to repair; so is a race.
#[must_use]
pub fn findings(sources: &Sources, reports: &[FileReport], level: &LevelOf<'_>) -> Findings {
    let heard = suppress::apply(sources, reports);
    let told = at_levels(sources, heard.findings.into_iter().flatten().collect(), level);
    let undecided = reports.iter().flat_map(|report| &report.undecided).cloned().collect();
    let undecided = count_causes(sources, &at_levels(sources, undecided, level));
    Findings { told, silenced: count_causes(sources, &heard.silenced), undecided }
}

/// Those of some findings that are told at the levels in force, by file and then by place, and each once.
fn at_levels(sources: &Sources, mut told: Vec<Diagnostic>, level: &LevelOf<'_>) -> Vec<Diagnostic> {
    for finding in &mut told {
        let path = &sources.get(finding.primary.file).path;
        finding.level = level(path, finding.rule, finding.level).min(finding.loudest);
    }
    told.retain(|finding| finding.level != Level::Allow);
    // What is found in a header is told where the header's turn is, through whichever file it was found.
    told.sort_by_cached_key(|finding| {
        let path = sources.get(finding.primary.file).path.clone();
        (path, finding.primary.start, finding.primary.end, finding.rule, finding.message.clone())
    });
    let mut seen = FxHashSet::default();
    told.retain(|finding| {
        let placed = |span: Span| (sources.get(span.file).path.clone(), span.start);
        let place = (placed(finding.primary), finding.primary.end);
        let cause =
            finding.conflict.as_ref().map(|it| (finding.kernel_at.map(placed), placed(it.cause.array)));
        let race = finding.hazard.as_ref();
        let race = race.map(|it| (placed(it.declared), placed(it.places.0), placed(it.places.1)));
        seen.insert((place, finding.rule, finding.message.clone(), cause, race))
    });
    told
}

/// The findings to print, one for each cause, in order; with each comes the number of the one whose place it
/// has.
#[must_use]
pub fn causes(sources: &Sources, findings: Vec<Diagnostic>, level: &LevelOf<'_>) -> Vec<(usize, Diagnostic)> {
    let mut causes = rules::causes(sources, findings);
    for (_, finding) in causes.iter_mut().filter(|(_, finding)| !finding.parts.is_empty()) {
        let path = &sources.get(finding.primary.file).path;
        finding.level = level(path, finding.rule, finding.level);
    }
    // The place of a cause is that of its worst line.
    causes.sort_by_key(|(number, _)| *number);
    causes
}

fn count_causes(sources: &Sources, findings: &[Diagnostic]) -> usize {
    rules::causes(sources, findings.to_vec()).len()
}

/// Keeps those items for which it says so, and returns the others.
fn split<T>(items: &mut Vec<T>, keep: &[bool]) -> Vec<T> {
    let mut keep = keep.iter();
    items.extract_if(.., |_| !keep.next().copied().unwrap_or(true)).collect()
}

fn read_baseline(path: &Path) -> Option<Baseline> {
    let name = path.display();
    let read = regular::text(path).map_err(|problem| problem.to_string());
    let baseline = read
        .and_then(|text| Baseline::read(&text).map_err(|error| format!("`{name}` is no baseline: {error}")));
    baseline.map_err(|error| terminal::say_error(&error)).ok()
}
