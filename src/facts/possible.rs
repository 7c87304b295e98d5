//! Which unordered accesses touch the same byte for some data?
//!
//! Either data decide the element of one of the two: its address depends only on what each thread reads from global
//! memory, so any thread may access any element of a range. Or data decide which threads do it. The other access has
//! known elements and known threads. Examples, in a block of 256, where `in` holds bytes:
//!
//! ```text
//! bins[t] = 0;                    thread 32 clears bytes 128 to 131
//! atomicAdd(&bins[in[t]], 1);     thread 0 adds to any of the bytes 0 to 1023
//!
//! if (t == 0) count = 0;          thread 0
//! if (in[t] > 7) count += 1;      any thread: 32, which is in no step with 0; and any two at once
//!
//! atomicMax(&most, in[t]);        what others combine, a thread that reads `most` next finds there, or does not
//! ```
//!
//! Threads are of different warps. Where data decide which lanes write, a lane of the same warp may read what it writes in
//! a later statement, too:
//!
//! ```text
//! if (s[t + 8] > s[t]) s[t] = s[t + 8];     data decide whether lane 4 writes element 4
//! if (s[t + 4] > s[t]) s[t] = s[t + 4];     lane 0 reads it
//! ```
//!
//! If the address or the condition contains the thread's own number, or the result of an atomic or a sum over
//! threads, the threads may well stay apart, and nothing is reported. Nor is a pair reported if data decide the
//! threads of both accesses, unless they are one statement that updates its element: other pairs may be meant to
//! exclude each other.

use super::bounds::inside;
use super::first_rounds::{FirstRounds, shared_offset};
use super::gathered::Met;
use super::intervals::{Across, Interval, Round, intervals, past_atomics};
use super::races::Between;
use super::spins::behind_waits;
use super::witness::{are_of_one_block, is_possible_by_choice, is_possible_in_a_block};
use crate::domain::{Int, Origin, Shape, Spread, ThreadSet};
use crate::events::{Access, AccessEvent, AccessOp, Assumption, Event, EventTree, Stored, Trace};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// Accesses of one interval that are looked at, at the most.
const MOST_ACCESSES: usize = 1 << 8;

/// Two accesses that no barrier orders, and that meet for some data.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PossibleRace {
    /// The one that comes first in the program: an index into the trace's accesses.
    pub first: usize,
    /// The other.
    pub second: usize,
    /// By which calls a block comes to the two: the numbers of the ways there.
    pub paths: (u32, u32),
    /// A thread that does the first, and another that does the second.
    pub threads: (usize, usize),
    /// Of which threads.
    pub between: Between,
    /// What data choose.
    pub choice: Choice,
    /// Whether data choose of the first, rather than of the second.
    pub first_is_chosen: bool,
    /// Whether both change what is there, by one statement that reads and writes it.
    pub is_update: bool,
    /// Whether one of them writes a constant and the other reads: a flag, by which threads tell that there is something
    /// to be told, at whatever time.
    pub sets_flag: bool,
    /// The loop in whose next round the second is done.
    pub across: Option<Across>,
    /// The innermost loop of which a round begins between the two, where its rounds were run one by one.
    pub round: Option<Span>,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
}

/// What data choose of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    /// The element that it goes to.
    Element,
    /// The threads that do it.
    Threads,
    /// What the threads that do it combine with.
    Operand,
}

/// Where an access goes.
enum Place {
    /// To known bytes, by thread.
    Known(Arc<Spread>),
    /// To bytes that data choose, in what is a row for each thread.
    Chosen(Rows),
}

/// The bytes that data choose among, by thread: from `begin + low` to before `begin + high`, in steps of so many.
///
/// In `bins[t / 64][in[t] & 63]`, rows of 256 bytes begin at the bytes 0, 256, ...; of two threads whose rows begin at one
/// byte, both may go to any element of it.
struct Rows {
    begin: Arc<Spread>,
    low: i64,
    high: i64,
    step: i64,
}

