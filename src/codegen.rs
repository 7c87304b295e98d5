//! What does the compiler make of the program?
//!
//! The rules that nvcc was seen to follow, apart from what the program means. Each file says in which
//! machine code it was seen.

mod at_launch;
pub mod atomics;
pub mod copied_struct;
mod merge;
mod registers;
pub mod sight;
pub mod straight;
mod uniformity;

pub use at_launch::AtLaunch;
pub use merge::{Merges, Wide};
pub use registers::{Met, Registers};
pub use uniformity::Uniformities;
