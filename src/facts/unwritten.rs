//! Which shared memory is read though no thread writes it?
//!
//! A byte is written if some thread may write it at any time of the run; it is read only if a thread surely reads it.
//! Example, in a block of 128:
//!
//! ```text
//! __shared__ float s[130];
//! s[t + 1] = in[t];                    bytes 4 to 515 are written
//! __syncthreads();
//! out[t] = s[t] + s[t + 1] + s[t + 2]; thread 0 reads bytes 0 to 3, thread 127 bytes 516 to 519
//! ```
//!
//! An access counts if none of its bytes is written, because padding in a struct is read with it; the copy of an object
//! is one access, by its members or not. An update such as `+=` or `atomicAdd` does not initialize. If an unfollowed
//! operation may write, or the array is sized at launch, nothing is reported.

use super::guards::sides_to;
use crate::domain::{Shape, Spread};
use crate::events::{Access, AccessEvent, AccessOp, Assumption, Event, Operation, Side, Stored, Ties, Trace};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Bytes of an array that are kept in mind at the most.
const MOST_BYTES: u64 = 1 << 18;

/// A read of what no thread writes.
#[derive(Clone, Debug)]
pub(crate) struct Unwritten {
    /// Index into the trace's accesses.
    pub access: usize,
    /// The first thread that does so.
    pub thread: usize,
    /// The byte offset that it reads, counted from the beginning of the array.
    pub offset: i64,
    /// Whether no thread writes any of the array.
    pub whole: bool,
    /// Whether some thread writes it later.
    pub is_early: bool,
    /// The sides of conditions that a block has to take for it, where not every block does.
    pub sides: Vec<Side>,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// What is written of a variable.
enum Written {
    /// Any of it may be.
    Any,
    /// These bytes, and no others.
    Bytes(Vec<bool>),
}

/// All such reads of a run, one for each site.
pub(super) fn find(trace: &Trace, shape: Shape, ties: Ties) -> Vec<Unwritten> {
    let mut found: Vec<Unwritten> = Vec::new();
    let events = trace.tree.events();
    let may_write = |event: &Event| matches!(event, Event::MayAccess { writes: true, .. });
    if trace.tree.is_cut() || trace.stopped.is_some() || events.iter().any(may_write) {
        return found;
    }
    let accesses = || {
        events.iter().filter_map(|event| match event {
            Event::Access(event) => Some((event, trace.accesses.get(event.access)?)),
            _ => None,
        })
    };
    let mut written: FxHashMap<u32, Written> = FxHashMap::default();
    for (event, access) in accesses() {
        let size = trace.arrays[access.array].bytes().filter(|size| *size <= MOST_BYTES);
        let of_variable = written.entry(event.object).or_insert_with(|| match size {
            Some(size) if !trace.arrays[access.array].dynamic => Written::Bytes(vec![false; size as usize]),
            _ => Written::Any,
        });
        if !begins(event, access) {
            continue;
        }
        match (known(event, access, shape), &mut *of_variable) {
            (Some((offsets, bytes)), Written::Bytes(all)) => {
                for at in event.threads.threads().map(|thread| offsets[thread]) {
                    for byte in at..at.saturating_add(bytes) {
                        let byte = usize::try_from(byte).ok().and_then(|byte| all.get_mut(byte));
                        byte.into_iter().for_each(|byte| *byte = true);
                    }
                }
            }
            _ => *of_variable = Written::Any,
        }
    }
    for (event, access) in accesses() {
        let reads = matches!(access.op, AccessOp::Load | AccessOp::Atomic);
        if !reads || event.may_be_cut_short || found.iter().any(|it| it.access == event.access) {
            continue;
        }
        let Some(sides) = sides_to(event, &trace.tree, ties) else { continue };
        let Some(Written::Bytes(all)) = written.get(&event.object) else { continue };
        let Some((offsets, bytes)) = known(event, access, shape) else { continue };
        // An object is read as a whole.
        let (before, bytes) = event.member.map_or((0, bytes), |it| (i64::from(it.at), i64::from(it.size)));
        let unwritten = |thread: &usize| {
            let at = usize::try_from(offsets[*thread] - before).ok();
            let read = at.and_then(|at| all.get(at..at.checked_add(bytes as usize)?));
            read.is_some_and(|read| read.iter().all(|byte| !byte))
        };
        if let Some(thread) = event.threads.threads().find(unwritten) {
            found.push(Unwritten {
                access: event.access,
                thread,
                offset: offsets[thread],
                whole: all.iter().all(|byte| !byte),
                is_early: false,
                sides,
                assumptions: event.assumptions.to_vec(),
            });
        }
    }
    found
}

/// Whether an access may give memory a value that does not come from there.
pub(super) fn begins(event: &AccessEvent, access: &Access) -> bool {
    match access.op {
        AccessOp::Load | AccessOp::MatrixLoad => false,
        AccessOp::Store => !matches!(event.stored, Stored::Update { .. }),
        AccessOp::MatrixStore | AccessOp::AsyncCopy => true,
        // What of 8 bytes is exchanged and what is added is not told apart.
        AccessOp::Atomic => access.atomic.is_none_or(|it| {
            matches!(it.operation, Operation::Exchange | Operation::CompareAndSwap | Operation::Wide)
        }),
    }
}

/// The offset of each thread and the bytes, where they are numbers.
pub(super) fn known(event: &AccessEvent, access: &Access, shape: Shape) -> Option<(Arc<Spread>, i64)> {
    let offset = event.offset.as_ref().filter(|offset| offset.terms.is_empty())?;
    let plain = !access.is_warp_wide() && access.op != AccessOp::AsyncCopy;
    plain.then(|| Some((offset.base.spread(shape), i64::from(access.bytes?))))?
}
