//! What is found out about a file once, for all that include it?

use crate::source::SourceFile;
use rustc_hash::FxHashSet;
use std::sync::{Arc, OnceLock};

/// It is filled by those who ask first.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    /// Hashes of the words of its text.
    pub(super) words: OnceLock<FxHashSet<u64>>,
    /// The well-known names that it declares as something of its own.
    pub(super) own_names: OnceLock<FxHashSet<Box<str>>>,
    /// The file and every file that its `#include`s may lead to, taken or not; `None`: too many.
    pub(super) reached: OnceLock<Option<Box<[Arc<SourceFile>]>>>,
}
