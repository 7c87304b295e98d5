//! What is there to be told of one place of the source, and to be drawn?

use crate::diagnostic::Diagnostic;
use crate::verdict::Example;

/// What one run of a kernel says of a shared-memory access or a barrier.
#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    /// The words: those of the finding if there is one, else that there is none; the rule is then empty.
    pub words: Diagnostic,
    /// What there is to look at.
    pub pictures: Vec<Picture>,
    /// Whose sight this is: the kernel, with its template arguments, and the block.
    pub run: String,
}

/// Something to look at.
#[derive(Clone, Debug, PartialEq)]
pub enum Picture {
    /// Requests of a warp, side by side.
    Requests {
        /// Which warp, on which targets.
        title: String,
        /// One or two.
        panels: Vec<Panel>,
    },
    /// Layouts of an array, from the declared one on.
    Layouts {
        /// Of which array, and what no layout can pass.
        title: String,
        /// For each: its name, its wavefronts, the bytes and the operations it takes more, and the verdict.
        rows: Vec<[String; 5]>,
    },
    /// Which threads of a block come to a barrier, warp after warp.
    Threads(Vec<WarpAtBarrier>),
}

/// One request.
#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    /// What makes it differ from the one beside it: `as written`.
    pub caption: String,
    /// The request.
    pub example: Example,
}

/// The lanes of a warp as bits, lane 0 lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpAtBarrier {
    /// Those that the block has.
    pub exist: u32,
    /// Those that have not left the kernel.
    pub expected: u32,
    /// Those that come to the barrier.
    pub reach: u32,
}
