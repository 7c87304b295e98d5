//! What do all lanes of a warp have in common, though it is not known?
//!
//! What they read from one address, get from one lane, or find out together is one number in each warp. Banks
//! depend on where the lanes of a warp are to each other, so it may be any number:
//!
//! ```text
//! int begin = offsets[threadIdx.x / 32];             one number in each warp
//! int first = __shfl_sync(~0u, x, 0);                too
//! tile[begin + lane]                                 neighbours: free of conflicts
//! tile[2 * (begin + lane)]                           2-way
//! ```
//!
//! Between warps nothing is known of such numbers, so that races are judged as if each thread had one of its own.
//! What lanes pick for themselves out of few words lies in as many banks:
//!
//! ```text
//! queue[begin + __popc(ballot & below)]              31 words from the first to the last: free of conflicts
//! ```
//!
//! And where each lane keeps to a bank of its own, it does not matter which row it picks:
//!
//! ```text
//! bins[data[i]][lane]                                rows of 32 words, or of 32 triples: free of conflicts
//! ```

use super::condition::Truth;
use super::machine::{Machine, Mode, ObjectKind};
use super::value::{Condition, Pointer, Target};
use crate::domain::{Int, Lanes, Origin, SymbolId, ThreadSet, Variation};
use crate::events::AccessOp;

/// Bytes of the words in all banks.
const ALL_BANKS: i64 = 128;

