//! Which of the four variables is it that tell a thread where it is?

/// `threadIdx` and the like: each has three members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coordinate {
    /// `threadIdx`
    Thread,
    /// `blockIdx`
    Block,
    /// `blockDim`
    BlockSize,
    /// `gridDim`
    GridSize,
}

impl Coordinate {
    /// The one of this name.
    #[must_use]
    pub(crate) fn of(name: &str) -> Option<Coordinate> {
        match name {
            "threadIdx" => Some(Coordinate::Thread),
            "blockIdx" => Some(Coordinate::Block),
            "blockDim" => Some(Coordinate::BlockSize),
            "gridDim" => Some(Coordinate::GridSize),
            _ => None,
        }
    }

    /// Whether it tells of the block alone: of its threads or its extents.
    #[must_use]
    pub(crate) fn is_within_block(self) -> bool {
        matches!(self, Coordinate::Thread | Coordinate::BlockSize)
    }
}
