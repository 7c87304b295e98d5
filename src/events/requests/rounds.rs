//! How many requests are there in each round of a loop of which several rounds were run in a row?
//!
//! One pass through a loop stands for all its rounds. It may have to be several rounds in a row, because buffers take
//! turns in them, or because only a few rounds together advance by a whole number: `(r * cols + x) / 4`. What is said
//! is said of each round, so that what such a pass counted is shared out among its rounds:
//!
//! | in a pass of two rounds | in each |
//! |---|---|
//! | `a` twice | `a` once |
//! | `a`, then `b` | no number of requests: they stay as they are, and the site says of how many rounds |
//!
//! The first rounds of a loop may have been run one by one before that pass, as the body of `do` ... `while (i < n)` is
//! once. They are rounds like the others: where they request the same, they are not counted besides.

use super::journal::Undo;
use super::{RequestMark, Requests};
use crate::events::Access;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// What is counted by itself: the site, the pattern, the warp, and the innermost loop of unknown length.
pub(super) type Counted = (u32, u32, u32, Option<Span>);

impl Requests {
    /// Counts of the requests noted since the mark those of one round of a loop, of so many, if that comes out even for
    /// all.
    pub(crate) fn share_out(
        &mut self,
        mark: &RequestMark,
        (of, rounds): (Span, u64),
        accesses: &mut [Access],
    ) {
        if rounds < 2 {
            return;
        }
        let since = &mut self.journal[mark.journal..];
        // Of stores that are left out in some of the rounds it is not known how many are left in each.
        let uneven = since.iter().any(|undo| matches!(undo, Undo::LeftOut { .. } | Undo::Anew { .. }));
        let first = first_times(since, accesses);
        let mut noted: FxHashMap<Counted, u64> = first.iter().copied().collect();
        for undo in since.iter() {
            if let Undo::Again { site, pattern, by, warp, within, .. } = undo {
                *noted.entry((*site, *pattern, *warp, *within)).or_default() += by;
            }
        }
        if uneven || noted.values().any(|times| !times.is_multiple_of(rounds)) {
            let sites: BTreeSet<u32> = noted.into_keys().map(|(site, ..)| site).collect();
            return self.note_rounds(sites, (of, rounds), accesses);
        }
        for (&(site, pattern, warp, within), times) in &mut noted {
            let share = *times / rounds;
            accesses[site as usize].patterns[pattern as usize].happens_not(warp, *times - share, within);
            *times = share;
        }
        // What was noted first stands for the rest.
        for (counted, times) in first {
            noted.entry(counted).and_modify(|left| *left = left.saturating_sub(times));
        }
        for undo in since {
            if let Undo::Again { site, pattern, by, warp, within, .. } = undo {
                let left = noted.entry((*site, *pattern, *warp, *within)).or_default();
                *by = (*by).min(*left);
                *left -= *by;
            }
        }
    }

    /// Counts the first rounds of a loop, which were run one by one between two marks, as what one round noted since.
    pub(crate) fn count_first_rounds(
        &mut self,
        (begin, end): (&RequestMark, &RequestMark),
        (of, rounds): (Span, u64),
        accesses: &mut [Access],
    ) {
        let uneven = |undo: &Undo| matches!(undo, Undo::LeftOut { .. } | Undo::Anew { .. });
        if self.journal[begin.journal..].iter().any(uneven) {
            return;
        }
        let (first, later) = self.journal[begin.journal..].split_at_mut(end.journal - begin.journal);
        let (one_by_one, in_pass) = (times(first), times(later));
        let in_each = |request| in_pass.get(request).copied().unwrap_or(0);
        if one_by_one.iter().any(|(request, times)| *times != rounds * in_each(request)) {
            // What only the first rounds do is counted as a whole.
            let again: BTreeSet<u32> = in_pass.into_keys().map(|(site, ..)| site).collect();
            let sites = one_by_one.into_keys().map(|(site, ..)| site).filter(|site| again.contains(site));
            return self.note_rounds(sites.collect(), (of, rounds + 1), accesses);
        }
        for undo in first {
            if let Undo::Pattern { site, pattern, by, warp, within }
            | Undo::Again { site, pattern, by, warp, within, .. } = undo
            {
                let known = &mut accesses[*site as usize].patterns[*pattern as usize];
                known.happens_not(*warp, std::mem::take(by), *within);
            }
        }
    }

    /// Notes of sites of how many rounds of a loop their requests are.
    fn note_rounds(&mut self, sites: BTreeSet<u32>, (of, rounds): (Span, u64), accesses: &mut [Access]) {
        for site in sites {
            let known = &mut accesses[site as usize].rounds;
            if known.iter().all(|(around, _)| *around != of) {
                known.push((of, rounds));
                self.journal.push(Undo::Rounds { site });
            }
        }
    }
}

/// How often each request was noted, by site, pattern and warp.
fn times(noted: &[Undo]) -> FxHashMap<(u32, u32, u32), u64> {
    let mut found = FxHashMap::default();
    for undo in noted {
        if let Undo::Pattern { site, pattern, by, warp, .. } | Undo::Again { site, pattern, by, warp, .. } =
            undo
        {
            *found.entry((*site, *pattern, *warp)).or_default() += by;
        }
    }
    found
}

/// The patterns that were new since some moment, and how often each happened when it was noted: what it did not
/// happen again.
pub(super) fn first_times(since: &[Undo], accesses: &[Access]) -> Vec<(Counted, u64)> {
    let mut new: FxHashMap<u32, u32> = FxHashMap::default();
    let mut again: FxHashMap<(u32, u32), u64> = FxHashMap::default();
    for undo in since {
        match undo {
            Undo::Pattern { site, .. } => *new.entry(*site).or_default() += 1,
            Undo::Again { site, pattern, by, .. } => *again.entry((*site, *pattern)).or_default() += by,
            _ => {}
        }
    }
    let mut found = Vec::new();
    for (site, new) in new {
        let patterns = &accesses[site as usize].patterns;
        let known = patterns.len().saturating_sub(new as usize);
        for (number, pattern) in patterns.iter().enumerate().skip(known) {
            let number = number as u32;
            let within = pattern.within.first().and_then(|(innermost, _)| *innermost);
            let again = again.get(&(site, number)).copied().unwrap_or(0);
            found.push(((site, number, pattern.first_warp, within), pattern.count.saturating_sub(again)));
        }
    }
    found
}
