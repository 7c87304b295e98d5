//! Which parts of a function can affect its shared-memory requests and barriers?
//!
//! Most of a kernel computes data. Example:
//!
//! ```text
//! float sum = 0;
//! for (int k = 0; k < 32; ++k)
//!     sum += tile[threadIdx.y][k] * w[k];     // `tile` shared, `w` a kernel's parameter
//! for (int r = 0; r < 8; ++r)
//!     out[r] = sum * r;
//! ```
//!
//! `k` *matters*: it is part of a shared address. `sum` does not: it is in no address, in no
//! condition, and goes to no function. So of the assignment only the read of `tile` is evaluated.
//! The second loop touches no shared memory and changes nothing that matters outside of it: it is
//! *idle* and not run at all. The first loop is *quiet*: it has requests but leaves nothing behind,
//! so that it need not be run while a loop around it is only probed for how it changes the state.
//!
//! A variable matters when it stands in an address, a condition, an argument of a function that is run, or flows into
//! one that matters. The order of statements does not matter for this.

mod changes;
mod choice;
pub(crate) mod effects;
pub(crate) mod endings;
mod flow;
mod known_plain;
mod needed;
pub(crate) mod operator_calls;
mod own_place;
mod parts;
mod places;
mod plain;
mod starts;
mod turn;
pub(crate) mod written;

use crate::builtins::{self, Coordinate};
use crate::ir::program::Program;
use crate::ir::{Asm, Declaration, Expr, ExprKind, Function, LocalId, Stmt, Storage, Type};
use crate::source::Span;
use choice::Choices;
use flow::Flow;
use known_plain::Plains;
use needed::Needed;
pub(crate) use needed::Used;
pub(crate) use own_place::is_own_place;
use places::Places;
pub(crate) use places::root;
use rustc_hash::{FxHashMap, FxHashSet};
use turn::Turns;

/// What a statement is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// Nothing in it is traced, and nothing that matters outlives it.
    Idle,
    /// Nothing that is carried outlives it.
    Quiet,
}

/// What a function is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Given {
    /// A bit for each parameter whose pointer leads to global memory.
    pub global: u64,
    /// Whether a pointer or reference may lead to a variable of the caller.
    pub escaping: bool,
    /// Whether it is asked where the lanes of a warp meet.
    pub lanes: bool,
    /// Whether it is asked what is done to global memory, too.
    pub memory: bool,
}

impl Given {
    /// As a kernel is started.
    pub(crate) const KERNEL: Given = Given { global: u64::MAX, escaping: false, lanes: false, memory: false };

    fn is_global(self, param: usize) -> bool {
        param < 64 && self.global >> param & 1 == 1
    }
}

/// What is known of one function: its slice, as far as requests go.
#[derive(Debug, Default)]
pub(crate) struct Slice {
    /// Variables that do not matter; those not listed do.
    data: FxHashSet<LocalId>,
    /// Those of them that are written after they are declared: what they hold then is not followed.
    stale: FxHashSet<LocalId>,
    /// Variables that are not carried; those not listed are.
    passing: FxHashSet<LocalId>,
    /// Pointers that lead to no shared memory and no variable, where only shared memory is asked for.
    global: FxHashSet<LocalId>,
    /// Variables that hold their value themselves.
    places: Places,
    /// Calls of functions that only compute data, by their address in the program, and the variables
    /// that they may change.
    calls: FxHashMap<usize, Vec<LocalId>>,
    /// Shared variables.
    shared: FxHashSet<LocalId>,
    /// Variables that stand for others, and so perhaps for shared ones.
    aliases: FxHashSet<LocalId>,
    /// Statements that may be passed over, by their address in the program.
    parts: FxHashMap<usize, Part>,
    /// The thread coordinates that the text mentions.
    pub axes: [bool; 3],
    /// Whether it matters where the lanes of a warp meet.
    lanes: bool,
    /// Whether it matters what is done to global memory.
    memory: bool,
    /// What data choose.
    choices: Choices,
    /// What singles out one block, where it matters what is done to global memory.
    turns: Turns,
    /// What is loaded for a part of what follows.
    needed: Needed,
}

