//! Which distinct requests do the warps of a block make, and how often?
//!
//! A fold over accesses as they happen: each [`Occurrence`] is cut into the requests of warps, reduced to what banks
//! depend on ([`reduce`]), and equal requests are counted, not repeated. What was noted can be taken back to a mark.
//!
//! It knows nothing of how code is run: an occurrence says all that there is to know.

mod journal;
mod reduce;
mod rounds;
mod sides;

pub(crate) use journal::{Early, LoopCode, RequestMark};

use super::{
    Access, AccessOp, Array, Assumption, Atomic, CopiedFrom, First, LinesApart, Occurrence, Partly, Pattern,
    Roots, SymbolFacts, Trace, Ways,
};
use crate::domain::{Int, Origin, Reason, Spread, SymbolId, Unknown, World, gcd};
use crate::source::Span;
use journal::{Counted, LeftOutForLoop, PerhapsKept, Undo};
use reduce::{Requested, Shift, WINDOW, divisor, lanes_of, normalise, sum_of_terms};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// Bytes of the widest access of a lane.
const WIDEST: u64 = 16;
/// Of a request that is several in its piece of straight code.
const ANYWHERE: u32 = u32::MAX;
/// The most distinct requests of a site.
const MOST: usize = 4096;

/// What tells one site from another: its place, what it does, the array, and the bytes per lane.
pub(crate) type SiteKey = (Span, AccessOp, usize, Option<u32>);

/// Where accesses stood in program order that were counted and that the compiler leaves out.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    /// Stores that another overwrites.
    pub stores: Vec<u32>,
    /// Loads of what turned out to be in a register.
    pub loads: Vec<u32>,
}

/// Finds sites and requests that are already in the trace.
#[derive(Debug, Default)]
pub(crate) struct Requests {
    sites: FxHashMap<SiteKey, usize>,
    /// By site and a hash of what is requested: the numbers of its patterns that have it.
    patterns: FxHashMap<(usize, u64), SmallVec<[u32; 2]>>,
    symbols: FxHashMap<SymbolId, u32>,
    journal: Vec<Undo>,
    /// Accesses so far, in program order.
    accesses: u32,
    /// Those among them that may write.
    writes: u32,
    /// The stores so far.
    stores: Vec<Counted>,
    /// What the compiler leaves out, in no order.
    left_out: LeftOut,
    /// The stores among them that one in a loop made needless.
    left_out_for_loop: Vec<LeftOutForLoop>,
    /// The loads of what is perhaps in a register.
    perhaps_kept: Vec<PerhapsKept>,
}

/// What is known of the numbers in offsets.
pub(crate) struct Numbers<'a> {
    /// The symbols, and the block's shape.
    pub world: &'a World,
    /// Names of which a residue is tried: the symbol of such a name is the quotient, which has no name.
    pub split: &'a [(String, i64, i64)],
}

impl Requests {
    /// Accesses so far, in program order; what was in a register is none.
    pub(crate) fn accesses(&self) -> u32 {
        self.accesses
    }

    /// The number of a site; `make` describes it where it is new.
    pub(crate) fn site(
        &mut self,
        accesses: &mut Vec<Access>,
        key: SiteKey,
        atomic: Option<Atomic>,
        tiles_fit: bool,
        make: impl FnOnce() -> Access,
    ) -> usize {
        if let Some(&site) = self.sites.get(&key) {
            let known = &mut accesses[site];
            known.atomic = known.atomic.zip(atomic).map(|(known, atomic)| known.or(atomic));
            known.tiles.tiles_fit &= tiles_fit;
            return site;
        }
        let site = accesses.len();
        accesses.push(make());
        self.sites.insert(key, site);
        self.journal.push(Undo::Site);
        site
    }

