//! What is in a local variable?
//!
//! A variable that is only written in parts is an aggregate of the parts that are known. Writes
//! reach the active threads alone; a known fact about a symbol is put in on reading.

use super::machine::{Frame, Machine, Mode};
use super::slots::Slot;
use super::types::Ty;
use super::value::{Place, Step, Steps, Value};
use crate::domain::{Int, Reason, ThreadSet, Unknown, Variation};
use crate::ir::{LocalId, Scalar};
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

impl Machine<'_> {
    /// The value of a variable of the innermost frame, when it is one that holds its value itself.
    pub(super) fn read_variable(&self, local: LocalId) -> Option<Value> {
        let slot = self.frame()?.slots.get(local.0 as usize)?;
        self.compiler.at_launch.read(self.top(), local);
        (!slot.reference && !matches!(slot.ty, Ty::Array(..))).then(|| self.refine(slot.value.clone()))
    }

    pub(super) fn read_place(&mut self, place: &Place, ty: &Ty, span: Span) -> Value {
        let why = || Unknown::new(Reason::Uninitialized, span, "a part of a variable that is not followed");
        self.compiler.at_launch.read(place.frame, place.local);
        let slot = self.state.frames.get(place.frame).and_then(|f| f.slots.get(place.local.0 as usize));
        let Some(slot) = slot else { return Value::opaque(Variation::Maybe, why()) };
        if place.path.is_empty() && !place.blurred {
            let value = slot.value.clone();
            return self.refine(value);
        }
        if place.blurred {
            let variation = slot.value.variation().max(Variation::Maybe);
            let pointers = pointers_in(&slot.value, &place.path);
            if let (Ty::Pointer(_), [first, rest @ ..]) = (ty, pointers.as_slice()) {
                // Whichever it is, it may be known into which object it leads.
                return rest.iter().fold(first.clone(), |all, other| self.lost(&all, other));
            }
            return Value::opaque(variation, why());
        }
        match &slot.value {
            Value::Aggregate(parts) => {
                if let Some((_, value)) = parts.iter().find(|(path, _)| *path == place.path) {
                    let value = value.clone();
                    return self.refine(value);
                }
                match super::parts::part_at(parts, &place.path) {
                    Some(Value::Opaque(variation, why, ..)) => self.member_of_unknown(ty, variation, &why),
                    Some(inside) => inside,
                    None => Value::opaque(Variation::Maybe, why()),
                }
            }
            Value::Opaque(variation, why, ..) => {
                let (variation, why) = (*variation, why.clone());
                self.member_of_unknown(ty, variation, &why)
            }
            // `std::integral_constant<int, 4>{}.value`
            Value::Int(int, scalar)
                if int.as_constant().is_some() && *place.path == [Step::Member("value".into())] =>
            {
                Value::Int(int.clone(), *scalar)
            }
            Value::Int(int, _) if int.as_symbol().is_some() => {
                let Some(id) = int.as_symbol() else { return Value::opaque(Variation::Maybe, why()) };
                self.symbol_member(id, &place.path, ty, span)
            }
            _ => Value::opaque(Variation::Maybe, why()),
        }
    }

    /// A member of an object that is not known. A pointer in one that came from elsewhere leads elsewhere, too; in one
    /// that the kernel itself made, it may lead into shared memory.
    fn member_of_unknown(&mut self, ty: &Ty, variation: Variation, why: &Unknown) -> Value {
        let is_given =
            matches!(why.reason, Reason::DataDependent | Reason::UnknownType | Reason::UnknownName);
        match ty {
            Ty::Pointer(_) if !is_given && self.mode == Mode::Device => Value::opaque(variation, why.clone()),
            _ => self.unknown_of(ty, variation, "a member", why),
        }
    }

    /// `params.width` of a uniform struct that is not known: a symbol of that name.
    fn symbol_member(&mut self, id: crate::domain::SymbolId, path: &[Step], ty: &Ty, span: Span) -> Value {
        let mut name = self.world.symbols.get(id).name.to_string();
        for step in path {
            match step {
                Step::Member(member) => name.push_str(&format!(".{member}")),
                Step::Index(at) => name.push_str(&format!("[{at}]")),
            }
        }
        if let Ty::Pointer(inner) = ty {
            return Value::Pointer(self.named_global(&name.as_str().into(), inner));
        }
        if matches!(ty, Ty::Scalar(s) if !s.is_integer()) {
            return Value::opaque(Variation::Uniform, Unknown::new(Reason::DataDependent, span, name));
        }
        let scalar = match ty {
            Ty::Scalar(scalar) => *scalar,
            _ => Scalar::I32,
        };
        let key = crate::domain::Key::Named(format!("member {} {name}", id.number()));
        let low = super::resolve::low_of(scalar);
        let id = self.world.symbols.intern(key, |_| name, crate::domain::Origin::Given, low, None);
        Value::Int(self.with_residue(id), scalar)
    }

    /// Puts in what the conditions around say of symbols.
    fn refine(&self, value: Value) -> Value {
        if let Value::Opaque(.., Some(part)) = &value
            && part.int.is_per_thread()
            && let Some(int) = self.known_here(&part.int)
        {
            return Value::Int(self.refined(int), part.scalar);
        }
        if self.state.facts.is_empty() {
            return value;
        }
        match value {
            Value::Int(int, scalar) => Value::Int(self.refined(int), scalar),
            other => other,
        }
    }

    /// A number that is known in the threads that run here, whatever it is in others.
    fn known_here(&self, int: &Int) -> Option<Int> {
        let shape = self.shape();
        let mut known = Int { terms: Vec::new(), ..int.clone() };
        for (id, factor) in &int.terms {
            if !id.is_per_thread() {
                known.terms.push((*id, factor.clone()));
                continue;
            }
            if factor.as_constant().is_some() {
                return None;
            }
            let factors = factor.spread(shape);
            if self.state.active.threads().any(|thread| factors[thread] != 0) {
                return None;
            }
        }
        Some(known)
    }

    /// Replaces symbols that are known here by their values.
    pub(super) fn refined(&self, int: Int) -> Int {
        if self.state.facts.is_empty() || int.terms.is_empty() { int } else { self.substitute(&int) }
    }

    /// Replaces symbols that are known here by their values.
    #[must_use]
    pub(crate) fn substitute(&self, int: &Int) -> Int {
        let touched = |(id, _): &(_, _)| self.state.facts.iter().any(|(symbol, _)| symbol == id);
        if self.state.facts.is_empty() || !int.terms.iter().any(touched) {
            return int.clone();
        }
        let mut result = Int { sight: int.sight, ..Int::known(int.base.clone()) };
        for (id, factor) in &int.terms {
            let fact = self.state.facts.iter().rev().find(|(symbol, _)| symbol == id);
            let part = match fact {
                Some((_, value)) => Int::known(factor.scale(*value)),
                None => Int::of(crate::domain::Lanes::constant(0), vec![(*id, factor.clone())]),
            };
            result = self.world.add(&result, &part);
        }
        result
    }

    /// `place + sign * index` where the place is an element of a local array.
    pub(super) fn advance_place(&self, mut place: Place, index: &Value, sign: i64) -> Place {
        if place.blurred {
            return place;
        }
        let step = match index {
            Value::Int(int, _) => self.for_active(int),
            _ => None,
        };
        match (place.path.last_mut(), step) {
            (Some(Step::Index(at)), Some(step)) => *at = at.wrapping_add(sign.wrapping_mul(step)),
            (_, Some(0)) => {}
            (Some(Step::Index(_)), None) => {
                place.path.pop();
                place.blurred = true;
            }
            // Past a variable or a member: somewhere in what it is a part of.
            _ => {
                place.path.clear();
                place.blurred = true;
            }
        }
        place
    }

    /// The number that all active threads agree on, whatever the others hold.
    fn for_active(&self, int: &Int) -> Option<i64> {
        let known = int.as_known()?;
        if let Some(number) = known.as_constant() {
            return Some(number);
        }
        let values = known.spread(self.shape());
        let mut active = self.state.active.threads().map(|thread| values[thread]);
        let first = active.next()?;
        active.all(|other| other == first).then_some(first)
    }

    /// Notes for the loops around that a variable changes.
    pub(crate) fn note_write(&mut self, frame: usize, local: LocalId) {
        self.compiler.writes += 1;
        self.compiler.at_launch.write(frame, local);
        if let Some(watch) = self.looping.watched.last_mut()
            && !watch.contains(&(frame, local))
        {
            watch.push((frame, local));
        }
    }

    pub(super) fn write_place(&mut self, place: &Place, value: Value) {
        self.note_write(place.frame, place.local);
        let value = match value {
            Value::Int(..) | Value::Condition(_) if self.is_bit_field(place) => {
                let why = Unknown::new(Reason::Unsupported, super::value::NOWHERE, "a bit-field");
                Value::opaque(value.variation(), why)
            }
            value => value,
        };
        let active = self.state.active;
        let covers = self.covers(place.frame);
        let slot = self.state.frames.get(place.frame).and_then(|f| f.slots.get(place.local.0 as usize));
        let Some(slot) = slot else { return };
        let whole = place.path.is_empty() && !place.blurred;
        if !whole && slot.ty.is_array_of_data() && self.mode == Mode::Device {
            return self.write_data(place, &value);
        }
        if whole && covers {
            if let Some(frame) = self.state.frames.get_mut(place.frame) {
                frame.slots.set_value(place.local.0 as usize, value);
            }
            return;
        }
        let Some(slot) = self.slot_mut(place) else { return };
        // Taken out, so that a local array is not copied for one element.
        let old = std::mem::replace(&mut slot.value, Value::Undefined);
        let new = if whole {
            self.blend(&value, &old, &active)
        } else {
            self.write_part(place, value, old, covers, &active)
        };
        if let Some(slot) = self.slot_mut(place) {
            slot.value = new;
        }
    }

    /// Of an array of floating-point numbers only the variation is kept: no index comes from it.
    fn write_data(&mut self, place: &Place, value: &Value) {
        let Some(slot) = self.slot_mut(place) else { return };
        let variation = match &slot.value {
            Value::Undefined => value.variation(),
            old => value.variation().max(old.variation()),
        };
        slot.value = data_of(value, variation);
    }

    fn slot_mut(&mut self, place: &Place) -> Option<&mut Slot> {
        self.state.frames.get_mut(place.frame)?.slots.get_mut(place.local.0 as usize)
    }

    /// Whether every thread that can still use a variable of this frame is active.
    fn covers(&self, frame: usize) -> bool {
        let Some(frame) = self.state.frames.get(frame) else { return true };
        self.everyone().minus(&frame.returned).minus(&self.state.active).is_empty()
    }

    fn write_part(
        &mut self,
        place: &Place,
        value: Value,
        old: Value,
        covers: bool,
        active: &ThreadSet,
    ) -> Value {
        let overlapping = if place.path.is_empty() { Vec::new() } else { self.overlapping(place) };
        let mut shared = match old {
            Value::Aggregate(parts) => parts,
            Value::Undefined => Rc::default(),
            other => Rc::new(vec![(Steps::new(), other)]),
        };
        let parts = Rc::make_mut(&mut shared);
        if place.blurred && place.path.is_empty() {
            return super::parts::blurred_write(value.variation().max(Variation::Maybe));
        }
        if place.blurred {
            // Any element below the path may have changed.
            let variation = value.variation().max(Variation::Maybe);
            let why = Unknown::new(
                Reason::LoopCarried,
                super::value::NOWHERE,
                "an array written at an unknown index",
            );
            for (path, part) in parts {
                if path.starts_with(&place.path) {
                    *part = match part {
                        Value::Pointer(_) => self.lost(part, &value),
                        _ => Value::opaque(variation, why.clone()),
                    };
                }
            }
            return Value::Aggregate(shared);
        }
        // What lies in the same bytes is not what it was.
        for way in &overlapping {
            for (path, part) in parts.iter_mut().filter(|(path, _)| path.starts_with(way)) {
                let _ = path;
                *part = super::parts::blurred_write(Variation::Maybe);
            }
        }
        let mut below = parts.iter().enumerate().filter(|(_, (path, _))| path.starts_with(&place.path));
        let first = below.next().map(|(at, (path, _))| (at, path.len() == place.path.len()));
        let alone = first.is_some() && below.next().is_none();
        let before = match first {
            Some((at, true)) => Some(at),
            Some(_) if !alone => parts.iter().position(|(path, _)| *path == place.path),
            _ => None,
        };
        let value = match super::parts::part_at(parts, &place.path).filter(|_| !covers) {
            Some(before) => self.blend(&value, &before, active),
            None => value,
        };
        if let (Some(at), true, false) = (before, alone, matches!(value, Value::Aggregate(_))) {
            parts[at].1 = value;
            return Value::Aggregate(shared);
        }
        parts.retain(|(path, _)| !path.starts_with(&place.path));
        match value {
            Value::Aggregate(inner) => {
                for (path, part) in inner.iter() {
                    let full = place.path.iter().chain(path).cloned().collect();
                    parts.push((full, part.clone()));
                }
            }
            other => parts.push((place.path.clone(), other)),
        }
        if parts.len() > 4096 {
            let why =
                Unknown::new(Reason::Budget, super::value::NOWHERE, "a local array of over 4096 known parts");
            return Value::opaque(Variation::Maybe, why);
        }
        Value::Aggregate(shared)
    }
}

