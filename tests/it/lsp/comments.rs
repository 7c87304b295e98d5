//! Can a comment be put in, or removed where it does nothing, with one action?

use super::{COLUMN, LAUNCH};
use crate::support::editor::{Editor, edited};
use crate::support::folder::folder;
use serde_json::{Value, json};

const REMOVE: &str = "Remove the unused comment";

#[test]
fn a_comment_that_does_nothing_is_removed() {
    let lines: Vec<&str> = COLUMN.lines().collect();
    let text = |third: &str, fifth: &str| {
        format!("{}\n{}\n{third}\n{}\n{fifth}{}\n}}\n", lines[0], lines[1], lines[3], lines[4])
    };
    let clean = text(lines[2], "");
    let needed = text(lines[2], "  // cudalint: allow(bank-conflict): known\n");
    let cases = [
        (text(&format!("{} // cudalint: allow(bank-conflict): old", lines[2]), ""), 2, &clean),
        (text(&format!("  // cudalint: expect(bank-conflict)\n{}", lines[2]), ""), 2, &clean),
        (text(lines[2], "  // cudalint: allow(missing-barrier, bank-conflict): known\n"), 4, &needed),
    ];
    let root = folder(&[("run.cu", LAUNCH), ("turn.cu", COLUMN)]);
    let path = root.path().join("turn.cu");
    let mut editor = Editor::open(&[root.path()], json!({}));
    for (text, line, expected) in cases {
        editor.show(&path, &text);
        let actions = editor.actions(&path, line);
        let removal = actions.iter().find(|it| it["title"] == REMOVE).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(removal["isPreferred"], false);
        assert_eq!(removal["kind"], "quickfix");
        assert_eq!(edited(&text, removal, &path), *expected);
        editor.replace(&path, 2, expected);
        let about: Vec<String> = editor.rules(&path);
        assert!(about.iter().all(|rule| rule == "bank-conflict"), "{about:?}");
    }
    // One that does something stays.
    editor.replace(&path, 3, &needed);
    let titles: Vec<Value> = editor.actions(&path, 4).iter().map(|it| it["title"].clone()).collect();
    assert!(!titles.contains(&json!(REMOVE)), "{titles:?}");
}

#[test]
fn the_block_that_is_assumed_can_be_given_in_a_comment() {
    let kernel = "int n;\n\n  template <int N>\n  __global__ void far(float* out) {\n    __shared__ float s[512];\n    \
                  s[threadIdx.x * 2] = 1;\n    __syncthreads();\n    out[0] = s[N];\n  }\n";
    let root = folder(&[("run.cu", "")]);
    let path = root.path().join("run.cu");
    let mut editor = Editor::open(&[root.path()], json!({}));
    editor.show(&path, kernel);
    assert_eq!(editor.rules(&path), ["bank-conflict"]);
    let of = |actions: &[Value]| {
        let is_block =
            |it: &&Value| it["title"].as_str().is_some_and(|title| title.starts_with("Give the block"));
        actions.iter().find(is_block).cloned()
    };
    // At the finding, and at the kernel's name; elsewhere nobody asks.
    let [at_finding, at_name] = [5, 3].map(|line| of(&editor.actions(&path, line)).unwrap());
    assert_eq!(at_finding, at_name);
    assert_eq!(at_name["title"], "Give the block of `far` with a comment: `block(256)`");
    assert!(of(&editor.actions(&path, 0)).is_none());
    let given = edited(kernel, &at_name, &path);
    assert_eq!(given, kernel.replace("  template", "  // cudalint: block(256)\n  template"));
    editor.replace(&path, 2, &given);
    assert_eq!(editor.rules(&path), ["bank-conflict"]);
    // Now it is given.
    assert!(of(&editor.actions(&path, 6)).is_none());
}
