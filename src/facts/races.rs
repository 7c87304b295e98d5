//! Which accesses of different threads are unordered?
//!
//! Two threads touch the same byte in one interval between barriers, and one of them writes it. Each
//! interval is walked with a memory of who touched which byte: once for threads of different warps, and
//! once for each warp. Worked example, in a block of 64:
//!
//! ```text
//! s[t] = in[t];              thread 32 writes bytes 128 to 131
//! out[t] = s[(t + 1) % 64];  thread 31 reads them: warp 0 reads what warp 1 wrote
//!                            thread 0 reads what thread 1 wrote: the same within a warp
//! ```
//!
//! Only accesses that surely happen count, at offsets that are known except for what all threads share, of which the number of a
//! round may be taken to be 0 (`first_rounds`). If all
//! threads write in one statement and a thread then reads its own result there, that is not reported. An update such
//! as `sum += x` is: one thread's addition is lost. Two writes are reported if their values surely differ.
//!
//! What stands behind a loop that waits by atomics is left out; between different warps, so are functions with `volatile`
//! and a loop that may wait for what they read.
//! Within a warp, only a read after a write, or a second write, counts. Lanes that write what others read before are
//! reported apart: in step, they do both in one instruction. `__syncwarp` orders the lanes that reach it; shuffles and
//! votes do not. Each lane counts its `__syncwarp`s: if neither of two lanes has reached one between the two accesses,
//! none can have ordered them.

use super::bounds::inside;
use super::first_rounds::{FirstRounds, chosen_in, shared_offset};
use super::gathered::Met;
use super::guards::{Guards, PassedBy, are_together, leads_on, loops};
use super::intervals::{Across, Bounds, Interval, Round, intervals, past_atomics, past_branch, past_fences};
use super::passed;
use super::spins::behind_waits;
use super::witness::{are_possible, is_bound_by_data};
use crate::domain::{Shape, Spread, SymbolId, ThreadSet, gcd};
use crate::events::{
    Access, AccessEvent, AccessOp, Assumption, Atomic, Blocks, Event, EventTree, Operation, Seen, Side,
    Stored, Taken, Ties, Trace,
};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// Bytes of threads that are looked at in one run, at the most.
const MOST_TOUCHED: usize = 1 << 22;
/// The most races that are kept of a run: far more than are told.
const MOST_FOUND: usize = 1 << 10;
/// Cells of an array that are kept in mind at the most.
const MOST_CELLS: i64 = 1 << 16;

/// Two accesses that no barrier orders.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Race {
    /// The one that comes first in the program: an index into the trace's accesses.
    pub first: usize,
    /// The other.
    pub second: usize,
    /// By which calls a block comes to the two: the numbers of the ways there.
    pub paths: (u32, u32),
    /// A thread that does the first, and another that does the second, at the same byte.
    pub threads: (usize, usize),
    /// Of which threads.
    pub between: Between,
    /// Whether both change what is there, by one statement that reads and writes it.
    pub is_update: bool,
    /// The loop in whose next round the second is done.
    pub across: Option<Across>,
    /// The innermost loop of which a round begins between the two, where its rounds were run one by one.
    pub round: Option<Span>,
    /// The last thing that may order threads before both, and the first behind both.
    pub bounds: Bounds,
    /// Whether one of the two is in a loop of which data decide whether it goes on.
    pub for_data: bool,
    /// Whether lanes of a warp write what others read before.
    pub reads_first: bool,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
    /// The sides of conditions that a block has to take to do both, where not every block does.
    pub sides: Vec<Side>,
}

impl Race {
    /// Whether data decide that there is one: whether a loop goes on, or how far bounds reach.
    pub(crate) fn needs_data(&self) -> bool {
        self.for_data || self.is_bound_by_data()
    }

    /// Whether data decide how far bounds reach.
    pub(crate) fn is_bound_by_data(&self) -> bool {
        self.assumptions.iter().any(is_bound_by_data)
    }
}

/// Which threads race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Between {
    /// Two of different warps.
    Warps,
    /// Two of one warp. `exchange`: where they came together in between to exchange values.
    Lanes { exchange: Option<Span> },
}

/// An access at offsets that are known but for a sum that all threads share.
struct Step<'a> {
    access: &'a Access,
    /// The number of its event.
    at: usize,
    number: usize,
    event: &'a AccessEvent,
    /// Who does it.
    threads: ThreadSet,
    /// Whether it stands on both sides of a condition, which may write other values.
    on_both_sides: bool,
    /// Of which round it is.
    round: Round,
    offsets: Arc<Spread>,
    bytes: i64,
    /// How often lanes had come together before.
    met: Rc<Met>,
}

