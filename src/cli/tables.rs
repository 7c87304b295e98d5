//! The commands that print tables: `accesses`, `banks`, `rules`.

use super::analyze::analyze;
use super::args::{AccessesArgs, BanksArgs, RulesArgs, TableFormat, When};
use super::driver::Analyzed;
use super::{Outcome, hidden, includes, terminal};
use crate::analysis::{FileReport, Wanted, targets};
use crate::banks::Target;
use crate::output::banks::{ParseShapeError, Shape, compare_requests, write_picture};
use crate::output::{self, accesses, level_word, races, table};
use crate::rules;
use crate::source::Sources;
use crate::verdict::SiteVerdict;
use crate::walk::regular;
use rustc_hash::FxHashSet;
use std::path::Path;

/// `cudalint accesses`
pub(super) fn accesses(args: &AccessesArgs) -> Outcome {
    let wanted = if args.races { Wanted::Races } else { Wanted::Verdicts };
    let Some((input, analyzed)) = analyze(&args.analysis, wanted) else {
        return Outcome::Failed;
    };
    if args.races {
        return races(args, &analyzed);
    }
    let sources = analyzed.run.sources();
    let verdicts = verdicts(sources, &analyzed.reports);
    let not_found = includes::not_found(&input, &analyzed);
    let mut bytes = match (args.format, args.summary) {
        (TableFormat::Text, false) => accesses::render_table(sources, &verdicts),
        (TableFormat::Json, false) => accesses::render_json(sources, &verdicts),
        (TableFormat::Text, true) => accesses::render_summary(&verdicts),
        (TableFormat::Json, true) => accesses::render_summary_json(&verdicts),
    };
    if args.summary && args.format == TableFormat::Json {
        let headers = not_found.iter().map(|it| (it.spec.as_str(), it.places()));
        bytes.extend(accesses::render_not_found_json(headers));
    }
    let outcome = if analyzed.failed { Outcome::Failed } else { Outcome::Clean };
    let outcome = terminal::print(&bytes, outcome);
    if !args.analysis.quiet {
        let words = input.settings.builds.words();
        terminal::say(&format!("{}{words}", accesses::summary(&verdicts)));
        includes::tell_of_not_found(&not_found);
        hidden::tell_of_hidden(&input, &analyzed);
    }
    outcome
}

/// `cudalint accesses --races`
fn races(args: &AccessesArgs, analyzed: &Analyzed) -> Outcome {
    let sources = analyzed.run.sources();
    let runs: Vec<_> = analyzed.reports.iter().flat_map(|report| &report.runs).collect();
    let rows = races::rows(sources, &runs);
    let bytes = match args.format {
        TableFormat::Text => races::render_text(&rows),
        TableFormat::Json => races::render_json(&rows),
    };
    let outcome = if analyzed.failed { Outcome::Failed } else { Outcome::Clean };
    let outcome = terminal::print(&bytes, outcome);
    if !args.analysis.quiet {
        terminal::say(&races::summary(&rows));
    }
    outcome
}

/// The verdicts to print: by file and then by place, each once, although a header may be reached
/// from many files.
fn verdicts<'a>(sources: &Sources, reports: &'a [FileReport]) -> Vec<&'a SiteVerdict> {
    let mut all: Vec<&SiteVerdict> = reports.iter().flat_map(|report| &report.verdicts).collect();
    all.sort_by_cached_key(|it| {
        let place = (sources.get(it.span.file).path.clone(), it.span.start, it.span.end);
        (place, it.kernel.clone(), it.block, it.target.clone(), it.op, it.array.clone())
    });
    let mut seen = FxHashSet::default();
    all.retain(|it| {
        let site = (it.span, it.kernel.as_str(), it.block, it.target.as_str());
        // Parts of a struct may cost alike; of what is not known, the bytes may be those of other variants.
        let bytes = it.wavefronts.and(it.bytes);
        seen.insert((site, it.op, it.array.as_str(), bytes, it.wavefronts, it.reason.as_deref()))
    });
    all
}

/// `cudalint banks`
pub(super) fn banks(args: &BanksArgs) -> Outcome {
    let targets = targets(&args.targets, args.bank_size == "8");
    let printed = match (&args.requests, &args.elem, &args.shape) {
        (Some(table), ..) => requests(table, &targets),
        (None, Some(elem), Some(shape)) => picture(elem, shape, &targets),
        // The command line asks for one or the other.
        _ => Err("neither an array nor a table of requests was given".to_owned()),
    };
    match printed {
        Ok((bytes, outcome)) => terminal::print(&bytes, outcome),
        Err(error) => {
            terminal::say_error(&error);
            Outcome::Failed
        }
    }
}

/// The banks of an array, for one target after another.
fn picture(elem: &str, shape: &str, targets: &[Target]) -> Result<(Vec<u8>, Outcome), String> {
    let bytes = super::args::element_bytes(elem)?;
    let shape: Shape = shape.replace(',', "x").parse().map_err(|error: ParseShapeError| error.to_string())?;
    let mut out = Vec::new();
    for (at, target) in targets.iter().enumerate() {
        if at > 0 {
            out.push(b'\n');
        }
        write_picture(&mut out, bytes, &shape, target, terminal::colored(When::Auto))
            .map_err(|error| error.to_string())?;
    }
    Ok((out, Outcome::Clean))
}

/// The model's wavefronts for every request of a table; a measured row that differs is a finding.
fn requests(table: &Path, targets: &[Target]) -> Result<(Vec<u8>, Outcome), String> {
    let name = table.display().to_string();
    let bytes = regular::bytes(table).map_err(|problem| problem.to_string())?;
    let (mut out, mut outcome) = (Vec::new(), Outcome::Clean);
    for target in targets {
        let mut summary = Vec::new();
        let agreement = compare_requests(&mut bytes.as_slice(), &name, target, &mut out, &mut summary)
            .map_err(|error| error.to_string())?;
        if !agreement.all_agree() {
            outcome = Outcome::Findings;
        }
        terminal::say(&String::from_utf8_lossy(&summary).trim_end());
    }
    Ok((out, outcome))
}

/// `cudalint rules`
pub(super) fn rules(args: &RulesArgs) -> Outcome {
    if let Some(folder) = &args.markdown {
        return rule_pages(folder);
    }
    let mut table = table::table(&["rule", "level", "summary"]);
    for rule in rules::ALL {
        table.add_row([rule.id, level_word(rule.level), rule.summary]);
    }
    terminal::print(format!("{}\n", table::text_of(&table)).as_bytes(), Outcome::Clean)
}

/// Writes the pages on the rules into a folder.
fn rule_pages(folder: &Path) -> Outcome {
    if let Err(error) = std::fs::create_dir_all(folder) {
        terminal::say_error(&format!("cannot write into `{}`: {error}", folder.display()));
        return Outcome::Failed;
    }
    let pages = output::rule_pages::all();
    pages.iter().fold(Outcome::Clean, |outcome, (name, text)| {
        terminal::write(&folder.join(name), text.as_bytes(), outcome)
    })
}
