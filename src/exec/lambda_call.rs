//! What does a call of a lambda do?
//!
//! Its body runs in the frame of the function that made it, with what it captured there. A `return` ends the body alone:
//! whoever called goes on, and so do all who came.

use super::machine::{CALL_DEPTH, Machine, Mode};
use super::packs::argument_at;
use super::slots::Slot;
use super::types::{Ty, nameless};
use super::unseen::Callee;
use super::value::Value;
use crate::domain::{Reason, ThreadSet, Unknown, Variation};
use crate::events::Call;
use crate::ir::{Expr, ExprKind, Lambda, LocalId, Param, Path, TemplateArg, Type};
use crate::source::Span;
use std::sync::Arc;

impl Machine<'_> {
    pub(super) fn call_lambda(
        &mut self,
        lambda: &Arc<Lambda>,
        frame: usize,
        args: &[Expr],
        span: Span,
    ) -> Value {
        self.call_lambda_for(lambda, (frame, &[]), args, span)
    }

    /// `f.template operator()<4>()`, where `f` is a lambda; none for anything else.
    pub(super) fn call_lambda_by_name(
        &mut self,
        base: &Expr,
        path: &Path,
        args: &[Expr],
        span: Span,
    ) -> Option<Value> {
        if &*path.name != "operator()" || !matches!(base.kind, ExprKind::Local(_) | ExprKind::Path(_)) {
            return None;
        }
        let Value::Closure(lambda, frame) = self.evaluate_as_written(base) else { return None };
        let explicit = path.args.as_deref().unwrap_or_default();
        Some(self.call_lambda_for(&lambda, (frame, explicit), args, span))
    }

    /// Calls a lambda that was made in this frame, for these template arguments.
    fn call_lambda_for(
        &mut self,
        lambda: &Arc<Lambda>,
        made: (usize, &[TemplateArg]),
        args: &[Expr],
        span: Span,
    ) -> Value {
        match (self.run_lambda(lambda, made, args, span), &lambda.return_type) {
            (Value::Pointer(pointer), Some(Type::Reference(_))) => self.read(&pointer, span),
            (value, _) => value,
        }
    }

    /// What a lambda is called with by code that is not followed.
    fn unseen_argument(&mut self, param: &Param, span: Span) -> Slot {
        let words = "the code that calls this lambda is not followed";
        let why = Unknown::new(Reason::UnknownFunction, span, words);
        let ty = match self.resolve_type(&param.ty) {
            Ty::Unknown(_) => Ty::Unknown(nameless::AUTO.into()),
            ty => ty,
        };
        let variation = if self.mode == Mode::Host { Variation::Uniform } else { Variation::Maybe };
        let value = self.unknown_of(&ty, variation, &param.name, &why);
        Slot { value, ty, reference: false }
    }

    /// The same; of a reference that is handed back, where it leads.
    pub(super) fn run_lambda(
        &mut self,
        lambda: &Arc<Lambda>,
        (frame, explicit): (usize, &[TemplateArg]),
        args: &[Expr],
        span: Span,
    ) -> Value {
        if self.around.calls.len() >= CALL_DEPTH || frame >= self.state.frames.len() {
            return self.call_unseen(Callee::Unnamed("a lambda that is not followed"), args, span);
        }
        let told = self.told_by_call(lambda, (frame, explicit), args);
        let mut slots: Vec<(LocalId, Slot)> = Vec::new();
        for (at, param) in lambda.params.iter().enumerate() {
            let slot = match (argument_at(args, at).or(param.default.as_ref()), param.pack) {
                (None, true) => break,
                (_, true) => self.take_pack(param, args.get(at..).unwrap_or_default(), "a lambda", span),
                (Some(arg), false) => self.argument(param, arg),
                (None, false) => self.unseen_argument(param, span),
            };
            slots.push((param.local, slot));
        }
        // Its body uses the slots of the frame it was made in: put that frame on top.
        let above = self.state.frames.split_off(frame + 1);
        let exposed_above = self.unexpose(frame + 1);
        let around = self.begin_lambda(lambda, span);
        let outer_env = told.and_then(|told| self.exchange_env(told));
        for (at, ((local, mut slot), param)) in slots.into_iter().zip(&lambda.params).enumerate() {
            let ty = self.resolve_type(&param.ty);
            let span = args.get(at).map_or(span, |arg| arg.span);
            if !slot.reference && !matches!(ty, Ty::Unknown(_)) {
                slot.value = self.convert(slot.value, &ty);
                slot.ty = ty;
            } else if slot.reference && matches!(ty, Ty::Record(_) | Ty::Scalar(_) | Ty::Sized { .. }) {
                slot = self.bound_reference(slot, &ty, span);
            }
            self.set_slot(local, slot);
        }
        let (active, doubt) = (self.state.active, self.state.doubt.clone());
        let saved = self.state.frames.last().map(|f| (f.result.clone(), f.returned, f.may_have_returned));
        if let Some(top) = self.state.frames.last_mut() {
            (top.result, top.returned, top.may_have_returned) =
                (Value::Undefined, ThreadSet::NONE, ThreadSet::NONE);
        }
        self.around.calls.push(Call { function: "lambda".into(), span });
        let loops = std::mem::take(&mut self.state.loops);
        let departures = self.around.departures.len();
        // `return` must not end the kernel: pretend one more frame by keeping exited apart.
        let (returns, apart, exited) = (self.around.returns, self.looping.apart, self.state.exited);
        let outer = self.lambdas.current.replace(Arc::clone(lambda));
        let jumps = std::mem::take(&mut self.state.jumps);
        let mark = self.left_mark();
        self.run(&lambda.body);
        self.rejoin(mark);
        (self.lambdas.current, self.state.jumps) = (outer, jumps);
        (self.around.returns, self.looping.apart) = (returns, apart);
        self.state.exited = exited;
        self.state.loops = loops;
        self.around.departures.truncate(departures);
        self.around.calls.pop();
        let result = self.state.frames.last().map_or(Value::Undefined, |f| f.result.clone());
        if let (Some(top), Some(saved)) = (self.state.frames.last_mut(), saved) {
            (top.result, top.returned, top.may_have_returned) = saved;
        }
        self.end_lambda(lambda, around, &result);
        if let Some(env) = outer_env {
            self.exchange_env(env);
        }
        self.state.frames.extend(above);
        self.memory.exposed.extend(exposed_above);
        self.state.active = active.minus(&self.state.exited);
        self.state.doubt = doubt;
        result
    }
}
