//! What is worked out of a function's text when it is first asked for?
//!
//! It is kept with the function, for all files that see it. It says nothing that the text does not, so functions are
//! the same whether it was asked for or not.

use std::hash::{Hash, Hasher};
use std::sync::OnceLock;

/// Something that was worked out, or will be.
#[derive(Clone, Debug)]
pub struct FoundLater<T>(OnceLock<T>);

impl<T> FoundLater<T> {
    /// What was found before, or is now.
    pub(super) fn get_or_find(&self, find: impl FnOnce() -> T) -> &T {
        self.0.get_or_init(find)
    }
}

impl<T> Default for FoundLater<T> {
    fn default() -> FoundLater<T> {
        FoundLater(OnceLock::new())
    }
}

impl<T> Hash for FoundLater<T> {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl<T> PartialEq for FoundLater<T> {
    fn eq(&self, _: &FoundLater<T>) -> bool {
        true
    }
}
