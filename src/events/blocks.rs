//! In which blocks does something surely happen?
//!
//! Blocks differ in their numbers. Three numbers in each of the three directions, 27 blocks in all, are enough for
//! neighbours and for what the first block does alone.
//!
//! ```text
//! if (blockIdx.x == 0) ...      the blocks (0, y, z)
//! if (blockIdx.x > 0) ...       the blocks (1, y, z) and (2, y, z)
//! if (gridDim.x > 1) ...        all of them, in a grid of several blocks in x
//! ```

/// So many numbers are looked at in each direction.
const SIDE: u32 = 3;
const COUNT: u32 = SIDE * SIDE * SIDE;

/// Some of the blocks whose numbers are 0, 1, or 2 in each direction. Above their bits stand the directions in which the
/// grid has to have several blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Blocks(u32);

impl Blocks {
    /// None of them.
    pub(crate) const NONE: Blocks = Blocks(0);
    /// All of them.
    pub(crate) const ALL: Blocks = Blocks((1 << COUNT) - 1);

    /// The numbers of each, in x, y and z.
    pub(crate) fn each() -> impl Iterator<Item = [i64; 3]> {
        (0..COUNT).map(|bit| [bit % SIDE, bit / SIDE % SIDE, bit / SIDE / SIDE].map(i64::from))
    }

    /// Those that are meant.
    pub(crate) fn collect(mut is_meant: impl FnMut([i64; 3]) -> bool) -> Blocks {
        let bits = Blocks::each().enumerate().filter(|(_, block)| is_meant(*block));
        Blocks(bits.fold(0, |all, (bit, _)| all | 1 << bit))
    }

    /// The same where the grid has several blocks in these directions.
    pub(crate) fn where_several(self, axes: [bool; 3]) -> Blocks {
        let axes = (0..3).filter(|axis| axes[*axis]).fold(0, |bits, axis| bits | 1 << (COUNT + axis as u32));
        if self == Blocks::NONE { self } else { Blocks(self.0 | axes) }
    }

    /// Whether the grid has to have several blocks in a direction.
    pub(crate) fn needs_several(self, axis: usize) -> bool {
        self.0 >> (COUNT + axis as u32) & 1 == 1
    }

    /// Those that are in both.
    pub(crate) fn and(self, other: Blocks) -> Blocks {
        let blocks = self.0 & other.0 & Blocks::ALL.0;
        match blocks {
            0 => Blocks::NONE,
            _ => Blocks(blocks | (self.0 | other.0) & !Blocks::ALL.0),
        }
    }

    /// Whether all are in it that have a block before them in each direction.
    pub(crate) fn has_inner(self) -> bool {
        Blocks::each().filter(|block| block.iter().all(|number| *number > 0)).all(|block| self.has(block))
    }

    /// Whether the block with these numbers is in it.
    pub(crate) fn has(self, block: [i64; 3]) -> bool {
        Blocks::each().position(|it| it == block).is_some_and(|bit| self.0 >> bit & 1 == 1)
    }
}
