//! Does `--changed-since` tell of what changed, as git sees it, and of nothing else?

use crate::support::folder::folder;
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

/// A repository whose kernel has a conflict with the block of one launch, of three that `main.cu` could make.
fn kernel_and_launch(block: &str) -> TempDir {
    let kernel = "#include \"k.cuh\"\n__global__ void column(float *out) {\n    __shared__ float s[32][WIDTH];\n    \
                  s[threadIdx.y % 32][0] = out[threadIdx.y];\n}\n";
    let header = "#pragma once\n#define WIDTH 32\n__global__ void column(float *out);\n";
    let launch = format!(
        "#include \"k.cuh\"\nvoid run(float *o) {{\n    dim3 block({block});\n    column<<<1, block>>>(o);\n}}\n"
    );
    let root = folder(&[("k/k.cu", kernel), ("k.cuh", header), ("k/k.cuh", header), ("main.cu", &launch)]);
    git(root.path(), &["init", "-q"]);
    git(root.path(), &["add", "-A"]);
    git(root.path(), &["commit", "-qm", "a"]);
    root
}

#[test]
fn a_finding_counts_that_an_edit_of_a_launch_brings() {
    let root = kernel_and_launch("256, 1");
    assert_eq!(since(root.path(), "HEAD"), [] as [&str; 0]);
    // Not the launch itself: its block stands in another line.
    edit(root.path(), "main.cu", 3, "256, 1", "1, 32");
    assert_eq!(since(root.path(), "HEAD"), ["k/k.cu:4"]);
    git(root.path(), &["commit", "-qam", "b"]);
    assert_eq!(since(root.path(), "HEAD"), [] as [&str; 0], "it was there before");
    assert_eq!(since(root.path(), "HEAD~1"), ["k/k.cu:4"]);
    edit(root.path(), "main.cu", 2, "void run", "void rerun");
    assert_eq!(since(root.path(), "HEAD"), [] as [&str; 0], "it does not rest on this line");
    edit(root.path(), "main.cu", 4, "<<<1, block>>>", "<<<1, block, 0>>>");
    assert_eq!(since(root.path(), "HEAD"), ["k/k.cu:4"], "the launch that it rests on");
}

#[test]
fn a_finding_counts_that_a_change_elsewhere_brings_or_makes_worse() {
    let root = kernel_and_launch("1, 32");
    let header = |text: &str| fs::write(root.path().join("k/k.cuh"), text).unwrap();
    let text = fs::read_to_string(root.path().join("k/k.cuh")).unwrap();
    header(&text.replace("WIDTH 32", "WIDTH 33"));
    git(root.path(), &["commit", "-qam", "padded"]);
    header(&text.replace("WIDTH 32", "WIDTH 34"));
    assert_eq!(since(root.path(), "HEAD"), ["k/k.cu:4"], "a macro");
    git(root.path(), &["commit", "-qam", "2-way"]);
    header(&text);
    assert_eq!(since(root.path(), "HEAD"), ["k/k.cu:4"], "32-way instead of 2-way");
    git(root.path(), &["commit", "-qam", "32-way"]);
    // A file that came, one that went, one that was renamed.
    fs::remove_file(root.path().join("main.cu")).unwrap();
    assert_eq!(since(root.path(), "HEAD"), [] as [&str; 0], "nothing tells the block");
    git(root.path(), &["commit", "-qam", "gone"]);
    git(root.path(), &["checkout", "-q", "HEAD~1", "--", "main.cu"]);
    assert_eq!(since(root.path(), "HEAD"), ["k/k.cu:4"]);
    git(root.path(), &["commit", "-qam", "back"]);
    git(root.path(), &["mv", "main.cu", "host.cu"]);
    edit(root.path(), "host.cu", 1, "#include", "  #include");
    assert_eq!(since(root.path(), "HEAD"), [] as [&str; 0]);
}

#[test]
fn a_finding_counts_whose_comment_went() {
    let root = repository();
    let text = fs::read_to_string(root.path().join("a.cu")).unwrap();
    let allowed = text.replacen("    out[", "    // cudalint: allow(bank-conflict)\n    out[", 1);
    fs::write(root.path().join("a.cu"), allowed).unwrap();
    git(root.path(), &["commit", "-qam", "allowed"]);
    fs::write(root.path().join("a.cu"), text).unwrap();
    assert_eq!(since(root.path(), "HEAD"), ["a.cu:5"]);
}

#[test]
fn of_a_cause_the_lines_count_that_changed() {
    let root = repository();
    let text = fs::read_to_string(root.path().join("a.cu")).unwrap();
    let more = text.replacen("    out[", "    out[threadIdx.x + 1024] = 1.0f;\n    out[", 1);
    fs::write(root.path().join("a.cu"), &more).unwrap();
    git(root.path(), &["commit", "-qam", "a line"]);
    let twice = more.replacen("= 1.0f;", "= tile[2 * threadIdx.x % 32][threadIdx.y];", 1);
    fs::write(root.path().join("a.cu"), twice).unwrap();
    let ran = run(root.path(), &["--changed-since", "HEAD", "--format", "short", "."]);
    assert_eq!(places(&ran), ["a.cu:5"]);
    assert!(!ran.out.contains("also line"), "the other line was there before: {}", ran.out);
    let all = run(root.path(), &["--format", "short", "a.cu"]);
    assert!(all.out.contains("(also line 5)"), "{}", all.out);
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
    let words = "1 warning in 1 of 2 files (target: sm_90; bank conflicts are the same on 5.x and newer); 2 findings in the baseline; \
                 1 finding on lines that did not change; --fix may repair 1\n";
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
