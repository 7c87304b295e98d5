//! How is a variable of the running function declared?

use super::machine::Machine;
use crate::ir::{LocalId, Type, declared};

impl Machine<'_> {
    /// The type that a variable of the innermost function is declared with, as it is written. None for one that the
    /// text does not name.
    pub(super) fn declared_type(&self, local: LocalId) -> Option<&Type> {
        let function = &self.frame()?.function;
        let lambda = self.lambdas.current.iter().flat_map(|lambda| &lambda.params);
        let mut params = function.params.iter().chain(lambda);
        match params.find(|param| param.local == local) {
            Some(param) => Some(&param.ty),
            None => declared::declared_type(function, local),
        }
    }
}
