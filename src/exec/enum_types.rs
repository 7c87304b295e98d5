//! Is what a template argument is deduced from an enumeration?
//!
//! The type of an expression is known without the name of an enumeration: it has the type of its numbers. A template
//! may tell the two apart, so what is written is looked at again:
//!
//! | `enum Side { left, right };` | of type |
//! |---|---|
//! | `side` where `Side side` is declared, `sides[i]`, `(Side)n`, `Scoped::left` | the enumeration |
//! | `n` where `int n` is declared, `n + 1`, `side == left` | a number |
//! | `a.method()`, a variable that is declared `auto` | what the method returns, what it is made of |
//! | the result of a lambda, of one of several functions | either, where there is an enumeration with such numbers |

use super::machine::Machine;
use super::types::{Layout, Ty};
use crate::builtins::Coordinate;
use crate::ir::declared::declaration_in;
use crate::ir::visit::names_local;
use crate::ir::{BinaryOp, Expr, ExprKind, LocalId, Path, Scalar, TemplateParamKind, Type, UnaryOp};
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// The type of an argument, which without names of enumerations is `ty`, with them.
    pub(super) fn with_enumerations(&mut self, expr: &Expr, ty: Ty) -> Ty {
        let Some(numbers) = numbers_of(&ty).filter(|it| self.program.has_enumeration_of(*it)) else {
            return ty;
        };
        match self.named_type_of(expr) {
            Some(told) if told.unqualified() == ty.unqualified() => told,
            Some(_) => ty,
            None => over_numbers(&ty, numbers),
        }
    }

    /// The type of an argument that a template parameter may be deduced from.
    pub(super) fn type_to_deduce_from(&mut self, expr: &Expr) -> Ty {
        let ty = self.type_of(expr);
        self.with_enumerations(expr, ty)
    }

    /// The type of an expression with names of enumerations, and perhaps of numbers that are none; none if that is not
    /// known.
    pub(super) fn named_type_of(&mut self, expr: &Expr) -> Option<Ty> {
        match &expr.kind {
            ExprKind::Local(local) => match self.declared_type(*local)?.clone() {
                Type::Auto => self.named_type_of_auto(*local),
                ty => self.named_type(&ty),
            },
            ExprKind::Index(base, _) | ExprKind::Deref(base) => match self.named_type_of(base)? {
                Ty::Array(element, _) | Ty::Pointer(element) => Some(unconst(&element)),
                _ => None,
            },
            ExprKind::AddressOf(inner) => Some(Ty::Pointer(Rc::new(self.named_type_of(inner)?))),
            ExprKind::Cast(Type::Auto, inner)
            | ExprKind::Comma(_, inner)
            | ExprKind::Assign(_, inner, _)
            | ExprKind::Step { target: inner, .. } => self.named_type_of(inner),
            ExprKind::Cast(ty, _) | ExprKind::Construct(ty, _) => self.named_type(ty),
            ExprKind::Conditional(_, a, b) => {
                let (a, b) = (self.named_type_of(a)?, self.named_type_of(b)?);
                let has_name = |ty: &Ty| matches!(ty, Ty::Enum(..));
                if !has_name(&a) && !has_name(&b) { Some(self.type_of(expr)) } else { (a == b).then_some(a) }
            }
            ExprKind::Unary(UnaryOp::Not, _) => Some(self.type_of(expr)),
            ExprKind::Binary(op, ..) if is_truth(*op) => Some(self.type_of(expr)),
            // A function may be called that makes an enumeration of its operands.
            ExprKind::Unary(_, a) => self.without_name(expr, a, a),
            ExprKind::Binary(_, a, b) => self.without_name(expr, a, b),
            ExprKind::Path(path) => self.named_type_of_path(path),
            ExprKind::Member { base, name, .. } => match &base.kind {
                ExprKind::Path(path) if Coordinate::of(&path.name).is_some() => Some(self.type_of(expr)),
                _ => self.named_type_of_member(base, name).filter(|ty| !matches!(ty, Ty::Unknown(_))),
            },
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Path(path) => self.named_type_of_call(expr, path),
                ExprKind::Member { base, name, .. } => self.named_type_of_method(base, name),
                _ => None,
            },
            ExprKind::Int(..) | ExprKind::SizeofType(_) | ExprKind::SizeofExpr(_) => Some(self.type_of(expr)),
            _ => match self.type_of(expr) {
                ty if numbers_of(&ty).is_none() && !matches!(ty, Ty::Unknown(_)) => Some(ty),
                _ => None,
            },
        }
    }

    /// The type of a variable that is declared `auto`.
    fn named_type_of_auto(&mut self, local: LocalId) -> Option<Ty> {
        let function = Arc::clone(&self.frame()?.function);
        let init = declaration_in(function.body.as_deref()?, local)?.init.as_ref()?;
        if names_local(init, local) { None } else { self.named_type_of(init) }
    }

    /// The class of an object, or of what a pointer leads to.
    fn class_of(&mut self, base: &Expr) -> Option<Rc<Layout>> {
        match self.type_of(base) {
            Ty::Record(layout) => Some(layout),
            Ty::Pointer(inner) => match &*inner {
                Ty::Record(layout) => Some(Rc::clone(layout)),
                _ => None,
            },
            _ => None,
        }
    }

    /// What the only method of that name returns, of a class without base classes.
    fn named_type_of_method(&mut self, base: &Expr, name: &str) -> Option<Ty> {
        let layout = self.class_of(base)?;
        let mut own =
            self.program.functions(name).iter().filter(|it| it.owner.as_ref() == Some(&layout.name));
        let (only, others) = (own.next()?.clone(), own.next());
        if others.is_some() || !only.template_params.is_empty() || only.return_type == Type::Auto {
            return None;
        }
        self.within_head(&only, Rc::clone(&layout.env), |machine| machine.named_type(&only.return_type))
    }

    fn named_type(&mut self, ty: &Type) -> Option<Ty> {
        let ty = self.resolve_argument(ty);
        (!matches!(ty, Ty::Unknown(_))).then(|| unconst(&ty))
    }

    /// The type of an operator's result, where none of its operands may be an enumeration that has such an operator.
    fn without_name(&mut self, expr: &Expr, a: &Expr, b: &Expr) -> Option<Ty> {
        if super::operator_functions::operator_of(expr, self.program).is_some() {
            let (a, b) = (self.named_type_of(a)?, self.named_type_of(b)?);
            if matches!(a, Ty::Enum(..)) || matches!(b, Ty::Enum(..)) {
                return None;
            }
        }
        Some(self.type_of(expr))
    }

    fn named_type_of_path(&mut self, path: &Path) -> Option<Ty> {
        if let Some((scope, _)) = path.qualifiers.last()
            && self.program.enumeration(scope).is_some()
        {
            return self.named_type(&Type::Named(Box::new(Path::simple(scope.clone()))));
        }
        if !path.qualifiers.is_empty() && self.qualifying_class(path).is_some() {
            return None;
        }
        if let Some(ty) = self.type_of_number_parameter(path) {
            return self.named_type(&ty);
        }
        match self.program.variable_meant(path, &self.namespace())?.clone() {
            // An enumerator begins with its name, and does not tell of which enumeration it is.
            variable if variable.span.start == variable.name_span.start => None,
            variable => {
                let env = self.env();
                self.within(env, &variable.namespace, |machine| machine.named_type(&variable.ty))
            }
        }
    }

    /// What a template parameter is declared as that is a number: `template <int N>`.
    fn type_of_number_parameter(&self, path: &Path) -> Option<Type> {
        let function = &self.frame().filter(|_| path.qualifiers.is_empty())?.function;
        let mut params = function.template_params.iter().chain(&function.owner_params);
        match &params.find(|param| param.name == path.name)?.kind {
            TemplateParamKind::Value(ty, _) if *ty != Type::Auto => Some(ty.clone()),
            _ => None,
        }
    }

    fn named_type_of_member(&mut self, base: &Expr, name: &str) -> Option<Ty> {
        let layout = self.class_of(base)?;
        let Some(record) = layout.record.clone() else {
            return layout.field(name).map(|field| field.ty.clone());
        };
        let field = match name.parse::<usize>() {
            Ok(number) => record.fields.get(number)?,
            Err(_) => record.fields.iter().find(|field| *field.name == *name)?,
        };
        self.within(Rc::clone(&layout.env), &record.namespace, |machine| machine.named_type(&field.ty))
    }

    fn named_type_of_call(&mut self, expr: &Expr, path: &Path) -> Option<Ty> {
        match self.program.functions(&path.name) {
            [] => Some(self.type_of(expr)),
            [only] if only.template_params.is_empty() && only.owner.is_none() => {
                let (env, only) = (self.env(), only.clone());
                self.within(env, &only.namespace, |machine| machine.named_type(&only.return_type))
            }
            several => {
                let is_told = several.iter().all(|it| matches!(it.return_type, Type::Scalar(_)));
                is_told.then(|| self.type_of(expr))
            }
        }
    }
}

