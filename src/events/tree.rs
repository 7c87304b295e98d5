//! What happened in a block, in the order of the program?
//!
//! A tree of accesses, barriers and loops, written down as it is walked: a loop whose rounds were run
//! for all rounds at once begins, its body follows once, with offsets that are sums over the number of
//! the round, and it ends. A loop whose rounds were run one by one leaves its rounds one after the other.
//!
//! ```text
//! for (k = 0; k < n; ++k) {        Loop
//!     s[t] = in[k];                    Access  store of s at 4 t
//!     __syncthreads();                 Barrier
//!     sum += s[255 - t];               Access  load of s at 1020 - 4 t
//! }                                EndOfLoop k
//! ```
//!
//! Nothing is reduced: offsets are whole, and each access knows its threads. Both sides of a condition
//! stand one after the other, each with the threads that take it. Whatever may order threads and is not
//! followed is an event, too.

use super::{Asks, Assumption, Blocks, Scope, Side, Taken, Tile, WarpTile};
use crate::domain::{Int, Lanes, Remainder, Shape, Symbol, SymbolId, ThreadSet};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The most events that are kept of a run.
const MOST: usize = 1 << 14;

/// What happened, in order.
#[derive(Debug, Default)]
pub(crate) struct EventTree {
    events: Vec<Event>,
    /// Whether more happened than is kept.
    is_cut: bool,
    /// Whether some function that ran speaks of `volatile`.
    is_volatile: bool,
    /// Whether some function that ran has a loop that may wait for what it reads, if that is read each time.
    has_waiting_loop: bool,
    /// What assertions ask for, and the branches around them.
    asserted: Vec<(Asks, Branches)>,
    /// The branches on which a block leaves a loop or a function, and does not go on behind the condition.
    leaves: FxHashSet<u32>,
    /// Whether it may be seen when threads do something: from outside, as they print, read a clock, or launch, or by
    /// threads that come to a barrier object that one of them makes.
    is_watched: bool,
    /// What is known of the symbols in offsets.
    symbols: FxHashMap<SymbolId, Symbol>,
    /// Those of them that are remainders.
    remainders: FxHashMap<SymbolId, Remainder>,
    /// Those that are quotients of another: which, and their value where that is 0.
    at_zero: FxHashMap<SymbolId, (SymbolId, i64)>,
    /// By the number of a branch: the blocks that surely take it. Where data choose the threads that do, for each of
    /// them apart, all do for some data.
    taken: FxHashMap<u32, Taken>,
    /// What the conditions of loops ask for.
    loops: FxHashMap<Span, Asks>,
    /// Branches that one block of all takes, whichever it is, by their numbers.
    turns: FxHashSet<u32>,
    /// Where rounds of loops begin: the number of the next event, and the loop.
    rounds: Vec<(usize, Span)>,
}

/// A symbol, the remainder that it is, and of a quotient its value where what is divided is 0.
type Known = (Symbol, Option<Remainder>, Option<(SymbolId, i64)>);

/// Of whom what they may do is not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Differs {
    /// Of threads that a bound keeps out, which are not in the middle of their problem.
    OtherSide,
    /// Of rounds whose number a type does not hold.
    Wraps,
    /// Of rounds and threads in which a number that is divided is below 0.
    BelowZero,
}

