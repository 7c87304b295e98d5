//! What do assignments do, and `++` and `--`?

use super::machine::Machine;
use super::members::BASES;
use super::types::{Ty, nameless};
use super::value::{Offset, Pointer, Target, Value};
use crate::builtins;
use crate::domain::{Reason, Unknown, Variation};
use crate::events::AccessOp;
use crate::ir::{BinaryOp, Expr, ExprKind};
use crate::source::Span;

impl Machine<'_> {
    /// Assigns; the value is only of use if it is `wanted`.
    pub(super) fn assign(
        &mut self,
        op: Option<BinaryOp>,
        target: &Expr,
        value: &Expr,
        expr: &Expr,
        wanted: bool,
    ) -> Value {
        let span = expr.span;
        self.note_inner_branches(expr);
        let called = match op {
            Some(op) => self.called_compound(expr, op, target, value),
            None => self.called_assignment(expr, target, value, wanted),
        };
        if let Some(value) = called {
            return value;
        }
        if op.is_none() && self.binds_member(target, value) {
            return Value::Undefined;
        }
        if let (None, ExprKind::Local(local)) = (op, &target.kind)
            && self.frame().is_some_and(|f| {
                let slot = f.slots.get(local.0 as usize);
                // Nothing but a lambda assigns to an array.
                slot.is_some_and(|s| s.ty == Ty::Void || matches!(s.ty, Ty::Array(..)) && !s.reference)
            })
        {
            return self.capture(*local, value);
        }
        self.note_asked_in(value);
        let before = self.trace.tree.len();
        let result = match op {
            None => {
                let ty = self.type_of_target(target, value);
                self.put_aside(value);
                self.initial(value, &ty)
            }
            Some(_) => self.operand(value),
        };
        let alike = is_of_warp(&result) && !is_sum(value);
        let is_uniform = result.variation() == Variation::Uniform;
        let stored = self.store(op, target, result, span, wanted);
        if op.is_none() && self.recording {
            match is_place(value) {
                true if is_element_of_same(target, value) => self.note_copy(before),
                true => self.note_read_elsewhere(before, value),
                false if is_uniform && self.is_bound_of(target, value) => {}
                false => self.note_made_of(before, alike),
            }
        }
        stored
    }

    /// Whether a value is the target or a bound, whichever is less or greater. It may be made twice of what it was
    /// before: `most = min(most, n - 1)`.
    fn is_bound_of(&self, target: &Expr, value: &Expr) -> bool {
        let ExprKind::Call { callee, args } = &value.kind else { return false };
        let (ExprKind::Path(path), [one, other]) = (&callee.kind, args.as_slice()) else { return false };
        let is_builtin = builtins::kind(&path.name) == Some(builtins::Kind::Extremum)
            && self.program.functions(&path.name).is_empty();
        let is_apart =
            |bound: &Expr, is: &Expr| is_same_variable(is, target) && reads_no_place_of(bound, target);
        is_builtin && (is_apart(one, other) || is_apart(other, one))
    }

    /// Writes what was evaluated; the value is only of use if it is `wanted`.
    pub(super) fn store(
        &mut self,
        op: Option<BinaryOp>,
        target: &Expr,
        result: Value,
        span: Span,
        wanted: bool,
    ) -> Value {
        if let ExprKind::Conditional(cond, then, otherwise) = &target.kind {
            return self.on_each_side(cond, then, otherwise, &mut |machine, side| {
                machine.store(op, side, result.clone(), span, wanted)
            });
        }
        let pointer = match self.locate(target) {
            Ok(pointer) => pointer,
            Err(_) => {
                self.lose_address(&result, target.span);
                if op.is_some() {
                    self.touch_named(target, AccessOp::Load);
                }
                self.touch_named(target, AccessOp::Store);
                self.write_through(target);
                return result;
            }
        };
        if !matches!(result, Value::Aggregate(_))
            && let Some(value) = self.atomic_assignment(&pointer, op, (span, wanted))
        {
            return if op.is_none() { result } else { value };
        }
        if let Ty::Record(layout) = &pointer.pointee
            && op.is_none()
            && self.program.has_own_copies()
            && self.some_part_says(layout, BASES, Self::assigns_itself)
        {
            return self.assign_by_class(&pointer, target.span, span);
        }
        let alike = is_of_warp(&result);
        let may_be_alike = may_be_of_all(&result) || !may_meet_others(&pointer);
        let result = match op {
            None => result,
            Some(op) => {
                let old = self.read(&pointer, target.span);
                let new = self.binary(op, &old, &result, span);
                self.stepped(&old, new, &pointer.pointee)
            }
        };
        let kept = if wanted { result.clone() } else { Value::Undefined };
        self.write(&pointer, result, target.span);
        match op {
            None => {}
            // To set the same bits may be done twice.
            Some(BinaryOp::And | BinaryOp::Or) if may_be_alike => {}
            // To count is meant once for each thread.
            Some(BinaryOp::Add | BinaryOp::Sub) => self.note_update(&pointer, false),
            Some(_) => self.note_update(&pointer, alike),
        }
        self.convert(kept, &pointer.pointee)
    }

    /// Writes to an object of which a part says itself what an assignment is: what that does is not followed.
    fn assign_by_class(&mut self, to: &Pointer, at: Span, span: Span) -> Value {
        let words = "the class's own `operator=`";
        let unknown = Value::opaque(Variation::Maybe, Unknown::new(Reason::UnknownFunction, span, words));
        match to.target {
            Target::Memory(..) => self.touch_in(&Value::Pointer(to.clone()), words, span),
            Target::Place(_) => self.write(to, unknown.clone(), at),
        }
        unknown
    }

    /// Writes to a place that is not followed: also to what a call was given that hands back where it lies, as
    /// `std::tie(a, b) = pair` does.
    fn write_through(&mut self, target: &Expr) {
        let mut given = Vec::new();
        given_to_calls(target, By::Name, &mut given);
        for (variable, by) in given {
            if by == By::CallOperator && self.keeps_index(variable) {
                continue;
            }
            let of_object = matches!(variable.kind, ExprKind::This | ExprKind::Path(_));
            let place = match of_object {
                true => self.frame().and_then(|frame| frame.this.clone()),
                false => self.locate(variable).ok(),
            };
            if let Some(pointer) = place
                && let Target::Place(place) = &pointer.target
            {
                let words = "a write to what is not followed may have changed it";
                self.change_whole(
                    place,
                    Unknown::new(Reason::UnknownPointer, target.span, words),
                    target.span,
                );
            }
        }
        self.write_somewhere(target.span);
    }

    /// The type an initialiser on the right of `=` is for, where it may matter.
    fn type_of_target(&mut self, target: &Expr, value: &Expr) -> Ty {
        match (&target.kind, &value.kind) {
            (ExprKind::Local(_), _) | (_, ExprKind::InitList(_)) => self.type_of(target),
            _ if matches!(self.type_of(value), Ty::Record(_)) => self.type_of(target),
            _ => Ty::Unknown(nameless::AUTO.into()),
        }
    }

    /// `++x` and `x++`; the value is only of use if it is `wanted`.
    pub(super) fn step_variable(
        &mut self,
        expr: &Expr,
        target: &Expr,
        by: i8,
        (post, wanted): (bool, bool),
    ) -> Value {
        let is_behind = matches!(expr.kind, ExprKind::Step { post: true, .. });
        if let Some(value) = self.called_step(expr, by, target, is_behind) {
            return value;
        }
        if let ExprKind::Conditional(cond, then, otherwise) = &target.kind {
            return self.on_each_side(cond, then, otherwise, &mut |machine, side| {
                machine.step_variable(expr, side, by, (post, wanted))
            });
        }
        let pointer = match self.locate(target) {
            Ok(pointer) => pointer,
            Err(why) => {
                self.touch_named(target, AccessOp::Load);
                self.touch_named(target, AccessOp::Store);
                self.write_through(target);
                return Value::opaque(Variation::Maybe, why);
            }
        };
        let operation = if by > 0 { BinaryOp::Add } else { BinaryOp::Sub };
        if let Some(value) = self.atomic_assignment(&pointer, Some(operation), (expr.span, wanted)) {
            return value;
        }
        let old = self.read(&pointer, target.span);
        let new = self.binary(BinaryOp::Add, &old, &Value::int(i64::from(by)), target.span);
        let new = self.stepped(&old, new, &pointer.pointee);
        self.write(&pointer, new.clone(), target.span);
        self.note_update(&pointer, false);
        if post { old } else { self.convert(new, &pointer.pointee) }
    }

    /// A number as a variable of a type takes it, where the one before was so much less: a counter of 8 or 16 bits
    /// goes on. Whether it may go around, those who look at its loop ask.
    fn stepped(&self, old: &Value, new: Value, ty: &Ty) -> Value {
        match (old, &new, ty) {
            (Value::Int(before, _), Value::Int(after, _), Ty::Scalar(to))
                if to.is_integer()
                    && to.bytes() < 4
                    && self.world.sub(after, before).as_constant().is_some() =>
            {
                Value::Int(self.wrapped_to(after, *to), *to)
            }
            _ => new,
        }
    }
}

