//! Which file does an `#include` mean, and what is in it?
//!
//! Every file of a run has one [`SourceFile`], whichever way it is reached; every header is
//! lowered once for all files that define the same before it.
//!
//! A header that is neither beside the file that includes it nor in a folder of `-I` is looked for
//! among the headers below the folders that the user gave: a build hands its compiler paths that the
//! text does not tell, but a name that only one file has, or one file nearer than any other, leaves no
//! choice.
//!
//! | `src/gemm/a.cu` says | files | means |
//! |---|---|---|
//! | `"utils.cuh"` | `include/utils.cuh` | that one |
//! | `"utils.cuh"` | `src/lib/utils.cuh`, `test/utils.cuh` | the one in `src`, which is nearer |
//! | `"utils.cuh"` | `src/lib/utils.cuh`, `src/old/utils.cuh` | neither: the text does not tell |
//! | `<string.h>` | `compat/string.h` | the system's |
//! | `<lib/scan.cuh>` | `include/lib/scan.cuh` | that one |
//! | `<lib/scan.cuh>` | the same, one of a thousand headers in `include` | that one, unless it leads to hundreds of others: then `-I` tells |

mod leads;
mod provided;

use crate::ir::Module;
use crate::preproc::{Includes, Outside};
use crate::source::{FileId, SourceFile, Sources};
use rustc_hash::FxHashMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use leads::Leads;
pub(crate) use provided::{is_of_host_library, is_provided};

/// Reads headers for the analysis, which does not touch the disk itself.
pub trait Files: Send + Sync {
    /// A file's bytes; `None` when it is not a readable file of reasonable size.
    fn read(&self, path: &Path) -> Option<Vec<u8>>;

    /// The headers of this name below the folders that the user gave.
    fn named(&self, _name: &OsStr) -> &[PathBuf] {
        &[]
    }

    /// How many headers are below a folder, among those that the user gave.
    fn headers_below(&self, _folder: &Path) -> usize {
        0
    }

    /// The path of a header as it is shown that an include led to.
    fn shown(&self, path: &Path) -> PathBuf {
        normalise(path)
    }

    /// What a path is called by whichever way it is written: two paths to one file have one key.
    fn key(&self, path: &Path) -> PathBuf {
        normalise(path)
    }
}

/// No header can be read.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFiles;

impl Files for NoFiles {
    fn read(&self, _: &Path) -> Option<Vec<u8>> {
        None
    }
}

/// The most headers in a folder that a build would hand to its compiler, so that all includes with a path
/// lead there unasked. In a larger one only headers are followed that lead to few others: the thousand files
/// of CUTLASS, most of which lead to hundreds, would take minutes instead of seconds.
const MOST_HEADERS: usize = 512;

/// A header's items, once someone has lowered it.
type Slot = Arc<OnceLock<Arc<Module>>>;

/// What decides what a file's items are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Reading {
    /// The file.
    pub file: FileId,
    /// The number of the settings in force.
    pub settings: usize,
    /// What a header sees of the definitions before it.
    pub outside: Outside,
}

/// The files of a run, by path.
pub(crate) struct Headers {
    sources: Sources,
    disk: Box<dyn Files>,
    include_dirs: Vec<PathBuf>,
    /// Paths as the user gave them, by their keys.
    given: FxHashMap<PathBuf, PathBuf>,
    files: Mutex<FxHashMap<PathBuf, Option<Arc<SourceFile>>>>,
    modules: Mutex<FxHashMap<Reading, Slot>>,
    leads: Leads,
}

impl Headers {
    /// Nothing is read yet; `sources` may know files of an earlier run.
    #[must_use]
    pub(crate) fn new(
        given: &[PathBuf],
        include_dirs: Vec<PathBuf>,
        disk: Box<dyn Files>,
        sources: Sources,
    ) -> Headers {
        Headers {
            sources,
            given: given.iter().map(|path| (disk.key(path), path.clone())).collect(),
            disk,
            include_dirs,
            files: Mutex::default(),
            modules: Mutex::default(),
            leads: Leads::default(),
        }
    }

    /// Every file that was read so far.
    #[must_use]
    pub(crate) fn sources(&self) -> &Sources {
        &self.sources
    }

    /// The files that were met, by the path that they are shown with.
    pub(crate) fn met(&self) -> FxHashMap<PathBuf, Arc<SourceFile>> {
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.values().flatten().map(|file| (file.path.clone(), Arc::clone(file))).collect()
    }