/// One thing that happened.
#[derive(Clone, Debug)]
pub(crate) enum Event {
    /// An access of shared memory.
    Access(AccessEvent),
    /// A subscript of an inner dimension surely lies outside of it. Whether its element is accessed is not said.
    Subscript(Subscript),
    /// Threads wait for each other.
    Barrier {
        /// The barrier expression.
        span: Span,
        /// The threads that come to it.
        threads: ThreadSet,
        /// Whether these are all that have not left the kernel; `None` if it is not known who comes.
        all: Option<bool>,
        /// Whether all come in every block, as far as the branches around are taken.
        is_sure: bool,
        /// The branches around.
        branches: Branches,
    },
    /// Something that may order threads, and of which it is not known whether it does.
    MayOrder {
        /// Where it stands.
        span: Span,
        /// What it is.
        by: Orderer,
    },
    /// Something that is not followed, and that may access shared memory.
    MayAccess {
        /// Where it stands.
        span: Span,
        /// Whether it may write there.
        writes: bool,
    },
    /// Lanes of a warp come together.
    WarpOrder {
        /// Where they do.
        span: Span,
        /// The threads that take part.
        threads: ThreadSet,
        /// Which of them come together.
        tile: WarpTile,
        /// Whether what they did to memory before is done for all of them after: by `__syncwarp`. A shuffle
        /// or a vote hands on values only.
        is_fence: bool,
        /// Whether they surely take part, as far as the branches around are taken.
        is_sure: bool,
        /// The branches around.
        branches: Branches,
    },
    /// What threads may do otherwise is not run.
    MayDiffer {
        /// Where they may.
        span: Span,
        /// Which threads.
        why: Differs,
    },
    /// Threads put the asynchronous copies that they have begun into a group.
    CopyGroup {
        /// Those that do, at the most.
        threads: ThreadSet,
        /// Whether all of them surely do, as far as the branches around are taken.
        is_sure: bool,
        /// The branches around.
        branches: Branches,
    },
    /// Threads wait for asynchronous copies of their own.
    CopyWait {
        /// Those that do, at the most.
        threads: ThreadSet,
        /// They wait for all groups but so many of the latest; `None`: for all copies.
        but: Option<u32>,
        /// Whether all of them surely do, as far as the branches around are taken.
        is_sure: bool,
        /// The branches around.
        branches: Branches,
    },
    /// A loop of which one pass through the body stands for all begins.
    Loop {
        /// The loop.
        span: Span,
        /// The first symbol that may have been made in it: those from it on differ between rounds.
        first_symbol: SymbolId,
        /// Whether it surely runs.
        runs: bool,
        /// The branches around.
        branches: Branches,
    },
    /// In a pass that stands for several rounds of the innermost such loop, the next of them begins. The loop may end
    /// before it.
    NextRound {
        /// The branches that lead there.
        branches: Branches,
    },
    /// The innermost such loop ends.
    EndOfLoop {
        /// The number of the round; `None` if the rounds that were run stand one after the other after all.
        round: Option<SymbolId>,
        /// Of a pass that stands for several rounds: a number for what follows the loop, of rounds that were done when
        /// the loop ended and are no whole pass.
        rest: Option<SymbolId>,
        /// Whether there is a second round.
        goes_on: GoesOn,
        /// What leads to the end of a round.
        end: EndOfRound,
    },
}

/// What leads to the end of a loop's round.
#[derive(Clone, Debug, Default)]
pub(crate) struct EndOfRound {
    /// The branches: a block that takes others leaves the loop.
    pub branches: Branches,
    /// Whether all threads of the kernel come there, or none: none of them leaves the loop by itself.
    pub by_all: bool,
    /// Whether a block may leave the loop on some side of a condition in it.
    pub may_leave: bool,
}

/// Whether a loop has a second round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GoesOn {
    /// It surely has, for some numbers given at run time.
    Surely,
    /// For some data.
    ForData,
    /// That is not known.
    Perhaps,
}

/// The branches around something that a block may pass by, by the numbers that tell them apart: conditions that
/// are the same for all threads and not decided, and bounds.
pub(crate) type Branches = Arc<[u32]>;

/// Where in an object that is copied as a whole a member lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemberOf {
    /// The bytes of the object before it.
    pub at: u32,
    /// The bytes of the object.
    pub size: u32,
}

