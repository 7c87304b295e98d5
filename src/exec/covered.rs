//! Which bounds does no thread of a launch reach?
//!
//! A guard against a number that is as large as there are threads along an axis lets all of them in. The launch tells
//! of its arguments, whatever their values are, that they are; the kernel's run decides conditions by that. Example:
//!
//! ```text
//! k<<<n / 256, 256>>>(out, n);        n >= 256 * (n / 256): as many as there are threads, or more
//! if (i >= n) return;                 i = blockIdx.x * 256 + threadIdx.x is below n in every block
//!
//! k<<<rows, n>>>(out, n);             n is the number of threads of a block
//! if (threadIdx.x < n) ...            all of them come in
//! ```
//!
//! A launch with no block is none, so that the number of threads is 1 at least.

use super::machine::{How, Machine};
use super::value::{Condition, Relation};
use crate::domain::{AmongBlocks, Int, Key, Lanes, SymbolId, ThreadSet};
use crate::events::Covers;
use crate::ir::BinaryOp;
use std::rc::Rc;

/// How often a quotient is replaced by its dividend, at the most.
const DEEPEST: usize = 4;

impl Machine<'_> {
    /// The arguments of a launch that are surely as large as there are threads along an axis of its blocks, or of its
    /// grid.
    pub(super) fn covered_by(
        &mut self,
        grid: &[Option<Int>; 3],
        block: &[Option<Int>; 3],
        arguments: &[Option<Int>],
    ) -> Vec<Covers> {
        let mut found = Vec::new();
        for axis in 0..3 {
            let Some(of_block) = block[axis].as_ref().map(|it| self.multiplied(it, DEEPEST)) else {
                continue;
            };
            let of_grid = grid[axis].as_ref().map(|it| self.multiplied(it, DEEPEST));
            let all = of_grid.and_then(|of_grid| self.world.mul(&of_block, &of_grid).ok());
            for (threads, all_blocks) in [(Some(of_block), false), (all, true)] {
                let Some((symbol, most, added)) = threads.and_then(|it| self.most(it)) else { continue };
                for (arg, number) in arguments.iter().enumerate() {
                    let Some(number) = number else { continue };
                    let number = self.multiplied(number, DEEPEST);
                    // `threads * scale <= most * symbol + added`, and the argument is `times * symbol + base`.
                    let Some((other, times, base)) = linear(&number) else { continue };
                    let (scale, most) = most;
                    let is_covered = other == symbol
                        && times > 0
                        && i128::from(most) * i128::from(base) >= i128::from(times) * i128::from(added);
                    let factor = times.checked_mul(scale);
                    if let Some(factor) = factor.filter(|_| is_covered) {
                        found.push(Covers { arg, axis, all_blocks, factor, divisor: most });
                    }
                }
            }
        }
        found
    }

    /// A number with its products worked out, as if none left its type.
    fn multiplied(&mut self, number: &Int, depth: usize) -> Int {
        let mut sum = Int::known(number.base.clone());
        for (id, factor) in &number.terms {
            let whole = Int::of(Lanes::constant(0), vec![(*id, factor.clone())]);
            let made = self.host.made.get(id).filter(|_| depth > 0).cloned();
            let product = made.zip(factor.as_constant()).and_then(|(made, factor)| {
                let (x, y) = (self.multiplied(&made.x, depth - 1), self.multiplied(&made.y, depth - 1));
                let product = match (made.how, y.as_constant()) {
                    (How::Operation(BinaryOp::Mul), _) => self.world.mul(&x, &y).ok()?,
                    (How::Operation(BinaryOp::Shl), Some(bits @ 0..=31)) => self.world.scale(&x, 1 << bits),
                    _ => return None,
                };
                Some(self.world.scale(&product, factor))
            });
            sum = self.world.add(&sum, &product.unwrap_or(whole));
        }
        sum
    }

    /// The most that a number above 0 can be, times a scale: `(symbol, (scale, most), added)` for
    /// `number * scale <= most * symbol + added`.
    fn most(&mut self, number: Int) -> Option<(SymbolId, (i64, i64), i64)> {
        let (mut number, mut scale) = (number, 1i64);
        for _ in 0..DEEPEST {
            let (symbol, factor, added) = linear(&number)?;
            let (dividend, divisor) = match self.divided(symbol) {
                // Of what may be below 0 a quotient is not rounded down.
                Some(_) if factor <= 0 || added > 0 => return None,
                Some(divided) => divided,
                None => return (factor > 0).then_some((symbol, (scale, factor), added)),
            };
            let by = if factor % divisor == 0 { 1 } else { divisor };
            scale = scale.checked_mul(by)?;
            let times = factor.checked_mul(by)? / divisor;
            let dividend = self.multiplied(&dividend, DEEPEST);
            number =
                self.world.add(&self.world.scale(&dividend, times), &Int::constant(added.checked_mul(by)?));
        }
        None
    }

    /// What is no less than a symbol times a constant: the dividend where it is a quotient, and that where it is a
    /// quotient times its divisor.
    fn divided(&self, symbol: SymbolId) -> Option<(Int, i64)> {
        let quotient = |id: SymbolId| {
            let made = self.host.made.get(&id)?;
            match (&made.how, made.y.as_constant()) {
                (How::Operation(BinaryOp::Shr), Some(bits @ 0..=31)) => {
                    Some((made.x.clone(), Int::constant(1 << bits)))
                }
                (How::Operation(BinaryOp::Div), _) => Some((made.x.clone(), made.y.clone())),
                _ => None,
            }
        };
        match self.world.symbols.get(symbol).factors.as_slice() {
            [one, other] if one != other => {
                let whole = |of: SymbolId, by: SymbolId| {
                    quotient(of)
                        .filter(|(_, divisor)| linear(divisor) == Some((by, 1, 0)))
                        .map(|(dividend, _)| dividend)
                };
                let dividend = whole(*one, *other).or_else(|| whole(*other, *one))?;
                Some((dividend, 1))
            }
            _ => {
                let (dividend, divisor) = quotient(symbol)?;
                let divisor = divisor.as_constant().filter(|divisor| *divisor > 0)?;
                // Of a multiple it is the same rounded up and down.
                let added = Int::constant(dividend.base.as_constant()?.rem_euclid(divisor));
                let below = self.world.sub(&dividend, &added);
                let is_whole = self.is_asked_multiple(&below, divisor);
                Some((if is_whole { below } else { dividend }, divisor))
            }
        }
    }

    /// A condition with those of its comparisons decided that the launch decides. Of a loop's condition it says nothing
    /// but that there is a first round.
    pub(super) fn as_launched(&mut self, condition: Condition) -> Condition {
        if self.settings.covers.is_empty() {
            return condition;
        }
        let decided = match &condition {
            Condition::Compare { difference, relation, .. } if !difference.is_uniform() => {
                self.decided_by_launch(difference, *relation)
            }
            _ => None,
        };
        if let Some(holds) = decided {
            // The compiler does not know the launch.
            self.compiler.at_launch.note_read();
            return Condition::Known(if holds { self.world.all } else { ThreadSet::NONE });
        }
        let mut part = |of: Rc<Condition>| Rc::new(self.as_launched((*of).clone()));
        match condition {
            Condition::Not(inner) => Condition::Not(part(inner)),
            Condition::And(a, b) => Condition::And(part(a), part(b)),
            Condition::Or(a, b) => Condition::Or(part(a), part(b)),
            _ => condition,
        }
    }

    /// How an ordered comparison goes for all threads of all blocks, where the launch tells.
    fn decided_by_launch(&self, difference: &Int, relation: Relation) -> Option<bool> {
        let (mut index, mut bound) = (None, None);
        for (id, factor) in &difference.terms {
            let factor = factor.as_constant()?;
            let symbol = self.world.symbols.get(*id);
            let known = match (symbol.among_blocks, self.world.symbols.name_key(*id)) {
                (AmongBlocks::Index(axis), _) => index.replace((axis, factor)).is_some(),
                (_, Some(Key::Named(key))) if key.strip_prefix("parameter ") == Some(&*symbol.name) => {
                    bound.replace((symbol.name.as_ref(), factor)).is_some()
                }
                _ => true,
            };
            if known {
                return None;
            }
        }
        let (name, of_bound) = bound?;
        // As `known + of_index * index - of_bound * bound`.
        let sign = -of_bound.signum();
        let relation = if sign < 0 { relation.mirrored() } else { relation };
        let (low, high) = difference.base.bounds(self.shape());
        let known = i128::from(if sign < 0 { low.checked_neg()? } else { high });
        let of_index = i128::from(index.map_or(0, |(_, factor)| factor)) * i128::from(sign);
        let residue = self.settings.residues.iter().find(|(of, ..)| of == name);
        let multiple = residue.map_or(Some(1), |(_, multiple, rest)| (*rest == 0).then_some(*multiple))?;
        self.settings.covers.iter().filter(|(of, _)| of == name).find_map(|(_, covers)| {
            let threads = i128::from(self.shape().dims[covers.axis]);
            let divisor = i128::from(covers.divisor) * i128::from(multiple);
            // What the bound is at the least, for each block.
            let least = i128::from(of_bound.unsigned_abs()) * i128::from(covers.factor) * threads;
            let fits = match index {
                Some((axis, _)) => covers.all_blocks && axis == covers.axis && of_index * divisor <= least,
                None => true,
            };
            match relation {
                _ if !fits => None,
                Relation::Less | Relation::NotEqual if known * divisor < least => Some(true),
                Relation::GreaterEqual | Relation::Equal if known * divisor < least => Some(false),
                Relation::LessEqual if known * divisor <= least => Some(true),
                Relation::Greater if known * divisor <= least => Some(false),
                _ => None,
            }
        })
    }
}

/// A number as `factor * symbol + added`.
fn linear(number: &Int) -> Option<(SymbolId, i64, i64)> {
    let [(symbol, factor)] = number.terms.as_slice() else { return None };
    Some((*symbol, factor.as_constant()?, number.base.as_constant()?))
}
