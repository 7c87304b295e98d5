//! Is what is told of public kernels what they do on the host, as they are and with faults put in?
//!
//! ```text
//! CUDALINT_CORPUS=dir cargo test --test it oracle::public -- --nocapture
//! CUDALINT_CORPUS=dir CUDALINT_THOROUGH=1 cargo test --test it oracle::public -- --nocapture    # mutants, too
//! ```
//!
//! `CUDALINT_CASES` says how many files, `CUDALINT_PLACES` how many places of each function are changed, one after the
//! other, and `CUDALINT_MUTANTS` says which faults are put in: parts of their names, with commas in between. The
//! table has a row for each folder of the corpus and each fault, and another for the races that a fault makes that
//! is none of a barrier.
//!
//! `corpus.rs` runs programs as they are. Here only kernels run, each in the blocks in which the tool judges it,
//! with arguments that are made up: `harness.rs` says how. Findings that nothing confirms are printed, and are to be
//! looked at: other data than those that were made up may confirm them.

use super::compare::{self, Outcome};
use super::compile::Compiled;
use super::corpus::corpus;
use super::execution::{Launch, read};
use super::faults::{HEAD, Tally, compare, error_lines};
use super::findings::{ALL_RULES, Finding, base, findings_of_text, unconfirmed};
use super::harness::{Case, FEW_SIZES, Harness, SIZES};
use super::mutation::{OPERATORS, Operator, TAKEN_OUT, mutated};
use super::said::{Said, said_of_text};
use crate::support::kernels::number;
use crate::support::thorough;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The blocks and template arguments of one kernel that are run, at the most.
const MOST_CASES: usize = 4;

/// The least share of decided lines that agree, and of findings that are confirmed. Sizes and data that are made up
/// do not lead everywhere.
const LEAST_RIGHT: f64 = 0.9;

/// What came of one file.
#[derive(Debug, Default)]
struct Outcomes {
    compiled: usize,
    kernels: BTreeSet<String>,
    ran: BTreeSet<String>,
    left_out: Vec<String>,
    agreed: usize,
    undecided: usize,
    differing: Vec<String>,
    told: usize,
    wrong: Vec<String>,
    /// By the name of the fault.
    tallies: BTreeMap<String, Tally>,
}

impl Outcomes {
    /// Compares accesses. What is said may rest on the arguments that the program itself gives: it has to be so for
    /// one of the sizes.
    fn compare(&mut self, path: &Path, launches: &[Launch], said: &[Said]) {
        let mut best: BTreeMap<(String, u32, String, String), Outcome> = BTreeMap::new();
        let mut times: BTreeMap<(&str, [u32; 3]), usize> = BTreeMap::new();
        let mut with_size: Vec<Vec<&Launch>> = vec![Vec::new(); SIZES.len()];
        for launch in launches {
            let time = times.entry((&launch.kernel, launch.block)).or_default();
            with_size[(*time).min(SIZES.len() - 1)].push(launch);
            *time += 1;
        }
        for launches in with_size {
            for line in compare::compare(&path.to_string_lossy(), launches, said) {
                let known = best.entry((line.kernel, line.line, line.op, line.array));
                let known = known.or_insert_with(|| line.outcome.clone());
                if compare::rank(&line.outcome) < compare::rank(known) {
                    *known = line.outcome;
                }
            }
        }
        for ((kernel, line, op, array), outcome) in best {
            match outcome {
                Outcome::Right | Outcome::Modelled => self.agreed += 1,
                Outcome::Undecided(_) => self.undecided += 1,
                // With other sizes it may.
                Outcome::Extra(_) => {}
                Outcome::Wrong(what) | Outcome::Missing(what) => {
                    self.differing.push(format!("{}:{line} {kernel} {op} {array}: {what}", path.display()));
                }
            }
        }
    }
}

fn files(corpus: &Path) -> Vec<PathBuf> {
    let entries = walkdir::WalkDir::new(corpus).sort_by_file_name().into_iter().flatten();
    let files = entries.map(walkdir::DirEntry::into_path);
    files
        .filter(|path| path.extension().is_some_and(|it| it == "cu" || it == "cuh"))
        .filter(|path| {
            let text = std::fs::read_to_string(path).unwrap_or_default();
            text.contains("__global__") && text.contains("__shared__")
        })
        .collect()
}

