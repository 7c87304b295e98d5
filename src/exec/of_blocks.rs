//! Which blocks take a branch?
//!
//! A condition that is made of the numbers of threads and blocks alone is decided for each block. Example, in a
//! block of 256:
//!
//! ```text
//! blockIdx.x == 0 && threadIdx.x == 0      thread 0 of the blocks (0, y, z), and nobody else
//! ```
//!
//! So is one that asks how many blocks there are, where it has one answer for all grids of several blocks, as
//! `gridDim.x > 1` has.

use super::condition::Truth;
use super::machine::Machine;
use super::value::{Condition, Relation};
use crate::domain::{AmongBlocks, Int, Key, SymbolId, ThreadSet};
use crate::events::Blocks;

impl Machine<'_> {
    /// The blocks in which all active threads are on this side of a comparison.
    pub(super) fn blocks_on_side(&self, difference: &Int, relation: Relation, taken: bool) -> Blocks {
        let active = self.state.active;
        let on_side = |threads: ThreadSet| match taken {
            true => active.minus(&threads).is_empty(),
            false => active.and(&threads).is_empty(),
        };
        let blocks =
            Blocks::collect(|block| self.compared_in(block, difference, relation).is_some_and(on_side));
        blocks.where_several(self.sizes_in(difference))
    }

    /// The blocks whose threads take the sides of a condition, where it holds and where it fails, as its truth tells.
    pub(super) fn blocks_by_side(&self, condition: &Condition, truth: &Truth) -> [Blocks; 2] {
        let active = self.state.active;
        let of = |side: Option<ThreadSet>, holds: bool| {
            let Some(side) = side else { return Blocks::NONE };
            let blocks = Blocks::collect(|block| {
                self.holds_in(block, condition).is_some_and(|threads| {
                    let there = if holds { threads } else { self.world.all.minus(&threads) };
                    there.and(&active) == side.and(&active)
                })
            });
            blocks.where_several(self.sizes_asked(condition))
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

    /// The threads of a block for which a comparison holds, if it is made of nothing else that is not known, and for
    /// all grids of several blocks alike.
    fn compared_in(&self, block: [i64; 3], difference: &Int, relation: Relation) -> Option<ThreadSet> {
        let shape = self.shape();
        let mut value = difference.base.clone();
        let mut growth = 0;
        for (id, factor) in &difference.terms {
            if let Some(axis) = self.size_of_grid(*id) {
                // One size grows: of several it is not known which grows how much.
                let by = factor.as_constant().filter(|_| growth == 0)?;
                value = value.add(&factor.scale(block[axis].max(1) + 1), shape);
                growth = by;
                continue;
            }
            let AmongBlocks::Index(axis) = self.world.symbols.get(*id).among_blocks else { return None };
            value = value.add(&factor.scale(block[axis]), shape);
        }
        let holds = |number: i64| relation.holds(number);
        let at_least = ThreadSet::collect(shape, |thread| holds(value.at(thread, shape)));
        let stays = |thread: usize| {
            let number = value.at(thread, shape);
            match relation {
                // Once it is beyond it, it stays beyond it.
                Relation::Equal | Relation::NotEqual => number != 0 && number.signum() == growth.signum(),
                _ => holds(number) == holds(growth.signum()),
            }
        };
        (growth == 0 || self.world.all.threads().all(stays)).then_some(at_least)
    }

    /// The direction of which a symbol is the number of blocks.
    fn size_of_grid(&self, id: SymbolId) -> Option<usize> {
        (0..3).find(|axis| self.world.symbols.known_by(&Key::Grid(*axis)) == Some(id))
    }

    /// The directions of which the number of blocks stands in a number.
    fn sizes_in(&self, number: &Int) -> [bool; 3] {
        let has = |axis| number.terms.iter().any(|(id, _)| self.size_of_grid(*id) == Some(axis));
        std::array::from_fn(has)
    }

    /// The directions of which a condition asks for the number of blocks.
    fn sizes_asked(&self, condition: &Condition) -> [bool; 3] {
        match condition {
            Condition::Known(_) | Condition::Opaque(..) => [false; 3],
            Condition::Compare { difference, .. } => self.sizes_in(difference),
            Condition::Not(inner) => self.sizes_asked(inner),
            Condition::And(a, b) | Condition::Or(a, b) => {
                let (a, b) = (self.sizes_asked(a), self.sizes_asked(b));
                std::array::from_fn(|axis| a[axis] || b[axis])
            }
        }
    }
}
