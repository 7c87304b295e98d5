//! Which method does a call on an object run, and on which part of the object?

use super::int::Int;
use super::machine::Machine;
use super::members::BASES;
use super::types::{Layout, Ty};
use super::value::{Offset, Pointer, Target, Value};
use crate::ir::{Expr, Function, Name, Path};
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
            Err(()) => {
                self.evaluate(base);
                self.call_unknown(name, args, expr.span)
            }
        }
    }

    pub(super) fn call_member(&mut self, expr: &Expr, object: &Pointer, name: &str, args: &[Expr]) -> Value {
        match self.method(object, name, args, BASES) {
            Some((method, part)) => {
                self.call_function(&method, &Path::simple(name.into()), Some(part), args, expr.span)
            }
            None => self.call_unknown(name, args, expr.span),
        }
    }

    /// The method of an object, of its own class or of a base, and the part that is of that class.
    fn method(
        &mut self,
        object: &Pointer,
        name: &str,
        args: &[Expr],
        depth: usize,
    ) -> Option<(Arc<Function>, Pointer)> {
        let Ty::Record(layout) = &object.pointee else { return None };
        let fits = |f: &&Arc<Function>| {
            f.body.is_some() && f.owner.as_ref() == Some(&layout.name) && args.len() <= f.params.len()
        };
        let all: Vec<Arc<Function>> = self.program.functions(name).iter().filter(fits).cloned().collect();
        let own: Vec<Arc<Function>> = all.iter().filter(|f| layout.holds(f.span)).cloned().collect();
        if let Some(method) = self.best_of(if own.is_empty() { all } else { own }, &[], args) {
            return Some((method, object.clone()));
        }
        self.parts(object, depth).iter().find_map(|part| self.method(part, name, args, depth - 1))
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
