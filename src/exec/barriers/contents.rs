//! Which bytes of shared memory does no thread write, though some are read behind a barrier?
//!
//! ```text
//! if (t < 100) {             // of 256 threads
//!     s[t] = in[t];
//!     __syncthreads();
//!     out[t] = s[255 - t];   // bytes 624 to 1023: the threads that would write them are not here
//! }
//! ```
//!
//! It is only asked where threads are known to miss a barrier, in a run of its own. Written is what may
//! be written at any time of the run: what is not followed writes everything. Read is only what threads
//! surely read that have come to the barrier.

use crate::domain::ThreadSet;
use crate::events::{AccessOp, Missing, Then, Trace};
use crate::exec::machine::Machine;
use crate::exec::value::Offset;
use crate::source::Span;
use std::collections::BTreeMap;

/// The most different reads that are kept.
const MOST_READS: usize = 256;

/// What is written to shared memory, and what is read there behind a barrier that threads miss.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    /// Whether something was written that is not followed.
    lost: bool,
    /// By array; `None` if any of it may have been written.
    written: Vec<Option<Bytes>>,
    reads: Vec<Read>,
}

/// A set of bytes.
#[derive(Debug, Default, PartialEq)]
struct Bytes(Vec<u64>);

impl Bytes {
    fn insert(&mut self, byte: usize) {
        if self.0.len() <= byte / 64 {
            self.0.resize(byte / 64 + 1, 0);
        }
        self.0[byte / 64] |= 1 << (byte % 64);
    }

    fn has(&self, byte: u64) -> bool {
        let word = usize::try_from(byte / 64).ok().and_then(|at| self.0.get(at));
        word.is_some_and(|word| word >> (byte % 64) & 1 == 1)
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }
}

/// What the threads read that have come to a barrier.
#[derive(Debug)]
struct Read {
    /// The barrier, and the number of an absence from it.
    behind: (usize, usize),
    array: usize,
    span: Span,
    /// By thread: the first byte.
    offsets: Vec<(usize, u64)>,
    bytes: u64,
}

/// Whether a run is worth another one that finds what nobody writes.
pub(crate) fn is_worthwhile(trace: &Trace) -> bool {
    let mut absences = trace.barriers.iter().flat_map(|barrier| &barrier.absences);
    let stays = trace.arrays.iter().any(|array| !array.dynamic);
    trace.stopped.is_none() && stays && absences.any(|it| it.threads.is_some() && it.then == Then::Exit)
}

impl Machine<'_> {
    /// Something may have been written that is not followed.
    pub(in crate::exec) fn forget_contents(&mut self) {
        if let Some(contents) = &mut self.contents {
            contents.lost = true;
        }
    }

    /// An access of shared memory by the active threads.
    pub(in crate::exec) fn note_contents(
        &mut self,
        op: AccessOp,
        array: usize,
        offset: &Offset,
        bytes: Option<u64>,
        span: Span,
    ) {
        let shape = self.shape();
        let (fragment, matrices) = (self.fragment, self.matrices);
        let Some(contents) = &mut self.contents else { return };
        let size = self.trace.arrays[array].bytes();
        let known = match (offset, bytes) {
            (Offset::Known(int), Some(bytes)) if int.terms.is_empty() && !fragment && matrices == 0 => {
                Some((int.base.spread(shape), bytes))
            }
            _ => None,
        };
        let inside = |at: i64, bytes: u64| {
            let at = u64::try_from(at).ok()?;
            size.filter(|size| at.checked_add(bytes).is_some_and(|end| end <= *size)).map(|_| at)
        };
        let active: ThreadSet = self.state.active;
        if op == AccessOp::Load {
            let sure = self.state.doubt.is_none()
                && self.state.assumptions.is_empty()
                && self.state.passable.is_empty()
                && self.uncounted.is_empty()
                && self.enumerating == 0;
            let (Some(behind), Some((offsets, bytes)), true) = (self.state.course.behind, known, sure) else {
                return;
            };
            let Some(barrier) = self.trace.barriers.get(behind.0) else { return };
            let came = active.and(&barrier.active);
            let offsets = came.threads().filter_map(|t| Some((t, inside(offsets[t], bytes)?))).collect();
            if contents.reads.len() < MOST_READS {
                contents.reads.push(Read { behind, array, span, offsets, bytes });
            }
            return;
        }
        if contents.written.len() <= array {
            contents.written.resize_with(array + 1, || Some(Bytes::default()));
        }
        let Some((offsets, bytes)) = known else {
            contents.written[array] = None;
            contents.lost |= matches!(offset, Offset::Unknown(..));
            return;
        };
        for thread in active.threads() {
            match (inside(offsets[thread], bytes), &mut contents.written[array]) {
                (Some(at), Some(written)) => (at..at + bytes).for_each(|byte| written.insert(byte as usize)),
                (Some(_), None) => return,
                // It may lie in another array.
                (None, _) => contents.lost = true,
            }
        }
    }

    /// Notes what is read and that nobody writes.
    pub(in crate::exec) fn note_missing(&mut self) {
        let Some(contents) = self.contents.take() else { return };
        if contents.lost || self.trace.stopped.is_some() {
            return;
        }
        for read in &contents.reads {
            let Some(Some(written)) = contents.written.get(read.array) else { continue };
            if self.trace.arrays[read.array].dynamic || written.is_empty() {
                continue;
            }
            let mut unwritten = BTreeMap::new();
            for (thread, at) in &read.offsets {
                let missing = (*at..at + read.bytes).filter(|byte| !written.has(*byte));
                missing.for_each(|byte| {
                    unwritten.entry(byte).or_insert(*thread);
                });
            }
            let ends = unwritten.first_key_value().zip(unwritten.last_key_value());
            let Some(((first, reader), (last, _))) = ends else { continue };
            let missing = Missing {
                array: read.array,
                bytes: (*first, *last),
                all: unwritten.len() as u64 == last - first + 1,
                span: read.span,
                reader: *reader,
            };
            let barrier = self.trace.barriers.get_mut(read.behind.0);
            let absence = barrier.and_then(|barrier| barrier.absences.get_mut(read.behind.1));
            if let Some(absence) = absence.filter(|absence| absence.missing.is_none()) {
                absence.missing = Some(missing);
            }
        }
    }
}
