//! How often does the analyzer say what a GPU measured on lines of public programs?
//!
//! `fixtures/hardware/lines-sm90.csv`, `lines-sm90-second.csv` and `lines-sm90-third.csv` hold what Nsight Compute
//! counted on an H200 and an H100. The programs are not part of this project: `docs/agreement.md` says how to fetch
//! them. Without them the test is skipped with a message.
//!
//! ```text
//! cargo test --release --test it agreement -- --nocapture
//! CUDALINT_CORPUS=dir cargo test --release --test it agreement -- --nocapture
//! CUDALINT_LINES=more.csv cargo test --release --test it agreement -- --nocapture
//! ```

mod names;
mod report;

use names::Kernel;
use report::{Outcome, Report};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What was measured while the rules were written.
const TABLE: &str = "fixtures/hardware/lines-sm90.csv";
/// What was measured of other programs afterwards.
const SECOND: &str = "fixtures/hardware/lines-sm90-second.csv";
/// What was measured of others again, after what the second table taught had been built.
const THIRD: &str = "fixtures/hardware/lines-sm90-third.csv";

/// Wavefronts over ideal above which a line conflicts; below lies what a profiler's rounding makes.
const CONFLICT: f64 = 1.02;
/// How far a predicted ratio may lie from the measured one.
const TOLERANCE: f64 = 0.1;

/// How good the agreement has to be.
struct Limits {
    /// The least share of decided lines on which both say "conflict" or both do not.
    agreement: f64,
    /// The least share of decided lines whose ratio is within the tolerance.
    within_ratio: f64,
    /// The most lines without a conflict that may be said to have one.
    false_conflicts: usize,
    /// The least share of lines that are decided, and of measured conflicts that are found, where all
    /// programs of the table are there.
    coverage: f64,
}

const LIMITS: Limits = Limits { agreement: 0.97, within_ratio: 0.95, false_conflicts: 3, coverage: 0.75 };
const LIMITS_OF_SECOND: Limits = Limits { false_conflicts: 4, ..LIMITS };

/// One source line of one kernel, profiled.
#[derive(Debug, Deserialize)]
struct Measured {
    repo: String,
    commit: String,
    file: String,
    line: u64,
    kernel: String,
    block: String,
    instructions: String,
    wavefronts: f64,
    ideal: f64,
}

/// What `cudalint accesses --format json` says, as far as it matters here.
#[derive(Clone, Debug, Deserialize)]
struct Said {
    file: String,
    line: u64,
    end_line: u64,
    kernel: String,
    block: [u32; 3],
    status: String,
    reason: Option<String>,
    wavefronts: Option<f64>,
    /// What the profiler calls ideal.
    usual: Option<f64>,
}

type ByLine = BTreeMap<(String, u64), Vec<Said>>;

#[test]
fn lines_of_public_programs_agree_with_what_a_gpu_measured() {
    judge(TABLE, &LIMITS);
}

#[test]
fn lines_of_programs_that_came_later_agree_as_well() {
    judge(SECOND, &LIMITS_OF_SECOND);
}

#[test]
fn lines_of_programs_that_nobody_had_read_agree_as_well() {
    judge(THIRD, &LIMITS);
}

#[test]
fn a_table_of_your_own_agrees() {
    match std::env::var("CUDALINT_LINES") {
        Ok(table) => judge(&table, &LIMITS_OF_SECOND),
        Err(_) => println!("skipped: CUDALINT_LINES names no table"),
    }
}

fn judge(table: &str, limits: &Limits) {
    let corpus = std::env::var_os("CUDALINT_CORPUS").map_or(PathBuf::from(".cache/corpus"), PathBuf::from);
    let measured: Vec<Measured> =
        csv::Reader::from_path(table).unwrap().deserialize().map(|row| row.unwrap()).collect();
    let wanted: BTreeSet<(&str, &str)> =
        measured.iter().map(|row| (row.repo.as_str(), row.commit.as_str())).collect();
    let mut said: BTreeMap<&str, ByLine> = BTreeMap::new();
    for (repo, commit) in &wanted {
        let folder = corpus.join(repo.replace('/', "+"));
        if folder.is_dir() {
            warn_of_another_commit(&folder, commit);
            said.insert(repo, analyze(&folder));
        } else {
            println!("{repo}: not in {}", corpus.display());
        }
    }
    if said.is_empty() {
        println!("skipped: no programs in {}; docs/agreement.md says how to fetch them", corpus.display());
        return;
    }
    let (mut report, mut without_copies) = (Report::default(), Report::default());
    for row in &measured {
        if let Some(by_line) = said.get(row.repo.as_str()) {
            let here = by_line.get(&(row.file.clone(), row.line)).map_or(&[][..], Vec::as_slice);
            println!("{}", report.add(row, compare(row, here)));
            if !row.instructions.contains("LDGSTS") {
                without_copies.add(row, compare(row, here));
            }
        }
    }
    println!(
        "\n{table}{report}\n\nwithout lines of asynchronous copies, which no counter confirms{without_copies}"
    );
    // What no counter confirms decides nothing.
    let report = without_copies;
    let Limits { agreement, within_ratio, false_conflicts, coverage } = *limits;
    let folders: BTreeSet<&str> = wanted.iter().map(|(repo, _)| *repo).collect();
    if said.len() == folders.len() {
        assert!(report.decided() >= coverage, "fewer than {coverage} of the lines are decided");
        assert!(report.found() >= coverage, "fewer than {coverage} of the measured conflicts are found");
    }
    assert!(report.agreement() >= agreement, "agreement fell below {agreement}");
    assert!(report.within_ratio() >= within_ratio, "ratios agree less often than {within_ratio}");
    assert!(
        report.false_conflicts() <= false_conflicts,
        "over {false_conflicts} lines wrongly said to conflict"
    );
}

