//! Which results of operators on numbers per thread are remembered?
//!
//! Each iteration of a loop that is really run computes `lane % 16` or `lane / 16 * 8` again, with as much work as
//! the block has threads. Operands are recognized by their address.
//!
//! Invariant: an entry holds its operands, so that no other numbers can come to lie where they lie.

use super::Lanes;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::Arc;

/// Results that are remembered.
const MOST: usize = 512;

/// An operator and what tells its operands from others.
type Key = (&'static str, Operand, Operand);

/// The operands and the result.
type Entry = (Lanes, Lanes, Lanes);

/// The numbers of an operand, by what they are or where they lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Operand {
    Closed([i64; 4]),
    Each(usize),
}

impl Operand {
    fn of(lanes: &Lanes) -> Operand {
        match lanes {
            Lanes::Closed(form) => Operand::Closed(*form),
            Lanes::Each(values) => Operand::Each(Arc::as_ptr(values).addr()),
        }
    }
}

/// What was computed so far, for blocks of one shape.
#[derive(Debug, Default)]
pub(super) struct Results(RefCell<FxHashMap<Key, Entry>>);

impl Results {
    /// The result of an operator thread by thread, made if it is not remembered. The operator's name
    /// has to tell what `make` does.
    pub(super) fn of(&self, op: &'static str, a: &Lanes, b: &Lanes, make: impl FnOnce() -> Lanes) -> Lanes {
        if a.as_constant().is_some() && b.as_constant().is_some() {
            return make();
        }
        let key = (op, Operand::of(a), Operand::of(b));
        if let Some((_, _, known)) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let result = make();
        let mut known = self.0.borrow_mut();
        if known.len() >= MOST {
            known.clear();
        }
        known.insert(key, (a.clone(), b.clone(), result.clone()));
        result
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::Shape;

    const SHAPE: Shape = Shape { dims: [64, 1, 1] };

    #[test]
    fn equal_operands_give_what_they_gave() {
        let results = Results::default();
        let rem = |a: &Lanes, by: i64| {
            let by = Lanes::constant(by);
            results.of("%", a, &by, || a.zip(&by, SHAPE, i64::wrapping_rem))
        };
        let x = Lanes::coordinate(0, SHAPE);
        assert_eq!(rem(&x, 32), rem(&x, 32));
        assert_ne!(rem(&x, 32), rem(&x, 16));
        let lane = rem(&x, 32);
        assert_eq!(rem(&lane, 8), rem(&x, 8));
    }

    #[test]
    fn operands_that_are_gone_are_not_taken_for_others() {
        let results = Results::default();
        let one = Lanes::constant(1);
        for round in 0..4 * MOST as i64 {
            let spread = Lanes::close((0..64).map(|t| t * t + round).collect(), SHAPE);
            let sum = results.of("+", &spread, &one, || spread.add(&one, SHAPE));
            assert_eq!(sum.at(3, SHAPE), 10 + round);
        }
    }
}
