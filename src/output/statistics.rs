//! How many findings are there by rule, kernel and cause, and what do they cost?

use super::Place;
use super::table::{table, text_of};
use crate::diagnostic::{Cost, Diagnostic};
use crate::source::{Sources, Span};
use crate::visible::{one_line, without_commands};
use comfy_table::CellAlignment;

/// Findings of one rule, kernel and cause.
struct Row<'a> {
    rule: &'static str,
    kernel: &'a str,
    cause: &'a str,
    /// Where the kernel of a cause is defined: others may have its name.
    defined: Option<Span>,
    findings: usize,
    cost: Option<Cost>,
    /// The place of the first finding.
    at: Span,
}

/// A table of the findings, which come in the order of what they cost: a row for each rule, kernel and
/// cause, where the first of its findings stands. Of several findings the costs are added.
#[must_use]
pub fn render<'a>(sources: &Sources, findings: impl IntoIterator<Item = &'a Diagnostic>) -> Vec<u8> {
    let mut rows: Vec<Row<'_>> = Vec::new();
    for finding in findings {
        let row = Row::of(finding);
        match rows.iter_mut().find(|known| known.is_alike(&row)) {
            Some(known) => known.add(&row),
            None => rows.push(row),
        }
    }
    if rows.is_empty() {
        return Vec::new();
    }
    let mut table = table(&["rule", "kernel", "cause", "findings", "extra", "share", "first at"]);
    for at in 3..6 {
        if let Some(column) = table.column_mut(at) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    for row in rows {
        let Place { file, line, .. } = Place::of(sources, row.at);
        let cell = |text: &str| one_line(if text.is_empty() { "-" } else { text }).into_owned();
        let cost = |words: &dyn Fn(Cost) -> String| row.cost.map_or_else(|| "-".to_owned(), words);
        table.add_row([
            row.rule.to_owned(),
            cell(row.kernel),
            cell(row.cause),
            row.findings.to_string(),
            cost(&|cost| cost.extra.to_string()),
            cost(&|cost| cost.percent()),
            cell(&format!("{file}:{line}")),
        ]);
    }
    without_commands(format!("{}\n", text_of(&table).trim_end())).into_bytes()
}

impl Row<'_> {
    fn of(finding: &Diagnostic) -> Row<'_> {
        let conflict = finding.conflict.as_ref();
        Row {
            rule: finding.rule,
            kernel: &finding.kernel,
            cause: conflict.map_or("", |conflict| conflict.array.as_str()),
            defined: conflict.and(finding.kernel_at),
            findings: 1,
            cost: finding.cost(),
            at: finding.primary,
        }
    }

    fn is_alike(&self, other: &Row<'_>) -> bool {
        let key = |row: &Row<'_>| (row.rule, row.defined);
        key(self) == key(other) && self.kernel == other.kernel && self.cause == other.cause
    }

    fn add(&mut self, other: &Row<'_>) {
        self.findings += other.findings;
        self.cost = match (self.cost, other.cost) {
            (Some(own), Some(other)) => Some(Cost { extra: own.extra.saturating_add(other.extra), ..own }),
            (own, other) => own.or(other),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn findings_of_a_cause_are_one_row() {
        let (sources, finding) = testing::finding("a.cu", "s[i]\n", "s[i]");
        let conflict = |extra| Some(Box::new(testing::conflict(finding.primary, extra, 1056)));
        let tile = Diagnostic { conflict: conflict(992), ..finding.clone() };
        let word = Diagnostic { conflict: conflict(10), ..finding.clone() };
        let barrier = Diagnostic { rule: "missing-barrier", kernel: String::new(), ..finding.clone() };
        let text = String::from_utf8(render(&sources, [&tile, &word, &barrier])).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[0], ["rule", "kernel", "cause", "findings", "extra", "share", "first", "at"]);
        assert_eq!(rows[1], ["bank-conflict", "k", "s", "2", "1002", "95", "%", "a.cu:1"]);
        assert_eq!(rows[2], ["missing-barrier", "-", "-", "1", "-", "-", "a.cu:1"]);
        assert_eq!(rows.len(), 3);
        assert!(render(&sources, []).is_empty());
    }
}
