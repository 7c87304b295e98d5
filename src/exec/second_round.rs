//! Does a loop have a second round?
//!
//! ```text
//! for (k = 0; k < n; ++k)                            for large `n` surely
//! for (r = blockIdx.x; r < n; r += gridDim.x)        too, in a grid of which it is known how many blocks it has at the most
//! for (r = blockIdx.x; r < 1000; r += gridDim.x)     with 100 blocks: in the first one, `r` is 100 then
//! for (k = 0; k < n; k += 256)                       where the launch is under `if (n <= 256)`, it has none
//! while (in[k] > 0)                                  data decide
//! while (go)                                         so they do where a thread has put it into shared memory
//! for (k = row[i]; k < row[i + 1]; ++k)              likewise
//! for (i = t; i < rows * columns + t; i += columns)  for large `rows`
//! ```

use super::machine::Machine;
use super::value::{Condition, Relation};
use crate::domain::{AmongBlocks, Int, Lanes, Origin, SymbolId};
use crate::events::{Asks, GoesOn, Roots};

impl Machine<'_> {
    /// Whether a loop with this condition runs more than a round.
    pub(super) fn may_go_on(&self, condition: &Condition) -> GoesOn {
        match condition {
            _ if self.is_of_data(condition) || self.is_of_shared_data(condition) => GoesOn::ForData,
            // `k < n && go`
            Condition::And(a, b) => match (self.may_go_on(a), self.may_go_on(b)) {
                (GoesOn::Perhaps, _) | (_, GoesOn::Perhaps) => GoesOn::Perhaps,
                (GoesOn::Surely, GoesOn::Surely) => GoesOn::Surely,
                _ => GoesOn::ForData,
            },
            Condition::Compare { difference, relation, .. } => self.outlasts_a_round(difference, *relation),
            _ => GoesOn::Perhaps,
        }
    }

    /// Whether what all threads read from shared memory decides, as in `while (go)`.
    fn is_of_shared_data(&self, condition: &Condition) -> bool {
        match condition {
            Condition::Compare { difference, .. } => {
                let is_read = |(id, _): &(SymbolId, Lanes)| self.world.symbols.is_read_from_shared(*id);
                let mut terms = difference.terms.iter().peekable();
                difference.is_uniform() && terms.peek().is_some() && terms.all(is_read)
            }
            Condition::Not(inner) => self.is_of_shared_data(inner),
            _ => false,
        }
    }

    /// Whether a comparison holds in a second round, too, for some numbers given at run time: in one of the first
    /// block, where each steps by the number of blocks.
    fn outlasts_a_round(&self, difference: &Int, relation: Relation) -> GoesOn {
        let symbols = &self.world.symbols;
        let given = |id: SymbolId| symbols.get(id).origin == Origin::Given && symbols.is_unbounded(id);
        let is_block = |id: SymbolId| matches!(symbols.get(id).among_blocks, AmongBlocks::Index(_));
        let is_read = |id: SymbolId| {
            let symbol = symbols.get(id);
            matches!(symbol.origin, Origin::Given | Origin::Read) && !symbol.named && symbol.high.is_none()
        };
        let (mut growth, mut is_counted, mut is_given, mut is_of_data) = (Some(0i64), false, false, false);
        // What the bound is at the most.
        let mut most = Some(0i64);
        for (id, factor) in &difference.terms {
            if self.is_asserted(*id) {
                return GoesOn::Perhaps;
            }
            if self.is_counted_in_sizes(*id, difference) {
                is_counted = true;
            } else if let Some(step) = self.step_of(*id) {
                let by = factor.as_constant().and_then(|factor| factor.checked_mul(step));
                growth = growth.zip(by).and_then(|(sum, by)| sum.checked_add(by));
                is_counted = true;
            } else if given(*id) {
                match self.most_of(*id) {
                    Some(limit) => {
                        let by = factor.as_constant().and_then(|factor| factor.checked_mul(limit));
                        most = most.zip(by).and_then(|(sum, by)| sum.checked_add(by));
                    }
                    None => is_given = true,
                }
            } else if is_read(*id) && difference.is_uniform() {
                is_of_data = true;
            } else if !is_block(*id) {
                return GoesOn::Perhaps;
            }
        }
        // A constant bound tells it of the second round, and so does the most that it can be.
        let second = || difference.base.as_constant()?.checked_add(growth?)?.checked_add(most?);
        match is_counted {
            true if is_of_data => GoesOn::ForData,
            true if is_given || second().is_some_and(|second| relation.holds(second)) => GoesOn::Surely,
            _ => GoesOn::Perhaps,
        }
    }

    /// Whether a number is a counter times sizes, and the bound is these sizes times others: `columns * k < rows * columns`.
    fn is_counted_in_sizes(&self, id: SymbolId, difference: &Int) -> bool {
        let symbols = &self.world.symbols;
        let is_counter = |id: &SymbolId| symbols.get(*id).origin == Origin::Loop;
        let is_size = |id: &SymbolId| {
            symbols.get(*id).origin == Origin::Given
                && symbols.is_unbounded(*id)
                && !self.is_asserted(*id)
                && self.most_of(*id).is_none()
        };
        let (counters, sizes): (Vec<SymbolId>, Vec<SymbolId>) =
            symbols.get(id).factors.iter().copied().partition(is_counter);
        let is_bound = |bound: SymbolId| {
            let mut others = symbols.get(bound).factors.to_vec();
            let has_all = sizes.iter().all(|size| {
                let at = others.iter().position(|other| other == size);
                at.map(|at| others.swap_remove(at)).is_some()
            });
            // What a condition around asks of them may leave one round.
            let of_others = Roots::new(others.clone());
            let asks = |branch: &u32| self.trace.tree.taken(*branch).map(|taken| &taken.asks);
            let is_free = |asks: &Asks| *asks == Asks::Data || !asks.may_meet(Some(&of_others));
            has_all
                && !others.is_empty()
                && others.iter().all(is_size)
                && self.branches().iter().filter_map(asks).all(is_free)
        };
        counters.len() == 1
            && !sizes.is_empty()
            && sizes.iter().all(is_size)
            && difference.terms.iter().any(|(other, _)| *other != id && is_bound(*other))
    }

    /// By how much a number is larger in the second round of a loop: a counter, or one times numbers of blocks that the
    /// launch tells.
    fn step_of(&self, id: SymbolId) -> Option<i64> {
        let symbols = &self.world.symbols;
        let is_counter = |id: SymbolId| symbols.get(id).origin == Origin::Loop;
        let factors = symbols.get(id).factors.iter().copied();
        let mut counters = 0;
        let step = factors.map(|of| {
            counters += usize::from(is_counter(of));
            if is_counter(of) {
                return Some(1);
            }
            let axis = self.size_of_grid(of)?;
            self.settings.grid[axis].or(self.settings.most_blocks[axis])
        });
        let step = step.collect::<Option<Vec<i64>>>()?.into_iter().try_fold(1i64, i64::checked_mul)?;
        (counters == 1).then_some(step)
    }
}
