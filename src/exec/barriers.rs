//! Which barriers are reached, by which threads, and what do the others do instead?
//!
//! A barrier that some threads pass by does harm only later: where they come to another barrier, or
//! where the code goes on for them together with a part of their warp that still waits. So threads
//! that did not come are kept in mind as *absent* while the run goes on. Example, in a block of 64:
//!
//! ```text
//! if (t < 16) {
//!     __syncthreads();   // A: the other 48 are absent
//! }
//! out[t] = s[t];         // warp 0 goes on here: 16 to 31 are here while 0 to 15 wait
//! __syncthreads();       // B: all come; for the 48 it is the first barrier, for the 16 the second
//! ```
//!
//! How often each thread has come to a barrier is counted from where that first differs. At B it is
//! once for the 16 and never for the others, who therefore meet at A's turn. Had they waited in an
//! `else` as often as the others in the `if`, the counts would be equal: such barriers are a *pair*.

mod absent;
pub(crate) mod contents;
mod exits;
mod repeated;

use super::machine::{Departure, Machine};
use crate::builtins::{self, Kind};
use crate::domain::{Reason, ThreadSet};
use crate::events::{Absence, Barrier, Event, Split, SplitKind, Then};
use crate::ir::visit::children;
use crate::ir::{Expr, ExprKind, Stmt, StmtKind, Storage, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// The most barriers that a trace holds.
const MOST: usize = 4096;

/// What a barrier waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Waits {
    /// The threads of the block, at the hardware's barrier of this number.
    ForBlock(i64),
    /// The threads of all blocks.
    ForGrid,
    /// So many threads, at the hardware's barrier of this number; a negative number is one that is not known.
    For { number: i64, count: i64 },
}

