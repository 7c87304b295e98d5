//! What may a write through a pointer change that is not followed?
//!
//! ```text
//! int i = 0, j = 0;
//! int *p = n > 3 ? &i : &j;      // not followed: it may lead to either
//! *p = threadIdx.x;              // neither `i` nor `j` is known from here on
//! ```
//!
//! A variable is *exposed* when its address has become a value, from where it may be lost. A write
//! to an unknown place may be one to any exposed variable.

use super::machine::{Exposed, Machine, Mode, slot_value};
use super::slots::{Slot, Slots};
use super::types::{Env, Ty};
use super::value::{Place, Pointer, Steps, Target, Value};
use crate::domain::{Reason, Unknown, Variation};
use crate::events::{Access, AccessOp};
use crate::ir::{Expr, ExprKind, Function, LocalId, Type};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// Notes that a pointer is a value, which may come to be one that is not followed.
    pub(super) fn expose(&mut self, pointer: &Pointer) {
        if let Target::Place(Place { frame, local, .. }) = pointer.target
            && self.mode == Mode::Device
            && !self.memory.exposed.contains(&(frame, local))
        {
            self.memory.exposed.push((frame, local));
        }
    }

    /// Writes to a place that is not known.
    pub(super) fn write_somewhere(&mut self, span: Span) {
        // It may lead to any array.
        self.compiler.registers.forget();
        self.may_access(span);
        for (frame, local) in self.memory.exposed.clone() {
            let place = Place { frame, local, path: Steps::new(), blurred: false };
            let words = "a write through a pointer that is not followed may have changed it";
            let why = Unknown::new(Reason::UnknownPointer, span, words);
            self.lose_variable(&place, why);
        }
    }

    /// A place that is not followed is read or written: it may lie in any shared array that is named there, or that an
    /// object named there leads to.
    pub(super) fn touch_named(&mut self, place: &Expr, op: AccessOp) {
        if self.mode != Mode::Device {
            return;
        }
        let mut named = Vec::new();
        leading(place, &mut named);
        let mut arrays: Vec<Pointer> = Vec::new();
        for expr in named {
            let whole = match &expr.kind {
                ExprKind::Local(local) => slot_value(&self.state, self.top(), *local),
                _ => match self.frame().and_then(|frame| frame.this.clone()) {
                    Some(this) => Value::Pointer(this),
                    None => continue,
                },
            };
            self.arrays_in(&whole, &mut arrays, 2);
        }
        for array in arrays {
            // What was found on the way there may be listed already.
            let inside = |span: Span| {
                span.file == place.span.file && place.span.start <= span.start && span.end <= place.span.end
            };
            let numbers = self.arrays_of(&array);
            let is_it =
                |access: &Access| access.op == op && numbers.contains(&access.array) && inside(access.span);
            if !self.trace.accesses.iter().any(is_it) {
                self.touch_unknown(&array, (op, None), "an expression that is not followed", place.span);
            }
        }
    }

    /// The shared arrays to which a value leads that is handed to something that is not followed.
    pub(super) fn touch_in(&mut self, value: &Value, who: &str, span: Span) {
        if self.mode != Mode::Device {
            return;
        }
        let mut arrays = Vec::new();
        self.arrays_in(value, &mut arrays, 2);
        for array in arrays {
            self.touch_unknown(&array, (AccessOp::Store, None), who, span);
        }
    }

    /// The shared arrays to which the arguments of a function lead, if it may hand them back in an object.
    pub(super) fn handed_arrays(
        &mut self,
        function: &Arc<Function>,
        env: &Rc<Env>,
        slots: &Slots,
    ) -> Vec<Pointer> {
        let mut arrays = Vec::new();
        let is_plain = matches!(function.return_type, Type::Void | Type::Scalar(_));
        if self.mode == Mode::Device && !is_plain {
            for param in &function.params {
                let slot = slots.get(param.local.0 as usize);
                slot.iter().for_each(|slot| self.arrays_in(&slot.value, &mut arrays, 2));
            }
        }
        if !arrays.is_empty() && matches!(function.return_type, Type::Named(_)) {
            let resolve = |machine: &mut Self| machine.resolve_type(&function.return_type);
            if matches!(self.within_head(function, Rc::clone(env), resolve), Ty::Scalar(_)) {
                arrays.clear();
            }
        }
        arrays
    }

    /// A function was given arrays, and what it handed back is not known: an object may lead to them, and who has it
    /// may access any element. Said of arrays of which nothing is known otherwise.
    pub(super) fn note_lost_in(&mut self, arrays: &[Pointer], result: &Value, name: &str, span: Span) {
        if !matches!(result, Value::Opaque(..)) {
            return;
        }
        for array in arrays {
            let numbers = self.arrays_of(array);
            if !self.trace.accesses.iter().any(|access| numbers.contains(&access.array)) {
                self.touch_unknown(array, (AccessOp::Store, None), name, span);
            }
        }
    }

    /// The pointers into shared memory that a value holds, or a variable that it leads to.
    fn arrays_in(&self, value: &Value, found: &mut Vec<Pointer>, depth: usize) {
        match value {
            Value::Pointer(pointer) => match &pointer.target {
                Target::Memory(..)
                    if self.is_shared(pointer)
                        && !found.iter().any(|it| self.arrays_of(it) == self.arrays_of(pointer)) =>
                {
                    found.push(pointer.clone());
                }
                Target::Place(place) if depth > 0 => {
                    let inside = slot_value(&self.state, place.frame, place.local);
                    self.arrays_in(&inside, found, depth - 1);
                }
                _ => {}
            },
            Value::Aggregate(parts) => parts.iter().for_each(|(_, part)| self.arrays_in(part, found, depth)),
            _ => {}
        }
    }

    /// What is read from a place that is not followed: a pointer may be any whose address is a value.
    pub(super) fn read_somewhere(&mut self, place: &Expr, why: Unknown) -> Value {
        self.compiler.registers.may_be_read();
        let of_exposed = |(frame, local): &(usize, LocalId)| slot_value(&self.state, *frame, *local);
        let is_pointer =
            |it: &Value| matches!(it, Value::Pointer(Pointer { target: Target::Memory(..), .. }));
        let pointers = self.memory.exposed.iter().map(of_exposed).filter(is_pointer);
        match pointers.reduce(|a, b| self.lost(&a, &b)) {
            Some(any) if matches!(self.type_of(place), Ty::Pointer(_)) => {
                self.anything(&any, Variation::Maybe, why)
            }
            _ => Value::opaque(Variation::Maybe, why),
        }
    }

    /// A reference to what is no followed place, if it is one to a place: what is read there is not
    /// known, and what is written there may be anything.
    pub(super) fn lost_reference(&mut self, target: &Expr) -> Option<Slot> {
        if self.mode != Mode::Device {
            return None;
        }
        let why = match &target.kind {
            ExprKind::Deref(_) | ExprKind::Index(..) if self.is_called_value(target) => return None,
            ExprKind::Deref(_) | ExprKind::Index(..) => {
                let why = self.locate(target).err()?;
                self.expose_named(target);
                why
            }
            ExprKind::Pack(_) => {
                self.evaluate(target);
                Unknown::new(Reason::Unsupported, target.span, "pack expansion")
            }
            ExprKind::Unsupported(what) => {
                self.evaluate(target);
                Unknown::new(Reason::Unsupported, target.span, *what)
            }
            ExprKind::Conditional(_, a, b) => {
                for side in [a, b] {
                    match self.locate(side) {
                        Ok(pointer) if matches!(pointer.target, Target::Place(_)) => self.expose(&pointer),
                        _ => return None,
                    }
                }
                Unknown::new(Reason::UnknownPointer, target.span, "a reference to either of two places")
            }
            _ => return None,
        };
        let ty = self.type_of(target);
        Some(Slot { value: Value::opaque(Variation::Maybe, why), ty, reference: true })
    }

    /// Notes that a place in one of the variables that are named there is a value.
    pub(super) fn expose_named(&mut self, place: &Expr) {
        let mut named = Vec::new();
        leading(place, &mut named);
        for expr in named.into_iter().filter(|expr| matches!(expr.kind, ExprKind::Local(_))) {
            if let Ok(pointer) = self.locate(expr) {
                self.expose(&pointer);
            }
        }
    }

    /// Takes out the variables of the frames from this one on.
    pub(super) fn unexpose(&mut self, from: usize) -> Exposed {
        let (gone, left) = self.memory.exposed.drain(..).partition(|(frame, _)| *frame >= from);
        self.memory.exposed = left;
        gone
    }
}

