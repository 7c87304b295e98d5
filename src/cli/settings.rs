//! What is in force for each file: command line, compile commands or build scripts, configuration, defaults?

use super::args::{AnalysisArgs, BuildArgs, ChoiceArgs, Levels};
use super::builds::{Builds, Database, Told};
use super::disk::{self, Overlay};
use super::terminal;
use crate::analysis::Options;
use crate::config::scripts::Macro;
use crate::config::{Config, Configs, NAME, Patterns, Set};
use crate::diagnostic::{Diagnostic, Level};
use crate::headers::normalise;
use crate::rules;
use crate::shape::BlockOption;
use crate::source::display_path;
use crate::walk::{Candidate, Ignored};
use std::cell::RefCell;
use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// What the files of a run are told by.
pub(super) struct Settings {
    /// The configuration files.
    pub configs: Configs,
    /// What the files are compiled with.
    pub builds: Builds,
    /// What the command line leaves out.
    left_out: Patterns,
    ignored: RefCell<Ignored>,
}

/// What files say of a file, the command line aside. Of values that exclude each other, the first is in
/// force.
#[derive(Default)]
pub(super) struct InForce {
    /// Devices to judge for.
    pub targets: Option<Sourced<Vec<String>>>,
    /// Width of a bank in bytes.
    pub bank_size: Option<Sourced<u8>>,
    /// The least share that a bank conflict has to cost, in percent.
    pub min_share: Option<Sourced<u8>>,
    /// The fewest ways that it has to have.
    pub min_ways: Option<Sourced<u32>>,
    /// Folders in which `#include` looks.
    pub include: Vec<Sourced<PathBuf>>,
    /// Macros.
    pub defines: Vec<Sourced<(String, String)>>,
    /// Block shapes, of one kernel or of all.
    pub blocks: Vec<Sourced<(Option<String>, [u32; 3])>>,
}

/// A value, and where it comes from.
pub(super) struct Sourced<T> {
    /// The value.
    pub value: T,
    /// Where it comes from.
    pub origin: Origin,
}

/// Where a value comes from.
#[derive(Clone)]
pub(super) enum Origin {
    /// A line of a configuration file.
    Config(Rc<Config>, usize),
    /// A `compile_commands.json`.
    Commands(Rc<Database>),
    /// A line of a build script.
    Script(String, usize),
}

impl Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Config(config, line) => write!(f, "{}:{line}", config.path.display()),
            Origin::Commands(database) => f.write_str(&database.shown),
            Origin::Script(shown, line) => write!(f, "{shown}:{line}"),
        }
    }
}

impl Settings {
    /// Reads the compile commands that the user names, if any; an error is a sentence. `exclude`: patterns of
    /// files that the command line leaves out. `buffers` go before the configuration files on disk, by path.
    pub(super) fn new(build: &BuildArgs, exclude: &[String], buffers: &Overlay) -> Result<Settings, String> {
        let configs = configs(buffers);
        let left_out = Patterns::new(&configs.absolute(Path::new(".")), exclude.iter().map(String::as_str));
        let left_out = left_out.map_err(|(number, why)| {
            let pattern = exclude.get(number).map_or("", String::as_str);
            format!("`--exclude`: `{pattern}` is not a pattern: {why}")
        })?;
        let builds = Builds::new(build.which(), &configs)?;
        Ok(Settings { configs, builds, left_out, ignored: RefCell::default() })
    }

    /// Whether the command line leaves out a file, even one that it names.
    pub(super) fn leaves_out(&self, file: &Path) -> bool {
        self.left_out.match_anywhere(&self.configs.absolute(file), false)
    }

    /// Whether a walk passes over a file or folder.
    pub(super) fn skips(&self, path: &Path, folder: bool, no_ignore: bool) -> bool {
        let path = self.configs.absolute(path);
        self.excludes(&path, folder) || !no_ignore && self.ignored.borrow_mut().contains(&path, folder)
    }

    /// Whether a configuration leaves out a file or folder.
    fn excludes(&self, path: &Path, folder: bool) -> bool {
        self.left_out.match_anywhere(path, folder)
            || self.configs.of(path).iter().any(|config| config.excludes(path, folder))
    }

    /// Says what is wrong with the files read so far, and whether it is an error.
    pub(super) fn report_errors(&self) -> bool {
        let failed = report_errors(&self.configs);
        for warning in self.builds.take_warnings() {
            terminal::say_warning(&warning);
        }
        failed
    }

    /// What files say of a file. What someone named or wrote for this program goes before what was found.
    pub(super) fn in_force(&self, file: &Path) -> InForce {
        let path = self.configs.absolute(file);
        let mut all = InForce::default();
        let told = self.builds.of(&path, &self.configs);
        if let Some(Told::Named(database)) = &told {
            all.add_commands(database, &path, &self.configs);
        }
        for config in self.configs.of(&path).iter() {
            all.add_config(config);
        }
        match told {
            Some(Told::Found(database)) => all.add_commands(&database, &path, &self.configs),
            Some(Told::Scripts(macros)) => all.add_scripts(macros, &self.configs),
            Some(Told::Named(_)) | None => {}
        }
        all
    }