    /// Notes the requests of an occurrence. Whether their banks depend on the round of a counted loop.
    pub(crate) fn take(&mut self, it: &Occurrence<'_>, trace: &mut Trace, numbers: &Numbers<'_>) -> bool {
        let site = it.event.access;
        self.note(it, &mut trace.accesses[site]);
        let access = &mut trace.accesses[site];
        if it.is_kept {
            access.kept += 1;
            self.journal.push(Undo::Kept { site: site as u32 });
            return false;
        }
        self.pass(access.op);
        if access.op == AccessOp::Store {
            let (journal, position) = (self.journal.len(), self.accesses);
            let uneven = self.request_known(it, trace, numbers);
            self.stores.push(Counted { site: site as u32, noted: journal..self.journal.len(), position });
            return uneven;
        }
        if let Some((since, again)) = it.kept_since {
            let (journal, position) = (self.journal.len(), self.accesses);
            let uneven = self.request_known(it, trace, numbers);
            let counted = Counted { site: site as u32, noted: journal..self.journal.len(), position };
            self.perhaps_kept.push(PerhapsKept {
                counted,
                since,
                again,
                early: Early::Surely,
                is_settled: false,
                is_uncertain: false,
            });
            return uneven;
        }
        self.request_known(it, trace, numbers)
    }

    /// The requests of an occurrence, as far as they are known.
    fn request_known(&mut self, it: &Occurrence<'_>, trace: &mut Trace, numbers: &Numbers<'_>) -> bool {
        let access = &mut trace.accesses[it.event.access];
        match (&it.unknown, &it.event.offset) {
            (None, Some(offset)) => {
                let is_apart = offset.terms.iter().any(|(_, factor)| factor.as_constant().is_none());
                let anywhere = is_apart && is_free_anywhere(access, &trace.arrays);
                self.request(it, Some(offset).filter(|_| !anywhere), trace, numbers)
            }
            (Some(_), _)
                if match it.partly {
                    Partly::ConflictFree => true,
                    Partly::Combined => false,
                    _ => is_free_anywhere(access, &trace.arrays),
                } =>
            {
                self.request(it, None, trace, numbers)
            }
            (unknown, _) => {
                if let Partly::WithinWarp(offset) = &it.partly {
                    return self.request(it, Some(offset), trace, numbers);
                }
                if access.unknown.is_none() && unknown.is_some() {
                    access.unknown.clone_from(unknown);
                    self.journal.push(Undo::Unknown { site: it.event.access as u32 });
                }
                false
            }
        }
    }

    /// Counts one more access in program order.
    fn pass(&mut self, op: AccessOp) {
        self.accesses = self.accesses.wrapping_add(1);
        self.writes = self.writes.wrapping_add(u32::from(op != AccessOp::Load));
    }

    /// What holds of a site as soon as it holds once.
    fn note(&mut self, it: &Occurrence<'_>, access: &mut Access) {
        let site = it.event.access as u32;
        let sure = it.outside.filter(|_| it.doubt.is_none());
        if sure.is_some() && !access.outside {
            access.outside = true;
            self.journal.push(Undo::Outside { site });
        }
        if it.outside.is_some() && !access.may_be_outside {
            access.may_be_outside = true;
            self.journal.push(Undo::MayBeOutside { site });
        }
        let overrun = sure.filter(|_| !it.event.may_be_cut_short);
        if overrun.is_some_and(|thread| access.overrun.is_none_or(|known| thread < known)) {
            self.journal.push(Undo::Overrun { site, was: access.overrun });
            access.overrun = overrun;
        }
        if it.is_at_most && !access.at_most {
            access.at_most = true;
            self.journal.push(Undo::AtMost { site });
        }
        if let Some(doubt) = it.doubt.filter(|doubt| doubt.outweighs(access.doubt.as_ref())) {
            let was = access.doubt.replace(doubt.clone()).map(Box::new);
            self.journal.push(Undo::Doubt { site, was });
        }
        for assumption in it.event.assumptions.iter().chain(it.besides) {
            self.note_assumption(site, assumption, access);
        }
    }

    /// Notes an assumption about a site.
    pub(crate) fn assume(&mut self, site: usize, assumption: &Assumption, accesses: &mut [Access]) {
        if let Some(access) = accesses.get_mut(site) {
            self.note_assumption(site as u32, assumption, access);
        }
    }

    fn note_assumption(&mut self, site: u32, assumption: &Assumption, access: &mut Access) {
        if !access.assumptions.contains(assumption) {
            access.assumptions.push(assumption.clone());
            self.journal.push(Undo::Assumption { site });
        }
    }

