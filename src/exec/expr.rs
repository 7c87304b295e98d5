//! What does an expression evaluate to, for all threads at once?

use super::converted::Wanted;
use super::interior::Leaving;
use super::machine::{Machine, Mode};
use super::tree::Together;
use super::types::{Binding, FieldLayout, Ty};
use super::value::{Pointer, Step, Target, Value};
use crate::domain::{Int, Origin, Reason, Unknown, Variation};
use crate::events::AccessOp;
use crate::ir::visit::children;
use crate::ir::{Asm, BinaryOp, Expr, ExprKind, Name, Path, Scalar, Type, UnaryOp};
use crate::source::Span;
use smallvec::smallvec;
use std::rc::Rc;

impl Machine<'_> {
    /// Evaluates an expression, with its effects.
    pub(crate) fn evaluate(&mut self, expr: &Expr) -> Value {
        let value = self.evaluate_uncopied(expr);
        match value {
            Value::Closure(..) => {
                self.note_copied(expr, &value);
                value
            }
            Value::Aggregate(_) => self.copied(expr, value),
            _ => value,
        }
    }

    /// The same, of an object that is used where it lies.
    pub(super) fn evaluate_uncopied(&mut self, expr: &Expr) -> Value {
        let value = self.evaluate_as_written(expr);
        let value = if self.settings.longer.is_empty() { value } else { self.longer(expr, value) };
        if self.settings.pitch.is_none() { value } else { self.pitched(expr, value) }
    }

    pub(super) fn evaluate_as_written(&mut self, expr: &Expr) -> Value {
        if !self.step(expr.span) {
            return Value::opaque(
                Variation::Maybe,
                Unknown::new(Reason::Budget, expr.span, "the budget ran out"),
            );
        }
        match &expr.kind {
            ExprKind::Int(value, scalar) => Value::Int(Int::constant(*value as i64), *scalar),
            ExprKind::Float(value, scalar) => super::operators::float(value.value(), *scalar),
            ExprKind::Null => Value::Int(Int::constant(0), Scalar::I64),
            ExprKind::Local(local) => self.read_variable(*local).unwrap_or_else(|| self.read_lvalue(expr)),
            ExprKind::Index(..) | ExprKind::Deref(_) => match self.called_value(expr) {
                Some(value) => value,
                None => self.read_lvalue(expr),
            },
            ExprKind::This => self.read_lvalue(expr),
            ExprKind::Path(path) => self.evaluate_path(expr, path),
            ExprKind::Member { base, name, .. } => self.evaluate_member(expr, base, name),
            ExprKind::Unary(op, inner) => self.unary_expression(expr, *op, inner),
            ExprKind::Binary(op, a, b) => self.binary_expression(expr, *op, a, b),
            ExprKind::Assign(op, target, value) => self.assign(*op, target, value, expr, true),
            ExprKind::Step { target, by, post } => self.step_variable(expr, target, *by, (*post, true)),
            ExprKind::Conditional(cond, then, otherwise) => self.conditional(cond, then, otherwise),
            ExprKind::Comma(a, b) => self.comma(expr, a, b),
            ExprKind::AddressOf(inner) => self.address_of(inner),
            ExprKind::Cast(Type::Reference(_), _) => self.read_lvalue(expr),
            ExprKind::Cast(Type::Auto, inner) => self.evaluate(inner),
            ExprKind::Cast(ty, inner) => self.cast(ty, inner),
            ExprKind::Construct(ty, args) => self.construct_written(ty, args, expr.span),
            ExprKind::InitList(items) => {
                let parts = items.iter().enumerate();
                let parts = parts.map(|(at, item)| (smallvec![Step::Index(at as i64)], self.evaluate(item)));
                Value::Aggregate(Rc::new(parts.collect()))
            }
            ExprKind::Designated(_, value) => {
                self.evaluate(value);
                self.not_run(Reason::Unsupported, "designated initialiser", expr.span)
            }
            ExprKind::SizeofType(ty) => self.size_of_type(ty, expr.span),
            ExprKind::SizeofExpr(inner) => self.size_of_expression(inner, expr.span),
            ExprKind::SizeofPack(pack) => self.pack_length(pack),
            ExprKind::Expansion(_) => {
                let why = Unknown::new(Reason::Unsupported, expr.span, "pack expansion");
                Value::opaque(Variation::Maybe, why)
            }
            ExprKind::Pack(pack) => match self.written_out(expr) {
                Some(out) if !matches!(out.kind, ExprKind::Pack(_)) => self.evaluate(&out),
                _ => self.evaluate(&pack.otherwise),
            },
            ExprKind::AlignofType(ty) => {
                let ty = self.resolve_type(ty);
                Value::Int(Int::constant(ty.align() as i64), Scalar::U64)
            }
            ExprKind::Offsetof(ty, member) => self.member_offset(ty, member),
            ExprKind::Call { callee, args } => self.call_and_note(expr, callee, args),
            ExprKind::Launch(launch) => {
                self.launch(launch, expr.span);
                Value::Undefined
            }
            ExprKind::Lambda(lambda) => self.closure(lambda),
            ExprKind::Asm(asm) => {
                self.assembly(asm, expr.span);
                Value::Undefined
            }
            ExprKind::Str(_) => {
                Value::opaque(Variation::Uniform, Unknown::new(Reason::Unsupported, expr.span, "a string"))
            }
            ExprKind::Unsupported(what) => {
                self.lose_unfollowed(&Unknown::new(Reason::Unsupported, expr.span, *what));
                self.not_run(Reason::Unsupported, what, expr.span)
            }
            ExprKind::Damaged => self.not_run(Reason::Damaged, "an expression that did not parse", expr.span),
        }
    }

    fn call_and_note(&mut self, expr: &Expr, callee: &Expr, args: &[Expr]) -> Value {
        let value = self.call(expr, callee, args, true);
        self.note_inner_branches(expr);
        value
    }

    fn size_of_type(&mut self, ty: &Type, span: Span) -> Value {
        let ty = self.resolve_type(ty);
        self.size_value(&ty, span)
    }

    fn unary_expression(&mut self, expr: &Expr, op: UnaryOp, inner: &Expr) -> Value {
        if let Some(value) = self.called_unary(expr, op, inner) {
            return value;
        }
        let value = if op == UnaryOp::Not { self.as_truth(inner) } else { self.evaluate(inner) };
        self.unary(op, value, expr.span)
    }

    fn binary_expression(&mut self, expr: &Expr, op: BinaryOp, a: &Expr, b: &Expr) -> Value {
        match op {
            BinaryOp::LogicalAnd => return self.short_circuit(a, b, true, expr.span),
            BinaryOp::LogicalOr => return self.short_circuit(a, b, false, expr.span),
            BinaryOp::Shl if self.is_pitch(b) => {
                let a = self.evaluate(a);
                return self.shifted_pitch(&a, b, expr.span);
            }
            _ => {}
        }
        if let Some(value) = self.called_binary(expr, op, a, b) {
            return value;
        }
        if let Some(aligned) = self.aligned_address(op, a, b, expr.span) {
            return aligned;
        }
        let (left, right) = (self.operand(a), self.operand(b));
        self.host_extraction(op, a, b);
        self.note_inner_branches(expr);
        self.binary(op, &left, &right, expr.span)
    }

    fn comma(&mut self, expr: &Expr, a: &Expr, b: &Expr) -> Value {
        if let Some(value) = self.called_comma(expr, a, b) {
            return value;
        }
        self.discard(a);
        self.evaluate(b)
    }

    fn address_of(&mut self, inner: &Expr) -> Value {
        match self.locate(inner) {
            Ok(pointer) => {
                self.expose(&pointer);
                Value::Pointer(pointer)
            }
            Err(why) => match &inner.kind {
                ExprKind::Path(path) if !self.program.functions(&path.name).is_empty() => {
                    self.function_named(path)
                }
                _ => Value::opaque(Variation::Maybe, why),
            },
        }
    }

    fn cast(&mut self, ty: &Type, inner: &Expr) -> Value {
        let written = ty;
        let ty = self.resolve_type(ty);
        if matches!(ty, Ty::Unknown(_)) && self.may_be_operator(written, inner) {
            self.evaluate(inner);
            let words = "a name in parentheses, which may be a type or a number";
            return Value::opaque(Variation::Maybe, Unknown::new(Reason::Unsupported, inner.span, words));
        }
        // `static_cast<Wide>(narrow)` makes an object as `Wide(narrow)` does.
        if let Ty::Record(layout) = &ty
            && let Some(made) = self.of_other_class(layout, inner)
        {
            return made;
        }
        let value = match ty {
            Ty::Scalar(Scalar::Bool) => self.as_truth(inner),
            Ty::Scalar(_) | Ty::Pointer(_) => self.evaluate_as(inner, Wanted::This(&ty)),
            _ => self.evaluate(inner),
        };
        if let (Value::Pointer(pointer), Ty::Pointer(_)) = (&value, &ty) {
            self.note_flattened_by_cast(pointer, &ty);
        }
        // Unlike a conversion that nobody wrote, a cast may be to any type.
        let unknown = match &ty {
            Ty::Pointer(to) if matches!(**to, Ty::Unknown(_)) => Some((**to).clone()),
            Ty::Unknown(_) => Some(ty.clone()),
            _ => None,
        };
        match (self.convert(value, &ty), unknown) {
            (Value::Pointer(pointer), unknown) => {
                let volatile = self.cast_is_volatile(written, pointer.volatile);
                let pointee = unknown.unwrap_or_else(|| pointer.pointee.clone());
                Value::Pointer(Pointer { pointee, volatile, ..pointer })
            }
            (value, _) => value,
        }
    }

    /// Whether `(name) - x` may as well be a difference: nothing says that the name is a type.
    fn may_be_operator(&self, ty: &Type, inner: &Expr) -> bool {
        let Type::Named(path) = ty else { return false };
        let is_param = path.qualifiers.is_empty()
            && self
                .frame()
                .is_some_and(|frame| matches!(frame.env.bindings.get(&path.name), Some(Binding::Type(_))));
        let is_sign = matches!(
            inner.kind,
            ExprKind::Unary(UnaryOp::Neg | UnaryOp::Plus, _) | ExprKind::Deref(_) | ExprKind::AddressOf(_)
        );
        is_sign && !is_param
    }

    /// `sizeof expression`
    fn size_of_expression(&mut self, inner: &Expr, span: Span) -> Value {
        let ty = match &inner.kind {
            ExprKind::Path(path) => self.type_named_or_of(path),
            _ => self.type_of(inner),
        };
        self.size_value(&ty, span)
    }

    /// `offsetof(type, member)`
    fn member_offset(&mut self, ty: &Type, member: &Name) -> Value {
        let ty = self.resolve_type(ty);
        let offset = match &ty {
            Ty::Record(layout) => layout.field(member).and_then(FieldLayout::begins),
            _ => None,
        };
        match offset {
            Some(offset) => Value::Int(offset, Scalar::U64),
            None => self.uniform_unknown(&format!("offsetof({}, {member})", ty.describe())),
        }
    }

    /// An expression whose inside is not run.
    fn not_run(&mut self, reason: Reason, what: &'static str, span: Span) -> Value {
        self.may_access(span);
        self.may_order(span);
        self.may_wait(what, span);
        if reason == Reason::Unsupported && !self.memory.exposed.is_empty() {
            self.write_somewhere(span);
        }
        Value::opaque(Variation::Maybe, Unknown::new(reason, span, what))
    }

    /// Evaluates for the effect alone: a plain lvalue is not read.
    pub(crate) fn discard(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Construct(..) | ExprKind::Call { .. } if self.make_and_destroy(expr) => {}
            // What the reference leads to is not read that a function or an operator hands back.
            ExprKind::Call { .. }
            | ExprKind::Assign(..)
            | ExprKind::Binary(..)
            | ExprKind::Unary(..)
            | ExprKind::Step { .. }
                if self.discards_place(expr) => {}
            ExprKind::Call { callee, args } => {
                self.call(expr, callee, args, false);
            }
            ExprKind::Cast(Type::Void, inner) => self.discard(inner),
            ExprKind::Comma(a, b) => {
                if self.called_comma(expr, a, b).is_none() {
                    self.discard(a);
                    self.discard(b);
                }
            }
            ExprKind::Conditional(cond, a, b) => {
                let (_, truth) = self.tested(cond, Leaving::No);
                self.fork(
                    &truth,
                    cond.span,
                    &mut |m, side| m.discard(if side { a } else { b }),
                    [false, false],
                );
            }
            ExprKind::Binary(op @ (BinaryOp::LogicalAnd | BinaryOp::LogicalOr), a, b) => {
                let (_, truth) = self.tested(a, Leaving::No);
                let and = *op == BinaryOp::LogicalAnd;
                let mut second = |machine: &mut Self, side: bool| {
                    if side == and {
                        machine.discard(b);
                    }
                };
                self.fork(&truth, a.span, &mut second, [!and, and]);
            }
            ExprKind::Step { target, by, .. } => {
                // The value is not used, so `x++` reads once like `++x`.
                self.step_variable(expr, target, *by, (false, false));
            }
            ExprKind::Local(_) | ExprKind::Path(_) => {}
            // Nor is an object that is merely named.
            ExprKind::Index(..) | ExprKind::Deref(_) | ExprKind::Member { .. }
                if self.mode == Mode::Device && matches!(self.type_of(expr), Ty::Record(_)) =>
            {
                if self.locate(expr).is_err() {
                    self.evaluate(expr);
                }
            }
            ExprKind::Assign(op, target, value)
                if self.is_data(target) && !(op.is_none() && self.is_called_assignment(target, value)) =>
            {
                self.note_inner_branches(expr);
                self.assigned_effects(value, target);
                self.effects(target);
                self.compiler.writes += 1;
            }
            ExprKind::Asm(asm) if self.settings.pitch.is_none() && self.computes_data(asm) => {
                asm.inputs.iter().for_each(|(_, value)| self.effects(value));
                self.compiler.writes += asm.outputs.len() as u64;
            }
            // With a pitch, what an expression is bears on it.
            ExprKind::Assign(op, target, value) if self.settings.pitch.is_none() => {
                if self.step(expr.span) {
                    self.assign(*op, target, value, expr, false);
                }
            }
            _ => {
                self.evaluate(expr);
            }
        }
    }

    /// Whether a place is of no concern to requests and barriers.
    fn is_data(&self, target: &Expr) -> bool {
        self.frame().is_some_and(|frame| frame.slice.is_data(target))
    }

    /// Whether inline assembly does nothing but compute such.
    fn computes_data(&self, asm: &Asm) -> bool {
        crate::slice::is_arithmetic(asm) && asm.outputs.iter().all(|(_, target)| self.is_data(target))
    }

    fn acts(&self, expr: &Expr) -> bool {
        self.frame().is_none_or(|frame| frame.slice.acts(expr, self.program))
    }

    /// Evaluates the parts of an expression that may do something; its value is of no concern.
    pub(super) fn effects(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Assign(..) | ExprKind::Step { .. } => self.discard(expr),
            ExprKind::AddressOf(inner) => {
                if self.locate(inner).is_err() {
                    self.effects(inner);
                }
            }
            ExprKind::SizeofExpr(_) => {}
            // Not all threads evaluate all of it.
            ExprKind::Conditional(..) | ExprKind::Binary(BinaryOp::LogicalAnd | BinaryOp::LogicalOr, ..) => {
                self.evaluate(expr);
            }
            _ if self.acts(expr) => {
                self.evaluate(expr);
            }
            // What is behind it would be read otherwise.
            ExprKind::Cast(Type::Reference(ty), _) if self.names_volatile(ty) => {
                self.evaluate(expr);
            }
            _ => {
                let global = self.frame().is_some_and(|frame| frame.slice.reaches_global(expr));
                self.compiler.elsewhere += u64::from(global);
                let is_operand = matches!(expr.kind, ExprKind::Binary(..));
                children(expr, &mut |child| {
                    if !is_operand || self.converted_in_place(child, Wanted::Operand).is_none() {
                        self.effects(child);
                    }
                });
                self.note_inner_branches(expr);
                if super::straight::may_exchange(expr) {
                    self.warp_order(Together::Warp, false, expr.span);
                }
            }
        }
    }

    fn size_value(&mut self, ty: &Ty, span: Span) -> Value {
        match self.size_of(ty, span) {
            Ok(size) => Value::Int(size, Scalar::U64),
            Err(_) => Value::Int(self.open_size(ty), Scalar::U64),
        }
    }

    /// A number that is not known but the same for every thread.
    pub(crate) fn uniform_unknown(&mut self, name: &str) -> Value {
        let id = self.world.symbols.fresh(name.to_string().into(), Origin::Given, None, None);
        Value::Int(Int::symbol(id), Scalar::I32)
    }

    fn read_lvalue(&mut self, expr: &Expr) -> Value {
        if matches!(expr.kind, ExprKind::This) {
            return match self.locate(expr) {
                Ok(pointer) => {
                    self.expose(&pointer);
                    Value::Pointer(pointer)
                }
                Err(why) => Value::opaque(Variation::Uniform, why),
            };
        }
        match self.locate(expr) {
            Ok(pointer) => self.read(&pointer, expr.span),
            Err(why) => {
                match expr.kind {
                    // A reference that is not followed.
                    ExprKind::Local(_) => self.reads_unrecorded(expr.span),
                    _ => {
                        self.may_read(expr);
                        self.touch_named(expr, AccessOp::Load);
                    }
                }
                self.read_somewhere(expr, why)
            }
        }
    }

    fn evaluate_path(&mut self, expr: &Expr, path: &Path) -> Value {
        if let Some(value) = self.coordinates(path) {
            return value;
        }
        if path.qualifiers.is_empty()
            && !path.global
            && let Some(place) = self.own_member(&path.name, expr.span)
        {
            return match place {
                Ok(pointer) => self.read(&pointer, expr.span),
                Err(why) => {
                    self.reads_unrecorded(expr.span);
                    Value::opaque(Variation::Maybe, why)
                }
            };
        }
        match self.lookup(path, expr.span) {
            // A file-scope variable in memory: its value is read.
            Value::Pointer(pointer) => self.read(&pointer, expr.span),
            value => value,
        }
    }

    fn evaluate_member(&mut self, expr: &Expr, base: &Expr, name: &str) -> Value {
        if let ExprKind::Path(path) = &base.kind
            && let Some(value) = self.coordinate(path, name)
        {
            return value;
        }
        let value = self.read_member(expr, base, name);
        self.warp_size_of(base, name, value)
    }

    fn read_member(&mut self, expr: &Expr, base: &Expr, name: &str) -> Value {
        let place = self.locate(expr);
        if !matches!(&place, Ok(place) if !matches!(place.pointee, Ty::Unknown(_)))
            && let Some(constant) = self.constant_of_class(base, name)
        {
            return constant;
        }
        match place {
            Ok(place) => self.read(&place, expr.span),
            Err(why) => match self.evaluate(base) {
                Value::Aggregate(parts) => {
                    let step = [Step::Member(name.into())];
                    let part = parts.iter().find(|(path, _)| path.as_slice() == step).map(|(_, v)| v.clone());
                    part.unwrap_or(Value::opaque(Variation::Maybe, why))
                }
                Value::Opaque(variation, why, ..) => {
                    self.may_read(expr);
                    Value::opaque(variation, why)
                }
                Value::Int(int, _) if int.is_uniform() => self.uniform_unknown(name),
                _ => Value::opaque(Variation::Maybe, why),
            },
        }
    }

    /// Notes a cast of a row or of a whole array to another pointer type as a use that rests on
    /// the distance between rows, unless it only widens the access (`float*` to `float4*`).
    fn note_flattened_by_cast(&mut self, pointer: &Pointer, _ty: &Ty) {
        if matches!(pointer.pointee, Ty::Array(..)) {
            self.note_flattened(pointer);
        }
    }

    /// The pointer behind a value, for intrinsics.
    #[must_use]
    pub(crate) fn as_pointer(value: &Value) -> Option<&Pointer> {
        match value {
            Value::Pointer(pointer @ Pointer { target: Target::Memory(..), .. }) => Some(pointer),
            _ => None,
        }
    }
}
