//! Does any file use one that uses it, by whatever way?
//!
//! `mod` lines do not count, nor what a file takes from those in its own folder: `slice.rs` leads to `slice/flow.rs`
//! as a table of contents does. What it hands on from there counts for whoever takes it: `super::machine::Left` is a
//! use of `machine/around.rs`, where `Left` is defined.
//!
//! But a file is made of what it takes from its own folder. If `machine.rs` uses `machine/memo.rs`, and that uses
//! `calls.rs`, then `calls.rs` may not use `machine.rs`: such a circle leads out of the folder.

use super::edges::{collect, paths};
use super::{Source, assert_none, sources};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The path of a module: `["slice", "flow"]` for `src/slice/flow.rs`.
fn module(file: &str) -> Vec<&str> {
    let inside = file.strip_prefix("src/").and_then(|file| file.strip_suffix(".rs")).unwrap_or(file);
    inside.split('/').collect()
}

/// The files of `src`, and what they hand on.
struct Files {
    paths: BTreeSet<String>,
    /// By the file that hands it on, and the name: the file that it comes from.
    handed_on: BTreeMap<(String, String), String>,
}

impl Files {
    fn of(sources: &[Source]) -> Files {
        let paths = sources.iter().map(|source| source.path.clone()).collect();
        let mut files = Files { paths, handed_on: BTreeMap::new() };
        files.handed_on = sources.iter().flat_map(|source| files.handed_on_by(source)).collect();
        files
    }

    /// The names that a file hands on from those in its own folder.
    fn handed_on_by(&self, source: &Source) -> Vec<((String, String), String)> {
        let text = source.code().join("\n");
        let own = module(&source.path);
        let mut behind = Vec::new();
        for (at, _) in text.match_indices("pub use ").chain(text.match_indices(") use ")) {
            let rest = &text[at..];
            let rest = &rest[rest.find("use ").unwrap() + "use ".len()..];
            collect(rest.strip_prefix("self::").unwrap_or(rest), &mut Vec::new(), &mut behind);
        }
        let whole = behind.iter().filter(|path| !matches!(path[0], "crate" | "super" | "std"));
        let whole = whole.map(|path| own.iter().chain(path).copied().collect::<Vec<_>>());
        let found = whole.filter_map(|path| {
            let (file, name) = self.end_of(&path)?;
            (file != source.path && !name.is_empty()).then(|| ((source.path.clone(), name.to_owned()), file))
        });
        found.collect()
    }

    /// The file in which a path from the root of the crate ends, and what it names there.
    fn end_of<'p>(&self, path: &[&'p str]) -> Option<(String, &'p str)> {
        (1..=path.len()).rev().find_map(|length| {
            let file = format!("src/{}.rs", path[..length].join("/"));
            self.paths.contains(&file).then(|| (file, path.get(length).copied().unwrap_or("")))
        })
    }

    /// The file in which it is defined what a path names.
    fn defining(&self, path: &[&str]) -> Option<String> {
        let (file, name) = self.end_of(path)?;
        Some(self.handed_on.get(&(file.clone(), name.to_owned())).cloned().unwrap_or(file))
    }
}

/// The files in its own folder that a file uses, rather than only handing on what is in them.
fn own_files(source: &Source, files: &Files) -> BTreeSet<String> {
    let folder = source.path.trim_end_matches(".rs");
    let own = files.paths.iter().filter(|path| Path::new(path).parent() == Some(Path::new(folder)));
    let text = source.code().join("\n");
    let words = |text: &str| -> Vec<String> {
        text.split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect()
    };
    // What is only handed on is named once.
    let is_used = |path: &&String| {
        let module = Path::new(path).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let start = format!("use {module}::");
        let Some(named) = text.split(&start).nth(1).and_then(|rest| rest.split(';').next()) else {
            return false;
        };
        let all = words(&text);
        words(named).iter().any(|name| !name.is_empty() && all.iter().filter(|it| *it == name).count() > 1)
    };
    own.filter(is_used).cloned().collect()
}

