//! Does the language server tell an editor what the command line says of the same texts?

mod comments;
mod configuration;
mod definitions;
mod hints;

use crate::support::editor::{Editor, edited, position, uri};
use crate::support::folder::folder;
use crate::support::random::Random;
use crate::support::thorough;
use assert_cmd::Command;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const COLUMN: &str = "\
__global__ void turn(float* out) {
  __shared__ float tile[32][32];
  tile[threadIdx.y][threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x][threadIdx.y];
}
";

const LAUNCH: &str = "\
__global__ void turn(float* out);
void run(float* out) { turn<<<1, dim3(32, 32)>>>(out); }
";

/// The same kernel with rows that no two lanes share a bank in.
fn padded() -> String {
    COLUMN.replace("[32][32]", "[32][33]")
}

/// What the command line says of the files of a folder, in the words of the protocol: for each file the line
/// and column where each finding starts, its rule and its level.
fn checked(root: &Path) -> BTreeMap<String, Vec<(u64, u64, String, u64)>> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command.args(["check", "-q", "--format", "json", "."]).current_dir(root).output().unwrap();
    let mut found: BTreeMap<String, Vec<(u64, u64, String, u64)>> = BTreeMap::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let finding: Value = serde_json::from_str(line).unwrap();
        let number = |key: &str| finding[key].as_u64().unwrap() - 1;
        let level = match finding["level"].as_str().unwrap() {
            "error" => 1,
            "warning" => 2,
            _ => 3,
        };
        let rule = finding["rule"].as_str().unwrap().to_owned();
        let file = finding["file"].as_str().unwrap().to_owned();
        found.entry(file).or_default().push((number("line"), number("column"), rule, level));
    }
    found
}

/// The same of what an editor shows.
fn told(editor: &mut Editor, root: &Path) -> BTreeMap<String, Vec<(u64, u64, String, u64)>> {
    editor.settle();
    let prefix = format!("{}/", uri(root));
    let shown = editor.shown.iter().filter(|(_, (_, findings))| !findings.is_empty());
    shown
        .map(|(file, (_, findings))| {
            let place = |it: &Value| {
                let start = &it["range"]["start"];
                let number = |value: &Value| value.as_u64().unwrap();
                let rule = it["code"].as_str().unwrap().to_owned();
                (number(&start["line"]), number(&start["character"]), rule, number(&it["severity"]))
            };
            (file.strip_prefix(&prefix).unwrap().to_owned(), findings.iter().map(place).collect())
        })
        .collect()
}

#[test]
fn a_buffer_is_checked_as_it_is_shown_with_the_launches_of_other_files() {
    let root = folder(&[("k/turn.cu", &padded()), ("run.cu", LAUNCH)]);
    let path = root.path().join("k/turn.cu");
    let mut editor = Editor::open(&[root.path()], json!({}));
    assert_eq!(editor.findings(&path), [] as [Value; 0]);
    editor.show(&path, COLUMN);
    let findings = editor.findings(&path);
    assert_eq!(editor.rules(&path), ["bank-conflict"]);
    let message = findings[0]["message"].as_str().unwrap();
    assert!(message.starts_with("`tile`: 32-way bank conflict costs 94 % of "), "{message}");
    assert!(message.contains("from the launch at run.cu:2"), "{message}");
    assert_eq!(findings[0]["range"]["start"], position(4, 21));
    assert_eq!(findings[0]["range"]["end"], position(4, 51));
    assert_eq!((&findings[0]["severity"], &findings[0]["source"]), (&json!(2), &json!("cudalint")));
    // An editor that shows no other places is not told of them.
    assert!(findings[0]["relatedInformation"].is_null());
    // One character, where it stands.
    let range = json!({ "start": position(1, 29), "end": position(1, 30) });
    editor.change(&path, 2, json!([{ "range": range, "text": "3" }]));
    assert_eq!(editor.findings(&path), [] as [Value; 0]);
    assert_eq!(editor.shown[&uri(&path)].0, Some(2));
    // What is closed is what is on disk.
    editor.replace(&path, 3, COLUMN);
    assert_eq!(editor.rules(&path), ["bank-conflict"]);
    editor.close(&path);
    assert_eq!(editor.findings(&path), [] as [Value; 0]);
    // The launch is in a buffer of its own.
    editor.show(&path, COLUMN);
    editor.show(&root.path().join("run.cu"), &LAUNCH.replace("dim3(32, 32)", "dim3(1, 1)"));
    assert_eq!(editor.findings(&path), [] as [Value; 0]);
    assert!(editor.quit().success());
}

