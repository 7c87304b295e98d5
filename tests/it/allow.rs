//! Do comments allow what they stand beside or above, and does `--add-allow` write them where they are heard?

use crate::support::folder::folder;
use crate::support::program::run;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Two conflicts in a kernel, one in the function that it calls, one in another kernel.
const THREE: &str = "\
__device__ void turn(float *out, float (&tile)[32][32]) {
    out[threadIdx.x] = tile[threadIdx.x][1];
}
__global__ void first(float *out) {
    __shared__ float tile[32][32];
    for (int j = 0; j < 32; j++) tile[threadIdx.x][j] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] =
        tile[threadIdx.x][9];
    turn(out, tile);
}
template <int N>
__global__ void second(float *out) {
    __shared__ float other[32][N];
    other[threadIdx.x][0] = out[threadIdx.x];
}
void run(float *o) { first<<<1, 32>>>(o); second<32><<<1, 32>>>(o); }
";

/// The lines in which something is found, with the rule.
fn told(root: &Path, arguments: &[&str]) -> Vec<String> {
    let all = [&["-q", "--format", "json"], arguments].concat();
    let (_, out, err) = run(root, &all);
    assert_eq!(err, "", "{arguments:?}");
    let mut lines: Vec<String> = Vec::new();
    for finding in out.lines() {
        let finding: serde_json::Value = serde_json::from_str(finding).unwrap();
        let rule = finding["rule"].as_str().unwrap().to_owned();
        let own = std::iter::once(&finding["line"]);
        let lines_of_cause = finding["lines"].as_array().unwrap().iter().map(|line| &line["line"]);
        lines.extend(own.chain(lines_of_cause).map(|line| format!("{line} {rule}")));
    }
    lines.sort();
    lines.dedup();
    lines
}

#[test]
fn a_comment_above_a_kernel_is_about_all_of_it() {
    let root = folder(&[("a.cu", THREE)]);
    let all = ["15 bank-conflict", "2 bank-conflict", "6 bank-conflict", "9 bank-conflict"];
    assert_eq!(told(root.path(), &["a.cu"]), all);
    let with = |above: &str, comment: &str| {
        fs::write(root.path().join("a.cu"), THREE.replace(above, &format!("{comment}\n{above}"))).unwrap();
        told(root.path(), &["a.cu"])
    };
    let allow = "// cudalint: allow(bank-conflict): small";
    assert_eq!(
        with("__global__ void first", allow),
        ["16 bank-conflict", "2 bank-conflict"],
        "not what it calls"
    );
    assert_eq!(with("template <int N>", allow), &["2 bank-conflict", "6 bank-conflict", "9 bank-conflict"]);
    assert_eq!(with("__global__ void second", allow).len(), 3, "below `template`, too");
    assert_eq!(with("__device__ void turn", allow).len(), 3);
    let expect = "// cudalint: expect(bank-conflict)";
    assert_eq!(with("__global__ void second", expect).len(), 3);
    let barrier = "// cudalint: allow(divergent-barrier)";
    assert!(with("__global__ void first", barrier).contains(&"4 unused-directive".to_owned()));
    let loops = THREE.replace(
        "    other[",
        "    // cudalint: allow(bank-conflict)\n    for (int i = 0; i < 2; i++) {\n    other[",
    );
    fs::write(
        root.path().join("a.cu"),
        loops.replace("[threadIdx.x];\n}\nvoid", "[threadIdx.x];\n    }\n}\nvoid"),
    )
    .unwrap();
    let told = told(root.path(), &["a.cu"]);
    assert!(told.contains(&"17 bank-conflict".to_owned()), "of a loop, only the head: {told:?}");
}

