//! Where was code of which one piece runs instead of another?
//!
//! Each side of a condition begins where the code before the condition was, whatever the other side does. What follows
//! both may have been where either was.

use super::machine::Machine;
use crate::codegen::Recent;

/// Pieces of code one of which runs.
pub(super) struct Instead {
    /// Where the code before them was.
    before: Recent,
    /// Where each was.
    after: Vec<Recent>,
}

impl Instead {
    /// From here on.
    pub(super) fn of(machine: &Machine<'_>) -> Instead {
        Instead { before: machine.compiler.recent.clone(), after: Vec::new() }
    }

    /// Runs one of them.
    pub(super) fn run<'m, T>(
        &mut self,
        machine: &mut Machine<'m>,
        run: impl FnOnce(&mut Machine<'m>) -> T,
    ) -> T {
        machine.compiler.recent = self.before.clone();
        let made = run(machine);
        let after = std::mem::take(&mut machine.compiler.recent);
        // Nobody goes on behind a piece that all leave.
        if !machine.state.active.is_empty() {
            self.after.push(after);
        }
        made
    }

    /// What follows them begins.
    pub(super) fn join(self, machine: &mut Machine<'_>) {
        machine.compiler.recent = self.before;
        self.after.iter().for_each(|recent| machine.compiler.recent.join(recent));
    }
}