#[test]
fn a_file_that_was_never_written_is_checked_too() {
    let root =
        folder(&[("run.cu", LAUNCH), ("ignored/a.cu", ""), ("cudalint.toml", "exclude = [\"ignored\"]\n")]);
    let mut editor = Editor::open(&[root.path()], json!({}));
    let path = root.path().join("new.cu");
    editor.show(&path, COLUMN);
    assert_eq!(editor.rules(&path), ["bank-conflict"]);
    // Not so what the configuration leaves out.
    let path = root.path().join("ignored/a.cu");
    editor.show(&path, COLUMN);
    assert_eq!(editor.findings(&path), [] as [Value; 0]);
}

#[test]
fn a_file_outside_the_folders_is_checked_by_itself() {
    let root = folder(&[("run.cu", LAUNCH)]);
    let other = folder(&[("b/turn.cu", COLUMN)]);
    let path = other.path().join("b/turn.cu");
    let mut editor = Editor::open(&[root.path()], json!({}));
    editor.show(&path, &format!("// cudalint: block(32, 32)\n{COLUMN}"));
    assert_eq!(editor.rules(&path), ["bank-conflict"]);
    editor.close(&path);
    assert_eq!(editor.findings(&path), [] as [Value; 0]);
    // Nor is a folder needed at all, and C++ stays what it is.
    let mut editor = Editor::open(&[], json!({}));
    editor.show(&path, &format!("// cudalint: block(32, 32)\n{COLUMN}"));
    assert_eq!(editor.rules(&path), ["bank-conflict"]);
    let host = json!({ "uri": uri(&other.path().join("host.h")), "languageId": "cpp", "version": 1, "text": "int x;" });
    editor.tell("textDocument/didOpen", json!({ "textDocument": host }));
    editor.settle();
    assert_eq!(editor.shown.values().filter(|(_, it)| !it.is_empty()).count(), 1);
    // A folder that is opened later takes its file in.
    let event = json!({ "added": [{ "uri": uri(other.path()), "name": "b" }], "removed": [] });
    editor.tell("workspace/didChangeWorkspaceFolders", json!({ "event": event }));
    editor.replace(&path, 2, COLUMN);
    fs::write(other.path().join("run.cu"), LAUNCH).unwrap();
    editor.tell("workspace/didChangeWatchedFiles", json!({ "changes": [] }));
    let message = editor.findings(&path)[0]["message"].clone();
    assert!(message.as_str().unwrap().contains("from the launch at run.cu:2"), "{message}");
}

#[test]
fn columns_are_those_that_the_editor_counts() {
    let root = folder(&[("run.cu", LAUNCH)]);
    let path = root.path().join("turn.cu");
    let text = COLUMN.replace("out[threadIdx.x] =", "/* 𝛼é */ out[threadIdx.x] =");
    let both = json!({ "general": { "positionEncodings": ["utf-16", "utf-8"] } });
    for (capabilities, name, column) in [(json!({}), "utf-16", 31), (both, "utf-8", 34)] {
        let mut editor = Editor::open(&[root.path()], capabilities);
        assert_eq!(editor.capabilities["positionEncoding"], name);
        editor.show(&path, &text);
        assert_eq!(editor.findings(&path)[0]["range"]["start"], position(4, column));
        // A change behind those characters.
        let range = json!({ "start": position(4, column + 5), "end": position(4, column + 16) });
        editor.change(&path, 2, json!([{ "range": range, "text": "threadIdx.y" }]));
        assert_eq!(editor.findings(&path), [] as [Value; 0], "{name}");
    }
}

