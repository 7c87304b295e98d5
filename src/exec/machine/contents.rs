//! What was written to shared memory, and what was read there behind a barrier?

use crate::source::Span;

/// What is written to shared memory, and what is read there behind a barrier that threads miss.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Whether something was written that is not followed.
    pub lost: bool,
    /// By array; `None` if any of it may have been written.
    pub written: Vec<Option<Bytes>>,
    pub reads: Vec<Read>,
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
