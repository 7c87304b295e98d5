//! What is in the files: on disk, or as they are to be taken instead?

use crate::analysis::Files;
use crate::walk::{self, Candidate, Problem};
use rustc_hash::FxHashMap;
use std::ffi::{OsStr, OsString};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// Files whose bytes are not those on disk, by the path they are given by.
pub type Overlay = FxHashMap<PathBuf, Vec<u8>>;

/// Reads the files of a run, and the headers that includes lead to.
#[derive(Default)]
pub struct Disk {
    by_name: FxHashMap<OsString, Vec<PathBuf>>,
    overlay: Overlay,
}

impl Disk {
    /// Knows the names of these files, whether or not they hold CUDA.
    pub fn with(candidates: &[Candidate], overlay: Overlay) -> Disk {
        let mut by_name: FxHashMap<OsString, Vec<PathBuf>> = FxHashMap::default();
        for path in candidates.iter().map(|candidate| &candidate.path) {
            if let Some(name) = path.file_name() {
                by_name.entry(name.to_owned()).or_default().push(path.clone());
            }
        }
        Disk { by_name, overlay }
    }

    /// The bytes of a candidate; `None` when it turns out not to be CUDA.
    pub fn bytes(&self, candidate: &Candidate) -> Result<Option<Vec<u8>>, Problem> {
        match self.overlay.get(&candidate.path) {
            Some(bytes) => Ok(Some(bytes.clone())),
            None => walk::read(candidate),
        }
    }
}

impl Files for Disk {
    fn named(&self, name: &OsStr) -> &[PathBuf] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        self.bytes(&Candidate { path: path.to_path_buf(), only_if_cuda: false }).ok().flatten()
    }
}

/// The text of a file; `None` when there is no file of that name.
pub fn text(path: &Path) -> io::Result<Option<String>> {
    if !path.is_file() {
        return Ok(None);
    }
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        read => read.map(Some),
    }
}
