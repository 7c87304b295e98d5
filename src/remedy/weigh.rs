//! What do the requests of an array cost in another layout, and what can no layout save?
//!
//! **The bound.** A layout says where bytes lie, not which lanes ask for the same bytes. So whatever it is,
//! lanes that the hardware serves one group after the other take a wavefront for each group, and lanes whose
//! atomics update one word take one for each lane:
//!
//! | request | fewest wavefronts |
//! |---|---|
//! | 32 lanes of 4 bytes, anywhere | 1 |
//! | 32 lanes of 16 bytes, all different | 4: 8 lanes fill the banks |
//! | `atomicExch` of 32 lanes on 4 words, 8 lanes each | 8 |
//!
//! The sum over all requests bounds every layout from below. Two requests may want what no layout gives
//! both, so the best layout may lie above it: that a layout is best is said only where it meets the bound.
//!
//! **What is joined.** Where the compiler makes one wide access of neighbours, another layout may keep it from
//! that. So each is weighed by itself. That is never too little: the lanes of half a warp that read 8 bytes
//! together want as many rows of their fullest bank as they want of it by 4 bytes, and the whole warp wants
//! no fewer in either of the two narrow accesses. The bound is then no bound of what is joined.
//!
//! **What is in registers.** Where some of a pattern's requests were, their number is known and not which of them
//! were made. A layout is then judged only if it lets all of them cost the same.
//!
//! **The cost.** Each lane is sent where the layout puts its bytes, and `banks` is asked again. What is added to
//! all lanes and not known is tried in every phase of the layout's period; the cost has to be the same.

use super::lane::{asked, is_matrix, width};
use super::layout::Layout;
use super::requests::{Request, Requests};
use super::rounds::{Shift, lanes};
use super::worst::{Scattered, Turns};
use super::{Moved, Run, Undecided, Why, room, tiles};
use crate::banks::{AtomicKind, Cost, Target};
use crate::codegen::atomics;
use crate::domain::gcd;
use crate::events::{Access, AccessOp, Array};
use crate::verdict::{Counted, Judgement, moved_cost, whole};
use rustc_hash::FxHashMap;
use std::cell::Cell;
use std::collections::hash_map::Entry;

/// The most phases of one request that are tried.
const MOST_PHASES: u64 = 2048;

/// The places of lanes that are looked at for each request that the banks may be asked about.
const MOST_PLACES: u64 = 256;

/// The requests of an array, to be put into other layouts.
pub(super) struct Scales<'a> {
    pub requests: Requests<'a>,
    targets: &'a [Target],
    /// Bytes that the other arrays that a block declares take, and those that launches give it, at most, by form of the
    /// array.
    others: Vec<(u64, u64)>,
    /// Requests for the banks that may still be asked for.
    left: Cell<u64>,
    /// Places of lanes that may still be looked at.
    places: Cell<u64>,
}

/// What may be added to the offsets of all lanes of a request.
struct Starts {
    /// Each of these, so many times.
    counted: Vec<i64>,
    times: u64,
    /// Any of these instead, which must not change what it costs.
    others: Vec<i64>,
}

/// What a layout costs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Weight {
    pub wavefronts: u64,
    /// By site, then by target.
    pub sites: Vec<Vec<u64>>,
    /// The same, one round for each loop of which it is not known how often it runs.
    pub once: Vec<Vec<u64>>,
    /// The most wavefronts of each request whose lanes are where data say, on all targets.
    pub by_data: Vec<u32>,
}

impl Weight {
    /// The most wavefronts of a request whose lanes are where data say, if there are any.
    pub(super) fn worst_by_data(&self) -> Option<u32> {
        self.by_data.iter().copied().max()
    }

    /// The sum of the most wavefronts of such requests.
    pub(super) fn sum_by_data(&self) -> u64 {
        self.by_data.iter().map(|worst| u64::from(*worst)).sum()
    }
}

/// How far the lines of tiles then are apart, by the site of the call and what it asks for now.
type Distances = FxHashMap<(usize, i64), i64>;

