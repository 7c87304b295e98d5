//! Are there numbers with which host code comes to a launch with this block?
//!
//! What the conditions around a launch do not refute need not be possible, for they are compared in few ways only.
//! Where a choice decides on the block, and rests on numbers of which the conditions around ask something too, numbers
//! are tried out: those that meet all conditions show which blocks are launched. A block that none of them leads to
//! may be one that is never launched. Numbers are drawn at random; those that fail conditions are changed one by one
//! until they meet them, for few of the sets that are drawn meet a dozen conditions at once.
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
use super::refuted::comparisons;
use super::settled::{Settled, operate};
use crate::domain::{Int, SymbolId};
use crate::exec::machine::{How, Made};
use crate::exec::value::{Condition, Relation};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::RefCell;

/// Steps from one set of numbers to the next.
const STEPS: u32 = 4000;
/// A set that fails conditions is changed so often in one of the numbers behind one of them, until all are drawn anew.
const CHANGES: u32 = 50;
/// For each change, so many numbers are tried; the one with which the fewest conditions fail is taken.
const CHOICES: usize = 4;
/// So many sets that meet all conditions show enough.
const ENOUGH: u32 = 200;
/// With fewer of them, a case to which none leads may just be a rare one.
const FEWEST: u32 = 20;
/// Numbers that sizes often are, and some that they seldom are. No size is 0 or less.
const USUAL: [i64; 20] =
    [1, 2, 3, 5, 8, 16, 24, 32, 48, 64, 96, 100, 128, 192, 256, 384, 512, 1000, 1024, 4096];
/// Between so many numbers and fewer, all are tried.
const FEW: u64 = 16;
/// Any seed does; the same one finds the same in each run.
const SEED: u64 = 1;

/// A condition, and whether it holds or fails.
type Asked<'a> = (&'a Condition, bool);

/// What numbers are drawn from, and what they have to meet.
struct Drawing<'a> {
    claims: Vec<Asked<'a>>,
    /// What each number that is drawn can be.
    candidates: Vec<(SymbolId, Vec<i64>)>,
    /// For each claim, which of the numbers that are drawn are behind it.
    behind: Vec<Vec<usize>>,
}

/// One set of numbers, with what follows from it.
struct Sample<'a> {
    made: &'a FxHashMap<SymbolId, Made>,
    conditions: &'a FxHashMap<SymbolId, Condition>,
    numbers: RefCell<FxHashMap<SymbolId, Option<i64>>>,
}

