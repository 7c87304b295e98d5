//! A page in Markdown, such as the summary of a job of GitHub Actions: counts, and the findings as for people.
//!
//! Names and source lines stand in a fenced block, where Markdown and HTML mean nothing; the fence is longer
//! than any row of backticks in it.

use super::{count, level_word, text};
use crate::diagnostic::{Diagnostic, Level};
use crate::source::Sources;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// As many bytes of findings are shown: GitHub takes a page of 1 MiB.
const MOST_BYTES: usize = 512 << 10;

/// The findings under one line of summary, which holds no words of others.
#[must_use]
pub fn render(sources: &Sources, findings: &[Diagnostic], summary: &str) -> Vec<u8> {
    let mut out = format!("## cudalint\n\n{summary}\n");
    if findings.is_empty() {
        return out.into_bytes();
    }
    let mut counts: BTreeMap<(Reverse<Level>, &str), usize> = BTreeMap::new();
    for finding in findings {
        *counts.entry((Reverse(finding.level), finding.rule)).or_default() += 1;
    }
    out.push_str("\n| level | rule | findings |\n|---|---|---|\n");
    for ((Reverse(level), rule), number) in counts {
        out.push_str(&format!("| {} | `{rule}` | {number} |\n", level_word(level)));
    }
    let (shown, left) = shown(sources, findings, MOST_BYTES);
    let fence = "`".repeat(3.max(longest_row(&shown) + 1));
    out.push_str(&format!("\n{fence}text\n{}\n{fence}\n", shown.trim_end()));
    if left > 0 {
        out.push_str(&format!("\n{} not shown here.\n", count(left, "more finding")));
    }
    out.into_bytes()
}

/// The first findings, as many as go into some bytes, and how many are left.
fn shown(sources: &Sources, findings: &[Diagnostic], most: usize) -> (String, usize) {
    let mut shown = String::new();
    for (at, finding) in findings.iter().enumerate() {
        let bytes = text::render(sources, std::slice::from_ref(finding), false);
        if shown.len() + bytes.len() > most {
            return (shown, findings.len() - at);
        }
        shown.push_str(&String::from_utf8_lossy(&bytes));
    }
    (shown, 0)
}

/// The longest row of backticks.
fn longest_row(text: &str) -> usize {
    text.split(|char| char != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn counts_come_first_and_findings_in_a_block_that_they_cannot_end() {
        let source = "s[i]; // ```` <img src=x> | @someone\n";
        let (sources, finding) = testing::finding("a.cu", source, "s[i]");
        let note = Diagnostic { rule: "unresolved-access", level: Level::Note, ..finding.clone() };
        let page = render(&sources, &[note, finding.clone(), finding], "3 findings");
        let page = String::from_utf8(page).unwrap();
        let head = "## cudalint\n\n3 findings\n\n| level | rule | findings |\n|---|---|---|\n\
                    | warning | `bank-conflict` | 2 |\n| note | `unresolved-access` | 1 |\n\n`````text\nnote[";
        assert!(page.starts_with(head), "{page}");
        assert!(page.ends_with("bank 0\n`````\n"), "{page}");
        assert_eq!(page.matches("`````").count(), 2);
        assert_eq!(render(&sources, &[], "no findings"), b"## cudalint\n\nno findings\n");
    }

    #[test]
    fn a_page_has_an_end() {
        let (sources, finding) = testing::finding("a.cu", "s[i];\n", "s[i]");
        let findings = [finding.clone(), finding.clone(), finding];
        let one = text::render(&sources, &findings[..1], false).len();
        let (text, left) = shown(&sources, &findings, 2 * one);
        assert_eq!((text.len(), left), (2 * one, 1));
    }
}