/// What the verdicts say of the layout that is declared.
pub(super) struct Judged {
    pub weight: Weight,
    /// The requests, as the compiler makes them.
    pub requests: u64,
    /// The fewest wavefronts that such requests take, by site and target.
    pub ideal: Vec<Vec<u64>>,
}

impl<'a> Scales<'a> {
    pub(super) fn new(
        requests: Requests<'a>,
        runs: &[Run<'a>],
        targets: &'a [Target],
        steps: u64,
    ) -> Scales<'a> {
        let array = requests.array;
        let other = |it: &&Array| it.name_span != array.name_span && !it.dynamic;
        let of = |run: &Run<'_>| run.trace.arrays.iter().filter(other).filter_map(Array::bytes).sum::<u64>();
        let of_form = |form: usize| {
            let sites = requests.sites.iter().filter(|site| site.form == form);
            let runs = sites.map(|site| &runs[site.run]);
            let given = runs.clone().filter_map(|run| run.dynamic_bytes).max().unwrap_or(0);
            (runs.map(of).max().unwrap_or(0), given)
        };
        let others = (0..requests.forms.len()).map(of_form).collect();
        let places = Cell::new(steps.saturating_mul(MOST_PLACES));
        Scales { requests, targets, others, left: Cell::new(steps), places }
    }

    /// Bytes of the array, in the form of this number.
    pub(super) fn bytes(&self, form: usize) -> u64 {
        let lengths = self.requests.forms.get(form).into_iter().flat_map(|form| &form.lengths);
        lengths.fold(self.requests.element_of(form), |bytes, length| bytes.saturating_mul(*length))
    }

    /// Bytes of an element where a request is of.
    fn element(&self, request: &Request<'_>) -> u64 {
        self.requests.element_of(self.requests.sites[request.site].form)
    }

    /// A layout made for the first form, in each form.
    pub(super) fn in_forms(&self, layout: &Layout) -> Result<Vec<Layout>, Why> {
        let forms = &self.requests.forms;
        let first = forms.first().map_or(&[][..], |form| form.lengths.as_slice());
        // What is one form may be of several lengths.
        let fits = |length: u64| first.len() != 1 || layout.in_instance(first, &[length]).is_some();
        if forms.len() == 1 && !self.requests.lengths_used().all(fits) {
            return Err(Why::Instance);
        }
        let there = forms.iter().map(|form| layout.in_instance(first, &form.lengths));
        there.collect::<Option<Vec<_>>>().ok_or(Why::Instance)
    }

    /// The fewest wavefronts that any layout takes; `None` where some request has no known cost.
    pub(super) fn bound(&self) -> Option<u64> {
        // As what a layout costs is: whole by site and target.
        let mut sites = vec![vec![0u64; self.targets.len()]; self.requests.sites.len()];
        for request in self.costly() {
            let counted = request.weighed(request.times);
            for (sum, target) in sites[request.site].iter_mut().zip(self.targets) {
                let least = least(self.access(request), request, target)?;
                *sum = sum.saturating_add(counted.saturating_mul(least.into()));
            }
        }
        Some(sites.into_iter().flatten().map(whole).sum())
    }

    /// How many requests there are, on all targets.
    pub(super) fn count(&self) -> u64 {
        let all: u64 = self.costly().map(|request| request.weighed(request.times)).sum();
        whole(all).saturating_mul(self.targets.len() as u64)
    }

    /// How many of them are by an index, and not by a call that asks for lines at a distance.
    pub(super) fn indexed(&self) -> u64 {
        let by_index = self.costly().filter(|request| request.tile.is_none());
        let all = by_index.map(|request| request.weighed(request.times)).sum();
        whole(all).saturating_mul(self.targets.len() as u64)
    }

