//! How is host code run, so that its launches are seen?
//!
//! By the same machine, with one thread. Three things differ from a kernel: file-scope variables
//! are variables; a number that one of several branches gave stays one of several numbers, so
//! that each of them can be launched with; and loops only run as far as they may matter.
//!
//! Example: after `if (n > 4096) threads = 256; else threads = 128;` the variable is a symbol that
//! stands for 256 or 128, whichever side was taken. A launch with it is noted twice, and
//! `if (threads == 256) k<256><<<g, threads>>>()` once.

use super::int::Int;
use super::machine::{Frame, Machine, Mode, Slot, State};
use super::resolve::NOWHERE;
use super::stmt::Join;
use super::symbol::{Origin, SymbolId};
use super::types::Ty;
use super::value::{Condition, Place, Pointer, Reason, Target, Unknown, Value, Variation};
use crate::ir::visit::{Found, visit_stmts};
use crate::ir::{BinaryOp, Declaration, Expr, Name, Path, Scalar, Stmt, Storage};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Iterations of a loop that are run.
const LONGEST: u32 = 64;
/// Iterations without a new launch after which a loop with launches is left.
const IDLE: u32 = 8;
/// Choices within choices that are followed.
const DEEPEST: u32 = 10;
/// The most ways through the choices of one launch.
const MOST_CASES: usize = 32;

/// What a run of host code keeps besides the machine's own.
#[derive(Debug, Default)]
pub struct Host {
    /// Functions that lead to a launch.
    pub launching: Rc<FxHashSet<Name>>,
    /// Symbols that stand for one of two numbers: the choice, the number when it is 1, and when
    /// it is 0, and how deep choices are nested in them.
    either: FxHashMap<SymbolId, (SymbolId, Int, Int, u32)>,
    /// Conditions of the branches around, and which way they went.
    constraints: Vec<(Condition, bool)>,
    /// File-scope variables, by name: their slot in the outermost frame.
    globals: FxHashMap<Name, u32>,
    /// Kernels of which one is chosen at run time; named by a path that is not an identifier.
    kernels: FxHashMap<Name, Vec<Path>>,
    /// Loops that lead to a launch, by their place.
    reaching: FxHashMap<Span, bool>,
    /// Loops around that lead to no launch.
    idle_loops: u32,
}