/// What tells offsets apart whose distance is not known: the variable, and what is added for all threads.
type Group = (u32, Vec<(SymbolId, i64)>);

/// The loops of which first rounds may be looked at, and which of two numbers was chosen for all threads, if that matters.
type Rounds<'r> = (&'r FirstRounds, Option<(SymbolId, i64)>);

/// Who touched a cell: two threads of different warps at most, of each kind of access. Between warps these are the
/// first; who wrote it last is one to be told of, too.
#[derive(Clone, Copy, Default)]
struct Cell {
    loads: [Touch; 2],
    stores: [Touch; 2],
    atomics: [Touch; 2],
    atomic_loads: [Touch; 2],
    last_store: Touch,
}

/// A step's number plus one, and a thread; 0 for none.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Touch(u32);

impl Touch {
    fn by(step: usize, thread: usize) -> Touch {
        Touch((step as u32 + 1) << 10 | thread as u32)
    }

    fn get(self) -> Option<(usize, usize)> {
        (self.0 != 0).then(|| ((self.0 >> 10) as usize - 1, self.0 as usize & 1023))
    }
}

/// Which threads of a block are held against each other.
#[derive(Clone, Copy)]
enum Scope {
    /// Those of different warps.
    Warps,
    /// Those of one warp.
    Lanes(usize),
}

/// All races of a run.
pub(super) fn find(trace: &Trace, shape: Shape, ties: Ties) -> Vec<Race> {
    let warps = shape.threads().div_ceil(32);
    let mut search =
        Search { trace, shape, left: MOST_TOUCHED, among_warps: warps > 1 && !trace.tree.may_wait() };
    let mut of_choices = Search { left: MOST_TOUCHED, ..search };
    let mut found = Found::default();
    let loops = loops(&trace.tree);
    let first_rounds = FirstRounds::of(&trace.tree);
    let waits = behind_waits(trace);
    let passed = if search.among_warps { passed::sides(&trace.tree) } else { Vec::new() };
    for (interval, passed, of_lanes) in all_intervals(&trace.tree, shape, &passed) {
        let interval = interval.without(&waits);
        let guards = Guards::of(trace, &interval, &loops, (ties, passed));
        let at = Part { interval: &interval, guards: &guards, passed, of_lanes };
        search.look(&at, (&first_rounds, None), &mut found);
        // Whichever of two numbers was chosen for all threads, there is a race.
        if let Some(choice) = chosen_in(trace, &interval) {
            let [one, other] = [0, 1].map(|number| {
                let mut found = Found::default();
                of_choices.look(&at, (&first_rounds, Some((choice, number))), &mut found);
                found
            });
            found.add_common(one, &other);
        }
    }
    settle(&mut found.races);
    found.races
}

/// The races that were found.
#[derive(Default)]
struct Found {
    races: Vec<Race>,
    /// The numbers of the two events of each.
    events: Vec<(usize, usize)>,
    known: FxHashSet<Told>,
}

/// The accesses of a race, whether it is between warps, and whether it is for data, reads first and is across rounds.
type Told = (usize, usize, bool, (bool, bool, bool));

impl Found {
    fn add(&mut self, race: Race, events: (usize, usize)) {
        self.races.push(race);
        self.events.push(events);
    }

    /// Adds those of `one` that are in `other`, too: of the same two events.
    fn add_common(&mut self, one: Found, other: &Found) {
        let key = |race: &Race| (race.first, race.second, race.between == Between::Warps);
        for (race, events) in one.races.into_iter().zip(one.events) {
            let mut others = other.races.iter().zip(&other.events);
            let is_common = others.any(|(it, of)| *of == events && key(it) == key(&race));
            let is_known = self.races.iter().any(|it| key(it) == key(&race));
            if is_common && !is_known && self.races.len() < MOST_FOUND {
                self.add(race, events);
            }
        }
    }
}

/// One interval, and who does what in it.
struct Part<'p> {
    interval: &'p Interval,
    guards: &'p Guards,
    passed: Option<&'p PassedBy>,
    of_lanes: bool,
}

