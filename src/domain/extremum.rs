//! What is the smaller or the larger of two numbers, and what is left of it when something is taken away?
//!
//! Example: rows `k` to `end` of `m` are a batch, `end = min(m, k + 512)`. Of `end - k`, both numbers in `end` without
//! `k` are what tells: it is `min(m - k, 512)`, and no more than 512.

use super::symbol::Sum;
use super::{Int, Lanes, NotAffine, SymbolId, World};

/// A symbol that is the smaller or the larger of two numbers.
struct Extremum {
    id: SymbolId,
    /// Whether it is the larger.
    max: bool,
    of: [Int; 2],
}

impl World {
    /// The smaller or larger.
    pub(crate) fn extremum(&mut self, a: &Int, b: &Int, max: bool) -> Result<Int, NotAffine> {
        let difference = self.sub(a, b);
        let (low, high) = self.bounds(&difference);
        if low.is_some_and(|v| v >= 0) || high.is_some_and(|v| v <= 0) {
            self.note_decided(&difference);
        }
        if low.is_some_and(|v| v >= 0) {
            return Ok(if max { a.clone() } else { b.clone() });
        }
        if high.is_some_and(|v| v <= 0) {
            return Ok(if max { b.clone() } else { a.clone() });
        }
        if max {
            self.known_or_symbolic("max", a, b, i64::max)
        } else {
            self.known_or_symbolic("min", a, b, i64::min)
        }
    }

    /// Difference. What is taken from the smaller or larger of two numbers is taken from these, where it is in one of
    /// them.
    pub(crate) fn minus(&mut self, a: &Int, b: &Int) -> Int {
        let difference = self.sub(a, b);
        if b.terms.is_empty() {
            return difference;
        }
        let Some((found, factor, shared)) = self.shared_with_extremum(&difference) else { return difference };
        let [one, other] = found.of.map(|of| self.sub(&of, &shared));
        let Ok(left) = self.extremum(&one, &other, found.max) else { return difference };
        let rest = self.sub(&difference, &self.scale(&Int::symbol(found.id), factor));
        let rest = self.add(&rest, &self.scale(&shared, factor));
        Int { sight: difference.sight, ..self.add(&rest, &self.scale(&left, factor)) }
    }

    /// The smaller or larger of two numbers in a sum, its factor, and the terms of one of the two, which the sum has
    /// as often as that factor says, with the other sign.
    fn shared_with_extremum(&self, sum: &Int) -> Option<(Extremum, i64, Int)> {
        sum.terms.iter().find_map(|(id, factor)| {
            let factor = factor.as_constant()?;
            let (max, of) = self.symbols.extremum(*id)?;
            let found = Extremum { id: *id, max, of: of.map(number) };
            let is_less = |(id, times): &(SymbolId, Lanes)| {
                let times = times.as_constant().and_then(|times| times.checked_mul(-factor));
                times.is_some()
                    && sum.terms.iter().any(|(other, of)| other == id && of.as_constant() == times)
            };
            let shared = found.of.iter().find(|of| !of.terms.is_empty() && of.terms.iter().all(is_less))?;
            let shared = Int::of(Lanes::constant(0), shared.terms.clone());
            Some((found, factor, shared))
        })
    }
}

fn number((constant, terms): Sum) -> Int {
    let terms = terms.into_iter().map(|(id, factor)| (id, Lanes::constant(factor)));
    Int::of(Lanes::constant(constant), terms.collect())
}
