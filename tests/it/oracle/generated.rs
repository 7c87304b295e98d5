//! Is what is said of random kernels what they do, of their accesses and of their faults?
//!
//! ```text
//! CUDALINT_CASES=2000 CUDALINT_SEED=7 cargo test --test it oracle::generated -- --nocapture
//! ```
//!
//! Features that are known to be judged wrongly are kept apart (`features.rs`): of those, some kernel has to
//! be judged wrongly, so that the list shrinks.

use super::compare::{Line, Outcome, compare};
use super::compile::compiler;
use super::execution::{Launch, Step, read};
use super::findings::{Finding, RULES, base, findings, proved, refuted, unconfirmed};
use super::generate::features::{Feature, KNOWN_WRONG, SOUND};
use super::generate::program;
use super::said::said;
use crate::support::kernels::number;
use crate::support::random::Random;
use rayon::prelude::*;
use std::path::Path;

/// Kernels in one file: compiling is what takes long.
const IN_A_FILE: u64 = 15;

/// What came of a file of kernels.
#[derive(Debug, Default)]
struct Tally {
    kernels: usize,
    lines: usize,
    undecided: usize,
    /// Faults that are told of.
    told: usize,
    /// Kernels that are proved free of races.
    proved: usize,
    wrong: Vec<String>,
}

/// Compiles, runs and compares one file.
fn judge(seed: u64, file: u64, kernels: u64, allowed: &[Feature]) -> Tally {
    let mut random = Random(seed.wrapping_mul(1_000_003).wrapping_add(file));
    let text = program(&mut random, kernels as usize, allowed);
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("generated");
    std::fs::create_dir_all(&folder).unwrap();
    let what = if let [only] = allowed { only.name.replace(' ', "-") } else { "mixed".to_owned() };
    let path = folder.join(format!("{what}-{seed}-{file}.cu"));
    std::fs::write(&path, &text).unwrap();
    let compiled = compiler().unwrap().build(&path, &text);
    let launches = read(&compiled.unwrap_or_else(|error| panic!("{}: {error}", path.display())));
    // What C++ does not define proves nothing.
    let launches: Vec<Launch> = launches.into_iter().filter(|launch| !is_undefined(launch)).collect();
    let name = path.to_string_lossy();
    let name = name.strip_prefix(concat!(env!("CARGO_MANIFEST_DIR"), "/")).unwrap_or(&name);
    let lines = compare(name, &launches, &said(&path));
    let mut tally = Tally { kernels: launches.len(), lines: lines.len(), ..Tally::default() };
    let told = findings(&path, &RULES);
    let ran = |it: &Finding| launches.iter().any(|launch| base(&launch.kernel) == base(&it.kernel));
    let told: Vec<Finding> = told.into_iter().filter(ran).collect();
    tally.told = told.len();
    tally.wrong.extend(unconfirmed(&told, &launches).iter().map(|it| format!("{}: {it}", path.display())));
    let proved = proved(&path);
    tally.proved = proved.len();
    tally.wrong.extend(refuted(&proved, &launches).iter().map(|it| format!("{}: {it}", path.display())));
    for line in &lines {
        match &line.outcome {
            Outcome::Right | Outcome::Modelled => {}
            Outcome::Undecided(_) => tally.undecided += 1,
            Outcome::Wrong(what) | Outcome::Missing(what) | Outcome::Extra(what) => {
                tally.wrong.push(complaint(&path, &text, line, what));
            }
        }
    }
    tally
}

fn is_undefined(launch: &Launch) -> bool {
    launch.given_up || launch.warps.iter().flatten().any(|step| matches!(step, Step::Undefined { .. }))
}

fn complaint(path: &Path, text: &str, line: &Line, what: &str) -> String {
    let written = text.lines().nth(line.line as usize - 1).unwrap_or("").trim();
    let namespace = format!("namespace {} {{", line.kernel.replace("kernel", "case"));
    let features = text.split_once(&namespace).and_then(|(before, _)| before.lines().last()).unwrap_or("");
    format!(
        "{}:{} {} {}: {written}\n    {what}\n    {features}",
        path.display(),
        line.line,
        line.op,
        line.array
    )
}

fn judge_all(seed: u64, cases: u64, allowed: &[Feature]) -> Tally {
    let files: Vec<u64> = (0..cases.div_ceil(IN_A_FILE)).collect();
    let tallies =
        files.par_iter().map(|file| judge(seed, *file, IN_A_FILE.min(cases - file * IN_A_FILE), allowed));
    tallies.reduce(Tally::default, |mut all, one| {
        all.kernels += one.kernels;
        all.lines += one.lines;
        all.undecided += one.undecided;
        all.told += one.told;
        all.proved += one.proved;
        all.wrong.extend(one.wrong);
        all
    })
}

#[test]
fn random_kernels_do_what_is_said() {
    if let Err(why) = compiler() {
        println!("skipped: {why}");
        return;
    }
    let (cases, seed) = (number("CUDALINT_CASES", 60), number("CUDALINT_SEED", 1));
    let Tally { kernels, lines, undecided, told, proved, wrong } = judge_all(seed, cases, SOUND);
    println!(
        "{kernels} kernels with {lines} lines: {undecided} undecided; {told} faults told of; \
         {proved} kernels proved free of races; {} wrong",
        wrong.len()
    );
    assert!(wrong.is_empty(), "{} of {lines} lines are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(kernels as u64 * 10 >= cases * 9, "only {kernels} of {cases} kernels are defined");
    assert!(undecided * 4 <= lines, "{undecided} of {lines} lines are not decided");
}

#[test]
fn features_that_are_known_to_be_judged_wrongly_still_are() {
    if compiler().is_err() {
        return;
    }
    let right: Vec<&str> = KNOWN_WRONG
        .par_iter()
        .filter(|feature| judge(3, 0, IN_A_FILE, &[**feature]).wrong.is_empty())
        .map(|feature| feature.name)
        .collect();
    assert!(right.is_empty(), "no longer wrong, move them to `SOUND`: {right:?}");
}
