//! What does the compiler not see of a number that we know?
//!
//! It joins two accesses when it sees that they are neighbours, and that the first is aligned. We see more:
//! a kernel's arguments from its launch, and through `/`, `%` and `&` thread by thread. Seen in the machine
//! code of nvcc 13.5 for 9.0, of four neighbours `s[i + e]`, in straight code:
//!
//! | | joined |
//! |---|---|
//! | `t * 4 + e`, `(t / 8) * 32 + (t % 8) * 4 + e`, `(t << 2) ^ e`, `(n + t) * 4 + e`, `t * n * 4 + e` | yes |
//! | `n + t * 4 + e`, `t * n + e`: an alignment that only an argument tells | no |
//! | `i / 32` and `i % 32` as row and column, `i = t * 4 + e`; `(t * 4 + e) % 1024`, `__brev(t + 64 * e)` | no |
//! | `(t * 4 + e) & 1023`, with `unsigned` also `% 1024`; `(short)(t * 4 + e)` | in part |
//! | `i / 32` and `i % 32 + e`, `int i = t * 4` | if the array's alignment is known |
//!
//! That `s[(64 * t + 31) / 32]` and `s[(64 * t + 63) / 32]` are different places it sees; that `s[(4 * t + 2) / 32]`
//! and `s[(4 * t + 3) / 32 + 1]` are it does not.
//!
//! Example: `(t * 4 + e) / 32` is a number of its own for each `e`, whose distance from that of another `e`
//! nobody computes. It is told from others by a hash of its operator and operands. Sums and multiples of such
//! numbers have the sums and multiples of their hashes, so that equal hashes tell equal unseen parts.

use crate::domain::{Int, Lanes, MOST_ALIGNED, Sight, gcd, hashed};
use crate::ir::BinaryOp;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Of what an operator makes of two numbers; `sum` is whether it makes their sum of them.
pub(crate) fn of(op: BinaryOp, a: &Int, b: &Int, signed: bool, sum: bool) -> Sight {
    let (constant_a, constant_b) = (compiled(a), compiled(b));
    match (op, constant_a, constant_b) {
        (_, Some(_), Some(_)) => Sight::default(),
        (BinaryOp::Div, _, Some(1)) => a.sight,
        // Nothing is left of it.
        (BinaryOp::Rem, _, Some(1)) => Sight::default(),
        (BinaryOp::Add, ..) => a.sight.plus(b.sight),
        (BinaryOp::Sub, ..) => a.sight.plus(b.sight.times(-1)),
        (BinaryOp::Or | BinaryOp::Xor, ..) if sum => a.sight.plus(b.sight),
        (BinaryOp::Mul, _, Some(factor)) => a.sight.times(factor),
        (BinaryOp::Mul, Some(factor), _) => b.sight.times(factor),
        (BinaryOp::Shl, _, Some(bits @ 0..=62)) => a.sight.times(1 << bits),
        (BinaryOp::Shr, _, Some(bits @ 0..=62)) if are_whole(a, 1 << bits) => Sight::default(),
        (BinaryOp::Div, _, Some(by)) if are_whole(a, by) => Sight::default(),
        _ => {
            let (as_operator, by) = plainly(op, constant_b, signed);
            let hidden = match by {
                Some(by) => hashed(&(as_operator as u8, told(a), by)),
                None => hashed(&(as_operator as u8, told(a), told(b))),
            };
            Sight { hidden, ..units(op, a, b, signed) }
        }
    }
}

/// How the compiler writes an operation by a constant: `x % 32` of an `unsigned` as `x & 31`, and `x / 32` as `x >> 5`.
fn plainly(op: BinaryOp, by: Option<i64>, signed: bool) -> (BinaryOp, Option<i64>) {
    match (op, by) {
        (BinaryOp::Rem, Some(by)) if !signed && by > 0 && by & (by - 1) == 0 => (BinaryOp::And, Some(by - 1)),
        (BinaryOp::Div, Some(by)) if !signed && by > 0 && by & (by - 1) == 0 => {
            (BinaryOp::Shr, Some(i64::from(by.trailing_zeros())))
        }
        _ => (op, by),
    }
}

/// Of what a function that is not a sum makes of numbers.
pub(crate) fn through(name: &str, given: &[&Int]) -> Sight {
    if given.iter().all(|int| compiled(int).is_some()) {
        return Sight::default();
    }
    let hidden = given.iter().fold(hashed(name), |hash, int| hashed(&(hash, told(int))));
    Sight { hidden, given: u64::from(given.iter().any(|int| int.sight.given > 0)), loose: 1 }
}

/// Of a number cut to 8 or 16 bits.
pub(crate) fn through_cast(a: &Int) -> Sight {
    match compiled(a) {
        Some(_) => Sight::default(),
        None => Sight { hidden: hashed(&("cast", told(a))), ..a.sight },
    }
}

/// Of what a function makes of two numbers.
pub(crate) fn through_both(name: &str, a: &Int, b: &Int) -> Sight {
    match (compiled(a), compiled(b)) {
        (Some(_), Some(_)) => Sight::default(),
        _ => Sight { hidden: hashed(&(name, told(a), told(b))), ..a.sight.plus(b.sight) },
    }
}

