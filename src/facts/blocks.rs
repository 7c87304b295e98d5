//! Which accesses of global memory by different blocks does nothing order, and meet?
//!
//! Blocks run as they like. Two of them are told apart by the numbers in `blockIdx`: one has a number `b`, the
//! other `b + 1`, or `b - 1`, in some of the three directions. What else an address is made of is the same for both,
//! and falls out of the difference. Example, in blocks of 256, of `float`:
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
//! Only accesses count that surely happen in each block, at addresses made of thread and block numbers and of what the
//! launch gives alike to all blocks. A number that a parameter is multiplied with has to be the same on both sides.
//! Kernels in which blocks may wait for each other are left out: those with fences, with atomics whose result is
//! used, with `volatile` and loops that may wait for it, or with barriers of the grid.

use super::races::{self, Between};
use super::witness::{are_possible, is_possible, is_possible_in_neighbours};
use crate::domain::{AmongBlocks, Origin, Shape, Spread, Symbol, SymbolId};
use crate::events::{Access, AccessEvent, AccessOp, Assumption, Event, Stored, Trace};
use crate::source::Span;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::sync::Arc;

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
    /// By how much the number of the second one's block is larger; `None`: they are threads of one block.
    pub apart: Option<[i64; 3]>,
    /// Whether both change what is there, by one statement that reads and writes it.
    pub is_update: bool,
    /// Whether both write, and what is not known to differ.
    pub is_possible: bool,
    /// The loop in whose next round the second is done.
    pub across: Option<Span>,
    /// Whether it is only supposed that there is more than one block in the directions in which they are apart.
    pub grid_is_supposed: bool,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// How many blocks a launch has by axis, as far as that is known.
pub(crate) type Grid = [Option<i64>; 3];

/// An access, by what its address is made of.
struct Step<'a> {
    event: &'a AccessEvent,
    access: &'a Access,
    bytes: i64,
    /// By thread: what is known.
    offsets: Arc<Spread>,
    /// What the block's number is multiplied with, by axis.
    by_block: [i64; 3],
    /// Other numbers and what they are multiplied with, by thread. They are the same for both blocks but for
    /// products with the block's number.
    rest: Vec<(SymbolId, Arc<Spread>)>,
    /// Products of the block's number: the axis, the other factor, and what they are multiplied with.
    products: Vec<(usize, SymbolId, i64)>,
    /// Axes along which two blocks cannot be compared.
    opaque: [bool; 3],
    /// Whether it takes a block that is not the first.
    further_in: bool,
}

/// The pairs of a run that are done by threads of one block: of different warps, or where one loses what another
/// adds.
pub(super) fn find_within(trace: &Trace, shape: Shape) -> Vec<MemoryRace> {
    let races = races::find(trace, shape).into_iter().filter(|race| {
        let is_global = trace.arrays[trace.accesses[race.first].array].global;
        is_global && (race.between == Between::Warps || race.is_update)
    });
    let access = |number: usize| Box::new(trace.accesses[number].clone());
    let mut found: Vec<MemoryRace> = Vec::new();
    for race in races {
        let (first, second) = (access(race.first), access(race.second));
        let known = |it: &MemoryRace| (it.first.span, it.second.span) == (first.span, second.span);
        if !found.iter().any(known) {
            found.push(MemoryRace {
                name: trace.arrays[first.array].name.clone(),
                first,
                second,
                threads: race.threads,
                apart: None,
                is_update: race.is_update,
                is_possible: false,
                across: race.across,
                grid_is_supposed: false,
                assumptions: race.assumptions,
            });
        }
    }
    found
}

