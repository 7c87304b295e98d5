//! Is a function run that calls itself?
//!
//! It is as long as it is decided that it does: `gcd(b, a % b)` of known numbers ends by itself. Where a condition
//! is open, both of its sides are run, and the one that calls again would never end: one more call is
//! run, so that what it accesses is seen, and then no more. A template calls itself with other arguments, and ends;
//! but it may branch.

use super::machine::{CALL_DEPTH, Machine, Mode, OpenWays};
use super::unseen::Callee;
use super::value::{Pointer, Value};
use crate::domain::ThreadSet;
use crate::ir::{Expr, Function};
use crate::source::Span;
use std::sync::Arc;

/// The most calls within two of the same template, in one run.
const MOST_OF_TEMPLATES: u32 = 2048;
/// The same of functions that are none: one that branches would take the steps of all that follows.
const MOST: u32 = 512;
/// Calls of a function within itself that are run although it is open whether there are any.
const OPEN: usize = 2;

impl Machine<'_> {
    /// The ways through the code that are open here.
    pub(super) fn open_ways(&self) -> OpenWays {
        let state = &self.state;
        OpenWays {
            sides: state.passable.len(),
            bounds: state.bounds.len(),
            claims: state.claims.len(),
            left: self.around.left.len(),
            loops: self.looping.uncounted.len(),
            is_doubtful: state.doubt.is_some(),
        }
    }

    /// Whether a function is being run.
    pub(super) fn is_running(&self, function: &Function) -> bool {
        self.state.frames.iter().any(|frame| frame.function.name_span == function.name_span)
    }

    /// Whether a function may be run here, within those that run.
    pub(super) fn can_be_entered(&mut self, function: &Arc<Function>) -> bool {
        let running = || self.state.frames.iter().filter(|frame| Arc::ptr_eq(&frame.function, function));
        let within = running().count();
        let first = running().next().map_or_else(OpenWays::default, |frame| frame.open_ways);
        if within < OPEN {
            return self.state.frames.len() < CALL_DEPTH;
        }
        self.around.recursions += 1;
        let is_template = !function.template_params.is_empty() || !function.owner_params.is_empty();
        let goes_on = match is_template {
            true => self.around.recursions <= MOST_OF_TEMPLATES,
            false => self.around.recursions <= MOST && self.is_decided_since(function, first),
        };
        goes_on && self.state.frames.len() < CALL_DEPTH
    }

    /// Whether no condition was open since a function was entered first, with these ways open.
    fn is_decided_since(&self, function: &Arc<Function>, first: OpenWays) -> bool {
        let mut since = self.state.frames.iter().skip_while(|frame| !Arc::ptr_eq(&frame.function, function));
        // In host code, no more than so many conditions are remembered.
        let sees_all = self.mode == Mode::Device || self.state.claims.is_empty();
        sees_all && self.open_ways() == first && since.all(|frame| frame.may_have_returned == ThreadSet::NONE)
    }

    /// A call that is not run: of a function that calls itself, or within too many others.
    pub(super) fn call_too_deep(
        &mut self,
        function: &Function,
        this: Option<&Pointer>,
        args: &[Expr],
        span: Span,
    ) -> Value {
        let callee = match self.is_running(function) {
            true => Callee::Itself(&function.name),
            false => Callee::TooDeep(&function.name),
        };
        let value = self.call_unseen(callee, args, span);
        let why = callee.may_have_changed(span);
        if let Some(object) = this {
            self.lose_object(object, &function.name, args.len(), &why);
        }
        value
    }
}
