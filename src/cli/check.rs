//! `cudalint check`: which findings are there, and how loud are they?

use super::args::{CheckArgs, Format, Report};
use super::changed::Changed;
use super::driver::{Analyzed, Input};
use super::names::Names;
use super::{Outcome, driver, fix, includes, terminal};
use crate::analysis::{FileReport, Wanted};
use crate::baseline::{self, Baseline};
use crate::diagnostic::{Diagnostic, Level};
use crate::fingerprint;
use crate::output::{self, diff, github, gitlab, json, junit, markdown, sarif, short, text};
use crate::source::{Sources, Span};
use crate::suppress;
use crate::walk::regular;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::path::Path;

/// What is told of a run.
pub struct Found {
    /// Every finding, before a baseline hides some.
    pub all: Vec<Diagnostic>,
    /// Those to print.
    pub findings: Vec<Diagnostic>,
    /// Their fingerprints, where they are asked for.
    fingerprints: Vec<String>,
    /// How many comments in the source silenced.
    silenced: usize,
    /// How many a baseline hides.
    known: usize,
    /// How many were there before the change, on lines that did not change.
    unchanged: usize,
}

/// What hides findings, read once for all times that the files are analysed.
pub struct Hiding {
    names: Names,
    baseline: Option<Baseline>,
    changed: Option<Changed>,
}