/// What looks for races.
#[derive(Clone, Copy)]
struct Search<'t> {
    trace: &'t Trace,
    shape: Shape,
    left: usize,
    among_warps: bool,
}

impl Search<'_> {
    /// Finds the races of an interval.
    fn look(&mut self, at: &Part<'_>, rounds: Rounds<'_>, found: &mut Found) {
        let (trace, shape) = (self.trace, self.shape);
        let of_each = at.guards.sets().map(|set| groups(trace, shape, at, (set, rounds)));
        for steps in of_each.flat_map(FxHashMap::into_values) {
            let steps = steps.as_slice();
            let mut look = |scope| {
                let walk = Walk { steps, phases: &at.interval.phases, shape, scope };
                walk.run(&mut self.left, &mut |first, second, threads, reads_first| {
                    let (first, second) = (&steps[first], &steps[second]);
                    let between = between(scope, first, second, threads);
                    meet(trace, at, (first, second), (between, threads, reads_first), found);
                });
            };
            if self.among_warps {
                look(Scope::Warps);
            }
            let warps = shape.threads().div_ceil(32);
            (0..warps).filter(|_| at.of_lanes).for_each(|warp| look(Scope::Lanes(warp)));
        }
    }
}

/// Two steps that two threads do, in no order.
fn meet(
    trace: &Trace,
    at: &Part<'_>,
    (first, second): (&Step<'_>, &Step<'_>),
    (between, threads, reads_first): (Between, (usize, usize), bool),
    found: &mut Found,
) {
    let (interval, tree) = (at.interval, &trace.tree);
    // What two threads do in one round is told of where that round is looked at.
    if interval.across.is_some() && first.round == second.round {
        return;
    }
    let by_data = |step: &Step<'_>| step.event.branches.iter().any(|it| leads_on(*it, interval, tree));
    let for_data = interval.for_data || by_data(first) || by_data(second);
    let is_of_warps = between == Between::Warps;
    let of = (for_data, reads_first, interval.across.is_some());
    let key = (first.number, second.number, is_of_warps, of);
    let blocks = at.passed.map_or(Blocks::ALL, |passed| passed.blocks);
    let together = are_together(first.event, second.event, blocks, tree);
    let is_known = found.known.contains(&key) || found.races.len() >= MOST_FOUND;
    if is_known || !together || !are_possible(first.event, second.event) {
        return;
    }
    found.known.insert(key);
    let is_meant = !is_of_warps && second.event.stored.is_alike_update();
    let round = tree.round_between((first.at, second.at), [first.access.span, second.access.span]);
    // From round to round, a barrier keeps one update from another.
    let is_update = second.updates(first) && !is_meant && round.is_none();
    let mut assumptions = first.event.assumptions.to_vec();
    for assumed in second.event.assumptions.iter() {
        if !assumptions.contains(assumed) {
            assumptions.push(assumed.clone());
        }
    }
    let mut sides = first.sides(tree);
    sides.extend(second.sides(tree));
    sides.extend(at.passed.map(|passed| passed.side));
    let race = Race {
        first: first.number,
        second: second.number,
        paths: (first.event.path, second.event.path),
        threads,
        between,
        is_update,
        across: interval.across,
        round: round.filter(|_| interval.across.is_none()),
        bounds: interval.bounds,
        for_data,
        reads_first,
        assumptions,
        sides,
    };
    found.add(race, (first.at, second.at));
}

/// Drops races between rounds that are races in one round, too, and marks the twins of updates as updates.
fn settle(found: &mut Vec<Race>) {
    // What orders two accesses in each round also orders the first in one round and the second in the next.
    let pair = |race: &Race| (race.first, race.second, race.between == Between::Warps);
    let in_one_round: FxHashSet<_> = found.iter().filter(|race| race.across.is_none()).map(pair).collect();
    found.retain(|race| race.across.is_none() || !in_one_round.contains(&pair(race)));
    // Where threads of other warps update the place too, one update is not what is meant.
    let updates = found.iter().filter(|race| race.is_update).map(|race| (race.first, race.second));
    let updates: FxHashSet<_> = updates.collect();
    found.iter_mut().for_each(|race| race.is_update |= updates.contains(&(race.first, race.second)));
}

