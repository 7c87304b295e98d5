//! What happened when a block ran: shared-memory requests, barriers, launches.
//!
//! `exec` writes a trace, `verdict` and the rules read it. It holds no syntax and no values of
//! the run, so it can cross threads.
//!
//! Requests are kept per warp and normalised: the offset of a warp's lowest byte is reduced to
//! its place in a 256-byte window (the longest bank period of any target), and equal patterns
//! are counted, not repeated. A kernel of 32 warps and 1,000 iterations usually has a handful.

mod atomic;
mod barriers;
mod ways;

use crate::domain::{Sight, Unknown};
use crate::ir::{Name, Path, Type};
use crate::source::Span;
use crate::verdict::AccessOp;
pub use atomic::{Atomic, Operation, Seen};
pub use barriers::{Absence, Barrier, Bound, Missing, Split, SplitKind, Then};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use std::sync::Arc;
pub use ways::Ways;

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
    /// Which of `threadIdx.x`, `.y`, `.z` (or `blockDim`) the code looked at.
    pub axes: [bool; 3],
    /// The least index range that a subscript by bare coordinates allows, by axis, and the array: in
    /// `tile[threadIdx.y][threadIdx.x]` with `tile[16][17]`, 17 for x and 16 for y.
    pub extents: [Option<(u64, usize)>; 3],
    /// Why the run stopped early, if it did.
    pub stopped: Option<Unknown>,
    /// Loops that the compiler makes straight code of, or may.
    pub straight: Straight,
    /// What was seen of the pitch of an array, in a run that was made to see it.
    pub pitch: PitchFacts,
}

/// What a run saw of the distance between an array's rows.
#[derive(Clone, Debug, Default)]
pub struct PitchFacts {
    /// What each watched expression was, by its address; `None` if it was no number, or several.
    pub values: FxHashMap<usize, Option<i64>>,
    /// Where the array is named.
    pub mentions: FxHashSet<Span>,
    /// Why it is not shown that longer rows change nothing else, if it is not.
    pub broken: Option<Unknown>,
    /// An access through a pointer that is not followed, and so perhaps of the array.
    pub lost: Option<Span>,
    /// Where the accesses lie, each once.
    pub pieces: Vec<PitchPiece>,
}

/// Where an access lies, by the rows whose distance it is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PitchPiece {
    /// The least and greatest number of its row, as far as known: by how many distances it is moved.
    pub rows: (Option<i64>, Option<i64>),
    /// First byte, and the one past the last if that is known, from the start of that row.
    pub column: (i64, Option<i64>),
}

/// Loops that are unrolled whole although nothing in the source says so, with what stands around them:
/// the first and last region ([`Pattern::region`]) of straight code, in order, apart from each other.
#[derive(Clone, Debug, Default)]
pub struct Straight {
    surely: Vec<(u32, u32)>,
    perhaps: Vec<(u32, u32)>,
    /// Those of `surely` whose rounds the compiler can count.
    counted: Vec<(u32, u32)>,
    /// Regions with a loop that is to be unrolled and whose rounds it cannot count, in order.
    open: Vec<u32>,
}

/// How a loop becomes straight code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrolled {
    /// It may.
    Perhaps,
    /// Surely, if the compiler can count its rounds.
    Surely,
    /// Surely, and it can: each round is code of its own.
    Counted,
}

impl Straight {
    /// Adds a loop that ends now: the region before it, those of its rounds, and the one after it.
    pub fn add(&mut self, before: u32, after: u32, how: Unrolled) {
        let within = |spans: &mut Vec<(u32, u32)>| {
            while spans.pop_if(|span| span.0 >= before).is_some() {}
            match spans.last_mut() {
                // What is before it is after another.
                Some(span) if span.1 >= before => span.1 = after,
                _ => spans.push((before, after)),
            }
        };
        within(&mut self.perhaps);
        if how != Unrolled::Perhaps {
            within(&mut self.surely);
        }
        if how == Unrolled::Counted {
            within(&mut self.counted);
        }
    }

    /// Adds a region with a loop that is to be unrolled and whose rounds the compiler cannot count.
    pub fn add_open(&mut self, region: u32) {
        if self.open.last() != Some(&region) {
            self.open.push(region);
        }
    }

