//! Do the hooks for pre-commit and the action do what `docs/ci.md` says?

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]
#![cfg(unix)]

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

const BINARY: &str = env!("CARGO_BIN_EXE_cudalint");
const CONFLICT: &str = include_str!("../fixtures/texts/column-read.cu");

/// `PATH` with the folder of the binary in front.
fn path() -> OsString {
    let own = Path::new(BINARY).parent().unwrap().to_path_buf();
    let others = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(std::iter::once(own).chain(std::env::split_paths(&others))).unwrap()
}

fn git(root: &Path, arguments: &[&str]) -> Output {
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
    Command::new("git").current_dir(root).env("PATH", path()).args(who).args(arguments).output().unwrap()
}

#[test]
fn the_command_of_each_hook_finds_what_is_there() {
    let hooks = fs::read_to_string(".pre-commit-hooks.yaml").unwrap();
    let entries: Vec<&str> =
        hooks.lines().filter_map(|line| line.trim_start().strip_prefix("entry: cudalint ")).collect();
    assert_eq!(entries.len(), 2);
    for entry in entries {
        let ran = Command::new(BINARY).args(entry.split(' ')).arg("fixtures/texts/column-read.cu").output();
        let ran = ran.unwrap();
        assert_eq!((ran.status.code(), ran.stderr.as_slice()), (Some(1), &b""[..]), "{entry}");
    }
}

/// Whether a program is there; says so if it is not.
fn installed(program: &str) -> bool {
    let there = Command::new(program).arg("--version").output().is_ok_and(|ran| ran.status.success());
    if !there {
        println!("{program} is not installed (`pip install {program}`): nothing was tested");
    }
    there
}

/// A repository with these files in one commit, and the commit.
fn committed(root: &Path) -> String {
    git(root, &["init", "-q"]);
    git(root, &["add", "-A"]);
    assert!(git(root, &["commit", "-qm", "all"]).status.success());
    String::from_utf8(git(root, &["rev-parse", "HEAD"]).stdout).unwrap().trim().to_owned()
}

