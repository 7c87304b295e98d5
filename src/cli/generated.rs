//! What can be made from the definitions of the arguments: completions and the manual page.

use super::args::{Cli, CompletionsArgs};
use super::{Outcome, terminal};
use clap::CommandFactory;
use clap_mangen::Man;

/// `cudalint completions`
pub fn completions(args: &CompletionsArgs) -> Outcome {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cudalint", &mut out);
    terminal::print(&out, Outcome::Clean)
}

/// `cudalint man`
pub fn man() -> Outcome {
    let mut out = Vec::new();
    // A `Vec` takes every write.
    let _ = Man::new(Cli::command()).render(&mut out);
    terminal::print(&out, Outcome::Clean)
}
