//! How many wavefronts can a request with data-dependent lanes take at most?
//!
//! In `h[threadIdx.x][in[i] & 63]` the row is known and the column is a number that the thread read from memory: any
//! of 0 to 63. Each lane then has a set of places, and data choose one for each lane, independently of the others. A
//! bank takes as many wavefronts as there can be lanes with different words of it: a matching of lanes to words. The
//! request costs at most as much as the fullest possible bank:
//!
//! ```text
//! unsigned h[64][64], a warp                 the places of lane l        the most in one bank
//!     h[threadIdx.x][d & 63], d is data      row l, 64 columns           32: all in column 0
//!     h[d & 63][threadIdx.x]                 column l, 64 rows           1: a bank of its own for each lane
//! ```
//!
//! This covers all data, not a sample. Numbers of one thread are assumed to be independent of each other, which makes
//! no request cheaper.

use super::Why;
use super::layout::Layout;
use crate::banks::{AtomicKind, Family, Target};
use crate::codegen::atomics;
use crate::domain::{Lanes, Shape, SymbolId};
use crate::events::{Access, AccessEvent, AccessOp, EventTree};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Lanes of a warp.
const LANES: usize = 32;
/// Banks, of a word each.
const BANKS: u64 = 32;
/// Bytes of a word.
const WORD: u64 = 4;
/// The most places of all lanes of an array's requests.
const MOST_PLACES: usize = 1 << 18;
/// The most sums of a lane that are made on the way to its places.
const MOST_SUMS: usize = 1 << 14;

/// A factor, and the least and the most of the number that it is multiplied with, as far as known.
type Term = (i64, Option<i64>, Option<i64>);

/// A request whose lanes have several places.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Scattered {
    /// Index into the sites.
    pub site: usize,
    /// By active lane: bytes from the start of the array.
    places: Vec<Rc<[u32]>>,
    /// Bytes of an access.
    width: u64,
}

/// The requests of an array whose lanes are where data say.
#[derive(Debug, Default)]
pub(super) struct ByData {
    pub list: Vec<Scattered>,
    /// How many there are in a block, counting one iteration of each loop of unknown trip count.
    pub requests: u64,
    known: FxHashSet<Scattered>,
    places: usize,
}

/// What takes turns in a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turns {
    /// Words that differ.
    Words,
    /// Lanes, each so many times.
    Lanes(u32),
}

impl Turns {
    /// Those of an access; `None` where they are not known.
    pub(super) fn of(access: &Access, target: &Target) -> Option<Turns> {
        if !matches!(target.family(), Family::Modern | Family::Fermi)
            || !matches!(access.bytes, Some(1 | 2 | 4))
            || access.tiles.fragment
        {
            return None;
        }
        match access.op {
            AccessOp::Load | AccessOp::Store => Some(Turns::Words),
            AccessOp::Atomic if access.bytes == Some(4) && target.family() == Family::Modern => {
                match atomics::kind(access, target) {
                    AtomicKind::Integer => Some(Turns::Lanes(1)),
                    AtomicKind::CompareAndSwap => Some(Turns::Lanes(2)),
                    AtomicKind::PopulationCount => Some(Turns::Words),
                    AtomicKind::FloatAdd | AtomicKind::Wide64 | AtomicKind::Emulated => None,
                }
            }
            _ => None,
        }
    }
}

/// Whether data choose the places of some thread.
pub(super) fn is_by_data(event: &AccessEvent) -> bool {
    event.offset.as_ref().is_some_and(|offset| offset.terms.iter().any(|(id, _)| id.is_per_thread()))
}

impl ByData {
    /// Adds the requests of an event, in an array of so many bytes; `None` where the places are not known, or too
    /// many.
    pub(super) fn add(
        &mut self,
        site: usize,
        access: &Access,
        event: &AccessEvent,
        tree: &EventTree,
        (shape, array_bytes, weight): (Shape, u64, u64),
    ) -> Option<()> {
        let offset = event.offset.as_ref()?;
        let width = u64::from(access.bytes?);
        let bases = offset.base.spread(shape);
        let factors = |(id, factor): &(SymbolId, Lanes)| {
            let symbol = tree.symbol(*id)?;
            Some((factor.spread(shape), symbol.low, symbol.high))
        };
        let terms = offset.terms.iter().map(factors).collect::<Option<Vec<_>>>()?;
        let last = array_bytes.checked_sub(width)?;
        // Most lanes differ in nothing but the data.
        let mut of_lanes: FxHashMap<(i64, Vec<Term>), Rc<[u32]>> = FxHashMap::default();
        for warp in 0..shape.threads().div_ceil(LANES) {
            let active = event.threads.warp(warp);
            if active == 0 {
                continue;
            }
            let mut places: Vec<Rc<[u32]>> = Vec::new();
            for lane in (0..LANES).filter(|lane| active >> lane & 1 == 1) {
                let thread = warp * LANES + lane;
                let own: Vec<Term> =
                    terms.iter().map(|(factors, low, high)| (factors[thread], *low, *high)).collect();
                let from = (bases[thread], own);
                let known = match of_lanes.get(&from) {
                    Some(known) => Rc::clone(known),
                    None => {
                        let own = reached(from.0, &from.1, last, width)?;
                        // Lanes that have the same places share them.
                        let same = places.iter().find(|it| ***it == *own).cloned();
                        let own = same.unwrap_or_else(|| own.into());
                        of_lanes.insert(from, Rc::clone(&own));
                        own
                    }
                };
                places.push(known);
            }
            self.requests = self.requests.saturating_add(weight);
            let request = Scattered { site, places, width };
            if self.known.insert(request.clone()) {
                self.places += request.places.iter().map(|places| places.len()).sum::<usize>();
                self.list.push(request);
            }
            if self.places > MOST_PLACES {
                return None;
            }
        }
        Some(())
    }
}

