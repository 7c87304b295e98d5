//! Can a comment that does nothing be removed with one action?

use super::{COLUMN, LAUNCH};
use crate::support::editor::{Editor, edited};
use crate::support::folder::folder;
use serde_json::{Value, json};

const REMOVE: &str = "Remove what does nothing";

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
