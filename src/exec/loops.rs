//! How is a loop run?
//!
//! A loop whose condition the numbers decide is run for real. One whose trip count is not known
//! runs its body once for all iterations at the same time, with `k` a fresh symbol for the
//! iteration number ([`loop_plan`](super::loop_plan) finds the state that it begins with).

pub(super) mod parts;

use super::condition::{Truth, listed};
use super::counted::FIRST;
use super::enumerate::Changing;
use super::interior::Leaving;
use super::machine::{Effort, LoopKey, LoopMask, Machine, Mark, Mode, State};
use super::value::{Condition, Value};
use crate::domain::{Reason, ThreadSet, Unknown};
use crate::events::{
    Asks, Assumption, Bound, Differs, EndOfRound, Event, GoesOn, LoopCode, Split, SplitKind,
};
use crate::ir::visit::children;
use crate::ir::{Expr, ExprKind};
use crate::source::Span;
use parts::Parts;

/// The rounds, and the steps, after which a loop without a condition is taken to be endless.
const ENDLESS: u64 = 33;
const ENDLESS_STEPS: u64 = super::budget::STEP_BUDGET / 10;

/// Of a longer loop the rounds are not run one by one, however many steps are left.
const LONGEST: u64 = Effort::Whole.loop_lengths()[0].0;

/// How an iteration begins.
enum Test {
    /// The threads that go on, decided.
    Go(ThreadSet),
    /// Not decided, and so the loop is not run for real.
    Open,
}

