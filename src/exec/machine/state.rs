//! What changes as the machine runs?

use super::course::Course;
use super::stack::Stack;
use crate::domain::{Reason, Shape, SymbolId, ThreadSet, Unknown};
use crate::events::{Assumption, Refuted};
use crate::exec::path_condition::PathCondition;
use crate::exec::slots::Slots;
use crate::exec::value::{Condition, Env, NOWHERE, Pointer, Value};
use crate::ir::found_later::FoundLater;
use crate::ir::namespace::Namespace;
use crate::ir::{Function, FunctionKind, LocalId, Mentions, Name, Type};
use crate::slice::Slice;
use std::rc::Rc;
use std::sync::{Arc, OnceLock};

/// What changes as the machine runs, and is copied where control forks.
#[derive(Clone)]
pub struct State {
    /// The call stack.
    pub frames: Stack<Frame>,
    /// The threads that run now.
    pub active: ThreadSet,
    /// Why `active` is only an upper bound, if it is.
    pub doubt: Option<Unknown>,
    /// Whether that is only because data choose, for each thread apart, whether it runs.
    pub chosen: bool,
    /// The threads that have left the kernel.
    pub exited: ThreadSet,
    /// Why it is not known which have, where nothing else is in doubt.
    pub why_exited: Option<Unknown>,
    /// The loops around, innermost last.
    pub loops: Vec<LoopMask>,
    /// The threads on their way to a label of the function.
    pub jumps: Vec<(Name, ThreadSet)>,
    /// What is taken for granted from here on.
    pub assumptions: Arc<Vec<Assumption>>,
    /// Whether threads may have left before because of a bound that no block need reach.
    pub may_have_left: bool,
    /// The branches around that a block may pass by, innermost last: each by a number of its own.
    pub passable: Vec<u32>,
    /// The bounds around that a block in the middle of its problem keeps, innermost last, by such numbers, too.
    pub bounds: Vec<u32>,
    /// Symbols known to have a value here, because of a condition around.
    pub facts: Vec<(SymbolId, i64)>,
    /// What the conditions on the path here say of numbers, and to which threads.
    pub path: Vec<(PathCondition, ThreadSet)>,
    /// In host code: conditions that hold here, or fail, because the other way led elsewhere.
    pub claims: Vec<Rc<(Condition, bool)>>,
    /// In lenient host code: what the numbers refute on the way here.
    pub refuted: Option<Arc<Refuted>>,
    /// Which barriers the threads have come to.
    pub course: Course,
}

impl State {
    /// The state of all threads at the start.
    #[must_use]
    pub fn of(shape: Shape) -> State {
        State {
            frames: Stack::default(),
            active: ThreadSet::all(shape),
            doubt: None,
            chosen: false,
            exited: ThreadSet::NONE,
            why_exited: None,
            loops: Vec::new(),
            jumps: Vec::new(),
            assumptions: Arc::default(),
            may_have_left: false,
            passable: Vec::new(),
            bounds: Vec::new(),
            facts: Vec::new(),
            path: Vec::new(),
            claims: Vec::new(),
            refuted: None,
            course: Course::default(),
        }
    }

    /// Whether threads left a loop or a function since `before`, and go on behind it.
    pub fn leaves_what_goes_on(&self, before: &State) -> bool {
        let returned = |state: &State| state.frames.last().map(|frame| frame.returned.minus(&state.exited));
        let left = |state: &State| -> Vec<(ThreadSet, ThreadSet)> {
            state.loops.iter().map(|mask| (mask.continued, mask.broken)).collect()
        };
        returned(self) != returned(before) || left(self) != left(before) || self.jumps != before.jumps
    }

    /// Why it is not known which of the active threads run.
    pub fn why_doubtful(&self) -> Option<&Unknown> {
        let of_exits = |why: &Unknown| why.reason == Reason::Exited;
        match &self.doubt {
            Some(why) if of_exits(why) => self.why_exited.as_ref().or(self.doubt.as_ref()),
            doubt => doubt.as_ref(),
        }
    }

    /// It is not known which threads have left the kernel; all others go on. `chosen`: data choose them.
    pub fn add_exits(&mut self, why: &Unknown, chosen: bool) {
        self.why_exited.get_or_insert_with(|| why.clone());
        let exited = Unknown { reason: Reason::Exited, ..why.clone() };
        match chosen {
            true => self.add_choice(&exited),
            false => self.add_doubt(&exited),
        }
    }

