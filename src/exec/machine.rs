//! What is the state of a run for all threads of a block at once?
//!
//! The parts are data that know nothing of how code is run. What runs code adds methods to [`Machine`], each file for
//! its own question; none of the parts may use such a file.

mod around;
mod at_hand;
mod compiler;
mod contents;
mod course;
mod host;
mod lookups;
mod loops;
mod mark;
mod meanings;
mod memo;
mod memory;
mod pitch;
mod settings;
mod stack;
mod state;
mod ways;

use super::value::{Env, NOWHERE, ObjectId};
use crate::domain::{Reason, Shape, ThreadSet, Unknown, World};
use crate::events::{Assumption, Requests, Trace};
use crate::ir::program::Program;
use crate::ir::{Function, Name, Stmt};
use crate::slice::{Given, Part, Slice};
use std::rc::Rc;
use std::sync::Arc;

pub(crate) use around::{Around, Departure, Exit, Left};
pub(crate) use at_hand::{AtHand, Copying, Lent, OneOfSeveral};
pub(crate) use compiler::{Answered, ForCompiler, Operations, Rounds};
pub(crate) use contents::{BehindExits, Bytes, MayWrite, Read, SureRead};
pub(crate) use course::Absent;
pub(crate) use host::{ChosenKernel, Host, How, Implied, LookedAt, Made, Told};
pub(crate) use lookups::{Lambdas, Lookups};
pub(crate) use loops::{Bounds, Change, Found, Kind, LoopContext, LoopKey, LoopPlace};
pub(crate) use mark::Mark;
pub(crate) use meanings::{Asked, Seen};
pub(crate) use memo::{Chosen, ConstantCall, Memo, Specialised};
pub(crate) use memory::{
    Begins, Counted, Declared, Exposed, Memory, Object, ObjectKind, Objects, Several, Table,
};
pub(crate) use pitch::{Extra, Longer, Pitch};
pub(crate) use settings::{Aim, Asserted, Effort, Mode, Settings};
pub(crate) use state::{Frame, LoopMask, OpenWays, State, empty_frame, slot_value};
pub(crate) use ways::{Claim, Groups, Ways};

/// Calls within calls.
pub const CALL_DEPTH: usize = 24;

/// One run.
pub struct Machine<'p> {
    /// What is visible.
    pub program: &'p Program,
    /// Device or host.
    pub mode: Mode,
    /// What the run is made to do.
    pub settings: Settings,
    /// Integer arithmetic.
    pub world: World,
    /// What changes as it runs.
    pub state: State,
    /// The calls and conditions around.
    pub around: Around,
    /// The loops around.
    pub looping: LoopContext,
    /// Memory objects.
    pub memory: Memory,
    /// What names stand for.
    pub lookups: Lookups,
    /// The lambdas that run.
    pub lambdas: Lambdas,
    /// What is counted for the compiler's sake.
    pub compiler: ForCompiler,
    /// The access that is about to be recorded.
    pub at_hand: AtHand,
    /// What is recorded.
    pub trace: Trace,
    /// The requests of warps, counted as accesses happen.
    pub requests: Requests,
    /// Off while a loop body is probed.
    pub recording: bool,
    /// How often what happens now happens.
    pub weight: u64,
    /// Steps taken.
    pub steps: u64,
    /// What only a run of host code needs.
    pub host: Host,
}

impl<'p> Machine<'p> {
    /// A machine for a block of this shape.
    #[must_use]
    pub fn new(program: &'p Program, shape: Shape, mode: Mode) -> Machine<'p> {
        let anywhere = Object::new(ObjectKind::Anywhere, "memory".into(), None);
        Machine {
            program,
            mode,
            settings: Settings::default(),
            world: World::new(shape),
            state: State::of(shape),
            around: Around::default(),
            looping: LoopContext::default(),
            memory: Memory { objects: vec![anywhere], ..Memory::default() },
            lookups: Lookups::default(),
            lambdas: Lambdas::default(),
            compiler: ForCompiler::default(),
            at_hand: AtHand::default(),
            trace: Trace::default(),
            requests: Requests::default(),
            recording: true,
            weight: 1,
            steps: 0,
            host: Host::default(),
        }
    }

    /// The block's shape.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.world.shape
    }

