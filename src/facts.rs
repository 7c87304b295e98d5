//! What follows from what happened?
//!
//! Each fact is a fold over the event tree of one run: threads that no barrier orders, indices that leave
//! their array, addresses that a wide access cannot have. A fact has a witness: threads that surely do
//! it, under conditions that can hold at once. What was assumed because no index leaves its array is
//! never a reason to say that one does.

mod alignment;
mod bounds;
mod freedom;
mod intervals;
mod possible;
mod races;
mod unwritten;
mod witness;

pub(crate) use alignment::Misaligned;
pub(crate) use bounds::Overrun;
pub(crate) use freedom::{Doubt, Freedom};
pub(crate) use possible::PossibleRace;
pub(crate) use races::{Between, Race};
pub(crate) use unwritten::Unwritten;

use crate::domain::Shape;
use crate::events::Trace;

/// What follows from one run.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Accesses of different threads that nothing orders.
    pub races: Vec<Race>,
    /// Accesses of different warps that nothing orders and that meet for some data.
    pub possible: Vec<PossibleRace>,
    /// Accesses that leave their array.
    pub overruns: Vec<Overrun>,
    /// Wide accesses of addresses that are no multiple of their width.
    pub misaligned: Vec<Misaligned>,
    /// Reads of what no thread writes.
    pub unwritten: Vec<Unwritten>,
    /// Whether the threads are proved not to race for shared memory, if that was asked.
    pub freedom: Option<Freedom>,
}

impl Facts {
    /// The facts of a run with a block of this shape that somebody gave; `dynamic`: the bytes of dynamic shared
    /// memory that it has, if they are known.
    #[must_use]
    pub(crate) fn of(trace: &Trace, shape: Shape, dynamic: Option<u64>) -> Facts {
        Facts {
            races: races::find(trace, shape),
            possible: possible::find(trace, shape),
            overruns: bounds::find(trace, shape, dynamic),
            misaligned: alignment::find(trace, shape),
            unwritten: unwritten::find(trace, shape),
            freedom: None,
        }
    }

    /// Adds the proof that no threads race, or the doubts about it.
    pub(crate) fn prove_freedom(&mut self, trace: &Trace, shape: Shape) {
        self.freedom = Some(freedom::prove(trace, shape));
    }
}
