//! What is the smaller or the larger of two numbers, and what is left of it when something is taken away?
//!
//! Example: rows `k` to `end` of `m` are a batch, `end = min(m, k + 512)`. Of `end - k`, both numbers in `end` without
//! `k` are what tells: it is `min(m - k, 512)`, and no more than 512.

use super::symbol::Sum;
use super::{AmongBlocks, Int, Lanes, NotAffine, SymbolId, World};

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
        let (low, high) = self.bounds_of_any_sign(&difference);
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

    /// Difference. What one of two numbers has in common with the other, where that is the smaller or larger of two
    /// more, is taken from these.
    pub(crate) fn minus(&mut self, a: &Int, b: &Int) -> Int {
        let difference = self.sub(a, b);
        if a.terms.is_empty() || b.terms.is_empty() {
            return difference;
        }
        let in_first = self.shared_with_extremum(a, b);
        let in_second = || {
            let (found, factor, shared) = self.shared_with_extremum(b, a)?;
            Some((found, -factor, shared))
        };
        let Some((found, factor, shared)) = in_first.or_else(in_second) else { return difference };
        let [one, other] = found.of.map(|of| self.sub(&of, &shared));
        let Ok(left) = self.extremum(&one, &other, found.max) else { return difference };
        if let Some(symbol) = left.as_symbol() {
            let before = self.sub(&Int::symbol(found.id), &shared);
            self.reduced.entry(symbol).or_insert(before);
        }
        let rest = self.sub(&difference, &self.scale(&Int::symbol(found.id), factor));
        let rest = self.add(&rest, &self.scale(&shared, factor));
        Int { sight: difference.sight, ..self.add(&rest, &self.scale(&left, factor)) }
    }

    /// The same without what [`World::minus`] found out of it: nothing bounds a number from above that is compared
    /// without its sign and may be negative.
    pub(crate) fn without_bound(&self, a: &Int) -> Int {
        a.terms.iter().fold(a.clone(), |sum, (id, factor)| {
            match (self.reduced.get(id), factor.as_constant()) {
                (Some(before), Some(factor)) => {
                    let difference = self.sub(before, &Int::symbol(*id));
                    self.add(&sum, &self.scale(&difference, factor))
                }
                _ => sum,
            }
        })
    }

    /// What a number is where sizes given at run time are as large as one likes, if it does not grow with them: of
    /// `min(m - k, 512)` it is 512, and what that leaves when divided by 4 is 0.
    pub(crate) fn at_large(&self, id: SymbolId) -> Option<i64> {
        if self.symbols.reaches_its_bound(id, false) {
            return self.symbols.get(id).high;
        }
        self.computed(id, &|id| self.at_large(id))
    }

    /// What a number is in a block: `blockIdx.x % 4` is 1 in block 5.
    pub(crate) fn in_block(&self, id: SymbolId, block: [i64; 3]) -> Option<i64> {
        match self.symbols.get(id).among_blocks {
            AmongBlocks::Index(axis) => Some(block[axis]),
            _ => self.computed(id, &|id| self.in_block(id, block)),
        }
    }

    /// What a quotient, a remainder or some bits of a sum are, given the numbers in it.
    fn computed(&self, id: SymbolId, value_of: &dyn Fn(SymbolId) -> Option<i64>) -> Option<i64> {
        let (op, [of, by]) = self.symbols.operation(id)?;
        let ((constant, terms), (by, others)) = (of, by);
        let value = terms
            .iter()
            .try_fold(constant, |sum, (id, factor)| sum.checked_add(factor.checked_mul(value_of(*id)?)?))?;
        match op {
            "/" if others.is_empty() && by > 0 && value >= 0 => Some(value / by),
            "%" if others.is_empty() && by > 0 && value >= 0 => Some(value % by),
            "&" if others.is_empty() => Some(value & by),
            _ => None,
        }
    }

    /// The smaller or larger of two numbers in a sum, its factor, and the terms of one of the two that another sum has,
    /// as often as that factor says.
    fn shared_with_extremum(&self, sum: &Int, with: &Int) -> Option<(Extremum, i64, Int)> {
        sum.terms.iter().find_map(|(id, factor)| {
            let factor = factor.as_constant()?;
            let (op, of) = self.symbols.operation(*id)?;
            let max = match op {
                "min" => false,
                "max" => true,
                _ => return None,
            };
            let found = Extremum { id: *id, max, of: of.map(number) };
            let is_shared = |(id, times): &(SymbolId, Lanes)| {
                let times = times.as_constant().and_then(|times| times.checked_mul(factor));
                let is_it = |(other, of): &(SymbolId, Lanes)| other == id && of.as_constant() == times;
                times.is_some() && with.terms.iter().any(is_it)
            };
            let shared = found.of.iter().find(|of| !of.terms.is_empty() && of.terms.iter().all(is_shared))?;
            let shared = Int::of(Lanes::constant(0), shared.terms.clone());
            Some((found, factor, shared))
        })
    }
}

fn number((constant, terms): Sum) -> Int {
    let terms = terms.into_iter().map(|(id, factor)| (id, Lanes::constant(factor)));
    Int::of(Lanes::constant(constant), terms.collect())
}
