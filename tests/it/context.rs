//! Are files of `--context` read, and what does not concern the others kept quiet?

use crate::support::folder::folder;
use assert_cmd::Command;
use std::path::Path;

const KERNEL: &str = "\
__global__ void column(float *out) {
    __shared__ float tile[32][32];
    tile[threadIdx.y % 32][threadIdx.x % 32] = out[threadIdx.y];
}
";
const HEADER: &str = "#pragma once\n__global__ void column(float *out);\n";
const LAUNCH: &str = "#include \"k.cuh\"\nvoid run(float *o) { column<<<1, dim3(1, 32)>>>(o); }\n";
const OTHER: &str = "\
__global__ void other(float *out) {
    __shared__ float s[32][32];
    s[threadIdx.x][0] = out[threadIdx.y]; // cudalint: allow(divergent-barrier)
}
void run_other(float *o) { other<<<1, 32>>>(o); }
";

fn run(root: &Path, arguments: &[&str], stdin: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command.current_dir(root).args(arguments).write_stdin(stdin.to_owned()).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

/// The places of findings, as `file:line`.
fn places(out: &str) -> Vec<String> {
    out.lines().map(|line| line.splitn(3, ':').take(2).collect::<Vec<_>>().join(":")).collect()
}

fn project() -> tempfile::TempDir {
    folder(&[("src/k.cu", KERNEL), ("src/k.cuh", HEADER), ("src/main.cu", LAUNCH), ("src/other.cu", OTHER)])
}

#[test]
fn context_tells_the_block_and_is_not_reported() {
    let root = project();
    let at = |arguments: &[&str]| run(root.path(), &[&["--format", "short"], arguments].concat(), "");
    assert_eq!(at(&["src/k.cu"]).0, 0, "the block that is assumed has no conflict");
    let (code, out, err) = at(&["--context", ".", "src/k.cu"]);
    assert_eq!((code, places(&out), err.as_str()), (1, vec!["src/k.cu:3".to_owned()], ""));
    // In whatever way paths are written.
    let absolute = root.path().join("src");
    let (code, out, _) = at(&["--context", absolute.to_str().unwrap(), "src/k.cu"]);
    assert_eq!((code, places(&out)), (1, vec!["src/k.cu:3".to_owned()]));
    let (_, _, err) = run(root.path(), &["--context", "src", "src/k.cu"], "");
    assert!(err.starts_with("cudalint: 1 warning in 1 of 1 file "), "{err}");
    let (_, out, _) = run(root.path(), &["accesses", "--format", "json", "--context", "src", "src/k.cu"], "");
    assert!(out.lines().count() == 1 && out.contains("\"block_from\":\"launch\""), "{out}");
}

#[test]
fn a_finding_that_a_launch_in_the_files_brings_is_reported() {
    let root = project();
    let (code, out, _) = run(root.path(), &["--format", "short", "--context", ".", "src/main.cu"], "");
    assert_eq!((code, places(&out)), (1, vec!["src/k.cu:3".to_owned()]));
    let (code, out, _) = run(root.path(), &["--format", "short", "--context", ".", "src/k.cuh"], "");
    assert_eq!((code, out.as_str()), (0, ""));
}

#[test]
fn an_unsaved_buffer_has_the_workspace_as_its_context() {
    let root = project();
    let buffer = root.path().join("src/k.cu");
    let edited = format!("\n{KERNEL}");
    for name in ["src/k.cu", buffer.to_str().unwrap()] {
        let arguments = ["-q", "--format", "short", "--context", ".", "--stdin-filename", name];
        let (code, out, err) = run(root.path(), &arguments, &edited);
        assert_eq!((code, err.as_str()), (1, ""));
        assert!(out.starts_with(&format!("{name}:4:")) && out.lines().count() == 1, "{out}");
        let padded = edited.replace("[32][32]", "[32][33]");
        assert_eq!(run(root.path(), &arguments, &padded), (0, String::new(), String::new()));
    }
    // What the context includes is the buffer, too, whichever way it is written.
    let header = root.path().join("src/k.cuh");
    let moved = HEADER.replace(
        "column(float *out);",
        "column(float *out) {\n  __shared__ float t[32][32];\n  \
         t[threadIdx.y % 32][0] = *out;\n}",
    );
    std::fs::remove_file(root.path().join("src/k.cu")).unwrap();
    let arguments =
        ["-q", "--format", "short", "--context", ".", "--stdin-filename", header.to_str().unwrap()];
    let (code, out, _) = run(root.path(), &arguments, &moved);
    let place = format!("{}:4", header.display());
    assert_eq!((code, places(&out)), (1, vec![place]));
}

#[test]
fn fixes_stay_within_the_files() {
    let kernel = format!("#include \"k.cuh\"\n{KERNEL}").replace("[32][32]", "[ROWS][COLUMNS]");
    let header = format!("{HEADER}#define ROWS 32\n#define COLUMNS 32\n");
    let root = folder(&[("k.cu", &kernel), ("k.cuh", &header), ("main.cu", LAUNCH), ("other.cu", OTHER)]);
    let (_, out, _) = run(root.path(), &["--diff", "--context", ".", "main.cu"], "");
    assert_eq!(out, "", "the kernel's file was not given");
    let (_, out, _) = run(root.path(), &["--diff", "--context", ".", "k.cu"], "");
    assert!(out.contains("+    __shared__ float tile[ROWS][COLUMNS + 1];"), "{out}");
    assert!(!out.contains("other.cu"), "{out}");
}

#[test]
fn what_is_wrong_with_context_fails_the_run_only_where_it_was_named() {
    let root = project();
    std::fs::write(root.path().join("src/wide.cu"), [0xff, 0xfe, b'x', 0]).unwrap();
    let (code, _, err) = run(root.path(), &["-q", "--context", ".", "src/k.cuh"], "");
    assert_eq!(code, 0);
    assert!(err.starts_with("cudalint: warning: `src/wide.cu` is UTF-16"), "{err}");
    let (code, _, err) = run(root.path(), &["-q", "--context", "nosuch", "src/k.cuh"], "");
    assert_eq!((code, err.as_str()), (2, "cudalint: error: `nosuch` does not exist\n"));
}

#[test]
fn a_function_of_a_header_is_judged_where_context_calls_it() {
    let header = "#pragma once\n__device__ void set(float (*s)[32], float x) { s[threadIdx.x][0] = x; }\n";
    let kernel = "#include \"h.cuh\"\n__global__ void k(float *o) {\n  __shared__ float s[32][32];\n  set(s, *o);\n  \
                  s[threadIdx.x][1] = *o;\n}\nvoid run(float *o) { k<<<1, 32>>>(o); }\n";
    let root = folder(&[("h.cuh", header), ("k.cu", kernel)]);
    let (code, out, _) = run(root.path(), &["-q", "--format", "short", "--context", ".", "h.cuh"], "");
    assert_eq!((code, places(&out)), (1, vec!["h.cuh:2".to_owned()]));
}