/// Commits a conflict and then the same repaired under a hook of `hooks`, a repository.
fn the_hook_stops_a_conflict_and_lets_the_repaired_file_through(hooks: &Path, hook: &str) {
    let revision = committed(hooks);
    let root = tempfile::tempdir().unwrap();
    let home = tempfile::tempdir().unwrap();
    git(root.path(), &["init", "-q"]);
    let config =
        format!("repos:\n- repo: {}\n  rev: {revision}\n  hooks:\n  - id: {hook}\n", hooks.display());
    fs::write(root.path().join(".pre-commit-config.yaml"), config).unwrap();
    let mut install = Command::new("pre-commit");
    assert!(install.current_dir(root.path()).arg("install").output().unwrap().status.success());
    let commit = |text: &str| {
        fs::write(root.path().join("a.cu"), text).unwrap();
        git(root.path(), &["add", "-A"]);
        // What was built for the release serves the hook, too.
        let target = Path::new(BINARY).parent().and_then(Path::parent).unwrap();
        let ran = Command::new("git")
            .current_dir(root.path())
            .args(["-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "a"])
            .env("PATH", path())
            .env("PRE_COMMIT_HOME", home.path())
            .env("CARGO_TARGET_DIR", target)
            .output()
            .unwrap();
        let told = [ran.stdout, ran.stderr].concat();
        (ran.status.success(), String::from_utf8_lossy(&told).into_owned())
    };
    let (committed, told) = commit(CONFLICT);
    assert!(!committed && told.contains("warning[bank-conflict]: 32-way"), "{told}");
    let (committed, told) = commit(&CONFLICT.replace("tile[32][32]", "tile[32][33]"));
    assert!(committed, "{told}");
}

#[test]
fn the_hook_that_takes_the_installed_binary_works() {
    if !installed("pre-commit") {
        return;
    }
    let hooks = tempfile::tempdir().unwrap();
    fs::copy(".pre-commit-hooks.yaml", hooks.path().join(".pre-commit-hooks.yaml")).unwrap();
    the_hook_stops_a_conflict_and_lets_the_repaired_file_through(hooks.path(), "cudalint-system");
}

#[test]
fn the_hook_that_builds_the_program_works() {
    if std::env::var_os("CUDALINT_RUST_HOOK").is_none() {
        println!("set CUDALINT_RUST_HOOK to test it: it builds a release, which takes minutes");
        return;
    }
    if !installed("pre-commit") {
        return;
    }
    let hooks = tempfile::tempdir().unwrap();
    let listed = Command::new("git").args(["ls-files", "-z"]).output().unwrap();
    for name in String::from_utf8(listed.stdout).unwrap().split_terminator('\0') {
        let to = hooks.path().join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(name, to).unwrap();
    }
    the_hook_stops_a_conflict_and_lets_the_repaired_file_through(hooks.path(), "cudalint");
}

#[test]
fn the_action_and_the_snippets_of_the_documentation_follow_their_schemas() {
    if !installed("check-jsonschema") {
        return;
    }
    let valid = |schema: &str, file: &Path| {
        let mut command = Command::new("check-jsonschema");
        let ran = command.args(["--builtin-schema", schema]).arg(file).output().unwrap();
        assert!(ran.status.success(), "{}: {}", file.display(), String::from_utf8_lossy(&ran.stdout));
    };
    valid("vendor.github-actions", Path::new("action.yml"));
    let page = fs::read_to_string("docs/ci.md").unwrap();
    let root = tempfile::tempdir().unwrap();
    let file = root.path().join("snippet.yml");
    let mut found = 0;
    for (name, schema) in [
        (".github/workflows/cudalint.yml", "vendor.github-workflows"),
        (".gitlab-ci.yml", "vendor.gitlab-ci"),
    ] {
        for block in page.split(&format!("```yaml\n# {name}\n")).skip(1) {
            fs::write(&file, block.split_once("```").unwrap().0).unwrap();
            valid(schema, &file);
            found += 1;
        }
    }
    assert_eq!(found, 2);
}

#[test]
fn the_check_of_the_action_annotates_and_writes_sarif() {
    let action = fs::read_to_string("action.yml").unwrap();
    let step = action.split("id: check").nth(1).unwrap().split("run: |\n").nth(1).unwrap();
    let indented = step.lines().take_while(|line| line.starts_with("        ") || line.is_empty());
    let script: String = indented.map(|line| format!("{}\n", line.trim_start_matches("        "))).collect();
    let root = tempfile::tempdir().unwrap();
    let bin = root.path().join("cudalint/bin");
    fs::create_dir_all(&bin).unwrap();
    std::os::unix::fs::symlink(BINARY, bin.join("cudalint")).unwrap();
    fs::write(root.path().join("a.cu"), CONFLICT).unwrap();
    for (paths, arguments, code) in
        [("*.cu", "--target sm_80", "1"), ("a.cu", "-A all", "0"), ("b.cu", "", "2")]
    {
        let out = root.path().join("out");
        fs::write(&out, "").unwrap();
        let ran = Command::new("bash")
            .current_dir(root.path())
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script])
            .env("RUNNER_TEMP", root.path())
            .env("GITHUB_OUTPUT", &out)
            .env("PATHS", paths)
            .env("ARGS", arguments)
            .output()
            .unwrap();
        assert!(ran.status.success(), "the last step fails, so that the upload is made");
        let outputs = fs::read_to_string(&out).unwrap();
        assert!(outputs.contains(&format!("code={code}\n")), "{outputs}");
        assert_eq!(outputs.contains("sarif="), code != "2");
        assert_eq!(ran.stdout.starts_with(b"::warning file=a.cu,"), code == "1");
        if code != "2" {
            let sarif = fs::read_to_string(root.path().join("cudalint.sarif")).unwrap();
            let log: serde_json::Value = serde_json::from_str(&sarif).unwrap();
            assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), usize::from(code == "1"));
        }
    }
}
