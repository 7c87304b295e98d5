//! Does an editor show the ways of conflicts behind accesses, to who asked for it?

use super::{COLUMN, LAUNCH, padded};
use crate::support::editor::{Editor, position, uri};
use crate::support::folder::folder;
use serde_json::{Value, json};
use std::path::Path;

fn hints(editor: &mut Editor, path: &Path, lines: (usize, usize)) -> Vec<(Value, String)> {
    let range = json!({ "start": position(lines.0, 0), "end": position(lines.1, 0) });
    let ask = json!({ "textDocument": { "uri": uri(path) }, "range": range });
    let found = editor.ask("textDocument/inlayHint", ask).unwrap();
    let told = |it: &Value| (it["position"].clone(), it["label"].as_str().unwrap().to_owned());
    found.as_array().unwrap().iter().map(told).collect()
}

#[test]
fn the_ways_stand_behind_the_access() {
    let root = folder(&[("turn.cu", COLUMN), ("run.cu", LAUNCH)]);
    let path = root.path().join("turn.cu");
    let can = json!({ "workspace": { "inlayHint": { "refreshSupport": true } } });
    let mut editor = Editor::with_arguments(&["--inlay-hints"], &[root.path()], can);
    assert_eq!(editor.capabilities["inlayHintProvider"], true);
    assert_eq!(hints(&mut editor, &path, (0, 9)), [(position(4, 51), "32-way".to_owned())]);
    assert_eq!(hints(&mut editor, &path, (0, 4)), []);
    editor.wait_for("workspace/inlayHint/refresh");
    // Two launches for which it is not the same.
    let other = LAUNCH.replace("dim3(32, 32)", "dim3(8, 4)");
    let second = root.path().join("other.cu");
    editor.show(&second, &other.replace("run", "walk"));
    let expected = [(2, 32, "up to 4-way"), (4, 51, "up to 32-way")];
    let expected = expected.map(|(line, column, told)| (position(line, column), told.to_owned()));
    assert_eq!(hints(&mut editor, &path, (0, 9)), expected);
    editor.close(&second);
    editor.show(&path, &padded());
    assert_eq!(hints(&mut editor, &path, (0, 9)), []);
}

#[test]
fn nothing_is_offered_to_who_did_not_ask() {
    let root = folder(&[("turn.cu", COLUMN), ("run.cu", LAUNCH)]);
    let can = json!({ "workspace": { "inlayHint": { "refreshSupport": true } } });
    let mut editor = Editor::open(&[root.path()], can);
    assert!(editor.capabilities["inlayHintProvider"].is_null());
    editor.settle();
    assert!(!editor.others.iter().any(|it| format!("{it:?}").contains("inlayHint")));
}
