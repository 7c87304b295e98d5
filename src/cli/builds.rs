//! Which `compile_commands.json` tells how a file is built, and if there is none, which build scripts?
//!
//! The one that the user or the nearest `cudalint.toml` names; else the first found where builds usually
//! write it: in the file's folder or one above it, or in a build folder of one of these. The search ends at
//! the root of the repository, outside of one at the working folder. Scripts are looked for in the same
//! folders.

use crate::config::commands::{self, Commands, NAME};
use crate::config::scripts::{Macro, Scripts};
use crate::config::{Configs, WhichCommands};
use crate::source::display_path;
use crate::walk::regular;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// How many files are named in a summary.
const MOST_NAMED: usize = 2;

/// A file that was read.
pub(super) struct Database {
    /// Its path as it is shown.
    pub shown: String,
    /// What it says.
    pub commands: Commands,
}

/// What tells how a file is built.
pub(super) enum Told {
    /// A file that someone named.
    Named(Rc<Database>),
    /// A file that was found.
    Found(Rc<Database>),
    /// The macros that build scripts define.
    Scripts(Vec<Macro>),
}

/// The files of a run, each read once.
pub(super) struct Builds {
    /// What the command line says, which goes before all else.
    asked: WhichCommands,
    home: PathBuf,
    read: RefCell<FxHashMap<PathBuf, Option<Rc<Database>>>>,
    folders: RefCell<FxHashMap<PathBuf, Rc<[Rc<Database>]>>>,
    scripts: Scripts,
    /// Those that were found and are in force for some file.
    used: RefCell<BTreeSet<String>>,
    /// The scripts that define a macro for some file.
    defining: RefCell<BTreeSet<String>>,
    warnings: RefCell<Vec<String>>,
}

impl Builds {
    /// Reads what the command line names. An error is a sentence.
    pub(super) fn new(asked: WhichCommands, configs: &Configs) -> Result<Builds, String> {
        let home = configs.absolute(Path::new("."));
        let builds = Builds {
            asked,
            home,
            read: RefCell::default(),
            folders: RefCell::default(),
            scripts: Scripts::new(Box::new(|path: &Path| regular::text(path).ok())),
            used: RefCell::default(),
            defining: RefCell::default(),
            warnings: RefCell::default(),
        };
        if let WhichCommands::At(path) = &builds.asked {
            let path = database_at(&configs.absolute(path));
            let database = read(&path, configs)?;
            builds.read.borrow_mut().insert(path, Some(Rc::new(database)));
        }
        Ok(builds)
    }

    /// What tells how the file at this absolute path is built.
    pub(super) fn of(&self, file: &Path, configs: &Configs) -> Option<Told> {
        let config = || configs.of(file).iter().find_map(|config| config.compile_commands.clone());
        let which = match &self.asked {
            WhichCommands::Found => config().map_or(WhichCommands::Found, |set| set.value),
            asked => asked.clone(),
        };
        match which {
            WhichCommands::Off => None,
            WhichCommands::At(path) => {
                Some(Told::Named(self.database(&database_at(&configs.absolute(&path)), configs)?))
            }
            WhichCommands::Found => {
                let folder = file.parent()?;
                let all = self.of_folder(folder, configs);
                let own = all.iter().find(|database| database.commands.has(file));
                if let Some(database) = own.or_else(|| all.iter().find(|it| it.commands.has_cuda())) {
                    self.used.borrow_mut().insert(database.shown.clone());
                    return Some(Told::Found(Rc::clone(database)));
                }
                let macros = self.scripts.macros(file, &self.folders_of(folder));
                let scripts = macros.iter().map(|it| display_path(&configs.shown(&it.script)));
                self.defining.borrow_mut().extend(scripts);
                Some(Told::Scripts(macros))
            }
        }
    }

    /// The paths of those that no one named and that are in force for some file.
    pub(super) fn found(&self) -> Vec<String> {
        self.used.borrow().iter().chain(self.defining.borrow().iter()).cloned().collect()
    }

    /// The same, for the end of a summary.
    pub(super) fn words(&self) -> String {
        let mut words = String::new();
        for (what, found) in [("flags", &self.used), ("macros", &self.defining)] {
            let found = found.borrow();
            let shown: Vec<String> = found.iter().take(MOST_NAMED).map(|path| format!("`{path}`")).collect();
            let shown = shown.join(", ");
            match found.len() {
                0 => {}
                1..=MOST_NAMED => words += &format!("; {what} from {shown}"),
                all => words += &format!("; {what} from {shown} and {} more", all - MOST_NAMED),
            }
        }
        words
    }

