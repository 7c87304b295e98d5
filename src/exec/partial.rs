//! What is known of an integer that rests on what each thread read for itself?
//!
//! Such a number is a symbol with a range, one number in each thread, so that what is computed of it keeps
//! its known part. Example, where each thread of a warp reads `d` from memory:
//!
//! | expression | known |
//! |---|---|
//! | `d & 255` | 0 to 255 |
//! | `(threadIdx.x / 32) * 256 + (d & 255)` | warps are 256 apart |
//! | `d - d` | 0 |
//! | `d * 2654435761u` | it may wrap: another number of 32 bits |
//!
//! A value of which only this is known stays an unknown one for all who do not ask for the known part.

use super::arithmetic::promote;
use super::machine::{Machine, Mode};
use super::value::{Condition, Offset, Partial, Relation, Value};
use crate::domain::{Division, Int, NotAffine, Origin, ThreadSet, Unknown, Variation, fits};
use crate::ir::{BinaryOp, Scalar};
use crate::source::Span;
use std::rc::Rc;

/// The most symbols in one such number.
const MOST_TERMS: usize = 8;

impl Value {
    /// What is known of it as an integer, and its type.
    pub(super) fn known_part(&self) -> Option<(&Int, Scalar)> {
        match self {
            Value::Int(int, scalar) => Some((int, *scalar)),
            Value::Opaque(.., Some(part)) => Some((&part.int, part.scalar)),
            _ => None,
        }
    }

    /// The same with nothing known of what each thread has of its own.
    #[must_use]
    pub(super) fn without_parts(&self) -> Value {
        match self {
            Value::Opaque(variation, why, Some(_)) => Value::opaque(*variation, why.clone()),
            Value::Aggregate(parts) if parts.iter().any(|(_, part)| part.has_parts()) => {
                let parts = parts.iter().map(|(path, part)| (path.clone(), part.without_parts()));
                Value::Aggregate(Rc::new(parts.collect()))
            }
            Value::Pointer(pointer) if self.has_parts() => Value::Pointer(pointer.without_part()),
            other => other.clone(),
        }
    }

    fn has_parts(&self) -> bool {
        match self {
            Value::Opaque(.., part) => part.is_some(),
            Value::Aggregate(parts) => parts.iter().any(|(_, part)| part.has_parts()),
            Value::Pointer(pointer) => pointer.has_part(),
            _ => false,
        }
    }
}

