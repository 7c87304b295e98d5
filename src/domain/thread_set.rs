//! Which threads of the block?

use super::block::{MAX_THREADS, Shape};

/// A set of threads of the block.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Hash)]
pub struct ThreadSet([u64; MAX_THREADS / 64]);

impl ThreadSet {
    /// No thread.
    pub const NONE: ThreadSet = ThreadSet([0; MAX_THREADS / 64]);

    /// Every thread of the block.
    #[must_use]
    pub fn all(shape: Shape) -> ThreadSet {
        let mut bits = ThreadSet::NONE;
        let threads = shape.threads();
        for (word, slot) in bits.0.iter_mut().enumerate() {
            let below = threads.saturating_sub(word * 64);
            *slot = if below >= 64 { u64::MAX } else { (1u64 << below) - 1 };
        }
        bits
    }

    /// The threads for which `test` holds.
    #[must_use]
    pub fn collect(shape: Shape, test: impl Fn(usize) -> bool) -> ThreadSet {
        let mut bits = ThreadSet::NONE;
        for thread in (0..shape.threads()).filter(|&t| test(t)) {
            bits.0[thread / 64] |= 1 << (thread % 64);
        }
        bits
    }

    /// Whether a thread is in the set.
    #[must_use]
    pub fn has(&self, thread: usize) -> bool {
        self.0[thread / 64] >> (thread % 64) & 1 == 1
    }

    /// Puts a thread into the set.
    pub fn insert(&mut self, thread: usize) {
        self.0[thread / 64] |= 1 << (thread % 64);
    }

    /// The 32 lanes of a warp, lane 0 lowest.
    #[must_use]
    pub fn warp(&self, warp: usize) -> u32 {
        (self.0[warp / 2] >> (warp % 2 * 32)) as u32
    }

    /// In both.
    #[must_use]
    pub fn and(&self, other: &ThreadSet) -> ThreadSet {
        ThreadSet(std::array::from_fn(|i| self.0[i] & other.0[i]))
    }

    /// In either.
    #[must_use]
    pub fn or(&self, other: &ThreadSet) -> ThreadSet {
        ThreadSet(std::array::from_fn(|i| self.0[i] | other.0[i]))
    }

    /// In this one but not the other.
    #[must_use]
    pub fn minus(&self, other: &ThreadSet) -> ThreadSet {
        ThreadSet(std::array::from_fn(|i| self.0[i] & !other.0[i]))
    }

    /// Whether no thread is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|&word| word == 0)
    }

    /// Threads in the set.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// The threads in the set, ascending.
    pub fn threads(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            let next = |rest: &u64| Some(rest & rest.wrapping_sub(1)).filter(|rest| *rest != 0);
            let words = std::iter::successors(Some(word).filter(|word| *word != 0), next);
            words.map(move |rest| at * 64 + rest.trailing_zeros() as usize)
        })
    }

    /// Whether the set is made of whole warps of the block.
    #[must_use]
    pub fn is_whole_warps(&self, shape: Shape) -> bool {
        let all = ThreadSet::all(shape);
        (0..shape.threads().div_ceil(32)).all(|w| self.warp(w) == 0 || self.warp(w) == all.warp(w))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_of_a_partial_block() {
        let shape = Shape { dims: [48, 1, 1] };
        let all = ThreadSet::all(shape);
        assert_eq!((all.count(), all.warp(1)), (48, 0xffff));
        assert!(ThreadSet::collect(shape, |t| t >= 32).is_whole_warps(shape));
        assert!(!ThreadSet::collect(shape, |t| t >= 31).is_whole_warps(shape));
    }
}
