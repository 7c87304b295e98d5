//! Do remedies do on a GPU what is said of them?
//!
//! `fixtures/remedies/NAME.cu` holds kernels with findings, and `NAME.fixed.cu` the same kernels repaired: by
//! `--fix`, by `--unsafe-fixes`, or typed as the help says. Both were profiled on an H200, and each checked its own
//! results. `measured-sm90.csv` says what was counted on each line of both.
//!
//! Where what is said differs from what was counted, the line stands in [`DIFFERENT`], with the reason: a line that
//! is missing there and a line that is there needlessly both fail.

use crate::support::accesses::accesses;
use serde::Deserialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The programs, and the flags that repair them.
const PROGRAMS: &[(&str, &[&str])] = &[
    ("barriers", &["--fix", "--unsafe-fixes"]),
    ("dynamic", &["--fix", "--unsafe-fixes"]),
    ("flat", &["--fix", "--unsafe-fixes"]),
    ("idle", &["--fix", "--unsafe-fixes", "-W", "redundant-barrier"]),
    ("members", &["--fix", "--unsafe-fixes"]),
    ("planes", &["--fix", "--unsafe-fixes"]),
    ("rotation", &["--fix", "--unsafe-fixes"]),
    ("rows", &["--fix", "--unsafe-fixes"]),
    ("skew", &["--fix", "--unsafe-fixes"]),
    ("swap", &["--fix", "--unsafe-fixes"]),
    ("warps", &["--fix", "--unsafe-fixes"]),
    ("wmma", &["--fix"]),
    ("xor", &["--fix", "--unsafe-fixes"]),
];

/// What no fix writes, and was typed: the program and the kernel.
const TYPED: &[(&str, &str)] = &[
    ("skew", "pool"),
    ("wmma", "by_columns"),
    // Nothing is proposed: its tiles start at multiples of 16 bytes, and the CUDA programming guide asks for 32.
    ("wmma", "bytes"),
];

