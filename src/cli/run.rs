//! What does the configuration say of a run as a whole, where the command line says nothing?
//!
//! Not of its files: those may be under different configurations. It is the `cudalint.toml` of the working
//! folder that counts, with those that this is under.

use super::args::{CheckArgs, Format, Report, Sort};
use super::disk::Overlay;
use super::settings::{Origin, Sourced, configs, report_errors};
use crate::config::{Config, Set};
use clap::ValueEnum;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::rc::Rc;

/// What configuration files say of a run.
pub(super) struct OfRun {
    /// The file with the findings that are left out.
    pub baseline: Option<Sourced<PathBuf>>,
    /// How findings are printed.
    pub format: Option<Sourced<String>>,
    /// In which order.
    pub sort: Option<Sourced<String>>,
    /// How many at most.
    pub top: Option<Sourced<NonZeroUsize>>,
}

impl OfRun {
    /// Reads it, what `buffers` hold before what is on disk; `None` when a file is not understood, which is said on stderr.
    pub(super) fn read(buffers: &Overlay) -> Option<OfRun> {
        let configs = configs(buffers);
        let chain = configs.of_run();
        (!report_errors(&configs)).then(|| OfRun {
            baseline: first(&chain, |config| config.baseline.as_ref()),
            format: first(&chain, |config| config.format.as_ref()),
            sort: first(&chain, |config| config.sort.as_ref()),
            top: first(&chain, |config| config.top.as_ref()),
        })
    }
}

/// What the nearest file says that says it.
fn first<T: Clone>(chain: &[Rc<Config>], said: impl Fn(&Config) -> Option<&Set<T>>) -> Option<Sourced<T>> {
    chain.iter().find_map(|config| {
        let set = said(config)?;
        Some(Sourced { value: set.value.clone(), origin: Origin::Config(Rc::clone(config), set.line) })
    })
}

/// The arguments with what the configuration says of the run; `None` when that is not understood, which is
/// said on stderr.
pub(super) fn completed(args: &CheckArgs, buffers: &Overlay) -> Option<CheckArgs> {
    let told = OfRun::read(buffers)?;
    let mut args = args.clone();
    args.analysis.levels = Some(args.levels.clone());
    if args.format.is_empty() {
        let format = told.format.and_then(|set| Format::from_str(&set.value, false).ok());
        args.format.extend(format.map(|format| Report { format, file: None }));
    }
    let sort = || Sort::from_str(&told.sort?.value, false).ok();
    args.choice.sort = args.choice.sort.or_else(sort);
    if !args.choice.statistics {
        args.choice.top = args.choice.top.or(told.top.map(|set| set.value));
    }
    if args.baseline.is_none() && args.write_baseline.is_none() && !args.no_baseline {
        args.baseline = told.baseline.map(|set| set.value);
    }
    Some(args)
}
