//! What does the compiler make of the program?
//!
//! The rules that nvcc was seen to follow, apart from what the program means. Each file says in which
//! machine code it was seen.

mod at_launch;
pub(crate) mod atomics;
pub(crate) mod copied_struct;
mod merge;
mod registers;
pub(crate) mod sight;
pub(crate) mod straight;
mod uniformity;

pub(crate) use at_launch::AtLaunch;
pub(crate) use merge::{Merges, Wide};
pub(crate) use registers::{Met, Registers};
pub(crate) use uniformity::Uniformities;
