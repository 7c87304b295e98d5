//! Which unordered accesses by different blocks touch the same global memory?
//!
//! Blocks run in any order. Two blocks differ in `blockIdx`: one has a number `b`, the other `b + 1` or `b - 1` in
//! some of the three directions. Everything else in an address is the same for both and cancels in the difference.
//! Example, in blocks of 256, of `float`:
//!
//! ```text
//! i = blockIdx.x * 256 + threadIdx.x
//! a[i] = (a[i - 1] + a[i + 1]) / 2
//!
//! written by thread t of block b          byte 1024 b + 4 t
//! read by thread u of block b + 1         byte 1024 (b + 1) + 4 u - 4
//! the same byte                           4 t = 1024 + 4 u - 4:  t = 255, u = 0
//! ```
//!
//! Conditions on block numbers decide what only some blocks do. So two blocks with given numbers are compared:
//!
//! ```text
//! if (blockIdx.x == 0) *count = 0;      surely in block 0
//! atomicAdd(count, 1);                  surely in all: in block 1, too
//! ```
//!
//! Only accesses count that surely happen in both blocks, at addresses built from thread and block numbers and from
//! values that are the same for all blocks of the launch. The factor of a parameter must be the same on both sides.
//! Accesses that blocks may order do not count; [`order`] decides that.

mod order;
mod step;

use super::intervals::Across;
use super::possible::{self, Choice, PossibleRace};
use super::races::{self, Between, Race};
use super::witness::are_possible;
use crate::domain::{Shape, SymbolId};
use crate::events::{Access, AccessEvent, Assumption, Blocks, Event, Scope, Stored, Ties, Trace};
pub(crate) use order::Lack;
use rustc_hash::FxHashMap;
use step::{Rest, Step, axis_of, step, swap};

/// Accesses of one run that are looked at, at the most.
const MOST_ACCESSES: usize = 1 << 8;
/// Comparisons of threads that one run may take.
const MOST_STEPS: usize = 1 << 20;

/// Two accesses of one place of global memory that nothing orders.
#[derive(Clone, Debug)]
pub(crate) struct MemoryRace {
    /// The name of the memory.
    pub name: String,
    /// One of them.
    pub first: Box<Access>,
    /// The other.
    pub second: Box<Access>,
    /// A thread that does the first, and one that does the second, by their numbers in their blocks.
    pub threads: (usize, usize),
    /// The blocks of the two; `None`: they are threads of one block.
    pub blocks: Option<TwoBlocks>,
    /// What would have to bring them in order.
    pub lack: Lack,
    /// Whether both change what is there, by one statement that reads and writes it.
    pub is_update: bool,
    /// Whether both write, and what is not known to differ; or data choose the threads of one.
    pub is_possible: bool,
    /// What data choose, if they do.
    pub choice: Option<Choice>,
    /// The loop in whose next round the second is done.
    pub across: Option<Across>,
    /// Whether it is only supposed that there is more than one block in the directions in which they are apart.
    pub grid_is_supposed: bool,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// Two blocks, by their numbers in x, y and z.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TwoBlocks {
    /// That of the first access.
    pub first: [i64; 3],
    /// That of the second.
    pub second: [i64; 3],
    /// Whether the same holds for any two blocks that lie so to each other, away from the edge.
    pub are_any: bool,
}

/// How many blocks a launch has by axis, as far as that is known.
pub(crate) type Grid = [Option<i64>; 3];

