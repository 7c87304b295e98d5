//! What may host code change that is called and not followed?
//!
//! ```text
//! void choose(int &);            // its body is in another file
//! int threads = 32;
//! choose(threads);               // may be anything from here on
//! ```
//!
//! What it is handed by reference or by address, the object that it is a method of, and what the lambdas that it is
//! given write. What it is handed by value or as `const` stays. Of libraries it is known what they take:
//! [`by_value`](crate::builtins::by_value).

use super::Machine;
use crate::builtins::by_value::{self, Takes};
use crate::domain::{Reason, Unknown, Variation};
use crate::exec::machine::Mode;
use crate::exec::types::Ty;
use crate::exec::unseen::Callee;
use crate::exec::value::{Place, Pointer, Steps, Target, Value};
use crate::ir::visit::children;
use crate::ir::writes::hands_on;
use crate::ir::{BinaryOp, Declaration, Expr, ExprKind, Function, Lambda, Path, Through, Type};
use crate::slice::written::{by_path, may_change_argument, may_change_object};
use crate::source::Span;
use std::sync::Arc;

impl Machine<'_> {
    /// Hands an argument to something that is not followed: `value` is what it is, `at` its number of `count`.
    pub(crate) fn hand_to_unfollowed(
        &mut self,
        callee: Callee<'_>,
        (arg, value): (&Expr, &Value),
        (at, count): (usize, usize),
        span: Span,
    ) {
        let why = callee.may_have_changed(span);
        // It may end the program where that does not hold.
        if !is_of_library(callee) {
            self.note_asked(arg);
        }
        self.lose_handed_function(value, &why);
        if let Value::Closure(lambda, frame) = value {
            let is_run = by_value::runs_its_lambda(callee.name());
            self.host_lambda_given(lambda, *frame, is_run, &why);
        } else if may_change_argument(self.program, callee.name(), (at, count), takes(callee)) {
            match takes(callee) {
                Takes::Text => self.lose_mentioned(arg, &why),
                _ => self.lose_argument(arg, &why),
            }
        }
    }

    /// What an argument names may be anything: code that is not followed may have changed it.
    fn lose_argument(&mut self, arg: &Expr, why: &Unknown) {
        match &arg.kind {
            ExprKind::Cast(Type::Reference(_), inner) | ExprKind::Comma(_, inner) => {
                return self.lose_argument(inner, why);
            }
            ExprKind::Assign(_, target, _) | ExprKind::Step { target, post: false, .. } => {
                return self.lose_argument(target, why);
            }
            ExprKind::Conditional(_, a, b) => {
                self.lose_argument(a, why);
                return self.lose_argument(b, why);
            }
            ExprKind::Call { callee, args } if hands_on(callee) => {
                return args.iter().for_each(|arg| self.lose_argument(arg, why));
            }
            _ => {}
        }
        if !is_named(arg) || self.is_fixed(arg) {
            return;
        }
        if let Ok(pointer) = self.locate(arg) {
            self.lose_at(&pointer, why);
        }
    }

    /// The same of whatever is named in an argument.
    fn lose_mentioned(&mut self, arg: &Expr, why: &Unknown) {
        self.lose_argument(arg, why);
        if !matches!(arg.kind, ExprKind::SizeofExpr(_)) {
            children(arg, &mut |part| self.lose_mentioned(part, why));
        }
    }

    /// What lies at a place may be anything.
    pub(super) fn lose_at(&mut self, pointer: &Pointer, why: &Unknown) {
        match &pointer.target {
            Target::Place(_) if matches!(pointer.pointee, Ty::Array(..)) => {
                let first = Self::decay(pointer.clone());
                if let Target::Place(place) = first.target {
                    let place = Place { path: Steps::new(), blurred: true, ..place };
                    self.write_place(&place, Value::opaque(Variation::Uniform, why.clone()));
                }
            }
            Target::Place(_) => {
                self.write(pointer, Value::opaque(Variation::Uniform, why.clone()), why.span);
            }
            Target::Memory(object, _) => *self.host.handed_over.entry(*object).or_default() += 1,
        }
    }

    /// Whether what is named there is `const`, or a lambda.
    fn is_fixed(&mut self, arg: &Expr) -> bool {
        match &arg.kind {
            ExprKind::Local(local) => {
                let frame = self.frame();
                let slot = frame.and_then(|frame| frame.slots.get(local.0 as usize));
                if slot.is_some_and(|slot| matches!(slot.value, Value::Closure(..) | Value::Function(_))) {
                    return true;
                }
            }
            ExprKind::Path(path) => {
                let namespace = self.namespace();
                if self.program.variable_meant(path, &namespace).is_some_and(|it| it.constant) {
                    return true;
                }
            }
            _ => {}
        }
        self.place_through(arg) == Through::Const
    }

    /// `T w(n);` of a class that is not seen: `n` may be taken by reference. Of more arguments a call takes care; of one,
    /// what is no declaration may be a cast.
    pub(crate) fn hand_to_constructor(&mut self, declaration: &Declaration) {
        let Some(Expr { kind: ExprKind::Construct(ty, args), span }) = &declaration.init else { return };
        let ([only], Mode::Host) = (args.as_slice(), self.mode) else { return };
        if let Ty::Unknown(class) = self.resolve_type(ty) {
            let callee = Callee::Constructor(&class);
            self.hand_to_unfollowed(callee, (only, &Value::Undefined), (0, 1), *span);
        }
    }

    /// An object of which a method ran that is not followed. `args`: how many arguments that was given.
    pub(crate) fn lose_object(&mut self, object: &Pointer, method: &str, args: usize, why: &Unknown) {
        if self.mode != Mode::Host {
            return;
        }
        let owner = match &object.pointee {
            Ty::Record(layout) => Some(layout.name.clone()),
            _ => None,
        };
        let changes = match &owner {
            Some(_) => may_change_object(self.program, method, args, owner.as_ref()),
            None => !by_value::only_reads(method),
        };
        if changes {
            self.lose_at(object, why);
        }
    }

    /// The object whose method runs, where that calls another by its bare name which is not followed.
    pub(crate) fn lose_own_object(&mut self, path: &Path, args: &[Expr], span: Span) {
        let Some(this) = self.frame().and_then(|frame| frame.this.clone()) else { return };
        let mut classes = self.own_bases();
        classes.extend(self.own_records().iter().map(|it| it.name.clone()));
        let is_own = |f: &Arc<Function>| f.owner.as_ref().is_some_and(|owner| classes.contains(owner));
        if path.qualifiers.is_empty() && self.program.functions(&path.name).iter().any(is_own) {
            let why = Callee::Named(&path.name).may_have_changed(span);
            self.lose_object(&this, &path.name, args.len(), &why);
        }
    }

    /// A lambda goes to something that is not followed: whoever is given one calls it, so that its launches are seen;
    /// what it writes may have been written, and how often is not known.
    fn host_lambda_given(
        &mut self,
        lambda: &Arc<Lambda>,
        frame: usize,
        is_surely_called: bool,
        why: &Unknown,
    ) {
        self.looping.watched.push(Vec::new());
        self.call_lambda(lambda, frame, &[], why.span);
        let written = self.looping.watched.pop().unwrap_or_default();
        for (at, local) in written {
            self.note_write(at, local);
            let is_own = at == frame && lambda.slots.contains(&local.0);
            if is_surely_called || at > frame || is_own {
                continue;
            }
            let slot = self.state.frames.get(at).and_then(|frame| frame.slots.get(local.0 as usize));
            let Some(slot) = slot.filter(|slot| !slot.reference) else { continue };
            let target = Target::Place(Place { frame: at, local, path: Steps::new(), blurred: false });
            let pointer = Pointer { target, pointee: slot.ty.clone(), volatile: false };
            self.lose_at(&pointer, why);
        }
    }

    /// `in >> x`, where `in` is no number and what the operator does is not seen: it reads into `x`.
    pub(crate) fn host_extraction(&mut self, op: BinaryOp, a: &Expr, b: &Expr) {
        if self.mode != Mode::Host || op != BinaryOp::Shr || !is_named(b) {
            return;
        }
        let mut first = a;
        while let ExprKind::Binary(BinaryOp::Shr, left, _) = &first.kind {
            first = left;
        }
        let is_stream = match &first.kind {
            ExprKind::Path(path) if self.program.variables(&path.name).is_empty() => {
                matches!(&*path.name, "cin" | "wcin")
            }
            _ => !matches!(self.type_of(first), Ty::Scalar(_)),
        };
        if is_stream {
            let words = "what is read there is known at run time";
            let why = Unknown::new(Reason::DataDependent, b.span, words);
            self.lose_argument(b, &why);
        }
    }
}

