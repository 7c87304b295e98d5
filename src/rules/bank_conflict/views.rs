//! What is said of an array that is used for one thing after the other?
//!
//! Each use may have a layout of its own, as nothing that is written for the one is read for another. So the help of a
//! line is that of the use it is a part of.

use super::super::{Case, listed, plural};
use super::cost::rounds;
use super::spelling::change;
use crate::remedy::{Found, Tried};

/// The most lines that are named.
const MOST_LINES: usize = 6;

/// What to type for one use and all others that are to be laid out alike, what it leaves and what it costs.
pub(super) fn advice(case: &Case<'_>, views: &[Found<'_>], found: &Found<'_>, best: &Tried) -> String {
    let is_alike = |view: &&Found<'_>| {
        view.best().is_some_and(|own| own.layout == best.layout)
            && (&view.distances, view.line_element) == (&found.distances, found.line_element)
    };
    let alike: Vec<&Found<'_>> = views.iter().filter(is_alike).collect();
    let left = |view: &Found<'_>| view.best().and_then(|best| best.wavefronts().ok()).unwrap_or(view.before);
    let sum = |of: &dyn Fn(&Found<'_>) -> u64| alike.iter().map(|view| of(view)).sum::<u64>();
    let (after, before, bound) = (sum(&left), sum(&|view| view.before), sum(&|view| view.bound));
    let at_most = alike.iter().any(|view| view.at_most);
    let most = if at_most { "up to " } else { "" };
    let least = match at_most || alike.iter().any(|view| view.by_data > 0) {
        true => String::new(),
        false if after == bound => "; no layout can take fewer".to_owned(),
        false => format!("; no layout can take fewer than {bound}"),
    };
    let more = alike.iter().filter_map(|view| Some(view.best()?.bytes)).max().unwrap_or(0);
    let bytes = match (more, found.array.dynamic) {
        (0, _) => String::new(),
        (bytes, true) => format!(" (up to {bytes} bytes more at each launch)"),
        (bytes, false) => format!(" (+{bytes} bytes)"),
    };
    format!(
        "{}{}; that takes {most}{} instead of {before}{}{least}{bytes}",
        of_use(case, &alike),
        change(case, found, &best.layout),
        plural(after, "wavefront"),
        rounds(case, found.array),
    )
}

/// Of which uses this is said.
pub(super) fn of_use(case: &Case<'_>, views: &[&Found<'_>]) -> String {
    let name = views.first().map_or("", |view| view.array.name.as_str());
    let uses: Vec<String> = views.iter().map(|view| lines(case, view)).collect();
    let (has, own) = match uses.len() {
        1 => ("a separate use".to_owned(), uses),
        many => (format!("{many} separate uses, one after the other"), uses),
    };
    format!("`{name}` has {has}, at {}: ", own.join(" and at "))
}

/// The lines of a use.
fn lines(case: &Case<'_>, found: &Found<'_>) -> String {
    let mut lines: Vec<String> = Vec::new();
    for (run, number) in found.accesses() {
        let line = (case.line)(case.runs[run].trace.accesses[number].span);
        lines.extend((!lines.contains(&line)).then_some(line));
    }
    let number = |line: &String| line.strip_prefix("line ").map(str::to_owned);
    if let (2.., Some(numbers)) = (lines.len(), lines.iter().map(number).collect::<Option<Vec<_>>>()) {
        lines = numbers;
        lines[0].insert_str(0, "lines ");
    }
    if lines.len() > MOST_LINES {
        let more = plural((lines.len() + 1 - MOST_LINES) as u64, "other");
        lines.truncate(MOST_LINES - 1);
        lines.push(more);
    }
    listed(&lines)
}
