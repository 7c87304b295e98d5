//! What is in a file, if it is one: not a folder, a pipe or a device, which may never end?

use super::{MAX_BYTES, Problem};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a regular file of reasonable size, or of the one that a symbolic link leads to.
///
/// # Errors
/// When it is no such file, or cannot be read.
pub fn bytes(path: &Path) -> Result<Vec<u8>, Problem> {
    let unreadable = |error| Problem::Unreadable(path.to_path_buf(), error);
    // Opening a device may already do something.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Problem::NotRegular(path.to_path_buf()));
    }
    let file = open(path).map_err(unreadable)?;
    // Something else may have come to the name in between.
    let metadata = file.metadata().map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(Problem::NotRegular(path.to_path_buf()));
    }
    let mut bytes = Vec::new();
    if metadata.len() <= MAX_BYTES {
        bytes.reserve_exact(metadata.len() as usize);
        file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    }
    if metadata.len().max(bytes.len() as u64) > MAX_BYTES {
        return Err(Problem::TooLarge(path.to_path_buf()));
    }
    Ok(bytes)
}

/// The text of a file that must be UTF-8, otherwise as [`bytes`].
///
/// # Errors
/// As [`bytes`], and when it is not UTF-8.
pub fn text(path: &Path) -> Result<String, Problem> {
    let invalid = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8");
    String::from_utf8(bytes(path)?).map_err(|error| Problem::Unreadable(path.to_path_buf(), invalid(error)))
}

/// Opens a file without waiting for anyone to write into a pipe.
#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(rustix::fs::open(path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    File::open(path)
}
