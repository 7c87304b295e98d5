//! Which statements can be skipped?

use super::endings::{ends_with_effect, makes_such, names_such};
use super::places::root;
use super::{Part, Slice, address, computes, is_global, key};
use crate::builtins::{self, Kind};
use crate::ir::program::Program;
use crate::ir::visit::{children, own_exprs, own_stmts};
use crate::ir::{Expr, ExprKind, LocalId, Stmt, StmtKind, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// What a statement does, as far as it goes beyond itself.
#[derive(Default)]
struct Effect {
    /// It may have requests or barriers, or anything else that is traced.
    traced: bool,
    /// It may return.
    returns: bool,
    /// It may leave an iteration of a loop around, or a loop or `switch` around.
    continues: bool,
    breaks: bool,
    /// It may change a variable that matters, and which is not known.
    changes: bool,
    /// Variables that matter and that it writes.
    writes: FxHashSet<LocalId>,
    /// Variables that it declares.
    declares: FxHashSet<LocalId>,
}

impl Effect {
    fn add(&mut self, inner: Effect) {
        self.traced |= inner.traced;
        self.returns |= inner.returns;
        self.continues |= inner.continues;
        self.breaks |= inner.breaks;
        self.changes |= inner.changes;
        self.writes.extend(inner.writes);
        self.declares.extend(inner.declares);
    }
}

/// Finds the statements of one function that may be passed over.
pub(super) struct Finder<'a> {
    slice: &'a Slice,
    program: &'a Program,
    /// Whether what is written through a pointer may matter.
    taken: bool,
    found: FxHashMap<usize, Part>,
}

