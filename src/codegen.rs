//! What does the compiler make of the program?
//!
//! The rules that nvcc was seen to follow, apart from what the program means.

pub mod atomics;
mod merge;
pub mod sight;

pub use merge::{Merges, Wide};
