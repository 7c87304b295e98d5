//! What does the bank model say of each access site?
//!
//! (The evaluation of a trace against a target lives here.)

use crate::source::Span;

/// How much a verdict rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Status {
    /// Nothing but the code, and a launch found.
    Exact,
    /// Assumptions that are listed.
    Assumed,
    /// A run-time stride: the verdict is a table over it.
    Depends,
    /// Not known, with a reason.
    Unknown,
}

/// What a shared-memory access does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessOp {
    /// Read.
    Load,
    /// Write.
    Store,
    /// Read-modify-write by `atomicAdd` and its kin.
    Atomic,
    /// `ldmatrix`, `wmma::load_matrix_sync`
    MatrixLoad,
    /// `stmatrix`, `wmma::store_matrix_sync`
    MatrixStore,
    /// `cp.async` into shared memory.
    AsyncCopy,
}

/// Where the block shape came from, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BlockFrom {
    /// `// cudalint: block(32, 8)`
    Directive,
    /// `cudalint.toml`
    Config,
    /// `--block`
    Flag,
    /// A launch in the files given.
    Launch,
    /// `__launch_bounds__`
    LaunchBounds,
    /// What the kernel's own code implies.
    Implied,
    /// 256 x 1 x 1.
    Default,
}

/// The verdict on one access site for one block shape, one set of template arguments and one target.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteVerdict {
    /// The access expression.
    pub span: Span,
    /// The kernel it was reached from, with its template arguments when it has any.
    pub kernel: String,
    /// The shared array.
    pub array: String,
    /// What it does.
    pub op: AccessOp,
    /// Bytes per lane; `None` when the element type is not known.
    pub bytes: Option<u32>,
    /// Block shape x, y, z.
    pub block: [u32; 3],
    /// Where the block shape came from.
    pub block_from: BlockFrom,
    /// The target, as `sm_90`.
    pub target: String,
    /// How much the verdict rests on.
    pub status: Status,
    /// What was taken for granted, for `Assumed`.
    pub assumptions: Vec<String>,
    /// Why it is `Unknown` or what it `Depends` on.
    pub reason: Option<String>,
    /// Warp requests, summed over the warps of one block and the enumerated loop iterations.
    pub requests: Option<u64>,
    /// Wavefronts, summed likewise.
    pub wavefronts: Option<u64>,
    /// The fewest wavefronts possible, summed likewise.
    pub ideal: Option<u64>,
    /// The largest wavefronts of one request.
    pub worst: Option<u32>,
    /// The ideal of that request.
    pub worst_ideal: Option<u32>,
}
