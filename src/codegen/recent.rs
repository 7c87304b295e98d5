//! Which accesses may the compiler save because the same place was accessed before?
//!
//! [`registers`](super::registers) tells what surely is in a register: every lane that loads has loaded or stored the
//! same place before, in the same straight-line code. In other code the compiler often saves accesses as well. Seen in
//! the machine code of nvcc 13 for 9.0, for a place that no other thread may write in between:
//!
//! | in one thread | made |
//! |---|---|
//! | `a = q ? s[x] : 0; b = q ? s[x] + 1 : 0;` | one load |
//! | `if (t < n) a = s[x]; b = 1; if (t < n) b = s[x];` | two loads |
//! | `while (s[t] >= 360) s[t] -= 360;` | one load before the loop, one store behind it |
//! | `s[t] = 0; for (...) if (x[i] > s[t]) s[t] = x[i];` | no load |
//! | `for (i = 0; i < n; i++) if (i < m) sum += in[i] - s[0];` | one load before the loop |
//! | `s[t] = 0; if (t < n) s[t] = in[t];` | one store; two for 8.0 and 10.0 |
//! | `s[t] = v; if (c) s[t] += 1; else s[t] -= 1;` | one store, no load |
//! | `pairs[t] = make_float2(a, b); c = pairs[t].x;`, or another type of the same bytes | no load |
//!
//! So such accesses are counted, and say that they may be saved.

use super::met::{Met, Target, behind, distance};
use crate::domain::{Int, ThreadSet};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::rc::Rc;

/// The most places of an array that are remembered.
const MOST: usize = 64;
/// The most stores to one place that are remembered.
const MOST_STORES: usize = 8;

/// The places that were accessed since other threads may last have written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Recent {
    places: Rc<FxHashMap<usize, Vec<Place>>>,
    /// The last moment, by number, at which threads may have waited for others.
    since: u32,
    /// The arrays of which any place may have been written, or all arrays.
    clobbered: Rc<FxHashSet<usize>>,
    all_clobbered: bool,
}

/// A store: the site, the threads that made it, and the innermost branch around it.
type Stored = (usize, ThreadSet, Option<u32>);

#[derive(Clone, Debug, PartialEq)]
struct Place {
    offset: Int,
    bytes: u32,
    /// The threads that accessed it.
    threads: ThreadSet,
    stores: SmallVec<[Stored; 2]>,
    /// The site of its last load.
    load: Option<usize>,
}

impl Place {
    fn target(&self) -> Target<'_> {
        Target { offset: &self.offset, bytes: self.bytes, active: self.threads }
    }

    /// Whether the compiler sees that another access goes to the same place.
    fn is_at(&self, offset: &Int, bytes: u32) -> bool {
        self.bytes == bytes && self.starts_before(offset) == Some(0)
    }

    /// How far the compiler sees another place begin behind this one.
    fn starts_before(&self, offset: &Int) -> Option<i128> {
        behind(&self.offset, Target { offset, bytes: 0, active: self.threads })
    }

    /// Whether the compiler sees that they share no byte.
    fn is_apart(&self, other: Target<'_>) -> bool {
        distance((&self.offset, self.bytes), other).is_some()
    }
}

/// Why the compiler may save an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Saved {
    /// It does not.
    No,
    /// A load, because its place was read or written before.
    Load,
    /// A store, because it may be merged with the one at this site.
    Store(usize),
}

impl Recent {
    /// Other threads may have written any place.
    pub(crate) fn forget(&mut self) {
        self.places = Rc::default();
        self.all_clobbered = true;
    }

    /// Any place of an array may have been written.
    pub(crate) fn forget_array(&mut self, array: usize) {
        if self.places.contains_key(&array) {
            Rc::make_mut(&mut self.places).remove(&array);
        }
        Rc::make_mut(&mut self.clobbered).insert(array);
    }

    /// The loads, as sites and offsets, whose places nothing else in this code may write. None if threads waited for
    /// others after `since`.
    pub(crate) fn fixed_loads(&self, since: u32) -> Vec<(usize, &Int)> {
        let mut found = Vec::new();
        if self.since != since || self.all_clobbered {
            return found;
        }
        for (array, places) in self.places.iter() {
            if self.clobbered.contains(array) {
                continue;
            }
            let stores: Vec<&Place> = places.iter().filter(|it| !it.stores.is_empty()).collect();
            for place in places {
                let Some(site) = place.load else { continue };
                let is_apart = |store: &&Place| std::ptr::eq(*store, place) || place.is_apart(store.target());
                if stores.iter().all(is_apart) {
                    found.push((site, &place.offset));
                }
            }
        }
        found
    }