/// What the help says of arrays: the program, the kernel, the array, and the words.
const PROPOSED: &[(&str, &str, &str, &str)] = &[
    (
        "flat",
        "distances",
        "near",
        "index `near[i]` as `near[i + (i >> 5)]` and declare `float near[256 * COORDINATES + ((256 * COORDINATES - 1) >> 5)]`",
    ),
    ("members", "bodies", "body", "give each member of `body` its own array"),
    ("members", "entries", "table", "give each member of `table` its own array"),
    ("members", "particles", "particle", "give each member of `particle` its own array"),
    ("members", "pixels", "row", "give each member of `row` its own array"),
    ("members", "rays", "ray", "give each member of `ray` its own array"),
    ("planes", "cells", "box", "declare `float box[16][9][4]`"),
    ("planes", "corners", "corner", "declare `float corner[64][9][3]`"),
    ("planes", "spins", "spin", "declare `int spin[64][17][3]`"),
    ("planes", "weeks", "day", "declare `float day[64][9][7]`"),
    ("planes", "maps", "map", "declare `float map[128][5][3]`"),
    ("planes", "windows", "window", "declare `double window[64][5][5]`"),
    ("rotation", "alignment", "cost", "index `cost[r][c]` as `cost[r][(c + r) % 33]`"),
    ("rotation", "diagonals", "tile", "index `tile[r][c]` as `tile[r][(c + r) % 31]`"),
    ("rotation", "back", "tile", "index `tile[r][c]` as `tile[r][(c + r) % 17]`"),
    ("rotation", "steep", "tile", "index `tile[r][c]` as `tile[r][(c + r) % 34]`"),
    ("rotation", "wide", "tile", "index `tile[r][c]` as `tile[r][(c + r) % 95]`"),
    ("rows", "softmax", "scores", "declare `float scores[64][33]`"),
    ("skew", "tree", "s", "index `s[i]` as `s[i + (i >> 5)]` and declare `int s[527]`"),
    ("skew", "scan", "s", "index `s[i]` as `s[i + (i >> 5)]` and declare `float s[1055]`"),
    ("skew", "decimate", "s", "index `s[i]` as `s[i + (i >> 5)]` and declare `float s[4223]`"),
    ("skew", "reorder", "s", "index `s[i]` as `s[i + (i >> 5)]` and declare `float s[1055]`"),
    ("skew", "pool", "s", "no other layout of `s` is worth it: `s[i ^ ((i >> 5) & 31)]`"),
    ("swap", "stacks", "stack", "declare `int stack[32][384]` and index `stack[r][c]` as `stack[c][r]`"),
    ("swap", "distances", "cost", "declare `int cost[96][128]` and index `cost[r][c]` as `cost[c][r]`"),
    ("swap", "columns", "tile", "declare `float tile[128][96]` and index `tile[r][c]` as `tile[c][r]`"),
    (
        "swap",
        "filter",
        "signal",
        "declare `float signal[192][64]` and index `signal[r][c]` as `signal[c][r]`",
    ),
    (
        "swap",
        "antidiagonals",
        "tile",
        "declare `unsigned tile[65][188]` and index `tile[r][c]` as `tile[c][r]`",
    ),
    (
        "wmma",
        "by_columns",
        "right",
        "`__nv_bfloat16 right[64 * (WIDTH + 8)]` and `(WIDTH + 8)` instead of `WIDTH` in 3 places",
    ),
    ("xor", "turn", "tile", "index `tile[r][c]` as `tile[r][c ^ (r & 31)]`"),
    ("xor", "turn_doubles", "tile", "index `tile[r][c]` as `tile[r][c ^ r]`"),
    ("xor", "fragments", "tile", "index `tile[r][c]` as `tile[r][c ^ ((c >> 3) & 7)]`"),
    ("xor", "pieces", "s", "index `s[i]` as `s[i ^ ((i >> 8) & 31)]`"),
    ("xor", "three", "tile", "index `tile[p][r][c]` as `tile[p][r][c ^ (r & 31)]`"),
    ("xor", "histogram", "bins", "index `bins[r][c]` as `bins[r][c ^ (r & 31)]`"),
];

/// What is left of a finding in the repaired program: the program, the kernel, and the array.
const LEFT: &[(&str, &str, &str)] = &[
    // Planes of 36 words; no layout of this kind does better.
    ("planes", "cells", "box"),
    // Where a row's end is turned around, two lanes meet.
    ("rotation", "alignment", "cost"),
    ("rotation", "back", "tile"),
    ("rotation", "diagonals", "tile"),
    ("rotation", "steep", "tile"),
    ("rotation", "wide", "tile"),
    // Rows of 188 words, as they are now walked.
    ("swap", "antidiagonals", "tile"),
    // Tiles are filled by 2 rows at a time, which meet in 4 banks.
    ("wmma", "by_columns", "left"),
    ("wmma", "by_columns", "right"),
];

