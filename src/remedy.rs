//! Which other layout of an array takes the fewest wavefronts, and is that proved?
//!
//! All requests of an array are put into each layout of a family ([`layout`]) and weighed ([`weigh`]). A bound holds
//! for every layout. The search ends at the first layout that reaches it:
//!
//! ```text
//! float tile[32][32], a block of 32 x 32: rows written, columns read
//!     as declared                  32 + 1024 wavefronts
//!     no layout can take fewer     32 + 32
//!     tile[32][33]                 32 + 32: the best there is, for 128 bytes
//!     tile[r][c ^ (r & 31)]        32 + 32: too, for 2 operations an access
//! ```
//!
//! Layouts that leave the indices as they are come first, then skews, then exclusive ors and rotations. Extra
//! operations in an index count against a layout ([`PER_WAVEFRONT`]). If something about an array is unknown, there
//! is no remedy, only the reason.
//! How many elements longer rows get is decided apart ([`longer`]), as that is checked by running the kernel again.

mod family;
mod interleaved;
mod lane;
mod layout;
pub(crate) mod longer;
mod requests;
mod room;
mod rounds;
mod same;
mod tiles;
mod uncounted;
mod views;
mod weigh;
mod wider;
mod worst;

use crate::banks::Target;
use crate::events::{Access, Array, Pattern, Trace};
use crate::source::Span;
use crate::verdict::Judgement;
pub(crate) use interleaved::{Combined, Seen, Sequential, sequential};
pub(crate) use layout::{Layout, Term, is_part_of_index, row_bits};
use requests::Requests;
use rustc_hash::FxHashSet;
pub(crate) use same::{finds_the_same, move_with_rows};
use weigh::{Judged, Scales, Weight};
pub(crate) use wider::wider;

/// Simple integer instructions of a warp that take as long as a wavefront. An SM of compute capability 5.x and
/// newer does 64 or 128 of them for 32-bit integers in a clock: 2 or 4 warps. It serves one wavefront in a clock.
/// The lower number holds for 7.x to 9.x.
pub(crate) const PER_WAVEFRONT: u64 = 2;

/// Requests that the banks are asked about in one search.
const STEPS: u64 = 20_000;

/// The most accesses of an array whose costs are left out of a search.
const MOST_UNCOUNTED: usize = 16;

/// A run of a kernel.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    /// What happened.
    pub trace: &'a Trace,
    /// What the bank model says: by target, then by access of the trace.
    pub judgements: &'a [Vec<Judgement>],
    /// Threads in x, y and z.
    pub block: [u32; 3],
    /// The most bytes of dynamic shared memory that it is launched with, if known.
    pub dynamic_bytes: Option<u64>,
    /// The number of the run of which it is one of several ways, and what happened there; or its own.
    pub of: (usize, &'a Trace),
}

impl Run<'_> {
    /// The access of that run that one of this is, by its number.
    fn number_there(&self, access: usize) -> Option<usize> {
        let (_, there) = self.of;
        let key = |trace: &Trace, it: &Access| (it.span, it.op, trace.arrays[it.array].name_span);
        let own = key(self.trace, self.trace.accesses.get(access)?);
        there.accesses.iter().position(|it| key(there, it) == own)
    }
}

/// An access in one way to run the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    /// Of which way.
    way: usize,
    /// The run that it is a way of.
    run: usize,
    /// The number of the access among those of that run.
    number: usize,
}

/// Why no layout is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Undecided {
    /// What this access costs is not known.
    Unknown(Span),
    /// This access leaves the array.
    Outside(Span),
    /// This access is of a `wmma` call, whose rows are at a distance from each other that is not known.
    Fragment(Span),
    /// How often each request of this access happens is not known.
    Often(Span),
    /// The distance between the lanes of this access depends on a number given at run time, of this name.
    Varying(Span, String),
    /// The array's length is given at the launch, if it is `dynamic`, or is not known.
    Length { dynamic: bool },
    /// Another array lies in the same dynamic shared memory.
    Overlaid(String),
    /// Instances of the kernel differ in the elements of an array of dynamic memory, or one of them is not known.
    Instances,
    /// The kernel was run in several ways, over which the verdicts are taken together.
    SeveralWays,
    /// This access is not seen to stay in the row that its index names.
    Rows(Span),
    /// This access goes by a type that says itself how long rows are.
    OwnRows(Span),
    /// What a request costs depends on an offset given at run time.
    Shifted,
    /// There are too many requests.
    TooMany,
    /// This access is not by an index of the array.
    Recast(Span),
    /// Another kernel, of this name, may use the array too.
    AlsoUsed(Span),
}