/// The alignment of what an operator makes that is no sum.
fn units(op: BinaryOp, a: &Int, b: &Int, signed: bool) -> Sight {
    let (x, y) = (a.sight, b.sight);
    let given = u64::from(x.given > 0 || y.given > 0);
    let even = |by: i64| by > 0 && by & (by - 1) == 0;
    match (op, compiled(b)) {
        // A product is a multiple of what either is.
        (BinaryOp::Mul, _) => {
            let of = |unit: u64, other: &Int| if unit == 0 { 0 } else { unit.saturating_mul(aligned(other)) };
            let unit = |x: u64, y: u64| gcd(of(x, b), of(y, a)).min(MOST_ALIGNED);
            Sight { hidden: 0, given: unit(x.given, y.given), loose: unit(x.loose, y.loose) }
        }
        (BinaryOp::And, Some(mask)) if mask != 0 => {
            let low = 1 << mask.trailing_zeros().min(8);
            let unit = |unit: u64| if unit == 0 { 0 } else { unit.max(low) };
            Sight { hidden: 0, given: unit(x.given), loose: unit(x.loose) }
        }
        (BinaryOp::Rem, Some(by)) if even(by) => {
            let unit = |unit: u64| if unit == 0 { 0 } else { gcd(unit, by.unsigned_abs()) };
            Sight { hidden: 0, given: unit(x.given), loose: if signed { 1 } else { unit(x.loose) } }
        }
        (BinaryOp::And | BinaryOp::Or | BinaryOp::Xor, _) => Sight { hidden: 0, ..x.plus(y) },
        _ => Sight { hidden: 0, given, loose: 1 },
    }
}

/// What the compiler sees a number to be a multiple of, whatever the launch and the thread.
fn aligned(int: &Int) -> u64 {
    if int.sight.given > 0 || int.sight.loose > 0 || !int.terms.is_empty() {
        return 1;
    }
    match &int.base {
        Lanes::Closed(form) => {
            1 << form.iter().fold(MOST_ALIGNED, |all, v| gcd(all, v.unsigned_abs())).trailing_zeros()
        }
        Lanes::Each(_) => 1,
    }
}

/// Whether the parts of a number that depend on the thread are multiples of a power of two, so that a division by it
/// divides each: `(64 * t + 31) / 32` is `2 * t`.
fn are_whole(a: &Int, by: i64) -> bool {
    let is_seen = a.sight == Sight::default() && a.terms.is_empty() && by > 0 && by & (by - 1) == 0;
    is_seen
        && matches!(&a.base, Lanes::Closed([_, of_thread @ ..]) if of_thread.iter().all(|it| it % by == 0))
}

/// The number, if it is a constant when the program is compiled.
fn compiled(int: &Int) -> Option<i64> {
    int.as_constant().filter(|_| int.sight == Sight::default())
}

/// A number that tells a value from others; of numbers by thread, some are looked at.
fn told(int: &Int) -> u64 {
    let mut hasher = FxHasher::default();
    int.sight.hidden.hash(&mut hasher);
    match &int.base {
        Lanes::Closed(form) => form.hash(&mut hasher),
        Lanes::Each(values) => {
            let step = values.len().div_ceil(16).max(1);
            values.iter().step_by(step).for_each(|value| value.hash(&mut hasher));
        }
    }
    int.terms.iter().for_each(|(id, factor)| (*id, factor.as_constant()).hash(&mut hasher));
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread() -> Int {
        Int::known(Lanes::Closed([0, 1, 0, 0]))
    }

    fn made(op: BinaryOp, a: &Int, b: &Int, base: [i64; 4]) -> Int {
        let sight = of(op, a, b, true, false);
        Int { sight, ..Int::known(Lanes::Closed(base)) }
    }

    #[test]
    fn sums_of_multiples_of_coordinates_are_seen() {
        let four = made(BinaryOp::Mul, &thread(), &Int::constant(4), [0, 4, 0, 0]);
        let next = made(BinaryOp::Add, &four, &Int::constant(1), [1, 4, 0, 0]);
        assert_eq!((four.sight, next.sight), (Sight::default(), Sight::default()));
    }

    #[test]
    fn quotients_of_different_numbers_are_different_numbers() {
        let row = |e: i64| {
            let index = Int::known(Lanes::Closed([e, 4, 0, 0]));
            made(BinaryOp::Div, &index, &Int::constant(32), [0, 0, 0, 0]).sight
        };
        assert_eq!(row(1), row(1));
        assert_ne!(row(1).hidden, row(2).hidden);
        assert_eq!(row(1).times(128).loose, 128);
    }

    #[test]
    fn a_quotient_of_multiples_is_a_sum_of_multiples() {
        let quotient = |factor: i64, by: i64| {
            let index = Int::known(Lanes::Closed([factor - 1, factor, 0, 0]));
            made(BinaryOp::Shr, &index, &Int::constant(by), [0, factor >> by, 0, 0]).sight
        };
        assert_eq!(quotient(64, 5), Sight::default());
        assert_ne!(quotient(16, 5), Sight::default());
    }

    #[test]
    fn what_a_launch_tells_is_aligned_by_its_factor_alone() {
        let n = Int { sight: Sight::at_launch("n"), ..Int::constant(16) };
        let product = made(BinaryOp::Mul, &thread(), &n, [0, 16, 0, 0]);
        assert_eq!(product.sight.given, 1);
        assert_eq!(product.sight.times(12).given, 4);
        let sum = made(BinaryOp::Sub, &n, &n, [0; 4]);
        assert_eq!(sum.sight.hidden, 0);
    }
}
