//! What does a lambda keep of its own, from one call to the next?
//!
//! What it captures by value has one slot in the frame where the lambda is made. That is right for one
//! closure: where there may be several, each with values of its own, nothing is known of the slot.

use super::machine::Machine;
use super::slots::{Slot, Slots};
use super::types::{Env, Ty};
use super::value::{Place, Pointer, Steps, Target, Value};
use crate::domain::{Reason, Unknown, Variation};
use crate::ir::{Expr, ExprKind, Function, Lambda, LocalId, TemplateArg, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// What a lambda copies where it stands, into a slot that nothing declares.
    pub(super) fn capture(&mut self, local: LocalId, value: &Expr) -> Value {
        // `[b = a]`
        let (value, as_written) = match &value.kind {
            ExprKind::Cast(Type::Auto, inner) => (&**inner, false),
            _ => (value, true),
        };
        let written = self.type_of(value);
        if as_written && matches!(written, Ty::Array(..)) && matches!(value.kind, ExprKind::Local(_)) {
            return self.capture_array(local, value, written);
        }
        let ty = super::deduce::decayed(&written);
        let value = self.evaluate(value);
        let value = self.convert(value, &ty);
        self.keep(local, value.clone(), ty);
        value
    }

    /// `[a]`, of an array: all its elements are copied.
    fn capture_array(&mut self, local: LocalId, array: &Expr, ty: Ty) -> Value {
        let unknown = |what: &'static str| {
            let why = Unknown::new(Reason::Unsupported, array.span, what);
            Value::opaque(Variation::Maybe, why)
        };
        let value = match self.locate(array).map(|it| it.target) {
            Ok(Target::Place(place)) if !place.blurred => self.read_place(&place, &ty, array.span),
            _ => {
                self.may_read(array);
                unknown("a copy of an array")
            }
        };
        let value = match ty.innermost() {
            Ty::Record(layout) if self.copies_itself(layout) => unknown("a copy of an array of objects"),
            _ => value,
        };
        self.keep(local, value.clone(), ty);
        value
    }

    fn keep(&mut self, local: LocalId, value: Value, ty: Ty) {
        self.note_write(self.top(), local);
        self.set_slot(local, Slot { value, ty, reference: false });
    }

    /// A lambda where it stands. Whoever calls it may change what it refers to, followed or not.
    pub(super) fn closure(&mut self, lambda: &Arc<Lambda>) -> Value {
        let frame = self.top();
        for local in &lambda.changes {
            let slot = self.frame().and_then(|frame| frame.slots.get(local.0 as usize)).cloned();
            match slot {
                Some(Slot { value: Value::Pointer(pointer), reference: true, .. }) => self.expose(&pointer),
                Some(Slot { reference: true, .. }) | None => {}
                Some(Slot { ty, .. }) => {
                    let place = Place { frame, local: *local, path: Steps::new(), blurred: false };
                    self.expose(&Pointer { target: Target::Place(place), pointee: ty, volatile: false });
                }
            }
        }
        if let Some(this) = self.frame().and_then(|frame| frame.this.clone()) {
            self.expose(&this);
        }
        Value::Closure(Arc::clone(lambda), frame)
    }

    /// Notes that a closure is read from where it is kept: there are two from here on.
    pub(super) fn note_copied(&mut self, expr: &Expr, value: &Value) {
        let is_kept = matches!(
            expr.kind,
            ExprKind::Local(_)
                | ExprKind::Member { .. }
                | ExprKind::Index(..)
                | ExprKind::Deref(_)
                | ExprKind::Path(_)
        );
        if let Value::Closure(lambda, _) = value
            && is_kept
            && lambda.mutable
            && !lambda.copies.is_empty()
        {
            self.lambdas.several.insert(address(lambda));
        }
    }

    /// The body of a lambda is to run in the innermost frame. Its variables, if it runs already.
    pub(super) fn begin_lambda(&mut self, lambda: &Arc<Lambda>, span: Span) -> Option<Slots> {
        let (frame, here) = (self.top(), address(lambda));
        if self.lambdas.several.contains(&here) {
            for local in &lambda.copies {
                let why =
                    Unknown::new(Reason::Unsupported, span, "what one of several copies of a lambda holds");
                self.lose_variable(&Place { frame, local: *local, path: Steps::new(), blurred: false }, why);
            }
        }
        let recursive = self.lambdas.running.contains(&here);
        self.lambdas.running.push(here);
        self.frame().filter(|_| recursive).map(|frame| frame.slots.clone())
    }

    /// What the template parameters of a lambda stand for in a call, beside those of the function it was made in.
    pub(super) fn told_by_call(
        &mut self,
        lambda: &Lambda,
        (frame, explicit): (usize, &[TemplateArg]),
        args: &[Expr],
    ) -> Option<Rc<Env>> {
        if lambda.template_params.is_empty() {
            return None;
        }
        let nothing = super::machine::empty_frame().function;
        let (params, template_params) = (lambda.params.clone(), lambda.template_params.clone());
        let made_in = Rc::clone(&self.state.frames.get(frame)?.env);
        let function = Function { params, template_params, ..(*nothing).clone() };
        let mut env = Env { bindings: made_in.bindings.clone() };
        function.template_params.iter().for_each(|param| {
            env.bindings.remove(&param.name);
        });
        if !explicit.is_empty() {
            env.bindings
                .extend(self.bind(&function.template_params, Some(explicit), &Env::default()).bindings);
        }
        for (param, arg) in function.params.iter().zip(args).take_while(|(param, _)| !param.pack) {
            let ty = self.type_to_deduce_from(arg);
            let ty = if matches!(param.ty, Type::Reference(_)) { ty } else { super::deduce::decayed(&ty) };
            super::deduce::deduce(self, &mut env, &function, &param.ty, &ty);
        }
        let env = self.bind_rest(&function.template_params, env);
        let within = Arc::clone(&self.state.frames.get(frame)?.function);
        Some(self.lookups.memo.shared_env(&within, env))
    }

    /// Gives the innermost frame other template arguments, and hands back those that it had.
    pub(super) fn exchange_env(&mut self, env: Rc<Env>) -> Option<Rc<Env>> {
        self.state.frames.last_mut().map(|frame| std::mem::replace(&mut frame.env, env))
    }

    /// It has run, and hands back `result`.
    pub(super) fn end_lambda(&mut self, lambda: &Arc<Lambda>, around: Option<Slots>, result: &Value) {
        self.lambdas.running.pop();
        for at in lambda.slots.clone().filter(|at| !lambda.copies.iter().any(|copy| copy.0 == *at)) {
            let slot = around.as_ref().and_then(|slots| slots.get(at as usize)).cloned();
            if let Some(slot) = slot {
                self.note_write(self.top(), LocalId(at));
                self.set_slot(LocalId(at), slot);
            }
        }
        if let Value::Closure(made, _) = result
            && !made.copies.is_empty()
            && !self.lambdas.handed_back.insert(address(made))
        {
            self.lambdas.several.insert(address(made));
        }
    }

    /// What a function hands back: a lambda that was made in it cannot be run any more.
    pub(super) fn without_closures(&self, result: Value) -> Value {
        let gone =
            |value: &Value| matches!(value, Value::Closure(_, frame) if *frame >= self.state.frames.len());
        let lost = || {
            let why = Unknown::new(
                Reason::Unsupported,
                super::value::NOWHERE,
                "a lambda that outlives the function it was made in",
            );
            Value::opaque(Variation::Maybe, why)
        };
        match result {
            Value::Closure(..) if gone(&result) => lost(),
            Value::Aggregate(parts) if parts.iter().any(|(_, part)| gone(part)) => {
                let kept = |part: &Value| if gone(part) { lost() } else { part.clone() };
                let parts = parts.iter().map(|(path, part)| (path.clone(), kept(part)));
                Value::Aggregate(parts.collect::<Vec<_>>().into())
            }
            other => other,
        }
    }
}

fn address(lambda: &Arc<Lambda>) -> usize {
    Arc::as_ptr(lambda).addr()
}
