//! How many requests does a block make that takes one of several sides?
//!
//! A condition that is the same for all threads, and not known, sends each block one way, and both sides are run. A
//! request that is made on both sides is made on either, so that the side with more of it counts:
//!
//! | on one side | on the other | counted |
//! |---|---|---|
//! | `a` twice | `a` once | `a` twice |
//! | `a` twice, `b` | `a` once | `a` twice, `b` |
//! | `a` twice | `b` | both, which is more than any block makes: it is assumed |
//!
//! A side that ends with `return`, `break` or `continue` is one, and all that the other blocks do up to where those go
//! on is the other.

use super::journal::Undo;
use super::rounds::{Counted, first_times};
use super::{RequestMark, Requests};
use crate::events::{Access, Assumption};
use rustc_hash::{FxHashMap, FxHashSet};

impl Requests {
    /// Counts of the requests on two sides, which begin at the marks, those that one block makes at the most.
    pub(crate) fn keep_most(&mut self, sides: [&RequestMark; 2], accesses: &mut [Access]) {
        let [first, second] = sides.map(|mark| mark.journal);
        if first == second || second >= self.journal.len() {
            return;
        }
        let on_second: FxHashMap<Counted, u64> =
            first_times(&self.journal[second..], accesses).into_iter().collect();
        let mut on_first = first_times(&self.journal[first..], accesses);
        on_first.retain(|(counted, _)| !on_second.contains_key(counted));
        let mut ones = on_first.into_iter().collect();
        let mut others = on_second;
        add_again(&self.journal[first..second], &mut ones);
        add_again(&self.journal[second..], &mut others);
        let has_more = |side: &FxHashMap<Counted, u64>, than: &FxHashMap<Counted, u64>| -> FxHashSet<u32> {
            let more =
                side.iter().filter(|(counted, times)| **times > than.get(counted).copied().unwrap_or(0));
            more.map(|((site, ..), _)| *site).collect()
        };
        let (more, fewer) = (has_more(&ones, &others), has_more(&others, &ones));
        for undo in &mut self.journal[second..] {
            if let Undo::Again { site, pattern, by, warp, within, .. } = undo
                && let Some(left) = ones.get_mut(&(*site, *pattern, *warp, *within))
            {
                let cut = (*by).min(*left);
                accesses[*site as usize].patterns[*pattern as usize].happens_not(*warp, cut, *within);
                *by -= cut;
                *left -= cut;
            }
        }
        for &site in more.intersection(&fewer) {
            let known = &mut accesses[site as usize].assumptions;
            if !known.contains(&Assumption::BothSides) {
                known.push(Assumption::BothSides);
                self.journal.push(Undo::Assumption { site });
            }
        }
    }
}

/// Adds how often patterns happened again.
fn add_again(since: &[Undo], to: &mut FxHashMap<Counted, u64>) {
    for undo in since {
        if let Undo::Again { site, pattern, by, warp, within, .. } = undo {
            *to.entry((*site, *pattern, *warp, *within)).or_default() += by;
        }
    }
}