    /// The requests that cost time.
    fn costly(&self) -> impl Iterator<Item = &Request<'a>> {
        self.requests.list.iter().filter(|request| !self.access(request).around)
    }

    fn access(&self, request: &Request<'_>) -> &'a Access {
        self.requests.sites[request.site].access
    }

    /// What a layout costs; nothing is told where that is not less than `most`.
    pub(super) fn weigh(&self, layout: &Layout, most: u64) -> Result<Weight, Why> {
        let limit = self.targets.iter().map(|target| u64::from(target.dynamic_shared_limit())).min();
        let layouts = self.in_forms(layout)?;
        for (form, (layout, (others, given))) in layouts.iter().zip(&self.others).enumerate() {
            let now = self.bytes(form);
            let bytes = layout.bytes(now, self.requests.element_of(form));
            let (before, after) = (now.saturating_add(*others), bytes.saturating_add(*others));
            let fits = match self.requests.array.dynamic {
                true => Some(after) <= limit,
                false => room::fits(self.targets, (before, after), *given),
            };
            if bytes > now && !fits {
                return Err(Why::TooLarge(bytes));
            }
        }
        let mut sites = vec![vec![0u64; self.targets.len()]; self.requests.sites.len()];
        let mut once = sites.clone();
        let mut wavefronts = 0u64;
        let mut doubtful = Vec::new();
        let mut distances = Distances::default();
        // What shared requests cost, by site and pattern.
        let mut shared: FxHashMap<_, Vec<u32>> = FxHashMap::default();
        for request in &self.requests.list {
            let layout = self.of_form(&layouts, request);
            let starts = self.starts(layout, request)?;
            for start in &starts.counted {
                self.keep_tile(layout, request, *start, &mut distances)?;
                let costs = self.costs(layout, request, *start)?;
                let times = match request.shared {
                    false => starts.times,
                    true => match shared.entry((request.site, std::ptr::from_ref(request.pattern))) {
                        Entry::Occupied(known) if *known.get() != costs => return Err(Why::Often),
                        Entry::Occupied(_) => 0,
                        Entry::Vacant(first) => {
                            first.insert(costs.clone());
                            request.times
                        }
                    },
                };
                let counted = request.weighed(times);
                let sums = sites[request.site].iter_mut().zip(&mut once[request.site]);
                for ((sum, once), cost) in sums.zip(&costs) {
                    let all = counted.saturating_mul((*cost).into());
                    *sum = sum.saturating_add(all);
                    *once = once.saturating_add(times.saturating_mul((*cost).into()));
                    wavefronts = wavefronts.saturating_add(all);
                }
                if !starts.others.is_empty() {
                    doubtful.push((request, starts.others.clone(), costs));
                }
            }
            if whole(wavefronts) >= most {
                return Err(Why::NoBetter);
            }
        }
        // Requests that are copies of each other, moved by what is added, see each other's phases.
        let mut tried: FxHashMap<_, Vec<u32>> = FxHashMap::default();
        for (request, others, costs) in doubtful {
            let layout = self.of_form(&layouts, request);
            let known = tried.get(&(request.site, relative(request)));
            match known {
                Some(known) if *known != costs => return Err(Why::Shifted),
                Some(_) => continue,
                None => _ = tried.insert((request.site, relative(request)), costs.clone()),
            }
            for start in others {
                self.keep_tile(layout, request, start, &mut distances)?;
                if self.costs(layout, request, start)? != costs {
                    return Err(Why::Shifted);
                }
            }
        }
        let by_data = self.worst(&layouts)?;
        let sizes: Vec<(u64, u64)> =
            (0..layouts.len()).map(|form| (self.bytes(form), self.requests.element_of(form))).collect();
        self.requests.uncounted.are_spared(&layouts, &sizes)?;
        sites.iter_mut().flatten().for_each(|sum| *sum = whole(*sum));
        Ok(Weight { wavefronts: sites.iter().flatten().sum(), sites, once, by_data })
    }

    /// The most wavefronts of each request whose lanes are where data say.
    fn worst(&self, layouts: &[Layout]) -> Result<Vec<u32>, Why> {
        let of = |request: &Scattered| {
            let site = &self.requests.sites[request.site];
            let layout = layouts.get(site.form).unwrap_or(&Layout::Declared);
            let steps = self.places.get().checked_sub(request.count()).ok_or(Why::Steps)?;
            self.places.set(steps);
            let on = |target: &Target| {
                let turns = Turns::of(site.access, target).ok_or(Why::NoCost)?;
                request.worst(layout, self.requests.element_of(site.form), site.access, turns)
            };
            let mut all = turns_apart(site.access, self.targets).map(on);
            all.try_fold(0, |most: u32, worst| Ok(most.max(worst?)))
        };
        self.requests.by_data.list.iter().map(of).collect()
    }

    /// The layout of the array where a request is of.
    fn of_form<'l>(&self, layouts: &'l [Layout], request: &Request<'_>) -> &'l Layout {
        layouts.get(self.requests.sites[request.site].form).unwrap_or(&Layout::Declared)
    }

    /// The requests as they are in a layout, at the first of the offsets that may be added to all lanes.
    pub(super) fn put_into(&self, layout: &Layout) -> Vec<Moved<'a>> {
        let Ok(layouts) = self.in_forms(layout) else { return Vec::new() };
        let moved = |request: &Request<'a>| {
            let layout = self.of_form(&layouts, request);
            let start = *self.starts(layout, request).ok()?.counted.first()?;
            let offsets = self.moved(layout, self.access(request), request, start).ok()?;
            let site = &self.requests.sites[request.site];
            Some(Moved { way: site.run, number: site.number, pattern: request.pattern, offsets })
        };
        self.requests.list.iter().filter_map(moved).collect()
    }

    /// Sees whether the tile of a request stays one, with lines as far from each other as all others that the call
    /// asks for.
    fn keep_tile(
        &self,
        layout: &Layout,
        request: &Request<'_>,
        start: i64,
        distances: &mut Distances,
    ) -> Result<(), Why> {
        let Some(tile) = &request.tile else { return Ok(()) };
        let access = self.access(request);
        let split = || Why::Split(access.span);
        let lane = lanes(request.pattern.active).next().ok_or_else(split)?;
        let start = request.offsets[lane].checked_add(start).and_then(|at| at.checked_sub(tile.lanes[lane]));
        let moved = start.and_then(|start| {
            tiles::moved(tile, start, layout, self.element(request), access.tiles.tiles_fit)
        });
        let distance = moved.ok_or_else(split)?;
        let known = *distances.entry((request.site, tile.distance)).or_insert(distance);
        if known == distance { Ok(()) } else { Err(split()) }
    }

    /// How far the lines of tiles are apart in a layout: by call, what it asks for now and then, in elements of the
    /// tile.
    pub(super) fn distances(&self, layout: &Layout) -> Vec<(u64, u64)> {
        let Ok(layouts) = self.in_forms(layout) else { return Vec::new() };
        let mut all = Vec::new();
        for request in &self.requests.list {
            let (Some(tile), layout) = (&request.tile, self.of_form(&layouts, request)) else { continue };
            let mut distances = Distances::default();
            let start = self.starts(layout, request).ok().and_then(|starts| starts.counted.first().copied());
            let kept = start.and_then(|start| self.keep_tile(layout, request, start, &mut distances).ok());
            let element = i64::from(tile.element);
            let whole = |bytes: i64| u64::try_from(bytes / element).ok();
            let pair = kept
                .and_then(|()| distances.into_values().next())
                .and_then(|then| Some((whole(tile.distance)?, whole(then)?)));
            all.extend(pair.filter(|pair| !all.contains(pair)));
        }
        all.sort_unstable();
        all
    }

    /// What a request costs, by target, if its lanes are moved by so many bytes before the layout is.
    fn costs(&self, layout: &Layout, request: &Request<'_>, start: i64) -> Result<Vec<u32>, Why> {
        let access = self.access(request);
        let offsets = self.moved(layout, access, request, start)?;
        let cost = |target: &Target| {
            if access.around {
                return Ok(0);
            }
            self.left.set(self.left.get().checked_sub(1).ok_or(Why::Steps)?);
            let cost = moved_cost(access, request.pattern, &offsets, target);
            cost.map(|cost| cost.wavefronts).ok_or(Why::NoCost)
        };
        self.targets.iter().map(cost).collect()
    }

    /// What may be added to the offsets of all lanes.
    fn starts(&self, layout: &Layout, request: &Request<'_>) -> Result<Starts, Why> {
        let step = match &request.shift {
            Shift::Each(values) => {
                let times = request.times / values.len() as u64;
                let even = times * values.len() as u64 == request.times;
                let starts = Starts { counted: values.clone(), times, others: Vec::new() };
                return (even || request.shared).then_some(starts).ok_or(Why::Shifted);
            }
            Shift::Multiple(step) => *step,
        };
        let period = layout.period(self.element(request)).ok_or(Why::Shifted)?;
        let step = gcd(step, period).max(1);
        if period / step > MOST_PHASES {
            return Err(Why::Shifted);
        }
        // So far up that no lane is before the start.
        let lowest = lanes(request.pattern.active).map(|lane| request.offsets[lane]).min().unwrap_or(0);
        let up = (lowest.min(0).unsigned_abs()).next_multiple_of(period);
        let mut starts = (0..period / step).map(|phase| (up + phase * step) as i64);
        let counted = starts.next().into_iter().collect();
        Ok(Starts { counted, times: request.times, others: starts.collect() })
    }

    /// Where the lanes then are. Each access stays in one piece, and as aligned as it was.
    fn moved(
        &self,
        layout: &Layout,
        access: &Access,
        request: &Request<'_>,
        start: i64,
    ) -> Result<[i64; 32], Why> {
        let mut offsets = [0; 32];
        let (width, element) = (width(access), self.element(request));
        let align = if is_matrix(access) { width } else { alignment(access) };
        for lane in lanes(request.pattern.active & asked(access)) {
            let from = request.offsets[lane].checked_add(start).and_then(|at| u64::try_from(at).ok());
            let from = from.ok_or(Why::Shifted)?;
            let to = layout.byte(from, element);
            let unit = layout.unit(element);
            let next = from.next_multiple_of(unit);
            let mut pieces = (next..from + width).step_by(unit as usize);
            let whole = pieces.all(|piece| layout.byte(piece, element) == to + (piece - from));
            if !whole || to.abs_diff(from) % align != 0 {
                return Err(Why::Split(access.span));
            }
            offsets[lane] = to as i64;
        }
        Ok(offsets)
    }

    /// What the layout that is declared costs, as the verdicts say. What is found of it here has to be the same
    /// where nothing is joined.
    pub(super) fn as_judged(&self, runs: &[Run<'_>]) -> Result<Judged, Undecided> {
        let by_data =
            self.requests.by_data.list.first().map(|request| self.requests.sites[request.site].access);
        let cause = |why| match why {
            Why::Split(span) => Undecided::Unknown(span),
            Why::NoCost if by_data.is_some() => {
                Undecided::Unknown(by_data.map_or(self.requests.array.span, |it| it.span))
            }
            Why::Shifted => Undecided::Shifted,
            _ => Undecided::TooMany,
        };
        let found = self.weigh(&Layout::Declared, u64::MAX).map_err(cause)?;
        let (mut requests, mut wavefronts) = (0u64, 0u64);
        let (mut sites, mut ideal) = (Vec::new(), Vec::new());
        for (at, site) in self.requests.sites.iter().enumerate() {
            let run = &runs[site.run];
            let judged: Vec<Option<&Judgement>> =
                run.judgements.iter().map(|judgements| speaks(judgements, site.number)).collect();
            let totals = judged.iter().map(|it| it.and_then(|it| it.totals).unwrap_or_default().wavefronts);
            if !site.joined && !totals.eq(found.once[at].iter().copied()) {
                return Err(Undecided::Often(site.access.span));
            }
            let counted: Vec<Counted> = judged
                .iter()
                .map(|it| it.map(|it| it.counted(run.trace, site.access)).unwrap_or_default())
                .collect();
            requests = counted.iter().fold(requests, |sum, of| sum.saturating_add(of.requests));
            let own: Vec<u64> = match site.joined {
                true => counted.iter().map(|of| of.wavefronts).collect(),
                false => found.sites[at].clone(),
            };
            wavefronts = own.iter().fold(wavefronts, |sum, own| sum.saturating_add(*own));
            // Counted with the access that begins the request.
            let of_others = |it: &&Judgement| it.of_others(run.trace, site.access).1;
            let again = judged.iter().flatten().filter(|_| !site.joined).map(of_others);
            wavefronts = again.fold(wavefronts, u64::saturating_sub);
            ideal.push(own.iter().zip(&counted).map(|(own, of)| own.saturating_sub(of.extra)).collect());
            sites.push(own);
        }
        let by_data = found.by_data;
        Ok(Judged { weight: Weight { wavefronts, sites, once: found.once, by_data }, requests, ideal })
    }
}

