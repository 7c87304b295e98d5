//! What do the conditions on the path here leave of a number that all threads share?
//!
//! ```text
//! if (length > 5) return;
//! ...                            `length` is at most 5
//! if (kind == 3) return;
//! if (kind == 3) ...             no block comes here
//! if (first > 0 && last < n)     on this side, both; on the other, nothing is known of either
//! ```
//!
//! Only a comparison of one `int` with a constant is such a path condition. It holds for the threads that passed it, and
//! only while these run:
//!
//! ```text
//! if (threadIdx.x < 64) {
//!     if (n > 5) return;
//!     ...                        `n` is at most 5
//! }
//! ...                            for the other threads, it may be anything
//! ```
//!
//! A path condition ends with the iteration of a loop, because the next iteration may have other numbers of the same names.

use super::machine::{Machine, Mode};
use super::path_condition::{PathCondition, Values, tell, zero_of};
use super::value::{Condition, NOWHERE};
use crate::domain::{Int, SymbolId, ThreadSet};
use crate::ir::Scalar;
use crate::source::Span;

/// Path conditions that are kept, at the most.
const MOST: usize = 32;

impl Machine<'_> {
    /// What a condition tells of numbers where it holds, and where it fails.
    pub(super) fn told_by_sides(&self, condition: &Condition) -> [Vec<PathCondition>; 2] {
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

    /// Notes of which types the numbers are that a comparison compares. Other types than `int` compare other numbers:
    /// `(unsigned)n < 8` fails for -1, and so may `(int)n < 8` of a `long long` that is less.
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
        self.is_of_int(span) && difference.terms.iter().any(|(id, _)| self.on_path().any(|it| it.of == *id))
    }

    /// From here on, this holds for the threads that run, if it is known which these are.
    pub(super) fn assume_on_path(&mut self, told: &[PathCondition]) {
        if self.state.doubt.is_some() {
            return;
        }
        let (room, active) = (MOST.saturating_sub(self.state.path.len()), self.state.active);
        self.state.path.extend(told.iter().take(room).map(|it| (it.clone(), active)));
    }

    /// What holds for all threads that run.
    pub(super) fn on_path(&self) -> impl Iterator<Item = &PathCondition> + Clone {
        let active = self.state.active;
        let holds = move |threads: &ThreadSet| active.minus(threads).is_empty();
        self.state.path.iter().filter(move |(_, threads)| holds(threads)).map(|(it, _)| it)
    }

    /// Least and greatest value on this path of a number by which something is decided.
    pub(super) fn bounds_here(&self, number: &Int) -> (Option<i64>, Option<i64>) {
        let (low, high) = self.world.bounds_of_any_sign(number);
        let (least, most) = self.world.bounds_with(number, |id| self.ends_here(id));
        (low.max(least), high.into_iter().chain(most).min())
    }

    /// Whether a number cannot be 0 on this path, as another condition said so.
    pub(super) fn is_excluded_here(&self, number: &Int) -> bool {
        let Some((id, value)) = zero_of(number) else { return false };
        self.on_path().any(|it| it.of == id && it.values == Values::Not(value))
    }

    /// The least and greatest value of a symbol on this path.
    pub(super) fn ends_here(&self, id: SymbolId) -> (Option<i64>, Option<i64>) {
        let of_it = || self.on_path().filter(|it| it.of == id).map(|it| &it.values);
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