/// All intervals, those of blocks that pass by some barriers, and whether lanes of one warp are held against each other
/// in them: a fence may be all that keeps them in step.
fn all_intervals<'p>(
    tree: &EventTree,
    shape: Shape,
    passed: &'p [PassedBy],
) -> impl Iterator<Item = (Interval, Option<&'p PassedBy>, bool)> {
    let whole = intervals(tree, shape).into_iter().chain(past_atomics(tree, shape));
    let whole = whole.map(|it| (it, None, true));
    let whole = whole.chain(past_fences(tree, shape).into_iter().map(|it| (it, None, false)));
    let parts = passed.iter().flat_map(move |passed| {
        past_branch(tree, shape, passed.branch).into_iter().map(move |it| (it, Some(passed), false))
    });
    whole.chain(parts)
}

fn between(scope: Scope, first: &Step<'_>, second: &Step<'_>, threads: (usize, usize)) -> Between {
    match scope {
        Scope::Warps => Between::Warps,
        Scope::Lanes(_) => Between::Lanes { exchange: second.met.exchange_since(&first.met, threads) },
    }
}

/// The accesses under some open conditions, by what tells their offsets apart, where some write and others do not.
fn groups<'a>(
    trace: &'a Trace,
    shape: Shape,
    Part { interval, guards, .. }: &Part<'_>,
    (set, (first_rounds, chosen)): (usize, Rounds<'_>),
) -> FxHashMap<Group, Vec<Step<'a>>> {
    let mut found: FxHashMap<Group, Vec<Step<'a>>> = FxHashMap::default();
    let mut met = Rc::new(Met::none(shape));
    // Most intervals only read an array.
    let mut written: FxHashSet<u32> = FxHashSet::default();
    let events = || {
        let each = interval.accesses.iter().enumerate();
        each.map(|(number, (at, round))| {
            (&trace.tree.events()[*at], (*at, *round), guards.is_under(number, set))
        })
    };
    for (event, _, is_under) in events() {
        if let (Event::Access(event), Some(_)) = (event, is_under)
            && matches!(kind(&trace.accesses[event.access]), 1 | 2)
        {
            written.insert(event.object);
        }
    }
    for (event, (at, round), is_under) in events() {
        let event = match event {
            Event::WarpOrder { .. } => {
                Rc::make_mut(&mut met).pass(event);
                continue;
            }
            Event::Access(event) if written.contains(&event.object) => event,
            _ => continue,
        };
        let Some(on_both_sides) = is_under else { continue };
        let access = &trace.accesses[event.access];
        let (Some(offset), Some(bytes)) = (&event.offset, access.bytes) else { continue };
        let of_first = first_rounds.are_of(event, &trace.tree).then_some(first_rounds);
        for rounds in std::iter::once(None).chain(of_first.map(Some)) {
            let Some((base, terms)) = shared_offset(offset, (round, rounds, chosen), &trace.tree, shape)
            else {
                continue;
            };
            let (number, offsets, bytes) = (event.access, base.spread(shape), i64::from(bytes));
            let (met, threads) = (Rc::clone(&met), inside(trace, at, event, shape));
            let step = Step { access, at, number, event, threads, on_both_sides, round, offsets, bytes, met };
            found.entry((event.object, terms)).or_default().push(step);
        }
    }
    found
}

/// Loads, stores, atomics that change what is there, atomic loads.
fn kind(access: &Access) -> usize {
    match access.op {
        AccessOp::Load if access.is_atomic() => 3,
        AccessOp::Store if access.is_atomic() => 2,
        AccessOp::Load | AccessOp::MatrixLoad => 0,
        AccessOp::Store | AccessOp::MatrixStore | AccessOp::AsyncCopy => 1,
        AccessOp::Atomic => 2,
    }
}

