//! What is the state of a run for all threads of a block at once?

use super::budget::Effort;
use super::loop_plan::{Known, LoopKey};
use super::slots::Slots;
use super::types::{Env, Ty};
use super::value::{Condition, ObjectId, Pointer, Value};
use crate::domain::{Reason, Shape, SymbolId, ThreadSet, Unknown, World};
use crate::events::{Assumption, Call, Refuted, Split, Tile, Trace};
use crate::ir::namespace::Namespace;
use crate::ir::program::Program;
use crate::ir::{Alias, Function, Lambda, LocalId, Name, Stmt};
use crate::slice::{Given, Part, Slice};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// The layouts of one record, by what its parameters stood for.
pub type Layouts = Vec<(Rc<Env>, Ty)>;

/// Calls within calls.
pub const CALL_DEPTH: usize = 24;

/// Whether device or host code is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A kernel, by a block of threads.
    Device,
    /// Host code, by one thread, to see its launches.
    Host,
}

/// What a run is made to see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Aim {
    /// Shared memory and barriers.
    Usual,
    /// The same, as long as no second thread coordinate is used.
    Flat,
    /// By which intrinsics the lanes of a warp meet, too.
    Lanes,
    /// The same as usual, and what is done to global memory under a name.
    Memory,
}

/// One run.
pub struct Machine<'p> {
    /// What is visible.
    pub program: &'p Program,
    /// Integer arithmetic.
    pub world: World,
    /// What changes as it runs.
    pub state: State,
    /// For how many threads barrier objects were made.
    pub barrier_counts: Vec<super::sync_object::Counted>,
    /// Where pipelines of a thread are made.
    pub pipelines: Vec<Span>,
    /// Memory objects.
    pub objects: Vec<Object>,
    /// What stands for one of several of them.
    pub alternatives: super::alternatives::Alternatives,
    /// What is recorded.
    pub trace: Trace,
    /// Lookup of sites and patterns already in the trace.
    pub index: super::record::Index,
    /// Off while a loop body is probed.
    pub recording: bool,
    /// How often what happens now happens.
    pub weight: u64,
    /// The loops around of which it is not known how often they run, innermost last.
    pub uncounted: Vec<Span>,
    /// Steps taken.
    pub steps: u64,
    /// The calls around.
    pub calls: Vec<Call>,
    /// Calls of a function within two of its own.
    pub recursions: u32,
    /// The conditions around.
    pub splits: Vec<Split>,
    /// Numbers the splits.
    pub next_split: u32,
    /// Device or host.
    pub mode: Mode,
    /// Rows of shared arrays to be padded: name span of the declaration, extra elements.
    pub pads: Vec<(Span, u64)>,
    /// What the run is made to see.
    pub aim: Aim,
    /// The expression whose value is only put into a variable, by its address.
    pub set_aside: Option<usize>,
    /// The distance between an array's rows, where it is changed or watched.
    pub pitch: Option<Box<super::pitch::Pitch>>,
    /// What symbols are taken to be modulo a number.
    pub residues: Vec<(String, i64, i64)>,
    /// Slots that were assigned since a loop began to watch, innermost loop last.
    pub watched: Vec<Vec<(usize, LocalId)>>,
    /// Variables whose address is a value.
    pub exposed: super::exposed::Exposed,
    /// The longest loop that is run for real.
    pub longest: u64,
    /// The longest that is when most of the budget is spent.
    pub longest_at_last: u64,
    /// The most rounds of a loop that were held against `longest`.
    pub most_rounds: u64,
    /// How hard it is tried to get to the end.
    pub effort: Effort,
    /// Whether an access has left its shared array, or a number its type, since a loop began to watch
    /// for it.
    pub out_of_bounds: bool,
    /// Whether numbers given at run time are asserted to have some bound.
    pub are_asserted: bool,
    /// By loop: whether its bound may be as large as one likes.
    pub unbounded_loops: FxHashMap<Span, bool>,
    /// Whether the banks of a request depend on the round of a counted loop.
    pub uneven: bool,
    /// Whether threads may leave the loop that runs in different iterations.
    pub apart: bool,
    /// The states that were kept when the loop that runs began.
    pub left_of_loop: usize,
    /// The conditions around the iteration that runs.
    pub around_iteration: usize,
    /// Conditions found open so far.
    pub open: u64,
    /// Those in the rounds of a loop that were watched last.
    pub watched_open: u64,
    /// Block barriers passed so far.
    pub epoch: u32,
    /// Rounds of loops so far that the compiler does not make straight code of.
    pub region: u32,
    /// Iterations so far of loops whose trip count the compiler does not know, and loops ended.
    pub iteration: u32,
    /// Loops so far that were run for all rounds at once.
    pub rolled: u32,
    /// Accesses of memory other than shared so far.
    pub elsewhere: u64,
    /// Writes to variables and accesses of statements that are passed over, by their address.
    pub passed: FxHashMap<usize, super::straight::Operations>,
    /// The stretch of code without branches that runs, and how many there were.
    pub stretch: super::straight::Stretch,
    /// Rounds of the loops that run, innermost last.
    pub rounds: Vec<super::straight::Rounds>,
    /// By shared array: whether it was read last, and how often that changed.
    pub turns: Vec<(bool, u32)>,
    /// `return`s run so far.
    pub returns: u64,
    /// The variables declared in the bodies of loops, by their address.
    pub declared: FxHashMap<usize, Rc<FxHashSet<LocalId>>>,
    /// What was found of loops so far.
    pub plans: FxHashMap<LoopKey, Known>,
    /// Writes to variables so far.
    pub writes: u64,
    /// Whether the number of a round was given to a type that may be too narrow for it.
    pub may_have_wrapped: bool,
    /// Where the statement at hand stores one number from all lanes of a warp.
    pub stores_of_warp: Option<Span>,
    /// Where threads left a function or loop under a condition, innermost last.
    pub departures: Vec<(ThreadSet, Split)>,
    /// The barriers come to in the loops around of which it is not known how often they run.
    pub came: Vec<usize>,
    /// What is written to shared memory, if that is asked for.
    pub contents: Option<Box<super::barriers::contents::Contents>>,
    /// Shared variables by declaration and the template parameters in force, so that a redeclaration in a loop is
    /// the same object.
    pub shared: FxHashMap<Span, Vec<(Rc<Env>, ObjectId)>>,
    /// What bears on the requests of the functions run so far, by their address.
    pub slices: FxHashMap<(usize, Given), Rc<Slice>>,
    /// What the compiler does not know, though a launch tells it.
    pub at_launch: crate::codegen::AtLaunch,
    /// What the compiler sees to be the same in all lanes.
    pub uniformities: crate::codegen::Uniformities,
    /// What is known of the bounds of loops.
    pub bounds: super::enumerate::Bounds,
    /// Loops around whose values are enumerated.
    pub enumerating: u32,
    /// What was looked up so far.
    pub memo: super::memo::Memo,
    /// A frame without variables.
    pub blank: Frame,
    /// Whether the type that is looked up is wanted with `const` and `volatile`.
    pub keeps_qualifiers: bool,
    /// Records already laid out, by name and place, with what their parameters stood for.
    pub layouts: FxHashMap<(Name, Span), Layouts>,
    /// Matrices of the `ldmatrix` or `stmatrix` being recorded; else 0.
    pub matrices: u8,
    /// Whether the access recorded now is a part of a `wmma` call.
    pub fragment: bool,
    /// As [`Access::tiles_fit`](crate::events::Access::tiles_fit), of that call.
    pub tiles_fit: bool,
    /// The tile that it asks for.
    pub tile: Option<Arc<Tile>>,
    /// The asynchronous copy being recorded, if one is.
    pub copying: Option<super::copies::Copying>,
    /// The lambda whose body runs, whose `return` is its own.
    pub lambda: Option<Arc<Lambda>>,
    /// The lambdas whose bodies run, innermost last, by their address.
    pub running: Vec<usize>,
    /// Lambdas of which there may be several copies, each with what it captured; by their address.
    pub several: FxHashSet<usize>,
    /// Those that a lambda around has handed back.
    pub handed_back: FxHashSet<usize>,
    /// Depth of type and constant lookups.
    pub lookup_depth: usize,
    /// Lookups since the outermost one that is under way.
    pub lookups_within: u32,
    /// Typedefs of the running method's class whose meaning is being looked up.
    pub own_aliases: Vec<Name>,
    /// Aliases of a file or namespace, without parameters, whose meaning is being looked up.
    pub aliases_within: Vec<Arc<Alias>>,
    /// States in which one side of a branch left a loop or function that the other stayed in.
    pub left: Vec<super::rejoin::Left>,
    /// What only a run of host code needs.
    pub host: super::host::Host,
}