/// The integer that a type is, or leads to.
fn numbers_of(ty: &Ty) -> Option<Scalar> {
    match ty {
        Ty::Scalar(scalar) => scalar.is_integer().then_some(*scalar),
        Ty::Pointer(inner) | Ty::Array(inner, _) | Ty::Qualified(_, inner) => numbers_of(inner),
        _ => None,
    }
}

/// A type that is, or leads to, numbers that may be those of an enumeration.
fn over_numbers(ty: &Ty, numbers: Scalar) -> Ty {
    match ty {
        Ty::Pointer(inner) => Ty::Pointer(Rc::new(over_numbers(inner, numbers))),
        Ty::Array(inner, length) => Ty::Array(Rc::new(over_numbers(inner, numbers)), length.clone()),
        Ty::Qualified(qualifiers, inner) => Ty::Qualified(*qualifiers, Rc::new(over_numbers(inner, numbers))),
        _ => Ty::Enum(None, Rc::new(Ty::Scalar(numbers))),
    }
}

/// A type without `const`, as an argument is known, but with the name of an enumeration.
fn unconst(ty: &Ty) -> Ty {
    match ty {
        Ty::Qualified(_, inner) => unconst(inner),
        Ty::Pointer(inner) => Ty::Pointer(Rc::new(unconst(inner))),
        Ty::Array(inner, length) => Ty::Array(Rc::new(unconst(inner)), length.clone()),
        other => other.clone(),
    }
}

fn is_truth(op: BinaryOp) -> bool {
    use BinaryOp::{Eq, Ge, Gt, Le, LogicalAnd, LogicalOr, Lt, Ne};
    matches!(op, Eq | Ge | Gt | Le | LogicalAnd | LogicalOr | Lt | Ne)
}
