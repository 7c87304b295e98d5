//! A JUnit report, for servers that show test results: a suite per file, a failure per finding.

use super::{Place, details, other_lines};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Sources;
use crate::visible::{lines, one_line, without_commands};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeMap;

/// The findings, and a passed test for each of `files` that has none.
#[must_use]
pub fn render(sources: &Sources, findings: &[Diagnostic], files: &[String]) -> Vec<u8> {
    let mut suites: BTreeMap<String, Vec<TestCase>> =
        files.iter().map(|file| (one_line(file).into_owned(), Vec::new())).collect();
    for finding in findings {
        let mut place = Place::of(sources, finding.primary);
        // XML has no way to write most control characters: they would be left out.
        place.file = one_line(&place.file).into_owned();
        let case = case(finding, &place, &details(finding, &other_lines(sources, finding)));
        suites.entry(place.file).or_default().push(case);
    }
    let mut report = Report::new("cudalint");
    for (file, mut cases) in suites {
        if cases.is_empty() {
            cases.push(TestCase::new("no findings", TestCaseStatus::success()));
        }
        let mut suite = TestSuite::new(file.as_str());
        for case in &mut cases {
            case.set_classname(file.as_str());
            case.extra.insert("file".into(), file.as_str().into());
        }
        suite.add_test_cases(cases);
        report.add_test_suite(suite);
    }
    // What is in memory takes every write.
    without_commands(report.to_string().unwrap_or_default()).into_bytes()
}

fn case(finding: &Diagnostic, place: &Place, words: &str) -> TestCase {
    let name = format!("{} at {}:{}", finding.rule, place.line, place.column);
    let text = format!("{}:{}:{}: {}", place.file, place.line, place.column, lines(words));
    let mut case = if finding.level >= Level::Warn {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(finding.rule).set_message(one_line(&finding.message)).set_description(text);
        TestCase::new(name, status)
    } else {
        // A note fails nothing.
        let mut case = TestCase::new(name, TestCaseStatus::success());
        case.set_system_out(text);
        case
    };
    case.extra.insert("line".into(), place.line.to_string().into());
    case
}
