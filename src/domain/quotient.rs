//! What is known of a quotient or a remainder that is not affine?
//!
//! `(threadIdx.x + 16 * k) % 2048`, with `k` unknown, wraps in some threads and not in others. How often it wraps is a
//! number of each thread's own, `q`, and the remainder is the dividend without `2048 * q`. That is enough for much:
//!
//! | expression | known |
//! |---|---|
//! | `r = (x + 16 * k) % 2048` | `x + 16k - 2048q`, from 0 to 2047: as far apart in the banks as `x` |
//! | `(r + 16) % 2048` | the same expression as `(x + 16 * (k + 1)) % 2048` |
//! | `(x / n) * n + x % n` | `x`: the quotient of `x` and `n` is one number, wherever it stands |
//! | `n - n % 256` | `256 * (n / 256)`: a multiple of 256 |
//!
//! A remainder by a constant is brought into one form: multiples of the divisor go, the known part becomes what it is
//! modulo the divisor, and a common factor of divisor and unknown part is taken out.

use super::quotients::{Division, Quotient};
use super::{Int, Lanes, Origin, SymbolId, World, gcd};

impl World {
    /// `a - m * floor(a / m)` for `m > 0`, in the one form that all equal remainders of this divisor have.
    pub(crate) fn residue(&mut self, a: &Int, m: i64) -> Option<Int> {
        let shape = self.shape;
        let mut least = Int::known(a.base.map(shape, |v| v.rem_euclid(m)));
        for (id, factor) in &a.terms {
            let factor = match factor.as_constant() {
                Some(factor) if factor % m == 0 => continue,
                Some(_) => factor.clone(),
                None => factor.map(shape, |v| v.rem_euclid(m)),
            };
            if !factor.is_zero() {
                least.terms.push((*id, factor));
            }
        }
        if let Ok(rest) = self.floor_rem(&least, m) {
            return Some(rest);
        }
        let step = gcd(least.terms_gcd(), m.unsigned_abs()) as i64;
        let terms = least.terms.iter().map(|(id, f)| (*id, f.map(shape, |v| v / step))).collect();
        let reduced = Int::of(least.base.map(shape, |v| v.div_euclid(step)), terms);
        let often = self.quotient(&reduced, &Int::constant(m / step), Division::Floor)?;
        Some(self.sub(&least, &self.scale(&often, m)))
    }

    /// `floor(a / m)` for `m > 0`.
    pub(crate) fn floor_quotient(&mut self, a: &Int, m: i64) -> Option<Int> {
        if let Ok(known) = self.floor_div(a, m) {
            return Some(known);
        }
        let rest = self.residue(a, m)?;
        let multiple = self.sub(a, &rest);
        let divides = |lanes: &Lanes| lanes.gcd().is_multiple_of(m.unsigned_abs());
        if !divides(&multiple.base) || !multiple.terms.iter().all(|(_, factor)| divides(factor)) {
            return None;
        }
        let shape = self.shape;
        let terms = multiple.terms.iter().map(|(id, f)| (*id, f.map(shape, |v| v / m))).collect();
        Some(Int::of(multiple.base.map(shape, |v| v / m), terms))
    }