impl Step<'_> {
    /// The threads whose addresses it takes.
    fn threads(&self) -> impl Iterator<Item = usize> + '_ {
        let rows = usize::from(self.access.tiles.matrices) * 8;
        self.threads.threads().filter(move |thread| rows == 0 || thread % 32 < rows)
    }

    /// The sides of conditions that a block has to take to do it, where not every block does.
    fn sides(&self, tree: &EventTree) -> Vec<Side> {
        let branches = if self.event.is_passable { &self.event.branches[..] } else { &[] };
        let taken = branches.iter().filter_map(|branch| tree.taken(*branch));
        let mut taken: Vec<&Taken> = taken.filter(|taken| taken.blocks != Blocks::ALL).collect();
        // What stands on both sides of the innermost is done in any case.
        let innermost = taken.iter().rposition(|taken| taken.blocks == Blocks::NONE);
        if let (true, Some(innermost)) = (self.on_both_sides, innermost) {
            taken.remove(innermost);
        }
        taken.iter().filter_map(|taken| taken.side).collect()
    }

    /// Whether it is an atomic after which the value tells how many threads have done it.
    fn adds_up(&self) -> bool {
        let adds = |atomic: &Atomic| match atomic.operation {
            Operation::Add | Operation::Float | Operation::Wide => true,
            Operation::Combine | Operation::Exchange | Operation::CompareAndSwap => {
                atomic.operand == Seen::Apart
            }
        };
        self.access.op == AccessOp::Atomic && self.access.atomic.as_ref().is_some_and(adds)
    }

    /// Whether it writes what it makes of what was read in an earlier step, in the same statement.
    fn updates(&self, before: &Step<'_>) -> bool {
        before.access.op == AccessOp::Load
            && match self.event.stored {
                Stored::Update { .. } => before.access.span == self.access.span,
                Stored::UpdateOf { load, .. } => before.number == load,
                _ => false,
            }
    }

    /// Whether a thread touches a byte in it.
    fn touches(&self, thread: usize, byte: i64) -> bool {
        let at = self.offsets[thread];
        self.threads.has(thread) && (at..at.saturating_add(self.bytes)).contains(&byte)
    }
}

/// The accesses of one interval, of which some write.
struct Walk<'a> {
    /// In order.
    steps: &'a [Step<'a>],
    phases: &'a [(u32, u64)],
    shape: Shape,
    scope: Scope,
}

/// Who is told of two that meet: their steps, their threads, and whether lanes write what others read before.
type Tell<'a> = dyn FnMut(usize, usize, (usize, usize), bool) + 'a;

