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
//! | `"utils.h"` | `src/cpu/utils.h`, `src/cuda/utils.h` | the one in the folder named for CUDA, if it has CUDA files |
//! | `<string.h>` | `compat/string.h` | the system's |
//! | `<lib/scan.cuh>` | `include/lib/scan.cuh` | that one |
//! | `<cuda_runtime.h>` | the toolkit's, in a folder of `-I` | nothing: what it says is built in |
//! | `<cub/cub.cuh>`, `"3rdparty/cub/cub.cuh"` | any | the same, but for CUB's own files |
//! | `<lib/scan.cuh>` | the same, one of a thousand headers in `include` | that one, unless it leads to hundreds of others: then `-I` tells |

mod leads;
mod nearest;
mod provided;

use crate::ir::Module;
use crate::preproc::{Includes, Outside};
use crate::source::{FileId, SourceFile, Sources};
use rustc_hash::FxHashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use leads::Leads;
pub(crate) use leads::includes_of_projects;
use nearest::nearest;
pub(crate) use nearest::normalise;
pub use nearest::{Files, NoFiles};
use provided::{CUB, is_of_cub};
pub(crate) use provided::{is_of_host_library, is_provided};

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
    include_dirs: Vec<IncludeDir>,
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
            include_dirs: include_dirs.into_iter().map(IncludeDir::new).collect(),
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
        // A copy of CUB in the project says what is built in, too.
        if is_of_cub(spec) && !from.path.components().any(|part| part.as_os_str() == CUB) {
            return None;
        }
        let beside = from.path.parent().map(|folder| folder.join(spec)).filter(|_| !angled);
        let is_followed = |folder: &IncludeDir, path: &PathBuf| {
            !is_provided(spec) || !folder.is_foreign(self.disk.as_ref()) || self.is_given_path(path)
        };
        let elsewhere = self.include_dirs.iter().filter_map(|folder| {
            let path = folder.path.join(spec);
            is_followed(folder, &path).then_some(path)
        });
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

/// A folder of `-I`.
struct IncludeDir {
    path: PathBuf,
    is_foreign: OnceLock<bool>,
}

impl IncludeDir {
    /// What only a folder of the compiler, the system or the CUDA toolkit holds.
    const SIGNS: [&str; 4] = ["cuda_runtime_api.h", "stdio.h", "cstddef", "cub/version.cuh"];

    fn new(path: PathBuf) -> IncludeDir {
        IncludeDir { path, is_foreign: OnceLock::new() }
    }

    /// Whether it is such a folder. Their headers are written for a compiler, with what only that one understands
    /// (`__global__` is a macro there); what kernels need of them is built in.
    fn is_foreign(&self, disk: &dyn Files) -> bool {
        let holds = |sign: &&str| disk.read(&self.path.join(sign)).is_some();
        *self.is_foreign.get_or_init(|| Self::SIGNS.iter().any(holds))
    }
}

/// Whether it is a name of the compiler, the system, the toolkit, or a library for the host.
fn is_foreign(spec: &Path) -> bool {
    spec.to_str().is_none_or(|spec| is_provided(spec) || is_of_host_library(spec))
}
