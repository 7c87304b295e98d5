//! Does copying an object run code of its class?
//!
//! A copy constructor or assignment that copies each member does what the language does. Another assignment is a
//! call like any other. What another constructor does is not followed: of the copy nothing is known.
//!
//! What an expression makes is no copy: `Buffer a(32);`, `Buffer b = make();` (C++17, `[dcl.init.general]`).

use super::construct::unmade;
use super::machine::{Machine, Mode};
use super::members::BASES;
use super::types::{Layout, Ty};
use super::unseen::Callee;
use super::value::Value;
use crate::domain::{Reason, Unknown};
use crate::ir::{Expr, ExprKind, Function, Param, Stmt, StmtKind, Type};
use crate::source::Span;
use std::sync::Arc;

impl Machine<'_> {
    /// The value of an expression: where that is an object that is copied by its class, the copy.
    pub(super) fn copied(&mut self, expr: &Expr, value: Value) -> Value {
        let is_kept = matches!(
            expr.kind,
            ExprKind::Local(_)
                | ExprKind::Member { .. }
                | ExprKind::Index(..)
                | ExprKind::Deref(_)
                | ExprKind::Path(_)
        );
        if !is_kept || !self.program.has_own_copies() {
            return value;
        }
        let ty = self.type_of(expr);
        match ty {
            Ty::Record(layout) if self.some_part_says(&layout, BASES, Self::copies_itself) => {
                self.lose_copied(&layout, expr, expr.span);
                self.touch_in(&value, "a copy constructor", expr.span);
                self.may_access(expr.span);
                self.may_order(expr.span);
                self.may_wait("a copy constructor", expr.span);
                unmade(&layout, expr.span)
            }
            _ => value,
        }
    }

    /// An object of host code is copied by its class: what the constructor may write is not known, the other object among
    /// it if that is not `const`.
    pub(super) fn lose_copied(&mut self, layout: &Layout, of: &Expr, span: Span) {
        let words = format!("the copy constructor of `{}` may have changed it", layout.name);
        let why = Unknown::new(Reason::UnknownFunction, span, words);
        self.lose_effects(std::slice::from_ref(&layout.name), &why);
        let value = Value::Undefined;
        let callee = Callee::Constructor(&layout.name);
        if self.mode == Mode::Host {
            self.hand_to_unfollowed(callee, (of, &value), (0, 1), span);
        }
    }

    /// Whether an object of a class that an expression gives is made by it, and so is not copied from another.
    pub(super) fn makes_new(&self, expr: &Expr, layout: &Layout) -> bool {
        match &expr.kind {
            ExprKind::Construct(ty, _) => names_class(ty, &layout.name),
            ExprKind::Conditional(_, a, b) => self.makes_new(a, layout) && self.makes_new(b, layout),
            ExprKind::Comma(_, last) => self.makes_new(last, layout),
            ExprKind::Call { callee, .. } => {
                let ExprKind::Path(path) = &callee.kind else { return false };
                // `Buffer(4)` may be written like a call.
                if is_name_of(&path.name, &layout.name) {
                    return true;
                }
                let mut named = self.program.functions(&path.name).iter().peekable();
                named.peek().is_some() && named.all(|f| names_class(&f.return_type, &layout.name))
            }
            _ => false,
        }
    }

    /// Whether a class, or that of a part of it, `says` something itself.
    pub(super) fn some_part_says(
        &mut self,
        layout: &Layout,
        depth: usize,
        says: fn(&Self, &Layout) -> bool,
    ) -> bool {
        if says(self, layout) {
            return true;
        }
        let Some(record) = layout.record.clone().filter(|_| depth > 0) else { return false };
        let bases = self.bases(&record, &layout.env, depth);
        let of_member = |ty: &Ty| match ty.innermost() {
            Ty::Record(layout) => Some(std::rc::Rc::clone(layout)),
            _ => None,
        };
        let members =
            layout.fields.iter().filter(|field| !field.reference).filter_map(|it| of_member(&it.ty));
        let parts: Vec<_> = members.chain(bases).collect();
        parts.iter().any(|part| self.some_part_says(part, depth - 1, says))
    }

    /// Whether a class says itself how a copy is made: that is not followed.
    pub(super) fn copies_itself(&self, layout: &Layout) -> bool {
        self.copies_by(layout, &layout.name)
    }

    /// Whether a class says itself what an assignment of one of its objects to another does.
    pub(super) fn assigns_itself(&self, layout: &Layout) -> bool {
        self.copies_by(layout, "operator=")
    }

    /// Whether a method of this name copies an object of its class in another way than the language does.
    fn copies_by(&self, layout: &Layout, name: &str) -> bool {
        let own = |f: &&Arc<Function>| f.owner.as_ref() == Some(&layout.name) && f.body.is_some();
        let works = |f: &Arc<Function>| takes_itself(f) && !copies_members(f, layout);
        layout.record.is_some()
            && self.program.has_own_copies()
            && self.program.functions(name).iter().filter(own).any(works)
    }
}

/// Whether a function copies or moves an object of its class.
pub(crate) fn takes_itself(function: &Function) -> bool {
    let (Some(owner), [first, rest @ ..]) = (&function.owner, function.params.as_slice()) else {
        return false;
    };
    // A template is none: `Tile(const Tile<U> &)`.
    function.template_params.is_empty()
        && rest.iter().all(|param| param.default.is_some())
        && matches!(&first.ty, Type::Reference(inner) if names_class(inner, owner))
        && (&*function.name == "operator=" || function.name == *owner)
}

/// Whether a type is the name of a class, with or without what is around it.
fn names_class(ty: &Type, class: &str) -> bool {
    matches!(ty, Type::Named(path) if is_name_of(&path.name, class))
}

fn is_name_of(name: &str, class: &str) -> bool {
    let short = class.rsplit("::").next().unwrap_or(class);
    let short = short.split('@').next().unwrap_or(short);
    name == class || name == short
}

/// Whether its body gives each member what the other object has there, and does nothing else.
fn copies_members(function: &Function, layout: &Layout) -> bool {
    let ([other], Some(body)) = (function.params.as_slice(), &function.body) else { return false };
    let body = match body.split_last() {
        Some((last, rest)) if is_return_of_itself(last) => rest,
        _ => body,
    };
    let copied: Option<Vec<&str>> = body.iter().map(|stmt| copied_member(stmt, other)).collect();
    copied.is_some_and(|copied| {
        copied.len() == layout.fields.len() && layout.fields.iter().all(|it| copied.contains(&&*it.name))
    })
}

fn is_return_of_itself(stmt: &Stmt) -> bool {
    matches!(&stmt.kind, StmtKind::Return(Some(Expr { kind: ExprKind::Deref(inner), .. }))
        if matches!(inner.kind, ExprKind::This))
}

/// `x = other.x`
fn copied_member<'s>(stmt: &'s Stmt, other: &Param) -> Option<&'s str> {
    let StmtKind::Expr(Expr { kind: ExprKind::Assign(None, target, value), .. }) = &stmt.kind else {
        return None;
    };
    let to = match &target.kind {
        ExprKind::Member { base, name, arrow: true, .. } if matches!(base.kind, ExprKind::This) => name,
        ExprKind::Path(path) if path.qualifiers.is_empty() => &path.name,
        _ => return None,
    };
    match &value.kind {
        ExprKind::Member { base, name, arrow: false, .. }
            if name == to && matches!(base.kind, ExprKind::Local(local) if local == other.local) =>
        {
            Some(name)
        }
        _ => None,
    }
}
