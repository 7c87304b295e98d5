//! Which calls and conditions are around the code that runs, and who left them?

use super::state::State;
use crate::domain::{ThreadSet, Unknown};
use crate::events::{Call, RequestMark, Split};
use crate::source::Span;

/// The calls and conditions around the code that runs.
#[derive(Default)]
pub struct Around {
    /// The calls around.
    pub calls: Vec<Call>,
    /// How many of them are around the one of a function of a library that has no text here.
    pub library: Option<usize>,
    /// Calls of a function within two of its own.
    pub recursions: u32,
    /// `return`s run so far.
    pub returns: u64,
    /// The conditions around.
    pub splits: Vec<Split>,
    /// Whether lanes are on their way out of a loop, each perhaps in another round.
    pub leaves_loop: bool,
    /// How many of them are around the innermost call.
    pub around_call: usize,
    /// How many departures there were when the round of the innermost loop began.
    pub departed: usize,
    /// Numbers the splits.
    pub next_split: u32,
    /// The numbers of those splits that kept threads from a barrier and that the condition of the `if` repeats which
    /// runs: they do not go on there.
    pub repeated: Vec<u32>,
    /// The undecided conditions around the code that runs that are the same for all active threads: how many splits
    /// are around each, and where it stands.
    pub alike: Vec<(usize, Span)>,
    /// Where threads left a function or loop under a condition, innermost last.
    pub departures: Vec<Departure>,
    /// States in which one side of a branch left a loop or function that the other stayed in.
    pub left: Vec<Left>,
    /// Where requests begin of sides that blocks take to the end of the kernel, and of what the others do instead.
    pub ended: Vec<[RequestMark; 2]>,
}

impl Around {
    /// Where something is done: what such a library does, its call does.
    pub(crate) fn placed(&self, span: Span) -> Span {
        match self.library.and_then(|at| self.calls.get(at)) {
            Some(call) if span.is_built_in() => call.span,
            _ => span,
        }
    }

    /// The calls around what is done in such a place.
    pub(crate) fn calls_around(&self, span: Span) -> &[Call] {
        match self.library {
            Some(at) if self.calls.get(at).is_some_and(|call| call.span == span) => &self.calls[..at],
            _ => &self.calls,
        }
    }
}

/// Threads that left a function or loop under a condition.
#[derive(Clone)]
pub(crate) struct Departure {
    /// Who.
    pub threads: ThreadSet,
    /// The condition that parted them from others.
    pub split: Split,
    /// An undecided condition that only those look at whom the split let through: `if (t == 0) { if (data[k]) break; }`.
    pub of_part: Option<Span>,
    /// Whether they do not come back in the next round of the loop.
    pub for_good: bool,
}

/// How a side of a branch left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// To the next iteration.
    Continue,
    /// Out of a loop or `switch`.
    Break,
    /// Out of a function.
    Return,
    /// To a label.
    Jump,
}

/// A state in which threads left.
#[derive(Clone)]
pub(crate) struct Left {
    pub exit: Exit,
    pub state: State,
    /// Why it is not known which threads they were; `None` if it was all or none.
    pub varying: Option<Unknown>,
    /// Where requests begin of the side that left, and of what the others do instead, if that is all they do.
    pub sides: Option<[RequestMark; 2]>,
}

impl Left {
    /// Whether it is rejoined at the end of a loop.
    pub(crate) fn leaves_loop(&self) -> bool {
        matches!(self.exit, Exit::Continue | Exit::Break)
    }

    /// Whether any of the threads may have left.
    pub(crate) fn is_varying(&self) -> bool {
        self.varying.is_some()
    }

    /// Its state, to be changed and put back.
    pub(crate) fn take(&mut self) -> State {
        self.state.clone()
    }

    pub(crate) fn put(&mut self, state: State) {
        self.state = state;
    }
}