    /// What is in force for a file.
    pub(super) fn options(&self, args: &AnalysisArgs, file: &Path) -> Options {
        let told = self.in_force(file);
        let mut options = args.options();
        let asks_for = |rule: &rules::Rule| {
            let flags = args.levels.as_ref();
            flags.is_some_and(|flags| self.level(flags, file, rule.id, rule.level) != Level::Allow)
        };
        options.global_memory = asks_for(&rules::global_race::RULE);
        options.needless_barriers = asks_for(&rules::redundant_barrier::RULE);
        if options.targets.is_empty() {
            options.targets = told.targets.map(|set| set.value).unwrap_or_default();
        }
        if args.bank_size.is_none() {
            options.bank_size_eight = told.bank_size.is_some_and(|set| set.value == 8);
        }
        // The later definition of a macro wins, and so does the later block.
        let mut defines: Vec<(String, String)> = told.defines.into_iter().rev().map(|it| it.value).collect();
        defines.append(&mut options.defines);
        let blocks = told.blocks.into_iter().rev().map(|it| {
            let (kernel, shape) = it.value;
            BlockOption { kernel, shape, configured: true }
        });
        options.blocks = blocks.chain(std::mem::take(&mut options.blocks)).collect();
        options.defines = defines;
        options.include_dirs.extend(told.include.into_iter().map(|folder| folder.value));
        options
    }

    /// The configuration files that some of these files are under, each once.
    pub(super) fn configs_of(&self, candidates: &[Candidate]) -> Vec<Rc<Config>> {
        let mut found: Vec<Rc<Config>> = Vec::new();
        for config in candidates.iter().flat_map(|it| self.configs.of(&it.path).to_vec()) {
            if !found.iter().any(|known| Rc::ptr_eq(known, &config)) {
                found.push(config);
            }
        }
        found
    }

    /// The level of a rule in a file.
    pub(super) fn level(&self, flags: &Levels, file: &Path, rule: &str, default: Level) -> Level {
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

    /// Whether a bank conflict in a file costs too little to be told.
    pub(super) fn is_too_small(&self, choice: &ChoiceArgs, file: &Path, finding: &Diagnostic) -> bool {
        let Some(cost) = finding.cost() else { return false };
        // The line that costs most need not be that of the most ways.
        let most = finding.each().filter_map(|part| part.conflict.as_ref()).map(|it| it.ways).max();
        let chain = self.configs.of(file);
        let share =
            choice.min_share.or_else(|| Some(chain.iter().find_map(|it| it.min_share.as_ref())?.value));
        let ways = choice.min_ways.or_else(|| Some(chain.iter().find_map(|it| it.min_ways.as_ref())?.value));
        share.is_some_and(|percent| cost.share() * 100.0 < f64::from(percent))
            || ways.is_some_and(|ways| most < Some(ways))
    }

    /// Whether findings in a file that the user did not name are left out.
    pub(super) fn hides(&self, file: &Path) -> bool {
        self.excludes(&self.configs.absolute(file), false)
    }
}

/// The configuration files, seen from the working folder; `buffers` go before those on disk, by path.
pub(super) fn configs(buffers: &Overlay) -> Configs {
    let home = std::env::current_dir().unwrap_or_default();
    let buffers = buffers.iter().filter(|(path, _)| path.ends_with(NAME));
    let shown: Overlay = buffers.map(|(path, bytes)| (normalise(&home.join(path)), bytes.clone())).collect();
    let reader = move |path: &Path| match shown.get(path) {
        Some(bytes) => Ok(bytes.as_deref().map(|bytes| String::from_utf8_lossy(bytes).into_owned())),
        None => disk::text(path),
    };
    Configs::new(home, Box::new(reader))
}

/// Says what is wrong with the configuration files read so far, and whether something is.
pub(super) fn report_errors(configs: &Configs) -> bool {
    let errors = configs.take_errors();
    for error in &errors {
        terminal::say_refused(error);
    }
    !errors.is_empty()
}

impl InForce {
    fn add_commands(&mut self, database: &Rc<Database>, file: &Path, configs: &Configs) {
        let flags = database.commands.of(file);
        let origin = || Origin::Commands(Rc::clone(database));
        if self.targets.is_none() && !flags.targets.is_empty() {
            self.targets = Some(Sourced { value: flags.targets.clone(), origin: origin() });
        }
        let folders = flags.include.iter().map(|folder| configs.shown(folder));
        self.include.extend(folders.map(|value| Sourced { value, origin: origin() }));
        // Of a command, the last definition of a macro is in force.
        let defines = flags.defines.iter().rev().cloned();
        self.defines.extend(defines.map(|value| Sourced { value, origin: origin() }));
    }

    fn add_scripts(&mut self, macros: Vec<Macro>, configs: &Configs) {
        for found in macros {
            let origin = Origin::Script(display_path(&configs.shown(&found.script)), found.line);
            self.defines.push(Sourced { value: (found.name, found.value), origin });
        }
    }

    fn add_config(&mut self, config: &Rc<Config>) {
        fn all<T: Clone>(sets: &[Set<T>], config: &Rc<Config>) -> impl Iterator<Item = Sourced<T>> {
            let from = |set: &Set<T>| Sourced {
                value: set.value.clone(),
                origin: Origin::Config(Rc::clone(config), set.line),
            };
            sets.iter().map(from).collect::<Vec<_>>().into_iter()
        }
        if self.targets.is_none() {
            self.targets = all(config.targets.as_slice(), config).next();
        }
        if self.bank_size.is_none() {
            self.bank_size = all(config.bank_size.as_slice(), config).next();
        }
        if self.min_share.is_none() {
            self.min_share = all(config.min_share.as_slice(), config).next();
        }
        if self.min_ways.is_none() {
            self.min_ways = all(config.min_ways.as_slice(), config).next();
        }
        self.include.extend(all(&config.include, config));
        self.defines.extend(all(&config.defines, config));
        self.blocks.extend(all(&config.blocks, config));
    }
}
