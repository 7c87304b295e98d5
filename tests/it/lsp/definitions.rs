//! Does an editor find its way between kernels and launches?

use super::{COLUMN, LAUNCH};
use crate::support::editor::{Editor, position, uri};
use crate::support::folder::folder;
use serde_json::{Value, json};
use std::path::Path;

/// Where a place of a file leads to: files below a folder, lines and columns.
fn leads(
    editor: &mut Editor,
    root: &Path,
    file: &str,
    line: usize,
    column: usize,
) -> Vec<(String, u64, u64)> {
    let place =
        json!({ "textDocument": { "uri": uri(&root.join(file)) }, "position": position(line, column) });
    let found = editor.ask("textDocument/definition", place).unwrap();
    let prefix = format!("{}/", uri(root));
    let place = |it: &Value| {
        let start = &it["range"]["start"];
        let file = it["uri"].as_str().unwrap().strip_prefix(&prefix).unwrap().to_owned();
        (file, start["line"].as_u64().unwrap(), start["character"].as_u64().unwrap())
    };
    found.as_array().unwrap().iter().map(place).collect()
}

fn place(file: &str, line: u64, column: u64) -> (String, u64, u64) {
    (file.to_owned(), line, column)
}

#[test]
fn a_kernel_leads_to_its_launches_and_a_launch_to_its_kernel() {
    let other = LAUNCH.replace("dim3(32, 32)", "dim3(8, 4)");
    let root = folder(&[("k/turn.cu", COLUMN), ("a.cu", LAUNCH), ("b.cu", &other)]);
    let mut editor = Editor::open(&[root.path()], json!({}));
    assert_eq!(editor.capabilities["definitionProvider"], true);
    let launches = [place("a.cu", 1, 23), place("b.cu", 1, 23)];
    // Anywhere in the name, and behind it.
    for column in [16, 18, 20] {
        assert_eq!(leads(&mut editor, root.path(), "k/turn.cu", 0, column), launches);
    }
    for (file, column) in [("a.cu", 23), ("b.cu", 27)] {
        assert_eq!(leads(&mut editor, root.path(), file, 1, column), [place("k/turn.cu", 0, 16)]);
    }
    // Its arguments are no kernel, nor is anything else.
    assert_eq!(leads(&mut editor, root.path(), "a.cu", 1, 50), []);
    assert_eq!(leads(&mut editor, root.path(), "k/turn.cu", 2, 4), []);
    assert_eq!(leads(&mut editor, root.path(), "k/turn.cu", 0, 30), []);
    // In what is typed, not in what is saved.
    editor.show(&root.path().join("a.cu"), &format!("\n\n{LAUNCH}"));
    assert_eq!(leads(&mut editor, root.path(), "k/turn.cu", 0, 16)[0], place("a.cu", 3, 23));
    editor.show(&root.path().join("b.cu"), "");
    assert_eq!(leads(&mut editor, root.path(), "k/turn.cu", 0, 16), [place("a.cu", 3, 23)]);
}

#[test]
fn a_comment_that_gives_the_block_leads_to_the_launches_too() {
    let text = format!("// cudalint: block(32, 32): as in the benchmark\n{COLUMN}");
    let root = folder(&[("turn.cu", &text), ("run.cu", LAUNCH)]);
    let mut editor = Editor::open(&[root.path()], json!({}));
    assert_eq!(leads(&mut editor, root.path(), "turn.cu", 0, 15), [place("run.cu", 1, 23)]);
    assert_eq!(leads(&mut editor, root.path(), "turn.cu", 0, 35), []);
}

#[test]
fn a_launch_that_may_mean_several_kernels_leads_to_all() {
    let root = folder(&[("a/turn.cu", COLUMN), ("b/turn.cu", COLUMN), ("run.cu", LAUNCH)]);
    let mut editor = Editor::open(&[root.path()], json!({}));
    let kernels = [place("a/turn.cu", 0, 16), place("b/turn.cu", 0, 16)];
    assert_eq!(leads(&mut editor, root.path(), "run.cu", 1, 24), kernels);
    // So does one of a variable.
    let text = "template <int N> __global__ void a(float* out) {\n  __shared__ float t[N];\n  t[threadIdx.x] = 1;\n}\nvoid run(bool wide) \
                {\n  void (*kernel)(float*) = &a<32>;\n  if (wide) kernel = &a<64>;\n  kernel<<<1, 32>>>(0);\n}\n";
    let root = folder(&[("run.cu", text)]);
    let mut editor = Editor::open(&[root.path()], json!({}));
    assert_eq!(leads(&mut editor, root.path(), "run.cu", 7, 4), [place("run.cu", 0, 33)]);
    assert_eq!(leads(&mut editor, root.path(), "run.cu", 7, 13), []);
    // By a template, a macro and a function call.
    let text = "template <int N> __global__ void turn(float* out) {\n  __shared__ float t[N];\n  t[threadIdx.x] = 1;\n}\n#define RUN(kernel) \
                kernel<<<1, 32>>>(0)\nvoid run() {\n  turn<32><<<1, 32>>>(0);\n  RUN(turn<64>);\n  void* args[1];\n  \
                cudaLaunchKernel((void*)turn<32>, 1, 32, args, 0, 0);\n}\n";
    let root = folder(&[("run.cu", text)]);
    let mut editor = Editor::open(&[root.path()], json!({}));
    let found = leads(&mut editor, root.path(), "run.cu", 0, 33);
    let lines: Vec<u64> = found.iter().map(|it| it.1).collect();
    assert!(lines.starts_with(&[6, 7]), "{found:?}");
    for (line, column) in [(6, 3), (7, 7)] {
        assert_eq!(leads(&mut editor, root.path(), "run.cu", line, column), [place("run.cu", 0, 33)]);
    }
    assert_eq!(leads(&mut editor, root.path(), "run.cu", 7, 3), []);
}
