//! What is `c ? a : b`, as a value and as a place?
//!
//! Each side is evaluated by the threads that take it. As a value it has the type that both sides
//! have in common, whichever is taken.

use super::arithmetic::common;
use super::interior::Leaving;
use super::machine::{Answered, Machine};
use super::select;
use super::types::Ty;
use super::value::{Pointer, Value};
use crate::domain::{Reason, ThreadSet, Unknown, Variation};
use crate::events::{Assumption, Differs};
use crate::ir::Expr;
use crate::ir::declared::asked_before;
use crate::source::Span;
use std::rc::Rc;

impl Machine<'_> {
    /// The value.
    pub(super) fn conditional(&mut self, cond: &Expr, then: &Expr, otherwise: &Expr) -> Value {
        self.either(cond, then, otherwise, &mut |machine, side, other| {
            let value = machine.evaluate(side);
            match value {
                Value::Int(..) | Value::Float(..) => {
                    let (side, other) = (machine.type_of(side), machine.type_of(other));
                    match common(&side, &other) {
                        Some(scalar) => machine.convert(value, &Ty::Scalar(scalar)),
                        None => value,
                    }
                }
                _ => value,
            }
        })
    }

    /// What is done to the place on the side that each thread takes: `(c ? a : b) = 3`.
    pub(super) fn on_each_side(
        &mut self,
        cond: &Expr,
        then: &Expr,
        otherwise: &Expr,
        work: &mut dyn FnMut(&mut Self, &Expr) -> Value,
    ) -> Value {
        self.either(cond, then, otherwise, &mut |machine, side, _| work(machine, side))
    }

    /// The place. Where it is not known which side is taken, each may be meant by a write to a place
    /// that is not followed.
    pub(super) fn conditional_place(
        &mut self,
        cond: &Expr,
        then: &Expr,
        otherwise: &Expr,
        span: Span,
    ) -> Result<Pointer, Unknown> {
        let mut sides = Vec::new();
        let either = self.either(cond, then, otherwise, &mut |machine, side, _| match machine.locate(side) {
            Ok(pointer) => {
                sides.push(pointer.clone());
                Value::Pointer(pointer)
            }
            Err(why) => Value::opaque(Variation::Maybe, why),
        });
        match either {
            Value::Pointer(pointer) => Ok(pointer),
            _ => {
                sides.iter().for_each(|side| self.expose(side));
                Err(Unknown::new(Reason::UnknownPointer, span, "one of two places"))
            }
        }
    }

    /// What `evaluate` makes of the side that each thread takes; it is given the other one too.
    fn either(
        &mut self,
        cond: &Expr,
        then: &Expr,
        otherwise: &Expr,
        evaluate: &mut dyn FnMut(&mut Self, &Expr, &Expr) -> Value,
    ) -> Value {
        let (condition, truth) = self.tested(cond, Leaving::No);
        let before = self.state.active;
        let mut results = [None, None];
        self.ask_again(cond);
        let sides = if truth.uniform { Rc::default() } else { select::of_operator(then, otherwise) };
        self.with_sides(sides, |machine| {
            machine.fork(
                &truth,
                cond.span,
                &mut |machine, side| {
                    let (this, other) = if side { (then, otherwise) } else { (otherwise, then) };
                    results[usize::from(!side)] = Some(evaluate(machine, this, other));
                },
                [false, false],
            );
        });
        self.note_answered(cond, before);
        self.go_on(cond.span);
        let [held, failed] = results;
        match (held, failed) {
            (Some(a), Some(b)) if truth.decided => {
                let mask = truth.can_hold.and(&before);
                self.blend(&a, &b, &mask)
            }
            (Some(a), Some(b)) => match &truth.guard {
                Some((true, words))
                    if !truth.mixed && truth.holds.is_some_and(|h| before.minus(&h).is_empty()) =>
                {
                    self.usual_value(a, &b, words, cond.span)
                }
                Some((false, words)) if !truth.mixed => self.usual_value(b, &a, words, cond.span),
                _ if truth.uniform => {
                    let id = self.choice_by(&condition);
                    self.choose(&a, &b, id, truth.zero.as_ref())
                }
                _ => self.lost(&a, &b),
            },
            (Some(one), None) | (None, Some(one)) => one,
            (None, None) => Value::Undefined,
        }
    }

    /// Whether the expression before has asked the same, and nothing happened since: then nvcc makes one branch of both.
    fn ask_again(&mut self, cond: &Expr) {
        let before = self.frame().and_then(|frame| asked_before(&frame.function, cond.span));
        let asked = self.compiler.stretch.answered.filter(|asked| {
            before == Some(asked.cond) && asked.active == self.state.active && asked.passed == self.passed()
        });
        self.compiler.stretch.again = asked.map(|asked| asked.split);
    }

    fn note_answered(&mut self, cond: &Expr, active: ThreadSet) {
        let (cond, passed) = (cond.span, self.passed());
        let split = self.compiler.stretch.split;
        self.compiler.stretch.answered = split.map(|split| Answered { cond, active, split, passed });
    }

    /// What is done in sight of the compiler that may not be moved.
    fn passed(&self) -> (u32, u64, u64) {
        (self.requests.accesses(), self.compiler.elsewhere, self.compiler.stretch.left)
    }

    /// What it is for threads in the middle of their problem. What is done with it then rests on that, as long as
    /// something is known of it.
    fn usual_value(&mut self, usual: Value, other: &Value, words: &[Assumption], span: Span) -> Value {
        if usual == *other || usual.is_lost() {
            return usual;
        }
        // No place depends on it.
        if matches!(usual, Value::Float(..)) {
            return self.lost(&usual, other);
        }
        words.iter().for_each(|it| self.assume(it.clone()));
        self.may_differ(span, Differs::OtherSide);
        usual
    }
}
