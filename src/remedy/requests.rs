//! Which requests does a kernel make of one array, at which whole offsets?
//!
//! A pattern of a trace has its offsets by their place in a window of 256 bytes: enough for the banks, too
//! little for a layout, which asks in which row a lane is. The event tree has whole offsets, but not how
//! often the banks are asked. Here the two are brought together: each event is cut into warps, each warp's
//! request is found among the patterns of its access, and takes its count from there.
//!
//! ```text
//! event     load of tile, threads 0-63, bytes 128 x             (a block of 64)
//! warp 0    bytes 0, 128, .., 3968        pattern 0, twice: offsets 0, 128, .., 3968
//! warp 1    bytes 4096, 4224, .., 8064    the same pattern
//! so        two requests, once each
//! ```
//!
//! What is added to all lanes and not known is kept as a shift: the round of a counted loop takes each of its
//! values, anything else may be any multiple of a number of bytes.

use super::lane::{Key, asked, width};
use super::layout::Layout;
use super::rounds::{Added, Shift, counted, lanes, weights};
use super::same::are_moved_by;
use super::uncounted::Uncounted;
use super::worst::{ByData, is_by_data};
use super::{Run, Undecided};
use crate::codegen::Merges;
use crate::domain::{Shape, SymbolId};
use crate::events::{Access, AccessEvent, Array, Event, Pattern, Tile, Trace};
use crate::source::Span;
use crate::verdict::{counted as weight_of, rounds_at};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::Arc;

/// The most different requests of one array.
const MOST: usize = 4096;
/// Bytes by whose multiples a trace moves offsets.
const WINDOW: i64 = 256;

/// One site, in one run.
pub(super) struct Site<'a> {
    pub run: usize,
    /// Index into the forms.
    pub form: usize,
    pub access: &'a Access,
    /// Index into the trace's accesses.
    pub number: usize,
    /// Whether the compiler makes, or may make, one access of some request and its neighbours.
    pub joined: bool,
}

/// A request of a warp at whole offsets.
pub(super) struct Request<'a> {
    /// Index into the sites.
    pub site: usize,
    pub pattern: &'a Pattern,
    /// Bytes from the start of the array, by lane.
    pub offsets: [i64; 32],
    pub shift: Shift,
    /// Of a `wmma` call: the tile that it is a part of.
    pub tile: Option<Arc<Tile>>,
    /// How often it happens in a block, over all values of the shift. Of shared ones the first has the number of
    /// all of them.
    pub times: u64,
    /// How often it counts, in shares, and how often it happens: more often where it is not known how often loops run.
    weight: (u64, u64),
    /// Whether only that number is known: some of the pattern's requests were in registers, and not which.
    pub shared: bool,
}

impl Request<'_> {
    /// How often it counts where it happens so often, in shares of which only sums are [`whole`](crate::verdict::whole).
    pub(super) fn weighed(&self, times: u64) -> u64 {
        let (counted, once) = self.weight;
        let shares = (u128::from(times) * u128::from(counted)).checked_div(u128::from(once));
        u64::try_from(shares.unwrap_or(0)).unwrap_or(u64::MAX)
    }
}

/// What an instance of the kernel makes of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// Its lengths in each dimension, outermost first, in elements.
    pub lengths: Vec<u64>,
    /// Bytes of an element.
    pub element: u64,
}

/// All requests of an array.
pub(super) struct Requests<'a> {
    /// As the first instance has it.
    pub array: &'a Array,
    /// What instances of the kernel make of it, in the order in which they come.
    pub forms: Vec<Form>,
    /// Bytes up to the last that may be accessed, if that is known.
    end: Option<u64>,
    /// The same by run.
    ends: Vec<(usize, u64)>,
    /// Bytes that the array has for other views anyway.
    pub room: u64,
    pub sites: Vec<Site<'a>>,
    pub list: Vec<Request<'a>>,
    /// Requests whose lanes are where data say.
    pub by_data: ByData,
    /// Accesses whose cost is not counted.
    pub uncounted: Uncounted,
}