/// What something takes of which no declaration is seen.
fn takes(callee: Callee<'_>) -> Takes {
    match callee {
        Callee::Path(path) => by_path(path),
        Callee::Named(name) | Callee::Itself(name) | Callee::TooDeep(name) => {
            by_value::takes(None, None, name)
        }
        Callee::Method(name) => by_value::method_takes(name),
        Callee::Constructor(class) => by_value::class_takes(class),
        Callee::CallOperator | Callee::Unnamed(_) => Takes::Anything,
    }
}

/// Whether an expression is what a call of a known library calls, which returns and changes no variable.
pub(super) fn names_library(callee: &Expr) -> bool {
    match &callee.kind {
        ExprKind::Path(path) => is_of_library(Callee::Path(path)),
        ExprKind::Member { name, .. } => is_of_library(Callee::Method(name)),
        _ => false,
    }
}

/// A macro that only reads its arguments may still end the program.
fn is_of_library(callee: Callee<'_>) -> bool {
    takes(callee) == Takes::Values && !by_value::is_macro(callee.name())
}

/// Whether something that is called and declared nowhere may belong to another file of the program.
pub(super) fn may_change_anything(callee: Callee<'_>) -> bool {
    match callee {
        Callee::Path(_) | Callee::Named(_) | Callee::Method(_) => takes(callee) == Takes::Anything,
        _ => false,
    }
}

/// Whether an expression names a place, and nothing happens when it is asked for again.
pub(super) fn is_named(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Local(_) | ExprKind::Path(_) | ExprKind::This => true,
        ExprKind::Member { base, .. } => is_named(base),
        ExprKind::Deref(inner) => is_named(inner),
        ExprKind::Index(base, index) => is_named(base) && is_still(index),
        _ => false,
    }
}

fn is_still(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(..) => true,
        ExprKind::Binary(_, a, b) => is_still(a) && is_still(b),
        _ => is_named(expr),
    }
}
