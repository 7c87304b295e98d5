//! `cudalint config` and `cudalint init`: what is in force, and a file to begin with.

use super::args::{ConfigArgs, InitArgs};
use super::disk::Overlay;
use super::run::OfRun;
use super::settings::{InForce, Origin, Settings};
use super::{Outcome, terminal};
use crate::analysis::DEFAULT_TARGET;
use crate::config::{self, NAME, TEMPLATE};
use crate::diagnostic::Level;
use crate::rules;
use crate::visible;
use std::fmt::Display;
use std::fs::File;
use std::io::{ErrorKind, Write};
use std::rc::Rc;

/// The name of the schema's file that `init` writes.
const SCHEMA: &str = "cudalint.schema.json";
/// Where the project's files are, if that is known.
const REPOSITORY: &str = env!("CARGO_PKG_REPOSITORY");

/// `cudalint init`
pub(super) fn init(args: &InitArgs) -> Outcome {
    let schema = args.schema.then(config::schema);
    let url = format!("{REPOSITORY}/raw/v{}/schemas/config-1.json", env!("CARGO_PKG_VERSION"));
    let first_line = match &schema {
        Some(_) => format!("#:schema ./{SCHEMA}\n"),
        None if REPOSITORY.is_empty() => String::new(),
        None => format!("#:schema {url}\n"),
    };
    let is_schema_new = args.schema && !args.folder.join(SCHEMA).exists();
    let mut had_file = false;
    let texts = [(NAME, Some(first_line + TEMPLATE)), (SCHEMA, schema)];
    for (name, text) in texts {
        let Some(text) = text else { continue };
        let is_schema = name == SCHEMA;
        let path = args.folder.join(name);
        let name = path.display();
        // Never over a file that is there.
        let written = File::create_new(&path).and_then(|mut file| file.write_all(text.as_bytes()));
        match written {
            Ok(()) => terminal::say(&format!("wrote `{name}`")),
            // The schema is asked for, and the file may be an earlier `init`'s.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && is_schema_new && !is_schema => {
                let line = format!("#:schema ./{SCHEMA}");
                terminal::say(&format!(
                    "`{name}` exists already: editors find the schema by a first line `{line}`"
                ));
                had_file = true;
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                terminal::say_error(&format!("`{name}` exists already"));
                return Outcome::Failed;
            }
            Err(error) => {
                terminal::say_error(&format!("cannot write `{name}`: {error}"));
                return Outcome::Failed;
            }
        }
    }
    if had_file {
        return Outcome::Clean;
    }
    terminal::say(&format!("everything in `{}` is a comment so far", args.folder.join(NAME).display()));
    Outcome::Clean
}

/// `cudalint config`
pub(super) fn config(args: &ConfigArgs) -> Outcome {
    let Some(file) = &args.file else {
        return terminal::print(config::schema().as_bytes(), Outcome::Clean);
    };
    let name = file.display();
    if !file.exists() {
        terminal::say_error(&format!("`{name}` does not exist"));
        return Outcome::Failed;
    }
    let Some(of_run) = OfRun::read(&Overlay::default()) else { return Outcome::Failed };
    let settings = match Settings::new(&args.build, &[], &Overlay::default()) {
        Ok(settings) => settings,
        Err(error) => {
            terminal::say_error(&error);
            return Outcome::Failed;
        }
    };
    // Of a folder, what is in force for the files in it.
    let file = if file.is_dir() { file.join("*") } else { file.clone() };
    let chain = settings.configs.of(&file);
    let path = settings.configs.absolute(&file);
    let told = settings.in_force(&file);
    if settings.report_errors() {
        return Outcome::Failed;
    }
    let mut table = Table { out: String::new() };
    table.of_targets(&told);
    for folder in &told.include {
        table.row("include", &format!("{:?}", folder.value.display().to_string()), &folder.origin);
    }
    for config in chain.iter() {
        for glob in &config.exclude {
            let origin = Origin::Config(Rc::clone(config), glob.line);
            table.row("exclude", &format!("{:?}", glob.value), &origin);
        }
    }
    table.of_run(&of_run);
    table.of_kernels(&told);
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
    /// For what banks are asked, and from which conflict on they are told of.
    fn of_targets(&mut self, told: &InForce) {
        match &told.targets {
            Some(set) => self.row("targets", &format!("{:?}", set.value), &set.origin),
            None => {
                let target = format!("sm_{}{}", DEFAULT_TARGET.major, DEFAULT_TARGET.minor);
                self.row("targets", &format!("[{target:?}]"), &DEFAULT);
            }
        }
        match &told.bank_size {
            Some(set) => self.row("bank-size", &set.value.to_string(), &set.origin),
            None => self.row("bank-size", "4", &DEFAULT),
        }
        if let Some(set) = &told.min_share {
            self.row("min-share", &set.value.to_string(), &set.origin);
        }
        if let Some(set) = &told.min_ways {
            self.row("min-ways", &set.value.to_string(), &set.origin);
        }
    }

    /// What macros and blocks are defined; the first that says so is in force.
    fn of_kernels(&mut self, told: &InForce) {
        let mut defined: Vec<&str> = Vec::new();
        for set in &told.defines {
            let (name, value) = &set.value;
            if !defined.contains(&name.as_str()) {
                self.row(&format!("defines.{name}"), &format!("{value:?}"), &set.origin);
                defined.push(name);
            }
        }
        let mut shaped: Vec<&Option<String>> = Vec::new();
        for set in &told.blocks {
            let (kernel, shape) = &set.value;
            if !shaped.contains(&kernel) {
                let name = kernel.as_deref().unwrap_or("\"*\"");
                self.row(&format!("blocks.{name}"), &format!("{shape:?}"), &set.origin);
                shaped.push(kernel);
            }
        }
    }

    /// What is in force for a run that starts here.
    fn of_run(&mut self, told: &OfRun) {
        if let Some(set) = &told.baseline {
            self.row("baseline", &format!("{:?}", set.value.display().to_string()), &set.origin);
        }
        for (key, set) in [("format", &told.format), ("sort", &told.sort)] {
            if let Some(set) = set {
                self.row(key, &format!("{:?}", set.value), &set.origin);
            }
        }
        if let Some(set) = &told.top {
            self.row("top", &set.value.to_string(), &set.origin);
        }
    }

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
