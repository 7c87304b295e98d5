//! Which rows of an array are to be longer?

use crate::source::Span;
use rustc_hash::FxHashSet;
use std::sync::Arc;

/// Expressions that give the distance between an array's rows, and what they are to be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pitch {
    /// The array, by the name in its declaration.
    pub array: Span,
    /// Elements of a row as it is written; not used while the expressions are only watched.
    pub elements: i64,
    /// The expressions, by their address in the program.
    pub sites: Arc<FxHashSet<usize>>,
    /// How many elements more.
    pub extra: Extra,
    /// Distances between other rows of the array, which are longer already.
    pub before: Vec<Longer>,
}

/// Expressions that give the distance between rows of an array that was made longer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Longer {
    /// The expressions, by their address in the program.
    pub sites: Arc<FxHashSet<usize>>,
    /// Elements of a row as it is written.
    pub elements: i64,
    /// How many elements more.
    pub extra: i64,
}

/// How many elements a row is longer by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extra {
    /// None: it is only seen what the expressions are.
    Watched,
    /// A number that is not known: it is seen whether every access finds its element.
    Any,
    /// This many.
    Elements(i64),
}
