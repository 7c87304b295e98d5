//! `cudalint check`: what is printed of the findings, and how does it end?

use super::analyze::analyze;
use super::args::{CheckArgs, Format, Report};
use super::driver::{Analyzed, Input};
use super::found::{Found, Hiding, found};
use super::names::Names;
use super::{Outcome, fix, includes, terminal};
use crate::analysis::Wanted;
use crate::baseline;
use crate::diagnostic::{Diagnostic, Level};
use crate::output::{self, diff, github, gitlab, json, junit, markdown, sarif, short, text};
use crate::source::Sources;
use std::collections::BTreeSet;
use std::path::Path;

/// Checks and prints.
pub(super) fn check(args: &CheckArgs) -> Outcome {
    let reports = match args.reports() {
        Ok(reports) => reports,
        Err(error) => {
            terminal::say_error(&error);
            return Outcome::Failed;
        }
    };
    let Some(hiding) = Hiding::read(args) else { return Outcome::Failed };
    let Some((input, mut analyzed)) = analyze(&args.analysis, Wanted::Findings) else {
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
    input: &Input,
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
fn summary(input: &Input, analyzed: &Analyzed, found: &Found) -> String {
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

fn write_baseline(path: &Path, analyzed: &Analyzed, found: &Found, names: &Names) -> Outcome {
    // What could not be checked would be missing from it for good.
    if analyzed.failed {
        return Outcome::Failed;
    }
    let name = |path: &Path| names.of(path);
    let bytes = baseline::render(analyzed.run.sources(), &found.all, &found.all_fingerprints, &name);
    let outcome = terminal::write(path, &bytes, Outcome::Clean);
    if outcome == Outcome::Clean {
        let count = output::count(found.findings.len(), "finding");
        terminal::say(&format!("wrote {count} to `{}`", path.display()));
    }
    outcome
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