#[test]
fn what_is_there_is_allowed_and_a_second_run_is_clean() {
    let root = folder(&[("a.cu", THREE), ("b.cu", &THREE.replace('\n', "\r\n").replace("first", "third"))]);
    let (exit, out, err) = run(root.path(), &["--add-allow=once per block", "."]);
    assert_eq!((exit, out.as_str()), (0, ""), "{err}");
    assert!(err.starts_with("cudalint: allowed 4 findings in 2 files\n"), "{err}");
    assert!(err.contains("; 4 findings silenced by comments"), "{err}");
    let text = fs::read_to_string(root.path().join("a.cu")).unwrap();
    assert_eq!(text.matches("// cudalint: allow(bank-conflict): once per block\n").count(), 4, "{text}");
    assert!(text.contains(
        "    out[threadIdx.x] =\n        // cudalint: allow(bank-conflict): once per block\n        tile"
    ));
    let without: String =
        text.lines().filter(|line| !line.contains("// cudalint")).map(|line| format!("{line}\n")).collect();
    assert_eq!(without, THREE);
    let windows = fs::read_to_string(root.path().join("b.cu")).unwrap();
    assert_eq!(windows.matches('\n').count(), windows.matches("\r\n").count());
    let (exit, out, err) = run(root.path(), &["--add-allow", "."]);
    assert_eq!((exit, out.as_str()), (0, ""));
    assert!(err.starts_with("cudalint: allowed 0 findings in 0 files\n"), "{err}");
    assert_eq!(fs::read_to_string(root.path().join("a.cu")).unwrap(), text);
    assert_eq!(
        told(root.path(), &["-D", "all", "-A", "unresolved-access", "-A", "redundant-barrier", "."]),
        [] as [&str; 0],
        "no comment is unused"
    );
}

#[test]
fn no_comment_breaks_a_macro_and_the_rest_is_allowed() {
    let code = "\
#define COPY(to, from) do { \\
        to = \\
            from; \\
    } while (0)
__global__ void k(float *out) {
    __shared__ float tile[32][32];
    COPY(tile[threadIdx.x][0], out[threadIdx.x]);
    const char *words = R\"(
)\"; out[threadIdx.x] = tile[threadIdx.x][1] + words[0];
    out[0] = tile[threadIdx.x][2]; \\
    out[1] = tile[threadIdx.x][3];
}
void run(float *o) { k<<<1, 32>>>(o); }
";
    let root = folder(&[("a.cu", code)]);
    let before = told(root.path(), &["a.cu"]);
    assert!(before.len() >= 3, "{before:?}");
    let (exit, _, err) = run(root.path(), &["--add-allow", "a.cu"]);
    let text = fs::read_to_string(root.path().join("a.cu")).unwrap();
    let without: String = text
        .lines()
        .filter(|line| !line.trim_start().starts_with("// cudalint"))
        .map(|line| format!("{line}\n"))
        .collect();
    assert_eq!(without, code, "nothing but lines of their own");
    assert!(err.contains("not allowed: a.cu:") && err.contains("the line continues the one above"), "{err}");
    assert_eq!(exit, 1, "what is left is told: {err}");
}

#[test]
fn a_reason_stays_in_its_comment_and_files_that_are_not_given_as_they_are() {
    let head = THREE.lines().take(3).map(|line| format!("{line}\n")).collect::<String>();
    let rest = format!("#include \"turn.cuh\"\n{}", THREE.strip_prefix(&head).unwrap());
    let root = folder(&[("a.cu", &rest), ("turn.cuh", &head)]);
    for reason in ["--add-allow=a\nb", "--add-allow=a \\"] {
        let (exit, _, err) = run(root.path(), &[reason, "."]);
        let says = "cudalint: error: `--add-allow`: a reason is one line that does not end in `\\`\n";
        assert_eq!((exit, err.as_str()), (2, says));
    }
    let (exit, _, err) = run(root.path(), &["--add-allow", "a.cu"]);
    assert!(exit == 1 && err.contains(": bank-conflict: `turn.cuh` was not given"), "{err}");
    assert_eq!(fs::read_to_string(root.path().join("turn.cuh")).unwrap(), head);
    assert!(fs::read_to_string(root.path().join("a.cu")).unwrap().contains(": not reviewed yet\n"));
    for other in [&["--fix"][..], &["--diff"], &["--write-baseline", "x"], &["--statistics"], &["-"]] {
        let (exit, _, err) = run(root.path(), &[&["--add-allow"], other].concat());
        assert_eq!(exit, 2, "{other:?}: {err}");
    }
}

