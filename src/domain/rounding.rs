//! How was divided what may be below 0?
//!
//! Of one dividend, quotients that are rounded differently are one symbol; this tells where that matters.

use super::SymbolId;
use super::quotients::Division;
use rustc_hash::{FxHashMap, FxHashSet};

/// How numbers were divided whose sign is not known.
#[derive(Debug, Default)]
pub(super) struct Rounding {
    /// By the symbol of a quotient or rest.
    kinds: FxHashMap<SymbolId, Division>,
    /// The rests that have the sign of their dividend.
    signed_rests: FxHashSet<SymbolId>,
}

impl Rounding {
    /// Notes what a symbol stands for; whether it stood for another number before.
    pub(super) fn note(&mut self, id: SymbolId, is_rest: bool, division: Division) -> bool {
        if is_rest && division == Division::Signed {
            self.signed_rests.insert(id);
        }
        *self.kinds.entry(id).or_insert(division) != division
    }

    /// How the number was divided of which a symbol is the quotient or rest, if its sign is not known.
    pub(super) fn of(&self, id: SymbolId) -> Option<Division> {
        self.kinds.get(&id).copied()
    }

    /// Whether a symbol is taken to be at least 0 and is a rest that may be less.
    pub(super) fn may_be_less(&self, id: SymbolId) -> bool {
        self.signed_rests.contains(&id)
    }
}
