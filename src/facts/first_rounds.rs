//! Of which loops is the first round in the same interval between barriers as all others?
//!
//! One pass stands for all rounds of a loop of unknown length, and the number of the round stands in offsets as a
//! symbol. Where nothing in the loop orders threads, its first round may race with what stands before or behind it:
//!
//! ```text
//! for (k = 0; k < n; k += 64) {
//!     s[t] = in[k + t];                              thread 0 writes `s[0]` in the next round,
//!     __syncthreads();
//!     for (i = 0; i < m; ++i) sum += s[i] * w[i];    and others read it here, where `i` is 0
//! }
//! ```

use super::intervals::{Interval, Round};
use crate::domain::{Int, Lanes, Origin, Shape, SymbolId};
use crate::events::{AccessEvent, Assumption, Event, EventTree, Trace};
use rustc_hash::FxHashSet;

/// The numbers of the rounds of such loops, counted from 0.
pub(super) struct FirstRounds(FxHashSet<SymbolId>);

impl FirstRounds {
    pub(super) fn of(tree: &EventTree) -> FirstRounds {
        let mut found = FxHashSet::default();
        // Of each loop around: whether something in it orders threads.
        let mut around: Vec<bool> = Vec::new();
        for event in tree.events() {
            match event {
                Event::Loop { .. } => around.push(false),
                Event::EndOfLoop { round, .. } => {
                    let is_ordered = around.pop().unwrap_or(true);
                    found.extend(round.filter(|_| !is_ordered));
                }
                Event::Barrier { .. } | Event::MayOrder { .. } | Event::WarpOrder { .. } => {
                    around.iter_mut().for_each(|is_ordered| *is_ordered = true);
                }
                _ => {}
            }
        }
        FirstRounds(found)
    }

    /// Whether an offset names the round of such a loop, and the access is done in the first round as in any other.
    pub(super) fn are_of(&self, event: &AccessEvent, tree: &EventTree) -> bool {
        let needs_another = |it: &Assumption| matches!(it, Assumption::UsualIteration { .. });
        let mut terms = event.offset.iter().flat_map(|offset| &offset.terms);
        terms.any(|(id, _)| self.first_value(*id, tree).is_some())
            && !event.assumptions.iter().any(needs_another)
    }

    /// What the number of such a round, or what is made of it, is in the first round.
    pub(super) fn first_value(&self, symbol: SymbolId, tree: &EventTree) -> Option<i64> {
        if self.has(symbol) {
            return Some(0);
        }
        self.0.iter().find_map(|round| at_first(symbol, *round, tree))
    }

    /// Whether this is the number of such a round.
    pub(super) fn has(&self, symbol: SymbolId) -> bool {
        self.0.contains(&symbol)
    }
}

/// What is made of the number of a round, as its remainder is, where that is 0.
fn at_first(symbol: SymbolId, round: SymbolId, tree: &EventTree) -> Option<i64> {
    let remainder = tree.remainder(symbol).filter(|it| it.of == round).map(|it| it.at(0));
    remainder.or_else(|| tree.at_zero(symbol, round))
}

/// An offset in this round, and in the first rounds of some loops: what is known of it, and what all threads share. None
/// if a part of it is each thread's own. `chosen`: the number that one of two alternatives has.
pub(super) fn shared_offset(
    offset: &Int,
    (round, first_rounds, chosen): (Round, Option<&FirstRounds>, Option<(SymbolId, i64)>),
    tree: &EventTree,
    shape: Shape,
) -> Option<(Lanes, Vec<(SymbolId, i64)>)> {
    let mut base: Lanes = offset.base.clone();
    let mut terms = Vec::new();
    let second = |of: SymbolId, id: SymbolId| tree.remainder(id).filter(|it| it.of == of).map(|it| it.at(1));
    // What takes turns is told from round to round by the round's number.
    let takes_turns = |of: SymbolId| offset.terms.iter().any(|(id, _)| second(of, *id).is_some());
    for (id, factor) in &offset.terms {
        if let Some((_, number)) = chosen.filter(|(choice, _)| choice == id) {
            base = base.add(&factor.map(shape, |factor| factor.wrapping_mul(number)), shape);
            continue;
        }
        let constant = factor.as_constant().filter(|_| !id.is_per_thread())?;
        let first = match round {
            Round::First(of) if of == *id => Some(0),
            Round::First(of) => at_first(*id, of, tree),
            // The round after the first.
            Round::Next(of) if of == *id && first_rounds.is_some_and(|loops| loops.has(of)) => Some(1),
            Round::Next(of) if of == *id && takes_turns(of) => Some(1),
            Round::Next(of) => second(of, *id),
            Round::Any => None,
        };
        let of_loops = || first_rounds.and_then(|loops| loops.first_value(*id, tree));
        if let Some(first) = first.or_else(of_loops) {
            base = base.add(&Lanes::constant(first.wrapping_mul(constant)), shape);
            continue;
        }
        if round == Round::Next(*id) {
            base = base.add(&Lanes::constant(constant), shape);
        }
        terms.push((*id, constant));
    }
    Some((base, terms))
}

/// The number that is one of two for all threads on which offsets in an interval rest, each thread's in its own way; none
/// if they rest on several.
pub(super) fn chosen_in(trace: &Trace, interval: &Interval) -> Option<SymbolId> {
    // In another round it may be the other one.
    if interval.across.is_some() {
        return None;
    }
    let is_choice = |id| trace.tree.symbol(id).is_some_and(|symbol| symbol.origin == Origin::Choice);
    let mut chosen = None;
    for (at, _) in &interval.accesses {
        let Event::Access(AccessEvent { offset: Some(offset), .. }) = &trace.tree.events()[*at] else {
            continue;
        };
        for (id, factor) in &offset.terms {
            if factor.as_constant().is_none() && is_choice(*id) && chosen != Some(*id) {
                if chosen.is_some() {
                    return None;
                }
                chosen = Some(*id);
            }
        }
    }
    chosen
}
