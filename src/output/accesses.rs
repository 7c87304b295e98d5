//! Every shared-memory access and what is known of it: a table for people, an object per line
//! for programs, and counts.

use super::{Place, count, json};
use crate::domain::Reason;
use crate::events::{AccessOp, Assumption};
use crate::shape::BlockFrom;
use crate::source::{Sources, Span};
use crate::verdict::{SiteVerdict, Status, StrideTable};
use crate::visible::{one_line, without_commands};
use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;
use std::collections::BTreeMap;

/// The name of an operation.
#[must_use]
pub fn op_word(op: AccessOp) -> &'static str {
    match op {
        AccessOp::Load => "load",
        AccessOp::Store => "store",
        AccessOp::Atomic => "atomic",
        AccessOp::MatrixLoad => "matrix_load",
        AccessOp::MatrixStore => "matrix_store",
        AccessOp::AsyncCopy => "async_copy",
    }
}

/// The name of a source of block shapes.
#[must_use]
pub fn block_from_word(from: BlockFrom) -> &'static str {
    match from {
        BlockFrom::Directive => "directive",
        BlockFrom::Config => "config",
        BlockFrom::Flag => "flag",
        BlockFrom::Launch => "launch",
        BlockFrom::LaunchBounds => "launch_bounds",
        BlockFrom::Implied => "implied",
        BlockFrom::Default => "default",
    }
}

/// The name of a status.
#[must_use]
pub fn status_word(status: Status) -> &'static str {
    match status {
        Status::Exact => "exact",
        Status::Assumed => "assumed",
        Status::Depends => "depends",
        Status::Unknown => "unknown",
    }
}

const STATUSES: [Status; 4] = [Status::Exact, Status::Assumed, Status::Depends, Status::Unknown];

#[derive(Serialize)]
struct Row<'a> {
    file: String,
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
    kernel: &'a str,
    array: &'a str,
    op: &'a str,
    bytes: Option<u32>,
    block: [u32; 3],
    block_from: &'a str,
    target: &'a str,
    status: &'a str,
    assumptions: Vec<String>,
    rests_on: Vec<RestsOn>,
    reason: Option<&'a str>,
    requests: Option<u64>,
    wavefronts: Option<u64>,
    ideal: Option<u64>,
    usual: Option<u64>,
    worst: Option<u32>,
    worst_ideal: Option<u32>,
    uncounted_loops: Vec<Loop>,
    table: Option<Stride<'a>>,
}

#[derive(Serialize)]
struct Loop {
    file: String,
    line: usize,
    column: usize,
}

/// An assumption as programs read it.
#[derive(Serialize)]
struct RestsOn {
    code: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    partly: Option<bool>,
}

impl RestsOn {
    fn of(assumption: &Assumption) -> RestsOn {
        let (bytes, partly) = match *assumption {
            Assumption::Joined { bytes, partly } => (Some(bytes), Some(partly)),
            Assumption::NotJoined { bytes, .. } | Assumption::ElementSize { bytes, .. } => {
                (Some(bytes), None)
            }
            _ => (None, None),
        };
        RestsOn { code: assumption.code(), bytes, partly }
    }
}

#[derive(Serialize)]
struct Stride<'a> {
    symbols: Vec<Symbol<'a>>,
    rows: Vec<StrideRow<'a>>,
}

#[derive(Serialize)]
struct Symbol<'a> {
    name: &'a str,
    modulus: Option<i64>,
}

#[derive(Serialize)]
struct StrideRow<'a> {
    values: &'a [i64],
    worst: u32,
    worst_ideal: u32,
    at_most: bool,
}

impl Loop {
    fn of(sources: &Sources, span: Span) -> Loop {
        let Place { file, line, column, .. } = Place::of(sources, span);
        Loop { file, line, column }
    }
}

