//! What is in force for a file: configuration files, compile commands, ignore files, flags?

use crate::support::folder::folder;
use crate::support::program::run;
use std::fs;
use std::path::Path;
use std::process::Command;

/// 32-way where the block is 32 x 8, none where it is 256 x 1.
const COLUMN: &str = "\
__global__ void column(float *out) {
    __shared__ float tile[32][N];
    tile[threadIdx.x % 32][threadIdx.y] = out[threadIdx.y];
}
";

/// The findings as `file:line rule level`.
fn short(root: &Path, arguments: &[&str]) -> Vec<String> {
    let (_, out, err) = run(root, &[&["--format", "short"], arguments].concat());
    assert_eq!(err, "", "{arguments:?}");
    out.lines()
        .map(|line| {
            let parts: Vec<&str> = line.splitn(5, ':').collect();
            format!("{}:{}{}", parts[0], parts[1], parts[3])
        })
        .collect()
}

#[test]
fn every_setting_reaches_the_analysis() {
    let config = "targets = ['sm_80']\ninclude = ['inc']\n[defines]\nN = 32\n[blocks]\n'*' = [32, 8]\n\
                  [levels]\nbank-conflict = 'deny'\n";
    let code = format!("#include <width.h>\n{COLUMN}");
    let root = folder(&[("cudalint.toml", config), ("src/a.cu", &code), ("inc/width.h", "#pragma once\n")]);
    let (exit, out, err) = run(root.path(), &["src"]);
    assert_eq!(exit, 1);
    assert!(out.starts_with("error[bank-conflict]: `tile`: 32-way"), "{out}{err}");
    assert!(out.contains("block is (32, 8, 1), from the configuration"), "{out}");
    assert!(err.contains("(target: sm_80)"), "{err}");
}

#[test]
fn the_command_line_wins_and_the_nearer_file_over_the_farther() {
    let root = folder(&[
        ("cudalint.toml", "[defines]\nN = 32\n[blocks]\ncolumn = [256]\n[levels]\nall = 'deny'\n"),
        ("near/cudalint.toml", "[blocks]\ncolumn = [32, 8]\n[levels]\nbank-conflict = 'note'\n"),
        ("near/a.cu", COLUMN),
        ("far.cu", COLUMN),
    ]);
    let at = |arguments: &[&str]| short(root.path(), arguments);
    assert_eq!(at(&["near"]), ["near/a.cu:3 note[bank-conflict]"]);
    assert_eq!(
        at(&["far.cu", "near/a.cu"]),
        ["far.cu:3 error[bank-conflict]", "near/a.cu:3 note[bank-conflict]"]
    );
    assert_eq!(at(&["near", "-W", "all"]), ["near/a.cu:3 warning[bank-conflict]"]);
    assert_eq!(at(&["near", "--define", "N=33"]), [] as [&str; 0]);
    let (_, out, _) = run(root.path(), &["near", "--block", "16,16"]);
    assert!(out.contains("block is (16, 16, 1), from the command line"), "{out}");
    let near = root.path().join("near");
    assert_eq!(short(&near, &["a.cu"]), ["a.cu:3 note[bank-conflict]"], "found from below");
}

#[test]
fn levels_may_be_of_some_paths_and_files_left_out() {
    let code = COLUMN.replace("[N]", "[32]");
    let root = folder(&[
        (
            "cudalint.toml",
            "exclude = ['gen/', '*_old.cu']\n[[paths]]\nfiles = ['tests/**']\nlevels = { bank-conflict = 'note' }\n",
        ),
        ("a.cu", &code),
        ("a_old.cu", &code),
        ("gen/deep/a.cu", &code),
        ("tests/a.cu", &code),
        ("uses.cu", "#include \"gen/k.cuh\"\nvoid f(float *o) { column<<<1, dim3(32, 8)>>>(o); }\n"),
        ("gen/k.cuh", &code),
    ]);
    let both = ["a.cu:3 warning[bank-conflict]", "tests/a.cu:3 note[bank-conflict]"];
    assert_eq!(short(root.path(), &["."]), both);
    assert_eq!(short(root.path(), &["gen/deep/a.cu"]), ["gen/deep/a.cu:3 warning[bank-conflict]"], "named");
}

