//! Which values does the compiler see to be the same in all lanes of a warp?
//!
//! It looks at how a value is made, not at what it is: what is made of kernel parameters, constants, block
//! indices and loads from such addresses is the same, what is made of `threadIdx` is not, though
//! `threadIdx.x / 32` is one number in each warp. Neither is a variable that lanes come to have by different
//! ways: one written in a branch that not all lanes take, and the counter of a loop that they leave one
//! after the other. Seen in the machine code of nvcc 13.5 for 9.0, by whether one lane does
//! `atomicAdd(&s[i], v)` for its warp ([`codegen::atomics`](crate::codegen::atomics)):
//!
//! | `i` | the same |
//! |---|---|
//! | a constant, a kernel parameter, `blockIdx.x`, `blockDim.x`, `a[n]`, `s[5]`, `tab[n]` | yes |
//! | `n / blockDim.x`, `n > 5 ? 1 : 2`, the counter of `for (i = 0; i < n; i++)` | yes |
//! | `threadIdx.x / 32`, `threadIdx.y`, `threadIdx.x & 1024`, `a[threadIdx.x]`, the result of an atomic | no |
//! | `if (v > 5) i = 2; else i = n;` with `v` of each lane | no |
//! | the counter of `for (i = 0; i < v; i++)`, or of a loop with `if (v == i) break;`; also after it | no |
//! | what `for (k = threadIdx.x; k < n; k += 64)` changes with each iteration | no |
//! | an index before `if (v > 5) return;`, or in the branch of `if (v > 5)` | as without |
//! | `__shfl_sync(~0u, v, 0)`, `__ballot_sync(~0u, v)` | from 9.0 on |
//! | `threadIdx.x / 1024`, which is 0 | from 10.0 on |
//!
//! A value that is not surely the same is unknown, not different. The last two rows are why.

mod pass;

use crate::builtins::{self, Coordinate};
use crate::events::Seen;
use crate::ir::program::Program;
use crate::ir::{Expr, ExprKind, Function, LocalId, Param, Stmt, StmtKind, Type};
use pass::Pass;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use std::sync::Arc;

/// Calls in calls that are looked into.
const DEEP: u32 = 3;

/// Which arguments of a function are the same in all lanes; a bit for each parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Given {
    /// Its value.
    values: u64,
    /// Of a reference: where it leads.
    places: u64,
}

impl Given {
    /// As a kernel is started.
    const KERNEL: Given = Given { values: u64::MAX, places: u64::MAX };

    fn note(&mut self, param: usize, value: bool, place: bool) {
        if param < 64 {
            self.values |= u64::from(value) << param;
            self.places |= u64::from(place) << param;
        }
    }

    fn has(bits: u64, param: usize) -> bool {
        param < 64 && bits >> param & 1 == 1
    }
}

/// What is known of one function.
#[derive(Debug, Default)]
pub(super) struct Uniformity {
    /// Variables whose value is surely the same in all lanes, wherever it is read.
    values: FxHashSet<LocalId>,
    /// Variables that lie in one place for all lanes: shared ones, and references to such places.
    places: FxHashSet<LocalId>,
    /// Variables that are read anywhere.
    read: FxHashSet<LocalId>,
    /// Calls whose result goes to a variable that is never read, by their address in the program.
    dead: FxHashSet<usize>,
    /// Parameters of templates, which no class around has as members.
    constants: FxHashSet<crate::ir::Name>,
    /// Whether a name may be a member of a class around.
    method: bool,
}

/// What is known of the functions that run.
#[derive(Debug, Default)]
pub(crate) struct Uniformities {
    /// By frame: the address of its function, and what is known of it.
    frames: Vec<(usize, Rc<Uniformity>)>,
    /// By the address of a function and what it was given.
    known: FxHashMap<(usize, Given), Rc<Uniformity>>,
    /// Whether any function has an atomic; if none has, nothing is asked.
    wanted: bool,
}

impl Uniformity {
    /// What is known of a function in a program.
    fn of(function: &Function, given: Given, program: &Program, depth: u32) -> Uniformity {
        let mut known = Uniformity { method: function.owner.is_some(), ..Uniformity::default() };
        let templates = function.template_params.iter().chain(&function.owner_params);
        known.constants.extend(templates.map(|param| param.name.clone()));
        let body = function.body.as_deref().unwrap_or(&[]);
        Pass::new(&mut known, function, given, program, depth).run(body);
        known
    }

