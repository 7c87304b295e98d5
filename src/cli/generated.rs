//! What can be made from the definitions of the arguments: completions and manual pages.

use super::args::{Cli, CompletionsArgs, ManArgs};
use super::{Outcome, terminal};
use clap::CommandFactory;
use clap_mangen::Man;

/// `cudalint completions`
pub(super) fn completions(args: &CompletionsArgs) -> Outcome {
    let mut out = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "cudalint", &mut out);
    terminal::print(&out, Outcome::Clean)
}

/// `cudalint man`
pub(super) fn man(args: &ManArgs) -> Outcome {
    let command = Cli::command().disable_help_subcommand(true);
    if let Some(folder) = &args.output {
        let written =
            std::fs::create_dir_all(folder).and_then(|()| clap_mangen::generate_to(command, folder));
        return match written {
            Ok(()) => Outcome::Clean,
            Err(error) => {
                terminal::say_error(&format!("cannot write into `{}`: {error}", folder.display()));
                Outcome::Failed
            }
        };
    }
    let mut out = Vec::new();
    // A `Vec` takes every write.
    let _ = Man::new(command).render(&mut out);
    terminal::print(&out, Outcome::Clean)
}
