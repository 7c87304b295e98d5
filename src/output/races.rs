//! Which kernels are proved free of races for shared memory, which race, and what is in doubt?
//!
//! A kernel stands once for each run of it: for each instance of a template and each block that somebody gave.
//! Kernels that do not touch shared memory are left out.

use super::{Place, block_from_word, count, json};
use crate::rules::KernelRun;
use crate::rules::standing::{Races, Why, assumptions, standing};
use crate::source::{Sources, Span};
use crate::visible::{one_line, without_commands};
use rustc_hash::FxHashSet;
use serde::Serialize;
use std::fmt::Write as _;
use std::sync::Arc;

/// Reasons that are written of one kernel.
const MOST_REASONS: usize = 3;

/// What is known of one run of a kernel.
#[derive(Debug, Serialize)]
pub struct Row {
    file: String,
    line: usize,
    column: usize,
    kernel: String,
    /// Threads in x, y and z.
    block: [u32; 3],
    block_from: &'static str,
    /// `proved`, `found` or `undecided`.
    races: &'static str,
    /// What a proof takes for granted.
    assumptions: Vec<String>,
    /// The races, or what is in doubt.
    reasons: Vec<Reason>,
    /// A launch that may give another block, of which nothing is said.
    open_launch: Option<At>,
}

/// A race, or a reason for a doubt.
#[derive(Debug, Serialize)]
struct Reason {
    text: String,
    places: Vec<At>,
}

/// A place in the text.
#[derive(Debug, PartialEq, Serialize)]
struct At {
    file: String,
    line: usize,
    column: usize,
}

impl At {
    fn of(sources: &Sources, span: Span) -> At {
        let Place { file, line, column, .. } = Place::of(sources, span);
        At { file, line, column }
    }
}

/// Characters that are quoted of the code, at the most.
const MOST_QUOTED: usize = 60;

/// What is known of each run, in the order of the kernels in the text. Each run comes with the place of its
/// kernel's name.
#[must_use]
pub(crate) fn rows(sources: &Sources, runs: &[&(Span, Arc<KernelRun>)]) -> Vec<Row> {
    let mut all: Vec<Row> = runs.iter().filter_map(|(name, run)| row(sources, *name, run)).collect();
    all.sort_by(|a, b| {
        let key = |it: &Row| (it.file.clone(), it.line, it.column, it.kernel.clone(), it.block);
        key(a).cmp(&key(b))
    });
    let mut seen = FxHashSet::default();
    all.retain(|it| {
        seen.insert((it.file.clone(), it.line, it.column, it.kernel.clone(), it.block, it.races))
    });
    all
}

fn row(sources: &Sources, name: Span, run: &KernelRun) -> Option<Row> {
    let (races, reasons) = standing(run)?;
    let At { file, line, column } = At::of(sources, name);
    let of = |why: Why| {
        let mut places: Vec<At> = why.spans.iter().map(|span| At::of(sources, *span)).collect();
        places.dedup();
        let subject = why.subject.map_or_else(String::new, |span| {
            let text = sources.get(span.file).slice(span).split_whitespace().collect::<Vec<_>>().join(" ");
            match text.chars().count() <= MOST_QUOTED {
                // Of `Object it(x);` that is all that is left.
                _ if text.starts_with(['(', '{']) => "this ".to_owned(),
                true => format!("`{text}` "),
                false => format!("`{}...` ", text.chars().take(MOST_QUOTED).collect::<String>()),
            }
        });
        Reason { text: subject + &why.text, places }
    };
    Some(Row {
        file,
        line,
        column,
        kernel: run.kernel.clone(),
        block: run.block,
        block_from: block_from_word(run.block_from),
        races: match races {
            Races::Proved => "proved",
            Races::Found => "found",
            Races::Undecided => "undecided",
        },
        assumptions: if races == Races::Proved { assumptions(run) } else { Vec::new() },
        reasons: reasons.into_iter().map(of).collect(),
        open_launch: run.open_launch.map(|span| At::of(sources, span)),
    })
}

/// A line for each run, with the reasons below.
#[must_use]
pub fn render_text(rows: &[Row]) -> Vec<u8> {
    let mut out = String::new();
    for it in rows {
        let [x, y, z] = it.block;
        let words = match it.races {
            "proved" => "proved free of races",
            "found" => "race found",
            _ => "not decided",
        };
        let (file, kernel) = (one_line(&it.file), one_line(&it.kernel));
        let _ = writeln!(out, "{file}:{}:{}: {kernel}, block ({x}, {y}, {z}): {words}", it.line, it.column);
        it.assumptions.iter().for_each(|assumed| {
            let _ = writeln!(out, "  assumed: {assumed}");
        });
        let place = |at: &At| match at.file == it.file {
            true => at.line.to_string(),
            false => format!("{}:{}", one_line(&at.file), at.line),
        };
        if let Some(launch) = &it.open_launch {
            let _ = writeln!(
                out,
                "  line {}: this launch may give another block, which is not known",
                place(launch)
            );
        }
        for why in it.reasons.iter().take(MOST_REASONS) {
            let places: Vec<String> = why.places.iter().map(place).collect();
            let lines = match places.as_slice() {
                [] => String::new(),
                [one] => format!("line {one}: "),
                many => format!("lines {}: ", many.join(" and ")),
            };
            let _ = writeln!(out, "  {lines}{}", one_line(&why.text));
        }
        let more = it.reasons.len().saturating_sub(MOST_REASONS);
        if more > 0 {
            let _ = writeln!(out, "  and {}", count(more, "more reason"));
        }
    }
    without_commands(out).into_bytes()
}

/// One JSON object per line.
#[must_use]
pub fn render_json(rows: &[Row]) -> Vec<u8> {
    let mut out = Vec::new();
    rows.iter().for_each(|it| json::push_line(&mut out, it));
    out
}

/// How many stand how.
#[must_use]
pub fn summary(rows: &[Row]) -> String {
    let of = |word: &str| rows.iter().filter(|it| it.races == word).count();
    let all = count(rows.len(), "run");
    format!(
        "{all} of kernels with shared memory: {} proved free of races, {} with a race, {} not decided",
        of("proved"),
        of("found"),
        of("undecided")
    )
}
