//! Which global memory does the kernel change?
//!
//! All threads that read one place read one value, unless it changes meanwhile. A run notes what it writes, and what
//! all threads read in one place; if that is the same memory, the kernel is run again with such reads not known to be
//! alike. Not all writes are evaluated: statements may be passed over, and atomics and stores of CUDA's are calls. So the
//! text of each statement is looked at as well, once in each call of its function. Example:
//!
//! ```text
//! if (t == 0) flag[blockIdx.x] = 1;     `flag` changes
//! if (flag[blockIdx.x]) ...             so that some threads may find it changed, and others not
//! if (rows[blockIdx.x] > 3) ...         `rows` does not: all threads find the same
//! ```
//!
//! Memory is told apart by the parameter or the variable that leads to it. What two of them lead to is taken to be
//! different memory.

use super::machine::{Machine, Mode};
use super::value::{ObjectId, Offset, Pointer, Target, Value};
use crate::builtins::{self, Kind};
use crate::domain::Variation;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Asm, BinaryOp, Expr, ExprKind, Function, LocalId, Name, Stmt, StmtKind, Type};
use std::sync::Arc;

impl Machine<'_> {
    /// How much what is read differs between threads.
    pub(super) fn variation_of_read(&mut self, pointer: &Pointer, offset: &Offset) -> Variation {
        let variation = offset.variation();
        if variation != Variation::Uniform || self.mode == Mode::Host || self.is_shared(pointer) {
            return variation;
        }
        let mut changes = pointer.volatile;
        for object in self.objects_at(pointer) {
            let name = self.memory.objects[object.0 as usize].name.clone();
            changes |= self.is_changed(&name);
        }
        if changes { Variation::Maybe } else { variation }
    }

    /// Whether the kernel changes a variable in global memory that all threads read.
    pub(super) fn is_changed(&mut self, name: &Name) -> bool {
        self.memory.elsewhere.read_alike.insert(name.clone());
        self.mode == Mode::Device && self.memory.elsewhere.changing.contains(name)
    }

    /// How much a variable in global memory differs between threads.
    pub(super) fn variation_of_variable(&mut self, name: &Name) -> Variation {
        if self.is_changed(name) { Variation::Maybe } else { Variation::Uniform }
    }

    /// Notes that the kernel changes what a pointer points to in global memory.
    pub(super) fn note_changed(&mut self, pointer: &Pointer) {
        if self.mode == Mode::Device && !self.is_shared(pointer) {
            for object in self.objects_at(pointer) {
                let name = self.memory.objects[object.0 as usize].name.clone();
                self.memory.elsewhere.written.insert(name);
            }
        }
    }

    fn objects_at(&self, pointer: &Pointer) -> Vec<ObjectId> {
        match pointer.target {
            Target::Memory(object, _) => self.objects_of(object).to_vec(),
            Target::Place(_) => Vec::new(),
        }
    }

    /// Notes what a statement changes by itself; `passed`: or what it holds, as that is not run.
    pub(super) fn note_changes_in(&mut self, stmt: &Stmt, passed: bool) {
        let call = self.around.calls.last().map(|call| call.span);
        let place = std::ptr::from_ref(stmt).addr();
        if self.mode == Mode::Device && self.memory.elsewhere.looked_at.insert((place, call)) {
            match passed {
                true => self.look_for_changes(stmt),
                false => own_exprs(stmt, &mut |expr| self.look_for_changes_in(expr)),
            }
        }
    }

    fn look_for_changes(&mut self, stmt: &Stmt) {
        own_exprs(stmt, &mut |expr| self.look_for_changes_in(expr));
        own_stmts(stmt, &mut |inner| self.look_for_changes(inner));
    }

    fn look_for_changes_in(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => self.changes_at(target),
            ExprKind::Call { callee, args } => {
                if let ExprKind::Path(path) = &callee.kind {
                    let functions = self.program.functions(&path.name);
                    let may_write = |at: usize| match functions.first() {
                        Some(function) => {
                            function.params.get(at).is_some_and(|it| !it.to_const && leads_somewhere(&it.ty))
                        }
                        None => at == 0 && changes_memory(&path.name),
                    };
                    let written: Vec<&Expr> = args
                        .iter()
                        .enumerate()
                        .filter(|(at, _)| may_write(*at))
                        .map(|(_, arg)| arg)
                        .collect();
                    for function in functions {
                        self.look_for_variables(function);
                    }
                    written.into_iter().for_each(|arg| self.changes_behind(arg));
                }
            }
            ExprKind::Asm(asm) if stores(asm) => {
                asm.inputs.iter().for_each(|(_, value)| self.changes_behind(value));
            }
            _ => {}
        }
        self.note_address_stored(expr);
        children(expr, &mut |child| self.look_for_changes_in(child));
    }

    /// Notes which variables outside of functions a function changes by their names, whether it is run or not.
    fn look_for_variables(&mut self, function: &Arc<Function>) {
        if self.memory.elsewhere.looked_at.insert((Arc::as_ptr(function).addr(), None)) {
            let mut names = Vec::new();
            function.body.iter().flatten().for_each(|stmt| variables_changed(stmt, &mut names));
            self.memory.elsewhere.written.extend(names);
        }
    }

    /// A place is written.
    fn changes_at(&mut self, place: &Expr) {
        match &place.kind {
            ExprKind::Index(base, _) | ExprKind::Deref(base) | ExprKind::Member { base, arrow: true, .. } => {
                self.changes_behind(base);
            }
            ExprKind::Member { base, arrow: false, .. } | ExprKind::Cast(_, base) => self.changes_at(base),
            ExprKind::Path(path) => {
                self.memory.elsewhere.written.insert(path.name.clone());
            }
            _ => {}
        }
    }

    /// What a pointer leads to is written.
    fn changes_behind(&mut self, pointer: &Expr) {
        match &pointer.kind {
            ExprKind::Local(local) => {
                let value = self.frame().and_then(|frame| frame.slots.get(local.0 as usize));
                match value.map(|slot| slot.value.clone()) {
                    Some(Value::Pointer(known)) => self.note_changed(&known),
                    // It is not followed; its text is.
                    _ => self.changes_behind_variable(*local),
                }
            }
            ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, inner, _)
            | ExprKind::Cast(_, inner)
            | ExprKind::Step { target: inner, .. } => self.changes_behind(inner),
            ExprKind::AddressOf(place) => self.changes_at(place),
            ExprKind::Conditional(_, one, other) => {
                self.changes_behind(one);
                self.changes_behind(other);
            }
            ExprKind::Path(path) => {
                self.memory.elsewhere.written.insert(path.name.clone());
            }
            ExprKind::Member { .. } if is_member_of_variable(pointer) => {
                if let Value::Pointer(known) = self.unrecorded(|machine| machine.evaluate(pointer)) {
                    self.note_changed(&known);
                }
            }
            _ => {}
        }
    }

    /// The same of what a variable is given anywhere in its function, once in each call of it.
    fn changes_behind_variable(&mut self, local: LocalId) {
        let Some(function) = self.frame().map(|frame| frame.function.clone()) else { return };
        let call = self.around.calls.last().map(|call| call.span);
        if !self.memory.elsewhere.followed.insert((local, call)) {
            return;
        }
        let mut given = Vec::new();
        for stmt in function.body.as_deref().unwrap_or_default() {
            given_to(local, stmt, &mut given);
        }
        given.into_iter().for_each(|value| self.changes_behind(value));
    }
}

