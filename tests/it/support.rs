//! What several tests share: folders of files, random kernels, runs of the program.

pub mod accesses;
pub mod bounded;
pub mod browser;
pub mod editor;
pub mod folder;
pub mod kernels;
pub mod program;
pub mod random;
pub mod restructure;
pub mod rewrite;
pub mod server;
pub mod styles;

use std::path::Path;

/// Whether heavy tests run whole: `CUDALINT_THOROUGH=1`, as `.ci/run` sets it for
/// some. Without it they use smaller inputs of the same shapes.
pub fn thorough() -> bool {
    std::env::var_os("CUDALINT_THOROUGH").is_some_and(|value| !value.is_empty() && value != "0")
}

/// Whether a file is taken where one of so many is: by its name, so that a new file moves no other. A thorough test takes
/// all.
pub fn is_sampled(file: &Path, rank: usize, one_of: usize) -> bool {
    let name = file.file_stem().unwrap().as_encoded_bytes();
    let number: usize = name.iter().map(|&byte| usize::from(byte)).sum();
    thorough() || (number + rank).is_multiple_of(one_of)
}