#[test]
fn labels_are_other_places_and_useless_comments_are_faded() {
    let text = format!("// cudalint: allow-file(divergent-barrier)\n{COLUMN}");
    let root = folder(&[("run.cu", LAUNCH), ("turn.cu", &text)]);
    let can = json!({ "textDocument": { "publishDiagnostics": { "relatedInformation": true } } });
    let mut editor = Editor::open(&[root.path()], can);
    let path = root.path().join("turn.cu");
    let findings = editor.findings(&path);
    assert_eq!(editor.rules(&path), ["unused-directive", "bank-conflict"]);
    assert_eq!(findings[0]["tags"], json!([1]));
    assert!(findings[1]["tags"].is_null());
    let related = &findings[1]["relatedInformation"][0];
    assert_eq!(related["location"]["uri"], uri(&path));
    assert_eq!(related["location"]["range"]["start"], position(2, 19));
    assert!(related["message"].as_str().unwrap().contains("row"), "{related}");
    // The project has no pages on its rules that could be named.
    assert!(findings[1]["codeDescription"].is_null());
}

#[test]
fn a_configuration_is_heard_when_it_changes_and_said_to_be_wrong() {
    let root = folder(&[("run.cu", LAUNCH), ("turn.cu", COLUMN)]);
    let path = root.path().join("turn.cu");
    let can = json!({ "workspace": { "didChangeWatchedFiles": { "dynamicRegistration": true } } });
    let mut editor = Editor::open(&[root.path()], can);
    assert_eq!(editor.rules(&path), ["bank-conflict"]);
    let asked = editor.wait_for("client/registerCapability");
    assert!(asked.to_string().contains("cudalint.toml"), "{asked}");
    fs::write(root.path().join("cudalint.toml"), "[levels]\nbank-conflict = \"deny\"\n").unwrap();
    let changed = json!({ "changes": [{ "uri": uri(&root.path().join("cudalint.toml")), "type": 1 }] });
    editor.tell("workspace/didChangeWatchedFiles", changed.clone());
    assert_eq!(editor.findings(&path)[0]["severity"], 1);
    fs::write(root.path().join("cudalint.toml"), "[levels]\nbank-conflicts = \"deny\"\n").unwrap();
    editor.tell("workspace/didChangeWatchedFiles", changed);
    assert_eq!(editor.findings(&path), [] as [Value; 0]);
    let said = editor.wait_for("window/showMessage");
    assert!(said["message"].as_str().unwrap().contains("cudalint.toml"), "{said}");
}

#[test]
fn arguments_say_what_is_loud() {
    let root = folder(&[("run.cu", LAUNCH), ("turn.cu", COLUMN)]);
    let arguments = ["--stdio", "-A", "bank-conflict", "--threads", "1"];
    let mut editor = Editor::with_arguments(&arguments, &[root.path()], json!({}));
    assert_eq!(editor.findings(&root.path().join("turn.cu")), [] as [Value; 0]);
}

#[test]
fn a_fix_that_was_confirmed_is_offered_and_repairs() {
    let root = folder(&[("run.cu", LAUNCH), ("turn.cu", COLUMN)]);
    let path = root.path().join("turn.cu");
    let mut editor = Editor::open(&[root.path()], json!({}));
    // The buffer is not what is on disk.
    let text = format!("\n{COLUMN}");
    editor.show(&path, &text);
    let actions = editor.actions(&path, 5);
    let titles: Vec<&str> = actions.iter().map(|it| it["title"].as_str().unwrap()).collect();
    let expected = [
        "",
        "Allow `bank-conflict` here with a comment",
        "Allow `bank-conflict` in this file with a comment",
    ];
    assert!(titles[0].contains("pad") && titles[1..] == expected[1..], "{titles:?}");
    let preferred: Vec<&Value> = actions.iter().map(|it| &it["isPreferred"]).collect();
    assert_eq!(preferred, [&json!(true), &json!(false), &json!(false)]);
    assert_eq!(actions[0]["diagnostics"], json!(editor.findings(&path)));
    for (at, action) in actions.iter().enumerate() {
        let new = edited(&text, action, &path);
        editor.replace(&path, 10 * at as i64 + 5, &new);
        assert_eq!(editor.findings(&path), [] as [Value; 0], "{}\n{new}", titles[at]);
        editor.replace(&path, 10 * at as i64 + 6, &text);
        assert_eq!(editor.rules(&path), ["bank-conflict"]);
    }
    // Nothing where nothing is found, and nothing of another kind.
    assert_eq!(editor.actions(&path, 1), [] as [Value; 0]);
    let context = json!({ "diagnostics": [], "only": ["refactor"] });
    let range = json!({ "start": position(5, 0), "end": position(5, 9) });
    let params = json!({ "textDocument": { "uri": uri(&path) }, "range": range, "context": context });
    assert_eq!(editor.ask("textDocument/codeAction", params).unwrap(), json!([]));
}

