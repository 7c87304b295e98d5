//! What goes into the trace?

mod journal;

use super::copied_struct::{joined_members, split_alignment};
use super::machine::{Machine, Undo};
use super::types::Ty;
use super::value::{Offset, Pointer, Target};
use crate::domain::{Int, Lanes, Origin, Reason, Sight, Spread, SymbolId, Unknown, gcd};
use crate::events::{Access, AccessOp, Assumption, Atomic, CopiedFrom, Pattern, SymbolFacts, Ways};
use crate::source::Span;
use rustc_hash::FxHasher;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

/// Bytes after which the bank of an address repeats on every target.
const WINDOW: i64 = 256;
/// Bytes of the widest access of a lane.
const WIDEST: u64 = 16;

/// What is added to all lanes alike, and when.
#[derive(Clone, Copy)]
struct Shift {
    unit: u64,
    /// The same without the numbers that the compiler knows.
    open: u64,
    walk: Option<u64>,
    turn: u32,
    moved: Option<i64>,
    apart: u8,
    added: u64,
    sight: Sight,
    anywhere: bool,
}

impl Shift {
    /// An unknown multiple of this many bytes is added too. `walks`: of one access, by a loop's counter.
    fn also(&mut self, bytes: u64, walks: bool) {
        match self.walk {
            None if walks => self.walk = Some(self.unit),
            _ => self.walk = self.walk.map(|rest| gcd(rest, bytes)),
        }
        self.unit = gcd(self.unit, bytes);
        self.open = gcd(self.open, bytes);
    }
}

/// What tells one request of a site from another.
#[derive(PartialEq, Eq, Hash)]
struct Requested<'a> {
    anywhere: bool,
    active: u32,
    unit: u64,
    offsets: &'a [i64; 32],
    varying: &'a [(u32, [i64; 32])],
    source: Option<&'a CopiedFrom>,
}

impl<'a> Requested<'a> {
    fn of(pattern: &'a Pattern) -> Requested<'a> {
        let Pattern { offsets, anywhere, active, varying, unit, source, .. } = pattern;
        let (anywhere, active, unit) = (*anywhere, *active, *unit);
        Requested { anywhere, active, unit, offsets, varying, source: source.as_deref() }
    }

    fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        Hash::hash(self, &mut hasher);
        hasher.finish()
    }
}

