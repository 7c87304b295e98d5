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
use crate::ir::{BinaryOp, Expr, ExprKind, Function, Lambda, Path, Through, Type};
use crate::slice::written::may_change_argument;
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
        if let Value::Closure(lambda, frame) = value {
            let is_dispatch = callee.name().starts_with("AT_DISPATCH");
            self.host_lambda_given(lambda, *frame, is_dispatch, &why);
        } else if may_change_argument(self.program, callee.name(), (at, count), takes(callee)) {
            self.lose_argument(arg, &why);
        }
    }

    /// What an argument names may be anything: code that is not followed may have changed it.
    fn lose_argument(&mut self, arg: &Expr, why: &Unknown) {
        if let ExprKind::Cast(_, inner) = &arg.kind
            && matches!(&arg.kind, ExprKind::Cast(Type::Reference(_), _))
        {
            return self.lose_argument(inner, why);
        }
        if !is_named(arg) || self.is_fixed(arg) {
            return;
        }
        if let Ok(pointer) = self.locate(arg) {
            self.lose_at(&pointer, why);
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

    /// An object of which a method ran that is not followed. `args`: how many arguments that was given.
    pub(crate) fn lose_object(&mut self, object: &Pointer, method: &str, args: usize, why: &Unknown) {
        if self.mode != Mode::Host {
            return;
        }
        let owner = match &object.pointee {
            Ty::Record(layout) => Some(layout.name.clone()),
            _ => None,
        };
        let is_it = |f: &&Arc<Function>| f.owner.is_some() && f.owner == owner && args <= f.params.len();
        let mut declared = self.program.functions(method).iter().filter(is_it).peekable();
        let keeps = match declared.peek().is_some() {
            true => declared.all(|f| f.is_const),
            false => by_value::only_reads(method),
        };
        if !keeps {
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
        Callee::Path(path) => {
            let outermost = path.qualifiers.first().map(|(name, _)| &**name);
            let innermost = path.qualifiers.last().map(|(name, _)| &**name);
            by_value::takes(outermost, innermost, &path.name)
        }
        Callee::Named(name) | Callee::Itself(name) | Callee::TooDeep(name) => {
            by_value::takes(None, None, name)
        }
        Callee::Method(name) => by_value::method_takes(name),
        Callee::Constructor(class) => by_value::class_takes(class),
        Callee::CallOperator | Callee::Unnamed(_) => Takes::Anything,
    }
}

/// Whether an expression names a place, and nothing happens when it is asked for again.
fn is_named(expr: &Expr) -> bool {
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
