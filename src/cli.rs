//! What does the user want, and how did it end?
//!
//! Invariant: only here and in `walk` are files, other programs and the environment touched, and only here
//! stdout, stderr and the exit code.

mod allow;
mod analyze;
pub mod args;
mod blocks;
mod builds;
mod changed;
mod check;
mod configuration;
mod disk;
mod driver;
mod dump;
mod explain;
mod fix;
pub mod found;
mod generated;
mod git;
mod hidden;
mod includes;
mod lsp;
mod mistaken;
mod names;
mod parallel;
mod progress;
mod replace;
mod run;
mod settings;
mod tables;
mod terminal;
mod watch;

use args::{Cli, Command};
use clap::Parser;
use std::path::PathBuf;
use std::process::ExitCode;

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing to complain of.
    Clean,
    /// Findings at level warn or above.
    Findings,
    /// Wrong usage, or something could not be checked.
    Failed,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        ExitCode::from(match outcome {
            Outcome::Clean => 0,
            Outcome::Findings => 1,
            Outcome::Failed => 2,
        })
    }
}

/// Runs the command line of this process.
#[must_use]
pub fn main() -> ExitCode {
    if let Some(name) = mistaken::option(std::env::args_os().skip(1)) {
        let name = name.to_string_lossy();
        terminal::say_error(&format!(
            "`{name}` is an option and the name of a file here; for the file write `./{name}`, or `--` before all \
             files"
        ));
        return Outcome::Failed.into();
    }
    let cli = match Cli::try_parse_from(args::subcommand_first(std::env::args_os().collect())) {
        Ok(cli) => cli,
        Err(error) => {
            // Nobody left to read the help is no failure.
            let _ = error.print();
            return if error.use_stderr() { Outcome::Failed } else { Outcome::Clean }.into();
        }
    };
    let outcome = match cli.command {
        None => match misspelt_subcommand(&cli.check.analysis.paths) {
            Some(error) => {
                terminal::say_error(&error);
                Outcome::Failed
            }
            None => check::check(&cli.check),
        },
        Some(Command::Check(args)) => check::check(&args),
        Some(Command::Accesses(args)) => tables::accesses(&args),
        Some(Command::Banks(args)) => tables::banks(&args),
        Some(Command::Rules(args)) => tables::rules(&args),
        Some(Command::Config(args)) => configuration::config(&args),
        Some(Command::Completions(args)) => generated::completions(&args),
        Some(Command::Man(args)) => generated::man(&args),
        Some(Command::Init(args)) => configuration::init(&args),
        Some(Command::Explain(args)) => explain::explain(&args),
        Some(Command::Dump(args)) => dump::dump(&args),
        Some(Command::Lsp(args)) => lsp::lsp(&args),
    };
    outcome.into()
}

/// What is to be said when the first of the paths is no file and was most likely meant for a subcommand.
fn misspelt_subcommand(paths: &[PathBuf]) -> Option<String> {
    let word = paths.first()?;
    if word.exists() {
        return None;
    }
    let word = word.to_str()?;
    let meant = args::nearest_subcommand(word)?;
    Some(format!("there is no file or subcommand `{word}`; did you mean `{meant}`?"))
}
