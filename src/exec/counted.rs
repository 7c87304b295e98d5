//! How are the many rounds of a loop whose count is known run without running each?
//!
//! `for (k = 0; k < 256; ++k) sum += tile[threadIdx.y][k];` does in round 100 what it does in
//! round 96, four elements further. Its first rounds run for real; then, if the loop's plan (see
//! [`loop_plan`](super::loop_plan)) holds, a few rounds in a row run once for all middle ones, with
//! the round's number a symbol of known range and what they record counted that often; and the
//! last rounds run for real again, from the exact values that the plan gives. So a first or last
//! round that is special is run as such, and what follows the loop sees what it would have seen.
//!
//! Example: 256 rounds are 4 for real, 62 times the 4 rounds `k = 4 + 4·q + {0, 1, 2, 3}` with `q`
//! from 0 to 61, and 4 for real: 16 rounds are run, the ones that tell the plan included.
//!
//! It is only done where it cannot be told from running every round: no variable is lost that was
//! known, no condition is open that was not, and the banks of no request depend on `q`.

use super::loop_plan::Probed;
use super::loops::parts::Parts;
use super::machine::{LoopKey, Machine, Mark, State, slot_value};
use super::value::{Relation, Value};
use crate::domain::Int;
use crate::events::{EndOfRound, GoesOn};
use crate::ir::{BinaryOp, Expr, ExprKind, LocalId};

/// Rounds that are run for real before the plan is asked for.
pub(super) const FIRST: u64 = 4;
/// Rounds in a row at the least: as many as the compiler unrolls of a long loop.
const TOGETHER: u64 = 4;
/// Rounds ahead for which it is worth the search.
const LEAST: u64 = 40;
/// The most rounds in a row.
const MOST: u64 = 64;