    /// The warps' requests for one offset. Without one, each lane is anywhere in the array.
    fn request(
        &mut self,
        it: &Occurrence<'_>,
        offset: Option<&Int>,
        trace: &mut Trace,
        numbers: &Numbers<'_>,
    ) -> bool {
        let shape = numbers.world.shape;
        let (anywhere, start) = (offset.is_none(), Int::constant(0));
        let offset = offset.unwrap_or(&start);
        let base = offset.base.spread(shape);
        let bytes = trace.accesses[it.event.access].bytes.map_or(0, u64::from);
        let unknown = self.unknown_part(offset, bytes, &mut trace.symbols, numbers);
        let shift = Shift {
            unit: unknown.unit,
            open: unknown.open,
            walk: unknown.walk,
            moved: (offset.terms.is_empty() && !anywhere).then_some(0),
            taken: 0,
            apart: divisor(&base),
            added: sum_of_terms(offset),
            sight: offset.sight,
            anywhere,
        };
        let lines_apart = it.lines_apart.and_then(|it| self.lines_apart(it, &mut trace.symbols, numbers));
        let access = &mut trace.accesses[it.event.access];
        access.occurrences += 1;
        self.journal.push(Undo::Occurrence { site: it.event.access as u32 });
        for warp in 0..shape.threads().div_ceil(32) {
            let mask = it.event.threads.warp(warp);
            if mask == 0 {
                continue;
            }
            let (offsets, taken) = normalise(lanes_of(&base, warp, mask), mask);
            let mut shift = Shift { moved: shift.moved.map(|_| taken), taken, ..shift };
            let mut varying = Vec::new();
            for (number, counter, values) in &unknown.varying {
                let lanes = lanes_of(values, warp, mask);
                let mut factors = (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| lanes[lane]);
                let first = factors.next().unwrap_or(0);
                if factors.all(|f| f == first) {
                    let factor = first.unsigned_abs();
                    shift.also(factor, *counter && factor == bytes);
                } else {
                    varying.push((*number, lanes));
                }
            }
            let source = it.source.and_then(|source| source.of_warp(warp, mask)).map(Box::new);
            let lines_apart = lines_apart.clone();
            let asked = Asked { offsets, active: mask, varying, source, lines_apart };
            self.count(it, access, asked, &shift, warp as u32);
        }
        unknown.is_uneven
    }

    /// A distance that is given at run time, if it is a plain sum.
    fn lines_apart(
        &mut self,
        distance: &Int,
        symbols: &mut Vec<SymbolFacts>,
        numbers: &Numbers<'_>,
    ) -> Option<Box<LinesApart>> {
        let known = distance.base.as_constant()?;
        let mut terms = Vec::with_capacity(distance.terms.len());
        for (id, factor) in &distance.terms {
            terms.push((self.symbol_number(*id, symbols, numbers), factor.as_constant()?));
        }
        (!terms.is_empty()).then(|| Box::new(LinesApart { known, terms }))
    }

    /// What unknown numbers add to an offset: to all lanes alike, or not.
    fn unknown_part(
        &mut self,
        offset: &Int,
        bytes: u64,
        symbols: &mut Vec<SymbolFacts>,
        numbers: &Numbers<'_>,
    ) -> UnknownPart {
        let (world, shape) = (numbers.world, numbers.world.shape);
        let mut part = UnknownPart::default();
        let (mut walks, mut rest) = (false, 0u64);
        for (id, factor) in &offset.terms {
            let symbol = world.symbols.get(*id);
            // In a counted loop the round shifts every lane alike; the banks turn with it.
            if symbol.origin == Origin::Loop && symbol.high.is_some() {
                match factor.as_constant() {
                    Some(factor) if factor.unsigned_abs().is_multiple_of(WIDEST) => continue,
                    _ => part.is_uneven = true,
                }
            }
            match factor.as_constant() {
                Some(factor) => {
                    let factor = factor.unsigned_abs();
                    part.unit = gcd(part.unit, factor);
                    // Of a product, one factor that the compiler knows may be all that alignment takes.
                    let known = |id: &SymbolId| world.symbols.get(*id).compiled;
                    if !known(id) && !symbol.factors.iter().any(known) {
                        part.open = gcd(part.open, factor);
                    }
                    match !walks && factor == bytes && symbol.origin == Origin::Loop {
                        true => walks = true,
                        false => rest = gcd(rest, factor),
                    }
                }
                None => {
                    let counter = symbol.origin == Origin::Loop;
                    let number = self.symbol_number(*id, symbols, numbers);
                    part.varying.push((number, counter, factor.spread(shape)));
                }
            }
        }
        part.walk = walks.then_some(rest);
        part
    }

