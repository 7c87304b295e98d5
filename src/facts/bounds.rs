//! Which accesses leave their array?
//!
//! Only what surely happens in an interior block is reported: a thread that is surely active, at an offset that is
//! outside for every possible value of its symbols. A condition that is the same for the whole block and not decided
//! is named with the finding. Where data choose the threads, an access counts if it is outside for all of them.
//! Example, in a block of 128:
//!
//! ```text
//! __shared__ float s[128];
//! s[t + 1] = in[t];          thread 127 writes bytes 512 to 515 of 512
//! if (t < n) s[2 * t] = 0;   `n` may be 64: nothing is said
//! if (last) s[t + 1] = 0;    the same as the first, where `last` is true
//! if (in[t] > 0) s[128] = 0; possible: whichever thread it is, it is outside
//! if (i < n) r[i] = 0;       `i = blockIdx.x * 128 + t`, `r` of 32: `n` may be 32, and nothing is said
//! ```
//!
//! An array that is sized at launch is as long as the launch says; if that is unknown, nothing is reported.

use super::guards::Happens;
use super::witness::is_possible_in_a_block;
use crate::domain::{AmongBlocks, Shape, SymbolId, ThreadSet};
use crate::events::{Access, AccessEvent, Assumption, Event, EventTree, Subscript, Ties, Trace};

