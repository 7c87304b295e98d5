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

/// Whether heavy tests run whole: `CUDALINT_THOROUGH=1`, as `.ci/run` sets it. Without it they use
/// smaller inputs of the same shapes.
pub fn thorough() -> bool {
    std::env::var_os("CUDALINT_THOROUGH").is_some_and(|value| !value.is_empty() && value != "0")
}