impl<'a> Stride<'a> {
    fn of(table: &'a StrideTable) -> Stride<'a> {
        let symbols = table.symbols.iter().map(|it| Symbol { name: &it.name, modulus: it.modulus });
        let rows = table.rows.iter().map(|row| StrideRow {
            values: &row.values,
            worst: row.wavefronts,
            worst_ideal: row.ideal,
            at_most: row.at_most,
        });
        Stride { symbols: symbols.collect(), rows: rows.collect() }
    }
}

/// The verdicts, one JSON object per line.
#[must_use]
pub fn render_json(sources: &Sources, verdicts: &[&SiteVerdict]) -> Vec<u8> {
    let mut out = Vec::new();
    for verdict in verdicts {
        let Place { file, line, column, end_line, end_column, .. } = Place::of(sources, verdict.span);
        let row = Row {
            file,
            line,
            column,
            end_line,
            end_column,
            kernel: &verdict.kernel,
            array: &verdict.array,
            op: op_word(verdict.op),
            bytes: verdict.bytes,
            block: verdict.block,
            block_from: block_from_word(verdict.block_from),
            target: &verdict.target,
            status: status_word(verdict.status),
            assumptions: verdict.assumptions.iter().map(ToString::to_string).collect(),
            rests_on: verdict.assumptions.iter().map(RestsOn::of).collect(),
            reason: verdict.reason.as_deref(),
            requests: verdict.requests,
            wavefronts: verdict.wavefronts,
            ideal: verdict.ideal,
            usual: verdict.usual,
            worst: verdict.worst,
            worst_ideal: verdict.worst_ideal,
            uncounted_loops: verdict.uncounted_loops.iter().map(|span| Loop::of(sources, *span)).collect(),
            table: verdict.table.as_ref().map(Stride::of),
        };
        json::push_line(&mut out, &row);
    }
    out
}

/// The verdicts as tables, one for each file, in the order given.
#[must_use]
pub fn render_table(sources: &Sources, verdicts: &[&SiteVerdict]) -> Vec<u8> {
    let mut out = String::new();
    let mut rest = verdicts;
    while let Some(first) = rest.first() {
        let path = sources.get(first.span.file).display_path();
        let same = |it: &&&SiteVerdict| sources.get(it.span.file).display_path() == path;
        let (here, later) = rest.split_at(rest.iter().take_while(same).count());
        rest = later;
        let mut table = table(&[
            "at",
            "kernel",
            "block",
            "from",
            "target",
            "op",
            "array",
            "bytes",
            "status",
            "wavefronts",
            "ideal",
            "worst",
            "why",
        ]);
        for verdict in here {
            table.add_row(cells(sources, verdict));
        }
        for right in [7, 9, 10, 11] {
            if let Some(column) = table.column_mut(right) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!("{}\n{}\n", one_line(&path), text_of(&table)));
    }
    without_commands(out).into_bytes()
}

fn cells(sources: &Sources, verdict: &SiteVerdict) -> Vec<String> {
    let number = |value: Option<u64>| value.map_or("-".to_owned(), |value| value.to_string());
    let Place { line, column, .. } = Place::of(sources, verdict.span);
    let [x, y, z] = verdict.block;
    let worst = match (verdict.worst, verdict.worst_ideal) {
        (Some(worst), Some(ideal)) => format!("{worst}/{ideal}"),
        _ => "-".to_owned(),
    };
    let per_round = verdict.uncounted_loops.iter().map(|span| {
        let around = Place::of(sources, *span);
        let here = Place::of(sources, verdict.span).file == around.file;
        let file = if here { String::new() } else { format!("{}:", around.file) };
        format!("in each round of the loop at {file}{}:{}", around.line, around.column)
    });
    let assumed = verdict.assumptions.iter().map(ToString::to_string);
    let why: Vec<String> = verdict.reason.iter().cloned().chain(assumed).chain(per_round).collect();
    vec![
        format!("{line}:{column}"),
        one_line(&verdict.kernel).into_owned(),
        format!("{x},{y},{z}"),
        block_from_word(verdict.block_from).to_owned(),
        verdict.target.clone(),
        op_word(verdict.op).to_owned(),
        one_line(&verdict.array).into_owned(),
        number(verdict.bytes.map(u64::from)),
        status_word(verdict.status).to_owned(),
        number(verdict.wavefronts),
        number(verdict.ideal),
        worst,
        one_line(&why.join("; ")).into_owned(),
    ]
}

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

/// What a kind of reason is called.
#[must_use]
pub fn reason_words(kind: Reason) -> &'static str {
    match kind {
        Reason::DataDependent => "the index is read from memory",
        Reason::NotAffine => "arithmetic on run-time values that is not affine",
        Reason::RunTimeStride => "a value given at run time",
        Reason::UnknownType => "a type or its size is not visible",
        Reason::UnknownFunction => "a function's body is not visible",
        Reason::UnknownName => "a name is not visible",
        Reason::DataDependentMask => "which lanes are active depends on data",
        Reason::LoopCarried => "a variable changes in a loop in a way that is not followed",
        Reason::UnknownPointer => "where a pointer leads is not known",
        Reason::Unsupported => "a language construct that is not modelled",
        Reason::Damaged => "the text did not parse",
        Reason::Hardware => "what the hardware does is not documented or not a fixed number",
        Reason::OutOfBounds => "leaves its array as far as it is followed",
        Reason::Budget => "the analysis ran out of steps",
        Reason::Uninitialized => "a variable is read before it is written",
        Reason::BlockShape => "the block shape, which no launch tells",
        Reason::Compiler => "whether the compiler joins accesses",
        Reason::Undefined => "something that C++ leaves undefined",
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

/// A header that was not found, on which verdicts may rest.
#[derive(Serialize)]
struct NotFound<'a> {
    not_found: &'a str,
    files: usize,
    example: Option<&'a String>,
}

/// Headers that were not found, each with the places where it is included, one JSON object per line.
#[must_use]
pub fn render_not_found_json<'a>(headers: impl Iterator<Item = (&'a str, Vec<String>)>) -> Vec<u8> {
    let mut out = Vec::new();
    for (header, places) in headers {
        let row = NotFound { not_found: header, files: places.len(), example: places.first() };
        json::push_line(&mut out, &row);
    }
    out
}

