//! A page for browsers: which kernels waste most, where, and what happens there?
//!
//! One file that asks nothing of the network. All that it says stands in its HTML, so that it can be read,
//! printed and searched without its script; the script adds filters, keys and the steps of the player. The page
//! is bounded ([`MOST_FINDINGS`] and its kin), and says what it leaves out.
//!
//! What others wrote is shown by `visible` and escaped by the templates in `templates/`.

mod bank_map;
mod finding;
mod kernels;
mod listing;
mod picture;
mod ranking;
mod timeline;

use super::{Place, count};
use crate::diagnostic::Diagnostic;
use crate::explanation::KernelView;
use crate::source::{Sources, Span};
use crate::visible::{lines, one_line, without_commands};
use askama::Template;
use finding::{Card, Cards};
use kernels::Kernel;
use listing::{Listing, Sheet};
use ranking::Kernels;
use std::collections::BTreeMap;

/// The most findings on a page.
const MOST_FINDINGS: usize = 1000;
/// The most of them with pictures of their requests.
const MOST_DRAWN: usize = 200;
/// The most kernels in the table.
const MOST_KERNELS: usize = 500;
/// The most of them with their arrays and accesses.
const MOST_TOLD: usize = 100;
/// The most lines of source.
const MOST_LINES: usize = 20_000;

/// What the page is about.
pub(crate) struct Report<'a> {
    /// The files.
    pub sources: &'a Sources,
    /// The findings, in the order in which they are shown.
    pub findings: &'a [Diagnostic],
    /// What there is to be seen of each kernel, in no order.
    pub views: &'a [&'a KernelView],
    /// What was found, in one line.
    pub summary: &'a str,
}

#[derive(Template)]
#[template(path = "report.html")]
struct Page<'a> {
    version: &'static str,
    style: &'static str,
    script: &'static str,
    summary: &'a str,
    left_out: Vec<String>,
    kernels: Vec<Kernel>,
    findings: Vec<Card>,
    sheets: Vec<Sheet>,
    filters: Vec<Filter>,
}

/// A choice by which findings are filtered.
struct Filter {
    /// Which attribute of a finding it looks at.
    key: &'static str,
    label: &'static str,
    /// Values and what they are called.
    options: Vec<(String, String)>,
}

/// The page.
#[must_use]
pub(crate) fn render(report: &Report<'_>) -> Vec<u8> {
    let (kernels, more_kernels) = Kernels::of(report).first(MOST_KERNELS);
    let findings = &report.findings[..report.findings.len().min(MOST_FINDINGS)];
    let listing = Listing::new(report.sources, &kernels, findings, MOST_LINES);
    let (cards, undrawn) = Cards { report, kernels: &kernels, listing: &listing }.all(findings, MOST_DRAWN);
    let left_out = [
        (more_kernels, "kernel"),
        (report.findings.len() - findings.len(), "finding"),
        (undrawn, "drawing"),
        (listing.left_out(), "source line"),
    ];
    let left_out = left_out.iter().filter(|(number, _)| *number > 0);
    let page = Page {
        version: env!("CARGO_PKG_VERSION"),
        style: include_str!("../../templates/report.css"),
        script: concat!(
            include_str!("../../templates/drawings.js"),
            include_str!("../../templates/report.js")
        ),
        summary: report.summary,
        left_out: left_out.map(|(number, what)| count(*number, what)).collect(),
        filters: filters(&cards),
        kernels: kernels.rows(&listing, MOST_TOLD),
        findings: cards,
        sheets: listing.sheets(),
    };
    // A `String` takes every write.
    let page = page.render().unwrap_or_default();
    without_commands(page).into_bytes()
}

/// The filters that have something to choose from.
fn filters(cards: &[Card]) -> Vec<Filter> {
    let of = |key, label, get: &dyn Fn(&Card) -> (String, String)| {
        // The instances of a kernel have names of their own, and are one choice.
        let named = cards.iter().rev().map(get).filter(|(value, _)| !value.is_empty());
        let mut options: Vec<(String, String)> = named.collect::<BTreeMap<_, _>>().into_iter().collect();
        options.sort_by(|one, other| one.1.cmp(&other.1).then(one.0.cmp(&other.0)));
        Filter { key, label, options }
    };
    let same = |text: &str| (text.to_owned(), text.to_owned());
    vec![
        of("level", "Level", &|card| same(card.level)),
        of("rule", "Rule", &|card| same(card.rule)),
        of("kernel", "Kernel", &|card| (card.kernel_id.clone(), card.kernel.clone())),
        of("file", "File", &|card| same(&card.file)),
    ]
}

/// A place of the source, as the page names it.
#[derive(Clone)]
struct Link {
    /// `src/a.cu:12`
    text: String,
    /// Where on the page it is shown, if it is.
    href: Option<String>,
}

impl Link {
    fn to(sources: &Sources, listing: &Listing<'_>, span: Span) -> Link {
        let Place { file, line, .. } = Place::of(sources, span);
        let path = &sources.get(span.file).path;
        Link { text: one_line(&format!("{file}:{line}")).into_owned(), href: listing.anchor(path, line) }
    }
}

/// The text of a span on one line, as far as it can be read there.
fn code(sources: &Sources, span: Span) -> String {
    const MOST: usize = 80;
    let file = sources.get(span.file);
    let words: Vec<&str> = file.slice(span).split_whitespace().collect();
    let text = words.join(" ");
    let shown: String = text.chars().take(MOST).collect();
    let more = if shown.len() < text.len() { "…" } else { "" };
    format!("{}{more}", one_line(&shown))
}

/// `12,345`
fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A text in parts: prose, code, prose, and so on, as its backticks say.
fn words(text: &str) -> Vec<String> {
    let shown = lines(text);
    let parts: Vec<&str> = shown.split('`').collect();
    // Backticks that do not pair are part of the text.
    match parts.len() % 2 {
        1 => parts.into_iter().map(str::to_owned).collect(),
        _ => vec![shown.into_owned()],
    }
}

#[cfg(test)]
mod tests;
