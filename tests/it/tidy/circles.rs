//! Does any file use one that uses it, by whatever way?
//!
//! `mod` lines do not count, nor what a file takes from those in its own folder: `slice.rs` leads to `slice/flow.rs`
//! as a table of contents does.

use super::edges::{collect, paths};
use super::{Source, assert_none, sources};
use std::collections::{BTreeMap, BTreeSet};

/// The files of `exec` that use each other: all of them add to one `Machine`, whose parts they define. Only fewer.
const IN_EXEC: usize = 35;

/// The path of a module: `["slice", "flow"]` for `src/slice/flow.rs`.
fn module(file: &str) -> Vec<&str> {
    let inside = file.strip_prefix("src/").and_then(|file| file.strip_suffix(".rs")).unwrap_or(file);
    inside.split('/').collect()
}

/// The file in which a path from the root of the crate ends.
fn file_of(path: &[&str], files: &BTreeSet<&str>) -> Option<String> {
    let candidates = (1..=path.len()).rev().map(|length| format!("src/{}.rs", path[..length].join("/")));
    candidates.into_iter().find(|file| files.contains(file.as_str()))
}

/// The files that a file names by `crate::` and `super::`.
fn named(source: &Source, files: &BTreeSet<&str>) -> BTreeSet<String> {
    let text = source.code().join("\n");
    let mut found: BTreeSet<String> = paths(&text).iter().filter_map(|path| file_of(path, files)).collect();
    let own = module(&source.path);
    for (at, _) in text.match_indices("super::") {
        let before = &text[..at];
        if before.ends_with("super::") || before.ends_with(|c: char| c.is_alphanumeric() || c == '_') {
            continue;
        }
        let mut rest = &text[at..];
        let mut base = own.clone();
        while let Some(further) = rest.strip_prefix("super::") {
            base.pop();
            rest = further;
        }
        let mut behind = Vec::new();
        collect(rest, &mut Vec::new(), &mut behind);
        for path in behind {
            let whole: Vec<&str> = base.iter().chain(&path).copied().collect();
            found.extend(file_of(&whole, files));
        }
    }
    found.remove(&source.path);
    found
}

/// All files that can be reached from each.
fn reached(uses: &BTreeMap<String, BTreeSet<String>>) -> BTreeMap<&str, BTreeSet<&str>> {
    let from = |start: &str| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![start]);
        while let Some(file) = open.pop() {
            for next in &uses[file] {
                if seen.insert(next.as_str()) {
                    open.push(next);
                }
            }
        }
        seen
    };
    uses.keys().map(|file| (file.as_str(), from(file))).collect()
}

#[test]
fn no_files_use_each_other() {
    let sources: Vec<Source> = sources("src").into_iter().filter(|source| !source.is_test()).collect();
    let files: BTreeSet<&str> = sources.iter().map(|source| source.path.as_str()).collect();
    let uses: BTreeMap<String, BTreeSet<String>> =
        sources.iter().map(|source| (source.path.clone(), named(source, &files))).collect();
    let reached = reached(&uses);
    let in_circle = |file: &&&str| reached[**file].contains(**file);
    let (exec, others): (Vec<&&str>, Vec<&&str>) =
        files.iter().filter(in_circle).partition(|file| file.starts_with("src/exec/"));
    assert_none(&others.iter().map(|file| format!("{file} uses a file that uses it")).collect::<Vec<_>>());
    assert!(exec.len() <= IN_EXEC, "{} files of exec use each other:\n{exec:#?}", exec.len());
}

#[test]
fn paths_from_above_are_found() {
    let files = BTreeSet::from(["src/a.rs", "src/a/b.rs", "src/a/c.rs", "src/d.rs"]);
    let text = "use super::{b, Top};\nuse super::super::d::Deep;\nlet x = crate::a::b::y();".to_owned();
    let found = named(&Source { path: "src/a/c.rs".into(), text }, &files);
    assert_eq!(found.into_iter().collect::<Vec<_>>(), ["src/a.rs", "src/a/b.rs", "src/d.rs"]);
}
