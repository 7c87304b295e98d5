//! What `cudalint accesses` says of a file, in the form that a test asks for, and what a command says of a text.

use serde::de::DeserializeOwned;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

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

/// What a command prints of a text that a file may hold, among the files of a folder.
pub fn of_text(mut command: Command, path: &Path, text: &str, folder: &Path) -> String {
    command.arg("--stdin-filename").arg(path).arg("--context").arg(folder).arg("-");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let text = text.to_owned();
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _ = writer.join();
    String::from_utf8(output.stdout).unwrap()
}
