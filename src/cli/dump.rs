//! `cudalint dump`: what does one stage of the analysis hand to the next?

use super::analyze::analyze;
use super::args::{DumpArgs, Stage};
use super::{Outcome, includes, terminal};
use crate::analysis::Wanted;
use crate::output;
use crate::output::dump::Recorded;

/// Prints it.
pub(super) fn dump(args: &DumpArgs) -> Outcome {
    let wanted = match args.stage {
        Stage::Hir => Wanted::Program,
        Stage::Events | Stage::Requests => Wanted::Runs,
    };
    let Some((input, analyzed)) = analyze(&args.analysis, wanted) else {
        return Outcome::Failed;
    };
    let (sources, files) = (analyzed.run.sources(), input.files(&analyzed));
    let reports = &analyzed.reports;
    let bytes = match args.stage {
        Stage::Hir => {
            output::dump::program(sources, &files, reports.iter().flat_map(|report| &report.modules))
        }
        Stage::Events | Stage::Requests => {
            let runs = reports.iter().flat_map(|report| &report.runs);
            let shown = if args.stage == Stage::Events { Recorded::Events } else { Recorded::Requests };
            output::dump::recorded(sources, &files, runs.map(|(name, run)| (*name, &**run)), shown)
        }
    };
    let outcome = if analyzed.failed { Outcome::Failed } else { Outcome::Clean };
    let outcome = terminal::print(&bytes, outcome);
    if !args.analysis.quiet {
        includes::tell_of_not_found(&includes::not_found(&input, &analyzed));
    }
    outcome
}
