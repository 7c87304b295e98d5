//! What does one request of a warp ask for, and how often?

use super::Ways;
use crate::domain::Sight;
use crate::source::Span;
use smallvec::SmallVec;

/// One distinct request of a warp and how often it happens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// Byte offset by lane, moved by a multiple of 256 so that the lowest is in `0..256`;
    /// meaningless for inactive lanes.
    pub offsets: [i64; 32],
    /// The multiple of 256 bytes that was taken away when it first happened, if nothing unknown is added.
    pub moved: Option<i64>,
    /// The multiple of 256 bytes taken from the known part of the offsets, whatever unknown is added.
    pub taken: i64,
    /// Whether its first warp did it again with a different multiple taken away.
    pub strays: bool,
    /// Whether it is not known where in the array each lane is, and of no use for the banks, since each word
    /// has one of its own. The offsets are those of the array's start then.
    pub anywhere: bool,
    /// Active lanes; an upper bound when the access is in doubt.
    pub active: u32,
    /// Unknown symbols whose factor differs between lanes: index into [`Trace::symbols`](super::Trace::symbols) and the
    /// factor in bytes by lane.
    pub varying: Vec<(u32, [i64; 32])>,
    /// An unknown multiple of this many bytes is added to every lane; 0 for none.
    pub unit: u64,
    /// For an asynchronous copy: what the lanes read from global memory, if known.
    pub source: Option<Box<CopiedFrom>>,
    /// The same as the unit, without the numbers that the compiler knows though we do not.
    pub open_unit: u64,
    /// Of a `wmma` call whose tile has its lines a run-time number of bytes apart: that number.
    pub lines_apart: Option<Box<LinesApart>>,
    /// What is added, told from other sums: equal for requests whose distance is known.
    pub added: u64,
    /// What the compiler does not see of the offsets.
    pub sight: Sight,
    /// If the counter of a loop that was run for all rounds at once moves every lane by one access
    /// from round to round: an unknown multiple of this many bytes is added besides; 0 for none.
    pub walk: Option<u64>,
    /// A power of two, 16 at most: by multiples of it the offsets of all threads differ, those that do not
    /// take part among them.
    pub apart: u8,
    /// When it first happened.
    pub first: First,
    /// Whether it happened in another region or epoch, too.
    pub elsewhere: bool,
    /// By which ways in all.
    pub ways: Ways,
    /// The warps that do it: bit `w` is warp `w`.
    pub warps: u32,
    /// The lowest warp that does it.
    pub first_warp: u32,
    /// How often it happens in a block, as far as loops are counted.
    pub count: u64,
    /// How often each warp does it, likewise.
    pub times: [u64; 32],
    /// How often in which loop of unknown length, the innermost around it, if there is one.
    pub within: SmallVec<[(Option<Span>, u64); 1]>,
}

/// A sum of numbers that are given at run time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LinesApart {
    /// What is known of it.
    pub known: i64,
    /// The symbols, as indices into [`Trace::symbols`](super::Trace::symbols), and their factors.
    pub terms: Vec<(u32, i64)>,
}

/// When a request first happened.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct First {
    /// How often its site had been reached in the same piece of straight code; `u32::MAX` if it is several there.
    pub within: u32,
    /// How often the array had gone from being read to being written, or back, before it first
    /// happened.
    pub turn: u32,
    /// Rounds that had been begun of loops that stay loops before it first happened: two requests with
    /// equal numbers are in one piece of straight code.
    pub region: u32,
    /// Iterations begun of loops whose trip count the compiler does not know before it first happened, and
    /// loops ended: two requests with equal numbers are of one iteration.
    pub iteration: u32,
    /// The stretch of code without branches in which it first happened, by number.
    pub stretch: u32,
    /// The branches around that, outermost first, by number.
    pub branches: SmallVec<[u32; 4]>,
    /// Operations with branches of their own passed before it first happened, which the compiler moves no store over
    /// unless it is told to compute less exactly.
    pub skips: u32,
    /// Those of them that call a function, which it moves no load over either.
    pub calls: u32,
    /// Block barriers and rounds of uncounted loops passed before it first happened: two requests
    /// with equal numbers have none between them.
    pub epoch: u32,
    /// How often the site had been reached before it first happened.
    pub occurrence: u32,
    /// By which calls at first: index into [`Access::paths`](super::Access::paths).
    pub path: u32,
    /// Shared accesses of any site before it first happened, in program order, itself among them.
    pub position: u32,
    /// Those of them that are not loads.
    pub writes: u32,
    /// Of a member of an object that is copied as a whole: the bytes before it. Each member is code of its own.
    pub member: Option<u32>,
}

/// What the lanes of an asynchronous copy read from global memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CopiedFrom {
    /// Lanes with equal numbers read from one stretch of memory, others from other lines.
    pub stretches: [u8; 32],
    /// The byte offset of each lane in its stretch, counted from the start of a line.
    pub offsets: [i64; 32],
    /// An unknown multiple of this many bytes is added to every lane; 0 for none.
    pub unit: u64,
}
