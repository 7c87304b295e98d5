//! What does a name mean here?
//!
//! Block scoping with shadowing: a name is bound until the scope it was bound in is left, and then
//! means again what it meant before.

use crate::ir::{Expr, LocalId, Name, Type};
use rustc_hash::FxHashMap;

/// What a name is bound to inside a function or class.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    /// A local variable or parameter.
    Slot(LocalId),
    /// A local alias, which is replaced by what it stands for.
    Alias {
        ty: Type,
        /// Whether `ty` mentions slots, and so means nothing outside its function.
        uses_slots: bool,
    },
    /// A type that stays a name: a template parameter, or a local record under its module-wide name.
    TypeName(Name),
    /// A template parameter that is a value.
    Value,
}

/// The names in force.
#[derive(Debug, Default)]
pub(super) struct Scope {
    bindings: FxHashMap<Name, Binding>,
    undo: Vec<(Name, Option<Binding>)>,
    /// What local constants were initialised with, for local types that mention them.
    pub constants: FxHashMap<LocalId, Expr>,
}

impl Scope {
    /// Where to [`Scope::leave`] to.
    pub(super) fn enter(&self) -> usize {
        self.undo.len()
    }

    /// Forgets what was bound since `mark`.
    pub(super) fn leave(&mut self, mark: usize) {
        for (name, before) in self.undo.drain(mark.min(self.undo.len())..).rev() {
            match before {
                Some(binding) => self.bindings.insert(name, binding),
                None => self.bindings.remove(&name),
            };
        }
    }

    pub(super) fn bind(&mut self, name: Name, binding: Binding) {
        let before = self.bindings.insert(name.clone(), binding);
        self.undo.push((name, before));
    }

    pub(super) fn get(&self, name: &str) -> Option<&Binding> {
        self.bindings.get(name)
    }
}

/// What a lambda captures by value.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Whether every variable around that it names (`[=]`).
    pub all: bool,
    /// The first slot that is not one of a variable around.
    pub from: u32,
    /// Variables that it captures by reference all the same.
    pub shared: Vec<LocalId>,
    /// The variables named so far and the slots of their copies.
    pub made: Vec<(LocalId, LocalId)>,
}
