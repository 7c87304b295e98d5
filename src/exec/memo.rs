//! What was looked up before?
//!
//! A kernel asks thousands of times for the same few things: the type of a declaration, what an
//! overload's parameters are, a class's constant. The answer is the same as long as the template
//! parameters are, so it is kept with them, if nothing in it is bound to the moment.
//!
//! Invariant: a key holds addresses of items of the program, which does not move while it runs, and
//! of template parameters and namespaces that its value keeps alive.

use super::machine::{Asked, Machine, Seen};
use super::types::{Env, Ty};
use crate::ir::{Alias, Expr, ExprKind, Path, TemplateArg, Type};
use std::rc::Rc;
use std::sync::Arc;

/// Lookups within lookups from which on one may be cut short.
const DEEP: usize = 8;

impl Machine<'_> {
    /// The type that a statement, a parameter or a class of the program is written with.
    pub fn resolve_written(&mut self, ty: &Type) -> Ty {
        match ty {
            Type::Named(_) => {}
            Type::Pointer(inner) => return Ty::Pointer(Rc::new(self.resolve_written(inner))),
            Type::Reference(inner) => return self.resolve_written(inner),
            _ => return self.resolve_type(ty),
        }
        if self.lookups.depth > DEEP || !self.lookups.own_aliases.is_empty() {
            return self.resolve_type(ty);
        }
        let Some(frame) = self.frame() else { return self.resolve_type(ty) };
        let env = Rc::clone(&frame.env);
        let owner = frame.function.owner.as_ref().map_or(0, |owner| owner.as_ptr().addr());
        let namespace = Arc::clone(&frame.namespace);
        let place = std::ptr::from_ref(ty).addr();
        let key = (place, Rc::as_ptr(&env).addr(), namespace.as_ptr().addr(), owner);
        match self.lookups.memo.types.get(&key) {
            Some((_, _, Some(known))) => return known.clone(),
            Some((_, _, None)) => return self.resolve_type(ty),
            None => {}
        }
        let resolved = self.resolve_type(ty);
        let kept = (is_closed(ty) && is_settled(&resolved)).then(|| resolved.clone());
        self.lookups.memo.types.insert(key, (env, namespace, kept));
        resolved
    }

    /// What a name stands for, which is looked for only if that was not done before from the same place. Where a typedef
    /// was passed over because its own meaning is being looked up, that holds for the moment.
    pub(super) fn meaning(
        &mut self,
        asked: Asked,
        path: &Path,
        look: impl FnOnce(&mut Self) -> Option<Ty>,
    ) -> Option<Ty> {
        let within_another = !self.lookups.own_aliases.is_empty() || !self.lookups.aliases.is_empty();
        if !is_closed_path(path) {
            return look(self);
        }
        let keeps_qualifiers = self.lookups.keeps_qualifiers;
        let seen = self.frame().and_then(|frame| Seen::from(frame, keeps_qualifiers));
        let Some(seen) = seen else { return look(self) };
        let known = self.lookups.memo.meanings.get(asked, path, &seen);
        if let Some((known, _)) = known.filter(|(_, is_anywhere)| *is_anywhere || !within_another) {
            return known.clone();
        }
        let (momentary, passed_over) = (self.lookups.momentary, self.lookups.passed_over);
        let found = look(self);
        let is_anywhere = self.lookups.passed_over == passed_over;
        let is_kept = self.lookups.momentary == momentary && (is_anywhere || !within_another);
        if is_kept && found.as_ref().is_none_or(is_settled) {
            self.lookups.memo.meanings.keep(asked, path, seen, (found.clone(), is_anywhere));
        }
        found
    }
}

impl Machine<'_> {
    /// The same of a member typedef, where the parameters of its class stand for what `env` says.
    pub(super) fn member_meaning(
        &mut self,
        alias: &Alias,
        env: Rc<Env>,
        look: impl FnOnce(&mut Self, Rc<Env>) -> Option<Ty>,
    ) -> Option<Ty> {
        let is_kept =
            !self.lookups.keeps_qualifiers && alias.template_params.is_empty() && is_closed(&alias.ty);
        if !is_kept {
            return look(self, env);
        }
        let key = (std::ptr::from_ref(alias).addr(), Rc::as_ptr(&env).addr());
        if let Some((_, known)) = self.lookups.memo.members.get(&key) {
            return Some(known.clone());
        }
        let momentary = self.lookups.momentary;
        let found = look(self, Rc::clone(&env));
        if let Some(ty) = found.as_ref().filter(|ty| is_settled(ty))
            && self.lookups.momentary == momentary
        {
            self.lookups.memo.members.insert(key, (env, ty.clone()));
        }
        found
    }
}

/// Whether no variable of a function stands in a type.
fn is_closed(ty: &Type) -> bool {
    match ty {
        Type::Void | Type::Scalar(_) | Type::Auto | Type::Opaque => true,
        Type::Pointer(inner) | Type::Reference(inner) | Type::Qualified(_, inner) => is_closed(inner),
        Type::Named(path) => is_closed_path(path),
        Type::Array(..) | Type::Decltype(_) => false,
    }
}

fn is_closed_path(path: &Path) -> bool {
    let closed = |args: &[TemplateArg]| {
        args.iter().all(|arg| match arg {
            TemplateArg::Type(ty) => is_closed(ty),
            TemplateArg::Value(expr) => is_closed_expr(expr),
        })
    };
    path.qualifiers.iter().all(|(_, args)| closed(args)) && path.args.as_ref().is_none_or(|args| closed(args))
}

fn is_closed_expr(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(..) => true,
        ExprKind::Path(path) => path.args.is_none() && is_closed_path(path),
        ExprKind::Unary(_, a) => is_closed_expr(a),
        ExprKind::Binary(_, a, b) => is_closed_expr(a) && is_closed_expr(b),
        ExprKind::Conditional(a, b, c) => [a, b, c].iter().all(|part| is_closed_expr(part)),
        _ => false,
    }
}

/// Whether a type holds no number that is not known.
fn is_settled(ty: &Ty) -> bool {
    match ty {
        Ty::Void | Ty::Scalar(_) | Ty::Sized { .. } | Ty::Fragment(_) | Ty::Unknown(_) => true,
        Ty::Record(layout) => layout.size.is_some(),
        Ty::Pointer(inner) | Ty::Qualified(_, inner) | Ty::Enum(_, inner) => is_settled(inner),
        Ty::Array(inner, length) => {
            is_settled(inner) && length.as_ref().is_none_or(|length| length.as_constant().is_some())
        }
    }
}