/// Where what is said is not what was counted: the program, the kernel, and the line.
const DIFFERENT: &[(&str, &str, u32)] = &[
    // What is the same in each round of the outer loop is read once.
    // `x`, `y` and `mass` of a struct are one read, which is told of each of the three.
    ("members.cu", "bodies", 21),
    // Of a read that is the same in each round, or of two statements made one, it names another line.
    ("members.cu", "bodies", 13),
    ("members.cu", "rays", 93),
    ("members.cu", "rays", 96),
    ("members.fixed.cu", "rays", 93),
    ("members.fixed.cu", "rays", 96),
    ("rows.cu", "quantize", 56),
    ("rows.cu", "quantize", 57),
    ("rows.cu", "softmax", 25),
    ("rows.fixed.cu", "quantize", 56),
    ("rows.fixed.cu", "quantize", 57),
    // In every other copy of the unrolled loop the two lie in 8 aligned bytes, and are one read.
    ("rotation.cu", "alignment", 18),
    ("rotation.cu", "alignment", 19),
    // Weights of some rounds are read by four.
    ("rotation.cu", "diagonals", 43),
    ("rotation.fixed.cu", "diagonals", 43),
    // In the rounds in which two reads are one, both are counted.
    ("skew.cu", "scan", 32),
    ("skew.cu", "scan", 44),
    ("skew.cu", "tree", 14),
    // One read more comes from a register.
    ("skew.fixed.cu", "scan", 45),
    // What is left of the last round is in a register.
    ("swap.cu", "distances", 31),
    ("swap.fixed.cu", "distances", 31),
    // Reads of a long loop are joined though other loops touch the same elements.
    ("swap.cu", "filter", 57),
    ("swap.cu", "filter", 59),
    // All that a thread pushes on its stack is in its registers when it pops.
    ("swap.cu", "stacks", 12),
    ("swap.fixed.cu", "stacks", 12),
];

#[derive(Deserialize)]
struct Row {
    program: String,
    kernel: String,
    /// None: a header's, which this program called.
    line: Option<u32>,
    blocks: u64,
    wavefronts: u64,
}

#[derive(Deserialize)]
struct Said {
    line: u32,
    kernel: String,
    array: String,
    wavefronts: Option<u64>,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/remedies")
}

/// The name of a kernel without the arguments of its template.
fn base(kernel: &str) -> &str {
    kernel.split('<').next().unwrap_or(kernel)
}

/// What was counted, by program and kernel.
fn measured() -> BTreeMap<(String, String), Vec<Row>> {
    let mut found: BTreeMap<(String, String), Vec<Row>> = BTreeMap::new();
    for row in csv::Reader::from_path(folder().join("measured-sm90.csv")).unwrap().deserialize() {
        let row: Row = row.unwrap();
        found.entry((row.program.clone(), row.kernel.clone())).or_default().push(row);
    }
    found
}

#[test]
fn wavefronts_are_those_that_a_gpu_counted() {
    let mut different: BTreeSet<(String, String, u32)> = BTreeSet::new();
    let mut programs: BTreeMap<String, Vec<Said>> = BTreeMap::new();
    let mut alike = 0;
    for ((program, kernel), rows) in measured() {
        let said = programs.entry(program.clone()).or_insert_with(|| accesses(&folder().join(&program)));
        let mut lines: BTreeMap<u32, (Option<u64>, u64)> = BTreeMap::new();
        for said in said.iter().filter(|said| base(&said.kernel) == kernel) {
            let (sum, _) = lines.entry(said.line).or_insert((Some(0), 0));
            *sum = sum.zip(said.wavefronts).map(|(sum, more)| sum + more * rows[0].blocks);
        }
        // What a header did belongs to the calls, and which of them it was is not counted.
        let in_header = rows.iter().any(|row| row.line.is_none());
        for row in &rows {
            lines.entry(row.line.unwrap_or(0)).or_insert((Some(0), 0)).1 += row.wavefronts;
        }
        if in_header {
            let said = lines.values().try_fold(0, |sum, (said, _)| Some(sum + (*said)?));
            lines = BTreeMap::from([(0, (said, lines.values().map(|(_, counted)| counted).sum()))]);
        }
        for (line, (said, counted)) in lines {
            match said {
                Some(said) if said == counted => alike += 1,
                Some(_) => drop(different.insert((program.clone(), kernel.clone(), line))),
                None => {}
            }
        }
    }
    let known = DIFFERENT.iter().map(|it| (it.0.to_owned(), it.1.to_owned(), it.2));
    assert_eq!(different, known.collect());
    assert!(alike > 300, "{alike}");
}

/// A program's text in pieces that end with a function, each with the name of a kernel, if it has one.
fn pieces(text: &str) -> Vec<(&str, &str)> {
    let name =
        |piece| str::split_once(piece, "__global__ void ").and_then(|(_, rest)| rest.split('(').next());
    text.split("\n}\n").map(|piece| (name(piece).unwrap_or(""), piece)).collect()
}

