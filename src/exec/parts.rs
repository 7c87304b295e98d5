//! Of which part of a variable does a pointer speak, and what else lies there?
//!
//! A local variable is kept as the values of its parts, each under its way from the top. A pointer
//! into it may not keep to that: it may be read as another type, run past the end of a member, or lead
//! to a member of a union. Such a place is *blurred*: what is written there may change any part of the
//! variable, and what is read there is not known.
//!
//! ```text
//! int4 a;   (&a.x)[2] = t;                        // some part of `a`
//! int v;    char *c = (char *)&v;  c[0] = 32;     // some part of `v`
//! ```

use super::machine::{Machine, Mode, slot_value};
use super::types::{FieldLayout, Layout, Ty};
use super::value::{Place, Step, Steps, Value};
use crate::domain::{Reason, Unknown, Variation};
use crate::ir::Scalar;
use crate::source::Span;
use smallvec::smallvec;
use std::rc::Rc;

impl Machine<'_> {
    /// The type that a part of a variable is declared with, if it is known.
    pub(super) fn type_of_place(&self, place: &Place) -> Option<Ty> {
        if place.blurred {
            return None;
        }
        let slot = self.state.frames.get(place.frame)?.slots.get(place.local.0 as usize)?;
        if slot.reference {
            return None;
        }
        match walk(&slot.ty, &place.path) {
            Way::To(ty) => Some(ty),
            Way::Unknown | Way::Nowhere => None,
        }
    }

    /// The place, blurred if what it is used as is not what lies there.
    pub(super) fn as_used(&self, place: &Place, used_as: &Ty) -> Place {
        let slot = self.state.frames.get(place.frame).and_then(|f| f.slots.get(place.local.0 as usize));
        let Some(slot) = slot.filter(|slot| !slot.reference && self.mode == Mode::Device) else {
            return place.clone();
        };
        if place.blurred || slot.ty.is_array_of_data() {
            return place.clone();
        }
        let fits = match walk(&slot.ty, &place.path) {
            Way::To(ty) => is_compatible(&ty, used_as),
            Way::Unknown => true,
            Way::Nowhere => false,
        };
        match fits {
            true => place.clone(),
            false => Place { path: Steps::new(), blurred: true, ..place.clone() },
        }
    }

    /// Any part of a variable may have changed.
    pub(super) fn change_whole(&mut self, place: &Place, why: Unknown, span: Span) {
        let leads_on = self.leads_on(place);
        let whole = Place { path: Steps::new(), blurred: false, ..place.clone() };
        self.lose_variable(&whole, why);
        if leads_on {
            self.write_somewhere(span);
        }
    }

    /// Pointers in a variable may be followed, and what they lead to may have changed; it stays itself as it is.
    pub(super) fn change_beyond(&mut self, place: &Place, span: Span) {
        if self.leads_on(place) {
            self.write_somewhere(span);
        }
    }

    fn leads_on(&self, place: &Place) -> bool {
        let slot = self.state.frames.get(place.frame).and_then(|f| f.slots.get(place.local.0 as usize));
        slot.is_some_and(|slot| holds_pointer(&slot.value) || holds_lambda(&slot.value))
    }

    /// A variable holds what is not known; its pointers may lead anywhere in the array that they led to, or
    /// to another: what goes through them is still an access.
    pub(super) fn lose_variable(&mut self, whole: &Place, why: Unknown) {
        let value = slot_value(&self.state, whole.frame, whole.local);
        let forgotten = self.forgotten(&value, &why);
        self.write_place(whole, forgotten);
    }

    /// What may be in the place of a value that is not followed further.
    fn forgotten(&self, value: &Value, why: &Unknown) -> Value {
        match value {
            Value::Aggregate(parts) if holds_pointer(value) => {
                let parts = parts.iter().map(|(way, part)| (way.clone(), self.forgotten(part, why)));
                Value::Aggregate(Rc::new(parts.collect()))
            }
            _ => self.anything(value, Variation::Maybe, why.clone()),
        }
    }

    /// The ways to the parts of a variable that share bytes with a part of it.
    pub(super) fn overlapping(&self, place: &Place) -> Vec<Steps> {
        let mut found = Vec::new();
        let slot = self.state.frames.get(place.frame).and_then(|f| f.slots.get(place.local.0 as usize));
        let Some(slot) = slot.filter(|slot| !slot.reference) else { return found };
        let mut ty = slot.ty.clone();
        for (at, step) in place.path.iter().enumerate() {
            if let (Ty::Record(layout), Step::Member(name)) = (&ty, step)
                && layout.overlaps
            {
                for field in layout.fields.iter().filter(|field| field.name != *name) {
                    if layout.field(name).is_none_or(|this| share_bytes(this, field)) {
                        let mut way = Steps::from(&place.path[..at]);
                        way.push(Step::Member(field.name.clone()));
                        found.push(way);
                    }
                }
            }
            match walk(&ty, &smallvec![step.clone()]) {
                Way::To(inner) => ty = inner,
                _ => break,
            }
        }
        found
    }

    /// Whether a part is a bit-field, whose values wrap at a width that is not modelled.
    pub(super) fn is_bit_field(&self, place: &Place) -> bool {
        let Some((Step::Member(name), before)) = place.path.split_last() else { return false };
        let outer = Place { path: Steps::from(before), ..place.clone() };
        match self.type_of_place(&outer) {
            Some(Ty::Record(layout)) => layout.field(name).is_some_and(|field| field.bit_field),
            _ => false,
        }
    }
}