    /// Whether these regions are one piece of straight code, and each round of its loops code of its own.
    #[must_use]
    pub fn is_written_out(&self, first: u32, last: u32) -> bool {
        let at = self.counted.partition_point(|span| span.1 < first);
        let within = self.counted.get(at).is_some_and(|span| span.0 <= first && last <= span.1);
        let open = self.open.partition_point(|region| *region < first);
        (first == last || within) && self.open.get(open).is_none_or(|region| *region > last)
    }

    /// Whether two regions are one piece of straight code: `None` if not, and if so, whether surely.
    #[must_use]
    pub fn together(&self, one: u32, other: u32) -> Option<bool> {
        let within = |spans: &[(u32, u32)]| {
            let at = spans.partition_point(|span| span.1 < one.min(other));
            spans.get(at).is_some_and(|span| span.0 <= one.min(other) && one.max(other) <= span.1)
        };
        let sure = one == other || within(&self.surely);
        (sure || within(&self.perhaps)).then_some(sure)
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
}

/// A shared array (or scalar, or struct).
#[derive(Clone, Debug)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// The name in its declaration.
    pub name_span: Span,
    /// Its declaration.
    pub span: Span,
    /// Its dimensions, outermost first; `None` for one that is not known.
    pub dimensions: Vec<Option<u64>>,
    /// Where each dimension's expression stands, outermost first.
    pub dimension_spans: Vec<Span>,
    /// The innermost element's size in bytes, if known.
    pub element_bytes: Option<u64>,
    /// The innermost element's type as written.
    pub element: String,
    /// Whether it is sized at launch.
    pub dynamic: bool,
    /// Bytes that its start is surely aligned to: the element's, what is written, 16 if dynamic.
    pub alignment: u64,
    /// Whether it was ever used other than by subscripting every dimension, so that something may
    /// rest on the distance between its rows.
    pub flattened: bool,
}

impl Array {
    /// Bytes it takes, if known.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.dimensions.iter().try_fold(self.element_bytes?, |bytes, &d| bytes.checked_mul(d?))
    }

    /// Whether its rows can be made longer without a change elsewhere: a static array of rows that
    /// is only subscripted.
    #[must_use]
    pub fn has_free_rows(&self) -> bool {
        !self.dynamic && !self.flattened && self.dimensions.len() >= 2 && self.bytes().is_some()
    }

    /// Bytes from one row (innermost dimension) to the next, if it has rows.
    #[must_use]
    pub fn row_bytes(&self) -> Option<u64> {
        if self.dimensions.len() < 2 {
            return None;
        }
        self.element_bytes?.checked_mul((*self.dimensions.last()?)?)
    }
}

/// One access site.
#[derive(Clone, Debug)]
pub struct Access {
    /// The access expression.
    pub span: Span,
    /// What it does.
    pub op: AccessOp,
    /// For atomics, what decides how they are carried out.
    pub atomic: Option<Atomic>,
    /// Bytes per lane, if the type is known.
    pub bytes: Option<u32>,
    /// Alignment in bytes that the accessed type guarantees; 0 when it is natural.
    pub align: u32,
    /// Whether it is of a type that the language itself defines, as `short` is and `half` is not.
    pub scalar: bool,
    /// Of a copied struct whose alignment is less than its size: bytes up to which the compiler joins
    /// its members into one access; 0 for anything else.
    pub joins_members: u32,
    /// For `ldmatrix` and `stmatrix`: how many 8x8 matrices; each takes its rows' addresses from 8 lanes.
    pub matrices: u8,
    /// Whether it is a copy that goes around the first-level cache: `cp.async.cg`.
    pub around: bool,
    /// Whether it is what a `wmma` call makes of itself from 8.0 on.
    pub fragment: bool,
    /// Index into [`Trace::arrays`].
    pub array: usize,
    /// The calls that led from the kernel to it, outermost first; one list for each way there.
    pub paths: Vec<Vec<Call>>,
    /// How often the site was reached.
    pub occurrences: u32,
    /// How often what it reads was in a register, so that it made no request.
    pub kept: u32,
    /// The distinct warp requests.
    pub patterns: Vec<Pattern>,
    /// Whether a lane that is surely active was seen to leave the array.
    pub outside: bool,
    /// The first thread that does in every block, not only in one that a bounds guard would cut short.
    pub overrun: Option<u32>,
    /// Whether it was reached in rounds of a loop whose number is given at run time, and of which as many
    /// were run as its threads and arrays allow.
    pub at_most: bool,
    /// Why some request of it is not known, if one is not.
    pub unknown: Option<Unknown>,
    /// Why its active lanes are only an upper bound, if they are.
    pub doubt: Option<Unknown>,
    /// What was taken for granted.
    pub assumptions: Vec<Arc<str>>,
}

