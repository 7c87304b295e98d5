//! Do the hooks for pre-commit and the action do what `docs/ci.md` says?

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

const BINARY: &str = env!("CARGO_BIN_EXE_cudalint");
const CONFLICT: &str = include_str!("../../fixtures/texts/column-read.cu");

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
    assert!(!committed && told.contains("warning[bank-conflict]: `tile`: 32-way"), "{told}");
    let (committed, told) = commit(&CONFLICT.replace("tile[32][32]", "tile[32][33]"));
    assert!(committed, "{told}");
}

/// What a commit under the hook of the installed binary says, and whether it was made.
struct Repository {
    root: tempfile::TempDir,
    home: tempfile::TempDir,
}

impl Repository {
    /// One with this configuration.
    fn new(config: &str) -> Repository {
        let (root, home) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        git(root.path(), &["init", "-q"]);
        fs::write(root.path().join(".pre-commit-config.yaml"), config).unwrap();
        let mut install = Command::new("pre-commit");
        assert!(install.current_dir(root.path()).arg("install").output().unwrap().status.success());
        Repository { root, home }
    }

    /// Commits one file alone.
    fn commit(&self, file: &str, text: &str) -> (bool, String) {
        let path = self.root.path().join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        git(self.root.path(), &["add", file]);
        self.run(&["git", "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-qm", "a"])
    }

    fn run(&self, words: &[&str]) -> (bool, String) {
        let mut command = Command::new(words[0]);
        command.current_dir(self.root.path()).args(&words[1..]);
        let ran = command.env("PATH", path()).env("PRE_COMMIT_HOME", self.home.path()).output().unwrap();
        let told = [ran.stdout, ran.stderr].concat();
        (ran.status.success(), String::from_utf8_lossy(&told).into_owned())
    }
}

const KERNEL: &str = "\
#include \"k.h\"
__global__ void column(float *out) {
    __shared__ float s[32][32];
    s[threadIdx.y % 32][threadIdx.x % 32] = out[threadIdx.y];
}
";

/// A launch with this block.
fn launch(block: &str) -> String {
    format!(
        "#include \"k.h\"\nvoid run(float *o) {{\n    dim3 block({block});\n    column<<<1, block>>>(o);\n}}\n"
    )
}

#[test]
fn a_kernel_is_judged_by_a_launch_that_is_not_committed_with_it() {
    if !installed("pre-commit") {
        return;
    }
    let hooks = tempfile::tempdir().unwrap();
    fs::copy(".pre-commit-hooks.yaml", hooks.path().join(".pre-commit-hooks.yaml")).unwrap();
    let revision = committed(hooks.path());
    let hook = |arguments: &str| {
        let repo = hooks.path().display();
        format!("repos:\n- repo: {repo}\n  rev: {revision}\n  hooks:\n  - id: cudalint-system\n{arguments}")
    };
    let repository = Repository::new(&hook(""));
    let clean = KERNEL.replace("[32][32]", "[32][33]");
    assert!(repository.commit("k.h", "__global__ void column(float *out);\n").0);
    assert!(repository.commit("host/main.cu", &launch("1, 32")).0);
    assert!(repository.commit("gpu/k.cu", &clean).0);
    // The kernel alone, then a launch alone, then a header alone.
    let (made, told) = repository.commit("gpu/k.cu", KERNEL);
    assert!(!made && told.contains("32-way") && told.contains("from the launch at host/main.cu:4"), "{told}");
    git(repository.root.path(), &["checkout", "-q", "HEAD", "--", "gpu/k.cu"]);
    assert!(repository.commit("host/main.cu", &launch("256")).0);
    assert!(repository.commit("gpu/k.cu", KERNEL).0, "no conflict with this block");
    let (made, told) = repository.commit("host/main.cu", &launch("1, 32"));
    assert!(!made && told.contains("gpu/k.cu:4:"), "{told}");
    assert!(repository.commit("host/main.cu", &launch("64")).0);
    let (made, told) = repository.commit(
        "gpu/k2.h",
        &KERNEL
            .replace("column", "column2")
            .replace("threadIdx.x % 32", "0")
            .replace("threadIdx.y", "threadIdx.x"),
    );
    assert!(!made && told.contains("gpu/k2.h:4:"), "{told}");
    git(repository.root.path(), &["rm", "-qf", "gpu/k2.h"]);
    // What was there before stops no one who asks for what is new.
    git(repository.root.path(), &["commit", "-qnm", "old", "--allow-empty"]);
    fs::write(repository.root.path().join("host/main.cu"), launch("1, 32")).unwrap();
    git(repository.root.path(), &["commit", "-qanm", "a conflict"]);
    let config = hook("    args: [--changed-since, HEAD, --]\n");
    fs::write(repository.root.path().join(".pre-commit-config.yaml"), config).unwrap();
    git(repository.root.path(), &["add", "-A"]);
    let (made, told) = repository.commit("gpu/k.cu", &format!("// new\n{KERNEL}"));
    assert!(made, "{told}");
    let (made, told) =
        repository.commit("gpu/k.cu", &KERNEL.replace("= out[threadIdx.y]", "= 2 * out[threadIdx.y]"));
    assert!(!made && told.contains("32-way"), "{told}");
}

