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

    fn written(&mut self, expr: &Expr) -> Written {
        match self.named_type_of(expr) {
            Some(Ty::Enum(Some(name), _)) => Written::Enum(name),
            Some(Ty::Unknown(_) | Ty::Enum(None, _)) | None => Written::Unknown,
            Some(_) => Written::Other,
        }
    }
}
