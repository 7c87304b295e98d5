//! How is it found which variables of a function are the same in all lanes?
//!
//! All are taken to be, and those that are seen to differ are taken out until no more are found. A
//! variable differs when a value that differs is written to it, or any value in a branch or loop that lanes
//! pass through in different ways, if it is declared outside of that.

use super::{Given, Uniformity};
use crate::builtins;
use crate::ir::program::Program;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Declaration, Expr, ExprKind, Function, LocalId, Param, Stmt, StmtKind, Storage, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a variable is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// It holds its value, or a pointer.
    Plain,
    /// It holds an array.
    Array,
    /// It stands for something else.
    Reference,
    /// It lies in shared memory.
    Shared,
}

pub(super) struct Pass<'a> {
    known: &'a mut Uniformity,
    program: &'a Program,
    depth: u32,
    kinds: FxHashMap<LocalId, Kind>,
    /// What references stand for.
    aliases: FxHashMap<LocalId, LocalId>,
    /// How many branches and loops are around each declaration.
    declared: FxHashMap<LocalId, usize>,
    /// The branches and loops around: whether lanes pass through them in different ways.
    around: Vec<bool>,
    /// The loops around: their address, and how many branches and loops are around them.
    loops: Vec<(usize, usize)>,
    /// Loops that lanes leave, or whose iterations they end, in different ways.
    ragged: FxHashSet<usize>,
    /// Whether a `goto` stands before: lanes may pass over what follows.
    jumped: bool,
    /// Whether something more was found to differ.
    changed: bool,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        known: &'a mut Uniformity,
        function: &Function,
        given: Given,
        program: &'a Program,
        depth: u32,
    ) -> Pass<'a> {
        let mut kinds = FxHashMap::default();
        for (at, Param { local, ty, .. }) in function.params.iter().enumerate() {
            let reference = matches!(ty, Type::Reference(_));
            kinds.insert(*local, if reference { Kind::Reference } else { Kind::Plain });
            if Given::has(given.values, at) {
                known.values.insert(*local);
            }
            if reference && Given::has(given.places, at) {
                known.places.insert(*local);
            }
        }
        Pass {
            known,
            program,
            depth,
            kinds,
            aliases: FxHashMap::default(),
            declared: FxHashMap::default(),
            jumped: false,
            around: Vec::new(),
            loops: Vec::new(),
            ragged: FxHashSet::default(),
            changed: false,
        }
    }

    /// Finds what differs.
    pub(super) fn run(mut self, body: &[Stmt]) {
        body.iter().for_each(|stmt| self.declare_all(stmt));
        loop {
            self.changed = false;
            self.stmts(body);
            if !self.changed {
                break;
            }
        }
        // Now that it is known what is read.
        body.iter().for_each(|stmt| self.find_dead(stmt));
    }

    /// Takes all variables that are declared to be the same.
    fn declare_all(&mut self, stmt: &Stmt) {
        if let StmtKind::Declare(list) = &stmt.kind {
            for declaration in list {
                let kind = match (&declaration.ty, declaration.storage) {
                    (_, Storage::Shared | Storage::DynamicShared) => Kind::Shared,
                    (Type::Array(..), _) => Kind::Array,
                    (Type::Reference(_) | Type::Auto, _) => Kind::Reference,
                    _ => Kind::Plain,
                };
                self.kinds.insert(declaration.local, kind);
                self.known.values.insert(declaration.local);
                if matches!(kind, Kind::Shared | Kind::Reference) {
                    self.known.places.insert(declaration.local);
                }
            }
        }
        own_exprs(stmt, &mut |expr| self.declare_in(expr));
        own_stmts(stmt, &mut |inner| self.declare_all(inner));
    }

    /// The same in the lambdas of an expression, whose parameters are not known.
    fn declare_in(&mut self, expr: &Expr) {
        if let ExprKind::Lambda(lambda) = &expr.kind {
            lambda.body.iter().for_each(|stmt| self.declare_all(stmt));
        }
        children(expr, &mut |child| self.declare_in(child));
    }

    fn uniform(&self, expr: &Expr) -> bool {
        self.known.is_uniform(expr, self.program, self.depth)
    }

    fn differs(&mut self, local: LocalId) {
        if self.kinds.get(&local) != Some(&Kind::Shared) {
            self.changed |= self.known.values.remove(&local);
        }
    }

    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            if self.jumped {
                self.within(true, |pass| pass.stmt(stmt));
            } else {
                self.stmt(stmt);
            }
        }
    }

    /// Runs over a part that lanes pass through in different ways if `apart`.
    fn within(&mut self, apart: bool, run: impl FnOnce(&mut Self)) {
        self.around.push(apart);
        run(self);
        self.around.pop();
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match &stmt.kind {
            StmtKind::Expr(expr) => self.expr(expr),
            StmtKind::Declare(list) => list.iter().for_each(|declaration| self.declaration(declaration)),
            StmtKind::Block(body) => self.stmts(body),
            StmtKind::If { cond, then, otherwise } => {
                self.expr(cond);
                let apart = !self.uniform(cond);
                self.within(apart, |pass| {
                    pass.stmts(then);
                    pass.stmts(otherwise);
                });
            }
            StmtKind::Loop { cond, body, step, .. } => {
                let address = std::ptr::from_ref(stmt).addr();
                if cond.as_ref().is_some_and(|cond| !self.uniform(cond)) {
                    self.changed |= self.ragged.insert(address);
                }
                let (apart, level) = (self.ragged.contains(&address), self.around.len());
                self.loops.push((address, level));
                self.within(apart, |pass| {
                    cond.iter().for_each(|cond| pass.expr(cond));
                    pass.stmts(body);
                    step.iter().for_each(|step| pass.expr(step));
                });
                self.loops.pop();
            }
            StmtKind::Switch { value, cases } => {
                self.expr(value);
                let apart = !self.uniform(value);
                self.within(apart, |pass| cases.iter().for_each(|case| pass.stmts(&case.body)));
            }
            StmtKind::Return(value) => {
                value.iter().for_each(|value| self.expr(value));
                self.leave(self.loops.len());
            }
            StmtKind::Break | StmtKind::Continue => self.leave(1),
            StmtKind::Unsupported(_, body) | StmtKind::Try(body) => {
                self.within(true, |pass| pass.stmts(body));
                self.leave_apart();
            }
            StmtKind::Throw => self.leave_apart(),
            StmtKind::Goto(_) => {
                self.jumped = true;
                self.leave_apart();
            }
            StmtKind::Label(_) | StmtKind::Damaged => {}
        }
    }

    /// Lanes may leave every loop around in different ways.
    fn leave_apart(&mut self) {
        for (address, _) in &self.loops {
            self.changed |= self.ragged.insert(*address);
        }
    }

    /// So many of the innermost loops are left, or their iterations ended, here.
    fn leave(&mut self, count: usize) {
        for (address, level) in self.loops.iter().rev().take(count).copied().collect::<Vec<_>>() {
            // The loop's own entry is the first of those in it.
            if self.around.iter().skip(level + 1).any(|apart| *apart) {
                self.changed |= self.ragged.insert(address);
            }
        }
    }

    fn declaration(&mut self, declaration: &Declaration) {
        let local = declaration.local;
        self.declared.insert(local, self.around.len());
        let Some(init) = &declaration.init else { return };
        self.expr(init);
        if !self.uniform(init) {
            self.differs(local);
        }
        if self.kinds.get(&local) == Some(&Kind::Reference) {
            if let Some(other) = root(init) {
                self.aliases.insert(local, other);
            }
            if !self.known.is_one_place(init, self.program, self.depth) {
                self.changed |= self.known.places.remove(&local);
            }
        }
    }

    /// A variable, or a part of it, is written; `same` if by all lanes alike.
    fn write(&mut self, local: LocalId, same: bool) {
        let outside = self.declared.get(&local).copied().unwrap_or(0);
        if !same || self.around.iter().skip(outside).any(|apart| *apart) {
            self.differs(local);
            // What it stands for is written, too.
            if let Some(other) = self.aliases.get(&local).copied() {
                self.differs(other);
            }
        }
    }

    /// Something is written to a place; `same` if all lanes write one value.
    fn write_to(&mut self, target: &Expr, same: bool) {
        let mut same = same;
        let mut place = target;
        loop {
            match &place.kind {
                ExprKind::Local(local) => return self.write(*local, same),
                ExprKind::Member { base, arrow: false, .. } => place = base,
                ExprKind::Index(base, index) if self.is_array(base) => {
                    same &= self.uniform(index);
                    place = base;
                }
                // Behind a pointer, in memory.
                _ => return,
            }
        }
    }

    /// Whether an expression is (a part of) a variable that holds an array.
    fn is_array(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Local(local) => self.kinds.get(local) == Some(&Kind::Array),
            ExprKind::Index(base, _) | ExprKind::Member { base, arrow: false, .. } => {
                root(base).is_some_and(|local| self.kinds.get(&local) != Some(&Kind::Shared))
            }
            _ => false,
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Local(local) => {
                self.known.read.insert(*local);
                // An array becomes a pointer, through which anything may be written.
                if self.kinds.get(local) == Some(&Kind::Array) {
                    self.differs(*local);
                }
            }
            ExprKind::Assign(op, target, value) => {
                self.expr(value);
                self.target(target, op.is_some());
                let same = self.uniform(value) && (op.is_none() || self.uniform(target));
                self.write_to(target, same);
            }
            ExprKind::Step { target, .. } => {
                self.target(target, true);
                let same = self.uniform(target);
                self.write_to(target, same);
            }
            ExprKind::Index(base, index) => {
                self.expr(index);
                match self.is_array(base) {
                    true => self.target(base, true),
                    false => self.expr(base),
                }
            }
            ExprKind::Binary(crate::ir::BinaryOp::LogicalAnd | crate::ir::BinaryOp::LogicalOr, a, b) => {
                self.expr(a);
                let apart = !self.uniform(a);
                self.within(apart, |pass| pass.expr(b));
            }
            ExprKind::Conditional(cond, a, b) => {
                self.expr(cond);
                let apart = !self.uniform(cond);
                self.within(apart, |pass| {
                    pass.expr(a);
                    pass.expr(b);
                });
            }
            ExprKind::AddressOf(inner) => {
                if let Some(local) = root(inner).filter(|_| !behind_pointer(inner, self)) {
                    self.differs(local);
                }
                self.expr(inner);
            }
            // `(void)x` keeps a compiler from saying that nobody reads it.
            ExprKind::Cast(Type::Void, inner) if matches!(inner.kind, ExprKind::Local(_)) => {}
            ExprKind::Call { callee, args } => self.call(callee, args),
            ExprKind::Lambda(lambda) => {
                let loops = std::mem::take(&mut self.loops);
                // It may be called anywhere, by any lanes.
                self.within(true, |pass| pass.stmts(&lambda.body));
                self.loops = loops;
            }
            ExprKind::Asm(asm) => {
                asm.inputs.iter().for_each(|(_, value)| self.expr(value));
                for (_, target) in &asm.outputs {
                    self.target(target, false);
                    self.write_to(target, false);
                }
            }
            _ => children(expr, &mut |child| self.expr(child)),
        }
    }

    /// A place that is written, and read too if `read`.
    fn target(&mut self, target: &Expr, read: bool) {
        match &target.kind {
            ExprKind::Local(local) => {
                let reference = self.kinds.get(local) == Some(&Kind::Reference);
                if read || reference {
                    self.known.read.insert(*local);
                }
            }
            ExprKind::Index(base, index) if self.is_array(base) => {
                self.expr(index);
                self.target(base, read);
            }
            ExprKind::Member { base, arrow: false, .. } => self.target(base, true),
            _ => self.expr(target),
        }
    }

    /// A function may write what it is given by reference.
    fn call(&mut self, callee: &Expr, args: &[Expr]) {
        self.expr(callee);
        args.iter().for_each(|arg| self.expr(arg));
        // A method may change its object.
        if let ExprKind::Member { base, .. } = &callee.kind
            && let Some(local) = root(base).filter(|_| !behind_pointer(base, self))
        {
            self.differs(local);
        }
        for (at, arg) in args.iter().enumerate() {
            if let Some(local) = root(arg)
                && !behind_pointer(arg, self)
                && self.by_reference(callee, at)
            {
                self.differs(local);
            }
        }
    }

    fn by_reference(&self, callee: &Expr, at: usize) -> bool {
        let ExprKind::Path(path) = &callee.kind else { return true };
        let candidates = self.program.functions(&path.name);
        let name = &*path.name;
        let builtin = builtins::is_reserved(name) || builtins::kind(name) == Some(builtins::Kind::Atomic);
        match candidates.is_empty() {
            true => !builtin && !builtins::only_computes(name),
            false => candidates.iter().any(|function| {
                function.params.get(at).is_none_or(|param| matches!(param.ty, Type::Reference(_)))
            }),
        }
    }

    /// Finds calls whose results nobody reads.
    fn find_dead(&mut self, stmt: &Stmt) {
        let mut note = |local: LocalId, value: &Expr| {
            let plain = self.kinds.get(&local) == Some(&Kind::Plain);
            if plain && !self.known.read.contains(&local) && matches!(value.kind, ExprKind::Call { .. }) {
                self.known.dead.insert(std::ptr::from_ref(value).addr());
            }
        };
        match &stmt.kind {
            StmtKind::Declare(list) => {
                list.iter().for_each(|it| it.init.iter().for_each(|init| note(it.local, init)));
            }
            StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) => {
                if let ExprKind::Local(local) = &target.kind {
                    note(*local, value);
                }
            }
            _ => {}
        }
        own_stmts(stmt, &mut |inner| self.find_dead(inner));
    }
}

/// The variable that a place is a part of, if no pointer is followed by name.
fn root(place: &Expr) -> Option<LocalId> {
    match &place.kind {
        ExprKind::Local(local) => Some(*local),
        ExprKind::Member { base, arrow: false, .. } | ExprKind::Index(base, _) => root(base),
        _ => None,
    }
}

/// Whether a place lies behind a pointer or in shared memory, rather than in a variable.
fn behind_pointer(place: &Expr, pass: &Pass<'_>) -> bool {
    match &place.kind {
        ExprKind::Local(local) => pass.kinds.get(local) == Some(&Kind::Shared),
        ExprKind::Member { base, .. } => behind_pointer(base, pass),
        ExprKind::Index(base, _) => !pass.is_array(base),
        _ => true,
    }
}
