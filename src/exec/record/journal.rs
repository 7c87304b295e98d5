//! How is the trace taken back to an earlier moment?
//!
//! A loop's body is probed before it is counted, and what was supposed of a loop may turn out not to be.
//! Whatever is recorded is therefore written down, so that it can be undone, the last first.

use super::Requested;
use crate::events::{Pattern, Then};
use crate::exec::machine::{Machine, Mark, Undo};
use crate::source::Span;

impl Machine<'_> {
    /// The trace as it is now.
    #[must_use]
    pub fn trace_mark(&self) -> Mark {
        Mark {
            journal: self.index.journal.len(),
            accesses: self.index.accesses,
            writes: self.index.writes,
            barriers: self.trace.barriers.len(),
            events: self.trace.tree.len(),
            came: self.looping.came.len(),
            launches: self.trace.launches.len(),
        }
    }

    /// Takes back the requests and barriers recorded since the mark.
    pub fn trace_rollback(&mut self, mark: &Mark) {
        self.trace.barriers.truncate(mark.barriers);
        self.trace.tree.truncate(mark.events);
        self.looping.came.truncate(mark.came);
        self.index.registers.forget();
        (self.index.accesses, self.index.writes) = (mark.accesses, mark.writes);
        while self.index.journal.len() > mark.journal {
            let Some(undo) = self.index.journal.pop() else { return };
            self.undo(undo);
        }
    }

    /// Whether what was recorded since the mark only repeats sites known before.
    #[must_use]
    pub fn repeats_since(&self, mark: &Mark) -> bool {
        let repeats = |undo: &Undo| {
            let seen = matches!(undo, Undo::Occurrence { .. } | Undo::Kept { .. });
            let known = matches!(undo, Undo::Again { .. } | Undo::Pattern { .. } | Undo::Ways { .. });
            seen || known || matches!(undo, Undo::Absence { .. })
        };
        self.index.journal[mark.journal..].iter().all(repeats)
    }

    /// Whether something recorded since the mark is not known, or depends on a number that is not.
    #[must_use]
    pub fn undecided_since(&self, mark: &Mark) -> bool {
        self.index.journal[mark.journal..].iter().any(|undo| match undo {
            Undo::Unknown { .. } => true,
            Undo::Pattern { site } => {
                let patterns = &self.trace.accesses[*site as usize].patterns;
                patterns.last().is_some_and(|pattern| !pattern.varying.is_empty())
            }
            _ => false,
        })
    }

    /// Notes what threads do that do not come to a barrier, if nothing worse is known of them.
    pub(in crate::exec) fn worsen(&mut self, barrier: usize, absence: usize, then: Then) {
        let Some(of) = self.trace.barriers.get_mut(barrier) else { return };
        let Some(it) = of.absences.get_mut(absence).filter(|it| it.then.rank() < then.rank()) else { return };
        let was = std::mem::replace(&mut it.then, then);
        self.index.journal.push(Undo::Absence { barrier, absence, was });
    }

    fn undo(&mut self, undo: Undo) {
        if let Undo::Absence { barrier, absence, was } = undo {
            let of = self.trace.barriers.get_mut(barrier);
            if let Some(it) = of.and_then(|of| of.absences.get_mut(absence)) {
                it.then = was;
            }
            return;
        }
        let accesses = &mut self.trace.accesses;
        match undo {
            Undo::Again { site, pattern, by, warp, within, elsewhere } => {
                let pattern = &mut accesses[site as usize].patterns[pattern as usize];
                pattern.happens_not(warp, by, within);
                pattern.elsewhere = elsewhere;
            }
            Undo::Kept { site } => accesses[site as usize].kept -= 1,
            Undo::Occurrence { site } => accesses[site as usize].occurrences -= 1,
            Undo::Pattern { site } => {
                let Some(pattern) = accesses[site as usize].patterns.pop() else { return };
                let (site, last) = (site as usize, accesses[site as usize].patterns.len() as u32);
                let key = (site, Requested::of(&pattern).hash());
                if let Some(alike) = self.index.patterns.get_mut(&key) {
                    alike.retain(|at| *at < last);
                }
            }
            Undo::Ways { site, pattern, was } => {
                accesses[site as usize].patterns[pattern as usize].ways = was;
            }
            Undo::Site => {
                let Some(access) = accesses.pop() else { return };
                self.index.sites.remove(&(access.span, access.op, access.array, access.bytes));
            }
            Undo::Unknown { site } => accesses[site as usize].unknown = None,
            Undo::Doubt { site } => accesses[site as usize].doubt = None,
            Undo::Outside { site } => accesses[site as usize].outside = false,
            Undo::Overrun { site, was } => accesses[site as usize].overrun = was,
            Undo::AtMost { site } => accesses[site as usize].at_most = false,
            Undo::Assumption { site } => {
                accesses[site as usize].assumptions.pop();
            }
            Undo::Absence { .. } => {}
        }
    }
}

impl Pattern {
    /// Takes back that it happens so often, in a loop of unknown length or in none.
    fn happens_not(&mut self, warp: u32, times: u64, within: Option<Span>) {
        self.count = self.count.saturating_sub(times);
        let of_warp = &mut self.times[warp as usize % 32];
        *of_warp = of_warp.saturating_sub(times);
        if *of_warp == 0 {
            self.warps &= !(1 << (warp % 32));
        }
        for (_, known) in self.within.iter_mut().filter(|(innermost, _)| *innermost == within) {
            *known = known.saturating_sub(times);
        }
        self.within.retain(|(_, known)| *known > 0);
    }
}
