//! Of what parts is a loop?

use crate::exec::machine::LoopPlace;
use crate::ir::unrolling::Unrolling;
use crate::ir::{Expr, Stmt};
use crate::source::Span;

/// The parts of a loop.
#[derive(Clone, Copy)]
pub(in crate::exec) struct Parts<'a> {
    pub(in crate::exec) cond: Option<&'a Expr>,
    pub(in crate::exec) body: &'a [Stmt],
    pub(in crate::exec) step: Option<&'a Expr>,
    pub(in crate::exec) body_first: bool,
    /// What the text says of making straight code of it.
    pub(in crate::exec) unrolling: Unrolling,
    /// Whether its rounds are counted, so that the compiler may unroll it in part.
    pub(in crate::exec) counted: bool,
    pub(in crate::exec) span: Span,
    /// Which of the function's loops it is.
    pub(in crate::exec) number: u32,
}

impl<'a> Parts<'a> {
    /// The same loop, its rounds counted.
    pub(in crate::exec) fn counted(self) -> Parts<'a> {
        Parts { counted: true, ..self }
    }

    /// What tells it from all other loops of the text, those of one macro among them.
    pub(in crate::exec) fn place(&self) -> LoopPlace {
        (self.span, self.number)
    }

    /// Whether the compiler makes straight code of it, as far as it knows the bounds.
    pub(in crate::exec) fn is_flat(&self) -> bool {
        matches!(self.unrolling, Unrolling::Asked | Unrolling::By(_) | Unrolling::OfInnermost)
    }

    /// Whether the text asks for it to stay a loop.
    pub(in crate::exec) fn is_rolled(&self) -> bool {
        self.unrolling == Unrolling::Forbidden
    }

    /// The condition before each round, the first included.
    pub(in crate::exec) fn cond(&self) -> Option<&'a Expr> {
        self.cond.filter(|_| !self.body_first)
    }
}