impl Undecided {
    /// The access that keeps layouts from being judged by its cost. Its elements may change places all the same.
    fn access(&self) -> Option<Span> {
        match self {
            Undecided::Unknown(span) | Undecided::Often(span) | Undecided::Varying(span, _) => Some(*span),
            _ => None,
        }
    }
}

/// Why a layout is not judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// It takes so many bytes, more than the block's other arrays leave.
    TooLarge(u64),
    /// It would split this access, or move it where it is not aligned.
    Split(Span),
    /// What it costs depends on an offset that is not known.
    Shifted,
    /// Requests would differ in their cost of which it is not known how often each happens.
    Often,
    /// A request would be of a kind whose cost is not known.
    NoCost,
    /// It takes no fewer wavefronts than the layout that is declared.
    NoBetter,
    /// It is no layout of the array as some instance of the kernel has it.
    Instance,
    /// A run of the kernel takes more wavefronts with it.
    WorseThere,
    /// A request whose lanes are where data say could take more wavefronts with it.
    WorseByData,
    /// Lanes of this access, whose cost is not counted, would want more words of one bank.
    WorseUncounted(Span),
    /// The search has been long enough.
    Steps,
}

/// A layout that was tried.
#[derive(Clone, Debug)]
pub(crate) struct Tried {
    /// The layout.
    pub layout: Layout,
    /// Bytes that the array takes more, at most.
    pub bytes: u64,
    /// Integer operations that each access takes more.
    pub operations: u32,
    /// The wavefronts of all runs on all targets, and by site; or why they are not told.
    weight: Result<Weight, Why>,
}

/// A request in another layout.
#[derive(Clone, Debug)]
pub(crate) struct Moved<'a> {
    /// Of which way to run the kernel.
    pub way: usize,
    /// Of which access of its trace.
    pub number: usize,
    /// As it is declared.
    pub pattern: &'a Pattern,
    /// Bytes from the start of the array, by lane, as it then is.
    pub offsets: [i64; 32],
}

/// What a search found.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    /// The array.
    pub array: &'a Array,
    /// Its lengths in each dimension, outermost first, in elements: one for each that instances of the kernel
    /// give it. Of an array that is sized at launch, what its accesses tell, or else each launch.
    pub forms: Vec<Vec<u64>>,
    /// The wavefronts of the layout that is declared, of all runs on all targets.
    pub before: u64,
    /// The fewest that any layout takes, if each access stays one by itself.
    pub bound: u64,
    /// Whether the compiler makes, or may make, one access of some and their neighbours, or data decide which
    /// lanes do some: then a layout takes at most what is said, and the bound is none.
    pub at_most: bool,
    /// Whether some reads make no request, as what they read is in a register. With another index the compiler
    /// may not see that it still is: a store in between may be to the same element, for all it knows.
    pub in_registers: bool,
    /// How many requests there are.
    pub requested: Requested,
    /// How many requests there are whose lanes are where data say, on all targets; what they cost is in no sum.
    pub by_data: u64,
    /// Accesses whose cost is in no sum, since it is not known. Then no bound is told.
    pub uncounted: Vec<Span>,
    /// The layouts that were tried, in order; the first is the one that is declared.
    pub tried: Vec<Tried>,
    /// The best of those that are worth it.
    best: Option<usize>,
    /// A layout in which no request conflicts whose lanes are where data say, though others may take more than now:
    /// its name stands for what to weigh against the best, in which such requests may.
    pub for_data: Option<Tried>,
    /// How many uses the array has, one after the other, of which this is one.
    pub views: usize,
    /// Bytes of an element as `wmma` calls see it, if there are such calls and they agree.
    pub line_element: Option<u64>,
    /// How far the lines that `wmma` calls ask for are apart, in their elements: as it is, and in the best layout.
    pub distances: Vec<(u64, u64)>,
    /// The requests, put into the best layout.
    pub moved: Vec<Moved<'a>>,
    /// By site.
    sites: Vec<Place>,
    /// How many ways to run the kernel access it, if verdicts are over more of them than there are runs.
    pub ways: Option<usize>,
    /// The fewest wavefronts that the requests take which the compiler makes now, by site and target.
    ideal: Vec<Vec<u64>>,
}