    /// The source file for a path that the user gave.
    pub(crate) fn given(&self, path: &Path, bytes: Vec<u8>) -> Arc<SourceFile> {
        let key = self.disk.key(path);
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
    pub(crate) fn is_given(&self, file: FileId) -> bool {
        self.is_given_path(&self.sources.get(file).path)
    }

    /// The same of a path.
    #[must_use]
    pub(crate) fn is_given_path(&self, path: &Path) -> bool {
        self.given.contains_key(&self.disk.key(path))
    }

    /// A file's items, lowered by the first who asks. `lower` must not ask for modules.
    pub(crate) fn module(&self, reading: Reading, lower: impl FnOnce() -> Arc<Module>) -> Arc<Module> {
        let cell = {
            let mut modules = self.modules.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(modules.entry(reading).or_default())
        };
        Arc::clone(cell.get_or_init(lower))
    }

    fn find(&self, path: &Path) -> Option<Arc<SourceFile>> {
        let key = self.disk.key(path);
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = files.get(&key) {
            return known.clone();
        }
        let shown = self.given.get(&key).cloned().unwrap_or_else(|| self.disk.shown(path));
        let found = self.disk.read(&shown).map(|bytes| self.sources.add(&shown, bytes));
        files.insert(key, found.clone());
        found
    }
}

impl Includes for Headers {
    fn open(&self, from: &SourceFile, spec: &str, angled: bool) -> Option<Arc<SourceFile>> {
        let beside = from.path.parent().map(|folder| folder.join(spec)).filter(|_| !angled);
        let elsewhere = self.include_dirs.iter().map(|folder| folder.join(spec));
        let found = beside.into_iter().chain(elsewhere).find_map(|path| self.find(&path));
        let spec = Path::new(spec);
        let is_bare = spec.file_name() == Some(spec.as_os_str());
        if found.is_none() && angled && is_bare && is_foreign(spec) {
            return None;
        }
        let disk = self.disk.as_ref();
        let is_small = |path: &Path| self.leads.to_few(disk, path);
        found.or_else(|| self.find(nearest(disk, &from.path, spec, &is_small)?))
    }
}

/// Whether it is a name of the compiler, the system, the toolkit, or a library for the host.
fn is_foreign(spec: &Path) -> bool {
    spec.to_str().is_none_or(|spec| is_provided(spec) || is_of_host_library(spec))
}

/// The header that an include surely means although no folder of `-I` leads to it. One in a large folder has to
/// be `small`.
fn nearest<'a>(
    disk: &'a dyn Files,
    from: &Path,
    spec: &Path,
    small: &dyn Fn(&Path) -> bool,
) -> Option<&'a Path> {
    let from = disk.key(from);
    let shared = |path: &Path| {
        let path = disk.key(path);
        path.components().zip(from.components()).take_while(|(a, b)| a == b).count()
    };
    let spec = normalise(spec);
    let spec: PathBuf = spec.components().filter(|part| *part != Component::ParentDir).collect();
    let named = disk.named(spec.file_name()?).iter().map(PathBuf::as_path);
    let depth = spec.components().count();
    let is_large = |path: &Path| {
        let folder = path.ancestors().nth(depth);
        depth > 1 && folder.is_some_and(|folder| disk.headers_below(folder) > MOST_HEADERS)
    };
    let all = named.filter(|path| path.ends_with(&spec) && (!is_large(path) || small(path)));
    let mut by_distance: Vec<(usize, &Path)> = all.map(|path| (shared(path), path)).collect();
    by_distance.sort_unstable_by(|a, b| b.cmp(a));
    match by_distance.as_slice() {
        [(_, only)] => Some(only),
        [(near, first), (far, _), ..] if near > far => Some(first),
        _ => None,
    }
}

/// The path without `.` and `..`, as far as its words tell.
pub(crate) fn normalise(path: &Path) -> PathBuf {
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

    /// Headers by name alone.
    struct Named(Vec<PathBuf>);

    impl Files for Named {
        fn read(&self, _: &Path) -> Option<Vec<u8>> {
            None
        }

        fn named(&self, _: &OsStr) -> &[PathBuf] {
            &self.0
        }
    }

    #[test]
    fn a_path_is_found_wherever_it_ends_in_the_same_way() {
        let disk = Named(vec!["p/include/lib/u.cuh".into(), "p/other/u.cuh".into()]);
        let meant = |spec: &str| nearest(&disk, Path::new("p/src/a.cu"), Path::new(spec), &|_| false);
        assert_eq!(meant("lib/u.cuh"), Some(Path::new("p/include/lib/u.cuh")));
        assert_eq!(meant("../lib/u.cuh"), Some(Path::new("p/include/lib/u.cuh")));
        assert_eq!(meant("b/u.cuh"), None);
        assert_eq!(meant("u.cuh"), None, "either could be meant");
    }

    #[test]
    fn a_header_that_no_option_leads_to_is_the_only_or_the_nearest_of_its_name() {
        let meant = |files: &[&str]| {
            let disk = Named(files.iter().map(PathBuf::from).collect());
            let found = nearest(&disk, Path::new("p/src/gemm/a.cu"), Path::new("u.cuh"), &|_| false);
            found.map(|path| path.to_string_lossy().into_owned())
        };
        assert_eq!(meant(&["p/include/u.cuh"]).as_deref(), Some("p/include/u.cuh"));
        assert_eq!(meant(&["p/test/u.cuh", "p/src/lib/u.cuh"]).as_deref(), Some("p/src/lib/u.cuh"));
        assert_eq!(meant(&["p/src/old/u.cuh", "p/src/lib/u.cuh"]), None);
        assert_eq!(meant(&[]), None);
    }
}
