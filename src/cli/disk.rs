//! What is in the files: on disk, or as they are to be taken instead?

use crate::analysis::Files;
use crate::headers::normalise;
use crate::walk::{self, Candidate, Problem, regular};
use rustc_hash::FxHashMap;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};

/// Files whose bytes are not those on disk; `None` for one that is not to be there.
pub(super) type Overlay = FxHashMap<PathBuf, Option<Vec<u8>>>;

/// Reads the files of a run, and the headers that includes lead to.
#[derive(Default)]
pub(super) struct Disk {
    /// The working folder.
    home: PathBuf,
    by_name: FxHashMap<OsString, Vec<PathBuf>>,
    /// The CUDA files among them.
    sources: Vec<PathBuf>,
    /// How many of these headers are below a folder.
    headers: FxHashMap<PathBuf, usize>,
    /// By key.
    overlay: Overlay,
    /// Whether some paths are given from the root and others from the working folder.
    mixed: bool,
}

impl Disk {
    /// Knows the names of these files, whether or not they hold CUDA. `home` is the working folder.
    pub(super) fn with(home: &Path, candidates: &[Candidate], overlay: &Overlay) -> Disk {
        let mut by_name: FxHashMap<OsString, Vec<PathBuf>> = FxHashMap::default();
        let mut headers: FxHashMap<PathBuf, usize> = FxHashMap::default();
        let mut sources = Vec::new();
        for path in candidates.iter().map(|candidate| &candidate.path) {
            if let Some(name) = path.file_name() {
                by_name.entry(name.to_owned()).or_default().push(path.clone());
            }
            if path.extension().is_some_and(|extension| extension == "cu") {
                sources.push(path.clone());
            } else if !walk::is_host_source(path) {
                for folder in path.ancestors().skip(1) {
                    match headers.get_mut(folder) {
                        Some(count) => *count += 1,
                        None => _ = headers.insert(folder.to_path_buf(), 1),
                    }
                }
            }
        }
        let absolute = candidates.iter().filter(|candidate| candidate.path.is_absolute()).count();
        let mut disk = Disk { home: home.to_path_buf(), by_name, sources, headers, ..Disk::default() };
        disk.mixed = absolute > 0 && absolute < candidates.len();
        disk.overlay = overlay.iter().map(|(path, bytes)| (disk.key(path), bytes.clone())).collect();
        disk
    }

    /// The bytes of a candidate; `None` when it turns out not to be CUDA.
    pub(super) fn bytes(&self, candidate: &Candidate) -> Result<Option<Vec<u8>>, Problem> {
        match self.overlay.get(&self.key(&candidate.path)) {
            Some(bytes) => Ok(bytes.clone().filter(|bytes| walk::is_wanted(candidate, bytes))),
            None => walk::read(candidate),
        }
    }
}

impl Files for Disk {
    fn named(&self, name: &OsStr) -> &[PathBuf] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    fn sources(&self) -> &[PathBuf] {
        &self.sources
    }

    fn headers_below(&self, folder: &Path) -> usize {
        self.headers.get(folder).copied().unwrap_or(0)
    }

    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        self.bytes(&Candidate::header(path)).ok().flatten()
    }

    fn key(&self, path: &Path) -> PathBuf {
        normalise(&self.home.join(path))
    }

    fn shown(&self, path: &Path) -> PathBuf {
        if !self.mixed {
            return normalise(path);
        }
        // Which file leads to a header first is a matter of chance.
        let path = self.key(path);
        path.strip_prefix(&self.home).map_or_else(|_| path.clone(), Path::to_path_buf)
    }
}

/// The text of a file; `None` when nothing has that name.
pub(super) fn text(path: &Path) -> io::Result<Option<String>> {
    // A link that leads nowhere is something.
    if path.symlink_metadata().is_err() {
        return Ok(None);
    }
    match regular::text(path) {
        Ok(text) => Ok(Some(text)),
        Err(Problem::Unreadable(_, error)) => Err(error),
        Err(Problem::NotRegular(_)) => Err(io::Error::other("it is not a regular file")),
        Err(other) => Err(io::Error::other(other.to_string())),
    }
}
