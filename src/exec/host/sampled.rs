//! Are there numbers with which host code comes to a launch with this block?
//!
//! What the conditions around a launch do not refute need not be possible, for they are compared in few ways only.
//! Where a choice decides on the block, and rests on numbers of which the conditions around ask something too, numbers
//! are tried out: those that meet all conditions show which blocks are launched. A block that none of them leads to
//! may be one that is never launched.
//!
//! Example: no positive `colors` leads to a block of 4 rows here.
//!
//! ```text
//! rows = 4;
//! if (colors > 3) rows = colors % 8 == 0 ? 8 : 4;
//! if (colors % 8 == 0) kernel<<<1, dim3(32, rows)>>>();
//! ```
//!
//! | `colors` | the condition around | rows |
//! |---|---|---|
//! | 2 | fails | |
//! | 8 | holds | 8 |

use super::Machine;
use super::refuted::differences;
use super::settled::{Settled, operate};
use crate::domain::{Int, SymbolId};
use crate::exec::machine::{How, Made};
use crate::exec::value::{Condition, Relation};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Sets of numbers that are tried.
const SAMPLES: u32 = 1000;
/// Numbers that sizes often are, and some that they seldom are. No size is 0 or less.
const USUAL: [i64; 20] =
    [1, 2, 3, 5, 8, 16, 24, 32, 48, 64, 96, 100, 128, 192, 256, 384, 512, 1000, 1024, 4096];
/// Between so many numbers and fewer, all are tried.
const FEW: u64 = 16;
/// Any seed does; the same one finds the same in each run.
const SEED: u64 = 1;

/// A condition, and whether it holds or fails.
type Asked<'a> = (&'a Condition, bool);

/// One set of numbers, with what follows from it.
struct Sample<'a> {
    made: &'a FxHashMap<SymbolId, Made>,
    conditions: &'a FxHashMap<SymbolId, Condition>,
    numbers: RefCell<FxHashMap<SymbolId, Option<i64>>>,
}

