//! The same by names alone, where there are no handles of folders to be had.

use super::{Refusal, temporary_names};
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

/// A file's name.
pub(super) struct Place {
    path: PathBuf,
}

/// A new file that waits to take the other's name.
pub(super) struct Staged {
    path: PathBuf,
    temporary: PathBuf,
    committed: bool,
}

impl Place {
    /// The regular file that `below` leads to from the folder `from`, if it leads there without a link.
    pub(super) fn find(from: &Path, below: &Path) -> Result<Place, Refusal> {
        let mut path = from.strip_prefix(".").unwrap_or(from).to_path_buf();
        for part in below.components() {
            path.push(part);
            if fs::symlink_metadata(&path)?.is_symlink() {
                return Err(Refusal::Link(path));
            }
        }
        regular(&path)?;
        Ok(Place { path })
    }

    /// Writes the new bytes beside the file, if it still holds the old ones.
    pub(super) fn stage(self, old: &[u8], new: &[u8]) -> Result<Staged, Refusal> {
        let permissions = regular(&self.path)?.permissions();
        if permissions.readonly() {
            return Err(Refusal::ReadOnly);
        }
        if fs::read(&self.path)? != old {
            return Err(Refusal::Changed);
        }
        let (mut file, temporary) = create(self.path.parent().unwrap_or(Path::new("")))?;
        let staged = Staged { path: self.path, temporary, committed: false };
        file.set_permissions(permissions)?;
        file.write_all(new)?;
        file.sync_all()?;
        Ok(staged)
    }
}

impl Staged {
    /// Lets the new file take the name.
    pub(super) fn commit(mut self) -> Result<(), Refusal> {
        fs::rename(&self.temporary, &self.path)?;
        self.committed = true;
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.committed {
            // Nothing more can be done about a file that stays.
            let _ = fs::remove_file(&self.temporary);
        }
    }
}

fn regular(path: &Path) -> Result<Metadata, Refusal> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_symlink() {
        return Err(Refusal::Link(path.to_path_buf()));
    }
    if metadata.is_file() { Ok(metadata) } else { Err(Refusal::NotRegular) }
}

fn create(folder: &Path) -> Result<(File, PathBuf), Refusal> {
    for name in temporary_names() {
        let path = folder.join(name);
        match File::create_new(&path) {
            Ok(file) => return Ok((file, path)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::from(ErrorKind::AlreadyExists).into())
}