#[test]
fn what_git_ignores_is_passed_over_unless_asked_for() {
    let code = COLUMN.replace("[N]", "[32]");
    let root = folder(&[
        (".git/info/exclude", "private.cu\n"),
        (".gitignore", "build/\n*.gen.cu\n"),
        ("sub/.gitignore", "!keep.gen.cu\n/top.cu\n"),
        ("build/a.cu", &code),
        ("sub/a.gen.cu", &code),
        ("sub/keep.gen.cu", &code),
        ("sub/top.cu", &code),
        ("private.cu", &code),
    ]);
    let names = |arguments: &[&str]| -> Vec<String> {
        short(root.path(), arguments).iter().map(|line| line.split(':').next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&["."]), ["sub/keep.gen.cu"]);
    assert_eq!(names(&["sub/top.cu", "**/*.cu"]), ["sub/keep.gen.cu", "sub/top.cu"]);
    assert_eq!(names(&["--no-ignore", "."]).len(), 5);
    fs::remove_dir_all(root.path().join(".git")).unwrap();
    assert_eq!(names(&["."]).len(), 5, "no repository, nothing ignored");
}

#[test]
fn a_mistake_stops_the_run_and_shows_the_line() {
    let root =
        folder(&[("src/cudalint.toml", "targets = ['sm_80']\nincldue = ['x']\n"), ("src/a.cu", COLUMN)]);
    for arguments in [&["src/a.cu"][..], &["."], &["accesses", "src"], &["config", "src/a.cu"]] {
        let (exit, out, err) = run(root.path(), arguments);
        assert_eq!((exit, out.as_str()), (2, ""), "{arguments:?}");
        let expected = "\
cudalint: error: there is no key `incldue`
  ┌─ src/cudalint.toml:2:1
  │
2 │ incldue = ['x']
  │ ^^^^^^^
  │
  = help: did you mean `include`?
";
        assert_eq!(err, expected, "{arguments:?}");
    }
}

#[test]
fn compile_commands_give_folders_macros_and_targets() {
    let commands = r#"[{"directory": "BUILD", "file": "../src/a.cu",
        "command": "nvcc -I../inc -DN=WIDTH -gencode arch=compute_80,code=sm_80 -c ../src/a.cu"}]"#;
    let code = format!("#include <width.h>\n{COLUMN}");
    let root = folder(&[("src/a.cu", &code), ("inc/width.h", "#define WIDTH 32\n")]);
    let build = root.path().join("build");
    fs::create_dir(&build).unwrap();
    let path = fs::canonicalize(&build).unwrap();
    fs::write(build.join("compile_commands.json"), commands.replace("BUILD", path.to_str().unwrap()))
        .unwrap();
    let (exit, out, err) = run(root.path(), &["-p", "build", "--block", "32,8", "src"]);
    assert_eq!(exit, 1, "{err}");
    assert!(out.starts_with("warning[bank-conflict]: `tile`: 32-way"), "{out}");
    assert!(err.contains("(target: sm_80)"), "{err}");
    let (_, out, _) = run(root.path(), &["config", "-p", "build", "src/a.cu"]);
    assert!(out.contains("include = \"inc\" "), "{out}");
    assert!(out.contains("# build/compile_commands.json\n"), "{out}");
    let (exit, _, err) = run(root.path(), &["-p", "none", "src"]);
    assert_eq!(exit, 2);
    assert!(err.starts_with("cudalint: error: cannot read `none`: "), "{err}");
}

/// The compile commands of a build folder, with these flags for `src/a.cu`.
fn commands(root: &Path, build: &str, flags: &str) {
    let folder = root.join(build);
    fs::create_dir_all(&folder).unwrap();
    let root = fs::canonicalize(root).unwrap();
    let entry = serde_json::json!({
        "directory": root, "file": "src/a.cu", "command": format!("nvcc {flags} -c src/a.cu"),
    });
    fs::write(folder.join("compile_commands.json"), serde_json::json!([entry]).to_string()).unwrap();
}

