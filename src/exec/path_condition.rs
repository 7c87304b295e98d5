//! Which values of a number does a condition leave where it holds, and where it fails?
//!
//! | condition | where it holds | where it fails |
//! |---|---|---|
//! | `x > 5` | from 6 on | up to 5 |
//! | `x == 3` | 3 | all but 3 |
//! | `x > 2 && y < 4` | from 3 on; of `y`, up to 3 | of neither is anything known |

use super::value::{Condition, Relation};
use crate::domain::{Int, SymbolId};
use crate::source::Span;

/// Values that a number may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Values {
    /// From the first to the last, where there is one.
    Between(Option<i64>, Option<i64>),
    /// All but one.
    Not(i64),
}

/// What a condition says of a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PathCondition {
    pub of: SymbolId,
    pub values: Values,
    /// The comparison that says so.
    pub by: Span,
}

/// Adds what follows for numbers where a condition holds, or fails.
pub(super) fn tell(condition: &Condition, holds: bool, told: &mut Vec<PathCondition>) {
    match condition {
        Condition::Compare { difference, relation, span } => {
            let values = values(difference, *relation, holds);
            told.extend(values.map(|(of, values)| PathCondition { of, values, by: *span }));
        }
        Condition::Not(inner) => tell(inner, !holds, told),
        Condition::And(a, b) if holds => [a, b].iter().for_each(|it| tell(it, holds, told)),
        Condition::Or(a, b) if !holds => [a, b].iter().for_each(|it| tell(it, holds, told)),
        Condition::And(..) | Condition::Or(..) | Condition::Known(_) | Condition::Opaque(..) => {}
    }
}

/// The number that a condition compares with a constant, so that all that it tells is known; and where.
pub(super) fn number_told(condition: &Condition) -> Option<(SymbolId, Span)> {
    match condition {
        Condition::Compare { difference, span, .. } => Some((zero_of(difference)?.0, *span)),
        Condition::Not(inner) => number_told(inner),
        _ => None,
    }
}

/// The one number in a difference, and what it is where the difference is 0.
pub(super) fn zero_of(difference: &Int) -> Option<(SymbolId, i64)> {
    let [(id, factor)] = difference.terms.as_slice() else { return None };
    let (base, factor) = (difference.base.as_constant()?, factor.as_constant()?);
    (!id.is_per_thread() && factor.checked_abs()? == 1).then(|| (*id, -factor * base))
}

/// What the one number in `±x + c` is where the sum has a relation to 0, or does not have it.
///
/// Example: `3 - x < 0` holds for `x` from 4 on, and fails up to 3.
fn values(difference: &Int, relation: Relation, holds: bool) -> Option<(SymbolId, Values)> {
    let (id, zero) = zero_of(difference)?;
    let (_, factor) = difference.terms.first()?;
    let is_mirrored = factor.as_constant()? < 0;
    let relation = if is_mirrored { relation.mirrored() } else { relation };
    let values = match (relation, holds) {
        (Relation::Less, true) | (Relation::GreaterEqual, false) => {
            Values::Between(None, zero.checked_sub(1))
        }
        (Relation::LessEqual, true) | (Relation::Greater, false) => Values::Between(None, Some(zero)),
        (Relation::Greater, true) | (Relation::LessEqual, false) => {
            Values::Between(zero.checked_add(1), None)
        }
        (Relation::GreaterEqual, true) | (Relation::Less, false) => Values::Between(Some(zero), None),
        (Relation::Equal, true) | (Relation::NotEqual, false) => Values::Between(Some(zero), Some(zero)),
        (Relation::NotEqual, true) | (Relation::Equal, false) => Values::Not(zero),
    };
    Some((id, values))
}