/// What changes as the machine runs, and is copied where control forks.
#[derive(Clone)]
pub struct State {
    /// The call stack.
    pub frames: Vec<Frame>,
    /// The threads that run now.
    pub active: ThreadSet,
    /// Why `active` is only an upper bound, if it is.
    pub doubt: Option<Unknown>,
    /// Whether that is only because data choose, for each thread apart, whether it runs.
    pub chosen: bool,
    /// The threads that have left the kernel.
    pub exited: ThreadSet,
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
    /// In host code: conditions that hold here, or fail, because the other way led elsewhere.
    pub claims: Vec<Rc<(Condition, bool)>>,
    /// In lenient host code: what the numbers refute on the way here.
    pub refuted: Option<Arc<Refuted>>,
    /// Which barriers the threads have come to.
    pub course: super::barriers::Course,
}

impl State {
    /// It is not known any more which of the active threads run.
    pub fn add_doubt(&mut self, why: &Unknown) {
        self.doubt.get_or_insert_with(|| why.clone());
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
}

/// What an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObjectKind {
    /// Shared memory.
    Shared,
    /// Anything a kernel gets a pointer to, and file-scope variables.
    Global,
    /// Of a pointer of which nothing is known.
    Anywhere,
}

/// A memory object.
#[derive(Clone, Debug)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// Its name for messages.
    pub name: Name,
    /// Why a value read from it is not known.
    pub read: Arc<str>,
    /// Index into [`Trace::arrays`] for those whose accesses are recorded.
    pub array: Option<usize>,
}