impl Machine<'_> {
    /// Passes over the middle of a loop of which many rounds are to come, if that is exact. The
    /// state is then that at the start of one of the last rounds. `open`: the conditions found
    /// open in the [`FIRST`] rounds.
    pub(super) fn skip_ahead(&mut self, parts: Parts<'_>, key: LoopKey, open: u64) {
        // What straight code reads once is not counted by rounds.
        let ahead = self.rounds_ahead(parts).filter(|ahead| *ahead >= LEAST && !parts.is_flat());
        let Some(ahead) = ahead else { return };
        if self.looping.plans.get(&key).is_some_and(|plan| plan.uneven) {
            return;
        }
        let before = self.trace_mark();
        self.begin_loop_event(parts.span, true);
        let (start, mark, weight) = (self.state.clone(), self.trace_mark(), self.weight);
        let (departures, opened) = (self.around.departures.len(), self.looping.open);
        let around = self.looping.uneven;
        let (left, left_of_loop) = (self.left_mark(), self.looping.left_of_loop);
        self.looping.left_of_loop = left;
        let after = self.run_middle(parts, &start, &mark, ahead, open);
        // Who leaves in one of many iterations is told by running each.
        let together = |state: &State| state.loops.last().is_some_and(|mask| mask.together);
        let after = after.filter(|after| self.left_mark() == left && !together(after));
        self.around.left.truncate(left);
        self.looping.left_of_loop = left_of_loop;
        self.looping.uneven |= around;
        (self.weight, self.looping.open) = (weight, opened);
        match after {
            Some(mut after) => {
                after.course = std::mem::take(&mut self.state.course);
                self.state = after;
            }
            None => {
                self.trace_rollback(&before);
                self.around.departures.truncate(departures);
                self.state = start;
                self.looping.plans.entry(key).or_default().uneven = true;
            }
        }
    }

    /// How many rounds of those to come have to be run, if that is known before.
    pub(super) fn rounds_to_run(&mut self, parts: Parts<'_>, key: LoopKey) -> Option<u64> {
        let ahead = self.rounds_ahead(parts)?;
        let even = !parts.is_flat() && !self.looping.plans.get(&key).is_some_and(|plan| plan.uneven);
        Some(if even && ahead >= LEAST + FIRST { 4 * TOGETHER } else { ahead })
    }

    /// Records all rounds but the last ones; the state after them.
    fn run_middle(
        &mut self,
        parts: Parts<'_>,
        start: &State,
        mark: &Mark,
        ahead: u64,
        open: u64,
    ) -> Option<State> {
        let parts = parts.counted();
        let weight = self.weight;
        let mut together = TOGETHER;
        loop {
            let times = (ahead / together).checked_sub(1).filter(|times| *times >= 2)?;
            let symbol = self.loop_symbol(i64::try_from(times - 1).ok());
            self.weight = weight.saturating_mul(times);
            let overflows = self.world.overflows.get();
            self.looping.uneven = false;
            let probed = self.probe(parts, start, symbol, together, mark);
            let wanted = crate::domain::lcm(together, probed.wanted.max(1));
            if wanted > together && wanted <= MOST {
                self.trace_rollback(mark);
                together = wanted;
                continue;
            }
            let even = wanted == together
                && probed.stable
                && self.keeps_what_is_known(start, &probed)
                && self.looping.watched_open == open.saturating_mul(together / FIRST)
                && self.world.overflows.get() == overflows
                && same_course(start, &self.state)
                && !self.looping.uneven
                && self.repeats_since(mark);
            let rounds = Int::constant(i64::try_from(times).ok()?);
            self.end_loop_event(Some(symbol), None, Some((GoesOn::Surely, EndOfRound::default())));
            return even.then(|| self.after_rounds(start, &probed, &rounds));
        }
    }

    /// The state after some rounds; what the threads have that do not run them stays.
    fn after_rounds(&mut self, start: &State, probed: &Probed, rounds: &Int) -> State {
        let mut after = self.entry_state(start, &probed.plan, rounds);
        if start.active == self.world.all {
            return after;
        }
        for (frame, local, _) in &probed.plan {
            let (now, was) = (slot_value(&after, *frame, *local), slot_value(start, *frame, *local));
            let value = self.blend(&now, &was, &start.active);
            if let Some(slots) = after.frames.get_mut(*frame).map(|frame| &mut frame.slots) {
                slots.set_value(local.0 as usize, value);
            }
        }
        after
    }

    /// How many rounds are to come, for `i < bound` with `i` a variable that steps by a constant.
    pub(super) fn rounds_ahead(&mut self, parts: Parts<'_>) -> Option<u64> {
        self.rounds_by(parts.cond()?, parts, |machine, bound, _| machine.plain_constant(bound))
    }

    /// How many rounds are to come at the most, where such a condition is a part of the loop's, or limits its bound:
    /// `i < 4 && i < n`, `i < min(4, n)`.
    pub(super) fn most_rounds(&mut self, parts: Parts<'_>) -> Option<u64> {
        let mut least: Option<u64> = None;
        let mut open = vec![parts.cond()?];
        while let Some(cond) = open.pop() {
            match &cond.kind {
                ExprKind::Binary(BinaryOp::LogicalAnd, left, right) => open.extend([&**left, &**right]),
                _ => least = least.into_iter().chain(self.rounds_by(cond, parts, Self::most_of_bound)).min(),
            }
        }
        least
    }

    /// How many rounds pass until a condition fails; `of`: what the bound is, that is there from above or from below.
    fn rounds_by(
        &mut self,
        cond: &Expr,
        parts: Parts<'_>,
        of: impl Fn(&mut Self, &Expr, bool) -> Option<i64>,
    ) -> Option<u64> {
        let (local, by) = stepped(parts.step?)?;
        let ExprKind::Binary(op, left, right) = &cond.kind else { return None };
        let (relation, bound) = match (&left.kind, &right.kind) {
            (ExprKind::Local(variable), _) if *variable == local => (relation_of(*op)?, right),
            (_, ExprKind::Local(variable)) if *variable == local => (relation_of(*op)?.mirrored(), left),
            _ => return None,
        };
        let by = match by {
            Step::By(number) => number,
            Step::Value(sign, expr) => sign.checked_mul(self.plain_constant(expr)?)?,
        };
        let bound = of(self, bound, by > 0)?;
        let Some(Value::Int(now, _)) = self.read_variable(local) else { return None };
        let distance = i128::from(bound) - i128::from(now.as_constant()?);
        let by = i128::from(by);
        let rounds = match relation {
            Relation::Less if by > 0 => (distance + by - 1).div_euclid(by),
            Relation::LessEqual if by > 0 => distance.div_euclid(by) + 1,
            Relation::Greater if by < 0 => (distance + by + 1).div_euclid(by),
            Relation::GreaterEqual if by < 0 => distance.div_euclid(by) + 1,
            Relation::NotEqual if by != 0 && distance % by == 0 => distance / by,
            _ => return None,
        };
        u64::try_from(rounds).ok()
    }

    /// The number that a bound is, or of the smallest or greatest of several one that limits it.
    fn most_of_bound(&mut self, bound: &Expr, from_above: bool) -> Option<i64> {
        let ExprKind::Call { callee, args } = &bound.kind else { return self.plain_constant(bound) };
        let ExprKind::Path(path) = &callee.kind else { return None };
        let limits = if from_above { "min" } else { "max" };
        if &*path.name != limits || !self.program.functions(&path.name).is_empty() {
            return None;
        }
        let known: Vec<i64> = args.iter().filter_map(|arg| self.plain_constant(arg)).collect();
        if from_above { known.into_iter().min() } else { known.into_iter().max() }
    }

    /// The number that a plain expression is. The program does not compute it here.
    pub(super) fn plain_constant(&mut self, expr: &Expr) -> Option<i64> {
        if is_plain(expr) { self.unrecorded(|machine| machine.constant(expr)) } else { None }
    }
}