    /// What bears on a function's requests; its thread coordinates are noted as used.
    pub fn slice_of(&mut self, function: &Arc<Function>, given: Given) -> Rc<Slice> {
        if self.mode == Mode::Host {
            return Rc::default();
        }
        let (program, given) = (self.program, self.asked(given));
        let known = self.lookups.slices.entry((Arc::as_ptr(function).addr(), given));
        let slice = Rc::clone(known.or_insert_with(|| Rc::new(Slice::of(function, given, program))));
        self.use_axes(slice.axes);
        slice
    }

    /// What a function is given, in a run with this aim.
    fn asked(&self, given: Given) -> Given {
        Given { lanes: self.settings.aim == Aim::Lanes, memory: self.settings.aim == Aim::Memory, ..given }
    }

    /// Notes which thread coordinates are used.
    pub fn use_axes(&mut self, axes: [bool; 3]) {
        for (used, mentioned) in self.trace.axes.iter_mut().zip(axes) {
            *used |= mentioned;
        }
        if self.settings.aim == Aim::Flat
            && (self.trace.axes[1] || self.trace.axes[2])
            && self.trace.stopped.is_none()
        {
            let text = "the kernel uses a second thread coordinate";
            self.trace.stopped = Some(Unknown::new(Reason::BlockShape, NOWHERE, text));
            self.steps = u64::MAX - 1;
        }
    }

    /// Evaluates what the program does not do here: no access or barrier of it is recorded.
    pub fn unrecorded<T>(&mut self, evaluate: impl FnOnce(&mut Self) -> T) -> T {
        let recording = std::mem::replace(&mut self.recording, false);
        let value = evaluate(self);
        self.recording = recording;
        value
    }

    /// Whether a statement can be passed over now.
    #[must_use]
    pub fn passes_over(&self, stmt: &Stmt) -> bool {
        match self.frame().and_then(|frame| frame.slice.part(stmt)) {
            Some(Part::Idle) => true,
            // Whether an access leaves its array is asked where values are enumerated.
            Some(Part::Quiet) => !self.recording && self.looping.enumerating == 0,
            None => false,
        }
    }

    /// Whether a lambda's body runs.
    #[must_use]
    pub fn in_lambda(&self) -> bool {
        self.lambdas.current.is_some()
    }

    /// The innermost frame's number.
    #[must_use]
    pub fn top(&self) -> usize {
        self.state.frames.len().saturating_sub(1)
    }

    /// The innermost frame.
    #[must_use]
    pub fn frame(&self) -> Option<&Frame> {
        self.state.frames.last()
    }

    /// The template parameters in force.
    #[must_use]
    pub fn env(&self) -> Rc<Env> {
        self.frame().map_or_else(|| self.lookups.memo.no_env(), |frame| Rc::clone(&frame.env))
    }

    /// Threads that could be active in the innermost frame.
    #[must_use]
    pub fn everyone(&self) -> ThreadSet {
        self.world.all.minus(&self.state.exited)
    }

    /// Adds an assumption that holds from here on in the present branch.
    pub fn assume(&mut self, assumption: Assumption) {
        if !self.state.assumptions.contains(&assumption) {
            Arc::make_mut(&mut self.state.assumptions).push(assumption);
        }
    }

    /// What was assumed after the first of them holds no longer.
    pub fn assume_no_more_than(&mut self, first: usize) {
        if self.state.assumptions.len() > first {
            Arc::make_mut(&mut self.state.assumptions).truncate(first);
        }
    }

    /// A new object that is not shared memory.
    pub fn global_object(&mut self, name: Name) -> ObjectId {
        self.memory.objects.push(Object::new(ObjectKind::Global, name, None));
        ObjectId(self.memory.objects.len() as u32 - 1)
    }
}