    /// It is not known any more which of the active threads run.
    pub fn add_doubt(&mut self, why: &Unknown) {
        if why.outweighs(self.doubt.as_ref()) {
            self.doubt = Some(why.clone());
        }
        self.chosen = false;
    }

    /// Data choose which of the active threads run.
    pub fn add_choice(&mut self, why: &Unknown) {
        if self.doubt.is_none() {
            (self.doubt, self.chosen) = (Some(why.clone()), true);
        }
    }

    /// More threads are on their way to labels.
    pub fn add_jumps(&mut self, jumps: &[(Name, ThreadSet)]) {
        for (label, threads) in jumps {
            match self.jumps.iter_mut().find(|(name, _)| name == label) {
                Some((_, here)) => *here = here.or(threads),
                None => self.jumps.push((label.clone(), *threads)),
            }
        }
    }
}

/// The threads that left an iteration or a loop.
#[derive(Clone, Copy, Default)]
pub struct LoopMask {
    /// By `continue`.
    pub continued: ThreadSet,
    /// By `break`.
    pub broken: ThreadSet,
    /// Whether it is a `switch`, which is not repeated.
    pub switch: bool,
    /// Whether all threads may have left it together, so that it is not known how many of its rounds run.
    pub together: bool,
}

/// A function's frame.
#[derive(Clone)]
pub struct Frame {
    /// The function.
    pub function: Arc<Function>,
    /// Its variables.
    pub slots: Slots,
    /// What bears on its requests.
    pub slice: Rc<Slice>,
    /// Its template parameters.
    pub env: Rc<Env>,
    /// The namespaces in which its names are looked up.
    pub namespace: Namespace,
    /// `this`.
    pub this: Option<Pointer>,
    /// What it returns, as far as it has.
    pub result: Value,
    /// The threads that have surely returned.
    pub returned: ThreadSet,
    /// The threads that may have returned what `result` is.
    pub may_have_returned: ThreadSet,
    /// The ways through the code that were open where it was called.
    pub open_ways: OpenWays,
}

pub(crate) fn slot_value(state: &State, frame: usize, local: LocalId) -> Value {
    let slot = state.frames.get(frame).and_then(|f| f.slots.get(local.0 as usize));
    slot.map_or(Value::Undefined, |slot| slot.value.clone())
}

/// A frame without variables.
pub(crate) fn empty_frame() -> Frame {
    Frame {
        function: nothing(),
        slots: Slots::default(),
        slice: Rc::default(),
        env: Rc::default(),
        namespace: Namespace::default(),
        this: None,
        result: Value::Undefined,
        returned: ThreadSet::NONE,
        may_have_returned: ThreadSet::NONE,
        open_ways: OpenWays::default(),
    }
}

/// A function without anything, for frames that only hold template parameters.
fn nothing() -> Arc<Function> {
    static NOTHING: OnceLock<Arc<Function>> = OnceLock::new();
    Arc::clone(NOTHING.get_or_init(|| {
        Arc::new(Function {
            name: "".into(),
            namespace: Namespace::default(),
            owner: None,
            owner_params: Vec::new(),
            owner_args: Vec::new(),
            kind: FunctionKind::Host,
            template_params: Vec::new(),
            constraints: Vec::new(),
            specialization: Vec::new(),
            is_virtual: false,
            is_const: false,
            params: Vec::new(),
            return_type: Type::Void,
            locals: Vec::new(),
            body: None,
            launch_bounds: Vec::new(),
            block_directive: None,
            damaged: false,
            calls: FoundLater::default(),
            writes: FoundLater::default(),
            declared_types: FoundLater::default(),
            shared_locals: FoundLater::default(),
            mentions: Mentions::default(),
            name_span: NOWHERE,
            span: NOWHERE,
        })
    }))
}

/// What leaves ways through the code open: conditions around of which both sides run, and sides that left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct OpenWays {
    pub sides: usize,
    pub bounds: usize,
    pub claims: usize,
    pub left: usize,
    pub loops: usize,
    pub is_doubtful: bool,
}