impl Rows {
    /// Whether a thread may touch something of so many bytes at another byte.
    fn may_touch(&self, thread: usize, at: i64, bytes: i64, touched: i64) -> bool {
        let at = at - self.begin[thread];
        let inside = at >= self.low && at.saturating_add(bytes) <= self.high;
        inside && (at - self.low).rem_euclid(self.step) < touched
    }
}

struct Step<'a> {
    /// The number of the event.
    at: usize,
    event: &'a AccessEvent,
    /// Who does it.
    threads: ThreadSet,
    access: &'a Access,
    bytes: i64,
    place: Place,
    /// Whether data choose which of the threads do it.
    is_chosen: bool,
    /// How often lanes had come together before.
    met: Rc<Met>,
}

/// All such pairs of a run.
pub(super) fn find(trace: &Trace, shape: Shape) -> Vec<PossibleRace> {
    let mut found: Vec<PossibleRace> = Vec::new();
    if trace.tree.may_wait() {
        return found;
    }
    let waits = behind_waits(trace);
    let first_rounds = FirstRounds::of(&trace.tree);
    let all = intervals(&trace.tree, shape).into_iter().chain(past_atomics(&trace.tree, shape));
    for interval in all.map(|it| it.without(&waits)) {
        let steps = steps(trace, &interval, (shape, &first_rounds));
        let around = (&trace.tree, &interval);
        for (at, first) in steps.iter().enumerate() {
            note(&mut found, first, first, update(first, &interval), around);
            note(&mut found, first, first, contend(first, &interval, shape), around);
            for second in &steps[at + 1..] {
                note(&mut found, first, second, meet(first, second, &interval, shape), around);
                note(&mut found, first, second, meet_in_warp(first, second, &interval), around);
            }
        }
    }
    found
}

/// Threads that meet, what data choose, and whether of the first.
type Meeting = ((usize, usize), Choice, bool);

/// Adds a pair if it meets and is not known.
fn note(
    found: &mut Vec<PossibleRace>,
    first: &Step<'_>,
    second: &Step<'_>,
    met: Option<Meeting>,
    (tree, interval): (&EventTree, &Interval),
) {
    let Some((threads, choice, first_is_chosen)) = met else { return };
    let accesses = (first.event.access, second.event.access);
    let between = match threads.0 / 32 == threads.1 / 32 {
        true => Between::Lanes { exchange: second.met.exchange_since(&first.met, threads) },
        false => Between::Warps,
    };
    let is_of_warps = |between: Between| between == Between::Warps;
    let is_known = found.iter().any(|it| {
        (it.first, it.second, is_of_warps(it.between)) == (accesses.0, accesses.1, is_of_warps(between))
    });
    if is_known || !are_of_one_block(first.event, second.event, tree) {
        return;
    }
    let mut assumptions = first.event.assumptions.to_vec();
    let others = second.event.assumptions.iter().filter(|it| !first.event.assumptions.contains(it));
    assumptions.extend(others.cloned());
    let round = tree.round_between((first.at, second.at), [first.access.span, second.access.span]);
    found.push(PossibleRace {
        first: accesses.0,
        second: accesses.1,
        paths: (first.event.path, second.event.path),
        threads,
        between,
        choice,
        first_is_chosen,
        is_update: std::ptr::eq(first, second) && first.event.stored.is_update(),
        sets_flag: is_constant(first) && reads(second) || is_constant(second) && reads(first),
        across: interval.across,
        round: round.filter(|_| interval.across.is_none()),
        assumptions,
    });
}

fn reads(step: &Step<'_>) -> bool {
    step.access.op == AccessOp::Load
}

/// Whether it writes a constant.
fn is_constant(step: &Step<'_>) -> bool {
    match &step.event.stored {
        Stored::Number(number) => number.as_constant().is_some(),
        Stored::Float(_) => true,
        _ => false,
    }
}

