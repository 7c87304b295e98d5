//! Which kernels waste most, on which accesses and arrays?

use super::bank_map::BankMap;
use super::listing::Listing;
use super::{Link, Report, code, number, words};
use crate::explanation::{KernelView, SiteView};
use crate::output::{block_from_word, op_word};
use crate::source::{Sources, Span};
use crate::visible::one_line;
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::path::PathBuf;

/// The most accesses of a kernel that are listed.
const MOST_SITES: usize = 60;
/// The most arrays of a kernel that are drawn.
const MOST_ARRAYS: usize = 12;

/// The kernels, those first that waste most.
pub(super) struct Kernels<'a> {
    sources: &'a Sources,
    /// Each with the number of its conflicts, races and other findings.
    all: Vec<(&'a KernelView, Counts)>,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    conflicts: usize,
    races: usize,
    others: usize,
}

/// A kernel on the page.
pub(super) struct Kernel {
    pub id: String,
    pub name: String,
    pub at: Link,
    pub block: String,
    pub extra: String,
    pub total: String,
    pub share: String,
    /// The share in whole percent, for a bar.
    pub percent: u64,
    pub conflicts: usize,
    pub races: usize,
    pub others: usize,
    pub unknown: usize,
    /// What the numbers rest on, a sentence each.
    pub notes: Vec<String>,
    /// Whether its arrays and accesses follow.
    pub is_told: bool,
    pub arrays: Vec<BankMap>,
    pub more_arrays: usize,
    pub sites: Vec<Site>,
    pub more_sites: usize,
}

/// An access in a kernel's list.
pub(super) struct Site {
    pub at: Link,
    pub code: String,
    pub op: &'static str,
    pub wavefronts: String,
    pub extra: String,
    /// Why the numbers are what they are.
    pub note: Vec<String>,
}

