//! How does a file that the user named get new bytes, and nothing else of the disk?
//!
//! A name may lead elsewhere: in a folder that others filled, `a.cu` may be a symbolic link to a file of
//! another project, or become one while the analysis runs. So a file is written only if it is reached
//! without any link below where the user stands, and it is *replaced*: the bytes go into a new file beside
//! it, with its permissions and owner, which then takes its name in one step. Whoever reads the name sees
//! the old file or the new one, and a link that has come to the name meanwhile is replaced, not followed.
//!
//! | the user gives | links are looked for in |
//! |---|---|
//! | `src`, `src/a.cu`, also as an absolute path below the working folder | all of the path below the working folder |
//! | `/home/me/src`, `../src` | the last part of that, and all that a walk found below it |
//!
//! So a link that is named is not followed either: a pattern, a shell or a hook may have named it.

#[cfg(any(not(unix), test))]
mod portable;
#[cfg(unix)]
mod unix;

#[cfg(not(unix))]
use portable::{Place, Staged};
#[cfg(unix)]
use unix::{Place, Staged};

use super::terminal;
use crate::walk;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use thiserror::Error;

/// Why a file is not written.
#[derive(Debug, Error)]
pub(super) enum Refusal {
    /// A part of the path, perhaps all of it, is a symbolic link.
    #[error("`{}` is a symbolic link; give what it leads to", .0.display())]
    Link(PathBuf),
    /// A pipe, a device, a folder.
    #[error("it is not a regular file")]
    NotRegular,
    /// Nobody may write it.
    #[error("it is read-only")]
    ReadOnly,
    /// The bytes are not those that the new ones were made from.
    #[error("it has changed since it was read")]
    Changed,
    /// The new file would belong to another group.
    #[cfg(unix)]
    #[error("its group cannot be kept")]
    Group,
    /// The system would not let us.
    #[error("{0}")]
    System(#[from] io::Error),
}

/// Files by path: old and new bytes.
pub(super) type Rewritten = BTreeMap<PathBuf, (Vec<u8>, Vec<u8>)>;

/// Where the user stands and what was named from there.
pub(super) struct Named<'a> {
    home: PathBuf,
    arguments: &'a [PathBuf],
}

impl Named<'_> {
    /// From the working folder.
    pub(super) fn new(arguments: &[PathBuf]) -> Named<'_> {
        Named { home: std::env::current_dir().unwrap_or_default(), arguments }
    }

    /// Whether a file, by the path that an argument led to, may be replaced.
    pub(super) fn check(&self, path: &Path) -> Result<(), Refusal> {
        self.place(path).map(|_| ())
    }

    fn place(&self, path: &Path) -> Result<Place, Refusal> {
        let (from, below) = self.split(path);
        Place::find(&from, &below)
    }

    /// The folder from which links are looked for, and the path from there.
    fn split(&self, path: &Path) -> (PathBuf, PathBuf) {
        let is_plain = |path: &Path| path.components().all(|it| matches!(it, Component::Normal(_)));
        let bare = path.strip_prefix(".").unwrap_or(path);
        if is_plain(bare) {
            return (PathBuf::from("."), bare.to_path_buf());
        }
        if let Ok(below) = path.strip_prefix(&self.home)
            && is_plain(below)
        {
            return (self.home.clone(), below.to_path_buf());
        }
        // Of an argument the parts above its last one are the user's business, and so is what is no name.
        let trusted = |argument: &PathBuf| {
            let argument = walk::literal(argument);
            let named = matches!(argument.components().next_back(), Some(Component::Normal(_)));
            let from = if named { argument.parent()? } else { &argument };
            let below = path.strip_prefix(from).ok().filter(|below| is_plain(below))?;
            Some((from.to_path_buf(), below.to_path_buf()))
        };
        let ways = self.arguments.iter().filter_map(trusted);
        let own = || {
            let from = path.parent().unwrap_or(path).to_path_buf();
            (from, path.file_name().map(PathBuf::from).unwrap_or_default())
        };
        // The one that trusts least.
        ways.min_by_key(|(from, _)| from.components().count()).unwrap_or_else(own)
    }

    /// Replaces the bytes of files; says on stderr which could not be.
    pub(super) fn write(&self, files: &Rewritten) -> bool {
        let pairs = files.iter().map(|(path, (old, new))| (path.as_path(), old.as_slice(), new.as_slice()));
        let written = self.replace(pairs);
        if let Err((path, refusal)) = &written {
            terminal::say_error(&format!("cannot write `{}`: {refusal}", path.display()));
        }
        written.is_ok()
    }

    /// Replaces the bytes of files, old by new, each only if it still has the old ones. Nothing is replaced
    /// unless everything can be made ready; an error says which file could not.
    fn replace<'f>(
        &self,
        files: impl Iterator<Item = (&'f Path, &'f [u8], &'f [u8])>,
    ) -> Result<(), (PathBuf, Refusal)> {
        let mut ready: Vec<(&Path, Staged)> = Vec::new();
        for (path, old, new) in files {
            let staged = self.place(path).and_then(|place| place.stage(old, new));
            ready.push((path, staged.map_err(|refusal| (path.to_path_buf(), refusal))?));
        }
        for (path, staged) in ready {
            staged.commit().map_err(|refusal| (path.to_path_buf(), refusal))?;
        }
        Ok(())
    }
}

/// Names for the new files until they take the others', none twice: hidden, so that no walk takes them for
/// sources.
fn temporary_names() -> impl Iterator<Item = String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let next = || NUMBER.fetch_add(1, Ordering::Relaxed);
    // Some may be left from a run that was killed.
    std::iter::repeat_with(next).take(100).map(|number| format!(".cudalint-{}-{number}", std::process::id()))
}

#[cfg(test)]
mod tests;
