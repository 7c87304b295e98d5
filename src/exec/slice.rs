//! Which parts of a function can bear on its shared-memory requests and barriers?
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
//! A variable matters when it stands in an address, a condition, an argument of a function that
//! is run, or flows into one that matters. That is found without regard to the order of statements.

mod parts;

use crate::ir::program::Program;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Asm, Expr, ExprKind, Function, LocalId, Param, Stmt, StmtKind, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a statement is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Nothing in it is traced, and nothing that matters outlives it.
    Idle,
    /// Nothing that matters outlives it.
    Quiet,
}

/// What a function is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Given {
    /// A bit for each parameter whose pointer leads to global memory.
    pub global: u64,
    /// Whether a pointer or reference may lead to a variable of the caller.
    pub escaping: bool,
}

impl Given {
    /// As a kernel is started.
    pub const KERNEL: Given = Given { global: u64::MAX, escaping: false };

    fn is_global(self, param: usize) -> bool {
        param < 64 && self.global >> param & 1 == 1
    }
}

/// A variable that holds its value itself.
#[derive(Clone, Copy, Debug)]
struct Own {
    /// Its dimensions, if it is an array.
    dimensions: usize,
    /// Whether nothing in its elements points elsewhere.
    plain: bool,
}

/// What is known of one function: its slice, as far as requests go.
#[derive(Debug, Default)]
pub struct Slice {
    /// Variables that do not matter; those not listed do.
    data: FxHashSet<LocalId>,
    /// Pointers that lead to no shared memory and no variable.
    global: FxHashSet<LocalId>,
    /// Variables that hold their value themselves.
    owned: FxHashMap<LocalId, Own>,
    /// Shared variables.
    shared: FxHashSet<LocalId>,
    /// Variables that stand for others, and so perhaps for shared ones.
    aliases: FxHashSet<LocalId>,
    /// Statements that may be passed over, by their address in the program.
    parts: FxHashMap<usize, Part>,
    /// The thread coordinates that the text mentions.
    pub axes: [bool; 3],
}

impl Slice {
    /// What is known of a function in a program.
    #[must_use]
    pub fn of(function: &Function, given: Given, program: &Program) -> Slice {
        let Some(body) = function.body.as_deref() else { return Slice::default() };
        let mut flow = Flow::new(function, given, program);
        flow.stmts(body);
        flow.find_global(function, given);
        flow.close();
        let mut slice = Slice {
            data: flow.seen.iter().filter(|local| !flow.matters.contains(local)).copied().collect(),
            global: flow.global,
            owned: flow.owned,
            shared: flow.shared,
            aliases: flow.aliases,
            parts: FxHashMap::default(),
            axes: flow.axes,
        };
        let taken = flow.taken.iter().any(|local| flow.matters.contains(local)) || flow.pointers_out;
        let parts = parts::Finder::new(&slice, program, taken).find(body);
        slice.parts = parts;
        slice
    }

    /// What a statement is good for, when it may be passed over.
    #[must_use]
    pub fn part(&self, stmt: &Stmt) -> Option<Part> {
        self.parts.get(&address(stmt)).copied()
    }

    /// Whether the place is (a part of) a variable that does not matter.
    #[must_use]
    pub fn is_data(&self, target: &Expr) -> bool {
        part_of(target, &self.owned).is_some_and(|local| self.data.contains(&local))
    }

    /// Whether evaluating `expr` may be traced or change anything by itself, its operands aside.
    #[must_use]
    pub fn acts(&self, expr: &Expr, program: &Program) -> bool {
        match &expr.kind {
            ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member { .. } => !self.is_private(expr),
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Path(path) => !is_pure(&path.name, program),
                _ => true,
            },
            ExprKind::Local(local) => self.shared.contains(local) || self.aliases.contains(local),
            ExprKind::Path(path) => program.variables(&path.name).iter().any(|v| v.storage.is_shared()),
            ExprKind::Int(..)
            | ExprKind::Float(..)
            | ExprKind::Str(_)
            | ExprKind::Null
            | ExprKind::This
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Conditional(..)
            | ExprKind::Comma(..)
            | ExprKind::AddressOf(_)
            | ExprKind::Cast(..)
            | ExprKind::Construct(..)
            | ExprKind::InitList(_)
            | ExprKind::SizeofType(_)
            | ExprKind::SizeofExpr(_)
            | ExprKind::AlignofType(_)
            | ExprKind::Offsetof(..) => false,
            _ => true,
        }
    }

    /// Whether an lvalue surely lies in a variable of the function or behind a global pointer.
    fn is_private(&self, expr: &Expr) -> bool {
        if root(expr).is_some_and(|(local, count)| holds(&self.owned, local, count)) {
            return true;
        }
        match &expr.kind {
            ExprKind::Member { base, arrow: false, .. } => match &base.kind {
                // `threadIdx.x`
                ExprKind::Path(path) => is_coordinate(&path.name),
                _ => self.is_private(base),
            },
            ExprKind::Index(base, _) => self.is_global(base),
            ExprKind::Deref(pointer) => self.is_global(pointer),
            _ => false,
        }
    }

    /// Whether an expression by itself accesses global memory.
    #[must_use]
    pub fn reaches_global(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Index(base, _) | ExprKind::Deref(base) => self.is_global(base),
            _ => false,
        }
    }

    fn is_global(&self, expr: &Expr) -> bool {
        is_global(expr, &self.global)
    }
}

