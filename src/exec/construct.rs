//! What does an initialiser make?
//!
//! `T x = e`, `T(args)` and `{a, b}`: an aggregate is the list of its parts, each under its path.

use super::int::Int;
use super::machine::{Machine, Mode};
use super::types::{Layout, Ty};
use super::value::{Reason, Step, Steps, Unknown, Value, Variation};
use crate::ir::{Expr, ExprKind, Function, Path, Scalar, StmtKind, Type};
use crate::source::Span;
use smallvec::smallvec;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// An initialiser for a variable of type `ty`.
    pub fn initial(&mut self, expr: &Expr, ty: &Ty) -> Value {
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
                self.convert_object(&from, ty, expr.span).unwrap_or(value)
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

    /// Whether a class says itself what a copy is: that is not followed.
    pub(super) fn copies_itself(&self, layout: &Layout) -> bool {
        let own = |f: &&Arc<Function>| f.owner.as_ref() == Some(&layout.name) && f.body.is_some();
        let of_itself = |f: &Arc<Function>| match f.params.as_slice() {
            [only] => matches!(&only.ty, Type::Reference(inner)
                if matches!(&**inner, Type::Named(path) if path.name == layout.name)),
            _ => false,
        };
        self.mode == Mode::Device
            && layout.record.is_some()
            && (self.program.functions("operator=").iter().any(|f| own(&f))
                || self.program.functions(&layout.name).iter().filter(own).any(of_itself))
    }

    fn has_constructors(&self, layout: &Layout) -> bool {
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
        let Some(constructor) = self.best_of(if own.is_empty() { candidates } else { own }, &[], args) else {
            // `T() = default;`
            return if args.is_empty() { None } else { Some(unmade(layout, span)) };
        };
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

    /// The numbers that a record holds before anything is written to it: the initialisers of its members.
    pub fn default_members(&mut self, ty: &Ty) -> Option<Value> {
        let Ty::Record(layout) = ty else { return None };
        let record = layout.record.clone()?;
        let mut parts = Vec::new();
        for field in &record.fields {
            let laid = layout.fields.iter().find(|laid| laid.name == field.name);
            let (Some(init), Some(laid)) = (&field.init, laid) else { continue };
            let value = self
                .within(Rc::clone(&layout.env), &record.namespace, |machine| machine.initial(init, &laid.ty));
            let value = self.convert(value, &laid.ty);
            if matches!(value, Value::Int(..) | Value::Float(_)) {
                push_parts(&mut parts, Step::Member(field.name.clone()), value);
            }
        }
        (!parts.is_empty()).then(|| Value::Aggregate(Rc::new(parts)))
    }

    /// Runs the class's own conversion to a pointer or number: `T *p = SharedMemory<T>();`.
    fn convert_object(&mut self, from: &Ty, to: &Ty, span: Span) -> Option<Value> {
        let Ty::Record(layout) = from else { return None };
        let wants_pointer = matches!(to, Ty::Pointer(_));
        let fits = |f: &&std::sync::Arc<crate::ir::Function>| {
            f.body.is_some() && matches!(f.return_type, Type::Pointer(_)) == wants_pointer
        };
        let candidates = self.program.conversions(&layout.name);
        let of_record = |f: &&std::sync::Arc<crate::ir::Function>| layout.holds(f.span);
        let function =
            candidates.iter().filter(fits).find(of_record).or_else(|| candidates.iter().find(fits))?;
        let this = self.named_global(&"a temporary object".into(), from);
        let path = Path::simple(function.name.clone());
        Some(self.call_function(&std::sync::Arc::clone(function), &path, Some(this), &[], span))
    }

    /// `T(args)`, `T{args}`
    pub fn construct(&mut self, ty: &Ty, args: &[Expr], span: Span) -> Value {
        match ty {
            Ty::Record(layout) => {
                let layout = Rc::clone(layout);
                if let Some(object) = self.constructed(&layout, args, span) {
                    return object;
                }
                if let [single] = args
                    && &*layout.name != "dim3"
                {
                    let value = self.evaluate(single);
                    if matches!(value, Value::Aggregate(_)) || layout.fields.len() != 1 {
                        return value;
                    }
                    let step = smallvec![Step::Member(layout.fields[0].name.clone())];
                    return Value::Aggregate(Rc::new(vec![(step, value)]));
                }
                let dim3 = &*layout.name == "dim3";
                let mut parts = Vec::new();
                for (at, field) in layout.fields.iter().enumerate() {
                    let value = match args.get(at) {
                        Some(arg) => self.initial(arg, &field.ty),
                        None if dim3 => Value::Int(Int::constant(1), Scalar::U32),
                        None if args.is_empty() && layout.record.is_some() => continue,
                        None => Value::int(0),
                    };
                    if dim3 && at == 0 && matches!(value, Value::Aggregate(_)) {
                        return value;
                    }
                    let value = self.convert(value, &field.ty);
                    push_parts(&mut parts, Step::Member(field.name.clone()), value);
                }
                Value::Aggregate(Rc::new(parts))
            }
            Ty::Array(element, length) => {
                let element = Rc::clone(element);
                let mut parts = Vec::new();
                for (at, arg) in args.iter().enumerate() {
                    let value = self.initial(arg, &element);
                    let value = self.convert(value, &element);
                    push_parts(&mut parts, Step::Index(at as i64), value);
                }
                let length = length.as_ref().and_then(|n| n.as_constant()).unwrap_or(0).min(256);
                for at in args.len() as i64..length {
                    if matches!(*element, Ty::Scalar(_)) {
                        parts.push((smallvec![Step::Index(at)], Value::int(0)));
                    }
                }
                Value::Aggregate(Rc::new(parts))
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
                    Value::Opaque(variation, Unknown::new(Reason::UnknownType, span, what))
                }
            },
        }
    }
}

/// Adds a value under a step; an aggregate's parts are added one by one.
/// Whether a constructor leaves its work to another of its class, which is not followed.
fn hands_on(constructor: &Function) -> bool {
    constructor.body.iter().flatten().any(|stmt| match &stmt.kind {
        StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, _), .. }) => match &target.kind {
            ExprKind::Member { base, name, arrow: true } => {
                matches!(base.kind, ExprKind::This) && *name == constructor.name
            }
            _ => false,
        },
        _ => false,
    })
}

/// An object of which nothing is known.
fn unmade(layout: &Layout, span: Span) -> Value {
    let what = format!("an object of type `{}`", layout.name);
    Value::Opaque(Variation::Maybe, Unknown::new(Reason::UnknownType, span, what))
}

fn push_parts(parts: &mut Vec<(Steps, Value)>, step: Step, value: Value) {
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
