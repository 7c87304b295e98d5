//! What happened when a block ran: which shared-memory requests, barriers, launches?
//!
//! `exec` writes a trace, `verdict` and the rules read it. It holds no syntax and no values of
//! the run, so it can cross threads.
//!
//! `exec` reports each access once, as an `Occurrence`. Two folds take it: `EventTree` keeps the order and the full
//! offsets; `Requests` splits the access into warp requests and counts equal ones once. Banks repeat, so the offset of
//! a warp's lowest byte is reduced to its place in a 256-byte window (the longest bank period of any target). A kernel
//! of 32 warps and 1,000 iterations usually has a handful of distinct requests.

mod access;
mod array;
mod assumption;
mod atomic;
mod barriers;
mod blocks;
mod copy_source;
mod lanes;
mod launch;
mod occurrence;
mod pitch;
mod request;
mod requests;
mod straight;
mod taken;
mod tile;
mod tree;
mod warp_tile;
mod ways;

pub(crate) use access::JOINED_IN_PART;
pub use access::{Access, AccessOp, Call, Tiles, Within};
pub use array::{Array, Declared};
pub use assumption::Assumption;
pub use atomic::{Atomic, Operation, Scope, Seen};
pub use barriers::{Absence, Barrier, Bound, Missing, Ranks, Split, SplitKind, Then};
pub use blocks::Blocks;
pub(crate) use copy_source::{CopySource, CopyTerm};
pub(crate) use lanes::{LaneMask, LaneOp, LaneOps};
pub use launch::{Covers, Doubted, EndedBy, LaunchArg, LaunchSite, Refuted};
pub(crate) use launch::{Ties, weaken, weaken_powers};
pub(crate) use occurrence::{Moment, Occurrence, Partly};
pub use pitch::{PitchFacts, PitchPiece};
pub use request::{CopiedFrom, First, LinesApart, Pattern};
pub(crate) use requests::{Early, LeftOut, LoopCode, Numbers, RequestMark, Requests};
pub use straight::{Straight, Unrolled};
pub use taken::Roots;
pub(crate) use taken::{Asks, Is, Side, Taken};
pub(crate) use tile::Tile;
pub(crate) use tree::{
    AccessEvent, Branches, Differs, EndOfRound, Event, EventTree, GoesOn, MemberOf, Orderer, Stored,
    Subscript,
};
pub(crate) use warp_tile::{PerTile, WarpTile};
pub use ways::Ways;

use crate::domain::Unknown;
use crate::ir::Name;
use crate::source::Span;
use rustc_hash::FxHashSet;

/// Everything one run recorded, in the order in which sites were first reached.
#[derive(Debug, Default)]
pub struct Trace {
    /// Shared-memory access sites.
    pub accesses: Vec<Access>,
    /// Shared arrays, referred to by index.
    pub arrays: Vec<Array>,
    /// Block barriers.
    pub barriers: Vec<Barrier>,
    /// Kernel launches, of a run over host code.
    pub launches: Vec<LaunchSite>,
    /// The symbols that patterns refer to, by index.
    pub symbols: Vec<SymbolFacts>,
    /// Run-time numbers that decide an index by what they are modulo a number: name, modulus.
    pub demands: Vec<(String, i64)>,
    /// Types whose size was asked for and is not known, by name.
    pub unsized_types: Vec<Name>,
    /// The functions that were entered, by the span of their name.
    pub entered: Vec<Span>,
    /// The loops of which not every round was run by itself.
    pub uncounted: Vec<Uncounted>,
    /// Which of `threadIdx.x`, `.y`, `.z` (or `blockDim`) the code looked at.
    pub axes: [bool; 3],
    /// The least index range that a subscript by bare coordinates allows, by axis, and the array: in
    /// `tile[threadIdx.y][threadIdx.x]` with `tile[16][17]`, 17 for x and 16 for y.
    pub extents: [Option<(u64, usize)>; 3],
    /// Loops of known trip count that were not run round by round, as that would take too long.
    pub long_loops: Vec<Span>,
    /// Why the run stopped early, if it did.
    pub stopped: Option<Unknown>,
    /// What was counted and the compiler leaves out.
    pub(crate) left_out: LeftOut,
    /// Loops that the compiler makes straight code of, or may.
    pub straight: Straight,
    /// The code that only a part of the block may come to: sides of conditions, and loops.
    pub(crate) parted: FxHashSet<Span>,
    /// What happened in order.
    pub(crate) tree: EventTree,
    /// By which intrinsics lanes met, in a run that was made to see it.
    pub(crate) lanes: LaneOps,
    /// What was seen of the pitch of an array, in a run that was made to see it.
    pub pitch: PitchFacts,
}

/// A loop of which not every round was run by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Uncounted {
    /// Where it stands.
    pub span: Span,
    /// How often it runs, at the most, where that is known: of a loop that was cut short.
    pub trips: Option<u64>,
}

impl Trace {
    /// Notes a loop of which not every round was run by itself, and how often it runs, if that is known.
    pub(crate) fn note_uncounted(&mut self, span: Span, trips: Option<u64>) {
        match self.uncounted.iter_mut().find(|it| it.span == span) {
            Some(known) => known.trips = known.trips.zip(trips).map(|(known, trips)| known.max(trips)),
            None => self.uncounted.push(Uncounted { span, trips }),
        }
    }

    /// Only a part of the block may come to this code.
    pub(crate) fn note_parted(&mut self, span: Span) {
        self.parted.insert(span);
    }

    /// Whether a place is within code that only a part of the block may come to.
    pub(crate) fn is_parted(&self, place: Span) -> bool {
        let holds = |it: &Span| it.file == place.file && it.start < place.start && place.start < it.end;
        self.parted.iter().any(holds)
    }

    /// Whether some thread leaves an array in every block like this one.
    #[must_use]
    pub(crate) fn leaves_an_array(&self) -> bool {
        self.accesses.iter().any(|access| access.overrun.is_some())
    }

    /// The number of an array of another trace, which becomes one of this.
    pub(crate) fn adopt(&mut self, array: &Array) -> usize {
        let known = self.arrays.iter().position(|other| other.name_span == array.name_span);
        known.unwrap_or_else(|| {
            self.arrays.push(array.clone());
            self.arrays.len() - 1
        })
    }
}

/// What a verdict may say of a symbol.
#[derive(Clone, Debug)]
pub struct SymbolFacts {
    /// Its name for messages.
    pub name: String,
    /// Whether it is given from outside under a name of the source text (and so a table over it is
    /// of use), rather than a loop counter, the side of a condition or a value from memory.
    pub given: bool,
    /// Whether it is a loop's iteration number, which takes its values in turn.
    pub counter: bool,
    /// Least and greatest value, if known.
    pub range: (Option<i64>, Option<i64>),
    /// Of a product: its factors, as indices into [`Trace::symbols`]; of any other symbol, none.
    pub factors: Vec<u32>,
    /// The numbers that it is made of.
    pub roots: Roots,
}
