//! What can be said of numbers and threads?
//!
//! One known number per thread ([`Lanes`]), sets of threads ([`ThreadSet`]), integers that are known but
//! for symbols ([`Int`]), and why something is not known ([`Unknown`]). All of it is arithmetic: nothing
//! here knows C++, CUDA or a compiler.

mod bitwise;
mod block;
mod divisors;
mod extremum;
mod int;
mod lanes;
mod quotient;
mod quotients;
mod results;
mod rounded;
mod rounding;
mod sight;
mod symbol;
mod thread_set;
mod unknown;
mod world;

pub(crate) use block::Shape;
pub(crate) use divisors::{gcd, lcm};
pub(crate) use int::{Int, NotAffine, fits};
pub(crate) use lanes::{Lanes, Spread};
pub(crate) use quotients::Division;
pub(crate) use sight::Sight;
pub(crate) use sight::{MOST_ALIGNED, hashed};
pub(crate) use symbol::{
    AmongBlocks, Key, Origin, Remainder, Symbol, SymbolId, Symbols, UNSEEN_NAME, joined, quoted,
};
pub(crate) use thread_set::ThreadSet;
pub(crate) use unknown::{Reason, Unknown, Variation};
pub(crate) use world::World;
