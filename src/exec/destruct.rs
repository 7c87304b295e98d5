//! Which destructors run where a list of statements ends?
//!
//! Those of the automatic variables that it declares, the last one first, and those of a function's parameters.
//! Threads that left before ran them on their way out; if only some did, what the destructors do is not known.
//!
//! So does that of an object that a statement makes and nothing else. The destructors of members, base classes,
//! elements of arrays and other temporaries are not followed: they may change whatever a pointer leads to.

use super::machine::{Machine, Mode};
use super::types::Ty;
use super::unseen::Callee;
use super::value::{Layout, Place, Pointer, Steps, Target, Value};
use crate::domain::{Reason, ThreadSet, Unknown};
use crate::ir::visit::{children, own_exprs};
use crate::ir::{Expr, ExprKind, Function, LocalId, Name, Path, Stmt, StmtKind, Storage, Type};
use crate::slice::effects::made_and_ended;
use crate::slice::endings::{ends_with_effect, names_such};
use crate::source::Span;
use std::sync::Arc;

/// Classes in classes that are looked at, at the most.
const DEPTH: usize = 8;

impl Machine<'_> {
    /// Runs the destructors of what `stmts` declare. `entered`: the threads that began them.
    pub(super) fn destroy(&mut self, stmts: &[Stmt], entered: &ThreadSet) {
        if self.mode == Mode::Host {
            return self.lose_ended(stmts);
        }
        let handed_back = match stmts.last().map(|last| &last.kind) {
            Some(StmtKind::Return(Some(value))) => match value.kind {
                ExprKind::Local(local) => Some(local),
                _ => None,
            },
            _ => None,
        };
        let declared = stmts.iter().rev().filter_map(|stmt| match &stmt.kind {
            StmtKind::Declare(list) => Some(list),
            _ => None,
        });
        for declaration in declared.flat_map(|list| list.iter().rev()) {
            let automatic = declaration.storage == Storage::Automatic;
            let object = !matches!(declaration.ty, Type::Scalar(_) | Type::Pointer(_));
            if automatic && object && Some(declaration.local) != handed_back {
                self.destroy_one(declaration.local, entered, declaration.name_span);
            }
        }
    }

    /// Where variables of host code end, on whichever way, what their destructors may write is not known.
    fn lose_ended(&mut self, stmts: &[Stmt]) {
        if !self.program.has_host_destructors() {
            return;
        }
        let declared = stmts.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Declare(list) => Some(list),
            _ => None,
        });
        for declaration in declared.flatten().filter(|it| it.storage == Storage::Automatic) {
            self.lose_end_of(declaration.local, declaration.name_span);
        }
    }

    fn lose_end_of(&mut self, local: LocalId, span: Span) {
        let slot = self.frame().and_then(|frame| frame.slots.get(local.0 as usize));
        let Some(slot) = slot.filter(|slot| !slot.reference) else { return };
        let (ty, value) = (slot.ty.clone(), slot.value.clone());
        let mut names = Vec::new();
        self.destructors_of(&ty, DEPTH, &mut names);
        if names.is_empty() {
            return;
        }
        let words = "a destructor that is not followed may have changed it";
        let why = Unknown::new(Reason::UnknownFunction, span, words);
        self.on_all_ways(|machine| {
            let active = std::mem::replace(&mut machine.state.active, machine.world.all);
            machine.lose_effects(&names, &why);
            machine.lose_behind(&value, span);
            machine.state.active = active;
        });
    }

    /// The destructors that run where an object of a type ends, by their names.
    fn destructors_of(&self, ty: &Ty, depth: usize, names: &mut Vec<Name>) {
        match ty {
            Ty::Record(layout) => {
                names.extend(self.destructor(layout).map(|it| it.name.clone()));
                let Some(depth) = depth.checked_sub(1) else { return };
                let fields = layout.fields.iter().filter(|field| !field.reference);
                fields.for_each(|field| self.destructors_of(&field.ty, depth, names));
                for base in layout.record.iter().flat_map(|record| &record.bases) {
                    let of_base = made_and_ended(self.program, base).into_iter();
                    names.extend(of_base.filter(|name| name.starts_with('~')));
                }
            }
            Ty::Array(inner, _) | Ty::Qualified(_, inner) => self.destructors_of(inner, depth, names),
            _ => {}
        }
    }

    /// Runs the destructors of a function's parameters where it ends. `entered`: the threads that called it.
    pub(super) fn destroy_params(&mut self, function: &Function, entered: &ThreadSet) {
        if self.program.has_host_destructors() && self.mode == Mode::Host {
            function.params.iter().for_each(|param| self.lose_end_of(param.local, function.name_span));
        }
        if self.program.has_destructors() && self.mode == Mode::Device {
            let params = function.params.iter().rev();
            params.for_each(|param| self.destroy_one(param.local, entered, function.name_span));
        }
    }

    /// Where a statement ends, the temporaries in it do.
    pub(super) fn destroy_temporaries(&mut self, stmt: &Stmt) {
        if self.mode == Mode::Host {
            return self.lose_temporaries(stmt);
        }
        if !self.program.has_destructors() {
            return;
        }
        // What becomes a variable or a result is none.
        let is_kept = match &stmt.kind {
            StmtKind::Declare(list) => list.iter().all(|it| !matches!(it.ty, Type::Scalar(_))),
            StmtKind::Return(_) => true,
            _ => false,
        };
        let is_discarded = matches!(stmt.kind, StmtKind::Expr(_));
        let mut open: Vec<&Expr> = Vec::new();
        own_exprs(stmt, &mut |expr| match is_kept || is_discarded && self.has_followed_end(expr) {
            true => children(expr, &mut |child| open.push(child)),
            false => open.push(expr),
        });
        while let Some(expr) = open.pop() {
            let ends = match &expr.kind {
                ExprKind::Lambda(_) => continue,
                ExprKind::Construct(ty, _) => ends_with_effect(ty, self.program),
                ExprKind::Call { callee, .. } => {
                    let results = called(callee).map_or(&[][..], |name| self.program.functions(name));
                    // Methods that return `auto`, such as `size()`, mostly are those of containers and groups.
                    let is_named = matches!(&callee.kind, ExprKind::Path(_));
                    let by_value = |ty: &Type| {
                        !matches!(ty, Type::Reference(_)) && (is_named || !matches!(ty, Type::Auto))
                    };
                    let mut objects = results.iter().map(|it| &it.return_type).filter(|ty| by_value(ty));
                    objects.any(|ty| ends_with_effect(ty, self.program))
                        || matches!(&callee.kind, ExprKind::Path(path) if names_such(path, self.program))
                }
                _ => false,
            };
            if ends && self.may_have_end(expr) {
                self.expose_named(expr);
                return self.write_somewhere(expr.span);
            }
            children(expr, &mut |child| open.push(child));
        }
    }

    /// Whether what an expression makes may do something when its life ends, by its type in this instance.
    fn may_have_end(&mut self, expr: &Expr) -> bool {
        // The run gets no further by asking for the type.
        let steps = self.steps;
        let ty = self.type_of(expr);
        self.steps = steps;
        match &ty {
            Ty::Scalar(_) | Ty::Pointer(_) | Ty::Void => false,
            Ty::Record(_) => self.ends_somehow(&ty, DEPTH),
            _ => true,
        }
    }

    /// What the destructors of the objects may write that a statement of host code makes.
    fn lose_temporaries(&mut self, stmt: &Stmt) {
        if !self.program.has_host_destructors() {
            return;
        }
        let mut open: Vec<&Expr> = Vec::new();
        own_exprs(stmt, &mut |expr| open.push(expr));
        let mut names: Vec<Name> = Vec::new();
        let words = "a destructor that is not followed may have changed it";
        let why = Unknown::new(Reason::UnknownFunction, stmt.span, words);
        while let Some(expr) = open.pop() {
            let made = match &expr.kind {
                ExprKind::Lambda(_) => continue,
                ExprKind::Construct(..) | ExprKind::Call { .. } => true,
                _ => false,
            };
            if made {
                let ty = self.type_of(expr);
                let before = names.len();
                self.destructors_of(&ty, DEPTH, &mut names);
                // It may have been made of what leads there.
                if let ExprKind::Construct(_, args) | ExprKind::Call { args, .. } = &expr.kind
                    && names.len() > before
                {
                    self.lose_behind_arguments(args, &why);
                    self.lose_given_to(&ty, expr, &why);
                }
            }
            children(expr, &mut |child| open.push(child));
        }
        self.lose_effects(&names, &why);
    }

    /// The variables that a constructor is given by reference: the destructor may change them.
    fn lose_given_to(&mut self, made: &Ty, expr: &Expr, why: &Unknown) {
        let (Ty::Record(layout), ExprKind::Construct(_, args)) = (made, &expr.kind) else { return };
        for (at, arg) in args.iter().enumerate() {
            let callee = Callee::Constructor(&layout.name);
            self.hand_to_unfollowed(callee, (arg, &Value::Undefined), (at, args.len()), why.span);
        }
    }

    /// Makes an object that a statement is and nothing else, and ends it: `Guard(lock);`. False, and nothing is made,
    /// for any other expression.
    pub(super) fn make_and_destroy(&mut self, expr: &Expr) -> bool {
        if self.mode == Mode::Host || !self.program.has_destructors() || !self.has_followed_end(expr) {
            return false;
        }
        let Ty::Record(layout) = self.type_of(expr) else { return false };
        let Some(destructor) = self.destructor(&layout) else { return false };
        let path = Path::simple(destructor.name.clone());
        let made = self.on_temporary(expr, |machine, object| {
            machine.run_function(&destructor, &path, Some(object.clone()), &[], expr.span);
        });
        made.is_some()
    }

    /// Whether a statement makes an object whose end is followed.
    fn has_followed_end(&mut self, expr: &Expr) -> bool {
        let named = match &expr.kind {
            ExprKind::Construct(..) => None,
            // `Guard(lock)` may be written like a call.
            ExprKind::Call { callee, .. } if let ExprKind::Path(path) = &callee.kind => Some(&path.name),
            _ => return false,
        };
        match self.type_of(expr) {
            Ty::Record(layout) if named.is_some_and(|name| *name != layout.name) => false,
            Ty::Record(layout) => self.destructor(&layout).is_some() && !self.has_ends_inside(&layout, DEPTH),
            _ => false,
        }
    }

    fn destroy_one(&mut self, local: LocalId, entered: &ThreadSet, span: Span) {
        self.run_destructor(local, entered, span);
        let slot = self.frame().and_then(|frame| frame.slots.get(local.0 as usize));
        let Some(slot) = slot.filter(|slot| !slot.reference) else { return };
        let has_more = match &slot.ty {
            Ty::Record(layout) => self.has_ends_inside(layout, DEPTH),
            ty => self.ends_somehow(ty, DEPTH),
        };
        if has_more {
            let value = slot.value.clone();
            self.lose_behind(&value, span);
            self.write_somewhere(span);
        }
    }

    /// Whether a destructor that does something is run for an object of this type.
    fn ends_somehow(&self, ty: &Ty, depth: usize) -> bool {
        match ty {
            Ty::Record(layout) => self.destructor(layout).is_some() || self.has_ends_inside(layout, depth),
            Ty::Array(inner, _) | Ty::Qualified(_, inner) => self.ends_somehow(inner, depth),
            _ => false,
        }
    }

    /// Whether one is run for a member or for a base class.
    fn has_ends_inside(&self, layout: &Layout, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else { return true };
        let bases = layout.record.iter().flat_map(|record| &record.bases);
        layout.fields.iter().any(|field| !field.reference && self.ends_somehow(&field.ty, depth))
            || bases.into_iter().any(|base| ends_with_effect(base, self.program))
    }

    /// What an object leads to may have been changed.
    fn lose_behind(&mut self, value: &Value, span: Span) {
        match value {
            Value::Pointer(Pointer { target: Target::Place(place), .. }) => {
                let words = "a destructor that is not followed may have changed it";
                self.lose_variable(place, Unknown::new(Reason::Unsupported, span, words));
            }
            Value::Aggregate(parts) => parts.iter().for_each(|(_, part)| self.lose_behind(part, span)),
            _ => {}
        }
    }

    fn run_destructor(&mut self, local: LocalId, entered: &ThreadSet, span: Span) {
        let Some((destructor, object)) = self.destructor_of(local) else { return };
        let (active, doubt) = (self.state.active, self.state.doubt.clone());
        let entered = entered.minus(&self.state.exited);
        if active.is_empty() || active == entered {
            self.state.active = entered;
        } else {
            self.state.active = entered;
            let words = "when a destructor runs in threads that left before";
            let why = Unknown::new(Reason::Unsupported, span, words);
            self.state.add_doubt(&why);
        }
        let path = Path::simple(destructor.name.clone());
        self.run_function(&destructor, &path, Some(object), &[], span);
        (self.state.active, self.state.doubt) = (active.minus(&self.state.exited), doubt);
    }

    fn destructor_of(&mut self, local: LocalId) -> Option<(Arc<Function>, Pointer)> {
        let frame = self.top();
        let slot = self.frame()?.slots.get(local.0 as usize).filter(|slot| !slot.reference)?;
        let Ty::Record(layout) = &slot.ty else { return None };
        let destructor = self.destructor(layout)?;
        let place = Place { frame, local, path: Steps::new(), blurred: false };
        let object = Pointer { target: Target::Place(place), pointee: slot.ty.clone(), volatile: false };
        Some((destructor, object))
    }

    /// The destructor of a class, if it does something.
    fn destructor(&self, layout: &Layout) -> Option<Arc<Function>> {
        let class = layout.name.rsplit("::").next().unwrap_or(&layout.name);
        let class = class.split('@').next().unwrap_or(class);
        let of_class = |f: &&Arc<Function>| {
            f.owner.as_ref() == Some(&layout.name) && f.body.as_ref().is_some_and(|body| !body.is_empty())
        };
        let named = self.program.functions(&format!("~{class}"));
        let own = named.iter().filter(of_class).find(|f| layout.holds(f.span));
        own.or_else(|| named.iter().find(of_class)).cloned()
    }
}

/// The name of the function or method that is called.
fn called(callee: &Expr) -> Option<&str> {
    match &callee.kind {
        ExprKind::Path(path) => Some(&path.name),
        ExprKind::Member { name, .. } => Some(name),
        _ => None,
    }
}
