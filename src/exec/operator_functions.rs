//! What do operators do that a class defines for itself?
//!
//! `view + 2`, `a == b`, `x += y` call a function of the program if one operand is an object of a class
//! and there is a function of that operator.

use super::machine::Machine;
use super::types::Ty;
use super::value::Value;
use crate::ir::print;
use crate::ir::program::Program;
use crate::ir::{BinaryOp, Expr, ExprKind, Function, Path, Scalar, UnaryOp};
use crate::slice::operator_calls::unary_name;
use std::sync::Arc;

impl Machine<'_> {
    /// `a + b`, if it calls a function.
    pub(super) fn called_binary(&mut self, expr: &Expr, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Value> {
        let called = self.called_operator(expr, &format!("operator{}", print::operator(op)), a, Some(b));
        // Where no `!=` can be called, C++20 turns `==` round.
        if called.is_some() || op != BinaryOp::Ne {
            return called;
        }
        let equal = self.called_operator(expr, "operator==", a, Some(b))?;
        Some(self.unary(UnaryOp::Not, equal, expr.span))
    }

    /// `a += b`, if it calls a function.
    pub(super) fn called_compound(&mut self, expr: &Expr, op: BinaryOp, a: &Expr, b: &Expr) -> Option<Value> {
        self.called_operator(expr, &format!("operator{}=", print::operator(op)), a, Some(b))
    }

    /// `a = b`, if it calls a function that takes something else than another object of the class.
    pub(super) fn called_assignment(&mut self, expr: &Expr, a: &Expr, b: &Expr, used: bool) -> Option<Value> {
        if !self.is_called_assignment(a, b) {
            return None;
        }
        self.operator_call(expr, "operator=", (a, Some(b)), used)
    }

    /// Whether `a = b` may call a function: not where it is the language that copies an object.
    pub(super) fn is_called_assignment(&mut self, a: &Expr, b: &Expr) -> bool {
        if self.program.functions("operator=").is_empty() {
            return false;
        }
        let Ty::Record(layout) = self.type_of(a) else { return false };
        let is_copy = matches!(self.type_of(b), Ty::Record(other) if other.name == layout.name);
        !is_copy || self.assigns_itself(&layout)
    }

    /// `-a`, if it calls a function.
    pub(super) fn called_unary(&mut self, expr: &Expr, op: UnaryOp, a: &Expr) -> Option<Value> {
        self.called_operator(expr, unary_name(op), a, None)
    }

    /// `++a` and `a++`, if they call a function. What stands behind is told by a parameter that takes 0.
    pub(super) fn called_step(&mut self, expr: &Expr, by: i8, a: &Expr, post: bool) -> Option<Value> {
        let zero = Expr { kind: ExprKind::Int(0, Scalar::I32), span: expr.span };
        self.called_operator(expr, step_name(by), a, post.then_some(&zero))
    }

    /// `a, b`, if it calls a function.
    pub(super) fn called_comma(&mut self, expr: &Expr, a: &Expr, b: &Expr) -> Option<Value> {
        self.called_operator(expr, "operator,", a, Some(b))
    }

    pub(super) fn is_called_comma(&mut self, a: &Expr, b: &Expr) -> bool {
        !self.program.functions("operator,").is_empty()
            && [a, b].into_iter().any(|side| matches!(self.type_of(side), Ty::Record(_)))
    }

    fn called_operator(&mut self, expr: &Expr, name: &str, a: &Expr, b: Option<&Expr>) -> Option<Value> {
        self.operator_call(expr, name, (a, b), true)
    }

    /// The same; `used`: whether its value is.
    fn operator_call(
        &mut self,
        expr: &Expr,
        name: &str,
        (a, b): (&Expr, Option<&Expr>),
        used: bool,
    ) -> Option<Value> {
        if self.program.functions(name).is_empty() {
            return None;
        }
        let is_object = |ty: &Ty| matches!(ty, Ty::Record(_));
        let left = self.type_of(a);
        let path = Path::simple(name.into());
        let args: Vec<Expr> = std::iter::once(a).chain(b).cloned().collect();
        if !is_object(&left) && !b.is_some_and(|b| is_object(&self.type_of(b))) {
            return self.called_for_enum(expr, &path, &args);
        }
        if is_object(&left) && self.has_method(&left, &path, &args[1..]) {
            return Some(match self.locate(a) {
                Ok(object) => self.call_member(expr, &object, &path, (&args[1..], used)),
                Err(_) => self.call_on_temporary(expr, a, &path, (&args[1..], used)),
            });
        }
        let free = self.may_call_free(name, &args);
        free.then(|| self.call_path(expr, &path, &args, used))
    }
}

impl Machine<'_> {
    /// Whether an operator with these operands may call a function that is no method.
    pub(super) fn may_call_free(&mut self, name: &str, args: &[Expr]) -> bool {
        let takes = |f: &&Arc<Function>| f.owner.is_none() && f.params.len() == args.len();
        let mut named = self.program.functions(name).iter().filter(takes).peekable();
        if named.peek().is_none() {
            return false;
        }
        let types: Vec<Ty> = args.iter().map(|arg| self.type_of(arg)).collect();
        named.any(|function| self.is_viable(function, &[], &types) != Some(false))
    }
}

fn step_name(by: i8) -> &'static str {
    if by > 0 { "operator++" } else { "operator--" }
}

/// The function that an operator would call, the object that it would be a method of, and its other
/// arguments; none if there is no such function.
pub(super) fn operator_of<'e>(expr: &'e Expr, program: &Program) -> Option<(Path, &'e Expr, Vec<Expr>)> {
    let (name, object, other) = match &expr.kind {
        ExprKind::Binary(op, a, b) => (format!("operator{}", print::operator(*op)), a, Some(b)),
        ExprKind::Assign(Some(op), a, b) => (format!("operator{}=", print::operator(*op)), a, Some(b)),
        ExprKind::Unary(op, a) => (unary_name(*op).to_owned(), a, None),
        ExprKind::Step { target, by, .. } => (step_name(*by).to_owned(), target, None),
        _ => return None,
    };
    if program.functions(&name).is_empty() {
        return None;
    }
    let mut others: Vec<Expr> = other.into_iter().map(|other| (**other).clone()).collect();
    if matches!(expr.kind, ExprKind::Step { post: true, .. }) {
        others.push(Expr { kind: ExprKind::Int(0, Scalar::I32), span: expr.span });
    }
    Some((Path::simple(name.into()), &**object, others))
}
