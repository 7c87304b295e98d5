//! What does a loop do that runs through known values to an end that is not known?
//!
//! `for (size = 2; size < n; size <<= 1)` has a run-time bound, and `size` is not affine in the
//! iteration number, but its values are known one after another: 2, 4, 8, ... So the iterations
//! are run for real, each on the assumption that it happens, until the variable comes to rest, or
//! until an iteration would leave a shared array: a program that does not overrun its arrays ends
//! the loop before.

use super::loops::Parts;
use super::machine::{Machine, State};
use super::value::Value;
use crate::ir::LocalId;

/// A variable that doubles comes to rest within the bits of its type.
const MOST: usize = 40;

impl Machine<'_> {
    /// Runs the iterations in which the variables `changing` take known values; false, with
    /// nothing done, when they do not.
    pub(super) fn enumerate(
        &mut self,
        parts: Parts<'_>,
        start: &State,
        changing: &[(usize, LocalId)],
    ) -> bool {
        if changing.is_empty() || !changing.iter().all(|at| constant(start, *at).is_some()) {
            return false;
        }
        self.state = start.clone();
        let outer = std::mem::replace(&mut self.out_of_bounds, false);
        let departures = self.departures.len();
        let mut seen: Vec<Vec<i64>> = Vec::new();
        let mut ran = 0;
        let first = self.trace_mark();
        self.enumerating += 1;
        for _ in 0..MOST {
            let values: Option<Vec<i64>> = changing.iter().map(|at| constant(&self.state, *at)).collect();
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
            if ran > 0 {
                for at in changing {
                    self.assume_rounds(*at);
                }
            }
            self.run_once(parts);
            if self.state.active.is_empty() || self.trace.stopped.is_some() {
                break;
            }
            if self.out_of_bounds {
                self.trace_rollback(&mark);
                self.state = before;
                break;
            }
            ran += 1;
        }
        self.enumerating -= 1;
        self.out_of_bounds = outer;
        self.departures.truncate(departures);
        if ran == 0 {
            self.state = start.clone();
        }
        ran > 0
    }

    /// That the loop goes on is taken for granted in every round but the first.
    fn assume_rounds(&mut self, (frame, local): (usize, LocalId)) {
        let frame = self.state.frames.get(frame);
        let name = frame.and_then(|f| f.function.locals.get(local.0 as usize)).map(|it| it.name.clone());
        if let Some(name) = name {
            self.assume(format!(
                "the loop runs on until an index leaves its array, for every value of `{name}`"
            ));
        }
    }
}

fn constant(state: &State, (frame, local): (usize, LocalId)) -> Option<i64> {
    let slot = state.frames.get(frame)?.slots.get(local.0 as usize)?;
    match &slot.value {
        Value::Int(int, _) => int.as_constant(),
        _ => None,
    }
}
