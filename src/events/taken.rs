//! Which blocks take a branch, and what does that rest on?
//!
//! A condition that is the same for all threads of a block parts none of them, so what stands under it is done by all
//! or by none. Of some it is known which blocks take it, of others only what it asks for:
//!
//! ```text
//! if (blockIdx.x == 0) ...        the blocks (0, y, z)
//! if (blockIdx.x < rows) ...      the blocks that are looked at, where `rows` is large
//! if (mode == 3) ...              any block, for some `mode`; that is not said of the blocks of a launch
//! ```

use super::Blocks;
use crate::domain::SymbolId;
use crate::source::Span;
use std::sync::Arc;

/// What is known of a branch.
#[derive(Clone, Debug)]
pub(crate) struct Taken {
    /// The blocks that surely take it.
    pub blocks: Blocks,
    /// Those that do where sizes given at run time are as large as one likes.
    pub large: Blocks,
    /// What the condition asks for.
    pub asks: Asks,
    /// Whether it only tests what the kernel is given, or data, for equality.
    pub is_choice: bool,
    /// The condition, if it stands in the text.
    pub side: Option<Side>,
}

/// One side of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Side {
    /// The condition, or what a `switch` asks for.
    pub span: Span,
    /// Which side it is.
    pub is: Is,
}

/// What a condition is on one side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Is {
    /// It holds, or fails.
    Holds(bool),
    /// It has the value of a `case`, which stands there.
    Case(Span),
}

/// Numbers that are made of no others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots(Arc<[SymbolId]>);

impl Roots {
    pub(crate) fn new(of: Vec<SymbolId>) -> Roots {
        Roots(of.into())
    }

    /// Whether some number is among both.
    pub(crate) fn meet(&self, others: &Roots) -> bool {
        self.0.iter().any(|root| others.0.contains(root))
    }
}

/// What a condition asks for that is the same for all threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Asks {
    /// Something of which it is not known whether it may have more than one value: a constant that is not seen.
    Hidden,
    /// Data, a pointer, a floating-point number, which have nothing to do with sizes.
    Data,
    /// Numbers.
    Of {
        /// Of which they are made.
        roots: Roots,
        /// The last of them that was made, if there are any.
        last: Option<SymbolId>,
    },
}

impl Taken {
    /// All blocks take it.
    pub(crate) fn by_all() -> Taken {
        Taken { blocks: Blocks::ALL, large: Blocks::ALL, asks: Asks::nothing(), is_choice: false, side: None }
    }

    /// Nothing is known of it.
    pub(crate) fn unknown() -> Taken {
        Taken { blocks: Blocks::NONE, large: Blocks::NONE, asks: Asks::Hidden, is_choice: false, side: None }
    }
}

impl Asks {
    /// It is decided.
    pub(crate) fn nothing() -> Asks {
        Asks::Of { roots: Roots::default(), last: None }
    }

    /// What two conditions ask for.
    pub(crate) fn and(self, other: Asks) -> Asks {
        match (self, other) {
            (Asks::Hidden, _) | (_, Asks::Hidden) => Asks::Hidden,
            (Asks::Data, _) | (_, Asks::Data) => Asks::Data,
            (Asks::Of { roots: one, last: first }, Asks::Of { roots: other, last: second }) => {
                let roots = one.0.iter().chain(other.0.iter()).copied().collect();
                Asks::Of { roots: Roots(roots), last: first.max(second) }
            }
        }
    }

    /// Whether it may ask for something of which numbers with these roots are made. Of data nobody knows what else tells
    /// it.
    pub(crate) fn may_meet(&self, numbers: Option<&Roots>) -> bool {
        match (self, numbers) {
            (Asks::Of { roots, .. }, Some(numbers)) => roots.meet(numbers),
            _ => true,
        }
    }

    /// Whether both ask for the same thing, as far as is known.
    pub(crate) fn meets(&self, other: &Asks) -> bool {
        match (self, other) {
            (_, Asks::Of { roots, .. }) => self.may_meet(Some(roots)),
            _ => true,
        }
    }

    /// Whether its answer is the same in each round of a loop whose symbols begin with this one.
    pub(crate) fn is_fixed_before(&self, first: SymbolId) -> bool {
        matches!(self, Asks::Of { last, .. } if last.is_none_or(|last| last < first))
    }
}
