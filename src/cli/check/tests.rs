use super::super::found::findings;
use super::*;
use crate::analysis::FileReport;
use crate::output::testing;
use crate::source::Span;
use clap::Parser;

fn levels(line: &str) -> crate::cli::args::Levels {
    let words = ["cudalint", "x.cu"].into_iter().chain(line.split_whitespace());
    crate::cli::args::Cli::try_parse_from(words).unwrap().check.levels
}

fn report(diagnostics: Vec<Diagnostic>) -> FileReport {
    FileReport { diagnostics, ..FileReport::default() }
}

#[test]
fn findings_are_sorted_within_a_file_and_levels_apply() {
    let (sources, first) = testing::finding("a.cu", "a b c\n", "a");
    let at = |start| Diagnostic { primary: Span { start, end: start + 1, ..first.primary }, ..first.clone() };
    let barrier = Diagnostic { rule: "divergent-barrier", ..at(2) };
    let reports = [report(vec![at(4), barrier, at(0)])];
    let starts = |line: &str| -> Vec<(u32, Level)> {
        let found = findings(&sources, &reports, &|_, rule, default| levels(line).of(rule, default));
        found.told.iter().map(|it| (it.primary.start, it.level)).collect()
    };
    assert_eq!(starts(""), [(0, Level::Warn), (2, Level::Warn), (4, Level::Warn)]);
    assert_eq!(starts("-A bank-conflict -D divergent-barrier"), [(2, Level::Deny)]);
    assert_eq!(starts("-A all"), []);
}

#[test]
fn a_header_reached_from_two_files_is_reported_once() {
    let (sources, finding) = testing::finding("a.cuh", "s[i]\n", "s[i]");
    let again = sources.add("a.cuh".as_ref(), b"s[i]\n".to_vec());
    let twin = Diagnostic { primary: Span { file: again.id, ..finding.primary }, ..finding.clone() };
    let reports = [report(vec![finding]), report(vec![twin])];
    assert_eq!(findings(&sources, &reports, &|_, _, default| default).told.len(), 1);
}

#[test]
fn the_summary_counts_by_level_and_file() {
    let (sources, warning) = testing::finding("a.cu", "s[i]\n", "s[i]");
    let error = Diagnostic { level: Level::Deny, ..warning.clone() };
    let none = BTreeSet::new();
    let targets = BTreeSet::from(["sm_70".to_owned(), "sm_90".to_owned()]);
    let all = [warning.clone(), error, warning];
    assert_eq!(counts(&sources, &[], 3, &none, true), "no findings in 3 files");
    assert_eq!(counts(&sources, &all[..1], 1, &none, false), "1 warning in 1 of 1 file");
    assert_eq!(
        counts(&sources, &all, 14, &targets, false),
        "1 error, 2 warnings in 1 of 14 files (targets: sm_70, sm_90)"
    );
    let one = BTreeSet::from(["sm_90".to_owned()]);
    assert_eq!(
        counts(&sources, &[], 1, &one, true),
        "no findings in 1 file (target: sm_90; bank conflicts are the same on 5.x and newer)"
    );
}
