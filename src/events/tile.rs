//! How do the lanes of a `wmma` call lie in the tile that it asks for?

/// A tile in memory, and a request for a part of it. The call names the distance of its lines, so they lie as far from
/// each other wherever the tile is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Tile {
    /// Bytes from the start of a line to that of the next.
    pub distance: i64,
    /// How many lines it has.
    pub lines: u32,
    /// Bytes of a line.
    pub length: u32,
    /// Bytes of an element.
    pub element: u32,
    /// By lane: bytes from the start of the tile.
    pub lanes: [i64; 32],
}
