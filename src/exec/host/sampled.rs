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
use crate::exec::machine::How;
use crate::exec::value::{Condition, Relation};
use rustc_hash::{FxHashMap, FxHashSet};

/// Sets of numbers that are tried.
const SAMPLES: u32 = 1000;
/// Numbers that sizes often are, and some that they seldom are.
const USUAL: [i64; 20] =
    [1, 2, 3, 5, 8, 16, 24, 32, 48, 64, 96, 100, 128, 192, 256, 384, 512, 1000, 1024, 4096];

/// A condition, and whether it holds or fails.
type Asked<'a> = (&'a Condition, bool);

/// One set of numbers, with what follows from it.
#[derive(Default)]
struct Sample {
    numbers: FxHashMap<SymbolId, Option<i64>>,
}

impl Machine<'_> {
    /// Of the first numbers in each of several cases of a launch, which are `row` there, whether none of the sets of
    /// numbers that are tried leads to them.
    pub(in crate::exec) fn unmet(&self, row: &[Option<Int>], cases: &[Vec<Option<Settled>>]) -> Vec<bool> {
        let mut unmet = vec![false; cases.len()];
        let numbers: Vec<&Int> = row.iter().flatten().filter(|it| !it.terms.is_empty()).collect();
        if cases.len() < 2 || numbers.is_empty() {
            return unmet;
        }
        let Some((claims, symbols)) = self.claims_on(&numbers) else { return unmet };
        let values = self.candidates(&claims, &symbols);
        let mut free: Vec<(SymbolId, &[i64])> = values.iter().map(|(id, of)| (*id, of.as_slice())).collect();
        free.sort_unstable();
        unmet.fill(true);
        let (mut random, mut is_reached) = (Random(1), false);
        for _ in 0..SAMPLES {
            let chosen = free.iter().map(|(id, of)| (*id, Some(of[random.below(of.len())])));
            let mut sample = Sample { numbers: chosen.collect() };
            let is_met = |(condition, holds): &Asked<'_>, sample: &mut Sample| {
                self.is_so_in(condition, sample).is_none_or(|it| it == *holds)
            };
            if !claims.iter().all(|claim| is_met(claim, &mut sample)) {
                continue;
            }
            is_reached = true;
            let met: Vec<Option<i64>> =
                row.iter().map(|number| self.number_in(number.as_ref()?, &mut sample)).collect();
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
        // Where none of the sets meets the conditions around, they tell nothing of the cases.
        unmet.iter_mut().for_each(|unmet| *unmet &= is_reached);
        unmet
    }

    /// The conditions around that ask something of what these numbers rest on, and all symbols that are behind either;
    /// none if there are no such conditions.
    fn claims_on(&self, numbers: &[&Int]) -> Option<(Vec<Asked<'_>>, FxHashSet<SymbolId>)> {
        let given = |symbol: &SymbolId| {
            !self.host.made.contains_key(symbol) && !self.host.conditions.contains_key(symbol)
        };
        let mut symbols = self.symbols_of(numbers.iter().flat_map(|int| int.terms.iter().map(|(id, _)| *id)));
        let mut rest: Vec<(&Condition, bool, FxHashSet<SymbolId>)> = Vec::new();
        for claim in &self.state.claims {
            rest.push((&claim.0, claim.1, self.symbols_behind([&claim.0])));
        }
        let mut claims = Vec::new();
        loop {
            let bears = |it: &(&Condition, bool, FxHashSet<SymbolId>)| {
                it.2.iter().any(|symbol| given(symbol) && symbols.contains(symbol))
            };
            let (more, others): (Vec<_>, Vec<_>) = rest.into_iter().partition(bears);
            if more.is_empty() {
                break;
            }
            for (condition, holds, of) in more {
                claims.push((condition, holds));
                symbols.extend(of);
            }
            rest = others;
        }
        (!claims.is_empty()).then_some((claims, symbols))
    }

    /// What each number that is given at run time is tried to be.
    fn candidates(
        &self,
        claims: &[Asked<'_>],
        symbols: &FxHashSet<SymbolId>,
    ) -> FxHashMap<SymbolId, Vec<i64>> {
        let mut all: Vec<i64> = USUAL.to_vec();
        let near = |int: &Int, all: &mut Vec<i64>| {
            let base = int.base.as_constant().map_or(0, i64::saturating_abs);
            all.extend([base.saturating_sub(1), base, base.saturating_add(1)]);
        };
        let chosen = symbols.iter().filter_map(|symbol| self.host.conditions.get(symbol));
        for condition in claims.iter().map(|claim| claim.0).chain(chosen) {
            differences(condition, &mut |difference| near(difference, &mut all));
        }
        for made in symbols.iter().filter_map(|symbol| self.host.made.get(symbol)) {
            near(&made.x, &mut all);
            near(&made.y, &mut all);
        }
        all.retain(|number| (1..1 << 31).contains(number));
        all.sort_unstable();
        all.dedup();
        let mut of: FxHashMap<SymbolId, Vec<i64>> = FxHashMap::default();
        for symbol in symbols {
            let is_given = !self.host.made.contains_key(symbol) && !self.host.conditions.contains_key(symbol);
            if is_given {
                of.insert(*symbol, self.within_bounds(*symbol, &all));
            }
        }
        // A size is positive; what is compared with 0 need not be a size.
        let chosen = symbols.iter().filter_map(|symbol| self.host.conditions.get(symbol));
        for condition in claims.iter().map(|claim| claim.0).chain(chosen) {
            compared(condition, &mut |symbol, number| {
                of.entry(symbol).and_modify(|numbers| numbers.push(number));
            });
        }
        let facts = self.state.facts.iter().map(|(symbol, number)| (*symbol, *number));
        for (symbol, number) in facts.chain(claims.iter().filter_map(fixed)) {
            of.entry(symbol).and_modify(|numbers| *numbers = vec![number]);
        }
        of
    }

    /// Those of some numbers that a symbol can be; both of a flag.
    fn within_bounds(&self, symbol: SymbolId, all: &[i64]) -> Vec<i64> {
        match self.world.bounds(&Int::symbol(symbol)) {
            (Some(0), Some(1)) => vec![0, 1],
            (low, high) => {
                let is_within =
                    |it: &i64| low.is_none_or(|low| *it >= low) && high.is_none_or(|high| *it <= high);
                let within: Vec<i64> = all.iter().copied().filter(is_within).collect();
                if within.is_empty() { low.or(high).into_iter().collect() } else { within }
            }
        }
    }

    fn is_so_in(&self, condition: &Condition, sample: &mut Sample) -> Option<bool> {
        match condition {
            Condition::Known(_) | Condition::Opaque(..) => None,
            Condition::Compare { difference, relation, .. } => {
                Some(relation.holds(self.number_in(difference, sample)?))
            }
            Condition::Not(inner) => self.is_so_in(inner, sample).map(|it| !it),
            Condition::And(a, b) => match (self.is_so_in(a, sample), self.is_so_in(b, sample)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (a, b) => Some(a? && b?),
            },
            Condition::Or(a, b) => match (self.is_so_in(a, sample), self.is_so_in(b, sample)) {
                (Some(true), _) | (_, Some(true)) => Some(true),
                (a, b) => Some(a? || b?),
            },
        }
    }

    fn number_in(&self, int: &Int, sample: &mut Sample) -> Option<i64> {
        int.terms.iter().try_fold(int.base.as_constant()?, |sum, (id, factor)| {
            let term = factor.as_constant()?.checked_mul(self.symbol_in(*id, sample)?)?;
            sum.checked_add(term)
        })
    }

    fn symbol_in(&self, id: SymbolId, sample: &mut Sample) -> Option<i64> {
        if let Some(known) = sample.numbers.get(&id) {
            return *known;
        }
        let made = self.host.made.get(&id);
        let number =
            match made {
                Some(made) => match made.how {
                    How::Either(choice) => {
                        let condition = self.host.conditions.get(&choice);
                        match condition.and_then(|condition| self.is_so_in(condition, sample)) {
                            Some(true) => self.number_in(&made.x, sample),
                            Some(false) => self.number_in(&made.y, sample),
                            None => None,
                        }
                    }
                    how => self.number_in(&made.x, sample).zip(self.number_in(&made.y, sample)).and_then(
                        |(x, y)| match how {
                            How::Operation(op) => operate(op, x, y),
                            How::Min => Some(x.min(y)),
                            _ => Some(x.max(y)),
                        },
                    ),
                },
                None => {
                    let condition = self.host.conditions.get(&id);
                    condition.and_then(|condition| self.is_so_in(condition, sample)).map(i64::from)
                }
            };
        sample.numbers.insert(id, number);
        number
    }
}

