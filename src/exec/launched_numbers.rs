//! Which numbers does a launch get, and which of them together?

use super::host::settled::Settled;
use super::machine::Machine;
use crate::domain::{Int, SymbolId};

impl Machine<'_> {
    /// The numbers of a row on every way through host code. Ways that agree on the first `settled` of them are one,
    /// without the others on which they differ: each of these is asked for by itself, as it does not matter how they
    /// go together.
    pub(super) fn distinct_cases(
        &mut self,
        row: &[Option<Int>],
        settled: usize,
        way: &[(SymbolId, bool)],
    ) -> Vec<Vec<Option<Settled>>> {
        let differs = |at: usize| {
            at >= settled && row[at].as_ref().is_some_and(|number| self.open_choice(number, way).is_some())
        };
        let differing: Vec<usize> = (0..row.len()).filter(|at| differs(*at)).collect();
        let first = |at: usize| row[at].clone().filter(|_| !differing.contains(&at));
        let (mut cases, are_all) = self.cases(&(0..row.len()).map(first).collect::<Vec<_>>(), way);
        for at in differing.into_iter().filter(|_| are_all) {
            let with = [&row[..settled], &row[at..=at]].concat();
            // A number that is bounded is left open where a way does not reach its bound.
            let agree = |(one, other): (&Option<Settled>, &Option<Settled>)| {
                one.is_none() || other.is_none() || one == other
            };
            let is_of = |it: &[Option<Settled>], case: &[Option<Settled>]| {
                it[..settled].iter().zip(&case[..settled]).all(agree)
            };
            let of = |case: &[Option<Settled>], with: &[Vec<Option<Settled>>]| {
                let mut here = with.iter().filter(|it| is_of(it, case)).map(|it| it[settled]);
                let first = here.next()?;
                Some(first.filter(|first| here.all(|other| other == Some(*first))))
            };
            // More ways do not make a number known of which these say different things.
            let is_launched =
                |case: &&Vec<Option<Settled>>| case[..3].iter().flatten().all(|size| size.value > 0);
            let are_enough =
                |with: &[Vec<_>]| cases.iter().filter(is_launched).all(|case| of(case, with) == Some(None));
            let (with, are_all) = self.cases_until(&are_enough, &with, way);
            if !are_all {
                continue;
            }
            cases.retain_mut(|case| {
                let number = of(case, &with);
                case[at] = number.flatten();
                // The numbers of some ways go with none of this one.
                number.is_some()
            });
        }
        if !are_all {
            cases.iter_mut().for_each(|case| case[settled..].fill(None));
            cases.retain(|case| case.iter().any(Option::is_some));
            cases.push(vec![None; row.len()]);
        }
        self.host.cut |= cases.is_empty();
        // `n == 0 ? 1 : threads_for(n)`: a block of one thread is what is left where there is nothing to do.
        if cases.iter().any(|case| case[..3].contains(&None)) {
            let is_one = |size: &Option<Settled>| size.is_some_and(|it| it.value == 1);
            cases.retain(|case| !case[..3].iter().all(is_one));
        }
        cases
    }
}
