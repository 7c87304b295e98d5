//! Are barriers that are taken out missed, and are only races said to be races?
//!
//! Of each file of `fixtures/oracle` mutants are made: in the first, each function lacks its first
//! `__syncthreads()`, in the second its second, and so on; likewise with `__syncwarp()`. What a mutant does is
//! seen on the host, where accesses of different threads that nothing orders are races: of different warps
//! between the same barriers, of one warp with no `__syncwarp` in between. Each fault that is told of has to be
//! one that happened, in the mutants and in the files as they are. Of the kernels that
//! race between a read and a write, or within a warp from a write to a read, so many have to be found; and of
//! those, in a thorough run, so many have to be free of such races with what `--unsafe-fixes` writes.
//!
//! ```text
//! cargo test --test it oracle::mutants -- --nocapture
//! CUDALINT_THOROUGH=1 cargo test --test it oracle::mutants -- --nocapture      # more than the first
//! ```

use super::compile;
use super::execution::{self, Launch};
use super::findings::{Finding, RULES, base, findings, proved, refuted, unconfirmed};
use super::kernel_files;
use super::races::{Between, Race, races};
use crate::support::folder::folder;
use crate::support::{is_sampled, thorough};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// If not thorough, one of so many files is taken.
const ONE_OF: usize = 3;

/// What is taken out, and who has to tell of it.
struct Removal {
    text: &'static str,
    rule: &'static str,
    between: Between,
    /// The least share of kernels with a race that are told of.
    least_found: f64,
    /// The least share of these that `--unsafe-fixes` repairs.
    least_repaired: f64,
}

const REMOVALS: [Removal; 2] = [
    Removal {
        text: "__syncthreads();",
        rule: "missing-barrier",
        between: Between::Warps,
        least_found: 0.8,
        least_repaired: 0.5,
    },
    Removal {
        text: "__syncwarp();",
        rule: "warp-synchronous",
        between: Between::Lanes,
        least_found: 0.5,
        least_repaired: 0.5,
    },
];

/// What came of a mutant.
#[derive(Debug, Default)]
struct Tally {
    barriers: usize,
    /// Kernels that race between a read and a write, and those of them that are told of.
    racing: usize,
    found: usize,
    /// Those that are proved free of races.
    proved: usize,
    told: usize,
    /// Those told of that do not race with what `--unsafe-fixes` makes of the mutant, and those that do.
    repaired: usize,
    racing_still: Vec<String>,
    wrong: Vec<String>,
}

/// The text without the barrier of this number of each function, or with all; how many are left out.
fn without(text: &str, barrier: &str, number: Option<usize>) -> (String, usize) {
    let (mut out, mut taken, mut seen) = (String::new(), 0, 0);
    for line in text.split_inclusive('\n') {
        // A function begins at the margin.
        if !line.starts_with([' ', '}', '\t', '/', '#', '\n']) {
            seen = 0;
        }
        let mut rest = line;
        while let Some((before, after)) = rest.split_once(barrier) {
            out.push_str(before);
            let blank = format!("{:width$};", "", width = barrier.len() - 1);
            out.push_str(if Some(seen) == number { &blank } else { barrier });
            taken += usize::from(Some(seen) == number);
            seen += 1;
            rest = after;
        }
        out.push_str(rest);
    }
    (out, taken)
}

/// Whether it is one of those that are looked for: of two warps, and not of two writes; or of what one lane
/// writes and another reads then.
fn counts(race: &Race, between: Between) -> bool {
    let atomic_and_store = race.first.is_atomic != race.second.is_atomic;
    race.between == between
        && match between {
            Between::Warps => race.first.stores != race.second.stores || atomic_and_store,
            _ => race.first.stores && !race.second.stores,
        }
}

fn judge(path: &Path, removal: &Removal, number: Option<usize>) -> Tally {
    let mut tally = Tally::default();
    let (text, barriers) = without(&std::fs::read_to_string(path).unwrap(), removal.text, number);
    tally.barriers = barriers;
    if barriers == 0 && number.is_some() {
        return tally;
    }
    let root = folder(&[("mutant.cu", text.as_str())]);
    // Wrong data may lead a kernel anywhere: what it did until then counts.
    let built = compile::compiler().unwrap().build_version(path, &text, &root.path().join("built"));
    let launches = execution::read(&built.unwrap());
    let told = findings(&root.path().join("mutant.cu"), &RULES);
    let place = format!("{} without {} {number:?}", path.display(), removal.text);
    tally.wrong.extend(unconfirmed(&told, &launches).iter().map(|it| format!("{place}: {it}")));
    let proved = proved(&root.path().join("mutant.cu"));
    tally.proved = proved.len();
    tally.wrong.extend(refuted(&proved, &launches).iter().map(|it| format!("{place}: {it}")));
    let told: Vec<&Finding> = told.iter().filter(|it| it.rule == removal.rule).collect();
    tally.told = told.len();
    let mut racing: BTreeSet<&str> = BTreeSet::new();
    for launch in &launches {
        if races(launch).iter().any(|race| counts(race, removal.between)) {
            racing.insert(base(&launch.kernel));
        }
    }
    tally.racing = racing.len();
    let found: Vec<&str> =
        racing.into_iter().filter(|kernel| told.iter().any(|it| base(&it.kernel) == *kernel)).collect();
    tally.found = found.len();
    if thorough() && !found.is_empty() {
        let racing = racing_when_repaired(path, root.path(), removal);
        let (still, repaired): (Vec<&str>, Vec<_>) = found.into_iter().partition(|it| racing.contains(*it));
        tally.repaired = repaired.len();
        tally.racing_still.extend(still.iter().map(|kernel| format!("{place}: {kernel}")));
    }
    tally
}

