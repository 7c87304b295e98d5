//! Where does a run begin: at a kernel with its scenario, or at host code for its launches?

use super::barriers::contents;
use super::budget::FileBudget;
use super::launch::{bind_launched, launch_environment};
use super::machine::{Aim, Bounds, Effort, Frame, LoopKey, Machine, Mode, OpenWays, Pitch, Settings, Told};
use super::slots::{Slot, Slots};
use super::types::{Binding, Env, Ty};
use super::value::Value;
use crate::domain::{Int, Key, Origin, Reason, Shape, Sight, SymbolId, ThreadSet, Unknown, Variation};
use crate::events::{Assumption, Covers, LaunchArg, LaunchSite, Trace};
use crate::ir::program::Program;
use crate::ir::{Function, Name, Param, Record, Scalar, TemplateArg, Type};
use crate::slice::Given;
use crate::source::Span;
use rustc_hash::FxHashSet;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// The most times that a kernel is run again because some of its loops were counted in two ways.
const MOST_CUT_AGAIN: usize = 2;

/// What a kernel is run with.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Setting {
    /// Threads in x, y and z.
    pub block: [u32; 3],
    /// Template arguments, as far as known; the rest are symbols.
    pub template_args: Vec<LaunchArg>,
    /// What type parameters are taken to be of which nothing is known, those of the kernel's class too.
    pub types: Vec<(Name, Type)>,
    /// Integer arguments, as far as known; the rest are symbols.
    pub args: Vec<Option<i64>>,
    /// What a symbol is taken to be modulo a number: `n = 4·q + 1` is `("n", 4, 1)`.
    pub residues: Vec<(String, i64, i64)>,
    /// The most that parameters can be, by name.
    pub most: Vec<(String, i64)>,
    /// The powers of two of which parameters are multiples, by name.
    pub powers: Vec<(String, i64)>,
    /// Which parameters are as large as there are threads, by name.
    pub covers: Vec<(String, Covers)>,
    /// The fewest blocks that a launch is known to have in each direction.
    pub grid: [Option<i64>; 3],
    /// The most blocks that a launch has in each direction, where host code limits them.
    pub most_blocks: [Option<i64>; 3],
    /// The directions in which each launch is known to have one block.
    pub flat: [bool; 3],
    /// Rows of shared arrays to be padded: the name in the declaration, and extra elements.
    pub pads: Vec<(Span, u64)>,
    /// What is tried larger, by its address in the program: a number in a type, by so many elements; a class, by so
    /// many words at its end.
    pub longer: Vec<(usize, u64)>,
    /// The distance between an array's rows, if it is changed or watched.
    pub pitch: Option<Pitch>,
}

impl Setting {
    /// One block, of which nothing else is known.
    #[must_use]
    pub(crate) fn of(block: [u32; 3]) -> Setting {
        Setting {
            block,
            template_args: Vec::new(),
            types: Vec::new(),
            args: Vec::new(),
            residues: Vec::new(),
            most: Vec::new(),
            powers: Vec::new(),
            covers: Vec::new(),
            grid: [None; 3],
            most_blocks: [None; 3],
            flat: [false; 3],
            pads: Vec::new(),
            longer: Vec::new(),
            pitch: None,
        }
    }
}

/// Runs a kernel (or a device function as if it were one) for one block.
#[must_use]
pub(crate) fn run_kernel(
    program: &Program,
    function: &Arc<Function>,
    setting: &Setting,
    budget: &FileBudget,
) -> Trace {
    run_with_effort(program, function, setting, budget, budget.effort())
}

/// The same, with no more than this effort.
#[must_use]
pub(crate) fn run_with_effort(
    program: &Program,
    function: &Arc<Function>,
    setting: &Setting,
    budget: &FileBudget,
    effort: Effort,
) -> Trace {
    let (trace, steps) = run_in_lengths(program, function, setting, effort.max(budget.effort()), Aim::Usual);
    budget.charge(steps);
    trace
}

