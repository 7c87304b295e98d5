//! Is an option on the command line really the name of a file?
//!
//! Hooks and shells put file names behind the options. One that begins with `-` would be taken for an
//! option: `--output=src/a.cu`, a file `a.cu` in a folder `--output=src`, would have the findings written
//! over `src/a.cu`. What is both is refused, unless `--` stands before it.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The first argument before `--` that is spelled like an option and is the name of something there.
pub(super) fn option(arguments: impl Iterator<Item = OsString>) -> Option<OsString> {
    let spelled = |it: &OsString| it.as_encoded_bytes().starts_with(b"-") && it != OsStr::new("-");
    // A link counts, wherever it leads.
    let is_there = |it: &OsString| Path::new(it).symlink_metadata().is_ok();
    arguments.take_while(|it| it != OsStr::new("--")).find(|it| spelled(it) && is_there(it))
}
