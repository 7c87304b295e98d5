//! Is anything that a name or a source line holds obeyed by whoever shows it?

use super::{CONFLICT, run};
use crate::support::folder::folder;
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

const NAME: &str =
    "a\x1b[2J\n::error file=b.cu::c\r\u{202e}\u{2066}\u{200f}\u{61c}\u{9b}1m\u{2028} ##[error]d.cu";

/// What stands in a comment beside the finding.
const COMMENT: &str = "\x1b[31m \u{202e}\u{2069} \u{9b}2J \r::error::e ##[add-mask]f ##vso[task.x]g \x07";

fn hostile() -> tempfile::TempDir {
    let code = CONFLICT.replace("[threadIdx.y];\n}", &format!("[threadIdx.y]; // {COMMENT}\n}}"));
    folder(&[(NAME, &format!("/*\n::error file=b.cu::h\n*/\n{code}"))])
}

fn assert_harmless(what: &str, text: &str) {
    for (at, line) in text.split('\n').enumerate() {
        let acts = |char: char| {
            char.is_control() && char != '\t'
                || matches!(char, '\u{2028}' | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}')
                || ('\u{2066}'..='\u{2069}').contains(&char)
        };
        assert!(!line.contains(acts), "{what}, line {at}: {line:?}");
        assert!(!line.trim_start().starts_with("::"), "{what}, line {at}: {line:?}");
        assert!(!line.contains("##[") && !line.contains("##vso["), "{what}, line {at}: {line:?}");
    }
}

#[test]
fn nothing_acts_in_any_output_for_people() {
    let root = hostile();
    let place = format!("./{NAME}:8");
    let color = regex::Regex::new("\x1b\\[[0-9;]*m").unwrap();
    for arguments in [
        &["."][..],
        &["--color", "always", "."],
        &["-W", "all", "."],
        &["--format", "short", "."],
        &["--format", "junit", "."],
        &["accesses", "."],
        &["accesses", "--summary", "."],
        &["dump", "--stage", "hir", "."],
        &["dump", "--stage", "events", "."],
        &["explain", &place],
        &["explain", &place[..place.len() - 1]],
        &["explain", NAME],
        &["config", &place[..place.len() - 2]],
        &["--diff", "."],
        &["--", NAME, "\x1b]0;x\x07.cu"],
        &["--write-baseline", "\x1b[1m", "."],
        &["--baseline", "\x1b[2m", "."],
        &["-o", "\x1b[3m/x", "."],
        &["-p", "\x1b[4m", "."],
        &["banks", "--requests", "\x1b[5m"],
        &["init", "\x1b[6m"],
    ] {
        let (_, out, err) = run(root.path(), arguments);
        // Colours are our own.
        let out = if arguments[0] == "--color" { color.replace_all(&out, "").into_owned() } else { out };
        assert!(!out.is_empty() || !err.is_empty(), "{arguments:?}");
        assert_harmless(&format!("{arguments:?}"), &out);
        assert_harmless(&format!("{arguments:?}, stderr"), &err);
    }
    let (_, out, _) = run(root.path(), &["."]);
    let name = "a\\u{1b}[2J\\n::error file=b.cu::c\\r\\u{202e}\\u{2066}\\u{200f}\\u{61c}\\u{9b}1m\\u{2028} \
                ##\\u{5b}error]d.cu";
    assert!(out.contains(&format!("┌─ {name}:8:43\n")), "{out}");
    let shown = "// \\u{1b}[31m \\u{202e}\\u{2069} \\u{9b}2J \\r::error::e ##\\u{5b}add-mask]f ";
    assert!(out.contains(shown), "{out}");
}

#[test]
fn annotations_are_one_line_each_and_ours() {
    let root = hostile();
    let (code, out, err) = run(root.path(), &["--format", "github", "."]);
    assert_eq!((code, err.as_str(), out.lines().count()), (1, "", 1));
    let rest = out.strip_prefix("::warning file=a\\u{1b}[2J\\n%3A%3Aerror file=b.cu").expect(&out);
    assert_harmless("github", rest);
}

