//! Does a thread read behind a barrier what only threads that have exited by a bound would have written?
//!
//! ```text
//! if (i >= n) return;         // the last block has 100 threads left, say, of 256
//! s[t] = in[i];
//! __syncthreads();
//! if (t < 128)
//!     s[t] += s[t + 128];     // thread 0 reads what thread 128 would have written
//! ```
//!
//! A bound lets threads in by their [`Ranks`]: where one comes, those of smaller rank come. So a thread may stay where
//! all others have exited that write what it reads only if its rank is below theirs. A thread that reads what it wrote
//! itself, or what thread 0 wrote, never does: `out[i] = s[t] - s[0]` needs no thread that has left.
//!
//! Every write counts that may happen, at whatever time, so that nothing is called missing that may be there; what was
//! written before the threads exited is there. A read counts only if it surely happens in the threads that stay, where
//! loops are taken to have a round. Another bound, as in `if (i + 1 < n)`, may choose what is read, or what the last
//! thread writes. So nothing is reported for a kernel that asks for one.

use crate::domain::Spread;
use crate::events::{Absence, Assumption, Missing, Ranks, Split, SplitKind, Then};
use crate::exec::machine::{BehindExits, Machine, MayWrite, SureRead};
use crate::exec::value::Condition;
use crate::source::Span;
use std::sync::Arc;

/// The most writes that are kept, and the most reads.
const MOST_WRITES: usize = 1 << 10;
const MOST_READS: usize = 1 << 8;
/// The most bytes of an array that are kept in mind.
const MOST_BYTES: usize = 1 << 18;

/// Whether threads are absent because they may have exited by a bound.
pub(super) fn is_exit_by_bound(absence: &Absence) -> bool {
    absence.left
        && absence.threads.is_none()
        && absence.then == Then::Exit
        && ranks(&absence.split).next().is_some()
}

/// In which order the guards of a bound let threads in.
fn ranks(split: &Split) -> impl Iterator<Item = &Arc<Ranks>> {
    let bound = match &split.kind {
        SplitKind::Guard(bound) => Some(bound),
        _ => None,
    };
    bound.into_iter().flat_map(|bound| &bound.ranks)
}

