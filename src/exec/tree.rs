//! What goes into the event tree?

use super::machine::{Machine, Mode};
use super::types::Ty;
use super::value::{ObjectId, Offset, Pointer, Value};
use crate::domain::{Int, SymbolId, ThreadSet};
use crate::events::{
    AccessEvent, AccessOp, Branches, Differs, EndOfRound, Event, GoesOn, Orderer, SplitKind, Stored, WarpTile,
};
use crate::ir::{Asm, Expr, ExprKind};
use crate::source::Span;
use std::sync::Arc;

/// Which lanes of a warp come together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Together {
    /// All that are active.
    Warp,
    /// Those of a mask that is the same for all lanes.
    Named(u32),
    /// All that are active, in each tile by itself.
    InTiles(WarpTile),
    /// Each with some of the others: by a mask that is not known or differs between lanes.
    Some,
}

impl Machine<'_> {
    /// An access by the active threads, its offset as the conditions around tell it.
    pub(super) fn access_event(&self, access: usize, object: ObjectId, offset: &Offset) -> AccessEvent {
        let offset = match offset {
            Offset::Known(offset) => Some(self.substitute(offset)),
            Offset::Unknown(..) => offset.known_part().cloned(),
        };
        AccessEvent {
            access,
            path: 0,
            object: object.0,
            offset,
            threads: self.state.active,
            is_sure: self.state.doubt.is_none(),
            is_chosen: self.state.doubt.is_some() && self.state.chosen,
            is_passable: !self.state.passable.is_empty(),
            branches: self.branches(),
            assumptions: Arc::clone(&self.state.assumptions),
            may_be_cut_short: self.may_be_cut_short(),
            stored: Stored::Unknown,
            member: self.at_hand.member,
            tile: self.at_hand.tile.clone(),
        }
    }

    /// Records a store of a value by the active threads.
    pub(super) fn record_store(&mut self, pointer: &Pointer, value: &Value, span: Span) {
        let before = self.trace.tree.len();
        self.record_write(pointer, span);
        if self.trace.tree.len() > before {
            // A class may make something else of it, in each thread.
            let is_number = matches!(pointer.pointee, Ty::Scalar(_));
            self.trace.tree.set_stored(match value {
                Value::Int(number, _) => Stored::Number(Box::new(number.clone())),
                Value::Float(number, _) => Stored::Float(number.to_bits()),
                _ if is_number && self.at_hand.stores_of_warp == Some(span) => Stored::OfWarp,
                _ => Stored::Unknown,
            });
        }
    }

    /// What was just written is made of what was read there; `alike` as in [`Stored::Update`].
    pub(super) fn note_update(&mut self, pointer: &Pointer, alike: bool) {
        if self.recording && self.is_recorded(pointer) {
            self.trace.tree.set_stored(Stored::Update { alike });
        }
    }

    /// The last event may be a store of what was made of what its place held, which was read since `before`.
    pub(super) fn note_made_of(&mut self, before: usize, alike: bool) {
        let accesses = &self.trace.accesses;
        let since = self.trace.tree.events().get(before..).unwrap_or_default();
        let Some((Event::Access(store), earlier)) = since.split_last() else { return };
        let op_of = |event: &AccessEvent| accesses.get(event.access).map(|access| access.op);
        // What it is can be known where nobody else writes, too.
        let is_own = matches!(self.trace.tree.last_stored(), Some(Stored::Unknown | Stored::Number(_)));
        if !is_own || op_of(store) != Some(AccessOp::Store) || store.offset.is_none() {
            return;
        }
        let load = earlier.iter().rev().find_map(|event| match event {
            Event::Access(load)
                if op_of(load) == Some(AccessOp::Load)
                    && (load.object, &load.offset) == (store.object, &store.offset)
                    && load.threads == store.threads =>
            {
                Some(load.access)
            }
            _ => None,
        });
        if let Some(load) = load {
            self.trace.tree.set_stored(Stored::UpdateOf { load, alike });
        }
    }

    /// The last event may be a store of what each thread has just read from global memory.
    pub(super) fn note_read_elsewhere(&mut self, before: usize, value: &Expr) {
        let mut place = value;
        while let ExprKind::Cast(_, inner) = &place.kind {
            place = inner;
        }
        let Some((_, offset)) = self.at_hand.read_at.take().filter(|(span, _)| *span == place.span) else {
            return;
        };
        let since = self.trace.tree.events().get(before..).unwrap_or_default();
        let Some(Event::Access(store)) = since.last() else { return };
        let op = self.trace.accesses.get(store.access).map(|access| access.op);
        if op == Some(AccessOp::Store) && matches!(store.stored, Stored::Unknown | Stored::Number(_)) {
            self.trace.tree.set_stored(Stored::Read(Box::new(Int::clone(&offset))));
        }
    }

    /// The last event may be a store of an element of the array that it writes, which was read just before. In the
    /// threads whose element is the same one, nothing changes: `s[lane + first] = s[lane]` where `first` is 0.
    pub(super) fn note_copy(&mut self, before: usize) {
        let since = self.trace.tree.events().get(before..).unwrap_or_default();
        let [.., Event::Access(load), Event::Access(store)] = since else { return };
        let access_of = |event: &AccessEvent| self.trace.accesses.get(event.access);
        let Some((read, written)) = access_of(load).zip(access_of(store)) else { return };
        let is_copy = (read.op, written.op) == (AccessOp::Load, AccessOp::Store)
            && read.bytes == written.bytes
            && load.object == store.object
            && load.threads == store.threads;
        let Some((from, to)) = load.offset.as_ref().zip(store.offset.as_ref()).filter(|_| is_copy) else {
            return;
        };
        let by = self.world.sub(to, from);
        let Some(by) = by.as_known() else { return };
        let changed = store.threads.and(&ThreadSet::nonzero(by, self.shape()));
        if !changed.is_empty() {
            self.trace.tree.set_threads(changed);
        }
    }

    /// Something that is not followed may access shared memory.
    pub(super) fn may_access(&mut self, span: Span) {
        self.forget_contents();
        self.compiler.registers.may_be_read();
        if self.recording {
            self.trace.tree.push(Event::MayAccess { span, writes: true });
        }
    }

    /// Something reads memory that is not recorded.
    pub(super) fn reads_unrecorded(&mut self, span: Span) {
        if self.recording && self.sees_global_memory() {
            self.trace.tree.push(Event::MayAccess { span, writes: false });
        }
    }

    /// Something writes memory that is not recorded.
    pub(super) fn writes_unrecorded(&mut self, span: Span) {
        if self.recording && self.sees_global_memory() {
            self.trace.tree.push(Event::MayAccess { span, writes: true });
        }
    }

    /// What is read through a pointer that is not followed may be shared memory.
    pub(super) fn may_read(&mut self, place: &Expr) {
        let through = matches!(
            place.kind,
            ExprKind::Deref(_) | ExprKind::Index(..) | ExprKind::Member { arrow: true, .. }
        );
        if through {
            self.reads_somewhere(place.span);
        }
    }

    /// Something is read of which it is not known where it lies.
    pub(super) fn reads_somewhere(&mut self, span: Span) {
        self.compiler.registers.may_be_read();
        if self.recording && self.mode == Mode::Device {
            self.trace.tree.push(Event::MayAccess { span, writes: false });
        }
    }

    /// The active lanes of each warp come together.
    pub(super) fn warp_order(&mut self, lanes: Together, is_fence: bool, span: Span) {
        if !self.recording || self.mode != Mode::Device {
            return;
        }
        let active = self.state.active;
        let threads = match lanes {
            Together::Named(mask) => {
                let named = ThreadSet::collect(self.shape(), |thread| mask >> (thread % 32) & 1 == 1);
                active.and(&named)
            }
            Together::Warp | Together::InTiles(_) | Together::Some => active,
        };
        let tile = match lanes {
            Together::InTiles(tile) => tile,
            _ => WarpTile::WARP,
        };
        let is_sure = self.is_surely_by_all() && lanes != Together::Some;
        let branches = self.branches();
        self.trace.tree.push(Event::WarpOrder { span, threads, tile, is_fence, is_sure, branches });
    }

    /// Whether the active threads, and no fewer, do what happens now, as far as the branches around are taken.
    pub(super) fn is_surely_by_all(&self) -> bool {
        self.state.doubt.is_none() && self.around.splits.iter().all(|split| split.kind == SplitKind::Known)
    }

    /// Something that is not followed may order the threads, or bring lanes together.
    pub(super) fn may_order(&mut self, span: Span) {
        if self.recording {
            self.trace.lanes.open();
        }
        self.orders_by_memory(Orderer::Unknown, span);
    }

    /// A fence or an atomic, which may order threads by what they read.
    pub(super) fn orders_by_memory(&mut self, by: Orderer, span: Span) {
        if self.recording {
            self.trace.tree.push(Event::MayOrder { span, by });
        }
    }

    /// The active threads put their copies into a group, or wait for all groups but some; where it is not known
    /// how many, that is like anything else that may order.
    pub(super) fn copy_order(&mut self, waits: bool, but: Option<i64>, span: Span) {
        if !self.recording {
            return;
        }
        let (threads, is_sure, branches) = (self.state.active, self.is_surely_by_all(), self.branches());
        match (waits, but.map(u32::try_from)) {
            (false, _) => self.trace.tree.push(Event::CopyGroup { threads, is_sure, branches }),
            (true, Some(Ok(but))) => {
                self.trace.tree.push(Event::CopyWait { threads, but: Some(but), is_sure, branches });
            }
            (true, _) => self.orders_by_memory(Orderer::Unknown, span),
        }
    }

    /// The active threads wait for all of their copies.
    pub(super) fn wait_for_copies(&mut self) {
        if self.recording {
            let (threads, is_sure, branches) = (self.state.active, self.is_surely_by_all(), self.branches());
            self.trace.tree.push(Event::CopyWait { threads, but: None, is_sure, branches });
        }
    }

    /// Inline assembly may do so, if it does more than compute and access.
    pub(super) fn assembly_event(&mut self, asm: &Asm, span: Span) {
        if !self.lookups.memo.orders_nothing(asm) {
            self.may_order(span);
        }
    }

    /// A loop begins of which one pass may stand for all rounds.
    pub(super) fn begin_loop_event(&mut self, span: Span, runs: bool) {
        if self.recording {
            let first_symbol = self.world.symbols.next();
            let branches = self.branches();
            self.trace.tree.push(Event::Loop { span, first_symbol, runs, branches });
        }
    }

    /// In a pass that stands for several rounds the next of them begins.
    pub(super) fn next_round_event(&mut self) {
        if self.recording {
            let branches = self.branches();
            self.trace.tree.push(Event::NextRound { branches });
        }
    }

    /// It ends. `round`: the symbol of its rounds, if one pass does stand for all; `rest`: that of the rounds that are
    /// no whole pass; `second`: whether there is a second round, and what leads to it.
    pub(super) fn end_loop_event(
        &mut self,
        round: Option<SymbolId>,
        rest: Option<SymbolId>,
        second: Option<(GoesOn, EndOfRound)>,
    ) {
        if self.recording {
            let (goes_on, end) = second.unwrap_or((GoesOn::Perhaps, EndOfRound::default()));
            self.trace.tree.push(Event::EndOfLoop { round, rest, goes_on, end });
        }
    }

    /// What runs next may be something else: for threads that a bound keeps out, or in rounds that are not run.
    pub(super) fn may_differ(&mut self, span: Span, why: Differs) {
        if self.recording {
            self.trace.tree.push(Event::MayDiffer { span, why });
        }
    }

    /// The branches around what happens now.
    pub(super) fn branches(&self) -> Branches {
        match (self.state.passable.is_empty(), self.state.bounds.is_empty()) {
            (true, true) => Branches::default(),
            _ => self.state.passable.iter().chain(&self.state.bounds).copied().collect(),
        }
    }
}
