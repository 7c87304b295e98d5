//! The commands that print tables: `accesses`, `banks`, `rules`, `explain`.

use super::args::{AccessesArgs, BanksArgs, ExplainArgs, TableFormat};
use super::{Outcome, driver, terminal};
use crate::analysis::FileReport;
use crate::output::{accesses, level_word};
use crate::rules;
use crate::source::Sources;
use crate::verdict::SiteVerdict;
use rustc_hash::FxHashSet;

/// `cudalint accesses`
pub fn accesses(args: &AccessesArgs) -> Outcome {
    let analyzed = driver::analyze(&args.analysis);
    let sources = analyzed.run.sources();
    let verdicts = verdicts(sources, &analyzed.reports);
    let bytes = match (args.format, args.summary) {
        (TableFormat::Text, false) => accesses::render_table(sources, &verdicts),
        (TableFormat::Json, false) => accesses::render_json(sources, &verdicts),
        (TableFormat::Text, true) => accesses::render_summary(&verdicts),
        (TableFormat::Json, true) => accesses::render_summary_json(&verdicts),
    };
    let outcome = if analyzed.failed { Outcome::Failed } else { Outcome::Clean };
    let outcome = terminal::print(&bytes, outcome);
    if !args.analysis.quiet {
        terminal::say(&accesses::summary(&verdicts));
    }
    outcome
}

/// The verdicts to print: by file as given and then by place, each once, although a header
/// may be reached from many files.
fn verdicts<'a>(sources: &Sources, reports: &'a [FileReport]) -> Vec<&'a SiteVerdict> {
    let mut seen = FxHashSet::default();
    let mut all = Vec::new();
    for report in reports {
        let mut own: Vec<&SiteVerdict> = report.verdicts.iter().collect();
        own.sort_by_cached_key(|it| {
            let place = (sources.get(it.span.file).path.clone(), it.span.start, it.span.end);
            (place, it.kernel.clone(), it.block, it.target.clone(), it.op, it.array.clone())
        });
        own.retain(|it| {
            let place = (sources.get(it.span.file).path.clone(), it.span.start, it.span.end);
            let place = (place, it.kernel.as_str(), it.block, it.target.as_str());
            seen.insert((place, it.op, it.array.as_str(), it.wavefronts, it.reason.as_deref()))
        });
        all.append(&mut own);
    }
    all
}

/// `cudalint banks`
pub fn banks(args: &BanksArgs) -> Outcome {
    match banks_table(args) {
        Ok(text) => terminal::print(text.as_bytes(), Outcome::Clean),
        Err(error) => {
            terminal::say_error(&error);
            Outcome::Failed
        }
    }
}

/// TO CONNECT: the one place where `output::banks` is to be called with these arguments.
fn banks_table(args: &BanksArgs) -> Result<String, String> {
    let _ = args;
    Err("`banks` is not connected yet".to_owned())
}

/// `cudalint rules`
pub fn rules() -> Outcome {
    let mut table = accesses::table(&["rule", "level", "summary"]);
    for rule in rules::ALL {
        table.add_row([rule.id, level_word(rule.level), rule.summary]);
    }
    terminal::print(format!("{}\n", accesses::text_of(&table)).as_bytes(), Outcome::Clean)
}

/// `cudalint explain`
pub fn explain(args: &ExplainArgs) -> Outcome {
    // The arguments are checked against the same list.
    let Some(rule) = rules::find(&args.rule) else { return Outcome::Failed };
    let text = format!("# {}\n\n{}\n", rule.id, rule.documentation());
    terminal::print(text.as_bytes(), Outcome::Clean)
}
