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

use super::exits::is_exit_by_bound;
use crate::domain::ThreadSet;
use crate::events::{Absence, AccessOp, Missing, Then, Trace};
use crate::exec::machine::{Bytes, Machine, Read};
use crate::exec::value::Offset;
use crate::source::Span;
use std::collections::BTreeMap;

/// The most different reads that are kept.
const MOST_READS: usize = 256;
/// The most bytes of an array that the launch sizes.
const MOST_BYTES: u64 = 1 << 18;

/// Whether a run is worth another one that finds what nobody writes.
pub(crate) fn is_worthwhile(trace: &Trace) -> bool {
    let mut absences = trace.barriers.iter().flat_map(|barrier| &barrier.absences);
    let stays = trace.arrays.iter().any(|array| !array.dynamic);
    let misses = |it: &Absence| match &it.threads {
        Some(_) => stays && it.then == Then::Exit,
        None => is_exit_by_bound(it),
    };
    trace.stopped.is_none() && absences.any(misses)
}

impl Machine<'_> {
    /// Something may have been written that is not followed.
    pub(in crate::exec) fn forget_contents(&mut self) {
        if let Some(contents) = &mut self.memory.contents {
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
        let (fragment, matrices) = (self.at_hand.fragment, self.at_hand.matrices);
        if self.memory.contents.is_none() {
            return;
        }
        let size = self.trace.arrays[array].bytes();
        let known = match (offset, bytes) {
            (Offset::Known(int), Some(bytes)) if int.terms.is_empty() && !fragment && matrices == 0 => {
                Some((int.base.spread(shape), bytes))
            }
            _ => None,
        };
        let is_sized_at_launch = self.trace.arrays[array].dynamic;
        let inside = |at: i64, bytes: u64| {
            let at = u64::try_from(at).ok()?;
            let size = size.or(is_sized_at_launch.then_some(MOST_BYTES))?;
            at.checked_add(bytes).is_some_and(|end| end <= size).then_some(at)
        };
        let active: ThreadSet = self.state.active;
        if op == AccessOp::Load {
            if let Some((offsets, bytes)) = &known {
                self.note_sure_read(array, (offsets, *bytes), span);
            }
            let sure = self.state.doubt.is_none()
                && self.state.assumptions.is_empty()
                && self.state.passable.is_empty()
                && self.looping.uncounted.is_empty()
                && self.looping.enumerating == 0;
            let (Some(behind), Some((offsets, bytes)), true) = (self.state.course.behind, known, sure) else {
                return;
            };
            let (Some(barrier), Some(contents)) =
                (self.trace.barriers.get(behind.0), &mut self.memory.contents)
            else {
                return;
            };
            let came = active.and(&barrier.active);
            let offsets = came.threads().filter_map(|t| Some((t, inside(offsets[t], bytes)?))).collect();
            if contents.reads.len() < MOST_READS {
                contents.reads.push(Read { behind, array, span, offsets, bytes });
            }
            return;
        }
        self.note_possible_write(array, known.clone());
        let Some(contents) = &mut self.memory.contents else { return };
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
        let Some(contents) = self.memory.contents.take() else { return };
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
                writer: None,
            };
            let barrier = self.trace.barriers.get_mut(read.behind.0);
            let absence = barrier.and_then(|barrier| barrier.absences.get_mut(read.behind.1));
            if let Some(absence) = absence.filter(|absence| absence.missing.is_none()) {
                absence.missing = Some(missing);
            }
        }
        self.note_left_unwritten(&contents.behind_exits);
    }
}