/// The kernels that race with what `--unsafe-fixes` makes of a mutant.
fn racing_when_repaired(path: &Path, root: &Path, removal: &Removal) -> BTreeSet<String> {
    let run = Command::new(env!("CARGO_BIN_EXE_cudalint"))
        .current_dir(root)
        .args([
            "--fix",
            "--unsafe-fixes",
            "-A",
            "all",
            "-W",
            removal.rule,
            "-W",
            "divergent-barrier",
            "-q",
            "mutant.cu",
        ])
        .output();
    assert!(run.unwrap().status.code().is_some_and(|code| code <= 1));
    let text = std::fs::read_to_string(root.join("mutant.cu")).unwrap();
    let built = compile::compiler().unwrap().build_version(path, &text, &root.join("repaired"));
    let compiled = built.unwrap();
    let launches = execution::read(&compiled);
    let races = |launch: &&Launch| races(launch).iter().any(|race| counts(race, removal.between));
    launches.iter().filter(races).map(|launch| base(&launch.kernel).to_owned()).collect()
}

#[test]
fn barriers_that_are_taken_out_are_missed() {
    if let Err(why) = compile::compiler() {
        assert!(std::env::var_os("CUDALINT_NEEDS_COMPILER").is_none(), "{why}");
        println!("skipped: {why}");
        return;
    }
    let last = if thorough() { 3 } else { 1 };
    let mut files: Vec<PathBuf> = kernel_files(&std::env::var("CUDALINT_ORACLE").unwrap_or_default());
    files.retain(|path| is_sampled(path, 0, ONE_OF));
    for removal in &REMOVALS {
        let numbers = || std::iter::once(None).chain((0..last).map(Some));
        let mutants: Vec<(&PathBuf, Option<usize>)> =
            files.iter().flat_map(|path| numbers().map(move |number| (path, number))).collect();
        let tallies: Vec<Tally> =
            mutants.par_iter().map(|(path, number)| judge(path, removal, *number)).collect();
        let sum = |part: fn(&Tally) -> usize| tallies.iter().map(part).sum::<usize>();
        let (racing, found) = (sum(|tally| tally.racing), sum(|tally| tally.found));
        println!(
            "{} times `{}` taken out: {racing} kernels race that `{}` looks for, {found} of these are told of, \
             {} findings in all; {} kernels are proved free of races",
            sum(|tally| tally.barriers),
            removal.text,
            removal.rule,
            sum(|tally| tally.told),
            sum(|tally| tally.proved),
        );
        if thorough() {
            let still: Vec<&String> = tallies.iter().flat_map(|tally| &tally.racing_still).collect();
            let repaired = sum(|tally| tally.repaired);
            println!("`--unsafe-fixes` repairs {repaired} of these; not {still:#?}");
            assert!(
                repaired as f64 >= removal.least_repaired * found as f64,
                "only {repaired} of {found} are repaired"
            );
        }
        let wrong: Vec<&String> = tallies.iter().flat_map(|tally| &tally.wrong).collect();
        let lines: Vec<&str> = wrong.iter().map(|line| line.as_str()).collect();
        assert!(wrong.is_empty(), "{} that are none:\n{}", wrong.len(), lines.join("\n"));
        let enough = found as f64 >= removal.least_found * racing as f64;
        assert!(enough, "only {found} of {racing} are found");
    }
}

/// Kernels that stay inside their arrays, read what was written and do not race get no finding that says so.
#[test]
fn correct_kernels_are_not_found_faulty() {
    let rules = [&RULES[..], &["misaligned-vector-access"]].concat();
    let mut wrong = Vec::new();
    for path in kernel_files("") {
        let told = findings(&path, &rules).into_iter().filter(|it| !base(&it.kernel).ends_with("_racy"));
        wrong.extend(told.map(|it| format!("{}:{}: {}", path.display(), it.line, it.message)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