impl Machine<'_> {
    /// Of the first numbers in each of several cases of a launch, which are `row` there, whether none of the sets of
    /// numbers that are tried leads to them. Where none meets the conditions around, that tells nothing of any case.
    pub(in crate::exec) fn unmet(&self, row: &[Option<Int>], cases: &[Vec<Option<Settled>>]) -> Vec<bool> {
        let none = vec![false; cases.len()];
        let numbers: Vec<&Int> = row.iter().flatten().filter(|it| !it.terms.is_empty()).collect();
        if cases.len() < 2 || numbers.is_empty() {
            return none;
        }
        let Some((claims, symbols)) = self.claims_on(&numbers) else { return none };
        let mut candidates: Vec<(SymbolId, Vec<i64>)> =
            self.candidates(&claims, &symbols).into_iter().collect();
        candidates.sort_unstable();
        let (mut unmet, mut is_reached) = (vec![true; cases.len()], false);
        let mut random = fastrand::Rng::with_seed(SEED);
        for _ in 0..SAMPLES {
            let numbers = candidates.iter().map(|(id, of)| (*id, random.choice(of).copied())).collect();
            let (made, conditions) = (&self.host.made, &self.host.conditions);
            let sample = Sample { made, conditions, numbers: RefCell::new(numbers) };
            if !claims
                .iter()
                .all(|(condition, holds)| sample.decides(condition).is_none_or(|it| it == *holds))
            {
                continue;
            }
            is_reached = true;
            let met: Vec<Option<i64>> = row.iter().map(|number| sample.number(number.as_ref()?)).collect();
            for (case, unmet) in cases.iter().zip(&mut unmet) {
                let agrees = |(known, met): (&Option<Settled>, &Option<i64>)| {
                    known.zip(*met).is_none_or(|(known, met)| known.value == met)
                };
                *unmet &= !case.iter().zip(&met).all(agrees);
            }
            if !unmet.contains(&true) {
                break;
            }
        }
        if is_reached { unmet } else { none }
    }

    /// Whether a symbol is a number that is given at run time, and not made of others.
    fn is_from_outside(&self, symbol: SymbolId) -> bool {
        !self.host.made.contains_key(&symbol) && !self.host.conditions.contains_key(&symbol)
    }

    /// The conditions around that ask something of what these numbers rest on, and all symbols that are behind either;
    /// none if there are no such conditions.
    fn claims_on(&self, numbers: &[&Int]) -> Option<(Vec<Asked<'_>>, FxHashSet<SymbolId>)> {
        let mut symbols = self.symbols_of(numbers.iter().flat_map(|int| int.terms.iter().map(|(id, _)| *id)));
        let all = self.state.claims.iter().map(|claim| (&claim.0, claim.1));
        let mut rest: Vec<(Asked<'_>, FxHashSet<SymbolId>)> =
            all.map(|asked| (asked, self.symbols_behind([asked.0]))).collect();
        let mut claims = Vec::new();
        loop {
            let bears = |(_, of): &(Asked<'_>, FxHashSet<SymbolId>)| {
                of.iter().any(|symbol| self.is_from_outside(*symbol) && symbols.contains(symbol))
            };
            let (more, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(bears);
            if more.is_empty() {
                break;
            }
            for (asked, of) in more {
                claims.push(asked);
                symbols.extend(of);
            }
            rest = others;
        }
        (!claims.is_empty()).then_some((claims, symbols))
    }

    /// What each number that is given at run time is tried to be: what sizes often are, and what is near the numbers
    /// in the conditions. What is compared with 0 itself need not be a size.
    fn candidates(
        &self,
        claims: &[Asked<'_>],
        symbols: &FxHashSet<SymbolId>,
    ) -> FxHashMap<SymbolId, Vec<i64>> {
        let mut near = USUAL.to_vec();
        let mut own: Vec<(SymbolId, i64)> = Vec::new();
        let chosen = symbols.iter().filter_map(|symbol| self.host.conditions.get(symbol));
        for condition in claims.iter().map(|claim| claim.0).chain(chosen) {
            differences(condition, &mut |difference| {
                near.extend(difference.base.as_constant().into_iter().flat_map(around));
                let compared = compared(difference).into_iter();
                own.extend(compared.flat_map(|(symbol, number)| around(number).map(|it| (symbol, it))));
            });
        }
        for made in symbols.iter().filter_map(|symbol| self.host.made.get(symbol)) {
            near.extend(
                [&made.x, &made.y].into_iter().filter_map(|it| it.base.as_constant()).flat_map(around),
            );
        }
        let mut of: FxHashMap<SymbolId, Vec<i64>> = FxHashMap::default();
        for symbol in symbols.iter().filter(|symbol| self.is_from_outside(**symbol)) {
            let (low, high) = self.world.bounds(&Int::symbol(*symbol));
            let is_within =
                |it: &i64| low.is_none_or(|low| *it >= low) && high.is_none_or(|high| *it <= high);
            let few = low.zip(high).filter(|(low, high)| high.abs_diff(*low) < FEW);
            let mut numbers: Vec<i64> = match few {
                Some((low, high)) => (low..=high).collect(),
                None => {
                    let sizes = near
                        .iter()
                        .map(|number| number.saturating_abs())
                        .filter(|size| (1..1 << 31).contains(size));
                    sizes
                        .chain(own.iter().filter(|it| it.0 == *symbol).map(|it| it.1))
                        .filter(is_within)
                        .collect()
                }
            };
            numbers.sort_unstable();
            numbers.dedup();
            of.insert(*symbol, numbers);
        }
        let facts = self.state.facts.iter().copied();
        for (symbol, number) in facts.chain(claims.iter().filter_map(fixed)) {
            of.entry(symbol).and_modify(|numbers| *numbers = vec![number]);
        }
        of
    }
}

impl Sample<'_> {
    /// Whether a condition holds, if that follows.
    fn decides(&self, condition: &Condition) -> Option<bool> {
        condition.decide(&|difference, relation| Some(relation.holds(self.number(difference)?)))
    }

    /// What a number is, if that follows.
    fn number(&self, int: &Int) -> Option<i64> {
        int.terms.iter().try_fold(int.base.as_constant()?, |sum, (id, factor)| {
            let term = factor.as_constant()?.checked_mul(self.symbol(*id)?)?;
            sum.checked_add(term)
        })
    }

    fn symbol(&self, id: SymbolId) -> Option<i64> {
        if let Some(known) = self.numbers.borrow().get(&id) {
            return *known;
        }
        let number = match self.made.get(&id) {
            Some(Made { how: How::Either(choice), x, y, .. }) => {
                self.side(*choice).and_then(|side| self.number(if side { x } else { y }))
            }
            Some(Made { how, x, y, .. }) => self.number(x).zip(self.number(y)).and_then(|(x, y)| match how {
                How::Operation(op) => operate(*op, x, y),
                How::Min => Some(x.min(y)),
                How::Max | How::Either(_) => Some(x.max(y)),
            }),
            None => self.side(id).map(i64::from),
        };
        self.numbers.borrow_mut().insert(id, number);
        number
    }

    /// Which side a choice takes.
    fn side(&self, choice: SymbolId) -> Option<bool> {
        self.decides(self.conditions.get(&choice)?)
    }
}

/// A number and those beside it.
fn around(number: i64) -> [i64; 3] {
    [number.saturating_sub(1), number, number.saturating_add(1)]
}

/// The number that a condition says a symbol is.
fn fixed((condition, holds): &Asked<'_>) -> Option<(SymbolId, i64)> {
    let Condition::Compare { difference, relation, .. } = condition else { return None };
    let is_equality = matches!((relation, holds), (Relation::Equal, true) | (Relation::NotEqual, false));
    is_equality.then(|| compared(difference)).flatten()
}

/// The symbol of a difference that is one symbol less a number, or the other way round, and that number.
fn compared(difference: &Int) -> Option<(SymbolId, i64)> {
    let [(symbol, factor)] = difference.terms.as_slice() else { return None };
    let (base, factor) = (difference.base.as_constant()?, factor.as_constant()?);
    (factor.abs() == 1).then(|| (*symbol, base.saturating_mul(-factor)))
}
