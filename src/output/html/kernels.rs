//! What does the page show of a kernel: its numbers, arrays and accesses?

use super::bank_map::BankMap;
use super::listing::Listing;
use super::ranking::{Counts, Kernels, block};
use super::{Link, code, number, words};
use crate::explanation::{KernelView, SiteView};
use crate::output::{block_from_word, op_word};
use crate::verdict::ROUNDS;
use crate::visible::one_line;
use std::cmp::Reverse;

/// The most accesses of a kernel that are listed.
const MOST_SITES: usize = 60;
/// The most arrays of a kernel that are drawn.
const MOST_ARRAYS: usize = 12;

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

impl Kernels<'_> {
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
            extra: bounded(cost.at_most, cost.estimated.any(), number(cost.extra)),
            total: bounded(false, cost.estimated.any(), number(cost.kernel)),
            share: match cost.extra {
                0 => "–".to_owned(),
                _ => bounded(cost.at_most || cost.unknown > 0, cost.estimated.any(), cost.percent()),
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
            (None, _, true) => "an upper bound: data decide which lanes take part",
            _ => "",
        };
        let note = words(note);
        let (at, code) = (Link::to(self.sources, listing, site.span), code(self.sources, site.span));
        Site { at, code, op: op_word(site.op), wavefronts, extra, note }
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
        notes.push("No kernel is seen to call this device function; it was run by itself.".to_owned());
    }
    let estimated = view.cost.estimated;
    if estimated.any() {
        notes.push(format!(
            "A loop {} counts as {ROUNDS} iterations{}.",
            estimated.which(),
            estimated.fewer()
        ));
    }
    if view.cost.at_most {
        notes.push(
            "A block may skip some of the conflicts: the extra wavefronts are upper bounds.".to_owned(),
        );
    }
    if view.cost.unknown > 0 {
        notes.push("Unknown accesses count as conflict-free.".to_owned());
    }
    notes
}