impl Walk<'_> {
    /// Goes through them in order, and tells of those that meet.
    fn run(&self, left: &mut usize, tell: &mut Tell<'_>) {
        let mut kinds = [0usize; 4];
        self.steps.iter().for_each(|step| kinds[kind(step.access)] += 1);
        if self.steps.len() >= 1 << 21 || kinds[1] + kinds[2] == 0 {
            return;
        }
        let (mut low, mut high, mut grain) = (i64::MAX, i64::MIN, 0u64);
        for step in self.steps {
            for thread in self.threads(step) {
                let at = step.offsets[thread];
                (low, high) = (low.min(at), high.max(at.saturating_add(step.bytes)));
                grain = gcd(grain, at.unsigned_abs());
            }
            grain = gcd(grain, step.bytes.unsigned_abs());
        }
        let grain = i64::try_from(grain).unwrap_or(1).max(1);
        let cells = high.saturating_sub(low) / grain;
        if !(1..=MOST_CELLS).contains(&cells) {
            return;
        }
        let mut memory = vec![Cell::default(); cells as usize];
        for (number, step) in self.steps.iter().enumerate() {
            let kind = kind(step.access);
            for thread in self.threads(step) {
                let at = step.offsets[thread];
                let Some(rest) = left.checked_sub((step.bytes / grain) as usize) else { return };
                *left = rest;
                for byte in (at..at + step.bytes).step_by(grain as usize) {
                    let cell = &mut memory[((byte - low) / grain) as usize];
                    if let Some((first, other)) = self.meets(cell, (number, thread), byte) {
                        tell(first, number, (other, thread), false);
                    } else if let Some((first, other)) = self.overwrites(cell, (number, thread), byte) {
                        tell(first, number, (other, thread), true);
                    }
                    if let Scope::Warps = self.scope {
                        let last = Cell { stores: [cell.last_store, Touch(0)], ..Cell::default() };
                        if let Some((first, other)) = self.meets(&last, (number, thread), byte) {
                            tell(first, number, (other, thread), false);
                        }
                        if kind == 1 {
                            cell.last_store = Touch::by(number, thread);
                        }
                    }
                    let touches =
                        [&mut cell.loads, &mut cell.stores, &mut cell.atomics, &mut cell.atomic_loads];
                    let Some(touches) = touches.into_iter().nth(kind) else { continue };
                    self.note(touches, Touch::by(number, thread));
                }
            }
        }
    }

    /// The threads that count, of those that do a step.
    fn threads<'s>(&self, step: &'s Step<'_>) -> impl Iterator<Item = usize> + use<'s> {
        let warp = match self.scope {
            Scope::Warps => None,
            // Lanes that wait for each other in the instruction itself, or copies that wait to be done.
            Scope::Lanes(_) if step.access.is_warp_wide() || step.access.op == AccessOp::AsyncCopy => {
                Some(usize::MAX)
            }
            Scope::Lanes(warp) => Some(warp),
        };
        step.threads().filter(move |thread| warp.is_none_or(|warp| thread / 32 == warp))
    }

    /// Whether nothing orders what two threads do in two steps, the first of which comes first.
    fn are_apart(&self, (first, one): (usize, usize), (second, other): (usize, usize)) -> bool {
        match self.scope {
            Scope::Warps => one / 32 != other / 32 && self.phases[one] == self.phases[other],
            Scope::Lanes(_) => {
                let met = (&self.steps[first].met, &self.steps[second].met);
                first != second && one != other && met.1.is_unordered_since(met.0, (one, other))
            }
        }
    }

    /// The step before, and its thread, that is not ordered before an access to a cell.
    fn meets(&self, cell: &Cell, (number, thread): (usize, usize), byte: i64) -> Option<(usize, usize)> {
        let step = &self.steps[number];
        let find = |touches: &[Touch; 2], counts: &dyn Fn(usize, usize) -> bool| {
            let apart = |(first, other): &(usize, usize)| {
                self.are_apart((*first, *other), (number, thread)) && counts(*first, *other)
            };
            touches.iter().filter_map(|touch| touch.get()).find(apart)
        };
        // Who wrote it in the same statement finds what it wrote.
        // What others combine with it is in it or not, unless all combine with the same.
        let written = |touches: &[Touch; 2]| {
            find(touches, &|first, _| {
                let before = &self.steps[first];
                let adds = before.adds_up() || step.adds_up();
                !before.touches(thread, byte) || adds && before.number != step.number
            })
        };
        let lanes = matches!(self.scope, Scope::Lanes(_));
        let read = || {
            find(&cell.loads, &|first, other| {
                step.updates(&self.steps[first]) || !lanes && (!step.touches(other, byte) || step.adds_up())
            })
        };
        let differs = |first: usize, other: usize| {
            let before = &self.steps[first];
            // Of parts of what is written it is not known which differ.
            let alike = !(before.on_both_sides || step.on_both_sides)
                && before.bytes == step.bytes
                && before.offsets[other] == step.offsets[thread];
            let bytes = step.access.bytes.unwrap_or(0);
            alike && before.event.stored.differs(other, &step.event.stored, thread, bytes, self.shape)
        };
        let read_at_once = || find(&cell.atomic_loads, &|_, _| true);
        match kind(step.access) {
            0 => written(&cell.stores).or_else(|| written(&cell.atomics)),
            1 => read()
                .or_else(read_at_once)
                .or_else(|| written(&cell.atomics))
                .or_else(|| find(&cell.stores, &differs)),
            2 => read().or_else(|| written(&cell.stores)),
            _ => written(&cell.stores),
        }
    }

    /// The step before, and its lane, that read what another lane of the warp writes now, where nothing brought the two
    /// together in between. In step they read before any of them writes.
    fn overwrites(&self, cell: &Cell, (number, thread): (usize, usize), byte: i64) -> Option<(usize, usize)> {
        let step = &self.steps[number];
        if !matches!(self.scope, Scope::Lanes(_)) || kind(step.access) != 1 {
            return None;
        }
        let apart = |(first, other): &(usize, usize)| {
            let met = step.met.has_exchanged_since(&self.steps[*first].met, *other);
            // Where they went different ways through barriers, they are not in step anyway.
            let in_step = self.phases[*other] == self.phases[thread];
            in_step
                && !met
                && !step.touches(*other, byte)
                && self.are_apart((*first, *other), (number, thread))
        };
        cell.loads.iter().filter_map(|touch| touch.get()).find(apart)
    }

    fn note(&self, touches: &mut [Touch; 2], touch: Touch) {
        if let Scope::Lanes(_) = self.scope {
            // What lies far back is ordered sooner.
            if touches[0].get().is_some_and(|(_, known)| Some(known) != touch.get().map(|(_, it)| it)) {
                touches[1] = touches[0];
            }
            touches[0] = touch;
            return;
        }
        match (touches[0].get(), touches[1].get(), touch.get()) {
            (None, _, _) => touches[0] = touch,
            (Some((_, known)), None, Some((_, thread))) if known / 32 != thread / 32 => touches[1] = touch,
            _ => {}
        }
    }
}
