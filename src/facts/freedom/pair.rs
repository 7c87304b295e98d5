//! Is it harmless that two accesses are unordered, and can they touch the same memory?
//!
//! Reads are harmless, and so are writes of the same value. But a barrier is not called needless that keeps two such
//! writes apart: they would touch the same bytes without it. For global memory, it is mostly unknown whether two names
//! point to the same memory:
//!
//! ```text
//! float *a, float *b                              may be one
//! float *__restrict__ a, float *__restrict__ b    are two
//! a, a                                            one: what counts is the offset
//! ```
//!
//! An atomic may tell other blocks what was done before it. So an atomic on global memory conflicts with every access
//! there.

use super::live::Live;
use super::meet::Relation;
use crate::domain::{Int, Lanes};
use crate::events::{Access, AccessOp, Operation, Stored, Trace};

/// What an access does to memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Reads,
    Writes,
    Atomic,
}

pub(super) fn kind(access: &Access) -> Kind {
    match access.op {
        _ if access.is_atomic() => Kind::Atomic,
        AccessOp::Load | AccessOp::MatrixLoad => Kind::Reads,
        AccessOp::Store | AccessOp::MatrixStore | AccessOp::AsyncCopy => Kind::Writes,
        AccessOp::Atomic => Kind::Atomic,
    }
}

/// Whether it makes no difference which of two accesses comes first.
/// `global`: of global memory, where other blocks may learn by one atomic that another was done.
pub(super) fn is_harmless(one: &Live<'_>, other: &Live<'_>, global: bool) -> bool {
    match (kind(one.access), kind(other.access)) {
        (Kind::Reads, Kind::Reads) => true,
        (Kind::Atomic, Kind::Atomic) => commute(one, other, global),
        (Kind::Writes, Kind::Writes) => {
            !one.is_crossed
                && one.access.bytes == other.access.bytes
                && is_in_steps(one)
                && is_in_steps(other)
                && writes_the_same(&one.event.stored, &other.event.stored)
        }
        _ => false,
    }
}

/// Whether two accesses are one store, done once by each thread, in which all lanes of a warp write one value.
pub(super) fn is_one_value_of_warp(one: &Live<'_>, other: &Live<'_>) -> bool {
    one.at == other.at
        && [one, other].iter().all(|it| it.relation == Relation::Same)
        && matches!(one.event.stored, Stored::OfWarp)
        && is_in_steps(one)
}

/// Whether two atomics give the same in either order, and nobody asks what was there before: the sums of one
/// statement, say.
fn commute(one: &Live<'_>, other: &Live<'_>, global: bool) -> bool {
    let loads = |live: &Live<'_>| live.access.op == AccessOp::Load;
    if loads(one) && loads(other) {
        return true;
    }
    let Some((first, second)) = one.access.atomic.zip(other.access.atomic) else { return false };
    let is_one_statement = one.access.span == other.access.span;
    let alike = match first.operation {
        Operation::Add => is_one_statement || !global && second.operation == Operation::Add,
        Operation::Combine | Operation::Float => is_one_statement,
        Operation::Exchange | Operation::CompareAndSwap | Operation::Wide => false,
    };
    alike && !first.used && !second.used
}

/// Whether an access only goes to multiples of its own bytes, so that it meets another such one as a whole.
fn is_in_steps(live: &Live<'_>) -> bool {
    let step = live.access.bytes.map_or(0, u64::from);
    let are = |lanes: &Lanes| step > 0 && lanes.gcd().is_multiple_of(step);
    let all = |offset: &Int| are(&offset.base) && offset.terms.iter().all(|(_, factor)| are(factor));
    live.event.offset.as_ref().is_some_and(all)
}

/// Whether two stores surely write one value, in whatever threads.
fn writes_the_same(one: &Stored, other: &Stored) -> bool {
    match (one, other) {
        (Stored::Number(one), Stored::Number(other)) => {
            one.as_constant().is_some() && one.as_constant() == other.as_constant()
        }
        (Stored::Float(one), Stored::Float(other)) => one == other,
        _ => false,
    }
}

/// How the memory of two accesses relates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// They cannot meet.
    Apart,
    /// They meet where their offsets do.
    Same,
    /// They may meet, whatever their offsets are.
    Perhaps,
}

pub(super) fn memory(trace: &Trace, one: &Live<'_>, other: &Live<'_>) -> Memory {
    let (a, b) = (&trace.arrays[one.access.array], &trace.arrays[other.access.array]);
    // A copy reads global memory, at an address that is not recorded.
    let copies = |live: &Live<'_>| live.access.op == AccessOp::AsyncCopy;
    match (a.global, b.global) {
        (true, true) => match one.event.object == other.event.object {
            _ if [one, other].iter().any(|it| kind(it.access) == Kind::Atomic) => Memory::Perhaps,
            true => Memory::Same,
            false if a.restrict && b.restrict => Memory::Apart,
            false => Memory::Perhaps,
        },
        (true, false) if copies(other) && kind(one.access) != Kind::Reads => Memory::Perhaps,
        (false, true) if copies(one) && kind(other.access) != Kind::Reads => Memory::Perhaps,
        (true, false) | (false, true) => Memory::Apart,
        // All dynamic arrays begin at one place.
        (false, false) if a.dynamic && b.dynamic => Memory::Same,
        (false, false) if a.dynamic == b.dynamic && one.event.object == other.event.object => Memory::Same,
        (false, false) => Memory::Apart,
    }
}
