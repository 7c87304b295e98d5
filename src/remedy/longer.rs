//! With how many elements more in each row do the accesses of an array take the fewest wavefronts?
//!
//! A length counts only when the kernel, run again with it, finds every access of the array at its ideal (or strictly
//! better) on every target asked for, every vector access still aligned, and the block still inside the target's
//! shared memory. Which lengths are worth such a run is told by forecasts, folds over the events of one run.
//!
//! A `wmma` call leaves no other layout than longer rows, as it asks for lines at one distance. Banks repeat after
//! 128 bytes and the call wants lines a multiple of 16 bytes apart, so seven lengths are all that there are:
//!
//! ```text
//! half s[64][16], 8 lines of 16 bytes at a time      wavefronts for each 8 lines
//!     rows of 32 bytes                                2: line 4 lies where line 0 does
//!     rows of 48, 80, 112, 144 bytes                  1: 16 bytes times an odd number
//!     rows of 64, 96, 128 bytes                       4, 2, 8
//! ```
//!
//! Of such an array the length with the fewest wavefronts is told even where one of its accesses takes more than
//! before, as no block does.

use super::{Run, room};
use crate::banks::Target;
use crate::codegen::Merges;
use crate::events::{Access, AccessOp, Array, Pattern, Trace};
use crate::source::Span;
use crate::verdict::{Counted, Judgement, Totals};

/// The most elements up to which each number is tried.
const MOST: u64 = 8;
/// The most bytes up to which powers of two are: they keep half a warp in one row from half a warp in the next.
const HALF_OF_THE_BANKS: u64 = 64;
/// The part of what accesses take that is left, at the most, where some take more than before.
const COSTS_OF: (u64, u64) = (7, 8);
/// Bytes after which banks repeat.
const PERIOD: u64 = 128;
/// Bytes by which the lines of a `wmma` tile may be farther apart.
const LINE_STEP: u64 = 16;

/// A run with longer rows. Only the accesses of their array are in it.
pub(crate) struct Lengthened {
    /// What happened.
    pub trace: Trace,
    /// What the bank model says: by target, then by access of the trace.
    pub judgements: Vec<Vec<Judgement>>,
    /// The most bytes of dynamic shared memory that it is launched with, if known.
    pub dynamic_bytes: Option<u64>,
}

/// The rows of an array, and how they are made longer.
pub(crate) struct Rows<'a> {
    /// The runs as they are.
    pub runs: &'a [Run<'a>],
    /// The targets asked for.
    pub targets: &'a [Target],
    /// The array.
    pub array: &'a Array,
    /// The run of this number, made again with so many elements more in each row.
    pub again: &'a dyn Fn(usize, u64) -> Option<Lengthened>,
    /// What that will most likely be, without a run for each length.
    pub forecast: &'a dyn Fn(usize, u64) -> Option<Lengthened>,
    /// Whether the distance between rows is written in the indices, so that a row has to hold whole accesses.
    pub in_indices: bool,
    /// The runs whose figures are told, where others stand for what is not known: they decide.
    pub told: Option<&'a [usize]>,
    /// Bytes that launches then give the block more, if that is for whoever writes them to see to.
    pub grown: &'a dyn Fn(u64) -> Option<u64>,
}

/// One access of the array in one run on one target.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Site {
    place: (usize, usize, Span, AccessOp),
    wavefronts: u64,
    ideal: u64,
    /// Whether it is nothing to report.
    fine: bool,
    worst: u32,
    /// Bytes per lane of the instruction that the compiler makes of it and its neighbours.
    width: u32,
    /// Whether the compiler makes, or may make, one instruction of it and its neighbours.
    joined: bool,
}

/// What longer rows may cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cost {
    /// Accesses are no longer joined that were.
    Split,
    /// An access takes more wavefronts.
    More,
}

/// The accesses of one array in all runs, on all targets.
pub(crate) struct Sites {
    list: Vec<Site>,
    /// Whether `wmma` calls are among them.
    pub tiles: bool,
}

