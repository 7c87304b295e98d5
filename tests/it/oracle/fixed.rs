//! Does a program compute the same after a fix or a remedy, and in as many wavefronts as it should?
//!
//! Both texts are compiled and run. What they print has to be equal, and the wavefronts of their requests, counted
//! by the oracle's own rules, have to be those that were worked out by hand.

use super::banks::{Serving, cost};
use super::compile::{Compiler, compiler};
use super::execution::{Access, read};
use super::trace::Kind;
use crate::remedies::{kernel, template, typed};
use std::path::Path;
use std::process::Command;

/// Fills the input, launches, and prints a sum in which each element has a weight of its own.
const MAIN: &str = "\
#include <cstdio>
int main() {
    static float in[131072], out[131072];
    for (int i = 0; i < 131072; ++i) in[i] = i * 7 % 1009;
    run(out, in);
    cudaDeviceSynchronize();
    double sum = 0;
    for (int i = 0; i < 131072; ++i) sum += out[i] * (double)(i % 127 + 1);
    std::printf(\"%f\\n\", sum);
}
";

/// What a program prints, and its wavefronts.
fn outcome(compiler: &Compiler, text: &str) -> (String, u64) {
    let folder = tempfile::tempdir().unwrap();
    let text = format!("{text}{MAIN}");
    let path = Path::new("tests/oracle/fixed.cu");
    let compiled = compiler.build_version(path, &text, folder.path()).unwrap_or_else(|why| panic!("{why}"));
    let mut program = Command::new(&compiled.executable);
    let printed = program.env("ORACLE_TRACE", folder.path().join("again")).output().unwrap();
    assert!(printed.status.success(), "{printed:?}\n{text}");
    let serving = |access: &Access| match access.kind {
        Kind::Load => Serving::Load,
        Kind::Atomic => Serving::ByLane,
        _ => Serving::Store,
    };
    let wavefronts = |access: &Access| {
        let lanes: Vec<(u8, i64)> = access.lanes.iter().map(|lane| (lane.lane, lane.offset)).collect();
        cost(serving(access), access.bytes, &lanes).wavefronts
    };
    let launches = read(&compiled);
    assert!(!launches.is_empty(), "{text}");
    let sum =
        launches.iter().flat_map(|launch| launch.accesses()).map(|(_, access)| wavefronts(access)).sum();
    (String::from_utf8(printed.stdout).unwrap(), sum)
}

/// What `--fix` makes of a text.
fn fixed(text: &str) -> String {
    fixed_with(text, &["--fix"])
}

fn fixed_with(text: &str, flags: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("case.cu");
    std::fs::write(&file, text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    let run = command.current_dir(folder.path()).args(flags).args(["-q", "case.cu"]).output().unwrap();
    assert!(run.status.code().is_some_and(|code| code <= 1), "{run:?}");
    std::fs::read_to_string(&file).unwrap()
}

fn prints_the_same(before: &str, after: &str, wavefronts: (u64, u64)) {
    let compiler = match compiler() {
        Ok(compiler) => compiler,
        Err(why) => {
            assert!(std::env::var_os("CUDALINT_NEEDS_COMPILER").is_none(), "{why}");
            println!("skipped: {why}");
            return;
        }
    };
    assert_ne!(before, after);
    let (old, new) = (outcome(compiler, before), outcome(compiler, after));
    assert_eq!(old.0, new.0, "{after}");
    assert_ne!(old.0.trim(), "0.000000", "{before}");
    assert_eq!((old.1, new.1), wavefronts, "{after}");
}

#[test]
fn rows_in_planes_and_behind_subscripts_of_rows() {
    let text = std::fs::read_to_string("fixtures/fixes/pitch-in-planes.cu").unwrap();
    let text = text.replace("void launch", "void run");
    // 96 and 64 stores, each of one wavefront, and as many loads of 32.
    prints_the_same(&text, &fixed(&text), (160 * 33, 160 * 2));
}

#[test]
fn one_text_for_instances_of_several_lengths() {
    let body = "    S(32 * x) = in[x];\n    __syncthreads();\n    float sum = 0;\n\
                \x20   for (int d = 8; d <= 32; d *= 4) sum += d > 8 ? S(d * (x & ~3)) : 1;\n    out[x + N] = sum;\n";
    let text = template(&kernel("(i) s[i]", "float s[N]", body, "64"), "int N", &["2048", "3000"]);
    // In each instance two warps store to 32 words of one bank, and read 8 of them.
    prints_the_same(&text, &typed(&text, "s"), (2 * 2 * (32 + 8), 2 * 2 * 2));
}

#[test]
fn columns_moved_within_rows_of_several_lengths() {
    let body = "    for (int i = y; i < R; i += 8)\n        for (int j = x; j < C; j += 32)\n\
                \x20           S(i, j) = in[i * C + j];\n    __syncthreads();\n\
                \x20   for (int i = y; i < C; i += 8)\n        for (int j = x; j < R; j += 32)\n\
                \x20           out[i * R + j] = S(j, i);\n";
    let text = kernel("(r, c) tile[r][c]", "float tile[R][C]", body, "32, 8");
    let text = template(&text, "int R, int C", &["32, 384", "96, 128"]);
    // 384 requests of a warp each way, in each instance.
    prints_the_same(&text, &typed(&text, "tile"), (2 * 384 * 33, 2 * 384 * 2));
}

/// The sum over `out` of a program as it is and repaired, for each of the kernels that its `run` launches: alone, so
/// that what goes wrong in one is not lost in another.
#[test]
fn other_layouts_and_types_in_the_text() {
    if compiler().is_err() {
        return;
    }
    for (name, kernels) in [("layouts.cu", 4), ("unsafe-layouts.cu", 9), ("unsafe-types.cu", 6)] {
        let text = std::fs::read_to_string(Path::new("fixtures/fixes").join(name)).unwrap();
        let after = fixed_with(&text, &["--fix", "--unsafe-fixes"]);
        let launches: Vec<&str> = text.lines().filter(|line| line.contains("<<<")).collect();
        assert_eq!(launches.len(), kernels, "{name}");
        for launch in &launches {
            let only = |text: &str| {
                let others = |line: &&str| !line.contains("<<<") || line == launch;
                text.lines().filter(others).map(|line| format!("{line}\n")).collect::<String>()
            };
            let compiler = compiler().unwrap();
            let (old, new) = (outcome(compiler, &only(&text)), outcome(compiler, &only(&after)));
            assert_eq!(old.0, new.0, "{name}: {launch}");
            assert_ne!(old.0.trim(), "0.000000", "{name}: {launch}");
            assert!(new.1 < old.1, "{name}: {launch}: {} and {}", old.1, new.1);
        }
    }
}

/// Programs in which something rests on a type that says how long rows are, as they are and as `--unsafe-fixes` leaves
/// them.
#[test]
fn instances_and_types_that_more_rests_on() {
    let Ok(compiler) = compiler() else { return };
    for (name, is_changed) in [("unsafe-instances.cu", true), ("types-in-help.cu", false)] {
        let text = std::fs::read_to_string(Path::new("fixtures/fixes").join(name)).unwrap();
        let after = fixed_with(&text, &["--fix", "--unsafe-fixes"]);
        assert_eq!(text != after, is_changed, "{name}");
        let (old, new) = (outcome(compiler, &text), outcome(compiler, &after));
        assert_eq!(old.0, new.0, "{name}");
        assert_ne!(old.0.trim(), "0.000000", "{name}");
        assert!(new.1 < old.1 || !is_changed, "{name}: {} and {}", old.1, new.1);
    }
}
