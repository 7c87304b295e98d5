//! Is every format what its readers expect: the schemas, and how each is read?

use crate::support::folder::folder;
use crate::support::program::run;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

/// The formats that the tests ask for. The fixtures have findings of every kind, but take a while to run.
const ASKED: [&str; 6] = ["json", "sarif", "gitlab", "github", "junit", "short"];

/// What the fixtures look like in a format. One run writes all formats.
fn fixtures(format: &str) -> &'static str {
    static REPORTS: LazyLock<BTreeMap<&str, String>> = LazyLock::new(|| {
        let folder = tempfile::tempdir().unwrap();
        let file = |format: &str| folder.path().join(format);
        let mut arguments: Vec<String> =
            ["-q", "-N", "unresolved-access", "fixtures"].map(str::to_owned).into();
        for format in ASKED {
            arguments.extend(["--format".to_owned(), format!("{format}={}", file(format).display())]);
        }
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (exit, out, err) = run(Path::new("."), &arguments);
        assert_eq!((exit, out.as_str(), err.as_str()), (1, "", ""));
        ASKED.iter().map(|format| (*format, fs::read_to_string(file(format)).unwrap())).collect()
    });
    &REPORTS[format]
}

const GITLAB: &str = "tests/schemas/gitlab-code-quality.json";

