//! What is there to be told of one place of the source, and to be drawn?

use crate::diagnostic::{Cost, Diagnostic};
use crate::events::{AccessOp, Array};
use crate::shape::BlockFrom;
use crate::source::Span;
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

/// What there is to be seen of a kernel as a whole, in the run and on the target where it wastes most.
#[derive(Clone, Debug)]
pub struct KernelView {
    /// Its name where it is defined.
    pub at: Span,
    /// The name, with its template arguments when it has any.
    pub name: String,
    /// Whether it is a device function that no kernel was seen to reach, run by itself.
    pub is_function: bool,
    /// Threads in x, y and z.
    pub block: [u32; 3],
    /// Where the block shape came from.
    pub block_from: BlockFrom,
    /// The target, as `sm_90`.
    pub target: String,
    /// How many banks it has, and how wide each is, in bytes.
    pub banks: (u32, u32),
    /// The wavefronts of a block, and those that conflicts add.
    pub cost: Cost,
    /// The shared arrays that it accesses.
    pub arrays: Vec<Array>,
    /// Its accesses, in the order in which they were first met.
    pub sites: Vec<SiteView>,
    /// The pictures of findings.
    pub drawn: Vec<Drawn>,
}

/// What one access of shared memory takes.
#[derive(Clone, Debug)]
pub struct SiteView {
    /// The access expression.
    pub span: Span,
    /// What it does.
    pub op: AccessOp,
    /// Its wavefronts in a block, and those that conflicts add; `None` if that is not known.
    pub wavefronts: Option<(u64, u64)>,
    /// Why that is not known, or on what it depends.
    pub reason: Option<String>,
    /// Whether a value given at run time decides.
    pub depends: bool,
    /// Whether data decide which lanes take part, so that there may be fewer extra ones.
    pub is_possible: bool,
    /// Whether a neighbour speaks for it, or the compiler needs no request for it.
    pub is_joined: bool,
}

/// The pictures of one finding.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// Of which rule.
    pub rule: &'static str,
    /// Where.
    pub at: Span,
    /// What it says.
    pub message: String,
    /// What there is to look at.
    pub pictures: Vec<Picture>,
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