impl<'a> Kernels<'a> {
    pub(super) fn of(report: &Report<'a>) -> Kernels<'a> {
        let Report { sources, findings, views, .. } = *report;
        let place = |span: Span| (sources.get(span.file).path.clone(), span.start);
        let mut all: FxHashMap<(PathBuf, u32), (&'a KernelView, Counts)> = FxHashMap::default();
        for view in views {
            // A header's kernel may be judged for several files: it is shown where it wastes most.
            let (known, _) = all.entry(place(view.at)).or_insert((view, Counts::default()));
            if known.cost.extra < view.cost.extra {
                *known = view;
            }
        }
        for finding in findings {
            let kernel = finding.kernel_at.and_then(|at| all.get_mut(&place(at)));
            let Some((_, counts)) = kernel else { continue };
            match (&finding.conflict, &finding.hazard) {
                (Some(_), _) => counts.conflicts += 1,
                (_, Some(_)) => counts.races += 1,
                _ => counts.others += 1,
            }
        }
        let mut all: Vec<_> = all.into_iter().collect();
        all.sort_by_cached_key(|(at, (view, counts))| {
            let Counts { races, others, .. } = *counts;
            (Reverse(view.cost.extra), Reverse(races), Reverse(others), Reverse(view.cost.kernel), at.clone())
        });
        Kernels { sources, all: all.into_iter().map(|(_, kernel)| kernel).collect() }
    }

    /// The first of them, and how many are left.
    pub(super) fn first(mut self, most: usize) -> (Kernels<'a>, usize) {
        let left = self.all.len().saturating_sub(most);
        self.all.truncate(most);
        (self, left)
    }

    pub(super) fn views(&self) -> impl Iterator<Item = &'a KernelView> {
        self.all.iter().map(|(view, _)| *view)
    }

    /// The name of the section on the kernel that is defined here.
    pub(super) fn id(&self, defined: Span) -> Option<String> {
        let place = |span: Span| (self.sources.get(span.file).path.clone(), span.start);
        let own = place(defined);
        let at = self.all.iter().position(|(view, _)| place(view.at) == own)?;
        Some(format!("k{}", at + 1))
    }

    /// The kernels as the page has them, the first `told` in full.
    pub(super) fn rows(&self, listing: &Listing<'_>, told: usize) -> Vec<Kernel> {
        let all = self.all.iter().enumerate();
        all.map(|(at, (view, counts))| self.row(at, view, *counts, listing, at < told)).collect()
    }

    fn row(
        &self,
        at: usize,
        view: &KernelView,
        counts: Counts,
        listing: &Listing<'_>,
        is_told: bool,
    ) -> Kernel {
        let cost = view.cost;
        let most = if is_told { MOST_ARRAYS } else { 0 };
        let arrays = view.arrays.iter().take(most);
        let arrays = arrays.map(|array| BankMap::of(self.sources, listing, array, view.banks));
        let mut sites: Vec<&SiteView> = view.sites.iter().collect();
        // Stable: what is alike stays in the order in which it was met.
        sites.sort_by_key(|site| Reverse(site.wavefronts.map(|(all, extra)| (extra, all))));
        let shown = sites.iter().take(if is_told { MOST_SITES } else { 0 });
        let shown: Vec<Site> = shown.map(|site| self.site(site, listing)).collect();
        Kernel {
            id: format!("k{}", at + 1),
            name: one_line(&view.name).into_owned(),
            at: Link::to(self.sources, listing, view.at),
            block: block(view.block),
            extra: bounded(cost.at_most, cost.estimated, number(cost.extra)),
            total: bounded(false, cost.estimated, number(cost.kernel)),
            share: match cost.extra {
                0 => "–".to_owned(),
                _ => bounded(cost.at_most || cost.unknown > 0, cost.estimated, cost.percent()),
            },
            percent: (cost.share() * 100.0).round() as u64,
            conflicts: counts.conflicts,
            races: counts.races,
            others: counts.others,
            unknown: cost.unknown,
            notes: notes(view),
            is_told,
            more_arrays: view.arrays.len().saturating_sub(MOST_ARRAYS),
            arrays: arrays.collect(),
            more_sites: sites.len() - shown.len(),
            sites: shown,
        }
    }

    fn site(&self, site: &SiteView, listing: &Listing<'_>) -> Site {
        let (wavefronts, extra) = match site.wavefronts {
            _ if site.is_joined => ("–".to_owned(), "–".to_owned()),
            Some((all, 0)) => (number(all), "–".to_owned()),
            Some((all, extra)) => (number(all), format!("+{}", number(extra))),
            None if site.depends => ("varies".to_owned(), String::new()),
            None => ("?".to_owned(), "?".to_owned()),
        };
        let note = match (&site.reason, site.is_joined, site.is_possible) {
            (Some(reason), ..) => reason,
            (None, true, _) => "counted with a neighbour, or no request of its own",
            (None, _, true) => "at most: data decide which lanes take part",
            _ => "",
        };
        let note = words(note);
        let (at, code) = (Link::to(self.sources, listing, site.span), code(self.sources, site.span));
        Site { at, code, op: op_word(site.op), wavefronts, extra, note }
    }
}

/// `32 × 8`
pub(super) fn block([x, y, z]: [u32; 3]) -> String {
    match (y, z) {
        (1, 1) => x.to_string(),
        (_, 1) => format!("{x} × {y}"),
        _ => format!("{x} × {y} × {z}"),
    }
}

/// A number with a sign that says whether it is a bound or an estimate.
fn bounded(at_most: bool, estimated: bool, text: String) -> String {
    match (at_most, estimated) {
        (true, _) => format!("≤ {text}"),
        (_, true) => format!("≈ {text}"),
        _ => text,
    }
}

fn notes(view: &KernelView) -> Vec<String> {
    let from = block_from_word(view.block_from).replace('_', " ");
    let [x, y, z] = view.block;
    let mut notes = vec![format!(
        "The numbers are those of a block of ({x}, {y}, {z}) on {} (block shape: {from}).",
        view.target
    )];
    if view.is_function {
        notes.push(
            "This is a device function that no kernel was seen to call; it was run by itself.".to_owned(),
        );
    }
    if view.cost.estimated {
        notes.push("A loop of which it is not known how often it runs counts as 8 rounds.".to_owned());
    }
    if view.cost.at_most {
        notes.push(
            "A block may pass by some of the conflicts: the extra wavefronts are at most these.".to_owned(),
        );
    }
    if view.cost.unknown > 0 {
        notes.push("Accesses that are not known count as free of conflicts.".to_owned());
    }
    notes
}
