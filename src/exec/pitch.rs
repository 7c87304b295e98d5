//! If the rows of a shared array were longer, would the same elements be accessed?
//!
//! The array's elements are taken as rows of `P` elements: element `e` is in row `e / P`. With rows of
//! `P + x`, it lies at `e + x · (e / P)`: another place for each element, so a program that finds each
//! element at its new place computes what it did before. To see whether it does, the run is made with
//! `P + x` in place of the expressions that are to be changed, `x` a number that is not known. An
//! access is then seen to lie at
//!
//! `offset = rest + x · row`
//!
//! and finds its element if it lies in that row: `0 <= rest - P · row`, and its last byte below `P`.
//! Example, `s[(threadIdx.y + 8 * k) * 32 + threadIdx.x]` of `float`s, with the second 32 to be changed:
//!
//! | | |
//! |---|---|
//! | offset in bytes | `4·tx + 128·ty + 1024·k + x · (4·ty + 32·k)` |
//! | row, in bytes | `4·ty + 32·k` |
//! | rest - 32 · row | `4·tx`, which is below 128 if the block is no wider than 32 |
//!
//! Invariant: what the number flows into is an address in the array or breaks the proof. Not knowing
//! breaks it too.

use super::machine::Machine;
pub(crate) use super::machine::{Extra, Longer, Pitch};
use super::types::Ty;
use super::value::{ObjectId, Offset, Pointer, Target, Value};
use crate::domain::{Int, Key, Lanes, Origin, Reason, SymbolId, Unknown, Variation};
use crate::events::PitchPiece;
use crate::ir::{BinaryOp, Expr, Scalar};
use crate::source::Span;
use std::rc::Rc;

/// The most elements by which a pitch may grow.
const MOST: i64 = 64;

