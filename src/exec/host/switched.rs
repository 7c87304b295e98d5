//! Which cases of a switch in host code are run?
//!
//! All that may be, as the sides of a chain of conditions: `switch (n) { case 64: …; default: … }` is
//! `if (n == 64) … else …`. So the choice that a label makes is the one that `n == 64` makes elsewhere, and a second
//! switch on `n` goes the same way.

use crate::exec::machine::{LoopMask, Machine};
use crate::exec::switch::Entry;
use crate::ir::Case;
use crate::source::Span;

impl Machine<'_> {
    /// A switch of which it is not known which case is taken.
    pub(crate) fn host_cases(&mut self, cases: &[Case], entries: &[Option<Entry>], span: Span) {
        let start = self.state.clone();
        let before = start.claims.len();
        let mut asked: Vec<(usize, &Entry)> = Vec::new();
        // Who matches nothing goes to `default`, or past the switch.
        let mut rest = cases.iter().position(|case| case.value.is_none()).unwrap_or(cases.len());
        for (at, entry) in entries.iter().enumerate().filter_map(|(at, entry)| Some((at, entry.as_ref()?))) {
            match self.is_entered(entry) {
                None => asked.push((at, entry)),
                Some(false) => {}
                // No label behind it is asked.
                Some(true) => {
                    rest = at;
                    break;
                }
            }
        }
        let mut ended = Vec::with_capacity(asked.len());
        for (at, entry) in &asked {
            self.claim(&entry.condition, true);
            self.state.facts.extend(entry.truth.equality());
            self.run_from(cases, *at);
            self.state.facts.truncate(start.facts.len());
            ended.push(std::mem::replace(&mut self.state, start.clone()));
        }
        asked.iter().for_each(|(_, entry)| self.claim(&entry.condition, false));
        self.run_from(cases, rest);
        // Where all conditions fail, the last one decides.
        if let Some((_, last)) = asked.last() {
            let (claims, choice) = (self.state.claims.clone(), self.choice_by(&last.condition));
            self.note_implied(&claims, before + asked.len() - 1, (choice, false));
        }
        for ((_, entry), held) in asked.into_iter().zip(ended).rev() {
            let choice = self.choice_by(&entry.condition);
            self.note_implied(&held.claims, before, (choice, true));
            self.join_sides(held, choice, &entry.truth, span);
        }
    }

    /// Whether the numbers decide that a label is gone to.
    fn is_entered(&self, entry: &Entry) -> Option<bool> {
        let Entry { condition, truth } = entry;
        if truth.decided { Some(!truth.can_hold.is_empty()) } else { self.follows(condition, &[]) }
    }

    /// Runs what stands behind a label, as far as a `break`.
    fn run_from(&mut self, cases: &[Case], at: usize) {
        cases[at..].iter().for_each(|case| self.run(&case.body));
        if let Some(LoopMask { broken, .. }) = self.state.loops.last_mut() {
            self.state.active = self.state.active.or(broken);
            *broken = crate::domain::ThreadSet::NONE;
        }
    }
}
