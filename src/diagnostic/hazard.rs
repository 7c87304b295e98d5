//! Which two threads does nothing order?

use crate::source::Span;

/// Two accesses of one place by different threads, with nothing in between that orders them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hazard {
    /// The array, as it is called in its declaration.
    pub array: String,
    /// Where that is.
    pub declared: Span,
    /// Where the two accesses stand in the function that reaches both.
    pub places: (Span, Span),
    /// What one thread does, the one that comes first in the program.
    pub first: Step,
    /// What the other does.
    pub second: Step,
    /// The loop in whose next round the second is done.
    pub across: Option<Span>,
    /// The last barrier, or whatever else may order threads, before both; `None`: the kernel's beginning.
    pub after: Option<Span>,
    /// The first one behind both; `None`: the kernel's end.
    pub before: Option<Span>,
}

/// What one thread does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The thread's number in its block.
    pub thread: usize,
    /// The access.
    pub span: Span,
    /// `reads`, `writes` or `updates`.
    pub does: String,
}