/// Runs a kernel as long as it uses no thread coordinate but the first. If it uses another, that
/// is all that its trace says.
#[must_use]
pub(crate) fn run_flat(
    program: &Program,
    function: &Arc<Function>,
    setting: &Setting,
    budget: &FileBudget,
) -> Trace {
    run_aiming(Aim::Flat, program, function, setting, budget)
}

/// Runs a kernel for the intrinsics by which the lanes of its warps meet. What such a run records of anything
/// else may be less than is known of it.
#[must_use]
pub(crate) fn run_lanes(
    program: &Program,
    function: &Arc<Function>,
    setting: &Setting,
    budget: &FileBudget,
) -> Trace {
    run_aiming(Aim::Lanes, program, function, setting, budget)
}

/// Runs a kernel for what it does to global memory, too.
#[must_use]
pub(crate) fn run_memory(
    program: &Program,
    function: &Arc<Function>,
    setting: &Setting,
    budget: &FileBudget,
) -> Trace {
    run_aiming(Aim::Memory, program, function, setting, budget)
}

fn run_aiming(
    aim: Aim,
    program: &Program,
    function: &Arc<Function>,
    setting: &Setting,
    budget: &FileBudget,
) -> Trace {
    let (trace, steps) = run_in_lengths(program, function, setting, budget.effort(), aim);
    budget.charge(steps);
    trace
}

/// What the machine is told of the launch, and of what is tried.
fn set(settings: &mut Settings, setting: &Setting) {
    settings.pads.clone_from(&setting.pads);
    settings.longer.clone_from(&setting.longer);
    settings.pitch = setting.pitch.clone().map(Box::new);
    settings.residues.clone_from(&setting.residues);
    settings.most.clone_from(&setting.most);
    settings.powers.clone_from(&setting.powers);
    settings.covers.clone_from(&setting.covers);
    (settings.grid, settings.most_blocks, settings.flat) = (setting.grid, setting.most_blocks, setting.flat);
}

/// The trace of the last try, and the steps of all.
fn run_in_lengths(
    program: &Program,
    function: &Arc<Function>,
    setting: &Setting,
    effort: Effort,
    aim: Aim,
) -> (Trace, u64) {
    let (mut trace, mut steps) = (Trace::default(), 0);
    let (mut most_rounds, mut before) = (u64::MAX, None);
    for &(longest, longest_at_last) in effort.loop_lengths() {
        // Without a loop of more rounds, it would run as before.
        if most_rounds <= longest && before == Some(longest_at_last) {
            continue;
        }
        before = Some(longest_at_last);
        let mut changing = FxHashSet::default();
        // What it changes in global memory is known once it has run.
        let mut run_once = |bounds: Bounds, contents: bool, cut: &[LoopKey]| loop {
            let mut machine = Machine::new(program, Shape { dims: setting.block }, Mode::Device);
            machine.settings.longest = longest;
            machine.settings.longest_at_last = longest_at_last;
            machine.settings.aim = aim;
            machine.settings.effort = effort;
            machine.looping.bounds.clone_from(&bounds);
            machine.looping.cut_short(cut);
            machine.memory.contents = contents.then(Box::default);
            machine.memory.elsewhere.changing.clone_from(&changing);
            set(&mut machine.settings, setting);
            let env = launch_environment(&mut machine, function, &setting.template_args);
            machine.start(function, env, &setting.types, &setting.args);
            steps += machine.steps_taken();
            match machine.memory.elsewhere.found() {
                Some(found) if machine.trace.stopped.is_none() => changing = found,
                _ => break machine,
            }
        };
        let mut cut = Vec::new();
        let mut run = |bounds: Bounds, contents: bool| {
            let mut machine = run_once(bounds.clone(), contents, &cut);
            for _ in 0..MOST_CUT_AGAIN {
                let mixed = machine.looping.mixed();
                if mixed.is_empty() || machine.trace.stopped.is_some() {
                    break;
                }
                cut.extend(mixed);
                machine = run_once(bounds.clone(), contents, &cut);
            }
            machine
        };
        let mut machine = run(Bounds::default(), false);
        let told = machine.bounds_told();
        if !told.is_empty() && machine.trace.stopped.is_none() {
            machine = run(told.clone(), false);
        }
        if aim != Aim::Memory && contents::is_worthwhile(&machine.trace) {
            machine = run(told, true);
        }
        most_rounds = machine.looping.most_rounds;
        let futile = machine.is_futile();
        trace = machine.finish();
        if trace.stopped.is_none() || futile || (aim == Aim::Flat && (trace.axes[1] || trace.axes[2])) {
            break;
        }
    }
    (trace, steps)
}

