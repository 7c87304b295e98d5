//! What does a list in braces make of an aggregate?
//!
//! Its items are given to the members in order, those of the bases first. A member that is itself an aggregate
//! takes as many of them as it has parts, where it has no braces of its own. What is left has its default
//! initialiser, or else is zero.

use super::construct::{Items, push_parts, unmade, value_of};
use super::machine::{Machine, Mode};
use super::members::BASES;
use super::same_type::same_type;
use super::types::{FieldLayout, Layout, Ty};
use super::value::{Pointer, Step, Steps, Target, Value};
use crate::domain::{Int, Reason, Unknown, Variation};
use crate::ir::{Expr, ExprKind, Scalar};
use crate::source::Span;
use smallvec::smallvec;
use std::rc::Rc;

/// The most elements of an array that are made without being written.
const ELEMENTS: i64 = 256;

impl Machine<'_> {
    /// An object of a class that is made member by member.
    pub(super) fn aggregate(&mut self, layout: &Rc<Layout>, items: &mut Items<'_>) -> Value {
        let span = items.span;
        items.lost |= self.mode == Mode::Device && items.named().is_some();
        if items.lost {
            items.rest.iter().for_each(|item| self.effects_of(item));
            items.rest = &[];
            return unmade(layout, span);
        }
        let mut parts = Vec::new();
        let mut missing = Vec::new();
        let mut own = layout.fields.as_slice();
        if let Some(record) = layout.record.clone().filter(|record| !record.bases.is_empty()) {
            let bases = self.bases(&record, &layout.env, BASES);
            let inherited = bases.iter().map(|base| base.fields.len()).sum::<usize>();
            if bases.len() != record.bases.len() || inherited > own.len() {
                items.lost = true;
                return self.aggregate(layout, items);
            }
            for base in bases {
                match self.subobject(&Ty::Record(Rc::clone(&base)), items) {
                    Value::Aggregate(inner) => parts.extend(inner.iter().cloned()),
                    other => {
                        let whole =
                            |it: &FieldLayout| (smallvec![Step::Member(it.name.clone())], other.clone());
                        parts.extend(base.fields.iter().map(whole));
                    }
                }
            }
            own = &own[inherited..];
        }
        let union = layout.record.as_ref().is_some_and(|record| record.union);
        for field in own {
            let is_other = items.named().is_some_and(|name| *name != field.name);
            if union && is_other {
                continue;
            }
            let value = match items.rest.first() {
                _ if items.lost => unmade(layout, span),
                Some(_) if !is_other => self.given_member(field, items),
                _ if self.has_default(layout, field) => {
                    missing.push(field);
                    continue;
                }
                _ => self.empty(&field.ty, span),
            };
            push_parts(&mut parts, Step::Member(field.name.clone()), value);
            if union {
                break;
            }
        }
        // In another order than the members, or of one that is not known.
        if items.named().is_some() {
            items.lost = true;
            return self.aggregate(layout, items);
        }
        let value = Value::Aggregate(Rc::new(parts));
        if missing.is_empty() { value } else { self.with_defaults(layout, value, &missing) }
    }

    fn given_member(&mut self, field: &FieldLayout, items: &mut Items<'_>) -> Value {
        if field.reference {
            return match items.next() {
                Some(item) => self.bound(item, &field.ty),
                None => Value::Undefined,
            };
        }
        if field.bit_field {
            let variation = items.next().map_or(Variation::Uniform, |item| self.evaluate(item).variation());
            return Value::opaque(variation, Unknown::new(Reason::Unsupported, items.span, "a bit-field"));
        }
        self.subobject(&field.ty, items)
    }

    /// A member, base or element: of the next item, or of as many as it has parts.
    fn subobject(&mut self, ty: &Ty, items: &mut Items<'_>) -> Value {
        let Some(first) = items.rest.first().map(value_of) else { return self.empty(ty, items.span) };
        if self.takes_several(ty, first) {
            return match ty {
                Ty::Record(layout) => self.aggregate(&Rc::clone(layout), items),
                Ty::Array(element, length) => {
                    let length = length.as_ref().and_then(|length| length.as_constant());
                    self.elements(&Rc::clone(element), length, items)
                }
                _ => Value::Undefined,
            };
        }
        items.next();
        let value = self.initial(first, ty);
        let whole = matches!(value, Value::Aggregate(_)) || matches!(first.kind, ExprKind::InitList(_));
        // Braces may have been left out.
        items.lost |= !whole && self.is_aggregate(ty) && matches!(self.type_of(first), Ty::Unknown(_));
        self.convert(value, ty)
    }

    /// An array made of a list.
    pub(super) fn elements(&mut self, element: &Ty, length: Option<i64>, items: &mut Items<'_>) -> Value {
        let mut parts = Vec::new();
        let mut at = 0;
        while !items.rest.is_empty() && length.is_none_or(|length| at < length) {
            let before = items.rest.len();
            let value = self.subobject(element, items);
            if items.lost || items.rest.len() == before {
                let why =
                    Unknown::new(Reason::Unsupported, items.span, "a list in which braces may be left out");
                return Value::opaque(Variation::Maybe, why);
            }
            push_parts(&mut parts, Step::Index(at), value);
            at += 1;
        }
        let length = length.unwrap_or(0).min(ELEMENTS);
        if at < length {
            let empty = self.empty(element, items.span);
            (at..length).for_each(|at| push_parts(&mut parts, Step::Index(at), empty.clone()));
        }
        Value::Aggregate(Rc::new(parts))
    }

    /// Whether an object without braces of its own takes several items of the list around, of which this is the
    /// first.
    pub(super) fn takes_several(&mut self, ty: &Ty, first: &Expr) -> bool {
        if !self.is_aggregate(ty) || matches!(first.kind, ExprKind::InitList(_) | ExprKind::Str(_)) {
            return false;
        }
        match (ty, self.type_of(first)) {
            (_, Ty::Scalar(_) | Ty::Pointer(_)) => true,
            (Ty::Record(_), of @ Ty::Record(_)) => same_type(ty, &of) == Some(false),
            (Ty::Array(..), Ty::Record(_)) => true,
            _ => false,
        }
    }

    fn is_aggregate(&self, ty: &Ty) -> bool {
        match ty {
            Ty::Array(..) => true,
            Ty::Record(layout) => &*layout.name != "dim3" && !self.has_constructors(layout),
            _ => false,
        }
    }

    fn has_default(&self, layout: &Layout, field: &FieldLayout) -> bool {
        let own = layout.record.iter().flat_map(|record| &record.fields);
        own.into_iter().any(|it| it.name == field.name && it.init.is_some())
    }

    /// Adds what members have by default: an initialiser may name those before it.
    fn with_defaults(&mut self, layout: &Rc<Layout>, value: Value, missing: &[&FieldLayout]) -> Value {
        let Some(record) = layout.record.clone() else { return value };
        let whole = self.with_temporary(value, Ty::Record(Rc::clone(layout)), |machine, object| {
            for field in missing {
                let init =
                    record.fields.iter().find(|it| it.name == field.name).and_then(|it| it.init.as_ref());
                let Some(init) = init else { continue };
                machine.initialise_member(layout, object, (field, init));
            }
            machine.read(object, super::value::NOWHERE)
        });
        whole.map_or(Value::Undefined, |whole| self.without_itself(whole, layout))
    }

    /// Runs the default initialiser of a member.
    pub(super) fn initialise_member(
        &mut self,
        layout: &Rc<Layout>,
        object: &Pointer,
        (field, init): (&FieldLayout, &Expr),
    ) {
        let Some(record) = &layout.record else { return };
        self.within(Rc::clone(&layout.env), &record.namespace, |machine| {
            if let Some(frame) = machine.state.frames.last_mut() {
                frame.this = Some(object.clone());
            }
            if field.reference {
                let bound = machine.bound(init, &field.ty);
                if let Target::Place(place) = &object.target {
                    let mut place = place.clone();
                    place.path.push(Step::Member(field.name.clone()));
                    machine.write_place(&place, bound);
                }
                return;
            }
            let value = machine.initial(init, &field.ty);
            if let Ok(place) = machine.member(object.clone(), &field.name, init.span) {
                machine.write(&place, value, init.span);
            }
        });
    }

    /// What `{}` makes.
    fn empty(&mut self, ty: &Ty, span: Span) -> Value {
        match ty {
            Ty::Record(layout) if self.is_aggregate(ty) => {
                let layout = Rc::clone(layout);
                self.aggregate(&layout, &mut Items::new(&[], span))
            }
            Ty::Record(_) if self.mode == Mode::Device => self.made_by_default(ty, span),
            Ty::Record(layout) if &*layout.name == "dim3" => {
                let ones = layout.fields.iter().map(|field| -> (Steps, Value) {
                    (smallvec![Step::Member(field.name.clone())], Value::Int(Int::constant(1), Scalar::U32))
                });
                Value::Aggregate(Rc::new(ones.collect()))
            }
            Ty::Record(layout) => unmade(layout, span),
            Ty::Array(element, length) => {
                let length = length.as_ref().and_then(|length| length.as_constant());
                let element = Rc::clone(element);
                self.elements(&element, length, &mut Items::new(&[], span))
            }
            Ty::Unknown(_) => {
                let what = format!("an object of type `{}`", ty.describe());
                Value::opaque(Variation::Maybe, Unknown::new(Reason::UnknownType, span, what))
            }
            _ => {
                let zero = Value::int(0);
                self.convert(zero, ty)
            }
        }
    }

    fn effects_of(&mut self, item: &Expr) {
        match &item.kind {
            ExprKind::InitList(items) => items.iter().for_each(|item| self.effects_of(item)),
            _ => {
                self.evaluate(item);
            }
        }
    }
}