    /// The pairs of sites that store to the same place, first here, then in what comes `later`.
    pub(crate) fn stores_again(&self, later: &Recent) -> Vec<[usize; 2]> {
        let mut found = Vec::new();
        for (array, of_later) in later.places.iter() {
            for place in self.places.get(array).into_iter().flatten() {
                let same = of_later.iter().filter(|it| it.is_at(&place.offset, place.bytes));
                let again: Vec<usize> = same.flat_map(|it| &it.stores).map(|(site, ..)| *site).collect();
                for (before, ..) in &place.stores {
                    let others = again.iter().filter(|site| *site != before);
                    found.extend(others.map(|site| [*before, *site]));
                }
            }
        }
        found
    }

    /// Adds what an alternative piece of code accessed.
    pub(crate) fn join(&mut self, other: &Recent) {
        // What is older was accessed before threads waited for others.
        if self.since > other.since {
            return;
        }
        self.all_clobbered |= other.all_clobbered;
        if !Rc::ptr_eq(&self.clobbered, &other.clobbered) {
            Rc::make_mut(&mut self.clobbered).extend(other.clobbered.iter());
        }
        if self.since < other.since {
            (self.places, self.since) = (Rc::clone(&other.places), other.since);
            return;
        }
        if Rc::ptr_eq(&self.places, &other.places) {
            return;
        }
        let places = Rc::make_mut(&mut self.places);
        for (array, of_other) in other.places.iter() {
            let of_array = places.entry(*array).or_default();
            for place in of_other {
                let is_full = of_array.len() >= MOST;
                match of_array.iter_mut().find(|it| it.is_at(&place.offset, place.bytes)) {
                    Some(known) => {
                        known.threads = known.threads.or(&place.threads);
                        known.load = place.load.or(known.load);
                        let new = place.stores.iter().filter(|it| !known.stores.contains(it));
                        let new: SmallVec<[Stored; 2]> = new.copied().collect();
                        known.stores.extend(new);
                        known.stores.truncate(MOST_STORES);
                    }
                    None if !is_full => of_array.push(place.clone()),
                    None => {}
                }
            }
        }
    }

    /// Notes an access and says whether the compiler may save it. `since` is the last moment at which threads may have
    /// waited for others, `branch` the innermost branch around the access.
    pub(crate) fn meet(&mut self, met: &Met<'_>, since: u32, branch: Option<u32>) -> Saved {
        if std::mem::replace(&mut self.since, since) != since {
            self.places = Rc::default();
        }
        let places = Rc::make_mut(&mut self.places).entry(met.array).or_default();
        let load = met.load.then_some(met.site);
        let is_there = |place: &Place| place.is_at(met.offset, met.bytes);
        if !met.load {
            places.retain(|it| is_there(it) || it.is_apart(met.target()));
        }
        let Some(place) = places.iter_mut().find(|it| is_there(it)) else {
            let is_held = met.load && are_all_held(places, met);
            if places.len() >= MOST {
                places.clear();
            }
            let stores = (!met.load).then_some((met.site, met.active, branch)).into_iter().collect();
            let (offset, bytes, threads) = (met.offset.clone(), met.bytes, met.active);
            places.push(Place { offset, bytes, threads, stores, load });
            return if is_held { Saved::Load } else { Saved::No };
        };
        let were_there = met.active.minus(&place.threads).is_empty();
        place.threads = place.threads.or(&met.active);
        place.load = load.or(place.load);
        if met.load {
            return if were_there { Saved::Load } else { Saved::No };
        }
        let is_one = |(site, threads, other): &&Stored| {
            *site != met.site && *other != branch && !threads.and(&met.active).is_empty()
        };
        let saved = place.stores.iter().find(is_one).map_or(Saved::No, |(site, ..)| Saved::Store(*site));
        if place.stores.len() < MOST_STORES {
            place.stores.push((met.site, met.active, branch));
        }
        saved
    }
}

/// Whether each byte that an access reads was accessed before, by all its threads and at places that are not its own.
fn are_all_held(places: &[Place], met: &Met<'_>) -> bool {
    let by_all = |it: &&Place| met.active.minus(&it.threads).is_empty();
    let reached = |it: &Place| Some((-it.starts_before(met.offset)?, i128::from(it.bytes)));
    let mut held: SmallVec<[(i128, i128); 8]> = places.iter().filter(by_all).filter_map(reached).collect();
    held.sort_unstable();
    let mut end = 0;
    for (from, bytes) in held {
        if from > end {
            break;
        }
        end = end.max(from + bytes);
    }
    end >= i128::from(met.bytes)
}