/// The folder in which a file's launches are looked for: its own, or of a header that above.
fn context(path: &Path) -> &Path {
    let beside = path.parent().unwrap();
    let is_header = path.extension().is_some_and(|it| it == "cuh");
    if is_header { beside.parent().unwrap_or(beside) } else { beside }
}

/// The launches that were not given up. The largest of the sizes is too large for some kernels.
fn whole(built: &Compiled) -> Vec<Launch> {
    let mut launches = read(built);
    launches.retain(|launch| !launch.given_up);
    launches
}

/// What is told of a text. How long an array is that is sized at launch was made up here: nothing confirms that an
/// index leaves it.
fn told(path: &Path, text: &str) -> Vec<Finding> {
    let mut told = findings_of_text(path, text, context(path), &ALL_RULES);
    told.retain(|it| it.rule != "shared-out-of-bounds" || it.is_of_sized_array());
    told
}

fn judge(path: &Path) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let Ok(text) = std::fs::read_to_string(path) else { return outcomes };
    let said = said_of_text(path, &text, context(path));
    let mut cases: Vec<Case> = Vec::new();
    for row in &said {
        let case = Case { kernel: row.kernel.clone(), block: row.block };
        let alike = cases.iter().filter(|it| base(&it.kernel) == base(&case.kernel)).count();
        if alike < MOST_CASES && !cases.contains(&case) {
            cases.push(case);
        }
    }
    if cases.is_empty() {
        return outcomes;
    }
    outcomes.kernels = cases.iter().map(|case| base(&case.kernel).to_owned()).collect();
    let root = tempfile::tempdir().unwrap();
    let (harness, built) = match Harness::build(path, &text, &cases, root.path()) {
        Ok(built) => built,
        Err(why) => {
            outcomes.left_out.extend(outcomes.kernels.iter().map(|_| why.clone()));
            return outcomes;
        }
    };
    outcomes.compiled = 1;
    let launches = whole(&built);
    outcomes.ran = launches.iter().map(|launch| base(&launch.kernel).to_owned()).collect();
    for kernel in &outcomes.kernels - &outcomes.ran {
        let of_kernel = harness.left_out.iter().find(|(case, _)| base(&case.kernel) == kernel);
        outcomes.left_out.push(of_kernel.map_or("it failed when it ran".to_owned(), |(_, why)| why.clone()));
    }
    outcomes.compare(path, &launches, &said);
    let told = told(path, &text);
    outcomes.told = told.iter().filter(|it| launches.iter().any(|launch| it.is_of(launch))).count();
    outcomes.wrong.extend(unconfirmed(&told, &launches).iter().map(|it| format!("{}: {it}", path.display())));
    if thorough() {
        let wanted = std::env::var("CUDALINT_MUTANTS").unwrap_or_default();
        let meant = |it: &&Operator| wanted.split(',').any(|part| it.name.contains(part));
        for operator in TAKEN_OUT.iter().chain(&OPERATORS).filter(meant) {
            for place in 0..number("CUDALINT_PLACES", 1) as usize {
                let tallies = judge_mutant(path, &text, &harness, &launches, (operator, place));
                for (fault, tally) in tallies {
                    outcomes.tallies.entry(fault).or_default().add(tally);
                }
            }
        }
    }
    outcomes
}

