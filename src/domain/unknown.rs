//! Why is something not known, and is it the same for all threads?

use crate::source::Span;
use std::sync::Arc;

/// Why something is not known: one of a short list, so that they can be counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// A value read from memory decides it.
    DataDependent,
    /// A run-time value decides it in a way that is not affine.
    NotAffine,
    /// A run-time stride between lanes, over more values than can be tried.
    RunTimeStride,
    /// The type or its size is not visible.
    UnknownType,
    /// The function's body is not visible.
    UnknownFunction,
    /// Which of several functions is called.
    AmbiguousCall,
    /// The name is not visible.
    UnknownName,
    /// The condition under which it runs depends on data.
    DataDependentMask,
    /// Which threads have left the kernel before: those that run are all that are left.
    Exited,
    /// A variable changes from iteration to iteration in a way that is not followed.
    LoopCarried,
    /// A pointer whose target is not known.
    UnknownPointer,
    /// A language construct that is not modelled.
    Unsupported,
    /// The text did not parse.
    Damaged,
    /// What the hardware does with this access is not documented or measured.
    Hardware,
    /// It would leave its array, so it is not understood.
    OutOfBounds,
    /// The analysis' budget ran out.
    Budget,
    /// A variable that is read before it is written.
    Uninitialized,
    /// The block shape, which no launch tells.
    BlockShape,
    /// What the compiler makes of it.
    Compiler,
    /// What C++ does not define: a signed overflow, a division by zero.
    Undefined,
}

/// What a message says: most are the same each time, and cost nothing then.
#[derive(Clone, Debug)]
pub enum Words {
    /// Always the same.
    Fixed(&'static str),
    /// With a name or number in it.
    Made(Arc<str>),
}

impl std::ops::Deref for Words {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Words::Fixed(text) => text,
            Words::Made(text) => text,
        }
    }
}

impl PartialEq for Words {
    fn eq(&self, other: &Words) -> bool {
        **self == **other
    }
}

impl Eq for Words {}

impl std::fmt::Display for Words {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self)
    }
}

impl From<&'static str> for Words {
    fn from(text: &'static str) -> Words {
        Words::Fixed(text)
    }
}

impl From<String> for Words {
    fn from(text: String) -> Words {
        Words::Made(text.into())
    }
}

impl From<Arc<str>> for Words {
    fn from(text: Arc<str>) -> Words {
        Words::Made(text)
    }
}

/// Not knowing: why, and which part of the text causes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unknown {
    /// The kind.
    pub reason: Reason,
    /// Where it comes from.
    pub span: Span,
    /// In words, naming the thing.
    pub detail: Words,
}

impl Unknown {
    /// A reason with its place and words.
    #[must_use]
    pub fn new(reason: Reason, span: Span, detail: impl Into<Words>) -> Unknown {
        Unknown { reason, span, detail: detail.into() }
    }

    /// Whether a doubt about who runs some code leaves less known of it than another does. Of two that leave as much
    /// known, the first counts. Whether a function is called at all is more than which lanes call it; who has left the
    /// kernel, and does nothing else, is less.
    #[must_use]
    pub(crate) fn outweighs(&self, other: Option<&Unknown>) -> bool {
        let weight = |it: &Unknown| match it.reason {
            Reason::Exited => 0,
            Reason::AmbiguousCall => 2,
            _ => 1,
        };
        other.is_none_or(|other| weight(self) > weight(other))
    }
}

/// Whether a value that is not known is the same for all threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Variation {
    /// Surely the same for every thread of the block.
    Uniform,
    /// Surely the same for every lane of a warp, and perhaps for other warps.
    OfWarp,
    /// Perhaps the same.
    Maybe,
    /// Made from something that differs between threads.
    Varying,
}