/// In which loops of unknown length requests stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Within {
    /// There is none yet.
    #[default]
    Nothing,
    /// In no such loop.
    Counted,
    /// All in this one, the innermost around them.
    Loop(Span),
    /// Some in one, some not or in another.
    Several,
}

impl Within {
    /// The same with requests in this loop besides.
    fn and(self, innermost: Option<Span>) -> Within {
        let new = innermost.map_or(Within::Counted, Within::Loop);
        if self == Within::Nothing || self == new { new } else { Within::Several }
    }
}

impl Access {
    /// Whether the instruction demands all lanes of a warp: `ldmatrix`, `stmatrix` and `wmma`.
    #[must_use]
    pub fn is_warp_wide(&self) -> bool {
        self.fragment || matches!(self.op, AccessOp::MatrixLoad | AccessOp::MatrixStore)
    }

    /// The calls that led to it, by the number of the way there.
    #[must_use]
    pub fn path(&self, number: u32) -> &[Call] {
        self.paths.get(number as usize).map_or(&[], Vec::as_slice)
    }

    /// The number of the way there by these calls.
    pub fn path_number(&mut self, calls: &[Call]) -> u32 {
        let known = self.paths.iter().position(|path| path == calls);
        let number = known.unwrap_or(self.paths.len());
        if known.is_none() {
            self.paths.push(calls.to_vec());
        }
        number as u32
    }

    /// In which loops of unknown length it was reached: their rounds count as one.
    #[must_use]
    pub fn within(&self) -> Within {
        let loops = self.patterns.iter().flat_map(|pattern| &pattern.within);
        loops.fold(Within::Nothing, |all, (innermost, _)| all.and(*innermost))
    }

    /// The innermost loops of unknown length around it, in the order of the text.
    #[must_use]
    pub fn uncounted_loops(&self) -> Vec<Span> {
        let loops = self.patterns.iter().flat_map(|pattern| &pattern.within);
        let mut spans: Vec<Span> = loops.filter_map(|(innermost, _)| *innermost).collect();
        spans.sort_unstable_by_key(|span| (span.file, span.start, span.end));
        spans.dedup();
        spans
    }

    /// The warps that reach it and the requests of each, if all make as many; else `None`.
    #[must_use]
    pub fn even_requests(&self) -> Option<(u32, u64)> {
        let mut by_warp = [0u64; 32];
        for pattern in &self.patterns {
            for (all, times) in by_warp.iter_mut().zip(&pattern.times) {
                *all = all.saturating_add(*times);
            }
        }
        let each = by_warp.into_iter().find(|&requests| requests > 0)?;
        let even = by_warp.iter().all(|&requests| requests == 0 || requests == each);
        even.then(|| (self.warps(), each))
    }

    /// How many warps reach it.
    #[must_use]
    pub fn warps(&self) -> u32 {
        self.patterns.iter().fold(0, |all, pattern| all | pattern.warps).count_ones()
    }

    /// The requests of a block, as far as loops are counted.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.patterns.iter().fold(0, |sum: u64, pattern| sum.saturating_add(pattern.count))
    }
}

/// A call on the way from the kernel to a site.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The function called.
    pub function: Arc<str>,
    /// The call expression.
    pub span: Span,
}