/// Threads access shared memory.
#[derive(Clone, Debug)]
pub(crate) struct AccessEvent {
    /// Index into [`Trace::accesses`](super::Trace::accesses).
    pub access: usize,
    /// By which calls: the number of the way there, of [`Access::path`](super::Access::path).
    pub path: u32,
    /// The variable that is accessed. Instances of a function template have each their own.
    pub object: u32,
    /// Bytes from the beginning of the array, by thread; `None` if that is not known.
    pub offset: Option<Int>,
    /// The threads that may do it, and that do if `is_sure`.
    pub threads: ThreadSet,
    /// Whether all of them do it, if the conditions hold that are the same for all.
    pub is_sure: bool,
    /// Whether it is not sure only because data choose which of the threads do it: any of them may, whatever others
    /// do.
    pub is_chosen: bool,
    /// Whether a block may pass by it, by a condition that is the same for all threads and not decided.
    pub is_passable: bool,
    /// The branches around.
    pub branches: Branches,
    /// What is taken for granted of it.
    pub assumptions: Arc<Vec<Assumption>>,
    /// Whether a bound that no block need reach may keep any thread from it.
    pub may_be_cut_short: bool,
    /// For a store: what is written.
    pub stored: Stored,
    /// Of a member of an object that is copied as a whole.
    pub member: Option<MemberOf>,
    /// Of a `wmma` call: the tile that it is a part of, if the distance of its lines is known.
    pub tile: Option<Arc<Tile>>,
}

/// A subscript that lies outside its dimension.
#[derive(Clone, Debug)]
pub(crate) struct Subscript {
    /// The element, up to this subscript: `tile[r][c]`.
    pub span: Span,
    /// Index into [`Trace::arrays`](super::Trace::arrays).
    pub array: usize,
    /// Which dimension of the array it is, counted from the outermost; none in rows that only a pointer makes of it.
    pub dimension: Option<usize>,
    /// How many elements that has.
    pub length: u64,
    /// The threads that are outside.
    pub outside: ThreadSet,
    /// The first of them.
    pub thread: usize,
    /// Its subscript.
    pub index: i64,
}

/// What may order threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Orderer {
    /// A fence: what was done before it is seen, among these threads, by whoever sees what is done after it.
    Fence(Scope),
    /// An atomic with a result by which threads may wait for each other. It puts nothing else in order.
    Atomic(Scope),
    /// Something that is not followed.
    Unknown,
}

/// What a store writes.
#[derive(Clone, Debug)]
pub(crate) enum Stored {
    /// It is not known, or it is no store.
    Unknown,
    /// All lanes of a warp write the same, whatever that is.
    OfWarp,
    /// What is made of what is read there just before, as by `+=`; `alike`: as below.
    Update { alike: bool },
    /// The same, by a statement that names the place twice, as `most = max(most, x)`: `load` reads it. `alike`: all
    /// lanes of a warp make the same of it, and do not count, so that one update is what is meant.
    UpdateOf { load: usize, alike: bool },
    /// An integer for each thread, before it is cut to the bytes that are written.
    Number(Box<Int>),
    /// The bits of a floating-point number, as a `double`.
    Float(u64),
    /// What each thread has read from global memory, so many bytes behind one pointer. Other places may hold other
    /// values.
    Read(Box<Int>),
}

impl Stored {
    /// Whether it is made of what is read there.
    pub(crate) fn is_update(&self) -> bool {
        matches!(self, Stored::Update { .. } | Stored::UpdateOf { .. })
    }

    /// Whether all lanes of a warp make the same of what is read there, and one update is what is meant.
    pub(crate) fn is_alike_update(&self) -> bool {
        matches!(self, Stored::Update { alike: true } | Stored::UpdateOf { alike: true, .. })
    }

    /// Whether one thread of a store surely writes other bytes than one of another, of `bytes` bytes each.
    pub(crate) fn differs(&self, thread: usize, other: &Stored, by: usize, bytes: u32, shape: Shape) -> bool {
        match (self, other) {
            (Stored::Float(one), Stored::Float(two)) => one != two,
            (Stored::Read(one), Stored::Read(two)) if one.terms == two.terms => {
                let alike = |(_, factor): &(SymbolId, Lanes)| factor.as_constant().is_some();
                one.terms.iter().all(alike) && one.base.at(thread, shape) != two.base.at(by, shape)
            }
            (Stored::Number(one), Stored::Number(two)) if one.terms == two.terms => {
                let alike = |(_, factor): &(SymbolId, Lanes)| factor.as_constant().is_some();
                let cut = 64u32.saturating_sub(bytes.saturating_mul(8)).min(63);
                let (one_is, two_is) = (one.base.at(thread, shape), two.base.at(by, shape));
                one.terms.iter().all(alike) && (one_is << cut) != (two_is << cut)
            }
            _ => false,
        }
    }
}

