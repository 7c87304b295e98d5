//! How are the two sides of a condition run?
//!
//! A decided condition splits the set of active threads and nothing is copied: writes only reach active threads. An
//! undecided one runs both sides from copies of the state and joins them.

use super::condition::{Truth, listed};
use super::instead::Instead;
use super::interior::Leaving;
use super::join::Join;
use super::machine::{Machine, Mode, State};
use super::padding::only_pads;
use super::select;
use super::value::Condition;
use crate::domain::{Origin, Reason, ThreadSet, Unknown};
use crate::events::{Assumption, Differs, Is, RequestMark, Side, Split, SplitKind, Taken};
use crate::ir::{Expr, Stmt, StmtKind};
use crate::source::Span;
use std::rc::Rc;

impl Machine<'_> {
    /// `if`: the value of the condition decides what runs.
    pub(crate) fn branch(&mut self, cond: &Expr, then: &[Stmt], otherwise: &[Stmt]) {
        if self.mode == Mode::Host {
            return self.host_branch(cond, then, otherwise);
        }
        let span = cond.span;
        let (_, mut truth) = self.tested(cond, leaving(then, otherwise));
        let leaves = |taken: bool| only_leaves(if taken { then } else { otherwise });
        if !truth.uniform && truth.guard.as_ref().is_some_and(|(taken, _)| leaves(*taken)) {
            truth.forget_usual_side();
        }
        if self.may_part(&truth) {
            let sides = [then, otherwise].into_iter().filter_map(span_of);
            sides.for_each(|side| self.trace.note_parted(side));
        }
        let alone = self.state.active.threads().nth(1).is_none();
        if !truth.decided && (truth.uniform || alone) {
            truth.turn = self.frame().and_then(|it| it.slice.turn(cond));
            // A thread that goes alone takes one side or the other.
            let side = truth.turn.filter(|_| alone);
            match side {
                Some(true) => truth.holds = Some(self.state.active),
                Some(false) => truth.fails = Some(self.state.active),
                None => {}
            }
        }
        let sides = if truth.uniform { Rc::default() } else { select::of_statement(then, otherwise) };
        self.with_sides(sides, |machine| {
            machine.fork(
                &truth,
                span,
                &mut |machine, side| machine.run(if side { then } else { otherwise }),
                [then.is_empty(), otherwise.is_empty()],
            );
        });
    }

    /// Whether threads part at a condition, or may.
    pub(super) fn may_part(&self, truth: &Truth) -> bool {
        let (active, holds) = (self.state.active, self.state.active.and(&truth.can_hold));
        match truth.decided {
            true => !holds.is_empty() && holds != active,
            false => !truth.uniform && (truth.guard.is_none() || truth.differs),
        }
    }

    /// Whether a value is made of what each thread reads from global memory for itself.
    pub(super) fn is_own_data(&self, value: &Expr) -> bool {
        self.frame().is_some_and(|it| it.slice.is_of_own_data(value, self.program))
    }

    /// How a condition splits threads if it depends on what each thread reads from global memory for itself.
    pub(super) fn split_by_own_data(&self, cond: &Expr, condition: &Condition) -> Option<SplitKind> {
        self.is_own_data(cond).then(|| match self.holds_alike_in_warps(condition) {
            true => SplitKind::WarpData,
            false => SplitKind::OwnData,
        })
    }

    /// Runs both sides of a condition as far as it lets threads through. `empty` says of each
    /// side (holds, fails) whether nothing happens there.
    pub(crate) fn fork(
        &mut self,
        truth: &Truth,
        span: Span,
        run: &mut dyn FnMut(&mut Self, bool),
        empty: [bool; 2],
    ) {
        let again = self.compiler.stretch.again.take();
        self.compiler.stretch.split = None;
        let holds = self.state.active.and(&truth.can_hold);
        if truth.decided && (holds.is_empty() || holds == self.state.active) {
            return self.run_sides(truth, span, run, empty);
        }
        let mark = self.branch_mark();
        if let Some([all, ..]) = again {
            self.compiler.stretch.go_on_in(all);
        }
        let mut split = again.unwrap_or([self.compiler.stretch.at, 0, 0]);
        let mut instead = Instead::of(self);
        let mut run_apart = |machine: &mut Self, side: bool| {
            let mark = machine.branch_mark();
            match &mut split[1 + usize::from(side)] {
                0 => split[1 + usize::from(side)] = machine.compiler.stretch.at,
                before => machine.compiler.stretch.go_on_in(*before),
            }
            instead.run(machine, |machine| run(machine, side));
            machine.end_branch(&mark);
        };
        let (is_alike, departures) = (truth.is_alike(), self.around.departures.len());
        if is_alike {
            self.around.alike.push((self.around.splits.len(), span));
        }
        self.run_sides(truth, span, &mut run_apart, empty);
        if is_alike {
            self.around.alike.pop();
            let mut left = self.around.departures.iter().skip(departures);
            // The others go on whether these left or not.
            if left.any(|left| left.of_part == Some(span)) {
                self.state.add_doubt(&truth.reason(span));
            }
        }
        instead.join(self);
        self.end_branch(&mark);
        self.compiler.stretch.split = Some(split);
    }

    fn run_sides(
        &mut self,
        truth: &Truth,
        span: Span,
        run: &mut dyn FnMut(&mut Self, bool),
        empty: [bool; 2],
    ) {
        self.around.next_split += 1;
        let id = self.around.next_split;
        let before = self.state.active;
        if truth.decided {
            return self.run_known_sides(id, truth, span, run);
        }
        if let Some((taken, words)) = &truth.guard
            && !truth.mixed
        {
            return self.run_guard(id, truth, *taken, words, span, run, empty);
        }
        let why = truth.reason(span);
        let start = self.state.clone();
        let marks = self.state.assumptions.len();
        if let Some((_, words)) = &truth.guard {
            words.iter().for_each(|it| self.assume(it.clone()));
        }
        let data = |taken: &ThreadSet| truth.split_kind(String::new(), before.minus(taken));
        self.enter_side(truth.holds, &truth.can_hold, &why, truth.chosen);
        // Any of the threads may take either side.
        let is_free = truth.chosen && !truth.uniform;
        let taken = |side: bool| match is_free || truth.turn == Some(side) {
            true => Taken::by_all(),
            false => Taken { side: Some(Side { span, is: Is::Holds(side) }), ..truth.taken(side) },
        };
        self.enter_passable(taken(true));
        let first = self.state.passable.last().copied().unwrap_or_default();
        if let Some(side) = truth.turn {
            self.trace.tree.note_turn(if side { first } else { first ^ 1 });
        }
        self.state.facts.extend(truth.equality());
        self.assume_on_path(&truth.told[0]);
        let side = self.state.active;
        let split = !truth.uniform;
        let begun = self.requests.mark();
        self.in_side(truth, true, true, |machine| match split {
            true => machine.run_side(id, span, true, side, data, run),
            false => run(machine, true),
        });
        self.state.facts.truncate(start.facts.len());
        self.assume_no_more_than(marks.max(start.assumptions.len()));
        let all_stayed = self.state.active == side;
        let start_doubt = (start.doubt.clone(), start.chosen);
        if split && !all_stayed {
            self.note_maybe_left(&start, &why);
        }
        let second = self.requests.mark();
        let before_sides = (split && self.mode == Mode::Device).then(|| start.clone());
        let held = std::mem::replace(&mut self.state, start);
        self.enter_side(truth.fails, &truth.can_fail, &why, truth.chosen);
        match truth.uniform || truth.turn.is_some() {
            true => self.enter_other_side(first, taken(false)),
            false => self.enter_passable(taken(false)),
        }
        self.assume_on_path(&truth.told[1]);
        let side = self.state.active;
        self.in_side(truth, false, true, |machine| match split {
            true => machine.run_side(id, span, false, side, data, run),
            false => run(machine, false),
        });
        if truth.uniform {
            self.requests.keep_most([&begun, &second], &mut self.trace.accesses);
        }
        if let Some(start) = before_sides.filter(|_| self.state.active != side) {
            self.note_maybe_left(&start, &why);
        }
        let join = self.join_after(truth, why);
        let all_stayed = all_stayed && self.state.active == side;
        let exited = split && self.mode == Mode::Device && has_exited(&held, &self.state, empty);
        self.join_counted(held, join, [begun, second]);
        if all_stayed {
            self.state.active = before;
        }
        if all_stayed || exited {
            (self.state.doubt, self.state.chosen) = start_doubt;
        }
        if exited {
            self.state.add_exits(&truth.reason(span), truth.chosen);
        }
    }

    /// How the two sides of a condition are joined that is not decided.
    fn join_after(&mut self, truth: &Truth, why: Unknown) -> Join {
        if !truth.uniform {
            return Join::Varying(why);
        }
        let name = "the side of a condition";
        let choice = self.world.symbols.fresh(name.into(), Origin::Choice, Some(0), Some(1));
        Join::Uniform(choice, why, truth.zero.clone())
    }

    /// Joins two sides, whose requests begin at the marks. Where one left, only one of them counts.
    fn join_counted(&mut self, held: State, join: Join, [begun, second]: [RequestMark; 2]) {
        let (left, now) = (self.left_mark(), self.requests.mark());
        let is_uniform = matches!(join, Join::Uniform(..));
        let sides = match (held.active.is_empty(), self.state.active.is_empty()) {
            (true, false) if second == now => Some([begun, second]),
            (false, true) if begun == second => Some([second, now]),
            _ => None,
        };
        self.join(held, join);
        if let Some(sides) = sides.filter(|[left, stayed]| is_uniform && left != stayed) {
            self.note_sides_left(left, sides);
        }
    }

    /// Runs both sides of a condition of which it is known for which threads it holds.
    fn run_known_sides(&mut self, id: u32, truth: &Truth, span: Span, run: &mut dyn FnMut(&mut Self, bool)) {
        let before = self.state.active;
        let kind = |_: &ThreadSet| SplitKind::Known;
        let (one, other) = (before.and(&truth.can_hold), before.minus(&truth.can_hold));
        let apart = truth.at_launch || !one.is_empty() && !other.is_empty();
        self.in_side(truth, true, apart, |machine| machine.run_side(id, span, true, one, kind, run));
        let rest = std::mem::replace(&mut self.state.active, before);
        self.in_side(truth, false, apart, |machine| machine.run_side(id, span, false, other, kind, run));
        self.state.active = self.state.active.or(&rest);
    }

    fn enter_side(&mut self, exact: Option<ThreadSet>, possible: &ThreadSet, why: &Unknown, chosen: bool) {
        match exact {
            Some(bits) => self.state.active = self.state.active.and(&bits),
            None => {
                self.state.active = self.state.active.and(possible);
                match chosen {
                    true => self.state.add_choice(why),
                    false => self.state.add_doubt(why),
                }
            }
        }
    }

    /// A bounds guard: the side an interior block takes decides what follows; the other side is
    /// run for its sites alone.
    #[allow(clippy::too_many_arguments)]
    fn run_guard(
        &mut self,
        id: u32,
        truth: &Truth,
        taken: bool,
        words: &[Assumption],
        span: Span,
        run: &mut dyn FnMut(&mut Self, bool),
        empty: [bool; 2],
    ) {
        let before = self.state.active;
        let hold = match (taken, truth.holds, truth.fails) {
            (true, Some(bits), _) => bits,
            (false, _, Some(bits)) => self.world.all.minus(&bits),
            (true, None, _) => truth.can_hold,
            (false, _, None) => ThreadSet::NONE,
        };
        let text = listed(words);
        let kind = |taken: &ThreadSet| truth.split_kind(text.clone(), before.minus(taken));
        let (mut leaves_at_edge, mut go_on_elsewhere) = (false, false);
        // The side that an interior block does not enter.
        let idle = if before.and(&hold).is_empty() {
            Some(true)
        } else if before.minus(&hold).is_empty() {
            Some(false)
        } else {
            None
        };
        let mut others = None;
        let begun = self.requests.mark();
        if let Some(side) = idle.filter(|side| !empty[usize::from(!side)]) {
            let start = self.state.clone();
            let why = truth
                .why
                .clone()
                .unwrap_or_else(|| Unknown::new(Reason::DataDependentMask, span, text.clone()));
            (self.state.doubt, self.state.chosen) = (Some(why), false);
            let may = before.and(if side { &truth.can_hold } else { &truth.can_fail });
            let active = if may.is_empty() { before } else { may };
            let left = self.left_mark();
            self.in_side(truth, side, true, |machine| machine.run_side(id, span, side, active, kind, run));
            let leaves = self.state.active.is_empty();
            let there = std::mem::replace(&mut self.state, start);
            go_on_elsewhere = self.left_mark() != left || there.leaves_what_goes_on(&self.state);
            self.state.course.also_left(there.course);
            others = Some(there.frames);
            self.state.may_have_left |= leaves && words.iter().any(Assumption::may_cut_short);
            leaves_at_edge = leaves && words.iter().any(Assumption::holds_off_the_edge);
        }
        let second = self.requests.mark();
        if idle.is_none() && !empty[1] {
            self.may_differ(span, Differs::OtherSide);
        }
        let marks = self.state.assumptions.len();
        let start = self.state.frames.clone();
        let bounds = self.state.bounds.len();
        self.around.next_split += 1;
        self.state.bounds.push(self.around.next_split << 1);
        // For which blocks it holds, the assumptions tell.
        self.trace.tree.note_branch(self.around.next_split << 1, Taken::by_all());
        words.iter().for_each(|it| self.assume(it.clone()));
        self.state.active = before.and(&hold);
        let side = self.state.active;
        self.in_side(truth, true, true, |machine| machine.run_side(id, span, true, side, kind, run));
        let rest = std::mem::replace(&mut self.state.active, before);
        let side = before.minus(&hold);
        self.in_side(truth, false, true, |machine| machine.run_side(id, span, false, side, kind, run));
        self.state.active = self.state.active.or(&rest);
        if idle.is_some() {
            self.requests.keep_most([&begun, &second], &mut self.trace.accesses);
        }
        self.state.bounds.truncate(bounds);
        // What follows rests on the guard only if taking it changed something.
        let frames = || start.iter().zip(self.state.frames.iter());
        let learned = frames().any(|(then, now)| now.slots.learned_since(&then.slots));
        let stayed = self.state.active == before;
        if stayed && !learned && !leaves_at_edge {
            self.assume_no_more_than(marks);
        }
        // The others go on with other values, or while these have left.
        let others = others.as_ref().unwrap_or(&start);
        let differs = others
            .iter()
            .zip(self.state.frames.iter())
            .any(|(then, now)| now.slots.learned_since(&then.slots));
        if differs || !stayed || go_on_elsewhere {
            self.may_differ(span, Differs::OtherSide);
        }
    }

    pub(super) fn run_side(
        &mut self,
        id: u32,
        span: Span,
        branch: bool,
        taken: ThreadSet,
        kind: impl Fn(&ThreadSet) -> SplitKind,
        run: &mut dyn FnMut(&mut Self, bool),
    ) {
        let before = self.state.active;
        self.state.active = taken;
        if taken.is_empty() {
            return;
        }
        let whole = self.everyone().minus(&taken).is_empty();
        let kind = kind(&taken);
        let split = !(whole && kind == SplitKind::Known);
        if split {
            self.around.splits.push(Split { id, span, branch, taken, before, kind, of_loop: false });
        }
        run(self, branch);
        if split {
            self.around.splits.pop();
        }
    }
}

/// Whether the branch of a condition that holds is for blocks at the edge.
fn leaving(then: &[Stmt], otherwise: &[Stmt]) -> Leaving {
    match (only_leaves(then), only_pads(then, otherwise)) {
        (true, _) => Leaving::Always,
        (false, true) => Leaving::Pads,
        (false, false) => Leaving::No,
    }
}

/// Whether a branch does nothing but leave.
fn only_leaves(body: &[Stmt]) -> bool {
    body.last().is_some_and(|last| match &last.kind {
        StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue => true,
        StmtKind::Block(inner) => only_leaves(inner),
        _ => false,
    })
}

/// From the first of some statements to the last.
fn span_of(list: &[Stmt]) -> Option<Span> {
    let (first, last) = (list.first()?.span, list.last()?.span);
    (first.file == last.file).then_some(Span { end: last.end, ..first })
}

/// Whether those that took one side have left the kernel, where nothing happens on the other. `empty`: of the side where
/// the condition holds, and where it fails.
fn has_exited(held: &State, here: &State, empty: [bool; 2]) -> bool {
    let only_exits = |left: &State, other: &State| left.active.is_empty() && !left.leaves_what_goes_on(other);
    empty[1] && only_exits(held, here) || empty[0] && only_exits(here, held)
}