impl<'a> Requests<'a> {
    /// Those of the array declared at `name` in all runs; of a view of it, if one is given. `given`: the bytes of
    /// dynamic shared memory of each launch, if all are known. `uncounted`: accesses that are not to be counted.
    pub(super) fn of(
        runs: &[Run<'a>],
        name: Span,
        given: Option<&[u64]>,
        view: Option<&[Key]>,
        uncounted: &[Span],
    ) -> Result<Requests<'a>, Undecided> {
        let arrays = || runs.iter().flat_map(|run| &run.trace.arrays).filter(|it| it.name_span == name);
        let array = arrays().next().ok_or(Undecided::Length { dynamic: false })?;
        let alike = |it: &Array| {
            (it.dynamic, it.dimensions.len()) == (array.dynamic, array.dimensions.len())
                && (it.element_bytes == array.element_bytes || !it.dynamic && it.element_bytes.is_some())
        };
        if !arrays().all(alike) {
            return Err(Undecided::Instances);
        }
        let mut all = Requests {
            array,
            forms: Vec::new(),
            end: Some(0),
            ends: Vec::new(),
            room: 0,
            sites: Vec::new(),
            list: Vec::new(),
            by_data: ByData::default(),
            uncounted: Uncounted::new(uncounted),
        };
        for (number, run) in runs.iter().enumerate() {
            all.add(number, run, name, view)?;
        }
        if array.dynamic {
            let other = |it: &&Array| it.dynamic && it.name_span != name;
            // What instances have that do not use this one is no concern of it.
            let has_own = |run: &&Run<'_>| run.trace.arrays.iter().any(|it| it.name_span == name);
            if let Some(other) = runs.iter().filter(has_own).flat_map(|run| &run.trace.arrays).find(other) {
                return Err(Undecided::Overlaid(other.name.clone()));
            }
            match all.used() {
                Some(elements) => all.forms = vec![Form { lengths: vec![elements], element: all.element() }],
                None => all.take_lengths(runs, given).ok_or(Undecided::Length { dynamic: true })?,
            }
        }
        Ok(all)
    }

