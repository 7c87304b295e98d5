//! Which values does the compiler still have in registers?
//!
//! Inside straight code (no barrier, no fence, no round of a loop that stays a loop) a value that was
//! read or written stays in a register until its place may have been written: of
//! `for m: for n: a[m] * b[n]`, unrolled, 8 x 8 products need 16 loads, not 128. Such a read is no
//! request. Seen in the machine code of nvcc 13 for 9.0:
//!
//! | `__shared__ float s[512], r[512]`, in one thread | the second `s[2 * t]` |
//! |---|---|
//! | `a = s[2 * t]; out[t] = a; b = s[2 * t];` | in a register, wherever it stands in the text |
//! | `s[2 * t] = a; b = s[2 * t];` | in a register |
//! | `a = s[2 * t]; r[t] = a; b = s[2 * t];` | in a register: another array |
//! | `a = s[2 * t]; s[2 * t + 1] = a; b = s[2 * t];` | in a register: surely another place |
//! | `a = s[2 * t]; s[t + k] = a; b = s[2 * t];` | read |
//! | `a = s[2 * t]; __syncwarp(); b = s[2 * t];` | read |
//! | `if (t < n) a = s[2 * t]; b = 1; if (t < n) b = s[2 * t];` | read: not all that come here were there |
//! | `volatile float *v = s; a = v[2 * t]; b = v[2 * t];` | read |
//! | `a = s[2 * t]; for (i = 0; i < n; i++) b += s[2 * t + i];` | read: a trip count given at run time |
//! | `a = s[t % 31]; b = s[(t + 31) % 31];` | read: it does not [see](super::sight) that they are one place |
//!
//! Whether a loop is written out is known at its end. Until then, what was read or written in another round of it, or
//! before it, is [perhaps](Still::Perhaps) in a register. Counted on an H200, without any `#pragma`:
//!
//! ```text
//! for (k = 0; k < 8; ++k)                  2 x 8 loads of a, 2 x 8 of b
//!     for (n = 0; n < 2; ++n)
//!         for (m = 0; m < 2; ++m) sum[n][m] += a[k][m * 16 + x] * b[n * 16 + y][k];
//! ```

use super::met::{Kept, Met, distance};
use super::overwritten::Unread;
use crate::domain::{Int, Lanes, SymbolId};
use rustc_hash::{FxHashMap, FxHasher};
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};

/// The values of the straight code at hand.
#[derive(Debug, Default)]
pub(crate) struct Registers {
    /// By the array, and there by a hash of bytes and offset.
    values: FxHashMap<usize, FxHashMap<u64, Vec<Held>>>,
    /// The stores that nothing has read since.
    unread: Unread,
    /// The epoch and region of that code.
    at: (u32, u32),
    /// The branches around that not all threads take, or may not, innermost last.
    branches: Vec<u32>,
    /// Numbers the branches.
    branch: u32,
    /// Numbers the rounds of loops.
    round: u32,
    /// How far apart places of two sites were in one round, in bytes, when that last told them apart.
    distances: FxHashMap<(usize, usize), i128>,
    /// How often two sites were told apart by another distance than in a round before.
    varied: u32,
}

/// A value that was read or written.
#[derive(Debug)]
struct Held {
    /// By what it was.
    by: Kept,
    /// The site that read or wrote it.
    site: usize,
    /// The innermost branch around it; 0 for none.
    branch: u32,
    /// The round of a loop in which that was.
    round: u32,
    /// The region in which that was.
    region: u32,
    /// How often its site had been reached in that region.
    within: u32,
}

/// Whether the compiler still has a value in a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Still {
    /// It has not.
    No,
    /// It has, if the code from the region `since` on is straight, or if the loop around stays one and what is `again`
    /// read, by the same site at the same turn of its round, is so in every round.
    Perhaps { since: u32, again: Option<u32> },
    /// It has.
    Yes,
}

/// Values that are kept for another region.
const MOST_HELD: usize = 128;
/// Values of its array that a write is held against; of more, none is kept.
const MOST_COMPARED: usize = 256;

impl Registers {
    /// Nothing is in a register any more.
    pub(crate) fn forget(&mut self) {
        self.values.clear();
        self.unread.forget();
    }

    /// Something may read any place, or write it at most, or parts the code as a loop does.
    pub(crate) fn may_be_read(&mut self) {
        self.unread.forget();
    }

    /// Something may read any place of an array.
    pub(crate) fn array_may_be_read(&mut self, array: usize) {
        self.unread.forget_array(array);
    }

    /// Notes a store with this number, in this stretch of code without branches. The numbers of those before that it
    /// makes needless.
    pub(crate) fn stored(&mut self, met: &Met<'_>, stretch: u32, number: u32) -> SmallVec<[u32; 2]> {
        self.unread.write(met, stretch, number)
    }

    /// Whether what lies there may be in a register as a whole.
    pub(crate) fn has(&self, array: usize, bytes: u32, offset: &Int) -> bool {
        self.values.get(&array).is_some_and(|held| held.contains_key(&key(bytes, offset)))
    }

    /// A round of a loop begins.
    pub(crate) fn begin_round(&mut self) {
        self.round = self.round.wrapping_add(1);
    }

    /// What is read or written from here on is so in one branch only.
    pub(crate) fn enter_branch(&mut self) {
        self.branch = self.branch.wrapping_add(1);
        self.branches.push(self.branch);
    }

    /// What is read or written from here on is so in these branches, which were left.
    pub(crate) fn enter_again(&mut self, branches: &[u32]) {
        self.branches.extend_from_slice(branches);
    }