#[test]
fn compile_commands_are_found_where_builds_write_them() {
    let code = format!("#include <width.h>\n{COLUMN}");
    for build in ["", "build", "out", "build-debug", "cmake-build-release", "build/debug", "out/build/x64"] {
        let root = folder(&[("src/a.cu", &code), ("inc/width.h", "#define WIDTH 32\n")]);
        commands(root.path(), build, "-Iinc -DN=WIDTH -arch=sm_80");
        let name = Path::new(build).join("compile_commands.json").display().to_string();
        let (exit, out, err) = run(root.path(), &["--block", "32,8", "src"]);
        assert!(
            exit == 1 && out.starts_with("warning[bank-conflict]: `tile`: 32-way"),
            "{build}: {out}{err}"
        );
        assert!(err.contains(&format!("(target: sm_80); flags from `{name}`")), "{err}");
        let (_, out, _) = run(root.path(), &["config", "src/a.cu"]);
        assert!(out.contains(&format!("# {name}\n")), "{out}");
        assert!(out.ends_with(&format!("# found `{name}`; --no-compile-commands leaves it out\n")), "{out}");
        // From another folder, too.
        let (exit, _, err) = run(&root.path().join("src"), &["--block", "32,8", "a.cu"]);
        assert_eq!(exit, i32::from(root.path().join(".git").exists()), "outside of a repository: {err}");
    }
}

#[test]
fn the_search_for_compile_commands_ends_at_the_root_of_the_repository() {
    let code = COLUMN.replace("[N]", "[WIDTH]");
    let root = folder(&[("p/.git/HEAD", ""), ("p/src/a.cu", &code)]);
    let project = root.path().join("p");
    let finds =
        |from: &str, path: &str| run(&root.path().join(from), &["-q", "--block", "32,8", path]).0 == 1;
    commands(&project, "build", "-DWIDTH=32");
    assert!(finds("p", "src") && finds("p/src", "a.cu") && finds("", "p/src"));
    fs::remove_dir_all(project.join("build")).unwrap();
    commands(root.path(), "build", "-DWIDTH=32");
    assert!(!finds("p", "src") && !finds("", "p/src"));
}

#[test]
fn found_compile_commands_can_be_left_out_or_named() {
    let root = folder(&[("src/a.cu", COLUMN)]);
    commands(root.path(), "build", "-DN=32 -arch=sm_80");
    commands(root.path(), "elsewhere", "-DN=33");
    let finds = |arguments: &[&str]| {
        let (exit, _, err) = run(root.path(), &[&["--block", "32,8", "src"], arguments].concat());
        (exit, err.contains("flags from"))
    };
    assert_eq!(finds(&[]), (1, true));
    assert_eq!(finds(&["--no-compile-commands"]), (0, false));
    assert_eq!(finds(&["-p", "elsewhere"]), (0, false), "what the user names needs no word");
    let config = root.path().join("cudalint.toml");
    for (text, found) in [
        ("compile-commands = false\n", (0, false)),
        ("compile-commands = true\n", (1, true)),
        ("compile-commands = 'elsewhere'\n", (0, false)),
        ("compile-commands = 'elsewhere/compile_commands.json'\n", (0, false)),
    ] {
        fs::write(&config, text).unwrap();
        assert_eq!(finds(&[]), found, "{text}");
    }
    assert_eq!(finds(&["-p", "build"]), (1, false), "the command line wins");
    // What is written for this program goes before what was found.
    fs::write(&config, "targets = ['sm_70']\n[defines]\nN = 33\n").unwrap();
    assert_eq!(finds(&[]).0, 0);
    let (_, out, _) = run(root.path(), &["config", "src/a.cu"]);
    assert!(out.contains("[\"sm_70\"]") && out.contains("defines.N = \"33\""), "{out}");
    assert_eq!(finds(&["-p", "build"]).0, 1, "and after what was named");
}

