//! What is an object where a pointer or a number is asked for?
//!
//! What its class's conversion makes of it. The object stays where it lies: no more of it is read than the
//! conversion reads.
//!
//! | `struct Row { float d[32]; operator float *() { return d; } } row;` | |
//! |---|---|
//! | `float *p = row`, `f(row)` of a `float *`, `static_cast<float *>(row)` | the conversion runs |
//! | `row[t]`, `*row`, where the class has no such operator | the same |
//! | `row + t` | the same, of the only type to which the class has conversions |

use super::machine::{Machine, Mode};
use super::members::BASES;
use super::types::{Layout, Ty};
use super::value::{Pointer, Target, Value};
use crate::domain::{Reason, Unknown, Variation};
use crate::ir::{Expr, ExprKind, Function, Path, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// What is asked for.
#[derive(Clone, Copy)]
pub(super) enum Wanted<'t> {
    This(&'t Ty),
    /// Something that can be indexed.
    Pointer,
    /// Whatever an operator takes.
    Operand,
}

impl Machine<'_> {
    /// The value of an expression where a pointer or a number is asked for.
    pub(super) fn evaluate_as(&mut self, expr: &Expr, wanted: Wanted) -> Value {
        if let Some(value) = self.converted_in_place(expr, wanted) {
            return value;
        }
        let value = self.evaluate(expr);
        self.converted_temporary(value, expr, wanted)
    }

    /// An operand of an operator of the language: of an object, what its class's only conversion makes of it.
    pub(super) fn operand(&mut self, expr: &Expr) -> Value {
        if let Some(value) = self.converted_in_place(expr, Wanted::Operand) {
            return value;
        }
        let value = self.evaluate_uncopied(expr);
        self.converted_temporary(value, expr, Wanted::Operand)
    }

    /// The effects of a value that is assigned and of no concern.
    pub(super) fn assigned_effects(&mut self, value: &Expr, target: &Expr) {
        if may_lie(value) && self.program.has_conversions() && matches!(self.type_of(value), Ty::Record(_)) {
            let to = self.type_of(target);
            let is_plain = matches!(to, Ty::Pointer(_) | Ty::Scalar(_));
            if is_plain && self.converted_in_place(value, Wanted::This(&to)).is_some() {
                return;
            }
        }
        self.effects(value);
    }

    /// What a conversion makes of an object that lies somewhere; none, with nothing done, of anything else.
    pub(super) fn converted_in_place(&mut self, expr: &Expr, wanted: Wanted) -> Option<Value> {
        if !may_lie(expr) || self.mode == Mode::Host || !self.program.has_conversions() {
            return None;
        }
        // The run gets no further by asking for the type.
        let steps = self.steps;
        let ty = self.type_of(expr);
        self.steps = steps;
        let Ty::Record(layout) = ty else { return None };
        let function = self.conversion(&layout, wanted, expr.span)?.ok()?;
        let place = match &expr.kind {
            ExprKind::Index(..) | ExprKind::Deref(_) if self.is_called_value(expr) => return None,
            ExprKind::Call { .. } => self.called_place(expr)?,
            _ => self.locate(expr),
        };
        match place {
            Ok(object) => Some(self.converted_at(&function, &object, expr.span)),
            // It may be an object that nothing names, or a constant.
            Err(_) if matches!(expr.kind, ExprKind::Path(_) | ExprKind::Member { .. }) => None,
            Err(why) => Some(Value::opaque(Variation::Maybe, why)),
        }
    }

    /// What a conversion makes of the object at a place.
    pub(super) fn converted_at(&mut self, function: &Arc<Function>, object: &Pointer, span: Span) -> Value {
        let owner = function.owner.clone();
        let part = owner.and_then(|owner| self.part_of_class(object, &owner, BASES));
        let part = part.unwrap_or_else(|| object.clone());
        self.call_function(function, &Path::simple(function.name.clone()), Some(part), &[], span)
    }

    /// The conversion of a class or its bases that is run: to a pointer or to a number, as one is asked for.
    /// None if there is none.
    pub(super) fn conversion(
        &mut self,
        layout: &Rc<Layout>,
        wanted: Wanted,
        span: Span,
    ) -> Option<Result<Arc<Function>, Unknown>> {
        let program = self.program;
        let has_any = |class: &Layout| !program.conversions(&class.name).is_empty();
        let class = self.class_where(layout, BASES, &has_any)?;
        if self.is_number_object(&class) {
            return None;
        }
        let wants_pointer = match wanted {
            Wanted::This(to) => Some(matches!(to, Ty::Pointer(_))),
            Wanted::Pointer => Some(true),
            Wanted::Operand => None,
        };
        let fits = |f: &&Arc<Function>| {
            let is_pointer = matches!(f.return_type, Type::Pointer(_));
            f.body.is_some() && wants_pointer.is_none_or(|wants| wants == is_pointer)
        };
        let all = program.conversions(&class.name).iter().filter(fits).cloned().collect::<Vec<_>>();
        let all = self.own_definitions(&class, &all);
        let (first, others) = all.split_first()?;
        if others.is_empty() {
            return Some(Ok(Arc::clone(first)));
        }
        let makes: Vec<Ty> = all
            .iter()
            .map(|it| self.within_head(it, Rc::clone(&class.env), |m| m.resolve_type(&it.return_type)))
            .collect();
        let exact = match wanted {
            Wanted::This(to) => makes.iter().position(|ty| ty == to),
            // `operator T *()` and `operator const T *() const`
            _ => makes.iter().all(|ty| *ty == makes[0]).then_some(0),
        };
        Some(exact.map(|at| Arc::clone(&all[at])).ok_or_else(|| {
            let words = format!("which conversion of `{}` is run", layout.name);
            Unknown::new(Reason::UnknownFunction, span, words)
        }))
    }

    /// The same of an object that was read, or of one that nothing names: `T *p = SharedMemory<T>();`.
    fn converted_temporary(&mut self, value: Value, expr: &Expr, wanted: Wanted) -> Value {
        if !matches!(value, Value::Aggregate(_)) {
            return value;
        }
        let from = self.type_of(expr);
        let Ty::Record(layout) = &from else { return value };
        let function = match self.conversion(&Rc::clone(layout), wanted, expr.span) {
            Some(Ok(function)) => function,
            Some(Err(why)) => return Value::opaque(Variation::Maybe, why),
            None => return value,
        };
        let made = self.with_temporary(value.clone(), from, |machine, this| {
            machine.converted_at(&function, this, expr.span)
        });
        let count = self.frame().map_or(0, |frame| frame.slots.len());
        match made {
            Some(Value::Pointer(Pointer { target: Target::Place(place), .. }))
                if place.frame == self.top() && place.local.0 as usize >= count =>
            {
                let words = "a pointer into an object that is gone";
                Value::opaque(Variation::Maybe, Unknown::new(Reason::UnknownPointer, expr.span, words))
            }
            made => made.unwrap_or(value),
        }
    }
}

/// Whether an expression may be an object that lies somewhere.
fn may_lie(expr: &Expr) -> bool {
    use ExprKind::{Call, Deref, Index, Local, Member, Path};
    matches!(expr.kind, Local(_) | Path(_) | Member { .. } | Index(..) | Deref(_) | Call { .. })
}
