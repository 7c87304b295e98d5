//! The same by handles of folders, so that nothing that happens to names in the meantime matters.

use super::{Refusal, temporary_names};
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, RawMode, Stat, Uid};
use rustix::fs::{fchmod, fchown, fstat, open, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// A file's name in an open folder.
pub(super) struct Place {
    folder: OwnedFd,
    name: OsString,
}

/// A new file that waits to take the other's name.
pub(super) struct Staged {
    place: Place,
    temporary: String,
    committed: bool,
}

const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

impl Place {
    /// The regular file that `below` leads to from the folder `from`, if it leads there without a link.
    pub(super) fn find(from: &Path, below: &Path) -> Result<Place, Refusal> {
        let mut folder = open(from, FOLDER, Mode::empty()).map_err(io::Error::from)?;
        let mut seen = from.strip_prefix(".").unwrap_or(from).to_path_buf();
        let mut parts = below.components().peekable();
        while let Some(part) = parts.next() {
            seen.push(part);
            let name = part.as_os_str();
            let kind = kind(&stat(&folder, name)?);
            if kind == FileType::Symlink {
                return Err(Refusal::Link(seen));
            }
            if parts.peek().is_none() {
                let place = Place { folder, name: name.to_owned() };
                return if kind == FileType::RegularFile { Ok(place) } else { Err(Refusal::NotRegular) };
            }
            folder = openat(&folder, name, FOLDER | OFlags::NOFOLLOW, Mode::empty())
                .map_err(|error| refusal(error, &seen))?;
        }
        Err(Refusal::NotRegular)
    }

    /// Writes the new bytes beside the file, if it still holds the old ones.
    pub(super) fn stage(self, old: &[u8], new: &[u8]) -> Result<Staged, Refusal> {
        // A pipe that has come to the name would let us wait.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.folder, &self.name, flags, Mode::empty())
            .map_err(|error| refusal(error, Path::new(&self.name)))?;
        let before = fstat(&file).map_err(io::Error::from)?;
        if kind(&before) != FileType::RegularFile {
            return Err(Refusal::NotRegular);
        }
        let mode = Mode::from_raw_mode(before.st_mode);
        if !mode.intersects(Mode::WUSR | Mode::WGRP | Mode::WOTH) {
            return Err(Refusal::ReadOnly);
        }
        let mut bytes = Vec::with_capacity(old.len() + 1);
        File::from(file).take(old.len() as u64 + 1).read_to_end(&mut bytes)?;
        if bytes != old {
            return Err(Refusal::Changed);
        }
        let (file, temporary) = create(&self.folder)?;
        let staged = Staged { place: self, temporary, committed: false };
        let after = fstat(&file).map_err(io::Error::from)?;
        let (owner, group) = (Uid::from_raw(before.st_uid), Gid::from_raw(before.st_gid));
        // Only the mighty can give files away; a group one is in can be kept.
        if (before.st_uid, before.st_gid) != (after.st_uid, after.st_gid)
            && fchown(&file, Some(owner), Some(group)).is_err()
            && before.st_gid != after.st_gid
        {
            fchown(&file, None, Some(group)).map_err(|_| Refusal::Group)?;
        }
        fchmod(&file, mode).map_err(io::Error::from)?;
        let mut file = File::from(file);
        file.write_all(new)?;
        // A power cut must not leave the name without bytes.
        file.sync_all()?;
        Ok(staged)
    }
}

impl Staged {
    /// Lets the new file take the name.
    pub(super) fn commit(mut self) -> Result<(), Refusal> {
        let Place { folder, name } = &self.place;
        renameat(folder, &self.temporary, folder, name).map_err(io::Error::from)?;
        self.committed = true;
        Ok(())
    }
}

impl Drop for Staged {
    fn drop(&mut self) {
        if !self.committed {
            // Nothing more can be done about a file that stays.
            let _ = unlinkat(&self.place.folder, &self.temporary, AtFlags::empty());
        }
    }
}

fn create(folder: &OwnedFd) -> Result<(OwnedFd, String), Refusal> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for name in temporary_names() {
        match openat(folder, &name, flags, Mode::RUSR | Mode::WUSR) {
            Ok(file) => return Ok((file, name)),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(io::Error::from(error).into()),
        }
    }
    Err(io::Error::from(Errno::EXIST).into())
}

fn stat(folder: &OwnedFd, name: &OsStr) -> io::Result<Stat> {
    Ok(statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)?)
}

fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode as RawMode)
}

/// What an error of an open that follows no link means.
fn refusal(error: Errno, path: &Path) -> Refusal {
    match error {
        Errno::LOOP => Refusal::Link(PathBuf::from(path)),
        other => io::Error::from(other).into(),
    }
}
