//! Does the analyzer say about each fixture what its marks say?
//!
//! Every `fixtures/**/*.cu` is one case, except below `fixtures/hardware`, `fixtures/measure`,
//! `fixtures/oracle`, `fixtures/parse` and `fixtures/remedies`. `fixtures/README.md` describes the marks; in short:
//!
//! ```text
//! //@ args: --block 32,8                       flags of every run of this file
//! //@ revision old: --target sm_20             one more run, with these flags added
//! //@ files: launch.cu                         other files of the same run
//! code; //~ bank-conflict 32-way               a finding on this line
//! //~^ bank-conflict 2-way                     a finding one line above
//! code; //~[old,new] bank-conflict 8-way       in these revisions only
//! code; //~ access load 32/1                   worst wavefronts/ideal of the loads on this line
//! code; //~ access store of `tile` clean       at its ideal; `of` picks one array
//! code; //~ access unknown loaded from memory  and the reason contains this
//! ```
//!
//! A finding without a mark fails, and so does a mark without a finding. `NAME.txt` beside
//! `NAME.cu` is the rendered text, byte for byte; `CUDALINT_BLESS=1` rewrites those that exist.
//! `CUDALINT_FIXTURE=text` runs only the cases whose path contains the text.

mod case;
mod compare;
mod marks;
mod self_tests;

use rayon::prelude::*;
use std::path::PathBuf;

/// Folders of `fixtures` that hold something else.
const NOT_CASES: [&str; 5] = ["hardware", "measure", "oracle", "parse", "remedies"];

fn cases() -> Vec<PathBuf> {
    let filter = std::env::var("CUDALINT_FIXTURE").unwrap_or_default();
    let folders = walkdir::WalkDir::new("fixtures").sort_by_file_name().into_iter();
    let folders = folders.filter_entry(|entry| {
        let name = entry.file_name().to_str().unwrap_or("");
        entry.depth() != 1 || !NOT_CASES.contains(&name)
    });
    folders
        .map(|entry| entry.expect("fixtures can be read").into_path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .filter(|path| path.to_string_lossy().contains(&filter))
        .collect()
}

#[test]
fn the_analyzer_says_what_the_marks_say() {
    let cases = cases();
    assert!(!cases.is_empty(), "there are fixtures");
    let failures: Vec<(&PathBuf, Vec<String>)> = cases
        .par_iter()
        .map(|path| (path, case::run(path)))
        .filter(|(_, failures)| !failures.is_empty())
        .collect();
    let mut listing = String::new();
    for (path, lines) in &failures {
        listing.push_str(&format!("\n{}\n", path.display()));
        for line in lines {
            listing.push_str(&format!("    {}\n", line.replace('\n', "\n    ")));
        }
    }
    let (failed, all) = (failures.len(), cases.len());
    assert!(failures.is_empty(), "{failed} of {all} fixtures fail (+ unexpected, - missing)\n{listing}");
}
