//! Do kernels that run on the host access shared memory as `cudalint accesses` says?
//!
//! `tests/oracle/README.md` says how it works. In short: each file of `fixtures/oracle` is compiled as C++
//! and run, every access of every thread is recorded, and what came of it is compared line by line.
//!
//! ```text
//! cargo test --test it oracle -- --nocapture
//! CUDALINT_ORACLE=tiles cargo test --test it oracle -- --nocapture     # the files whose path contains the word
//! CUDALINT_ORACLE=some/folder cargo test --test it oracle -- --nocapture    # other kernel files
//! CUDALINT_SHOW=1 cargo test --test it oracle -- --nocapture           # every line, not only the wrong ones
//! ```
//!
//! Without a C++ compiler the test is skipped with a message; with `CUDALINT_NEEDS_COMPILER` it fails.

mod banks;
mod barriers;
mod compare;
mod compile;
mod corpus;
mod escapes;
mod execution;
mod faults;
mod findings;
mod fixed;
mod generate;
mod generated;
mod harness;
mod known;
mod launches;
mod mutants;
mod mutation;
mod needless;
mod order;
mod program;
mod public;
mod races;
mod said;
mod self_tests;
mod soundness;
mod trace;
mod unwritten;

use compare::{Line, Outcome};
use known::Entry;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Fewer kernels than this are not enough.
const LEAST_KERNELS: usize = 300;

/// What came of a file.
#[derive(Debug, Default)]
struct Judged {
    kernels: usize,
    lines: Vec<Line>,
    /// What a kernel does that no program should.
    unsound: Vec<String>,
}

fn kernel_files(filter: &str) -> Vec<PathBuf> {
    let folder = if Path::new(filter).exists() { filter } else { "fixtures/oracle" };
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name().into_iter();
    let files = entries.map(|entry| entry.unwrap().into_path());
    let files = files.filter(|path| path.extension().is_some_and(|extension| extension == "cu"));
    files.filter(|path| path.to_string_lossy().contains(filter)).collect()
}

fn judge(path: &Path) -> Result<Judged, String> {
    let text = std::fs::read_to_string(path).unwrap();
    let compiled = compile::compiler()?.build(path, &text)?;
    let launches = execution::read(&compiled);
    let said = said::said(path);
    let kernels: BTreeSet<&str> = launches.iter().map(|launch| launch.kernel.as_str()).collect();
    Ok(Judged {
        kernels: kernels.len(),
        lines: compare::compare(&path.to_string_lossy(), &launches, &said),
        unsound: launches.iter().flat_map(soundness::complaints).collect(),
    })
}

#[test]
fn kernels_do_what_is_said() {
    if let Err(why) = compile::compiler() {
        assert!(std::env::var_os("CUDALINT_NEEDS_COMPILER").is_none(), "{why}");
        println!("skipped: {why}");
        return;
    }
    let filter = std::env::var("CUDALINT_ORACLE").unwrap_or_default();
    let show = std::env::var_os("CUDALINT_SHOW").is_some();
    let files = kernel_files(&filter);
    let judged: Vec<Result<Judged, String>> = files.par_iter().map(|path| judge(path)).collect();
    let mut known: BTreeSet<Entry> = known::entries();
    known.retain(|entry| entry.is_of(&files));
    let (mut kernels, mut right, mut modelled, mut undecided, mut known_wrong) = (0, 0, 0, 0, 0);
    let mut failures = Vec::new();
    for (path, judged) in files.iter().zip(judged) {
        let judged = match judged {
            Ok(judged) => judged,
            Err(error) => {
                failures.push(format!("{}: {error}", path.display()));
                continue;
            }
        };
        kernels += judged.kernels;
        failures.extend(judged.unsound.iter().map(|complaint| format!("{}:{complaint}", path.display())));
        let text = std::fs::read_to_string(path).unwrap();
        for line in judged.lines {
            let written = text.lines().nth(line.line as usize - 1).unwrap_or("");
            let entry = Entry::new(path, &line.kernel, format!("{} {}", line.op, line.array), written);
            let at = format!("{}:{}", path.display(), line.line);
            if show {
                println!("{at}: {entry} | {:?}", line.outcome);
            }
            match &line.outcome {
                Outcome::Right => right += 1,
                Outcome::Modelled => modelled += 1,
                Outcome::Undecided(_) => undecided += 1,
                Outcome::Wrong(what) | Outcome::Missing(what) | Outcome::Extra(what) => {
                    if known.remove(&entry) {
                        known_wrong += 1;
                    } else {
                        failures
                            .push(format!("{at}: wrong, and not in {}:\n    {entry} | {what}", known::LIST));
                    }
                }
            }
        }
    }
    println!(
        "{kernels} kernels in {} files; {right} lines right, {modelled} right as the compiler is stated to be, \
         {undecided} undecided, {known_wrong} known to be wrong",
        files.len()
    );
    failures.extend(
        known.iter().map(|entry| format!("no longer wrong; take it out of {}: {entry}", known::LIST)),
    );
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    assert!(!filter.is_empty() || kernels >= LEAST_KERNELS, "only {kernels} kernels");
}