impl Slice {
    /// What is known of a function in a program.
    #[must_use]
    pub(crate) fn of(function: &Function, given: Given, program: &Program) -> Slice {
        let Some(body) = function.body.as_deref() else { return Slice::default() };
        let plains = Plains::new(given, plain::computes);
        let mut flow = Flow::of(function, body, given, program, &plains);
        if !given.memory {
            flow.find_global(function, given);
        }
        let matters = flow.all_into(flow.matters.clone());
        let carried = flow.all_into(flow.carried_of(&matters));
        let without = |set: &FxHashSet<LocalId>| -> FxHashSet<LocalId> {
            flow.seen.iter().filter(|local| !set.contains(local)).copied().collect()
        };
        let taken = flow.pointers.taken.iter().any(|local| matters.contains(local)) || flow.pointers.lead_out;
        let data = without(&matters);
        let is_changed =
            |local: &&LocalId| flow.changed.contains(local) || flow.pointers.taken.contains(local);
        let stale = data.iter().filter(is_changed).copied().collect();
        let mut slice = Slice {
            passing: without(&carried).union(&data).copied().collect(),
            data,
            stale,
            global: flow.global,
            places: flow.places,
            calls: flow.calls,
            shared: flow.shared,
            aliases: flow.aliases,
            parts: FxHashMap::default(),
            axes: flow.axes,
            lanes: given.lanes,
            memory: given.memory,
            choices: Choices::of(function, program),
            turns: if given.memory { Turns::of(function) } else { Turns::default() },
            needed: Needed::of(function, body, program),
        };
        let parts = parts::Finder::new(&slice, program, taken).find(body);
        slice.parts = parts;
        slice
    }

    /// What a statement is good for, when it may be passed over.
    #[must_use]
    pub(crate) fn part(&self, stmt: &Stmt) -> Option<Part> {
        self.parts.get(&address(stmt)).copied()
    }

    /// Whether the place is (a part of) a variable that does not matter.
    #[must_use]
    pub(crate) fn is_data(&self, target: &Expr) -> bool {
        self.places.part_of(target).is_some_and(|local| self.data.contains(&local))
    }

    /// Whether data choose which threads a condition holds for.
    #[must_use]
    pub(crate) fn is_choice(&self, cond: &Expr, program: &Program) -> bool {
        self.choices.is_choice(cond, program)
    }

    /// Where the value of a load is used, if that is only in a part of what follows.
    #[must_use]
    pub(crate) fn used(&self, load: Span) -> Option<Used> {
        self.needed.used(load)
    }

    /// Whether a condition asks for nothing but what data decide for all threads.
    #[must_use]
    pub(crate) fn is_flag(&self, cond: &Expr, program: &Program) -> bool {
        self.choices.is_flag(cond, program)
    }

    /// Whether lanes vote on what data choose for each of them.
    #[must_use]
    pub(crate) fn is_vote_on_data(&self, cond: &Expr, program: &Program) -> bool {
        self.choices.is_vote_on_data(cond, program)
    }

    /// Whether a condition depends on what each thread reads from global memory for itself, or finds in its element of
    /// an array that is filled with that, and on nothing in which threads agree with each other.
    #[must_use]
    pub(crate) fn is_of_own_data(&self, cond: &Expr, program: &Program) -> bool {
        self.choices.is_of_own_data(cond, program)
    }

    /// The side of a condition that one block of all takes, whichever it is; asked for where it matters what is done to
    /// global memory.
    #[must_use]
    pub(crate) fn turn(&self, cond: &Expr) -> Option<bool> {
        self.turns.side(cond)
    }

    /// Whether the variable does not matter.
    #[must_use]
    pub(crate) fn is_data_variable(&self, local: LocalId) -> bool {
        self.data.contains(&local)
    }

    /// Whether the variable does not matter, and may hold something else than it did when it was declared.
    #[must_use]
    pub(crate) fn is_stale(&self, local: LocalId) -> bool {
        self.stale.contains(&local)
    }

    /// Whether a loop has to know how the variable changes from round to round.
    #[must_use]
    pub(crate) fn is_carried(&self, local: LocalId) -> bool {
        !self.passing.contains(&local)
    }

