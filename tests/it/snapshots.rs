//! Does `cudalint accesses` still say of every access of every fixture what it said before?
//!
//! Marks and the host oracle ask whether what is said is right, where they look. Here everything is
//! compared, so that a change shows all that it changes. `fixtures/accesses/FOLDER.txt` holds what is said
//! of the files of `fixtures/FOLDER`, a line for each access:
//!
//! ```text
//! line:column kernel | operation array bytes | block, from where | status | requests, wavefronts, worst/ideal | why
//! ```
//!
//! `CUDALINT_BLESS=1 cargo test --test it snapshots` rewrites them; then read the difference.

use crate::support::accesses::accesses;
use rayon::prelude::*;
use serde::Deserialize;
use similar::TextDiff;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders of `fixtures` whose files are no programs.
const NOT_PROGRAMS: [&str; 2] = ["hardware", "parse"];

/// A line of `cudalint accesses --format json`.
#[derive(Deserialize)]
struct Access {
    line: u32,
    column: u32,
    kernel: String,
    array: String,
    op: String,
    bytes: Option<u32>,
    block: [u32; 3],
    block_from: String,
    status: String,
    assumptions: Vec<String>,
    reason: Option<String>,
    requests: Option<u64>,
    wavefronts: Option<u64>,
    worst: Option<u64>,
    worst_ideal: Option<u64>,
}

impl std::fmt::Display for Access {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |value| value.to_string());
        let [x, y, z] = self.block;
        let why: Vec<&str> = self.reason.iter().chain(&self.assumptions).map(String::as_str).collect();
        write!(
            f,
            "{}:{} {} | {} {} {} | {x},{y},{z} {} | {} | {}, {}, {}/{} | {}",
            self.line,
            self.column,
            self.kernel,
            self.op,
            self.array,
            number(self.bytes.map(u64::from)),
            self.block_from,
            self.status,
            number(self.requests),
            number(self.wavefronts),
            number(self.worst),
            number(self.worst_ideal),
            why.join("; "),
        )
    }
}

/// What is said of one file, on a line each.
fn said(path: &Path) -> String {
    let accesses: Vec<Access> = accesses(path);
    let lines: String =
        accesses.iter().map(|access| format!("{}\n", access.to_string().trim_end())).collect();
    format!("== {}\n{lines}", path.file_name().unwrap().to_string_lossy())
}

/// The files of each folder of `fixtures`.
fn programs() -> BTreeMap<String, Vec<PathBuf>> {
    let mut folders: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for entry in walkdir::WalkDir::new("fixtures").sort_by_file_name() {
        let path = entry.unwrap().into_path();
        let folder = path.parent().and_then(|folder| folder.strip_prefix("fixtures").ok());
        let folder =
            folder.map_or_else(String::new, |folder| folder.to_string_lossy().replace(['/', '\\'], "-"));
        let is_program = path.extension().is_some_and(|extension| extension == "cu");
        if is_program && !folder.is_empty() && !NOT_PROGRAMS.contains(&folder.as_str()) {
            folders.entry(folder).or_default().push(path);
        }
    }
    folders
}

#[test]
fn every_access_of_the_fixtures_is_judged_as_before() {
    let mut differences = String::new();
    for (folder, files) in programs() {
        let now: String = files.par_iter().map(|path| said(path)).collect::<Vec<String>>().join("\n");
        let snapshot = PathBuf::from(format!("fixtures/accesses/{folder}.txt"));
        if std::env::var_os("CUDALINT_BLESS").is_some() {
            std::fs::create_dir_all("fixtures/accesses").unwrap();
            std::fs::write(&snapshot, now).unwrap();
            continue;
        }
        let before = std::fs::read_to_string(&snapshot).unwrap_or_default();
        let name = snapshot.to_string_lossy();
        let diff = TextDiff::from_lines(&before, &now);
        differences.push_str(&diff.unified_diff().context_radius(0).header(&name, "now").to_string());
    }
    assert!(differences.is_empty(), "CUDALINT_BLESS=1 rewrites them:\n{differences}");
}