    /// Whether the value of an expression is surely the same in all lanes.
    fn is_uniform(&self, expr: &Expr, program: &Program, depth: u32) -> bool {
        let uniform = |expr: &Expr| self.is_uniform(expr, program, depth);
        match &expr.kind {
            ExprKind::Int(..)
            | ExprKind::Float(..)
            | ExprKind::Str(_)
            | ExprKind::Null
            | ExprKind::SizeofType(_)
            | ExprKind::SizeofPack(_)
            | ExprKind::Expansion(_)
            | ExprKind::SizeofExpr(_)
            | ExprKind::AlignofType(_)
            | ExprKind::Offsetof(..) => true,
            ExprKind::Local(local) => self.values.contains(local),
            ExprKind::Path(path) => {
                let member = self.method
                    && path.qualifiers.is_empty()
                    && !self.constants.contains(&path.name)
                    && program.variables(&path.name).is_empty();
                match Coordinate::of(&path.name) {
                    Some(coordinate) => coordinate != Coordinate::Thread,
                    None => !member,
                }
            }
            // A load from one address for all lanes.
            ExprKind::Index(base, index) => uniform(base) && uniform(index),
            ExprKind::Deref(a)
            | ExprKind::Member { base: a, .. }
            | ExprKind::Unary(_, a)
            | ExprKind::Cast(_, a)
            | ExprKind::Assign(None, _, a)
            | ExprKind::Comma(_, a) => uniform(a),
            ExprKind::AddressOf(place) => self.is_one_place(place, program, depth),
            ExprKind::Binary(_, a, b) | ExprKind::Assign(Some(_), a, b) => uniform(a) && uniform(b),
            ExprKind::Step { target, .. } => uniform(target),
            ExprKind::Conditional(a, b, c) => uniform(a) && uniform(b) && uniform(c),
            ExprKind::Construct(_, items) | ExprKind::InitList(items) => items.iter().all(uniform),
            ExprKind::Call { callee, args } => {
                let ExprKind::Path(path) = &callee.kind else { return false };
                args.iter().all(uniform) && computes(&path.name, args.len(), program, depth)
            }
            _ => false,
        }
    }

    /// Whether a place is surely one for all lanes.
    fn is_one_place(&self, place: &Expr, program: &Program, depth: u32) -> bool {
        let uniform = |expr: &Expr| self.is_uniform(expr, program, depth);
        match &place.kind {
            ExprKind::Local(local) => self.places.contains(local),
            ExprKind::Member { base, arrow: false, .. } => self.is_one_place(base, program, depth),
            ExprKind::Member { base, arrow: true, .. } | ExprKind::Deref(base) => uniform(base),
            ExprKind::Index(base, index) => uniform(base) && uniform(index),
            ExprKind::Cast(Type::Reference(_), inner) => self.is_one_place(inner, program, depth),
            ExprKind::Path(_) => uniform(place),
            _ => false,
        }
    }
}

/// Whether a function gives equal results for equal arguments, in all lanes.
fn computes(name: &str, count: usize, program: &Program, depth: u32) -> bool {
    let candidates = program.functions(name);
    if candidates.is_empty() {
        return builtins::is_repeatable(name);
    }
    let by_value = |param: &Param| matches!(param.ty, Type::Scalar(_) | Type::Named(_));
    candidates.iter().all(|function| {
        let plain = function.owner.is_none() && function.params.len() == count;
        match function.body.as_deref() {
            Some([Stmt { kind: StmtKind::Return(Some(value)), .. }]) if plain && depth < DEEP => {
                let known = Uniformity::of(function, Given::KERNEL, program, depth + 1);
                function.params.iter().all(by_value) && known.is_uniform(value, program, depth + 1)
            }
            _ => false,
        }
    })
}

impl Uniformities {
    /// A kernel begins.
    pub(crate) fn enter_kernel(&mut self, function: &Arc<Function>, program: &Program) {
        let functions = || program.modules.iter().flat_map(|module| &module.functions);
        self.wanted = functions().any(|function| function.mentions.atomics);
        self.enter(function, 0, Given::KERNEL, program);
    }

    /// A function is called with these arguments, whose frame will have the next number.
    pub(crate) fn enter_call(
        &mut self,
        caller: (usize, Option<&Arc<Function>>),
        function: &Arc<Function>,
        args: &[Expr],
        frame: usize,
        program: &Program,
    ) {
        if !self.wanted {
            return;
        }
        let mut given = Given::default();
        if let Some(known) = self.of(caller.0, caller.1) {
            for (at, (arg, param)) in args.iter().zip(&function.params).enumerate() {
                let reference = matches!(param.ty, Type::Reference(_));
                let place = reference && known.is_one_place(arg, program, 0);
                given.note(at, known.is_uniform(arg, program, 0), place);
            }
        }
        self.enter(function, frame, given, program);
    }

    fn enter(&mut self, function: &Arc<Function>, frame: usize, given: Given, program: &Program) {
        if !self.wanted {
            return;
        }
        let key = Arc::as_ptr(function).addr();
        let known = self.known.entry((key, given));
        let known = Rc::clone(known.or_insert_with(|| Rc::new(Uniformity::of(function, given, program, 0))));
        self.frames.truncate(frame);
        // Frames that nothing was said of hold no function's variables.
        self.frames.resize_with(frame, Default::default);
        self.frames.push((key, known));
    }

    /// What is known of the function that runs in a frame.
    fn of(&self, frame: usize, function: Option<&Arc<Function>>) -> Option<&Uniformity> {
        let (key, known) = self.frames.get(frame)?;
        (Arc::as_ptr(function?).addr() == *key).then_some(known)
    }

    /// Whether the compiler sees an expression to be the same in all lanes, as far as that is known.
    #[must_use]
    pub(crate) fn seen_same(
        &self,
        frame: usize,
        function: Option<&Arc<Function>>,
        expr: &Expr,
        program: &Program,
    ) -> Seen {
        match self.of(frame, function).is_some_and(|known| known.is_uniform(expr, program, 0)) {
            true => Seen::Same,
            false => Seen::Perhaps,
        }
    }

    /// Whether what a call hands back goes to a variable that nobody reads.
    #[must_use]
    pub(crate) fn is_dead(&self, frame: usize, function: Option<&Arc<Function>>, call: &Expr) -> bool {
        self.of(frame, function).is_some_and(|known| known.dead.contains(&std::ptr::from_ref(call).addr()))
    }
}
