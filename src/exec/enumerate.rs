//! What does a loop do that runs through known values to an end that is not known?
//!
//! `for (size = 2; size < n; size <<= 1)` has a run-time bound, and `size` is not affine in the
//! iteration number, but its values are known one after another: 2, 4, 8, ... So the iterations
//! are run for real, each on the assumption that it happens, until the variable comes to rest, or
//! until an iteration would leave a shared array: a program that does not overrun its arrays ends
//! the loop before.
//!
//! `for (d = n >> 1; d > 0; d >>= 1) { ...; offset *= 2; }` begins at a run-time value and halves
//! it to the end. It is run from the greatest power of two, up to the number of threads, from which
//! no iteration leaves an array; where that is 128, `n` is 256 in it. What it leaves behind, `offset` = 256
//! after `d` = 128, 64, ..., 1, stays an unknown number for whatever follows; only a loop that can be followed
//! in no other way takes it for what it was, on the same assumption:
//! `for (d = 2; d < n; d <<= 1) { offset >>= 1; ... }`.
//!
//! Both kinds may stand in one kernel, the doubling one first: `for (size = 2; size < n; size <<= 1)`
//! stays within an array of 1024 up to `size` = 1024, and `for (d = n / 2; d > 0; d >>= 1)` after it
//! tells that `n` is 1024, so that `size` = 512 is the last round of the first. The kernel is then
//! run a second time with what it told.

use super::loops::parts::Parts;
use super::machine::{Bounds, Change, LoopKey, Machine, Mark, State, slot_value};
use super::value::{Condition, Value};
use crate::domain::{Int, SymbolId, Variation};
use crate::events::Assumption;
use crate::ir::overwritten::is_overwritten;
use crate::ir::{BinaryOp, ExprKind, LocalId, StmtKind};
use std::sync::Arc;

/// A variable that doubles comes to rest within the bits of its type.
const MOST: usize = 40;

/// The greatest number of threads of a block, and so the greatest start that is tried.
const MOST_THREADS: usize = 1024;

/// A variable: the frame of its function, and which of its variables it is.
type Place = (usize, LocalId);

/// The uniform variables of a loop that are not affine in the number of the iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct Changing {
    /// Those whose value at the start is known.
    known: Vec<Place>,
    /// Those whose value at the start is not, and the value they have there on what was assumed of a
    /// loop before.
    likely: Vec<(Place, i64)>,
    /// The one, at most, of whose value at the start nothing is known.
    open: Option<Place>,
}

impl Changing {
    /// None when another variable goes along that differs between threads. What a round writes before it reads it
    /// need not be followed.
    fn of(
        parts: Parts<'_>,
        start: &State,
        plan: &[(usize, LocalId, Change)],
        machine: &Machine<'_>,
    ) -> Changing {
        let mut found = Changing::default();
        for (frame, local, change) in plan {
            let (Change::Lost(variation, _), Value::Int(int, _)) =
                (change, slot_value(start, *frame, *local))
            else {
                continue;
            };
            let place = (*frame, *local);
            if machine.is_overwritten(parts, place) {
                continue;
            }
            if *variation != Variation::Uniform {
                return Changing::default();
            }
            let likely = |symbol: SymbolId| machine.world.symbols.likely(symbol);
            match (int.as_constant(), int.as_symbol().and_then(likely)) {
                (Some(_), _) => found.known.push(place),
                (None, Some(value)) => found.likely.push((place, value)),
                (None, None) if found.open.is_none() => found.open = Some(place),
                (None, None) => return Changing::default(),
            }
        }
        found
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty() && self.likely.is_empty() && self.open.is_none()
    }

    /// Whether the values of all of them are known at the start.
    fn is_known(&self) -> bool {
        self.likely.is_empty() && self.open.is_none()
    }

    fn places(&self) -> Vec<Place> {
        let likely = self.likely.iter().map(|(place, _)| *place);
        self.known.iter().copied().chain(likely).chain(self.open).collect()
    }
}

/// How a run through known values ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// The condition of the loop failed, as the numbers decide.
    Done,
    /// The variables came to rest, or an iteration would have left an array.
    Stopped,
    /// It could not be run.
    Failed,
}