#[test]
fn a_cause_is_found_and_allowed_at_each_of_its_lines() {
    let text = COLUMN.replace("] = 1;\n", "] = 1;\n  tile[threadIdx.x][threadIdx.y] = 1;\n");
    let root = folder(&[("run.cu", LAUNCH), ("turn.cu", &text)]);
    let path = root.path().join("turn.cu");
    let can = json!({ "textDocument": { "publishDiagnostics": { "relatedInformation": true } } });
    let mut editor = Editor::open(&[root.path()], can);
    editor.show(&path, &text);
    let findings = editor.findings(&path);
    let lines: Vec<&Value> = findings[0]["relatedInformation"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["location"]["range"]["start"]["line"])
        .collect();
    assert_eq!((findings.len(), lines), (1, vec![&json!(1), &json!(5)]));
    assert_eq!(findings[0]["range"]["start"]["line"], 3);
    for line in [3, 5] {
        let actions = editor.actions(&path, line);
        let allow = "Allow `bank-conflict` in these 2 lines with comments";
        let action = actions.iter().find(|it| it["title"] == allow).unwrap();
        editor.replace(&path, 10 * line as i64, &edited(&text, action, &path));
        assert_eq!(editor.findings(&path), [] as [Value; 0]);
        editor.replace(&path, 10 * line as i64 + 1, &text);
        assert_eq!(editor.findings(&path).len(), 1);
    }
}

#[test]
fn a_fix_on_which_something_may_rest_is_not_preferred() {
    let text = COLUMN.replace("  __syncthreads();", "  __syncthreads();\n  if (tile[0] == out) out[1] = 2;");
    let root = folder(&[("run.cu", LAUNCH), ("turn.cu", &text)]);
    let path = root.path().join("turn.cu");
    let mut editor = Editor::open(&[root.path()], json!({}));
    let actions = editor.actions(&path, 5);
    let title = actions[0]["title"].as_str().unwrap();
    assert!(title.contains("(unsafe: `tile` is used without all its subscripts on line 5)"), "{title}");
    assert_eq!(actions[0]["isPreferred"], false);
}

#[test]
fn the_pointer_tells_of_an_access_what_it_costs() {
    let root = folder(&[("run.cu", LAUNCH), ("turn.cu", COLUMN)]);
    let path = root.path().join("turn.cu");
    let can = json!({ "textDocument": { "hover": { "contentFormat": ["markdown", "plaintext"] } } });
    for (capabilities, kind) in [(can, "markdown"), (json!({}), "plaintext")] {
        let mut editor = Editor::open(&[root.path()], capabilities);
        editor.show(&path, COLUMN);
        let mut hover = |line: usize, column: usize| {
            let place = json!({ "textDocument": { "uri": uri(&path) }, "position": position(line, column) });
            editor.ask("textDocument/hover", place).unwrap()
        };
        let told = hover(4, 24);
        assert_eq!(told["contents"]["kind"], kind);
        let text = told["contents"]["value"].as_str().unwrap();
        for words in [
            "32 wavefronts instead of 1",
            "lane  1 2",
            "(24 more lanes)",
            "block is (32, 32, 1)",
            "pad the rows",
        ] {
            assert!(text.contains(words), "{words}: {text}");
        }
        let clean = hover(2, 4)["contents"]["value"].as_str().unwrap().to_owned();
        assert!(clean.contains("no bank conflict"), "{clean}");
        assert_eq!(hover(0, 3), Value::Null);
    }
}