impl Machine<'_> {
    /// Runs a loop.
    pub(super) fn run_loop(&mut self, parts: Parts<'_>) {
        let entry = self.state.active;
        let frames = self.state.frames.len();
        let departures = self.around.departures.len();
        let (doubt, returns) = (self.state.doubt.clone(), self.around.returns);
        let (apart, around, left_of_loop) =
            (self.looping.apart, self.looping.around_iteration, self.looping.left_of_loop);
        self.state.loops.push(LoopMask::default());
        if self.mode == Mode::Host {
            self.host_loop(parts.cond, parts.body, parts.step, parts.body_first, parts.span);
        } else {
            let (start, mark) = (self.state.clone(), self.trace_mark());
            let before = self.compiler.region;
            let (rolled, varied, steps) =
                (self.compiler.rolled, self.compiler.registers.varied(), self.steps);
            self.compiler.registers.enter_branch();
            let mut code = self.run_and_note(parts);
            let is_loop = |code| matches!(code, LoopCode::Loop { .. });
            let by_rounds = is_loop(code) && rolled == self.compiler.rolled;
            if by_rounds && varied != self.compiler.registers.varied() {
                let plan = self.looping.plans.entry(self.loop_key(parts)).or_default();
                if !std::mem::replace(&mut plan.stays, true) {
                    // Once for each loop, so that it may take its steps again.
                    self.trace_rollback(&mark);
                    (self.state, self.steps) = (start, steps);
                    code = self.run_and_note(parts);
                }
            }
            self.compiler.registers.leave_loop(!is_loop(code));
            self.compiler.region += u32::from(!parts.is_flat());
            self.settle_registers(parts, (&mark.requests, before), code);
        }
        self.state.loops.pop();
        // Whoever returned left the loops around as well.
        self.looping.apart = apart || self.looping.apart && self.around.returns != returns;
        (self.looping.around_iteration, self.looping.left_of_loop) = (around, left_of_loop);
        self.around.departures.truncate(departures);
        // Whoever entered and did not return comes out.
        let returned = self.state.frames.get(frames - 1).map_or(ThreadSet::NONE, |f| f.returned);
        self.state.active = entry.minus(&returned).minus(&self.state.exited);
        if self.state.doubt.is_none() {
            self.state.active = self.state.active.minus(&self.jumping());
        }
        // `break` and `continue` end with the loop; only a `return` leaves its threads in doubt.
        if self.around.returns == returns {
            self.state.doubt = doubt;
        }
    }

    /// Returns whether the compiler surely makes straight code of it.
    fn run_and_note(&mut self, parts: Parts<'_>) -> LoopCode {
        let left = self.left_mark();
        let begin = self.straight_mark(parts);
        self.run_counted(parts);
        self.rejoin_loop(left);
        self.note_straight(parts, &begin)
    }

    /// Runs a loop round by round. Where all threads may leave it together in any round, it is not known how many
    /// there are, so that one is counted for all; the loop is run again for that, once.
    fn run_counted(&mut self, parts: Parts<'_>) {
        let key = self.loop_key(parts);
        let is_known = |machine: &Self| machine.looping.plans.get(&key).is_some_and(|plan| plan.together);
        if !is_known(self) {
            let (start, mark, steps, left) =
                (self.state.clone(), self.trace_mark(), self.steps, self.left_mark());
            let departures = self.around.departures.len();
            let rounds = self.run_real(parts);
            let is_left = self.state.loops.last().is_some_and(|mask| mask.together);
            if !is_left || rounds < 2 || self.requests.mark() == mark.requests {
                return;
            }
            self.looping.plans.entry(key).or_default().together = true;
            self.trace_rollback(&mark);
            self.around.departures.truncate(departures);
            self.around.left.truncate(left);
            (self.state, self.steps) = (start, steps);
        }
        let mark = self.trace_mark();
        self.looping.uncounted.push(parts.span);
        let rounds = self.run_real(parts);
        self.looping.uncounted.pop();
        if rounds > 1 {
            self.trace.note_uncounted(parts.span, Some(rounds));
            self.requests.share_out(&mark.requests, (parts.span, rounds), &mut self.trace.accesses);
        }
    }

    fn iterations_left(&self) -> u64 {
        let spent = self.steps as f64 / self.budget() as f64;
        match spent {
            s if s < 0.3 => self.settings.longest,
            s if s < 0.6 => self.settings.longest.min(128),
            s if s < 0.8 => self.settings.longest.min(16),
            _ => self.settings.longest.min(self.settings.longest_at_last),
        }
    }

    /// Runs a loop round by round if that can be done, or else all its rounds at once: how many were run one by one.
    fn run_real(&mut self, parts: Parts<'_>) -> u64 {
        let key = self.loop_key(parts);
        let start = self.state.clone();
        let mark = self.trace_mark();
        let mut first = parts.body_first;
        let (opened, began, left_before) = (self.looping.open, self.steps, self.left_mark());
        let shortened = self.looping.shortened.len();
        // The rounds in all, once they are known.
        let mut rounds = None;
        for iteration in 0u64.. {
            if iteration == FIRST {
                self.skip_ahead(parts, key, self.looping.open - opened);
            }
            if iteration == 0 || iteration == FIRST {
                rounds = self.rounds_to_run(parts, key).map(|ahead| ahead.saturating_add(iteration));
            }
            if !first {
                // What a test without effects reads is counted once as well.
                let begun = parts
                    .cond()
                    .map(|cond| (has_effects(cond).then(|| self.state.clone()), self.trace_mark()));
                match self.test(parts, iteration == 0) {
                    Test::Go(bits) => self.state.active = self.state.active.and(&bits),
                    Test::Open => {
                        // Not decided now; what ran for real so far stands, and the test is run again.
                        if let Some((state, mark)) = begun {
                            self.trace_rollback(&mark);
                            state.into_iter().for_each(|state| self.state = state);
                        }
                        self.run_rest(parts, &mark, iteration);
                        return 0;
                    }
                }
            }
            first = false;
            if self.state.active.is_empty() {
                self.note_whole(key, &mark);
                return iteration;
            }
            let known_long = iteration == 0 && self.looping.plans.get(&key).is_some_and(|plan| plan.long);
            let left = self.iterations_left();
            self.looping.most_rounds = self.looping.most_rounds.max(iteration + 1).max(rounds.unwrap_or(0));
            let too_long = iteration >= left || rounds.is_some_and(|rounds| rounds > left);
            let costly = iteration > 0 && self.steps - began > ENDLESS_STEPS;
            let endless = parts.cond.is_none() && (iteration >= ENDLESS || costly);
            if known_long || too_long || endless {
                self.trace_rollback(&mark);
                self.around.left.truncate(left_before);
                self.state = start;
                // Those inside were only too long for the steps that were left.
                if too_long && self.looping.shortened.len() > shortened && self.give_back(began) {
                    for inner in self.looping.shortened.drain(shortened..) {
                        let plan = self.looping.plans.entry(inner).or_default();
                        (plan.long, plan.cut) = (false, false);
                    }
                }
                let plan = self.looping.plans.entry(key).or_default();
                // What only data end has no number of rounds that could be run.
                let is_cut = too_long && left < LONGEST && !is_always(parts.cond);
                if is_cut && !plan.long {
                    self.looping.shortened.push(key);
                }
                plan.cut |= is_cut;
                plan.long = true;
                if too_long && !is_always(parts.cond) && !self.trace.long_loops.contains(&parts.span) {
                    self.trace.long_loops.push(parts.span);
                }
                self.run_symbolic(parts);
                return 0;
            }
            if self.trace.stopped.is_some() {
                return 0;
            }
            self.iterate(parts);
        }
        0
    }

    /// Notes that a loop was run for real to its end, if it has accesses.
    fn note_whole(&mut self, key: LoopKey, began: &Mark) {
        if self.requests.mark() != began.requests && !self.looping.whole.contains(&key) {
            self.looping.whole.push(key);
        }
    }

    /// Runs what is left of a loop all at once, after so many rounds since a mark.
    fn run_rest(&mut self, parts: Parts<'_>, began: &Mark, rounds: u64) {
        let first = self.trace_mark();
        self.run_symbolic(parts);
        if rounds > 0 {
            let marks = (&began.requests, &first.requests);
            self.requests.count_first_rounds(marks, (parts.span, rounds), &mut self.trace.accesses);
        }
    }

    /// The body and the step, by the active threads.
    fn iterate(&mut self, parts: Parts<'_>) {
        self.compiler.region += u32::from(!parts.is_flat());
        let path = self.state.path.len();
        self.begin_iteration(parts);
        if self.recording {
            self.trace.tree.begin_round(parts.span);
        }
        let before = self.state.active;
        let split = (before != self.everyone()).then(|| self.loop_split(parts, before, SplitKind::Known));
        let pushed = split.is_some();
        self.around.splits.extend(split);
        let (left, ended) = (self.left_mark(), self.around.ended.len());
        self.looping.around_iteration = self.around.splits.len();
        let barriers = self.trace.barriers.len();
        let departed = std::mem::replace(&mut self.around.departed, self.around.departures.len());
        self.run(parts.body);
        self.miss_next_round(barriers);
        self.around.departed = departed;
        self.rejoin_iteration(left);
        self.settle_ended(ended);
        if pushed {
            self.around.splits.pop();
        }
        if let Some(mask) = self.state.loops.last_mut() {
            self.state.active = self.state.active.or(&mask.continued);
            mask.continued = ThreadSet::NONE;
        }
        if let Some(step) = parts.step
            && !self.state.active.is_empty()
        {
            self.compiler.at_launch.begin();
            self.discard(step);
        }
        self.state.path.truncate(path);
    }

    fn loop_split(&mut self, parts: Parts<'_>, taken: ThreadSet, kind: SplitKind) -> Split {
        self.around.next_split += 1;
        let span = parts.cond.map_or(parts.span, |cond| cond.span);
        Split { id: self.around.next_split, span, branch: true, taken, before: taken, kind, of_loop: true }
    }

    fn test(&mut self, parts: Parts<'_>, _first: bool) -> Test {
        let Some(cond) = parts.cond else { return Test::Go(self.world.all) };
        let (value, at_launch) = self.watching_launch(|machine| machine.evaluate(cond));
        self.compiler.rounds.iter_mut().last().into_iter().for_each(|rounds| rounds.at_launch |= at_launch);
        let condition = self.condition_of(&value, cond.span);
        let truth = self.truth(&condition, Leaving::No);
        if truth.decided && self.may_part(&truth) {
            self.trace.note_parted(parts.span);
        }
        if truth.decided { Test::Go(truth.can_hold) } else { Test::Open }
    }

    /// Runs all iterations at once.
    fn run_symbolic(&mut self, parts: Parts<'_>) {
        let start = self.state.clone();
        let key = self.loop_key(parts);
        let departures = self.around.departures.len();
        self.begin_loop_event(parts.span, false);
        let begin = self.trace.tree.len();
        let before = self.begin_hoisting();
        let mark = self.trace_mark();
        let came = self.looping.came.len();
        let cut = self.cut_by(key);
        let trips = self.most_rounds(parts);
        self.looping.uncounted.push(parts.span);
        self.looping.cut += cut;
        let opened = self.looping.open;
        self.compiler.rolled = self.compiler.rolled.wrapping_add(1);
        (self.looping.apart, self.looping.left_of_loop) = (false, self.left_mark());
        let left = self.looping.left_of_loop;
        // It may not run at all.
        let mut one_for_all = true;
        let pass = self.in_branch(true, |machine| {
            machine.repeat_plan(parts, &start, &key, &mark).unwrap_or_else(|| {
                let (pass, changing) = machine.search_plan(parts, &start, key, &mark);
                if !changing.is_empty() {
                    one_for_all = !machine.follow_changing(parts, &start, &pass.entry, &changing, &mark);
                }
                pass
            })
        });
        let second = self.looping.second_rounds.get(&parts.place()).cloned();
        let round = pass.round;
        // In several rounds in a row, a place may be another in each.
        let is_one_round = pass.inside.is_empty();
        if one_for_all {
            let rounds = pass.inside.len() as u64 + 1;
            self.requests.share_out(&mark.requests, (parts.span, rounds), &mut self.trace.accesses);
        }
        // Not all come to its barriers in each round.
        if self.looping.apart && self.has_barrier_since(begin) {
            self.may_differ(parts.span, Differs::OtherSide);
        }
        let (entry, rest) = self.after_pass(pass);
        self.end_loop_event(Some(round).filter(|_| one_for_all), rest, second);
        self.looping.uncounted.pop();
        self.trace.note_uncounted(parts.span, trips);
        self.looping.cut -= cut;
        self.next_iteration(came, parts.span);
        self.looping.open = opened + self.looping.watched_open;
        self.around.departures.truncate(departures);
        self.leave(entry, parts.span);
        let rounds = self.rounds(round);
        self.end_hoisting(before, is_one_round && one_for_all);
        self.settle_loop(&start, self.looping.apart, rounds, parts.span);
        self.settle_left(left, &start, rounds, parts.span);
        self.test_at_last(parts);
    }

    /// 1 if a loop's rounds are only not run one by one because that would take too many steps.
    fn cut_by(&self, key: LoopKey) -> u32 {
        u32::from(self.looping.plans.get(&key).is_some_and(|plan| plan.cut))
    }

    /// The test that fails has the effects of the others.
    fn test_at_last(&mut self, parts: Parts<'_>) {
        let Some(cond) = parts.cond() else { return };
        if has_effects(cond) && !self.state.active.is_empty() {
            self.unrecorded(|machine| machine.effects(cond));
        }
    }

    /// Runs the iterations through the known values of variables that are not affine, instead of
    /// the one for all iterations that is recorded; where that fails, the one is recorded again. Whether it worked.
    fn follow_changing(
        &mut self,
        parts: Parts<'_>,
        start: &State,
        entry: &State,
        changing: &Changing,
        mark: &Mark,
    ) -> bool {
        self.trace_rollback(mark);
        self.looping.uncounted.pop();
        let cut = self.cut_by(self.loop_key(parts));
        self.looping.cut -= cut;
        let followed = self.enumerate(parts, start, entry, changing);
        self.looping.cut += cut;
        self.looping.uncounted.push(parts.span);
        if !followed {
            self.looping.plans.entry(self.loop_key(parts)).or_default().not_followed = true;
            self.state = entry.clone();
            self.run_once(parts, &[]);
        }
        followed
    }

    /// What tells one loop from another, and one call of its function from another.
    pub(super) fn loop_key(&self, parts: Parts<'_>) -> LoopKey {
        (parts.place(), self.around.calls.last().map(|call| call.span), self.state.frames.len())
    }

    /// One iteration whose condition may be undecided; that it holds is then assumed in these words.
    pub(super) fn run_once(&mut self, parts: Parts<'_>, words: &[Assumption]) {
        // The compiler does not join accesses across the rounds of a loop that it cannot unroll.
        self.compiler.begin_epoch_of_loop(!parts.counted);
        let Some(cond) = parts.cond() else {
            let begin = self.trace.tree.len();
            self.iterate(parts);
            let goes_on = match parts.cond {
                None => self.goes_on_without_end(),
                Some(_) => GoesOn::Perhaps,
            };
            self.note_second_round(parts, goes_on);
            self.trace.tree.note_loop(parts.span, Asks::Data);
            return self.test_after(parts, begin);
        };
        let value = self.as_truth(cond);
        let condition = self.condition_of(&value, cond.span);
        let is_endless = matches!(&condition, Condition::Known(holds) if *holds == self.world.all);
        self.trace.tree.note_loop(parts.span, self.asked_by(&condition));
        let truth = self.truth(&condition, Leaving::No);
        let before = self.state.active;
        self.note_parting(&truth, parts.span);
        let (doubt, chosen) = (self.state.doubt.clone(), self.state.chosen);
        let marks = self.state.assumptions.len();
        let mut split = None;
        if !truth.decided {
            words.iter().for_each(|it| self.assume(it.clone()));
            if !words.is_empty() {
                self.note_open_bound(parts, &condition);
            }
        }
        if truth.decided {
            self.state.active = before.and(&truth.can_hold);
        } else if let Some((_, words)) = &truth.guard {
            // An interior iteration: every thread that can is inside.
            self.state.active = before.and(&truth.holds.unwrap_or(truth.can_hold));
            words.iter().for_each(|it| self.assume(it.clone()));
            if truth.differs {
                let own = words.iter().all(Assumption::may_cut_short);
                let (words, kept_out) = (listed(words), ThreadSet::NONE);
                let (cuts_warps, ranks) = (truth.cuts_warps, Vec::new());
                let bound = Bound { words, cuts_warps, own, kept_out, ranks };
                split = Some(self.loop_split(parts, before, SplitKind::Iterations(bound)));
            }
        } else if !truth.uniform {
            self.state.active = before.and(&truth.can_hold);
            let own = self.split_by_own_data(cond, &condition);
            // Data that each thread reads for itself let any of them in, whatever others do.
            truth.why.iter().for_each(|why| match own {
                Some(_) => self.state.add_choice(why),
                None => self.state.add_doubt(why),
            });
            split = Some(self.loop_split(parts, before, own.unwrap_or(SplitKind::Data)));
        }
        let pushed = split.is_some();
        self.around.splits.extend(split);
        self.iterate(parts);
        // The body may end it, or assert that there is no other round.
        let goes_on = if is_endless { self.goes_on_without_end() } else { self.may_go_on(&condition) };
        self.note_second_round(parts, goes_on);
        if pushed {
            self.around.splits.pop();
        }
        // Guards that hold in every iteration but the last say nothing of what comes after.
        self.assume_no_more_than(marks);
        (self.state.doubt, self.state.chosen) = (doubt, chosen);
    }

    /// Notes at the end of a round whether there is a second.
    fn note_second_round(&mut self, parts: Parts<'_>, goes_on: GoesOn) {
        if !self.recording {
            return;
        }
        let by_all = self.is_surely_by_all() && self.state.active == self.everyone();
        let may_leave = self.state.loops.last().is_none_or(|mask| mask.together);
        let end = EndOfRound { branches: self.branches(), by_all, may_leave };
        self.looping.second_rounds.insert(parts.place(), (goes_on, end));
    }

    /// Whether a loop that only `break` or `return` ends has a second round: where threads come to the end of the
    /// first.
    fn goes_on_without_end(&self) -> GoesOn {
        if self.state.active.is_empty() { GoesOn::Perhaps } else { GoesOn::ForData }
    }

    /// The test at the end of an iteration of `do ... while`. Where some threads run more iterations than others, not all
    /// come to the barriers since `begin` in each.
    fn test_after(&mut self, parts: Parts<'_>, begin: usize) {
        let Some(cond) = parts.cond.filter(|_| !self.state.active.is_empty()) else { return };
        let value = self.as_truth(cond);
        let condition = self.condition_of(&value, cond.span);
        if self.is_of_data(&condition) {
            self.note_second_round(parts, GoesOn::ForData);
        }
        let truth = self.truth(&condition, Leaving::No);
        self.note_parting(&truth, parts.span);
        if truth.decided {
            self.state.active = self.state.active.and(&truth.can_hold);
        } else if !truth.uniform && (truth.guard.is_none() || truth.differs) && self.has_barrier_since(begin)
        {
            self.may_differ(cond.span, Differs::OtherSide);
        }
    }

    fn has_barrier_since(&self, begin: usize) -> bool {
        let mut since = self.trace.tree.events().iter().skip(begin);
        since.any(|event| matches!(event, Event::Barrier { .. }))
    }

    /// Notes whether threads may leave the loop in different iterations because of its condition.
    fn note_parting(&mut self, truth: &Truth, span: Span) {
        if self.may_part(truth) {
            self.trace.note_parted(span);
        }
        let (active, on) = (self.state.active, self.state.active.and(&truth.can_hold));
        self.looping.apart |= truth.apart && !(truth.decided && (on.is_empty() || on == active));
    }

    /// The state after a loop that was run for all iterations at once.
    fn leave(&mut self, entry: State, span: Span) {
        let returned_here = self.state.frames.last().map_or(ThreadSet::NONE, |f| f.returned);
        let exited_here = self.state.exited;
        let mut after = entry;
        after.course = std::mem::take(&mut self.state.course);
        if self.state.jumps != after.jumps {
            let why = Unknown::new(Reason::Unsupported, span, "a `goto` out of a loop");
            after.jumps = std::mem::take(&mut self.state.jumps);
            after.add_doubt(&why);
        }
        // The loop may also not run at all, or end in its middle: values that it changes are those
        // of the start of some iteration, whichever was the last.
        for (at, frame) in self.state.frames.iter().enumerate() {
            let Some(after) = after.frames.get_mut(at) else { continue };
            for (number, slot) in frame.slots.iter().enumerate() {
                let undefined =
                    after.slots.get(number).is_some_and(|place| matches!(place.value, Value::Undefined));
                if undefined && !matches!(slot.value, Value::Undefined) {
                    after.slots.set(number, slot.clone());
                }
            }
            after.result = frame.result.clone();
        }
        self.state = after;
        if let Some(frame) = self.state.frames.last_mut() {
            // A return in the body under a decided condition takes its threads out for good.
            frame.returned = frame.returned.or(&returned_here);
        }
        self.state.exited = self.state.exited.or(&exited_here);
    }
}

/// Whether a loop has no condition but one that always holds: `for (;;)`, `while (true)`.
fn is_always(cond: Option<&Expr>) -> bool {
    cond.is_none_or(|cond| matches!(cond.kind, ExprKind::Int(..)))
}

/// Whether evaluating a condition may change anything.
pub(super) fn has_effects(expr: &Expr) -> bool {
    let mut found = matches!(
        expr.kind,
        ExprKind::Assign(..) | ExprKind::Step { .. } | ExprKind::Call { .. } | ExprKind::Asm(_)
    );
    children(expr, &mut |child| found = found || has_effects(child));
    found
}