impl<'a> Finder<'a> {
    pub(super) fn new(slice: &'a Slice, program: &'a Program, taken: bool) -> Finder<'a> {
        Finder { slice, program, taken, found: FxHashMap::default() }
    }

    pub(super) fn find(mut self, body: &[Stmt]) -> FxHashMap<usize, Part> {
        body.iter().for_each(|stmt| {
            self.stmt(stmt);
        });
        self.found
    }

    fn stmt(&mut self, stmt: &Stmt) -> Effect {
        let mut effect = Effect::default();
        own_exprs(stmt, &mut |expr| self.expr(expr, &mut effect));
        own_stmts(stmt, &mut |inner| effect.add(self.stmt(inner)));
        match &stmt.kind {
            StmtKind::Declare(list) => {
                for declaration in list {
                    effect.traced |= declaration.storage.is_shared();
                    self.ends(ends_with_effect(&declaration.ty, self.program), &mut effect);
                    effect.declares.insert(declaration.local);
                    if !self.slice.data.contains(&declaration.local) {
                        effect.writes.insert(declaration.local);
                    }
                }
                // Later statements ask for the type of what it declares, and templates for constants.
                let left = list
                    .iter()
                    .any(|it| it.constant || it.storage.is_shared() || self.slice.is_carried(it.local));
                if !left && self.is_quiet(&effect) {
                    self.found.insert(address(stmt), Part::Quiet);
                }
                return effect;
            }
            StmtKind::Loop { .. } => (effect.continues, effect.breaks) = (false, false),
            StmtKind::Switch { .. } => effect.breaks = false,
            StmtKind::Return(_) => effect.returns = true,
            StmtKind::Break => effect.breaks = true,
            StmtKind::Continue => effect.continues = true,
            // Whoever it leads on or brings back runs what follows.
            StmtKind::Goto(_)
            | StmtKind::Label(_)
            | StmtKind::Unsupported(..)
            | StmtKind::Try(_)
            | StmtKind::Throw
            | StmtKind::Damaged => {
                (effect.traced, effect.changes) = (true, true);
            }
            StmtKind::Expr(_) | StmtKind::Block(_) | StmtKind::If { .. } => {}
        }
        if self.is_quiet(&effect) {
            let idle = !effect.traced && effect.writes.is_subset(&effect.declares);
            self.found.insert(address(stmt), if idle { Part::Idle } else { Part::Quiet });
        }
        effect
    }

    /// Whether nothing that is carried outlives it.
    fn is_quiet(&self, effect: &Effect) -> bool {
        let leaves = effect.returns || effect.continues || effect.breaks;
        let stays = |local: &LocalId| effect.declares.contains(local) || !self.slice.is_carried(*local);
        !effect.changes && !leaves && effect.writes.iter().all(stays)
    }

    fn expr(&self, expr: &Expr, effect: &mut Effect) {
        effect.traced |= self.slice.acts(expr, self.program) && !is_write(expr);
        match &expr.kind {
            ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } => self.write(target, effect),
            ExprKind::Call { callee, args } => match self.slice.calls.get(&key(expr)) {
                Some(given) => {
                    effect.writes.extend(given.iter().filter(|l| !self.slice.data.contains(l)));
                }
                None => self.call(callee, args, effect),
            },
            ExprKind::Asm(asm) => {
                // It may leave the kernel.
                effect.returns |= builtins::ptx::may_end_threads(&asm.template);
                asm.outputs.iter().for_each(|(_, target)| self.write(target, effect));
            }
            ExprKind::Construct(ty, _) => self.ends(ends_with_effect(ty, self.program), effect),
            _ => {}
        }
        children(expr, &mut |child| self.expr(child, effect));
    }

    /// Objects live in it whose destructors may do anything, if `so`.
    fn ends(&self, so: bool, effect: &mut Effect) {
        effect.traced |= so;
        effect.changes |= so;
    }

    fn write(&self, target: &Expr, effect: &mut Effect) {
        if let ExprKind::Conditional(_, a, b) = &target.kind {
            self.write(a, effect);
            return self.write(b, effect);
        }
        match self.slice.places.part_of(target) {
            Some(local) => {
                // What it stands for is changed.
                effect.changes |= self.slice.aliases.contains(&local) && !self.slice.shared.contains(&local);
                if !self.slice.data.contains(&local) {
                    effect.writes.insert(local);
                }
            }
            None => {
                // In a method, a member of the object that it is called for, which may lie anywhere.
                let is_named = match &target.kind {
                    ExprKind::Path(path) => self.program.variables(&path.name).is_empty(),
                    _ => false,
                };
                (effect.traced, effect.changes) = (effect.traced | is_named, effect.changes | is_named);
                let pointer = matches!(
                    target.kind,
                    ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member { .. } | ExprKind::Path(_)
                );
                effect.changes |= (self.taken || !pointer) && !self.is_elsewhere(target);
                let local = self.slice.places.perhaps_part_of(target);
                effect.writes.extend(local.filter(|local| !self.slice.data.contains(local)));
            }
        }
    }

    /// Whether a place is surely no variable of this function or its callers.
    fn is_elsewhere(&self, target: &Expr) -> bool {
        let global = |pointer: &Expr| is_global(pointer, &self.slice.global);
        let shared = root(target).is_some_and(|(local, _)| self.slice.shared.contains(&local));
        shared
            || match &target.kind {
                ExprKind::Index(base, _) => global(base),
                ExprKind::Deref(pointer) => global(pointer),
                _ => false,
            }
    }

    fn call(&self, callee: &Expr, args: &[Expr], effect: &mut Effect) {
        let ExprKind::Path(path) = &callee.kind else {
            effect.changes = true;
            return;
        };
        if computes(&path.name, self.program, self.slice.lanes) {
            return;
        }
        // It leaves the kernel.
        effect.returns |= builtins::kind(&path.name) == Some(Kind::Trap);
        let candidates = self.program.functions(&path.name);
        let makes = candidates.iter().any(|it| makes_such(it, self.program));
        self.ends(makes || names_such(path, self.program), effect);
        let by_reference = |at: usize| {
            builtins::kind(&path.name) == Some(Kind::Swap)
                || candidates.iter().any(|f| {
                    f.template_params.iter().any(|p| p.pack)
                        || f.params.get(at).is_none_or(|p| matches!(p.ty, Type::Reference(_)))
                })
        };
        for (at, arg) in args.iter().enumerate() {
            let written = match &arg.kind {
                ExprKind::AddressOf(inner) => root(inner),
                _ if by_reference(at) => root(arg),
                _ => None,
            };
            effect.writes.extend(written.map(|(local, _)| local).filter(|l| !self.slice.data.contains(l)));
            effect.changes |= self.taken && by_reference(at);
        }
        // A pointer handed on may lead to a variable of this function.
        effect.changes |= self.taken && !candidates.is_empty();
    }
}

fn is_write(expr: &Expr) -> bool {
    matches!(expr.kind, ExprKind::Assign(..) | ExprKind::Step { .. })
}
