//! Do the documents say what is true: links that lead somewhere, pages that are what the program writes?

use regex::Regex;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use walkdir::WalkDir;

/// The Markdown files that readers come to.
fn documents() -> Vec<PathBuf> {
    let folders = ["docs", "fixtures", "fuzz"].into_iter().flat_map(WalkDir::new);
    let files = folders.map(|entry| entry.unwrap().into_path());
    let mut found: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|it| it == "md")).collect();
    found.extend(["README.md", "SECURITY.md"].map(PathBuf::from));
    found.retain(|path| !path.starts_with("fuzz/target"));
    found.sort();
    found
}

/// The lines outside fenced blocks, which are not Markdown.
fn prose(text: &str) -> String {
    let mut fenced = false;
    let is_prose = |line: &&str| {
        let is_fence = line.trim_start().starts_with("```");
        fenced ^= is_fence;
        !fenced && !is_fence
    };
    text.lines().filter(is_prose).map(|line| format!("{line}\n")).collect()
}

/// What a heading is called in a link, as the sites that show Markdown call it.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let letter = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || c == '-' || c == '_' => c.to_lowercase().next(),
        _ => None,
    };
    headings.map(|line| line.trim_start_matches('#').trim().chars().filter_map(letter).collect()).collect()
}

/// The links of a document that lead nowhere; those to other sites are not looked at.
fn broken(path: &Path, text: &str, link: &Regex) -> Vec<String> {
    let text = prose(text);
    let targets = link.captures_iter(&text).map(|found| found[1].to_owned());
    let is_broken = |target: &String| {
        if target.contains("://") || target.starts_with("mailto:") {
            return false;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
        let there = if file.is_empty() { path.to_path_buf() } else { path.parent().unwrap().join(file) };
        let known = || {
            fs::read_to_string(&there).is_ok_and(|text| anchors(&prose(&text)).iter().any(|it| it == anchor))
        };
        !there.exists() || !anchor.is_empty() && !known()
    };
    targets.filter(is_broken).map(|target| format!("{}: {target}", path.display())).collect()
}

fn links() -> Regex {
    Regex::new(r"\]\(([^)\s]+)\)").unwrap()
}

#[test]
fn relative_links_lead_somewhere() {
    let all = documents();
    assert!(all.len() > 25, "{all:?}");
    let found: Vec<String> =
        all.iter().flat_map(|path| broken(path, &fs::read_to_string(path).unwrap(), &links())).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn a_link_that_leads_nowhere_is_found() {
    let root = tempfile::tempdir().unwrap();
    fs::write(root.path().join("b.md"), "# One, two\n").unwrap();
    let text = "# Own\n[a](b.md) [b](b.md#one-two) [c](#own) [d](https://e.x/y)\n```\n[e](none.md)\n```\n";
    let path = root.path().join("a.md");
    fs::write(&path, text).unwrap();
    assert_eq!(broken(&path, text, &links()), Vec::<String>::new());
    for wrong in ["none.md", "b.md#two", "#other", "no/a.md"] {
        assert_eq!(broken(&path, &format!("[x]({wrong})\n"), &links()).len(), 1, "{wrong}");
    }
}

#[test]
fn the_pages_on_rules_are_what_the_command_writes() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("new/rules");
    let output = Command::new(env!("CARGO_BIN_EXE_cudalint"))
        .args(["rules", "--markdown"])
        .arg(&pages)
        .output()
        .unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty(), "{output:?}");
    let read = |folder: &Path| -> BTreeMap<String, String> {
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        files
            .map(|it| (it.file_name().unwrap().to_string_lossy().into(), fs::read_to_string(it).unwrap()))
            .collect()
    };
    let written = read(&pages);
    assert_eq!(written.len(), cudalint::rules::ALL.len() + 1);
    assert_eq!(read(Path::new("docs/rules")), written, "run `cudalint rules --markdown docs/rules`");
}

#[test]
fn a_folder_that_cannot_be_written_is_told_of() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_cudalint"))
        .args(["rules", "--markdown"])
        .arg(file.path())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("cannot write into"), "{said}");
}
