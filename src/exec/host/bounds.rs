//! Between which numbers does a sum of unknown numbers lie, as far as conditions say?
//!
//! Example: `n > 64` and `n <= 128` leave 65 to 128. So `n <= 256` holds, `n < 65` fails, and `n == 100` is open.

use crate::exec::value::Relation;

/// What conditions say of sums, each without its constant.
pub(super) struct Bounds<S> {
    /// Each sum with its least and its greatest value, both inclusive.
    of: Vec<(S, i128, i128)>,
    /// Values that a sum does not have.
    not: Vec<(S, i128)>,
}

impl<S> Default for Bounds<S> {
    fn default() -> Bounds<S> {
        Bounds { of: Vec::new(), not: Vec::new() }
    }
}

impl<S: PartialEq> Bounds<S> {
    fn range(&self, sum: &S) -> (i128, i128) {
        let known = self.of.iter().find(|(other, ..)| other == sum);
        known.map_or((i128::MIN, i128::MAX), |(_, low, high)| (*low, *high))
    }

    /// The greatest value of a sum, if there is one.
    pub(super) fn most(&self, sum: &S) -> Option<i128> {
        Some(self.range(sum).1).filter(|most| *most < i128::MAX)
    }

    /// Takes in that a sum has a relation to a value.
    pub(super) fn add(&mut self, sum: S, relation: Relation, value: i128) {
        let (low, high) = match relation {
            Relation::Less => (i128::MIN, value - 1),
            Relation::LessEqual => (i128::MIN, value),
            Relation::Greater => (value + 1, i128::MAX),
            Relation::GreaterEqual => (value, i128::MAX),
            Relation::Equal => (value, value),
            Relation::NotEqual => return self.not.push((sum, value)),
        };
        match self.of.iter_mut().find(|(other, ..)| *other == sum) {
            Some((_, least, greatest)) => {
                *least = low.max(*least);
                *greatest = high.min(*greatest);
            }
            None => self.of.push((sum, low, high)),
        }
    }

    /// Whether no sum has to be a number that it cannot be.
    pub(super) fn are_possible(&self) -> bool {
        self.of.iter().all(|(_, low, high)| low <= high)
            && self.not.iter().all(|(sum, value)| self.range(sum) != (*value, *value))
    }

    /// Whether a sum has a relation to a value, if the bounds decide it.
    pub(super) fn decide(&self, sum: &S, relation: Relation, value: i128) -> Option<bool> {
        let (low, high) = self.range(sum);
        match relation {
            Relation::Less => decided(high < value, low >= value),
            Relation::LessEqual => decided(high <= value, low > value),
            Relation::Greater => decided(low > value, high <= value),
            Relation::GreaterEqual => decided(low >= value, high < value),
            Relation::Equal => decided((low, high) == (value, value), self.excludes(sum, value)),
            Relation::NotEqual => decided(self.excludes(sum, value), (low, high) == (value, value)),
        }
    }

    fn excludes(&self, sum: &S, value: i128) -> bool {
        let (low, high) = self.range(sum);
        value < low || value > high || self.not.iter().any(|(other, it)| other == sum && *it == value)
    }
}

fn decided(holds: bool, fails: bool) -> Option<bool> {
    (holds || fails).then_some(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_bounds_exclude_is_decided() {
        let mut bounds = Bounds::default();
        bounds.add('n', Relation::Greater, 64);
        bounds.add('n', Relation::LessEqual, 128);
        assert!(bounds.are_possible());
        assert_eq!(bounds.decide(&'n', Relation::LessEqual, 64), Some(false));
        assert_eq!(bounds.decide(&'n', Relation::LessEqual, 256), Some(true));
        assert_eq!(bounds.decide(&'n', Relation::Equal, 128), None);
        bounds.add('n', Relation::NotEqual, 128);
        assert_eq!(bounds.decide(&'n', Relation::Equal, 128), Some(false));
        bounds.add('n', Relation::Less, 65);
        assert!(!bounds.are_possible());
    }

    #[test]
    fn one_value_that_is_excluded_leaves_none() {
        let mut bounds = Bounds::default();
        bounds.add('n', Relation::Equal, 3);
        assert!(bounds.are_possible());
        assert_eq!(bounds.decide(&'n', Relation::NotEqual, 3), Some(false));
        bounds.add('n', Relation::NotEqual, 3);
        assert!(!bounds.are_possible());
    }

    /// Of every number that two conditions leave, the third is what the bounds say.
    #[test]
    fn the_bounds_agree_with_every_number() {
        let atoms = || Relation::ALL.iter().flat_map(|r| (-2..3i64).map(move |value| (*r, value)));
        for (first, a) in atoms() {
            for (second, b) in atoms() {
                let mut bounds = Bounds::default();
                bounds.add('n', first, a.into());
                bounds.add('n', second, b.into());
                let left: Vec<i64> =
                    (-9..10).filter(|it| first.holds(it - a) && second.holds(it - b)).collect();
                assert!(bounds.are_possible() || left.is_empty());
                for (third, c) in atoms() {
                    if let Some(holds) = bounds.decide(&'n', third, c.into())
                        && bounds.are_possible()
                    {
                        assert!(left.iter().all(|it| third.holds(it - c) == holds));
                    }
                }
            }
        }
    }
}
