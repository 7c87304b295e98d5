//! `cudalint config` and `cudalint init`: what is in force, and a file to begin with.

use super::args::{ConfigArgs, InitArgs};
use super::settings::Settings;
use super::{Outcome, terminal};
use crate::analysis::DEFAULT_TARGET;
use crate::config::{Config, NAME, Set, TEMPLATE};
use crate::diagnostic::Level;
use crate::rules;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::path::Path;

/// `cudalint init`
pub fn init(args: &InitArgs) -> Outcome {
    let path = args.folder.join(NAME);
    let name = path.display();
    // Never over a file that is there.
    let written = File::create_new(&path).and_then(|mut file| file.write_all(TEMPLATE.as_bytes()));
    match written {
        Ok(()) => {
            terminal::say(&format!("wrote `{name}`; everything in it is a comment so far"));
            Outcome::Clean
        }
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            terminal::say_error(&format!("`{name}` exists already"));
            Outcome::Failed
        }
        Err(error) => {
            terminal::say_error(&format!("cannot write `{name}`: {error}"));
            Outcome::Failed
        }
    }
}

/// `cudalint config`
pub fn config(args: &ConfigArgs) -> Outcome {
    let settings = match Settings::new(args.compile_commands.as_deref()) {
        Ok(settings) => settings,
        Err(error) => {
            terminal::say_error(&error);
            return Outcome::Failed;
        }
    };
    let chain = settings.configs.of(&args.file);
    if settings.report_errors() {
        return Outcome::Failed;
    }
    let mut table = Table { out: String::new() };
    let path = settings.configs.absolute(&args.file);
    let flags = settings.commands.as_ref().and_then(|commands| commands.of(&path));
    let compiled = || "compile_commands.json".to_owned();

    let targets = flags.filter(|flags| !flags.targets.is_empty()).map(|it| (it.targets.clone(), compiled()));
    let set = || nearest(&chain, |config| config.targets.as_ref()).map(|(it, at)| (it.value.clone(), at));
    let (targets, from) = targets
        .or_else(set)
        .unwrap_or_else(|| (vec![format!("sm_{}{}", DEFAULT_TARGET.major, DEFAULT_TARGET.minor)], default()));
    table.row("targets", &format!("{targets:?}"), &from);
    let bank_size = nearest(&chain, |config| config.bank_size.as_ref());
    let (bank_size, from) = bank_size.map_or((4, default()), |(set, at)| (set.value, at));
    table.row("bank-size", &bank_size.to_string(), &from);
    for folder in flags.iter().flat_map(|flags| &flags.include) {
        table.row("include", &shown(&settings.configs.shown(folder)), &compiled());
    }
    for (config, folder) in each(&chain, |config| &config.include) {
        table.row("include", &shown(&folder.value), &place(config, folder.line));
    }
    for (config, glob) in each(&chain, |config| &config.exclude) {
        table.row("exclude", &format!("{:?}", glob.value), &place(config, glob.line));
    }
    let mut defined: Vec<&str> = Vec::new();
    for (name, value) in flags.iter().flat_map(|flags| flags.defines.iter().rev()) {
        if !defined.contains(&name.as_str()) {
            table.row(&format!("defines.{name}"), &format!("{value:?}"), &compiled());
            defined.push(name);
        }
    }
    for (config, set) in each(&chain, |config| &config.defines) {
        let (name, value) = &set.value;
        if !defined.contains(&name.as_str()) {
            table.row(&format!("defines.{name}"), &format!("{value:?}"), &place(config, set.line));
            defined.push(name);
        }
    }
    let mut shaped: Vec<&Option<String>> = Vec::new();
    for (config, set) in each(&chain, |config| &config.blocks) {
        let (kernel, shape) = &set.value;
        if !shaped.contains(&kernel) {
            let name = kernel.as_deref().unwrap_or("\"*\"");
            table.row(&format!("blocks.{name}"), &format!("{shape:?}"), &place(config, set.line));
            shaped.push(kernel);
        }
    }
    for rule in rules::ALL {
        let said = chain.iter().find_map(|config| Some((config, config.level(&path, rule.id)?)));
        let (level, from) = match said {
            Some((config, set)) => (set.value, place(config, set.line)),
            None => (rule.level, default()),
        };
        table.row(&format!("levels.{}", rule.id), &format!("{:?}", word(level)), &from);
    }
    if settings.hides(&args.file) {
        table.out.push_str("# excluded: checked only when it is named\n");
    }
    terminal::print(table.out.as_bytes(), Outcome::Clean)
}

/// A value a line, and where it comes from as a comment.
struct Table {
    out: String,
}

impl Table {
    fn row(&mut self, key: &str, value: &str, from: &str) {
        self.out.push_str(&format!("{:<58} # {from}\n", format!("{key} = {value}")));
    }
}

fn default() -> String {
    "default".to_owned()
}

fn shown(path: &Path) -> String {
    format!("{:?}", path.display().to_string())
}

fn place(config: &Config, line: usize) -> String {
    format!("{}:{line}", config.path.display())
}

/// Everything that the files say, nearest first.
fn each<'a, C: AsRef<Config> + 'a, T: 'a>(
    chain: &'a [C],
    list: impl Fn(&'a Config) -> &'a [Set<T>] + 'a,
) -> impl Iterator<Item = (&'a Config, &'a Set<T>)> {
    chain
        .iter()
        .map(AsRef::as_ref)
        .flat_map(move |config: &Config| list(config).iter().map(move |set| (config, set)))
}

/// The value of the nearest file that has one, and its place.
fn nearest<'a, C: AsRef<Config>, T>(
    chain: &'a [C],
    value: impl Fn(&'a Config) -> Option<&'a Set<T>>,
) -> Option<(&'a Set<T>, String)> {
    chain.iter().map(AsRef::as_ref).find_map(|config| value(config).map(|set| (set, place(config, set.line))))
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Allow => "allow",
        Level::Note => "note",
        Level::Warn => "warn",
        Level::Deny => "deny",
    }
}
