//! On what is a method called: may the object be written, and which part of it is of the method's class?
//!
//! Of `at(i)` and `at(i) const`, the second is called on what is `const`, the first on what is not. Of an object of
//! which the declarations do not tell, either may be.

use super::machine::Machine;
use super::members::BASES;
use super::types::{FieldLayout, Layout, Ty};
use super::value::{Pointer, Target};
use crate::domain::Int;
use crate::ir::{Expr, ExprKind, Function, Name, Through, Type};
use std::rc::Rc;
use std::sync::Arc;

/// A method and the part of the object that it is run on.
pub(super) type Method = (Arc<Function>, Pointer);

impl Machine<'_> {
    /// Whether an object that a method is called on may be written.
    pub(super) fn receiver(&mut self, object: &Expr, arrow: bool, method: &str) -> Through {
        let named = self.program.functions(method);
        if named.iter().all(|it| it.is_const) || !named.iter().any(|it| it.is_const) {
            return Through::Untold;
        }
        match &object.kind {
            ExprKind::This => Through::Untold,
            _ if arrow => self.leads_through(object),
            _ => self.place_through(object),
        }
    }

    /// The part of an object that is of the class that a type names.
    pub(super) fn named_part(&mut self, object: &Pointer, class: &Type) -> Option<Pointer> {
        match self.resolve_type(class) {
            Ty::Record(layout) => self.part_of_class(object, &layout.name, BASES),
            _ => None,
        }
    }

    pub(super) fn part_of_class(&mut self, object: &Pointer, class: &Name, depth: usize) -> Option<Pointer> {
        match &object.pointee {
            Ty::Record(layout) if layout.name == *class => Some(object.clone()),
            _ => self.parts(object, depth).iter().find_map(|part| self.part_of_class(part, class, depth - 1)),
        }
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
        let before = |field: &FieldLayout| {
            let inner = field.begins()?;
            Some(self.world.sub(&whole.field(&field.name)?.begins()?, &inner))
        };
        let at = first.and_then(before).unwrap_or_else(|| Int::constant(0));
        let target = match &object.target {
            Target::Memory(object, offset) => Target::Memory(*object, self.offset_by(offset, &at)),
            // A member of a base is found by its name.
            other => other.clone(),
        };
        Pointer { target, pointee: Ty::Record(base), volatile: object.volatile }
    }
}

/// Those of some methods that are called on such an object, where they differ in nothing but `const`.
pub(super) fn narrowed(methods: Vec<Method>, receiver: Through) -> Vec<Method> {
    let [(a, _), (b, _)] = methods.as_slice() else { return methods };
    let differ = a.is_const != b.is_const && has_types_of(a, b);
    if !differ
        || receiver == Through::Untold
        || !(a.template_params.is_empty() && b.template_params.is_empty())
    {
        return methods;
    }
    methods.into_iter().filter(|(method, _)| method.is_const == (receiver == Through::Const)).collect()
}

/// Whether two functions are written with parameters of the same types.
pub(super) fn has_types_of(a: &Function, b: &Function) -> bool {
    a.params.len() == b.params.len() && a.params.iter().zip(&b.params).all(|(x, y)| x.ty == y.ty)
}
