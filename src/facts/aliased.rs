//! What is written to one `extern __shared__` array and overwritten through another before it is read?
//!
//! All `extern __shared__` arrays of a kernel start at the same byte. Code that uses one of them as a view of the
//! other, or one after the other, reads what it writes before it reuses the bytes. This pattern surely shows code
//! that treats them as two arrays:
//!
//! ```text
//! a[t] = x;              thread t writes bytes 4 t
//! b[t] = y;              the same bytes, and nobody has read them as `a` since
//! ... a[255 - t]         they are read as `a`, and nobody has written them as `a` since: this gives y
//! ```
//!
//! Both stores surely happen. Whether the read does need not be known: it shows that somebody wants what was stored.

use super::witness::{can_hold, is_possible};
use crate::domain::Shape;
use crate::events::{AccessEvent, AccessOp, Event, Trace};

/// The most bytes of dynamic shared memory that are looked at.
const MOST: usize = 1 << 18;

/// Bytes of an array that are lost.
#[derive(Clone, Debug)]
pub(crate) struct Overwritten {
    /// The store that is lost, the store through the other array, and the read: indices into the trace's accesses.
    pub store: usize,
    pub other: usize,
    pub read: usize,
    /// One of the bytes.
    pub byte: usize,
}

/// What became of a byte, of the two arrays at hand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Byte {
    /// Nothing that matters.
    Free,
    /// It was stored through the first array and not read since.
    Stored(u32),
    /// Then it was stored through the second.
    Lost(u32, u32),
}

/// The first such bytes of a run, for each array.
pub(super) fn find(trace: &Trace, shape: Shape) -> Vec<Overwritten> {
    let dynamic: Vec<usize> = (0..trace.arrays.len()).filter(|at| trace.arrays[*at].dynamic).collect();
    let is_open = trace.stopped.is_some() || trace.tree.is_cut() || dynamic.len() < 2;
    // What is not followed may read or write anything, and in a loop that is not run round by round it is not
    // known what comes first.
    let is_unclear = |event: &Event| matches!(event, Event::MayAccess { .. } | Event::Loop { .. });
    if is_open || trace.tree.events().iter().any(is_unclear) {
        return Vec::new();
    }
    let pairs = dynamic.iter().flat_map(|one| dynamic.iter().map(move |two| (*one, *two)));
    let apart = |(one, two): &(usize, usize)| trace.arrays[*one].name != trace.arrays[*two].name;
    let mut found: Vec<Overwritten> = Vec::new();
    for (one, two) in pairs.filter(apart) {
        let known = |it: &Overwritten| trace.accesses[it.store].array == two;
        if !found.iter().any(known) {
            found.extend(lost(trace, shape, one, two));
        }
    }
    found
}

/// What is lost of array `one` by stores to array `two`.
fn lost(trace: &Trace, shape: Shape, one: usize, two: usize) -> Option<Overwritten> {
    let mut bytes: Vec<Byte> = Vec::new();
    for event in trace.tree.events() {
        let Event::Access(event) = event else { continue };
        let access = &trace.accesses[event.access];
        if access.array != one && access.array != two {
            continue;
        }
        let is_first = access.array == one;
        // All places have to be known, or there may be others in between.
        let places = places(event, access.bytes, shape)?;
        let sure = is_possible(event);
        for byte in places {
            if byte >= bytes.len() {
                bytes.resize(byte + 1, Byte::Free);
            }
            let number = event.access as u32;
            bytes[byte] = match (is_first, access.op, bytes[byte]) {
                (true, AccessOp::Load, Byte::Lost(store, other)) if can_hold(&event.assumptions) => {
                    let (store, other) = (store as usize, other as usize);
                    return Some(Overwritten { store, other, read: event.access, byte });
                }
                (true, AccessOp::Store, _) if sure => Byte::Stored(number),
                (false, AccessOp::Store, Byte::Stored(store)) if sure => Byte::Lost(store, number),
                (false, AccessOp::Load, lost @ Byte::Lost(..)) => lost,
                (false, AccessOp::Store, lost @ Byte::Lost(..)) => lost,
                _ => Byte::Free,
            };
        }
    }
    None
}

/// The bytes that threads may access, if all of them are known.
fn places(event: &AccessEvent, bytes: Option<u32>, shape: Shape) -> Option<Vec<usize>> {
    let (offset, bytes) = (event.offset.as_ref()?, bytes? as usize);
    let known = offset.as_known()?.spread(shape);
    let mut found = Vec::new();
    for thread in event.threads.threads() {
        let first = usize::try_from(known[thread]).ok().filter(|first| first + bytes <= MOST)?;
        found.extend(first..first + bytes);
    }
    Some(found)
}