fn steps<'a>(
    trace: &'a Trace,
    interval: &Interval,
    (shape, first_rounds): (Shape, &FirstRounds),
) -> Vec<Step<'a>> {
    let mut met = Rc::new(Met::none(shape));
    let step = |(at, round): &(usize, Round)| {
        let event = match &trace.tree.events()[*at] {
            Event::Access(event) => event,
            event @ Event::WarpOrder { .. } => {
                Rc::make_mut(&mut met).pass(event);
                return None;
            }
            _ => return None,
        };
        let access = trace.accesses.get(event.access).filter(|it| !it.is_warp_wide())?;
        let is_chosen = is_possible_by_choice(event, &trace.tree);
        let offset =
            event.offset.as_ref().filter(|_| is_chosen || is_possible_in_a_block(event, &trace.tree))?;
        let bytes = i64::from(access.bytes?);
        let in_first_rounds = || {
            let of_first = Some(first_rounds).filter(|it| it.are_of(event, &trace.tree))?;
            let (base, terms) = shared_offset(offset, (*round, Some(of_first), None), &trace.tree, shape)?;
            terms.is_empty().then(|| Place::Known(base.spread(shape)))
        };
        let place = match offset.terms.is_empty() {
            true => Place::Known(offset.base.spread(shape)),
            false => chosen(trace, event, (access, bytes), shape).or_else(in_first_rounds)?,
        };
        let (threads, met) = (inside(trace, *at, event, shape), Rc::clone(&met));
        Some(Step { at: *at, event, threads, access, bytes, place, is_chosen, met })
    };
    interval.accesses.iter().filter_map(step).take(MOST_ACCESSES).collect()
}

/// The bytes that data choose among; `None` if something else than data has a say.
fn chosen(
    trace: &Trace,
    event: &AccessEvent,
    (access, bytes): (&Access, i64),
    shape: Shape,
) -> Option<Place> {
    let offset = event.offset.as_ref()?;
    let [(id, factor)] = offset.terms.as_slice() else { return None };
    let step = factor.as_constant().filter(|factor| *factor > 0)?;
    let symbol = trace.tree.symbol(*id).filter(|it| id.is_per_thread() && it.origin == Origin::Read)?;
    let array = &trace.arrays[access.array];
    let scaled = |value: i64| value.checked_mul(step);
    let begin = offset.base.spread(shape);
    let Some(base) = offset.base.as_constant() else {
        // Where one row ends and another begins, only what bounds the number can tell: not its type.
        let ends = symbol.low.and_then(scaled).zip(symbol.high.and_then(scaled));
        let size = array.bytes().and_then(|size| i64::try_from(size).ok());
        let last = event.threads.threads().map(|thread| begin[thread]).max().unwrap_or(0);
        let fits = |(low, high): &(i64, i64)| {
            let end = high.checked_add(bytes).and_then(|end| end.checked_add(last));
            *low >= 0 && end.zip(size).is_some_and(|(end, size)| end <= size)
        };
        let (low, high) = ends.filter(fits).map_or((0, 0), |(low, high)| (low, high + bytes));
        return Some(Place::Chosen(Rows { begin, low, high, step }));
    };
    let size = match array.bytes() {
        Some(size) => i64::try_from(size).ok()?,
        // What is sized at launch is as long as need be, if it is one array and not carved into several.
        None if array.dynamic && all_begin_at(trace, event.object, base, shape) => i64::MAX,
        None => return None,
    };
    let end = |value: i64| scaled(value).and_then(|bytes| bytes.checked_add(base));
    // Nobody leaves the array.
    let low = symbol.low.and_then(end).map_or(base.rem_euclid(step), |low| low.max(base.rem_euclid(step)));
    let high = symbol.high.and_then(end).map_or(size, |high| high.saturating_add(bytes).min(size));
    let (low, high) = (low.checked_sub(base)?, high.saturating_sub(base));
    (low < high).then_some(Place::Chosen(Rows { begin, low, high, step }))
}