/// The number that a condition says a symbol is.
fn fixed((condition, holds): &Asked<'_>) -> Option<(SymbolId, i64)> {
    let Condition::Compare { relation, .. } = condition else { return None };
    let is_equality = matches!((relation, holds), (Relation::Equal, true) | (Relation::NotEqual, false));
    is_equality.then(|| equal_to(condition)).flatten()
}

/// The symbol that a condition compares with a number for equality, and that number.
fn equal_to(condition: &Condition) -> Option<(SymbolId, i64)> {
    let Condition::Compare { difference, relation: Relation::Equal | Relation::NotEqual, .. } = condition
    else {
        return None;
    };
    let [(symbol, factor)] = difference.terms.as_slice() else { return None };
    let (base, factor) = (difference.base.as_constant()?, factor.as_constant()?);
    (factor.abs() == 1).then(|| (*symbol, -base * factor))
}

/// Tells of the symbols that a condition compares with numbers for equality, and these.
fn compared(condition: &Condition, each: &mut dyn FnMut(SymbolId, i64)) {
    match condition {
        Condition::Known(_) | Condition::Opaque(..) => {}
        Condition::Compare { .. } => {
            equal_to(condition).into_iter().for_each(|(symbol, number)| each(symbol, number))
        }
        Condition::Not(inner) => compared(inner, each),
        Condition::And(a, b) | Condition::Or(a, b) => {
            compared(a, each);
            compared(b, each);
        }
    }
}

/// A sequence of numbers without a pattern, the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        // Knuth's MMIX generator; its upper bits are the better ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end.max(1)
    }
}
