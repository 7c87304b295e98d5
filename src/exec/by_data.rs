//! Do data decide a condition that has one answer for all threads, and may they decide either way?
//!
//! ```text
//! if (length > 3) ...            `length` is read from memory: either, as far as one can tell
//! if (length < 0) ...            no: it may be a length, or unsigned
//! if (length > 5) return;
//! if (length > 10) ...           no: it is 5 at most
//! if (start + end > 5) return;
//! if (end > 10) ...              no: it is not known what the condition before leaves of `end`
//! if (go > 0) ...                either, where a thread has put data into the shared `go`
//! if (__any_sync(all, x > 0))    either: lanes vote on data
//! ```

use super::machine::{Machine, Mode};
use super::path_condition::number_told;
use super::value::Condition;
use crate::domain::{Origin, Reason, SymbolId};
use crate::ir::Expr;
use crate::source::Span;

/// The largest number that any integer of four bytes holds.
const MOST: i64 = i32::MAX as i64;

impl Machine<'_> {
    /// Whether data decide such a condition, either way.
    pub(super) fn is_alike_by_data(&self, cond: &Expr, condition: &Condition) -> bool {
        let Some(frame) = self.frame() else { return false };
        if frame.slice.is_vote_on_data(cond, self.program) {
            return true;
        }
        let Some((id, span)) = self.number_asked(condition) else { return false };
        // An earlier condition has to be known for what it leaves of this number. One that asks for another number may
        // say something of this one, too: both may be read from one place.
        let is_known = |by: Span| by == span || self.on_path().any(|it| it.of == id && it.by == by);
        let is_free = self.looping.data_asked.is_none_or(|first| first == span)
            && self.looping.numbers_asked.iter().all(|(of, by)| *of == id && is_known(*by));
        let symbols = &self.world.symbols;
        let is_read = symbols.is_read(id)
            || symbols.get(id).origin == Origin::Read
            || symbols.is_read_from_shared(id) && frame.slice.is_flag(cond, self.program);
        is_free && is_read && !self.is_asserted(id)
    }

    /// Notes that a condition asks for data: for how one number compares with a constant, or for something else. Of the
    /// latter, the first one counts.
    pub(super) fn note_asked_of_data(&mut self, condition: &Condition) {
        if self.mode != Mode::Device || self.looping.data_asked.is_some() {
            return;
        }
        let asked = self.asked_of_data(condition);
        match number_told(condition).filter(|(_, span)| asked.is_some() && self.is_of_int(*span)) {
            Some(number) if !self.looping.numbers_asked.contains(&number) => {
                self.looping.numbers_asked.push(number);
            }
            Some(_) => {}
            None => self.looping.data_asked = asked,
        }
    }

    /// Where a condition asks for what is read from memory.
    fn asked_of_data(&self, condition: &Condition) -> Option<Span> {
        match condition {
            Condition::Known(_) => None,
            Condition::Opaque(_, why) => (why.reason == Reason::DataDependent).then_some(why.span),
            Condition::Compare { difference, span, .. } => {
                let is_told = |id: SymbolId| self.world.symbols.get(id).named;
                let mut terms = difference.terms.iter();
                (terms.any(|(id, _)| !is_told(*id)) && difference.is_uniform()).then_some(*span)
            }
            Condition::Not(inner) => self.asked_of_data(inner),
            Condition::And(a, b) | Condition::Or(a, b) => {
                self.asked_of_data(a).or_else(|| self.asked_of_data(b))
            }
        }
    }

    /// The number that a condition compares with a constant, if it may be on either side of that.
    fn number_asked(&self, condition: &Condition) -> Option<(SymbolId, Span)> {
        let (difference, relation, span) = match condition {
            Condition::Not(inner) => return self.number_asked(inner),
            Condition::Compare { difference, relation, span } => (difference, *relation, *span),
            _ => return None,
        };
        let [(id, factor)] = difference.terms.as_slice() else { return None };
        let (base, factor) = (difference.base.as_constant()?, factor.as_constant()?);
        let (low, high) = self.ends_here(*id);
        let ends = [low.unwrap_or(0).max(0), high.unwrap_or(MOST).min(MOST)];
        let [low, high] = ends.map(|end| factor.checked_mul(end).and_then(|it| it.checked_add(base)));
        let is_either = relation.holds(low?) != relation.holds(high?);
        (is_either && factor.abs() == 1).then_some((*id, span))
    }
}
