//! Runs the program with a limit on time and memory, and asks that it end by itself.

use super::thorough;
use assert_cmd::Command;
use std::path::Path;
use std::time::Duration;

/// Address space that a run may take, in KiB: stacks of the worker threads included.
const MEMORY_KIB: u64 = 2 << 20;
pub const TIME: Duration = Duration::from_secs(240);

pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs the program on a file with these bytes; panics when it does not end by itself.
pub fn run_bytes(command: &str, bytes: &[u8]) -> Ran {
    let root = tempfile::tempdir().unwrap();
    std::fs::write(root.path().join("a.cu"), bytes).unwrap();
    run_in(root.path(), &format!("{command} a.cu"))
}

/// Runs the program in a folder; panics when it does not end by itself.
pub fn run_in(folder: &Path, arguments: &str) -> Ran {
    let line =
        format!("ulimit -v {MEMORY_KIB}; exec '{}' {arguments} --threads 2", env!("CARGO_BIN_EXE_cudalint"));
    let mut command = Command::new("sh");
    let output = command.arg("-c").arg(line).current_dir(folder).timeout(TIME).output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let Some(code) = output.status.code() else {
        panic!("it did not end by itself: {:?}\n{}", output.status, &stderr[..stderr.len().min(2000)]);
    };
    assert!(!stderr.contains("internal error"), "{}", &stderr[..stderr.len().min(2000)]);
    assert!((0..=2).contains(&code), "code {code}: {}", &stderr[..stderr.len().min(2000)]);
    Ran { code, stdout, stderr }
}

pub fn run(text: &str) -> Ran {
    run_bytes("accesses", text.as_bytes())
}

/// A kernel that is judged, so that a run shows whether the rest of the file was lost.
pub const WITNESS: &str = "\n__global__ void witness(int *out) {\n    __shared__ int seen[32][32];\n    \
    seen[threadIdx.x][0] = 1;\n    __syncthreads();\n    out[threadIdx.x] = seen[threadIdx.x][0];\n}\n\
    void start(int *out) { witness<<<1, 32>>>(out); }\n";

pub fn has_witness(ran: &Ran) -> bool {
    ran.stdout.contains("seen")
}

pub fn kernel(body: &str) -> String {
    format!("__global__ void k(int *p, int n) {{\n__shared__ int s[1024];\n{body}\n}}\n{WITNESS}")
}

/// How deep texts are nested and how long they are: deep enough to overflow the stack of whatever
/// recurses without a limit.
pub fn deep() -> usize {
    scaled(100_000)
}

/// The count itself in a thorough run, a tenth of it otherwise.
pub fn scaled(count: usize) -> usize {
    if thorough() { count } else { count / 10 }
}

pub fn nested(open: &str, middle: &str, close: &str) -> String {
    kernel(&format!("int v = {}{middle}{};", open.repeat(deep()), close.repeat(deep())))
}