    /// Where a request stands that is the first of its kind.
    fn first_of(&self, it: &Occurrence<'_>, access: &Access, path: u32) -> First {
        let moment = &it.moment;
        First {
            within: moment.within,
            turn: moment.turn,
            region: moment.region,
            iteration: moment.iteration,
            stretch: moment.stretch,
            branches: SmallVec::from_slice(moment.branches),
            skips: moment.skips,
            calls: moment.calls,
            epoch: moment.epoch,
            occurrence: access.occurrences,
            path,
            position: self.accesses,
            writes: self.writes,
            member: it.event.member.map(|member| member.at),
        }
    }

    /// Counts a request of one warp that is like others.
    fn count_again(
        &mut self,
        it: &Occurrence<'_>,
        access: &mut Access,
        at: usize,
        (warp, ways, taken): (u32, Ways, i64),
    ) {
        let pattern = &mut access.patterns[at];
        let (elsewhere, turn, before) = (pattern.elsewhere, pattern.first.within, pattern.count);
        let strays = pattern.strays;
        pattern.strays |= warp == pattern.first_warp && taken != pattern.taken;
        pattern.happens(warp, it.times, it.within);
        if turn != it.moment.within {
            pattern.first.within = ANYWHERE;
            let place = (it.moment.epoch, it.moment.region);
            pattern.elsewhere |= (pattern.first.epoch, pattern.first.region) != place;
        }
        let was = pattern.ways;
        pattern.ways = was.and(ways);
        let new_way = was != pattern.ways;
        let by = pattern.count - before;
        let (site, pattern) = (it.event.access as u32, at as u32);
        let within = it.within;
        self.journal.push(Undo::Again { site, pattern, by, warp, within, elsewhere, strays, turn });
        self.journal.extend(new_way.then_some(Undo::Ways { site, pattern, was }));
    }

    /// Counts a request of one warp: one more like others, or a new one.
    fn count(&mut self, it: &Occurrence<'_>, access: &mut Access, asked: Asked, shift: &Shift, warp: u32) {
        let (site, moment) = (it.event.access, &it.moment);
        let Shift { unit, open, walk, moved, taken, apart, added, sight, anywhere } = *shift;
        // A multiple of the window shifts nothing that a bank depends on.
        let unit = if unit.is_multiple_of(WINDOW as u64) { 0 } else { gcd(unit, WINDOW as u64) };
        let requested = Requested {
            anywhere,
            active: asked.active,
            unit,
            offsets: &asked.offsets,
            varying: &asked.varying,
            source: asked.source.as_deref(),
        };
        let key = (site, requested.hash());
        // What banks do not tell apart, and lies among others in another piece of straight code, is another request.
        let path = access.path_number(it.calls);
        let ways = Ways::by(path, it.branch);
        let alike = self.patterns.get(&key).map_or(&[][..], |alike| alike);
        let known = alike.iter().map(|at| *at as usize);
        // What another side of a condition asks for is the same: a block takes one of them.
        let is_of = |pattern: &Pattern| {
            let is_in_place = pattern.first.region == moment.region || pattern.ways != ways;
            is_in_place || [moment.within, ANYWHERE].contains(&pattern.first.within)
        };
        // Each member of an object is code of its own.
        let member = it.event.member.map(|member| member.at);
        let is_known = |at: &usize| {
            let pattern = &access.patterns[*at];
            Requested::of(pattern) == requested && is_of(pattern) && pattern.first.member == member
        };
        let known = known.into_iter().find(is_known);
        if let Some(at) = known.filter(|at| access.patterns[*at].count > 0) {
            return self.count_again(it, access, at, (warp, ways, taken));
        }
        if known.is_none() && access.patterns.len() >= MOST {
            if access.unknown.is_none() {
                access.unknown =
                    Some(Unknown::new(Reason::Budget, access.span, "over 4096 different warp requests"));
                self.journal.push(Undo::Unknown { site: site as u32 });
            }
            return;
        }
        let Asked { offsets, active, varying, source, lines_apart } = asked;
        let first = self.first_of(it, access, path);
        let mut pattern = Pattern {
            offsets,
            moved,
            taken,
            strays: false,
            anywhere,
            active,
            varying,
            unit,
            source,
            lines_apart,
            open_unit: open,
            added,
            sight,
            walk,
            first,
            apart,
            elsewhere: false,
            ways,
            warps: 0,
            first_warp: warp,
            count: 0,
            times: [0; 32],
            within: SmallVec::new(),
        };
        pattern.happens(warp, it.times, it.within);
        let (by, within) = (it.times, it.within);
        if let Some(at) = known {
            // What was counted before was left out.
            let was = Box::new(std::mem::replace(&mut access.patterns[at], pattern));
            let (site, pattern) = (site as u32, at as u32);
            self.journal.push(Undo::Anew { site, pattern, by, warp, within, was });
            return;
        }
        let (site, at) = (site as u32, access.patterns.len() as u32);
        self.patterns.entry(key).or_default().push(at);
        access.patterns.push(pattern);
        self.journal.push(Undo::Pattern { site, pattern: at, by, warp, within });
    }

