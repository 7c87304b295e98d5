//! Does `--changed-since` tell of what changed, as git sees it, and of nothing else?

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "support/folder.rs"]
mod folder;

use folder::folder;
use std::fs;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

struct Ran {
    code: i32,
    out: String,
    err: String,
}

fn run(root: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command.current_dir(root).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code().unwrap(), out: text(output.stdout), err: text(output.stderr) }
}

fn git(root: &Path, arguments: &[&str]) {
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
    let ran = Command::new("git").current_dir(root).args(who).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// A kernel with one finding, and a name of its own.
fn kernel(name: &str) -> String {
    format!(
        "__global__ void {name}(float *out, const float *in) {{\n    __shared__ float tile[32][32];\n    \
         tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];\n    __syncthreads();\n    \
         out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];\n}}\n\
         void run_{name}(float *out, const float *in) {{ {name}<<<1, dim3(32, 32)>>>(out, in); }}\n"
    )
}

/// Lines of a kernel.
const LINES: usize = 7;

/// A repository whose `a.cu` and `d/b.cu` hold two kernels each, all committed.
fn repository() -> TempDir {
    let two = |a: &str, b: &str| kernel(a) + &kernel(b);
    let root = folder(&[("a.cu", &two("first", "second")), ("d/b.cu", &two("third", "fourth"))]);
    git(root.path(), &["init", "-q"]);
    git(root.path(), &["add", "-A"]);
    git(root.path(), &["commit", "-qm", "a"]);
    root
}

/// Replaces a text that stands in a line, from 1, of a file.
fn edit(root: &Path, file: &str, line: usize, from: &str, to: &str) {
    let text = fs::read_to_string(root.join(file)).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    assert!(lines[line - 1].contains(from), "{}", lines[line - 1]);
    lines[line - 1] = lines[line - 1].replace(from, to);
    fs::write(root.join(file), lines.join("\n") + "\n").unwrap();
}

/// The places that are told of, as `file:line`.
fn places(ran: &Ran) -> Vec<String> {
    let place = |line: &str| line.splitn(3, ':').take(2).collect::<Vec<_>>().join(":");
    ran.out.lines().map(place).collect()
}

fn since(root: &Path, revision: &str) -> Vec<String> {
    let ran = run(root, &["--changed-since", revision, "--format", "short", "."]);
    assert_eq!((ran.code, ran.err.as_str()), (i32::from(!ran.out.is_empty()), ""));
    places(&ran)
}

#[test]
fn only_changed_lines_are_told_of_and_fail_the_run() {
    let root = repository();
    let ran = run(root.path(), &["--changed-since", "HEAD", "."]);
    assert_eq!((ran.code, ran.out.as_str()), (0, ""));
    assert!(ran.err.ends_with("; 4 findings on lines that did not change\n"), "{}", ran.err);
    edit(root.path(), "a.cu", LINES + 5, "out[", "out[0 + ");
    assert_eq!(since(root.path(), "HEAD"), ["a.cu:12"]);
    // A line that moved did not change.
    let text = fs::read_to_string(root.path().join("d/b.cu")).unwrap();
    fs::write(root.path().join("d/b.cu"), format!("// new\n{text}")).unwrap();
    assert_eq!(since(root.path(), "HEAD"), ["a.cu:12"]);
    // Committed or staged, it is the same.
    git(root.path(), &["add", "-A"]);
    assert_eq!(since(root.path(), "HEAD"), ["a.cu:12"]);
    git(root.path(), &["commit", "-qm", "b"]);
    assert_eq!(since(root.path(), "HEAD"), Vec::<String>::new());
    assert_eq!(since(root.path(), "HEAD~1"), ["a.cu:12"]);
    // From a folder below, and for some of the files.
    assert_eq!(since(&root.path().join("d"), "HEAD~1"), Vec::<String>::new());
    let ran = run(&root.path().join("d"), &["--changed-since", "HEAD~1", "--format", "short", "../a.cu"]);
    assert_eq!((ran.code, places(&ran)), (1, vec!["../a.cu:12".to_owned()]));
}

#[test]
fn a_finding_counts_where_the_declaration_changed() {
    let root = repository();
    edit(root.path(), "a.cu", 2, "tile[32][32]", "tile[32][64]");
    assert_eq!(since(root.path(), "HEAD"), ["a.cu:5"]);
}

#[test]
fn new_files_count_as_changed_and_renamed_ones_do_not() {
    let root = repository();
    fs::write(root.path().join("ü \"new\".cu"), kernel("fifth")).unwrap();
    assert_eq!(since(root.path(), "HEAD"), ["ü \"new\".cu:5"]);
    git(root.path(), &["add", "-A"]);
    assert_eq!(since(root.path(), "HEAD"), ["ü \"new\".cu:5"]);
    git(root.path(), &["mv", "a.cu", "renamed.cu"]);
    assert_eq!(since(root.path(), "HEAD"), ["ü \"new\".cu:5"]);
    // An ignored file is not tracked either.
    fs::write(root.path().join(".gitignore"), "out/\n").unwrap();
    fs::create_dir(root.path().join("out")).unwrap();
    fs::write(root.path().join("out/o.cu"), kernel("sixth")).unwrap();
    let ran = run(root.path(), &["--changed-since", "HEAD", "--format", "short", "out/o.cu"]);
    assert_eq!(places(&ran), ["out/o.cu:5"]);
}

#[test]
fn three_dots_mean_since_the_branch_was_left() {
    let root = repository();
    git(root.path(), &["checkout", "-qb", "work"]);
    edit(root.path(), "a.cu", 5, "out[", "out[0 + ");
    git(root.path(), &["commit", "-qam", "work"]);
    git(root.path(), &["checkout", "-q", "main"]);
    edit(root.path(), "d/b.cu", 5, "out[", "out[0 + ");
    git(root.path(), &["commit", "-qam", "main"]);
    git(root.path(), &["checkout", "-q", "work"]);
    assert_eq!(since(root.path(), "main"), ["a.cu:5", "d/b.cu:5"]);
    assert_eq!(since(root.path(), "main..."), ["a.cu:5"]);
}

#[test]
fn formats_baselines_and_fixes_see_the_same_findings() {
    let root = repository();
    edit(root.path(), "a.cu", 5, "out[", "out[0 + ");
    edit(root.path(), "d/b.cu", 5, "out[", "out[0 + ");
    let ran = run(root.path(), &["--changed-since", "HEAD", "--format", "sarif", "."]);
    let log: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, log["runs"][0]["results"].as_array().unwrap().len()), (1, 2));
    let print =
        log["runs"][0]["results"][0]["partialFingerprints"]["cudalint/v1"].as_str().unwrap().to_owned();
    let all = run(root.path(), &["--format", "sarif", "."]);
    assert!(all.out.contains(&print), "fingerprints do not depend on it");
    let written = run(root.path(), &["--write-baseline", "b.json", "a.cu"]);
    assert_eq!(written.code, 0, "{}", written.err);
    let ran = run(root.path(), &["--changed-since", "HEAD", "--baseline", "b.json", "."]);
    assert_eq!(ran.code, 1);
    let words = "1 warning in 1 of 2 files (target: sm_90; 5.x and newer behave alike); 2 findings in the baseline; \
                 1 finding on lines that did not change\n";
    assert!(ran.err.ends_with(words), "{}", ran.err);
    let ran = run(root.path(), &["--changed-since", "HEAD", "--diff", "d"]);
    assert_eq!(ran.out.matches("\n+").count() - 1, 1, "{}", ran.out);
    assert!(ran.out.contains("+    __shared__ float tile[32][33];"), "{}", ran.out);
}

#[test]
fn what_cannot_be_told_stops_the_run() {
    let root = repository();
    let refused = |root: &Path, arguments: &[&str], words: &str| {
        let ran = run(root, arguments);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.err.contains(words), "{}", ran.err);
    };
    let here = root.path();
    refused(here, &["--changed-since", "nowhere", "."], "`nowhere` names no commit of this repository");
    refused(here, &["--changed-since=--output=x", "."], "`--output=x` names no commit of this repository");
    refused(here, &["--changed-since", "nowhere...", "."], "`nowhere` names no commit");
    assert!(!here.join("x").exists());
    let elsewhere = folder(&[("a.cu", &kernel("k"))]);
    let arguments = ["--changed-since", "HEAD", "a.cu"];
    refused(
        elsewhere.path(),
        &arguments,
        "--changed-since needs a git work tree: git says: fatal: not a git repo",
    );
    refused(here, &["--changed-since", "HEAD", "--stdin-filename", "a.cu"], "cannot be used with");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let ran = command.current_dir(here).args(arguments).env("PATH", "").output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("git is not installed"));
}
