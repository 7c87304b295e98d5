//! What does C++ make of two integers?
//!
//! The operands are converted to one type first (the *usual arithmetic conversions*), and the
//! result wraps at its width if the type is unsigned. What C++ leaves undefined is not known:
//!
//! | written | value |
//! |---|---|
//! | `-1 < 0u` | false: both are `unsigned`, and -1 becomes 4294967295 |
//! | `(0 ? 1u : -1)` | 4294967295: the type of `?:` is that of both sides together |
//! | `a / 16` for `uint64_t a = -1` | 2^60 - 1: 64 bits without a sign |
//! | `1 << 40`, `x / 0`, `0x7fffffff + 1` | not known |
//! | `v >> 4 + v` where `v` is 28 or more in some thread | 0 there, as the instruction has it: assumed |
//!
//! A 64-bit unsigned number is kept as the `i64` of the same bits.

use super::machine::{Machine, Mode};
use super::types::Ty;
use super::value::NOWHERE;
use super::value::{Condition, Relation, Value};
use crate::codegen::sight;
use crate::domain::{
    Int, Lanes, NotAffine, Origin, Reason, SymbolId, ThreadSet, Unknown, Variation, fits, quoted,
};
use crate::events::{Assumption, Differs};
use crate::ir::{BinaryOp, Scalar};
use crate::source::Span;
use std::cmp::Ordering;
use std::rc::Rc;

/// The most symbols a number is kept in terms of. A sum of more is a symbol of its own if it is uniform,
/// so that a sum of thousands of loads takes no more than its length.
const MOST_TERMS: usize = 64;

/// The type of a value in arithmetic.
#[must_use]
pub(crate) fn scalar_of(value: &Value) -> Scalar {
    match value {
        Value::Int(_, scalar) | Value::Float(_, scalar) => *scalar,
        _ => Scalar::I32,
    }
}

/// The usual arithmetic conversions; a shift has its left operand's type.
#[must_use]
pub(crate) fn promote(a: Scalar, b: Scalar, op: BinaryOp) -> Scalar {
    let promoted = |s: Scalar| if s.bytes() < 4 { Scalar::I32 } else { s };
    let (a, b) = (promoted(a), promoted(b));
    if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
        return a;
    }
    if let Some(float) = [Scalar::F64, Scalar::F32].into_iter().find(|float| [a, b].contains(float)) {
        return float;
    }
    let wider = if a.bytes() >= b.bytes() { a } else { b };
    let unsigned =
        (a.bytes() == wider.bytes() && a.is_unsigned()) || (b.bytes() == wider.bytes() && b.is_unsigned());
    match (wider.bytes(), unsigned) {
        (8, true) => Scalar::U64,
        (8, false) => Scalar::I64,
        (_, true) => Scalar::U32,
        (_, false) => Scalar::I32,
    }
}

/// The type of `c ? a : b`: that of both sides, if it is one, else what arithmetic makes of them.
#[must_use]
pub(crate) fn common(a: &Ty, b: &Ty) -> Option<Scalar> {
    match (a, b) {
        (Ty::Scalar(a), Ty::Scalar(b)) if a == b => Some(*a),
        (Ty::Scalar(a), Ty::Scalar(b)) => Some(promote(*a, *b, BinaryOp::Add)),
        _ => None,
    }
}