/// A table without lines around its cells.
#[must_use]
pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_header(header.to_vec());
    table
}

/// The table's lines, without white space at their ends.
#[must_use]
pub fn text_of(table: &Table) -> String {
    table.lines().map(|line| line.trim_end().to_owned()).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    fn verdict(sources: &Sources, at: &str) -> SiteVerdict {
        let file = sources.get(crate::source::FileId(0));
        SiteVerdict {
            span: testing::span(&file.text, file.id, at),
            kernel: "transpose<float>".into(),
            array: "tile".into(),
            op: AccessOp::Load,
            bytes: Some(4),
            block: [32, 8, 1],
            block_from: BlockFrom::Launch,
            target: "sm_90".into(),
            status: Status::Exact,
            assumptions: Vec::new(),
            reason: None,
            kind: None,
            requests: Some(8),
            wavefronts: Some(256),
            ideal: Some(8),
            usual: Some(8),
            worst: Some(32),
            worst_ideal: Some(1),
            uncounted_loops: Vec::new(),
            table: None,
        }
    }

    fn unknown(known: &SiteVerdict, reason: &str) -> SiteVerdict {
        SiteVerdict {
            status: Status::Unknown,
            reason: Some(reason.into()),
            kind: Some(Reason::DataDependent),
            bytes: None,
            requests: None,
            wavefronts: None,
            ideal: None,
            usual: None,
            worst: None,
            worst_ideal: None,
            ..known.clone()
        }
    }

    fn sources() -> Sources {
        testing::finding("d/a.cu", "x = tile[a];\ny = tile[b];\n", "").0
    }

    #[test]
    fn the_table_has_a_row_for_each_verdict_and_no_lines() {
        let sources = sources();
        let known = verdict(&sources, "tile[a]");
        let assumptions =
            vec![Assumption::UsualBlock { uniform: true, possible: true }, Assumption::MeetsBanksEvenly];
        let other = SiteVerdict { assumptions, ..unknown(&known, "r") };
        let text = String::from_utf8(render_table(&sources, &[&known, &other])).unwrap();
        let expected = "\
d/a.cu
 at   kernel            block   from    target  op    array  bytes  status   wavefronts  ideal  worst  why
 1:5  transpose<float>  32,8,1  launch  sm_90   load  tile       4  exact           256      8   32/1
 1:5  transpose<float>  32,8,1  launch  sm_90   load  tile       -  unknown           -      -      -  r; the block is not at the edge of the grid; the loop runs often enough to meet the banks evenly
";
        assert_eq!(text, expected);
    }

    #[test]
    fn json_has_exactly_these_fields() {
        let sources = sources();
        let assumptions = vec![Assumption::Joined { bytes: 16, partly: false }];
        let known = SiteVerdict { assumptions, ..verdict(&sources, "tile[b]") };
        let unknown = unknown(&known, "no");
        let bytes = render_json(&sources, &[&known, &unknown]);
        let text = String::from_utf8(bytes).unwrap();
        let expected = concat!(
            r#"{"file":"d/a.cu","line":2,"column":5,"end_line":2,"end_column":12,"#,
            r#""kernel":"transpose<float>","array":"tile","op":"load","bytes":4,"block":[32,8,1],"#,
            r#""block_from":"launch","target":"sm_90","status":"exact","#,
            r#""assumptions":["the compiler joins neighbouring accesses of a thread into one of 16 bytes"],"#,
            r#""rests_on":[{"code":"joined","bytes":16,"partly":false}],"reason":null,"#,
            r#""requests":8,"wavefronts":256,"ideal":8,"usual":8,"worst":32,"worst_ideal":1,"#,
            r#""uncounted_loops":[],"table":null}"#,
        );
        assert_eq!(text.lines().next().unwrap(), expected);
        let second: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
        assert_eq!(second["reason"], "no");
        for field in ["bytes", "requests", "wavefronts", "ideal", "worst", "worst_ideal"] {
            assert!(second[field].is_null(), "{field}");
        }
    }

    #[test]
    fn json_holds_the_table_of_a_verdict_that_depends() {
        use crate::verdict::{TableRow, TableSymbol};
        let sources = sources();
        let row = |value: i64, wavefronts: u32| TableRow {
            values: vec![value],
            wavefronts,
            ideal: 1,
            ways: wavefronts,
            at_most: false,
        };
        let symbols = vec![TableSymbol { name: "ld".into(), modulus: Some(2) }];
        let table = Some(StrideTable { symbols, rows: vec![row(0, 2), row(1, 1)] });
        let verdict = SiteVerdict { status: Status::Depends, table, ..verdict(&sources, "tile[b]") };
        let text = String::from_utf8(render_json(&sources, &[&verdict])).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let expected = serde_json::json!({
            "symbols": [{"name": "ld", "modulus": 2}],
            "rows": [
                {"values": [0], "worst": 2, "worst_ideal": 1, "at_most": false},
                {"values": [1], "worst": 1, "worst_ideal": 1, "at_most": false},
            ],
        });
        assert_eq!(value["table"], expected);
    }

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
