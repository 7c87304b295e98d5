//! Does asking git what changed run a program that the repository names?

use super::{CONFLICT, run};
use crate::support::folder::folder;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

fn git(root: &Path, arguments: &[&str]) {
    let who = ["-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "init.defaultBranch=main"];
    let ran = Command::new("git").current_dir(root).args(who).args(arguments).output().unwrap();
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
}

/// A program in the repository's folder that leaves its name behind when it is run.
fn trap(root: &Path, name: &str) -> String {
    let path = root.join(".git").join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let sprung = root.join("sprung");
    fs::write(&path, format!("#!/bin/sh\necho {name} >> '{}'\ncat\n", sprung.display())).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn no_program_of_a_repository_is_run() {
    let root =
        folder(&[("a.cu", CONFLICT), (".gitattributes", "*.cu filter=evil diff=evil\n*.cuh filter=e=v.i\n")]);
    let here = root.path();
    git(here, &["init", "-q"]);
    git(here, &["add", "-A"]);
    git(here, &["commit", "-qm", "a"]);
    for key in [
        "core.fsmonitor",
        "filter.evil.clean",
        "filter.evil.smudge",
        "filter.evil.process",
        "filter.e=v.i.clean",
        "diff.evil.textconv",
        "diff.evil.command",
        "diff.external",
        "core.pager",
        "pager.diff",
        "core.sshCommand",
        "core.askPass",
        "credential.helper",
    ] {
        git(here, &["config", key, &trap(here, &key.replace('=', "-"))]);
    }
    git(here, &["config", "filter.evil.required", "true"]);
    for hook in ["post-index-change", "post-checkout", "pre-commit", "reference-transaction"] {
        trap(here, &format!("hooks/{hook}"));
    }
    fs::write(here.join("a.cu"), CONFLICT.replace("    out[", "    out[0 + ")).unwrap();
    fs::write(here.join("b.cuh"), "// new\n").unwrap();
    let index = fs::read(here.join(".git/index")).unwrap();
    for revision in ["HEAD", "HEAD...", "main"] {
        let (code, out, err) = run(here, &["--changed-since", revision, "--format", "short", "."]);
        assert_eq!((code, err.as_str()), (1, ""));
        assert!(out.starts_with("a.cu:5:47: ") && out.lines().count() == 1, "{out}");
    }
    let sprung = fs::read_to_string(here.join("sprung")).unwrap_or_default();
    assert_eq!(sprung, "", "programs were run");
    assert_eq!(fs::read(here.join(".git/index")).unwrap(), index, "nothing is written");
}

#[test]
fn what_a_clone_lacks_is_not_fetched() {
    let root = folder(&[("a.cu", CONFLICT)]);
    let here = root.path();
    git(here, &["init", "-q"]);
    git(here, &["add", "-A"]);
    git(here, &["commit", "-qm", "a"]);
    let fetch = trap(here, "fetch");
    git(here, &["config", "extensions.partialClone", "far"]);
    git(here, &["config", "remote.far.url", &format!("ext::{fetch}")]);
    git(here, &["config", "remote.far.promisor", "true"]);
    git(here, &["config", "protocol.ext.allow", "always"]);
    fs::write(here.join("a.cu"), format!("{CONFLICT}// b\n")).unwrap();
    fs::remove_dir_all(here.join(".git/objects")).unwrap();
    fs::create_dir(here.join(".git/objects")).unwrap();
    let (code, out, err) = run(here, &["--changed-since", "HEAD", "."]);
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
    assert!(!here.join("sprung").exists(), "it was fetched");
}

#[test]
fn what_the_user_tells_git_through_the_environment_still_holds() {
    let root = folder(&[("a.cu", CONFLICT), (".gitattributes", "*.cu filter=evil\n")]);
    let here = root.path();
    git(here, &["init", "-q"]);
    git(here, &["config", "filter.evil.clean", &trap(here, "clean")]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    command.current_dir(here).args(["--changed-since", "HEAD", "."]);
    // A setting that git refuses shows that it is read.
    command
        .env("GIT_CONFIG_COUNT", "1")
        .env("GIT_CONFIG_KEY_0", "core.bare")
        .env("GIT_CONFIG_VALUE_0", "maybe");
    let output = command.output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(told.contains("maybe"), "{told}");
}