#[test]
fn fixes_make_the_repaired_programs() {
    for &(program, flags) in PROGRAMS {
        let root = tempfile::tempdir().unwrap();
        let name = format!("{program}.cu");
        fs::copy(folder().join(&name), root.path().join(&name)).unwrap();
        fs::copy(folder().join("check.h"), root.path().join("check.h")).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
        command.current_dir(root.path()).arg("-q").args(flags).arg(&name).output().unwrap();
        let made = fs::read_to_string(root.path().join(&name)).unwrap();
        let repaired = fs::read_to_string(folder().join(format!("{program}.fixed.cu"))).unwrap();
        let (made, repaired) = (pieces(&made), pieces(&repaired));
        assert_eq!(made.len(), repaired.len(), "{program}");
        for ((kernel, made), (_, repaired)) in made.into_iter().zip(repaired) {
            let typed = TYPED.contains(&(program, kernel));
            assert_eq!(made != repaired, typed, "{program}, {kernel}:\n{made}\n{repaired}");
        }
    }
}

/// The findings of a program.
fn findings(name: &str) -> Vec<Value> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let command = command.current_dir(folder()).args(["-q", "--target", "sm_90", "--format", "json", name]);
    let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
    output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The rule, the kernel and the array of a finding.
fn identity(finding: &Value) -> (String, String, String) {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let message = text(&finding["message"]);
    let array = message.split('`').nth(1).unwrap_or_default().to_owned();
    (text(&finding["rule"]), base(&text(&finding["kernel"])).to_owned(), array)
}

#[test]
fn findings_are_gone_in_the_repaired_programs() {
    let mut left: BTreeSet<(String, String, String)> = BTreeSet::new();
    for (program, _) in PROGRAMS {
        let before: BTreeSet<_> = findings(&format!("{program}.cu")).iter().map(identity).collect();
        for finding in findings(&format!("{program}.fixed.cu")) {
            let finding = identity(&finding);
            assert!(before.contains(&finding), "{program}: {finding:?} is new");
            left.insert(((*program).to_owned(), finding.1, finding.2));
        }
    }
    let known = LEFT.iter().map(|it| (it.0.to_owned(), it.1.to_owned(), it.2.to_owned()));
    assert_eq!(left, known.collect());
}

#[test]
fn layouts_take_as_many_wavefronts_as_the_help_says() {
    let promise = regex::Regex::new("then takes? (up to )?([0-9]+) wavefronts in total").unwrap();
    for (program, kernel, array, help) in PROPOSED {
        let findings = findings(&format!("{program}.cu"));
        let of = |finding: &&Value| identity(finding).1 == *kernel && identity(finding).2 == *array;
        let said: Vec<&str> = findings.iter().filter(of).filter_map(|it| it["helps"][0].as_str()).collect();
        let told = said.iter().find(|said| said.contains(help));
        let told = told.unwrap_or_else(|| panic!("{program}, {kernel}: {said:?}"));
        let Some(promised) = promise.captures(told) else { continue };
        // Reads that come back are in no promise.
        if told.contains("if values now read from registers still are") {
            continue;
        }
        let all: Vec<Said> = accesses(&folder().join(format!("{program}.fixed.cu")));
        let member = format!("{array}_");
        let own = all.iter().filter(|it| base(&it.kernel) == *kernel);
        let own = own.filter(|it| it.array == *array || it.array.starts_with(&member));
        let Some(sum) = own.map(|it| it.wavefronts).sum::<Option<u64>>() else { continue };
        let most: u64 = promised[2].parse().unwrap();
        let holds = if promised.get(1).is_some() { sum <= most } else { sum == most };
        assert!(holds, "{program}, {kernel}: {told}: {sum}");
    }
}
