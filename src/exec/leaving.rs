//! What do `return`, `break` and `continue` leave behind?
//!
//! Threads leave under a mask, so what each of them leaves behind is known as long as it is known
//! who leaves. Where a thread may have left before, with something else, nothing is known of it:
//!
//! ```text
//! if (data[threadIdx.x]) return 3;
//! return 4;                          // 3 or 4, in any thread
//!
//! while (next[i]) i++;               // after the loop, `i` differs between threads
//! ```

use super::machine::{Machine, State};
use super::revised::part_or_around;
use super::value::{Offset, Pointer, Target, Value};
use crate::domain::{Origin, Reason, SymbolId, ThreadSet, Unknown, Variation};
use crate::ir::{Expr, Name, Stmt, StmtKind, Type};
use crate::source::Span;
use std::rc::Rc;

impl Machine<'_> {
    /// The active threads leave the function.
    pub(super) fn run_return(&mut self, value: Option<&Expr>) {
        if let Some(expr) = value {
            let returned = self.returned_value(expr);
            self.keep_result(returned, expr.span);
        }
        self.around.returns += 1;
        let active = self.state.active;
        let depth = self.state.frames.len();
        // Threads that leave the kernel are not waited for.
        if depth > 1 || self.in_lambda() {
            self.note_departure(false, true);
            self.note_apart();
        } else {
            self.note_exit();
        }
        if let Some(frame) = self.state.frames.last_mut() {
            frame.returned = frame.returned.or(&active);
        }
        if depth == 1 && !self.in_lambda() {
            self.state.exited = self.state.exited.or(&active);
        }
        self.state.active = ThreadSet::NONE;
    }

    fn returned_value(&mut self, expr: &Expr) -> Value {
        let ty = match &self.lambdas.current {
            Some(lambda) => lambda.return_type.clone(),
            None => self.frame().map(|frame| frame.function.return_type.clone()),
        };
        match ty {
            Some(Type::Reference(_)) => {
                self.locate(expr).map_or_else(|why| Value::opaque(Variation::Maybe, why), Value::Pointer)
            }
            Some(ty) => {
                let ty = self.resolve_type(&ty);
                let value = self.initial(expr, &ty);
                self.convert(value, &ty)
            }
            None => self.evaluate(expr),
        }
    }

    /// What the active threads return, beside what others have.
    fn keep_result(&mut self, returned: Value, span: Span) {
        let active = self.state.active;
        let Some(frame) = self.frame() else { return };
        let (old, before) = (frame.result.clone(), frame.may_have_returned);
        let result = if before.and(&active).is_empty() || old == returned {
            self.blend(&returned, &old, &active)
        } else {
            match self.lost(&returned, &old) {
                Value::Opaque(variation, ..) => {
                    let words = "which of several `return`s a thread takes";
                    Value::opaque(variation, Unknown::new(Reason::DataDependentMask, span, words))
                }
                other => other,
            }
        };
        if let Some(frame) = self.state.frames.last_mut() {
            frame.result = result;
            frame.may_have_returned = before.or(&active);
        }
    }

    /// The active threads leave the kernel, from whatever depth.
    pub(super) fn end_threads(&mut self) {
        self.around.returns += 1;
        self.state.exited = self.state.exited.or(&self.state.active);
        self.state.active = ThreadSet::NONE;
    }

    /// The active threads leave a loop for good, or an iteration of it.
    pub(super) fn leave_loop(&mut self, for_good: bool) {
        self.note_departure(true, for_good);
        let active = self.state.active;
        if for_good && self.state.loops.last().is_some_and(|mask| !mask.switch) {
            self.note_apart();
        }
        if let Some(mask) = self.state.loops.last_mut() {
            if for_good {
                mask.broken = mask.broken.or(&active);
            } else {
                mask.continued = mask.continued.or(&active);
            }
        }
        self.state.active = ThreadSet::NONE;
    }

    /// The active threads go to a label that follows.
    pub(super) fn jump(&mut self, label: &Name) {
        self.note_departure(false, true);
        self.note_apart();
        self.around.returns += 1;
        let active = self.state.active;
        match self.state.jumps.iter_mut().find(|(name, _)| name == label) {
            Some((_, threads)) => *threads = threads.or(&active),
            None => self.state.jumps.push((label.clone(), active)),
        }
        self.state.active = ThreadSet::NONE;
    }

    /// A label, where the threads go on that are on their way to it.
    pub(super) fn arrive_at(&mut self, label: &Name) {
        if let Some(at) = self.state.jumps.iter().position(|(name, _)| name == label) {
            let (_, threads) = self.state.jumps.remove(at);
            self.state.active = self.state.active.or(&threads);
        }
        self.rejoin_jumps();
        self.compiler.registers.forget();
        self.compiler.stretch.begin();
    }

    /// The threads that are on their way to a label.
    pub(super) fn jumping(&self) -> ThreadSet {
        self.state.jumps.iter().fold(ThreadSet::NONE, |all, (_, threads)| all.or(threads))
    }

    /// Whether statements end by leaving a loop around them, and not only a `switch`.
    pub(super) fn leaves_loop(&self, body: &[Stmt]) -> bool {
        body.last().is_some_and(|last| match &last.kind {
            StmtKind::Return(_) => self.state.loops.iter().any(|it| !it.switch),
            StmtKind::Break => self.state.loops.last().is_some_and(|it| !it.switch),
            StmtKind::Block(inner) => self.leaves_loop(inner),
            _ => false,
        })
    }

    /// Threads that leave under a condition on which they differ leave in different iterations.
    fn note_apart(&mut self) {
        self.looping.apart |=
            !self.state.loops.is_empty() && self.around.splits.len() > self.looping.around_iteration;
    }

    /// What a loop leaves behind that was run for all its iterations at once. `start`: the state in front of it; `apart`:
    /// whether threads may leave it in different iterations.
    pub(super) fn settle_loop(&mut self, start: &State, apart: bool, rounds: Rounds, span: Span) {
        let entered = start.active;
        let covers = self.everyone().minus(&entered).is_empty();
        for (at, before) in start.frames.iter().enumerate() {
            let Some(now) = self.state.frames.get(at) else { continue };
            if !now.slots.same(&before.slots) {
                for number in 0..before.slots.len() {
                    let slots = self.state.frames.get(at).map(|frame| &frame.slots);
                    let (Some(was), Some(slot)) =
                        (before.slots.get(number), slots.and_then(|s| s.get(number)))
                    else {
                        continue;
                    };
                    if slots.is_some_and(|slots| slots.same_at(&before.slots, number))
                        || was.value.is_surely(&slot.value)
                    {
                        continue;
                    }
                    let left = self.in_last_round(&left_behind(&was.value, &slot.value, apart, span), rounds);
                    let value = if covers { left } else { self.blend(&left, &was.value, &entered) };
                    if let Some(frame) = self.state.frames.get_mut(at) {
                        frame.slots.set_value(number, value);
                    }
                }
            }
            if let Some(frame) = self.state.frames.get_mut(at)
                && apart
                && frame.result != before.result
            {
                frame.result = Value::opaque(Variation::Maybe, in_another_iteration(span));
            }
        }
    }
}

