//! On which side of a bound is the middle of a range of which both ends are given at run time?
//!
//! ```text
//! for (j = begin[r] + t; j < begin[r + 1]; j += 64)    inside: early rounds, and threads of low numbers
//! if (begin[r] + t >= begin[r + 1]) return;            the same, of what only leaves
//! if (t < n - n / 64 * 64)                             a way to share out what is left over: neither
//! ```

use super::machine::Machine;
use super::value::Relation;
use crate::domain::{Int, Lanes, Origin, SymbolId};

impl Machine<'_> {
    fn is_given(&self, id: SymbolId) -> bool {
        self.world.symbols.get(id).origin >= Origin::Given
    }

    /// The side on which a block in the middle of the problem is where both ends of that are given at run time, as in
    /// `for (i = first + t; i < last; i += 64)`: the one on which early rounds and threads of low numbers are. Without
    /// rounds it may be a way to share out what is left over: `t < n - n / 64 * 64`.
    pub(super) fn between_two_ends(
        &self,
        difference: &Int,
        relation: Relation,
        leaves: bool,
    ) -> Option<bool> {
        let shape = self.shape();
        if difference.terms.iter().any(|(_, factor)| factor.as_constant().is_none()) {
            return None;
        }
        // One end must not be made of what the other is made of: `n - n / 64 * 64` is a remainder.
        let mut roots: Vec<SymbolId> = Vec::new();
        for (id, _) in difference.terms.iter().filter(|(id, _)| self.is_given(*id)) {
            let of_term = self.world.symbols.roots(*id).unwrap_or_else(|| vec![*id]);
            if of_term.iter().any(|root| roots.contains(root)) {
                return None;
            }
            roots.extend(of_term);
        }
        let first = difference.base.at(0, shape);
        let (low, high) = difference.base.bounds(shape);
        let grows = match (low >= first, high <= first) {
            (true, false) => true,
            (false, true) => false,
            _ => return None,
        };
        let holds = match relation {
            Relation::Less | Relation::LessEqual => grows,
            Relation::Greater | Relation::GreaterEqual => !grows,
            Relation::Equal | Relation::NotEqual => return None,
        };
        let counts = |(id, factor): &(SymbolId, Lanes)| {
            let is_counter = self.world.symbols.get(*id).origin == Origin::Loop;
            is_counter && factor.as_constant().is_some_and(|factor| (factor > 0) == grows)
        };
        match holds {
            true => difference.terms.iter().any(counts).then_some(true),
            false => leaves.then_some(false),
        }
    }
}
