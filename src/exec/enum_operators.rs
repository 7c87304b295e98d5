//! Does an operator call a function that takes enumerators?
//!
//! Their values are kept as numbers, so the types of operands do not tell. What is written does, as far as it goes:
//!
//! ```text
//! enum class Side { left, right };
//! __device__ Side operator~(Side side) { return side == Side::left ? Side::right : Side::left; }
//!
//! ~side        // calls it, where `Side side` is declared
//! ~sides[i]    // may call it: not followed
//! ~lane        // does not, where `int lane` is declared
//! ```

use super::machine::Machine;
use super::types::Ty;
use super::value::{Target, Value};
use crate::builtins::Coordinate;
use crate::domain::{Reason, Unknown, Variation};
use crate::ir::{Expr, ExprKind, Function, Name, Path, Type};
use std::sync::Arc;

/// Of what type an expression is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Written {
    /// An enumeration of this name.
    Enum(Name),
    /// Something else.
    Other,
    Unknown,
}

impl Machine<'_> {
    /// What an operator makes of operands that are no objects, if a function may be called for them.
    pub(super) fn called_for_enum(&mut self, expr: &Expr, path: &Path, args: &[Expr]) -> Option<Value> {
        let takes = |f: &&Arc<Function>| {
            f.owner.is_none()
                && f.params.len() == args.len()
                && f.params.iter().any(|param| self.enum_taken(f, &param.ty).is_some())
        };
        let candidates: Vec<Arc<Function>> =
            self.program.functions(&path.name).iter().filter(takes).cloned().collect();
        if candidates.is_empty() {
            return None;
        }
        let written: Vec<Written> = args.iter().map(|arg| self.written(arg)).collect();
        let (mut sure, mut possible) = (0, 0);
        for candidate in &candidates {
            let asked =
                candidate.params.iter().map(|param| self.enum_taken(candidate, &param.ty)).zip(&written);
            let asked: Vec<_> = asked.filter_map(|(name, written)| Some((name?, written))).collect();
            let is = |(name, written): &(Name, &Written)| **written == Written::Enum(name.clone());
            let may_be = |it: &(Name, &Written)| is(it) || *it.1 == Written::Unknown;
            sure += usize::from(asked.iter().all(is));
            possible += usize::from(asked.iter().all(may_be));
        }
        match (sure, possible) {
            (_, 0) => None,
            (1.., _) if sure == possible => Some(self.call_path(expr, path, args, true)),
            _ => {
                let words = format!("whether `{}` of an enumeration is called", path.name);
                let why = Unknown::new(Reason::Unsupported, expr.span, words);
                for arg in args {
                    self.evaluate(arg);
                }
                // It may change what it is given.
                if let ExprKind::Assign(_, target, _) | ExprKind::Step { target, .. } = &expr.kind
                    && let Ok(pointer) = self.locate(target)
                {
                    match &pointer.target {
                        Target::Place(place) => self.change_whole(place, why.clone(), expr.span),
                        Target::Memory(..) => self.write_somewhere(expr.span),
                    }
                }
                Some(Value::opaque(Variation::Maybe, why))
            }
        }
    }

    /// The enumeration that a parameter is of. A template parameter hides one of its name.
    fn enum_taken(&self, function: &Function, ty: &Type) -> Option<Name> {
        self.enum_of(ty).filter(|name| function.template_params.iter().all(|param| param.name != *name))
    }

    /// The enumeration that a type names, or a reference to it.
    fn enum_of(&self, ty: &Type) -> Option<Name> {
        match ty {
            Type::Named(path) => self.program.enumeration(&path.name).map(|_| path.name.clone()),
            Type::Reference(inner) | Type::Qualified(_, inner) => self.enum_of(inner),
            _ => None,
        }
    }

    fn written_type(&self, ty: &Type) -> Written {
        match ty {
            Type::Reference(inner) | Type::Qualified(_, inner) => self.written_type(inner),
            Type::Scalar(_) | Type::Pointer(_) | Type::Array(..) | Type::Void => Written::Other,
            _ => self.enum_of(ty).map_or(Written::Unknown, Written::Enum),
        }
    }

    fn written(&mut self, expr: &Expr) -> Written {
        match &expr.kind {
            ExprKind::Int(..) | ExprKind::Float(..) | ExprKind::SizeofType(_) | ExprKind::SizeofExpr(_) => {
                Written::Other
            }
            ExprKind::Local(local) => match self.declared_type(*local) {
                Some(Type::Auto) | None => Written::Unknown,
                Some(ty) => self.written_type(ty),
            },
            ExprKind::Cast(ty, _) | ExprKind::Construct(ty, _) => self.written_type(ty),
            ExprKind::Path(path) => self.written_path(path),
            ExprKind::Call { callee, .. } => match &callee.kind {
                ExprKind::Path(path) => match self.program.functions(&path.name) {
                    [only] if only.template_params.is_empty() => self.written_type(&only.return_type),
                    [] => Written::Other,
                    _ => Written::Unknown,
                },
                _ => Written::Unknown,
            },
            ExprKind::Conditional(_, a, b) => {
                let (a, b) = (self.written(a), self.written(b));
                if a == b { a } else { Written::Unknown }
            }
            ExprKind::Member { base, .. } if matches!(&base.kind, ExprKind::Path(path) if Coordinate::of(&path.name).is_some()) => {
                Written::Other
            }
            ExprKind::Binary(_, a, b) => match (self.written(a), self.written(b)) {
                (Written::Other, Written::Other) => Written::Other,
                _ => Written::Unknown,
            },
            ExprKind::Unary(_, inner) => match self.written(inner) {
                Written::Other => Written::Other,
                _ => Written::Unknown,
            },
            _ => match self.type_of(expr) {
                Ty::Scalar(scalar) if !scalar.is_integer() => Written::Other,
                Ty::Pointer(_) | Ty::Array(..) => Written::Other,
                _ => Written::Unknown,
            },
        }
    }

    fn written_path(&mut self, path: &Path) -> Written {
        if let Some((scope, _)) = path.qualifiers.last()
            && self.program.enumeration(scope).is_some()
        {
            return Written::Enum(scope.clone());
        }
        match self.program.variable_meant(path, &self.namespace()) {
            // An enumerator begins with its name, and does not tell of which enumeration it is.
            Some(variable) if variable.span.start != variable.name_span.start => {
                let ty = variable.ty.clone();
                self.written_type(&ty)
            }
            _ => Written::Unknown,
        }
    }
}
