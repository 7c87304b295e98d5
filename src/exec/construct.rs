//! What does an initialiser make?
//!
//! `T x = e`, `T(args)` and `{a, b}`: an aggregate is the list of its parts, each under its path.

use super::int::Int;
use super::machine::{Machine, Mode};
use super::types::Ty;
use super::value::{Reason, Step, Steps, Unknown, Value, Variation};
use crate::ir::{Expr, ExprKind, Path, Scalar, Type};
use crate::source::Span;
use smallvec::smallvec;
use std::rc::Rc;

impl Machine<'_> {
    /// An initialiser for a variable of type `ty`.
    pub fn initial(&mut self, expr: &Expr, ty: &Ty) -> Value {
        if let ExprKind::InitList(items) = &expr.kind {
            return self.construct(ty, items, expr.span);
        }
        let value = self.evaluate(expr);
        match (&value, ty) {
            (Value::Aggregate(_), Ty::Pointer(_) | Ty::Scalar(_)) => {
                let from = self.type_of(expr);
                self.convert_object(&from, ty, expr.span).unwrap_or(value)
            }
            _ => value,
        }
    }

    /// The numbers that a record of host code holds before anything is written to it: the initialisers
    /// of its members.
    pub fn default_members(&mut self, ty: &Ty) -> Option<Value> {
        let Ty::Record(layout) = ty else { return None };
        let record = layout.record.clone().filter(|_| self.mode == Mode::Host)?;
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