impl Machine<'_> {
    /// Records an access of the pointee's size by the active threads.
    pub fn record(&mut self, op: AccessOp, pointer: &Pointer, span: Span, atomic: Option<Atomic>) {
        let bytes = pointer.pointee.constant_size();
        if bytes.is_none() {
            self.note_unsized(&pointer.pointee);
        }
        self.record_bytes(op, pointer, bytes, span, atomic);
    }

    /// Notes that the size of a type was asked for and is not known.
    pub fn note_unsized(&mut self, ty: &Ty) {
        let mut inner = ty;
        while let Ty::Array(element, _) = inner {
            inner = element;
        }
        if let Ty::Unknown(name) = inner
            && !self.trace.unsized_types.contains(name)
        {
            self.trace.unsized_types.push(name.clone());
        }
    }

    /// Records an access of `bytes` per lane by the active threads.
    pub fn record_bytes(
        &mut self,
        op: AccessOp,
        pointer: &Pointer,
        bytes: Option<u64>,
        span: Span,
        atomic: Option<Atomic>,
    ) {
        let Target::Memory(object, offset) = &pointer.target else { return };
        if self.record_alternatives(op, pointer, bytes, span, atomic) {
            return;
        }
        let Some(array) = self.memory.objects[object.0 as usize].array else { return };
        let thread = self.first_outside(array, offset);
        let outside = thread.is_some();
        self.looping.out_of_bounds |= outside;
        let overrun = thread.filter(|_| !self.may_be_cut_short());
        if !self.recording {
            return;
        }
        self.note_contents(op, array, offset, bytes, span);
        if self.settings.pitch.is_some() {
            self.check_pitch(array, offset, bytes, span);
        }
        let bytes = bytes.and_then(|b| u32::try_from(b).ok());
        let site = self.site(op, array, bytes, &pointer.pointee, span, atomic);
        let of_copy = self.copy_assumptions();
        let access = &mut self.trace.accesses[site];
        if outside && !access.outside {
            access.outside = true;
            self.index.journal.push(Undo::Outside { site: site as u32 });
        }
        if overrun.is_some_and(|thread| access.overrun.is_none_or(|known| thread < known)) {
            self.index.journal.push(Undo::Overrun { site: site as u32, was: access.overrun });
            access.overrun = overrun;
        }
        if self.looping.enumerating > 0 && !access.at_most {
            access.at_most = true;
            self.index.journal.push(Undo::AtMost { site: site as u32 });
        }
        if access.doubt.is_none() && self.state.doubt.is_some() {
            access.doubt.clone_from(&self.state.doubt);
            self.index.journal.push(Undo::Doubt { site: site as u32 });
        }
        let journal = &mut self.index.journal;
        let mut assume = |assumption: &Assumption| {
            if !access.assumptions.contains(assumption) {
                access.assumptions.push(assumption.clone());
                journal.push(Undo::Assumption { site: site as u32 });
            }
        };
        self.state.assumptions.iter().chain(&of_copy).for_each(&mut assume);
        let unknown = match (offset, bytes) {
            (Offset::Unknown(_, why, ..), _) => Some(why.clone()),
            (_, None) => Some(Unknown::new(
                Reason::UnknownType,
                span,
                format!("the size of `{}` is not known", pointer.pointee.describe()),
            )),
            _ => None,
        };
        let refined = match offset {
            Offset::Known(offset) if !self.state.facts.is_empty() => Some(self.substitute(offset)),
            _ => None,
        };
        self.access_event(site, *object, offset, refined.as_ref());
        match (unknown, offset) {
            (None, Offset::Known(offset)) => {
                let offset = refined.as_ref().unwrap_or(offset);
                if self.in_register(site, offset) {
                    self.trace.accesses[site].kept += 1;
                    self.index.journal.push(Undo::Kept { site: site as u32 });
                } else {
                    self.index.pass(op);
                    let is_apart = offset.terms.iter().any(|(_, factor)| factor.as_constant().is_none());
                    let anywhere = is_apart && self.is_free_anywhere(site);
                    self.record_patterns(site, Some(offset).filter(|_| !anywhere));
                }
            }
            (Some(_), Offset::Unknown(.., part)) if self.never_conflicts(site, part.as_deref()) => {
                self.index.pass(op);
                self.may_write(site);
                self.record_patterns(site, None);
            }
            (unknown, offset) => {
                self.index.pass(op);
                let part = offset.known_part().filter(|part| bytes.is_some() && part.is_per_thread());
                if let Some(within) = part.and_then(|part| self.within_warp(part)) {
                    self.may_write(site);
                    self.record_patterns(site, Some(&within));
                    return;
                }
                self.turn(site);
                self.may_write(site);
                let access = &mut self.trace.accesses[site];
                if access.unknown.is_none() && unknown.is_some() {
                    access.unknown = unknown;
                    self.index.journal.push(Undo::Unknown { site: site as u32 });
                }
            }
        }
    }

    fn site(
        &mut self,
        op: AccessOp,
        array: usize,
        bytes: Option<u32>,
        ty: &Ty,
        span: Span,
        atomic: Option<Atomic>,
    ) -> usize {
        let key = (span, op, array, bytes);
        if let Some(&site) = self.index.sites.get(&key) {
            let known = &mut self.trace.accesses[site].atomic;
            *known = known.zip(atomic).map(|(known, atomic)| known.or(atomic));
            self.trace.accesses[site].tiles_fit &= self.at_hand.tiles_fit;
            return site;
        }
        let site = self.trace.accesses.len();
        self.trace.accesses.push(Access {
            span,
            op,
            atomic,
            bytes,
            align: split_alignment(ty, bytes),
            scalar: matches!(ty, Ty::Scalar(_)),
            joins_members: joined_members(ty, bytes),
            matrices: self.at_hand.matrices,
            around: self.at_hand.copying.as_ref().is_some_and(|copying| copying.around),
            fragment: self.at_hand.fragment,
            tiles_fit: self.at_hand.tiles_fit,
            array,
            paths: vec![self.around.calls.clone()],
            occurrences: 0,
            kept: 0,
            patterns: Vec::new(),
            outside: false,
            overrun: None,
            at_most: false,
            unknown: None,
            doubt: None,
            assumptions: Vec::new(),
        });
        self.index.sites.insert(key, site);
        self.index.journal.push(Undo::Site);
        site
    }

    /// The first thread that is surely active and known to lie outside the array.
    fn first_outside(&self, array: usize, offset: &Offset) -> Option<u32> {
        let (Offset::Known(offset), Some(size)) = (offset, self.trace.arrays[array].bytes()) else {
            return None;
        };
        if self.trace.arrays[array].dynamic || self.state.doubt.is_some() {
            return None;
        }
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        let (low, high) = offset.base.bounds(self.shape());
        if low >= 0 && high < size {
            return None;
        }
        // What symbols add, at the least and at the most.
        let shift = Int::of(Lanes::constant(0), offset.terms.clone());
        let (least, most) = self.world.bounds(&shift);
        let values = offset.base.spread(self.shape());
        let below = |v: i64| most.is_some_and(|most| v.saturating_add(most) < 0);
        let above = |v: i64| least.is_some_and(|least| v.saturating_add(least) >= size);
        let mut threads = self.state.active.threads();
        threads.find(|&t| below(values[t]) || above(values[t])).map(|thread| thread as u32)
    }

    /// Whether what runs here rests on a bound that no block need reach: with `threadIdx.x < n`, only as
    /// many threads run as `n` says. What also depends on the block's number holds in an interior block.
    pub(super) fn may_be_cut_short(&self) -> bool {
        self.state.may_have_left || self.state.assumptions.iter().any(Assumption::may_cut_short)
    }

    /// Whether an access never conflicts, wherever in its array the lanes are.
    fn is_free_anywhere(&self, site: usize) -> bool {
        let access = &self.trace.accesses[site];
        let plain = matches!(access.op, AccessOp::Load | AccessOp::Store);
        let in_a_word = access.bytes.is_some_and(|bytes| matches!(bytes, 1 | 2 | 4));
        plain && in_a_word && self.trace.arrays[access.array].has_a_bank_for_each_word()
    }

    /// Whether an access never conflicts, as far as is known where the lanes are.
    fn never_conflicts(&self, site: usize, offset: Option<&Int>) -> bool {
        let Access { op, bytes, .. } = self.trace.accesses[site];
        self.is_free_anywhere(site) || offset.is_some_and(|at| self.never_share_banks(op, bytes, at))
    }

    /// The warps' requests for one offset: known lanes, lane-dependent factors, and what is only
    /// a uniform shift. Without one, each lane is anywhere in the array.
    fn record_patterns(&mut self, site: usize, offset: Option<&Int>) {
        let shape = self.shape();
        let (anywhere, start) = (offset.is_none(), Int::constant(0));
        let offset = offset.unwrap_or(&start);
        let base = offset.base.spread(shape);
        let bytes = self.trace.accesses[site].bytes.map_or(0, u64::from);
        let (mut unit, mut open) = (0u64, 0u64);
        let (mut walks, mut rest) = (false, 0u64);
        let mut varying: Vec<(u32, bool, Arc<Spread>)> = Vec::new();
        for (id, factor) in &offset.terms {
            let symbol = self.world.symbols.get(*id);
            // In a counted loop the round shifts every lane alike; the banks turn with it.
            if symbol.origin == Origin::Loop && symbol.high.is_some() {
                match factor.as_constant() {
                    Some(factor) if factor.unsigned_abs().is_multiple_of(WIDEST) => continue,
                    _ => self.looping.uneven = true,
                }
            }
            match factor.as_constant() {
                Some(factor) => {
                    let factor = factor.unsigned_abs();
                    unit = gcd(unit, factor);
                    // Of a product, one factor that the compiler knows may be all that alignment takes.
                    let known = |id: &SymbolId| self.world.symbols.get(*id).compiled;
                    if !known(id) && !symbol.factors.iter().any(known) {
                        open = gcd(open, factor);
                    }
                    match !walks && factor == bytes && symbol.origin == Origin::Loop {
                        true => walks = true,
                        false => rest = gcd(rest, factor),
                    }
                }
                None => {
                    let counter = symbol.origin == Origin::Loop;
                    let number = self.symbol_number(*id);
                    varying.push((number, counter, factor.spread(shape)));
                }
            }
        }
        let moved = (offset.terms.is_empty() && !anywhere).then_some(0);
        let (walk, turn, apart) = (walks.then_some(rest), self.turn(site), divisor(&base));
        let (added, sight) = (sum_of_terms(offset), offset.sight);
        let shift = Shift { unit, open, walk, turn, moved, apart, added, sight, anywhere };
        let active = self.state.active;
        self.trace.accesses[site].occurrences += 1;
        self.index.journal.push(Undo::Occurrence { site: site as u32 });
        for warp in 0..shape.threads().div_ceil(32) {
            let mask = active.warp(warp);
            if mask == 0 {
                continue;
            }
            let lane_values = |values: &[i64]| {
                let mut lanes = [0i64; 32];
                if let (u32::MAX, Some(all)) = (mask, values.get(warp * 32..warp * 32 + 32)) {
                    lanes.copy_from_slice(all);
                    return lanes;
                }
                for (lane, slot) in lanes.iter_mut().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1) {
                    *slot = values[warp * 32 + lane];
                }
                lanes
            };
            let (offsets, moved) = normalise(lane_values(&base), mask);
            let mut warp_shift = Shift { moved: shift.moved.map(|_| moved), ..shift };
            let mut warp_varying = Vec::new();
            for (number, counter, values) in &varying {
                let lanes = lane_values(values);
                let mut factors = (0..32).filter(|lane| mask >> lane & 1 == 1).map(|lane| lanes[lane]);
                let first = factors.next().unwrap_or(0);
                if factors.all(|f| f == first) {
                    let factor = first.unsigned_abs();
                    warp_shift.also(factor, *counter && factor == bytes);
                } else {
                    warp_varying.push((*number, lanes));
                }
            }
            self.add_pattern(site, offsets, mask, warp_varying, warp_shift, warp as u32);
        }
    }

    fn add_pattern(
        &mut self,
        site: usize,
        offsets: [i64; 32],
        active: u32,
        varying: Vec<(u32, [i64; 32])>,
        shift: Shift,
        warp: u32,
    ) {
        let Shift { unit, open, walk, turn, moved, apart, added, sight, anywhere } = shift;
        // A multiple of the window shifts nothing that a bank depends on.
        let unit = if unit.is_multiple_of(WINDOW as u64) { 0 } else { gcd(unit, WINDOW as u64) };
        let source = self.at_hand.copying.as_ref().and_then(|copying| copying.of_warp(warp as usize, active));
        let source = source.map(Box::new);
        let requested = Requested {
            anywhere,
            active,
            unit,
            offsets: &offsets,
            varying: &varying,
            source: source.as_deref(),
        };
        let key = (site, requested.hash());
        let (weight, epoch, region) = (self.weight, self.compiler.epoch, self.compiler.region);
        let innermost = self.looping.uncounted.last().copied();
        let access = &mut self.trace.accesses[site];
        let path = access.path_number(&self.around.calls);
        let ways = Ways::by(path, self.state.passable.last().copied());
        let alike = self.index.patterns.get(&key).map_or(&[][..], |alike| alike);
        let known = alike.iter().map(|at| *at as usize);
        let known = known.into_iter().find(|at| Requested::of(&access.patterns[*at]) == requested);
        if let Some(at) = known {
            let pattern = &mut access.patterns[at];
            let (elsewhere, before) = (pattern.elsewhere, pattern.count);
            pattern.happens(warp, weight, innermost);
            pattern.elsewhere |= (pattern.epoch, pattern.region) != (epoch, region);
            let was = pattern.ways;
            pattern.ways = was.and(ways);
            let new_way = was != pattern.ways;
            let by = pattern.count - before;
            let (site, pattern) = (site as u32, at as u32);
            self.index.journal.push(Undo::Again { site, pattern, by, warp, within: innermost, elsewhere });
            self.index.journal.extend(new_way.then_some(Undo::Ways { site, pattern, was }));
            return;
        }
        if access.patterns.len() >= 4096 {
            if access.unknown.is_none() {
                access.unknown =
                    Some(Unknown::new(Reason::Budget, access.span, "over 4096 different warp requests"));
                self.index.journal.push(Undo::Unknown { site: site as u32 });
            }
            return;
        }
        self.index.patterns.entry(key).or_default().push(access.patterns.len() as u32);
        let mut pattern = Pattern {
            offsets,
            moved,
            anywhere,
            active,
            varying,
            unit,
            source,
            open_unit: open,
            added,
            sight,
            walk,
            turn,
            region,
            iteration: self.compiler.iteration,
            stretch: self.compiler.stretch.at,
            branches: SmallVec::from_slice(&self.compiler.stretch.branches),
            apart,
            elsewhere: false,
            epoch,
            occurrence: access.occurrences,
            path,
            ways,
            position: self.index.accesses,
            writes: self.index.writes,
            warps: 0,
            first_warp: warp,
            count: 0,
            times: [0; 32],
            within: SmallVec::new(),
        };
        pattern.happens(warp, weight, innermost);
        access.patterns.push(pattern);
        self.index.journal.push(Undo::Pattern { site: site as u32 });
    }

    fn symbol_number(&mut self, id: SymbolId) -> u32 {
        if let Some(&number) = self.index.symbols.get(&id) {
            return number;
        }
        let symbol = self.world.symbols.get(id).clone();
        let parts = symbol.factors.iter().filter(|part| **part != id);
        let factors = parts.map(|part| self.symbol_number(*part)).collect();
        let number = self.trace.symbols.len() as u32;
        self.index.symbols.insert(id, number);
        // Where a residue is tried, the symbol is the quotient, which has no name.
        let split = self.settings.residues.iter().any(|(name, _, _)| *name == symbol.name);
        self.trace.symbols.push(SymbolFacts {
            given: symbol.origin == Origin::Given && symbol.named && !split,
            counter: symbol.origin == Origin::Loop,
            range: (symbol.low, symbol.high),
            factors,
            name: symbol.name.into_owned(),
        });
        number
    }
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