impl Machine<'_> {
    /// The variables whose values a loop is to be followed through. A start that is not known is only
    /// supposed where something recorded since the mark would stay open without it.
    pub(super) fn changing(
        &self,
        parts: Parts<'_>,
        start: &State,
        plan: &[(usize, LocalId, Change)],
        key: &LoopKey,
        mark: &Mark,
    ) -> Changing {
        let changing = Changing::of(parts, start, plan, self);
        let tried = || self.looping.plans.get(key).is_some_and(|known| known.not_followed);
        let halves = || changing.open.is_none_or(|(_, local)| is_halved(parts, local));
        if changing.is_known() || halves() && self.undecided_since(mark) && !tried() {
            changing
        } else {
            Changing::default()
        }
    }

    /// Whether a run that records nothing leaves open if a loop is to be followed through known values: that
    /// depends on what is recorded.
    pub(super) fn may_be_followed(
        &self,
        parts: Parts<'_>,
        start: &State,
        plan: &[(usize, LocalId, Change)],
    ) -> bool {
        !self.recording && !Changing::of(parts, start, plan, self).is_empty()
    }

    /// Whether no round of a loop reads what the one before left in a variable of its function.
    fn is_overwritten(&self, parts: Parts<'_>, (frame, local): Place) -> bool {
        let own = self.frame().filter(|_| frame + 1 == self.state.frames.len());
        let body = own.and_then(|frame| frame.function.body.as_deref());
        body.is_some_and(|body| is_overwritten(body, parts.place(), local))
    }

    /// Runs the iterations in which the variables `changing` take known values; false, with
    /// nothing done, when they do not. `entry`: the state at the start of an iteration of unknown
    /// number, with which the analysis goes on after the loop.
    pub(super) fn enumerate(
        &mut self,
        parts: Parts<'_>,
        start: &State,
        entry: &State,
        changing: &Changing,
    ) -> bool {
        let mut pinned = start.clone();
        for (place, value) in &changing.likely {
            pin(&mut pinned, *place, *value);
        }
        if let Some((first, value)) = changing.likely.first() {
            self.suppose(&mut pinned, *first, *value, "as a loop before leaves it");
            pinned.facts.extend(self.world.symbols.all_likely());
        }
        let places = changing.places();
        let Some(open) = changing.open else {
            let end = match self.run_to_bound(parts, &pinned, &places) {
                End::Done => End::Done,
                _ => self.run_through(parts, &pinned, &places, None),
            };
            if end == End::Done {
                self.remember(entry, &places);
            }
            if end == End::Failed {
                self.state = start.clone();
            }
            return end != End::Failed;
        };
        let threads = self.shape().threads().min(MOST_THREADS).next_power_of_two();
        let symbol = match slot_value(start, open.0, open.1) {
            Value::Int(int, _) => int.as_symbol(),
            _ => None,
        };
        let starts = std::iter::successors(Some(threads), |start| Some(start / 2).filter(|s| *s > 1));
        for value in starts.map(|start| start as i64) {
            let mut from = pinned.clone();
            pin(&mut from, open, value);
            // What else the kernel compares with `n` agrees with where the loop begins.
            from.facts.extend(symbol.iter().flat_map(|symbol| self.world.symbols.told_by(*symbol, value)));
            self.suppose(&mut from, open, value, "the most that its threads and arrays allow");
            let mark = self.trace_mark();
            match self.run_through(parts, &from, &places, Some(open)) {
                End::Done => {
                    if let Some(symbol) = symbol {
                        self.world.symbols.set_likely(symbol, value);
                    }
                    self.remember(entry, &places);
                    return true;
                }
                End::Stopped => self.trace_rollback(&mark),
                End::Failed => break,
            }
        }
        self.state = start.clone();
        false
    }

    /// Runs the iterations up to the bound that a run before told; otherwise nothing is done.
    fn run_to_bound(&mut self, parts: Parts<'_>, start: &State, places: &[Place]) -> End {
        let key = self.loop_key(parts);
        let (mut from, mark) = (start.clone(), self.trace_mark());
        for (of, symbol, value) in &self.looping.bounds.told {
            if *of == key
                && let Some(id) = self.world.symbols.known_by(symbol)
            {
                from.facts.push((id, *value));
                let name = (*self.world.symbols.get(id).name).into();
                Arc::make_mut(&mut from.assumptions).push(Assumption::AtMost { name, value: *value });
            }
        }
        if from.facts.len() == start.facts.len() {
            return End::Failed;
        }
        let end = self.run_through(parts, &from, places, None);
        if end != End::Done {
            self.trace_rollback(&mark);
        }
        end
    }

    /// Notes what bounds a loop that is taken to go on.
    pub(super) fn note_open_bound(&mut self, parts: Parts<'_>, condition: &Condition) {
        if let Condition::Compare { difference, .. } = condition {
            let key = self.loop_key(parts);
            for (symbol, _) in &difference.terms {
                if !self.looping.bounds.open.contains(&(key, *symbol)) {
                    self.looping.bounds.open.push((key, *symbol));
                }
            }
        }
    }

    /// The bounds of loops that were taken to go on, as far as later loops tell them.
    pub(super) fn bounds_told(&self) -> Bounds {
        let symbols = &self.world.symbols;
        let told = self.looping.bounds.open.iter().filter_map(|(key, symbol)| {
            Some((*key, symbols.name_key(*symbol)?.clone(), symbols.likely(*symbol)?))
        });
        Bounds { open: Vec::new(), told: told.collect() }
    }

    /// Runs the iterations from `start` as long as `places` have known values that were not seen yet.
    /// Fails if one does not halve the variable `halved`.
    fn run_through(
        &mut self,
        parts: Parts<'_>,
        start: &State,
        places: &[Place],
        halved: Option<Place>,
    ) -> End {
        if places.is_empty() || !places.iter().all(|at| constant(start, *at).is_some()) {
            return End::Failed;
        }
        self.state = start.clone();
        let outer = std::mem::replace(&mut self.looping.out_of_bounds, false);
        let departures = self.around.departures.len();
        let mut seen: Vec<Vec<i64>> = Vec::new();
        let words: Vec<Assumption> = places.iter().filter_map(|at| self.goes_on(*at)).collect();
        let (mut ran, mut done) = (0, false);
        let first = self.trace_mark();
        self.looping.enumerating += 1;
        for _ in 0..MOST {
            let values: Option<Vec<i64>> = places.iter().map(|at| constant(&self.state, *at)).collect();
            let Some(values) = values else {
                self.trace_rollback(&first);
                ran = 0;
                break;
            };
            if seen.contains(&values) {
                break;
            }
            seen.push(values);
            let (before, mark) = (self.state.clone(), self.trace_mark());
            self.run_once(parts, if ran > 0 { &words } else { &[] });
            if self.state.active.is_empty() || self.trace.stopped.is_some() {
                done = true;
                break;
            }
            if self.looping.out_of_bounds {
                self.trace_rollback(&mark);
                self.state = before;
                break;
            }
            let half = |at: Place| constant(&before, at).map(|value| value / 2);
            if halved.is_some_and(|at| constant(&self.state, at) != half(at)) {
                self.trace_rollback(&first);
                ran = 0;
                break;
            }
            ran += 1;
        }
        // One that does not come to rest is no variable that doubles.
        if ran == MOST {
            self.trace_rollback(&first);
            ran = 0;
        }
        self.looping.enumerating -= 1;
        self.looping.out_of_bounds = outer;
        self.around.departures.truncate(departures);
        match (ran, done) {
            (0, _) => End::Failed,
            (_, true) => End::Done,
            _ => End::Stopped,
        }
    }

    /// That a loop goes on is taken for granted in every round but the first.
    fn goes_on(&self, place: Place) -> Option<Assumption> {
        let variable = (*self.name_of(place)?).into();
        Some(Assumption::RunsOn { variable })
    }

    /// Notes what a run rests on that begins with a number that is not known.
    fn suppose(&self, state: &mut State, place: Place, value: i64, why: &'static str) {
        if let Some(name) = self.name_of(place) {
            let variable = (*name).into();
            let assumed = Assumption::BeginsAt { variable, value, why };
            Arc::make_mut(&mut state.assumptions).push(assumed);
        }
    }

    fn name_of(&self, (frame, local): Place) -> Option<crate::ir::Name> {
        let frame = self.state.frames.get(frame)?;
        frame.function.locals.get(local.0 as usize).map(|it| it.name.clone())
    }

    /// Keeps in mind what the loop left in the variables that are unknown numbers after it.
    fn remember(&mut self, entry: &State, places: &[Place]) {
        for (frame, local) in places {
            if let Value::Int(int, _) = slot_value(entry, *frame, *local)
                && let Some(symbol) = int.as_symbol()
                && let Some(value) = constant(&self.state, (*frame, *local))
            {
                self.world.symbols.set_likely(symbol, value);
            }
        }
    }
}