    fn symbol_number(&mut self, id: SymbolId, facts: &mut Vec<SymbolFacts>, numbers: &Numbers<'_>) -> u32 {
        if let Some(&number) = self.symbols.get(&id) {
            return number;
        }
        let symbol = numbers.world.symbols.get(id);
        let parts = symbol.factors.iter().filter(|part| **part != id);
        let factors = parts.map(|part| self.symbol_number(*part, facts, numbers)).collect();
        let number = facts.len() as u32;
        self.symbols.insert(id, number);
        // The symbol of such a number stands for a part of it and keeps its name: `F` for `F / 2`. So does what is made of
        // it, and no rule can be told of these names.
        let is_split = |id: SymbolId| {
            let name = &numbers.world.symbols.get(id).name;
            numbers.split.iter().any(|(split, _, _)| split == name)
        };
        let roots = numbers.world.symbols.roots(id).unwrap_or_default();
        let split = !numbers.split.is_empty() && (is_split(id) || roots.iter().copied().any(is_split));
        facts.push(SymbolFacts {
            given: symbol.origin == Origin::Given && symbol.named && !split,
            counter: symbol.origin == Origin::Loop,
            range: (symbol.low, symbol.high),
            factors,
            name: symbol.name.clone().into_owned(),
            roots: Roots::new(roots),
        });
        number
    }
}

/// What unknown numbers add to an offset.
#[derive(Default)]
struct UnknownPart {
    /// A multiple of this, to all lanes alike.
    unit: u64,
    /// The same without the numbers that the compiler knows.
    open: u64,
    /// As [`Pattern::walk`].
    walk: Option<u64>,
    /// Symbols whose factor differs between threads: by number, whether it is a loop's counter, and its factors.
    varying: Vec<(u32, bool, Arc<Spread>)>,
    /// Whether banks depend on the round of a counted loop.
    is_uneven: bool,
}

/// What one warp asks for.
struct Asked {
    offsets: [i64; 32],
    active: u32,
    varying: Vec<(u32, [i64; 32])>,
    source: Option<Box<CopiedFrom>>,
    lines_apart: Option<Box<LinesApart>>,
}

/// Whether an access never conflicts, wherever in its array the lanes are.
fn is_free_anywhere(access: &Access, arrays: &[Array]) -> bool {
    let plain = matches!(access.op, AccessOp::Load | AccessOp::Store);
    let in_a_word = access.bytes.is_some_and(|bytes| matches!(bytes, 1 | 2 | 4));
    plain && in_a_word && arrays[access.array].has_a_bank_for_each_word()
}

impl Pattern {
    /// It happens so often, in a loop of unknown length or in none.
    fn happens(&mut self, warp: u32, times: u64, within: Option<Span>) {
        self.count = self.count.saturating_add(times);
        self.warps |= 1 << (warp % 32);
        let of_warp = &mut self.times[warp as usize % 32];
        *of_warp = of_warp.saturating_add(times);
        match self.within.iter_mut().find(|(innermost, _)| *innermost == within) {
            Some((_, known)) => *known = known.saturating_add(times),
            None => self.within.push((within, times)),
        }
    }
}

#[cfg(test)]
mod tests;
