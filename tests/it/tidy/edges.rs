//! Which folders of `src` may use which?
//!
//! A folder counts with the file beside it: `banks` is `src/banks.rs` and all in `src/banks`.

use super::{Source, assert_none, sources};
use std::collections::BTreeSet;
use std::path::Path;

/// What each folder uses. It may only name folders that stand before it, so there is no circle.
const ALLOWED: [(&str, &[&str]); 35] = [
    // Words that all share.
    ("source", &[]),
    ("shape", &[]),
    ("visible", &[]),
    ("banks", &[]),
    ("builtins", &[]),
    ("domain", &["source"]),
    // What is written.
    ("preproc", &["builtins", "shape", "source"]),
    ("syntax", &["builtins", "preproc", "source"]),
    ("ir", &["preproc", "source"]),
    ("lower", &["builtins", "ir", "preproc", "source", "syntax"]),
    ("headers", &["ir", "preproc", "source"]),
    ("reach", &["ir"]),
    ("relevance", &["ir", "source"]),
    // What happens.
    ("events", &["domain", "ir", "source"]),
    ("slice", &["builtins", "ir", "source"]),
    ("codegen", &["banks", "builtins", "domain", "events", "ir", "source"]),
    ("exec", &["banks", "builtins", "codegen", "domain", "events", "ir", "slice", "source"]),
    ("facts", &["domain", "events", "source"]),
    ("scenario", &["events", "exec", "ir", "relevance", "shape", "source"]),
    // What is said of it.
    ("verdict", &["banks", "codegen", "domain", "events", "shape", "source"]),
    ("diagnostic", &["events", "source"]),
    ("remedy", &["banks", "codegen", "domain", "events", "source", "verdict"]),
    ("explanation", &["diagnostic", "events", "shape", "source", "verdict"]),
    (
        "rules",
        &[
            "banks",
            "codegen",
            "diagnostic",
            "domain",
            "events",
            "explanation",
            "facts",
            "preproc",
            "remedy",
            "shape",
            "source",
            "verdict",
        ],
    ),
    (
        "analysis",
        &[
            "banks",
            "builtins",
            "codegen",
            "diagnostic",
            "domain",
            "events",
            "exec",
            "explanation",
            "facts",
            "headers",
            "ir",
            "lower",
            "preproc",
            "reach",
            "relevance",
            "rules",
            "scenario",
            "shape",
            "slice",
            "source",
            "syntax",
            "verdict",
            "visible",
        ],
    ),
    ("suppress", &["analysis", "diagnostic", "preproc", "rules", "source", "verdict"]),
    ("fixes", &["diagnostic", "preproc", "source"]),
    ("fingerprint", &["diagnostic", "source"]),
    (
        "output",
        &[
            "banks",
            "diagnostic",
            "domain",
            "events",
            "explanation",
            "fingerprint",
            "fixes",
            "ir",
            "rules",
            "shape",
            "source",
            "verdict",
            "visible",
        ],
    ),
    ("baseline", &["diagnostic", "fingerprint", "output", "source"]),
    // What the user meets.
    ("walk", &[]),
    ("config", &["banks", "diagnostic", "headers", "rules", "shape", "visible"]),
    ("lsp", &["analysis", "diagnostic", "explanation", "headers", "output", "rules", "source", "suppress"]),
    (
        "cli",
        &[
            "analysis",
            "banks",
            "baseline",
            "config",
            "diagnostic",
            "explanation",
            "fingerprint",
            "fixes",
            "headers",
            "lsp",
            "output",
            "preproc",
            "rules",
            "shape",
            "source",
            "suppress",
            "syntax",
            "verdict",
            "visible",
            "walk",
        ],
    ),
    ("main", &["cli"]),
];

/// The paths from the root of the crate that a text names.
pub(super) fn paths(text: &str) -> Vec<Vec<&str>> {
    let mut found = Vec::new();
    for root in ["crate::", "cudalint::"] {
        for (at, _) in text.match_indices(root) {
            let apart = !text[..at].ends_with(|before: char| before.is_alphanumeric() || before == '_');
            if apart {
                collect(&text[at + root.len()..], &mut Vec::new(), &mut found);
            }
        }
    }
    found
}