#[test]
fn the_hook_that_is_written_out_sees_the_whole_repository_too() {
    if !installed("pre-commit") {
        return;
    }
    let page = fs::read_to_string("docs/ci.md").unwrap();
    let blocks = page.split("```yaml\n# .pre-commit-config.yaml\n").skip(1);
    let local = blocks.map(|block| block.split_once("```").unwrap().0).find(|it| it.contains("repo: local"));
    let repository = Repository::new(local.unwrap());
    assert!(repository.commit("k.h", "__global__ void column(float *out);\n").0);
    assert!(repository.commit("host/main.cu", &launch("1, 32")).0);
    let (made, told) = repository.commit("gpu/k.cu", KERNEL);
    assert!(!made && told.contains("from the launch at host/main.cu:4"), "{told}");
    // All files at once, as CI has it.
    git(repository.root.path(), &["commit", "-qnm", "a"]);
    let (clean, told) = repository.run(&["pre-commit", "run", "--all-files"]);
    assert!(!clean && told.matches("32-way").count() == 1, "{told}");
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

/// The script of a step of the action.
fn script(step: &str) -> String {
    let action = fs::read_to_string("action.yml").unwrap();
    let step = action.split(&format!("    - name: {step}\n")).nth(1).unwrap();
    let step = step.split("    - name: ").next().unwrap();
    let step = step.split("run: |\n").nth(1).unwrap();
    let indented = step.lines().take_while(|line| line.starts_with("        ") || line.is_empty());
    indented.map(|line| format!("{}\n", line.trim_start_matches("        "))).collect()
}

/// The outputs and the page of a run of the action's check.
struct Checked {
    annotations: String,
    told: String,
    outputs: String,
    summary: String,
    sarif: Option<serde_json::Value>,
    /// How often the program was run.
    runs: usize,
}

/// Runs the action's check in `work`, as the server does.
fn check(work: &Path, paths: &str, arguments: &str) -> Checked {
    let server = tempfile::Builder::new().prefix("temp of runner").tempdir().unwrap();
    let file = |name: &str| server.path().join(name);
    let bin = file("cudalint/bin");
    fs::create_dir_all(&bin).unwrap();
    let program = format!("#!/bin/sh\necho run >> '{}'\nexec '{BINARY}' \"$@\"\n", file("runs").display());
    fs::write(bin.join("cudalint"), program).unwrap();
    fs::set_permissions(bin.join("cudalint"), PermissionsExt::from_mode(0o755)).unwrap();
    for name in ["output", "summary", "runs"] {
        fs::write(file(name), "").unwrap();
    }
    let ran = Command::new("bash")
        .current_dir(work)
        .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", &script("Check")])
        .env("RUNNER_TEMP", server.path())
        .env("GITHUB_OUTPUT", file("output"))
        .env("GITHUB_STEP_SUMMARY", file("summary"))
        .env("PATHS", paths)
        .env("ARGS", arguments)
        .output()
        .unwrap();
    let told = String::from_utf8(ran.stderr).unwrap();
    assert!(ran.status.success(), "the last step fails, so that the upload is made: {told}");
    let text = |name: &str| fs::read_to_string(file(name)).unwrap();
    let outputs = text("output");
    let sarif = outputs.lines().find_map(|line| line.strip_prefix("sarif="));
    let sarif = sarif.map(|path| serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap());
    Checked {
        annotations: String::from_utf8(ran.stdout).unwrap(),
        told,
        sarif,
        summary: text("summary"),
        runs: text("runs").lines().count(),
        outputs,
    }
}

#[test]
fn one_run_of_the_action_annotates_and_writes_sarif_and_a_summary() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("a.cu"), CONFLICT).unwrap();
    for (paths, arguments, code, findings) in [
        ("*.cu", "--target sm_80", "1", 1),
        ("a.cu", "-A all", "0", 0),
        ("b.cu", "", "2", 0),
        ("a.cu\nb.cu\n", "", "2", 1),
        ("a.cu", "--no-such-flag", "2", 0),
    ] {
        let Checked { annotations, outputs, summary, sarif, runs, told } =
            check(root.path(), paths, arguments);
        assert_eq!(runs, 1, "one analysis");
        assert!(outputs.contains(&format!("code={code}\n")), "{paths} {arguments}: {outputs}{told}");
        assert_eq!(annotations.matches("::warning file=a.cu,").count(), findings, "{annotations}");
        assert_eq!(sarif.is_some(), code != "2", "what is not whole is not uploaded");
        if let Some(log) = sarif {
            assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), findings);
        }
        assert_eq!(summary.contains("| warning | `bank-conflict` | 1 |"), findings == 1, "{summary}");
        assert_eq!(summary.starts_with("## cudalint\n"), arguments != "--no-such-flag", "{summary}");
    }
}

