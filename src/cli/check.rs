//! `cudalint check`: which findings are there, and how loud are they?

use super::args::{CheckArgs, Format};
use super::{Outcome, driver, terminal};
use crate::analysis::{FileReport, Wanted};
use crate::diagnostic::{Diagnostic, Level};
use crate::output::{self, github, gitlab, json, junit, sarif, short, text};
use crate::source::Sources;
use crate::suppress;
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;
use std::path::Path;

/// Checks and prints.
pub fn check(args: &CheckArgs) -> Outcome {
    let Some(analyzed) = driver::analyze(&args.analysis, Wanted::Findings) else { return Outcome::Failed };
    let settings = &analyzed.settings;
    let sources = analyzed.run.sources();
    let files = analyzed.files.len();
    let targets: BTreeSet<String> =
        analyzed.reports.iter().flat_map(|it| &it.verdicts).map(|it| it.target.clone()).collect();
    let Findings { told: findings, silenced } =
        findings(sources, &analyzed.reports, &|path, rule, default| {
            // What the user named is told of, whatever a configuration leaves out.
            let hidden = !analyzed.run.is_given(path) && settings.hides(path);
            if hidden { Level::Allow } else { settings.level(&args.levels, path, rule, default) }
        });
    if settings.report_errors() {
        return Outcome::Failed;
    }
    let bytes = match args.format {
        Format::Text => {
            text::render(sources, &findings, args.output.is_none() && terminal::colored(args.color))
        }
        Format::Short => short::render(sources, &findings),
        Format::Json => json::render(sources, &findings),
        Format::Sarif => sarif::render(sources, &findings),
        Format::Github => github::render(sources, &findings),
        Format::Gitlab => gitlab::render(sources, &findings),
        Format::Junit => junit::render(sources, &findings, &analyzed.files),
    };
    let outcome = if analyzed.failed {
        Outcome::Failed
    } else if findings.iter().any(|finding| finding.level >= Level::Warn) {
        Outcome::Findings
    } else {
        Outcome::Clean
    };
    let outcome = match &args.output {
        Some(path) => terminal::write(path, &bytes, outcome),
        None => terminal::print(&bytes, outcome),
    };
    if (args.format == Format::Text || args.output.is_some()) && !args.analysis.quiet {
        let assumed = analyzed.assumed_target;
        let mut line = summary(sources, &findings, files, &targets, assumed);
        if silenced > 0 {
            line.push_str(&format!("; {} silenced by comments", output::count(silenced, "finding")));
        }
        terminal::say(&line);
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
