//! How loud did the user make each rule?
//!
//! `-A`, `-N`, `-W` and `-D` override each other in the order they are written, across
//! the four flags. clap's derive keeps the order within a flag only, hence this by hand.

use crate::diagnostic::Level;
use crate::rules;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue};
use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use std::ffi::OsStr;

const FLAGS: [(&str, char, Level, &str); 4] = [
    ("allow", 'A', Level::Allow, "Do not report this rule"),
    ("note", 'N', Level::Note, "Report this rule without failing the run"),
    ("warn", 'W', Level::Warn, "Report this rule as a warning"),
    ("deny", 'D', Level::Deny, "Report this rule as an error"),
];

/// What stands for every rule.
const ALL: &str = "all";

/// The level flags, in the order of the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels(Vec<(String, Level)>);

impl Levels {
    /// The level of `rule`, which has `default` unless a flag says otherwise. The last flag wins.
    #[must_use]
    pub fn of(&self, rule: &str, default: Level) -> Level {
        self.flag(rule).unwrap_or(default)
    }

    /// The level that the last flag for `rule` says.
    #[must_use]
    pub fn flag(&self, rule: &str) -> Option<Level> {
        let says = |(name, _): &&(String, Level)| name == rule || name == ALL;
        self.0.iter().rev().find(says).map(|(_, level)| *level)
    }
}

impl Args for Levels {
    fn augment_args(command: Command) -> Command {
        FLAGS.iter().fold(command, |command, (name, short, _, help)| {
            command.arg(
                Arg::new(*name)
                    .short(*short)
                    .long(*name)
                    .value_name("RULE")
                    .help(*help)
                    .help_heading("Levels (repeatable, the last one wins, `all` means every rule)")
                    .hide_possible_values(true)
                    .action(ArgAction::Append)
                    .value_parser(RuleName),
            )
        })
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// A rule's id, or [`ALL`].
#[derive(Clone, Copy, Debug)]
struct RuleName;

impl RuleName {
    fn names() -> PossibleValuesParser {
        PossibleValuesParser::new(rules::ALL.iter().map(|rule| rule.id).chain([ALL]))
    }
}

impl TypedValueParser for RuleName {
    type Value = String;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<String, clap::Error> {
        RuleName::names().parse_ref(command, arg, value).map_err(|mut error| {
            let value = value.to_string_lossy();
            // To a compiler, the same letter says something else.
            let denied = arg.is_some_and(|arg| arg.get_short() == Some('D'));
            if denied && rules::nearest(&value).is_none() && super::values::define(&value).is_ok() {
                let tip = format!("`-D` denies a rule; to define a macro, write `--define {value}`");
                error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
            }
            error
        })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(rules::ALL.iter().map(|rule| rule.id).chain([ALL]).map(PossibleValue::new)))
    }
}

impl FromArgMatches for Levels {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut settings = Vec::new();
        for (name, _, level, _) in FLAGS {
            let rules = matches.get_many::<String>(name).into_iter().flatten();
            let indices = matches.indices_of(name).into_iter().flatten();
            settings.extend(indices.zip(rules).map(|(at, rule)| (at, rule.clone(), level)));
        }
        settings.sort_by_key(|(at, ..)| *at);
        Ok(Levels(settings.into_iter().map(|(_, rule, level)| (rule, level)).collect()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}