/// What is known of one part of a variable, of all that is. Where a whole was lost and parts of it were written
/// since, the others are as lost as it.
pub(super) fn part_at(parts: &[(Steps, Value)], path: &[Step]) -> Option<Value> {
    let below = parts.iter().filter(|(way, _)| way.starts_with(path));
    let mut below: Vec<(Steps, Value)> =
        below.map(|(way, value)| (Steps::from(&way[path.len()..]), value.clone())).collect();
    if let [(way, value)] = below.as_slice()
        && way.is_empty()
    {
        return Some(value.clone());
    }
    let around = lost_around(parts, path);
    if below.is_empty() {
        return around;
    }
    if below.iter().all(|(way, _)| !way.is_empty()) {
        below.extend(around.map(|around| (Steps::new(), around)));
    }
    Some(Value::Aggregate(Rc::new(below)))
}

/// What the least whole around a part holds that is not known in parts.
pub(super) fn lost_around(parts: &[(Steps, Value)], path: &[Step]) -> Option<Value> {
    let around = parts.iter().filter(|(way, _)| way.len() < path.len() && path.starts_with(way));
    let (_, whole) = around.max_by_key(|(way, _)| way.len())?;
    Some(match whole {
        Value::Opaque(..) => whole.clone(),
        other => blurred_write(other.variation().max(Variation::Maybe)),
    })
}

/// An object whose parts are made of those of two. What only one of them has was never written in the other, unless a
/// whole around it was lost there.
pub(super) fn merge_parts(
    x: &[(Steps, Value)],
    y: &[(Steps, Value)],
    mut merge: impl FnMut(&Value, &Value) -> Value,
) -> Value {
    let mut merged: Vec<(Steps, Value)> = Vec::with_capacity(x.len());
    for (at, (path, left)) in x.iter().enumerate() {
        // Mostly they are in the same order.
        let beside = y.get(at).filter(|(other, _)| other == path);
        let right = beside.or_else(|| y.iter().find(|(other, _)| other == path));
        let value = match right {
            Some((_, right)) => merge(left, right),
            None => lost_around(y, path).map_or_else(|| left.clone(), |right| merge(left, &right)),
        };
        merged.push((path.clone(), value));
    }
    for (at, (path, right)) in y.iter().enumerate() {
        let beside = x.get(at).is_some_and(|(other, _)| other == path);
        if !beside && !x.iter().any(|(other, _)| other == path) {
            let value = lost_around(x, path).map_or_else(|| right.clone(), |left| merge(&left, right));
            merged.push((path.clone(), value));
        }
    }
    Value::Aggregate(Rc::new(merged))
}

/// What may have changed where a place is blurred.
pub(super) fn blurred_write(variation: Variation) -> Value {
    let words = "a variable written in part, in a way that is not followed";
    Value::opaque(variation, Unknown::new(Reason::UnknownPointer, super::value::NOWHERE, words))
}

/// Where a way through a type leads.
enum Way {
    To(Ty),
    /// Through something of which the type is not known.
    Unknown,
    /// Past an end, or to a member that is several.
    Nowhere,
}

