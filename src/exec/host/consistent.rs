//! Can conditions of host code hold together?
//!
//! A launch in `else if (n <= 128)` gets a block of `n <= 64 ? 32 : (n <= 128 ? 64 : 128)` threads. Here `n <= 64` has
//! failed and `n <= 128` holds, so that of the three blocks only 64 is launched. Each condition bounds a sum of unknown
//! numbers ([`bounds`](super::bounds)), or tells what it leaves when divided ([`residues`](super::residues)). Conditions
//! contradict each other when no number is left between the bounds of a sum, or when one of them is decided the other
//! way.

use super::Machine;
use super::bounds::Bounds;
use super::choices::Way;
use super::residues::{Quotient, Residues};
use crate::domain::{Int, Lanes, SymbolId};
use crate::exec::machine::{How, Implied, Made, Ways};
use crate::exec::value::{Condition, Relation};
use crate::ir::BinaryOp;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::cell::RefCell;

/// A sum of unknown numbers without its constant: each symbol with its factor, the first one positive.
pub(super) type Sum = Vec<(SymbolId, i64)>;

/// What conditions say that hold together.
pub(super) struct Known<'w> {
    /// Which way choices went.
    way: &'w Way,
    /// Symbols that are known numbers.
    numbers: Vec<(SymbolId, i64)>,
    bounds: Bounds<Sum>,
    pub(super) residues: Residues<Sum>,
    /// What symbols are on this way, as far as asked: one number may occur in others many times over.
    symbols: RefCell<FxHashMap<SymbolId, Option<Int>>>,
}

impl Known<'_> {
    /// Which side a choice took.
    pub(super) fn side_of(&self, choice: SymbolId) -> Option<bool> {
        self.way.iter().find(|(made, _)| *made == choice).map(|(_, side)| *side)
    }
}

