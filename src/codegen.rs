//! What does the compiler make of the program?
//!
//! This folder has the rules that nvcc was seen to follow, separate from what the program means. Each file names the
//! machine code that shows them.

mod at_launch;
pub(crate) mod atomics;
pub(crate) mod copied_struct;
pub(crate) mod inner_branches;
mod layout;
mod merge;
mod met;
mod overwritten;
mod recent;
mod registers;
pub(crate) mod sight;
pub(crate) mod straight;
mod uniformity;

pub(crate) use at_launch::AtLaunch;
pub(crate) use merge::{Merges, Wide};
pub(crate) use met::Met;
pub(crate) use recent::{Recent, Saved};
pub(crate) use registers::{Registers, Still};
pub(crate) use uniformity::Uniformities;