/// Whether all accesses of an array begin at this byte of it.
fn all_begin_at(trace: &Trace, object: u32, base: i64, shape: Shape) -> bool {
    trace.tree.events().iter().all(|event| match event {
        Event::Access(event) if event.object == object => {
            let least = |offset: &Int| {
                let offsets = offset.base.spread(shape);
                event.threads.threads().map(|thread| offsets[thread]).min()
            };
            event.offset.as_ref().is_some_and(|offset| least(offset).is_none_or(|least| least == base))
        }
        _ => true,
    })
}

/// Two threads of different warps that may meet in one byte.
fn meet(first: &Step<'_>, second: &Step<'_>, interval: &Interval, shape: Shape) -> Option<Meeting> {
    let changes = |step: &Step<'_>| !matches!(step.access.op, AccessOp::Load | AccessOp::MatrixLoad);
    let atomic = |step: &Step<'_>| step.access.is_atomic();
    let stores = |step: &Step<'_>| changes(step) && !atomic(step);
    let is_race = (changes(first) || changes(second)) && !(atomic(first) && atomic(second));
    if !is_race || first.event.object != second.event.object {
        return None;
    }
    // What is written there is made of what is read there.
    let is_made_of_it = match second.event.stored {
        Stored::Update { .. } => first.access.span == second.access.span,
        Stored::UpdateOf { load, .. } => first.event.access == load,
        _ => false,
    };
    if is_made_of_it {
        return None;
    }
    let phases = &interval.phases;
    let in_step = |one: usize, other: usize| other / 32 != one / 32 && phases[other] == phases[one];
    match (&first.place, &second.place, first.is_chosen, second.is_chosen) {
        // Of two stores it is not known whether they write one value.
        (Place::Chosen(_), ..) | (_, Place::Chosen(_), ..) if stores(first) && stores(second) => None,
        (Place::Chosen(_), Place::Known(_), false, false) => {
            let (thread, other) = meet_element(second, first, in_step)?;
            Some(((other, thread), Choice::Element, true))
        }
        (Place::Known(_), Place::Chosen(_), false, false) => {
            Some((meet_element(first, second, in_step)?, Choice::Element, false))
        }
        (Place::Known(one), Place::Known(other), true, false)
        | (Place::Known(one), Place::Known(other), false, true) => {
            let threads = meet_byte(first, one, second, other, in_step)?;
            let (before, after) = threads;
            // Two stores race only if they write different values.
            let differ = || {
                let alike = first.bytes == second.bytes && one[before] == other[after];
                let bytes = second.access.bytes.unwrap_or(0);
                alike && first.event.stored.differs(before, &second.event.stored, after, bytes, shape)
            };
            let counts = !(stores(first) && stores(second)) || differ();
            counts.then_some((threads, Choice::Threads, first.is_chosen))
        }
        (Place::Known(one), Place::Known(other), false, false)
            if combines_data(first) && reads(second) || reads(first) && combines_data(second) =>
        {
            Some((meet_byte(first, one, second, other, in_step)?, Choice::Operand, combines_data(first)))
        }
        _ => None,
    }
}

/// A lane that writes, or may write, and one of its warp that reads it in a later statement.
fn meet_in_warp(first: &Step<'_>, second: &Step<'_>, interval: &Interval) -> Option<Meeting> {
    let is_plain = |step: &Step<'_>, op: AccessOp| step.access.op == op && !step.access.is_atomic();
    let (Place::Known(one), Place::Known(other)) = (&first.place, &second.place) else { return None };
    if first.is_chosen == second.is_chosen
        || !is_plain(first, AccessOp::Store)
        || !reads(second)
        || first.event.object != second.event.object
    {
        return None;
    }
    // Who wrote it in the same statement finds what it wrote.
    let is_own = |thread: usize| {
        let (begin, at) = (one[thread], other[thread]);
        let meets = begin < at.saturating_add(second.bytes) && at < begin.saturating_add(first.bytes);
        first.threads.has(thread) && meets
    };
    let in_step = |writer: usize, reader: usize| {
        writer != reader
            && writer / 32 == reader / 32
            && interval.phases[writer] == interval.phases[reader]
            && !is_own(reader)
            && second.met.is_unordered_since(&first.met, (writer, reader))
    };
    Some((meet_byte(first, one, second, other, in_step)?, Choice::Threads, first.is_chosen))
}

