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
        /// The words of their names.
        names: Arc<[String]>,
        /// The last of them that was made, if there are any.
        last: Option<SymbolId>,
    },
}

impl Taken {
    /// All blocks take it.
    pub(crate) fn by_all() -> Taken {
        Taken { blocks: Blocks::ALL, large: Blocks::ALL, asks: Asks::nothing() }
    }

    /// Nothing is known of it.
    pub(crate) fn unknown() -> Taken {
        Taken { blocks: Blocks::NONE, large: Blocks::NONE, asks: Asks::Hidden }
    }
}

impl Asks {
    /// It is decided.
    pub(crate) fn nothing() -> Asks {
        Asks::Of { names: Arc::default(), last: None }
    }

    /// What two conditions ask for.
    pub(crate) fn and(self, other: Asks) -> Asks {
        match (self, other) {
            (Asks::Hidden, _) | (_, Asks::Hidden) => Asks::Hidden,
            (Asks::Data, _) | (_, Asks::Data) => Asks::Data,
            (Asks::Of { names: one, last: first }, Asks::Of { names: other, last: second }) => {
                let names = one.iter().chain(other.iter()).cloned().collect();
                Asks::Of { names, last: first.max(second) }
            }
        }
    }

    /// Whether a text names something that it asks for. Of data nobody knows what else tells it.
    pub(crate) fn is_named_in(&self, text: &str) -> bool {
        match self {
            Asks::Hidden | Asks::Data => true,
            Asks::Of { names, .. } => words(text).any(|word| names.iter().any(|name| name == word)),
        }
    }

    /// Whether both ask for the same thing, as far as is known.
    pub(crate) fn meets(&self, other: &Asks) -> bool {
        match (self, other) {
            (Asks::Of { names: one, .. }, Asks::Of { names: other, .. }) => {
                one.iter().any(|name| other.contains(name))
            }
            _ => true,
        }
    }

    /// Whether its answer is the same in each round of a loop whose symbols begin with this one.
    pub(crate) fn is_fixed_before(&self, first: SymbolId) -> bool {
        matches!(self, Asks::Of { last, .. } if last.is_none_or(|last| last < first))
    }
}

/// The words of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
