//! Which number is a value of host code on one way through its choices, and how sure is that?
//!
//! `min(128, n)` with an unknown `n` is at most 128. A launch counts it as 128, because a limit is usually there to be
//! reached. A condition must not: on `min(128, n) <= 128` it is decided, on `min(128, n) > 64` it is not. So each number
//! says on which side of it the true one may lie. Example: `4 * min(128, n) - 512` is at most 0, `512 - min(128, n)` is
//! at least 384, and the product of two such numbers says nothing about either side.

use crate::exec::value::Relation;
use crate::ir::BinaryOp;

/// A number of host code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Settled {
    /// The number, with each limit reached.
    pub value: i64,
    bound: Bound,
}

/// Where the true number may lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bound {
    /// It is this one.
    Exact,
    /// It is this one or less.
    AtMost,
    /// It is this one or more.
    AtLeast,
    /// It may be any.
    Open,
}

impl Bound {
    /// That of a result that grows with both of its operands.
    fn and(self, other: Bound) -> Bound {
        match (self, other) {
            (Bound::Exact, bound) | (bound, Bound::Exact) => bound,
            (one, other) if one == other => one,
            _ => Bound::Open,
        }
    }

    /// That of the negated number.
    fn negated(self) -> Bound {
        match self {
            Bound::AtMost => Bound::AtLeast,
            Bound::AtLeast => Bound::AtMost,
            bound => bound,
        }
    }
}

impl Settled {
    pub(super) fn exact(value: i64) -> Settled {
        Settled { value, bound: Bound::Exact }
    }

    /// Whether it is this number, with no limit taken to be reached.
    pub(crate) fn is_exact(self) -> bool {
        self.bound == Bound::Exact
    }

    /// `self + factor * term`
    pub(super) fn plus(self, factor: i64, term: Settled) -> Settled {
        let bound = match factor {
            0 => Bound::Exact,
            1.. => term.bound,
            _ => term.bound.negated(),
        };
        let value = self.value.wrapping_add(factor.wrapping_mul(term.value));
        Settled { value, bound: self.bound.and(bound) }
    }

    /// The result of an operator that is not linear, if it has one.
    pub(super) fn operation(op: BinaryOp, x: Settled, y: Settled) -> Option<Settled> {
        let value = operate(op, x.value, y.value)?;
        let bound = match (op, x.is_exact(), y.is_exact()) {
            (_, true, true) => Bound::Exact,
            (BinaryOp::Mul, false, true) if y.value >= 0 => x.bound,
            (BinaryOp::Mul, true, false) if x.value >= 0 => y.bound,
            (BinaryOp::Div, false, true) if y.value > 0 => x.bound,
            (BinaryOp::Shr | BinaryOp::Shl, false, true) => x.bound,
            _ => Bound::Open,
        };
        Some(Settled { value, bound })
    }

    /// The lesser of two; of an unknown number and a limit, the limit.
    pub(super) fn min(x: Option<Settled>, y: Option<Settled>) -> Option<Settled> {
        match (x, y) {
            (Some(x), Some(y)) => Some(Settled { value: x.value.min(y.value), bound: x.bound.and(y.bound) }),
            (Some(limit), None) | (None, Some(limit)) => {
                Some(Settled { value: limit.value, bound: limit.bound.and(Bound::AtMost) })
            }
            (None, None) => None,
        }
    }

    /// The greater of two.
    pub(super) fn max(x: Settled, y: Settled) -> Settled {
        Settled { value: x.value.max(y.value), bound: x.bound.and(y.bound) }
    }

    /// Whether a difference of this number has a relation to 0, if all numbers that it may be agree.
    pub(super) fn has(self, relation: Relation) -> Option<bool> {
        // What holds for this number and for one far beyond it holds for all in between, or fails for all.
        let beyond = match self.bound {
            Bound::Exact => self.value,
            Bound::AtMost => i64::MIN,
            Bound::AtLeast => i64::MAX,
            Bound::Open => return None,
        };
        let holds = relation.holds(self.value);
        let is_apart = !matches!(relation, Relation::Equal | Relation::NotEqual)
            || self.is_exact()
            || (self.value != 0 && (self.value < 0) == (beyond < 0));
        (is_apart && relation.holds(beyond) == holds).then_some(holds)
    }
}

pub(super) fn operate(op: BinaryOp, x: i64, y: i64) -> Option<i64> {
    Some(match op {
        BinaryOp::Mul => x.checked_mul(y)?,
        BinaryOp::Div => x.checked_div(y)?,
        BinaryOp::Rem => x.checked_rem(y)?,
        BinaryOp::Shl => x.checked_shl(u32::try_from(y).ok()?)?,
        BinaryOp::Shr => x.checked_shr(u32::try_from(y).ok()?)?,
        BinaryOp::And => x & y,
        BinaryOp::Or => x | y,
        BinaryOp::Xor => x ^ y,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number that a limit bounds, and what it may truly be.
    fn limited(limit: i64) -> (Settled, Vec<i64>) {
        let limited = Settled::min(Some(Settled::exact(limit)), None).expect("a limit is known");
        (limited, (limit - 40..=limit).collect())
    }

    #[test]
    fn what_is_decided_holds_for_every_number_within_the_limit() {
        let exact = Settled::exact;
        for limit in -5..6 {
            let (number, all) = limited(limit);
            for (factor, offset) in [(1, 0), (1, 3), (-1, 0), (-2, 7), (0, 1)] {
                let shifted = exact(offset).plus(factor, number);
                for op in [BinaryOp::Mul, BinaryOp::Div, BinaryOp::Shr, BinaryOp::Shl, BinaryOp::Rem] {
                    for other in [1, 2, 3] {
                        let result = Settled::operation(op, shifted, exact(other)).expect("a number");
                        let truth: Vec<i64> = all
                            .iter()
                            .map(|it| operate(op, offset + factor * it, other).expect("a number"))
                            .collect();
                        for relation in Relation::ALL {
                            if let Some(holds) = result.has(relation) {
                                assert!(
                                    truth.iter().all(|it| relation.holds(*it) == holds),
                                    "{op:?} {other}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn a_limit_decides_what_lies_beyond_it() {
        let (number, _) = limited(128);
        let less = |by: i64| Settled::exact(-by).plus(1, number);
        assert_eq!(less(128).has(Relation::LessEqual), Some(true));
        assert_eq!(less(128).has(Relation::Greater), Some(false));
        assert_eq!(less(129).has(Relation::Equal), Some(false));
        assert_eq!(less(64).has(Relation::LessEqual), None);
        assert_eq!(less(128).has(Relation::Equal), None);
    }
}