/// What came of a mutant, by the fault that was put in.
fn judge_mutant(
    path: &Path,
    text: &str,
    harness: &Harness,
    before: &[Launch],
    (operator, place): (&Operator, usize),
) -> Vec<(String, Tally)> {
    let name = operator.name.to_owned();
    let mut spared: BTreeSet<usize> = BTreeSet::new();
    let (mutant, changed, built) = loop {
        let (mutant, changed) = mutated(text, operator, place, &spared);
        if changed == 0 {
            return vec![(name, Tally { broken: spared.len(), ..Tally::default() })];
        }
        let root = tempfile::tempdir().unwrap();
        match harness.run(path, &mutant, &FEW_SIZES, root.path()) {
            Ok(built) => break (mutant, changed, whole(&built)),
            Err(error) => {
                let lines = error_lines(path, &error);
                if lines.is_subset(&spared) {
                    return vec![(name, Tally { changed, broken: changed, ..Tally::default() })];
                }
                spared.extend(lines);
            }
        }
    };
    let place = format!("{}: {} {place}", path.display(), operator.name);
    let told = told(path, &mutant);
    let said = said_of_text(path, &mutant, context(path));
    let wrong = unconfirmed(&told, &built).iter().map(|it| format!("{place}: {it}")).collect();
    let compared = |rule| compare(&place, rule, (before, &built), (&told, &said));
    let mut tallies = vec![(name, Tally { changed, broken: spared.len(), wrong, ..compared(operator.rule) })];
    if !TAKEN_OUT.iter().any(|it| it.rule == operator.rule) {
        tallies.push((format!("  races by it: {}", operator.name), compared(TAKEN_OUT[0].rule)));
    }
    tallies
}

#[test]
fn public_kernels_do_what_is_told() {
    let Some(corpus) = corpus() else { return };
    let files = files(&corpus);
    let step = files.len().div_ceil(number("CUDALINT_CASES", 100) as usize).max(1);
    let files: Vec<PathBuf> = files.into_iter().step_by(step).collect();
    let all: Vec<Outcomes> = files.par_iter().map(|path| judge(path)).collect();
    let sum = |part: fn(&Outcomes) -> usize| all.iter().map(part).sum::<usize>();
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    all.iter().flat_map(|it| &it.left_out).for_each(|why| *reasons.entry(why).or_default() += 1);
    reasons.iter().for_each(|(why, count)| println!("left out: {count:4} kernels: {why}"));
    all.iter().flat_map(|it| &it.differing).for_each(|line| println!("differs: {line}"));
    all.iter().flat_map(|it| &it.wrong).for_each(|line| println!("not confirmed: {line}"));
    println!(
        "{} files: {} compile; {} of {} kernels run; of {} decided lines {} agree, {} undecided; \
         {} findings, {} not confirmed",
        files.len(),
        sum(|it| it.compiled),
        sum(|it| it.ran.len()),
        sum(|it| it.kernels.len()),
        sum(|it| it.agreed + it.differing.len()),
        sum(|it| it.agreed),
        sum(|it| it.undecided),
        sum(|it| it.told),
        sum(|it| it.wrong.len()),
    );
    let (agreed, decided) = (sum(|it| it.agreed), sum(|it| it.agreed + it.differing.len()));
    let confirmed = sum(|it| it.told) - sum(|it| it.wrong.len());
    assert!(agreed as f64 >= LEAST_RIGHT * decided as f64, "{agreed} of {decided} lines agree");
    assert!(confirmed as f64 >= LEAST_RIGHT * sum(|it| it.told) as f64, "only {confirmed} are confirmed");
    if !thorough() {
        return;
    }
    let mut tallies: BTreeMap<(String, String), Tally> = BTreeMap::new();
    for (path, outcomes) in files.iter().zip(all) {
        let below = path.strip_prefix(&corpus).unwrap_or(path);
        let folder =
            below.components().next().map_or_else(String::new, |it| it.as_os_str().to_string_lossy().into());
        for (fault, tally) in outcomes.tallies {
            for folder in [folder.clone(), "~ all".to_owned()] {
                tallies.entry((folder, fault.clone())).or_default().add(tally.clone());
            }
        }
    }
    for ((folder, _), tally) in tallies.iter().filter(|((folder, _), _)| folder == "~ all") {
        tally.missed.iter().for_each(|line| println!("missed: {folder}: {line}"));
        tally.wrong.iter().for_each(|line| println!("not confirmed: {line}"));
    }
    println!("{:20} {HEAD}", "");
    for ((folder, fault), tally) in tallies.iter().filter(|(_, tally)| tally.changed + tally.faulty > 0) {
        println!("{folder:20} {}", tally.row(fault));
    }
}