impl Sites {
    /// `None` when some access of the array is not known.
    pub(crate) fn of(runs: &[Run<'_>], name: Span) -> Option<Sites> {
        let mut sites = Sites { list: Vec::new(), tiles: false };
        runs.iter()
            .enumerate()
            .try_for_each(|(number, run)| sites.add(number, (run.trace, run.judgements), name))?;
        Some(sites)
    }

    /// Adds the accesses of one run; `None` when one of them is not known.
    fn add(&mut self, run: usize, (trace, judged): (&Trace, &[Vec<Judgement>]), name: Span) -> Option<()> {
        let merges = Merges::of(trace);
        for (target, judgements) in judged.iter().enumerate() {
            for (at, (access, judgement)) in trace.accesses.iter().zip(judgements).enumerate() {
                // What only the profiler's page shows is no cost that padding could save.
                if trace.arrays[access.array].name_span == name && !judgement.page_only {
                    let totals = judgement.totals?;
                    // The request that it is a part of is counted where it begins.
                    let (totals, counted) = match judgement.follows {
                        true => (Totals::default(), Counted::default()),
                        false => (totals, judgement.counted(trace, access)),
                    };
                    let place = (run, target, access.span, access.op);
                    let wide = merges.any(at, 0).filter(|wide| !wide.single);
                    self.tiles |= access.tiles.fragment;
                    self.list.push(Site {
                        place,
                        wavefronts: counted.wavefronts,
                        ideal: counted.wavefronts.saturating_sub(counted.extra),
                        fine: totals.wavefronts <= totals.usual,
                        worst: totals.worst.wavefronts,
                        width: wide.map_or(access.bytes.unwrap_or(0), |wide| wide.bytes),
                        joined: wide.is_some(),
                    });
                }
            }
        }
        Some(())
    }

    /// Those of some of the runs, by their numbers.
    pub(crate) fn of_runs(&self, runs: &[usize]) -> Sites {
        let own = |site: &&Site| runs.contains(&site.place.0);
        Sites { list: self.list.iter().filter(own).copied().collect(), tiles: self.tiles }
    }

    pub(crate) fn wavefronts(&self) -> u64 {
        self.list.iter().fold(0, |sum, site| sum.saturating_add(site.wavefronts))
    }

    pub(crate) fn ideal(&self) -> u64 {
        self.list.iter().fold(0, |sum, site| sum.saturating_add(site.ideal))
    }

    /// Whether none of them is to be reported.
    pub(crate) fn are_fine(&self) -> bool {
        self.list.iter().all(|site| site.fine)
    }

    /// Places in the text.
    pub(crate) fn count(&self) -> u64 {
        let mut spans: Vec<(Span, AccessOp)> = Vec::new();
        for (_, _, span, op) in self.list.iter().map(|site| site.place) {
            if !spans.contains(&(span, op)) {
                spans.push((span, op));
            }
        }
        spans.len() as u64
    }

    /// The accesses that take fewer wavefronts than `before`.
    pub(crate) fn helped(&self, before: &Sites) -> Vec<(Span, AccessOp)> {
        let better = before.list.iter().zip(&self.list).filter(|(old, new)| new.wavefronts < old.wavefronts);
        better.map(|(old, _)| (old.place.2, old.place.3)).collect()
    }

    /// What some of them cost more than `before`.
    pub(crate) fn cost(&self, before: &Sites) -> Option<Cost> {
        let pairs = || self.list.iter().zip(&before.list);
        // Accesses that are no longer joined to their neighbours are more instructions.
        if pairs().any(|(new, old)| new.width < old.width) {
            return Some(Cost::Split);
        }
        pairs().any(|(new, old)| new.wavefronts > old.wavefronts).then_some(Cost::More)
    }

    /// Instructions, at the most, that are no part of a wider one any more. Each takes a wavefront at the least.
    pub(crate) fn split_off(&self, before: &Sites) -> u64 {
        let split = self.list.iter().zip(&before.list).filter(|(new, old)| new.width < old.width);
        split.fold(0, |sum, (new, _)| sum.saturating_add(new.wavefronts))
    }

    /// Wavefronts of the worst request, if they are the same everywhere, whatever the compiler joins.
    pub(crate) fn same_worst(&self) -> Option<u32> {
        let first = self.list.first()?.worst;
        self.list.iter().all(|site| site.worst == first && !site.joined).then_some(first)
    }
}

/// The numbers of elements, of so many bytes each, by which rows may be made longer.
pub(super) fn extras(element: u64) -> impl Iterator<Item = u64> {
    let powers = std::iter::successors(Some(2 * MOST), |extra| extra.checked_mul(2));
    (1..=MOST).chain(powers.take_while(move |extra| extra.saturating_mul(element) <= HALF_OF_THE_BANKS))
}

/// The numbers that are tried.
fn lengths(element: u64, tiles: bool) -> Vec<u64> {
    if !tiles {
        return extras(element).collect();
    }
    let fits = |extra: &u64| (extra * element).is_multiple_of(LINE_STEP);
    (1..PERIOD.div_ceil(element.max(1))).filter(fits).collect()
}

/// The length with the fewest wavefronts, and of those the smallest, that was run and found better; `all` stays
/// set if each length was judged.
pub(crate) fn best(rows: &Rows<'_>, before: &Sites, all: &mut bool) -> Option<(u64, Sites)> {
    // Rows that are no multiple of the widest access cannot all be accessed so.
    let widest = before.list.iter().map(|site| u64::from(site.width)).max().unwrap_or(1).max(1);
    let element = rows.array.element_bytes.unwrap_or(1);
    let splits = |extra: u64| rows.in_indices && !extra.saturating_mul(element).is_multiple_of(widest);
    // Forecasts are of use when they know what is known.
    let trusted = matches!(effect(rows, before, None, |run| (rows.forecast)(run, 0)),
        Effect::Known(sites) if sites.list == before.list);
    let guess = |extra| match trusted {
        _ if splits(extra) => Effect::Worse,
        true => effect(rows, before, None, |run| (rows.forecast)(run, extra)),
        false => Effect::Unknown,
    };
    let lengths = lengths(element, before.tiles).into_iter();
    let mut tried: Vec<(u64, Effect)> = lengths.map(|extra| (extra, guess(extra))).collect();
    let mut proved = vec![false; tried.len()];
    let told = |sites: &Sites| rows.told.map(|told| sites.of_runs(told));
    let sum = |sites: &Sites| told(sites).map_or_else(|| sites.wavefronts(), |told| told.wavefronts());
    let is_fine = |sites: &Sites| told(sites).map_or_else(|| sites.are_fine(), |told| told.are_fine());
    let is_ideal = |sites: &Sites| {
        told(sites).map_or_else(|| sites.wavefronts() == sites.ideal(), |it| it.wavefronts() == it.ideal())
    };
    loop {
        *all &= !tried.iter().any(|(_, effect)| matches!(effect, Effect::Apart));
        let rank = |effect: &Effect| match effect {
            Effect::Known(sites) if sum(sites) >= sum(before) => (2, u64::MAX),
            Effect::Known(sites) if is_fine(sites) => (0, sum(sites)),
            // It may be the best.
            Effect::Unknown => (0, 0),
            Effect::Known(sites) | Effect::Costs(sites) => {
                (1, sum(sites).saturating_add(sites.split_off(before)))
            }
            Effect::Worse | Effect::Apart => (2, u64::MAX),
        };
        let at = (0..tried.len()).min_by_key(|&at| rank(&tried[at].1))?;
        let (extra, known) = &mut tried[at];
        if rank(known).0 == 2 {
            return None;
        }
        if proved[at] {
            return match std::mem::replace(known, Effect::Worse) {
                Effect::Known(sites) | Effect::Costs(sites) => Some((*extra, sites)),
                _ => None,
            };
        }
        let grown = (rows.grown)(*extra);
        *known = match effect(rows, before, grown, |run| (rows.again)(run, *extra)) {
            Effect::Unknown => Effect::Apart,
            other => other,
        };
        proved[at] = true;
        // None can be better, and the smaller ones were tried.
        let ideal = matches!(known, Effect::Known(sites) if is_ideal(sites));
        if ideal && (rows.in_indices || !trusted) {
            let Effect::Known(sites) = std::mem::replace(known, Effect::Worse) else { return None };
            return Some((*extra, sites));
        }
    }
}

/// Whether accesses take so much less together that some may take more.
fn is_worth(after: &Sites, before: &Sites) -> bool {
    let after = after.wavefronts().saturating_add(after.split_off(before));
    after.saturating_mul(COSTS_OF.1) <= before.wavefronts().saturating_mul(COSTS_OF.0)
}

/// What longer rows do to the accesses of the array.
enum Effect {
    Known(Sites),
    /// All together take much less, though some of them cost more.
    Costs(Sites),
    /// Not possible, or worse for some access.
    Worse,
    /// Not to be compared: accesses are no longer joined, or others, there is no room for them, or one run takes
    /// more wavefronts and all together take fewer.
    Apart,
    Unknown,
}

/// What a length does, by what `longer` says of each run, if launches give the block `grown` bytes more.
fn effect(
    rows: &Rows<'_>,
    before: &Sites,
    grown: Option<u64>,
    longer: impl Fn(usize) -> Option<Lengthened>,
) -> Effect {
    let name = rows.array.name_span;
    let mut all = Sites { list: Vec::new(), tiles: false };
    let mut costs_a_run = false;
    for (number, run) in rows.runs.iter().enumerate() {
        // A run without the array is as before.
        if find(run.trace, name).is_none() {
            continue;
        }
        let Some(again) = longer(number) else { return Effect::Unknown };
        if !has_room(rows.targets, run.trace, &again, grown) {
            return Effect::Apart;
        }
        if !is_aligned(&again.trace, name) {
            // What is not aligned as it is says nothing of other lengths.
            return if is_aligned(run.trace, name) { Effect::Worse } else { Effect::Apart };
        }
        let known = all.list.len();
        if all.add(number, (&again.trace, &again.judgements), name).is_none() {
            return Effect::Unknown;
        }
        if all.list.len() > before.list.len() {
            return Effect::Apart;
        }
        let pairs = || all.list[known..].iter().zip(&before.list[known..]);
        // Accesses that are no longer joined to their neighbours are more instructions.
        if pairs().any(|(new, old)| new.place != old.place) {
            return Effect::Apart;
        }
        let (then, now) = pairs().fold((0u64, 0u64), |(then, now), (new, old)| {
            (then.saturating_add(new.wavefronts), now.saturating_add(old.wavefronts))
        });
        costs_a_run |= then > now;
    }
    match all.list.len() == before.list.len() {
        true if !costs_a_run => match all.cost(before) {
            Some(Cost::Split) if !is_worth(&all, before) => Effect::Apart,
            Some(Cost::More) if !before.tiles && !is_worth(&all, before) => Effect::Worse,
            Some(cost) if cost == Cost::Split || !before.tiles => Effect::Costs(all),
            _ => Effect::Known(all),
        },
        true if all.wavefronts() >= before.wavefronts() => Effect::Worse,
        _ => Effect::Apart,
    }
}

/// The array that is declared there.
pub(crate) fn find(trace: &Trace, name: Span) -> Option<&Array> {
    trace.arrays.iter().find(|array| array.name_span == name)
}

/// Whether vector accesses and tiles stay aligned.
fn is_aligned(trace: &Trace, name: Span) -> bool {
    let of_array = |a: &&Access| trace.arrays[a.array].name_span == name;
    trace.accesses.iter().filter(of_array).all(|access| {
        let bytes = access.bytes.unwrap_or(1);
        // A type that is less aligned than its size is split by the compiler.
        let natural = bytes.is_power_of_two() && (access.align == 0 || access.align >= bytes);
        let multiple = |offset: i64| offset % i64::from(bytes) == 0;
        let active = |p: &Pattern| (0..32).filter(|lane| p.active >> lane & 1 == 1).collect::<Vec<usize>>();
        (!natural
            || access.patterns.iter().all(|p| {
                p.unit % u64::from(bytes) == 0
                    && active(p).into_iter().all(|lane| {
                        multiple(p.offsets[lane])
                            && p.varying.iter().all(|(_, factors)| multiple(factors[lane]))
                    })
            }))
            && (!access.tiles.fragment || access.tiles.tiles_fit)
    })
}

/// Whether a block of this run stays inside static shared memory.
pub(crate) fn is_possible(targets: &[Target], run: &Run<'_>) -> bool {
    let declared = static_bytes(run.trace);
    targets.iter().all(|target| declared <= u64::from(target.static_shared_limit()))
}

/// Whether the block still fits into shared memory; and where launches give it `grown` bytes more, inside what they may
/// ask for.
fn has_room(targets: &[Target], before: &Trace, run: &Lengthened, grown: Option<u64>) -> bool {
    let declared = static_bytes(&run.trace);
    let Some(grown) = grown else {
        return room::fits(targets, (static_bytes(before), declared), run.dynamic_bytes.unwrap_or(0));
    };
    let given = run.dynamic_bytes.map(|bytes| bytes.saturating_add(grown).saturating_add(declared));
    let most = targets.iter().map(|target| u64::from(target.dynamic_shared_limit())).min();
    given.is_some_and(|bytes| Some(bytes) <= most)
}

fn static_bytes(trace: &Trace) -> u64 {
    trace.arrays.iter().filter(|array| !array.dynamic).map(|array| array.bytes().unwrap_or(0)).sum()
}
