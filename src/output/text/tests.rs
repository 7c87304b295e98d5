use super::*;
use crate::output::testing;
use crate::source::Span;

fn rendered(sources: &Sources, finding: &Diagnostic) -> String {
    String::from_utf8(render(sources, std::slice::from_ref(finding), false)).unwrap()
}

#[test]
fn a_finding_reads_as_rustc_would_put_it() {
    let source = "__global__ void k() {\n    __shared__ float tile[32][32];\n\n    \
                  float x = tile[threadIdx.x][0];\n}\n";
    let (sources, mut finding) = testing::finding("src/t.cu", source, "tile[threadIdx.x][0]");
    let declared = testing::span(source, finding.primary.file, "tile[32][32]");
    finding.labels.push((declared, "each row is 128 bytes".into()));
    finding.notes.push("block is (32, 8, 1)".into());
    finding.helps.push("pad the rows\nby one".into());
    let expected = "\
warning[bank-conflict]: 32-way bank conflict
  ┌─ src/t.cu:4:15
  │
2 │     __shared__ float tile[32][32];
  │                      ------------ each row is 128 bytes
3 │ 
4 │     float x = tile[threadIdx.x][0];
  │               ^^^^^^^^^^^^^^^^^^^^ lanes 0 and 1 read bytes 0 and 128: bank 0
  │
  = note: block is (32, 8, 1)
  = help: pad the rows
          by one

";
    assert_eq!(rendered(&sources, &finding), expected);
}

#[test]
fn lines_between_are_left_out_and_numbers_stay_true() {
    let source = format!("{}int s[4];\n{}s[i] = 1;\n", "\n".repeat(98), "//\n".repeat(20));
    let (sources, mut finding) = testing::finding("t.cu", &source, "s[i]");
    finding.labels.push((testing::span(&source, finding.primary.file, "s[4]"), String::new()));
    let expected = "\
warning[bank-conflict]: 32-way bank conflict
    ┌─ t.cu:120:1
    │
 99 │ int s[4];
    │     ----
    ·
120 │ s[i] = 1;
    │ ^^^^ lanes 0 and 1 read bytes 0 and 128: bank 0

";
    assert_eq!(rendered(&sources, &finding), expected);
}

#[test]
fn a_span_over_lines_is_drawn_as_a_bracket() {
    let source = "  k(a,\n    b,\n    c);\nint z;\n";
    let (sources, mut finding) = testing::finding("t.cu", source, "k(a,\n    b,\n    c)");
    finding.primary_label = "here".into();
    let expected = "\
warning[bank-conflict]: 32-way bank conflict
  ┌─ t.cu:1:3
  │  
1 │ ╭   k(a,
2 │ │     b,
3 │ │     c);
  │ ╰──────^ here

";
    assert_eq!(rendered(&sources, &finding), expected);
}

#[test]
fn tabs_and_wide_characters_keep_the_carets_in_place() {
    let (sources, mut finding) = testing::finding("t.cu", "\tx /* 計 */ = s[i];\r\n", "s[i]");
    finding.primary_label.clear();
    let expected = "\
warning[bank-conflict]: 32-way bank conflict
  ┌─ t.cu:1:14
  │
1 │     x /* 計 */ = s[i];
  │                  ^^^^

";
    assert_eq!(rendered(&sources, &finding), expected);
}

#[test]
fn of_a_very_long_line_the_part_around_the_finding_is_shown() {
    let source = format!("{}é s[i] = 1;{}\n", "x = 1; ".repeat(400), " y = 2;".repeat(400));
    let (sources, mut finding) = testing::finding("t.cu", &source, "s[i]");
    let far = Span { file: finding.primary.file, start: 0, end: 1, nth: 0 };
    finding.labels.push((far, "far".into()));
    let text = rendered(&sources, &finding);
    assert!(text.contains("t.cu:1:2803\n"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() < 250), "{text}");
    let line = text.lines().position(|line| line.starts_with("1 │ …")).unwrap();
    let column = |line: &str, what: &str| line.split(what).next().unwrap().chars().count();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[line].ends_with('…'), "{text}");
    assert_eq!(column(lines[line], "s[i]"), column(lines[line + 1], "^^^^"), "{text}");
}