/// The pairs of a run that are done by threads of one block: of different warps, or where one loses what another
/// adds; then those that take data that choose the threads.
pub(super) fn find_within(trace: &Trace, shape: Shape) -> Vec<MemoryRace> {
    let pair = |(first, second): (usize, usize), paths: (u32, u32), threads: (usize, usize)| {
        let (first, second) = (&trace.accesses[first], &trace.accesses[second]);
        let array = &trace.arrays[first.array];
        array.global.then(|| MemoryRace {
            name: array.name.clone(),
            first: by_way(first, paths.0),
            second: by_way(second, paths.1),
            threads,
            blocks: None,
            lack: Lack::Nothing,
            is_update: false,
            is_possible: false,
            choice: None,
            across: None,
            grid_is_supposed: false,
            assumptions: Vec::new(),
        })
    };
    let sure = races::find(trace, shape, Ties::OneShape).into_iter().filter_map(|race| {
        let found = pair((race.first, race.second), race.paths, race.threads)?;
        let Race { is_update, across, assumptions, .. } = race;
        let counts = race.between == Between::Warps || is_update;
        counts.then_some(MemoryRace { is_update, across, assumptions, ..found })
    });
    let possible = possible::find(trace, shape).into_iter().filter_map(|race| {
        let found = pair((race.first, race.second), race.paths, race.threads)?;
        let PossibleRace { is_update, across, assumptions, choice, .. } = race;
        let is_of_warps = race.between == Between::Warps || is_update;
        let counts = choice == Choice::Threads && !race.sets_flag && is_of_warps;
        let choice = Some(choice);
        counts.then_some(MemoryRace { is_possible: true, choice, is_update, across, assumptions, ..found })
    });
    let mut found: Vec<MemoryRace> = Vec::new();
    for race in sure.chain(possible) {
        let known = |it: &MemoryRace| (it.first.span, it.second.span) == (race.first.span, race.second.span);
        if !found.iter().any(known) {
            found.push(race);
        }
    }
    found
}

/// An access to which a block came by one way.
fn by_way(access: &Access, path: u32) -> Box<Access> {
    Box::new(Access { paths: vec![access.path(path).to_vec()], ..access.clone() })
}

/// All such pairs of a run with blocks of this shape, of different blocks.
pub(super) fn find(trace: &Trace, shape: Shape, grid: Grid) -> Vec<MemoryRace> {
    if trace.tree.may_wait() || trace.stopped.is_some() {
        return Vec::new();
    }
    let swaps: Vec<&AccessEvent> = trace.tree.events().iter().filter_map(|it| swap(trace, it)).collect();
    let steps: Vec<Step<'_>> = trace
        .tree
        .events()
        .iter()
        .zip(order::places(trace))
        .filter_map(|(event, place)| match event {
            Event::Access(event) => {
                let checks = |swap: &&AccessEvent| swap.object == event.object && swap.offset == event.offset;
                let mut step = step(trace, event, place, (shape, grid))?;
                step.is_checked = event.offset.is_some() && swaps.iter().any(checks);
                Some(step)
            }
            _ => None,
        })
        .take(MOST_ACCESSES)
        .collect();
    let is_used: [bool; 3] =
        std::array::from_fn(|axis| trace.tree.symbols().any(|symbol| axis_of(symbol) == Some(axis)));
    let may_be_many: [bool; 3] =
        std::array::from_fn(|axis| grid[axis].map_or(is_used[axis], |blocks| blocks > 1));
    let mut search = Search { trace, shape, grid, left: MOST_STEPS, found: Vec::new() };
    for (at, one) in steps.iter().enumerate() {
        for other in &steps[at..] {
            for apart in neighbours(may_be_many) {
                search.hold(one, other, apart);
            }
        }
    }
    search.found
}

/// The ways in which two blocks can be neighbours, where there may be several by axis; the nearest come first.
fn neighbours(may_be_many: [bool; 3]) -> impl Iterator<Item = [i64; 3]> {
    let axes = |count: usize| {
        (0..27i64).filter_map(move |number| {
            // 0, 1, -1: the next block comes before the one before.
            let by = |digit: i64| if digit == 2 { -1 } else { digit };
            let apart = [by(number % 3), by(number / 3 % 3), by(number / 9)];
            let fits = (0..3).all(|axis| apart[axis] == 0 || may_be_many[axis]);
            (fits && apart.iter().filter(|by| **by != 0).count() == count).then_some(apart)
        })
    };
    axes(1).chain(axes(2)).chain(axes(3))
}

