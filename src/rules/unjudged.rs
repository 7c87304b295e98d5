//! Why is nothing said of the races of a run?

use crate::source::Span;

/// Why the threads of a run are not held against each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unjudged {
    /// Nobody gave the block.
    Block,
    /// The launch that gives it does not happen, because of what stands here.
    Refuted(Span),
    /// The launch may mean another kernel of this name, which stands here.
    Rival(Span),
    /// The launch, which stands here, may never give the block: no numbers that were tried lead to it.
    Unmet(Span),
    /// A function that may run without being named has a barrier.
    HiddenBarrier {
        /// The function's name.
        function: String,
        /// Where it stands.
        name: Span,
    },
}
