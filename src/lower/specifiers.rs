//! Which words stand before what is declared, and what do they say?

use crate::ir::{Expr, Storage};

/// What stands before the declarators.
#[derive(Clone, Debug, Default)]
pub(super) struct Specifiers {
    pub shared: bool,
    pub external: bool,
    pub is_static: bool,
    pub constant_memory: bool,
    pub device: bool,
    pub kernel: bool,
    pub is_const: bool,
    pub is_volatile: bool,
    pub mutable: bool,
    pub constexpr: bool,
    pub align: Option<Expr>,
}

impl Specifiers {
    /// Where what is declared lies.
    pub(super) fn storage(&self, in_function: bool) -> Storage {
        match self {
            Specifiers { shared: true, external: true, .. } => Storage::DynamicShared,
            Specifiers { shared: true, .. } => Storage::Shared,
            Specifiers { constant_memory: true, .. } => Storage::Constant,
            Specifiers { device: true, .. } => Storage::Global,
            Specifiers { external: true, .. } => Storage::Global,
            Specifiers { is_static: true, .. } if in_function => Storage::Static,
            _ if in_function => Storage::Automatic,
            _ => Storage::Global,
        }
    }

    pub(super) fn word(&mut self, word: &str) {
        match word {
            "__shared__" => self.shared = true,
            "extern" => self.external = true,
            "static" => self.is_static = true,
            "__constant__" => self.constant_memory = true,
            "__device__" | "__managed__" => self.device = true,
            "__global__" => self.kernel = true,
            "const" => self.is_const = true,
            "volatile" => self.is_volatile = true,
            "mutable" => self.mutable = true,
            "constexpr" | "consteval" | "constinit" => self.constexpr = true,
            _ => {}
        }
    }
}
