//! What `cudalint accesses` says of a file, in the form that a test asks for.

use serde::de::DeserializeOwned;
use std::path::Path;
use std::process::Command;

/// Each line of `cudalint accesses --format json` for one target.
pub fn accesses<T: DeserializeOwned>(path: &Path) -> Vec<T> {
    let output = Command::new(env!("CARGO_BIN_EXE_cudalint"))
        .args(["accesses", "--format", "json", "--quiet", "--threads", "1", "--target", "sm_90"])
        .arg(path)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code < 2), "{}: {stderr}", path.display());
    let stdout = String::from_utf8(output.stdout).unwrap();
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