/// One distinct request of a warp and how often it happens.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// Byte offset by lane, moved by a multiple of 256 so that the lowest is in `0..256`;
    /// meaningless for inactive lanes.
    pub offsets: [i64; 32],
    /// The multiple of 256 bytes that was taken away when it first happened, if nothing unknown is added.
    pub moved: Option<i64>,
    /// Active lanes; an upper bound when the access is in doubt.
    pub active: u32,
    /// Unknown symbols whose factor differs between lanes: index into [`Trace::symbols`] and the
    /// factor in bytes by lane.
    pub varying: Vec<(u32, [i64; 32])>,
    /// An unknown multiple of this many bytes is added to every lane; 0 for none.
    pub unit: u64,
    /// For an asynchronous copy: what the lanes read from global memory, if known.
    pub source: Option<Box<CopiedFrom>>,
    /// The same as the unit, without the numbers that the compiler knows though we do not.
    pub open_unit: u64,
    /// What is added, told from other sums: equal for requests whose distance is known.
    pub added: u64,
    /// What the compiler does not see of the offsets.
    pub sight: Sight,
    /// If the counter of a loop that was run for all rounds at once moves every lane by one access
    /// from round to round: an unknown multiple of this many bytes is added besides; 0 for none.
    pub walk: Option<u64>,
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
    /// A power of two, 16 at most: by multiples of it the offsets of all threads differ, those that do not
    /// take part among them.
    pub apart: u8,
    /// Whether it happened in another region or epoch, too.
    pub elsewhere: bool,
    /// Block barriers and rounds of uncounted loops passed before it first happened: two requests
    /// with equal numbers have none between them.
    pub epoch: u32,
    /// How often the site had been reached before it first happened.
    pub occurrence: u32,
    /// By which calls at first: index into [`Access::paths`].
    pub path: u32,
    /// By which ways in all.
    pub ways: Ways,
    /// Shared accesses of any site before it first happened, in program order, itself among them.
    pub position: u32,
    /// Those of them that are not loads.
    pub writes: u32,
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

/// A kernel launch in host code.
#[derive(Clone, Debug)]
pub struct LaunchSite {
    /// The launch.
    pub span: Span,
    /// The kernel's name.
    pub kernel: Path,
    /// Its explicit template arguments, as far as known.
    pub template_args: Option<Vec<LaunchArg>>,
    /// The grid, as far as known.
    pub grid: [Option<i64>; 3],
    /// The block, as far as known.
    pub block: [Option<i64>; 3],
    /// Dynamic shared memory in bytes, if known.
    pub dynamic_bytes: Option<i64>,
    /// The kernel's integer arguments, as far as known.
    pub args: Vec<Option<i64>>,
    /// Of what numbers those arguments that are not known are multiples; 1 says nothing.
    pub multiples: Vec<i64>,
    /// The definitions of that name visible from the launch that take as many arguments, by the span
    /// of their name; none when it is only declared there.
    pub definitions: Vec<Span>,
    /// The types of the parameters, where there is one declaration and no definition.
    pub declared: Option<Vec<Type>>,
    /// Another kernel of that name, by the span of its name, that it may mean as well.
    pub rival: Option<Span>,
    /// What keeps it from happening, if the numbers found on every way there do.
    pub refuted: Option<Arc<Refuted>>,
}

/// What keeps a launch from happening: with the numbers found the program ends before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Refuted {
    /// The `assert`, or the condition.
    pub span: Span,
    /// What it is.
    pub by: EndedBy,
    /// The variables of which something was asked, and that are not known after it.
    pub numbers: Vec<Doubted>,
}

/// A variable that is not what it was asked to be.
#[derive(Clone, Debug, PartialEq)]
pub struct Doubted {
    /// Its name.
    pub name: String,
    /// Of what it was asked to be a multiple; else 1.
    pub multiple: i64,
}

/// How a program ends when something is not as it was asked to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EndedBy {
    /// An `assert` fails.
    Assert,
    /// An `if` leads to `exit`, or out of the outermost function.
    Check,
}

impl LaunchSite {
    /// Whether it says the same as another.
    #[must_use]
    pub fn same(&self, other: &LaunchSite) -> bool {
        self.span == other.span
            && self.kernel.name == other.kernel.name
            && self.block == other.block
            && self.template_args == other.template_args
            && self.args == other.args
            && self.multiples == other.multiples
            && self.refuted == other.refuted
    }
}

/// A template argument at a launch.
#[derive(Clone, Debug, PartialEq)]
pub enum LaunchArg {
    /// A number.
    Value(i64),
    /// A type, in terms that the kernel's file can resolve.
    Type(Type),
    /// Not known.
    Unknown,
}