/// How a place leads to a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum By {
    /// It is the variable, or an element of it.
    Name,
    /// A call is given it, or its method is called, or it is the object of which the place is a member: that may
    /// refer to another.
    Call,
    /// The call operator of an object is given it: `i` in `view(i)`.
    CallOperator,
}

/// The variables that the calls in a place are given, and how.
fn given_to_calls<'e>(expr: &'e Expr, by: By, found: &mut Vec<(&'e Expr, By)>) {
    match &expr.kind {
        ExprKind::Local(_) | ExprKind::This if by != By::Name => found.push((expr, by)),
        ExprKind::Path(path) if path.qualifiers.is_empty() => found.push((expr, by)),
        ExprKind::Call { callee, args } => {
            let of_object = matches!(callee.kind, ExprKind::Local(_));
            let given = if of_object { By::CallOperator } else { By::Call };
            args.iter().for_each(|arg| given_to_calls(arg, given, found));
            if let ExprKind::Member { base, .. } = &callee.kind {
                given_to_calls(base, By::Call, found);
            }
        }
        ExprKind::Construct(_, items) | ExprKind::InitList(items) => {
            items.iter().for_each(|item| given_to_calls(item, By::Call, found));
        }
        ExprKind::Member { base: inner, arrow, .. } => {
            let is_object = !arrow || matches!(inner.kind, ExprKind::This);
            let by = if by == By::Name && is_object { By::Call } else { by };
            given_to_calls(inner, by, found);
        }
        ExprKind::Cast(_, inner) | ExprKind::Index(inner, _) | ExprKind::Deref(inner) => {
            given_to_calls(inner, by, found)
        }
        ExprKind::Comma(_, last) => given_to_calls(last, by, found),
        _ => {}
    }
}