/// The judgement on an access by its number, if it has figures that count.
fn speaks(judgements: &[Judgement], number: usize) -> Option<&Judgement> {
    judgements.get(number).filter(|it| !it.page_only && !it.follows && it.totals.is_some())
}

/// Targets of which each lets other things take turns in an access than those before it.
fn turns_apart<'t>(access: &Access, targets: &'t [Target]) -> impl Iterator<Item = &'t Target> {
    let mut known: Vec<Option<Turns>> = Vec::new();
    let of = |target: &&Target| {
        let turns = Turns::of(access, target);
        let is_new = !known.contains(&turns);
        known.extend(is_new.then_some(turns));
        is_new
    };
    targets.iter().filter(of).collect::<Vec<_>>().into_iter()
}

/// Its lanes, and where they lie but for a multiple of what may be added.
fn relative(request: &Request<'_>) -> (u32, [i64; 32]) {
    let Shift::Multiple(step) = request.shift else { return (request.pattern.active, request.offsets) };
    let step = i64::try_from(step).unwrap_or(i64::MAX).max(1);
    let first = lanes(request.pattern.active).next().map_or(0, |lane| request.offsets[lane]);
    let mut offsets = [0; 32];
    for lane in lanes(request.pattern.active) {
        offsets[lane] = request.offsets[lane].wrapping_sub(first - first.rem_euclid(step));
    }
    (request.pattern.active, offsets)
}

