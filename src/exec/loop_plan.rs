//! How do the variables of a loop change from iteration to iteration?
//!
//! Found by running its body, with `k` a fresh symbol for the iteration number:
//!
//! 1. *Probe* (nothing is recorded): run one iteration from the state at the entry. Each variable
//!    that it wrote changed by some difference, `d`.
//! 2. Suppose `v = v0 + k·d` for each of them, run an iteration from there, and see whether each
//!    changed by `d` again. Of one that did not, less is supposed: see
//!    [`recurrence`](super::recurrence). Repeat until nothing new is found.
//! 3. What the last run recorded is the loop's trace; what the others did is taken back.
//!
//! Example: `for (i = threadIdx.x, stage = 0; i < n; i += 128, stage ^= 1)`. The probe finds `i`
//! changed by 128 and `stage` by 1; the second run confirms `i = x + 128·k` but `stage` comes back
//! to 0. The loop is *unrolled*: two iterations in a row, `i = x + 256·q`, after which `stage` is as
//! before (`d = 0`), and both iterations are recorded. The same unrolling answers the demands of
//! operators such as `(i / 32 + k) % 4` (see `domain::Int`).

use super::alternatives::ANYWHERE;
use super::enumerate::Changing;
use super::loops::parts::Parts;
use super::machine::{Change, Found, Kind, LoopKey, Machine, Mark, State, slot_value};
use super::recurrence::object_of;
use super::revised::beside;
use super::value::{Offset, Pointer, Target, Value};
use crate::domain::{Int, Origin, SymbolId, Variation, lcm};
use crate::ir::visit::{names_local, own_stmts};
use crate::ir::{LocalId, Stmt, StmtKind, Storage};
use rustc_hash::FxHashSet;
use std::rc::Rc;

/// The most iterations unrolled in a row.
const UNROLL: u64 = 64;

/// The most iterations after which known values may come back.
const LONGEST_CYCLE: u64 = 32;

/// How often such iterations are run until they are recorded, about.
const CYCLE_PASSES: u64 = 4;

/// How often it is tried to find how variables change; the last time, nothing is taken to be known of them.
const MOST_TRIES: usize = 7;

/// One pass through a loop's body that stands for all.
pub(super) struct Pass {
    /// The state at its start.
    pub(super) entry: State,
    /// The number of the pass.
    pub(super) round: SymbolId,
    /// How each variable changes in it.
    pub(super) plan: Vec<(usize, LocalId, Change)>,
    /// The states at the starts of its rounds but the first.
    pub(super) inside: Vec<State>,
}

