//! Which places were accessed before a piece of code that runs instead of another, and before what follows both?
//!
//! Each side of a condition comes after the accesses before the condition, whatever the other side does. What follows
//! comes after the accesses of either side.

use super::machine::Machine;
use crate::codegen::Recent;

/// Pieces of code of which one runs.
pub(super) struct Instead {
    /// What was accessed before them.
    before: Recent,
    /// What was accessed when each ended.
    after: Vec<Recent>,
}

impl Instead {
    /// Starts here.
    pub(super) fn of(machine: &Machine<'_>) -> Instead {
        Instead { before: machine.compiler.recent.clone(), after: Vec::new() }
    }

    /// Runs one of the pieces.
    pub(super) fn run<'m, T>(
        &mut self,
        machine: &mut Machine<'m>,
        run: impl FnOnce(&mut Machine<'m>) -> T,
    ) -> T {
        machine.compiler.recent = self.before.clone();
        let made = run(machine);
        let after = std::mem::take(&mut machine.compiler.recent);
        // Nothing follows a piece that all threads leave.
        if !machine.state.active.is_empty() {
            self.after.push(after);
        }
        made
    }

    /// Ends them: what follows comes after any of them.
    pub(super) fn join(self, machine: &mut Machine<'_>) {
        machine.compiler.recent = self.before;
        self.after.iter().for_each(|recent| machine.compiler.recent.join(recent));
    }
}