#[test]
fn odd_spans_do_no_harm() {
    let text = "é\n__shared__ int s[4];";
    let (sources, mut finding) = testing::finding("t.cu", text, "s[4]");
    let length = text.len() as u32;
    let file = finding.primary.file;
    for start in [0, 1, 2, 3, length - 1, length, length + 7, u32::MAX] {
        for end in [0, start, length, u32::MAX] {
            finding.primary = Span { file, start, end, nth: 0 };
            let out = rendered(&sources, &finding);
            assert!(out.starts_with("warning[bank-conflict]: 32-way"), "{start}..{end}: {out}");
            assert!(out.contains("┌─ t.cu:"), "{start}..{end}: {out}");
        }
    }
    for text in ["", "\n", "\n\n"] {
        let (sources, finding) = testing::finding("empty.cu", text, "");
        assert!(rendered(&sources, &finding).contains("┌─ empty.cu:1:1"));
    }
}

#[test]
fn a_finding_may_point_into_two_files() {
    let (sources, mut finding) = testing::finding("t.cu", "s[i];\n", "s[i]");
    let header = sources.add("t.cuh".as_ref(), b"\n\nint s[4];\n".to_vec());
    finding.labels.push((testing::span(&header.text, header.id, "s[4]"), "declared here".into()));
    let text = rendered(&sources, &finding);
    assert!(text.contains("┌─ t.cu:1:1\n"), "{text}");
    assert!(text.contains("┌─ t.cuh:3:5\n"), "{text}");
    assert!(text.contains("---- declared here"), "{text}");
}

#[test]
fn a_terminal_gets_no_orders_from_the_source() {
    let source = "s[i]; // \x1b[2J \u{202e} \u{9b}\n";
    let (sources, finding) = testing::finding("a\x1b[2J.cu", source, "s[i]");
    let text = rendered(&sources, &finding);
    assert!(!text.contains(['\x1b', '\u{202e}', '\u{9b}']), "{text:?}");
    assert!(text.contains("┌─ a\\u{1b}[2J.cu:1:1\n"), "{text}");
    assert!(text.contains("1 │ s[i]; // \\u{1b}[2J \\u{202e} \\u{9b}\n"), "{text}");
}

#[test]
fn carets_and_columns_are_right_behind_an_escape() {
    let source = "\u{feff}/* \u{202e}\r */ s[i] = 1;\r\n";
    let (sources, finding) = testing::finding("t.cu", source, "s[i]");
    let expected = "\
warning[bank-conflict]: 32-way bank conflict
  ┌─ t.cu:1:11
  │
1 │ /* \\u{202e}\\r */ s[i] = 1;
  │                  ^^^^ lanes 0 and 1 read bytes 0 and 128: bank 0

";
    assert_eq!(rendered(&sources, &finding), expected);
}

#[test]
fn of_a_cut_line_no_end_is_kept_that_is_none() {
    let source = format!("s[i]; //{}\r{}\n", " ".repeat(151), "x".repeat(500));
    let (sources, finding) = testing::finding("t.cu", &source, "s[i]");
    let text = rendered(&sources, &finding);
    assert!(text.contains("\\r…\n") && !text.contains('\r'), "{text:?}");
}

#[test]
fn no_line_begins_with_an_order_to_a_server() {
    let (sources, mut finding) = testing::finding("t.cu", "s[i];\n", "s[i]");
    finding.notes.push("a\n::error file=x::y".into());
    finding.helps.push("b ##[error]z".into());
    let text = rendered(&sources, &finding);
    assert!(text.contains("          \\u{3a}:error file=x::y\n"), "{text}");
    assert!(text.contains("= help: b ##\\u{5b}error]z\n"), "{text}");
}

#[test]
fn colours_are_added_on_request_only() {
    let (sources, finding) = testing::finding("t.cu", "s[i];\n", "s[i]");
    let colored = render(&sources, std::slice::from_ref(&finding), true);
    assert!(colored.starts_with(b"\x1b["));
    assert!(!rendered(&sources, &finding).contains('\x1b'));
}

#[test]
fn levels_choose_the_first_word() {
    let (sources, mut finding) = testing::finding("t.cu", "s[i];\n", "s[i]");
    for (level, word) in [(Level::Note, "note["), (Level::Warn, "warning["), (Level::Deny, "error[")] {
        finding.level = level;
        assert!(rendered(&sources, &finding).starts_with(word));
    }
}

#[test]
fn a_fix_without_a_help_is_still_told() {
    let (sources, mut finding) = testing::finding("t.cu", "s[i];\n", "s[i]");
    finding.fix = Some(crate::diagnostic::Fix {
        title: "pad `s`".into(),
        edits: Vec::new(),
        basis: crate::diagnostic::Basis::Subscripts,
        leaves: false,
    });
    assert!(rendered(&sources, &finding).contains("  = help: pad `s`\n"));
}
