//! What does a finding look like on the page?

use super::listing::Listing;
use super::picture::Pictures;
use super::ranking::Kernels;
use super::timeline::Timeline;
use super::{Link, Report, number, words};
use crate::diagnostic::{Certainty, Diagnostic};
use crate::explanation::Drawn;
use crate::fixes;
use crate::output::{Place, level_word, page, related};
use crate::rules;
use crate::source::{Sources, Span};
use crate::visible::{lines, one_line};
use rustc_hash::FxHashMap;

/// The most lines of a cause whose requests are drawn.
const MOST_PARTS: usize = 4;

/// What findings are made into cards with.
pub(super) struct Cards<'a> {
    pub report: &'a Report<'a>,
    pub kernels: &'a Kernels<'a>,
    pub listing: &'a Listing<'a>,
}

/// A finding on the page.
pub(super) struct Card {
    pub id: String,
    pub level: &'static str,
    pub rule: &'static str,
    /// The address of the page on the rule, if it has one.
    pub page: Option<String>,
    /// The message, in parts of which every second is code.
    pub message: Vec<String>,
    pub at: Link,
    pub file: String,
    pub kernel: String,
    /// The section of the kernel on the page; may be empty.
    pub kernel_id: String,
    /// For a bank conflict: the extra wavefronts and the share.
    pub cost: Option<(String, String)>,
    pub places: Vec<Spot>,
    pub notes: Vec<Vec<String>>,
    pub helps: Vec<Vec<String>>,
    /// What the option below would do; may be empty.
    pub fix: Vec<String>,
    /// `--fix` or `--unsafe-fixes`.
    pub option: &'static str,
    pub timeline: Option<Timeline>,
    pub shots: Vec<Shot>,
}

/// A line of source that matters to a finding.
pub(super) struct Spot {
    pub at: Link,
    /// The line before, in and behind the span.
    pub code: [String; 3],
    pub words: Vec<String>,
    pub is_own: bool,
}

/// The pictures of one line.
pub(super) struct Shot {
    pub at: Link,
    pub pictures: Pictures,
}

/// By rule, place and message: the pictures.
type Drawings<'a> = FxHashMap<(&'static str, Span, &'a str), &'a Drawn>;

impl Cards<'_> {
    /// The cards, and how many findings have drawings that are left out; `most`: how many may be there.
    pub(super) fn all(&self, findings: &[Diagnostic], most: usize) -> (Vec<Card>, usize) {
        let drawn = self.report.views.iter().flat_map(|view| &view.drawn);
        let drawn: Drawings<'_> = drawn.map(|it| ((it.rule, it.at, it.message.as_str()), it)).collect();
        let (mut room, mut undrawn) = (most, 0);
        let card = |(at, finding)| {
            let mut card = self.card(at, finding);
            let shots = self.shots(finding, &drawn);
            if shots.len() > room {
                undrawn += shots.len();
            } else {
                room -= shots.len();
                card.shots = shots;
            }
            card
        };
        let cards = findings.iter().enumerate().map(card).collect();
        (cards, undrawn)
    }

    fn card(&self, at: usize, finding: &Diagnostic) -> Card {
        let sources = self.report.sources;
        let place = |span| Link::to(sources, self.listing, span);
        let texts = |all: &[String]| all.iter().map(|text| words(text)).collect();
        let sure = finding.conflict.as_ref().is_some_and(|it| it.certainty != Certainty::Possible);
        let cost = finding.cost().filter(|_| sure).map(|cost| (number(cost.extra), cost.percent()));
        let mut places = vec![self.spot(finding.primary, &finding.primary_label, true)];
        places.extend(related(finding).iter().map(|(span, text)| self.spot(*span, text, false)));
        Card {
            id: format!("f{}", at + 1),
            level: level_word(finding.level),
            rule: finding.rule,
            page: rules::find(finding.rule).and_then(page),
            message: words(&finding.message),
            at: place(finding.primary),
            file: one_line(&Place::of(sources, finding.primary).file).into_owned(),
            kernel: one_line(&finding.kernel).into_owned(),
            kernel_id: finding.kernel_at.and_then(|at| self.kernels.id(at)).unwrap_or_default(),
            cost,
            places,
            notes: texts(&finding.notes),
            helps: texts(&finding.helps),
            fix: finding.fix.as_ref().map(|fix| words(&fix.title)).unwrap_or_default(),
            option: match finding.fix.as_ref().and_then(|fix| fixes::why_unsafe(sources, fix)) {
                Some(_) => "--unsafe-fixes",
                None => "--fix",
            },
            timeline: finding.hazard.as_ref().map(|it| Timeline::of(sources, self.listing, it)),
            shots: Vec::new(),
        }
    }

    fn spot(&self, span: Span, text: &str, is_own: bool) -> Spot {
        let at = Link::to(self.report.sources, self.listing, span);
        Spot { at, code: around(self.report.sources, span), words: words(text), is_own }
    }

    /// The pictures of a finding's lines.
    fn shots(&self, finding: &Diagnostic, drawn: &Drawings<'_>) -> Vec<Shot> {
        let of = |part: &Diagnostic| {
            let drawn = drawn.get(&(part.rule, part.primary, part.message.as_str()))?;
            let at = Link::to(self.report.sources, self.listing, part.primary);
            Some(Shot { at, pictures: Pictures::of(&drawn.pictures) })
        };
        let mut shots: Vec<Shot> = finding.each().filter_map(of).take(MOST_PARTS).collect();
        // The layouts are those of the array: alike for all lines.
        shots.iter_mut().skip(1).for_each(|shot| shot.pictures.layouts.clear());
        shots
    }
}

/// The first line of a span: what stands before, in and behind it.
fn around(sources: &Sources, span: Span) -> [String; 3] {
    let file = sources.get(span.file);
    let (start, end) = (span.start as usize, span.end as usize);
    let text = file.text.as_str();
    let before = text.get(..start).and_then(|head| head.rsplit('\n').next()).unwrap_or("");
    let own = text.get(start..end).and_then(|own| own.lines().next()).unwrap_or("");
    let behind = text.get(start + own.len()..).and_then(|rest| rest.lines().next()).unwrap_or("");
    [before.trim_start(), own, behind.trim_end()].map(|part| lines(part).into_owned())
}