#[test]
fn a_lens_sums_up_a_kernel() {
    let root = folder(&[("run.cu", LAUNCH), ("turn.cu", COLUMN)]);
    let path = root.path().join("turn.cu");
    let mut editor = Editor::open(&[root.path()], json!({}));
    let ask = json!({ "textDocument": { "uri": uri(&path) } });
    let lenses = editor.ask("textDocument/codeLens", ask.clone()).unwrap();
    assert_eq!(lenses[0]["range"]["start"], position(0, 16));
    assert_eq!(
        lenses[0]["command"]["title"],
        "1 shared array, 4 KiB, 1 access with conflicts, proved race-free"
    );
    editor.show(&path, &padded());
    let lenses = editor.ask("textDocument/codeLens", ask).unwrap();
    assert_eq!(lenses[0]["command"]["title"], "1 shared array, 4.1 KiB, no conflicts, proved race-free");
    assert_eq!(lenses.as_array().unwrap().len(), 1);
}

#[test]
fn nonsense_is_answered_and_costs_nothing_else() {
    let root = folder(&[("run.cu", LAUNCH), ("turn.cu", COLUMN), ("wide.cu", "")]);
    fs::write(root.path().join("wide.cu"), [0xff, 0xfe, b'a', 0, b'b', 0]).unwrap();
    let path = root.path().join("turn.cu");
    let mut editor = Editor::open(&[root.path()], json!({}));
    assert_eq!(editor.ask("textDocument/rename", json!({})).unwrap_err().0, -32601);
    assert_eq!(editor.ask("textDocument/hover", json!({ "position": 7 })).unwrap_err().0, -32602);
    editor.tell("textDocument/didOpen", json!({ "textDocument": 1 }));
    editor.tell(
        "textDocument/didChange",
        json!({ "textDocument": { "uri": "file:///x y" }, "contentChanges": [] }),
    );
    editor.tell("no/such/thing", json!([1, 2]));
    editor.tell("textDocument/didClose", json!({ "textDocument": { "uri": "untitled:1" } }));
    let document = json!({ "uri": "untitled:1", "languageId": "cuda", "version": 1, "text": COLUMN });
    editor.tell("textDocument/didOpen", json!({ "textDocument": document }));
    let log = editor.wait_for("window/logMessage");
    assert!(log["message"].as_str().unwrap().contains("cannot read `textDocument/didOpen`"), "{log}");
    for text in ["__global__ void k(", "\u{0}\u{0}", "#include \"turn.cu\"\n", "((((((((((", ""] {
        editor.replace(&path, 2, text);
        editor.show(&path, text);
        editor.settle();
    }
    let beyond = json!({ "start": position(90, 90), "end": position(80, 80) });
    editor.change(&path, 3, json!([{ "range": beyond, "text": COLUMN }]));
    assert_eq!(editor.rules(&path), ["bank-conflict"]);
    let said = editor.others.iter().any(|it| format!("{it:?}").contains("is UTF-16"));
    assert!(said, "{:?}", editor.others);
    // What is not asked any more is not answered, or was already.
    let id = editor.request("textDocument/codeLens", json!({ "textDocument": { "uri": uri(&path) } }));
    editor.tell("$/cancelRequest", json!({ "id": 99 }));
    assert!(editor.answer(&id).is_ok());
    assert_eq!(editor.vanish().code(), Some(0));
}

#[test]
fn an_editor_that_does_not_speak_the_protocol_is_told_so() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let output = command.arg("lsp").write_stdin("hello\r\n\r\n").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("cudalint: error: "));
}

/// One more text for a file, as someone types it.
fn typed(random: &mut Random, text: &str, original: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let at = random.below(lines.len().max(1) as u64) as usize;
    match random.below(6) {
        0 => return original.to_owned(),
        1 => lines.insert(at.min(lines.len()), "  // é𝛼"),
        2 if !lines.is_empty() => drop(lines.remove(at)),
        3 if !lines.is_empty() => lines.insert(at, lines[at]),
        _ => return text.replacen("32", if random.below(2) == 0 { "33" } else { "16" }, 1),
    }
    lines.join("\n") + "\n"
}

