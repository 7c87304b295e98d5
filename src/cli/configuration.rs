//! `cudalint config` and `cudalint init`: what is in force, and a file to begin with.

use super::args::{ConfigArgs, InitArgs};
use super::disk::Overlay;
use super::settings::{Origin, Settings};
use super::{Outcome, terminal};
use crate::analysis::DEFAULT_TARGET;
use crate::config::{NAME, TEMPLATE};
use crate::diagnostic::Level;
use crate::rules;
use crate::visible;
use std::fmt::Display;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::rc::Rc;

/// `cudalint init`
pub(super) fn init(args: &InitArgs) -> Outcome {
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
pub(super) fn config(args: &ConfigArgs) -> Outcome {
    let name = args.file.display();
    if !args.file.exists() {
        terminal::say_error(&format!("`{name}` does not exist"));
        return Outcome::Failed;
    }
    let settings = match Settings::new(args.build.which(), &Overlay::default()) {
        Ok(settings) => settings,
        Err(error) => {
            terminal::say_error(&error);
            return Outcome::Failed;
        }
    };
    // Of a folder, what is in force for the files in it.
    let file = if args.file.is_dir() { args.file.join("*") } else { args.file.clone() };
    let chain = settings.configs.of(&file);
    let path = settings.configs.absolute(&file);
    let told = settings.in_force(&file);
    if settings.report_errors() {
        return Outcome::Failed;
    }
    let mut table = Table { out: String::new() };
    match &told.targets {
        Some(set) => table.row("targets", &format!("{:?}", set.value), &set.origin),
        None => {
            let target = format!("sm_{}{}", DEFAULT_TARGET.major, DEFAULT_TARGET.minor);
            table.row("targets", &format!("[{target:?}]"), &DEFAULT);
        }
    }
    match &told.bank_size {
        Some(set) => table.row("bank-size", &set.value.to_string(), &set.origin),
        None => table.row("bank-size", "4", &DEFAULT),
    }
    if let Some(set) = &told.min_share {
        table.row("min-share", &set.value.to_string(), &set.origin);
    }
    if let Some(set) = &told.min_ways {
        table.row("min-ways", &set.value.to_string(), &set.origin);
    }
    for folder in &told.include {
        table.row("include", &format!("{:?}", folder.value.display().to_string()), &folder.origin);
    }
    for config in chain.iter() {
        for glob in &config.exclude {
            let origin = Origin::Config(Rc::clone(config), glob.line);
            table.row("exclude", &format!("{:?}", glob.value), &origin);
        }
    }
    let mut defined: Vec<&str> = Vec::new();
    for set in &told.defines {
        let (name, value) = &set.value;
        if !defined.contains(&name.as_str()) {
            table.row(&format!("defines.{name}"), &format!("{value:?}"), &set.origin);
            defined.push(name);
        }
    }
    let mut shaped: Vec<&Option<String>> = Vec::new();
    for set in &told.blocks {
        let (kernel, shape) = &set.value;
        if !shaped.contains(&kernel) {
            let name = kernel.as_deref().unwrap_or("\"*\"");
            table.row(&format!("blocks.{name}"), &format!("{shape:?}"), &set.origin);
            shaped.push(kernel);
        }
    }
    for rule in rules::ALL {
        let said = chain.iter().find_map(|config| Some((config, config.level(&path, rule.id)?)));
        let key = format!("levels.{}", rule.id);
        match said {
            Some((config, set)) => {
                let origin = Origin::Config(Rc::clone(config), set.line);
                table.row(&key, &format!("{:?}", word(set.value)), &origin);
            }
            None => table.row(&key, &format!("{:?}", word(rule.level)), &DEFAULT),
        }
    }
    if settings.hides(&file) {
        table.out.push_str("# excluded: checked only when it is named\n");
    }
    for database in settings.builds.found() {
        table.out.push_str(&format!("# found `{database}`; --no-compile-commands leaves it out\n"));
    }
    terminal::print(table.out.as_bytes(), Outcome::Clean)
}

/// Where a value comes from that no one said.
const DEFAULT: &str = "default";

/// A value a line, and where it comes from as a comment.
struct Table {
    out: String,
}

impl Table {
    fn row(&mut self, key: &str, value: &str, from: &dyn Display) {
        let row = format!("{:<58} # {from}", format!("{key} = {value}"));
        self.out.push_str(&visible::one_line(&row));
        self.out.push('\n');
    }
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Allow => "allow",
        Level::Note => "note",
        Level::Warn => "warn",
        Level::Deny => "deny",
    }
}
