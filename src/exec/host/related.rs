//! Which of the conditions around bear on a choice?
//!
//! ```text
//! assert(rows % 8 == 0);   assert(n > 0);   if (n <= 64) { kernel<<<1, n <= 32 ? 32 : 64>>>(); }
//! ```
//!
//! Whether `n <= 32` can hold rests on what is asked of `n`, and not on what is asked of `rows`. So conditions are kept
//! in groups that have no unknown number in common. A number that is made of others rests on these and on the
//! conditions of its choices.

use super::Machine;
use super::choices::Way;
use crate::domain::{Int, SymbolId};
use crate::exec::machine::{Groups, How, Ways};
use crate::exec::value::Condition;
use rustc_hash::FxHashSet;

impl Machine<'_> {
    /// For each condition around, whether it has to do with what is known where the choices went as `way` says.
    pub(super) fn bearing_on(&self, way: &Way, ways: &mut Ways) -> Vec<bool> {
        let groups = ways.groups.get_or_insert_with(|| {
            let mut groups = Groups::default();
            for claim in &self.state.claims {
                groups.add(self.symbols_behind([&claim.0]).iter().copied());
            }
            groups
        });
        for made in way {
            if !groups.of_choices.contains_key(made) {
                let implied = self.host.implied.get(made).into_iter().flatten();
                let asked = implied.flat_map(|it| it.asked.iter()).map(|claim| &claim.0);
                let mut symbols =
                    self.symbols_behind(self.host.conditions.get(&made.0).into_iter().chain(asked));
                symbols.insert(made.0);
                let of_choice: FxHashSet<u32> =
                    symbols.iter().filter_map(|symbol| groups.of_symbols.get(symbol).copied()).collect();
                groups.of_choices.insert(*made, of_choice.into_iter().collect());
            }
        }
        let is_met = |group: &u32| way.iter().any(|made| groups.of_choices[made].contains(group));
        groups.of_claims.iter().map(is_met).collect()
    }

    /// The symbols on which conditions rest, with those of which others are made.
    pub(super) fn symbols_behind<'c>(
        &self,
        conditions: impl IntoIterator<Item = &'c Condition>,
    ) -> FxHashSet<SymbolId> {
        let mut symbols = Vec::new();
        for condition in conditions {
            super::refuted::differences(condition, &mut |difference| terms(difference, &mut symbols));
        }
        self.symbols_of(symbols)
    }

    /// Symbols, with those of which they are made and on which their choices rest.
    pub(super) fn symbols_of(&self, symbols: impl IntoIterator<Item = SymbolId>) -> FxHashSet<SymbolId> {
        let mut waiting: Vec<SymbolId> = symbols.into_iter().collect();
        let mut symbols = FxHashSet::default();
        while let Some(symbol) = waiting.pop() {
            if !symbols.insert(symbol) {
                continue;
            }
            if let Some(made) = self.host.made.get(&symbol) {
                terms(&made.x, &mut waiting);
                terms(&made.y, &mut waiting);
                if let How::Either(choice) = made.how {
                    waiting.push(choice);
                }
            }
            if let Some(condition) = self.host.conditions.get(&symbol) {
                super::refuted::differences(condition, &mut |difference| terms(difference, &mut waiting));
            }
        }
        symbols
    }
}

/// Adds the symbols of a sum.
fn terms(int: &Int, to: &mut Vec<SymbolId>) {
    to.extend(int.terms.iter().map(|(id, _)| *id));
}