#[test]
fn compile_commands_that_cannot_be_read_are_done_without() {
    let root = folder(&[("a.cu", COLUMN), ("build/compile_commands.json", "{}")]);
    let (exit, _, err) = run(root.path(), &["-q", "a.cu"]);
    assert_eq!(exit, 0);
    assert!(
        err.starts_with("cudalint: warning: `build/compile_commands.json` has no compile commands: "),
        "{err}"
    );
    assert_eq!(err.lines().count(), 1, "{err}");
    fs::write(root.path().join("cudalint.toml"), "compile-commands = 'nosuch'\n").unwrap();
    let (exit, _, err) = run(root.path(), &["-q", "a.cu"]);
    assert!(exit == 0 && err.starts_with("cudalint: warning: cannot read `nosuch`: "), "{err}");
}

#[test]
fn headers_take_what_all_files_of_the_build_have() {
    let root = folder(&[("src/a.cu", "#include \"k.cuh\"\n"), ("src/k.cuh", COLUMN)]);
    commands(root.path(), "build", "-DN=32 -arch=sm_80");
    let (exit, _, err) = run(root.path(), &["--block", "32,8", "src/k.cuh"]);
    assert!(exit == 1 && err.contains("(target: sm_80); flags from"), "{err}");
}

#[test]
fn config_says_where_each_value_comes_from() {
    let root = folder(&[
        ("cudalint.toml", "targets = ['sm_70']\n[defines]\nN = 4\nM = 1\n[levels]\nall = 'deny'\n"),
        ("src/cudalint.toml", "include = ['inc']\n[defines]\nN = 8\n[blocks]\nk = [64]\n"),
        ("src/a.cu", ""),
    ]);
    let (exit, out, err) = run(root.path(), &["config", "src/a.cu"]);
    assert_eq!((exit, err.as_str()), (0, ""));
    let squeezed: Vec<String> =
        out.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for line in [
        "targets = [\"sm_70\"] # cudalint.toml:1",
        "bank-size = 4 # default",
        "include = \"src/inc\" # src/cudalint.toml:1",
        "defines.N = \"8\" # src/cudalint.toml:3",
        "defines.M = \"1\" # cudalint.toml:4",
        "blocks.k = [64, 1, 1] # src/cudalint.toml:5",
        "levels.bank-conflict = \"deny\" # cudalint.toml:6",
    ] {
        assert!(squeezed.iter().any(|it| it == line), "{line}:\n{out}");
    }
}

#[test]
fn what_is_extended_holds_where_its_file_says_nothing() {
    let code = COLUMN.replace("[N]", "[32]");
    let root = folder(&[
        (
            "common/base.toml",
            "exclude = ['gen/']\n[blocks]\ncolumn = [32, 8]\n[levels]\nbank-conflict = 'deny'\n",
        ),
        ("a/cudalint.toml", "extends = '../common/base.toml'\n[levels]\nbank-conflict = 'note'\n"),
        ("a/a.cu", &code),
        ("a/gen/a.cu", &code),
        ("b/cudalint.toml", "extends = '../common/base.toml'\n"),
        ("b/b.cu", &code),
    ]);
    let both = ["a/a.cu:3 note[bank-conflict]", "b/b.cu:3 error[bank-conflict]"];
    assert_eq!(short(root.path(), &["."]), both);
    let (_, out, _) = run(root.path(), &["config", "b/b.cu"]);
    assert!(out.contains("# common/base.toml:5\n"), "{out}");
    fs::write(root.path().join("b/b.cu"), code.replace("column", "other")).unwrap();
    let (_, _, err) = run(root.path(), &["b"]);
    assert!(!err.contains("no file here has a kernel"), "it may be of those who extend it, too: {err}");
    fs::write(root.path().join("b/cudalint.toml"), "extends = 'base.toml'\n").unwrap();
    let (exit, out, err) = run(root.path(), &["."]);
    assert_eq!((exit, out.as_str()), (2, ""));
    let expected = "\
cudalint: error: there is no file `b/base.toml`
  ┌─ b/cudalint.toml:1:11
  │
1 │ extends = 'base.toml'
  │           ^^^^^^^^^^^
  │
  = help: the path is relative to the folder of the file it is in
";
    assert_eq!(err, expected);
}

