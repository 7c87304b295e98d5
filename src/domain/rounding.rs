//! How was divided what may be negative, and which numbers may be negative although they are taken not to be?
//!
//! Of one dividend, quotients that are rounded differently are one symbol; this tells where that matters.
//!
//! | number | taken to be | may be |
//! |---|---|---|
//! | `n % 8` | 0 to 7 | -7 to 7 |
//! | `n % 8 / 2`, `n % 8 % 4` | 0 to 3 | -3 to 3 |
//! | `(int)u`, with `u` a number without a sign | 0 to 4294967295 | of any sign |

use super::SymbolId;
use super::quotients::Division;
use rustc_hash::FxHashMap;

/// How numbers were divided whose sign is not known.
#[derive(Debug, Default)]
pub(super) struct Rounding {
    /// By the symbol of a quotient or rest.
    kinds: FxHashMap<SymbolId, Division>,
    /// The least value of what may be less than its symbol says; `None` if it is not known.
    least: FxHashMap<SymbolId, Option<i64>>,
}

impl Rounding {
    /// Notes what a symbol stands for; whether it stood for another number before.
    pub(super) fn note(&mut self, id: SymbolId, division: Division) -> bool {
        *self.kinds.entry(id).or_insert(division) != division
    }

    /// How the number was divided of which a symbol is the quotient or rest, if its sign is not known.
    pub(super) fn of(&self, id: SymbolId) -> Option<Division> {
        self.kinds.get(&id).copied()
    }

    /// Notes that a symbol may stand for no less than `least`, if that is known, whatever it says itself.
    pub(super) fn may_be_down_to(&mut self, id: SymbolId, least: Option<i64>) {
        let known = self.least.entry(id).or_insert(least);
        *known = known.zip(least).map(|(a, b)| a.min(b));
    }

    /// The least value of a symbol that may be less than it says.
    pub(super) fn least(&self, id: SymbolId) -> Option<Option<i64>> {
        self.least.get(&id).copied()
    }
}