impl Machine<'_> {
    /// Of the first numbers in each of several cases of a launch, which are `row` there, whether none of the sets of
    /// numbers that are tried leads to them. Where few meet the conditions around, that tells nothing of any case.
    pub(in crate::exec) fn unmet(&self, row: &[Option<Int>], cases: &[Vec<Option<Settled>>]) -> Vec<bool> {
        let none = vec![false; cases.len()];
        let numbers: Vec<&Int> = row.iter().flatten().filter(|it| !it.terms.is_empty()).collect();
        if cases.len() < 2 || numbers.is_empty() {
            return none;
        }
        let Some(drawing) = self.drawing(&numbers) else { return none };
        let (mut unmet, mut met) = (vec![true; cases.len()], 0);
        self.samples(&drawing, &mut |sample| {
            met += 1;
            let row: Vec<Option<i64>> = row.iter().map(|number| sample.number(number.as_ref()?)).collect();
            for (case, unmet) in cases.iter().zip(&mut unmet) {
                let agrees = |(known, met): (&Option<Settled>, &Option<i64>)| {
                    known.zip(*met).is_none_or(|(known, met)| known.value == met)
                };
                *unmet &= !case.iter().zip(&row).all(agrees);
            }
            met < ENOUGH && unmet.contains(&true)
        });
        if met >= FEWEST { unmet } else { none }
    }

    /// Draws sets of numbers, and tells of those that meet all claims, until it is told to stop.
    fn samples(&self, drawing: &Drawing<'_>, each: &mut dyn FnMut(&Sample<'_>) -> bool) {
        let mut random = fastrand::Rng::with_seed(SEED);
        let draw =
            |random: &mut fastrand::Rng, nth: usize| random.choice(&drawing.candidates[nth].1).copied();
        let sample = |drawn: &[Option<i64>]| {
            let symbols = drawing.candidates.iter().map(|it| it.0);
            Sample {
                made: &self.host.made,
                conditions: &self.host.conditions,
                numbers: RefCell::new(symbols.zip(drawn.iter().copied()).collect()),
            }
        };
        let all = |random: &mut fastrand::Rng| -> Vec<Option<i64>> {
            (0..drawing.candidates.len()).map(|nth| draw(random, nth)).collect()
        };
        let (mut drawn, mut steps) = (all(&mut random), 0);
        while steps < STEPS {
            let mut failing = sample(&drawn).failing(&drawing.claims);
            for _ in 0..CHANGES {
                steps += 1;
                let Some(claim) = random.choice(&failing) else { break };
                let Some(nth) = random.choice(&drawing.behind[*claim]) else { break };
                let tried: Vec<_> = (0..CHOICES).map(|_| draw(&mut random, *nth)).collect();
                let best = tried.into_iter().map(|number| {
                    drawn[*nth] = number;
                    (number, sample(&drawn).failing(&drawing.claims))
                });
                let Some((number, left)) = best.min_by_key(|it| it.1.len()) else { break };
                drawn[*nth] = number;
                failing = left;
            }
            let sample = sample(&drawn);
            if failing.is_empty() && !each(&sample) {
                return;
            }
            steps += 1;
            drawn = all(&mut random);
        }
    }

    /// What to draw, to find out what numbers can be; nothing if no condition around asks something of what they
    /// rest on. Of conditions that ask something of other numbers too, only what follows without these counts.
    fn drawing(&self, numbers: &[&Int]) -> Option<Drawing<'_>> {
        let symbols = self.symbols_of(numbers.iter().flat_map(|int| int.terms.iter().map(|(id, _)| *id)));
        let behind = self.state.claims.iter().map(|claim| self.symbols_behind([&claim.0]));
        let claims = self.state.claims.iter().map(|claim| (&claim.0, claim.1)).zip(behind);
        let bears = |(_, of): &(Asked<'_>, FxHashSet<SymbolId>)| {
            of.iter().any(|symbol| self.is_from_outside(*symbol) && symbols.contains(symbol))
        };
        let (claims, behind): (Vec<_>, Vec<_>) = claims.filter(bears).unzip();
        if claims.is_empty() {
            return None;
        }
        let mut candidates: Vec<_> = self.candidates(&claims, &symbols).into_iter().collect();
        candidates.sort_unstable();
        let drawn = |of: FxHashSet<SymbolId>| {
            (0..candidates.len()).filter(|nth| of.contains(&candidates[*nth].0)).collect()
        };
        let behind = behind.into_iter().map(drawn).collect();
        Some(Drawing { claims, candidates, behind })
    }

    /// Whether a symbol is a number that is given at run time, and not made of others.
    fn is_from_outside(&self, symbol: SymbolId) -> bool {
        !self.host.made.contains_key(&symbol) && !self.host.conditions.contains_key(&symbol)
    }

    /// What each number that is given at run time is tried to be: what sizes often are, and what is near the numbers
    /// in the conditions. `n > 0` asks whether `n` is a size at all; where `n == 0` is asked, 0 is one of its values.
    fn candidates(
        &self,
        claims: &[Asked<'_>],
        symbols: &FxHashSet<SymbolId>,
    ) -> FxHashMap<SymbolId, Vec<i64>> {
        let mut near = USUAL.to_vec();
        let mut own: Vec<(SymbolId, i64)> = Vec::new();
        let chosen = symbols.iter().filter_map(|symbol| self.host.conditions.get(symbol));
        for condition in claims.iter().map(|claim| claim.0).chain(chosen) {
            comparisons(condition, &mut |difference, relation| {
                near.extend(difference.base.as_constant().into_iter().flat_map(around));
                own.extend(compared(difference).filter(|_| is_equality(relation)));
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
        // Where none of them takes a side that host code chooses by, or all do, some that do and some that do not.
        let chosen = symbols.iter().filter_map(|symbol| self.host.conditions.get(symbol));
        for condition in chosen {
            comparisons(condition, &mut |difference, relation| {
                let Some((symbol, number)) = compared(difference) else { return };
                let Some(numbers) = of.get_mut(&symbol) else { return };
                let holds = |it: &i64| relation.holds(value_at(difference, *it));
                if numbers.iter().all(holds) || !numbers.iter().any(holds) {
                    numbers.extend(around(number));
                }
            });
        }
        for (condition, holds) in claims {
            let Condition::Compare { difference, relation, .. } = condition else { continue };
            let Some((symbol, number)) = compared(difference) else { continue };
            let Some(numbers) = of.get_mut(&symbol) else { continue };
            let is_met = |it: &i64| relation.holds(value_at(difference, *it)) == *holds;
            if !numbers.iter().any(is_met) {
                numbers.extend(around(number));
            }
            numbers.retain(is_met);
        }
        for (symbol, number) in &self.state.facts {
            of.entry(*symbol).and_modify(|numbers| *numbers = vec![*number]);
        }
        of
    }
}

impl Sample<'_> {
    /// Which of the claims do not come true; not those of which that does not follow.
    fn failing(&self, claims: &[Asked<'_>]) -> Vec<usize> {
        let fails = |(condition, holds): &Asked<'_>| self.decides(condition).is_some_and(|it| it != *holds);
        (0..claims.len()).filter(|nth| fails(&claims[*nth])).collect()
    }

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

fn is_equality(relation: Relation) -> bool {
    matches!(relation, Relation::Equal | Relation::NotEqual)
}

/// The symbol of a difference that is one symbol less a number, or the other way round, and that number.
fn compared(difference: &Int) -> Option<(SymbolId, i64)> {
    let [(symbol, factor)] = difference.terms.as_slice() else { return None };
    let (base, factor) = (difference.base.as_constant()?, factor.as_constant()?);
    (factor.abs() == 1).then(|| (*symbol, base.saturating_mul(-factor)))
}

/// What a difference of one symbol and a number is where the symbol is `value`.
fn value_at(difference: &Int, value: i64) -> i64 {
    let factor = difference.terms.first().and_then(|it| it.1.as_constant()).unwrap_or(0);
    difference.base.as_constant().unwrap_or(0).saturating_add(factor.saturating_mul(value))
}
