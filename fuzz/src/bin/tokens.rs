//! Does the program come to an end on real files with a few tokens changed?
//!
//! `tokens BINARY FOLDER COUNT [SEED]` takes `.cu` and `.cuh` files below FOLDER, changes some tokens of
//! one, and runs BINARY on it, COUNT times. A panic, an end by a signal, more than 10 seconds of
//! processor time and more than 2 GiB of memory are failures: their texts are kept in `failures`.

#[path = "../tokens.rs"]
#[allow(dead_code)]
mod tokens;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs};
use tokens::{Random, mutated};

/// Longer files are left out: a change would mostly not matter.
const LONGEST: u64 = 100_000;

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for path in entries {
        let cuda = path.extension().is_some_and(|extension| extension == "cu" || extension == "cuh");
        if path.is_dir() && !path.is_symlink() {
            files(&path, found);
        } else if cuda && fs::metadata(&path).is_ok_and(|data| data.len() < LONGEST) {
            found.push(path);
        }
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [binary, folder, count, rest @ ..] = arguments.as_slice() else {
        eprintln!("usage: tokens BINARY FOLDER COUNT [SEED]");
        return ExitCode::from(2);
    };
    let count: usize = count.parse().expect("COUNT is a number");
    let mut random = Random(rest.first().map_or(1, |seed| seed.parse().expect("SEED is a number")));
    let mut found = Vec::new();
    files(Path::new(folder), &mut found);
    assert!(!found.is_empty(), "no CUDA files in {folder}");
    let home = env::temp_dir().join(format!("cudalint-tokens-{}", std::process::id()));
    fs::create_dir_all(&home).expect("a folder can be made");
    let (file, mut failures) = (home.join("a.cu"), 0);
    for at in 0..count {
        let from = &found[random.below(found.len())];
        let mut text = fs::read(from).expect("a file can be read");
        for _ in 0..=random.below(6) {
            text = mutated(&text, &mut random, usize::MAX);
        }
        fs::write(&file, &text).expect("a file can be written");
        let command = if at % 2 == 0 { "check" } else { "accesses" };
        let line = format!("ulimit -v 2097152; ulimit -t 10; exec '{binary}' {command} -q --threads 1 a.cu");
        let output = Command::new("sh").arg("-c").arg(line).current_dir(&home).output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        let ended = matches!(output.status.code(), Some(0..=2)) && !stderr.contains("internal error");
        if !ended {
            failures += 1;
            fs::create_dir_all("failures").expect("a folder can be made");
            let kept = format!("failures/{}-{at}.cu", from.file_stem().unwrap_or_default().to_string_lossy());
            fs::write(&kept, &text).expect("a file can be written");
            println!("{kept}: {} {}", output.status, stderr.lines().next().unwrap_or(""));
        }
    }
    fs::remove_dir_all(&home).expect("the folder can be removed");
    println!("{count} runs over {} files, {failures} failures", found.len());
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