/// How many requests the accesses of an array make.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Requested {
    /// How many requests there are if each access stays one by itself.
    pub requests: u64,
    /// How many of them are by an index; others are of `wmma` calls, which ask for lines at a distance.
    pub indexed: u64,
    /// And as the compiler makes them now.
    now: u64,
}

/// The wavefronts of an array in one run of the kernel, on all targets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct OfRun {
    /// Its number.
    pub run: usize,
    /// With a layout.
    pub after: u64,
    /// As few as the requests of now can take.
    pub ideal: u64,
}

impl Tried {
    /// The wavefronts of all runs on all targets, or why they are not told.
    pub(crate) fn wavefronts(&self) -> Result<u64, Why> {
        self.weight.as_ref().map(|weight| weight.wavefronts).map_err(|why| *why)
    }
}

impl Found<'_> {
    /// Whether a layout that meets the bound is proved to be the best.
    pub(crate) fn is_proved(&self) -> bool {
        !self.at_most && self.by_data == 0 && self.uncounted.is_empty()
    }

    /// The best layout that is worth what its index takes more.
    pub(crate) fn best(&self) -> Option<&Tried> {
        self.tried.get(self.best?)
    }

    /// The layout with the fewest wavefronts, if it has fewer than the one that is declared.
    pub(crate) fn fewest(&self) -> Option<&Tried> {
        let known = self.tried.iter().filter_map(|it| Some((it.wavefronts().ok()?, it)));
        let fewest = known.min_by_key(|(wavefronts, it)| (*wavefronts, it.operations, it.bytes))?;
        (fewest.0 < self.before).then_some(fewest.1)
    }

    /// What a layout costs, in operations: its wavefronts, what its index takes more, and the instructions that
    /// are no longer joined, each of which counts as a wavefront.
    pub(crate) fn price(&self, tried: &Tried) -> Option<u64> {
        let apart = self.requested.requests.saturating_sub(self.requested.now);
        let indexed = self.requested.indexed.saturating_add(self.by_data);
        let operations = indexed.saturating_mul(tried.operations.into());
        let wavefronts = tried.wavefronts().ok()?.saturating_add(apart);
        Some(wavefronts.saturating_mul(PER_WAVEFRONT).saturating_add(operations))
    }

    /// Whether a layout is worth what its index takes more.
    pub(crate) fn is_worth(&self, tried: &Tried) -> bool {
        self.price(tried).is_some_and(|price| price < self.before.saturating_mul(PER_WAVEFRONT))
    }

    /// Whether a layout whose index takes so many operations more could be worth it.
    fn could_be_worth(&self, operations: u64) -> bool {
        let apart = self.requested.requests.saturating_sub(self.requested.now);
        let least = self.bound.saturating_add(apart).saturating_mul(PER_WAVEFRONT);
        let indexed = self.requested.indexed.saturating_add(self.by_data);
        let price = least.saturating_add(indexed.saturating_mul(operations));
        price < self.before.saturating_mul(PER_WAVEFRONT)
    }

    /// Whether no run takes more wavefronts on some target than it does now, if instances of the kernel give
    /// the array several dimensions: a text that serves one of them may not cost another.
    fn spares_every_run(&self, weight: &Weight) -> bool {
        let Some(Ok(now)) = self.tried.first().map(|first| &first.weight) else { return true };
        let ways: FxHashSet<usize> = self.sites.iter().map(|site| site.way).collect();
        self.forms.len() < 2 && self.ways.is_none()
            || ways.into_iter().all(|way| {
                let of_way = |sites: &[Vec<u64>]| self.sums(&|site| site.way == way, sites);
                let (now, then) = (of_way(&now.sites), of_way(&weight.sites));
                now.iter().zip(&then).all(|(now, then)| then <= now)
            })
    }

    /// Whether no request whose lanes are where data say could take more wavefronts than it could now.
    fn spares_data(&self, weight: &Weight) -> bool {
        let Some(Ok(now)) = self.tried.first().map(|first| &first.weight) else { return true };
        now.by_data.iter().zip(&weight.by_data).all(|(now, then)| then <= now)
    }

    /// The most wavefronts of a request whose lanes are where data say, as declared and with a layout.
    pub(crate) fn worst_by_data(&self, tried: &Tried) -> Option<(u32, u32)> {
        let now = self.tried.first()?.weight.as_ref().ok()?.worst_by_data()?;
        Some((now, tried.weight.as_ref().ok()?.worst_by_data()?))
    }

    /// Sums over some sites, by target.
    fn sums(&self, of: &dyn Fn(&Place) -> bool, sites: &[Vec<u64>]) -> Vec<u64> {
        let targets = sites.first().map_or(0, Vec::len);
        let own = self.sites.iter().zip(sites).filter(|(place, _)| of(place));
        own.fold(vec![0; targets], |mut sums, (_, site)| {
            sums.iter_mut().zip(site).for_each(|(sum, own)| *sum = sum.saturating_add(*own));
            sums
        })
    }

    /// Whether an access of a run, by its number in the trace, is one of these.
    pub(crate) fn contains(&self, run: usize, access: usize) -> bool {
        self.sites.iter().any(|site| (site.run, site.number) == (run, access))
    }

    /// The accesses, each by its run and its number in the trace.
    pub(crate) fn accesses(&self) -> impl Iterator<Item = (usize, usize)> {
        self.sites.iter().map(|site| (site.run, site.number))
    }

    /// What a layout leaves in each run that accesses the array.
    pub(crate) fn by_run(&self, tried: &Tried) -> Vec<OfRun> {
        let Ok(weight) = &tried.weight else { return Vec::new() };
        let mut runs: Vec<usize> = self.sites.iter().map(|site| site.run).collect();
        runs.dedup();
        let sum = |run, sites: &[Vec<u64>]| self.sums(&|site| site.run == run, sites).iter().sum();
        let of = |run| OfRun { run, after: sum(run, &weight.sites), ideal: sum(run, &self.ideal) };
        runs.into_iter().map(of).collect()
    }

    /// Whether an access of a run, by its number in the trace, then takes fewer wavefronts on some target
    /// and more on none, in each way to run it.
    pub(crate) fn helps(&self, tried: &Tried, run: usize, access: usize) -> bool {
        let (Some(first), Ok(then)) = (self.tried.first(), &tried.weight) else { return false };
        let Ok(now) = &first.weight else { return false };
        let own = |(_, site): &(usize, &Place)| (site.run, site.number) == (run, access);
        let sites = || self.sites.iter().enumerate().filter(own);
        let pairs = || sites().flat_map(|(at, _)| now.sites[at].iter().zip(&then.sites[at]));
        pairs().any(|(now, then)| then < now) && pairs().all(|(now, then)| then <= now)
    }
}

