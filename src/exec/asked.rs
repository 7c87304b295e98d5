//! What does host code ask of a kernel's parameters before it launches it?
//!
//! `if (n > 1024) return;` makes `n` 1024 at the most, and `assert(n % 64 == 0)` makes it a multiple of 64, as does
//! `n = 64 * rows`. A multiple bears on where a bound splits a block, and on nothing else: a stride that is asked to be one is told of for any number.

use super::machine::Machine;
use crate::domain::{Key, SymbolId};

impl Machine<'_> {
    /// The most that a parameter can be at the launches that there are.
    pub(super) fn most_of(&self, id: SymbolId) -> Option<i64> {
        of_parameter(self.parameter_name(id)?, &self.settings.most)
    }

    /// The power of two of which a number is a multiple: that of a parameter, or of all that are multiplied in it.
    pub(super) fn asked_power(&self, id: SymbolId) -> i64 {
        let factors = self.world.symbols.get(id).factors.iter();
        let powers = factors.filter_map(|of| of_parameter(self.parameter_name(*of)?, &self.settings.powers));
        powers.fold(1, |all: i64, power| all.saturating_mul(power))
    }

    /// The name of the parameter that a symbol stands for.
    fn parameter_name(&self, id: SymbolId) -> Option<&str> {
        match self.world.symbols.name_key(id)? {
            Key::Named(key) => key.strip_prefix("parameter "),
            _ => None,
        }
    }
}

/// What is known of a parameter, by its name.
fn of_parameter(name: &str, known: &[(String, i64)]) -> Option<i64> {
    known.iter().find(|(of, _)| of == name).map(|(_, number)| *number)
}
