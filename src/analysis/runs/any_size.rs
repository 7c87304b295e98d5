//! Which races are there whatever size a type has, or are there none?
//!
//! Of `template <typename T> __global__ void k(T *out) { __shared__ T s[128]; ... }` that nobody instantiates, no byte
//! is known at which two threads meet. Where they meet with a type of each size that is tried, they meet:
//!
//! | | 1 | 2 | 4 | 8 | 16 | told |
//! |---|---|---|---|---|---|---|
//! | `s[t] = x; y = s[127 - t];` | race | race | race | race | race | yes |
//! | `((int *)s)[t] = x; y = s[16 * t];` | none | race | ... | | | no |
//! | `s[t] = x; y = s[t];` | none | none | none | none | none | proved to be none |

use super::Variant;
use crate::events::{Access, AccessOp, Assumption, Trace};
use crate::facts::{Between, Freedom, Race};
use crate::ir::Name;
use crate::source::Span;
use std::collections::BTreeSet;

/// What tells a race in one run from those in another: both accesses, and whether two warps race.
type Key = ([(Span, AccessOp); 2], bool);

/// The races of the runs in which one type has a size that is tried.
#[derive(Default)]
pub(super) struct AnySize {
    name: Option<Name>,
    /// Of the first of them.
    races: Vec<Race>,
    accesses: Vec<Access>,
    /// What races in all of them.
    common: BTreeSet<Key>,
    /// How many there are.
    runs: usize,
    /// Whether other types were tried, too.
    is_mixed: bool,
    /// What all of the proofs that there is none take for granted; `None` if one of them is none.
    proof: Option<Vec<Assumption>>,
}

impl AnySize {
    /// Takes note of a run, with its races and the proof that there are none, if that is asked for.
    pub(super) fn note(
        &mut self,
        variant: &Variant,
        trace: &Trace,
        races: impl FnOnce() -> Vec<Race>,
        proof: impl FnOnce() -> Option<Freedom>,
    ) {
        let [(name, _)] = variant.types.as_slice() else {
            self.is_mixed = true;
            return;
        };
        self.is_mixed |= self.name.replace(name.clone()).is_some_and(|known| known != *name);
        if self.is_mixed || self.runs > 0 && self.common.is_empty() && self.proof.is_none() {
            return;
        }
        let proof = match self.runs == 0 || self.proof.is_some() {
            true => proof().filter(|freedom| freedom.doubts.is_empty()),
            false => None,
        };
        self.proof = proof.map(|freedom| {
            let mut all = self.proof.take().unwrap_or_default();
            all.extend(freedom.assumptions.into_iter().filter(|it| !all.contains(it)).collect::<Vec<_>>());
            all
        });
        let races = races();
        let keys: BTreeSet<Key> = races.iter().filter_map(|race| key(race, &trace.accesses)).collect();
        if self.runs == 0 {
            let accesses = trace.accesses.iter();
            self.accesses = accesses.map(|it| Access { patterns: Vec::new(), ..it.clone() }).collect();
            (self.races, self.common) = (races, keys);
        } else {
            self.common.retain(|key| keys.contains(key));
        }
        self.runs += 1;
    }

    /// The proof that there are none with any size that was tried.
    pub(super) fn proof(&mut self, sizes: &[u32]) -> Option<Freedom> {
        let name = self.name.clone().filter(|_| !self.is_mixed && self.runs >= sizes.len())?;
        let mut assumptions = self.proof.take()?;
        assumptions.push(Assumption::AnySize { name: name.to_string().into(), sizes: sizes.into() });
        Some(Freedom { doubts: Vec::new(), assumptions })
    }

    /// The races of all of them, by the accesses of the trace that was made of them; none if they are too few to speak
    /// for any size.
    pub(super) fn races(self, trace: &Trace, sizes: usize) -> Vec<Race> {
        if self.is_mixed || self.runs < sizes {
            return Vec::new();
        }
        let place = |at: usize| {
            let own = self.accesses.get(at)?;
            let is_same = |it: &Access| {
                (it.span, it.op, it.bytes) == (own.span, own.op, own.bytes) && it.paths == own.paths
            };
            trace.accesses.iter().position(is_same)
        };
        let races = self.races.iter().filter(|race| {
            key(race, &self.accesses).is_some_and(|key| self.common.contains(&key)) && !race.for_data
        });
        let placed = races.filter_map(|race| {
            let (first, second) = (place(race.first)?, place(race.second)?);
            Some(Race { first, second, ..race.clone() })
        });
        placed.collect()
    }
}

fn key(race: &Race, accesses: &[Access]) -> Option<Key> {
    let place = |at: usize| accesses.get(at).map(|access| (access.span, access.op));
    Some(([place(race.first)?, place(race.second)?], race.between == Between::Warps))
}
