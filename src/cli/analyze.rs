//! What do all files say that the user gave, and what could not be checked?

use super::args::AnalysisArgs;
use super::blocks::warn_of_unknown_kernels;
use super::disk::Overlay;
use super::driver::{Analyzed, Input};
use super::terminal;
use crate::analysis::Wanted;

/// Reads and analyses what the arguments ask for, and says on stderr what could not be checked. `None`
/// when nothing could.
pub(super) fn analyze(args: &AnalysisArgs, wanted: Wanted<'_>) -> Option<(Input, Analyzed)> {
    let input = Input::gather(args)?;
    let analyzed = input.analyze(wanted, &Overlay::default(), &[]);
    for complaint in &analyzed.complaints {
        terminal::say(complaint);
    }
    warn_of_unknown_kernels(&input, &analyzed.kernels, analyzed.run.sources());
    Some((input, analyzed))
}