/// The files that a file names by `crate::` and `super::`.
fn named(source: &Source, files: &Files) -> BTreeSet<String> {
    let text = source.code().join("\n");
    let mut found: BTreeSet<String> = paths(&text).iter().filter_map(|path| files.defining(path)).collect();
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
            found.extend(files.defining(&whole));
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

/// Each file that is in a circle, and why that is none within one module.
fn circles(
    uses: &BTreeMap<String, BTreeSet<String>>,
    is_allowed: &dyn Fn(&BTreeSet<&str>) -> bool,
) -> Vec<String> {
    let reached = reached(uses);
    let circle = |file: &str| {
        let others = reached[file].iter().filter(|other| reached[**other].contains(file));
        let around: BTreeSet<&str> = others.copied().collect();
        let first = uses[file].iter().find(|other| around.contains(other.as_str()))?;
        let count = around.len();
        (!is_allowed(&around))
            .then(|| format!("{file} uses {first}, which uses it: a circle of {count} files"))
    };
    uses.keys().filter_map(|file| circle(file)).collect()
}

/// Whether one of the files is the module of which all others are parts.
fn is_one_module(files: &BTreeSet<&str>) -> bool {
    files.iter().any(|file| {
        let folder = format!("{}/", file.trim_end_matches(".rs"));
        files.iter().all(|part| part == file || part.starts_with(&folder))
    })
}

#[test]
fn no_files_use_each_other() {
    let sources: Vec<Source> = sources("src").into_iter().filter(|source| !source.is_test()).collect();
    let files = Files::of(&sources);
    let mut uses: BTreeMap<String, BTreeSet<String>> =
        sources.iter().map(|source| (source.path.clone(), named(source, &files))).collect();
    assert_none(&circles(&uses, &|_| false));
    for source in &sources {
        uses.entry(source.path.clone()).or_default().extend(own_files(source, &files));
    }
    assert_none(&circles(&uses, &is_one_module));
}

#[test]
fn a_circle_that_leads_out_of_a_folder_is_found() {
    let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
    let texts = [
        source("src/a.rs", "use b::Memo;\npub struct Top { memo: Memo }"),
        source("src/a/b.rs", "use super::Top;\nuse crate::c::Call;\npub struct Memo;"),
        source("src/c.rs", "use crate::a::Top;\npub struct Call;"),
    ];
    let of = |texts: &[Source]| {
        let files = Files::of(texts);
        let all = |it: &Source| named(it, &files).into_iter().chain(own_files(it, &files)).collect();
        circles(&texts.iter().map(|it| (it.path.clone(), all(it))).collect(), &is_one_module)
    };
    assert_eq!(of(&texts).len(), 3, "{:?}", of(&texts));
    let inside =
        [source("src/a.rs", &texts[0].text), source("src/a/b.rs", "use super::Top;\npub struct Memo;")];
    assert_eq!(of(&inside), Vec::<String>::new());
}

#[test]
fn paths_from_above_are_found() {
    let source = |path: &str, text: &str| Source { path: path.into(), text: text.into() };
    let texts = [
        source("src/a.rs", "mod b;\nmod e;\npub(crate) use e::{Deep, self as other};\npub struct Top;"),
        source("src/a/b.rs", ""),
        source("src/a/c.rs", "use super::{b, Top};\nuse super::super::d::Deep;\nlet x = crate::a::b::y();"),
        source("src/a/e.rs", ""),
        source("src/d.rs", "use crate::a::Deep;"),
    ];
    let files = Files::of(&texts);
    let found = |at: usize| named(&texts[at], &files).into_iter().collect::<Vec<_>>();
    assert_eq!(found(2), ["src/a.rs", "src/a/b.rs", "src/d.rs"]);
    assert_eq!(found(4), ["src/a/e.rs"]);
}