#[test]
fn the_command_line_leaves_files_out_even_those_that_it_names() {
    let code = COLUMN.replace("[N]", "[32]");
    let root = folder(&[
        ("work/a.cu", &code),
        ("work/a_test.cu", &code),
        ("work/gen/a.cu", &code),
        ("work/k.cuh", &code),
        ("work/uses.cu", "#include \"k.cuh\"\nvoid f(float *o) { column<<<1, dim3(32, 8)>>>(o); }\n"),
        ("other/gen/a.cu", &code),
        ("other/b.cu", &code),
    ]);
    let home = root.path().join("work");
    let names = |arguments: &[&str]| -> Vec<String> {
        short(&home, arguments).iter().map(|line| line.split(':').next().unwrap().to_owned()).collect()
    };
    assert_eq!(names(&[".", "--exclude", "gen/", "--exclude", "*_test.cu"]), ["a.cu", "k.cuh"]);
    assert_eq!(
        names(&["a.cu", "a_test.cu", "--exclude", "*_test.cu"]),
        ["a.cu"],
        "as a shell expands `*.cu`"
    );
    assert_eq!(names(&["uses.cu", "--exclude", "*.cuh"]), [] as [&str; 0], "found through another file");
    assert_eq!(names(&["../other", "--exclude", "gen/", "--exclude", "/b.cu"]), ["../other/b.cu"]);
    let (exit, _, err) = run(&home, &[".", "--exclude", "a["]);
    let says = "cudalint: error: `--exclude`: `a[` is not a pattern: unclosed character class; missing ']'\n";
    assert_eq!((exit, err.as_str()), (2, says));
}