impl Frame {
    /// Forgets what parameters hold whose changes are passed over, as they bear on no request.
    pub(super) fn forget_stale(&mut self) {
        let function = Arc::clone(&self.function);
        function.params.iter().for_each(|param| self.forget_if_stale(param.local));
    }

    /// The same of one variable. `x = 0; x += in[t]; s[0] = x;` stores no 0.
    pub(super) fn forget_if_stale(&mut self, local: LocalId) {
        let number = local.0 as usize;
        let slot = self.slots.get(number).filter(|slot| !slot.reference && self.slice.is_stale(local));
        if let Some(value) = slot.map(|slot| without_numbers(&slot.value)) {
            self.slots.set_value(number, value);
        }
    }
}

fn without_numbers(value: &Value) -> Value {
    match value {
        Value::Int(..) | Value::Float(..) => Value::Undefined,
        Value::Aggregate(parts) => {
            let parts = parts.iter().map(|(path, part)| (path.clone(), without_numbers(part)));
            Value::Aggregate(Rc::new(parts.collect()))
        }
        other => other.clone(),
    }
}

/// What stands for all elements of an array of floating-point numbers.
pub(super) fn data_of(value: &Value, variation: Variation) -> Value {
    let why = match value {
        Value::Opaque(_, why, ..) => why.clone(),
        _ => super::operators::float_unknown(),
    };
    Value::opaque(variation, why)
}

/// The pointers among the parts of a variable that lie behind a way.
fn pointers_in(value: &Value, way: &Steps) -> Vec<Value> {
    let Value::Aggregate(parts) = value else { return Vec::new() };
    let behind = parts.iter().filter(|(path, _)| path.starts_with(way)).map(|(_, part)| part);
    behind.filter(|part| matches!(part, Value::Pointer(_))).cloned().collect()
}