/// The key of a statement: the program is not moved while it runs.
fn address(stmt: &Stmt) -> usize {
    std::ptr::from_ref(stmt).addr()
}

/// The variable that a place is (a part of), and how often it is indexed on the way, if no
/// pointer is followed by name.
fn root(expr: &Expr) -> Option<(LocalId, usize)> {
    match &expr.kind {
        ExprKind::Local(local) => Some((*local, 0)),
        ExprKind::Member { base, arrow: false, .. } => root(base),
        ExprKind::Index(base, _) => root(base).map(|(local, count)| (local, count + 1)),
        _ => None,
    }
}

/// The variable of which a place is surely a part.
fn part_of(expr: &Expr, owned: &FxHashMap<LocalId, Own>) -> Option<LocalId> {
    let (local, count) = root(expr)?;
    (holds(owned, local, count) || matches!(expr.kind, ExprKind::Local(_))).then_some(local)
}

/// Whether a variable indexed so often still lies in itself.
fn holds(owned: &FxHashMap<LocalId, Own>, local: LocalId, count: usize) -> bool {
    owned.get(&local).is_some_and(|own| own.plain || count <= own.dimensions)
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

fn is_coordinate(name: &str) -> bool {
    matches!(name, "threadIdx" | "blockIdx" | "blockDim" | "gridDim")
}

/// Functions that CUDA defines and that do nothing but compute a value of their arguments.
pub fn is_pure(name: &str, program: &Program) -> bool {
    const WHOLE: [&str; 42] = [
        "mma_sync",
        "fill_fragment",
        "max",
        "min",
        "fmaxf",
        "fminf",
        "fmax",
        "fmin",
        "fabsf",
        "fabs",
        "fma",
        "fmaf",
        "exp",
        "expf",
        "__expf",
        "exp2f",
        "log",
        "logf",
        "__logf",
        "log2f",
        "sqrt",
        "sqrtf",
        "rsqrtf",
        "rsqrt",
        "pow",
        "powf",
        "__powf",
        "sin",
        "sinf",
        "__sinf",
        "cos",
        "cosf",
        "__cosf",
        "tanhf",
        "tanh",
        "erff",
        "__fdividef",
        "__fmaf_rn",
        "__saturatef",
        "__ldg",
        "make_float4",
        "make_float2",
    ];
    const BEGINNINGS: [&str; 8] =
        ["__half", "__float", "__int2", "__hadd", "__hmul", "__hfma", "__hmax", "__hmin"];
    (WHOLE.contains(&name) || BEGINNINGS.iter().any(|beginning| name.starts_with(beginning)))
        && program.functions(name).is_empty()
}

/// How values flow between the variables of a function.
struct Flow<'a> {
    program: &'a Program,
    seen: FxHashSet<LocalId>,
    matters: FxHashSet<LocalId>,
    /// Into which variable the value of an expression goes, and whether as a whole (`=`).
    flows: Vec<(LocalId, &'a Expr, bool)>,
    /// Values written through pointers.
    through_pointers: Vec<&'a Expr>,
    /// Variables whose address is taken.
    taken: FxHashSet<LocalId>,
    /// Variables given to functions.
    handed: FxHashSet<LocalId>,
    owned: FxHashMap<LocalId, Own>,
    shared: FxHashSet<LocalId>,
    aliases: FxHashSet<LocalId>,
    global: FxHashSet<LocalId>,
    /// Whether pointers given to the function may lead to its caller's variables.
    pointers_out: bool,
    axes: [bool; 3],
}

impl<'a> Flow<'a> {
    fn new(function: &Function, given: Given, program: &'a Program) -> Flow<'a> {
        let mut flow = Flow {
            program,
            seen: FxHashSet::default(),
            matters: FxHashSet::default(),
            flows: Vec::new(),
            through_pointers: Vec::new(),
            taken: FxHashSet::default(),
            handed: FxHashSet::default(),
            owned: FxHashMap::default(),
            shared: FxHashSet::default(),
            aliases: FxHashSet::default(),
            global: FxHashSet::default(),
            pointers_out: given.escaping,
            axes: [false; 3],
        };
        for param in &function.params {
            flow.seen.insert(param.local);
            // What is written to it may be the caller's.
            if !matches!(param.ty, Type::Scalar(_)) {
                flow.matters.insert(param.local);
            }
            if matches!(param.ty, Type::Reference(_) | Type::Auto) {
                flow.aliases.insert(param.local);
            }
        }
        flow
    }

    /// Pointers that lead to global memory: parameters that do, and what is made of them alone.
    fn find_global(&mut self, function: &Function, given: Given) {
        let leads =
            |(at, param): &(usize, &Param)| given.is_global(*at) && matches!(param.ty, Type::Pointer(_));
        let params: FxHashSet<LocalId> =
            function.params.iter().enumerate().filter(leads).map(|(_, p)| p.local).collect();
        let assigned: FxHashSet<LocalId> = self.flows.iter().map(|(local, ..)| *local).collect();
        // Suppose all pointers that are only assigned to do, then take back what contradicts it.
        self.global = params
            .iter()
            .copied()
            .chain(assigned)
            .filter(|l| !self.taken.contains(l) && !self.handed.contains(l))
            .collect();
        loop {
            let known = &self.global;
            let wrong: Vec<LocalId> = self
                .flows
                .iter()
                .filter(|(local, value, whole)| *whole && known.contains(local) && !is_global(value, known))
                .map(|(local, ..)| *local)
                .collect();
            if wrong.is_empty() {
                break;
            }
            wrong.iter().for_each(|local| {
                self.global.remove(local);
            });
        }
    }

    /// Follows the flows backwards from what matters, each of them once.
    fn close(&mut self) {
        let mut into: FxHashMap<LocalId, Vec<&'a Expr>> = FxHashMap::default();
        for (local, value, _) in &self.flows {
            into.entry(*local).or_default().push(value);
        }
        let mut waiting: Vec<LocalId> = self.matters.iter().copied().collect();
        let (mut pointers, mut values) = (self.pointers_out, Vec::<&Expr>::new());
        loop {
            if pointers {
                values.append(&mut self.through_pointers);
            }
            for value in values {
                each_local(value, &mut |local| {
                    if self.matters.insert(local) {
                        waiting.push(local);
                    }
                });
            }
            let Some(local) = waiting.pop() else { return };
            pointers |= self.taken.contains(&local);
            values = into.remove(&local).unwrap_or_default();
        }
    }

    /// Every variable in an expression matters.
    fn seed(&mut self, expr: &Expr) {
        each_local(expr, &mut |local| {
            self.matters.insert(local);
        });
    }

    fn stmts(&mut self, stmts: &'a [Stmt]) {
        stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn stmt(&mut self, stmt: &'a Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Declare(list) => {
                for declaration in list {
                    self.seen.insert(declaration.local);
                    let shared = declaration.storage.is_shared();
                    if shared {
                        self.shared.insert(declaration.local);
                    }
                    if shared || matches!(declaration.ty, Type::Reference(_) | Type::Auto) {
                        self.aliases.insert(declaration.local);
                        self.matters.insert(declaration.local);
                        declaration.init.iter().for_each(|init| self.seed(init));
                    } else if !matches!(declaration.ty, Type::Pointer(_)) {
                        self.owned.insert(declaration.local, own(&declaration.ty));
                    }
                    self.type_lengths(&declaration.ty);
                    if let Some(init) = &declaration.init {
                        self.flows.push((declaration.local, init, true));
                        self.expr(init);
                    }
                }
            }
            StmtKind::Block(body) | StmtKind::Unsupported(_, body) => self.stmts(body),
            StmtKind::If { cond, then, otherwise } => {
                self.condition(cond);
                self.stmts(then);
                self.stmts(otherwise);
            }
            StmtKind::Loop { cond, body, step, .. } => {
                cond.iter().for_each(|cond| self.condition(cond));
                step.iter().for_each(|step| self.expr(step));
                self.stmts(body);
            }
            StmtKind::Switch { value, cases } => {
                self.condition(value);
                cases.iter().for_each(|case| self.stmts(&case.body));
            }
            StmtKind::Return(value) => value.iter().for_each(|value| self.condition(value)),
            StmtKind::Break | StmtKind::Continue | StmtKind::Damaged => {}
        }
    }

    fn type_lengths(&mut self, ty: &Type) {
        if let Type::Array(inner, length) = ty {
            length.iter().for_each(|length| self.seed(length));
            self.type_lengths(inner);
        }
    }

    /// Something whose value decides what runs.
    fn condition(&mut self, expr: &'a Expr) {
        self.seed(expr);
        self.expr(expr);
    }

    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Assign(op, target, value) => {
                self.write(target, Some(value), op.is_none());
                self.expr(target);
                self.expr(value);
            }
            ExprKind::Step { target, .. } => {
                self.write(target, None, false);
                self.expr(target);
            }
            ExprKind::Index(base, index) => {
                if part_of(expr, &self.owned).is_none() {
                    self.seed(base);
                    self.seed(index);
                }
                self.expr(base);
                self.expr(index);
            }
            ExprKind::Deref(pointer) => self.condition(pointer),
            ExprKind::Member { base, arrow, name } => {
                if let ExprKind::Path(path) = &base.kind
                    && matches!(&*path.name, "threadIdx" | "blockDim")
                    && let Some(axis) = ["x", "y", "z"].iter().position(|axis| **axis == **name)
                {
                    self.axes[axis] = true;
                }
                if *arrow {
                    self.seed(base);
                }
                self.expr(base);
            }
            ExprKind::AddressOf(inner) => {
                self.taken.extend(part_of(inner, &self.owned).filter(|local| !self.shared.contains(local)));
                self.expr(inner);
            }
            ExprKind::Conditional(cond, a, b) => {
                self.condition(cond);
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Binary(op, a, b) => {
                if matches!(op, crate::ir::BinaryOp::LogicalAnd | crate::ir::BinaryOp::LogicalOr) {
                    self.seed(a);
                }
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Asm(asm) => self.assembly(asm),
            ExprKind::Lambda(lambda) => {
                lambda.params.iter().for_each(|param| {
                    self.matters.insert(param.local);
                });
                each_local(expr, &mut |local| {
                    self.matters.insert(local);
                });
                self.stmts(&lambda.body);
            }
            ExprKind::Launch(_) => self.seed(expr),
            ExprKind::Unary(_, a) | ExprKind::Cast(_, a) | ExprKind::SizeofExpr(a) => self.expr(a),
            ExprKind::Comma(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Construct(_, items) | ExprKind::InitList(items) => {
                items.iter().for_each(|item| self.expr(item));
            }
            _ => {}
        }
    }

    fn write(&mut self, target: &'a Expr, value: Option<&'a Expr>, whole: bool) {
        match part_of(target, &self.owned) {
            Some(local) => {
                self.flows.extend(value.map(|value| (local, value, whole)));
                // An index of an array that matters matters.
                if !matches!(target.kind, ExprKind::Local(_)) {
                    self.flows.push((local, target, false));
                }
            }
            None => {
                self.seed(target);
                self.through_pointers.extend(value);
            }
        }
    }

    fn call(&mut self, callee: &'a Expr, args: &'a [Expr]) {
        let pure = match &callee.kind {
            ExprKind::Path(path) => is_pure(&path.name, self.program),
            _ => false,
        };
        if !pure {
            self.seed(callee);
            args.iter().for_each(|arg| {
                self.seed(arg);
                // It may be taken by reference.
                self.handed.extend(root(arg).map(|(local, _)| local));
            });
        }
        self.expr(callee);
        args.iter().for_each(|arg| self.expr(arg));
    }

    /// Operands matter where one of them may be an address.
    fn assembly(&mut self, asm: &'a Asm) {
        for (_, target) in &asm.outputs {
            self.handed.extend(root(target).map(|(local, _)| local));
            self.write(target, None, false);
            self.expr(target);
        }
        for (_, value) in &asm.inputs {
            if !is_arithmetic(asm) {
                self.seed(value);
            }
            self.expr(value);
        }
    }
}

fn own(ty: &Type) -> Own {
    match ty {
        Type::Array(inner, _) => {
            let inner = own(inner);
            Own { dimensions: inner.dimensions + 1, ..inner }
        }
        Type::Scalar(_) => Own { dimensions: 0, plain: true },
        Type::Named(path) => Own { dimensions: 0, plain: &*path.name == "fragment" },
        _ => Own { dimensions: 0, plain: false },
    }
}

/// Whether inline assembly only computes: it names no address and no barrier.
fn is_arithmetic(asm: &Asm) -> bool {
    asm.template.contains("mma") && !asm.template.contains('[')
}

/// Visits every variable in an expression, those in lambdas too.
fn each_local(expr: &Expr, visit: &mut dyn FnMut(LocalId)) {
    match &expr.kind {
        ExprKind::Local(local) => visit(*local),
        ExprKind::Lambda(lambda) => lambda.body.iter().for_each(|stmt| each_local_of(stmt, visit)),
        _ => children(expr, &mut |child| each_local(child, visit)),
    }
}

fn each_local_of(stmt: &Stmt, visit: &mut dyn FnMut(LocalId)) {
    own_exprs(stmt, &mut |expr| each_local(expr, visit));
    own_stmts(stmt, &mut |inner| each_local_of(inner, visit));
}

#[cfg(test)]
mod tests;