/// The places that a lane reaches, in order: a number, and for each term any multiple of its factor from the least to
/// the most. What is outside of the array is left out: no program that is right goes there.
fn reached(base: i64, terms: &[Term], last: u64, width: u64) -> Option<Vec<u32>> {
    let last = i64::try_from(last).ok()?;
    let mut terms: Vec<Term> = terms.iter().copied().filter(|(factor, ..)| *factor != 0).collect();
    // The one with the most values comes last, when it is known how much room there is.
    let values = |(_, low, high): &Term| low.zip(*high).map_or(u64::MAX, |(low, high)| high.abs_diff(low));
    terms.sort_by_key(values);
    let mut sums = vec![base];
    for (at, &(factor, low, high)) in terms.iter().enumerate() {
        let is_last = at + 1 == terms.len();
        let mut next = Vec::new();
        for sum in &sums {
            // The multiples that stay in the array, in whichever direction they go.
            let (from, to) = match factor > 0 {
                true => (div_up(-sum, factor), (last - sum).div_euclid(factor)),
                false => (div_up(sum - last, -factor), sum.div_euclid(-factor)),
            };
            let (from, to) = match is_last {
                true => (low.map_or(from, |low| low.max(from)), high.map_or(to, |high| high.min(to))),
                false => (low?, high?),
            };
            if to.saturating_sub(from) >= MOST_SUMS as i64 || next.len() > MOST_SUMS {
                return None;
            }
            for value in from..=to {
                next.push(sum.checked_add(factor.checked_mul(value)?)?);
            }
        }
        next.sort_unstable();
        next.dedup();
        sums = next;
    }
    let inside = sums.into_iter().filter(|place| (0..=last).contains(place));
    let places: Vec<u32> = inside.map(u32::try_from).collect::<Result<_, _>>().ok()?;
    let is_whole = places.iter().all(|place| u64::from(*place).is_multiple_of(width));
    (is_whole && !places.is_empty()).then_some(places)
}

fn div_up(value: i64, by: i64) -> i64 {
    -(-value).div_euclid(by)
}

impl Scattered {
    /// How many places its lanes have in all.
    pub(super) fn count(&self) -> u64 {
        self.places.iter().map(|places| places.len() as u64).sum()
    }

    /// The most wavefronts that it takes in a layout, whatever the data are.
    pub(super) fn worst(
        &self,
        layout: &Layout,
        element: u64,
        access: &Access,
        turns: Turns,
    ) -> Result<u32, Why> {
        self.most(layout, element, turns).ok_or(Why::Split(access.span))
    }

    /// The same; `None` where the layout would split an access, or move it where it is not aligned.
    fn most(&self, layout: &Layout, element: u64, turns: Turns) -> Option<u32> {
        // By bank, by lane: the words. Of lanes with many words no more are of use than there are lanes.
        let mut banks: Vec<Vec<Vec<u64>>> = vec![Vec::new(); BANKS as usize];
        for places in &self.places {
            let mut own: Vec<Vec<u64>> = vec![Vec::new(); BANKS as usize];
            for place in places.iter().map(|place| u64::from(*place)) {
                let to = layout.byte(place, element);
                let end = layout.byte(place + self.width - 1, element);
                if end != to + self.width - 1 || !to.is_multiple_of(self.width) {
                    return None;
                }
                let word = to / WORD;
                let known = &mut own[(word % BANKS) as usize];
                if known.len() < LANES && !known.contains(&word) {
                    known.push(word);
                }
            }
            for (bank, words) in banks.iter_mut().zip(own) {
                bank.extend((!words.is_empty()).then_some(words));
            }
        }
        let most = |lanes: &Vec<Vec<u64>>| match turns {
            Turns::Words => matched(lanes),
            Turns::Lanes(times) => (lanes.len() as u32).saturating_mul(times),
        };
        banks.iter().map(most).max()
    }
}

/// To how many lanes words can be given that differ, each one of its own list.
fn matched(lanes: &[Vec<u64>]) -> u32 {
    let mut owner: FxHashMap<u64, usize> = FxHashMap::default();
    let mut count = 0;
    for lane in 0..lanes.len() {
        // The way from this lane over lanes that would have to take another word to a word that is free.
        let mut from: FxHashMap<u64, usize> = FxHashMap::default();
        let mut waiting = vec![lane];
        let mut free = None;
        'search: while let Some(at) = waiting.pop() {
            for word in &lanes[at] {
                if from.contains_key(word) {
                    continue;
                }
                from.insert(*word, at);
                match owner.get(word) {
                    Some(other) => waiting.push(*other),
                    None => {
                        free = Some(*word);
                        break 'search;
                    }
                }
            }
        }
        let Some(mut word) = free else { continue };
        count += 1;
        // Each lane on the way gives its word to the one before it.
        while let Some(&taker) = from.get(&word) {
            let had = owner.iter().find(|(_, lane)| **lane == taker).map(|(word, _)| *word);
            owner.insert(word, taker);
            match had {
                Some(old) if taker != lane => word = old,
                _ => break,
            }
        }
    }
    count
}

#[cfg(test)]
mod tests;