/// What a host function leads to.
#[derive(Clone, Debug, Default)]
pub(crate) struct Led {
    /// Its launches.
    pub launches: Vec<LaunchSite>,
    /// Whether some may be missing because a way that the numbers refute was left.
    pub cut: bool,
    /// The steps that this took.
    pub steps: u64,
}

/// How a host function is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Manner {
    /// Whether a way that the numbers refute goes on.
    pub lenient: bool,
    /// Whether the run is to be short.
    pub is_short: bool,
}

/// Runs a host function for the launches it leads to. `launching`: the functions that lead to a launch. `told`: what the
/// text tells, for all runs of the program.
#[must_use]
pub(crate) fn run_host(
    program: &Program,
    function: &Arc<Function>,
    instance: &Instance,
    (launching, told): (&Rc<FxHashSet<Name>>, &Rc<RefCell<Told>>),
    manner: Manner,
) -> Led {
    let mut machine = Machine::new(program, Shape { dims: [1, 1, 1] }, Mode::Host);
    (machine.host.launching, machine.host.told) = (Rc::clone(launching), Rc::clone(told));
    (machine.host.lenient, machine.host.is_short) = (manner.lenient, manner.is_short);
    let globals = machine.globals_frame();
    machine.state.frames.push(globals);
    let mut env = launch_environment(&mut machine, function, &instance.args);
    bind_launched(&mut machine, &function.owner_params, &instance.of_class, &mut env);
    machine.start(function, env, &[], &[]);
    let steps = machine.steps_taken();
    Led { launches: machine.trace.launches, cut: machine.host.cut, steps }
}

/// Which function a template stands for, as far as known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Instance {
    /// Its own template arguments.
    pub args: Vec<LaunchArg>,
    /// Those of the class that it is a method of.
    pub of_class: Vec<LaunchArg>,
}

impl Instance {
    /// Whether nothing is known.
    pub(crate) fn is_open(&self) -> bool {
        self.args.is_empty() && self.of_class.is_empty()
    }
}

/// The template arguments of an explicit instantiation.
#[must_use]
pub(crate) fn instantiation(program: &Program, args: &[TemplateArg]) -> Vec<LaunchArg> {
    let mut machine = Machine::new(program, Shape { dims: [1, 1, 1] }, Mode::Host);
    machine.within_env(Rc::default(), |machine| machine.launch_arguments(args))
}

/// The same of a class template, with the defaults of what is left out.
#[must_use]
pub(crate) fn class_instantiation(program: &Program, class: &Record, args: &[TemplateArg]) -> Vec<LaunchArg> {
    let mut machine = Machine::new(program, Shape { dims: [1, 1, 1] }, Mode::Host);
    let params = &class.template_params;
    machine.within_env(Rc::default(), |machine| {
        let mut list = machine.launch_arguments(args);
        if params.iter().all(|param| !param.pack) {
            let mut env = Env::default();
            bind_launched(machine, params, &list, &mut env);
            let env = machine.bind_defaults(params, &class.namespace, env);
            let left = params.iter().skip(list.len()).map(|param| env.bindings.get(&param.name));
            list.extend(left.map(|bound| machine.bound_argument(bound)));
        }
        list
    })
}

