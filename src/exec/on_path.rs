//! What do the conditions on the way here leave of a number that all threads share?
//!
//! ```text
//! if (length > 5) return;
//! ...                            `length` is at most 5
//! if (kind == 3) return;
//! if (kind == 3) ...             no block comes here
//! if (first > 0 && last < n)     on this side, both; on the other, nothing is known of either
//! ```
//!
//! Only comparisons of one number with a constant tell. What an iteration of a loop learns ends with it, as the next may
//! have other numbers of the same names.

use super::left_values::{Told, Values, tell, zero_of};
use super::machine::{Machine, Mode};
use super::value::{Condition, NOWHERE};
use crate::domain::{Int, SymbolId};
use crate::ir::Scalar;
use crate::source::Span;

/// Most conditions on one way that are kept.
const MOST: usize = 32;

impl Machine<'_> {
    /// What a condition tells of numbers where it holds, and where it fails.
    pub(super) fn told_by_sides(&self, condition: &Condition) -> [Vec<Told>; 2] {
        match self.mode {
            Mode::Device => [true, false].map(|holds| {
                let mut told = Vec::new();
                tell(condition, holds, &mut told);
                told.retain(|it| self.is_of_int(it.by));
                told
            }),
            Mode::Host => Default::default(),
        }
    }

    /// Notes of which types the numbers are that are compared. Only where all are `int`, the numbers are those that
    /// conditions tell of: `(unsigned)n < 8` does not hold for -1, nor does it follow from `n < 8` for what is left of
    /// more bytes.
    pub(super) fn note_compared(&mut self, types: &[Scalar], span: Span) {
        if types.iter().any(|it| *it != Scalar::I32) {
            self.looping.of_other_types.insert(span);
        }
    }

    pub(super) fn is_of_int(&self, span: Span) -> bool {
        span != NOWHERE && !self.looping.of_other_types.contains(&span)
    }

    /// Whether something is told here of what the comparison at `span` is made of.
    pub(super) fn is_told_of(&self, difference: &Int, span: Span) -> bool {
        !self.state.told.is_empty()
            && self.is_of_int(span)
            && difference.terms.iter().any(|(id, _)| self.state.told.iter().any(|it| it.of == *id))
    }

    /// From here on this is known, too.
    pub(super) fn learn(&mut self, told: &[Told]) {
        let room = MOST.saturating_sub(self.state.told.len());
        self.state.told.extend(told.iter().take(room).cloned());
    }

    /// Least and greatest value on this way of a number by which something is decided.
    pub(super) fn bounds_here(&self, number: &Int) -> (Option<i64>, Option<i64>) {
        let (low, high) = self.world.bounds_of_any_sign(number);
        let (least, most) = self.world.bounds_with(number, |id| self.ends_here(id));
        (low.max(least), high.into_iter().chain(most).min())
    }

    /// Whether a number cannot be 0 on this way, as another condition said so.
    pub(super) fn is_excluded_here(&self, number: &Int) -> bool {
        let Some((id, value)) = zero_of(number) else { return false };
        self.state.told.iter().any(|it| it.of == id && it.values == Values::Not(value))
    }

    /// The least and greatest value of a symbol on this way.
    pub(super) fn ends_here(&self, id: SymbolId) -> (Option<i64>, Option<i64>) {
        let of_it = || self.state.told.iter().filter(|it| it.of == id).map(|it| &it.values);
        let (mut low, mut high) = self.world.ends_of_any_sign(id);
        for values in of_it() {
            if let Values::Between(least, most) = values {
                low = low.max(*least);
                high = high.into_iter().chain(*most).min();
            }
        }
        // `n != 0`, of what is no less than 0, says that it is 1 or more.
        for _ in of_it() {
            let is_out = |end: Option<i64>| end.is_some_and(|end| of_it().any(|it| *it == Values::Not(end)));
            low = if is_out(low) { low.and_then(|low| low.checked_add(1)) } else { low };
            high = if is_out(high) { high.and_then(|high| high.checked_sub(1)) } else { high };
        }
        (low, high)
    }
}
