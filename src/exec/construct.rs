//! What does an initialiser make?
//!
//! `T x = e`, `T(args)` and `{a, b}`: an aggregate is the list of its parts, each under its path.

use super::aggregate::Items;
use super::machine::{Machine, Mode};
use super::members::BASES;
use super::overload::only;
use super::resolve::NOWHERE;
use super::types::{FieldLayout, Layout, Ty};
use super::value::{Pointer, Step, Steps, Target, Value};
use crate::domain::{Int, Reason, Unknown, Variation};
use crate::ir::{Expr, ExprKind, Function, Name, Path, Scalar, StmtKind, Type};
use crate::source::Span;
use smallvec::smallvec;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// An initialiser for a variable of type `ty`.
    pub(crate) fn initial(&mut self, expr: &Expr, ty: &Ty) -> Value {
        if let ExprKind::InitList(items) = &expr.kind {
            return self.construct(ty, items, expr.span);
        }
        if self.converts(expr, ty) {
            return self.construct(ty, std::slice::from_ref(expr), expr.span);
        }
        let value = self.evaluate(expr);
        match (&value, ty) {
            (Value::Aggregate(_), Ty::Record(layout)) if self.copies_itself(layout) => {
                unmade(layout, expr.span)
            }
            (Value::Aggregate(_), Ty::Pointer(_) | Ty::Scalar(_)) => {
                let from = self.type_of(expr);
                self.convert_object(&value, from, Some(ty), expr.span).unwrap_or(value)
            }
            _ => value,
        }
    }

    /// Whether an initialiser is given to a constructor: it is of another type than the class.
    fn converts(&mut self, expr: &Expr, ty: &Ty) -> bool {
        let Ty::Record(layout) = ty else { return false };
        !self.program.functions(&layout.name).is_empty()
            && self.has_constructors(layout)
            && matches!(self.type_of(expr), Ty::Scalar(_) | Ty::Pointer(_) | Ty::Array(..))
    }

    /// Whether `T{x}` gives `x` to the first member of `T`, and is not a copy of `x`.
    fn is_first_item(&mut self, layout: &Rc<Layout>, item: &Expr) -> bool {
        if self.has_constructors(layout) || layout.record.is_none() {
            return false;
        }
        match (&item.kind, self.type_of(item)) {
            (ExprKind::InitList(_) | ExprKind::Unsupported(_), _) => true,
            (_, Ty::Scalar(_) | Ty::Pointer(_) | Ty::Array(..)) => true,
            (_, of @ Ty::Record(_)) => {
                let first = layout.fields.first();
                first.is_some_and(|first| super::templates::same_type(&first.ty, &of) == Some(true))
            }
            _ => false,
        }
    }

    pub(super) fn has_constructors(&self, layout: &Layout) -> bool {
        let all = self.program.functions(&layout.name);
        layout.record.is_some() && all.iter().any(|f| f.owner.as_ref() == Some(&layout.name))
    }

    /// An object of a class that says itself how it is made; none for other classes and for copies.
    fn constructed(&mut self, layout: &Rc<Layout>, args: &[Expr], span: Span) -> Option<Value> {
        if !self.has_constructors(layout) || self.mode != Mode::Device {
            return None;
        }
        if let [single] = args
            && matches!(self.type_of(single), Ty::Record(_) | Ty::Unknown(_))
        {
            return self.copies_itself(layout).then(|| unmade(layout, span));
        }
        let fits = |f: &&Arc<Function>| {
            let required = f.params.iter().filter(|param| param.default.is_none()).count();
            f.owner.as_ref() == Some(&layout.name)
                && f.body.is_some()
                && (required..=f.params.len()).contains(&args.len())
        };
        let all = self.program.functions(&layout.name);
        let candidates: Vec<Arc<Function>> = all.iter().filter(fits).cloned().collect();
        let own: Vec<Arc<Function>> = candidates.iter().filter(|f| layout.holds(f.span)).cloned().collect();
        let best = self.best_of(if own.is_empty() { candidates } else { own }, &[], args);
        if best.is_empty() {
            // `T() = default;`
            return if args.is_empty() { None } else { Some(unmade(layout, span)) };
        }
        let Some(constructor) = only(best) else { return Some(unmade(layout, span)) };
        if hands_on(&constructor) {
            return Some(unmade(layout, span));
        }
        let ty = Ty::Record(Rc::clone(layout));
        let value = self.default_members(&ty).unwrap_or(Value::Undefined);
        let path = Path::simple(layout.name.clone());
        let made = self.with_temporary(value, ty, |machine, object| {
            machine.run_function(&constructor, &path, Some(object.clone()), args, span);
            machine.read(object, span)
        });
        Some(made.unwrap_or_else(|| unmade(layout, span)))
    }

    /// The object of a declaration without an initialiser.
    pub(super) fn made_by_default(&mut self, ty: &Ty, span: Span) -> Value {
        let made = match ty {
            Ty::Record(layout) => self.constructed(&Rc::clone(layout), &[], span),
            _ => None,
        };
        made.or_else(|| self.default_members(ty)).unwrap_or(Value::Undefined)
    }

    /// What a record holds before anything is written to it: the initialisers of its members, in order,
    /// those of its bases first.
    pub(crate) fn default_members(&mut self, ty: &Ty) -> Option<Value> {
        let Ty::Record(layout) = ty else { return None };
        if !self.has_default_members(layout, BASES) {
            return None;
        }
        let layout = Rc::clone(layout);
        self.with_temporary(Value::Undefined, ty.clone(), |machine, object| {
            machine.initialise_members(&layout, object, BASES);
            machine.read(object, NOWHERE)
        })
        .filter(|value| !matches!(value, Value::Undefined))
    }

    fn has_default_members(&mut self, layout: &Layout, depth: usize) -> bool {
        let Some(record) = &layout.record else { return false };
        record.fields.iter().any(|field| field.init.is_some())
            || self
                .bases(record, &layout.env, depth)
                .iter()
                .any(|base| self.has_default_members(base, depth - 1))
    }

    fn initialise_members(&mut self, layout: &Rc<Layout>, object: &Pointer, depth: usize) {
        let Some(record) = layout.record.clone() else { return };
        for base in self.bases(&record, &layout.env, depth) {
            let part = Pointer { pointee: Ty::Record(Rc::clone(&base)), ..object.clone() };
            self.initialise_members(&base, &part, depth - 1);
        }
        for field in &record.fields {
            let laid = layout.fields.iter().find(|laid| laid.name == field.name);
            let (Some(init), Some(laid)) = (&field.init, laid) else { continue };
            if laid.reference {
                continue;
            }
            self.initialise_member(layout, object, (laid, init));
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

    /// `: Base(a)`
    fn initialises_base(&mut self, this: &Pointer, name: &Name, value: &Expr) -> bool {
        let (Ty::Record(layout), Target::Place(place)) = (&this.pointee, &this.target) else { return false };
        let Some(record) = layout.record.clone() else { return false };
        let is_named = |base: &Rc<Layout>| base.name.rsplit("::").next() == Some(&**name);
        let Some(base) = self.bases(&record, &layout.env, BASES).into_iter().find(is_named) else {
            return false;
        };
        let args = match &value.kind {
            ExprKind::InitList(items) => items.as_slice(),
            _ => std::slice::from_ref(value),
        };
        let made = self.construct(&Ty::Record(Rc::clone(&base)), args, value.span);
        let parts: Vec<(Steps, Value)> = match made {
            Value::Aggregate(parts) => parts.to_vec(),
            _ => {
                let unknown = unmade(&base, value.span);
                let whole =
                    |field: &FieldLayout| (smallvec![Step::Member(field.name.clone())], unknown.clone());
                base.fields.iter().map(whole).collect()
            }
        };
        for (path, part) in parts {
            let mut place = place.clone();
            place.path.extend(path);
            self.write_place(&place, part);
        }
        true
    }

    /// What a reference to this type is bound to by its initialiser.
    pub(super) fn bound(&mut self, init: &Expr, ty: &Ty) -> Value {
        match self.locate(init) {
            Ok(pointer) => {
                self.expose(&pointer);
                let pointee = if matches!(ty, Ty::Unknown(_)) { pointer.pointee } else { ty.clone() };
                Value::Pointer(Pointer { target: pointer.target, pointee })
            }
            Err(why) => {
                self.evaluate(init);
                Value::opaque(Variation::Maybe, why)
            }
        }
    }

    /// An operand of an operator of the language: of an object, what its class's only conversion makes of it.
    pub(super) fn operand(&mut self, expr: &Expr) -> Value {
        let value = self.evaluate_uncopied(expr);
        if !matches!(value, Value::Aggregate(_)) {
            return value;
        }
        let from = self.type_of(expr);
        self.convert_object(&value, from, None, expr.span).unwrap_or(value)
    }

    /// Runs the class's own conversion of an object, to a pointer or to a number as `to` is one, or else the
    /// only one that there is: `T *p = SharedMemory<T>();`.
    fn convert_object(&mut self, object: &Value, from: Ty, to: Option<&Ty>, span: Span) -> Option<Value> {
        let Ty::Record(layout) = &from else { return None };
        let wants_pointer = to.map(|to| matches!(to, Ty::Pointer(_)));
        let fits = |f: &&Arc<Function>| {
            let is_pointer = matches!(f.return_type, Type::Pointer(_));
            f.body.is_some() && wants_pointer.is_none_or(|wanted| wanted == is_pointer)
        };
        let candidates = self.program.conversions(&layout.name);
        if to.is_none() && candidates.len() != 1 {
            return None;
        }
        let of_record = |f: &&Arc<Function>| layout.holds(f.span);
        let function =
            candidates.iter().filter(fits).find(of_record).or_else(|| candidates.iter().find(fits))?;
        let (function, path) = (Arc::clone(function), Path::simple(function.name.clone()));
        self.with_temporary(object.clone(), from, |machine, this| {
            machine.call_function(&function, &path, Some(this.clone()), &[], span)
        })
    }

    /// `T(args)`, `T{args}`
    pub(crate) fn construct(&mut self, ty: &Ty, args: &[Expr], span: Span) -> Value {
        match ty {
            Ty::Record(layout) => {
                let layout = Rc::clone(layout);
                if let Some(object) = self.constructed(&layout, args, span) {
                    return object;
                }
                if let [single] = args
                    && &*layout.name != "dim3"
                    && !matches!(layout.fields.as_slice(), [only] if only.reference || only.bit_field)
                    && !self.is_first_item(&layout, single)
                {
                    let value = self.evaluate(single);
                    if matches!(value, Value::Aggregate(_)) || layout.fields.len() != 1 {
                        return value;
                    }
                    let step = smallvec![Step::Member(layout.fields[0].name.clone())];
                    return Value::Aggregate(Rc::new(vec![(step, value)]));
                }
                let dim3 = &*layout.name == "dim3";
                if !dim3 && !self.has_constructors(&layout) {
                    return self.aggregate(&layout, &mut Items::new(args, span));
                }
                let mut parts = Vec::new();
                for (at, field) in layout.fields.iter().enumerate() {
                    let value = match args.get(at) {
                        Some(arg) if field.reference => self.bound(arg, &field.ty),
                        Some(arg) => self.initial(arg, &field.ty),
                        None if dim3 => Value::Int(Int::constant(1), Scalar::U32),
                        None if args.is_empty() => continue,
                        None => unmade(&layout, span),
                    };
                    if dim3 && at == 0 && matches!(value, Value::Aggregate(_)) {
                        return value;
                    }
                    let value = if field.reference { value } else { self.convert(value, &field.ty) };
                    push_parts(&mut parts, Step::Member(field.name.clone()), value);
                }
                Value::Aggregate(Rc::new(parts))
            }
            Ty::Array(element, length) => {
                let length = length.as_ref().and_then(|length| length.as_constant());
                let element = Rc::clone(element);
                self.elements(&element, length, &mut Items::new(args, span))
            }
            Ty::Unknown(_) if self.takes_storage(args, span) => {
                let what = format!("an object of type `{}`", ty.describe());
                Value::opaque(Variation::Maybe, Unknown::new(Reason::UnknownType, span, what))
            }
            _ => match args {
                [] => Value::int(0),
                [single] => {
                    let value = self.evaluate(single);
                    self.convert(value, ty)
                }
                _ => {
                    let mut variation = Variation::Uniform;
                    for arg in args {
                        variation = variation.max(self.evaluate(arg).variation());
                    }
                    let what = format!("an object of type `{}`", ty.describe());
                    Value::opaque(variation, Unknown::new(Reason::UnknownType, span, what))
                }
            },
        }
    }
}

/// Whether a constructor leaves its work to another of its class, or to one of a base, which are not
/// followed.
fn hands_on(constructor: &Function) -> bool {
    constructor.body.iter().flatten().any(|stmt| match &stmt.kind {
        StmtKind::Unsupported("base class initialiser", _) => true,
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, _), .. }) => match &target.kind {
            ExprKind::Member { base, name, arrow: true, .. } => {
                matches!(base.kind, ExprKind::This) && *name == constructor.name
            }
            _ => false,
        },
        _ => false,
    })
}

/// An object of which nothing is known.
pub(super) fn unmade(layout: &Layout, span: Span) -> Value {
    let what = format!("an object of type `{}`", layout.name);
    Value::opaque(Variation::Maybe, Unknown::new(Reason::UnknownType, span, what))
}

/// Adds a value under a step; an aggregate's parts are added one by one.
pub(super) fn push_parts(parts: &mut Vec<(Steps, Value)>, step: Step, value: Value) {
    match value {
        Value::Aggregate(inner) => {
            for (path, part) in inner.iter() {
                let mut full: Steps = smallvec![step.clone()];
                full.extend(path.iter().cloned());
                parts.push((full, part.clone()));
            }
        }
        other => parts.push((smallvec![step], other)),
    }
}
