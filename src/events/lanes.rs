//! Which warp intrinsics ran, in which lanes, and with which masks?
//!
//! `__shfl_down_sync(0xffff, v, 8)` by lanes 0 to 15 is one operation of these threads. In a loop that is run
//! round by round there is one for each round.

use super::{Assumption, Call, Split};
use crate::domain::{Lanes, ThreadSet};
use crate::source::Span;
use std::sync::Arc;

/// The most operations that are kept of a run.
const MOST: usize = 1 << 11;

/// The operations of a run, in order.
#[derive(Debug, Default)]
pub(crate) struct LaneOps {
    ops: Vec<LaneOp>,
    is_open: bool,
}

/// Threads come to an intrinsic by which lanes meet.
#[derive(Clone, Debug)]
pub(crate) struct LaneOp {
    /// The call.
    pub span: Span,
    /// The intrinsic.
    pub name: Arc<str>,
    /// The calls that led to it.
    pub calls: Vec<Call>,
    /// The threads that come to it, or at the most if it is not sure.
    pub threads: ThreadSet,
    /// Those that have left the kernel.
    pub exited: ThreadSet,
    /// How many events of the tree come before it.
    pub at: usize,
    /// Whether just these threads come.
    pub is_sure: bool,
    /// How often, as far as it is known.
    pub times: u64,
    /// Whether that is known.
    pub is_counted: bool,
    /// The lanes that are named.
    pub mask: LaneMask,
    /// Of a shuffle: by thread, the lane of the warp that is read; its own where it reads no other.
    pub sources: Option<Vec<u8>>,
    /// Whether what a shuffle gives is only put into a variable, and so may be passed over later.
    pub is_set_aside: bool,
    /// The conditions around on which threads differ.
    pub splits: Vec<Split>,
    /// The bounds by which threads have left the kernel.
    pub exits: Vec<Split>,
    /// What is taken for granted.
    pub assumptions: Arc<Vec<Assumption>>,
}

/// The lanes that an intrinsic names.
#[derive(Clone, Debug)]
pub(crate) enum LaneMask {
    /// None: the intrinsic is one of those that went with compute capability 7.0.
    Nobody,
    /// By thread, the bits of the mask.
    Known(Lanes),
    /// Those that happen to be there: the argument is a call of `__activemask()`.
    Active,
    /// It is not known.
    Unknown,
}

impl LaneOps {
    /// All of them.
    pub(crate) fn ops(&self) -> &[LaneOp] {
        &self.ops
    }

    /// Whether there may be others.
    pub(crate) fn is_open(&self) -> bool {
        self.is_open
    }

    /// Something may hold such operations and is not followed.
    pub(crate) fn open(&mut self) {
        self.is_open = true;
    }

    /// Adds one.
    pub(crate) fn push(&mut self, op: LaneOp) {
        match self.ops.len() < MOST {
            true => self.ops.push(op),
            false => self.is_open = true,
        }
    }
}
