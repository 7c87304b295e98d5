//! Is a fault that is put into a kernel told of, and is only told what happens?
//!
//! `mutation.rs` says which faults there are: indices, bounds and extents that are off by one, stores that are
//! missing, masks that name other lanes than those that come, barriers that not all threads reach. What a mutant
//! does is seen on the host. Each finding has to be of something that happened. Of the kernels that do what they
//! did not do before, so many have to be told of by the rule that looks for it.
//!
//! ```text
//! cargo test --test it oracle::faults -- --nocapture
//! CUDALINT_THOROUGH=1 cargo test --test it oracle::faults -- --nocapture      # more places
//! CUDALINT_SHOW=1 cargo test --test it oracle::faults -- --nocapture          # and what is missed
//! ```

use super::compile::compiler;
use super::execution::{Launch, read};
use super::findings::{ALL_RULES, Finding, base, faults, findings, unconfirmed};
use super::kernel_files;
use super::mutation::{OPERATORS, Operator, mutated};
use super::said::{Said, said};
use crate::support::folder::folder;
use crate::support::{is_sampled, thorough};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// If not thorough, one of so many files is taken for each operator.
const ONE_OF: usize = 3;
/// How much lower the share of those may be that are told of: they are few.
const BY_CHANCE: f64 = 0.1;

/// What came of the mutants of one operator.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Functions that were changed, and lines that then do not compile.
    pub changed: usize,
    pub broken: usize,
    /// Kernels that do what the rule looks for, and those that are told of.
    pub faulty: usize,
    pub found: usize,
    /// The same, of kernels whose accesses are all decided, and whose block somebody gave.
    pub faulty_decided: usize,
    pub found_decided: usize,
    /// Findings by any rule.
    pub told: usize,
    pub missed: Vec<String>,
    pub wrong: Vec<String>,
}

impl Tally {
    pub fn add(&mut self, other: Tally) {
        self.changed += other.changed;
        self.broken += other.broken;
        self.faulty += other.faulty;
        self.found += other.found;
        self.faulty_decided += other.faulty_decided;
        self.found_decided += other.found_decided;
        self.told += other.told;
        self.missed.extend(other.missed);
        self.wrong.extend(other.wrong);
    }

    /// A row of the table.
    pub fn row(&self, name: &str) -> String {
        format!(
            "{name:44} {:7} {:6} {:6} {:6} {:8} {:6} {:5} {:5}",
            self.changed,
            self.broken,
            self.faulty,
            self.found,
            self.faulty_decided,
            self.found_decided,
            self.told,
            self.wrong.len(),
        )
    }
}

/// Above the rows.
pub const HEAD: &str =
    "                                             changed broken faulty  found  decided  found  told wrong";

/// The kernels in whose launches something happens that a rule looks for.
fn faulty<'a>(launches: &'a [Launch], rule: &str) -> BTreeSet<&'a str> {
    let is_faulty = |launch: &&Launch| faults(launch).iter().any(|(its, _)| *its == rule);
    launches.iter().filter(is_faulty).map(|launch| base(&launch.kernel)).collect()
}

/// Counts what is told of a mutant's kernels that do what a rule looks for, and did not do it before.
pub fn compare(
    place: &str,
    rule: &str,
    (before, launches): (&[Launch], &[Launch]),
    (told, said): (&[Finding], &[Said]),
) -> Tally {
    let all_told = told;
    let told: Vec<&Finding> =
        told.iter().filter(|it| launches.iter().any(|launch| it.is_of(launch))).collect();
    let mut tally = Tally { told: told.len(), ..Tally::default() };
    for kernel in &faulty(launches, rule) - &faulty(before, rule) {
        let of_kernel = || launches.iter().filter(|launch| base(&launch.kernel) == kernel);
        let its_faults: BTreeSet<_> = of_kernel().flat_map(faults).collect();
        // What a function does that several kernels call is told of one of them.
        let is_its =
            |it: &Finding| base(&it.kernel) == kernel || its_faults.iter().any(|fault| it.tells_of(fault));
        let is_found = all_told.iter().any(|it| it.rule == rule && is_its(it));
        let mut rows = said.iter().filter(|row| of_kernel().any(|launch| row.is_of(launch))).peekable();
        let is_decided = rows.peek().is_some() && rows.all(|row| row.is_decided() && row.is_of_given_block());
        tally.faulty += 1;
        tally.found += usize::from(is_found);
        tally.faulty_decided += usize::from(is_decided);
        tally.found_decided += usize::from(is_found && is_decided);
        if !is_found {
            let all = of_kernel().flat_map(faults).filter(|(its, _)| *its == rule);
            let lines: BTreeSet<u32> = all.map(|(_, (line, _))| line).collect();
            let known = if is_decided { "decided" } else { "undecided" };
            tally.missed.push(format!("{place}: {rule}: `{kernel}`, lines {lines:?}, {known}"));
        }
    }
    tally
}

