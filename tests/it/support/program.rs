//! A run of the program.

use std::path::Path;
use std::process::Command;

/// Exit code, stdout and stderr of `cudalint` with these arguments in this folder.
pub fn run(root: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output =
        Command::new(env!("CARGO_BIN_EXE_cudalint")).current_dir(root).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}
