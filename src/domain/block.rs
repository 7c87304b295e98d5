//! What is the shape of a block?

/// Threads in the largest block.
pub(super) const MAX_THREADS: usize = 1024;

/// The block's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Threads along x, y and z; each at least 1, their product at most [`MAX_THREADS`].
    pub dims: [u32; 3],
}

impl Shape {
    /// Threads in the block.
    #[must_use]
    pub fn threads(self) -> usize {
        (self.dims[0] * self.dims[1] * self.dims[2]) as usize
    }

    /// The coordinates of a thread, by linear index (x fastest).
    #[must_use]
    pub fn coordinates(self, thread: usize) -> [i64; 3] {
        let (x, y) = (self.dims[0] as usize, self.dims[1] as usize);
        [(thread % x) as i64, (thread / x % y) as i64, (thread / (x * y)) as i64]
    }
}