impl Machine<'_> {
    /// A frame outside of all others that holds the file-scope variables.
    pub fn globals_frame(&mut self) -> Frame {
        let names = self.program.modules.iter().flat_map(|module| &module.variables);
        for variable in names {
            let next = self.host.globals.len() as u32;
            self.host.globals.entry(variable.name.clone()).or_insert(next);
        }
        let empty = Slot { value: Value::Undefined, ty: Ty::Void, reference: false };
        let mut frame = super::resolve::empty_frame();
        frame.slots = vec![empty; self.host.globals.len()];
        frame
    }

    /// Where a file-scope variable of host code is kept.
    pub fn host_variable(&mut self, variable: &Declaration) -> Option<Pointer> {
        if self.mode != Mode::Host
            || !matches!(variable.storage, Storage::Global | Storage::Static | Storage::Automatic)
        {
            return None;
        }
        let local = crate::ir::LocalId(*self.host.globals.get(&variable.name)?);
        let slot = self.state.frames.first()?.slots.get(local.0 as usize)?;
        if matches!(slot.ty, Ty::Void) {
            let ty = self.resolve_type(&variable.ty);
            let value = match &variable.init {
                Some(init) => {
                    let value = self.within_env(Rc::default(), |machine| machine.initial(init, &ty));
                    self.convert(value, &ty)
                }
                None if matches!(ty, Ty::Array(..) | Ty::Record(_)) => Value::Undefined,
                None => {
                    let why = Unknown::new(Reason::DataDependent, NOWHERE, "a variable set at run time");
                    self.unknown_of(&ty, Variation::Uniform, &variable.name, &why)
                }
            };
            if let Some(slot) = self.state.frames.first_mut().and_then(|f| f.slots.get_mut(local.0 as usize))
            {
                *slot = Slot { value, ty, reference: false };
            }
        }
        let pointee = self.state.frames.first()?.slots.get(local.0 as usize)?.ty.clone();
        let place = Place { frame: 0, local, path: Vec::new(), blurred: false };
        Some(Pointer { target: Target::Place(place), pointee })
    }

    /// `if` in host code: both sides are run unless the numbers decide.
    pub fn host_branch(&mut self, value: &Value, span: Span, then: &[Stmt], otherwise: &[Stmt]) {
        let condition = self.condition_of(value, span);
        let truth = self.truth(&condition, false);
        if truth.decided {
            return self.run(if truth.can_hold.is_empty() { otherwise } else { then });
        }
        let decided = self.follows(&condition, &mut Vec::new());
        if let Some(holds) = decided {
            return self.run(if holds { then } else { otherwise });
        }
        let start = self.state.clone();
        self.host.constraints.push((condition, true));
        self.state.facts.extend(truth.equality);
        self.run(then);
        self.state.facts.truncate(start.facts.len());
        if let Some(last) = self.host.constraints.last_mut() {
            last.1 = false;
        }
        let held = std::mem::replace(&mut self.state, start);
        self.run(otherwise);
        self.host.constraints.pop();
        let choice = self.world.symbols.fresh("a condition".into(), Origin::Choice, Some(0), Some(1));
        let why = truth.why.unwrap_or_else(|| {
            Unknown::new(Reason::DataDependentMask, span, "a condition that is not known")
        });
        self.join(held, Join::Uniform(choice, why));
    }

    /// What one of two branches gave. A number wins over a value that is not known: it is what
    /// the program falls back to.
    pub fn host_choose(&mut self, a: &Value, b: &Value, choice: SymbolId) -> Option<Value> {
        if self.mode != Mode::Host {
            return None;
        }
        Some(match (a, b) {
            (Value::Int(x, scalar), Value::Int(y, _)) => Value::Int(self.either(choice, x, y), *scalar),
            (Value::Opaque(..), known) | (known, Value::Opaque(..)) => known.clone(),
            (Value::Function(f), Value::Function(g)) => self.kernel_choice(f, g),
            (Value::Int(int, _), function @ (Value::Function(_) | Value::Pointer(_)))
            | (function @ (Value::Function(_) | Value::Pointer(_)), Value::Int(int, _))
                if int.as_constant() == Some(0) =>
            {
                function.clone()
            }
            _ => return None,
        })
    }

    /// `x` when `choice` is 1, else `y`.
    fn either(&mut self, choice: SymbolId, x: &Int, y: &Int) -> Int {
        let (known_x, known_y) = (self.is_choice(x), self.is_choice(y));
        match (known_x, known_y) {
            _ if x == y => return x.clone(),
            (Some(_), None) => return x.clone(),
            (None, Some(_)) => return y.clone(),
            _ => {}
        }
        let depth = 1 + known_x.unwrap_or(0).max(known_y.unwrap_or(0));
        if depth > DEEPEST || known_x.is_none() {
            return Int::symbol(self.world.symbols.fresh("a number".into(), Origin::Given, None, None));
        }
        let (low, high) = (self.world.bounds(x), self.world.bounds(y));
        let low_of = low.0.zip(high.0).map(|(a, b)| a.min(b));
        let high_of = low.1.zip(high.1).map(|(a, b)| a.max(b));
        let id = self.world.symbols.fresh("one of two numbers".into(), Origin::Given, low_of, high_of);
        self.host.either.insert(id, (choice, x.clone(), y.clone(), depth));
        Int::symbol(id)
    }

    /// For a number made of constants and choices alone, how deep its choices are nested.
    fn is_choice(&self, int: &Int) -> Option<u32> {
        int.terms.iter().try_fold(0, |depth, (id, _)| Some(depth.max(self.host.either.get(id)?.3)))
    }

    fn kernel_choice(&mut self, f: &Path, g: &Path) -> Value {
        let mut all = self.kernels_of(f);
        for path in self.kernels_of(g) {
            if !all.contains(&path) && all.len() < 64 {
                all.push(path);
            }
        }
        let name: Name = format!("one of {} kernels, {}", all.len(), self.host.kernels.len()).into();
        self.host.kernels.insert(name.clone(), all);
        Value::Function(Rc::new(Path::simple(name)))
    }

    /// The kernels that a path may mean.
    pub fn kernels_of(&self, path: &Path) -> Vec<Path> {
        self.host.kernels.get(&path.name).cloned().unwrap_or_else(|| vec![path.clone()])
    }

    /// An operator that is not linear, applied to each of the numbers that its operands may be.
    pub fn host_operation(&mut self, op: BinaryOp, x: &Int, y: &Int, scalar: Scalar) -> Option<Value> {
        if self.mode != Mode::Host || matches!(op, BinaryOp::Add | BinaryOp::Sub) {
            return None;
        }
        let id =
            x.terms.iter().chain(&y.terms).map(|(id, _)| *id).find(|id| self.host.either.contains_key(id))?;
        let choice = self.host.either.get(&id)?.0;
        let mut results = Vec::new();
        for side in [true, false] {
            let way = [(choice, side)];
            let (x, y) = (self.along(x, &way), self.along(y, &way));
            match self.integer_operation(op, &x, &y, scalar, NOWHERE) {
                Value::Int(int, _) => results.push(int),
                _ => return None,
            }
        }
        match results.as_slice() {
            [a, b] => Some(Value::Int(self.either(choice, &a.clone(), &b.clone()), scalar)),
            _ => None,
        }
    }

    /// `int` with the choices made as `way` says, as far as it does.
    fn along(&self, int: &Int, way: &[(SymbolId, bool)]) -> Int {
        let int = self.substitute(int);
        if !int.terms.iter().any(|(id, _)| self.host.either.contains_key(id)) {
            return int;
        }
        let mut result = Int::known(int.base.clone());
        for (id, factor) in &int.terms {
            let made = self.host.either.get(id).and_then(|(choice, x, y, _)| {
                let (_, side) = way.iter().find(|(made, _)| made == choice)?;
                Some(self.along(if *side { x } else { y }, way))
            });
            let part = match (made, factor.as_constant()) {
                (Some(number), Some(factor)) => self.world.scale(&number, factor),
                _ => Int { base: super::lanes::Lanes::constant(0), terms: vec![(*id, factor.clone())] },
            };
            result = self.world.add(&result, &part);
        }
        result
    }

    /// The numbers in every way through the choices they depend on, as far as known, without
    /// repetition. Ways that a condition around rules out are left out.
    pub fn cases(&self, numbers: &[Option<Int>]) -> Vec<Vec<Option<i64>>> {
        let mut found = Vec::new();
        self.cases_from(numbers, &mut Vec::new(), &mut found);
        found
    }

    fn cases_from(
        &self,
        numbers: &[Option<Int>],
        way: &mut Vec<(SymbolId, bool)>,
        found: &mut Vec<Vec<Option<i64>>>,
    ) {
        if found.len() >= MOST_CASES || way.len() > 2 * DEEPEST as usize {
            return;
        }
        let now: Vec<Option<Int>> = numbers.iter().map(|n| n.as_ref().map(|n| self.along(n, way))).collect();
        let open = now.iter().flatten().flat_map(|n| &n.terms).find_map(|(id, _)| self.host.either.get(id));
        if let Some((choice, ..)) = open {
            for side in [true, false] {
                way.push((*choice, side));
                self.cases_from(numbers, way, found);
                way.pop();
            }
            return;
        }
        let ruled_out = |(condition, side): &(Condition, bool)| {
            self.follows(condition, way).is_some_and(|holds| holds != *side)
        };
        if self.host.constraints.iter().any(ruled_out) {
            return;
        }
        let numbers: Vec<Option<i64>> = now.iter().map(|n| n.as_ref().and_then(Int::as_constant)).collect();
        if !found.contains(&numbers) {
            found.push(numbers);
        }
    }

    /// Whether a condition holds when the choices are made as `way` says, if that decides it.
    fn follows(&self, condition: &Condition, way: &[(SymbolId, bool)]) -> Option<bool> {
        match condition {
            Condition::Known(bits) => Some(!bits.is_empty()),
            Condition::Compare { difference, relation, .. } => {
                Some(relation.holds(self.along(difference, way).as_constant()?))
            }
            Condition::Opaque(..) => None,
            Condition::Not(inner) => self.follows(inner, way).map(|holds| !holds),
            Condition::And(a, b) => match (self.follows(a, way), self.follows(b, way)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Condition::Or(a, b) => match (self.follows(a, way), self.follows(b, way)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (Some(false), Some(false)) => Some(false),
                _ => None,
            },
        }
    }

    /// A loop in host code: its first iterations for real, if it leads to a launch or is short.
    /// What it changed is not known afterwards unless it came to its end.
    pub fn host_loop(
        &mut self,
        cond: Option<&Expr>,
        body: &[Stmt],
        step: Option<&Expr>,
        body_first: bool,
        span: Span,
    ) {
        let reaches = self.reaches_launch(span, body);
        let longest = match (reaches, self.host.idle_loops) {
            (true, _) | (false, 0) => LONGEST,
            (false, 1) => 4,
            _ => 1,
        };
        self.host.idle_loops += u32::from(!reaches);
        let start = self.state.clone();
        let mut first = body_first;
        let mut ended = false;
        let (mut idle, mut seen) = (0, self.trace.launches.len());
        for iteration in 0..=longest {
            if !first && let Some(cond) = cond {
                let value = self.evaluate(cond);
                let condition = self.condition_of(&value, cond.span);
                let truth = self.truth(&condition, false);
                if truth.decided && truth.can_hold.is_empty() {
                    ended = true;
                    break;
                }
                // Not known whether it goes on: one iteration shows what it launches.
                if !truth.decided && iteration > 0 {
                    break;
                }
            }
            first = false;
            if iteration == longest || self.state.active.is_empty() || self.trace.stopped.is_some() {
                break;
            }
            self.run(body);
            if let Some(mask) = self.state.loops.last_mut() {
                self.state.active = self.state.active.or(&mask.continued);
                mask.continued = super::lanes::Bits::NONE;
            }
            if self.state.active.is_empty() {
                ended = true;
                break;
            }
            if let Some(step) = step {
                self.discard(step);
            }
            idle = if self.trace.launches.len() == seen { idle + 1 } else { 0 };
            seen = self.trace.launches.len();
            if reaches && idle >= IDLE {
                break;
            }
        }
        self.host.idle_loops -= u32::from(!reaches);
        if !ended {
            self.forget_changes(&start);
        }
    }

    /// Whether the body of a loop leads to a launch.
    fn reaches_launch(&mut self, span: Span, body: &[Stmt]) -> bool {
        if let Some(known) = self.host.reaching.get(&span) {
            return *known;
        }
        let launching = Rc::clone(&self.host.launching);
        let mut reaches = false;
        visit_stmts(body, &mut |found| match found {
            Found::Name(name) => reaches |= launching.contains(name),
            Found::Launch(_) => reaches = true,
        });
        self.host.reaching.insert(span, reaches);
        reaches
    }

    /// What differs from `start` is not known any more.
    fn forget_changes(&mut self, start: &State) {
        for frame in 0..self.state.frames.len().min(start.frames.len()) {
            for slot in 0..self.state.frames[frame].slots.len() {
                let Some(before) = start.frames[frame].slots.get(slot) else { continue };
                let now = &self.state.frames[frame].slots[slot];
                if now.value == before.value || matches!(before.value, Value::Undefined) {
                    continue;
                }
                let value = match (&before.value, &now.value) {
                    (Value::Aggregate(old), Value::Aggregate(new)) => {
                        let keep = |part: &(_, Value)| {
                            let lost = || Value::Opaque(Variation::Uniform, changed());
                            let value = if old.contains(part) { part.1.clone() } else { lost() };
                            (Clone::clone(&part.0), value)
                        };
                        Value::Aggregate(Rc::new(new.iter().map(keep).collect()))
                    }
                    _ => {
                        let ty = now.ty.clone();
                        self.unknown_of(&ty, Variation::Uniform, "a variable that a loop changes", &changed())
                    }
                };
                self.state.frames[frame].slots[slot].value = value;
            }
        }
    }
}

fn changed() -> Unknown {
    Unknown::new(Reason::LoopCarried, NOWHERE, "a variable that a loop changes")
}
