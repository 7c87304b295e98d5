//! Where does the reference lead that a function, a method or an operator hands back?
//!
//! `view(row, column) = x`, `tile[row] = x`, `*iterator = x`.

use super::machine::{Machine, Mode};
use super::operator_functions::operator_of;
use super::receivers::narrowed;
use super::types::Ty;
use super::value::{Pointer, Value};
use crate::domain::{Reason, Unknown};
use crate::ir::{Expr, ExprKind, Function, Path, Type};
use crate::source::Span;
use std::sync::Arc;

impl Machine<'_> {
    /// The place that an operator's function hands back which is no method: `Mat &operator<<(Mat &m, int k)`.
    fn place_by_operator(
        &mut self,
        first: &Expr,
        path: &Path,
        others: Vec<Expr>,
        span: Span,
    ) -> Option<Result<Pointer, Unknown>> {
        let args: Vec<Expr> = std::iter::once(first.clone()).chain(others).collect();
        if !args.iter().any(|arg| matches!(self.type_of(arg), Ty::Record(_))) {
            return None;
        }
        self.place_by_function(path, &args, span)
    }

    /// The place that a function hands back that is called by its name.
    fn place_by_function(
        &mut self,
        path: &Path,
        args: &[Expr],
        span: Span,
    ) -> Option<Result<Pointer, Unknown>> {
        let functions = self.choose_functions(path, args);
        if !functions.iter().any(refers) {
            return None;
        }
        let several = self.on_own_object(functions, path, args);
        Some(self.place_of_several(several, path, args, span))
    }

    /// Where the reference leads that a function or method hands back: `view(row, column) = x`,
    /// `tile[row] = x`. None, with nothing done, for anything else.
    pub(super) fn called_place(&mut self, expr: &Expr) -> Option<Result<Pointer, Unknown>> {
        match &expr.kind {
            ExprKind::Call { callee, args } => match &callee.kind {
                ExprKind::Path(path) => self.place_by_function(path, args, expr.span),
                ExprKind::Member { base, name, arrow, args: explicit, class: None } => {
                    let path = Path { args: explicit.clone(), ..Path::simple(name.clone()) };
                    self.place_by_method(base, *arrow, &path, args, expr.span)
                }
                ExprKind::Local(_) if !matches!(self.type_of(callee), Ty::Record(_)) => {
                    let Value::Closure(lambda, frame) = self.evaluate_as_written(callee) else { return None };
                    matches!(lambda.return_type, Some(Type::Reference(_))).then(|| {
                        let place = self.run_lambda(&lambda, (frame, &[]), args, expr.span);
                        place_in(place, expr.span)
                    })
                }
                _ => self.place_by_method(callee, false, &Path::simple("operator()".into()), args, expr.span),
            },
            // Which element of a range comes is told by its iterators.
            ExprKind::Index(_, index) if matches!(index.kind, ExprKind::Unsupported(_)) => None,
            ExprKind::Index(base, index) => {
                let path = Path::simple("operator[]".into());
                let methods = self.methods_by_type(base, false, &path, std::slice::from_ref(index));
                if methods.is_empty() {
                    return None;
                }
                if !methods.iter().any(refers) {
                    let words = "`operator[]` hands back a value";
                    return Some(Err(Unknown::new(Reason::Unsupported, expr.span, words)));
                }
                self.place_by_method(base, false, &path, std::slice::from_ref(index), expr.span)
            }
            ExprKind::Binary(..)
            | ExprKind::Unary(..)
            | ExprKind::Step { .. }
            | ExprKind::Assign(Some(_), ..) => {
                let (path, object, args) = operator_of(expr, self.program)?;
                let place = self.place_by_method(object, false, &path, &args, expr.span);
                place.or_else(|| self.place_by_operator(object, &path, args, expr.span))
            }
            ExprKind::Assign(None, target, value) if self.is_called_assignment(target, value) => {
                let value = std::slice::from_ref(&**value);
                self.place_by_method(target, false, &Path::simple("operator=".into()), value, expr.span)
            }
            ExprKind::Deref(inner) => {
                self.place_by_method(inner, false, &Path::simple("operator*".into()), &[], expr.span)
            }
            _ => None,
        }
    }

    /// Runs a call that hands back a reference to what nobody asks for; false, with nothing done, for anything else.
    pub(super) fn discards_place(&mut self, expr: &Expr) -> bool {
        let named = match &expr.kind {
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Path(path) => Some(&path.name),
                ExprKind::Member { name, .. } => Some(name),
                _ => None,
            },
            _ => None,
        };
        let may_refer = named.is_none_or(|name| self.program.functions(name).iter().any(refers));
        self.mode == Mode::Device && may_refer && self.called_place(expr).is_some()
    }

    /// Where the one of these functions leads that is called.
    fn place_of_several(
        &mut self,
        mut several: Vec<(Arc<Function>, Option<Pointer>)>,
        path: &Path,
        args: &[Expr],
        span: Span,
    ) -> Result<Pointer, Unknown> {
        let place = match several.len() {
            1 => match several.pop() {
                Some((function, this)) => self.run_function(&function, path, this, args, span),
                None => Value::Undefined,
            },
            _ => self.call_several(several, path, args, (span, false)),
        };
        place_in(place, span)
    }

    fn place_by_method(
        &mut self,
        object: &Expr,
        arrow: bool,
        path: &Path,
        args: &[Expr],
        span: Span,
    ) -> Option<Result<Pointer, Unknown>> {
        if !self.methods_by_type(object, arrow, path, args).iter().any(refers) {
            return None;
        }
        let receiver = self.receiver(object, arrow, &path.name);
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
                        .on_temporary(object, |machine, object| machine.place_on(object, path, args, span));
                    return Some(of_temporary.flatten().unwrap_or(Err(why)));
                }
            }
        };
        self.at_hand.receiver = receiver;
        self.place_on(&object, path, args, span)
    }

    fn place_on(
        &mut self,
        object: &Pointer,
        path: &Path,
        args: &[Expr],
        span: Span,
    ) -> Option<Result<Pointer, Unknown>> {
        let receiver = std::mem::take(&mut self.at_hand.receiver);
        let methods = narrowed(self.methods(object, path, args), receiver);
        if methods.is_empty() {
            return None;
        }
        let several = methods.into_iter().map(|(method, part)| (method, Some(part))).collect();
        Some(self.place_of_several(several, path, args, span))
    }

    /// Whether `object[index]` or `*object` calls a method that hands back a value.
    pub(super) fn is_called_value(&mut self, expr: &Expr) -> bool {
        self.operator_for_value(expr).is_some()
    }

    /// `object[index]` or `*object` where that calls a method that hands back a value.
    pub(super) fn called_value(&mut self, expr: &Expr) -> Option<Value> {
        let (object, path, args) = self.operator_for_value(expr)?;
        Some(match self.locate(object) {
            Ok(object) => self.call_member(expr, &object, &path, (args, true)),
            Err(_) => self.on_temporary(object, |machine, object| {
                machine.call_member(expr, object, &path, (args, true))
            })?,
        })
    }

    /// The object, the operator and its arguments, where such a method is called.
    fn operator_for_value<'e>(&mut self, expr: &'e Expr) -> Option<(&'e Expr, Path, &'e [Expr])> {
        let (object, name, args) = match &expr.kind {
            // Which element of a range comes is told by its iterators.
            ExprKind::Index(_, index) if matches!(index.kind, ExprKind::Unsupported(_)) => return None,
            ExprKind::Index(object, index) => (&**object, "operator[]", std::slice::from_ref(&**index)),
            ExprKind::Deref(object) => (&**object, "operator*", &[][..]),
            _ => return None,
        };
        let path = Path::simple(name.into());
        let methods = self.methods_by_type(object, false, &path, args);
        (!methods.is_empty() && !methods.iter().any(refers)).then_some((object, path, args))
    }
}

fn refers(function: &Arc<Function>) -> bool {
    matches!(function.return_type, Type::Reference(_))
}

fn place_in(value: Value, span: Span) -> Result<Pointer, Unknown> {
    match value {
        Value::Pointer(pointer) => Ok(pointer),
        Value::Opaque(_, why, ..) => Err(why),
        _ => Err(Unknown::new(Reason::UnknownPointer, span, "a reference that is not followed")),
    }
}
