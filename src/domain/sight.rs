//! What does the compiler not see of a number that we know?
//!
//! Each number carries it along; [`codegen::sight`](crate::codegen::sight) says what operators make of it.

use super::gcd;
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Alignments beyond this are all the same.
pub(crate) const MOST_ALIGNED: u64 = 256;

/// What the compiler does not see of a number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sight {
    /// Tells the parts of it that are no sum of multiples of the thread's coordinates; 0 for none.
    pub hidden: u64,
    /// Of what number such parts are multiples as far as the compiler knows, that are given at launch; 0
    /// for none.
    pub given: u64,
    /// The same of parts whose alignment is only seen where that of the array is; 0 for none.
    pub loose: u64,
}

impl Sight {
    /// Of a number that only the launch tells, by its name.
    pub fn at_launch(name: &str) -> Sight {
        Sight { hidden: hashed(name), given: 1, loose: 0 }
    }

    /// Of a sum.
    pub fn plus(self, other: Sight) -> Sight {
        Sight {
            hidden: self.hidden.wrapping_add(other.hidden),
            given: gcd(self.given, other.given),
            loose: gcd(self.loose, other.loose),
        }
    }

    /// Of a multiple.
    pub fn times(self, factor: i64) -> Sight {
        let scaled = |unit: u64| unit.saturating_mul(factor.unsigned_abs()).min(MOST_ALIGNED);
        let even = |unit: u64| if unit == 0 { 0 } else { 1 << scaled(unit).trailing_zeros().min(8) };
        Sight {
            hidden: self.hidden.wrapping_mul(factor as u64),
            given: even(self.given),
            loose: even(self.loose),
        }
    }

    /// Of one of two numbers, by thread.
    pub fn or(self, other: Sight) -> Sight {
        match self == other {
            true => self,
            false => Sight { hidden: hashed(&("or", self.hidden, other.hidden)), ..self.plus(other) },
        }
    }
}

/// A number that tells a thing from others.
pub(crate) fn hashed(what: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = FxHasher::default();
    what.hash(&mut hasher);
    hasher.finish()
}
