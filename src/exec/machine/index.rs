//! Where in the trace are sites and patterns, and how is it taken back?

use crate::codegen::Registers;
use crate::domain::SymbolId;
use crate::events::{AccessOp, Then, Ways};
use crate::source::Span;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Finds sites and patterns that are already in the trace.
#[derive(Debug, Default)]
pub struct Index {
    pub sites: FxHashMap<(Span, AccessOp, usize, Option<u32>), usize>,
    /// By site and a hash of what is requested: the numbers of its patterns that have it.
    pub patterns: FxHashMap<(usize, u64), SmallVec<[u32; 2]>>,
    pub symbols: FxHashMap<SymbolId, u32>,
    pub journal: Vec<Undo>,
    /// What the straight code at hand has in registers.
    pub registers: Registers,
    /// Accesses so far, in program order.
    pub accesses: u32,
    /// Those among them that may write.
    pub writes: u32,
}

impl Index {
    /// Accesses so far, in program order.
    pub(crate) fn accesses(&self) -> u32 {
        self.accesses
    }

    /// Counts one more access in program order.
    pub fn pass(&mut self, op: AccessOp) {
        self.accesses = self.accesses.wrapping_add(1);
        self.writes = self.writes.wrapping_add(u32::from(op != AccessOp::Load));
    }
}

/// A change of the trace that can be taken back.
#[derive(Debug)]
pub(crate) enum Undo {
    /// A pattern happened again, in this loop of unknown length.
    Again { site: u32, pattern: u32, by: u64, warp: u32, within: Option<Span>, elsewhere: bool },
    /// A site was reached.
    Occurrence { site: u32 },
    /// What a site reads was in a register.
    Kept { site: u32 },
    /// A site got its last pattern.
    Pattern { site: u32 },
    /// A pattern was reached by another way.
    Ways { site: u32, pattern: u32, was: Ways },
    /// The last site was new.
    Site,
    /// A site became unknown.
    Unknown { site: u32 },
    /// A site became doubtful.
    Doubt { site: u32 },
    /// A site was seen to leave its array.
    Outside { site: u32 },
    /// A site was seen to leave its array in an earlier thread, or for the first time.
    Overrun { site: u32, was: Option<u32> },
    /// A site was reached in rounds of which there may be fewer.
    AtMost { site: u32 },
    /// A site got its last assumption.
    Assumption { site: u32 },
    /// Something worse was found of threads that do not come to a barrier.
    Absence { barrier: usize, absence: usize, was: Then },
}

/// A moment to which the trace can be taken back.
#[derive(Debug)]
pub struct Mark {
    pub journal: usize,
    pub accesses: u32,
    pub writes: u32,
    pub barriers: usize,
    pub events: usize,
    pub came: usize,
    /// Launches recorded so far.
    pub launches: usize,
}