impl Machine<'_> {
    /// An integer of this type that each thread has of its own.
    pub(super) fn own_integer(
        &mut self,
        scalar: Scalar,
        origin: Origin,
        variation: Variation,
        why: Unknown,
    ) -> Value {
        let id = self.world.symbols.fresh_per_thread(origin, range_of(scalar));
        Value::Opaque(variation, why, Some(Rc::new(Partial { int: Int::symbol(id), scalar })))
    }

    /// The same, which the lanes of a warp have in common.
    pub(super) fn integer_of_warp(
        &mut self,
        (scalar, range): (Scalar, (Option<i64>, Option<i64>)),
        origin: Origin,
        variation: Variation,
        why: Unknown,
    ) -> Value {
        let (low, high) = range_of(scalar);
        let range = (low.max(range.0), range.1.or(high));
        let id = self.world.symbols.fresh_of_warp(origin, range);
        Value::Opaque(variation, why, Some(Rc::new(Partial { int: Int::symbol(id), scalar })))
    }

    /// An integer of a few bits that is made of another, which is known in part at the most.
    pub(super) fn own_count(&mut self, of: &Value, most: i64, variation: Variation, why: Unknown) -> Value {
        let part = of.known_part().map(|(int, _)| int.clone()).filter(|_| self.mode == Mode::Device);
        let Some(int) = part else { return Value::opaque(variation, why) };
        let origin = self.own_origin([&int]);
        let id = self.fresh_own(origin, (Some(0), Some(most)), &[&int]);
        let part = Partial { int: Int::symbol(id), scalar: Scalar::I32 };
        Value::Opaque(variation, why, Some(Rc::new(part)))
    }

    /// An operator over integers of which one is known in part at the most.
    pub(super) fn own_binary(
        &mut self,
        op: BinaryOp,
        (a, b): (&Value, &Value),
        variation: Variation,
        why: Unknown,
        span: Span,
    ) -> Value {
        let operands = a.known_part().zip(b.known_part()).filter(|_| self.mode == Mode::Device);
        let Some(((x, from_x), (y, from_y))) = operands else { return Value::opaque(variation, why) };
        let scalar = promote(from_x, from_y, op);
        let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let (x, y) = (
            self.own_promoted(x, from_x, scalar),
            match is_shift {
                true => y.clone(),
                false => self.own_promoted(y, from_y, scalar),
            },
        );
        // What the numbers say of division by zero and the like is not asked here.
        if y.as_known().is_some_and(|known| {
            matches!(op, BinaryOp::Div | BinaryOp::Rem) && known.bounds(self.shape()).0 <= 0
                || is_shift && !within(known.bounds(self.shape()), (0, scalar.bytes() as i64 * 8 - 1))
        }) {
            return Value::opaque(variation, why);
        }
        let result = self.raw_operation(op, &x, &y, scalar);
        let keeps = matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) && !scalar.is_unsigned();
        let int = match result.ok().filter(|int| int.terms.len() <= MOST_TERMS) {
            // Signed numbers do not overflow.
            Some(int) if keeps => int,
            Some(int) => self.own_in_type(int, scalar),
            None => self.not_affine(op, &x, &y, scalar),
        };
        self.own(int, scalar, variation, why, span)
    }

    /// What is known of a result that is not affine.
    pub(super) fn not_affine(&mut self, op: BinaryOp, x: &Int, y: &Int, scalar: Scalar) -> Int {
        self.quotient_or_rest(op, x, y, scalar).filter(|int| int.terms.len() <= MOST_TERMS).unwrap_or_else(
            || {
                let range = self.range_after(op, x, y, scalar);
                let origin = self.own_origin([x, y]);
                Int::symbol(self.fresh_own(origin, range, &[x, y]))
            },
        )
    }

    /// A quotient or remainder in terms of how often the divisor fits into each thread's dividend.
    fn quotient_or_rest(&mut self, op: BinaryOp, x: &Int, y: &Int, scalar: Scalar) -> Option<Int> {
        let kind = Division::of(scalar.is_unsigned(), scalar.bytes());
        let world = &mut self.world;
        // What division makes of numbers below 0 differs from the floor.
        let floors = !x.is_per_thread() || world.bounds(x).0.is_some_and(|low| low >= 0);
        match (op, x.as_constant(), y.as_constant()) {
            (BinaryOp::And, Some(_), None) => self.quotient_or_rest(op, y, x, scalar),
            (BinaryOp::And, _, Some(mask)) => {
                let shift = mask.trailing_zeros().min(62);
                let run = mask >> shift;
                if mask < 0 && run == -1 {
                    let low = world.residue(x, 1i64 << shift)?;
                    return Some(world.sub(x, &low));
                }
                if mask <= 0 || mask >= 1 << 61 || run & (run + 1) != 0 {
                    return None;
                }
                let (kept, cut) =
                    (world.residue(x, mask + (1i64 << shift))?, world.residue(x, 1i64 << shift)?);
                Some(world.sub(&kept, &cut))
            }
            (BinaryOp::Rem, _, Some(by @ 1..)) if floors => world.residue(x, by),
            (BinaryOp::Div, _, Some(by @ 1..)) if floors => world.floor_quotient(x, by),
            (BinaryOp::Shr, _, Some(count @ 0..=62)) => world.floor_quotient(x, 1i64 << count),
            (BinaryOp::Div, ..) => world.quotient(x, y, kind),
            (BinaryOp::Rem, ..) => {
                let quotient = world.quotient(x, y, kind)?;
                let product = world.mul(&quotient, y).ok()?;
                Some(world.sub(x, &product))
            }
            _ => None,
        }
    }

    /// The value of an integer whose symbols may be each thread's own.
    pub(super) fn own(
        &mut self,
        int: Int,
        scalar: Scalar,
        variation: Variation,
        why: Unknown,
        span: Span,
    ) -> Value {
        // A number of 32 bits is what it is but for multiples of 2^32, where that is one.
        let unwrapped = (scalar.bytes() == 4 && int.is_per_thread()).then(|| self.world.unwrapped(&int));
        let int = unwrapped.filter(|unwrapped| !unwrapped.is_per_thread()).unwrap_or(int);
        match int.is_per_thread() {
            true => Value::Opaque(variation, why, Some(Rc::new(Partial { int, scalar }))),
            false => self.integer_result(Ok(int), &Int::constant(0), &Int::constant(0), scalar, span),
        }
    }

    /// `a` in the threads of `mask`, `b` elsewhere, of which one is known in part at the most.
    pub(super) fn blend_parts(&self, a: &Value, b: &Value, mask: &ThreadSet) -> Value {
        let part = a.known_part().zip(b.known_part()).and_then(|((x, scalar), (y, other))| {
            let int = self.world.blend(x, y, mask);
            (scalar == other && int.terms.len() <= MOST_TERMS).then(|| Rc::new(Partial { int, scalar }))
        });
        match self.lost(a, b) {
            Value::Opaque(variation, why, None) => Value::Opaque(variation, why, part),
            other => other,
        }
    }

    /// A value that is not known converted to an integer type.
    pub(super) fn own_converted(
        &mut self,
        to: Scalar,
        variation: Variation,
        why: Unknown,
        part: Option<&Partial>,
    ) -> Value {
        if self.mode == Mode::Host {
            return Value::opaque(variation, why);
        }
        let int = match part {
            Some(part) => self.own_promoted(&part.int, part.scalar, to),
            None if variation <= Variation::OfWarp => {
                Int::symbol(self.world.symbols.fresh_of_warp(Origin::Own, range_of(to)))
            }
            None => Int::symbol(self.world.symbols.fresh_per_thread(Origin::Own, range_of(to))),
        };
        Value::Opaque(variation, why, Some(Rc::new(Partial { int, scalar: to })))
    }

    /// The truth of a comparison that the ranges decide for every thread, or that rests on nothing of a thread's
    /// own in the end.
    pub(super) fn own_comparison(
        &mut self,
        relation: Relation,
        a: &Value,
        b: &Value,
        span: Span,
    ) -> Option<Value> {
        let ((x, from_x), (y, from_y)) = a.known_part().zip(b.known_part())?;
        let scalar = promote(from_x, from_y, BinaryOp::Add);
        self.note_compared(&[from_x, from_y], span);
        let (x, y) = (x.clone(), y.clone());
        let (x, y) = (self.own_promoted(&x, from_x, scalar), self.own_promoted(&y, from_y, scalar));
        let difference = self.world.sub(&x, &y);
        if !difference.is_per_thread() {
            return Some(self.relation_value(relation, difference, span));
        }
        if let Some(truth) = self.decided_by_range(relation, &difference) {
            return Some(Value::Int(Int::constant(i64::from(truth)), Scalar::Bool));
        }
        let ((Value::Opaque(_, why, ..), _) | (_, Value::Opaque(_, why, ..))) = (a, b) else { return None };
        let is_alike = self.is_alike_in_warps(&difference);
        is_alike.then(|| Value::Condition(Rc::new(Condition::Opaque(Variation::OfWarp, why.clone()))))
    }

    /// An operand in the type of an operator; in its own type it is already.
    fn own_promoted(&mut self, int: &Int, from: Scalar, to: Scalar) -> Int {
        if from == to && int.is_per_thread() { int.clone() } else { self.own_in_type(int.clone(), to) }
    }

    /// A number in a type: another one that is each thread's own where it may wrap.
    fn own_in_type(&mut self, int: Int, scalar: Scalar) -> Int {
        if !int.is_per_thread() {
            return self.wrapped_to(&int, scalar);
        }
        let bits = scalar.bytes() as u32 * 8;
        let bounds = self.world.bounds(&int);
        let stays = match bounds {
            (Some(low), Some(high)) => fits(low, high, bits, !scalar.is_unsigned()),
            _ => scalar == Scalar::I64,
        };
        if stays && scalar != Scalar::Bool {
            return int;
        }
        let origin = self.own_origin([&int]);
        let id = self.fresh_own(origin, range_of(scalar), &[&int]);
        if bits >= 32 {
            self.world.set_unwrapped(id, &int);
        }
        Int::symbol(id)
    }

    fn own_origin<const N: usize>(&self, numbers: [&Int; N]) -> Origin {
        let ids = numbers.iter().flat_map(|int| &int.terms).map(|(id, _)| *id);
        let own = ids.filter(|id| id.is_per_thread()).map(|id| self.world.symbols.get(id).origin);
        own.max().unwrap_or(Origin::Own)
    }

    /// Least and greatest result of an operator whose result is no sum of symbols.
    fn range_after(&self, op: BinaryOp, x: &Int, y: &Int, scalar: Scalar) -> (Option<i64>, Option<i64>) {
        let (low, high) = self.world.bounds(x);
        let is_positive = low.is_some_and(|low| low >= 0);
        let by = y.as_constant().filter(|by| *by > 0);
        let masks = [self.world.bounds(x), self.world.bounds(y)];
        let mask =
            masks.iter().filter(|(low, _)| low.is_some_and(|low| low >= 0)).filter_map(|it| it.1).min();
        match (op, by) {
            (BinaryOp::Rem, Some(by)) => {
                let most = if is_positive { high.map_or(by - 1, |high| high.min(by - 1)) } else { by - 1 };
                (Some(if is_positive { 0 } else { 1 - by }), Some(most))
            }
            (BinaryOp::Div, Some(by)) => (low.map(|low| low / by), high.map(|high| high / by)),
            (BinaryOp::Shr, Some(by @ ..=62)) => (low.map(|low| low >> by), high.map(|high| high >> by)),
            (BinaryOp::And, _) if mask.is_some() => (Some(0), mask),
            _ => range_of(scalar),
        }
    }

    /// An offset further on by some bytes.
    #[must_use]
    pub(super) fn offset_by(&self, offset: &Offset, by: &Int) -> Offset {
        match offset {
            Offset::Known(at) => Offset::Known(self.world.add(at, by)),
            Offset::Unknown(variation, why, part) => {
                let part = part.as_ref().map(|part| Rc::new(self.world.add(part, by)));
                Offset::Unknown(*variation, why.clone(), part)
            }
        }
    }

    /// An offset further on by elements whose number is not known, or from one that is not.
    pub(super) fn offset_by_own(
        &mut self,
        offset: &Offset,
        (index, sign): (&Value, i64),
        size: Option<u64>,
        (variation, why): (Variation, Unknown),
    ) -> Offset {
        let size = size.and_then(|size| i64::try_from(size).ok());
        let known = offset.known_part().zip(index.known_part()).zip(size);
        let Some(((at, (index, _)), size)) = known.filter(|_| self.mode == Mode::Device) else {
            return Offset::unknown(variation, why);
        };
        let bytes = self.world.scale(index, size.wrapping_mul(sign));
        let sum = self.world.add(at, &bytes);
        match sum.is_per_thread() {
            false => Offset::Known(sum),
            true if sum.terms.len() <= MOST_TERMS => Offset::Unknown(variation, why, Some(Rc::new(sum))),
            true => Offset::unknown(variation, why),
        }
    }

    /// An operator over integers, without a type.
    pub(super) fn raw_operation(
        &mut self,
        op: BinaryOp,
        x: &Int,
        y: &Int,
        scalar: Scalar,
    ) -> Result<Int, NotAffine> {
        let signed = scalar != Scalar::U64;
        let world = &mut self.world;
        match op {
            BinaryOp::Add => Ok(world.add(x, y)),
            // An unsigned difference may wrap, and the larger of two is then the smaller one.
            BinaryOp::Sub if scalar.is_unsigned() => Ok(world.sub(x, y)),
            BinaryOp::Sub => Ok(world.minus(x, y)),
            BinaryOp::Mul => world.mul(x, y),
            BinaryOp::Div => world.divide("/", x, y, Division::of(scalar.is_unsigned(), scalar.bytes())),
            BinaryOp::Rem => world.divide("%", x, y, Division::of(scalar.is_unsigned(), scalar.bytes())),
            BinaryOp::Shl => world.shl(x, y),
            BinaryOp::Shr => world.shr(x, y, signed),
            BinaryOp::And => world.and(x, y),
            BinaryOp::Or => world.or(x, y),
            BinaryOp::Xor => world.xor(x, y),
            _ => Err(NotAffine),
        }
    }
}

fn within((low, high): (i64, i64), (least, most): (i64, i64)) -> bool {
    low >= least && high <= most
}

/// The least and the greatest number of an integer type; of those of 64 bits only what is surely no wrap.
fn range_of(scalar: Scalar) -> (Option<i64>, Option<i64>) {
    match (scalar, scalar.bytes(), scalar.is_unsigned()) {
        (Scalar::Bool, ..) => (Some(0), Some(1)),
        (_, 8.., true) => (Some(0), None),
        (_, 8.., false) => (None, None),
        (_, bytes, true) => (Some(0), Some((1 << (bytes * 8)) - 1)),
        (_, bytes, false) => (Some(-(1 << (bytes * 8 - 1))), Some((1 << (bytes * 8 - 1)) - 1)),
    }
}
