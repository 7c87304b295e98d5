//! Which quotients of a run are symbols?
//!
//! Equal quotients are one symbol, so that they cancel.

use super::{Int, SymbolId};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::{Hash, Hasher};

/// The most quotients of one run.
const MOST: usize = 4096;

/// The quotients of a run.
#[derive(Debug, Default)]
pub(super) struct Quotients {
    list: Vec<Quotient>,
    /// By what tells most operands apart.
    by_operands: FxHashMap<u64, Vec<u32>>,
    by_symbol: FxHashMap<SymbolId, u32>,
}

/// How two numbers are divided. A number that may be below 0 is a large one where it has no sign, so that the quotients
/// of the same numbers may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Division {
    /// Rounded down.
    Floor,
    /// Rounded towards zero.
    Signed,
    /// Of numbers without a sign, of so many bytes.
    Unsigned(u64),
}

impl Division {
    /// That of C++ integers of so many bytes.
    pub(crate) fn of(unsigned: bool, bytes: u64) -> Division {
        if unsigned { Division::Unsigned(bytes) } else { Division::Signed }
    }
}

/// A quotient.
#[derive(Debug)]
pub(super) struct Quotient {
    pub dividend: Int,
    pub divisor: Int,
    pub division: Division,
    pub symbol: SymbolId,
}

impl Quotients {
    /// The symbol that stands for a quotient.
    pub(super) fn find(&self, dividend: &Int, divisor: &Int, division: Division) -> Option<SymbolId> {
        let alike = self.by_operands.get(&hash(dividend, divisor))?;
        let same =
            |it: &&Quotient| it.division == division && it.dividend == *dividend && it.divisor == *divisor;
        alike.iter().filter_map(|at| self.list.get(*at as usize)).find(same).map(|it| it.symbol)
    }

    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= MOST
    }

    pub(super) fn add(&mut self, quotient: Quotient) {
        let at = self.list.len() as u32;
        self.by_operands.entry(hash(&quotient.dividend, &quotient.divisor)).or_default().push(at);
        self.by_symbol.insert(quotient.symbol, at);
        self.list.push(quotient);
    }

    /// The quotient that a symbol stands for.
    pub(super) fn of(&self, symbol: SymbolId) -> Option<&Quotient> {
        self.list.get(*self.by_symbol.get(&symbol)? as usize)
    }
}

fn hash(dividend: &Int, divisor: &Int) -> u64 {
    let mut hasher = FxHasher::default();
    for int in [dividend, divisor] {
        int.base.as_constant().hash(&mut hasher);
        int.terms.iter().for_each(|(id, factor)| (*id, factor.as_constant()).hash(&mut hasher));
    }
    hasher.finish()
}
