//! Does an unsaved `cudalint.toml` count, and is it told in it what is wrong with it?

use super::{COLUMN, LAUNCH};
use crate::support::editor::{Editor, position};
use crate::support::folder::folder;
use lsp_server::Message;
use serde_json::{Value, json};

#[test]
fn an_unsaved_configuration_counts_in_place_of_the_file() {
    let saved = "[levels]\nbank-conflict = \"deny\"\n";
    let root = folder(&[("run.cu", LAUNCH), ("k/turn.cu", COLUMN), ("k/cudalint.toml", saved)]);
    let path = root.path().join("k/turn.cu");
    let config = root.path().join("k/cudalint.toml");
    let mut editor = Editor::open(&[root.path()], json!({}));
    assert_eq!(editor.findings(&path)[0]["severity"], 1);
    editor.show(&config, &saved.replace("deny", "note"));
    assert_eq!(editor.findings(&path)[0]["severity"], 3);
    editor.replace(&config, 2, "exclude = [\"turn.cu\"]\n");
    assert_eq!(editor.findings(&path), [] as [Value; 0]);
    // What is closed is what is on disk.
    editor.close(&config);
    assert_eq!(editor.findings(&path)[0]["severity"], 1);
    // One that was never saved.
    editor.show(&root.path().join("cudalint.toml"), "min-ways = 33\n");
    assert_eq!(editor.findings(&path), [] as [Value; 0]);
    // Another file beside it says nothing.
    editor.close(&root.path().join("cudalint.toml"));
    editor.show(&root.path().join("other.toml"), "min-ways = 33\n");
    assert_eq!(editor.findings(&path).len(), 1);
}

#[test]
fn what_is_wrong_with_it_is_told_where_it_is_typed() {
    let root = folder(&[("run.cu", LAUNCH), ("turn.cu", COLUMN), ("cudalint.toml", "")]);
    let path = root.path().join("turn.cu");
    let config = root.path().join("cudalint.toml");
    let mut editor = Editor::open(&[root.path()], json!({}));
    assert_eq!(editor.rules(&path), ["bank-conflict"]);
    editor.show(&config, "[levels]\nbank-conflicts = \"deny\"\n");
    assert_eq!(editor.findings(&path), [] as [Value; 0]);
    let told = editor.findings(&config);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((&told[0]["severity"], &told[0]["source"]), (&json!(1), &json!("cudalint")));
    assert_eq!(told[0]["range"]["start"], position(1, 0));
    assert!(told[0]["message"].as_str().unwrap().contains("bank-conflicts"), "{told:?}");
    // Nobody is interrupted while typing.
    let interrupts =
        |it: &Message| matches!(it, Message::Notification(it) if it.method == "window/showMessage");
    assert!(!editor.others.iter().any(interrupts), "{:?}", editor.others);
    editor.replace(&config, 2, "[levels]\nbank-conflict = \"deny\"\n");
    assert_eq!(editor.findings(&config), [] as [Value; 0]);
    assert_eq!(editor.findings(&path)[0]["severity"], 1);
}
