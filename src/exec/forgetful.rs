//! What would a run find that remembers nothing?
//!
//! Only for tests: whatever a machine keeps to be quick is dropped before every statement.

use super::machine::{Machine, Memo};
use std::cell::Cell;

/// Something that a machine keeps only to be quick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kept {
    /// Types, constants, template parameters: [`super::memo`].
    Lookups,
    /// Results of operators: `domain::results`.
    Results,
    /// That copies of a state share what neither wrote: [`super::slots`].
    Sharing,
    /// How a loop changes the state: [`super::loop_plan`].
    Plans,
    /// What bears on a function's requests: [`super::slice`].
    Slices,
    /// What is counted of statements that are passed over, and what loops declare.
    Counts,
    /// The layouts of records.
    Layouts,
}

/// Everything that may be forgotten without a trace. Not plans: one that was found of a loop the last
/// time and is seen to hold may be one that would not be found again.
pub(crate) const ALL: [Kept; 6] =
    [Kept::Lookups, Kept::Results, Kept::Sharing, Kept::Slices, Kept::Counts, Kept::Layouts];

thread_local! {
    static FORGOTTEN: Cell<Option<&'static [Kept]>> = const { Cell::new(None) };
    static TIMES: Cell<u64> = const { Cell::new(0) };
}

/// Does some work while machines keep everything but `kept`, with a budget that none of them spends
/// sooner than the others; and how often something was dropped.
pub(crate) fn without<R>(kept: &'static [Kept], work: impl FnOnce() -> R) -> (R, u64) {
    TIMES.set(0);
    FORGOTTEN.set(Some(kept));
    let done = work();
    FORGOTTEN.set(None);
    (done, TIMES.get())
}

/// By how much the budget of steps is larger than it is for users.
pub(crate) fn patience() -> u64 {
    if FORGOTTEN.get().is_some() { 4 } else { 1 }
}

impl Machine<'_> {
    /// Drops what is to be forgotten.
    pub(crate) fn forget(&mut self) {
        for kept in FORGOTTEN.get().unwrap_or_default() {
            TIMES.set(TIMES.get() + 1);
            match kept {
                Kept::Lookups => self.lookups.memo = Memo::default(),
                Kept::Results => self.world.forget_results(),
                Kept::Sharing => self.state.frames.iter_mut().for_each(|frame| frame.slots.unshare()),
                Kept::Plans => self.looping.plans.values_mut().for_each(|known| known.forget()),
                Kept::Slices => self.lookups.slices.clear(),
                Kept::Counts => {
                    self.compiler.passed.clear();
                    self.looping.declared.clear();
                }
                Kept::Layouts => self.lookups.layouts.clear(),
            }
        }
    }
}

mod tests;