/// An access that leaves its array.
#[derive(Clone, Debug)]
pub(crate) struct Overrun {
    /// Index into the trace's accesses.
    pub access: usize,
    /// The first thread that does so.
    pub thread: usize,
    /// A byte offset that it has, counted from the beginning of the array: the least if it is too large, the
    /// greatest if it is too small.
    pub offset: i64,
    /// Bytes of the array.
    pub size: u64,
    /// Whether the offset is a bound, rather than the only one there is.
    pub is_bound: bool,
    /// When it happens.
    pub happens: Happens,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// All such accesses of a run, one for each site.
pub(super) fn find(trace: &Trace, shape: Shape, dynamic: Option<u64>, ties: Ties) -> Vec<Overrun> {
    let mut found: Vec<Overrun> = Vec::new();
    for event in trace.tree.events() {
        let Event::Access(event) = event else { continue };
        if event.may_be_cut_short || found.iter().any(|it| it.access == event.access && it.happens.is_sure())
        {
            continue;
        }
        let Some(happens) = Happens::of(event, &trace.tree, ties) else { continue };
        let Some(access) = trace.accesses.get(event.access) else { continue };
        if is_bounded_by_guard(event, &trace.tree) {
            continue;
        }
        let array = &trace.arrays[access.array];
        // No array has no elements: its length is not understood.
        let bytes_of_array = if array.dynamic { dynamic } else { array.bytes().filter(|size| *size > 0) };
        let (Some(bytes_of_array), Some(bytes)) = (bytes_of_array, access.bytes) else { continue };
        let Ok(size) = i64::try_from(bytes_of_array) else { continue };
        let rows = usize::from(access.tiles.matrices) * 8;
        let outside = |thread: usize| {
            let (least, most) = bounds(&trace.tree, event, thread, shape)?;
            let above = least.filter(|least| least.saturating_add(i64::from(bytes)) > size);
            let below = most.filter(|most| *most < 0);
            above.or(below).map(|offset| (thread, offset, least != most))
        };
        let threads = || event.threads.threads().filter(|thread| rows == 0 || thread % 32 < rows);
        // Where data choose the threads, whichever they choose.
        let counts = !matches!(happens, Happens::ForData) || threads().all(|it| outside(it).is_some());
        if let Some((thread, offset, is_bound)) = threads().find_map(outside).filter(|_| counts) {
            let (access, assumptions) = (event.access, event.assumptions.to_vec());
            // What surely happens is told before what may.
            found.retain(|it| it.access != access || !happens.is_sure());
            if found.iter().all(|it| it.access != access) {
                found.push(Overrun {
                    access,
                    thread,
                    offset,
                    size: bytes_of_array,
                    is_bound,
                    happens,
                    assumptions,
                });
            }
        }
    }
    found
}

/// A subscript of an inner dimension that lies outside of it, of an access that stays in its array.
#[derive(Clone, Debug)]
pub(crate) struct InnerOverrun {
    /// Index into the trace's accesses.
    pub access: usize,
    /// The subscript.
    pub subscript: Subscript,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// All such accesses of a run, one for each site; `outside`: those that leave the array.
pub(super) fn find_inner(trace: &Trace, outside: &[Overrun]) -> Vec<InnerOverrun> {
    let mut found: Vec<InnerOverrun> = Vec::new();
    // Subscripts come right before the access of their element.
    let mut pending: Vec<&Subscript> = Vec::new();
    for event in trace.tree.events() {
        match event {
            Event::Subscript(subscript) => pending.push(subscript),
            Event::Access(event) if !pending.is_empty() => {
                let Some(access) = trace.accesses.get(event.access) else { continue };
                let of_this = |it: &&Subscript| {
                    it.dimension.is_some() && is_of(it, access) && event.threads.has(it.thread)
                };
                let known = outside.iter().any(|it| it.access == event.access)
                    || found.iter().any(|it| it.access == event.access);
                if let Some(at) = pending.iter().position(of_this) {
                    let subscript = pending[at];
                    if !known && is_possible_in_a_block(event, &trace.tree) && !event.may_be_cut_short {
                        found.push(InnerOverrun {
                            access: event.access,
                            subscript: subscript.clone(),
                            assumptions: event.assumptions.to_vec(),
                        });
                    }
                    pending.clear();
                }
            }
            _ => {}
        }
    }
    found
}

/// Whether a subscript is one of what is accessed.
fn is_of(subscript: &Subscript, access: &Access) -> bool {
    let (inner, outer) = (subscript.span, access.span);
    let within = inner.file == outer.file && outer.start <= inner.start && inner.end <= outer.end;
    within && subscript.array == access.array
}

/// The threads that do an access, the event of this number. Where a bound that no block need reach may keep threads
/// from it, it keeps out those that would leave the array, or a row of it for the next: `if (t < n) v = rows[r][t];` has
/// an `n` that is no larger than a row.
pub(super) fn inside(trace: &Trace, at: usize, event: &AccessEvent, shape: Shape) -> ThreadSet {
    let Some(access) = trace.accesses.get(event.access).filter(|_| event.may_be_cut_short) else {
        return event.threads;
    };
    // Subscripts come right before the access of their element.
    let before = trace.tree.events()[..at].iter().rev().map_while(|event| match event {
        Event::Subscript(subscript) => Some(subscript),
        _ => None,
    });
    let subscripts = before.filter(|it| is_of(it, access));
    let threads = subscripts.fold(event.threads, |threads, it| threads.minus(&it.outside));
    let size = trace.arrays[access.array].bytes().and_then(|size| i64::try_from(size).ok());
    let offset = event.offset.as_ref().filter(|offset| offset.terms.is_empty());
    match size.zip(offset).zip(access.bytes) {
        Some(((size, offset), bytes)) => {
            let offsets = offset.base.spread(shape);
            let is_inside = |thread: usize| (0..=size - i64::from(bytes)).contains(&offsets[thread]);
            threads.and(&ThreadSet::collect(shape, is_inside))
        }
        None => threads,
    }
}

/// Whether a bound of threads may be one of the place as well: both count the threads of all blocks.
fn is_bounded_by_guard(event: &AccessEvent, tree: &EventTree) -> bool {
    let is_guard = |it: &Assumption| matches!(it, Assumption::InsideBounds { uniform: false, .. });
    let is_of_block = |id: SymbolId| {
        let among = tree.symbol(id).map(|symbol| symbol.among_blocks);
        matches!(among, Some(AmongBlocks::Index(_)))
    };
    let mut terms = event.offset.iter().flat_map(|offset| &offset.terms);
    event.assumptions.iter().any(is_guard) && terms.any(|(id, _)| is_of_block(*id))
}

/// The least and the greatest offset that a thread can have, where they are known.
fn bounds(
    tree: &EventTree,
    event: &AccessEvent,
    thread: usize,
    shape: Shape,
) -> Option<(Option<i64>, Option<i64>)> {
    let offset = event.offset.as_ref()?;
    let base = offset.base.at(thread, shape);
    let (mut least, mut most) = (Some(base), Some(base));
    for (id, factor) in &offset.terms {
        let symbol = tree.symbol(*id)?;
        let factor = factor.at(thread, shape);
        let ends = [symbol.low, symbol.high].map(|end| match factor {
            0 => Some(0),
            _ => end.and_then(|end| end.checked_mul(factor)),
        });
        let (low, high) = if factor < 0 { (ends[1], ends[0]) } else { (ends[0], ends[1]) };
        least = least.zip(low).and_then(|(sum, low)| sum.checked_add(low));
        most = most.zip(high).and_then(|(sum, high)| sum.checked_add(high));
    }
    Some((least, most))
}