fn assert_valid(schema: &str, values: &[Value]) {
    // A pattern of SARIF's schema has a bracket that nothing opens, which not every engine takes.
    let text = fs::read_to_string(schema).unwrap().replace("{2}]?$", "{2}\\\\]?$");
    let schema: Value = serde_json::from_str(&text).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    assert!(!values.is_empty());
    for value in values {
        let errors: Vec<String> =
            validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{}\n{value:#}", errors.join("\n"));
    }
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn json_follows_its_schemas() {
    let findings = lines(fixtures("json"));
    assert_valid("schemas/check-2.json", &findings);
    assert!(findings.iter().any(|finding| !finding["fix"].is_null()));
    let (_, out, _) = run(Path::new("."), &["accesses", "-q", "--format", "json", "fixtures"]);
    let accesses = lines(&out);
    assert_valid("schemas/accesses-1.json", &accesses);
    assert!(accesses.iter().any(|access| !access["table"].is_null()));
    let (_, out, _) = run(Path::new("."), &["accesses", "--races", "-q", "--format", "json", "fixtures"]);
    assert_valid("schemas/races-1.json", &lines(&out));
}

/// The variants that were run have elements of other sizes; of one that was not, each access is told once.
#[test]
fn accesses_of_a_variant_that_is_not_run_are_told_once() {
    let launches = |number: usize| {
        let ty = if number.is_multiple_of(2) { "char" } else { "double" };
        format!("k<{ty}, {number}><<<1, 32>>>(out);\n")
    };
    let text = format!(
        "template <class T, int N> __global__ void k(char *out) {{\n__shared__ T s[64];\nint at = threadIdx.x;\n\
         for (int i = 0; i < 1000; i++) at = (at * 5 + N) % 64;\ns[at] = N;\n}}\n\
         void launch(char *out) {{\n{}}}\n",
        (0..300).map(launches).collect::<String>(),
    );
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.cu"), text).unwrap();
    let (_, out, _) = run(folder.path(), &["accesses", "-q", "--format", "json", "a.cu"]);
    let accesses = lines(&out);
    let not_run: Vec<&Value> = accesses.iter().filter(|it| it["status"] == "unknown").collect();
    assert_eq!(not_run.len(), 1, "{not_run:#?}");
}

#[test]
fn the_schemas_refuse_what_they_should() {
    let schema: Value = serde_json::from_str(&fs::read_to_string("schemas/check-2.json").unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let good = lines(fixtures("json")).remove(0);
    for (field, wrong) in
        [("line", 0.into()), ("level", "warn".into()), ("extra", 1.into()), ("fix", 1.into())]
    {
        let mut bad = good.clone();
        bad[field] = wrong;
        assert!(!validator.is_valid(&bad), "{field}");
    }
}

#[test]
fn sarif_follows_the_official_schema() {
    let log: Value = serde_json::from_str(fixtures("sarif")).unwrap();
    assert_valid("tests/schemas/sarif-schema-2.1.0.json", std::slice::from_ref(&log));
    let run = &log["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(rules.len(), cudalint::rules::ALL.len());
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), fixtures("short").lines().count());
    for result in results {
        let rule = &rules[result["ruleIndex"].as_u64().unwrap() as usize];
        assert_eq!(rule["id"], result["ruleId"]);
    }
    // Related places are shown where the message links to them.
    for result in results {
        let message = result["message"]["text"].as_str().unwrap();
        for related in result["relatedLocations"].as_array().unwrap() {
            assert!(message.contains(&format!("]({})", related["id"])), "{message}");
        }
    }
    // One line each: severity, precision and kind in the words that code scanning knows.
    let kinds: Vec<String> = rules
        .iter()
        .map(|rule| {
            let (about, level) = (&rule["properties"], &rule["defaultConfiguration"]["level"]);
            let [severity, precision, tag] =
                [&about["problem.severity"], &about["precision"], &about["tags"][1]]
                    .map(|it| it.as_str().unwrap());
            format!(
                "{} {} {severity} {precision} {tag}",
                rule["id"].as_str().unwrap(),
                level.as_str().unwrap()
            )
        })
        .collect();
    for kind in [
        "bank-conflict warning warning high performance",
        "divergent-barrier warning error high correctness",
        "stride-dependent-conflict note recommendation medium performance",
        "unresolved-access none recommendation medium performance",
        "unused-directive warning recommendation very-high maintainability",
    ] {
        assert!(kinds.iter().any(|it| it == kind), "{kind}: {kinds:#?}");
    }
    // The project has no address yet: none is made up.
    let repository = env!("CARGO_PKG_REPOSITORY");
    for rule in rules {
        let page = rule["helpUri"].as_str();
        assert_eq!(page.is_some_and(|page| page.starts_with(repository)), !repository.is_empty());
    }
    let prints: Vec<&str> =
        results.iter().map(|it| it["partialFingerprints"]["cudalint/v1"].as_str().unwrap()).collect();
    let distinct: std::collections::BTreeSet<&&str> = prints.iter().collect();
    assert_eq!(distinct.len(), prints.len());
    let fixed = results.iter().find(|it| !it["fixes"].is_null()).expect("a fix");
    let replacement = &fixed["fixes"][0]["artifactChanges"][0]["replacements"][0];
    let place = &fixed["fixes"][0]["artifactChanges"][0]["artifactLocation"]["uri"];
    let text = fs::read(place.as_str().unwrap()).unwrap();
    let region = &replacement["deletedRegion"];
    let start = region["byteOffset"].as_u64().unwrap() as usize;
    let length = region["byteLength"].as_u64().unwrap() as usize;
    let old = std::str::from_utf8(&text[start..start + length]).unwrap();
    assert_ne!(old, replacement["insertedContent"]["text"].as_str().unwrap());
    let line = text[..start].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
    assert_eq!(region["startLine"], line);
}

#[test]
fn sarif_without_findings_and_with_odd_names_is_valid_too() {
    let root = tempfile::tempdir().unwrap();
    let clean = "__global__ void k(float *x) { __shared__ float s[32]; x[0] = s[threadIdx.x]; }\n";
    let name = "a b#%é.cu";
    fs::write(root.path().join(name), clean).unwrap();
    let (exit, out, _) = run(root.path(), &["--format", "sarif", name]);
    assert_eq!(exit, 0);
    let log: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(log["runs"][0]["results"], serde_json::json!([]));
    let column = clean.replace("s[32]", "s[64]").replace("threadIdx.x]", "2 * threadIdx.x]");
    fs::write(root.path().join(name), column).unwrap();
    let (exit, out, _) = run(root.path(), &["--block", "32", "--format", "sarif", name]);
    assert_eq!(exit, 1);
    let log: Value = serde_json::from_str(&out).unwrap();
    assert_valid("tests/schemas/sarif-schema-2.1.0.json", std::slice::from_ref(&log));
    let uri = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    assert_eq!(uri, "a%20b%23%25%C3%A9.cu");
}

#[test]
fn gitlab_gets_what_its_documentation_asks_for() {
    let report: Value = serde_json::from_str(fixtures("gitlab")).unwrap();
    assert_valid(GITLAB, std::slice::from_ref(&report));
    let issues = report.as_array().unwrap();
    assert_eq!(issues.len(), fixtures("short").lines().count());
    // Of two issues with one fingerprint GitLab shows one.
    let prints: BTreeSet<&str> = issues.iter().map(|issue| issue["fingerprint"].as_str().unwrap()).collect();
    assert_eq!(prints.len(), issues.len());
    for issue in issues {
        assert!(issue["location"]["lines"]["end"].as_u64() >= issue["location"]["lines"]["begin"].as_u64());
        let path = issue["location"]["path"].as_str().unwrap();
        assert!(Path::new(path).is_file(), "{path}");
    }
}

#[test]
fn the_schema_of_gitlab_refuses_what_gitlab_does_not_show() {
    let schema: Value = serde_json::from_str(&fs::read_to_string(GITLAB).unwrap()).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let report: Value = serde_json::from_str(fixtures("gitlab")).unwrap();
    for (at, wrong) in [
        ("/description", Value::Null),
        ("/fingerprint", "".into()),
        ("/severity", "warning".into()),
        ("/location/path", "./a.cu".into()),
        ("/location/lines/begin", 0.into()),
        ("/location/lines", Value::Null),
    ] {
        let mut bad = report.clone();
        *bad[0].pointer_mut(at).unwrap() = wrong;
        assert!(!validator.is_valid(&bad), "{at}");
    }
    for field in ["description", "check_name", "fingerprint", "severity", "location"] {
        let mut bad = report.clone();
        bad[0].as_object_mut().unwrap().remove(field);
        assert!(!validator.is_valid(&bad), "{field}");
    }
    assert!(validator.is_valid(&serde_json::json!([])));
}

#[test]
fn gitlab_gets_paths_without_a_dot_and_an_empty_report_without_findings() {
    let root = tempfile::tempdir().unwrap();
    let conflict = fs::read("fixtures/texts/column-read.cu").unwrap();
    fs::write(root.path().join("a.cu"), conflict).unwrap();
    let fingerprint = |path| -> Value {
        let report: Value = serde_json::from_str(&run(root.path(), &["--format", "gitlab", path]).1).unwrap();
        report[0]["fingerprint"].clone()
    };
    assert_eq!(fingerprint("./a.cu"), fingerprint("a.cu"));
    for arguments in [["--format", "gitlab", "./a.cu"], ["--format", "gitlab", "."]] {
        let report: Value = serde_json::from_str(&run(root.path(), &arguments).1).unwrap();
        assert_valid(GITLAB, std::slice::from_ref(&report));
        assert_eq!(report[0]["location"]["path"], "a.cu");
    }
    assert!(run(root.path(), &["--format", "github", "././a.cu"]).1.starts_with("::warning file=a.cu,"));
    fs::write(root.path().join("a.cu"), "").unwrap();
    let report: Value = serde_json::from_str(&run(root.path(), &["--format", "gitlab", "a.cu"]).1).unwrap();
    assert_eq!(report, serde_json::json!([]));
}

#[test]
fn junit_is_a_report_with_a_failure_for_each_warning() {
    let text = fixtures("junit");
    assert!(text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"cudalint\""));
    let warnings = fixtures("short")
        .lines()
        .filter(|line| line.contains(": warning[") || line.contains(": error["))
        .count();
    assert_eq!(text.matches("<failure ").count(), warnings);
    assert!(text.contains(&format!("failures=\"{warnings}\"")), "the sum is told");
    assert!(text.contains(
        "<testcase name=\"no findings\" classname=\"fixtures/bank-conflict/transpose-32x8-padded.cu\""
    ));
}

/// A reader that is not of the library that wrote it.
#[test]
fn junit_is_read_by_a_parser() {
    let report = junit_parser::from_reader(fixtures("junit").as_bytes()).unwrap();
    let warnings = fixtures("short")
        .lines()
        .filter(|line| line.contains(": warning[") || line.contains(": error["))
        .count() as u64;
    assert_eq!((report.name.as_str(), report.failures, report.errors), ("cudalint", warnings, 0));
    let cases: Vec<_> = report.suites.iter().flat_map(|suite| &suite.cases).collect();
    assert_eq!(cases.len() as u64, report.tests);
    assert_eq!(cases.iter().filter(|case| case.status.is_failure()).count() as u64, warnings);
    for suite in &report.suites {
        assert!(Path::new(&suite.name).is_file(), "{}", suite.name);
        assert!(!suite.cases.is_empty(), "{}", suite.name);
        assert!(suite.cases.iter().all(|case| case.classname.as_ref() == Some(&suite.name)));
    }
    let failure = cases.iter().find_map(|case| match &case.status {
        junit_parser::TestStatus::Failure(failure) => Some(failure),
        _ => None,
    });
    let failure = failure.expect("a failure");
    assert!(failure.text.contains("note: ") && !failure.message.is_empty(), "{failure:?}");
    assert!(cudalint::rules::find(&failure.failure_type).is_some(), "{failure:?}");
}

#[test]
fn github_gets_a_command_per_finding() {
    let text = fixtures("github");
    assert_eq!(text.lines().count(), fixtures("short").lines().count());
    for line in text.lines() {
        let (head, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        let (command, properties) = head.split_once(' ').unwrap();
        assert!(["notice", "warning", "error"].contains(&command), "{line}");
        let property = |name: &str| properties.split(',').find_map(|it| it.strip_prefix(name)).unwrap();
        assert!(Path::new(property("file=")).is_file(), "{line}");
        assert!(property("line=").parse::<usize>().unwrap() >= 1);
        assert!(property("title=").starts_with("cudalint%3A "), "{line}");
        assert!(!message.is_empty());
    }
}

#[test]
fn output_goes_into_a_file_and_the_summary_to_stderr() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("out.sarif");
    let path = file.to_str().unwrap();
    let fixture = "fixtures/texts/column-read.cu";
    let (exit, out, err) = run(Path::new("."), &["--format", "sarif", "--output", path, fixture]);
    assert_eq!((exit, out.as_str()), (1, ""));
    assert!(err.starts_with("cudalint: 1 warning in 1 of 1 file"), "{err}");
    let (_, direct, _) = run(Path::new("."), &["--format", "sarif", fixture]);
    assert_eq!(fs::read_to_string(&file).unwrap(), direct);
    let (exit, _, err) = run(Path::new("."), &["-o", "/nowhere/out", fixture]);
    assert_eq!(exit, 2);
    assert!(err.starts_with("cudalint: error: cannot write `/nowhere/out`: "), "{err}");
}

#[test]
fn one_run_writes_several_reports() {
    let folder = tempfile::tempdir().unwrap();
    let fixture = "fixtures/texts/column-read.cu";
    let to = |name: &str| format!("{name}={}", folder.path().join(name).display());
    let (sarif, markdown, json) = (to("sarif"), to("markdown"), to("json"));
    let formats = ["--format", "github", "--format", &sarif, "--format", &markdown, "--format", &json];
    let (exit, out, err) = run(Path::new("."), &[&formats[..], &[fixture]].concat());
    assert_eq!((exit, err.as_str()), (1, ""));
    assert_eq!(out, run(Path::new("."), &["--format", "github", fixture]).1);
    for name in ["sarif", "json", "markdown"] {
        let written = fs::read_to_string(folder.path().join(name)).unwrap();
        assert_eq!(written, run(Path::new("."), &["--format", name, fixture]).1, "{name}");
    }
    // Nothing is printed that was not asked for; then there is a summary.
    let (exit, out, err) = run(Path::new("."), &["--format", &sarif, fixture]);
    assert_eq!((exit, out.as_str()), (1, ""));
    assert!(err.starts_with("cudalint: 1 warning in 1 of 1 file"), "{err}");
    let nowhere = ["--format", "short", "--format", "sarif=/nowhere/x", fixture];
    let (exit, out, err) = run(Path::new("."), &nowhere);
    assert!(exit == 2 && out.lines().count() == 1, "the others are written: {out}");
    assert!(err.starts_with("cudalint: error: cannot write `/nowhere/x`: "), "{err}");
}

#[test]
fn markdown_shows_the_text_and_a_table_of_counts() {
    let text = run(Path::new("."), &["fixtures/texts"]).1;
    let (exit, page, err) = run(Path::new("."), &["--format", "markdown", "fixtures/texts"]);
    assert_eq!((exit, err.as_str()), (1, ""));
    assert!(page.starts_with("## cudalint\n\n"), "{page}");
    assert!(page.contains(&format!("\n```text\n{}\n```\n", text.trim_end())), "{page}");
    assert!(page.contains("|---|---|---|\n| warning | `bank-conflict` | "), "{page}");
}

#[test]
fn an_access_that_is_known_in_some_instances_is_counted_apart() {
    let root = folder(&[(
        "a.cu",
        "template <int N> __global__ void k(float *out, const int *at) {\n\
         __shared__ float s[1024];\n\
         s[at[0] * threadIdx.x] = out[threadIdx.x];\n\
         s[N > 1 ? threadIdx.x * at[1] : threadIdx.x] = out[threadIdx.x];\n}\n\
         void h(float *o, const int *i) { k<1><<<1, 256>>>(o, i); k<2><<<1, 256>>>(o, i); }\n",
    )]);
    let (_, _, err) = run(root.path(), &["a.cu"]);
    assert!(err.contains("; 1 of 2 accesses unknown, 1 more in some instances"), "{err}");
}