/// The variables outside of functions that a statement assigns to.
fn variables_changed(stmt: &Stmt, names: &mut Vec<Name>) {
    own_exprs(stmt, &mut |expr| variables_changed_in(expr, names));
    own_stmts(stmt, &mut |inner| variables_changed(inner, names));
}

fn variables_changed_in(expr: &Expr, names: &mut Vec<Name>) {
    let changed = match &expr.kind {
        ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => Some(&**target),
        ExprKind::Call { callee, args } => match &callee.kind {
            ExprKind::Path(path) if changes_memory(&path.name) => args.first(),
            _ => None,
        },
        _ => None,
    };
    names.extend(changed.and_then(variable_of));
    children(expr, &mut |child| variables_changed_in(child, names));
}

/// The variable outside of functions that a place is a part of, or that a pointer leads to.
fn variable_of(place: &Expr) -> Option<Name> {
    match &place.kind {
        ExprKind::Path(path) => Some(path.name.clone()),
        ExprKind::Index(inner, _)
        | ExprKind::Member { base: inner, .. }
        | ExprKind::AddressOf(inner)
        | ExprKind::Deref(inner)
        | ExprKind::Cast(_, inner)
        | ExprKind::Binary(_, inner, _) => variable_of(inner),
        _ => None,
    }
}

/// Whether assembly may write to memory.
pub(super) fn stores(asm: &Asm) -> bool {
    ["st.", "atom.", "red."].iter().any(|it| asm.template.contains(it))
}

/// Whether a function of CUDA's writes where its first argument leads.
fn changes_memory(name: &str) -> bool {
    builtins::kind(name) == Some(Kind::Atomic) || name.starts_with("__st")
}

fn leads_somewhere(ty: &Type) -> bool {
    matches!(ty, Type::Pointer(_) | Type::Reference(_))
}

/// Whether it is a variable's member, or one of that: `params.out`.
fn is_member_of_variable(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Local(_) => true,
        ExprKind::Member { base, .. } => is_member_of_variable(base),
        _ => false,
    }
}

/// What a variable is given in a statement.
fn given_to<'s>(local: LocalId, stmt: &'s Stmt, found: &mut Vec<&'s Expr>) {
    if let StmtKind::Declare(list) = &stmt.kind {
        found.extend(list.iter().filter(|it| it.local == local).filter_map(|it| it.init.as_ref()));
    }
    own_exprs(stmt, &mut |expr| assigned_to(local, expr, found));
    own_stmts(stmt, &mut |inner| given_to(local, inner, found));
}

fn assigned_to<'s>(local: LocalId, expr: &'s Expr, found: &mut Vec<&'s Expr>) {
    if let ExprKind::Assign(None, target, value) = &expr.kind
        && matches!(target.kind, ExprKind::Local(it) if it == local)
    {
        found.push(value);
    }
    children(expr, &mut |child| assigned_to(local, child, found));
}
