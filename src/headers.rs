//! Which file does an `#include` mean, and what is in it?
//!
//! Every file of a run has one [`SourceFile`], whichever way it is reached; every header is
//! lowered once.

use crate::ir::Module;
use crate::preproc::Includes;
use crate::source::{FileId, SourceFile, Sources};
use rustc_hash::FxHashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// Reads headers for the analysis, which does not touch the disk itself.
pub trait Files: Send + Sync {
    /// A file's bytes; `None` when it is not a readable file of reasonable size.
    fn read(&self, path: &Path) -> Option<Vec<u8>>;
}

/// No header can be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> Option<Vec<u8>> {
        None
    }
}

/// A header's items, once someone has lowered it.
type Slot = Arc<OnceLock<Arc<Module>>>;

/// The files of a run, by path.
pub struct Headers {
    sources: Sources,
    disk: Box<dyn Files>,
    include_dirs: Vec<PathBuf>,
    /// Paths as the user gave them, by normalised path.
    given: FxHashMap<PathBuf, PathBuf>,
    files: Mutex<FxHashMap<PathBuf, Option<Arc<SourceFile>>>>,
    modules: Mutex<FxHashMap<(FileId, usize), Slot>>,
}

impl Headers {
    /// Nothing is read yet.
    #[must_use]
    pub fn new(given: &[PathBuf], include_dirs: Vec<PathBuf>, disk: Box<dyn Files>) -> Headers {
        Headers {
            sources: Sources::default(),
            disk,
            include_dirs,
            given: given.iter().map(|path| (normalise(path), path.clone())).collect(),
            files: Mutex::default(),
            modules: Mutex::default(),
        }
    }

    /// Every file that was read so far.
    #[must_use]
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The source file for a path that the user gave.
    pub fn given(&self, path: &Path, bytes: Vec<u8>) -> Arc<SourceFile> {
        let key = normalise(path);
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let known = files.get(&key).cloned().flatten();
        known.unwrap_or_else(|| {
            let file = self.sources.add(path, bytes);
            files.insert(key, Some(Arc::clone(&file)));
            file
        })
    }

    /// Whether the user gave this file himself.
    #[must_use]
    pub fn is_given(&self, file: FileId) -> bool {
        self.is_given_path(&self.sources.get(file).path)
    }

    /// The same of a path.
    #[must_use]
    pub fn is_given_path(&self, path: &Path) -> bool {
        self.given.contains_key(&normalise(path))
    }

    /// A header's items under the settings of this number, lowered by the first who asks. `lower`
    /// must not ask for modules.
    pub fn module(
        &self,
        file: &Arc<SourceFile>,
        settings: usize,
        lower: impl FnOnce(&Arc<SourceFile>) -> Module,
    ) -> Arc<Module> {
        let cell = {
            let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(modules.entry((file.id, settings)).or_default())
        };
        Arc::clone(cell.get_or_init(|| Arc::new(lower(file))))
    }

    fn find(&self, path: &Path) -> Option<Arc<SourceFile>> {
        let key = normalise(path);
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = files.get(&key) {
            return known.clone();
        }
        let shown = self.given.get(&key).unwrap_or(&key);
        let found = self.disk.read(shown).map(|bytes| self.sources.add(shown, bytes));
        files.insert(key, found.clone());
        found
    }
}

impl Includes for Headers {
    fn open(&self, from: &SourceFile, spec: &str, angled: bool) -> Option<Arc<SourceFile>> {
        let beside = from.path.parent().map(|folder| folder.join(spec)).filter(|_| !angled);
        let elsewhere = self.include_dirs.iter().map(|folder| folder.join(spec));
        beside.into_iter().chain(elsewhere).find_map(|path| self.find(&path))
    }
}

/// The path without `.` and `..`, as far as its words tell.
pub fn normalise(path: &Path) -> PathBuf {
    let mut parts: Vec<Component<'_>> = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(parts.last(), Some(Component::Normal(_))) => {
                parts.pop();
            }
            other => parts.push(other),
        }
    }
    parts.iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_file_has_one_name() {
        assert_eq!(normalise(Path::new("./a/../b/c.h")), Path::new("b/c.h"));
        assert_eq!(normalise(Path::new("../a/./b.h")), Path::new("../a/b.h"));
    }
}