impl Machine<'_> {
    /// What an expression is with the pitch changed.
    pub(super) fn pitched(&mut self, expr: &Expr, value: Value) -> Value {
        if let Value::Pointer(pointer) = &value {
            self.note_mention(pointer, expr.span);
        }
        if !self.is_pitch(expr) {
            return value;
        }
        self.replaced(expr, value)
    }

    /// Whether an expression is to be changed or watched.
    pub(super) fn is_pitch(&self, expr: &Expr) -> bool {
        let address = std::ptr::from_ref(expr).addr();
        let is_one = |pitch: &Pitch| {
            pitch.sites.contains(&address) || pitch.before.iter().any(|it| it.sites.contains(&address))
        };
        self.settings.pitch.as_deref().is_some_and(is_one)
    }

    /// Something shifted by bits that stand for a pitch, as the product that it is.
    pub(super) fn shifted_pitch(&mut self, value: &Value, bits: &Expr, span: Span) -> Value {
        let amount = self.evaluate_as_written(bits);
        let number = match &amount {
            Value::Int(int, _) => int.as_constant().and_then(|bits| u32::try_from(bits).ok()),
            _ => None,
        };
        match number.and_then(|bits| 1i32.checked_shl(bits)).filter(|number| *number > 0) {
            Some(number) => {
                let number = Value::Int(Int::constant(number.into()), Scalar::I32);
                let number = self.replaced(bits, number);
                self.binary(BinaryOp::Mul, value, &number, span)
            }
            None => {
                let why =
                    Unknown::new(Reason::NotAffine, bits.span, "by how much it is shifted is not known");
                self.replaced(bits, Value::opaque(Variation::Maybe, why));
                self.binary(BinaryOp::Shl, value, &amount, span)
            }
        }
    }

    /// The number that stands for a pitch, changed.
    fn replaced(&mut self, expr: &Expr, value: Value) -> Value {
        let Some(pitch) = &self.settings.pitch else { return value };
        let address = std::ptr::from_ref(expr).addr();
        let before = pitch.before.iter().find(|it| it.sites.contains(&address));
        let (extra, elements) = match before {
            Some(before) => (Extra::Elements(before.extra), before.elements),
            None => (pitch.extra, pitch.elements),
        };
        let known = match &value {
            Value::Int(int, scalar) => int.as_constant().map(|number| (number, *scalar)),
            _ => None,
        };
        let number = known.map(|(number, _)| number);
        let seen = self.trace.pitch.values.entry(address).or_insert(number);
        if *seen != number {
            *seen = None;
        }
        let scalar = known.map_or(Scalar::I32, |(_, scalar)| scalar);
        let more = match extra {
            Extra::Watched => return value,
            _ if number != Some(elements) => {
                self.break_pitch(expr.span, "it is not the same number everywhere");
                return value;
            }
            Extra::Any => Int::symbol(self.extra_symbol()),
            Extra::Elements(extra) => Int::constant(extra),
        };
        Value::Int(self.world.add(&Int::constant(elements), &more), scalar)
    }

    fn extra_symbol(&mut self) -> SymbolId {
        let key = Key::Named("elements that a row is longer by".to_owned());
        self.world.symbols.intern(
            key,
            |_| "the row's extra elements".to_owned(),
            Origin::Given,
            Some(0),
            Some(MOST),
        )
    }

    /// A shared array's type with longer rows: its innermost dimension is whole rows.
    pub(super) fn with_pitch(&mut self, ty: &Ty, name: Span) -> Ty {
        let Some(Pitch { array, elements, extra, .. }) = self.settings.pitch.as_deref().cloned() else {
            return ty.clone();
        };
        let more = match extra {
            _ if array != name => return ty.clone(),
            Extra::Watched => return ty.clone(),
            Extra::Any => Int::symbol(self.extra_symbol()),
            Extra::Elements(extra) => Int::constant(extra),
        };
        let rows = |length: i64, outer: bool| match elements {
            1.. if length % elements == 0 => Some(length / elements),
            1.. if !outer => Some(length / elements + 1),
            _ => None,
        };
        match self.lengthened(
            ty,
            &|length| rows(length, matches!(ty, Ty::Array(inner, _) if matches!(**inner, Ty::Array(..)))),
            &more,
        ) {
            Some(ty) => ty,
            None => {
                self.break_pitch(name, "its length is no multiple of the row");
                ty.clone()
            }
        }
    }

    fn lengthened(&self, ty: &Ty, rows: &dyn Fn(i64) -> Option<i64>, more: &Int) -> Option<Ty> {
        match ty {
            Ty::Array(element, length) if !matches!(**element, Ty::Array(..)) => {
                let Some(length) = length else { return Some(ty.clone()) };
                let by = self.world.scale(more, rows(length.as_constant()?)?);
                Some(Ty::Array(element.clone(), Some(Rc::new(self.world.add(length, &by)))))
            }
            Ty::Array(element, length) => {
                Some(Ty::Array(self.lengthened(element, rows, more)?.into(), length.clone()))
            }
            _ => None,
        }
    }

    /// Notes that the array is named here.
    pub(super) fn note_mention(&mut self, pointer: &Pointer, span: Span) {
        if self.settings.pitch.is_some() && self.is_pitched(pointer) {
            self.trace.pitch.mentions.insert(span);
        }
    }

    /// Notes an access through a pointer that is not followed, which may lead to the array.
    pub(super) fn note_lost_pointer(&mut self, span: Span) {
        if self.settings.pitch.is_some() {
            self.trace.pitch.lost.get_or_insert(span);
        }
    }

    /// The array goes where it is not followed.
    pub(super) fn note_pitched_escape(&mut self, value: &Value, span: Span, what: &'static str) {
        if self.settings.pitch.is_none() {
            return;
        }
        let escapes = match value {
            Value::Pointer(pointer) => self.is_pitched(pointer),
            Value::Int(int, _) => self.has_extra(int),
            _ => false,
        };
        if escapes {
            self.break_pitch(span, what);
        }
    }

    /// An operator that is not a sum or product, of numbers in which the pitch may be.
    pub(super) fn note_pitched_operation(&mut self, op: BinaryOp, x: &Int, y: &Int, span: Span) {
        if self.settings.pitch.is_some()
            && !matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
            && (self.has_extra(x) || self.has_extra(y))
        {
            self.break_pitch(span, "more than sums and products are made of the pitch");
        }
    }

    /// A comparison, in which the pitch must not be.
    pub(super) fn note_pitched_comparison(&mut self, difference: &Int, span: Span) {
        if self.settings.pitch.is_some() && self.has_extra(difference) {
            self.break_pitch(span, "the pitch is compared with something");
        }
    }

    /// An address in another object, in which the pitch must not be.
    pub(super) fn note_pitched_address(&mut self, object: ObjectId, offset: &Offset, span: Span) {
        if self.settings.pitch.is_none() || self.is_pitched_object(object) {
            return;
        }
        if let Offset::Known(offset) = offset
            && self.has_extra(offset)
        {
            self.break_pitch(span, "the pitch is in another array's index too");
        }
    }

    fn is_pitched(&self, pointer: &Pointer) -> bool {
        matches!(pointer.target, Target::Memory(object, _) if self.is_pitched_object(object))
    }

    fn is_pitched_object(&self, object: ObjectId) -> bool {
        if self.is_one_of_several(object) {
            return self.objects_of(object).into_iter().any(|object| self.is_pitched_object(object));
        }
        let array = self.memory.objects.get(object.0 as usize).and_then(|object| object.array);
        let name = array.and_then(|array| self.trace.arrays.get(array)).map(|array| array.name_span);
        name.is_some() && name == self.settings.pitch.as_ref().map(|pitch| pitch.array)
    }

    fn has_extra(&mut self, int: &Int) -> bool {
        if int.terms.is_empty() {
            return false;
        }
        let extra = self.extra_symbol();
        int.terms.iter().any(|(id, _)| self.world.symbols.get(*id).factors.contains(&extra))
    }

    fn break_pitch(&mut self, span: Span, why: &'static str) {
        let why = || Unknown::new(Reason::NotAffine, span, why);
        self.trace.pitch.broken.get_or_insert_with(why);
        if self.is_futile() {
            // What follows cannot mend it.
            self.steps = u64::MAX - 1;
        }
    }

    /// Whether the run is to prove something and has failed to.
    pub(super) fn is_futile(&self) -> bool {
        let proves = self.settings.pitch.as_ref().is_some_and(|pitch| pitch.extra == Extra::Any);
        proves && self.trace.pitch.broken.is_some()
    }

    /// Sees whether an access of the active threads finds its element.
    pub(super) fn check_pitch(&mut self, array: usize, offset: &Offset, bytes: Option<u64>, span: Span) {
        let Some(pitch) = self.settings.pitch.as_deref() else { return };
        if pitch.extra != Extra::Any || self.trace.arrays[array].name_span != pitch.array {
            return;
        }
        let elements = pitch.elements;
        let element = self.trace.arrays[array]
            .element_bytes
            .and_then(|element| i64::try_from(element).ok().filter(|&element| element > 0));
        let (Offset::Known(offset), Some(bytes), Some(element)) = (offset, bytes, element) else {
            self.break_pitch(span, "where this access lies is not known");
            return;
        };
        let Some((rest, rows)) = self.split_rows(&self.substitute(offset)) else {
            self.break_pitch(span, "its row is not known");
            return;
        };
        let whole = |lanes: &Lanes| lanes.gcd().is_multiple_of(element.unsigned_abs());
        if !whole(&rows.base) || !rows.terms.iter().all(|(_, factor)| whole(factor)) {
            self.break_pitch(span, "its row is not known");
            return;
        }
        let column = self.world.sub(&rest, &self.world.scale(&rows, elements));
        let (Some(first), last) = self.active_bounds(&column) else {
            self.break_pitch(span, "its column has no known bounds");
            return;
        };
        let (least, most) = self.active_bounds(&rows);
        let end = last.and_then(|last| last.checked_add(i64::try_from(bytes).ok()?));
        let number = |bytes: Option<i64>| bytes.map(|bytes| bytes.div_euclid(element));
        let piece = PitchPiece { rows: (number(least), number(most)), column: (first, end) };
        if !self.trace.pitch.pieces.contains(&piece) {
            self.trace.pitch.pieces.push(piece);
        }
    }

    /// Least and greatest value over the active threads, as far as known.
    fn active_bounds(&self, value: &Int) -> (Option<i64>, Option<i64>) {
        let shift = Int::of(Lanes::constant(0), value.terms.clone());
        let (least, most) = self.world.bounds(&shift);
        let values = value.base.spread(self.shape());
        let active = || self.state.active.threads().map(|thread| values[thread]);
        let (low, high) = (active().min().unwrap_or(0), active().max().unwrap_or(0));
        (least.and_then(|it| it.checked_add(low)), most.and_then(|it| it.checked_add(high)))
    }

    /// An offset as what it is without longer rows, and how many bytes each element more adds.
    fn split_rows(&mut self, offset: &Int) -> Option<(Int, Int)> {
        let extra = self.extra_symbol();
        let mut rest = Int::known(offset.base.clone());
        let mut rows = Int::constant(0);
        for (id, factor) in &offset.terms {
            let factors = self.world.symbols.get(*id).factors.clone();
            let others: Vec<SymbolId> = factors.iter().copied().filter(|part| *part != extra).collect();
            let term = |id: SymbolId| Int::of(Lanes::constant(0), vec![(id, factor.clone())]);
            match factors.len() - others.len() {
                0 => rest = self.world.add(&rest, &term(*id)),
                1 => {
                    let (first, more) = match others.split_first() {
                        Some((first, more)) => (*first, more),
                        None => {
                            rows = self.world.add(&rows, &Int::known(factor.clone()));
                            continue;
                        }
                    };
                    let all = more.iter().fold(first, |all, part| self.world.symbols.product(all, *part));
                    rows = self.world.add(&rows, &term(all));
                }
                _ => return None,
            }
        }
        Some((rest, rows))
    }
}