    /// The quotient of two numbers: one symbol for equal numbers that are divided alike.
    pub(crate) fn quotient(&mut self, a: &Int, b: &Int, division: Division) -> Option<Int> {
        let is_positive = |int: &Int| self.bounds(int).0.is_some_and(|low| low >= 0);
        let division = match division {
            Division::Unsigned(_) if is_positive(a) && is_positive(b) => Division::Signed,
            division => division,
        };
        if let Some(known) = self.quotients.find(a, b, division) {
            return Some(Int::symbol(known));
        }
        if self.quotients.is_full() {
            return None;
        }
        let own = a.terms.iter().chain(&b.terms).map(|(id, _)| *id).filter(|id| id.is_per_thread());
        let origin = own.map(|id| self.symbols.get(id).origin).max().unwrap_or(Origin::Own);
        let range = match (b.as_constant(), self.bounds(a)) {
            (Some(by @ 1..), (low, high))
                if division == Division::Floor || low.is_some_and(|low| low >= 0) =>
            {
                (low.map(|low| low.div_euclid(by)), high.map(|high| high.div_euclid(by)))
            }
            // The divisor of an unsigned division, too, is 1 or more.
            (_, (Some(0..), high)) => {
                let may_turn = division == Division::Signed && !is_positive(b);
                (if may_turn { high.map(|high| -high) } else { Some(0) }, high)
            }
            _ => (None, None),
        };
        let symbol = match [a, b].into_iter().all(|int| self.is_one_in_each_warp(int)) {
            true => self.symbols.fresh_of_warp(origin, range),
            false => self.symbols.fresh_per_thread(origin, range),
        };
        self.quotients.add(Quotient { dividend: a.clone(), divisor: b.clone(), division, symbol });
        Some(Int::symbol(symbol))
    }

    /// The same number with `256 * (n / 256)` in place of `n - n % 256`, where all threads share `n`.
    pub(crate) fn with_remainder_folded(&mut self, sum: Int) -> Int {
        let folded = sum.terms.iter().find_map(|(id, factor)| {
            let ((_, terms), _) = self.symbols.uniform_remainder(*id)?;
            let times = factor.as_constant()?.checked_neg()?;
            let holds = |(of, factor): &(SymbolId, i64)| {
                let (wanted, mut terms) = (factor.checked_mul(times), sum.terms.iter());
                wanted.is_some() && terms.any(|(id, factor)| id == of && factor.as_constant() == wanted)
            };
            (!terms.is_empty() && terms.iter().all(holds)).then_some(*id)
        });
        folded.and_then(|remainder| self.with_remainder_expanded(&sum, remainder)).unwrap_or(sum)
    }

    /// The same number with `n - 256 * (n / 256)` in place of a remainder, `n % 256`, where all threads share `n`.
    pub(crate) fn with_remainder_expanded(&mut self, sum: &Int, remainder: SymbolId) -> Option<Int> {
        let ((base, terms), divisor) = self.symbols.uniform_remainder(remainder)?;
        let (_, times) = sum.terms.iter().find(|(id, _)| *id == remainder)?;
        let times = times.as_constant()?;
        let terms = terms.into_iter().map(|(id, factor)| (id, Lanes::constant(factor))).collect();
        let dividend = Int::of(Lanes::constant(base), terms);
        let quotient = self.symbolic_operation("/", &dividend, &Int::constant(divisor), 0).ok()?;
        if let (Some(id), Some(division)) = (quotient.as_symbol(), self.rounding.of(remainder))
            && self.rounding.note(id, division)
        {
            self.relied_on_signs.set(true);
        }
        let expanded = self.sub(&dividend, &self.scale(&quotient, divisor));
        let more = self.scale(&self.sub(&expanded, &Int::symbol(remainder)), times);
        Some(Int { sight: sum.sight, ..self.add(sum, &more) })
    }

    /// By what constant a symbol is the quotient, rounded down, and of what.
    pub(super) fn floored(&self, symbol: SymbolId) -> Option<(&Int, i64)> {
        let quotient = self.quotients.of(symbol).filter(|it| it.division == Division::Floor)?;
        Some((&quotient.dividend, quotient.divisor.as_constant()?))
    }

    /// Whether all lanes of a warp have the same number.
    fn is_one_in_each_warp(&self, int: &Int) -> bool {
        let shape = self.shape;
        let alike = |lanes: &Lanes| {
            let in_warps = |values: &[i64]| {
                values.chunks(32).all(|warp| warp.iter().all(|value| Some(value) == warp.first()))
            };
            lanes.as_constant().is_some() || in_warps(&lanes.spread(shape))
        };
        let of_warp = |id: SymbolId| !id.is_per_thread() || self.symbols.get(id).of_warp;
        alike(&int.base) && int.terms.iter().all(|(id, factor)| of_warp(*id) && alike(factor))
    }
}

#[cfg(test)]
mod tests;
