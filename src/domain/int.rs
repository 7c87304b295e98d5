//! What is known of an integer that rests on unknown numbers?
//!
//! It is affine in unknown symbols, with a factor per thread. Most symbols are uniform; some are one number in
//! each thread, as [`symbol`](super::symbol) says.
//!
//! `v[t] = base[t] + Σ factor_k[t] · symbol_k`. Worked example, in a block of 256 threads and a
//! loop whose counter `k` is not known:
//!
//! | expression | base | terms |
//! |---|---|---|
//! | `i = threadIdx.x + k * 256` | `x` | `256·k` |
//! | `i / 32` | `x / 32`, spread | `8·k` (256 is a multiple of 32: it distributes) |
//! | `i % 32` | `x % 32`, spread | none |
//! | `s[i] - s[i of lane 0]` | `x` | none: the symbol cancels between lanes |
//! | `k % 4` with `k` unknown | 0 | a new symbol `k % 4`, uniform, 0 to 3 |
//! | `(k + x) % 4` | - | not affine: whoever runs the loop is asked to unroll it by 4 |
//!
//! The last line is a *demand*: the operator notes that it would be decided if `k` were a
//! multiple of 4, and `exec::loop_plan` then runs four iterations in a row with `k = 4·q`. What can be said of
//! it without that, [`quotient`](super::quotient) says.

use super::{Lanes, Sight, SymbolId, gcd};

/// An integer per thread: known numbers plus known factors of unknown symbols.
#[derive(Clone, Debug)]
pub(crate) struct Int {
    /// The known part.
    pub base: Lanes,
    /// The factors, sorted by symbol, none of them zero for every thread.
    pub terms: Vec<(SymbolId, Lanes)>,
    /// What the compiler does not see of it.
    pub sight: Sight,
}

/// Equal numbers are equal, whatever the compiler sees of them.
impl PartialEq for Int {
    fn eq(&self, other: &Int) -> bool {
        self.base == other.base && self.terms == other.terms
    }
}

/// A result that is not affine. The caller knows where and says why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotAffine;

impl Int {
    /// The same known number for every thread.
    #[must_use]
    pub(crate) fn constant(value: i64) -> Int {
        Int::known(Lanes::constant(value))
    }

    /// Known numbers.
    #[must_use]
    pub(crate) fn known(base: Lanes) -> Int {
        Int::of(base, Vec::new())
    }

    /// A number of which the compiler sees what we see.
    #[must_use]
    pub(crate) fn of(base: Lanes, terms: Vec<(SymbolId, Lanes)>) -> Int {
        Int { base, terms, sight: Sight::default() }
    }

    /// One symbol.
    #[must_use]
    pub(crate) fn symbol(id: SymbolId) -> Int {
        Int::of(Lanes::constant(0), vec![(id, Lanes::constant(1))])
    }

    /// The number, when it is known and the same for every thread.
    #[must_use]
    pub(crate) fn as_constant(&self) -> Option<i64> {
        if self.terms.is_empty() { self.base.as_constant() } else { None }
    }

    /// The numbers, when they are known.
    #[must_use]
    pub(crate) fn as_known(&self) -> Option<&Lanes> {
        self.terms.is_empty().then_some(&self.base)
    }

    /// The symbol, when it is just that.
    #[must_use]
    pub(crate) fn as_symbol(&self) -> Option<SymbolId> {
        match self.terms.as_slice() {
            [(id, factor)]
                if self.base.is_zero() && factor.as_constant() == Some(1) && !id.is_per_thread() =>
            {
                Some(*id)
            }
            _ => None,
        }
    }

    /// Whether it is the same for every thread.
    #[must_use]
    pub(crate) fn is_uniform(&self) -> bool {
        self.is_alike() && !self.is_per_thread()
    }

    /// Whether it is made in the same way of symbols for every thread.
    pub(super) fn is_alike(&self) -> bool {
        self.base.as_constant().is_some() && self.terms.iter().all(|(_, f)| f.as_constant().is_some())
    }

    /// Whether it rests on numbers that each thread has of its own.
    #[must_use]
    pub(crate) fn is_per_thread(&self) -> bool {
        self.terms.iter().any(|(id, _)| id.is_per_thread())
    }

    /// The largest number known to divide the symbolic part; 0 without one.
    #[must_use]
    pub(crate) fn terms_gcd(&self) -> u64 {
        self.terms.iter().fold(0, |acc, (_, factor)| gcd(acc, factor.gcd()))
    }

    /// The constant and the terms, if they are the same for all threads.
    pub(crate) fn canonical(&self) -> Option<Vec<(u32, i64)>> {
        let mut list = vec![(SymbolId::CONSTANT, self.base.as_constant()?)];
        for (id, factor) in &self.terms {
            list.push((id.packed(), factor.as_constant()?));
        }
        Some(list)
    }
}

/// Whether the numbers from `low` to `high` lie in an integer type of `bits` bits.
#[must_use]
pub(crate) fn fits(low: i64, high: i64, bits: u32, signed: bool) -> bool {
    match (bits, signed) {
        (64.., _) => true,
        (_, true) => low >= -(1i64 << (bits - 1)) && high < 1i64 << (bits - 1),
        (_, false) => low >= 0 && high < 1i64 << bits,
    }
}