#[test]
fn a_finding_need_not_fail_a_run() {
    let root = folder(&[("a.cu", THREE)]);
    let (exit, out, err) = run(root.path(), &["--exit-zero", "a.cu"]);
    assert!(exit == 0 && out.starts_with("warning[") && err.contains("2 warnings"), "{out}{err}");
    assert_eq!(run(root.path(), &["--exit-zero", "--diff", "a.cu"]).0, 0);
    assert_eq!(run(root.path(), &["--exit-zero", "a.cu", "none.cu"]).0, 2, "what was not checked still does");
}

/// Exit code, stdout and stderr with this text on stdin.
fn piped(root: &Path, arguments: &[&str], text: &str) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    command
        .current_dir(root)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // It may have refused its arguments without reading anything.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn a_dash_is_stdin_and_no_path_the_working_folder() {
    let root = folder(&[("src/a.cu", THREE), ("src/b.cu", "")]);
    for arguments in [&[][..], &["check"], &["-q"]] {
        let (exit, out, _) = run(root.path(), arguments);
        assert!(exit == 1 && out.contains("┌─ src/a.cu:"), "{arguments:?}: {out}");
    }
    let (exit, out, _) = run(root.path(), &["accesses"]);
    assert!(exit == 0 && out.starts_with("src/a.cu\n"), "{out}");
    let (exit, out, err) = piped(root.path(), &["-"], THREE);
    assert!(exit == 1 && out.contains("┌─ stdin.cu:") && err.contains("of 1 file"), "{out}{err}");
    let (_, out, _) = piped(root.path(), &["--format", "short", "-", "src"], THREE);
    assert!(out.contains("\nstdin.cu:") && out.starts_with("src/a.cu:"), "{out}");
    let (_, out, _) = piped(root.path(), &["accesses", "-"], THREE);
    assert!(out.starts_with("stdin.cu\n"), "{out}");
    let (_, out, _) = piped(root.path(), &["--format", "short", "--stdin-filename", "src/b.cu", "-"], THREE);
    assert!(out.starts_with("src/b.cu:") && !out.contains("src/a.cu"), "{out}");
    let (_, out, err) = piped(root.path(), &["explain", "stdin.cu:6", "-"], THREE);
    assert!(out.contains("stdin.cu:6"), "{out}{err}");
    for other in ["--fix", "--diff", "--changed-since=HEAD"] {
        let (exit, _, err) = piped(root.path(), &["-", other], THREE);
        assert_eq!((exit, err.lines().count()), (2, 1), "{err}");
    }
}

#[test]
fn colours_and_links_follow_the_terminal() {
    let root = folder(&[("d e/a.cu", THREE)]);
    let with = |environment: &[(&str, &str)], arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
        for name in ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "FORCE_HYPERLINK"] {
            command.env_remove(name);
        }
        let output =
            command.current_dir(root.path()).args(arguments).envs(environment.iter().copied()).output();
        let text = String::from_utf8(output.unwrap().stdout).unwrap();
        (text.contains("\x1b["), text)
    };
    let force = ("CLICOLOR_FORCE", "1");
    assert!(!with(&[], &[]).0, "no terminal");
    assert!(with(&[force], &[]).0);
    assert!(!with(&[force, ("NO_COLOR", "1")], &[]).0, "who wants none gets none");
    assert!(!with(&[force], &["--color", "never"]).0 && with(&[("NO_COLOR", "1")], &["--color", "always"]).0);
    let path = fs::canonicalize(root.path()).unwrap().display().to_string();
    let link = format!("┌─ \x1b]8;;file://{path}/d%20e/a.cu\x1b\\d e/a.cu:");
    let linked = |arguments: &[&str]| with(&[("TERM_PROGRAM", "WezTerm")], arguments).1;
    let text = linked(&["--hyperlinks", "always"]);
    assert!(text.contains(&link) && !text.contains("\x1b["), "{text}");
    assert!(!linked(&[]).contains("\x1b]8"), "no terminal");
    assert!(!linked(&["--hyperlinks", "always", "--format", "short"]).contains("\x1b]8"));
    let colored = linked(&["--hyperlinks", "always", "--color", "always"]);
    let without = colored.replace("\x1b]8;;\x1b\\", "").replace(&link[7..link.find("d e/").unwrap()], "");
    assert!(colored.contains("\x1b]8") && without == linked(&["--color", "always"]), "{colored}");
}
