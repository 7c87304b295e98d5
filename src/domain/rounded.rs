//! What hangs on a dividend not being below 0?
//!
//! Quotients and rests of numbers that the launch gives are worked out as if these were not negative, which is told
//! where they are seen in a pattern of addresses. They may also cancel out: `n / 4 - (n >> 2)` is 0 only then.
//!
//! | with `n` not known | hangs on its sign |
//! |---|---|
//! | `n / 4 - n / 4`, `4 * n / 4` | no |
//! | `(4 * n + 3) / 4` taken for `n` | yes |
//! | `n / 4` and `n >> 2`, or `(unsigned)n / 4`, taken for one number | yes |
//! | `n % 4 >= 0` | yes |

use super::quotients::Division;
use super::{Int, NotAffine, Origin, SymbolId, World};

impl World {
    /// C++ `/` or `%` by a constant.
    pub(super) fn divide_by(
        &mut self,
        a: &Int,
        divisor: i64,
        is_rest: bool,
        division: Division,
    ) -> Result<Int, NotAffine> {
        if self.is_surely_nonnegative(a) {
            return if is_rest { self.floor_rem(a, divisor) } else { self.floor_div(a, divisor) };
        }
        self.take_nonnegative(a)?;
        // What is 2^32 more has the same rest.
        let division = match division {
            Division::Unsigned(_) if is_rest && divisor.count_ones() == 1 => Division::Floor,
            other => other,
        };
        if division != Division::Floor {
            let (_, left) = self.reduce(a, divisor);
            let step = divisor / left;
            let cut = Int::known(a.base.map(self.shape, |v| v.rem_euclid(step)));
            let vanishes = left == 1 && division != Division::Signed;
            if vanishes || cut.as_constant() != Some(0) {
                self.relied_on_signs.set(true);
            }
        }
        match is_rest {
            true => self.rest_by(a, divisor, division),
            false => self.quotient_by(a, divisor, division),
        }
    }

    /// Notes how the number is rounded that a symbol stands for.
    pub(super) fn note_rounding(&mut self, made: &Int, dividend: &Int, is_rest: bool, division: Division) {
        let [(id, _)] = made.terms.as_slice() else { return };
        if self.is_surely_nonnegative(dividend) {
            return;
        }
        if is_rest && division == Division::Signed {
            let least = self.symbols.get(*id).high.map(|high| -high);
            self.rounding.may_be_down_to(*id, least);
        }
        if self.rounding.note(*id, division) {
            self.relied_on_signs.set(true);
        }
    }

    /// Notes that a result may be negative if its operands may be, although they are taken not to be.
    pub(super) fn note_sign(&mut self, op: &str, made: SymbolId, operands: [&Int; 2]) {
        let is_taken = |int: &Int| self.is_nonnegative(int) && !self.is_surely_nonnegative(int);
        if matches!(op, "min" | "max") || !operands.into_iter().any(is_taken) {
            return;
        }
        let symbol = self.symbols.get(made);
        if symbol.low.is_some() {
            let least = match op {
                // Rounded down, -7 / 2 is -4.
                "/" | ">>" => symbol.high.map(|high| -high - 1),
                "%" => symbol.high.map(|high| -high),
                _ => None,
            };
            self.rounding.may_be_down_to(made, least);
        }
    }

    /// Notes that a number without a sign is read as one with a sign: it may be below 0 then.
    pub(crate) fn read_as_signed(&mut self, int: &Int) {
        for (id, _) in &int.terms {
            let symbol = self.symbols.get(*id);
            let is_given = |of: &SymbolId| self.symbols.get(*of).origin >= Origin::Given;
            if symbol.factors.iter().all(is_given) && symbol.low.is_some() {
                self.rounding.may_be_down_to(*id, None);
            }
        }
    }

    /// Least and greatest value of a symbol, where a rest has the sign of its dividend: `n % 4` is from -3 to 3, as far
    /// as one can tell.
    pub(crate) fn ends_of_any_sign(&self, id: SymbolId) -> (Option<i64>, Option<i64>) {
        let symbol = self.symbols.get(id);
        let low = match self.rounding.least(id) {
            Some(least) => least,
            None if symbol.factors.iter().any(|it| self.rounding.least(*it).is_some()) => None,
            None => symbol.low,
        };
        (low, symbol.high)
    }

    /// Least and greatest value of a number by which something is decided.
    pub(crate) fn bounds_of_any_sign(&self, number: &Int) -> (Option<i64>, Option<i64>) {
        match number.terms.iter().any(|(id, _)| self.ends_of_any_sign(*id).0 != self.symbols.get(*id).low) {
            true => self.bounds_with(number, |id| self.ends_of_any_sign(id)),
            false => self.bounds(number),
        }
    }

    /// Whether it is at least 0, whatever the signs of what it is made of.
    fn is_surely_nonnegative(&self, a: &Int) -> bool {
        self.bounds_of_any_sign(a).0.is_some_and(|low| low >= 0)
    }

    fn is_nonnegative(&self, a: &Int) -> bool {
        self.bounds(a).0.is_some_and(|low| low >= 0)
    }
}