impl Machine<'_> {
    fn start(
        &mut self,
        function: &Arc<Function>,
        mut env: Env,
        types: &[(Name, Type)],
        args: &[Option<i64>],
    ) {
        if function.body.is_none() {
            return;
        }
        for (name, ty) in types {
            let ty = self.resolve_type(ty);
            if name.contains("::") {
                self.settings.member_types.push((name.clone(), ty));
                continue;
            }
            let known = env.bindings.get(name).is_some_and(|it| !matches!(it, Binding::Type(Ty::Unknown(_))));
            if !known {
                env.bindings.insert(name.clone(), Binding::Type(ty));
            }
        }
        let instance = self.with_packs(function, &env);
        let function = instance.as_ref().unwrap_or(function);
        let Some(body) = &function.body else { return };
        let env = self.bind_rest(&function.template_params, env);
        let env = self.bind_rest(&function.owner_params, env);
        let env = self.lookups.memo.shared_env(function, env);
        let mut slots = Slots::unwritten(function.locals.len());
        for (at, param) in function.params.iter().enumerate() {
            let slot = self.parameter(&env, param, args.get(at).copied().flatten());
            slots.set(param.local.0 as usize, slot);
        }
        self.compiler.at_launch.enter_kernel(&function.params);
        if self.mode == Mode::Device {
            self.enter_uniform_kernel(function);
        }
        self.trace.tree.note_mentions(function.mentions.volatile, function.mentions.waits);
        let slice = self.slice_of(function, Given::KERNEL);
        let mut frame = Frame {
            function: Arc::clone(function),
            slice,
            slots,
            env,
            namespace: Arc::clone(&function.namespace),
            this: None,
            result: Value::Undefined,
            returned: ThreadSet::NONE,
            may_have_returned: ThreadSet::NONE,
            open_ways: OpenWays::default(),
        };
        frame.forget_stale();
        self.state.frames.push(frame);
        self.run(body);
        self.settle_ended(0);
    }

    /// A parameter given at run time: the same for every thread.
    fn parameter(&mut self, env: &Rc<Env>, param: &Param, known: Option<i64>) -> Slot {
        let ty = self.within_env(Rc::clone(env), |machine| machine.resolve_type(&param.ty));
        let why =
            Unknown::new(Reason::DataDependent, param.span, format!("`{}` is given at run time", param.name));
        let value = match &ty {
            Ty::Scalar(scalar) if scalar.is_integer() => match known {
                Some(number) => {
                    // The parameter holds the number that the launch passes, converted to its type.
                    let passed = match scalar {
                        Scalar::Bool => Int::constant(i64::from(number != 0)),
                        _ => self.wrapped_to(&Int::constant(number), *scalar),
                    };
                    Value::Int(Int { sight: Sight::at_launch(&param.name), ..passed }, *scalar)
                }
                None => {
                    let low = super::resolve::low_of(*scalar);
                    self.parameter_symbol(&param.name, low, super::resolve::high_of(*scalar), *scalar)
                }
            },
            Ty::Scalar(_) | Ty::Sized { .. } | Ty::Fragment(_) | Ty::Void => {
                Value::opaque(Variation::Uniform, why)
            }
            Ty::Pointer(inner) | Ty::Array(inner, _) => {
                let pointer = self.named_global(&param.name, inner);
                if param.restrict {
                    self.note_restrict(&pointer);
                }
                Value::Pointer(pointer)
            }
            Ty::Record(layout) if layout.record.is_some() || &*layout.name == "dim3" => {
                self.parameter_symbol(&param.name, None, None, Scalar::I32)
            }
            Ty::Record(_) => Value::opaque(Variation::Uniform, why),
            Ty::Unknown(_) | Ty::Qualified(..) | Ty::Enum(..) => {
                self.parameter_symbol(&param.name, None, None, Scalar::I32)
            }
        };
        let ty = match ty {
            Ty::Array(inner, _) => Ty::Pointer(inner),
            other => other,
        };
        Slot { value, ty, reference: false }
    }

    fn parameter_symbol(&mut self, name: &str, low: Option<i64>, high: Option<i64>, scalar: Scalar) -> Value {
        let key = Key::Named(format!("parameter {name}"));
        let id = self.world.symbols.intern(key, |_| name.to_string(), Origin::Given, low, high);
        Value::Int(self.with_residue(id), scalar)
    }

    /// The symbol, or `modulus · symbol + residue` when that is asked for.
    pub(crate) fn with_residue(&mut self, id: SymbolId) -> Int {
        let name = &self.world.symbols.get(id).name;
        match self.settings.residues.iter().find(|(wanted, _, _)| wanted == name) {
            Some(&(_, modulus, residue)) => {
                let scaled = self.world.scale(&Int::symbol(id), modulus);
                self.world.add(&scaled, &Int::constant(residue))
            }
            None => Int::symbol(id),
        }
    }

    /// The trace, with the assumptions that arithmetic made along the way.
    fn finish(mut self) -> Trace {
        self.note_missing();
        self.end_barriers();
        let symbols = &self.world.symbols;
        self.trace
            .tree
            .keep_symbols(|id| (symbols.get(id).clone(), symbols.remainder(id), symbols.at_zero(id)));
        let mut names: Vec<String> = Vec::new();
        for id in &self.world.taken_nonnegative {
            let symbol = self.world.symbols.get(*id);
            let name = format!("`{}`", symbol.name);
            if symbol.origin == Origin::Given && !names.contains(&name) {
                names.push(name);
            }
        }
        // First those that are written, then what is made of them.
        names.sort_by_key(|name| name.contains(' '));
        if !names.is_empty() {
            let assumed = Assumption::NotNegative { names: names.into() };
            let relied = self.world.relied_on_signs.get();
            for access in &mut self.trace.accesses {
                if relied || access.patterns.iter().any(|p| p.unit != 0 || !p.varying.is_empty()) {
                    access.assumptions.push(assumed.clone());
                }
            }
        }
        self.trace.demands = self
            .world
            .demands
            .iter()
            .map(|(id, multiple)| (self.world.symbols.get(*id), *multiple))
            .filter(|(symbol, _)| symbol.origin != Origin::Loop && symbol.factors.len() == 1)
            .map(|(symbol, multiple)| (symbol.name.to_string(), multiple as i64))
            .collect();
        self.trace.demands.sort_unstable();
        self.trace.left_out = self.requests.take_left_out();
        for site in self.requests.read_again() {
            let assumptions = &mut self.trace.accesses[site].assumptions;
            if !assumptions.contains(&Assumption::ReadAgain) {
                assumptions.push(Assumption::ReadAgain);
            }
        }
        // Sites of an iteration that was taken back were never reached.
        self.trace.accesses.retain(|access| {
            let requested = access.patterns.iter().any(|pattern| pattern.count > 0);
            access.unknown.is_some() || requested || access.kept > 0
        });
        for access in &mut self.trace.accesses {
            access.patterns.retain(|pattern| pattern.count > 0);
            // Nothing of it is counted.
            if access.patterns.is_empty() && access.kept > 0 {
                access.assumptions.retain(|it| !matches!(it, Assumption::NotSaved { .. }));
            }
        }
        self.trace
    }
}

/// A constant in a kernel's header, such as the bound of `__launch_bounds__`.
#[must_use]
pub(crate) fn constant_in_kernel(
    program: &Program,
    function: &Arc<Function>,
    template_args: &[LaunchArg],
    expr: &crate::ir::Expr,
) -> Option<i64> {
    let mut machine = Machine::new(program, Shape { dims: [1, 1, 1] }, Mode::Host);
    let env = launch_environment(&mut machine, function, template_args);
    let env = machine.bind_rest(&function.template_params, env);
    machine.within_env(Rc::new(env), |machine| machine.constant(expr))
}
