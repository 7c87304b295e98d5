//! What goes into the trace?

mod journal;

use super::copied_struct::{joined_members, split_alignment};
use super::machine::Machine;
use super::types::Ty;
use super::value::{Offset, Pointer, Target};
use crate::codegen::{Saved, Still};
use crate::domain::{Int, Lanes, Reason, Unknown};
use crate::events::{
    Access, AccessEvent, AccessOp, Assumption, Atomic, Event, Moment, Numbers, Occurrence, Partly, Tiles,
};
use crate::source::Span;

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
        let (lent, reads_once) = self.if_lent(pointer, span);
        let pointer = lent.as_ref().unwrap_or(pointer);
        let Target::Memory(object, offset) = &pointer.target else { return };
        let span = self.around.placed(span);
        if self.record_alternatives(op, pointer, bytes, span, atomic) {
            return;
        }
        let Some(array) = self.memory.objects[object.0 as usize].array else { return };
        let outside = self.first_outside(array, offset);
        self.looping.out_of_bounds |= outside.is_some() && self.state.doubt.is_none();
        if !self.recording {
            return;
        }
        self.note_contents(op, array, offset, bytes, span);
        if self.settings.pitch.is_some() {
            self.check_pitch(array, offset, bytes, span);
        }
        let bytes = bytes.and_then(|b| u32::try_from(b).ok());
        let site = self.site(op, array, bytes, &pointer.pointee, span, atomic);
        let unknown = match (offset, bytes) {
            (Offset::Unknown(_, why, ..), _) => Some(why.clone()),
            (_, None) => Some(Unknown::new(
                Reason::UnknownType,
                span,
                format!("the size of `{}` is not known", pointer.pointee.describe()),
            )),
            _ => self.at_hand.combined.clone(),
        };
        let partly = match (&unknown, &self.at_hand.combined) {
            (None, _) => Partly::Unknown,
            (Some(_), Some(_)) => Partly::Combined,
            (Some(_), None) => self.partly_known(op, bytes, offset),
        };
        self.trace.accesses[site].of_several |= self.at_hand.chosen;
        self.trace.accesses[site].volatile |= pointer.volatile;
        self.trace.accesses[site].leaves_loop |= self.around.leaves_loop;
        let calls = self.around.calls_around(span);
        let path = self.trace.accesses[site].path_number(calls);
        let event = AccessEvent { path, ..self.access_event(site, *object, offset) };
        let within = self.turn_within(site);
        let (kept, saved) = match (&unknown, &event.offset) {
            (None, Some(offset)) if !self.at_hand.chosen => self.in_register(site, offset, within),
            _ => {
                self.may_touch(site);
                (Still::No, Saved::No)
            }
        };
        self.happens(event, (unknown, partly), reads_once, outside, (kept, saved, within));
    }

    /// What is known of the requests of an access whose offset is not known.
    fn partly_known(&mut self, op: AccessOp, bytes: Option<u32>, offset: &Offset) -> Partly {
        if self.is_of_one_lane(op, bytes) {
            return Partly::ConflictFree;
        }
        let Some(part) = offset.known_part() else { return Partly::Unknown };
        if matches!(offset, Offset::Unknown(..)) && self.never_share_banks(op, bytes, part) {
            return Partly::ConflictFree;
        }
        let part = Some(part).filter(|part| bytes.is_some() && part.is_per_thread());
        part.and_then(|part| self.within_warp(part)).map_or(Partly::Unknown, Partly::WithinWarp)
    }

    /// Tells of an access once: the requests of its warps are counted, and the event tree keeps it.
    fn happens(
        &mut self,
        event: AccessEvent,
        (unknown, partly): (Option<Unknown>, Partly),
        reads_once: Option<Assumption>,
        outside: Option<u32>,
        (kept, saved, within): (Still, Saved, u32),
    ) {
        let turn = if kept == Still::Yes { 0 } else { self.turn(event.access) };
        let mut besides = self.copy_assumptions();
        if self.looping.cut > 0 {
            besides.push(Assumption::CutShort);
        }
        besides.extend(self.perhaps_saved(saved));
        if let Some(store) = self.may_be_selected(event.access) {
            besides.push(Assumption::SidesApart { store });
        }
        besides.extend(self.may_be_sunk(event.access));
        besides.extend(reads_once);
        besides.extend(self.at_hand.used_in_part.then_some(Assumption::UsedWhole));
        let occurrence = Occurrence {
            event: &event,
            unknown,
            partly,
            doubt: self.state.why_doubtful(),
            besides: &besides,
            source: self.at_hand.copying.as_ref().and_then(|copying| copying.from.as_ref()),
            lines_apart: self.at_hand.lines_apart.as_ref(),
            outside,
            is_at_most: self.looping.enumerating > 0,
            is_kept: kept == Still::Yes,
            kept_since: if let Still::Perhaps { since, again } = kept { Some((since, again)) } else { None },
            times: self.weight,
            calls: self.around.calls_around(self.trace.accesses[event.access].span),
            branch: self.state.passable.last().copied(),
            within: self.looping.uncounted.last().copied(),
            moment: Moment {
                epoch: self.compiler.epoch,
                region: self.compiler.region,
                iteration: self.compiler.iteration,
                stretch: self.compiler.stretch.at,
                branches: &self.compiler.stretch.branches,
                skips: self.compiler.stretch.skips,
                calls: self.compiler.stretch.calls,
                turn,
                within,
            },
        };
        let numbers = Numbers { world: &self.world, split: &self.settings.residues };
        self.looping.uneven |= self.requests.take(&occurrence, &mut self.trace, &numbers);
        self.trace.tree.push(Event::Access(event));
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
        let tiles_fit = self.at_hand.tiles_fit;
        // A narrow member may be of a class.
        let is_narrow = self.at_hand.member.is_some() && bytes.is_none_or(|bytes| bytes < 4);
        let is_scalar = matches!(ty, Ty::Scalar(_)) && (!is_narrow || self.at_hand.copies);
        self.requests.site(&mut self.trace.accesses, (span, op, array, bytes), atomic, tiles_fit, || Access {
            atomic,
            bytes,
            align: split_alignment(ty, bytes),
            scalar: is_scalar,
            copies: self.at_hand.copies,
            joins_members: joined_members(ty, bytes),
            around: self.at_hand.copying.as_ref().is_some_and(|copying| copying.around),
            tiles: Tiles { matrices: self.at_hand.matrices, fragment: self.at_hand.fragment, tiles_fit },
            paths: vec![self.around.calls_around(span).to_vec()],
            ..Access::new(span, op, array)
        })
    }

    /// The first thread that is active, as far as that is known, and known to lie outside the array.
    fn first_outside(&self, array: usize, offset: &Offset) -> Option<u32> {
        let (Offset::Known(offset), Some(size)) = (offset, self.trace.arrays[array].bytes()) else {
            return None;
        };
        if self.trace.arrays[array].dynamic {
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
}