/// What the access asks of an address, in bytes; a power of two.
fn alignment(access: &Access) -> u64 {
    let asked = if access.align == 0 { access.bytes.unwrap_or(1) } else { access.align };
    1 << asked.trailing_zeros().min(4)
}

/// The fewest wavefronts that one request takes in any layout.
fn least(access: &Access, request: &Request<'_>, target: &Target) -> Option<u32> {
    let cost = moved_cost(access, request.pattern, &request.offsets, target)?;
    let kind = (access.op == AccessOp::Atomic).then(|| atomics::kind(access, target));
    Some(fewest(&cost, kind, request.pattern.active, &request.offsets))
}

/// The fewest wavefronts of a request with this cost, in any layout; `kind`: of an atomic.
fn fewest(cost: &Cost, kind: Option<AtomicKind>, active: u32, offsets: &[i64; 32]) -> u32 {
    if kind.is_none_or(|kind| kind == AtomicKind::PopulationCount) {
        return cost.ideal;
    }
    let mut words: FxHashMap<i64, u32> = FxHashMap::default();
    lanes(active).for_each(|lane| *words.entry(offsets[lane]).or_default() += 1);
    let together = words.values().copied().max().unwrap_or(1);
    // One lane may do it for all.
    cost.ideal.saturating_mul(together).min(cost.wavefronts)
}

#[cfg(test)]
mod tests;