impl EventTree {
    /// The events, in order.
    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Whether more happened than is kept.
    pub(crate) fn is_cut(&self) -> bool {
        self.is_cut
    }

    /// Whether some function that ran speaks of `volatile`.
    pub(crate) fn is_volatile(&self) -> bool {
        self.is_volatile
    }

    /// Whether some function that ran has a loop that may wait for what it reads, if that is read each time.
    pub(crate) fn has_waiting_loop(&self) -> bool {
        self.has_waiting_loop
    }

    /// Whether threads may wait for what they read.
    pub(crate) fn may_wait(&self) -> bool {
        self.is_volatile && self.has_waiting_loop
    }

    /// A function runs that speaks of `volatile`, or has a loop that may wait for what it reads.
    pub(crate) fn note_mentions(&mut self, volatile: bool, waits: bool) {
        self.is_volatile |= volatile;
        self.has_waiting_loop |= waits;
    }

    /// What assertions ask for, and the branches around them.
    pub(crate) fn asserted(&self) -> &[(Asks, Branches)] {
        &self.asserted
    }

    /// The branches on which a block leaves a loop or a function.
    pub(crate) fn leaves(&self) -> impl Iterator<Item = u32> {
        self.leaves.iter().copied()
    }

    /// A block leaves a loop or a function on these branches.
    pub(crate) fn note_leaving(&mut self, branches: &[u32]) {
        self.leaves.extend(branches);
    }

    /// Whether a condition was asked once only, and in no loop whose rounds were run one by one.
    pub(crate) fn is_asked_once(&self, side: Side) -> bool {
        self.taken.values().filter(|taken| taken.side == Some(side)).count() == 1
    }

    /// An assertion is passed that may fail.
    pub(crate) fn note_asserted(&mut self, asks: Asks, branches: Branches) {
        let asserted = (asks, branches);
        if !self.asserted.contains(&asserted) {
            self.asserted.push(asserted);
        }
    }

    /// Whether it may be seen when threads do something.
    pub(crate) fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// It may be seen when threads do something.
    pub(crate) fn set_watched(&mut self) {
        self.is_watched = true;
    }

    /// These blocks surely take a branch.
    pub(crate) fn note_branch(&mut self, number: u32, taken: Taken) {
        self.taken.insert(number, taken);
    }

    /// The condition of a loop asks for this.
    pub(crate) fn note_loop(&mut self, span: Span, asks: Asks) {
        let asks = match self.loops.remove(&span) {
            Some(known) if known != asks => known.and(asks),
            _ => asks,
        };
        self.loops.insert(span, asks);
    }

    /// What the condition of a loop asks for; `None` if it is decided.
    pub(crate) fn loop_asks(&self, span: Span) -> Option<&Asks> {
        self.loops.get(&span)
    }

    /// A round of this loop begins.
    pub(crate) fn begin_round(&mut self, of: Span) {
        self.rounds.push((self.events.len(), of));
    }

    /// The innermost loop around two places of which a round begins between two events.
    pub(crate) fn round_between(&self, (first, second): (usize, usize), places: [Span; 2]) -> Option<Span> {
        let from = self.rounds.partition_point(|(at, _)| *at <= first);
        let to = self.rounds.partition_point(|(at, _)| *at <= second);
        let holds = |of: &Span| {
            places.iter().all(|it| of.file == it.file && of.start <= it.start && it.end <= of.end)
        };
        let begun = self.rounds.get(from..to)?.iter().map(|(_, of)| *of).filter(holds);
        begun.min_by_key(|of| of.end - of.start)
    }