impl Machine<'_> {
    /// Records a barrier reached by the active threads.
    pub(crate) fn barrier(&mut self, name: &str, span: Span, waits: Waits) {
        self.compiler.epoch += 1;
        if !matches!(waits, Waits::For { .. }) {
            self.show_barrier_objects();
        }
        if !self.recording {
            return;
        }
        let expected = self.everyone();
        // It does not wait for threads that have left the kernel, whoever these are.
        let is_known = self.state.doubt.as_ref().is_none_or(|why| why.reason == Reason::Exited);
        let all = is_known.then(|| expected.minus(&self.state.active).is_empty());
        let missing = expected.minus(&self.state.active);
        let mut splits: Vec<Split> = self.around.splits.clone();
        for Departure { threads: lanes, split, .. } in &self.around.departures {
            let known = splits.iter().any(|s| s.id == split.id);
            if !known && (!lanes.and(&missing).is_empty() || split.kind != SplitKind::Known) {
                splits.push(split.clone());
            }
        }
        let is_sure = all == Some(true)
            && !matches!(waits, Waits::For { .. })
            && splits.iter().all(|split| split.kind == SplitKind::Known);
        let (threads, branches) = (self.state.active, self.branches());
        self.trace.tree.push(Event::Barrier { span, threads, all, is_sure, branches });
        let barrier = Barrier {
            span,
            name: Arc::from(name),
            of_grid: waits == Waits::ForGrid,
            number: match waits {
                Waits::ForBlock(number) | Waits::For { number, .. } => number,
                Waits::ForGrid => 0,
            },
            calls: self.around.calls.clone(),
            active: self.state.active,
            expected,
            doubt: self.state.doubt.clone(),
            splits,
            count: match waits {
                Waits::For { count, .. } => Some(count),
                _ => None,
            },
            by_own_data: self.kept_by_own_data(),
            exit_by_own_data: self.exited_by_own_data(),
            left_in_part: self.left_in_part(false),
            absences: Vec::new(),
        };
        let seen = |b: &Barrier| {
            b.span == span
                && b.active == barrier.active
                && b.expected == barrier.expected
                && b.calls == barrier.calls
                && b.splits.iter().map(|s| s.span).eq(barrier.splits.iter().map(|s| s.span))
        };
        let known = self.trace.barriers.iter().position(seen);
        if known.is_none() && self.trace.barriers.len() >= MOST {
            return;
        }
        let number = known.unwrap_or(self.trace.barriers.len());
        if known.is_none() {
            self.trace.barriers.push(barrier);
        }
        if matches!(waits, Waits::For { .. }) {
            return;
        }
        self.arrive(number);
        if known.is_none() {
            let absences = self.absences(number);
            self.trace.barriers[number].absences = absences;
        }
        self.miss(number);
    }

    /// The condition on what each thread reads for itself by which threads may pass by what runs now, or have left
    /// the loop or the function that it is in.
    fn kept_by_own_data(&self) -> Option<Span> {
        let is_data = |split: &&Split| split.kind.is_data();
        let around = || self.around.splits.iter().filter(is_data);
        let left = || {
            self.around
                .departures
                .iter()
                .map(|left| &left.split)
                .filter(|split| split.of_loop)
                .filter(is_data)
        };
        let of_own = |split: &Split| split.kind.is_own_data();
        // Where other data have a say, threads may agree on what they do.
        let all_own = around().chain(left()).all(of_own);
        around()
            .chain(left())
            .next()
            .filter(|_| all_own && self.state.doubt.is_some())
            .map(|split| split.span)
    }

    /// The condition on what each thread reads for itself by which threads may have left the kernel.
    fn exited_by_own_data(&self) -> Option<Span> {
        let departed = self.around.departures.iter().map(|left| &left.split);
        let exits = self.state.course.left.iter().map(|left| &left.1);
        // Where other data have a say, threads may agree on what they do.
        let around = self.around.splits.iter().chain(departed).chain(exits.clone());
        let all_own = around.filter(|split| split.kind.is_data()).all(|split| split.kind.is_own_data());
        let mut exits = exits.filter(|split| split.kind.is_own_data());
        exits.find(|_| all_own && self.state.doubt.is_some()).map(|split| split.span)
    }

    /// Who may have left the loop around, `for_good` or only a round of it, and by which condition, that no other thread
    /// looks at.
    fn left_in_part(&self, for_good: bool) -> Option<(ThreadSet, Span)> {
        let around = |left: &Departure| self.around.splits.iter().any(|split| split.id == left.split.id);
        let others = |left: &Departure| !self.state.active.minus(&left.threads).is_empty();
        // Where others ask for themselves, they may all leave together.
        let all_ask = |left: &Departure| {
            let alike = self
                .around
                .departures
                .iter()
                .filter(|it| it.of_part.is_some() && it.split.id == left.split.id);
            let asked = alike.fold(ThreadSet::NONE, |all, it| all.or(&it.threads));
            self.state.active.minus(&asked).is_empty()
        };
        // Who only left a round before is back.
        let counts = |(at, left): &(usize, &Departure)| {
            left.split.of_loop && (left.for_good || !for_good && *at >= self.around.departed)
        };
        let left = self.around.departures.iter().enumerate().filter(counts).map(|(_, left)| left);
        let mut left = left.filter(|left| !around(left) && others(left) && !all_ask(left));
        left.find_map(|left| Some((left.threads, left.of_part?)))
    }

    /// A loop ends in which there were barriers from the one of this number on: who may have left does not come to
    /// them in the next round.
    pub(super) fn miss_next_round(&mut self, from: usize) {
        let Some(left) = self.left_in_part(true) else { return };
        for barrier in self.trace.barriers.iter_mut().skip(from) {
            barrier.left_in_part.get_or_insert(left);
        }
    }

    /// The threads that do not come to a barrier, as far as it is known at it.
    fn absences(&self, number: usize) -> Vec<Absence> {
        let barrier = &self.trace.barriers[number];
        let missing = barrier.expected.minus(&barrier.active);
        let absence = |split: &Split, threads, then| Absence {
            split: split.clone(),
            threads,
            left: false,
            then,
            missing: None,
        };
        let mut found: Vec<Absence> = Vec::new();
        if barrier.doubt.is_some() {
            return found;
        }
        let by_data = barrier.splits.iter().any(|split| split.kind.is_data());
        if !missing.is_empty() && !by_data {
            // The outermost condition that a missing thread did not pass, or the innermost around.
            let known = || barrier.splits.iter().filter(|split| split.kind == SplitKind::Known);
            let dividing = known().find(|s| !s.before.minus(&s.taken).and(&missing).is_empty());
            let then = self.before(number, &missing);
            let split = dividing.or(known().next_back());
            found.extend(split.map(|split| absence(split, Some(missing), then)));
        }
        for split in &barrier.splits {
            let bound = matches!(split.kind, SplitKind::Guard(_) | SplitKind::Iterations(_));
            if bound && !found.iter().any(|it| it.split.span == split.span) {
                let other =
                    |b: &Barrier| b.splits.iter().any(|s| s.id == split.id && s.branch != split.branch);
                let partner = self.trace.barriers.iter().position(other);
                found.push(absence(split, None, partner.map_or(Then::Exit, Then::Pair)));
            }
        }
        let gone = self.world.all.minus(&barrier.expected);
        for left in self.state.course.left() {
            let (lanes, split) = &**left;
            let threads = match split.kind {
                SplitKind::Known => Some(lanes.and(&gone)).filter(|gone| !gone.is_empty()),
                SplitKind::Guard(_) | SplitKind::Iterations(_) => None,
                SplitKind::Data | SplitKind::OwnData | SplitKind::WarpData => continue,
            };
            let here = threads.is_some() || split.kind != SplitKind::Known;
            if here && !found.iter().any(|it| it.split.span == split.span) {
                let leaving =
                    |b: &Barrier| b.splits.iter().any(|s| (s.id, s.branch) == (split.id, split.branch));
                let then = match &threads {
                    Some(threads) => self.before(number, threads),
                    None => self.trace.barriers.iter().position(leaving).map_or(Then::Exit, Then::Pair),
                };
                found.push(Absence { left: true, ..absence(split, threads, then) });
            }
        }
        found
    }

    /// Notes that the active threads leave a function or loop because of the conditions around.
    /// `of_loop`: they leave a loop, by a bound that is then as good as its condition.
    /// `for_good`: and do not come back in its next round.
    pub(crate) fn note_departure(&mut self, of_loop: bool, for_good: bool) {
        let Some(mut split) = self.around.splits.last().cloned() else { return };
        if let (SplitKind::Guard(bound), true) = (&split.kind, of_loop) {
            split.kind = SplitKind::Iterations(bound.clone());
        }
        split.of_loop |= of_loop;
        let splits = self.around.splits.len();
        let around = match (of_loop, self.state.loops.last()) {
            (true, Some(mask)) if !mask.switch => self.looping.around_iteration,
            (true, _) => usize::MAX,
            (false, _) => self.around.around_call,
        };
        let is_part = splits > around && split.kind == SplitKind::Known;
        let asked = self.around.alike.last().filter(|(around, _)| is_part && *around == splits);
        let of_part = asked.map(|(_, cond)| *cond);
        self.around.departures.push(Departure { threads: self.state.active, split, of_part, for_good });
    }

    /// Notes that the active threads leave the kernel, because of the conditions around.
    pub(crate) fn note_exit(&mut self) {
        if let Some(split) = self.around.splits.last() {
            let left = Rc::new((self.state.active, split.clone()));
            self.state.course.leave(left);
        }
    }

    /// Whether evaluating an expression may bring threads of the block together.
    pub(super) fn may_hold_barrier(&self, expr: &Expr) -> bool {
        let mut open = vec![expr];
        while let Some(expr) = open.pop() {
            if let ExprKind::Call { callee, .. } = &expr.kind {
                let waits = match &callee.kind {
                    ExprKind::Path(path) => {
                        let functions = self.program.functions(&path.name);
                        match functions.is_empty() {
                            true => is_barrier(&path.name),
                            false => functions.iter().any(|function| function.mentions.barrier),
                        }
                    }
                    ExprKind::Member { name, .. } => is_barrier(name),
                    _ => false,
                };
                if waits {
                    return true;
                }
            }
            children(expr, &mut |child| open.push(child));
        }
        false
    }

    /// A statement is about to run.
    pub(super) fn note_next(&mut self, stmt: &Stmt) {
        if self.recording && self.state.course.has_absent() && does_something(stmt) {
            let repeated = self.repeated(stmt);
            self.around.repeated = repeated;
            self.go_on(first_part(stmt));
        }
    }

    /// Nothing runs any more.
    pub(super) fn end_barriers(&mut self) {
        let Some(stopped) = self.trace.stopped.clone() else { return };
        let absences = self.trace.barriers.iter_mut().flat_map(|barrier| &mut barrier.absences);
        for absence in absences.filter(|absence| absence.then == Then::Exit) {
            absence.then = Then::Unknown(stopped.clone());
        }
    }
}