/// Whether an expression only names a place, so that its value is copied as it is.
fn is_place(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Local(_)
        | ExprKind::Path(_)
        | ExprKind::Index(..)
        | ExprKind::Deref(_)
        | ExprKind::Member { .. } => true,
        ExprKind::Cast(_, inner) => is_place(inner),
        _ => false,
    }
}

/// Whether both are elements of what one name stands for.
fn is_element_of_same(one: &Expr, other: &Expr) -> bool {
    let (ExprKind::Index(one, _), ExprKind::Index(other, _)) = (&one.kind, &other.kind) else { return false };
    match (&one.kind, &other.kind) {
        (ExprKind::Local(one), ExprKind::Local(other)) => one == other,
        (ExprKind::Path(one), ExprKind::Path(other)) => one.name == other.name,
        _ => false,
    }
}

/// Whether both name one variable.
fn is_same_variable(one: &Expr, other: &Expr) -> bool {
    matches!(one.kind, ExprKind::Local(_) | ExprKind::Path(_)) && one.kind == other.kind
}

/// Whether an expression is made of other variables and numbers alone.
fn reads_no_place_of(expr: &Expr, variable: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Int(..) | ExprKind::Float(..) => true,
        ExprKind::Local(_) | ExprKind::Path(_) => !is_same_variable(expr, variable),
        ExprKind::Cast(_, inner) | ExprKind::Unary(_, inner) => reads_no_place_of(inner, variable),
        ExprKind::Binary(_, one, other) => {
            reads_no_place_of(one, variable) && reads_no_place_of(other, variable)
        }
        _ => false,
    }
}

/// Whether a value is the same for all lanes of a warp.
fn is_of_warp(value: &Value) -> bool {
    value.variation() <= Variation::OfWarp
}

/// Whether a value may be the same for all threads: it is, or it is not known, for another reason than that it is read.
fn may_be_of_all(value: &Value) -> bool {
    match value {
        Value::Opaque(Variation::Maybe, why, _) => why.reason != Reason::DataDependent,
        _ => value.variation() == Variation::Uniform,
    }
}

/// Whether a place is one for all threads, or data choose it: threads that write other things meet there. Where their
/// numbers tell, those that meet may write the same.
fn may_meet_others(place: &Pointer) -> bool {
    match &place.target {
        Target::Memory(_, Offset::Known(at)) => {
            at.is_uniform() || at.terms.iter().any(|(id, _)| id.is_per_thread())
        }
        Target::Memory(..) => true,
        Target::Place(_) => false,
    }
}

/// Whether an expression counts: `n + 1` is meant once for each thread, even if all of them make the same of it.
fn is_sum(value: &Expr) -> bool {
    let ExprKind::Binary(BinaryOp::Add | BinaryOp::Sub, one, other) = &value.kind else { return false };
    is_place(one) || is_place(other)
}
