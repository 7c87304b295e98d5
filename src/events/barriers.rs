//! Which block barriers ran, for which threads, and what did the others do instead?

use super::Call;
use crate::domain::{SymbolId, ThreadSet, Unknown};
use crate::source::Span;
use std::sync::Arc;

/// One execution of a block barrier under one set of threads.
#[derive(Clone, Debug)]
pub struct Barrier {
    /// The barrier expression.
    pub span: Span,
    /// How it is spelled: `__syncthreads`.
    pub name: Arc<str>,
    /// Whether it waits for all blocks of the grid.
    pub of_grid: bool,
    /// Which of the hardware's barriers it is: `__syncthreads()` is 0; a negative number is not known.
    pub number: i64,
    /// The calls that led to it.
    pub calls: Vec<Call>,
    /// The threads that reach it.
    pub active: ThreadSet,
    /// The threads that have not left the kernel.
    pub expected: ThreadSet,
    /// Whether `active` is only an upper bound, and why.
    pub doubt: Option<Unknown>,
    /// The undecided or thread-dependent conditions around it, outermost first.
    pub splits: Vec<Split>,
    /// The condition on what each thread reads for itself that may keep threads from it and not from what follows, if
    /// there is one.
    pub by_own_data: Option<Span>,
    /// The condition on what each thread reads for itself by which threads may have exited before.
    pub exit_by_own_data: Option<Span>,
    /// The threads that may have left the loop around before, and the condition that decides, at which no other
    /// threads look.
    pub left_in_part: Option<(ThreadSet, Span)>,
    /// The number of participating threads it names, if it does.
    pub count: Option<i64>,
    /// The threads that do not come to it, by the condition that keeps them away.
    pub absences: Vec<Absence>,
}

/// Threads that do not come to a barrier.
#[derive(Clone, Debug)]
pub struct Absence {
    /// The condition that keeps them away.
    pub split: Split,
    /// Which they are; `None` if a value given at run time decides.
    pub threads: Option<ThreadSet>,
    /// Whether they have left the kernel before.
    pub left: bool,
    /// What they do instead.
    pub then: Then,
    /// What they leave unwritten.
    pub missing: Option<Missing>,
}

/// What threads do that do not come to a barrier. The worst comes last.
#[derive(Clone, Debug, PartialEq)]
pub enum Then {
    /// They leave the kernel, and wait nowhere on their way.
    Exit,
    /// Whether they wait somewhere is not known.
    Unknown(Unknown),
    /// They wait at this barrier of the trace, in another branch, as often as the others do here.
    Pair(usize),
    /// Threads of their warp are at the barrier, and the code goes on here for both.
    Rejoin(Span),
    /// They come to this barrier of the trace, to which those that wait here come later.
    Barrier(usize),
}

impl Then {
    /// Grows with the harm.
    #[must_use]
    pub fn rank(&self) -> u8 {
        match self {
            Then::Exit => 0,
            Then::Unknown(_) => 1,
            Then::Pair(_) => 2,
            Then::Rejoin(_) => 3,
            Then::Barrier(_) => 4,
        }
    }
}

/// Bytes that are read behind a barrier and that no thread of the block writes, or none that stays.
#[derive(Clone, Debug, PartialEq)]
pub struct Missing {
    /// Index into [`Trace::arrays`](super::Trace::arrays).
    pub array: usize,
    /// The first of them, and the last.
    pub bytes: (u64, u64),
    /// Whether those between them are such, too.
    pub all: bool,
    /// The read.
    pub span: Span,
    /// A thread that reads the first of them.
    pub reader: usize,
    /// A thread that would write it if the bound let it in.
    pub writer: Option<usize>,
}

/// A condition that not all threads agree on, or may not.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// One `if`, loop or `return` of this run.
    pub id: u32,
    /// The condition.
    pub span: Span,
    /// Which branch this is.
    pub branch: bool,
    /// The threads that took this branch.
    pub taken: ThreadSet,
    /// The threads that came to the condition.
    pub before: ThreadSet,
    /// How it is known.
    pub kind: SplitKind,
    /// Whether it decides who runs another iteration of a loop.
    pub of_loop: bool,
}

/// In which order a guard lets threads in.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranks {
    /// What the guard asks for.
    pub(crate) symbols: Vec<SymbolId>,
    /// A number for each thread, so that where one comes, those with the same number or a smaller one do, too, and those
    /// with a greater one may not.
    pub(crate) of: Vec<u16>,
    /// Whether the threads of a warp come together.
    pub(crate) by_warps: bool,
}

/// How a condition that splits the block is known.
#[derive(Clone, Debug, PartialEq)]
pub enum SplitKind {
    /// By the numbers.
    Known,
    /// Threads differ for some value of a run-time number: a bounds guard.
    Guard(Bound),
    /// The same of a loop's condition, which says nothing of whether that value is ever given: the
    /// loop has to end somewhere.
    Iterations(Bound),
    /// It depends on data.
    Data,
    /// It depends on what each thread reads from global memory for itself, at once or through its element of a shared
    /// array, and on nothing else but bounds.
    OwnData,
    /// The same of what each warp reads: all its lanes take one side.
    WarpData,
}

impl Split {
    /// Whether it says the same of threads as another, which may be of another round.
    pub(crate) fn is_like(&self, other: &Split) -> bool {
        let of = |it: &Split| (it.span, it.branch, it.of_loop);
        of(self) == of(other)
            && (&self.taken, &self.before, &self.kind) == (&other.taken, &other.before, &other.kind)
    }
}

impl SplitKind {
    /// Whether data decide.
    pub(crate) fn is_data(&self) -> bool {
        matches!(self, SplitKind::Data) || self.is_own_data()
    }

    /// Whether it is what each thread, or each warp, reads for itself.
    pub(crate) fn is_own_data(&self) -> bool {
        matches!(self, SplitKind::OwnData | SplitKind::WarpData)
    }
}

/// A bound given at run time that threads are held against.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound {
    /// What is assumed of it, in words.
    pub words: String,
    /// Whether it may fall between the threads of a warp.
    pub cuts_warps: bool,
    /// Of each guard in it.
    pub ranks: Vec<Arc<Ranks>>,
    /// Whether it is the same for all blocks: the number of the block is not in what is held against it.
    pub own: bool,
    /// The threads that the numbers keep out, whatever it is: the odd ones of `t % 2 == 0 && t < n`.
    pub kept_out: ThreadSet,
}
