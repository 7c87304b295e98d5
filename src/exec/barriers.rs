//! Which barriers are reached, and by which threads?

use super::machine::Machine;
use crate::source::Span;
use crate::trace::{Barrier, Split, SplitKind};
use std::sync::Arc;

impl Machine<'_> {
    /// Records a block barrier reached by the active threads.
    pub fn barrier(&mut self, name: &str, span: Span, count: Option<i64>) {
        self.epoch += 1;
        if !self.recording {
            return;
        }
        let expected = self.everyone();
        let missing = expected.minus(&self.state.active);
        let mut splits: Vec<Split> = self.splits.clone();
        for (lanes, split) in &self.departures {
            let known = splits.iter().any(|s| s.id == split.id);
            if !known && (!lanes.and(&missing).is_empty() || split.kind != SplitKind::Known) {
                splits.push(split.clone());
            }
        }
        let barrier = Barrier {
            span,
            name: Arc::from(name),
            calls: self.calls.clone(),
            active: self.state.active,
            expected,
            doubt: self.state.doubt.clone(),
            splits,
            count,
        };
        let seen = |b: &Barrier| {
            b.span == span
                && b.active == barrier.active
                && b.expected == barrier.expected
                && b.calls == barrier.calls
                && b.splits.iter().map(|s| s.span).eq(barrier.splits.iter().map(|s| s.span))
        };
        if self.trace.barriers.len() < 4096 && !self.trace.barriers.iter().any(seen) {
            self.trace.barriers.push(barrier);
        }
    }

    /// Notes that the active threads leave a function or loop because of the conditions around.
    /// `by_round`: they leave a loop, by a bound that is then as good as its condition.
    pub fn note_departure(&mut self, by_round: bool) {
        let Some(mut split) = self.splits.last().cloned() else { return };
        if let (SplitKind::Guard(words), true) = (&split.kind, by_round) {
            split.kind = SplitKind::Rounds(words.clone());
        }
        split.of_rounds |= by_round;
        self.departures.push((self.state.active, split));
    }
}