impl Object {
    /// An object; `array` is its number in the trace.
    #[must_use]
    pub fn new(kind: ObjectKind, name: Name, array: Option<usize>) -> Object {
        let what = if kind == ObjectKind::Shared { "shared memory" } else { "memory" };
        let read = format!("its value comes from {what} (`{name}`)").into();
        Object { kind, name, read, array }
    }
}

impl<'p> Machine<'p> {
    /// A machine for a block of this shape.
    #[must_use]
    pub fn new(program: &'p Program, shape: Shape, mode: Mode) -> Machine<'p> {
        let longest = Effort::Whole.loop_lengths()[0];
        Machine {
            program,
            world: World::new(shape),
            state: State {
                frames: Vec::new(),
                active: ThreadSet::all(shape),
                doubt: None,
                chosen: false,
                exited: ThreadSet::NONE,
                loops: Vec::new(),
                jumps: Vec::new(),
                assumptions: Arc::default(),
                may_have_left: false,
                passable: Vec::new(),
                bounds: Vec::new(),
                facts: Vec::new(),
                claims: Vec::new(),
                refuted: None,
                course: super::barriers::Course::default(),
            },
            barrier_counts: Vec::new(),
            pipelines: Vec::new(),
            objects: vec![Object::new(ObjectKind::Anywhere, "memory".into(), None)],
            alternatives: super::alternatives::Alternatives::default(),
            trace: Trace::default(),
            index: super::record::Index::default(),
            recording: true,
            weight: 1,
            uncounted: Vec::new(),
            steps: 0,
            calls: Vec::new(),
            splits: Vec::new(),
            next_split: 0,
            mode,
            pads: Vec::new(),
            pitch: None,
            residues: Vec::new(),
            watched: Vec::new(),
            recursions: 0,
            exposed: Vec::new(),
            longest: longest.0,
            longest_at_last: longest.1,
            most_rounds: 0,
            aim: Aim::Usual,
            set_aside: None,
            effort: Effort::Whole,
            out_of_bounds: false,
            are_asserted: false,
            unbounded_loops: FxHashMap::default(),
            uneven: false,
            apart: false,
            left_of_loop: 0,
            around_iteration: 0,
            open: 0,
            watched_open: 0,
            epoch: 0,
            region: 0,
            iteration: 0,
            rolled: 0,
            elsewhere: 0,
            passed: FxHashMap::default(),
            stretch: super::straight::Stretch::default(),
            rounds: Vec::new(),
            turns: Vec::new(),
            returns: 0,
            declared: FxHashMap::default(),
            plans: FxHashMap::default(),
            writes: 0,
            may_have_wrapped: false,
            stores_of_warp: None,
            departures: Vec::new(),
            came: Vec::new(),
            contents: None,
            shared: FxHashMap::default(),
            slices: FxHashMap::default(),
            at_launch: crate::codegen::AtLaunch::default(),
            uniformities: crate::codegen::Uniformities::default(),
            bounds: super::enumerate::Bounds::default(),
            enumerating: 0,
            memo: super::memo::Memo::default(),
            blank: super::resolve::empty_frame(),
            keeps_qualifiers: false,
            layouts: FxHashMap::default(),
            matrices: 0,
            fragment: false,
            tiles_fit: true,
            tile: None,
            copying: None,
            lambda: None,
            running: Vec::new(),
            several: FxHashSet::default(),
            handed_back: FxHashSet::default(),
            lookup_depth: 0,
            lookups_within: 0,
            own_aliases: Vec::new(),
            aliases_within: Vec::new(),
            left: Vec::new(),
            host: super::host::Host::default(),
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
        let known = self.slices.entry((Arc::as_ptr(function).addr(), given));
        let slice = Rc::clone(known.or_insert_with(|| Rc::new(Slice::of(function, given, program))));
        self.use_axes(slice.axes);
        slice
    }

    /// What a function is given, in a run with this aim.
    fn asked(&self, given: Given) -> Given {
        Given { lanes: self.aim == Aim::Lanes, memory: self.aim == Aim::Memory, ..given }
    }

    /// Notes which thread coordinates are used.
    pub fn use_axes(&mut self, axes: [bool; 3]) {
        for (used, mentioned) in self.trace.axes.iter_mut().zip(axes) {
            *used |= mentioned;
        }
        if self.aim == Aim::Flat && (self.trace.axes[1] || self.trace.axes[2]) && self.trace.stopped.is_none()
        {
            let text = "the kernel uses a second thread coordinate";
            self.trace.stopped = Some(Unknown::new(Reason::BlockShape, super::resolve::NOWHERE, text));
            self.steps = u64::MAX - 1;
        }
    }

    /// Whether a statement can be passed over now.
    #[must_use]
    pub fn passes_over(&self, stmt: &Stmt) -> bool {
        match self.frame().and_then(|frame| frame.slice.part(stmt)) {
            Some(Part::Idle) => true,
            // Whether an access leaves its array is asked where values are enumerated.
            Some(Part::Quiet) => !self.recording && self.enumerating == 0,
            None => false,
        }
    }

    /// Whether a lambda's body runs.
    #[must_use]
    pub fn in_lambda(&self) -> bool {
        self.lambda.is_some()
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
        self.frame().map_or_else(|| self.memo.no_env(), |frame| Rc::clone(&frame.env))
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
        self.objects.push(Object::new(ObjectKind::Global, name, None));
        ObjectId(self.objects.len() as u32 - 1)
    }
}
