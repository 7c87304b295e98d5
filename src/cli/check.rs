//! `cudalint check`: what is printed of the findings, and how does it end?

use super::analyze::analyze;
use super::args::{CheckArgs, ChoiceArgs, Format, Report, Sort};
use super::disk::Overlay;
use super::driver::{Analyzed, Input};
use super::found::{Found, Hiding, found};
use super::names::Names;
use super::watch::{self, Met};
use super::{Outcome, allow, fix, hidden, includes, run, terminal};
use crate::baseline;
use crate::diagnostic::{Diagnostic, Edit, Level};
use crate::fixes;
use crate::output::{
    self, diff, github, gitlab, html, json, junit, markdown, order, sarif, short, statistics, text,
};
use crate::source::Sources;
use crate::verdict::Status;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;

/// Findings that are many, and how many of them are named at the end.
const MANY: usize = 10;
const NAMED: usize = 3;

/// Checks and prints.
pub(super) fn check(args: &CheckArgs) -> Outcome {
    if args.analysis.with_stdin().stdin_filename.is_some() && changes_or_compares(args) {
        terminal::say_error(&"stdin cannot be changed or watched, and version control does not know it");
        return Outcome::Failed;
    }
    if !args.watch {
        return once(args, &mut Met::new());
    }
    watch::watch(&args.analysis, || {
        let mut met = Met::new();
        once(args, &mut met);
        met
    })
}

/// One run, with what it read.
fn once(args: &CheckArgs, met: &mut Met) -> Outcome {
    let Some(args) = &run::completed(args, &Overlay::default()) else { return Outcome::Failed };
    met.extend(args.baseline.clone());
    let reports = match args.reports() {
        Ok(reports) => reports,
        Err(error) => {
            terminal::say_error(&error);
            return Outcome::Failed;
        }
    };
    let Some(hiding) = Hiding::read(args) else { return Outcome::Failed };
    let Some((input, mut analyzed)) = analyze(&args.analysis, args.wanted()) else {
        return Outcome::Failed;
    };
    met.extend(input.met(&analyzed));
    let Some(mut found) = found(args, &input, &analyzed, &hiding) else { return Outcome::Failed };
    if let Some(path) = &args.write_baseline {
        return write_baseline(path, &analyzed, &found, &hiding.names);
    }
    if args.fix || args.diff {
        let Some(mut repaired) = fix::repair(args, &input, &analyzed, &found, &hiding) else {
            return Outcome::Failed;
        };
        if args.diff {
            let outcome = print_diff(args, &repaired.diff(), outcome(args, &analyzed, &found));
            repaired.tell(["would fix", "would ease"]);
            return outcome;
        }
        if !repaired.write(args) {
            return Outcome::Failed;
        }
        repaired.tell(["fixed", "eased"]);
        (analyzed, found) = repaired.again.take().unwrap_or((analyzed, found));
    }
    if let Some(reason) = &args.add_allow {
        let Some(mut allowed) = allow::allow(args, reason, &input, &analyzed, &found, &hiding) else {
            return Outcome::Failed;
        };
        if !allowed.write(args) {
            return Outcome::Failed;
        }
        allowed.tell();
        (analyzed, found) = allowed.again.take().unwrap_or((analyzed, found));
    }
    report(args, &reports, &input, &analyzed, &found)
}

/// Whether files are to be written, watched, or compared with what they were.
fn changes_or_compares(args: &CheckArgs) -> bool {
    args.fix || args.diff || args.add_allow.is_some() || args.changed_since.is_some() || args.watch
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
            "warning: the diff is shown with escapes in {lines}, so it cannot be applied; --output FILE \
             writes it as it is"
        ));
    }
    outcome
}