/// Searches the layouts of the array declared at `name`, for all runs on all targets. `given`: the bytes of dynamic
/// shared memory of each launch, if all are known. `longer` makes the run of a number again with rows that are an
/// element longer.
pub(crate) fn search<'a>(
    runs: &[Run<'a>],
    name: Span,
    targets: &'a [Target],
    given: Option<&[u64]>,
    longer: &dyn Fn(usize) -> Option<Trace>,
) -> Result<Found<'a>, Undecided> {
    let (mut uncounted, mut first): (Vec<Span>, Option<Undecided>) = (Vec::new(), None);
    let mut in_rows = false;
    loop {
        let found = Requests::of(runs, name, given, None, &uncounted).and_then(|requests| {
            if !in_rows {
                requests.are_in_their_rows(runs, longer)?;
            }
            in_rows = true;
            search_in(requests, runs, targets)
        });
        // Where the others have no conflict, nothing is told by leaving it out.
        let is_told = |found: &Found<'_>| uncounted.is_empty() || found.bound < found.before;
        let why = match found {
            Ok(found) if is_told(&found) => return Ok(found),
            Ok(found) => return Err(first.unwrap_or(Undecided::Unknown(found.array.span))),
            Err(why) => why,
        };
        match why.access() {
            Some(span) if uncounted.len() < MOST_UNCOUNTED && !uncounted.contains(&span) => {
                uncounted.push(span);
                first.get_or_insert(why);
            }
            _ => return Err(first.unwrap_or(why)),
        }
    }
}