fn is_lost(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Unsupported(_) | ExprKind::Damaged => true,
        ExprKind::Comma(_, last) => is_lost(last),
        _ => false,
    }
}

/// The variables and objects that an lvalue leads from; what only tells which element is meant is none of them.
fn leading<'e>(expr: &'e Expr, found: &mut Vec<&'e Expr>) {
    match &expr.kind {
        ExprKind::Local(_) | ExprKind::This | ExprKind::Path(_) => found.push(expr),
        ExprKind::Index(inner, _)
        | ExprKind::Deref(inner)
        | ExprKind::Member { base: inner, .. }
        | ExprKind::Cast(_, inner)
        | ExprKind::AddressOf(inner)
        | ExprKind::Unary(_, inner)
        | ExprKind::Step { target: inner, .. }
        | ExprKind::Assign(_, inner, _) => leading(inner, found),
        // In front of what is not modelled stands what is named in it.
        ExprKind::Comma(first, last) => {
            if is_lost(last) {
                leading(first, found);
            }
            leading(last, found);
        }
        ExprKind::Binary(_, a, b) | ExprKind::Conditional(_, a, b) => {
            leading(a, found);
            leading(b, found);
        }
        ExprKind::Call { callee, args } => {
            leading(callee, found);
            // An element is handed over as a number, or its function is not followed, which lists it.
            let is_whole = |arg: &&Expr| !matches!(arg.kind, ExprKind::Index(..) | ExprKind::Deref(_));
            args.iter().filter(is_whole).for_each(|arg| leading(arg, found));
        }
        ExprKind::Construct(_, items) | ExprKind::InitList(items) => {
            items.iter().for_each(|item| leading(item, found));
        }
        _ => {}
    }
}