#[test]
fn inputs_of_the_action_are_names_and_words_and_nothing_is_run() {
    let root = tempfile::tempdir().unwrap();
    let names = ["a file.cu", "--output=x.cu", "$(touch sprung).cu", "it's; touch sprung.cu", "-q.cu"];
    for name in names {
        fs::write(root.path().join(name), CONFLICT).unwrap();
    }
    let ran =
        check(root.path(), &format!("\n{}\n", names.join("\n")), "--define 'A=1 2'  \"--target\"\nsm_80");
    assert_eq!((ran.told.as_str(), ran.outputs.contains("code=1\n")), ("", true));
    assert_eq!(ran.annotations.lines().count(), names.len(), "{}", ran.annotations);
    assert!(ran.summary.contains("(target: sm_80)"), "{}", ran.summary);
    let ran = check(root.path(), "a file.cu", "--define '$(touch sprung)'");
    assert!(ran.told.contains("is not a macro name"), "{}", ran.told);
    assert!(!root.path().join("sprung").exists() && !root.path().join("x.cu").exists());
}

#[test]
fn other_peoples_actions_are_named_by_their_commits() {
    let mut found = 0;
    for file in ["action.yml", "docs/ci.md"] {
        let text = fs::read_to_string(file).unwrap();
        for line in
            text.lines().filter_map(|line| line.trim_start().trim_start_matches("- ").strip_prefix("uses: "))
        {
            if line.starts_with("./") {
                continue;
            }
            let (action, version) = line.split_once(" # v").unwrap_or_else(|| panic!("{file}: {line}"));
            let commit = action.split_once('@').unwrap().1;
            assert!(commit.len() == 40 && commit.bytes().all(|it| it.is_ascii_hexdigit()), "{file}: {line}");
            assert!(version.split('.').count() == 3, "{file}: {line}");
            found += 1;
        }
    }
    assert_eq!(found, 3);
}

/// As pre-commit calls it, the user's arguments in place of the hook's or not.
#[test]
fn a_name_that_looks_like_an_option_overwrites_nothing_under_pre_commit() {
    if !installed("pre-commit") {
        return;
    }
    let hooks = tempfile::tempdir().unwrap();
    fs::copy(".pre-commit-hooks.yaml", hooks.path().join(".pre-commit-hooks.yaml")).unwrap();
    let revision = committed(hooks.path());
    let home = tempfile::tempdir().unwrap();
    for (arguments, says) in [
        ("", "┌─ --output=src/a.cu:"),
        ("    args: [--target, sm_80, --]\n", "┌─ --output=src/a.cu:"),
        ("    args: [--target, sm_80]\n", "`--output=src/a.cu` is an option and the name of a file here"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let config = format!(
            "repos:\n- repo: {}\n  rev: {revision}\n  hooks:\n  - id: cudalint-system\n{arguments}",
            hooks.path().display()
        );
        fs::write(root.path().join(".pre-commit-config.yaml"), config).unwrap();
        for folder in ["src", "--output=src"] {
            fs::create_dir(root.path().join(folder)).unwrap();
            fs::write(root.path().join(folder).join("a.cu"), CONFLICT).unwrap();
        }
        committed(root.path());
        let mut command = Command::new("pre-commit");
        command.current_dir(root.path()).env("PATH", path()).env("PRE_COMMIT_HOME", home.path());
        let ran = command.args(["run", "--all-files"]).output().unwrap();
        let told = String::from_utf8_lossy(&ran.stdout);
        assert!(!ran.status.success() && told.contains(says), "{arguments}: {told}");
        assert_eq!(fs::read_to_string(root.path().join("src/a.cu")).unwrap(), CONFLICT);
    }
}