/// All such pairs of a run with blocks of this shape, of different blocks.
pub(super) fn find(trace: &Trace, shape: Shape, grid: Grid) -> Vec<MemoryRace> {
    let events = trace.tree.events();
    let waits = events.iter().any(|event| matches!(event, Event::MayOrder { .. }));
    let of_grid = trace.barriers.iter().any(|barrier| barrier.of_grid);
    if waits || of_grid || trace.tree.may_wait() || trace.stopped.is_some() {
        return Vec::new();
    }
    let steps: Vec<Step<'_>> = events
        .iter()
        .filter_map(|event| match event {
            Event::Access(event) => step(trace, event, shape),
            _ => None,
        })
        .take(MOST_ACCESSES)
        .collect();
    let is_used: [bool; 3] =
        std::array::from_fn(|axis| trace.tree.symbols().any(|symbol| axis_of(symbol) == Some(axis)));
    let may_be_many: [bool; 3] =
        std::array::from_fn(|axis| grid[axis].map_or(is_used[axis], |blocks| blocks > 1));
    let mut search = Search { trace, shape, left: MOST_STEPS, found: Vec::new() };
    for (at, one) in steps.iter().enumerate() {
        for other in &steps[at..] {
            for apart in neighbours(may_be_many) {
                search.hold(one, other, apart, grid);
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

fn step<'a>(trace: &'a Trace, event: &'a AccessEvent, shape: Shape) -> Option<Step<'a>> {
    let access = trace.accesses.get(event.access).filter(|access| trace.arrays[access.array].global)?;
    let offset = event.offset.as_ref().filter(|_| is_possible_in_neighbours(event))?;
    let mut step = Step {
        event,
        access,
        bytes: i64::from(access.bytes?),
        offsets: offset.base.spread(shape),
        by_block: [0; 3],
        rest: Vec::new(),
        products: Vec::new(),
        opaque: [false; 3],
        further_in: !is_possible(event),
    };
    for (id, factor) in &offset.terms {
        let symbol = trace.tree.symbol(*id).filter(|_| !id.is_per_thread())?;
        if let Some(axis) = axis_of(symbol) {
            step.by_block[axis] = factor.as_constant()?;
            continue;
        }
        let mut axes = Vec::new();
        let mut others = Vec::new();
        for part in &symbol.factors {
            let known = trace.tree.symbol(*part)?;
            match axis_of(known) {
                Some(axis) => axes.push(axis),
                None if is_for_all_blocks(known) => others.push(*part),
                None => return None,
            }
        }
        match (axes.as_slice(), others.as_slice(), factor.as_constant()) {
            ([], ..) => {}
            ([axis], [other], Some(factor)) => step.products.push((*axis, *other, factor)),
            _ => axes.iter().for_each(|axis| step.opaque[*axis] = true),
        }
        step.rest.push((*id, factor.spread(shape)));
    }
    Some(step)
}

/// The axis of the block's number, if a symbol is that.
fn axis_of(symbol: &Symbol) -> Option<usize> {
    match symbol.among_blocks {
        AmongBlocks::Index(axis) => Some(axis),
        AmongBlocks::Same | AmongBlocks::Any => None,
    }
}

/// Whether two blocks have the same for a number, or may: that of a round is any there is.
fn is_for_all_blocks(symbol: &Symbol) -> bool {
    symbol.among_blocks == AmongBlocks::Same || symbol.origin == Origin::Loop
}

/// What numbers that are not known are multiplied with, sorted by them. Where two threads agree in it, the distance
/// of their addresses is known.
type Rest = SmallVec<[(SymbolId, i64); 4]>;

impl Step<'_> {
    /// Of a thread of a block that lies so far from the one at hand. Example: with `blockIdx.y * w` for a row, the
    /// thread of the next block in y has one `w` more.
    fn rest(&self, thread: usize, apart: [i64; 3]) -> Rest {
        let mut rest: Rest = self.rest.iter().map(|(id, factors)| (*id, factors[thread])).collect();
        for (axis, id, factor) in self.products.iter().filter(|(axis, ..)| apart[*axis] != 0) {
            let more = factor.wrapping_mul(apart[*axis]);
            match rest.iter_mut().find(|(known, _)| known == id) {
                Some((_, known)) => *known = known.wrapping_add(more),
                None => rest.push((*id, more)),
            }
        }
        rest.retain(|(_, factor)| *factor != 0);
        rest.sort_unstable();
        rest
    }
}

struct Search<'a> {
    trace: &'a Trace,
    shape: Shape,
    left: usize,
    found: Vec<MemoryRace>,
}

impl Search<'_> {
    /// Holds an access of one block against one of a block so far apart.
    fn hold(&mut self, one: &Step<'_>, other: &Step<'_>, apart: [i64; 3], grid: Grid) {
        let writes = |step: &Step<'_>| matches!(step.access.op, AccessOp::Store);
        let atomic = |step: &Step<'_>| step.access.op == AccessOp::Atomic;
        let changes = |step: &Step<'_>| writes(step) || atomic(step);
        let is_race = (changes(one) || changes(other)) && !(atomic(one) && atomic(other));
        let known = |race: &MemoryRace| {
            let ops = (race.first.span, race.first.op, race.second.span, race.second.op);
            ops == (one.access.span, one.access.op, other.access.span, other.access.op)
        };
        let further_in = one.further_in || other.further_in;
        let comparable = one.by_block == other.by_block
            && (0..3).all(|axis| {
                let is_opaque = one.opaque[axis] || other.opaque[axis];
                let are_enough = !further_in || grid[axis].is_none_or(|blocks| blocks > 2);
                apart[axis] == 0 || !is_opaque && are_enough
            });
        if !is_race
            || one.event.object != other.event.object
            || !comparable
            || self.found.iter().any(known)
            || !are_possible(one.event, other.event)
        {
            return;
        }
        let Some(threads) = self.meet(one, other, apart) else { return };
        let both_write = writes(one) && writes(other);
        // What a statement reads and writes, it reads and writes in both blocks.
        let updates = |step: &Step<'_>| matches!(step.event.stored, Stored::Update);
        let is_update = one.access.span == other.access.span
            && !atomic(one)
            && (updates(one) || updates(other))
            && one.rest(threads.0, [0; 3]) == other.rest(threads.1, [0; 3])
            && one.offsets[threads.0] == other.offsets[threads.1];
        let mut is_possible = false;
        if both_write && !is_update {
            match compare(one, other, threads, apart, self.trace, self.shape) {
                Compared::Equal => return,
                Compared::Different => {}
                Compared::Unknown => is_possible = true,
            }
        }
        let mut assumptions = one.event.assumptions.to_vec();
        let more = other.event.assumptions.iter().filter(|it| !one.event.assumptions.contains(it));
        assumptions.extend(more.cloned());
        self.found.push(MemoryRace {
            name: self.trace.arrays[one.access.array].name.clone(),
            first: Box::new(one.access.clone()),
            second: Box::new(other.access.clone()),
            threads,
            apart: Some(apart),
            is_update,
            is_possible,
            across: None,
            grid_is_supposed: (0..3).any(|axis| apart[axis] != 0 && grid[axis].is_none()),
            assumptions,
        });
    }

    /// Two threads that touch one byte.
    fn meet(&mut self, one: &Step<'_>, other: &Step<'_>, apart: [i64; 3]) -> Option<(usize, usize)> {
        let shift: i64 = (0..3).map(|axis| one.by_block[axis].wrapping_mul(apart[axis])).sum();
        let mut places: FxHashMap<Rest, Vec<(i64, usize)>> = FxHashMap::default();
        for thread in one.event.threads.threads() {
            self.left = self.left.checked_sub(1)?;
            places.entry(one.rest(thread, [0; 3])).or_default().push((one.offsets[thread], thread));
        }
        places.values_mut().for_each(|places| places.sort_unstable());
        for thread in other.event.threads.threads() {
            self.left = self.left.checked_sub(1)?;
            let at = other.offsets[thread].wrapping_add(shift);
            let Some(places) = places.get(&other.rest(thread, apart)) else { continue };
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
    apart: [i64; 3],
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
                        difference = difference.wrapping_add(factor.wrapping_mul(apart[axis]));
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