/// A number for the unknown part of an offset: another for another sum.
fn sum_of_terms(offset: &Int) -> u64 {
    let mut hasher = FxHasher::default();
    offset.terms.iter().for_each(|(id, factor)| (*id, factor.as_constant()).hash(&mut hasher));
    hasher.finish()
}

/// The largest power of two up to 16 that divides all differences between the offsets.
fn divisor(offsets: &[i64]) -> u8 {
    let first = offsets.first().copied().unwrap_or(0);
    let bits = offsets.iter().fold(16, |bits, offset| bits | offset.wrapping_sub(first));
    1 << bits.trailing_zeros().min(4)
}

/// Moves the lowest active lane into the first window; also by how much.
fn normalise(mut offsets: [i64; 32], mask: u32) -> ([i64; 32], i64) {
    if mask == u32::MAX {
        let lowest = offsets.iter().fold(i64::MAX, |low, &offset| low.min(offset));
        let shift = lowest.div_euclid(WINDOW) * WINDOW;
        return (offsets.map(|offset| offset.wrapping_sub(shift)), shift);
    }
    let lanes = (0..32).filter(|lane| mask >> lane & 1 == 1);
    let lowest = lanes.clone().map(|lane| offsets[lane]).min().unwrap_or(0);
    let shift = lowest.div_euclid(WINDOW) * WINDOW;
    for lane in lanes {
        offsets[lane] = offsets[lane].wrapping_sub(shift);
    }
    (offsets, shift)
}
