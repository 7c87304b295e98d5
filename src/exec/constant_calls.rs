//! What does a function return that is called with the same constants as before?
//!
//! ```text
//! constexpr Config config(int type, int width) { if (type == 0 && width == 8) { return {...}; } ... }
//! ```
//!
//! Kernels with many variants keep their sizes in such tables, and ask for them wherever one is needed. The answer is
//! kept if it is made of constants as well, and if the function did nothing but tell it.

use super::machine::{ConstantCall, Machine, Mark, Mode};
use super::slots::Slots;
use super::types::Env;
use super::value::{Pointer, Value};
use crate::ir::{Function, Param};
use std::rc::Rc;
use std::sync::Arc;

/// Steps from which on it pays to keep what a call returned.
const WORTH: u64 = 64;
/// Calls that are remembered.
const MOST: usize = 1024;

/// What a call found when it began.
pub(super) struct Begun {
    call: ConstantCall,
    env: Rc<Env>,
    assumptions: usize,
    mark: Mark,
    steps: u64,
    written: u64,
    momentary: u64,
}

impl Machine<'_> {
    /// The call of a function, if it is given nothing but constants.
    pub(super) fn constant_call(
        &self,
        function: &Arc<Function>,
        env: &Rc<Env>,
        slots: &Slots,
        this: Option<&Pointer>,
    ) -> Option<ConstantCall> {
        if this.is_some() || self.mode != Mode::Device {
            return None;
        }
        let constant = |param: &Param| {
            let slot = slots.get(param.local.0 as usize).filter(|slot| !slot.reference && !param.pack)?;
            match &slot.value {
                Value::Int(int, scalar) => Some((int.as_constant()?, *scalar)),
                _ => None,
            }
        };
        Some(ConstantCall {
            function: Arc::as_ptr(function).addr(),
            env: Rc::as_ptr(env).addr(),
            args: function.params.iter().map(constant).collect::<Option<_>>()?,
        })
    }

    /// What it returned before.
    pub(super) fn returned_before(&self, call: &ConstantCall) -> Option<Value> {
        self.lookups.memo.calls.get(call).map(|(_, value)| value.clone())
    }

    /// Begins a call whose result may be kept. What is known only here must not tell it: in `if (threadIdx.x < 8)`,
    /// a function that asks `threadIdx.x < 16` returns one number, and elsewhere two.
    pub(super) fn begin_constant_call(&self, call: ConstantCall, env: &Rc<Env>) -> Option<Begun> {
        let nothing_told = self.state.facts.is_empty() && self.state.path.is_empty();
        let is_anywhere = nothing_told && self.state.active == self.world.all;
        (self.recording && is_anywhere).then(|| Begun {
            call,
            env: Rc::clone(env),
            assumptions: self.state.assumptions.len(),
            mark: self.trace_mark(),
            steps: self.steps,
            written: self.compiler.elsewhere,
            momentary: self.lookups.momentary,
        })
    }

    /// Keeps what a call returned, if it did nothing else.
    pub(super) fn end_constant_call(&mut self, begun: Begun, result: &Value) {
        let has_told_only = self.trace_mark() == begun.mark
            && self.state.assumptions.len() == begun.assumptions
            && self.compiler.elsewhere == begun.written
            && self.lookups.momentary == begun.momentary;
        if self.steps.saturating_sub(begun.steps) < WORTH || !has_told_only || !is_constant(result) {
            return;
        }
        let calls = &mut self.lookups.memo.calls;
        if calls.len() >= MOST {
            calls.clear();
        }
        calls.insert(begun.call, (begun.env, result.clone()));
    }
}

/// Whether a value is made of numbers and functions.
fn is_constant(value: &Value) -> bool {
    match value {
        Value::Int(int, _) => int.as_constant().is_some(),
        Value::Float(..) | Value::Function(_) => true,
        Value::Aggregate(parts) => parts.iter().all(|(_, part)| is_constant(part)),
        _ => false,
    }
}
