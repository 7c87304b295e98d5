//! What do `cudalint.toml` files say about a file?
//!
//! A file is under every `cudalint.toml` of its folder and the folders above. Of a single value the
//! nearest is in force; lists and tables add up, the nearest first.
//!
//! Invariant: where there is no such file, nothing is done but asking for it once per folder. Files are
//! read by whoever makes [`Configs`], not here.

pub mod commands;
mod error;
mod patterns;
mod schema;
pub mod scripts;
mod written;

pub use error::Error;
pub use patterns::Patterns;
pub use schema::schema;
pub use written::TEMPLATE;

use crate::diagnostic::Level;
use crate::headers::normalise;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::io;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// The name of the file.
pub const NAME: &str = "cudalint.toml";

/// The words for how findings are printed.
pub const FORMATS: [&str; 9] =
    ["text", "short", "json", "sarif", "github", "gitlab", "junit", "markdown", "html"];
/// The words for their order.
pub const SORTS: [&str; 2] = ["path", "cost"];

/// How many files may extend each other in a row: links could make it go on for ever.
const MOST_EXTENDED: usize = 16;

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
    /// The file that it extends.
    extends: Option<Extends>,
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
    /// The findings that are left out. This and the next three are of runs, not of files.
    pub baseline: Option<Set<PathBuf>>,
    /// How findings are printed, one of [`FORMATS`].
    pub format: Option<Set<String>>,
    /// In which order, one of [`SORTS`].
    pub sort: Option<Set<String>>,
    /// How many of them at most.
    pub top: Option<Set<NonZeroUsize>>,
    /// Macros.
    pub defines: Vec<Set<(String, String)>>,
    /// Block shapes, of one kernel or of all.
    pub blocks: Vec<Set<(Option<String>, [u32; 3])>>,
    /// Files not to be checked, as written.
    pub exclude: Vec<Set<String>>,
    excluded: Patterns,
    levels: Vec<Set<(String, Level)>>,
    paths: Vec<PathLevels>,
}

/// Another file, and where it is named.
#[derive(Clone, Debug)]
struct Extends {
    /// Its absolute path.
    path: PathBuf,
    /// The text of the file that names it.
    text: String,
    /// Where in that.
    span: Range<usize>,
}

/// Levels of some files.
#[derive(Debug)]
struct PathLevels {
    files: Patterns,
    levels: Vec<Set<(String, Level)>>,
}

impl Config {
    /// Reads the text of a file at this absolute path.
    ///
    /// # Errors
    /// When it is not understood: what is wrong, and in which line.
    pub fn parse(text: &str, path: &Path) -> Result<Config, Error> {
        let folder = path.parent().unwrap_or(path);
        written::read(&written::File { text, path, base: folder, folder }, &Path::to_path_buf)
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
        let of_path = self.paths.iter().rev().filter(|it| it.files.match_below(file, false));
        of_path.filter_map(|it| says(&it.levels)).next().or_else(|| says(&self.levels))
    }

    /// Whether a file or folder is not to be checked.
    #[must_use]
    pub fn excludes(&self, path: &Path, folder: bool) -> bool {
        self.excluded.match_below(path, folder)
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

    /// The files that a run is under, nearest first: those of the working folder.
    pub fn of_run(&self) -> Rc<[Rc<Config>]> {
        self.of_folder(&self.home)
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
        let own = self.read(folder).unwrap_or_else(|error| {
            let mut errors = self.errors.borrow_mut();
            // Several files may extend the one that is wrong.
            if !errors.contains(&error) {
                errors.push(error);
            }
            Vec::new()
        });
        let found: Rc<[Rc<Config>]> = if own.is_empty() {
            above
        } else {
            // One that is extended and in force anyway comes where it would come anyway.
            let comes_anyway = |config: &Rc<Config>| above.iter().any(|other| other.path == config.path);
            let extended = own.iter().skip(1).filter(|config| !comes_anyway(config));
            own.iter().take(1).chain(extended).chain(above.iter()).cloned().collect()
        };
        self.folders.borrow_mut().insert(folder.to_path_buf(), Rc::clone(&found));
        found
    }

    /// The file of a folder and those that it extends, nearest first; none where there is no file.
    fn read(&self, folder: &Path) -> Result<Vec<Rc<Config>>, Error> {
        let mut found: Vec<Rc<Config>> = Vec::new();
        let mut path = folder.join(NAME);
        let mut named_by: Option<(PathBuf, Extends)> = None;
        loop {
            let shown = self.shown(&path);
            let text = match ((self.reader)(&path), &named_by) {
                (Ok(Some(text)), _) => text,
                (Ok(None), None) => return Ok(found),
                (Ok(None), Some((by, extends))) => {
                    let help = "the path is relative to the folder of the file it is in";
                    let message = format!("there is no file `{}`", shown.display());
                    return Err(Error { help: Some(help.to_owned()), ..extends.error(by, message) });
                }
                (Err(error), None) => return Err(Error::unreadable(&shown, &error)),
                (Err(error), Some((by, extends))) => {
                    return Err(extends.error(by, format!("cannot read `{}`: {error}", shown.display())));
                }
            };
            let base = path.parent().unwrap_or(folder);
            let file = written::File { text: &text, path: &shown, base, folder };
            let config = written::read(&file, &|path| self.shown(path))?;
            let extends = config.extends.clone();
            found.push(Rc::new(config));
            let Some(extends) = extends else { return Ok(found) };
            let next = self.shown(&extends.path);
            let mut met: Vec<String> = found.iter().map(|config| config.path.display().to_string()).collect();
            if let Some(first) = found.iter().position(|config| config.path == next) {
                met.push(next.display().to_string());
                let circle = met.get(first..).unwrap_or_default().join("` extends `");
                let message = format!("the files extend each other in a circle: `{circle}`");
                return Err(extends.error(&shown, message));
            }
            if found.len() > MOST_EXTENDED {
                let message = format!("more than {MOST_EXTENDED} files extend each other");
                return Err(extends.error(&shown, message));
            }
            path.clone_from(&extends.path);
            named_by = Some((shown, extends));
        }
    }
}

impl Extends {
    /// What is wrong with it, named in this file.
    fn error(&self, by: &Path, message: String) -> Error {
        let (file, text) = (by.display().to_string(), self.text.clone());
        Error { file, text, span: self.span.clone(), message, help: None }
    }
}

#[cfg(test)]
mod tests;
