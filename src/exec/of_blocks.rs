//! Which blocks take a branch?
//!
//! A condition that is made of the numbers of threads and blocks alone is decided for each block. Example, in a
//! block of 256:
//!
//! ```text
//! blockIdx.x == 0 && threadIdx.x == 0      thread 0 of the blocks (0, y, z), and nobody else
//! ```

use super::condition::Truth;
use super::machine::Machine;
use super::value::{Condition, Relation};
use crate::domain::{AmongBlocks, Int, ThreadSet};
use crate::events::Blocks;

impl Machine<'_> {
    /// The blocks in which all active threads are on this side of a comparison.
    pub(super) fn blocks_on_side(&self, difference: &Int, relation: Relation, taken: bool) -> Blocks {
        let active = self.state.active;
        let on_side = |threads: ThreadSet| match taken {
            true => active.minus(&threads).is_empty(),
            false => active.and(&threads).is_empty(),
        };
        Blocks::collect(|block| self.compared_in(block, difference, relation).is_some_and(on_side))
    }

    /// The blocks whose threads take the sides of a condition, where it holds and where it fails, as its truth tells.
    pub(super) fn blocks_by_side(&self, condition: &Condition, truth: &Truth) -> [Blocks; 2] {
        let active = self.state.active;
        let of = |side: Option<ThreadSet>, holds: bool| {
            let Some(side) = side else { return Blocks::NONE };
            Blocks::collect(|block| {
                self.holds_in(block, condition).is_some_and(|threads| {
                    let there = if holds { threads } else { self.world.all.minus(&threads) };
                    there.and(&active) == side.and(&active)
                })
            })
        };
        [of(truth.holds, true), of(truth.fails, false)]
    }

    /// The threads of a block for which a condition holds, if that is known.
    fn holds_in(&self, block: [i64; 3], condition: &Condition) -> Option<ThreadSet> {
        match condition {
            Condition::Known(threads) => Some(*threads),
            Condition::Compare { difference, relation, .. } => self.compared_in(block, difference, *relation),
            Condition::Opaque(..) => None,
            Condition::Not(inner) => Some(self.world.all.minus(&self.holds_in(block, inner)?)),
            Condition::And(a, b) => match (self.holds_in(block, a), self.holds_in(block, b)) {
                (Some(a), Some(b)) => Some(a.and(&b)),
                (Some(one), None) | (None, Some(one)) => one.is_empty().then_some(one),
                (None, None) => None,
            },
            Condition::Or(a, b) => match (self.holds_in(block, a), self.holds_in(block, b)) {
                (Some(a), Some(b)) => Some(a.or(&b)),
                (Some(one), None) | (None, Some(one)) => (one == self.world.all).then_some(one),
                (None, None) => None,
            },
        }
    }

    /// The threads of a block for which a comparison holds, if it is made of nothing else that is not known.
    fn compared_in(&self, block: [i64; 3], difference: &Int, relation: Relation) -> Option<ThreadSet> {
        let shape = self.shape();
        let mut value = difference.base.clone();
        for (id, factor) in &difference.terms {
            let AmongBlocks::Index(axis) = self.world.symbols.get(*id).among_blocks else { return None };
            value = value.add(&factor.scale(block[axis]), shape);
        }
        Some(ThreadSet::collect(shape, |thread| relation.holds(value.at(thread, shape))))
    }
}
