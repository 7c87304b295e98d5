//! Which functions are known to only compute data, and which are not?
//!
//! Whether one does is seen from the flows through its body, and these rest on what is known of the functions
//! that it calls. So this is kept apart, and asks by a function that it is given.

use super::Given;
use crate::builtins;
use crate::ir::program::Program;
use crate::ir::{Function, Name};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Whether a function only computes data; the number: calls in calls above it.
type Computes = fn(&Plains, &Function, &Program, usize) -> bool;

/// Calls in calls that are followed.
const DEEP: usize = 3;

/// What was found of functions, by name.
#[derive(Debug)]
pub(super) struct Plains {
    /// Finds it out of one that is not known yet.
    computes: Computes,
    known: RefCell<FxHashMap<Name, bool>>,
    /// Whether it matters where the lanes of a warp meet.
    lanes: bool,
    /// Whether it matters what is done to global memory.
    memory: bool,
}

impl Plains {
    pub(super) fn new(given: Given, computes: Computes) -> Plains {
        Plains { computes, known: RefCell::default(), lanes: given.lanes, memory: given.memory }
    }

    pub(super) fn lanes(&self) -> bool {
        self.lanes
    }

    pub(super) fn memory(&self) -> bool {
        self.memory
    }

    /// Whether all functions of this name only compute data.
    pub(super) fn is_plain(&self, name: &Name, program: &Program, depth: usize) -> bool {
        if let Some(known) = self.known.borrow().get(name) {
            return *known;
        }
        // What is written may mean the function of CUDA, where those of the program lie in namespaces.
        let may_act = builtins::kind(name).is_some() && !builtins::only_computes(name);
        let candidates = program.functions(name);
        let plain = depth < DEEP
            && !may_act
            && !candidates.is_empty()
            && candidates.iter().all(|function| (self.computes)(self, function, program, depth));
        self.known.borrow_mut().insert(name.clone(), plain);
        plain
    }
}
