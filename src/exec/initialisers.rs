//! What do the initialisers of a constructor make: `: Base(a), x(b)`?
//!
//! Bases come first, then members in the order of the class, each with its own initialiser or its default. A base is
//! known by its name, by that of a template without its arguments, or by that of a typedef.

use super::construct::{depends, unmade};
use super::machine::Machine;
use super::members::BASES;
use super::types::{Binding, FieldLayout, Layout, Ty};
use super::value::{Pointer, Step, Steps, Target, Value};
use crate::ir::{Expr, ExprKind, Field, Function, Name, Path, Record, Stmt, StmtKind};
use crate::source::Span;
use smallvec::smallvec;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// Runs the body of a constructor, which begins with the initialisers that it names: bases come first, then
    /// members in the order of the class, each with its own initialiser or its default.
    pub(super) fn run_constructor(&mut self, body: &[Stmt]) {
        let this = self.frame().and_then(|frame| frame.this.clone());
        let Some(this) = this else { return self.run(body) };
        let Ty::Record(layout) = this.pointee.clone() else { return self.run(body) };
        let Some(record) = layout.record.clone() else { return self.run(body) };
        let count = body.iter().take_while(|stmt| initialised(stmt).is_some()).count();
        let (written, rest) = body.split_at(count);
        if written.iter().filter_map(initialised).any(|name| delegates(&layout, name)) {
            return self.run(body);
        }
        let is_written =
            |name: &str| written.iter().any(|stmt| initialised(stmt).is_some_and(|it| **it == *name));
        let of_bases = self.bases_by_default(&record, &layout, written);
        let due: Vec<&Field> = record
            .fields
            .iter()
            .filter(|field| field.init.as_ref().is_some_and(depends) && !is_written(&field.name))
            .collect();
        if of_bases.is_empty() && due.is_empty() {
            return self.run(body);
        }
        for name in of_bases {
            let nothing = Expr { kind: ExprKind::InitList(Vec::new()), span: record.span };
            self.initialises_base(&this, &name, &nothing);
        }
        let is_member = |stmt: &&Stmt| {
            initialised(stmt).is_some_and(|name| record.fields.iter().any(|field| field.name == *name))
        };
        written.iter().filter(|stmt| !is_member(stmt)).for_each(|stmt| self.run(std::slice::from_ref(stmt)));
        for field in &record.fields {
            let own = written.iter().find(|stmt| initialised(stmt) == Some(&field.name));
            let laid = layout.fields.iter().find(|laid| laid.name == field.name);
            match (own, laid, &field.init) {
                (Some(own), ..) => self.run(std::slice::from_ref(own)),
                (None, Some(laid), Some(init)) if depends(init) => {
                    self.initialise_member(&layout, &this, (laid, init));
                }
                _ => {}
            }
        }
        self.run(rest);
    }

    /// The bases, by their names, that have constructors and are not named among the initialisers.
    fn bases_by_default(&mut self, record: &Arc<Record>, layout: &Layout, written: &[Stmt]) -> Vec<Name> {
        if record.bases.is_empty() {
            return Vec::new();
        }
        let bases = self.bases(record, &layout.env, BASES);
        let mut names: Vec<Name> = bases
            .iter()
            .filter(|base| self.has_constructors(base))
            .map(|base| last_name(base).into())
            .collect();
        for name in written.iter().filter_map(initialised) {
            let is_field = record.fields.iter().any(|field| field.name == *name);
            let meant = if is_field { Vec::new() } else { self.bases_meant(&bases, name) };
            names.retain(|name| !meant.iter().any(|base| last_name(base) == &**name));
        }
        names
    }

    /// Those of the bases that an initialiser means by their name or that of a typedef. Of several of one template
    /// all: which of them is not told by its name.
    fn bases_meant(&mut self, bases: &[Rc<Layout>], name: &Name) -> Vec<Rc<Layout>> {
        let called = |name: &str| -> Vec<Rc<Layout>> {
            bases.iter().filter(|base| last_name(base) == name).cloned().collect()
        };
        let named = called(name);
        if !named.is_empty() || bases.is_empty() {
            return named;
        }
        // `template <class Base> struct View : Base`
        let bound = match self.env().bindings.get(name) {
            Some(Binding::Type(ty)) => Some(ty.unqualified()),
            _ => None,
        };
        match bound.or_else(|| self.own_alias(&Path::simple(name.clone()))) {
            Some(Ty::Record(layout)) => called(last_name(&layout)),
            _ => named,
        }
    }

    /// A member that is a reference is bound by the first thing that it is given; false for any other
    /// assignment. `this` is the object that is made.
    pub(super) fn binds_member(&mut self, target: &Expr, value: &Expr) -> bool {
        let ExprKind::Member { base, name, arrow: true, .. } = &target.kind else { return false };
        let (ExprKind::This, Some(this)) = (&base.kind, self.frame().and_then(|frame| frame.this.clone()))
        else {
            return false;
        };
        let (Ty::Record(layout), Target::Place(place)) = (&this.pointee, &this.target) else { return false };
        let Some(field) = layout.field(name) else { return self.initialises_base(&this, name, value) };
        if !field.reference {
            return false;
        }
        let mut place = place.clone();
        if place.blurred {
            return false;
        }
        place.path.push(Step::Member(name.clone()));
        let ty = Ty::Pointer(Rc::new(field.ty.clone()));
        if matches!(self.read_place(&place, &ty, target.span), Value::Pointer(_)) {
            return false;
        }
        let bound = self.bound(value, &field.ty.clone());
        self.write_place(&place, bound);
        true
    }

    /// `T(args)` where the class has no such constructor but takes over those of a base: `using Base::Base;`. What it
    /// makes is the base, and the default of each member.
    pub(super) fn by_inherited(&mut self, layout: &Rc<Layout>, args: &[Expr], span: Span) -> Option<Value> {
        let record = layout.record.clone().filter(|it| !it.usings.is_empty() && !it.bases.is_empty())?;
        let takes =
            |f: &Arc<Function>| f.owner.as_ref() == Some(&layout.name) && f.params.len() == args.len();
        let is_copy = |ty: &Ty| matches!(ty, Ty::Record(of) if of.name == layout.name);
        if args.is_empty()
            || self.program.functions(&layout.name).iter().any(takes)
            || matches!(args, [single] if is_copy(&self.type_of(single)))
        {
            return None;
        }
        let bases = self.bases(&record, &layout.env, BASES);
        let inherited = |base: &&Rc<Layout>| record.usings.iter().any(|name| last_name(base) == &**name);
        let mut inherited = bases.iter().filter(inherited);
        let base = Rc::clone(inherited.next()?);
        if inherited.next().is_some() || !self.has_constructors(&base) {
            return None;
        }
        let made = match self.construct(&Ty::Record(Rc::clone(&base)), args, span) {
            made @ Value::Aggregate(_) => made,
            _ => return Some(unmade(layout, span)),
        };
        let made = self.with_temporary(made, Ty::Record(Rc::clone(layout)), |machine, object| {
            for field in &record.fields {
                let laid = layout.fields.iter().find(|laid| laid.name == field.name);
                if let (Some(init), Some(laid)) = (&field.init, laid) {
                    machine.initialise_member(layout, object, (laid, init));
                }
            }
            machine.read(object, span)
        });
        Some(made.map_or_else(|| unmade(layout, span), |made| self.without_itself(made, layout)))
    }

    /// `: Base(a)`, or `: Own(a, b)`, which leaves the work to another constructor of the class.
    fn initialises_base(&mut self, this: &Pointer, name: &Name, value: &Expr) -> bool {
        let (Ty::Record(layout), Target::Place(place)) = (&this.pointee, &this.target) else { return false };
        let Some(record) = layout.record.clone() else { return false };
        let meant = if delegates(layout, name) {
            vec![Rc::clone(layout)]
        } else {
            let bases = self.bases(&record, &layout.env, BASES);
            self.bases_meant(&bases, name)
        };
        let Some(base) = meant.first() else { return false };
        let args = match &value.kind {
            ExprKind::InitList(items) => items.as_slice(),
            _ => std::slice::from_ref(value),
        };
        let made = match meant.len() {
            1 => self.construct(&Ty::Record(Rc::clone(base)), args, value.span),
            _ => self.unseen_object(base, args, value.span),
        };
        let parts: Vec<(Steps, Value)> = match made {
            Value::Aggregate(parts) => parts.to_vec(),
            _ => {
                let unknown = unmade(base, value.span);
                let whole =
                    |field: &FieldLayout| (smallvec![Step::Member(field.name.clone())], unknown.clone());
                meant.iter().flat_map(|base| &base.fields).map(whole).collect()
            }
        };
        for (path, part) in parts {
            let mut place = place.clone();
            place.path.extend(path);
            self.write_place(&place, part);
        }
        true
    }
}

/// Whether an initialiser names the class itself.
fn delegates(layout: &Layout, name: &str) -> bool {
    layout.field(name).is_none() && last_name(layout) == name
}

/// The name of a class without those of the classes around it.
fn last_name(layout: &Layout) -> &str {
    layout.name.rsplit("::").next().unwrap_or(&layout.name)
}

/// The member or base that a statement at the beginning of a constructor's body is the initialiser of: `: x(a)`.
fn initialised(stmt: &Stmt) -> Option<&Name> {
    let StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, _), span }) = &stmt.kind else {
        return None;
    };
    match &target.kind {
        // `this` is not written there.
        ExprKind::Member { base, name, arrow: true, .. }
            if matches!(base.kind, ExprKind::This) && base.span == *span =>
        {
            Some(name)
        }
        _ => None,
    }
}
