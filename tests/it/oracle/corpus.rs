//! Is what is said of public programs what they do on the host?
//!
//! ```text
//! CUDALINT_CORPUS=dir CUDALINT_CASES=200 cargo test --release --test it oracle::corpus -- --nocapture
//! ```
//!
//! A program counts if it compiles with the headers of `tests/oracle/cuda`, and as far as it runs: each launch
//! with the arguments that its own `main` gives it. Of the programs that have shared memory and a `main`,
//! `CUDALINT_CASES` are taken, evenly spread. `docs/agreement.md` says how to fetch them. What differs is
//! printed, and is to be looked at: some of it is this oracle's own doing.

use super::compare::{Outcome, compare};
use super::compile::compiler;
use super::execution::read;
use super::said::said;
use crate::support::kernels::number;
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The least share of decided lines that have to agree.
const LEAST_AGREEMENT: f64 = 0.9;
/// A program that says one of these might do something to this machine.
const KEPT_OUT: [&str; 9] =
    ["system(", "popen(", "fork(", "execv", "execl", "remove(", "unlink(", "rename(", "socket("];

/// What came of one program.
#[derive(Debug, Default)]
struct Tally {
    compiled: usize,
    ran: usize,
    kernels: usize,
    agreed: usize,
    undecided: usize,
    differing: Vec<String>,
}

/// The folder with public code, if one is named and there is a compiler for it; says so where not.
pub fn corpus() -> Option<PathBuf> {
    let corpus = std::env::var_os("CUDALINT_CORPUS").map(PathBuf::from);
    let why = match &corpus {
        None => Some("CUDALINT_CORPUS names no folder".to_owned()),
        Some(_) => compiler().err().map(|why| why.to_string()),
    };
    why.iter().for_each(|why| println!("skipped: {why}"));
    corpus.filter(|_| why.is_none())
}

fn programs(corpus: &Path, wanted: usize) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(corpus).sort_by_file_name().into_iter().flatten();
    let files = entries.map(walkdir::DirEntry::into_path);
    let suitable: Vec<PathBuf> = files
        .filter(|path| path.extension().is_some_and(|extension| extension == "cu"))
        .filter(|path| {
            let text = std::fs::read(path).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let starts = text.contains(" main(") && text.contains("<<<");
            starts && text.contains("__shared__") && !KEPT_OUT.iter().any(|word| text.contains(word))
        })
        .collect();
    let step = suitable.len().div_ceil(wanted.max(1)).max(1);
    suitable.into_iter().step_by(step).collect()
}

fn judge(path: &Path) -> Tally {
    let mut tally = Tally::default();
    let Ok(text) = std::fs::read_to_string(path) else { return tally };
    let Ok(compiled) = compiler().unwrap().build_foreign(path, &text) else { return tally };
    tally.compiled = 1;
    let launches = read(&compiled);
    let kernels: BTreeSet<&str> = launches.iter().map(|launch| launch.kernel.as_str()).collect();
    (tally.ran, tally.kernels) = (usize::from(!launches.is_empty()), kernels.len());
    for line in compare(&path.to_string_lossy(), &launches, &said(path)) {
        match line.outcome {
            Outcome::Right | Outcome::Modelled => tally.agreed += 1,
            Outcome::Undecided(_) => tally.undecided += 1,
            Outcome::Wrong(what) | Outcome::Missing(what) | Outcome::Extra(what) => {
                let at = format!("{}:{}", path.display(), line.line);
                tally.differing.push(format!("{at} {} {} {}: {what}", line.kernel, line.op, line.array));
            }
        }
    }
    tally
}

#[test]
fn public_programs_do_what_is_said() {
    let Some(corpus) = corpus() else { return };
    let programs = programs(&corpus, number("CUDALINT_CASES", 100) as usize);
    let tallies: Vec<Tally> = programs.par_iter().map(|path| judge(path)).collect();
    let sum = |part: fn(&Tally) -> usize| tallies.iter().map(part).sum::<usize>();
    let differing: Vec<&String> = tallies.iter().flat_map(|tally| &tally.differing).collect();
    differing.iter().for_each(|line| println!("{line}"));
    let agreed = sum(|tally| tally.agreed);
    let decided = agreed + differing.len();
    println!(
        "{} programs: {} compile, {} launch {} kernels; of {decided} decided lines {agreed} agree; {} undecided",
        programs.len(),
        sum(|tally| tally.compiled),
        sum(|tally| tally.ran),
        sum(|tally| tally.kernels),
        sum(|tally| tally.undecided),
    );
    assert!(
        decided == 0 || agreed as f64 >= LEAST_AGREEMENT * decided as f64,
        "{agreed} of {decided} lines agree"
    );
}