/// Reads one path, or several in braces, after `before`. Returns what follows.
pub(super) fn collect<'t>(
    text: &'t str,
    before: &mut Vec<&'t str>,
    found: &mut Vec<Vec<&'t str>>,
) -> &'t str {
    let text = text.trim_start();
    if let Some(mut inner) = text.strip_prefix('{') {
        loop {
            inner = collect(inner, before, found);
            // A name that is given after `as` is of no interest.
            let Some(end) = inner.find([',', '}']) else { return "" };
            let closed = inner[end..].starts_with('}');
            inner = inner[end + 1..].trim_start();
            if closed {
                return inner;
            }
        }
    }
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    if end == 0 {
        if !before.is_empty() {
            found.push(before.clone());
        }
        return text;
    }
    before.push(&text[..end]);
    let rest = match text[end..].strip_prefix("::") {
        Some(deeper) => collect(deeper, before, found),
        None => {
            found.push(before.clone());
            &text[end..]
        }
    };
    before.pop();
    rest
}

/// The file that a path leads to.
fn target(path: &[&str]) -> String {
    let files = (1..=path.len()).rev().map(|length| format!("src/{}.rs", path[..length].join("/")));
    files.into_iter().find(|file| Path::new(file).is_file()).unwrap_or_else(|| format!("src/{}", path[0]))
}

/// The folders that a file uses, each with the file there that it names.
fn uses(source: &Source) -> Vec<(String, String)> {
    let lines = source.code().into_iter().map(|line| line.split(" // ").next().unwrap_or(line));
    let text = lines.collect::<Vec<_>>().join("\n");
    let mut found: Vec<(String, String)> =
        paths(&text).iter().map(|path| (path[0].to_owned(), target(path))).collect();
    // So many times `super` is the root of the crate.
    let up = "super::".repeat(source.path.matches('/').count());
    for (at, _) in text.match_indices(&up) {
        let mut above = Vec::new();
        collect(&text[at + up.len()..], &mut Vec::new(), &mut above);
        found.extend(above.iter().map(|path| (path[0].to_owned(), target(path))));
    }
    found.retain(|(folder, _)| folder != source.module() && is_folder(folder));
    found
}

fn is_folder(name: &str) -> bool {
    Path::new(&format!("src/{name}.rs")).is_file()
}

#[test]
fn folders_use_only_what_they_may() {
    let mut complaints = BTreeSet::new();
    let mut used = BTreeSet::new();
    for source in sources("src").iter().filter(|source| !source.is_test() && source.path != "src/lib.rs") {
        let folder = source.module();
        let Some((_, allowed)) = ALLOWED.iter().find(|(name, _)| *name == folder) else {
            complaints.insert(format!("{}: `{folder}` has no row in tests/it/tidy/edges.rs", source.path));
            continue;
        };
        for (other, file) in uses(source) {
            if !allowed.contains(&other.as_str()) {
                complaints.insert(format!(
                    "{} uses {file}: `{folder}` may not use `{other}` (tests/it/tidy/edges.rs)",
                    source.path
                ));
            }
            used.insert((folder.to_owned(), other));
        }
    }
    for (at, (folder, allowed)) in ALLOWED.iter().enumerate() {
        for other in *allowed {
            if !ALLOWED[..at].iter().any(|(before, _)| before == other) {
                complaints.insert(format!("`{folder}` may use `{other}`, which does not stand before it"));
            }
            if !used.contains(&((*folder).to_owned(), (*other).to_owned())) {
                complaints.insert(format!("`{folder}` may use `{other}`, but does not: take it out"));
            }
        }
        if !is_folder(folder) {
            complaints.insert(format!("`{folder}` is no folder of src"));
        }
    }
    assert_none(&complaints.into_iter().collect::<Vec<_>>());
}

#[test]
fn every_folder_is_on_the_map() {
    let page = std::fs::read_to_string("docs/architecture.md").unwrap();
    let lacks = |folder: &str| !page.contains(&format!("\n| `{folder}` | "));
    let missing = ALLOWED.iter().map(|(folder, _)| *folder).filter(|folder| lacks(folder));
    assert_none(&missing.map(|folder| format!("docs/architecture.md: no `{folder}`")).collect::<Vec<_>>());
}

#[test]
fn paths_are_found_however_they_are_written() {
    let text = "use crate::domain::{Int, lanes::{self, Lanes}};\nuse crate::{a, b::c as d};\n\
                let x = crate::banks::cost::<T>(y); my_crate::z; pub(crate) fn f() {}";
    let mut found: Vec<String> = paths(text).iter().map(|path| path.join("::")).collect();
    found.sort();
    let expected = ["a", "b::c", "banks::cost", "domain::Int", "domain::lanes::Lanes", "domain::lanes::self"];
    assert_eq!(found, expected);
}
