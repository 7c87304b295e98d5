//! Which wide accesses are at addresses that are not a multiple of their width?
//!
//! The hardware stops a kernel that reads 16 bytes at an address that is not a multiple of 16. An array may start at
//! any multiple of its own alignment. So an address is known modulo the smaller of that alignment and the width. Two
//! threads with different remainders cannot both be aligned, wherever the array starts:
//!
//! ```text
//! __shared__ float s[64];
//! *(float4 *)&s[t] = v;      threads 0 and 1 are 4 bytes apart: one of them is no multiple of 16
//! ```

use super::witness::is_possible_in_a_block;
use crate::domain::Shape;
use crate::events::{AccessEvent, AccessOp, Assumption, Event, Trace};

/// A wide access that cannot be aligned.
#[derive(Clone, Debug)]
pub(crate) struct Misaligned {
    /// Index into the trace's accesses.
    pub access: usize,
    /// Bytes of which the address has to be a multiple.
    pub multiple: u32,
    /// A thread, and its byte offset from the beginning of the array without what all threads share.
    pub thread: (usize, i64),
    /// Another, if it is only the two together that cannot be.
    pub other: Option<(usize, i64)>,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// All such accesses of a run, one for each site.
pub(super) fn find(trace: &Trace, shape: Shape) -> Vec<Misaligned> {
    let mut found: Vec<Misaligned> = Vec::new();
    for event in trace.tree.events() {
        let Event::Access(event) = event else { continue };
        if is_possible_in_a_block(event, &trace.tree)
            && !found.iter().any(|it| it.access == event.access)
            && let Some(misaligned) = misaligned(trace, event, shape)
        {
            found.push(misaligned);
        }
    }
    found
}

fn misaligned(trace: &Trace, event: &AccessEvent, shape: Shape) -> Option<Misaligned> {
    let access = trace.accesses.get(event.access)?;
    let array = &trace.arrays[access.array];
    let bytes = match access.op {
        AccessOp::Load | AccessOp::Store if access.tiles.fragment => return None,
        // A struct with a lesser alignment than its size is taken apart by the compiler, as are a packed
        // struct's members: only a vector is surely one access, and a number in an array of numbers.
        AccessOp::Load | AccessOp::Store => {
            access.bytes.filter(|bytes| access.align >= *bytes || access.scalar && array.of_vectors)?
        }
        AccessOp::AsyncCopy => access.bytes?,
        // A row of a matrix.
        AccessOp::MatrixLoad | AccessOp::MatrixStore if access.tiles.matrices > 0 => 16,
        AccessOp::MatrixLoad | AccessOp::MatrixStore | AccessOp::Atomic => return None,
    };
    if !matches!(bytes, 2 | 4 | 8 | 16) {
        return None;
    }
    let multiple = i64::from(bytes);
    let offset = event.offset.as_ref()?;
    let shared = |factor: &crate::domain::Lanes| factor.gcd().is_multiple_of(u64::from(bytes));
    if !offset.terms.iter().all(|(_, factor)| shared(factor)) {
        return None;
    }
    let known = i64::try_from(array.alignment).ok()?.clamp(1, multiple);
    let values = offset.base.spread(shape);
    let rows = usize::from(access.tiles.matrices) * 8;
    let gives = |thread: &usize| rows == 0 || thread % 32 < rows;
    let mut threads = event.threads.threads().filter(gives).map(|thread| (thread, values[thread]));
    let first = threads.next()?;
    let alone = |(_, at): &(usize, i64)| at.rem_euclid(known) != 0;
    let (assumptions, access) = (event.assumptions.to_vec(), event.access);
    if alone(&first) {
        return Some(Misaligned { access, multiple: bytes, thread: first, other: None, assumptions });
    }
    let other = threads.find(|it| alone(it) || it.1.rem_euclid(multiple) != first.1.rem_euclid(multiple))?;
    let (thread, other) = if alone(&other) { (other, None) } else { (first, Some(other)) };
    Some(Misaligned { access, multiple: bytes, thread, other, assumptions })
}