    /// What could not be read since the last call, and is done without.
    pub(super) fn take_warnings(&self) -> Vec<String> {
        self.warnings.take()
    }

    /// Those that are found for the files of a folder, nearest first.
    fn of_folder(&self, folder: &Path, configs: &Configs) -> Rc<[Rc<Database>]> {
        if let Some(known) = self.folders.borrow().get(folder) {
            return Rc::clone(known);
        }
        let above = folder.parent().filter(|_| !self.ends_at(folder));
        let above = above.map(|above| self.of_folder(above, configs)).unwrap_or_default();
        let own = places(folder).into_iter().filter_map(|path| self.database(&path, configs));
        let found: Rc<[Rc<Database>]> = own.chain(above.iter().cloned()).collect();
        self.folders.borrow_mut().insert(folder.to_path_buf(), Rc::clone(&found));
        found
    }

    /// Whether the search for the files of a folder goes no further up.
    fn ends_at(&self, folder: &Path) -> bool {
        folder.join(".git").exists() || folder == self.home && !is_in_repository(folder)
    }

    /// A folder and those above it in which its build scripts may lie. What lies above the working folder
    /// and belongs to no repository is not the project's.
    fn folders_of(&self, folder: &Path) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for folder in folder.ancestors() {
            found.push(folder.to_path_buf());
            if self.ends_at(folder) {
                return found;
            }
        }
        found.truncate(1);
        found
    }

    fn database(&self, path: &Path, configs: &Configs) -> Option<Rc<Database>> {
        if let Some(known) = self.read.borrow().get(path) {
            return known.clone();
        }
        let found = match read(path, configs) {
            Ok(database) => Some(Rc::new(database)),
            Err(error) => {
                self.warnings.borrow_mut().push(format!("{error}; it is ignored"));
                None
            }
        };
        self.read.borrow_mut().insert(path.to_path_buf(), found.clone());
        found
    }
}

fn is_in_repository(folder: &Path) -> bool {
    folder.ancestors().any(|folder| folder.join(".git").exists())
}

/// The file that a user names by itself or by its folder.
fn database_at(path: &Path) -> PathBuf {
    if path.is_dir() { path.join(NAME) } else { path.to_path_buf() }
}

/// The files of this name in a folder and in its build folders, the likeliest first.
fn places(folder: &Path) -> Vec<PathBuf> {
    let mut builds: Vec<PathBuf> =
        folders_in(folder).into_iter().filter(|path| is_build_folder(path)).collect();
    builds.sort_by_key(|path| (!path.ends_with("build"), path.clone()));
    // One for each configuration: `build/debug`, `out/build/x64-release`.
    let deeper: Vec<PathBuf> = builds.iter().flat_map(|build| folders_in(build)).collect();
    let deepest = deeper.iter().filter(|path| path.ends_with("build")).flat_map(|build| folders_in(build));
    let all = [folder.to_path_buf()].into_iter().chain(builds.clone()).chain(deeper.clone()).chain(deepest);
    all.map(|folder| folder.join(NAME)).filter(|path| path.is_file()).collect()
}

fn is_build_folder(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ["out", "_build", ".build"].contains(&name.as_ref())
        || ["build", "cmake-build"].iter().any(|start| name.starts_with(start))
}

/// The folders in a folder, by name.
fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|it| it.is_dir() || it.is_symlink()));
    let mut paths: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Reads a file; an error is a sentence.
fn read(path: &Path, configs: &Configs) -> Result<Database, String> {
    let shown = configs.shown(path);
    let text = regular::text(&shown).map_err(|problem| problem.to_string())?;
    let shown = display_path(&shown);
    let commands = Commands::read(&text, &Around(configs))
        .map_err(|error| format!("`{shown}` has no compile commands: {error}"))?;
    Ok(Database { shown, commands })
}

struct Around<'a>(&'a Configs);

impl commands::Surroundings for Around<'_> {
    fn absolute(&self, path: &Path) -> PathBuf {
        self.0.absolute(path)
    }

    fn options_file(&self, path: &Path) -> Option<String> {
        regular::text(path).ok()
    }
}