/// Whether it is an atomic by which each thread combines what is there with data of its own: who reads it finds that, or
/// does not.
fn combines_data(step: &Step<'_>) -> bool {
    step.access.op == AccessOp::Atomic && step.access.atomic.is_some_and(|atomic| atomic.of_data)
}

/// A thread that goes to a known element, and one in step with it that may come there.
fn meet_element(
    known: &Step<'_>,
    free: &Step<'_>,
    in_step: impl Fn(usize, usize) -> bool,
) -> Option<(usize, usize)> {
    let (Place::Known(offsets), Place::Chosen(rows)) = (&known.place, &free.place) else { return None };
    known.threads.threads().find_map(|thread| {
        let may_meet = |other: &usize| {
            in_step(thread, *other) && rows.may_touch(*other, offsets[thread], known.bytes, free.bytes)
        };
        Some((thread, free.threads.threads().find(may_meet)?))
    })
}

/// Two threads in step that touch one byte.
fn meet_byte(
    first: &Step<'_>,
    one: &Spread,
    second: &Step<'_>,
    other: &Spread,
    in_step: impl Fn(usize, usize) -> bool,
) -> Option<(usize, usize)> {
    let mut places: Vec<(i64, usize)> = first.threads.threads().map(|it| (one[it], it)).collect();
    places.sort_unstable();
    second.threads.threads().find_map(|thread| {
        let at = other[thread];
        let begin = places.partition_point(|(begin, _)| begin.saturating_add(first.bytes) <= at);
        let there = places[begin..].iter().take_while(|(begin, _)| *begin < at.saturating_add(second.bytes));
        let (_, by) = there.take(MOST_ACCESSES).find(|(_, by)| in_step(*by, thread))?;
        Some((*by, thread))
    })
}

/// Two threads of different warps that write different values to one place by one statement, where data choose the threads.
fn contend(step: &Step<'_>, interval: &Interval, shape: Shape) -> Option<Meeting> {
    let Place::Known(offsets) = &step.place else { return None };
    let (stored, bytes) = (&step.event.stored, step.access.bytes?);
    let differ = |one: usize, other: usize| {
        one / 32 != other / 32
            && interval.phases[one] == interval.phases[other]
            && offsets[one] == offsets[other]
            && stored.differs(one, stored, other, bytes, shape)
    };
    let is_chosen = step.is_chosen && step.access.op == AccessOp::Store && !step.access.is_atomic();
    let threads = is_chosen.then(|| meet_byte(step, offsets, step, offsets, differ)).flatten()?;
    Some((threads, Choice::Threads, true))
}

/// Two threads that change one place by one statement, where data choose the place or the threads.
fn update(step: &Step<'_>, interval: &Interval) -> Option<Meeting> {
    let stored = &step.event.stored;
    if step.access.op != AccessOp::Store || !stored.is_update() {
        return None;
    }
    let counts =
        |one: usize, other: usize| other / 32 != one / 32 || other != one && !stored.is_alike_update();
    let in_step =
        |one: usize, other: usize| counts(one, other) && interval.phases[other] == interval.phases[one];
    match &step.place {
        Place::Known(offsets) if step.is_chosen => {
            let threads = meet_byte(step, offsets, step, offsets, in_step)?;
            Some((threads, Choice::Threads, true))
        }
        Place::Chosen(rows) => {
            let in_one_row = |one: usize, other: usize| rows.begin[one] == rows.begin[other];
            let threads = || step.threads.threads();
            let other = |one: usize| threads().find(|it| in_one_row(one, *it) && in_step(one, *it));
            Some((threads().find_map(|one| Some((one, other(one)?)))?, Choice::Element, true))
        }
        Place::Known(_) => None,
    }
}
