//! Every shared-memory access and what is known of it: a table for people, an object per line
//! for programs, and counts.

mod summary;

pub use summary::{render_summary, render_summary_json, summary};

use super::table::{table, text_of};
use super::{Place, block_from_word, json, op_word, status_word};
use crate::events::Assumption;
use crate::source::{Sources, Span};
use crate::verdict::{SiteVerdict, StrideTable};
use crate::visible::{one_line, without_commands};
use comfy_table::CellAlignment;
use serde::Serialize;

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
    #[serde(flatten)]
    cost: Cost,
    uncounted_loops: Vec<Loop>,
    rounds: u64,
    table: Option<Stride<'a>>,
}

/// What an access costs, as far as it is known.
#[derive(Serialize)]
struct Cost {
    requests: Option<u64>,
    wavefronts: Option<u64>,
    ideal: Option<u64>,
    usual: Option<u64>,
    worst: Option<u32>,
    worst_ideal: Option<u32>,
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
            cost: Cost {
                requests: verdict.requests,
                wavefronts: verdict.wavefronts,
                ideal: verdict.ideal,
                usual: verdict.usual,
                worst: verdict.worst,
                worst_ideal: verdict.worst_ideal,
            },
            uncounted_loops: verdict.uncounted_loops.iter().map(|span| Loop::of(sources, *span)).collect(),
            rounds: verdict.rounds,
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
        let rounds = match verdict.rounds {
            0 | 1 => "each round".to_owned(),
            many => format!("{many} rounds"),
        };
        format!("in {rounds} of the loop at {file}{}:{}", around.line, around.column)
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

#[cfg(test)]
mod testing;

#[cfg(test)]
mod tests {
    use super::testing::{sources, unknown, verdict};
    use super::*;
    use crate::verdict::Status;

    #[test]
    fn the_table_has_a_row_for_each_verdict_and_no_lines() {
        let sources = sources();
        let known = verdict(&sources, "tile[a]");
        let assumptions = vec![
            Assumption::UsualBlock {
                uniform: true,
                possible: true,
                blocks: crate::events::Blocks::ALL,
                of_grid: false,
            },
            Assumption::MeetsBanksEvenly,
        ];
        let other = SiteVerdict { assumptions, ..unknown(&known, "r") };
        let text = String::from_utf8(render_table(&sources, &[&known, &other])).unwrap();
        let expected = "\
d/a.cu
 at   kernel            block   from    target  op    array  bytes  status   wavefronts  ideal  worst  why
 1:5  transpose<float>  32,8,1  launch  sm_90   load  tile       4  exact           256      8   32/1
 1:5  transpose<float>  32,8,1  launch  sm_90   load  tile       -  unknown           -      -      -  r; the block is not at the edge of the grid; the loop runs often enough to hit all banks evenly
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
            r#""assumptions":["the compiler combines neighbouring accesses of a thread into one of 16 bytes"],"#,
            r#""rests_on":[{"code":"joined","bytes":16,"partly":false}],"reason":null,"#,
            r#""requests":8,"wavefronts":256,"ideal":8,"usual":8,"worst":32,"worst_ideal":1,"#,
            r#""uncounted_loops":[],"rounds":1,"table":null}"#,
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
}
