//! Which numbers are known to us from a launch, but not to the compiler?
//!
//! The block's extents and the kernel's arguments: a loop up to one of them is not unrolled whole, however few
//! iterations it has. A variable is such a number if a statement that wrote it read one. This is tracked by
//! statement, not by value, and so may find too many.

use crate::ir::{LocalId, Param};
use rustc_hash::FxHashSet;
use std::cell::Cell;

/// The variables that hold such numbers.
#[derive(Debug, Default)]
pub(crate) struct AtLaunch {
    /// By frame.
    variables: FxHashSet<(usize, LocalId)>,
    /// Whether one was read in this statement.
    read: Cell<bool>,
}

impl AtLaunch {
    /// A statement begins.
    pub(crate) fn begin(&self) {
        self.read.set(false);
    }

    /// Whether such a number was read since the statement began.
    pub(crate) fn was_read(&self) -> bool {
        self.read.get()
    }

    /// Such a number is read.
    pub(crate) fn note_read(&self) {
        self.read.set(true);
    }

    /// A variable is read.
    pub(crate) fn read(&self, frame: usize, local: LocalId) {
        if !self.variables.is_empty() && self.variables.contains(&(frame, local)) {
            self.read.set(true);
        }
    }

    /// A variable is written.
    pub(crate) fn write(&mut self, frame: usize, local: LocalId) {
        if self.read.get() {
            self.variables.insert((frame, local));
        }
    }

    /// A kernel's parameters are such numbers.
    pub(crate) fn enter_kernel(&mut self, params: &[Param]) {
        self.variables.extend(params.iter().map(|param| (0, param.local)));
    }

    /// A function is called whose frame has this number and whose parameters `given` are such numbers.
    pub(crate) fn enter(&mut self, frame: usize, given: &[LocalId]) {
        self.variables.retain(|(other, _)| *other < frame);
        self.variables.extend(given.iter().map(|local| (frame, *local)));
    }
}