fn judge(path: &Path, before: &[Launch], operator: &Operator, number: usize) -> Tally {
    let text = std::fs::read_to_string(path).unwrap();
    // What does not compile in one function stays as it was.
    let mut spared: BTreeSet<usize> = BTreeSet::new();
    let (root, changed, built) = loop {
        let (mutant, changed) = mutated(&text, operator, number, &spared);
        if changed == 0 {
            return Tally { broken: spared.len(), ..Tally::default() };
        }
        let root = folder(&[("mutant.cu", mutant.as_str())]);
        match compiler().unwrap().build_version(path, &mutant, &root.path().join("built")) {
            Ok(built) => break (root, changed, built),
            Err(error) => {
                let lines = error_lines(path, &error);
                if lines.is_subset(&spared) {
                    return Tally { changed, broken: changed, ..Tally::default() };
                }
                spared.extend(lines);
            }
        }
    };
    let place = format!("{}: {} {number}", path.display(), operator.name);
    let launches = (before, &*read(&built));
    let mutant = root.path().join("mutant.cu");
    let (told, said) = (findings(&mutant, &ALL_RULES), said(&mutant));
    let wrong = unconfirmed(&told, launches.1).iter().map(|it| format!("{place}: {it}")).collect();
    let compared = compare(&place, operator.rule, launches, (&told, &said));
    Tally { changed, broken: spared.len(), wrong, ..compared }
}

/// The lines of a file that a compiler complains of.
pub fn error_lines(path: &Path, error: &str) -> BTreeSet<usize> {
    let name = format!("{}:", path.display());
    error
        .lines()
        .filter(|line| line.contains("error"))
        .filter_map(|line| line.strip_prefix(&name)?.split(':').next()?.parse().ok())
        .collect()
}

#[test]
fn faults_that_are_put_in_are_told() {
    if let Err(why) = compiler() {
        assert!(std::env::var_os("CUDALINT_NEEDS_COMPILER").is_none(), "{why}");
        println!("skipped: {why}");
        return;
    }
    let places = if thorough() { 6 } else { 1 };
    let filter = std::env::var("CUDALINT_ORACLE").unwrap_or_default();
    let files: Vec<PathBuf> = kernel_files(&filter);
    let as_it_is = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        read(&compiler().unwrap().build(path, &text).unwrap())
    };
    let before: Vec<Vec<Launch>> = files.par_iter().map(as_it_is).collect();
    let (mut all, mut too_few) = (Tally::default(), Vec::new());
    println!("{HEAD}");
    for (rank, operator) in OPERATORS.iter().enumerate() {
        let numbers = |at: usize| (0..places).map(move |number| (at, number));
        let mut mutants: Vec<(usize, usize)> = (0..files.len()).flat_map(numbers).collect();
        mutants.retain(|(at, _)| is_sampled(&files[*at], rank, ONE_OF));
        let mutant = |(at, number): &(usize, usize)| judge(&files[*at], &before[*at], operator, *number);
        let tallies: Vec<Tally> = mutants.par_iter().map(mutant).collect();
        let mut tally = Tally::default();
        tallies.into_iter().for_each(|it| tally.add(it));
        println!("{}", tally.row(operator.name));
        let least = operator.least - if thorough() { 0.0 } else { BY_CHANCE };
        let is_few = |found: usize, of: usize| (found as f64) < least * of as f64;
        // Of few files, those that are not decided may be most.
        let by_decided = thorough() || is_few(tally.found_decided, tally.faulty_decided);
        if is_few(tally.found, tally.faulty) && by_decided {
            too_few.push(operator.name);
        }
        all.add(tally);
    }
    println!("{}", all.row("all"));
    if std::env::var_os("CUDALINT_SHOW").is_some() {
        all.missed.iter().for_each(|line| println!("missed: {line}"));
    }
    assert!(all.wrong.is_empty(), "{} that are none:\n{}", all.wrong.len(), all.wrong.join("\n"));
    // The shares are those of all files.
    assert!(too_few.is_empty() || !filter.is_empty(), "too few are told of: {too_few:?}");
}
