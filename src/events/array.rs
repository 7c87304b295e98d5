//! What is known of a shared array?

use crate::source::Span;

/// A shared array (or scalar, or struct); in a run that is made to see it, global memory under a name.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// The name in its declaration.
    pub name_span: Span,
    /// Its declaration.
    pub span: Span,
    /// Its dimensions, outermost first; `None` for one that is not known.
    pub dimensions: Vec<Option<u64>>,
    /// Where each dimension's expression stands, outermost first.
    pub dimension_spans: Vec<Span>,
    /// The innermost element's size in bytes, if known.
    pub element_bytes: Option<u64>,
    /// The innermost element's type as written.
    pub element: String,
    /// Whether that is a number.
    pub of_numbers: bool,
    /// Whether that is a number or a vector, so that no member of a packed struct lies in it.
    pub of_vectors: bool,
    /// Whether it is sized at launch.
    pub dynamic: bool,
    /// Whether it is no array but global memory under a name.
    pub global: bool,
    /// Of global memory: whether its name is a pointer with `__restrict__`, which promises that what is written
    /// through it is reached through no other.
    pub restrict: bool,
    /// Where it is declared, if in a function.
    pub declared: Option<Declared>,
    /// Bytes that its start is surely aligned to: the element's, what is written, 16 if dynamic.
    pub alignment: u64,
    /// Whether it was ever used other than by subscripting every dimension, so that something may
    /// rest on the distance between its rows.
    pub flattened: bool,
    /// Dimensions but the innermost, by number from the outermost, of which a subscript is not seen to stay below
    /// their length, so that it may lead into the next row or plane.
    pub strays: Vec<usize>,
}

/// Where a shared variable of a function is declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Declared {
    /// The name of the function.
    pub function: Span,
    /// How many shared variables of the function the compiler lays out before it: those of a block before those of the
    /// blocks in it.
    pub number: u32,
    /// Whether several instances of the function have one each.
    pub is_several: bool,
}

impl Array {
    /// Bytes it takes, if known.
    #[must_use]
    pub fn bytes(&self) -> Option<u64> {
        self.dimensions.iter().try_fold(self.element_bytes?, |bytes, &d| bytes.checked_mul(d?))
    }

    /// Whether each of its words of 4 bytes has a bank of its own, of 32: accesses of no more than a word never
    /// conflict then, whichever words lanes take.
    #[must_use]
    pub(crate) fn has_a_bank_for_each_word(&self) -> bool {
        // Where it begins within a word, it has a part of one word more.
        let most = if self.alignment.is_multiple_of(4) { 128 } else { 125 };
        !self.dynamic && self.bytes().is_some_and(|bytes| bytes <= most)
    }

    /// Whether its rows can be made longer without a change elsewhere: a static array of rows that
    /// is only subscripted.
    #[must_use]
    pub fn has_free_rows(&self) -> bool {
        !self.dynamic && !self.flattened && self.dimensions.len() >= 2 && self.bytes().is_some()
    }

    /// Whether each subscript but the outermost is seen to stay below the length of its dimension, so that it names
    /// the row and the column in which the element lies.
    #[must_use]
    pub(crate) fn is_named_by_subscripts(&self) -> bool {
        let strays = self.strays.iter().any(|dimension| *dimension > 0);
        self.dimensions.len() < 2 || (!self.flattened && !strays)
    }

    /// Bytes from one row (innermost dimension) to the next, if it has rows.
    #[must_use]
    pub fn row_bytes(&self) -> Option<u64> {
        if self.dimensions.len() < 2 {
            return None;
        }
        self.element_bytes?.checked_mul((*self.dimensions.last()?)?)
    }
}
