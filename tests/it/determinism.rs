//! Are the bytes that come out those of the bytes that went in, and of nothing else?

use crate::support::thorough;
use assert_cmd::Command;
use std::fs;
use std::path::{Path, PathBuf};

/// Every way to print findings, and the tables of accesses.
const COMMANDS: [&[&str]; 10] = [
    &["check", "--format", "text"],
    &["check", "--format", "short"],
    &["check", "--format", "json"],
    &["check", "--format", "sarif"],
    &["check", "--format", "github"],
    &["check", "--format", "gitlab"],
    &["check", "--format", "junit"],
    &["accesses"],
    &["accesses", "--format", "json"],
    &["accesses", "--summary"],
];

struct Ran {
    code: Option<i32>,
    stdout: String,
    stderr: String,
}

fn run(arguments: &[&str], paths: &[PathBuf], environment: &[(&str, &str)]) -> Ran {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    command.args(arguments).args(paths).envs(environment.iter().copied());
    let output = command.output().unwrap();
    Ran {
        code: output.status.code(),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

fn assert_same(one: &Ran, other: &Ran, what: &str) {
    assert_eq!(one.code, other.code, "{what}");
    assert_eq!(one.stderr, other.stderr, "{what}");
    let differs = one.stdout.lines().zip(other.stdout.lines()).find(|(left, right)| left != right);
    assert!(one.stdout == other.stdout, "{what}: {differs:?}");
}

/// What is run: a few folders that have everything in them, or all fixtures in a thorough run.
fn folders() -> Vec<PathBuf> {
    let few = ["fixtures/fixes", "fixtures/launches", "fixtures/texts", "fixtures/unknown-directive"];
    if thorough() { vec!["fixtures".into()] } else { few.map(PathBuf::from).into() }
}

fn fixtures() -> Vec<PathBuf> {
    let folders = folders().into_iter().flat_map(|it| walkdir::WalkDir::new(it).sort_by_file_name());
    let files = folders.map(|entry| entry.unwrap().into_path());
    let wanted = |path: &Path| path.extension().is_some_and(|it| it == "cu" || it == "cuh");
    files.filter(|path| wanted(path)).collect()
}

#[test]
fn the_number_of_threads_changes_nothing() {
    for command in COMMANDS {
        let with = |threads: &str| run(&[command, &["--threads", threads]].concat(), &folders(), &[]);
        let one = with("1");
        assert!(one.stdout.lines().count() > 5 || command[2..] == ["junit"], "{command:?} prints something");
        for threads in ["2", "64"] {
            assert_same(&one, &with(threads), &format!("{command:?}, {threads} threads"));
        }
    }
}

#[test]
fn the_environment_changes_nothing() {
    let elsewhere = [
        ("LC_ALL", "tr_TR.UTF-8"),
        ("LANG", "de_DE.ISO-8859-1"),
        ("LANGUAGE", "de"),
        ("TZ", "Pacific/Kiritimati"),
        ("HOME", "/nowhere"),
        ("USER", "someone"),
        ("COLUMNS", "20"),
        ("LINES", "5"),
        ("TERM", "dumb"),
        ("SOURCE_DATE_EPOCH", "1"),
        ("RUST_LOG", "trace"),
        ("RAYON_NUM_THREADS", "3"),
    ];
    for command in COMMANDS {
        let here = run(command, &folders(), &[("LC_ALL", "C")]);
        assert_same(&here, &run(command, &folders(), &elsewhere), &format!("{command:?}"));
    }
}

/// The files in another order give the same lines in another order.
#[test]
fn the_order_of_the_arguments_orders_the_output_and_changes_nothing_else() {
    let sorted = |ran: &Ran| {
        let mut lines: Vec<String> = ran.stdout.lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let files = fixtures();
    let mut orders = [files.clone(), files.clone(), files.clone()];
    orders[1].reverse();
    // One of every seven, then the next of every seven.
    orders[2].sort_by_key(|path| files.iter().position(|other| other == path).unwrap() % 7);
    for command in [&["check", "--format", "short"][..], &["accesses", "--format", "json"]] {
        let first = run(command, &orders[0], &[]);
        for order in &orders[1..] {
            let other = run(command, order, &[]);
            assert_eq!((first.code, &first.stderr), (other.code, &other.stderr));
            let (left, right) = (sorted(&first), sorted(&other));
            let differs = left.iter().zip(&right).find(|(left, right)| left != right);
            assert!(left == right, "{command:?}: {differs:?}");
        }
    }
}

/// Where the files lie changes nothing but the paths that are told.
#[test]
fn the_place_of_the_files_changes_nothing() {
    let root = tempfile::tempdir().unwrap();
    let place = root.path().join("some where").join("\u{e9}lse");
    for path in fixtures() {
        let to = place.join(&path);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(&path, to).unwrap();
    }
    for command in COMMANDS {
        let here = run(command, &folders(), &[]);
        let mut there = Command::new(env!("CARGO_BIN_EXE_cudalint"));
        let output = there.current_dir(&place).args(command).args(folders()).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), here.stdout, "{command:?}");
    }
}
