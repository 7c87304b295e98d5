//! Which method does a call on an object run, and on which part of the object?

use super::int::Int;
use super::machine::{Machine, Mode};
use super::members::BASES;
use super::slots::Slot;
use super::types::{Layout, Ty};
use super::value::{Offset, Place, Pointer, Reason, Steps, Target, Unknown, Value};
use crate::ir::{Expr, ExprKind, Function, LocalId, Name, Path, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    pub(super) fn call_method(
        &mut self,
        expr: &Expr,
        base: &Expr,
        name: &str,
        arrow: bool,
        args: &[Expr],
    ) -> Value {
        if let Some(value) = self.group_method(expr, base, name, args) {
            return value;
        }
        let object = if arrow {
            match self.evaluate(base) {
                Value::Pointer(pointer) => Ok(pointer),
                _ => Err(()),
            }
        } else {
            self.locate(base).map_err(|_| ())
        };
        match object {
            Ok(object) => self.call_member(expr, &object, name, args),
            Err(()) if !arrow => self
                .on_temporary(base, |machine, object| machine.call_member(expr, object, name, args))
                .unwrap_or_else(|| self.call_unknown(name, args, expr.span)),
            Err(()) => self.call_unknown(name, args, expr.span),
        }
    }

    /// Uses an object that an expression makes and nothing names, if its class is known; it is
    /// evaluated either way.
    fn on_temporary<R>(&mut self, expr: &Expr, work: impl FnOnce(&mut Self, &Pointer) -> R) -> Option<R> {
        let ty = self.type_of(expr);
        let value = self.evaluate(expr);
        if !matches!(ty, Ty::Record(_)) || self.mode != Mode::Device {
            return None;
        }
        self.with_temporary(value, ty, work)
    }

    /// Uses an object that lasts no longer than that.
    pub(super) fn with_temporary<R>(
        &mut self,
        value: Value,
        ty: Ty,
        work: impl FnOnce(&mut Self, &Pointer) -> R,
    ) -> Option<R> {
        let frame = self.top();
        let slot = Slot { value, ty: ty.clone(), reference: false };
        let number = self.state.frames.last_mut()?.slots.push(slot);
        let local = LocalId(u32::try_from(number).ok()?);
        let place = Place { frame, local, path: Steps::new(), blurred: false };
        let result = work(self, &Pointer { target: Target::Place(place), pointee: ty });
        if let Some(frame) = self.state.frames.get_mut(frame) {
            frame.slots.truncate(number);
        }
        Some(result)
    }

    pub(super) fn call_member(&mut self, expr: &Expr, object: &Pointer, name: &str, args: &[Expr]) -> Value {
        match self.method(object, name, args) {
            Some((method, part)) => {
                self.call_function(&method, &Path::simple(name.into()), Some(part), args, expr.span)
            }
            None => self.call_unknown(name, args, expr.span),
        }
    }

    /// The method of an object, of its own class or of a base, and the part that is of that class.
    fn method(&mut self, object: &Pointer, name: &str, args: &[Expr]) -> Option<(Arc<Function>, Pointer)> {
        let Ty::Record(layout) = &object.pointee else { return None };
        let (method, class) = self.method_of(layout, name, args, BASES)?;
        Some((method, self.part_of_class(object, &class.name, BASES)?))
    }

    /// The method of a class, its own or that of a base, and whose it is.
    fn method_of(
        &mut self,
        layout: &Rc<Layout>,
        name: &str,
        args: &[Expr],
        depth: usize,
    ) -> Option<(Arc<Function>, Rc<Layout>)> {
        let program = self.program;
        let fits = |f: &&Arc<Function>| {
            f.body.is_some() && f.owner.as_ref() == Some(&layout.name) && args.len() <= f.params.len()
        };
        let all: Vec<Arc<Function>> = program.functions(name).iter().filter(fits).cloned().collect();
        let own: Vec<Arc<Function>> = all.iter().filter(|f| layout.holds(f.span)).cloned().collect();
        if let Some(method) = self.best_of(if own.is_empty() { all } else { own }, &[], args) {
            return Some((method, Rc::clone(layout)));
        }
        let bases = self.bases(layout.record.as_ref()?, &layout.env, depth);
        bases.iter().find_map(|base| self.method_of(base, name, args, depth - 1))
    }

    /// Where the reference leads that a function or method hands back: `view(row, column) = x`,
    /// `tile[row] = x`. None, with nothing done, for anything else.
    pub(super) fn called_place(&mut self, expr: &Expr) -> Option<Result<Pointer, Unknown>> {
        match &expr.kind {
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Path(path) => {
                    let function = self.choose_function(path, args).filter(refers)?;
                    let this = self.own_part(&function);
                    let place = self.run_function(&function, path, this, args, expr.span);
                    Some(place_in(place, expr.span))
                }
                ExprKind::Member { base, name, arrow } => {
                    self.place_by_method(base, *arrow, name, args, expr.span)
                }
                _ => self.place_by_method(callee, false, "operator()", args, expr.span),
            },
            ExprKind::Index(base, index) => {
                let (method, _) =
                    self.method_by_type(base, false, "operator[]", std::slice::from_ref(index))?;
                if !refers(&method) {
                    let words = "`operator[]` hands back a value";
                    return Some(Err(Unknown::new(Reason::Unsupported, expr.span, words)));
                }
                self.place_by_method(base, false, "operator[]", std::slice::from_ref(index), expr.span)
            }
            _ => None,
        }
    }

    fn place_by_method(
        &mut self,
        object: &Expr,
        arrow: bool,
        name: &str,
        args: &[Expr],
        span: Span,
    ) -> Option<Result<Pointer, Unknown>> {
        self.method_by_type(object, arrow, name, args).filter(|(method, _)| refers(method))?;
        let object = if arrow {
            match self.evaluate(object) {
                Value::Pointer(pointer) => pointer,
                _ => return None,
            }
        } else {
            match self.locate(object) {
                Ok(pointer) => pointer,
                Err(why) => {
                    let of_temporary = self
                        .on_temporary(object, |machine, object| machine.place_on(object, name, args, span));
                    return Some(of_temporary.flatten().unwrap_or(Err(why)));
                }
            }
        };
        self.place_on(&object, name, args, span)
    }

    fn place_on(
        &mut self,
        object: &Pointer,
        name: &str,
        args: &[Expr],
        span: Span,
    ) -> Option<Result<Pointer, Unknown>> {
        let (method, part) = self.method(object, name, args)?;
        let place = self.run_function(&method, &Path::simple(name.into()), Some(part), args, span);
        Some(place_in(place, span))
    }

    /// `object[index]` where that calls a method that hands back a value.
    pub(super) fn called_subscript(&mut self, expr: &Expr) -> Option<Value> {
        let ExprKind::Index(base, index) = &expr.kind else { return None };
        let args = std::slice::from_ref(&**index);
        let (method, _) = self.method_by_type(base, false, "operator[]", args)?;
        if refers(&method) {
            return None;
        }
        Some(match self.locate(base) {
            Ok(object) => self.call_member(expr, &object, "operator[]", args),
            Err(_) => self.on_temporary(base, |machine, object| {
                machine.call_member(expr, object, "operator[]", args)
            })?,
        })
    }

    fn method_by_type(
        &mut self,
        object: &Expr,
        arrow: bool,
        name: &str,
        args: &[Expr],
    ) -> Option<(Arc<Function>, Rc<Layout>)> {
        if self.program.functions(name).is_empty() {
            return None;
        }
        let layout = match self.type_of(object) {
            Ty::Record(layout) if !arrow => layout,
            Ty::Pointer(inner) if arrow => match &*inner {
                Ty::Record(layout) => Rc::clone(layout),
                _ => return None,
            },
            _ => return None,
        };
        self.method_of(&layout, name, args, BASES)
    }

    /// What a method hands back that an expression calls: `view.row(2)`, `view(1, 2)`, `view[3]`.
    pub(super) fn type_of_method(&mut self, expr: &Expr) -> Option<Ty> {
        let (method, class) = match &expr.kind {
            ExprKind::Index(base, index) => {
                self.method_by_type(base, false, "operator[]", std::slice::from_ref(index))?
            }
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Path(_) => return None,
                ExprKind::Member { base, name, arrow } => self.method_by_type(base, *arrow, name, args)?,
                _ => self.method_by_type(callee, false, "operator()", args)?,
            },
            _ => return None,
        };
        let written = |machine: &mut Self| machine.resolve_type(&method.return_type);
        method
            .template_params
            .is_empty()
            .then(|| self.within(Rc::clone(&class.env), &method.namespace, written))
    }

    /// The part of `this` on which a method runs that is called by its bare name.
    pub(super) fn own_part(&mut self, method: &Function) -> Option<Pointer> {
        let owner = method.owner.as_ref()?;
        let this = self.frame()?.this.clone()?;
        self.part_of_class(&this, owner, BASES)
    }

    fn part_of_class(&mut self, object: &Pointer, class: &Name, depth: usize) -> Option<Pointer> {
        match &object.pointee {
            Ty::Record(layout) if layout.name == *class => Some(object.clone()),
            _ => self.parts(object, depth).iter().find_map(|part| self.part_of_class(part, class, depth - 1)),
        }
    }

    /// The classes whose members are also those of the running method's class, the nearest first.
    pub(super) fn own_bases(&mut self) -> Vec<Name> {
        let env = self.env();
        let mut found: Vec<Rc<Layout>> = Vec::new();
        for record in self.own_records() {
            found.extend(self.bases(&record, &env, BASES));
        }
        let mut at = 0;
        while let Some(layout) = found.get(at).cloned().filter(|_| at < BASES) {
            if let Some(record) = &layout.record {
                found.extend(self.bases(record, &layout.env, BASES));
            }
            at += 1;
        }
        found.iter().map(|layout| layout.name.clone()).collect()
    }

    /// The parts of an object that are its bases; none at a depth of 0.
    fn parts(&mut self, object: &Pointer, depth: usize) -> Vec<Pointer> {
        let Ty::Record(layout) = &object.pointee else { return Vec::new() };
        let Some(record) = &layout.record else { return Vec::new() };
        let bases = self.bases(record, &layout.env, depth);
        bases.into_iter().map(|base| self.part(object, layout, base)).collect()
    }

    fn part(&self, object: &Pointer, whole: &Layout, base: Rc<Layout>) -> Pointer {
        // Of a base without members nothing is ever read.
        let first = base.fields.first();
        let at = first.and_then(|field| whole.field(&field.name)?.offset?.checked_sub(field.offset?));
        let at = Int::constant(at.unwrap_or(0) as i64);
        let target = match &object.target {
            Target::Memory(object, Offset::Known(offset)) => {
                Target::Memory(*object, Offset::Known(self.world.add(offset, &at)))
            }
            // A member of a base is found by its name.
            other => other.clone(),
        };
        Pointer { target, pointee: Ty::Record(base) }
    }
}

fn refers(function: &Arc<Function>) -> bool {
    matches!(function.return_type, Type::Reference(_))
}

fn place_in(value: Value, span: Span) -> Result<Pointer, Unknown> {
    match value {
        Value::Pointer(pointer) => Ok(pointer),
        Value::Opaque(_, why) => Err(why),
        _ => Err(Unknown::new(Reason::UnknownPointer, span, "a reference that is not followed")),
    }
}
