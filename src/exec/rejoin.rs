//! Where do threads go on that left a loop or a function, when it is not known who did?
//!
//! ```text
//! for (int i = 0; i < 3; i++) {
//!     if (data[threadIdx.x]) continue;
//!     sum += 4;                            // by those that did not leave
//! }
//! s[sum * threadIdx.x] = 1;                // 0, 4, 8 or 12 in any thread
//! ```
//!
//! The state in which a side of a condition left is kept until what it left ends, and joined there with
//! that of whoever stayed.

use super::join::Join;
use super::machine::{Exit, Left, Machine, Mode, State};
use super::value::NOWHERE;
use crate::domain::{Origin, Reason, ThreadSet, Unknown};
use crate::events::RequestMark;

/// The most states that are kept, each for itself: of a kernel, and of host code, where each may give another block.
const MOST: usize = 32;
const MOST_OF_HOST: usize = 128;

impl Machine<'_> {
    /// Keeps a state in which all threads left, or none, until what it left ends.
    pub(crate) fn note_left(&mut self, state: State) {
        let some = |bits: Option<ThreadSet>| bits.is_some_and(|bits| !bits.is_empty());
        let exit = if some(state.loops.last().map(|mask| mask.continued)) {
            Exit::Continue
        } else if some(state.loops.last().map(|mask| mask.broken)) {
            Exit::Break
        } else {
            Exit::Return
        };
        self.note_together(exit);
        if self.recording && self.mode == Mode::Device {
            self.trace.tree.note_leaving(&state.passable);
        }
        if !state.jumps.is_empty() {
            self.keep_left(Left { exit: Exit::Jump, state: state.clone(), varying: None, sides: None });
            if self.mode == Mode::Host {
                return;
            }
        }
        let ends = exit == Exit::Return && self.is_outermost(&state);
        if !(ends || (self.mode == Mode::Host && !state.exited.is_empty())) {
            self.keep_left(Left { exit, state, varying: None, sides: None });
        }
    }

    /// All threads may have left in this way, or none.
    fn note_together(&mut self, exit: Exit) {
        let innermost = self.state.loops.iter().rposition(|mask| !mask.switch);
        let left = match exit {
            Exit::Break if self.state.loops.last().is_some_and(|mask| !mask.switch) => innermost,
            Exit::Return => Some(0),
            _ => None,
        };
        self.state.loops.iter_mut().skip(left.unwrap_or(usize::MAX)).for_each(|mask| mask.together = true);
    }

    /// Does something in the present state, and in those in which host code left what is being run.
    pub(super) fn on_all_ways(&mut self, mut work: impl FnMut(&mut Self)) {
        let frames = self.state.frames.len();
        for at in 0..self.around.left.len() {
            if self.around.left[at].state.frames.len() == frames {
                std::mem::swap(&mut self.state, &mut self.around.left[at].state);
                work(self);
                std::mem::swap(&mut self.state, &mut self.around.left[at].state);
            }
        }
        work(self);
    }

    /// Keeps the present state, in which some threads left since `start`, until what they left ends.
    pub(super) fn note_maybe_left(&mut self, start: &State, why: &Unknown) {
        if self.mode == Mode::Host {
            return;
        }
        let masks = |state: &State| state.loops.last().map(|mask| (mask.continued, mask.broken));
        let (before, now) = (masks(start).unwrap_or_default(), masks(&self.state).unwrap_or_default());
        let mut exits = Vec::new();
        if before.0 != now.0 {
            exits.push(Exit::Continue);
        }
        if before.1 != now.1 {
            exits.push(Exit::Break);
        }
        // Out of a `switch` in a loop; out of the function.
        let around = |state: &State| state.loops.iter().rev().nth(1).map(|mask| mask.continued);
        if around(start) != around(&self.state) {
            exits.push(Exit::Break);
        }
        let returned = |state: &State| state.frames.last().map(|frame| frame.returned);
        if returned(start) != returned(&self.state) && !self.is_outermost(&self.state) {
            exits.push(Exit::Return);
        }
        if start.jumps != self.state.jumps {
            exits.push(Exit::Jump);
        }
        for exit in exits {
            let state = self.state.clone();
            self.keep_left(Left { exit, state, varying: Some(why.clone()), sides: None });
        }
    }

    /// Whether a `return` now ends the program or the kernel.
    fn is_outermost(&self, state: &State) -> bool {
        let outermost = if self.mode == Mode::Host { 2 } else { 1 };
        state.frames.len() <= outermost && !self.in_lambda()
    }

    fn keep_left(&mut self, left: Left) {
        let together = |other: &Left| {
            other.exit == left.exit
                && other.state.frames.len() == left.state.frames.len()
                && other.state.loops.len() == left.state.loops.len()
        };
        let most = if self.mode == Mode::Host { MOST_OF_HOST } else { MOST };
        let is_full = self.around.left.len() >= most;
        // What has nothing in common with any of them is kept as well: there are few such ways out.
        let Some(at) = self.around.left.iter().rposition(together).filter(|_| is_full) else {
            return self.around.left.push(left);
        };
        // One for both, in which nothing is known that is not so in either.
        let mut other = self.around.left.remove(at);
        let active = self.world.all;
        let here = std::mem::replace(&mut self.state, left.state);
        (other.state.active, self.state.active) = (active, active);
        self.merge(other.state, &Join::Varying(changed()));
        let state = std::mem::replace(&mut self.state, here);
        let (exit, varying) = (other.exit, Some(changed()));
        self.around.left.push(Left { exit, state, varying, sides: None });
    }

    /// Blocks take one of two sides of a condition, of which one left since `left` states were kept; the other has made
    /// no request so far. Where their requests begin is kept until what the one left ends.
    pub(super) fn note_sides_left(&mut self, left: usize, sides: [RequestMark; 2]) {
        if let Some(of) = self.around.left.get_mut(left) {
            of.sides = Some(sides);
        } else if self.is_outermost(&self.state) {
            self.around.ended.push(sides);
        }
    }

    /// The kernel ends, or a round of a loop: of sides that ended the kernel since there were so many, and of what
    /// other blocks did instead, one is counted.
    pub(super) fn settle_ended(&mut self, from: usize) {
        for [left, stayed] in self.around.ended.split_off(from).iter().rev() {
            self.requests.keep_most([left, stayed], &mut self.trace.accesses);
        }
    }

    /// Where the states kept since `mark` go on.
    pub(crate) fn rejoin(&mut self, mark: usize) {
        self.rejoin_those(mark, &[Exit::Continue, Exit::Break, Exit::Return, Exit::Jump]);
    }

    /// How many states are kept.
    pub(crate) fn left_mark(&self) -> usize {
        self.around.left.len()
    }

    /// Where the states that left an iteration since `mark` go on.
    pub(crate) fn rejoin_iteration(&mut self, mark: usize) {
        self.rejoin_those(mark, &[Exit::Continue]);
    }

    /// Where the states that left a loop since `mark` go on.
    pub(crate) fn rejoin_loop(&mut self, mark: usize) {
        self.rejoin_those(mark, &[Exit::Continue, Exit::Break]);
    }

    /// Whether a way through host code that was left is on its way to a label of the innermost function.
    pub(super) fn is_label_awaited(&self) -> bool {
        let depth = self.state.frames.len();
        let is_jump = |left: &Left| left.exit == Exit::Jump && left.state.frames.len() == depth;
        self.mode == Mode::Host && self.around.left.iter().any(is_jump)
    }

    /// Where the states go on that are on their way to a label of the innermost function.
    pub(super) fn rejoin_jumps(&mut self) {
        let depth = self.state.frames.len();
        let here = |left: &Left| left.exit == Exit::Jump && left.state.frames.len() == depth;
        let (mut back, stay): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.around.left).into_iter().partition(here);
        self.around.left = stay;
        let mark = self.around.left.len();
        self.around.left.append(&mut back);
        self.rejoin_those(mark, &[Exit::Jump]);
    }

    pub(super) fn rejoin_those(&mut self, mark: usize, exits: &[Exit]) {
        if mark >= self.around.left.len() {
            return;
        }
        let mut kept = self.around.left.split_off(mark);
        // Of a loop that one side left for good, each round counts by itself.
        for [left, stayed] in kept.iter_mut().rev().filter_map(|it| it.sides.take()) {
            self.requests.keep_most([&left, &stayed], &mut self.trace.accesses);
        }
        let (back, stay): (Vec<_>, Vec<_>) = kept.into_iter().partition(|left| exits.contains(&left.exit));
        self.around.left.extend(stay);
        if !back.is_empty() {
            self.compiler.registers.forget();
        }
        for Left { exit, state: mut held, varying, .. } in back {
            // Those who stayed may all have left the loop since, while these go on to its next round.
            let on = match (exit, held.loops.last()) {
                (Exit::Continue, Some(mask)) => mask.continued,
                _ => ThreadSet::NONE,
            };
            if self.state.active.is_empty() && !on.is_empty() {
                self.note_together(Exit::Break);
            }
            let active = self.state.active.or(&on);
            let doubt = varying.clone().filter(|_| active != self.state.active);
            let all = self.world.all;
            (held.active, self.state.active) = (all, all);
            let how = match varying {
                Some(why) => Join::Varying(why),
                None => {
                    let choice = self.world.symbols.fresh(
                        "which exit is taken".into(),
                        Origin::Choice,
                        Some(0),
                        Some(1),
                    );
                    Join::Uniform(choice, changed(), None)
                }
            };
            self.merge(held, &how);
            self.state.active = active;
            doubt.iter().for_each(|why| self.state.add_doubt(why));
        }
    }
}

/// Why a variable is not known that a loop or a way out changes.
pub(super) fn changed() -> Unknown {
    Unknown::new(Reason::LoopCarried, NOWHERE, "a variable that a loop changes")
}