    /// Whether evaluating `expr` may be traced or change anything by itself, its operands aside.
    #[must_use]
    pub(crate) fn acts(&self, expr: &Expr, program: &Program) -> bool {
        match &expr.kind {
            ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member { .. } => !self.is_private(expr),
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Path(path) => {
                    let computes = computes(&path.name, program, self.lanes) && !waits_for_lanes(&path.name);
                    !computes && !self.calls.contains_key(&key(expr))
                }
                _ => true,
            },
            ExprKind::Local(local) => self.shared.contains(local) || self.aliases.contains(local),
            // Its constructor may do anything.
            ExprKind::Construct(Type::Named(path), _) => !program.functions(&path.name).is_empty(),
            ExprKind::Construct(..) => false,
            ExprKind::Binary(..) | ExprKind::Unary(..) => operator_calls::may_act(expr, program),
            ExprKind::Path(path) => {
                program.variables(&path.name).iter().any(|it| is_asked_for(it, self.memory))
            }
            ExprKind::Int(..)
            | ExprKind::Float(..)
            | ExprKind::Str(_)
            | ExprKind::Null
            | ExprKind::This
            | ExprKind::Conditional(..)
            | ExprKind::Comma(..)
            | ExprKind::AddressOf(_)
            | ExprKind::Cast(..)
            | ExprKind::InitList(_)
            | ExprKind::SizeofType(_)
            | ExprKind::SizeofPack(_)
            | ExprKind::Expansion(_)
            | ExprKind::SizeofExpr(_)
            | ExprKind::AlignofType(_)
            | ExprKind::Offsetof(..) => false,
            ExprKind::Asm(asm) => !is_arithmetic(asm),
            _ => true,
        }
    }

    /// Whether an lvalue surely lies in a variable of the function or behind a global pointer.
    fn is_private(&self, expr: &Expr) -> bool {
        if self.places.inside(expr).is_some() {
            return true;
        }
        match &expr.kind {
            ExprKind::Member { base, arrow: false, .. } => match &base.kind {
                // `threadIdx.x`
                ExprKind::Path(path) => Coordinate::of(&path.name).is_some(),
                _ => self.is_private(base),
            },
            ExprKind::Index(base, _) => self.is_global(base),
            ExprKind::Deref(pointer) => self.is_global(pointer),
            _ => false,
        }
    }

    /// Whether an expression by itself accesses global memory.
    #[must_use]
    pub(crate) fn reaches_global(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Index(base, _) | ExprKind::Deref(base) => self.is_global(base),
            _ => false,
        }
    }

    fn is_global(&self, expr: &Expr) -> bool {
        is_global(expr, &self.global)
    }
}

/// The key of an expression: the program is not moved while it runs.
fn key(expr: &Expr) -> usize {
    std::ptr::from_ref(expr).addr()
}

/// The key of a statement: the program is not moved while it runs.
fn address(stmt: &Stmt) -> usize {
    std::ptr::from_ref(stmt).addr()
}

fn is_global(expr: &Expr, known: &FxHashSet<LocalId>) -> bool {
    match &expr.kind {
        ExprKind::Local(local) => known.contains(local),
        ExprKind::Binary(crate::ir::BinaryOp::Add | crate::ir::BinaryOp::Sub, a, _) => is_global(a, known),
        ExprKind::Cast(_, inner) => is_global(inner, known),
        ExprKind::AddressOf(inner) => match &inner.kind {
            ExprKind::Index(base, _) => is_global(base, known),
            ExprKind::Deref(pointer) => is_global(pointer, known),
            _ => false,
        },
        ExprKind::Conditional(_, a, b) => is_global(a, known) && is_global(b, known),
        _ => false,
    }
}

/// Whether a variable lies in memory that is asked for: shared memory; `memory`: or global memory that may change.
fn is_asked_for(variable: &Declaration, memory: bool) -> bool {
    variable.storage.is_shared() || memory && variable.storage == Storage::Global && !variable.constant
}

/// Whether CUDA defines the function, and it does nothing but compute a value of its arguments.
pub(crate) fn is_pure(name: &str, program: &Program) -> bool {
    builtins::only_computes(name) && program.functions(name).is_empty()
}

/// The same; `lanes`: not where the lanes of a warp meet.
fn computes(name: &str, program: &Program, lanes: bool) -> bool {
    is_pure(name, program) && !(lanes && builtins::lane_form(name).is_some())
}

/// Whether it computes data with the other lanes of its warp, for which it waits.
fn waits_for_lanes(name: &str) -> bool {
    builtins::kind(name) == Some(builtins::Kind::FragmentProduct)
}

/// Whether inline assembly only computes: it names no address and no barrier.
#[must_use]
pub(crate) fn is_arithmetic(asm: &Asm) -> bool {
    builtins::ptx::only_computes(&asm.template)
}

#[cfg(test)]
mod tests;
