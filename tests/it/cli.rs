//! What does the program do, seen from outside: exit codes, stdout, stderr?

use crate::support::folder::folder;
use assert_cmd::Command;
use std::fs;
use std::path::Path;

/// A column read of a 32 x 32 tile: one finding whatever the defaults are.
const CONFLICT: &str = "\
__global__ void transpose(float *out, const float *in) {
    __shared__ float tile[32][32];
    tile[threadIdx.y][threadIdx.x] = in[threadIdx.y * 32 + threadIdx.x];
    __syncthreads();
    out[threadIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
void launch(float *out, const float *in) { transpose<<<1, dim3(32, 32)>>>(out, in); }
";
const CLEAN: &str = "__global__ void scale(float *x) { x[threadIdx.x] *= 2; }\n";

struct Ran {
    code: i32,
    stdout: String,
    stderr: String,
}

fn command(root: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    command.current_dir(root).args(arguments).env_remove("NO_COLOR");
    command
}

fn run(root: &Path, arguments: &[&str]) -> Ran {
    let output = command(root, arguments).output().unwrap();
    Ran {
        code: output.status.code().unwrap(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn nothing_found_is_success() {
    let root = folder(&[("a.cu", CLEAN), ("b/c.cuh", ""), ("b/d.h", CLEAN), ("b/plain.h", "int f();")]);
    let ran = run(root.path(), &["."]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(ran.stderr, "cudalint: no findings in 3 files\n");
    let ran = run(root.path(), &["check", "-q", "a.cu"]);
    assert_eq!((ran.code, ran.stdout, ran.stderr), (0, String::new(), String::new()));
}

#[test]
fn a_finding_exits_1() {
    let root = folder(&[("a.cu", CONFLICT), ("b.cu", CLEAN)]);
    let ran = run(root.path(), &["a.cu", "b.cu"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.starts_with("warning[bank-conflict]: "), "{}", ran.stdout);
    assert!(ran.stdout.contains("┌─ a.cu:5:43\n"), "{}", ran.stdout);
    assert!(ran.stderr.starts_with("cudalint: 1 warning in 1 of 2 files"), "{}", ran.stderr);
}

#[test]
fn a_note_is_told_and_exits_0() {
    let code = "\
__global__ void columns(float *out, int ld) {
    extern __shared__ float s[];
    out[threadIdx.x] = s[threadIdx.x * ld];
}
void launch(float *out, int ld) { columns<<<1, 32, 4096>>>(out, ld); }
";
    let root = folder(&[("a.cu", code)]);
    let ran = run(root.path(), &["--format", "short", "a.cu"]);
    assert_eq!(ran.code, 0);
    assert!(ran.stdout.starts_with("a.cu:3:24: note[stride-dependent-conflict]: whether"), "{}", ran.stdout);
    let ran = run(root.path(), &["--format", "short", "-W", "stride-dependent-conflict", "a.cu"]);
    assert_eq!(ran.code, 1);
    let ran = run(root.path(), &["accesses", "--format", "json", "a.cu"]);
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["status"], "depends");
    assert_eq!(value["table"]["symbols"][0], serde_json::json!({"name": "ld", "modulus": 32}));
    let row = |residue: usize| value["table"]["rows"][residue]["worst"].clone();
    assert_eq!([row(0), row(1), row(2), row(24)], [32, 1, 2, 8]);
}

#[test]
fn levels_decide_the_word_and_the_exit_code() {
    let root = folder(&[("a.cu", CONFLICT)]);
    for (flags, code, word) in [
        (&["-D", "all"][..], 1, "error["),
        (&["-N", "bank-conflict"], 0, "note["),
        (&["-A", "all"], 0, ""),
        (&["-A", "all", "-W", "bank-conflict"], 1, "warning["),
    ] {
        let ran = run(root.path(), &[&["a.cu"], flags].concat());
        assert_eq!(ran.code, code, "{flags:?}");
        assert!(ran.stdout.starts_with(word) && ran.stdout.is_empty() == word.is_empty(), "{flags:?}");
    }
}

#[test]
fn what_an_undecided_condition_leaves_out_is_counted() {
    let open = format!("#if HAS(TILES)\n#else\n{CONFLICT}\n#endif\n");
    let root = folder(&[("a.cu", &open)]);
    let counted = "; 1 finding left out under an `#if` that asks a macro which nothing defines\n";
    let ran = run(root.path(), &["-D", "all", "a.cu"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.ends_with(counted), "{}", ran.stderr);
    // What is not told anyway is not counted.
    let ran = run(root.path(), &["-A", "all", "a.cu"]);
    assert!(!ran.stderr.contains("left out"), "{}", ran.stderr);
    fs::write(root.path().join("a.cu"), format!("#define HAS(x) 0\n{open}")).unwrap();
    let ran = run(root.path(), &["-D", "all", "a.cu"]);
    assert_eq!(ran.code, 1, "{}", ran.stderr);
}

#[test]
fn comments_silence_findings_and_are_counted() {
    let allowed =
        CONFLICT.replace("[threadIdx.y];\n}", "[threadIdx.y]; // cudalint: allow(bank-conflict): x\n}");
    let root = folder(&[("a.cu", &allowed), ("b.cu", CONFLICT)]);
    let ran = run(root.path(), &["-D", "all", "a.cu"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert!(ran.stderr.starts_with("cudalint: no findings in 1 file"), "{}", ran.stderr);
    assert!(ran.stderr.ends_with("; 1 finding silenced by comments\n"), "{}", ran.stderr);
    let fixed = allowed.replace("tile[32][32]", "tile[32][33]");
    fs::write(root.path().join("a.cu"), fixed).unwrap();
    let ran = run(root.path(), &["--format", "short", "a.cu"]);
    assert_eq!(ran.code, 1);
    assert_eq!(
        ran.stdout,
        "a.cu:5:94: warning[unused-directive]: there is no finding of `bank-conflict` here\n"
    );
}

#[test]
fn a_baseline_hides_what_was_there_and_nothing_else() {
    let root = folder(&[("a.cu", CONFLICT)]);
    let ran = run(root.path(), &["--write-baseline", "known.json", "a.cu"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (0, ""));
    assert_eq!(ran.stderr, "cudalint: wrote 1 finding to `known.json`\n");
    let checked = |text: &str| {
        fs::write(root.path().join("a.cu"), text).unwrap();
        let ran = run(root.path(), &["--baseline", "known.json", "--format", "short", "a.cu"]);
        let lines: Vec<String> =
            ran.stdout.lines().map(|line| line.split(':').take(2).collect::<Vec<_>>().join(":")).collect();
        (ran.code, lines)
    };
    assert_eq!(checked(CONFLICT), (0, vec![]));
    let moved = format!(
        "// new\n\n{}",
        CONFLICT.replace("    out[", "\t\tout [").replace("[threadIdx.x][", "[ threadIdx.x ]\n[")
    );
    assert_eq!(checked(&moved), (0, vec![]), "moved, re-indented and wrapped");
    let line = CONFLICT.lines().nth(4).unwrap();
    let second =
        CONFLICT.replace(line, &format!("{line} __syncthreads();\n{}", line.replace("] = ", "] += ")));
    assert_eq!(checked(&second), (1, vec!["a.cu:6".to_owned()]), "a second one of the same words");
    let other = CONFLICT.replace("transpose", "copy");
    assert_eq!(checked(&other), (1, vec!["a.cu:5".to_owned()]), "in another kernel");
    fs::write(root.path().join("a.cu"), CONFLICT).unwrap();
    let ran = run(root.path(), &["--baseline", "known.json", "a.cu"]);
    assert!(ran.stderr.ends_with("; 1 finding in the baseline\n"), "{}", ran.stderr);
    for (name, text) in [("none.json", None), ("broken.json", Some("{"))] {
        if let Some(text) = text {
            fs::write(root.path().join(name), text).unwrap();
        }
        let ran = run(root.path(), &["--baseline", name, "a.cu"]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{name}");
        assert!(ran.stderr.contains(name), "{}", ran.stderr);
    }
    let ran = run(root.path(), &["--write-baseline", "half.json", "a.cu", "none.cu"]);
    assert_eq!((ran.code, root.path().join("half.json").exists()), (2, false));
}

#[test]
fn the_short_format_is_one_line_per_finding() {
    let root = folder(&[("a.cu", CONFLICT)]);
    let ran = run(root.path(), &["--format", "short", "a.cu"]);
    assert_eq!(ran.code, 1);
    assert_eq!(ran.stdout.lines().count(), 1);
    assert!(ran.stdout.starts_with("a.cu:5:43: warning[bank-conflict]: `tile`: 32-way"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "", "only the text format has a summary");
}

#[test]
fn the_json_format_is_one_object_per_line() {
    let root = folder(&[("a.cu", CONFLICT)]);
    let ran = run(root.path(), &["--format=json", "a.cu"]);
    assert_eq!((ran.code, ran.stdout.lines().count()), (1, 1));
    let value: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(value["rule"], "bank-conflict");
    assert_eq!((&value["file"], &value["line"], &value["column"]), (&"a.cu".into(), &5.into(), &43.into()));
    let (start, end) = (value["byte_start"].as_u64().unwrap(), value["byte_end"].as_u64().unwrap());
    assert_eq!(&CONFLICT[start as usize..end as usize], "tile[threadIdx.x][threadIdx.y]");
}

#[test]
fn every_field_of_the_json_formats_is_documented() {
    let root = folder(&[("a.cu", CONFLICT)]);
    let document = include_str!("../../docs/json.md");
    for arguments in [&["--format=json", "a.cu"][..], &["accesses", "--format=json", "a.cu"]] {
        let ran = run(root.path(), arguments);
        let first = ran.stdout.lines().next().expect("there is output");
        let value: serde_json::Value = serde_json::from_str(first).unwrap();
        for field in value.as_object().unwrap().keys() {
            assert!(document.contains(&format!("`{field}`")), "{field} is not in docs/json.md");
        }
    }
}

#[test]
fn an_unsaved_buffer_is_taken_for_its_file() {
    let launch =
        "#include \"k.cuh\"\nvoid f(float *o, const float *i) { transpose<<<1, dim3(32, 32)>>>(o, i); }\n";
    let kernel = CONFLICT.lines().take(6).collect::<Vec<_>>().join("\n");
    let root = folder(&[("src/a.cu", CLEAN), ("src/k.cuh", &kernel), ("src/b.cu", launch)]);
    let checked = |arguments: &[&str], text: &str| {
        let output = command(root.path(), &[&["--format", "short"], arguments].concat())
            .write_stdin(text.to_owned())
            .output()
            .unwrap();
        let lines = String::from_utf8(output.stdout).unwrap();
        let places = lines.lines().map(|line| line.split(": ").next().unwrap().to_owned());
        (output.status.code().unwrap(), places.collect::<Vec<_>>())
    };
    assert_eq!(checked(&["--stdin-filename", "src/a.cu"], CONFLICT), (1, vec!["src/a.cu:5:43".to_owned()]));
    assert_eq!(
        checked(&["--stdin-filename", "src/new.cu"], CONFLICT),
        (1, vec!["src/new.cu:5:43".to_owned()])
    );
    assert_eq!(
        checked(&["--stdin-filename", "src/../src/b.cu", "src"], CLEAN),
        (1, vec!["src/k.cuh:5:43".to_owned()])
    );
    let padded = kernel.replace("tile[32][32]", "tile[32][33]");
    assert_eq!(checked(&["--stdin-filename", "src/k.cuh", "src/b.cu"], &padded), (0, vec![]));
}

#[test]
fn a_missing_file_does_not_hide_the_others() {
    let root = folder(&[("a.cu", CONFLICT)]);
    let ran = run(root.path(), &["none.cu", "a.cu"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("cudalint: error: `none.cu` does not exist\n"), "{}", ran.stderr);
    assert!(ran.stderr.contains(" of 1 file"), "the other file is checked: {}", ran.stderr);
}

#[test]
fn patterns_are_expanded_when_the_shell_did_not() {
    let root = folder(&[("src/a.cu", CLEAN), ("src/deep/b.cu", CLEAN)]);
    assert_eq!(run(root.path(), &["src/**/*.cu"]).stderr, "cudalint: no findings in 2 files\n");
    let ran = run(root.path(), &["*.cu"]);
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (2, "cudalint: error: no file matches `*.cu`\ncudalint: no findings in 0 files\n")
    );
}

#[test]
fn a_folder_without_cuda_is_a_warning() {
    let root = folder(&[("docs/a.txt", "")]);
    let ran = run(root.path(), &["-q", "docs"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, "cudalint: warning: no CUDA files in `docs`\n"));
}

#[test]
fn text_that_is_not_utf8_is_checked_all_the_same() {
    let root = folder(&[]);
    let bytes = [b"// caf\xe9 \xff\xfe\n", CONFLICT.as_bytes()].concat();
    fs::write(root.path().join("a.cu"), bytes).unwrap();
    let ran = run(root.path(), &["--format", "short", "a.cu"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    assert!(ran.stdout.starts_with("a.cu:6:43: warning[bank-conflict]"), "{}", ran.stdout);
}

#[test]
fn empty_and_binary_files_do_no_harm() {
    let root = folder(&[("empty.cu", "")]);
    let noise: Vec<u8> = (0..40_000_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    fs::write(root.path().join("noise.cu"), noise).unwrap();
    let ran = run(root.path(), &["-q", "."]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
}

#[test]
fn output_is_the_same_for_any_number_of_threads() {
    let texts: Vec<(String, String)> = (0..24)
        .map(|at| {
            (format!("{}/f{at}.cu", at % 5), format!("{}{CONFLICT}", "// padding\n".repeat(at * 7 % 11)))
        })
        .collect();
    let files: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let root = folder(&files);
    for command in [&["check"][..], &["accesses"], &["dump", "--stage=hir"], &["dump", "--stage=events"]] {
        let with = |threads| run(root.path(), &[command, &["--threads", threads, "."]].concat());
        let one = with("1");
        assert!(!one.stdout.is_empty(), "{command:?} prints something");
        for threads in ["2", "7"] {
            let many = with(threads);
            assert_eq!(
                (many.code, many.stdout, many.stderr),
                (one.code, one.stdout.clone(), one.stderr.clone())
            );
        }
    }
}

#[test]
fn usage_errors_exit_2_and_say_what_is_meant() {
    let root = folder(&[("a.cu", CLEAN)]);
    for (arguments, says) in [
        (&["-D", "bank-conflicts", "a.cu"][..], "'bank-conflict'"),
        (&["--format", "xml", "a.cu"], "xml"),
        (&["--block", "2048", "a.cu"], "1024"),
        (&["explain", "bank-conflits"], "did you mean `bank-conflict`?"),
        (&["explain", "a.cu"], "a place is written as in `src/a.cu:12`"),
        (&["explain", "b.cu:1"], "b.cu"),
        (&["--no-such-flag", "a.cu"], "--no-such-flag"),
        (&["--add-allow", "--fix", "a.cu"], "--fix"),
        (&["config"], "<FILE>"),
        (&["--exclude", "a[", "a.cu"], "`a[` is not a pattern"),
    ] {
        let ran = run(root.path(), arguments);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(says), "{arguments:?}: {}", ran.stderr);
    }
}

#[test]
fn help_mentions_everything() {
    let root = folder(&[]);
    let ran = run(root.path(), &["--help"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for word in [
        "check",
        "accesses",
        "banks",
        "rules",
        "explain",
        "config",
        "init",
        "completions",
        "man",
        "lsp",
        "dump",
        "--exclude",
        "--no-ignore",
        "--exit-zero",
        "--add-allow",
        "--no-baseline",
        "--hyperlinks",
        "--changed-since",
        "--stdin-filename",
        "--context",
        "-p <DIR>",
        "--no-compile-commands",
        "cudalint: allow(RULE)",
        "PATHS",
        "--target",
        "--bank-size",
        "--block",
        "--define",
        "-I",
        "--threads",
        "--quiet",
        "--format",
        "--output",
        "--baseline",
        "--write-baseline",
        "--fix",
        "--diff",
        "--unsafe-fixes",
        "--color",
        "-A, --allow",
        "-N, --note",
        "-W, --warn",
        "-D, --deny",
        "Exit codes",
    ] {
        assert!(ran.stdout.contains(word), "--help does not mention {word}:\n{}", ran.stdout);
    }
    let ran = run(root.path(), &["--version"]);
    let start = format!("cudalint {} (tree-sitter-cuda ", env!("CARGO_PKG_VERSION"));
    assert!(ran.code == 0 && ran.stdout.starts_with(&start), "{}", ran.stdout);
}

#[test]
fn completions_and_the_manual_page_know_every_flag() {
    let root = folder(&[("a.cu", CLEAN)]);
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = run(root.path(), &["completions", shell]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
        for word in ["unsafe-fixes", "write-baseline", "changed-since", "accesses", "explain"] {
            assert!(ran.stdout.contains(word), "{shell}: {word}");
        }
    }
    let ran = run(root.path(), &["man"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    assert!(ran.stdout.contains(".TH cudalint 1") && ran.stdout.contains("unsafe\\-fixes"), "{}", ran.stdout);
    let script = run(root.path(), &["completions", "bash"]).stdout;
    fs::write(root.path().join("complete.bash"), script).unwrap();
    let line = "source ./complete.bash && COMP_WORDS=(cudalint --unsafe) COMP_CWORD=1 \
                && _cudalint cudalint --unsafe cudalint && echo \"${COMPREPLY[@]}\"";
    let Ok(output) = std::process::Command::new("bash").current_dir(root.path()).args(["-c", line]).output()
    else {
        return;
    };
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "--unsafe-fixes\n");
    let line = "source ./complete.bash && COMP_WORDS=(cudalint explain bank) COMP_CWORD=2 \
                && _cudalint cudalint bank explain && echo \"${COMPREPLY[@]}\"";
    let mut bash = std::process::Command::new("bash");
    let output = bash.current_dir(root.path()).args(["-c", line]).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "bank-conflict\n");
}

#[test]
fn a_header_is_found_below_the_folders_given_unless_two_are_as_near() {
    let kernel = "#include \"pitch.cuh\"\n__global__ void column(float *out) {\n    __shared__ float tile[32][PITCH];\n    tile[threadIdx.x][0] = out[threadIdx.x];\n}\nvoid launch(float *out) { column<<<1, 32>>>(out); }\n";
    let (conflicts, free) = ("#define PITCH 32\n", "#define PITCH 33\n");
    let root = folder(&[("src/a.cu", kernel), ("include/pitch.cuh", conflicts)]);
    assert_eq!(run(root.path(), &["-q", "."]).code, 1);
    // A build may mean another one: what is not given is not looked for.
    assert_eq!(run(root.path(), &["-q", "src"]).code, 0);
    let root = folder(&[("src/a.cu", kernel), ("src/lib/pitch.cuh", free), ("test/pitch.cuh", conflicts)]);
    assert_eq!(run(root.path(), &["-q", "."]).code, 0);
    let root = folder(&[("src/a.cu", kernel), ("one/pitch.cuh", conflicts), ("two/pitch.cuh", conflicts)]);
    let ran = run(root.path(), &["accesses", "."]);
    assert!(ran.stdout.contains("it depends on `PITCH`"), "{}", ran.stdout);
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let root = folder(&[]);
    let ran = run(root.path(), &["man", "--output", "share/man1"]);
    assert_eq!((ran.code, ran.stdout.as_str(), ran.stderr.as_str()), (0, "", ""));
    let page = |name: &str| fs::read_to_string(root.path().join("share/man1").join(name)).unwrap();
    let first = page("cudalint.1");
    for command in [
        "check",
        "accesses",
        "banks",
        "rules",
        "config",
        "init",
        "completions",
        "man",
        "explain",
        "lsp",
        "dump",
    ] {
        assert!(first.contains(&format!("cudalint\\-{command}(1)")), "{command}");
        assert!(page(&format!("cudalint-{command}.1")).starts_with(".ie"), "{command}");
    }
    assert!(page("cudalint-explain.1").contains("LINE"));
    fs::write(root.path().join("file"), "").unwrap();
    let ran = run(root.path(), &["man", "--output", "file"]);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("cudalint: error: cannot write into `file`: "), "{}", ran.stderr);
}

#[test]
fn rules_and_explain_print_the_documentation() {
    let root = folder(&[]);
    let list = run(root.path(), &["rules"]);
    assert_eq!(list.code, 0);
    for rule in cudalint::rules::ALL {
        assert!(list.stdout.contains(rule.id) && list.stdout.contains(rule.summary));
        let ran = run(root.path(), &["explain", rule.id]);
        assert_eq!(ran.code, 0);
        assert!(ran.stdout.starts_with(&format!("# {}\n\n## What it does\n", rule.id)), "{}", ran.stdout);
        assert!(!ran.stdout.contains("//!"), "{}", ran.stdout);
        assert!(!ran.stdout.contains("pub static RULE"), "{}", ran.stdout);
    }
}

#[test]
fn accesses_lists_what_is_known() {
    let root = folder(&[("a.cu", CONFLICT)]);
    let ran = run(root.path(), &["accesses", "--format", "json", "a.cu"]);
    assert_eq!(ran.code, 0, "findings are not this command's business");
    let rows: Vec<serde_json::Value> =
        ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let read =
        rows.iter().find(|row| row["op"] == "load" && row["array"] == "tile").expect("the read is listed");
    assert_eq!(read["block"], serde_json::json!([32, 32, 1]));
    assert_eq!((&read["worst"], &read["worst_ideal"]), (&32.into(), &1.into()));
    assert!(ran.stderr.contains("2 accesses: "), "{}", ran.stderr);
    let table = run(root.path(), &["accesses", "-q", "a.cu"]);
    assert!(table.stdout.starts_with("a.cu\n"), "{}", table.stdout);
    let summary = run(root.path(), &["accesses", "-q", "--summary", "a.cu"]);
    assert!(summary.stdout.contains("share"), "{}", summary.stdout);
}

#[test]
fn banks_draws_arrays_and_compares_tables() {
    let root = folder(&[
        (
            "good.csv",
            "ld,4,ffffffff,0 4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64 68 72 76 80 84 88 92 96 100 104 108 112 116 120 124,1\n",
        ),
        ("bad.csv", "ld,4,00000003,0 128 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0,1\n"),
        ("broken.csv", "hello\n"),
    ]);
    let ran = run(root.path(), &["banks", "--elem", "float", "--shape", "32,33", "--target", "sm_20,9.0"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (0, ""));
    for target in ["sm_20", "sm_90"] {
        let title = format!("t[32][33] of 4-byte elements on {target}: ");
        assert!(ran.stdout.contains(&title), "{}", ran.stdout);
    }
    for (table, code, says) in [
        ("good.csv", 0, "1 agree, 0 disagree"),
        ("bad.csv", 1, "0 agree, 1 disagree"),
        ("broken.csv", 2, "broken.csv:1: "),
        ("none.csv", 2, "cannot read `none.csv`"),
    ] {
        let ran = run(root.path(), &["banks", "--requests", table]);
        assert_eq!(ran.code, code, "{table}: {}", ran.stderr);
        assert!(ran.stderr.contains(says), "{table}: {}", ran.stderr);
    }
    for (elem, shape) in [("quux", "4"), ("float", "0"), ("float5", "4"), ("0", "4")] {
        let ran = run(root.path(), &["banks", "--elem", elem, "--shape", shape]);
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{elem} {shape}");
    }
}

#[test]
fn several_targets_are_told_apart() {
    let root = folder(&[("a.cu", &CONFLICT.replace("32", "16"))]);
    let ran = run(root.path(), &["--target", "sm_90,sm_13,sm_86", "a.cu"]);
    assert!(ran.stdout.contains("8-way bank conflict"), "{}", ran.stdout);
    let note = "note: the figures are for sm_90 and sm_86; on sm_13: 32 wavefronts instead of 2\n";
    assert!(ran.stdout.contains(note), "{}", ran.stdout);
    assert!(ran.stderr.contains("(targets: sm_13, sm_86, sm_90)"), "{}", ran.stderr);
}

#[test]
fn colours_only_when_asked_for_off_a_terminal() {
    let root = folder(&[("a.cu", CONFLICT)]);
    assert!(!run(root.path(), &["a.cu"]).stdout.contains('\x1b'));
    assert!(!run(root.path(), &["--color", "never", "a.cu"]).stdout.contains('\x1b'));
    assert!(run(root.path(), &["--color", "always", "a.cu"]).stdout.contains('\x1b'));
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Stdio;
    use std::time::Duration;

    #[test]
    fn a_pipe_is_refused_not_read() {
        let root = folder(&[("b.cu", CLEAN)]);
        let made = std::process::Command::new("mkfifo").arg(root.path().join("a.cu")).status().unwrap();
        assert!(made.success());
        for argument in ["a.cu", "."] {
            let mut command = command(root.path(), &["-q", argument]);
            let output = command.timeout(Duration::from_secs(20)).output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(2), "{argument}");
            assert!(stderr.starts_with("cudalint: error: `"), "{stderr}");
            assert!(stderr.ends_with("a.cu` is not a regular file\n"), "{stderr}");
        }
    }

    #[test]
    fn a_loop_of_links_is_reported_and_the_rest_checked() {
        let root = folder(&[("src/a.cu", CLEAN)]);
        symlink(root.path().join("src"), root.path().join("src/again")).unwrap();
        let ran = run(root.path(), &["src"]);
        assert_eq!(ran.code, 2);
        let mut lines = ran.stderr.lines();
        assert_eq!(
            lines.next().unwrap(),
            "cudalint: error: `src/again` is a symbolic link that leads back to `src`"
        );
        assert_eq!(lines.next().unwrap(), "cudalint: no findings in 1 file");
    }

    #[test]
    fn a_file_under_two_names_is_checked_once_and_dead_links_do_not_matter() {
        let root = folder(&[("src/a.cu", CLEAN)]);
        symlink("a.cu", root.path().join("src/b.cu")).unwrap();
        symlink("gone", root.path().join("src/lib.so")).unwrap();
        let ran = run(root.path(), &["src", "src/a.cu"]);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, "cudalint: no findings in 1 file\n"));
    }

    #[test]
    fn what_may_not_be_read_is_named() {
        let root = folder(&[("secret.cu", CLEAN), ("locked/a.cu", CLEAN), ("b.cu", CLEAN)]);
        let secret = root.path().join("secret.cu");
        let locked = root.path().join("locked");
        for path in [&secret, &locked] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o000)).unwrap();
        }
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o755)).unwrap();
        // Whoever may read everything cannot see this fail: then as no one in particular, if that can be.
        let all_powerful = fs::read(&secret).is_ok();
        let ran = if all_powerful { run_as_nobody(root.path()) } else { Some(run(root.path(), &["."])) };
        fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
        let Some(ran) = ran else { return };
        assert_eq!(ran.code, 2);
        assert!(
            ran.stderr.contains("cudalint: error: cannot read `./locked`: Permission denied\n"),
            "{}",
            ran.stderr
        );
        assert!(ran.stderr.contains("cudalint: error: cannot read `secret.cu`: Permission denied\n"));
        assert!(ran.stderr.ends_with("cudalint: no findings in 1 file\n"), "{}", ran.stderr);
    }

    /// `None` where that user cannot be taken on, or may not start the program.
    fn run_as_nobody(root: &Path) -> Option<Ran> {
        let mut command = std::process::Command::new("setpriv");
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups", env!("CARGO_BIN_EXE_cudalint")]);
        let output = command.arg(".").current_dir(root).output().ok()?;
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let (code, stdout, stderr) = (output.status.code()?, text(output.stdout), text(output.stderr));
        let started = stdout.contains("cudalint") || stderr.contains("cudalint: ");
        (started && !stderr.starts_with("setpriv: ")).then_some(Ran { code, stdout, stderr })
    }

    fn without_reader(root: &Path, arguments: &[&str]) -> (Option<i32>, String) {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_cudalint"))
            .current_dir(root)
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    }

    #[test]
    fn a_reader_that_goes_away_is_no_error() {
        let root = folder(&[("a.cu", CONFLICT)]);
        assert_eq!(without_reader(root.path(), &["explain", "bank-conflict"]), (Some(0), String::new()));
        assert_eq!(without_reader(root.path(), &["--help"]), (Some(0), String::new()));
        assert_eq!(without_reader(root.path(), &["-q", "a.cu"]), (Some(1), String::new()));
    }

    #[test]
    fn a_full_disk_is_an_error() {
        let Ok(full) = fs::File::options().write(true).open("/dev/full") else { return };
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_cudalint"))
            .arg("rules")
            .stdout(full)
            .output()
            .unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr.starts_with("cudalint: error: cannot write the output: "), "{stderr}");
    }
}