struct Search<'a> {
    trace: &'a Trace,
    shape: Shape,
    grid: Grid,
    left: usize,
    found: Vec<MemoryRace>,
}

impl Search<'_> {
    /// Holds an access of one block against one of a block so far apart.
    fn hold(&mut self, one: &Step<'_>, other: &Step<'_>, apart: [i64; 3]) {
        let are_atomic = one.scope().zip(other.scope());
        let is_race = match are_atomic {
            _ if !one.changes() && !other.changes() => false,
            _ if one.is_turn || other.is_turn => one.hands_over(other) || other.hands_over(one),
            Some((a, b)) => a.min(b) == Scope::Block,
            None => !one.is_guess_for(other) && !other.is_guess_for(one),
        };
        let known = |race: &MemoryRace| {
            let ops = (race.first.span, race.first.op, race.second.span, race.second.op);
            ops == (one.access.span, one.access.op, other.access.span, other.access.op)
        };
        let is_opaque = (0..3).any(|axis| apart[axis] != 0 && (one.opaque[axis] || other.opaque[axis]));
        if !is_race
            || one.event.object != other.event.object
            || is_opaque
            || self.found.iter().any(known)
            || !are_possible(one.event, other.event)
        {
            return;
        }
        let lack = match (are_atomic, one.place.lacks(&other.place)) {
            (_, None) => return,
            (Some(_), Some(_)) => Lack::Scope,
            (None, Some(lack)) => lack,
        };
        for blocks in self.blocks(one, other, apart) {
            if let Some(threads) = self.meet(one, other, blocks) {
                self.note(one, other, blocks, threads, lack);
                return;
            }
        }
    }

    /// Blocks so far apart, in which the two surely happen, and that differ in where that is.
    fn blocks(&self, one: &Step<'_>, other: &Step<'_>, apart: [i64; 3]) -> Vec<TwoBlocks> {
        let is_there = |block: [i64; 3]| {
            (0..3).all(|axis| block[axis] >= 0 && self.grid[axis].is_none_or(|blocks| block[axis] < blocks))
        };
        let second = |first: [i64; 3]| [first[0] + apart[0], first[1] + apart[1], first[2] + apart[2]];
        // What is done only where the grid has several blocks in a direction.
        let lacks = |axis: usize| {
            let needs = one.blocks.needs_several(axis) || other.blocks.needs_several(axis);
            needs && apart[axis] == 0 && self.grid[axis].is_none_or(|blocks| blocks < 2)
        };
        if (0..3).any(lacks) {
            return Vec::new();
        }
        let moves_alike = one.moves_as(other);
        let are_any = moves_alike && one.blocks.has_inner() && other.blocks.has_inner();
        let all = Blocks::each().map(|first| TwoBlocks { first, second: second(first), are_any });
        let happens = |it: &TwoBlocks| one.blocks.has(it.first) && other.blocks.has(it.second);
        let found = all.filter(|it| happens(it) && is_there(it.first) && is_there(it.second));
        found.take(if moves_alike { 1 } else { usize::MAX }).collect()
    }

    fn note(
        &mut self,
        one: &Step<'_>,
        other: &Step<'_>,
        blocks: TwoBlocks,
        threads: (usize, usize),
        lack: Lack,
    ) {
        let TwoBlocks { first, second, .. } = blocks;
        let grid_is_supposed = (0..3).any(|axis| first[axis] != second[axis] && self.grid[axis].is_none());
        // What a statement reads and writes, it reads and writes in both blocks.
        let updates = |step: &Step<'_>, of: &Step<'_>| match step.event.stored {
            Stored::Update { .. } => step.access.span == of.access.span,
            Stored::UpdateOf { load, .. } => of.event.access == load,
            _ => false,
        };
        let is_update = one.scope().is_none()
            && (updates(one, other) || updates(other, one))
            && one.rest(threads.0, first) == other.rest(threads.1, second)
            && one.offset(threads.0, first) == other.offset(threads.1, second);
        let mut is_possible = false;
        if one.writes() && other.writes() && !is_update {
            match compare(one, other, threads, blocks, self.trace, self.shape) {
                Compared::Equal => return,
                Compared::Different => {}
                // Where it is in doubt that they differ, nothing else may be.
                Compared::Unknown if grid_is_supposed || one.is_cut_short() || other.is_cut_short() => return,
                Compared::Unknown => is_possible = true,
            }
        }
        let mut assumptions = one.assumptions.clone();
        let more = other.assumptions.iter().filter(|it| !one.assumptions.contains(it));
        assumptions.extend(more.cloned());
        self.found.push(MemoryRace {
            name: self.trace.arrays[one.access.array].name.clone(),
            first: by_way(one.access, one.event.path),
            second: by_way(other.access, other.event.path),
            threads,
            blocks: Some(blocks),
            lack,
            is_update,
            is_possible,
            across: None,
            grid_is_supposed,
            assumptions,
            choice: None,
        });
    }

    /// Two threads that touch one byte.
    fn meet(&mut self, one: &Step<'_>, other: &Step<'_>, blocks: TwoBlocks) -> Option<(usize, usize)> {
        let mut places: FxHashMap<Rest, Vec<(i64, usize)>> = FxHashMap::default();
        for thread in one.event.threads.threads() {
            self.left = self.left.checked_sub(1)?;
            let at = one.offset(thread, blocks.first);
            places.entry(one.rest(thread, blocks.first)).or_default().push((at, thread));
        }
        places.values_mut().for_each(|places| places.sort_unstable());
        for thread in other.event.threads.threads() {
            self.left = self.left.checked_sub(1)?;
            let at = other.offset(thread, blocks.second);
            let Some(places) = places.get(&other.rest(thread, blocks.second)) else { continue };
            let first = places.partition_point(|(begin, _)| begin.saturating_add(one.bytes) <= at);
            if let Some((begin, by)) = places.get(first)
                && *begin < at.saturating_add(other.bytes)
            {
                return Some((*by, thread));
            }
        }
        None
    }
}