#[test]
fn a_run_is_under_the_file_of_the_folder_where_it_starts() {
    let code = COLUMN.replace("[N]", "[32]");
    let narrow = COLUMN.replace("[N]", "[16]").replace("column", "narrow");
    let config =
        "format = 'short'\nsort = 'cost'\ntop = 1\nbaseline = 'known.json'\n[blocks]\n'*' = [32, 8]\n";
    let root = folder(&[("cudalint.toml", config), ("src/a.cu", &narrow), ("src/b.cu", &code)]);
    let (exit, out, err) = run(root.path(), &["src"]);
    assert_eq!((exit, out.as_str()), (2, ""));
    assert!(err.contains("cannot read `known.json`"), "{err}");
    let (exit, _, err) = run(root.path(), &["src", "--write-baseline", "none.json", "-A", "all"]);
    assert_eq!((exit, err.as_str()), (0, "cudalint: wrote 0 findings to `none.json`\n"));
    fs::rename(root.path().join("none.json"), root.path().join("known.json")).unwrap();
    let lines = |folder: &str, arguments: &[&str]| {
        let (_, out, _) = run(&root.path().join(folder), &[&["-q"], arguments].concat());
        out.lines().map(|line| line.split(':').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(lines("", &["src"]), ["src/b.cu"]);
    assert_eq!(lines("src", &["."]), ["b.cu"], "below it, too");
    assert_eq!(lines("", &["src", "--top", "9"]), ["src/b.cu", "src/a.cu"]);
    let (_, out, _) = run(root.path(), &["src", "--format", "json"]);
    assert!(out.starts_with('{') && out.lines().count() == 1, "{out}");
    let (_, out, err) = run(root.path(), &["src", "--statistics"]);
    assert!(out.lines().count() == 3 && !err.contains("not shown"), "{out}{err}");
    let (_, out, _) = run(root.path(), &["config", "src/a.cu"]);
    for row in ["baseline = \"known.json\"", "format = \"short\"", "sort = \"cost\"", "top = 1 "] {
        assert!(out.contains(row), "{row}: {out}");
    }
    fs::remove_file(root.path().join("known.json")).unwrap();
    run(root.path(), &["src", "--write-baseline", "known.json"]);
    assert_eq!(lines("", &["src"]), [] as [&str; 0], "the baseline of the file");
    assert_eq!(lines("", &["src", "--no-baseline", "--top", "9"]), ["src/b.cu", "src/a.cu"]);
    let outside = tempfile::tempdir().unwrap();
    let path = root.path().join("src");
    let (_, out, _) = run(outside.path(), &["-q", path.to_str().unwrap()]);
    assert!(out.starts_with("warning[bank-conflict]: "), "started elsewhere: {out}");
}

#[test]
fn the_schema_is_printed_and_kept_in_the_repository() {
    let (exit, out, err) = run(Path::new("."), &["config", "--schema"]);
    assert_eq!((exit, err.as_str()), (0, ""));
    let kept = fs::read_to_string("schemas/config-1.json").unwrap();
    assert!(out == kept, "it changed: `cargo run -- config --schema > schemas/config-1.json`");
}

/// What a program for schemas says of `cudalint.toml` in a folder: whether it is well; `None` where it is
/// not installed.
fn judged(root: &Path, program: &str, arguments: &[&str]) -> Option<bool> {
    let ran = Command::new(program).current_dir(root).args(arguments).output();
    if ran.is_err() {
        println!("{program} is not installed (`pip install {program}`): nothing was tested");
    }
    Some(ran.ok()?.status.success())
}

#[test]
fn programs_for_schemas_read_what_init_writes() {
    let root = folder(&[]);
    let (exit, _, err) = run(root.path(), &["init", "--schema"]);
    assert_eq!(exit, 0, "{err}");
    let template = fs::read_to_string(root.path().join("cudalint.toml")).unwrap();
    assert!(template.starts_with("#:schema ./cudalint.schema.json\n"), "{template}");
    let uncommented: String = template
        .lines()
        .filter_map(|line| line.strip_prefix("# "))
        .filter(|line| line.starts_with('[') || line.contains(" = "))
        .map(|line| format!("{line}\n"))
        .collect();
    let said = |text: &str, well: bool| {
        fs::write(root.path().join("cudalint.toml"), format!("#:schema ./cudalint.schema.json\n{text}"))
            .unwrap();
        let check = ["--schemafile", "cudalint.schema.json", "cudalint.toml"];
        for (program, arguments) in [("check-jsonschema", &check[..]), ("taplo", &["check", "cudalint.toml"])]
        {
            if let Some(judged) = judged(root.path(), program, arguments) {
                assert_eq!(judged, well, "{program}: {text}");
            }
        }
    };
    said(&uncommented, true);
    for wrong in ["targts = ['sm_90']\n", "top = 'x'\n", "[levels]\nbank-conflicts = 'deny'\n"] {
        said(wrong, false);
    }
    let meta = judged(Path::new("."), "check-jsonschema", &["--check-metaschema", "schemas/config-1.json"]);
    assert!(meta.unwrap_or(true));
    let (exit, _, err) = run(root.path(), &["init", "--schema"]);
    assert_eq!((exit, err.as_str()), (2, "cudalint: error: `./cudalint.toml` exists already\n"));
    // The schema may come later.
    fs::remove_file(root.path().join("cudalint.schema.json")).unwrap();
    let before = fs::read(root.path().join("cudalint.toml")).unwrap();
    let (exit, _, err) = run(root.path(), &["init", "--schema"]);
    assert_eq!(exit, 0, "{err}");
    assert!(
        err.contains("`./cudalint.toml` exists already") && err.contains("wrote `./cudalint.schema.json`"),
        "{err}"
    );
    assert_eq!(fs::read(root.path().join("cudalint.toml")).unwrap(), before);
}

#[test]
fn init_writes_a_file_that_says_nothing_yet_and_never_overwrites() {
    let root = folder(&[("a.cu", COLUMN)]);
    let (exit, _, err) = run(root.path(), &["init"]);
    assert_eq!((exit, err.contains("wrote `./cudalint.toml`")), (0, true), "{err}");
    assert_eq!(run(root.path(), &["a.cu"]).0, 0);
    let (exit, _, err) = run(root.path(), &["init"]);
    assert_eq!((exit, err.as_str()), (2, "cudalint: error: `./cudalint.toml` exists already\n"));
}
