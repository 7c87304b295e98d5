//! How are findings and facts shown?

pub mod banks;