/// Sends the change from one text to another as an editor does: the part that differs.
fn send_change(editor: &mut Editor, path: &Path, version: i64, old: &str, new: &str) {
    let same = old.bytes().zip(new.bytes()).take_while(|(a, b)| a == b).count();
    let same = (0..=same).rev().find(|at| old.is_char_boundary(*at) && new.is_char_boundary(*at)).unwrap();
    let (rest_old, rest_new) = (&old[same..], &new[same..]);
    let tail = rest_old.bytes().rev().zip(rest_new.bytes().rev()).take_while(|(a, b)| a == b).count();
    let fits = |at: &usize| {
        rest_old.is_char_boundary(rest_old.len() - at) && rest_new.is_char_boundary(rest_new.len() - at)
    };
    let tail = (0..=tail).rev().find(fits).unwrap();
    let place = |offset: usize| {
        let before = &old[..offset];
        let column: usize = before.rsplit('\n').next().unwrap().encode_utf16().count();
        position(before.matches('\n').count(), column)
    };
    let range = json!({ "start": place(same), "end": place(old.len() - tail) });
    let text = &rest_new[..rest_new.len() - tail];
    editor.change(path, version, json!([{ "range": range, "text": text }]));
}

#[test]
fn any_edits_come_to_what_a_check_of_the_last_texts_says() {
    let header =
        "#pragma once\n#define N 32\n__device__ inline float get(float (*t)[N], int i) { return t[i][0]; }\n";
    let uses = "#include \"n.cuh\"\n__global__ void use(float* out) {\n  __shared__ float t[N][N];\n  t[threadIdx.y][threadIdx.x] = \
                2;\n  __syncthreads();\n  out[threadIdx.x] = get(t, threadIdx.x);\n}\nvoid go(float* o) { use<<<1, dim3(32, \
                8)>>>(o); }\n";
    let files = [("turn.cu", COLUMN), ("run.cu", LAUNCH), ("n.cuh", header), ("d/use.cu", uses)];
    let root = folder(&files);
    let mut editor = Editor::open(&[root.path()], json!({}));
    assert_eq!(told(&mut editor, root.path()), checked(root.path()));
    let mut texts: BTreeMap<PathBuf, (String, i64)> = BTreeMap::new();
    for (name, text) in files {
        editor.show(&root.path().join(name), text);
        texts.insert(name.into(), (text.to_owned(), 1));
    }
    let saved = folder(&files);
    let mut random = Random(11);
    let mut unlike = std::collections::BTreeSet::new();
    for step in 0..if thorough() { 200 } else { 15 } {
        // Several edits may come before the first is looked at.
        for _ in 0..1 + random.below(3) {
            let (name, original) = files[random.below(files.len() as u64) as usize];
            let (text, version) = texts.get_mut(Path::new(name)).unwrap();
            let new = typed(&mut random, text, original);
            *version += 1;
            send_change(&mut editor, &root.path().join(name), *version, text, &new);
            *text = new;
        }
        for (name, (text, _)) in &texts {
            fs::write(saved.path().join(name), text).unwrap();
        }
        let expected = checked(saved.path());
        // The words of a column count characters there; none of them stands behind others than ASCII.
        assert_eq!(told(&mut editor, root.path()), expected, "step {step}: {texts:#?}");
        unlike.insert(format!("{expected:?}"));
    }
    assert!(unlike.len() > 4, "{unlike:?}");
}

#[test]
fn a_long_run_is_told_of_to_who_wants_to_know() {
    // So many kernels that the first run takes longer than an editor's patience, and no other does.
    let kernel = |number: usize| {
        let body: String = (0..40)
            .map(|at| format!("  out[{at}] += t[(threadIdx.x * {at} + {number}) % 1024];\n"))
            .collect();
        format!(
            "__global__ void k{number}(float* out) {{\n  __shared__ float t[1024];\n  for (int i = 0; i < 64; i++) t[threadIdx.x * i % 1024] \
             = i;\n  __syncthreads();\n{body}}}\n"
        )
    };
    let text: String = (0..60).map(kernel).collect();
    let names: Vec<String> = (0..4).map(|at| format!("{at}.cu")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), text.as_str())).collect();
    let root = folder(&files);
    let mut editor = Editor::open(&[root.path()], json!({ "window": { "workDoneProgress": true } }));
    let token = editor.wait_for("window/workDoneProgress/create")["token"].clone();
    let told = editor.wait_for("$/progress");
    assert_eq!((&told["token"], &told["value"]["kind"]), (&token, &json!("begin")));
    editor.settle();
    let ends = editor.others.iter().filter(|it| format!("{it:?}").contains("\"end\""));
    assert_eq!(ends.count(), 1);
}
