//! What do `cudalint.toml` files say about a file?
//!
//! A file is under every `cudalint.toml` of its folder and the folders above. Of a single value the
//! nearest is in force; lists and tables add up, the nearest first.
//!
//! Invariant: where there is no such file, nothing is done but asking for it once per folder. Files are
//! read by whoever makes [`Configs`], not here.

pub mod commands;
mod error;
mod written;

pub use error::Error;
pub use written::TEMPLATE;

use crate::diagnostic::Level;
use crate::headers::normalise;
use ignore::gitignore::Gitignore;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The name of the file.
pub const NAME: &str = "cudalint.toml";

/// A value and the line it is on, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Set<T> {
    /// The value.
    pub value: T,
    /// The line.
    pub line: usize,
}

/// Where the compile commands of a file are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WhichCommands {
    /// Where builds usually write them.
    Found,
    /// There, which is a file or its folder.
    At(PathBuf),
    /// They are not to be looked at.
    Off,
}

/// What one file says.
#[derive(Debug)]
pub struct Config {
    /// The file's path, as it is shown.
    pub path: PathBuf,
    /// Its folder, absolute.
    folder: PathBuf,
    /// Devices to judge for.
    pub targets: Option<Set<Vec<String>>>,
    /// Width of a bank in bytes.
    pub bank_size: Option<Set<u8>>,
    /// The least share of its kernel, in percent, that a bank conflict has to cost.
    pub min_share: Option<Set<u8>>,
    /// The fewest ways that a bank conflict has to have.
    pub min_ways: Option<Set<u32>>,
    /// Folders in which `#include` looks.
    pub include: Vec<Set<PathBuf>>,
    /// Which compile commands its files are under.
    pub compile_commands: Option<Set<WhichCommands>>,
    /// Macros.
    pub defines: Vec<Set<(String, String)>>,
    /// Block shapes, of one kernel or of all.
    pub blocks: Vec<Set<(Option<String>, [u32; 3])>>,
    /// Files not to be checked, as written.
    pub exclude: Vec<Set<String>>,
    excluded: Gitignore,
    levels: Vec<Set<(String, Level)>>,
    paths: Vec<PathLevels>,
}

/// Levels of some files.
#[derive(Debug)]
struct PathLevels {
    files: Gitignore,
    levels: Vec<Set<(String, Level)>>,
}

impl Config {
    /// Reads the text of a file at this absolute path.
    ///
    /// # Errors
    /// When it is not understood: what is wrong, and in which line.
    pub fn parse(text: &str, path: &Path) -> Result<Config, Error> {
        written::read(text, path.parent().unwrap_or(path), path, &Path::to_path_buf)
    }

    /// The folder that it is about, absolute.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The level of a rule in a file, if this says one.
    #[must_use]
    pub fn level(&self, file: &Path, rule: &str) -> Option<Set<Level>> {
        let says = |levels: &[Set<(String, Level)>]| {
            let named = |name: &str| levels.iter().find(|set| set.value.0 == name);
            named(rule).or_else(|| named("all")).map(|set| Set { value: set.value.1, line: set.line })
        };
        let of_path = self.paths.iter().rev().filter(|it| self.matches(&it.files, file, false));
        of_path.filter_map(|it| says(&it.levels)).next().or_else(|| says(&self.levels))
    }

    /// Whether a file or folder is not to be checked.
    #[must_use]
    pub fn excludes(&self, path: &Path, folder: bool) -> bool {
        self.matches(&self.excluded, path, folder)
    }

    fn matches(&self, globs: &Gitignore, path: &Path, folder: bool) -> bool {
        // Without a pattern, or of a path elsewhere, it must not be asked: it would panic.
        !globs.is_empty()
            && path.starts_with(&self.folder)
            && globs.matched_path_or_any_parents(path, folder).is_ignore()
    }
}

/// Reads a file: its text, or `None` when there is none of that name.
pub type Reader = dyn Fn(&Path) -> io::Result<Option<String>>;

/// The configuration files of a run, each read once.
pub struct Configs {
    home: PathBuf,
    reader: Box<Reader>,
    folders: RefCell<FxHashMap<PathBuf, Rc<[Rc<Config>]>>>,
    errors: RefCell<Vec<Error>>,
}

impl Configs {
    /// Those that `reader` finds; relative paths are from `home`, the working folder.
    #[must_use]
    pub fn new(home: PathBuf, reader: Box<Reader>) -> Configs {
        Configs { home, reader, folders: RefCell::default(), errors: RefCell::default() }
    }

    /// The files that a file or folder is under, nearest first.
    pub fn of(&self, path: &Path) -> Rc<[Rc<Config>]> {
        let path = self.absolute(path);
        self.of_folder(path.parent().unwrap_or(&path))
    }

    /// What was wrong with the files read since the last call.
    pub fn take_errors(&self) -> Vec<Error> {
        self.errors.take()
    }

    /// The path from the root, without `.` and `..`.
    pub fn absolute(&self, path: &Path) -> PathBuf {
        if path.is_absolute() { normalise(path) } else { normalise(&self.home.join(path)) }
    }

    /// The path as it is shown: relative when it lies below the working folder.
    pub fn shown(&self, path: &Path) -> PathBuf {
        let path = self.absolute(path);
        path.strip_prefix(&self.home).map_or_else(|_| path.clone(), Path::to_path_buf)
    }

    fn of_folder(&self, folder: &Path) -> Rc<[Rc<Config>]> {
        if let Some(known) = self.folders.borrow().get(folder) {
            return Rc::clone(known);
        }
        let above = folder.parent().map(|above| self.of_folder(above)).unwrap_or_default();
        let found = match self.read(folder) {
            Some(own) => std::iter::once(Rc::new(own)).chain(above.iter().cloned()).collect(),
            None => above,
        };
        self.folders.borrow_mut().insert(folder.to_path_buf(), Rc::clone(&found));
        found
    }

    fn read(&self, folder: &Path) -> Option<Config> {
        let path = folder.join(NAME);
        let shown = self.shown(&path);
        let config = match (self.reader)(&path) {
            Ok(text) => written::read(&text?, folder, &shown, &|path| self.shown(path)),
            Err(error) => Err(Error::unreadable(&shown, &error)),
        };
        config.map_err(|error| self.errors.borrow_mut().push(error)).ok()
    }
}

#[cfg(test)]
mod tests;