/// By how much a variable steps.
enum Step<'a> {
    By(i64),
    Value(i64, &'a Expr),
}

/// `++i`, `i--`, `i += 32`: the variable and its step.
fn stepped(expr: &Expr) -> Option<(LocalId, Step<'_>)> {
    let (target, by) = match &expr.kind {
        ExprKind::Step { target, by, .. } => (target, Step::By(i64::from(*by))),
        ExprKind::Assign(Some(BinaryOp::Add), target, by) => (target, Step::Value(1, by)),
        ExprKind::Assign(Some(BinaryOp::Sub), target, by) => (target, Step::Value(-1, by)),
        _ => return None,
    };
    match &target.kind {
        ExprKind::Local(local) => Some((*local, by)),
        _ => None,
    }
}

/// Whether evaluating it does nothing else and takes a bounded number of steps.
fn is_plain(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(..)
        | ExprKind::Local(_)
        | ExprKind::Path(_)
        | ExprKind::SizeofType(_)
        | ExprKind::SizeofPack(_) => true,
        ExprKind::Member { base, arrow: false, .. } => matches!(base.kind, ExprKind::Path(_)),
        ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => is_plain(inner),
        ExprKind::Binary(_, a, b) => is_plain(a) && is_plain(b),
        _ => false,
    }
}

fn relation_of(op: BinaryOp) -> Option<Relation> {
    Some(match op {
        BinaryOp::Lt => Relation::Less,
        BinaryOp::Le => Relation::LessEqual,
        BinaryOp::Gt => Relation::Greater,
        BinaryOp::Ge => Relation::GreaterEqual,
        BinaryOp::Ne => Relation::NotEqual,
        _ => return None,
    })
}

/// Whether the same threads run, on the same terms, after the rounds as before them.
fn same_course(before: &State, after: &State) -> bool {
    before.active == after.active
        && before.exited == after.exited
        && before.doubt == after.doubt
        && before.assumptions == after.assumptions
        && before.frames.len() == after.frames.len()
        && before.frames.iter().zip(after.frames.iter()).all(|(a, b)| a.returned == b.returned)
        && before.loops.iter().zip(&after.loops).all(|(a, b)| a.broken == b.broken)
}

#[cfg(test)]
mod tests;
