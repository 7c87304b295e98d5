//! What is in force for each file: command line, compile commands, configuration, defaults?

use super::args::{AnalysisArgs, Levels};
use super::{disk, terminal};
use crate::analysis::{BlockOption, Options};
use crate::config::commands::{self, Commands};
use crate::config::{Config, Configs};
use crate::diagnostic::Level;
use crate::walk::Ignored;
use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

/// What the files of a run are told by.
pub struct Settings {
    /// The configuration files.
    pub configs: Configs,
    /// What the files are compiled with.
    pub commands: Option<Commands>,
    ignored: RefCell<Ignored>,
}

impl Settings {
    /// Reads the compile commands, if there are to be any; an error is a sentence.
    pub fn new(compile_commands: Option<&Path>) -> Result<Settings, String> {
        let home = std::env::current_dir().unwrap_or_default();
        let configs = Configs::new(home, Box::new(disk::text));
        let read = |given: &Path| {
            let path = if given.is_dir() { given.join(commands::NAME) } else { given.to_path_buf() };
            let name = path.display();
            let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read `{name}`: {e}"))?;
            let absolute = |path: &Path| configs.absolute(path);
            Commands::read(&text, &absolute).map_err(|e| format!("`{name}` has no compile commands: {e}"))
        };
        let commands = compile_commands.map(read).transpose()?;
        Ok(Settings { configs, commands, ignored: RefCell::default() })
    }

    /// Whether a walk passes over a file or folder.
    pub fn skips(&self, path: &Path, folder: bool, no_ignore: bool) -> bool {
        let path = self.configs.absolute(path);
        self.excludes(&path, folder) || !no_ignore && self.ignored.borrow_mut().contains(&path, folder)
    }

    /// Whether a configuration leaves out a file or folder.
    fn excludes(&self, path: &Path, folder: bool) -> bool {
        self.configs.of(path).iter().any(|config| config.excludes(path, folder))
    }

    /// Says what is wrong with the configuration files read so far.
    pub fn report_errors(&self) -> bool {
        let errors = self.configs.take_errors();
        for error in &errors {
            terminal::say(error);
        }
        !errors.is_empty()
    }

    /// What is in force for a file.
    pub fn options(&self, args: &AnalysisArgs, file: &Path) -> Options {
        let chain = self.configs.of(file);
        let path = self.configs.absolute(file);
        let flags = self.commands.as_ref().and_then(|commands| commands.of(&path));
        let mut options = args.options();
        if let Some(flags) = flags.filter(|_| options.targets.is_empty()) {
            options.targets.clone_from(&flags.targets);
        }
        if let Some(set) =
            nearest(&chain, |config| config.targets.as_ref()).filter(|_| options.targets.is_empty())
        {
            options.targets.clone_from(&set.value);
        }
        if args.bank_size.is_none() {
            let set = nearest(&chain, |config| config.bank_size.as_ref());
            options.bank_size_eight = set.is_some_and(|set| set.value == 8);
        }
        // The later definition of a macro wins, and so does the later block.
        let mut defines = Vec::new();
        let mut blocks = Vec::new();
        for config in chain.iter().rev() {
            defines.extend(config.defines.iter().map(|set| set.value.clone()));
            blocks.extend(config.blocks.iter().map(|set| {
                let (kernel, shape) = set.value.clone();
                BlockOption { kernel, shape, configured: true }
            }));
        }
        if let Some(flags) = flags {
            defines.extend(flags.defines.iter().cloned());
            options.include_dirs.extend(flags.include.iter().map(|folder| self.configs.shown(folder)));
        }
        defines.append(&mut options.defines);
        blocks.append(&mut options.blocks);
        (options.defines, options.blocks) = (defines, blocks);
        for config in chain.iter() {
            options.include_dirs.extend(config.include.iter().map(|set| set.value.clone()));
        }
        options
    }

    /// The level of a rule in a file.
    pub fn level(&self, flags: &Levels, file: &Path, rule: &str, default: Level) -> Level {
        if let Some(level) = flags.flag(rule) {
            return level;
        }
        let chain = self.configs.of(file);
        if chain.is_empty() {
            return default;
        }
        let path = self.configs.absolute(file);
        chain.iter().find_map(|config| config.level(&path, rule)).map_or(default, |set| set.value)
    }

    /// Whether findings in a file that the user did not name are left out.
    pub fn hides(&self, file: &Path) -> bool {
        let chain = self.configs.of(file);
        !chain.is_empty() && {
            let path = self.configs.absolute(file);
            chain.iter().any(|config| config.excludes(&path, false))
        }
    }
}

/// The value of the nearest file that has one.
fn nearest<T>(chain: &[Rc<Config>], value: impl Fn(&Config) -> Option<&T>) -> Option<&T> {
    chain.iter().find_map(|config| value(config))
}