    /// What is known of a branch.
    pub(crate) fn taken(&self, branch: u32) -> Option<&Taken> {
        self.taken.get(&branch)
    }

    /// One block of all takes this branch, whichever it is.
    pub(crate) fn note_turn(&mut self, number: u32) {
        self.turns.insert(number);
    }

    /// Whether no two blocks take all of these branches.
    pub(crate) fn is_turn(&self, branches: &Branches) -> bool {
        branches.iter().any(|branch| self.turns.contains(branch))
    }

    /// The blocks that surely take all of these branches.
    pub(crate) fn takers(&self, branches: &Branches) -> Blocks {
        let of = |branch: &u32| self.taken.get(branch).map_or(Blocks::NONE, |taken| taken.blocks);
        branches.iter().map(of).fold(Blocks::ALL, Blocks::and)
    }

    /// Adds one.
    pub(crate) fn push(&mut self, event: Event) {
        match self.events.len() < MOST {
            true => self.events.push(event),
            false => self.is_cut = true,
        }
    }

    /// What is stored by the last of them, if it is an access.
    pub(crate) fn last_stored(&self) -> Option<&Stored> {
        match self.events.last() {
            Some(Event::Access(event)) if !self.is_cut => Some(&event.stored),
            _ => None,
        }
    }

    /// Says what the last access, a store, writes, and so what the other members of its object do.
    pub(crate) fn set_stored(&mut self, stored: Stored) {
        let events = if self.is_cut { &mut [] } else { self.events.as_mut_slice() };
        for event in events.iter_mut().rev() {
            let Event::Access(event) = event else { return };
            event.stored = stored.clone();
            if event.member.is_none_or(|member| member.at == 0) {
                return;
            }
        }
    }

    /// Says which threads the last of them is of.
    pub(crate) fn set_threads(&mut self, threads: ThreadSet) {
        if let (Some(Event::Access(event)), false) = (self.events.last_mut(), self.is_cut) {
            event.threads = threads;
        }
    }

    /// Takes back all but the first of them.
    pub(crate) fn truncate(&mut self, events: usize) {
        self.events.truncate(events);
        self.rounds.truncate(self.rounds.partition_point(|(at, _)| *at <= events));
        self.is_cut &= events >= MOST;
    }

    /// Keeps what is known of the symbols that stand in offsets and in what is stored, and of their factors.
    pub(crate) fn keep_symbols(&mut self, get: impl Fn(SymbolId) -> Known) {
        for event in &self.events {
            let Event::Access(AccessEvent { offset, stored, .. }) = event else { continue };
            let stored = if let Stored::Number(number) = stored { Some(&**number) } else { None };
            let mut waiting: Vec<SymbolId> =
                offset.iter().chain(stored).flat_map(|int| &int.terms).map(|(id, _)| *id).collect();
            while let Some(id) = waiting.pop() {
                let Entry::Vacant(slot) = self.symbols.entry(id) else { continue };
                let (symbol, remainder, at_zero) = get(id);
                waiting.extend(symbol.factors.iter().copied());
                slot.insert(symbol);
                self.remainders.extend(remainder.map(|it| (id, it)));
                self.at_zero.extend(at_zero.map(|it| (id, it)));
            }
        }
    }

    /// What is known of all symbols in offsets and in what is stored.
    pub(crate) fn symbols(&self) -> impl Iterator<Item = &Symbol> {
        self.symbols.values()
    }

    /// What is known of a symbol in an offset.
    pub(crate) fn symbol(&self, id: SymbolId) -> Option<&Symbol> {
        self.symbols.get(&id)
    }

    /// The remainder that a symbol in an offset is, if it is one.
    pub(crate) fn remainder(&self, id: SymbolId) -> Option<&Remainder> {
        self.remainders.get(&id)
    }

    /// The value of a symbol in an offset where another is 0, if it is a quotient of that.
    pub(crate) fn at_zero(&self, id: SymbolId, of: SymbolId) -> Option<i64> {
        self.at_zero.get(&id).filter(|(divided, _)| *divided == of).map(|(_, value)| *value)
    }
}