#[test]
fn formats_for_programs_keep_the_name() {
    let root = hostile();
    let parsed = |arguments: &[&str]| -> Value {
        let (_, out, err) = run(root.path(), &[arguments, &["."]].concat());
        assert_harmless(&format!("{arguments:?}"), &out);
        assert_harmless(&format!("{arguments:?}, stderr"), &err);
        serde_json::from_str(out.lines().next().filter(|line| line.starts_with("{\"")).unwrap_or(&out))
            .unwrap()
    };
    assert_eq!(parsed(&["--format", "json"])["file"], NAME);
    assert_eq!(parsed(&["accesses", "--format", "json"])["file"], NAME);
    assert!(parsed(&["accesses", "--summary", "--format", "json"]).is_object());
    assert_eq!(parsed(&["--format", "gitlab"])[0]["location"]["path"], NAME);
    let log = parsed(&["--format", "sarif"]);
    let uri = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"];
    let decoded = percent_encoding::percent_decode_str(uri.as_str().unwrap()).decode_utf8().unwrap();
    assert_eq!(decoded, NAME);
    let (_, _, err) = run(root.path(), &["--write-baseline", "b.json", "."]);
    assert!(err.contains("wrote 1 finding"), "{err}");
    let text = fs::read_to_string(root.path().join("b.json")).unwrap();
    assert_harmless("baseline", &text);
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap()["findings"][0]["file"], NAME);
    let (_, _, err) = run(root.path(), &["--baseline", "b.json", "."]);
    assert!(err.contains("1 finding in the baseline"), "{err}");
    let (_, out, _) = run(root.path(), &["--format", "junit", "."]);
    let report = junit_parser::from_reader(out.as_bytes()).unwrap();
    assert!(
        report.suites[0].name.starts_with("a\\u{1b}[2J\\n"),
        "nothing is left out: {}",
        report.suites[0].name
    );
}

#[test]
fn a_configuration_file_shows_its_mistakes_harmlessly() {
    let root = folder(&[("a.cu", CONFLICT), ("d/a.cu", CONFLICT)]);
    for text in [
        "targets = ['sm_90'] # \x1b[2J\nx = 1 # \u{202e} ##[error]y\n",
        "\"\\u001b[2J\" = 1\n",
        "x\x1b[2J = \r",
    ] {
        fs::write(root.path().join("d/cudalint.toml"), text).unwrap();
        let (code, out, err) = run(root.path(), &["d"]);
        assert_eq!((code, out.as_str()), (2, ""), "{err}");
        assert_harmless(text, &err);
    }
}

#[test]
fn a_diff_to_a_file_can_be_applied_and_names_no_other_file() {
    let root = hostile();
    let (code, out, err) = run(root.path(), &["--diff", "."]);
    assert_eq!(code, 1);
    assert!(out.starts_with("--- \"a/a\\033[2J\\n::error file=b.cu::c\\r\\342\\200\\256"), "{out}");
    assert!(err.contains("the diff is shown with escapes in 2 lines, so it cannot be applied"), "{err}");
    let (code, out, _) = run(root.path(), &["--diff", "--output", "fix.diff", "."]);
    assert_eq!((code, out.as_str()), (1, ""));
    let applied = Command::new("git")
        .current_dir(root.path())
        .args(["apply", "-p1", "fix.diff"])
        .stderr(Stdio::inherit())
        .status()
        .unwrap();
    assert!(applied.success());
    assert_eq!(run(root.path(), &["."]).0, 0);
}

#[test]
fn a_backslash_is_a_letter_of_a_name() {
    let root = folder(&[("d\\a.cu", CONFLICT), ("d/a.cu", "")]);
    let (_, out, _) = run(root.path(), &["--format", "short", "d\\a.cu"]);
    assert!(out.starts_with("d\\a.cu:5:43: "), "{out}");
    let (_, out, _) = run(root.path(), &["--diff", "."]);
    assert!(out.starts_with("--- \"a/d\\\\a.cu\"\n+++ \"b/d\\\\a.cu\"\n"), "{out}");
}