impl Machine<'_> {
    /// A number like no other that each thread has of its own, or each warp where what it is made of is so.
    pub(super) fn fresh_own(
        &mut self,
        origin: Origin,
        range: (Option<i64>, Option<i64>),
        of: &[&Int],
    ) -> SymbolId {
        match of.iter().all(|int| self.is_alike_in_warps(int)) {
            true => self.world.symbols.fresh_of_warp(origin, range),
            false => self.world.symbols.fresh_per_thread(origin, range),
        }
    }

    /// Whether the active lanes of each warp have one number.
    pub(super) fn is_alike_in_warps(&self, int: &Int) -> bool {
        let known = |id: &SymbolId| !id.is_per_thread() || self.world.symbols.get(*id).of_warp;
        int.terms.iter().all(|(id, factor)| known(id) && self.same_in_warps(factor))
            && self.same_in_warps(&int.base)
    }

    /// Whether a condition holds for all active lanes of a warp, or for none.
    pub(super) fn holds_alike_in_warps(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Known(holds) => {
                let active = self.state.active;
                (0..self.shape().threads().div_ceil(32)).all(|warp| {
                    let here = holds.warp(warp) & active.warp(warp);
                    here == 0 || here == active.warp(warp)
                })
            }
            Condition::Compare { difference, .. } => self.is_alike_in_warps(difference),
            Condition::Opaque(variation, _) => *variation <= Variation::OfWarp,
            Condition::Not(inner) => self.holds_alike_in_warps(inner),
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.holds_alike_in_warps(left) && self.holds_alike_in_warps(right)
            }
        }
    }

    /// Whether a condition that is open parts no threads, because only lanes of one warp ask it, and it is the same for
    /// all of these.
    pub(super) fn is_of_one_warp(&self, condition: &Condition, truth: &Truth) -> bool {
        let active = self.state.active;
        let may_be = |side: &ThreadSet| active.minus(side).is_empty();
        let mut warps = (0..self.shape().threads().div_ceil(32)).filter(|warp| active.warp(*warp) != 0);
        !truth.decided
            && !truth.uniform
            && truth.guard.is_none()
            && self.mode == Mode::Device
            && may_be(&truth.can_hold)
            && may_be(&truth.can_fail)
            && warps.next().is_some()
            && warps.next().is_none()
            && self.holds_alike_in_warps(condition)
    }

    fn same_in_warps(&self, lanes: &Lanes) -> bool {
        if lanes.as_constant().is_some() {
            return true;
        }
        let shape = self.shape();
        let values = lanes.spread(shape);
        let mut first: Vec<Option<i64>> = vec![None; shape.threads().div_ceil(32)];
        self.state.active.threads().all(|thread| {
            let value = values[thread];
            *first[thread / 32].get_or_insert(value) == value
        })
    }

    /// Whether the active lanes of each warp read one address.
    pub(super) fn reads_of_warp(&self, pointer: &Pointer) -> bool {
        let Target::Memory(object, offset) = &pointer.target else { return false };
        let [object] = self.objects_of(*object)[..] else { return false };
        let is_one = self.memory.objects[object.0 as usize].kind != ObjectKind::Anywhere;
        let is_alike = || match offset.known_part() {
            Some(offset) => self.is_alike_in_warps(offset),
            None => offset.variation() <= Variation::OfWarp,
        };
        is_one && is_alike()
    }

    /// The offset within one warp, where what is not known of it is one number in each warp. It may be another one by
    /// a multiple of 2^32, so that banks are the same; and so are places within one array.
    pub(super) fn within_warp(&mut self, offset: &Int) -> Option<Int> {
        let offset = &self.world.unwrapped(offset);
        let alike = |id: &SymbolId| !id.is_per_thread() || self.world.symbols.get(*id).of_warp;
        if !offset.terms.iter().all(|(id, factor)| alike(id) && self.same_in_warps(factor)) {
            return None;
        }
        let mut within = Int { terms: Vec::new(), ..offset.clone() };
        for (id, factor) in &offset.terms {
            let id = if id.is_per_thread() { self.world.symbols.within_warp(*id) } else { *id };
            let term = Int::of(Lanes::constant(0), vec![(id, factor.clone())]);
            within = self.world.add(&within, &term);
        }
        Some(within)
    }

    /// Whether at most one lane of a warp makes an access that is one request, so that the place does not matter.
    pub(super) fn is_of_one_lane(&self, op: AccessOp, bytes: Option<u32>) -> bool {
        let (active, shape) = (&self.state.active, self.shape());
        matches!(op, AccessOp::Load | AccessOp::Store)
            && matches!(bytes, Some(1 | 2 | 4 | 8 | 12 | 16))
            && (0..shape.threads().div_ceil(32)).all(|warp| active.warp(warp).count_ones() <= 1)
    }

    /// Whether the lanes of a warp access words of which no two are in one bank, whichever they pick.
    pub(super) fn never_share_banks(&self, op: AccessOp, bytes: Option<u32>, offset: &Int) -> bool {
        if !matches!(op, AccessOp::Load | AccessOp::Store) {
            return false;
        }
        let keep_to_banks = || self.keep_to_banks(&self.world.unwrapped(offset));
        match bytes.map(i64::from) {
            Some(bytes @ (1 | 2 | 4)) => self.stay_close(bytes, offset) || keep_to_banks(),
            // Three words, one after the other: where the first ones have banks of their own, so have the others.
            Some(12) => keep_to_banks(),
            _ => false,
        }
    }

    /// Whether each lane of a warp has a bank of its own, in rows that are a multiple of all banks apart.
    fn keep_to_banks(&self, offset: &Int) -> bool {
        let keeps = |(id, factor): &(SymbolId, Lanes)| {
            let factor = factor.as_constant();
            match id.is_per_thread() {
                true => factor.is_some_and(|factor| factor % ALL_BANKS == 0),
                false => factor.is_some_and(|factor| factor % 4 == 0),
            }
        };
        let values = offset.base.spread(self.shape());
        let mut taken = vec![0u32; self.shape().threads().div_ceil(32)];
        offset.terms.iter().all(keeps)
            && self.state.active.threads().all(|thread| {
                let bank = 1 << (values[thread].rem_euclid(ALL_BANKS) / 4);
                let is_free = taken[thread / 32] & bank == 0;
                taken[thread / 32] |= bank;
                is_free
            })
    }

    /// Whether the lanes of a warp stay within as many words as there are banks.
    fn stay_close(&self, bytes: i64, offset: &Int) -> bool {
        let (mut low, mut high) = (0i64, 0i64);
        for (id, factor) in &offset.terms {
            let symbol = self.world.symbols.get(*id);
            if !id.is_per_thread() || symbol.of_warp {
                if !self.same_in_warps(factor) {
                    return false;
                }
                continue;
            }
            let ends = factor.as_constant().zip(symbol.low).zip(symbol.high);
            let Some(((factor, least), most)) = ends else { return false };
            let (Some(a), Some(b)) = (factor.checked_mul(least), factor.checked_mul(most)) else {
                return false;
            };
            (low, high) = (low.saturating_add(a.min(b)), high.saturating_add(a.max(b)));
        }
        // Bytes and pairs of them may begin within a word, and so have a part of one word more.
        let most = if bytes == 4 { ALL_BANKS - bytes } else { ALL_BANKS - 3 - bytes };
        let values = offset.base.spread(self.shape());
        let mut ends: Vec<Option<(i64, i64)>> = vec![None; self.shape().threads().div_ceil(32)];
        self.state.active.threads().all(|thread| {
            let value = values[thread];
            let (first, last) = ends[thread / 32].get_or_insert((value, value));
            (*first, *last) = (value.min(*first), value.max(*last));
            (*last - *first).saturating_add(high.saturating_sub(low)) <= most
        })
    }
}
