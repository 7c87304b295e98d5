//! What is a file called, wherever the program is run from and however the file is given?
//!
//! By its path from the root of the repository; outside of one from the folder of the baseline or, where there
//! is none, from the working folder.

use crate::source::display_path;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::path::{Component, Path, PathBuf};

/// Names files.
pub(super) struct Names {
    /// The folder of the baseline, or the working folder.
    folder: PathBuf,
    known: RefCell<FxHashMap<PathBuf, String>>,
}

impl Names {
    /// Names for a baseline at this path; without one, for what is written in the working folder.
    pub(super) fn new(baseline: Option<&Path>) -> Names {
        let folder = baseline.and_then(Path::parent).filter(|folder| !folder.as_os_str().is_empty());
        Names { folder: real(folder.unwrap_or(Path::new("."))), known: RefCell::default() }
    }

    /// The name of a file, with `/` between its parts.
    pub(super) fn of(&self, path: &Path) -> String {
        if let Some(known) = self.known.borrow().get(path) {
            return known.clone();
        }
        let name = display_path(&self.find(&real(path)));
        self.known.borrow_mut().insert(path.to_path_buf(), name.clone());
        name
    }

    fn find(&self, path: &Path) -> PathBuf {
        // A file of a submodule is called by its path from the repository around it, where the baseline is.
        let around = repository(&self.folder).filter(|root| path.starts_with(root));
        let root = around.or_else(|| repository(path.parent()?));
        match root.and_then(|root| path.strip_prefix(root).ok()) {
            Some(name) => name.to_path_buf(),
            None => from(&self.folder, path),
        }
    }
}

/// The root of the repository that a folder lies in.
fn repository(folder: &Path) -> Option<&Path> {
    folder.ancestors().find(|folder| folder.join(".git").exists())
}

/// The path from the root, without symbolic links as far as it exists.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new(".")).canonicalize();
        let name = path.file_name().map(PathBuf::from).unwrap_or_default();
        folder.map_or_else(|_| path.to_path_buf(), |folder| folder.join(name))
    })
}

/// The path of a file from a folder that it does not lie in.
fn from(folder: &Path, file: &Path) -> PathBuf {
    let shared = folder.components().zip(file.components()).take_while(|(a, b)| a == b).count();
    let up = folder.components().skip(shared).map(|_| Component::ParentDir);
    up.chain(file.components().skip(shared)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_goes_up_as_far_as_it_must() {
        assert_eq!(from(Path::new("/a/b/c"), Path::new("/a/d/e.cu")), Path::new("../../d/e.cu"));
        assert_eq!(from(Path::new("/a"), Path::new("/b.cu")), Path::new("../b.cu"));
    }
}