fn is_barrier(name: &str) -> bool {
    use Kind::{BlockBarrier, BlockVote, GroupBarrier, NamedBarrier};
    matches!(builtins::kind(name), Some(BlockBarrier | BlockVote | GroupBarrier | NamedBarrier))
}

/// What of a statement runs first, for it may be long.
fn first_part(stmt: &Stmt) -> Span {
    match &stmt.kind {
        StmtKind::If { cond, .. } | StmtKind::Switch { value: cond, .. } => cond.span,
        StmtKind::Loop { cond: Some(cond), .. } => cond.span,
        StmtKind::Block(body) => body.iter().find(|it| does_something(it)).map_or(stmt.span, first_part),
        _ => stmt.span,
    }
}

/// Whether machine code comes of a statement that threads could meet at.
fn does_something(stmt: &Stmt) -> bool {
    match &stmt.kind {
        StmtKind::Block(body) => body.iter().any(does_something),
        StmtKind::Return(value) => value.is_some(),
        StmtKind::Break | StmtKind::Continue => false,
        StmtKind::Declare(list) => list.iter().any(|it| {
            let plain =
                it.storage != Storage::Automatic || matches!(it.ty, Type::Scalar(_) | Type::Pointer(_));
            it.init.is_some() || !plain
        }),
        _ => true,
    }
}