    /// Takes the array to be as long as each launch makes it.
    fn take_lengths(&mut self, runs: &[Run<'a>], given: Option<&[u64]>) -> Option<()> {
        let element = self.array.element_bytes.filter(|element| *element > 0)?;
        let mut lengths: Vec<u64> = given?.iter().map(|bytes| bytes / element).collect();
        lengths.sort_unstable();
        lengths.dedup();
        for site in &mut self.sites {
            let length = runs.get(site.run)?.dynamic_bytes? / element;
            site.form = lengths.iter().position(|known| *known == length)?;
        }
        for (run, form) in self.uncounted.forms() {
            let length = runs.get(run)?.dynamic_bytes? / element;
            *form = lengths.iter().position(|known| *known == length)?;
        }
        self.forms = lengths.into_iter().map(|length| Form { lengths: vec![length], element }).collect();
        Some(())
    }

    /// The number of what an instance of the kernel makes of the array; what dynamic memory is, its accesses tell.
    fn form(&mut self, array: &Array) -> Result<usize, Undecided> {
        if array.dynamic {
            return Ok(0);
        }
        let lengths: Option<Vec<u64>> = array.dimensions.iter().copied().collect();
        let form = Form {
            lengths: lengths.ok_or(Undecided::Length { dynamic: false })?,
            element: array.element_bytes.unwrap_or(1).max(1),
        };
        let known = self.forms.iter().position(|known| *known == form);
        Ok(known.unwrap_or_else(|| {
            self.forms.push(form);
            self.forms.len() - 1
        }))
    }

    /// Bytes of an element as the first instance has it.
    fn element(&self) -> u64 {
        self.array.element_bytes.unwrap_or(1).max(1)
    }

    /// Bytes of an element in the form of this number.
    pub(super) fn element_of(&self, form: usize) -> u64 {
        self.forms.get(form).map_or_else(|| self.element(), |form| form.element)
    }

    /// Bytes of an element, if they are the same in all instances.
    pub(super) fn only_element(&self) -> Option<u64> {
        let first = self.element_of(0);
        self.forms.iter().all(|form| form.element == first).then_some(first)
    }

    /// Whether `wmma` calls are among them: what they ask for is lines at one distance.
    pub(super) fn has_tiles(&self) -> bool {
        self.list.iter().any(|request| request.tile.is_some())
    }

    /// Bytes of an element as all `wmma` calls see it.
    pub(super) fn line_element(&self) -> Option<u64> {
        let mut all = self.list.iter().filter_map(|request| request.tile.as_ref()).map(|tile| tile.element);
        let first = all.next()?;
        all.all(|other| other == first).then_some(u64::from(first))
    }

    /// Bytes by which the lines of tiles are apart.
    pub(super) fn line_distances(&self) -> Vec<u64> {
        let tiles = self.list.iter().filter_map(|request| request.tile.as_ref());
        let mut all: Vec<u64> = tiles.filter_map(|tile| u64::try_from(tile.distance).ok()).collect();
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Whether each access stays in the row that its index names. Where rows are an element longer, a lane in
    /// row `r` then lies `r` elements further: that tells which row the index names.
    pub(super) fn are_in_their_rows(
        &self,
        all_runs: &[Run<'_>],
        longer: &dyn Fn(usize) -> Option<Trace>,
    ) -> Result<(), Undecided> {
        let Some(last) = self.array.dimensions.len().checked_sub(1).filter(|last| *last > 0) else {
            return Ok(());
        };
        // Of tiles no layout is tried that is told by subscripts.
        if self.has_tiles() {
            return Ok(());
        }
        let name = self.array.name_span;
        let mut runs: Vec<usize> = self.sites.iter().map(|site| site.run).collect();
        runs.dedup();
        for run in runs {
            let trace = longer(run);
            let is_seen = |trace: &Trace| {
                let site = self.sites.iter().find(|site| site.run == run)?;
                let form = self.forms.get(site.form)?;
                let layout = Layout::Longer { row: *form.lengths.last()?, extra: 1, dimension: (last, 1) };
                let to = |at: u64| layout.byte(at, form.element);
                are_moved_by(&all_runs[run], trace, name, &to).then_some(())
            };
            if trace.as_ref().and_then(is_seen).is_some() {
                continue;
            }
            for request in self.list.iter().filter(|request| self.sites[request.site].run == run) {
                let (site, active) = (&self.sites[request.site], request.pattern.active);
                let (access, span, element) = (site.access, site.access.span, self.element_of(site.form));
                let row =
                    self.forms.get(site.form).and_then(|form| form.lengths.last().copied()).unwrap_or(1);
                let layout = Layout::Longer { row, extra: 1, dimension: (last, 1) };
                let trace = trace.as_ref().ok_or(Undecided::Rows(span))?;
                let same = |it: &&Access| {
                    (it.span, it.op, it.bytes) == (span, access.op, access.bytes)
                        && trace.arrays[it.array].name_span == name
                };
                let patterns = || trace.accesses.iter().filter(same).flat_map(|it| &it.patterns);
                let starts = match &request.shift {
                    Shift::Each(starts) => starts.as_slice(),
                    Shift::Multiple(_) => &[0],
                };
                for start in starts {
                    let mut offsets = [0; 32];
                    for lane in lanes(active) {
                        let from = request.offsets[lane].checked_add(*start);
                        let from = from.and_then(|at| u64::try_from(at).ok()).ok_or(Undecided::Rows(span))?;
                        offsets[lane] = layout.byte(from, element) as i64;
                    }
                    let is_there =
                        |it: &Pattern| it.active == active && lie_alike(&offsets, &it.offsets, active);
                    if !patterns().any(is_there) {
                        let stays = |it: &Pattern| {
                            it.active == active && lie_alike(&request.offsets, &it.offsets, active)
                        };
                        let by_type = *start == 0 && patterns().any(stays);
                        return Err(if by_type { Undecided::OwnRows(span) } else { Undecided::Rows(span) });
                    }
                }
            }
        }
        Ok(())
    }

    /// The elements up to the last that may be accessed, if that is known of all accesses.
    fn used(&self) -> Option<u64> {
        Some(self.end?.div_ceil(self.array.element_bytes?.max(1)))
    }

    /// Notes where an access of these threads may end; `most`: what is added to all lanes at the most.
    fn note_end(
        &mut self,
        (run, access): (usize, &Access),
        event: &AccessEvent,
        values: &[i64],
        most: Option<i64>,
    ) {
        let asked = asked(access);
        let threads = event.threads.threads().filter(|thread| asked >> (thread % 32) & 1 == 1);
        let last = threads.map(|thread| values[thread]).max();
        let end = last
            .map_or(Some(0), |last| u64::try_from(last.checked_add(most?)?).ok()?.checked_add(width(access)));
        self.end = self.end.zip(end).map(|(known, end)| known.max(end));
        match (self.ends.iter_mut().find(|(of, _)| *of == run), end) {
            (Some((_, known)), Some(end)) => *known = end.max(*known),
            (None, Some(end)) => self.ends.push((run, end)),
            _ => {}
        }
    }

    /// The lengths of an array of dynamic memory that runs use, in elements.
    pub(super) fn lengths_used(&self) -> impl Iterator<Item = u64> {
        let element = self.element();
        self.ends.iter().map(move |(_, end)| end.div_ceil(element)).filter(|_| self.array.dynamic)
    }

    fn add(
        &mut self,
        number: usize,
        run: &Run<'a>,
        name: Span,
        view: Option<&[Key]>,
    ) -> Result<(), Undecided> {
        let trace = run.trace;
        let first = self.sites.len();
        // By access of the trace: the site.
        let mut sites: Vec<Option<usize>> = vec![None; trace.accesses.len()];
        let merges = Merges::of(trace);
        let by_data = by_data(run, name);
        for (at, access) in trace.accesses.iter().enumerate() {
            let is_seen = view.is_none_or(|view| view.contains(&(access.span, access.op)));
            if trace.arrays[access.array].name_span != name || !is_seen {
                continue;
            }
            if self.uncounted.is_one(access.span) {
                let form = self.form(&trace.arrays[access.array])?;
                let wide = (0..access.patterns.len()).filter_map(|pattern| merges.any(at, pattern));
                let joined = wide.map(|wide| u64::from(wide.bytes)).max().unwrap_or(0);
                self.uncounted.add(access, (number, at), form, joined)?;
                continue;
            }
            let is_unknown = run.judgements.iter().any(|judgements| judgements[at].totals.is_none());
            if is_unknown && !by_data.contains(&at) {
                return Err(Undecided::Unknown(access.span));
            }
            if access.outside {
                return Err(Undecided::Outside(access.span));
            }
            let form = self.form(&trace.arrays[access.array])?;
            let joined = (0..access.patterns.len()).any(|pattern| merges.any(at, pattern).is_some());
            sites[at] = Some(self.sites.len());
            self.sites.push(Site { run: number, form, access, number: at, joined });
        }
        if self.sites.len() == first {
            if self.uncounted.is_in_run(number) {
                self.end = None;
            }
            return Ok(());
        }
        if trace.tree.len() == 0 {
            return Err(Undecided::SeveralWays);
        }
        if trace.tree.is_cut() {
            return Err(Undecided::TooMany);
        }
        let mut found: Found = FxHashMap::default();
        let weights = weights(&trace.tree);
        let counted = counted(&trace.tree);
        for (event, weight) in trace.tree.events().iter().zip(weights) {
            let Event::Access(event) = event else { continue };
            if self.uncounted.contains((number, event.access)) {
                self.place_uncounted((number, run), event, &counted)?;
                continue;
            }
            let Some(site) = sites.get(event.access).copied().flatten() else { continue };
            if self.sites[site].access.tiles.fragment && event.tile.is_none() {
                return Err(Undecided::Fragment(self.sites[site].access.span));
            }
            if by_data.contains(&event.access) {
                self.scatter(site, event, run, weight)?;
                continue;
            }
            let Some(offset) = &event.offset else {
                return Err(Undecided::Unknown(self.sites[site].access.span));
            };
            let access = self.sites[site].access;
            let added = Added::of(&trace.tree, &counted, &offset.terms);
            let added = added.map_err(|name| Undecided::Varying(access.span, name))?;
            let values = offset.base.spread(Shape { dims: run.block });
            self.note_end((number, access), event, &values, added.most);
            self.cut(site, event, &values, &added, weight, &mut found)?;
        }
        self.take(trace, first, found)
    }

    /// Notes where an access goes whose cost is not counted. Where data choose among the places of each thread, a
    /// layout may bring together what was apart, whatever the others gain.
    fn place_uncounted(
        &mut self,
        (number, run): (usize, &Run<'a>),
        event: &AccessEvent,
        counted: &FxHashSet<SymbolId>,
    ) -> Result<(), Undecided> {
        let offset = event.offset.as_ref();
        if is_by_data(event) && offset.is_some_and(|it| it.base.as_constant().is_none()) {
            return Err(Undecided::Unknown(run.trace.accesses[event.access].span));
        }
        let added = offset.and_then(|it| Added::of(&run.trace.tree, counted, &it.terms).ok());
        let (Some(offset), Some(added)) = (offset, added) else {
            self.end = None;
            return Ok(());
        };
        let values = offset.base.spread(Shape { dims: run.block });
        self.note_end((number, &run.trace.accesses[event.access]), event, &values, added.most);
        self.uncounted.place((number, event.access), event, &values, &added.shift);
        Ok(())
    }

    /// Adds the requests of an event whose lanes are where data say.
    fn scatter(
        &mut self,
        site: usize,
        event: &AccessEvent,
        run: &Run<'a>,
        weight: u64,
    ) -> Result<(), Undecided> {
        let access = self.sites[site].access;
        let array = &run.trace.arrays[access.array];
        // Each subscript names the row and the column in which the element lies, or there are none.
        let bytes = array.bytes().filter(|_| !array.dynamic && array.is_named_by_subscripts());
        let bytes = bytes.ok_or(Undecided::Rows(access.span))?;
        let rounds = rounds_at(run.trace, access.span, access.path(0));
        let facts = (Shape { dims: run.block }, bytes, weight.saturating_mul(rounds));
        let added = self.by_data.add(site, access, event, &run.trace.tree, facts);
        added.ok_or(Undecided::Unknown(access.span))
    }

    /// Cuts an event into the requests of warps; `values`: the known part of the offsets, by thread.
    fn cut(
        &self,
        site: usize,
        event: &AccessEvent,
        values: &[i64],
        shift: &Added,
        weight: u64,
        found: &mut Found,
    ) -> Result<(), Undecided> {
        let access = self.sites[site].access;
        for warp in 0..values.len().div_ceil(32) {
            let active = event.threads.warp(warp);
            if active == 0 {
                continue;
            }
            let mut offsets = [0; 32];
            for lane in lanes(active) {
                offsets[lane] = values[warp * 32 + lane];
            }
            let fits = |pattern: &&Pattern| {
                pattern.active == active
                    && pattern.varying.is_empty()
                    && pattern.unit == shift.unit
                    && pattern.warps >> (warp % 32) & 1 == 1
                    && lie_alike(&offsets, &pattern.offsets, active)
            };
            let pattern = match access.patterns.iter().find(fits) {
                Some(pattern) => first_alike(access, pattern),
                // What was in a register is no request.
                None if access.kept > 0 => continue,
                None => return Err(Undecided::Often(access.span)),
            };
            let whole = found.entry((site, pattern)).or_default();
            *whole.entry((offsets, shift.shift.clone(), event.tile.clone())).or_default() += weight;
            if found.len() > MOST {
                return Err(Undecided::TooMany);
            }
        }
        Ok(())
    }

    /// Takes the requests that were found of the sites from `first` on, with the counts of their patterns.
    fn take(&mut self, trace: &Trace, first: usize, mut found: Found) -> Result<(), Undecided> {
        for site in first..self.sites.len() {
            let access = self.sites[site].access;
            if self.by_data.list.iter().any(|request| request.site == site) {
                continue;
            }
            for (at, pattern) in access.patterns.iter().enumerate() {
                if first_alike(access, pattern) != at {
                    continue;
                }
                let alike = || access.patterns.iter().filter(|other| are_alike(pattern, other));
                let count: u64 = alike().map(|other| other.count).sum();
                let weight = alike().map(|other| weight_of(trace, access, other)).fold(
                    (0u64, 0u64),
                    |(counted, once), (times, several)| {
                        (counted.saturating_add(several), once.saturating_add(times))
                    },
                );
                let often = || Undecided::Often(access.span);
                let whole = found.remove(&(site, at)).ok_or_else(often)?;
                let only = whole.len() == 1;
                let sum: u64 = whole.values().sum();
                let shared = !only && sum != count;
                // What was in registers makes no request; more than there are make no sense.
                if shared && (access.kept == 0 || sum < count) {
                    return Err(often());
                }
                let mut whole: Vec<_> = whole.into_iter().collect();
                whole.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
                for (number, ((offsets, shift, tile), times)) in whole.into_iter().enumerate() {
                    let times = match (only, shared, number) {
                        (true, ..) | (_, true, 0) => count,
                        (_, true, _) => 0,
                        _ => times,
                    };
                    self.list.push(Request { site, pattern, offsets, shift, tile, times, weight, shared });
                }
                if self.list.len() > MOST {
                    return Err(Undecided::TooMany);
                }
            }
        }
        Ok(())
    }
}

/// The accesses of an array, by their numbers in the trace, whose cost is not known and whose places are, but for
/// numbers that threads read from memory.
fn by_data(run: &Run<'_>, name: Span) -> FxHashSet<usize> {
    let trace = run.trace;
    let events = || {
        trace.tree.events().iter().filter_map(|event| match event {
            Event::Access(event) => Some(event),
            _ => None,
        })
    };
    let is_unknown = |access: usize| {
        trace.arrays[trace.accesses[access].array].name_span == name
            && run.judgements.iter().any(|judgements| judgements[access].totals.is_none())
    };
    let chosen = events().filter(|event| is_by_data(event) && is_unknown(event.access));
    let mut found: FxHashSet<usize> = chosen.map(|event| event.access).collect();
    for event in events().filter(|event| event.offset.is_none()) {
        found.remove(&event.access);
    }
    found
}

/// By site and pattern: the requests at whole offsets, and how often each happens.
type Found = FxHashMap<(usize, usize), FxHashMap<([i64; 32], Shift, Option<Arc<Tile>>), u64>>;

/// Whether two patterns are the same request, told apart by what bears on no layout.
fn are_alike(one: &Pattern, other: &Pattern) -> bool {
    let known = one.varying.is_empty() && other.varying.is_empty();
    let same = (one.active, one.unit) == (other.active, other.unit);
    std::ptr::eq(one, other) || known && same && lie_alike(&one.offsets, &other.offsets, one.active)
}

/// The number of the first pattern of an access that is like this one.
fn first_alike(access: &Access, pattern: &Pattern) -> usize {
    access.patterns.iter().position(|other| are_alike(other, pattern)).unwrap_or_default()
}

/// Whether whole offsets lie as those of a pattern do, a multiple of the window further.
fn lie_alike(whole: &[i64; 32], pattern: &[i64; 32], active: u32) -> bool {
    let mut apart = lanes(active).map(|lane| whole[lane].wrapping_sub(pattern[lane]));
    let Some(first) = apart.next() else { return true };
    first % WINDOW == 0 && apart.all(|other| other == first)
}