fn walk(ty: &Ty, path: &Steps) -> Way {
    let mut ty = ty.clone();
    for step in path {
        ty = match (&ty, step) {
            (Ty::Unknown(_) | Ty::Void | Ty::Sized { .. }, _) => return Way::Unknown,
            (Ty::Array(element, length), Step::Index(at)) => {
                let length = length.as_ref().map(|length| length.as_constant());
                if *at < 0 || matches!(length, Some(Some(length)) if *at >= length) {
                    return Way::Nowhere;
                }
                (**element).clone()
            }
            (Ty::Record(layout), Step::Member(name)) => match field_of(layout, name) {
                Field::One(ty) => ty,
                Field::None => return Way::Unknown,
                Field::Several => return Way::Nowhere,
            },
            // A variable is an array of one.
            (_, Step::Index(0)) => continue,
            (Ty::Pointer(_), Step::Member(_)) | (Ty::Fragment(_), _) => return Way::Unknown,
            _ => return Way::Nowhere,
        };
    }
    Way::To(ty)
}

enum Field {
    One(Ty),
    None,
    Several,
}

fn field_of(layout: &Layout, name: &str) -> Field {
    let mut named = layout.fields.iter().filter(|field| &*field.name == name);
    match (named.next(), named.next()) {
        (Some(field), None) if field.reference => Field::One(Ty::Pointer(Rc::new(field.ty.clone()))),
        (Some(field), None) => Field::One(field.ty.clone()),
        (Some(_), Some(_)) => Field::Several,
        (None, _) => Field::None,
    }
}

/// Whether what lies somewhere can be used as this type as it is kept.
fn is_compatible(lies: &Ty, used: &Ty) -> bool {
    match (lies, used) {
        (Ty::Unknown(_) | Ty::Void | Ty::Fragment(_), _)
        | (_, Ty::Unknown(_) | Ty::Void | Ty::Fragment(_)) => true,
        (Ty::Pointer(_), Ty::Pointer(_)) => true,
        (Ty::Scalar(a), Ty::Scalar(b)) => {
            let whole = |scalar: Scalar| scalar.is_integer();
            a == b || a.bytes() == b.bytes() && whole(*a) && whole(*b)
        }
        (Ty::Array(a, n), Ty::Array(b, m)) => is_compatible(a, b) && (n == m || m.is_none() || n.is_none()),
        // A part that is of a base class.
        (Ty::Record(whole), Ty::Record(part)) => {
            let same = |field: &FieldLayout| match field_of(whole, &field.name) {
                Field::One(ty) => field.reference || is_compatible(&ty, &field.ty),
                Field::None | Field::Several => false,
            };
            whole.name == part.name || part.fields.iter().all(same)
        }
        _ => is_data(lies) && is_data(used),
    }
}

/// Whether no index is made of what has this type.
fn is_data(ty: &Ty) -> bool {
    match ty {
        Ty::Scalar(scalar) => !scalar.is_integer(),
        Ty::Sized { .. } => true,
        Ty::Record(layout) => layout.record.is_none() && layout.fields.iter().all(|field| is_data(&field.ty)),
        _ => false,
    }
}

/// Whether two members of a record share bytes, as far as is known.
fn share_bytes(a: &FieldLayout, b: &FieldLayout) -> bool {
    let bytes = |field: &FieldLayout| {
        let start = field.offset?;
        Some(start..start + field.size()?)
    };
    match (bytes(a), bytes(b)) {
        (Some(a), Some(b)) => a.start < b.end && b.start < a.end,
        _ => true,
    }
}

/// Whether members of a record share bytes: in a union, or in an unnamed one among them. Members whose
/// place is not known are not asked.
pub(super) fn some_overlap(fields: &[FieldLayout]) -> bool {
    let bytes = |field: &FieldLayout| field.offset.zip(field.size());
    let mut places: Vec<(u64, u64)> = fields.iter().filter_map(bytes).filter(|(_, size)| *size > 0).collect();
    places.sort_unstable();
    // In order of their beginnings, any two that share bytes have between them two neighbours that do.
    places.windows(2).any(|two| two[1].0 - two[0].0 < two[0].1)
}

fn holds_lambda(value: &Value) -> bool {
    match value {
        Value::Aggregate(parts) => parts.iter().any(|(_, part)| matches!(part, Value::Closure(..))),
        _ => false,
    }
}

fn holds_pointer(value: &Value) -> bool {
    match value {
        Value::Pointer(_) => true,
        Value::Aggregate(parts) => parts.iter().any(|(_, part)| holds_pointer(part)),
        _ => false,
    }
}