    /// The innermost branch.
    pub(crate) fn innermost(&self) -> Option<u32> {
        self.branches.last().copied()
    }

    /// A loop that was entered like a branch ends. In straight code what it read is read for what follows.
    pub(crate) fn leave_loop(&mut self, straight: bool) {
        let (left, here) = (self.branches.pop(), self.branches.last().copied().unwrap_or(0));
        if straight {
            let of_loop = |held: &&mut Held| Some(held.branch) == left;
            self.values
                .values_mut()
                .flat_map(FxHashMap::values_mut)
                .flatten()
                .filter(of_loop)
                .for_each(|held| held.branch = here);
        }
    }

    /// The branch ends.
    pub(crate) fn leave_branch(&mut self) {
        self.branches.pop();
    }

    /// Goes on in the code of this epoch and region: in another epoch nothing is in a register, and in another region
    /// it is only perhaps.
    pub(crate) fn go_on(&mut self, epoch: u32, region: u32) {
        if self.at.0 != epoch {
            self.forget();
        } else if self.at.1 != region {
            self.unread.forget();
            if self.count() > MOST_HELD {
                self.keep_of(self.at.1);
            }
            if self.count() > MOST_HELD {
                self.forget();
            }
        }
        self.at = (epoch, region);
    }

    /// Keeps only what was read or written in this region.
    fn keep_of(&mut self, region: u32) {
        self.values.retain(|_, of_array| {
            of_array.retain(|_, list| {
                list.retain(|held| held.region == region);
                !list.is_empty()
            });
            !of_array.is_empty()
        });
    }

    fn count(&self) -> usize {
        self.values.values().map(FxHashMap::len).sum()
    }

    /// The code from the region `from` on turned out to be straight up to `region`, which begins.
    pub(crate) fn join(&mut self, from: u32, region: u32) {
        let all = self.values.values_mut().flat_map(FxHashMap::values_mut).flatten();
        all.filter(|held| held.region >= from).for_each(|held| held.region = region);
        self.unread.forget();
        self.at.1 = region;
    }

    /// Whether what an access reads is in a register. Notes that it is from here on.
    pub(crate) fn meet(&mut self, met: &Met<'_>) -> Still {
        let here = self.at.1;
        let Met { array, bytes, offset, .. } = *met;
        let known = self.values.entry(array).or_default().entry(key(bytes, offset)).or_default();
        let covers = |held: &Held| {
            let same_site = held.site == met.site;
            (held.by.bytes, held.by.weight) == (bytes, met.weight)
                && (held.branch == 0 || self.branches.contains(&held.branch))
                && (same_site || held.by.doubt.is_none() || held.by.doubt == *met.doubt)
                && (same_site || held.by.iteration == met.iteration || !met.in_loop)
                && met.active.minus(&held.by.active).is_empty()
                && held.by.offset == *offset
                && held.by.offset.sight.hidden == offset.sight.hidden
        };
        let held = || known.iter().filter(|held| met.load && covers(held));
        let since = held().map(|held| held.region).max();
        if since == Some(here) {
            return Still::Yes;
        }
        let again =
            held().any(|held| (held.site, held.within) == (met.site, met.within)).then_some(met.within);
        if met.load {
            self.unread.read(met);
        }
        let branch = self.branches.last().copied().unwrap_or(0);
        // The same of an earlier region says no more.
        known.retain(|held| held.region == here || (held.site, held.branch) != (met.site, branch));
        known.push(Held {
            by: met.kept(),
            site: met.site,
            branch,
            round: self.round,
            region: here,
            within: met.within,
        });
        since.map_or(Still::No, |since| Still::Perhaps { since, again })
    }

    /// Forgets what a write may change: of its array, all that is not surely elsewhere; `met` is a write of a known
    /// place.
    pub(crate) fn written(&mut self, array: usize, met: Option<&Met<'_>>) {
        if met.is_none() {
            self.unread.forget_array(array);
        }
        let Some(values) = self.values.get_mut(&array) else { return };
        let met = met.filter(|_| values.len() <= MOST_COMPARED);
        let (distances, varied, round) = (&mut self.distances, &mut self.varied, self.round);
        let mut is_apart = |held: &Held, met: &Met<'_>| {
            let Some(distance) = distance((&held.by.offset, held.by.bytes), met.target()) else {
                return false;
            };
            if held.round == round {
                let before = distances.insert((held.site, met.site), distance);
                *varied += u32::from(before.is_some_and(|before| before != distance));
            }
            true
        };
        values.retain(|_, list| {
            list.retain(|held| met.is_some_and(|met| is_apart(held, met)));
            !list.is_empty()
        });
    }

    /// How often so far two sites were told apart by another distance than in a round before. In one text for all
    /// rounds of a loop the compiler could not do so.
    pub(crate) fn varied(&self) -> u32 {
        self.varied
    }
}

fn key(bytes: u32, offset: &Int) -> u64 {
    let mut hasher = FxHasher::default();
    let mut add = |lanes: &Lanes| match lanes {
        Lanes::Closed(form) => form.hash(&mut hasher),
        Lanes::Each(values) => values.hash(&mut hasher),
    };
    add(&offset.base);
    offset.terms.iter().for_each(|(_, factor)| add(factor));
    let symbols: Vec<SymbolId> = offset.terms.iter().map(|(id, _)| *id).collect();
    (symbols, bytes).hash(&mut hasher);
    hasher.finish()
}
