//! `cudalint check`: which findings are there, and how loud are they?

use super::args::{CheckArgs, Format};
use super::changed::Changes;
use super::disk::Overlay;
use super::driver::Analyzed;
use super::{Outcome, driver, fix, terminal};
use crate::analysis::{FileReport, Wanted};
use crate::baseline::{self, Baseline};
use crate::diagnostic::{Diagnostic, Level};
use crate::fingerprint;
use crate::output::{self, github, gitlab, json, junit, sarif, short, text};
use crate::source::Sources;
use crate::suppress;
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
    /// How many are on lines that did not change.
    unchanged: usize,
}

/// Checks and prints.
pub fn check(args: &CheckArgs) -> Outcome {
    let first = driver::analyze(&args.analysis, Wanted::Findings, Overlay::default());
    let Some((mut analyzed, mut found)) = first.and_then(|it| found(args, &it).map(|found| (it, found)))
    else {
        return Outcome::Failed;
    };
    if let Some(path) = &args.write_baseline {
        return write_baseline(path, &analyzed, &found);
    }
    if args.fix || args.diff {
        let Some(mut repaired) = fix::repair(args, &analyzed, &found) else { return Outcome::Failed };
        if args.diff {
            let outcome = terminal::print(&repaired.diff(), outcome(&analyzed, &found));
            repaired.tell("would fix");
            return outcome;
        }
        if !repaired.write() {
            return Outcome::Failed;
        }
        repaired.tell("fixed");
        (analyzed, found) = repaired.again.take().unwrap_or((analyzed, found));
    }
    report(args, &analyzed, &found)
}

/// The findings of a run; `None` when what says which to tell could not be read.
pub fn found(args: &CheckArgs, analyzed: &Analyzed) -> Option<Found> {
    let sources = analyzed.run.sources();
    let settings = &analyzed.settings;
    let Findings { told: all, silenced } = findings(sources, &analyzed.reports, &|path, rule, default| {
        // What the user named is told of, whatever a configuration leaves out.
        let hidden = !analyzed.run.is_given(path) && settings.hides(path);
        if hidden { Level::Allow } else { settings.level(&args.levels, path, rule, default) }
    });
    if settings.report_errors() {
        return None;
    }
    let wanted = matches!(args.format, Format::Sarif | Format::Gitlab);
    let wanted = wanted || args.baseline.is_some() || args.write_baseline.is_some();
    let mut fingerprints = if wanted { fingerprint::of_all(sources, &all) } else { Vec::new() };
    let mut findings = all.clone();
    if let Some(path) = &args.baseline {
        let baseline = read_baseline(path)?;
        let is_new: Vec<bool> = fingerprints.iter().map(|print| !baseline.contains(print)).collect();
        retain(&mut findings, &is_new);
        retain(&mut fingerprints, &is_new);
    }
    let known = all.len() - findings.len();
    if let Some(revision) = &args.changed_since {
        let changes = Changes::since(revision).map_err(|error| terminal::say_error(&error)).ok()?;
        let is_new: Vec<bool> = findings.iter().map(|finding| changes.concern(sources, finding)).collect();
        retain(&mut findings, &is_new);
        retain(&mut fingerprints, &is_new);
    }
    let unchanged = all.len() - findings.len() - known;
    Some(Found { all, findings, fingerprints, silenced, known, unchanged })
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

fn report(args: &CheckArgs, analyzed: &Analyzed, found: &Found) -> Outcome {
    let sources = analyzed.run.sources();
    let findings = &found.findings;
    let bytes = match args.format {
        Format::Text => {
            text::render(sources, findings, args.output.is_none() && terminal::colored(args.color))
        }
        Format::Short => short::render(sources, findings),
        Format::Json => json::render(sources, findings),
        Format::Sarif => sarif::render(sources, findings, &found.fingerprints),
        Format::Github => github::render(sources, findings),
        Format::Gitlab => gitlab::render(sources, findings, &found.fingerprints),
        Format::Junit => junit::render(sources, findings, &analyzed.files),
    };
    let outcome = outcome(analyzed, found);
    let outcome = match &args.output {
        Some(path) => terminal::write(path, &bytes, outcome),
        None => terminal::print(&bytes, outcome),
    };
    if (args.format == Format::Text || args.output.is_some()) && !args.analysis.quiet {
        let verdicts = analyzed.reports.iter().flat_map(|it| &it.verdicts);
        let targets: BTreeSet<String> = verdicts.map(|it| it.target.clone()).collect();
        let mut line = summary(sources, findings, analyzed.files.len(), &targets, analyzed.assumed_target);
        for (number, what) in [
            (found.silenced, "silenced by comments"),
            (found.known, "in the baseline"),
            (found.unchanged, "on lines that did not change"),
        ] {
            if number > 0 {
                line.push_str(&format!("; {} {what}", output::count(number, "finding")));
            }
        }
        terminal::say(&line);
    }
    outcome
}

/// Keeps those items for which it says so.
fn retain<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut keep = keep.iter();
    items.retain(|_| keep.next().copied().unwrap_or(true));
}

fn read_baseline(path: &Path) -> Option<Baseline> {
    let name = path.display();
    let read = std::fs::read_to_string(path).map_err(|error| format!("cannot read `{name}`: {error}"));
    let baseline = read
        .and_then(|text| Baseline::read(&text).map_err(|error| format!("`{name}` is no baseline: {error}")));
    baseline.map_err(|error| terminal::say_error(&error)).ok()
}

fn write_baseline(path: &Path, analyzed: &Analyzed, found: &Found) -> Outcome {
    // What could not be checked would be missing from it for good.
    if analyzed.failed {
        return Outcome::Failed;
    }
    let bytes = baseline::render(analyzed.run.sources(), &found.all, &found.fingerprints);
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

/// The findings to print: at the levels in force, by file as given and then by place, and each
/// once, although a header may be reached from many files.
#[must_use]
pub fn findings(sources: &Sources, reports: &[FileReport], level: &LevelOf<'_>) -> Findings {
    let heard = suppress::apply(sources, reports);
    let mut seen = FxHashSet::default();
    let mut all = Vec::new();
    for mut own in heard.findings {
        for finding in &mut own {
            let path = &sources.get(finding.primary.file).path;
            finding.level = level(path, finding.rule, finding.level);
        }
        own.retain(|finding| finding.level != Level::Allow);
        own.sort_by_cached_key(|finding| {
            let path = sources.get(finding.primary.file).path.clone();
            (path, finding.primary.start, finding.primary.end, finding.rule, finding.message.clone())
        });
        own.retain(|finding| {
            let path = sources.get(finding.primary.file).path.clone();
            let place = (path, finding.primary.start, finding.primary.end);
            seen.insert((place, finding.rule, finding.message.clone()))
        });
        all.append(&mut own);
    }
    Findings { told: all, silenced: heard.silenced }
}

/// `assumed`: whether the target is the one of a user who named none.
fn summary(
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
        let others = if assumed { "; 5.x and newer behave alike" } else { "" };
        line.push_str(&format!(" ({word}: {}{others})", targets.join(", ")));
    }
    line
}

#[cfg(test)]
mod tests;
