//! How many accesses are known, and why are the others not?

use crate::output::table::{table, text_of};
use crate::output::{count, json, reason_words, status_word};
use crate::verdict::{SiteVerdict, Status};
use crate::visible::{one_line, without_commands};
use comfy_table::CellAlignment;
use serde::Serialize;
use std::collections::BTreeMap;

const STATUSES: [Status; 4] = [Status::Exact, Status::Assumed, Status::Depends, Status::Unknown];

/// `12 accesses: 9 exact, 2 assumed, 1 unknown; 91.7 % decided`. Decided is all that is not unknown.
#[must_use]
pub fn summary(verdicts: &[&SiteVerdict]) -> String {
    let of = |status| verdicts.iter().filter(|it| it.status == status).count();
    let counts = STATUSES.into_iter().map(|status| (of(status), status_word(status)));
    let counts: Vec<String> =
        counts.filter(|(number, _)| *number > 0).map(|(number, word)| format!("{number} {word}")).collect();
    match counts.as_slice() {
        [] => "no shared-memory accesses".to_owned(),
        _ => {
            let decided = verdicts.len() - of(Status::Unknown);
            let share = 100.0 * decided as f64 / verdicts.len() as f64;
            let (all, counts) = (count(verdicts.len(), "access"), counts.join(", "));
            format!("{all}: {counts}; {share:.1} % decided")
        }
    }
}

/// How many verdicts there are of each status and kind of reason.
#[derive(Serialize)]
struct Group<'a> {
    status: &'a str,
    reason: Option<&'a str>,
    accesses: usize,
    /// The commonest of the reasons, in full.
    example: Option<&'a str>,
}

/// Counts by reason in full.
type Reasons<'a> = BTreeMap<Option<&'a str>, usize>;

fn groups<'a>(verdicts: &[&'a SiteVerdict]) -> Vec<Group<'a>> {
    let mut counts: BTreeMap<(usize, Option<&'static str>), Reasons<'a>> = BTreeMap::new();
    for verdict in verdicts {
        let status = STATUSES.iter().position(|it| *it == verdict.status).unwrap_or(0);
        let group = counts.entry((status, verdict.kind.map(reason_words))).or_default();
        *group.entry(verdict.reason.as_deref()).or_default() += 1;
    }
    let mut rows: Vec<(usize, Group<'a>)> = Vec::new();
    for ((status, reason), group) in counts {
        let accesses = group.values().sum();
        // The first of the commonest, so that the same input gives the same words.
        let example = group.iter().rev().max_by_key(|(_, count)| **count).and_then(|(text, _)| *text);
        rows.push((status, Group { status: status_word(STATUSES[status]), reason, accesses, example }));
    }
    rows.sort_by_key(|(status, group)| (*status, std::cmp::Reverse(group.accesses), group.reason));
    rows.into_iter().map(|(_, group)| group).collect()
}

/// Counts per status and kind of reason, as a table.
#[must_use]
pub fn render_summary(verdicts: &[&SiteVerdict]) -> Vec<u8> {
    if verdicts.is_empty() {
        return Vec::new();
    }
    let mut table = table(&["accesses", "share", "status", "reason", "mostly"]);
    for Group { status, reason, accesses, example } in groups(verdicts) {
        let share = 100.0 * accesses as f64 / verdicts.len() as f64;
        let text = |text: Option<&str>| one_line(text.unwrap_or("")).into_owned();
        let cells = [accesses.to_string(), format!("{share:.1} %"), status.to_owned()];
        table.add_row(cells.into_iter().chain([text(reason), text(example)]));
    }
    for right in [0, 1] {
        if let Some(column) = table.column_mut(right) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    without_commands(format!("{}\n", text_of(&table))).into_bytes()
}

/// Counts per status and kind of reason, one JSON object per line.
#[must_use]
pub fn render_summary_json(verdicts: &[&SiteVerdict]) -> Vec<u8> {
    let mut out = Vec::new();
    for row in groups(verdicts) {
        json::push_line(&mut out, &row);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::testing::{sources, unknown, verdict};
    use super::*;
    use crate::domain::Reason;

    #[test]
    fn the_summary_counts_statuses_and_reasons() {
        let sources = sources();
        let known = verdict(&sources, "tile[a]");
        let (rare, common) = (unknown(&known, "rare"), unknown(&known, "common"));
        let other = SiteVerdict { kind: Some(Reason::UnknownType), ..unknown(&known, "other") };
        let all = [&rare, &known, &common, &common, &other];
        assert_eq!(summary(&all), "5 accesses: 1 exact, 4 unknown; 20.0 % decided");
        assert_eq!(summary(&all[1..2]), "1 access: 1 exact; 100.0 % decided");
        assert_eq!(summary(&[]), "no shared-memory accesses");
        let text = String::from_utf8(render_summary(&all)).unwrap();
        let expected = " accesses   share  status   reason                             mostly
        1  20.0 %  exact
        3  60.0 %  unknown  the index is read from memory      common
        1  20.0 %  unknown  a type or its size is not visible  other
";
        assert_eq!(text, expected);
        let json = String::from_utf8(render_summary_json(&all)).unwrap();
        assert_eq!(
            json.lines().nth(1).unwrap(),
            r#"{"status":"unknown","reason":"the index is read from memory","accesses":3,"example":"common"}"#
        );
    }
}
