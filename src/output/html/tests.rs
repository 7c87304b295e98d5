use super::super::testing;
use super::bank_map::BankMap;
use super::*;
use crate::diagnostic::{Hazard, Step};
use crate::events::Array;
use crate::source::FileId;

fn page(sources: &Sources, findings: &[Diagnostic]) -> String {
    let report = Report { sources, findings, views: &[], summary: "a <b> & c" };
    String::from_utf8(render(&report)).unwrap()
}

#[test]
fn what_others_wrote_is_text() {
    let source = "</script><script>alert('1')</script>\" & s[i] \u{202e} \x1b[31m\n";
    let (sources, mut finding) = testing::finding("d/<img src=x onerror=y>\".cu", source, "s[i]");
    finding.message = "`<b>` \"quoted\" </article>".into();
    finding.kernel = "k<float>'\"".into();
    finding.notes = vec!["</dl><script>".into()];
    finding.helps = vec!["::error::x".into()];
    let page = page(&sources, &[finding]);
    assert_eq!((page.matches("<script>").count(), page.matches("</script>").count()), (1, 1));
    for raw in ["<img", "<b> &", "<float>", "alert('", "\u{202e}", "\x1b", "\n::error"] {
        assert!(!page.contains(raw), "{raw:?}");
    }
    let shown = "&#60;img src=x onerror=y&#62;&#34;.cu:1";
    assert!(page.contains(shown) && page.contains("\\u{202e} \\u{1b}[31m"), "{page}");
}

#[test]
fn a_race_is_two_threads_between_two_barriers() {
    let source = "wait();\ns[t] = 1;\nx = s[t + 1];\ns[t + 2];\n";
    let (sources, mut finding) = testing::finding("a.cu", source, "s[t + 1]");
    let span = |text: &str| testing::span(source, FileId(0), text);
    let step = |thread, text: &str, does: &str| Step { thread, span: span(text), does: does.into() };
    finding.hazard = Some(Box::new(Hazard {
        array: "s".into(),
        declared: span("s[t]"),
        places: (span("s[t]"), span("s[t + 1]")),
        first: step(32, "s[t]", "writes"),
        second: step(31, "s[t + 1]", "reads"),
        across: None,
        after: Some(span("wait()")),
        before: None,
    }));
    let page = page(&sources, &[finding]);
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text}: {page}"));
    let order = [
        "thread 32 (warp 1, lane 0)",
        "<li class=\"order\"><span> <code>wait()</code>",
        "<li class=\"one\"><span>thread 32 writes <code>s[t]</code>",
        "<li class=\"gap\"><span>nothing orders the two",
        "<li class=\"two\"><span>thread 31 reads <code>s[t + 1]</code>",
        "<li class=\"order\"><span>the kernel ends",
    ];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{page}");
}

#[test]
fn what_is_left_out_is_said() {
    let (sources, finding) = testing::finding("a.cu", "s[i];\n", "s[i]");
    let findings = vec![finding; MOST_FINDINGS + 2];
    let page = page(&sources, &findings);
    assert!(page.contains("Left out, from the end of each list: 2 findings."), "{page}");
    assert_eq!(page.matches("<article").count(), MOST_FINDINGS);
}

#[test]
fn of_a_long_file_the_lines_around_findings_are_shown() {
    let source = format!("{}s[i];\n{}", "\n".repeat(2000), "\n".repeat(999));
    let (sources, finding) = testing::finding("a.cu", &source, "s[i]");
    let page = page(&sources, &[finding]);
    assert!(page.contains("href=\"#s1-2001\"") && page.contains("id=\"s1-2001\""), "{page}");
    assert!(page.contains(">1980 more lines<") && page.contains(">979 more lines<"), "{page}");
    assert!(page.contains("2959 source lines") && !page.contains("id=\"s1-1980\""), "{page}");
}

/// The examples of the module.
#[test]
fn rows_begin_in_the_banks_that_their_length_leads_to() {
    let (sources, finding) = testing::finding("a.cu", "float t[4][33];\n", "t");
    let (kernels, _) =
        Kernels::of(&Report { sources: &sources, findings: &[], views: &[], summary: "" }).first(1);
    let listing = Listing::new(&sources, &kernels, &[], 10);
    let map = |dimensions: &[u64], element: u64| {
        let array = Array {
            name: "t".into(),
            name_span: finding.primary,
            span: finding.primary,
            dimensions: dimensions.iter().map(|it| Some(*it)).collect(),
            dimension_spans: Vec::new(),
            element_bytes: Some(element),
            element: "float".into(),
            of_numbers: true,
            of_vectors: true,
            dynamic: false,
            global: false,
            alignment: element,
            restrict: false,
            flattened: false,
            strays: Vec::new(),
            declared: None,
        };
        BankMap::of(&sources, &listing, &array, (32, 4))
    };
    let starts = |map: &BankMap| map.strips.iter().map(|strip| strip.start).collect::<Vec<f64>>();
    let (plain, padded) = (map(&[4, 32], 4), map(&[4, 33], 4));
    assert_eq!((starts(&plain), starts(&padded)), (vec![0.0; 4], vec![0.0, 1.0, 2.0, 3.0]));
    assert_eq!(plain.words, "4 rows, 128 bytes apart: the first 4 begin in 1 bank.");
    assert_eq!(padded.words, "4 rows, 132 bytes apart: the first 4 begin in 4 banks.");
    assert_eq!((padded.declaration.as_str(), padded.strips[0].length), ("float t[4][33]", 33.0));
    // Rows of 66 bytes begin within words.
    assert_eq!(starts(&map(&[3, 33], 2)), [0.0, 16.5, 1.0]);
    let flat = map(&[1000], 4);
    assert_eq!((flat.strips.len(), flat.strips[1].label.as_str()), (8, "32"));
    assert_eq!(flat.left_out, "Not drawn: 24 further lines.");
    assert!(map(&[0], 4).strips.is_empty() && map(&[u64::MAX, 9], 4).strips.is_empty());
}

#[test]
fn numbers_are_grouped() {
    assert_eq!([0, 999, 1056, 1_234_567].map(number), ["0", "999", "1,056", "1,234,567"]);
}