fn outcome(args: &CheckArgs, analyzed: &Analyzed, found: &Found) -> Outcome {
    if analyzed.failed {
        Outcome::Failed
    } else if !args.exit_zero && found.findings.iter().any(|finding| finding.level >= Level::Warn) {
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
    let ranked = order::by_cost(&found.findings);
    let summary = summary(args, input, analyzed, found);
    let mut outcome = outcome(args, analyzed, found);
    if args.choice.statistics {
        let findings = ranked.iter().map(|&at| &found.findings[at]);
        let bytes = statistics::render(sources, findings);
        outcome = match &args.output {
            Some(path) => terminal::write(path, &bytes, outcome),
            None => terminal::print(&bytes, outcome),
        };
        if !args.analysis.quiet {
            terminal::say(&summary);
        }
        return outcome;
    }
    for report in reports {
        let colored = report.file.is_none() && terminal::colored(args.color);
        let told = chosen(&args.choice, report.format, &ranked);
        let findings: Vec<Diagnostic> = told.iter().map(|&at| found.findings[at].clone()).collect();
        let prints: Vec<String> = told.iter().filter_map(|&at| found.fingerprints.get(at).cloned()).collect();
        let bytes = match report.format {
            Format::Text => {
                let bytes = text::render(sources, &findings, colored);
                let linked = report.file.is_none() && terminal::linked(args.hyperlinks);
                match std::env::current_dir() {
                    Ok(home) if linked => text::with_links(&bytes, sources, &findings, &home),
                    _ => bytes,
                }
            }
            Format::Short => short::render(sources, &findings),
            Format::Json => json::render(sources, &findings),
            Format::Sarif => sarif::render(sources, &findings, &prints),
            Format::Github => github::render(sources, &findings),
            Format::Gitlab => gitlab::render(sources, &findings, &prints),
            Format::Junit => junit::render(sources, &findings, &input.files(analyzed)),
            Format::Markdown => markdown::render(sources, &findings, &summary),
            Format::Html => {
                let views: Vec<_> = analyzed.reports.iter().flat_map(|report| &report.views).collect();
                html::render(&html::Report { sources, findings: &findings, views: &views, summary: &summary })
            }
        };
        outcome = match &report.file {
            Some(path) => terminal::write(path, &bytes, outcome),
            None => terminal::print(&bytes, outcome),
        };
    }
    let printed = reports.iter().find(|report| report.file.is_none());
    if printed.is_none_or(|report| report.format == Format::Text) && !args.analysis.quiet {
        terminal::say(&summary);
        if let Some(line) = costliest(sources, &found.findings, &ranked) {
            terminal::say(&line);
        }
    }
    if !args.analysis.quiet {
        includes::tell_of_not_found(&includes::not_found(input, analyzed));
        hidden::tell_of_hidden(input, analyzed);
    }
    outcome
}

/// The numbers of the findings that a report has, in its order; `ranked`: of all, in the order of cost.
fn chosen(choice: &ChoiceArgs, format: Format, ranked: &[usize]) -> Vec<usize> {
    let most = choice.top.map_or(usize::MAX, NonZeroUsize::get);
    let mut told = ranked.get(..most.min(ranked.len())).unwrap_or_default().to_vec();
    let usual = if matches!(format, Format::Text | Format::Markdown | Format::Html) {
        Sort::Cost
    } else {
        Sort::Path
    };
    if choice.sort.unwrap_or(usual) == Sort::Path {
        told.sort_unstable();
    }
    told
}

/// Where the bank conflicts are that cost most, if there are so many findings that the first are out of sight.
fn costliest(sources: &Sources, findings: &[Diagnostic], ranked: &[usize]) -> Option<String> {
    let costs = ranked.iter().filter_map(|&at| Some((&findings[at], findings[at].cost()?)));
    let named = costs.take(NAMED).map(|(finding, cost)| {
        let file = sources.get(finding.primary.file);
        let line = file.line_column(finding.primary.start).0;
        let array = finding.conflict.as_ref().map_or("", |conflict| conflict.array.as_str());
        format!("{}:{line} `{array}` ({} of `{}`)", file.display_path(), cost.percent(), finding.kernel)
    });
    let named: Vec<String> = named.collect();
    (findings.len() > MANY && named.len() == NAMED).then(|| format!("costliest: {}", named.join(", ")))
}

/// What was found, in one line.
fn summary(args: &CheckArgs, input: &Input, analyzed: &Analyzed, found: &Found) -> String {
    let verdicts = analyzed.reports.iter().flat_map(|it| &it.verdicts);
    let targets: BTreeSet<String> = verdicts.map(|it| it.target.clone()).collect();
    let (sources, files) = (analyzed.run.sources(), input.files(analyzed).len());
    let mut line = counts(sources, &found.findings, files, &targets, input.assumes_target());
    line.push_str(&input.settings.builds.words());
    for (number, what) in [
        (found.silenced, "silenced by comments"),
        (found.undecided, "left out under an `#if` that asks a macro which nothing defines"),
        (found.known, "in the baseline"),
        (found.unchanged, "on lines that did not change"),
        (found.small, "below the thresholds"),
        (
            found.findings.len().saturating_sub(args.choice.top.map_or(usize::MAX, NonZeroUsize::get)),
            "not shown",
        ),
    ] {
        if number > 0 {
            line.push_str(&format!("; {} {what}", output::count(number, "finding")));
        }
    }
    line + &repairs_and_unknown(args, input, analyzed, found)
}

/// How many findings have a fix, and how many accesses are not known.
fn repairs_and_unknown(args: &CheckArgs, input: &Input, analyzed: &Analyzed, found: &Found) -> String {
    let sources = analyzed.run.sources();
    let mut repairs = fixes::repairs(sources, &found.findings);
    // Only files that were given are changed.
    let is_given = |edit: &Edit| input.is_given(&sources.get(edit.span.file).path);
    repairs.retain(|repair| repair.fix.edits.iter().all(is_given));
    let count = |doubtful: bool| {
        let of_kind = repairs.iter().filter(|repair| repair.doubt.is_some() == doubtful);
        of_kind.map(|repair| repair.findings.len()).sum::<usize>()
    };
    // What was tried and not done is no longer on offer.
    let tried = args.fix || args.diff;
    let safe = if tried { 0 } else { count(false) };
    let doubtful = if tried && args.unsafe_fixes { 0 } else { count(true) };
    let mut words = match (safe, doubtful) {
        (0, 0) => String::new(),
        (safe, 0) => format!("; --fix may repair {safe}"),
        (0, doubtful) => format!("; --unsafe-fixes may repair {doubtful}"),
        (safe, doubtful) => format!("; --fix may repair {safe}, --unsafe-fixes {doubtful} more"),
    };
    let (mut known, mut unknown) = (FxHashSet::default(), FxHashSet::default());
    for verdict in analyzed.reports.iter().flat_map(|report| &report.verdicts) {
        let site = (verdict.span, verdict.op);
        if verdict.status == Status::Unknown {
            unknown.insert(site)
        } else {
            known.insert(site)
        };
    }
    // An access may be known in one instance of its kernel, and not in another.
    let partly = unknown.intersection(&known).count();
    let wholly = unknown.len() - partly;
    let all = output::count(known.len() + wholly, "access");
    words += &match (wholly, partly) {
        (0, 0) => String::new(),
        (wholly, 0) => format!("; {wholly} of {all} unknown"),
        (0, partly) => format!("; {partly} of {all} unknown in some instances"),
        (wholly, partly) => format!("; {wholly} of {all} unknown, {partly} more in some instances"),
    };
    words
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
        let count = output::count(found.findings.len() + found.small, "finding");
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
        let others = if assumed { "; bank conflicts are the same on 5.x and newer" } else { "" };
        line.push_str(&format!(" ({word}: {}{others})", targets.join(", ")));
    }
    line
}

#[cfg(test)]
mod tests;
