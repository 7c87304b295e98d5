//! Which lanes of a warp come together, where not all 32 do?
//!
//! A warp is cut into tiles of 1, 2, 4, 8, 16 or 32 threads that follow each other. Example, with tiles of 8 after each
//! of which a `sync` orders memory: threads 3 and 5 are in one tile and ordered, threads 5 and 8 are not.

/// A size of such tiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WarpTile {
    /// The binary logarithm of its threads, at most 5.
    log: u8,
}

impl WarpTile {
    /// All lanes of a warp.
    pub(crate) const WARP: WarpTile = WarpTile { log: 5 };

    /// Tiles of so many lanes; `None` for what is no power of two, or more than a warp.
    #[must_use]
    pub(crate) fn of(lanes: u32) -> Option<WarpTile> {
        (lanes.is_power_of_two() && lanes <= 32).then(|| WarpTile { log: lanes.trailing_zeros() as u8 })
    }

    /// All sizes.
    pub(crate) fn all() -> impl Iterator<Item = WarpTile> {
        (0..=WarpTile::WARP.log).map(|log| WarpTile { log })
    }

    /// Whether two threads of the block are in one tile.
    #[must_use]
    pub(crate) fn holds_both(self, one: usize, other: usize) -> bool {
        one >> self.log == other >> self.log
    }
}

/// Something for each size of tiles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PerTile<T>([T; WarpTile::WARP.log as usize + 1]);

impl<T: Copy> PerTile<T> {
    /// The same for each.
    #[must_use]
    pub(crate) fn all(value: T) -> PerTile<T> {
        PerTile([value; WarpTile::WARP.log as usize + 1])
    }

    /// What there is for one size.
    #[must_use]
    pub(crate) fn at(&self, tile: WarpTile) -> T {
        self.0[usize::from(tile.log)]
    }

    /// The same, to be changed.
    pub(crate) fn at_mut(&mut self, tile: WarpTile) -> &mut T {
        &mut self.0[usize::from(tile.log)]
    }
}

#[cfg(test)]
mod tests {
    use super::WarpTile;

    #[test]
    fn threads_of_a_tile_follow_each_other() {
        let eight = WarpTile::of(8).unwrap();
        assert!(eight.holds_both(3, 5) && !eight.holds_both(5, 8) && eight.holds_both(40, 47));
        assert_eq!(
            (WarpTile::of(32), WarpTile::of(12), WarpTile::of(64)),
            (Some(WarpTile::WARP), None, None)
        );
    }
}
