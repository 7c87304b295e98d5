//! What is `volatile`?
//!
//! The compiler does each access of something `volatile` for itself, as it is written: it combines it with no
//! neighbour, keeps nothing of it in a register, and leaves none out. The types here are without qualifiers, so a pointer
//! says for itself what it leads to:
//!
//! | | |
//! |---|---|
//! | `volatile __shared__ float s[32][32]`, `typedef volatile float Flag;`, a `volatile` member | what is declared so |
//! | `volatile float *v = s;`, a parameter `volatile float *v` | what is reached by way of `v` |
//! | `(volatile float *)s` | what is reached by way of it |
//! | `(float *)v` | no longer |
//!
//! Nobody drops `volatile` but by a cast.

use super::machine::Machine;
use super::value::{Pointer, Value};
use crate::ir::{LocalId, Type};

/// Aliases of aliases that are looked through.
const DEEPEST: usize = 8;

impl Machine<'_> {
    /// Whether a variable of the running function is declared `volatile`, or what it leads to.
    pub(super) fn is_declared_volatile(&self, local: LocalId) -> bool {
        let known = self.frame().and_then(|frame| frame.function.locals.get(local.0 as usize));
        known.is_some_and(|known| known.volatile)
    }

    /// Whether a type says `volatile`, or an alias in it does.
    pub(super) fn names_volatile(&self, ty: &Type) -> bool {
        self.says_volatile(ty, DEEPEST)
    }

    fn says_volatile(&self, ty: &Type, depth: usize) -> bool {
        match ty {
            Type::Qualified(qualifiers, inner) => qualifiers.volatile || self.says_volatile(inner, depth),
            Type::Pointer(inner) | Type::Reference(inner) | Type::Array(inner, _) => {
                self.says_volatile(inner, depth)
            }
            Type::Named(path) if path.args.is_none() && depth > 0 => {
                let aliases = self.program.aliases(&path.name);
                aliases.iter().any(|alias| self.says_volatile(&alias.ty, depth - 1))
            }
            _ => false,
        }
    }

    /// Whether what a cast to this type leads to is `volatile`, if what was cast was or was not. A name may stand for a
    /// type that is.
    pub(super) fn cast_is_volatile(&self, to: &Type, was: bool) -> bool {
        self.names_volatile(to) || was && is_a_name(to)
    }
}

fn is_a_name(ty: &Type) -> bool {
    match ty {
        Type::Qualified(_, inner) | Type::Pointer(inner) | Type::Reference(inner) | Type::Array(inner, _) => {
            is_a_name(inner)
        }
        Type::Void | Type::Scalar(_) => false,
        Type::Named(_) | Type::Auto | Type::Decltype(_) | Type::Opaque => true,
    }
}

impl Value {
    /// The same; what a pointer leads to is `volatile`, if so.
    #[must_use]
    pub(super) fn if_volatile(self, volatile: bool) -> Value {
        match self {
            Value::Pointer(pointer) if volatile => Value::Pointer(Pointer { volatile, ..pointer }),
            value => value,
        }
    }
}
