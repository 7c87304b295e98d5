//! What was seen of the distance between an array's rows?

use crate::domain::Unknown;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// What a run saw of the distance between an array's rows.
#[derive(Clone, Debug, Default)]
pub struct PitchFacts {
    /// What each watched expression was, by its address; `None` if it was no number, or several.
    pub values: FxHashMap<usize, Option<i64>>,
    /// Where the array is named.
    pub mentions: FxHashSet<Span>,
    /// Why it is not shown that longer rows change nothing else, if it is not.
    pub broken: Option<Unknown>,
    /// An access through a pointer that is not followed, and so perhaps of the array.
    pub lost: Option<Span>,
    /// Where the accesses lie, each once.
    pub pieces: Vec<PitchPiece>,
}

/// Where an access lies, by the rows whose distance it is asked about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PitchPiece {
    /// The least and greatest number of its row, as far as known: by how many distances it is moved.
    pub rows: (Option<i64>, Option<i64>),
    /// First byte, and the one past the last if that is known, from the start of that row.
    pub column: (i64, Option<i64>),
}