/// Searches the layouts of each view of the array by itself, where it has several ([`views`]): of those in which `wmma`
/// calls ask for tiles.
pub(crate) fn search_views<'a>(
    runs: &[Run<'a>],
    name: Span,
    targets: &'a [Target],
    given: Option<&[u64]>,
) -> Vec<Found<'a>> {
    let views = views::views(runs, name).unwrap_or_default();
    let of = |view: &Vec<lane::Key>| Requests::of(runs, name, given, Some(view), &[]).ok();
    let mut all: Vec<Requests<'a>> = views.iter().filter_map(of).collect();
    let bytes = |it: &Requests<'_>| {
        let length = it.forms.iter().map(|form| form.lengths.iter().product::<u64>() * form.element);
        length.max().unwrap_or(0)
    };
    let room = all.iter().map(bytes).max().unwrap_or(0);
    all.iter_mut().for_each(|it| it.room = room);
    let tiled = all.into_iter().filter(Requests::has_tiles);
    let found = tiled.filter_map(|it| search_in(it, runs, targets).ok());
    found.map(|found| Found { views: views.len(), ..found }).collect()
}

/// Searches the layouts of these requests of an array.
fn search_in<'a>(
    requests: Requests<'a>,
    runs: &[Run<'a>],
    targets: &'a [Target],
) -> Result<Found<'a>, Undecided> {
    let array = requests.array;
    let forms = requests.forms.iter().map(|form| form.lengths.clone()).collect();
    let place = |site: &requests::Site<'_>| {
        let way = runs.get(site.run)?;
        Some(Place { way: site.run, run: way.of.0, number: way.number_there(site.number)? })
    };
    let sites: Option<Vec<Place>> = requests.sites.iter().map(place).collect();
    let sites = sites.ok_or(Undecided::SeveralWays)?;
    let mut ways: Vec<usize> = sites.iter().map(|site| site.way).collect();
    ways.dedup();
    let is_split =
        ways.iter().any(|way| ways.iter().any(|it| it != way && runs[*it].of.0 == runs[*way].of.0));
    let ways = is_split.then_some(ways.len());
    let scales = Scales::new(requests, runs, targets, STEPS);
    let at_most = scales.requests.sites.iter().any(|site| site.joined || site.access.doubt.is_some());
    let in_registers = scales.requests.sites.iter().any(|site| site.access.kept > 0);
    let Judged { weight, requests: now, ideal } = scales.as_judged(runs)?;
    let bound = scales.bound().ok_or(Undecided::TooMany)?;
    let (before, requests, indexed) = (weight.wavefronts, scales.count(), scales.indexed());
    let by_data = scales.requests.by_data.requests.saturating_mul(targets.len() as u64);
    let tried = vec![Tried { layout: Layout::Declared, bytes: 0, operations: 0, weight: Ok(weight) }];
    let mut found = Found {
        array,
        forms,
        before,
        bound,
        at_most,
        in_registers,
        requested: Requested { requests, indexed, now },
        by_data,
        uncounted: scales.requests.uncounted.spans(),
        tried,
        best: None,
        for_data: None,
        views: 1,
        line_element: scales.requests.line_element(),
        distances: Vec::new(),
        moved: Vec::new(),
        sites,
        ways,
        ideal,
    };
    family::try_all(&scales, &mut found);
    let rank = |at: &usize| {
        let tried = &found.tried[*at];
        let price = found.price(tried)?;
        let by_data = tried.weight.as_ref().ok()?.sum_by_data();
        Some((price, by_data, tried.layout.rank(), tried.bytes, tried.operations))
    };
    let worth = (1..found.tried.len()).filter(|at| found.is_worth(&found.tried[*at]));
    found.best = worth.filter_map(|at| Some((rank(&at)?, at))).min().map(|(_, at)| at);
    found.for_data = family::for_data(&scales, &found);
    found.distances = found.best().map(|best| scales.distances(&best.layout)).unwrap_or_default();
    found.moved = found.best().map(|best| scales.put_into(&best.layout)).unwrap_or_default();
    Ok(found)
}
