//! How is the trace taken back to an earlier moment?
//!
//! A loop's body is probed before it is counted, and what was supposed of a loop may turn out not to be.

use crate::events::Then;
use crate::exec::machine::{Machine, Mark};

impl Machine<'_> {
    /// The trace as it is now.
    #[must_use]
    pub fn trace_mark(&self) -> Mark {
        Mark {
            requests: self.requests.mark(),
            worsened: self.looping.worsened.len(),
            barriers: self.trace.barriers.len(),
            events: self.trace.tree.len(),
            came: self.looping.came.len(),
            whole: self.looping.whole.len(),
            uncounted: self.trace.uncounted.len(),
            launches: self.trace.launches.len(),
            recent: self.compiler.recent.clone(),
        }
    }

    /// Takes back the requests and barriers recorded since the mark.
    pub fn trace_rollback(&mut self, mark: &Mark) {
        self.trace.barriers.truncate(mark.barriers);
        self.trace.tree.truncate(mark.events);
        self.trace.uncounted.truncate(mark.uncounted);
        self.looping.came.truncate(mark.came);
        self.looping.whole.truncate(mark.whole);
        self.compiler.registers.forget();
        self.compiler.recent = mark.recent.clone();
        self.requests.rollback(&mark.requests, &mut self.trace.accesses);
        self.trace.straight.take_back(self.requests.accesses());
        while self.looping.worsened.len() > mark.worsened {
            let Some((barrier, absence, was)) = self.looping.worsened.pop() else { return };
            let of = self.trace.barriers.get_mut(barrier);
            if let Some(it) = of.and_then(|of| of.absences.get_mut(absence)) {
                it.then = was;
            }
        }
    }

    /// Whether what was recorded since the mark only repeats sites known before.
    #[must_use]
    pub fn repeats_since(&self, mark: &Mark) -> bool {
        self.requests.repeats_since(&mark.requests)
    }

    /// Whether something recorded since the mark is not known, or depends on a number that is not.
    #[must_use]
    pub fn undecided_since(&self, mark: &Mark) -> bool {
        self.requests.undecided_since(&mark.requests, &self.trace.accesses)
    }

    /// Notes what threads do that do not come to a barrier, if nothing worse is known of them.
    pub(in crate::exec) fn worsen(&mut self, barrier: usize, absence: usize, then: Then) {
        let Some(of) = self.trace.barriers.get_mut(barrier) else { return };
        let Some(it) = of.absences.get_mut(absence).filter(|it| it.then.rank() < then.rank()) else { return };
        let was = std::mem::replace(&mut it.then, then);
        self.looping.worsened.push((barrier, absence, was));
    }
}