impl Machine<'_> {
    /// Tries what was found of this loop the last time, so that loops in loops are not searched
    /// again in every round of the outer ones. The pass that stands for all, if it holds.
    pub(super) fn repeat_plan(
        &mut self,
        parts: Parts<'_>,
        start: &State,
        key: &LoopKey,
        mark: &Mark,
    ) -> Option<Pass> {
        let found = self.looping.plans.get(key)?.found.clone()?;
        let same = |kind: &Kind, frame, local| *kind == kind_of(&slot_value(start, frame, local));
        if !found.kinds.iter().zip(&found.plan).all(|(kind, (f, l, _))| same(kind, *f, *l)) {
            return None;
        }
        let symbol = self.loop_symbol(None);
        let entry = self.entry_state(start, &found.plan, &Int::symbol(symbol));
        let Watched { written, inside } = self.watch(parts, &entry, found.unroll);
        let mut plan = found.plan.clone();
        let known =
            written.iter().all(|(frame, local)| plan.iter().any(|(f, l, _)| (f, l) == (frame, local)));
        let demanded = self.world.demands.get(&symbol).copied().unwrap_or(1);
        let unroll = lcm(found.unroll, found.unroll.saturating_mul(demanded));
        let settled = unroll <= found.unroll || unroll > UNROLL;
        if known && settled && self.revise(&mut plan, start, &entry, false).0 {
            return Some(Pass { entry, round: symbol, plan, inside });
        }
        self.trace_rollback(mark);
        self.trace.launches.truncate(mark.launches);
        self.state = start.clone();
        None
    }

    /// Finds how the loop changes the state, and how far it has to be unrolled. Leaves the trace
    /// and the state as after the last iteration that was run.
    pub(super) fn search_plan(
        &mut self,
        parts: Parts<'_>,
        start: &State,
        key: LoopKey,
        mark: &Mark,
    ) -> (Pass, Changing) {
        let mut unroll = 1;
        for round in 1.. {
            let symbol = self.loop_symbol(None);
            let probed = self.probe(parts, start, symbol, unroll, mark);
            let mut wanted = lcm(unroll, probed.wanted.max(1));
            if wanted == 1 {
                wanted = self.long_cycle(parts, start, &probed.plan);
            }
            if wanted <= unroll || wanted > UNROLL || round > 4 {
                let kinds = probed.plan.iter().map(|(f, l, _)| kind_of(&slot_value(start, *f, *l))).collect();
                let changing = match unroll {
                    1 => self.changing(parts, start, &probed.plan, &key, mark),
                    _ => Changing::default(),
                };
                let follows = !changing.is_empty() || self.may_be_followed(parts, start, &probed.plan);
                let keep = probed.stable && !follows;
                let Probed { entry, plan, inside, .. } = probed;
                let found = keep.then(|| Rc::new(Found { plan: plan.clone(), kinds, unroll }));
                self.looping.plans.entry(key).or_default().found = found;
                return (Pass { entry, round: symbol, plan, inside }, changing);
            }
            self.trace_rollback(mark);
            self.trace.launches.truncate(mark.launches);
            unroll = wanted;
        }
        let (entry, round) = (start.clone(), self.loop_symbol(None));
        (Pass { entry, round, plan: Vec::new(), inside: Vec::new() }, Changing::default())
    }

    /// The number of a round, at most `last` if that is known.
    pub(super) fn loop_symbol(&mut self, last: Option<i64>) -> SymbolId {
        self.world.symbols.fresh("the loop counter".into(), Origin::Loop, Some(0), last)
    }

    /// Whether nothing is lost of what was known at the start, and no number leaves its type.
    pub(super) fn keeps_what_is_known(&self, start: &State, probed: &Probed) -> bool {
        probed.plan.iter().all(|(frame, local, change)| {
            let entry = slot_value(&probed.entry, *frame, *local);
            self.keeps(&slot_value(start, *frame, *local), &entry, change)
        })
    }

    fn keeps(&self, begins: &Value, entry: &Value, change: &Change) -> bool {
        let kept = match (change, begins) {
            (Change::By(_), _) => true,
            (Change::Parts(changes), _) => {
                return beside(begins, entry, changes)
                    .iter()
                    .all(|(_, begins, entry, change)| self.keeps(begins, entry, change));
            }
            (_, Value::Undefined | Value::Opaque(..)) => true,
            (_, Value::Int(int, _)) => int.as_known().is_none(),
            (_, Value::Pointer(Pointer { target: Target::Memory(_, Offset::Unknown(..)), .. })) => true,
            (_, Value::Aggregate(parts)) => parts.iter().all(|(_, part)| matches!(part, Value::Opaque(..))),
            _ => false,
        };
        let fits = match entry {
            Value::Int(int, scalar) if matches!(change, Change::By(_)) => {
                let (bits, signed) = (scalar.bytes() as u32 * 8, !scalar.is_unsigned());
                match self.world.bounds(int) {
                    (Some(low), Some(high)) => crate::domain::fits(low, high, bits, signed),
                    _ => true,
                }
            }
            _ => true,
        };
        kept && fits
    }

    /// Finds the state at the start of iteration `k` (of `unroll` iterations each), and the factor
    /// by which the loop should be unrolled for operators to be decided. What the last iteration
    /// recorded stays in the trace.
    pub(super) fn probe(
        &mut self,
        parts: Parts<'_>,
        start: &State,
        symbol: SymbolId,
        unroll: u64,
        mark: &Mark,
    ) -> Probed {
        let departures = self.around.departures.len();
        self.world.demands.remove(&symbol);
        let Watched { written, .. } = self.unrecorded(|machine| machine.watch(parts, start, unroll));
        self.around.departures.truncate(departures);
        let mut plan: Vec<(usize, LocalId, Change)> = Vec::new();
        let mut cycles = false;
        for (frame, local) in written {
            let before = slot_value(start, frame, local);
            let after = slot_value(&self.state, frame, local);
            let change = self.difference(&before, &after);
            // Of two pointers that change places, either leads into the other's array.
            cycles |= matches!(change, Change::Lost(..))
                && [&before, &after].iter().all(|it| is_at_known_place(it));
            let change = self.unless_it_wraps(parts, (frame, local), (&before, &after), change);
            plan.push((frame, local, change));
        }
        let mut stable = false;
        let (mut entry, mut inside) = (start.clone(), Vec::new());
        for round in 0..MOST_TRIES {
            if round + 1 == MOST_TRIES {
                plan.iter_mut().for_each(|(_, _, change)| *change = Change::Lost(Variation::Maybe, ANYWHERE));
            }
            if round > 0 {
                self.trace_rollback(mark);
                self.trace.launches.truncate(mark.launches);
            }
            entry = self.entry_state(start, &plan, &Int::symbol(symbol));
            let watched = self.watch(parts, &entry, unroll);
            let mut found = watched.written;
            inside = watched.inside;
            self.around.departures.truncate(departures);
            found.retain(|(frame, local)| !plan.iter().any(|(f, l, _)| (f, l) == (frame, local)));
            stable = found.is_empty();
            for (frame, local) in found {
                let object = object_of(&slot_value(start, frame, local)).unwrap_or(ANYWHERE);
                plan.push((frame, local, Change::Lost(Variation::Maybe, object)));
            }
            let (same, turned) = self.revise(&mut plan, start, &entry, round == 0);
            stable &= same;
            cycles |= turned;
            if stable {
                break;
            }
        }
        let demanded = self.world.demands.get(&symbol).copied().unwrap_or(1);
        let mut wanted = unroll.saturating_mul(demanded);
        if cycles && demanded <= 1 {
            let after = self.state.clone();
            wanted = lcm(wanted, self.cycle(parts, start, &plan));
            self.state = after;
        }
        Probed { entry, plan, wanted, stable, inside }
    }

    /// A change, if no number that is so changed may go around.
    fn unless_it_wraps(
        &self,
        parts: Parts<'_>,
        variable: (usize, LocalId),
        (before, after): (&Value, &Value),
        change: Change,
    ) -> Change {
        match change {
            Change::By(step) if self.may_wrap(parts, variable, before, &step) => {
                self.lost_between(before, after)
            }
            Change::Parts(changes) => {
                let kept = beside(before, after, &changes).into_iter().map(|(way, was, now, change)| {
                    (way, self.unless_it_wraps(parts, variable, (&was, &now), change))
                });
                Change::Parts(Rc::new(kept.collect()))
            }
            change => change,
        }
    }

    /// Whether a variable of 8 or 16 bits may go around in a loop of unknown length: one that the condition asks about
    /// would never end the loop.
    fn may_wrap(
        &self,
        parts: Parts<'_>,
        (frame, local): (usize, LocalId),
        value: &Value,
        step: &Int,
    ) -> bool {
        let Value::Int(_, scalar) = value else { return false };
        let ends_loop = || {
            let is_here = frame + 1 == self.state.frames.len();
            is_here && parts.cond.is_some_and(|cond| names_local(cond, local))
        };
        !parts.counted && scalar.bytes() < 4 && step.as_constant() != Some(0) && !ends_loop()
    }

    /// After how many iterations the variables that are not affine come back to their start, if
    /// that happens within four; else 1.
    fn cycle(&mut self, parts: Parts<'_>, start: &State, plan: &[(usize, LocalId, Change)]) -> u64 {
        let was_recording = std::mem::replace(&mut self.recording, false);
        let departures = self.around.departures.len();
        let lost: Vec<(usize, LocalId)> = plan
            .iter()
            .filter(|(frame, local, change)| {
                !matches!(change, Change::By(_)) && known(&slot_value(start, *frame, *local))
            })
            .map(|(frame, local, _)| (*frame, *local))
            .collect();
        self.state = start.clone();
        let left = self.left_mark();
        let mut period = 1;
        for count in 1..=4 {
            self.run_once(parts, &[]);
            let back = lost.iter().any(|(f, l)| slot_value(start, *f, *l) == slot_value(&self.state, *f, *l));
            if back && count > 1 {
                period = count;
                break;
            }
        }
        self.recording = was_recording;
        self.around.departures.truncate(departures);
        self.around.left.truncate(left);
        period
    }

    /// After how many iterations the variables whose values are followed come back to their start, if they do: those
    /// of a ring of buffers; else 1. As many are run, none of which is recorded.
    fn long_cycle(&mut self, parts: Parts<'_>, start: &State, plan: &[(usize, LocalId, Change)]) -> u64 {
        let lost = plan.iter().filter(|(.., change)| change.loses());
        let lost: Vec<(usize, LocalId)> = lost.map(|(frame, local, _)| (*frame, *local)).collect();
        let is_known =
            |(frame, local): &(usize, LocalId), state: &State| match slot_value(state, *frame, *local) {
                Value::Int(int, _) => int.as_constant().is_some(),
                _ => false,
            };
        if lost.is_empty() || !lost.iter().all(|place| is_known(place, start)) {
            return 1;
        }
        let was_recording = std::mem::replace(&mut self.recording, false);
        let (after, departures, left) = (self.state.clone(), self.around.departures.len(), self.left_mark());
        self.state = start.clone();
        let (mut period, began) = (1, self.steps);
        for count in 1..=LONGEST_CYCLE {
            self.run_once(parts, &[]);
            let costs = self.steps.saturating_sub(began).saturating_mul(CYCLE_PASSES);
            let is_over = self.state.active.is_empty() || self.trace.stopped.is_some();
            if is_over || costs > self.budget().saturating_sub(self.steps) / 2 {
                break;
            }
            if !lost.iter().all(|place| is_known(place, &self.state)) {
                break;
            }
            if lost.iter().all(|(f, l)| slot_value(start, *f, *l) == slot_value(&self.state, *f, *l)) {
                period = count;
                break;
            }
        }
        self.recording = was_recording;
        self.state = after;
        self.around.departures.truncate(departures);
        self.around.left.truncate(left);
        period
    }

    /// Runs `unroll` iterations from `from`.
    fn watch(&mut self, parts: Parts<'_>, from: &State, unroll: u64) -> Watched {
        self.state = from.clone();
        let opened = self.looping.open;
        let depth = self.state.frames.len();
        self.looping.watched.push(Vec::new());
        self.around.left.truncate(self.looping.left_of_loop);
        let mut inside = Vec::new();
        for iteration in 0..unroll {
            if self.state.active.is_empty() || self.trace.stopped.is_some() {
                break;
            }
            // Where the rounds are counted, whole passes are run.
            if iteration > 0 && !parts.counted {
                inside.push(self.state.clone());
                self.next_round_event();
            }
            self.run_once(parts, &[]);
        }
        self.looping.watched_open = self.looping.open - opened;
        let mut written = self.looping.watched.pop().unwrap_or_default();
        // What is declared in the body begins anew in every iteration.
        let declared = self.declared_in(parts.body);
        written.retain(|(frame, local)| *frame + 1 != depth || !declared.contains(local));
        if let Some(outer) = self.looping.watched.last_mut() {
            for place in &written {
                if !outer.contains(place) {
                    outer.push(*place);
                }
            }
        }
        let carried = |frame: usize, local| {
            self.state.frames.get(frame).is_none_or(|frame| frame.slice.is_carried(local))
        };
        written.retain(|(frame, local)| *frame < depth && carried(*frame, *local));
        Watched { written, inside }
    }

    /// The variables declared in a loop's body.
    fn declared_in(&mut self, body: &[Stmt]) -> Rc<FxHashSet<LocalId>> {
        let known = self.looping.declared.entry(body.as_ptr().addr());
        Rc::clone(known.or_insert_with(|| {
            let mut found = FxHashSet::default();
            body.iter().for_each(|stmt| declared(stmt, &mut found));
            Rc::new(found)
        }))
    }

    /// The state at the start of iteration `round`.
    pub(super) fn entry_state(
        &mut self,
        start: &State,
        plan: &[(usize, LocalId, Change)],
        round: &Int,
    ) -> State {
        let mut state = start.clone();
        for (frame, local, change) in plan {
            let slot = state.frames.get(*frame).and_then(|frame| frame.slots.get(local.0 as usize));
            let Some(value) = slot.map(|slot| slot.value.clone()) else { continue };
            let value = self.at_round(&value, change, round);
            if let Some(slots) = state.frames.get_mut(*frame).map(|f| &mut f.slots) {
                slots.set_value(local.0 as usize, value);
            }
        }
        state
    }
}