impl Machine<'_> {
    /// An integer of one type as one of another, whose width it keeps or wraps to.
    #[must_use]
    pub(super) fn wrapped_to(&self, int: &Int, to: Scalar) -> Int {
        self.world.wrap(int.clone(), to.bytes() as u32 * 8, !to.is_unsigned())
    }

    /// An integer converted to another integer type.
    pub(super) fn convert_integer(&mut self, int: Int, from: Scalar, to: Scalar) -> Value {
        let changes = to.bytes() < from.bytes() || to.is_unsigned() != from.is_unsigned();
        let bits = to.bytes() as u32 * 8;
        let within = |(low, high): (Option<i64>, Option<i64>)| {
            low.zip(high).is_some_and(|(low, high)| fits(low, high, bits, !to.is_unsigned()))
        };
        // That 32 bits hold a run-time size is taken for granted, that 8 or 16 do is not. A counter
        // that does not fit its type would never end its loop.
        let wraps = |symbol: &SymbolId| {
            let origin = self.world.symbols.get(*symbol).origin;
            origin > Origin::Loop || origin == Origin::LoopValue
        };
        let given = !int.is_uniform() || int.terms.iter().any(|(symbol, _)| wraps(symbol));
        if bits < 32 && !int.terms.is_empty() && self.mode == Mode::Device {
            let bounds = self.world.bounds(&int);
            let narrows = to.bytes() < from.bytes() && bounds.0.zip(bounds.1).is_some();
            if (given || narrows) && !within(bounds) {
                return self.narrowed(&int, to);
            }
            // It counts the rounds of a loop, however many there are.
            if to.bytes() < from.bytes() && !within(bounds) {
                self.looping.differs.get_or_insert(Differs::Wraps);
            }
        }
        if from.is_unsigned()
            && !to.is_unsigned()
            && bits >= 32
            && to.bytes() <= from.bytes()
            && !within(self.world.bounds(&int))
        {
            self.world.read_as_signed(&int);
        }
        let sight = if bits < 32 { sight::through_cast(&int) } else { int.sight };
        let int = if changes || bits <= 32 { self.wrapped_to(&int, to) } else { int };
        Value::Int(Int { sight, ..int }, to)
    }

    /// A run-time number that may wrap at the width of its type.
    fn narrowed(&mut self, int: &Int, to: Scalar) -> Value {
        let modulus = 1i64 << (to.bytes() * 8);
        let below = Int::constant(if to.is_unsigned() { 0 } else { modulus / 2 });
        match self.world.floor_rem(&self.world.add(int, &below), modulus) {
            Ok(rest) => Value::Int(self.world.sub(&rest, &below), to),
            Err(NotAffine) => {
                let words = "a run-time number that may wrap at the width of its type";
                Value::opaque(Variation::Maybe, Unknown::new(Reason::NotAffine, NOWHERE, words))
            }
        }
    }

    /// An operator over two integers of these types.
    pub(super) fn integer_binary(
        &mut self,
        op: BinaryOp,
        (x, from_x): (&Int, Scalar),
        (y, from_y): (&Int, Scalar),
        span: Span,
    ) -> Value {
        let scalar = promote(from_x, from_y, op);
        if let Some(why) = self.differs_from_floor(op, x, y, scalar) {
            self.looping.differs.get_or_insert(why);
        }
        // Modulo a power of two it does not matter before which operator a number wraps.
        if matches!(op, BinaryOp::Div | BinaryOp::Rem) && scalar.is_unsigned() {
            let (x, y) = (self.wrapped_to(x, scalar), self.wrapped_to(y, scalar));
            return self.integer_operation(op, &x, &y, scalar, span);
        }
        self.integer_operation(op, x, y, scalar, span)
    }

    /// Why a quotient or remainder may be another, in some rounds of a loop or some threads, than the floor that is taken
    /// for it, as far as the symbols of the dividend tell: `(i - 1) % 3` is -1 where `i` is 0, and 0 if `i` is unsigned; an
    /// unsigned number that begins in the upper half of its range may wrap.
    fn differs_from_floor(&self, op: BinaryOp, x: &Int, y: &Int, scalar: Scalar) -> Option<Differs> {
        let by = y.as_constant().filter(|_| matches!(op, BinaryOp::Div | BinaryOp::Rem))?;
        let is_by_bits = by.unsigned_abs().is_power_of_two();
        if x.as_known().is_some() || op == BinaryOp::Rem && scalar.is_unsigned() && is_by_bits {
            return None;
        }
        // What is the same for all threads and in all rounds is rounded alike.
        let symbols = &self.world.symbols;
        let is_of_round = |id: SymbolId| {
            let factors = symbols.get(id).factors.iter();
            factors.copied().any(|id| matches!(symbols.get(id).origin, Origin::Loop | Origin::LoopValue))
        };
        if x.is_uniform() && !x.terms.iter().any(|(id, _)| is_of_round(*id)) {
            return None;
        }
        match self.world.bounds(x).0 {
            Some(..0) => Some(Differs::BelowZero),
            Some(low) if scalar.bytes() == 4 && low > i64::from(i32::MAX) => Some(Differs::Wraps),
            Some(_) => None,
            // Sizes are taken not to be negative, but what is taken from something may be larger.
            None => {
                let takes = |factor: &Lanes| factor.bounds(self.shape()).0 < 0;
                x.terms.iter().any(|(_, factor)| takes(factor)).then_some(Differs::BelowZero)
            }
        }
    }

    /// An operator over integers, wrapped into its type.
    pub(crate) fn integer_operation(
        &mut self,
        op: BinaryOp,
        x: &Int,
        y: &Int,
        scalar: Scalar,
        span: Span,
    ) -> Value {
        if let Some(value) = self.host_operation(op, x, y, scalar) {
            return value;
        }
        self.note_pitched_operation(op, x, y, span);
        if let Some(what) = self.undefined_operands(op, x, y, scalar) {
            let clamped = self.clamped_shift(op, x, y, scalar);
            return clamped.unwrap_or_else(|| self.not_defined(span, what));
        }
        // The upper half of a number with nothing said of its size, as of `k << 24`, may not be what is taken for it.
        let is_of_upper_half = op == BinaryOp::Shr && y.as_constant().is_some_and(|count| count >= 16);
        if is_of_upper_half && self.world.bounds(x).1.is_none() {
            self.looping.differs.get_or_insert(Differs::Wraps);
        }
        let result = self.raw_operation(op, x, y, scalar).and_then(|int| match int.terms.len() {
            ..=MOST_TERMS => Ok(int),
            _ => Err(NotAffine),
        });
        let result = result.map(|int| {
            let sum = matches!(op, BinaryOp::Or | BinaryOp::Xor) && int == self.world.add(x, y);
            Int { sight: sight::of(op, x, y, !scalar.is_unsigned(), sum), ..int }
        });
        let result = match (op, self.mode) {
            (BinaryOp::Add | BinaryOp::Sub | BinaryOp::And, Mode::Device) => {
                result.map(|int| self.world.with_remainder_folded(int))
            }
            _ => result,
        };
        if matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul)
            && let Ok(int) = &result
            && self.overflows(int, scalar)
        {
            return self.not_defined(span, "a signed number that overflows");
        }
        if result.is_err() && self.mode == Mode::Device && !(x.is_uniform() && y.is_uniform()) {
            let why = self.why_not_affine(x, y, span);
            let int = self.not_affine(op, x, y, scalar);
            return self.own(int, scalar, Variation::Maybe, why, span);
        }
        self.integer_result(result, x, y, scalar, span)
    }

    /// Why the operands have no result in some active thread, if so.
    fn undefined_operands(&self, op: BinaryOp, x: &Int, y: &Int, scalar: Scalar) -> Option<&'static str> {
        if self.mode == Mode::Host {
            return None;
        }
        let known = y.as_known()?;
        let bits = scalar.bytes() as i64 * 8;
        match op {
            BinaryOp::Div | BinaryOp::Rem => {
                self.any_active(known, |divisor| divisor == 0).then_some("a division by zero")
            }
            BinaryOp::Shl | BinaryOp::Shr => self
                .any_active(known, |count| !(0..bits).contains(&count))
                .then_some("a shift by its width or more"),
            // Sums and products of 32 bits are exact in 64; of those of 64 bits only the range tells.
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul if scalar == Scalar::I64 => {
                let (a, b) = (x.as_known()?.bounds(self.shape()), known.bounds(self.shape()));
                let apply = |a: i64, b: i64| match op {
                    BinaryOp::Add => a.checked_add(b),
                    BinaryOp::Sub => a.checked_sub(b),
                    _ => a.checked_mul(b),
                };
                let ends = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)];
                ends.iter().any(|(a, b)| apply(*a, *b).is_none()).then_some("a signed number that overflows")
            }
            _ => None,
        }
    }

    /// A shift by amounts that differ between threads and reach the width in some, as the instruction does
    /// it: "shift amounts greater than the register width N are clamped to N" (PTX ISA, `shl` and `shr`;
    /// seen on an H200, too). An amount that is the same for all is known to the compiler, which may make of
    /// it what it likes.
    ///
    /// Example: `#define PAD(i) ((i) >> 4 + (i) >> 8)`, where parentheses are missing, shifts by `4 + i`. It is
    /// 0 in every thread, and pads nothing.
    fn clamped_shift(&mut self, op: BinaryOp, x: &Int, y: &Int, scalar: Scalar) -> Option<Value> {
        let (value, count) = (x.as_known()?, y.as_known()?);
        let bits = scalar.bytes() as i64 * 8;
        let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        if !is_shift || count.as_constant().is_some() || self.any_active(count, |count| count < 0) {
            return None;
        }
        let shift = |value: i64, count: i64| match op {
            _ if count < 0 => 0,
            BinaryOp::Shl if count < bits => value.wrapping_shl(count as u32),
            BinaryOp::Shl => 0,
            _ if scalar.is_unsigned() && count >= bits => 0,
            _ if scalar == Scalar::U64 => ((value as u64) >> count) as i64,
            _ => value >> count.min(bits - 1),
        };
        let lanes = value.zip(count, self.shape(), shift);
        self.assume(Assumption::ShiftClamps);
        Some(Value::Int(self.wrapped_to(&Int::of(lanes, Default::default()), scalar), scalar))
    }

    /// Whether a number leaves its signed type in some active thread.
    pub(super) fn overflows(&self, int: &Int, scalar: Scalar) -> bool {
        if scalar.is_unsigned() || self.mode == Mode::Host {
            return false;
        }
        let Some(known) = int.as_known() else { return false };
        let bits = scalar.bytes() as u32 * 8;
        let (low, high) = known.bounds(self.shape());
        !fits(low, high, bits, true) && self.any_active(known, |v| !fits(v, v, bits, true))
    }

    /// A value that C++ does not define. A loop that is run through supposed values ended before.
    fn not_defined(&mut self, span: Span, what: &'static str) -> Value {
        self.looping.out_of_bounds |= self.looping.enumerating > 0;
        undefined(span, what)
    }

    fn any_active(&self, known: &Lanes, test: impl Fn(i64) -> bool) -> bool {
        match known.as_constant() {
            Some(value) => test(value),
            None => {
                let values = known.spread(self.shape());
                self.state.active.threads().any(|thread| test(values[thread]))
            }
        }
    }

    /// Wraps a result into its type; one that is not affine becomes a symbol or unknown.
    pub(crate) fn integer_result(
        &mut self,
        result: Result<Int, NotAffine>,
        x: &Int,
        y: &Int,
        scalar: Scalar,
        span: Span,
    ) -> Value {
        match result {
            Ok(int) => Value::Int(self.wrapped_to(&int, scalar), scalar),
            Err(NotAffine) if x.is_uniform() && y.is_uniform() => {
                let id = self.world.symbols.fresh("an intermediate value".into(), Origin::Given, None, None);
                Value::Int(Int::symbol(id), scalar)
            }
            Err(NotAffine) => {
                let why = self.why_not_affine(x, y, span);
                match self.is_alike_in_warps(x) && self.is_alike_in_warps(y) {
                    true => self.integer_of_warp((scalar, (None, None)), Origin::Own, Variation::OfWarp, why),
                    false => Value::opaque(Variation::Maybe, why),
                }
            }
        }
    }

    fn why_not_affine(&self, x: &Int, y: &Int, span: Span) -> Unknown {
        let mut ids = x.terms.iter().chain(&y.terms).map(|(id, _)| *id);
        let detail = match ids.find(|id| !id.is_per_thread()) {
            Some(id) => {
                let undefined = if self.world.symbols.is_undefined(id) {
                    ", which no file that is read defines,"
                } else {
                    ""
                };
                let name = quoted(&self.world.symbols.get(id).name);
                format!("it depends on {name}{undefined} in a way that is not affine")
            }
            None => "it is not affine".to_string(),
        };
        Unknown::new(Reason::NotAffine, span, detail)
    }

    /// Compares integers of these types in the type that they have in common.
    pub(super) fn compare_integers(
        &mut self,
        relation: Relation,
        (x, from_x): (&Int, Scalar),
        (y, from_y): (&Int, Scalar),
        span: Span,
    ) -> Value {
        let scalar = promote(from_x, from_y, BinaryOp::Add);
        self.note_compared(&[from_x, from_y], span);
        if !scalar.is_unsigned() {
            let difference = self.world.minus(x, y);
            return self.relation_value(relation, difference, span);
        }
        let (x, y) = (self.refined(x.clone()), self.refined(y.clone()));
        let negative =
            [(&x, from_x), (&y, from_y)].map(|(int, from)| !from.is_unsigned() && self.is_negative(int));
        let (a, b) = (self.wrapped_to(&x, scalar), self.wrapped_to(&y, scalar));
        match (a.as_known(), b.as_known()) {
            (Some(a), Some(b)) => {
                let holds = |a: i64, b: i64| i64::from(relation.orders((a as u64).cmp(&(b as u64))));
                return Value::Int(Int::known(a.zip(b, self.shape(), holds)), Scalar::Bool);
            }
            // Below zero on one side is above whatever the other side may be.
            (Some(_), None) if negative[0] => return self.compare_above(relation, &x, &b, span),
            (None, Some(_)) if negative[1] => return self.compare_above(relation.mirrored(), &y, &a, span),
            _ => {}
        }
        let far = |int: &Int| scalar == Scalar::U64 && int.as_known().is_some() && self.is_negative(int);
        if far(&a) || far(&b) {
            let why = Unknown::new(Reason::NotAffine, span, "a number of 2^63 or more");
            let variation = Value::Int(self.world.sub(&a, &b), scalar).variation();
            return Value::Condition(Rc::new(Condition::Opaque(variation, why)));
        }
        let difference = match from_x.is_unsigned() && from_y.is_unsigned() {
            true => self.world.minus(&a, &b),
            // What is negative is large there.
            false => self.world.sub(&self.world.without_bound(&a), &self.world.without_bound(&b)),
        };
        self.relation_value(relation, difference, span)
    }

    /// Whether a known number is below zero in some active thread.
    fn is_negative(&self, int: &Int) -> bool {
        int.as_known()
            .is_some_and(|known| known.bounds(self.shape()).0 < 0 && self.any_active(known, |v| v < 0))
    }

    /// Compares a known signed number with an unsigned one that is not known: a thread in which it
    /// is below zero has one that is greater than any size.
    fn compare_above(&mut self, relation: Relation, known: &Int, other: &Int, span: Span) -> Value {
        let shape = self.shape();
        let below = ThreadSet::nonzero(&known.base.map(shape, |v| i64::from(v < 0)), shape);
        let above = relation.orders(Ordering::Greater);
        let inside = Int::known(known.base.map(shape, |v| v.max(0)));
        let difference = self.world.sub(&inside, other);
        let rest = self.relation_value(relation, difference, span);
        let rest = match self.condition_of(&rest, span) {
            _ if below == self.world.all => Condition::Known(ThreadSet::NONE),
            rest => rest,
        };
        if let Condition::Known(rest) = rest {
            return self.truth_in(&if above { rest.or(&below) } else { rest.minus(&below) });
        }
        let (known, rest) = (|bits| Rc::new(Condition::Known(bits)), Rc::new(rest));
        Value::Condition(Rc::new(match above {
            true => Condition::Or(known(below), rest),
            false => Condition::And(known(self.world.all.minus(&below)), rest),
        }))
    }
}

/// A value that C++ does not define.
pub(super) fn undefined(span: Span, what: &'static str) -> Value {
    Value::opaque(Variation::Maybe, Unknown::new(Reason::Undefined, span, what))
}