/// Whether two blocks write one value.
enum Compared {
    Equal,
    Different,
    Unknown,
}

fn compare(
    one: &Step<'_>,
    other: &Step<'_>,
    (thread, by): (usize, usize),
    blocks: TwoBlocks,
    trace: &Trace,
    shape: Shape,
) -> Compared {
    match (&one.event.stored, &other.event.stored) {
        (Stored::Float(a), Stored::Float(b)) if a == b => Compared::Equal,
        (Stored::Float(_), Stored::Float(_)) => Compared::Different,
        (Stored::Number(a), Stored::Number(b)) => {
            let constant = |(_, factor): &(SymbolId, crate::domain::Lanes)| factor.as_constant().is_some();
            if a.terms != b.terms || !a.terms.iter().all(constant) {
                return Compared::Unknown;
            }
            let mut difference = b.base.at(by, shape).wrapping_sub(a.base.at(thread, shape));
            for (id, factor) in &a.terms {
                match trace.tree.symbol(*id).and_then(axis_of) {
                    Some(axis) => {
                        let factor = factor.as_constant().unwrap_or(0);
                        let apart = blocks.second[axis] - blocks.first[axis];
                        difference = difference.wrapping_add(factor.wrapping_mul(apart));
                    }
                    None => return Compared::Unknown,
                }
            }
            match difference {
                0 => Compared::Equal,
                _ if one.bytes >= 4 => Compared::Different,
                _ => Compared::Unknown,
            }
        }
        _ => Compared::Unknown,
    }
}