impl Machine<'_> {
    /// The active threads may write these bytes of an array; `None`: it is not known which.
    pub(super) fn note_possible_write(&mut self, array: usize, known: Option<(Arc<Spread>, u64)>) {
        let exits = self.state.course.left().iter().map(|left| left.1.id).collect();
        let threads = self.state.active;
        let Some(contents) = &mut self.memory.contents else { return };
        let found = &mut contents.behind_exits;
        if found.writes.len() >= MOST_WRITES {
            found.is_cut = true;
            return;
        }
        found.writes.push(MayWrite { array, threads, places: known, exits });
    }

    /// The active threads read these bytes of an array, if that is sure.
    pub(super) fn note_sure_read(&mut self, array: usize, (offsets, bytes): (&Arc<Spread>, u64), span: Span) {
        let Some(barrier) = self.state.course.behind_exit else { return };
        let is_known = |split: &Split| split.kind == SplitKind::Known;
        let is_exit = |split: &Split| self.state.course.left().iter().any(|left| left.1.id == split.id);
        let may_pass = |split: &Split| !is_known(split) && !is_exit(split);
        let departed = self.around.departures.iter().map(|left| &left.split);
        let is_sure = self.state.doubt.is_none()
            && self.state.passable.is_empty()
            && self.looping.enumerating == 0
            && !self.around.splits.iter().chain(departed).any(may_pass)
            && self.state.assumptions.iter().all(|it| matches!(it, Assumption::InsideBounds { .. }));
        let threads = self.state.active;
        let Some(contents) = self.memory.contents.as_mut().filter(|_| is_sure) else { return };
        let reads = &mut contents.behind_exits.reads;
        if reads.len() < MOST_READS {
            let offsets = Arc::clone(offsets);
            reads.push(SureRead { barrier, array, span, threads, offsets, bytes });
        }
    }

    /// Notes that a condition is asked in which threads may differ, as a bound decides.
    pub(in crate::exec) fn note_bound(&mut self, condition: &Condition) {
        let Some(contents) = &mut self.memory.contents else { return };
        match condition {
            Condition::Compare { span, .. } if contents.behind_exits.bounds.contains(span) => {}
            Condition::Compare { span, .. } => contents.behind_exits.bounds.push(*span),
            Condition::Not(inner) => self.note_bound(inner),
            Condition::And(a, b) | Condition::Or(a, b) => {
                self.note_bound(a);
                self.note_bound(b);
            }
            Condition::Known(_) | Condition::Opaque(..) => {}
        }
    }

    /// Notes what threads that exit leave unwritten and others read.
    pub(super) fn note_left_unwritten(&mut self, noted: &BehindExits) {
        if noted.is_cut {
            return;
        }
        let mut places: Vec<(usize, usize)> = Vec::new();
        for read in &noted.reads {
            if !places.contains(&(read.barrier, read.array)) {
                places.push((read.barrier, read.array));
            }
        }
        for (at, array) in places {
            let Some(barrier) = self.trace.barriers.get(at) else { continue };
            let exits = || barrier.absences.iter().filter(|absence| absence.left).map(|it| it.split.span);
            let is_of_exit = |bound: &Span| {
                exits().any(|it| it.file == bound.file && it.start <= bound.start && bound.end <= it.end)
            };
            let writes = || noted.writes.iter().filter(|it| it.array == array);
            let is_judged = noted.bounds.iter().all(is_of_exit) && !self.may_lie_over_others(array);
            if !is_judged || writes().any(|it| it.places.is_none()) {
                continue;
            }
            let of_here = |read: &&SureRead| (read.barrier, read.array) == (at, array);
            let missing = |absence: &Absence| {
                ranks(&absence.split).find_map(|ranks| {
                    let first = first_writers(writes(), absence.split.id, ranks);
                    let mut reads = noted.reads.iter().filter(of_here);
                    reads.find_map(|read| left_unwritten(read, &first, ranks))
                })
            };
            let absences = barrier.absences.iter().enumerate();
            let absences = absences.filter(|(_, it)| is_exit_by_bound(it) && it.missing.is_none());
            let found = absences.filter_map(|(number, absence)| Some((number, missing(absence)?)));
            for (number, missing) in found.collect::<Vec<_>>() {
                self.trace.barriers[at].absences[number].missing = Some(missing);
            }
        }
    }

    /// Whether an array shares bytes with others: those that the launch sizes all begin at one place.
    fn may_lie_over_others(&self, array: usize) -> bool {
        let sized = |array: &&crate::events::Array| array.dynamic;
        self.trace.arrays[array].dynamic && self.trace.arrays.iter().filter(sized).count() > 1
    }
}

/// By byte: the first rank that writes it, and a thread of that rank; 0 where it is written before anybody exits.
fn first_writers<'w>(
    writes: impl Iterator<Item = &'w MayWrite>,
    exit: u32,
    ranks: &Ranks,
) -> Vec<Option<(u16, usize)>> {
    let mut first: Vec<Option<(u16, usize)>> = Vec::new();
    for write in writes {
        let Some((offsets, bytes)) = &write.places else { continue };
        let may_be_missing = write.exits.contains(&exit);
        for thread in write.threads.threads() {
            let rank = if may_be_missing { ranks.of.get(thread).copied().unwrap_or(0) } else { 0 };
            let at = usize::try_from(offsets[thread]).ok().filter(|at| *at < MOST_BYTES);
            for byte in at.into_iter().flat_map(|at| at..at + *bytes as usize) {
                if first.len() <= byte {
                    first.resize(byte + 1, None);
                }
                first[byte] = first[byte].into_iter().chain([(rank, thread)]).min();
            }
        }
    }
    first
}

/// What a thread reads that stays where all have exited that write it.
fn left_unwritten(read: &SureRead, first: &[Option<(u16, usize)>], ranks: &Ranks) -> Option<Missing> {
    read.threads.threads().find_map(|reader| {
        let start = usize::try_from(read.offsets[reader]).ok()?;
        let own = *ranks.of.get(reader)?;
        let of_bytes = first.get(start..start + read.bytes as usize)?;
        let (rank, writer) = of_bytes.iter().flatten().min()?;
        let bytes = (start as u64, start as u64 + read.bytes - 1);
        let (array, span) = (read.array, read.span);
        (*rank > own).then_some(Missing { array, bytes, all: true, span, reader, writer: Some(*writer) })
    })
}