/// Lines move from commit to commit.
fn warn_of_another_commit(folder: &Path, commit: &str) {
    let output = Command::new("git").arg("-C").arg(folder).args(["rev-parse", "HEAD"]).output();
    let Ok(output) = output else { return };
    let head = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !head.starts_with(commit) {
        println!("{}: at {head}, but {commit} was measured", folder.display());
    }
}

fn analyze(folder: &Path) -> ByLine {
    let output = Command::new(env!("CARGO_BIN_EXE_cudalint"))
        .args(["accesses", "--format", "json", "--quiet", "--target", "sm_90"])
        .arg(folder)
        .output()
        .unwrap();
    let prefix = format!("{}/", folder.to_string_lossy().replace('\\', "/"));
    let mut by_line = ByLine::new();
    for line in String::from_utf8(output.stdout).unwrap().lines() {
        let said: Said = serde_json::from_str(line).unwrap();
        let file = said.file.strip_prefix(&prefix).unwrap_or(&said.file).to_owned();
        by_line.entry((file, said.line)).or_default().push(said);
    }
    // The compiler may put an access that is written over several lines on any of them.
    let mut later = ByLine::new();
    for ((file, first), all) in &by_line {
        for said in all {
            for line in first + 1..=said.end_line {
                let at = (file.clone(), line);
                if !by_line.contains_key(&at) {
                    later.entry(at).or_default().push(said.clone());
                }
            }
        }
    }
    by_line.extend(later);
    by_line
}

/// What is said of the kernel, block and template arguments that were measured, as far as they
/// are told apart.
fn matching<'a>(row: &Measured, here: &'a [Said]) -> Vec<&'a Said> {
    let kernel = Kernel::demangled(&row.kernel);
    let block: Vec<u32> = row.block.split('x').filter_map(|extent| extent.parse().ok()).collect();
    let mut kept: Vec<&Said> = here.iter().collect();
    let mut narrow = |fits: &dyn Fn(&Said) -> bool| {
        let fitting: Vec<&Said> = kept.iter().copied().filter(|said| fits(said)).collect();
        if !fitting.is_empty() {
            kept = fitting;
        }
    };
    narrow(&|said| Kernel::written(&said.kernel).name == kernel.name);
    narrow(&|said| said.block[..] == block);
    narrow(&|said| Kernel::written(&said.kernel).has_arguments_of(&kernel));
    // `k<8>` is an instance of its own beside `k<8, 4>`: what it leaves out has its default.
    narrow(&|said| Kernel::written(&said.kernel).arguments.len() == kernel.arguments.len());
    kept
}

fn compare(row: &Measured, here: &[Said]) -> Outcome {
    if row.ideal == 0.0 {
        return Outcome::NotRun;
    }
    let matching = matching(row, here);
    if matching.is_empty() {
        return Outcome::Missing;
    }
    let undecided = matching.iter().find(|said| said.status == "unknown" || said.status == "depends");
    if let Some(said) = undecided {
        return Outcome::Undecided(said.reason.clone().unwrap_or_default());
    }
    let sum = |part: fn(&Said) -> Option<f64>| matching.iter().filter_map(|said| part(said)).sum::<f64>();
    let predicted = sum(|said| said.wavefronts) / sum(|said| said.usual).max(1.0);
    let measured = row.wavefronts / row.ideal.max(1.0);
    let mut why = String::new();
    let [x, y, z] = matching[0].block;
    if format!("{x}x{y}x{z}") != row.block {
        why = format!("judged for block {x}x{y}x{z}");
    }
    Outcome::Decided { predicted, measured, why }
}