fn declared(stmt: &Stmt, found: &mut FxHashSet<LocalId>) {
    if let StmtKind::Declare(list) = &stmt.kind {
        found.extend(list.iter().filter(|d| d.storage == Storage::Automatic).map(|d| d.local));
    }
    own_stmts(stmt, &mut |inner| declared(inner, found));
}

/// What came of some iterations.
struct Watched {
    /// The variables that they wrote.
    written: Vec<(usize, LocalId)>,
    /// The states at their starts, but for the first.
    inside: Vec<State>,
}

fn is_at_known_place(value: &Value) -> bool {
    matches!(value, Value::Pointer(Pointer { target: Target::Memory(_, Offset::Known(_)), .. }))
}

fn kind_of(value: &Value) -> Kind {
    (std::mem::discriminant(value), known(value))
}

/// What a search found.
pub(super) struct Probed {
    /// The state at the start of an iteration.
    pub(super) entry: State,
    /// How each variable changes.
    pub(super) plan: Vec<(usize, LocalId, Change)>,
    /// By how much to unroll.
    pub(super) wanted: u64,
    /// Whether the plan holds.
    pub(super) stable: bool,
    /// The states at the starts of the unrolled iterations but the first.
    pub(super) inside: Vec<State>,
}

fn known(value: &Value) -> bool {
    match value {
        Value::Int(int, _) => int.as_known().is_some(),
        Value::Pointer(_) => true,
        _ => false,
    }
}