impl Machine<'_> {
    /// Whether the conditions around and those of the choices can hold together when the choices went as `way` says.
    /// Only a certain no is a no.
    pub(super) fn is_consistent(&self, way: &Way) -> bool {
        let host = &self.host;
        let mut ways = host.ways.borrow_mut();
        ways.keep_for(
            &self.state.claims,
            &self.state.facts,
            [host.made.len(), host.conditions.len(), host.implied_in_all],
        );
        let is_consistent = self.can_hold_together(&[], &mut ways) && self.can_hold_together(way, &mut ways);
        // Neither what is remembered nor what is left out changes anything.
        #[cfg(test)]
        assert_eq!(is_consistent, self.is_possible(&self.conditions_on(way), way));
        is_consistent
    }

    /// Whether the conditions around that bear on the choices can hold together with those of the choices; without
    /// choices, all that are around.
    fn can_hold_together(&self, way: &Way, ways: &mut Ways) -> bool {
        if let Some(known) = ways.consistent.get(way) {
            return *known;
        }
        let all = self.conditions_on(way);
        let is_possible = if way.is_empty() {
            self.is_possible(&all, way)
        } else {
            let bearing = self.bearing_on(way, ways);
            // The conditions around come first; those of the choices all bear on them.
            let bears = bearing.into_iter().chain(std::iter::repeat(true));
            let all: Vec<_> =
                all.into_iter().zip(bears).filter_map(|(it, bears)| bears.then_some(it)).collect();
            self.is_possible(&all, way)
        };
        ways.consistent.insert(way.to_vec(), is_possible);
        is_possible
    }

    /// Whether conditions can hold together, or fail, when the choices went as `way` says.
    fn is_possible(&self, all: &[(&Condition, bool)], way: &Way) -> bool {
        let known = self.known_by(all, way);
        let is_as_known = |(condition, holds): &(&Condition, bool)| {
            self.decided_by(condition, &known).is_none_or(|it| it == *holds)
        };
        known.bounds.are_possible() && all.iter().all(is_as_known)
    }

    /// The conditions around, then those of the choices, then what was asked besides where the choices went that way.
    pub(super) fn conditions_on(&self, way: &Way) -> Vec<(&Condition, bool)> {
        let chosen = way.iter().filter_map(|(choice, side)| {
            let condition = self.host.conditions.get(choice)?;
            Some((condition, *side))
        });
        let around = self.state.claims.iter().map(|claim| (&claim.0, claim.1));
        let mut all: Vec<(&Condition, bool)> = around.chain(chosen).collect();
        // What was asked on a side holds once its context does. An outer `if` ends after those in it, so what tells the
        // context may stand behind.
        let implied = way.iter().filter_map(|made| self.host.implied.get(made));
        let mut waiting: Vec<&Implied> = implied.flatten().collect();
        loop {
            let is_met = |implied: &Implied| {
                let holds = |claim: &(Condition, bool)| {
                    all.iter().any(|(condition, side)| *side == claim.1 && is_same(condition, &claim.0))
                };
                implied.context.iter().all(|claim| holds(claim))
            };
            let (met, rest): (Vec<_>, Vec<_>) = waiting.into_iter().partition(|it| is_met(it));
            if met.is_empty() {
                break;
            }
            all.extend(met.iter().flat_map(|it| it.asked.iter()).map(|claim| (&claim.0, claim.1)));
            waiting = rest;
        }
        all
    }

    /// What conditions say that hold, or fail.
    pub(super) fn known_by<'w>(&self, all: &[(&Condition, bool)], way: &'w Way) -> Known<'w> {
        // What a remainder is says more than that; the condition that tells it is among those around.
        let facts = self.state.facts.iter().filter(|(symbol, _)| !self.host.made.contains_key(symbol));
        let numbers = facts.copied().collect();
        let mut known = Known {
            way,
            numbers,
            bounds: Bounds::default(),
            residues: Residues::default(),
            symbols: RefCell::default(),
        };
        // Numbers first: what is made of them is then a number, too.
        all.iter().for_each(|(condition, holds)| self.find_numbers(condition, *holds, &mut known));
        all.iter().for_each(|(condition, holds)| self.take_in(condition, *holds, &mut known));
        known
    }

    /// The most that each of some numbers can be by the conditions around, and by those of the choices that went as
    /// `way` says.
    pub(in crate::exec) fn most_of_each(&self, way: &Way, numbers: &[Option<Int>]) -> Vec<Option<i64>> {
        let known = self.known_by(&self.conditions_on(way), way);
        let most = |number: &Option<Int>| {
            let (sum, added) = linear(number.as_ref()?)?;
            i64::try_from(known.bounds.most(&sum)?.checked_add(i128::from(added))?).ok()
        };
        numbers.iter().map(most).collect()
    }

    /// Whether the conditions around make a number a multiple of another.
    pub(in crate::exec) fn is_asked_multiple(&self, number: &Int, divisor: i64) -> bool {
        let around: Vec<_> = self.state.claims.iter().map(|claim| (&claim.0, claim.1)).collect();
        let known = self.known_by(&around, &[]);
        let Some((sum, added)) = linear(number) else { return false };
        let left = known.residues.of(&sum, divisor, &|sum: &Sum| self.quotient(sum, &known));
        left.is_some_and(|left| left.wrapping_add(added).rem_euclid(divisor) == 0)
    }

    /// Calls `each` with the comparisons that surely hold, or fail, where a condition does.
    fn each_part(condition: &Condition, holds: bool, each: &mut impl FnMut(&Int, Relation)) {
        match condition {
            Condition::Compare { difference, relation, .. } => {
                each(difference, if holds { *relation } else { relation.negated() });
            }
            Condition::Not(inner) => Self::each_part(inner, !holds, each),
            Condition::And(a, b) if holds => [a, b].iter().for_each(|it| Self::each_part(it, true, each)),
            Condition::Or(a, b) if !holds => [a, b].iter().for_each(|it| Self::each_part(it, false, each)),
            Condition::And(..) | Condition::Or(..) | Condition::Known(_) | Condition::Opaque(..) => {}
        }
    }

    fn find_numbers(&self, condition: &Condition, holds: bool, known: &mut Known<'_>) {
        Self::each_part(condition, holds, &mut |difference, relation| {
            if let (Some((sum, Relation::Equal, value)), Relation::Equal) =
                (self.compared(difference, relation, known), relation)
                && let ([(symbol, 1)], Ok(value)) = (sum.as_slice(), i64::try_from(value))
                && !self.host.made.contains_key(symbol)
            {
                known.numbers.push((*symbol, value));
                known.symbols.get_mut().clear();
            }
        });
    }

    fn take_in(&self, condition: &Condition, holds: bool, known: &mut Known<'_>) {
        Self::each_part(condition, holds, &mut |difference, relation| {
            let Some((sum, relation, value)) = self.compared(difference, relation, known) else { return };
            if let Some((dividend, added, divisor)) = self.remainder(&sum, known)
                && let (Relation::Equal, Ok(value)) = (relation, i64::try_from(value))
            {
                known.residues.add(dividend, divisor, value.wrapping_sub(added));
            }
            known.bounds.add(sum, relation, value);
        });
    }

    fn decided_by(&self, condition: &Condition, known: &Known<'_>) -> Option<bool> {
        condition.decide(&|difference, relation| {
            if let Some(number) = self.chosen(difference, known)?.as_constant() {
                return Some(relation.holds(number));
            }
            let (sum, relation, value) = self.compared(difference, relation, known)?;
            // Not by the bounds first: the condition itself is among them.
            let by_residue = self.decided_by_residue(&sum, relation, value, known);
            by_residue.or_else(|| known.bounds.decide(&sum, relation, value))
        })
    }

    fn decided_by_residue(
        &self,
        sum: &Sum,
        relation: Relation,
        value: i128,
        known: &Known<'_>,
    ) -> Option<bool> {
        let (dividend, added, divisor) = self.remainder(sum, known)?;
        let left = known.residues.of(&dividend, divisor, &|sum: &Sum| self.quotient(sum, known))?;
        match (left.wrapping_add(added).rem_euclid(divisor), relation) {
            (0, _) => Some(relation.holds(i64::try_from(-value).ok()?)),
            // Of a negative number it is negative.
            (_, Relation::Equal) if value == 0 => Some(false),
            (_, Relation::NotEqual) if value == 0 => Some(true),
            _ => None,
        }
    }

    /// A comparison of a difference with 0 as one of a sum with a value.
    fn compared(
        &self,
        difference: &Int,
        relation: Relation,
        known: &Known<'_>,
    ) -> Option<(Sum, Relation, i128)> {
        let (mut sum, constant) = linear(self.chosen(difference, known)?.as_ref())?;
        let value = -i128::from(constant);
        match sum.first() {
            Some((_, ..0)) => {
                for (_, factor) in &mut sum {
                    *factor = factor.checked_neg()?;
                }
                Some((sum, relation.mirrored(), -value))
            }
            Some(_) => Some((sum, relation, value)),
            None => None,
        }
    }

    /// What is divided, and by which number, where a sum is one remainder: `n % 8`, `n & 7`.
    fn remainder(&self, sum: &Sum, known: &Known<'_>) -> Option<Quotient<Sum>> {
        let (op, dividend, divisor) = self.operation(sum, known)?;
        let divisor = match op {
            BinaryOp::Rem => divisor,
            BinaryOp::And if divisor.checked_add(1)?.count_ones() == 1 => divisor + 1,
            _ => return None,
        };
        let (dividend, added) = linear(&dividend)?;
        (divisor > 0).then_some((dividend, added, divisor))
    }

    /// The same where it is one quotient: `n / 8`, `n >> 3`.
    pub(super) fn quotient(&self, sum: &Sum, known: &Known<'_>) -> Option<Quotient<Sum>> {
        let (op, dividend, divisor) = self.operation(sum, known)?;
        let divisor = match op {
            BinaryOp::Div => divisor,
            BinaryOp::Shr => 1i64.checked_shl(u32::try_from(divisor).ok()?)?,
            _ => return None,
        };
        let (dividend, added) = linear(&dividend)?;
        (divisor > 0).then_some((dividend, added, divisor))
    }

    /// The operator by which a sum is made of a number and a constant, if it is one symbol.
    fn operation(&self, sum: &Sum, known: &Known<'_>) -> Option<(BinaryOp, Int, i64)> {
        let [(symbol, 1)] = sum.as_slice() else { return None };
        let Made { how: How::Operation(op), x, y, .. } = self.host.made.get(symbol)? else { return None };
        Some((*op, self.chosen(x, known)?.into_owned(), self.chosen(y, known)?.as_constant()?))
    }

    /// A number with each choice in it replaced by the side that was taken, and each symbol by its number, as far as
    /// these are known.
    pub(super) fn chosen<'i>(&self, int: &'i Int, known: &Known<'_>) -> Option<Cow<'i, Int>> {
        let is_same = |(id, factor): &(SymbolId, Lanes)| {
            factor.as_constant().is_some() && self.symbol_on_way(*id, known, &Option::is_none)
        };
        // Most symbols are numbers of which nothing is known.
        if int.terms.iter().all(is_same) {
            return Some(Cow::Borrowed(int));
        }
        let mut sum = Int::known(int.base.clone());
        for (id, factor) in &int.terms {
            let factor = factor.as_constant()?;
            let term = self.symbol_on_way(*id, known, &|term| match term {
                Some(term) => self.world.scale(term, factor),
                None => self.world.scale(&Int::symbol(*id), factor),
            });
            sum = self.world.add(&sum, &term);
        }
        Some(Cow::Owned(sum))
    }

    /// Reads what a symbol is on a way, worked out when it is first asked for; `None`: itself.
    fn symbol_on_way<T>(&self, id: SymbolId, known: &Known<'_>, read: &dyn Fn(&Option<Int>) -> T) -> T {
        if let Some(term) = known.symbols.borrow().get(&id) {
            return read(term);
        }
        let term = self.chosen_symbol(id, known);
        let result = read(&term);
        known.symbols.borrow_mut().insert(id, term);
        result
    }

    fn chosen_symbol(&self, id: SymbolId, known: &Known<'_>) -> Option<Int> {
        if let Some((_, number)) = known.numbers.iter().find(|(symbol, _)| *symbol == id) {
            return Some(Int::constant(*number));
        }
        let Made { how, x, y, .. } = self.host.made.get(&id)?;
        match how {
            How::Either(choice) => {
                let side = known.side_of(*choice)?;
                self.chosen(if side { x } else { y }, known).map(Cow::into_owned)
            }
            How::Operation(op) => {
                let (x, y) = (self.chosen(x, known)?, self.chosen(y, known)?);
                match (op, x.as_constant(), y.as_constant()) {
                    (BinaryOp::Mul, Some(factor), _) => Some(self.world.scale(&y, factor)),
                    (BinaryOp::Mul, _, Some(factor)) => Some(self.world.scale(&x, factor)),
                    (BinaryOp::Div, None, Some(1)) => Some(x.into_owned()),
                    (_, Some(x), Some(y)) => super::settled::operate(*op, x, y).map(Int::constant),
                    _ => None,
                }
            }
            How::Min | How::Max => None,
        }
    }
}

/// Whether two conditions ask for the same, wherever they stand.
fn is_same(one: &Condition, other: &Condition) -> bool {
    if std::ptr::eq(one, other) {
        return true;
    }
    match (one, other) {
        (
            Condition::Compare { difference: x, relation: one, .. },
            Condition::Compare { difference: y, relation: other, .. },
        ) => one == other && x == y,
        (one, other) => one == other,
    }
}

/// A number whose factors are constants, as its sum and its constant.
pub(super) fn linear(int: &Int) -> Option<(Sum, i64)> {
    let mut sum = Vec::with_capacity(int.terms.len());
    for (id, factor) in &int.terms {
        sum.push((*id, factor.as_constant()?));
    }
    Some((sum, int.base.as_constant()?))
}