impl Machine<'_> {
    /// The states in which threads left a loop, as the loop leaves them behind.
    pub(super) fn settle_left(&mut self, from: usize, start: &State, rounds: Rounds, span: Span) {
        for at in from..self.around.left.len() {
            let Some(left) = self.around.left.get_mut(at).filter(|left| left.leaves_loop()) else { continue };
            let apart = left.is_varying();
            let outer = std::mem::replace(&mut self.state, left.take());
            self.settle_loop(start, apart, rounds, span);
            let settled = std::mem::replace(&mut self.state, outer);
            if let Some(left) = self.around.left.get_mut(at) {
                left.put(settled);
            }
        }
    }

    /// The number of an iteration of a loop, with one for the iteration in which it is left.
    pub(super) fn rounds(&mut self, any: SymbolId) -> Rounds {
        let last = self.world.symbols.fresh("how often a loop ran".into(), Origin::LoopValue, Some(0), None);
        Rounds { any, last }
    }

    fn in_last_round(&mut self, value: &Value, rounds: Rounds) -> Value {
        let Rounds { any, last } = rounds;
        match value {
            Value::Int(int, scalar) => Value::Int(self.world.renamed(int, any, last), *scalar),
            Value::Pointer(Pointer {
                target: Target::Memory(object, Offset::Known(offset)),
                pointee,
                volatile,
            }) => {
                let offset = Offset::Known(self.world.renamed(offset, any, last));
                Value::Pointer(Pointer {
                    target: Target::Memory(*object, offset),
                    pointee: pointee.clone(),
                    volatile: *volatile,
                })
            }
            Value::Aggregate(parts) => {
                let parts = parts.iter().map(|(path, part)| (path.clone(), self.in_last_round(part, rounds)));
                Value::Aggregate(Rc::new(parts.collect()))
            }
            other => other.without_parts(),
        }
    }
}

/// What stands for the number of an iteration: `any`, which takes its values in turn, and the `last`,
/// which is one number, though not known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    any: SymbolId,
    last: SymbolId,
}

/// A variable that a loop changed, as it is after the loop.
fn left_behind(was: &Value, now: &Value, apart: bool, span: Span) -> Value {
    match now {
        value if !apart || was.is_surely(value) => value.clone(),
        Value::Pointer(Pointer { target: Target::Memory(object, _), pointee, volatile }) => {
            let offset = Offset::unknown(Variation::Maybe, in_another_iteration(span));
            Value::Pointer(Pointer {
                target: Target::Memory(*object, offset),
                pointee: pointee.clone(),
                volatile: *volatile,
            })
        }
        Value::Aggregate(parts) => {
            let parts = parts.iter().enumerate().map(|(at, (way, part))| {
                (way.clone(), left_behind(&part_or_around(was, at, way), part, apart, span))
            });
            Value::Aggregate(Rc::new(parts.collect()))
        }
        _ => Value::opaque(Variation::Maybe, in_another_iteration(span)),
    }
}

fn in_another_iteration(span: Span) -> Unknown {
    Unknown::new(
        Reason::LoopCarried,
        span,
        "threads may leave the loop after different numbers of iterations",
    )
}
