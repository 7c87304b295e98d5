//! What is remembered of the ways through the choices of host code?

use crate::domain::SymbolId;
use crate::exec::value::Condition;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// A condition that holds, or fails.
pub(crate) type Claim = Rc<(Condition, bool)>;

/// What was found of ways through choices, while what is known around them stays the same. The numbers of a launch are
/// asked for one by one, each on every way.
#[derive(Debug, Default)]
pub(crate) struct Ways {
    claims: Vec<Claim>,
    facts: Vec<(SymbolId, i64)>,
    counts: [usize; 3],
    /// Whether what is known can hold together, by the way that the choices went.
    pub consistent: FxHashMap<Vec<(SymbolId, bool)>, bool>,
    /// The claims in groups, once they were asked for.
    pub groups: Option<Groups>,
}

impl Ways {
    /// Forgets all ways if other things are known now. `counts`: how many numbers are made of others, how many conditions
    /// make choices, and how many tell more. These only grow.
    pub fn keep_for(&mut self, claims: &[Claim], facts: &[(SymbolId, i64)], counts: [usize; 3]) {
        let is_same = self.claims.len() == claims.len()
            && self.claims.iter().zip(claims).all(|(one, other)| Rc::ptr_eq(one, other));
        if !is_same || self.facts != facts || self.counts != counts {
            let (claims, facts) = (claims.to_vec(), facts.to_vec());
            *self = Ways { claims, facts, counts, ..Ways::default() };
        }
    }
}

/// Claims in groups that have no unknown number in common.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// The group of each claim.
    pub of_claims: Vec<u32>,
    /// The group of each symbol on which a claim rests.
    pub of_symbols: FxHashMap<SymbolId, u32>,
    /// The groups on which a choice bears that went a way.
    pub of_choices: FxHashMap<(SymbolId, bool), Rc<[u32]>>,
}

impl Groups {
    /// Takes in the next claim, which rests on these symbols.
    pub fn add(&mut self, symbols: impl Iterator<Item = SymbolId> + Clone) {
        let new = self.of_claims.len() as u32;
        let joined: Vec<u32> =
            symbols.clone().filter_map(|symbol| self.of_symbols.get(&symbol).copied()).collect();
        if !joined.is_empty() {
            let groups = self.of_claims.iter_mut().chain(self.of_symbols.values_mut());
            groups.filter(|group| joined.contains(group)).for_each(|group| *group = new);
        }
        self.of_claims.push(new);
        self.of_symbols.extend(symbols.map(|symbol| (symbol, new)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::{Origin, Shape, World};

    #[test]
    fn claims_are_of_one_group_where_a_number_leads_from_one_to_the_other() {
        let mut world = World::new(Shape { dims: [1, 1, 1] });
        let mut fresh = |name: &'static str| world.symbols.fresh(name.into(), Origin::Given, None, None);
        let [rows, columns, n, limit] = ["rows", "columns", "n", "limit"].map(&mut fresh);
        let mut groups = Groups::default();
        for symbols in [&[rows][..], &[n, limit], &[columns], &[], &[limit]] {
            groups.add(symbols.iter().copied());
        }
        assert_eq!(groups.of_claims, [0, 4, 2, 3, 4]);
        groups.add([rows, n].into_iter());
        assert_eq!(groups.of_claims, [5, 5, 2, 3, 5, 5]);
        assert_eq!([rows, columns, n, limit].map(|it| groups.of_symbols[&it]), [5, 2, 5, 5]);
    }
}