/// Whether an iteration ends with `d /= 2`, `d >>= 1` or `d = d / 2`, as far as the text tells.
fn is_halved(parts: Parts<'_>, local: LocalId) -> bool {
    let last = parts.body.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Expr(expr) => Some(expr),
        _ => None,
    });
    let halves = |op: &BinaryOp| matches!(op, BinaryOp::Div | BinaryOp::Shr);
    parts.step.into_iter().chain(last).any(|expr| match &expr.kind {
        ExprKind::Assign(op, target, value) if matches!(target.kind, ExprKind::Local(of) if of == local) => {
            match (op, &value.kind) {
                (Some(op), _) | (None, ExprKind::Binary(op, ..)) => halves(op),
                _ => false,
            }
        }
        _ => false,
    })
}

/// Gives a variable this value.
fn pin(state: &mut State, (frame, local): Place, value: i64) {
    if let Some(slot) = state.frames.get_mut(frame).and_then(|f| f.slots.get_mut(local.0 as usize))
        && let Value::Int(_, scalar) = slot.value
    {
        slot.value = Value::Int(Int::constant(value), scalar);
    }
}

fn constant(state: &State, (frame, local): Place) -> Option<i64> {
    match slot_value(state, frame, local) {
        Value::Int(int, _) => int.as_constant(),
        _ => None,
    }
}