impl Hiding {
    /// `None` when something of it cannot be read, which is said on stderr.
    fn read(args: &CheckArgs) -> Option<Hiding> {
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

/// Checks and prints.
pub fn check(args: &CheckArgs) -> Outcome {
    let reports = match args.reports() {
        Ok(reports) => reports,
        Err(error) => {
            terminal::say_error(&error);
            return Outcome::Failed;
        }
    };
    let Some(hiding) = Hiding::read(args) else { return Outcome::Failed };
    let Some((input, mut analyzed)) = driver::analyze(&args.analysis, Wanted::Findings) else {
        return Outcome::Failed;
    };
    let Some(mut found) = found(args, &input, &analyzed, &hiding) else { return Outcome::Failed };
    if let Some(path) = &args.write_baseline {
        return write_baseline(path, &analyzed, &found, &hiding.names);
    }
    if args.fix || args.diff {
        let Some(mut repaired) = fix::repair(args, &input, &analyzed, &found, &hiding) else {
            return Outcome::Failed;
        };
        if args.diff {
            let outcome = print_diff(args, &repaired.diff(), outcome(&analyzed, &found));
            repaired.tell("would fix");
            return outcome;
        }
        if !repaired.write(args) {
            return Outcome::Failed;
        }
        repaired.tell("fixed");
        (analyzed, found) = repaired.again.take().unwrap_or((analyzed, found));
    }
    report(args, &reports, &input, &analyzed, &found)
}

/// Into a file as it is; else as it may be shown, with a word on what that changes.
fn print_diff(args: &CheckArgs, diff: &[u8], outcome: Outcome) -> Outcome {
    if let Some(path) = &args.output {
        return terminal::write(path, diff, outcome);
    }
    let (shown, escaped) = diff::shown(diff);
    let outcome = terminal::print(&shown, outcome);
    if escaped > 0 {
        let lines = output::count(escaped, "line");
        terminal::say(&format!(
            "warning: the diff is shown with escapes in {lines}, so it cannot be applied; --output FILE writes it \
             as it is"
        ));
    }
    outcome
}

/// The findings of a run; `None` when what says which to tell could not be read.
pub fn found(args: &CheckArgs, input: &Input<'_>, analyzed: &Analyzed, hiding: &Hiding) -> Option<Found> {
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
fn told(args: &CheckArgs, input: &Input<'_>, analyzed: &Analyzed) -> Option<Findings> {
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

fn outcome(analyzed: &Analyzed, found: &Found) -> Outcome {
    if analyzed.failed {
        Outcome::Failed
    } else if found.findings.iter().any(|finding| finding.level >= Level::Warn) {
        Outcome::Findings
    } else {
        Outcome::Clean
    }
}

fn report(
    args: &CheckArgs,
    reports: &[Report],
    input: &Input<'_>,
    analyzed: &Analyzed,
    found: &Found,
) -> Outcome {
    let sources = analyzed.run.sources();
    let findings = &found.findings;
    let summary = summary(input, analyzed, found);
    let mut outcome = outcome(analyzed, found);
    for report in reports {
        let colored = report.file.is_none() && terminal::colored(args.color);
        let bytes = match report.format {
            Format::Text => text::render(sources, findings, colored),
            Format::Short => short::render(sources, findings),
            Format::Json => json::render(sources, findings),
            Format::Sarif => sarif::render(sources, findings, &found.fingerprints),
            Format::Github => github::render(sources, findings),
            Format::Gitlab => gitlab::render(sources, findings, &found.fingerprints),
            Format::Junit => junit::render(sources, findings, &input.files(analyzed)),
            Format::Markdown => markdown::render(sources, findings, &summary),
        };
        outcome = match &report.file {
            Some(path) => terminal::write(path, &bytes, outcome),
            None => terminal::print(&bytes, outcome),
        };
    }
    let printed = reports.iter().find(|report| report.file.is_none());
    if printed.is_none_or(|report| report.format == Format::Text) && !args.analysis.quiet {
        terminal::say(&summary);
    }
    if !args.analysis.quiet {
        includes::tell_of_not_found(&includes::not_found(input, analyzed));
    }
    outcome
}

/// What was found, in one line.
fn summary(input: &Input<'_>, analyzed: &Analyzed, found: &Found) -> String {
    let verdicts = analyzed.reports.iter().flat_map(|it| &it.verdicts);
    let targets: BTreeSet<String> = verdicts.map(|it| it.target.clone()).collect();
    let (sources, files) = (analyzed.run.sources(), input.files(analyzed).len());
    let mut line = counts(sources, &found.findings, files, &targets, input.assumes_target());
    line.push_str(&input.settings.builds.words());
    for (number, what) in [
        (found.silenced, "silenced by comments"),
        (found.known, "in the baseline"),
        (found.unchanged, "on lines that did not change"),
    ] {
        if number > 0 {
            line.push_str(&format!("; {} {what}", output::count(number, "finding")));
        }
    }
    line
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

fn write_baseline(path: &Path, analyzed: &Analyzed, found: &Found, names: &Names) -> Outcome {
    // What could not be checked would be missing from it for good.
    if analyzed.failed {
        return Outcome::Failed;
    }
    let name = |path: &Path| names.of(path);
    let bytes = baseline::render(analyzed.run.sources(), &found.all, &found.fingerprints, &name);
    let outcome = terminal::write(path, &bytes, Outcome::Clean);
    if outcome == Outcome::Clean {
        let count = output::count(found.all.len(), "finding");
        terminal::say(&format!("wrote {count} to `{}`", path.display()));
    }
    outcome
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

/// `assumed`: whether the target is the one of a user who named none.
fn counts(
    sources: &Sources,
    findings: &[Diagnostic],
    files: usize,
    targets: &BTreeSet<String>,
    assumed: bool,
) -> String {
    let count = |level, one: &str| {
        let count = findings.iter().filter(|finding| finding.level == level).count();
        (count > 0).then(|| output::count(count, one))
    };
    let counts = [(Level::Deny, "error"), (Level::Warn, "warning"), (Level::Note, "note")];
    let counts: Vec<String> = counts.into_iter().filter_map(|(level, one)| count(level, one)).collect();
    let hit: BTreeSet<String> =
        findings.iter().map(|it| sources.get(it.primary.file).display_path()).collect();
    let mut line = match counts.as_slice() {
        [] => format!("no findings in {}", output::count(files, "file")),
        // Headers that were reached count as files too.
        _ => {
            let files = output::count(files.max(hit.len()), "file");
            format!("{} in {} of {files}", counts.join(", "), hit.len())
        }
    };
    if !targets.is_empty() {
        let targets: Vec<&str> = targets.iter().map(String::as_str).collect();
        let word = if targets.len() == 1 { "target" } else { "targets" };
        let others = if assumed { "; bank conflicts are alike on 5.x and newer" } else { "" };
        line.push_str(&format!(" ({word}: {}{others})", targets.join(", ")));
    }
    line
}

#[cfg(test)]
mod tests;
