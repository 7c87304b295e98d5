//! Of which powers of two are the numbers multiples that a launch hands on?
//!
//! Two things tell: the conditions around it (`if (n % 64) return;`), and what a number is made of. Counted in powers of
//! two, a product has those of all its factors, and a sum at least those of the part that has fewest. In
//! `n = 8 * rows * channels`, where `channels` is known to be 32, `n` has 3 + 0 + 5 = 8 of them, and is a multiple of
//! 256. That the product may wrap around takes nothing from it: 2^32 is a multiple of all these powers.

use super::Machine;
use super::choices::Way;
use super::consistent::{Known, Sum, linear};
use crate::domain::{Int, SymbolId};
use crate::exec::machine::{How, Made};
use crate::ir::BinaryOp;

/// The most powers of two that are looked for.
const MOST: u32 = 12;
/// The most operations in each other that are looked through.
const DEEPEST: u32 = 8;

impl Machine<'_> {
    /// The greatest power of two of which each number is a multiple where choices went as `way` says; 1 if of none. Of a
    /// number that is known, this says nothing.
    pub(in crate::exec) fn powers_of_each(&self, way: &Way, numbers: &[Option<Int>]) -> Vec<i64> {
        let known = self.known_by(&self.conditions_on(way), way);
        let power = |number: &Option<Int>| {
            let number = number.as_ref().filter(|it| it.as_constant().is_none())?;
            Some(1i64 << self.powers(number, &known, DEEPEST))
        };
        numbers.iter().map(|number| power(number).unwrap_or(1)).collect()
    }

    /// How many times 2 is surely a factor of a number.
    fn powers(&self, number: &Int, known: &Known<'_>, depth: u32) -> u32 {
        let Some((sum, added)) = self.chosen(number, known).as_deref().and_then(linear) else { return 0 };
        let of_term = |(symbol, factor): &(SymbolId, i64)| {
            of_constant(*factor).saturating_add(self.powers_of_symbol(*symbol, known, depth)).min(MOST)
        };
        let parts = sum.iter().map(of_term).chain([of_constant(added)]);
        parts.min().unwrap_or(MOST).max(self.asked_powers(&sum, added, known))
    }

    fn powers_of_symbol(&self, symbol: SymbolId, known: &Known<'_>, depth: u32) -> u32 {
        let asked = self.asked_powers(&vec![(symbol, 1)], 0, known);
        let Some(depth) = depth.checked_sub(1) else { return asked };
        let factors = &self.world.symbols.get(symbol).factors;
        if factors.len() > 1 {
            let all =
                factors.iter().map(|factor| self.powers(&Int::symbol(*factor), known, depth)).sum::<u32>();
            return asked.max(all.min(MOST));
        }
        let Some(Made { how, x, y, .. }) = self.host.made.get(&symbol) else { return asked };
        let of = |number: &Int| self.powers(number, known, depth);
        let made = match how {
            How::Operation(BinaryOp::Mul) => of(x).saturating_add(of(y)).min(MOST),
            How::Operation(BinaryOp::And) => of(x).max(of(y)),
            How::Operation(BinaryOp::Or | BinaryOp::Xor | BinaryOp::Rem) | How::Min | How::Max => {
                of(x).min(of(y))
            }
            How::Operation(BinaryOp::Shl) => of(x).saturating_add(bits_of(y)).min(MOST),
            How::Operation(BinaryOp::Shr) if y.as_constant().is_some() => of(x).saturating_sub(bits_of(y)),
            How::Either(choice) => match known.side_of(*choice) {
                Some(side) => of(if side { x } else { y }),
                None => of(x).min(of(y)),
            },
            How::Operation(_) => 0,
        };
        asked.max(made)
    }

    /// The same by what the conditions around ask of the very sum.
    fn asked_powers(&self, sum: &Sum, added: i64, known: &Known<'_>) -> u32 {
        let divides = |powers: &u32| {
            let by = 1i64 << powers;
            let left = known.residues.of(sum, by, &|sum: &Sum| self.quotient(sum, known));
            left.is_some_and(|left| left.wrapping_add(added).rem_euclid(by) == 0)
        };
        (1..=MOST).rev().find(divides).unwrap_or(0)
    }
}

/// By how many bits a shift goes, if that is known.
fn bits_of(amount: &Int) -> u32 {
    amount.as_constant().and_then(|bits| u32::try_from(bits).ok()).filter(|bits| *bits < 64).unwrap_or(0)
}

/// How many times 2 is a factor of a number; of 0, as often as anyone asks.
fn of_constant(number: i64) -> u32 {
    number.trailing_zeros().min(MOST)
}
