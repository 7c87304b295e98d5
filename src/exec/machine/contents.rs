//! What was written to shared memory, and what was read there behind a barrier?

use crate::domain::{Spread, ThreadSet};
use crate::source::Span;
use smallvec::SmallVec;
use std::sync::Arc;

/// What is written to shared memory, and what is read there behind a barrier that threads miss.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Whether something was written that is not followed.
    pub lost: bool,
    /// By array; `None` if any of it may have been written.
    pub written: Vec<Option<Bytes>>,
    pub reads: Vec<Read>,
    /// The same for threads that exit by a bound.
    pub behind_exits: BehindExits,
}

/// What threads write, and what those read behind a barrier that have not exited by a bound.
#[derive(Debug, Default)]
pub(crate) struct BehindExits {
    pub writes: Vec<MayWrite>,
    /// Whether there are more writes.
    pub is_cut: bool,
    pub reads: Vec<SureRead>,
    /// The comparisons in which threads may differ by a number that is not known.
    pub bounds: Vec<Span>,
}

/// What threads may write of an array.
#[derive(Debug)]
pub(crate) struct MayWrite {
    pub array: usize,
    /// Those that may.
    pub threads: ThreadSet,
    /// The first byte of each thread, and how many; `None` if that is not known.
    pub places: Option<(Arc<Spread>, u64)>,
    /// The conditions by which threads may have left the kernel before.
    pub exits: SmallVec<[u32; 2]>,
}

/// What threads surely read of an array that have come to a barrier.
#[derive(Debug)]
pub(crate) struct SureRead {
    /// Index into the trace's barriers.
    pub barrier: usize,
    pub array: usize,
    pub span: Span,
    pub threads: ThreadSet,
    /// By thread: the first byte.
    pub offsets: Arc<Spread>,
    pub bytes: u64,
}

/// A set of bytes.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Bytes(Vec<u64>);

impl Bytes {
    pub fn insert(&mut self, byte: usize) {
        if self.0.len() <= byte / 64 {
            self.0.resize(byte / 64 + 1, 0);
        }
        self.0[byte / 64] |= 1 << (byte % 64);
    }

    pub fn has(&self, byte: u64) -> bool {
        let word = usize::try_from(byte / 64).ok().and_then(|at| self.0.get(at));
        word.is_some_and(|word| word >> (byte % 64) & 1 == 1)
    }

    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}

/// What the threads read that have come to a barrier.
#[derive(Debug)]
pub(crate) struct Read {
    /// The barrier, and the number of an absence from it.
    pub behind: (usize, usize),
    pub array: usize,
    pub span: Span,
    /// By thread: the first byte.
    pub offsets: Vec<(usize, u64)>,
    pub bytes: u64,
}
