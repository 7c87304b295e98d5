//! What is a value that is one of two, by a choice that is the same for all threads?
//!
//! It is the second and, where the choice is 1, their difference besides. What the condition says of one side may make
//! them differ by a constant. Worked example, a bound that is rounded up:
//!
//! ```text
//! end = n % 256 ? n - n % 256 + 256 : n;
//! ```
//!
//! With `n = 256 * q + r` the sides are `256 * q + 256` and `256 * q + r`, and the second is taken where `r` is 0. So the
//! value is `256 * q + 256 * choice`, which is a multiple of 256 either way.

use super::machine::Machine;
use super::parts::merge_parts;
use super::value::{Offset, Pointer, Target, Value};
use crate::domain::{Int, NotAffine, SymbolId, Variation};
use std::rc::Rc;

impl Machine<'_> {
    /// `a` when the uniform `choice` is 1, `b` when it is 0. `zero`: a number that is 0 on one of the two sides.
    pub(crate) fn choose(
        &mut self,
        a: &Value,
        b: &Value,
        choice: SymbolId,
        zero: Option<&(Int, bool)>,
    ) -> Value {
        if a == b {
            return a.clone();
        }
        if let Some(value) = self.host_choose(a, b, choice) {
            return value;
        }
        match (a, b) {
            (Value::Undefined, other) | (other, Value::Undefined) => other.clone(),
            // Nobody follows a null pointer, and whether this one is null is the same for all threads.
            (pointer @ Value::Pointer(Pointer { target: Target::Memory(..), .. }), Value::Int(null, _))
            | (Value::Int(null, _), pointer @ Value::Pointer(Pointer { target: Target::Memory(..), .. }))
                if null.as_constant() == Some(0) =>
            {
                pointer.clone()
            }
            (Value::Int(x, scalar), Value::Int(y, _)) => {
                let (difference, y) =
                    self.apart_by_a_constant(x, y, zero).unwrap_or_else(|| (self.world.sub(x, y), y.clone()));
                match self.world.mul(&difference, &Int::symbol(choice)) {
                    Ok(part) => Value::Int(self.world.add(&y, &part), *scalar),
                    Err(NotAffine) => self.lost(a, b),
                }
            }
            (Value::Pointer(p), Value::Pointer(q)) => match (&p.target, &q.target) {
                (Target::Memory(o, Offset::Known(x)), Target::Memory(r, Offset::Known(y))) if o == r => {
                    let difference = self.world.sub(x, y);
                    match self.world.mul(&difference, &Int::symbol(choice)) {
                        Ok(part) => {
                            let target = Target::Memory(*o, Offset::Known(self.world.add(y, &part)));
                            Value::Pointer(Pointer { target, ..p.clone() })
                        }
                        Err(NotAffine) => self.lost(a, b),
                    }
                }
                _ => self.chosen_pointer(p, q).map_or_else(|| self.lost(a, b), Value::Pointer),
            },
            (Value::Aggregate(x), Value::Aggregate(y)) => {
                let (x, y) = (Rc::clone(x), Rc::clone(y));
                merge_parts(&x, &y, |left, right| self.choose(left, right, choice, zero))
            }
            _ => {
                let uniform = a.variation() == Variation::Uniform && b.variation() == Variation::Uniform;
                match self.lost(a, b) {
                    Value::Opaque(_, why, ..) if uniform => Value::opaque(Variation::Uniform, why),
                    other => other,
                }
            }
        }
    }

    /// The difference of two numbers, if it is a constant once a multiple of what is 0 on one side is added there, and the
    /// second of them, which may have that multiple added.
    fn apart_by_a_constant(&mut self, x: &Int, y: &Int, zero: Option<&(Int, bool)>) -> Option<(Int, Int)> {
        let (zero, side) = zero?;
        let difference = self.world.sub(x, y);
        if difference.as_constant().is_some() {
            return None;
        }
        let (multiple, rest) = self.without_multiple(&difference, zero).or_else(|| {
            // What `n % 256` is made of.
            let (rest, _) = zero.terms.first()?;
            let told = self.world.with_remainder_expanded(zero, *rest)?;
            self.without_multiple(&difference, &told)
        })?;
        Some((rest, if *side { y.clone() } else { self.world.add(y, &multiple) }))
    }

    /// The multiple of a number that leaves a constant of a difference, and that constant.
    fn without_multiple(&self, difference: &Int, of: &Int) -> Option<(Int, Int)> {
        let (id, factor) = of.terms.first()?;
        let (_, in_difference) = difference.terms.iter().find(|(of, _)| of == id)?;
        let (factor, in_difference) = (factor.as_constant()?, in_difference.as_constant()?);
        let is_multiple = in_difference.checked_rem(factor)? == 0;
        let times = in_difference.checked_div(factor).filter(|_| is_multiple)?;
        let multiple = self.world.scale(of, times);
        let rest = self.world.sub(difference, &multiple);
        rest.as_constant().is_some().then_some((multiple, rest))
    }
}
