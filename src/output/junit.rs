//! A JUnit report, for servers that show test results: a suite per file, a failure per finding.

use super::{Place, details};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Sources;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::collections::BTreeMap;

/// The findings, and a passed test for each of `files` that has none.
#[must_use]
pub fn render(sources: &Sources, findings: &[Diagnostic], files: &[String]) -> Vec<u8> {
    let mut suites: BTreeMap<String, Vec<TestCase>> =
        files.iter().map(|file| (file.clone(), Vec::new())).collect();
    for finding in findings {
        let place = Place::of(sources, finding.primary);
        let case = case(finding, &place);
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
    let mut out = Vec::new();
    // A `Vec` takes every write.
    let _ = report.serialize(&mut out);
    out
}

fn case(finding: &Diagnostic, place: &Place) -> TestCase {
    let name = format!("{} at {}:{}", finding.rule, place.line, place.column);
    let text = format!("{}:{}:{}: {}", place.file, place.line, place.column, details(finding));
    let mut case = if finding.level >= Level::Warn {
        let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
        status.set_type(finding.rule).set_message(finding.message.as_str()).set_description(text);
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
