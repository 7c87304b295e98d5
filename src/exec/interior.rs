//! Which side of a comparison does a block take that is not at the edge of the problem?
//!
//! ```text
//! if (x < n) ...                          such a block does
//! if (x >= n) return;                     it goes on
//! if (x < 0 || x >= n) s[t] = 0; else ... it takes the other side, where the first one only pads
//! if (x >= first) ...                     this is not known
//! if (x == 0) ...                         it does not
//! ```

use super::machine::Machine;
use super::value::Relation;
use crate::domain::{AmongBlocks, Int, Lanes, Origin, SymbolId};

/// Whether the branch of a condition that holds is for blocks at the edge, as far as its text tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leaving {
    No,
    /// It puts constants in place of what lies beyond the edge.
    Pads,
    /// It only leaves: `return`, `continue`, `break`.
    Always,
}

impl Machine<'_> {
    /// The side of an ordered comparison that a block in the middle of the problem is on: the
    /// run-time sizes outgrow block indices, loop counters and the block's coordinates. `x < n`
    /// holds there and `if (x >= n) return;` is not taken. Where only block indices and loop
    /// counters are unknown, an ordered comparison is a bound that the interior keeps.
    pub(super) fn interior(&self, difference: &Int, relation: Relation, leaves: Leaving) -> Option<bool> {
        let shape = self.shape();
        let strongest = difference.terms.iter().map(|(id, _)| self.outgrown(*id)).max()?;
        // A bound that changes from iteration to iteration cuts the block at another place each time.
        let changes = |id| self.world.symbols.get(id).origin == Origin::LoopValue;
        if strongest == Origin::Choice || difference.terms.iter().any(|(id, _)| changes(*id)) {
            return None;
        }
        if strongest < Origin::Given {
            if let Some(side) = self.side_in_the_middle(difference, relation) {
                return Some(side);
            }
            return Some(leaves != Leaving::Always && !self.is_of_first_blocks(difference, relation));
        }
        let mut sign = 0;
        for (id, factor) in difference.terms.iter().filter(|(id, _)| self.outgrown(*id) == strongest) {
            // A small part of a size is no size.
            if self.world.symbols.is_small_part(*id) {
                return None;
            }
            let (low, high) = factor.bounds(shape);
            let this = if low >= 0 {
                1
            } else if high <= 0 {
                -1
            } else {
                return None;
            };
            if sign != 0 && sign != this {
                return self.between_two_ends(difference, relation, leaves != Leaving::No);
            }
            sign = this;
        }
        let holds = relation.holds(sign);
        // A lower bound given at run time (`i >= start`) looks like a size; only a branch that leaves, or pads,
        // tells `if (i >= n) return;` from it.
        if !holds && leaves == Leaving::No { None } else { Some(holds) }
    }

    /// The side of a comparison that all threads of the middle block take, in a grid whose size is known.
    ///
    /// Example: of 8 blocks of 256 threads, block 4 has threads 1024 to 1279, for which `x > 1919` fails.
    fn side_in_the_middle(&self, difference: &Int, relation: Relation) -> Option<bool> {
        let shape = self.shape();
        let mut values = difference.base.spread(shape).to_vec();
        for (id, factor) in &difference.terms {
            let AmongBlocks::Index(axis) = self.world.symbols.get(*id).among_blocks else { return None };
            // Of two blocks, neither is the usual one.
            let middle = self.settings.grid[axis].filter(|blocks| *blocks > 2)? / 2;
            let factors = factor.spread(shape);
            for (value, factor) in values.iter_mut().zip(factors.iter()) {
                *value = value.checked_add(factor.checked_mul(middle)?)?;
            }
        }
        let mut sides = self.state.active.threads().map(|thread| relation.holds(values[thread]));
        let side = sides.next()?;
        sides.all(|other| other == side).then_some(side)
    }

    /// Whether a comparison with places in the problem holds for few threads, and those of the first blocks only: in
    /// `blockIdx.x * 16 + threadIdx.x - 1 < 0`, one thread of block 0.
    fn is_of_first_blocks(&self, difference: &Int, relation: Relation) -> bool {
        let shape = self.shape();
        // Of a grid of one or two blocks, no others are the usual ones.
        let many = |id: SymbolId| match self.world.symbols.get(id).among_blocks {
            AmongBlocks::Index(axis) => self.settings.grid[axis].is_none_or(|blocks| blocks > 2),
            _ => true,
        };
        if !difference.terms.iter().all(|(id, _)| many(*id)) {
            return false;
        }
        let mut factors = difference.terms.iter().map(|(_, factor)| factor.bounds(shape));
        let grows = factors.all(|(low, _)| low > 0) && !relation.holds(1);
        let base = difference.base.spread(shape);
        let of_first = self.state.active.threads().filter(|thread| relation.holds(base[*thread])).count();
        grows && of_first * 2 < self.state.active.threads().count()
    }

    /// What a symbol stands for where a guard lets one outgrow the other: in `blockIdx.x * tile + t < n`, the
    /// product is a place in the problem as `blockIdx.x` is, and no size of it.
    pub(super) fn rank(&self, id: SymbolId) -> Origin {
        let origin = |id: &SymbolId| self.world.symbols.get(*id).origin;
        let symbol = self.world.symbols.get(id);
        let place = |it: &Origin| matches!(it, Origin::Loop | Origin::BlockIndex);
        let places = symbol.factors.iter().filter(|factor| **factor != id).map(origin).filter(place);
        places.max().filter(|_| symbol.origin == Origin::Given).unwrap_or(symbol.origin)
    }

    /// The same of what is divided: `blockIdx.x / columns` is a place in the problem, too.
    fn outgrown(&self, id: SymbolId) -> Origin {
        let own = self.rank(id);
        let place = |it: &Origin| matches!(it, Origin::Loop | Origin::BlockIndex);
        let of = self.world.symbols.dividend(id).filter(|_| own == Origin::Given);
        let of: Vec<Origin> = of.into_iter().flatten().map(|id| self.rank(id)).collect();
        of.iter().copied().max().filter(|_| of.iter().all(place)).unwrap_or(own)
    }

    /// Whether a number that is the same for all blocks is compared with one that differs from block to block,
    /// as with `x == 0` and `x == width - 1` where `x = blockIdx.x * 16 + threadIdx.x`: they are equal in
    /// one block of a row at the most, and in none that is not at the edge.
    pub(super) fn is_of_one_block(&self, difference: &Int) -> bool {
        let symbols = &self.world.symbols;
        let fixed = |(id, factor): &(SymbolId, Lanes)| {
            factor.as_constant().is_some()
                && matches!(self.rank(*id), Origin::BlockIndex | Origin::GridSize | Origin::Given)
        };
        let moves =
            |(id, _): &(SymbolId, Lanes)| self.rank(*id) == Origin::BlockIndex && symbols.is_unbounded(*id);
        difference.terms.iter().all(fixed) && difference.terms.iter().any(moves)
    }
}
