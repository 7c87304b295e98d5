//! What are operations, statuses and reasons called, in tables and for programs?

use crate::domain::Reason;
use crate::events::AccessOp;
use crate::shape::BlockFrom;
use crate::verdict::Status;

/// The name of an operation.
#[must_use]
pub fn op_word(op: AccessOp) -> &'static str {
    match op {
        AccessOp::Load => "load",
        AccessOp::Store => "store",
        AccessOp::Atomic => "atomic",
        AccessOp::MatrixLoad => "matrix_load",
        AccessOp::MatrixStore => "matrix_store",
        AccessOp::AsyncCopy => "async_copy",
    }
}

/// The name of a source of block shapes.
#[must_use]
pub fn block_from_word(from: BlockFrom) -> &'static str {
    match from {
        BlockFrom::Directive => "directive",
        BlockFrom::Config => "config",
        BlockFrom::Flag => "flag",
        BlockFrom::Launch => "launch",
        BlockFrom::LaunchBounds => "launch_bounds",
        BlockFrom::Implied => "implied",
        BlockFrom::Default => "default",
    }
}

/// The name of a status.
#[must_use]
pub fn status_word(status: Status) -> &'static str {
    match status {
        Status::Exact => "exact",
        Status::Assumed => "assumed",
        Status::Depends => "depends",
        Status::Unknown => "unknown",
    }
}

/// What a kind of reason is called.
#[must_use]
pub fn reason_words(kind: Reason) -> &'static str {
    match kind {
        Reason::DataDependent => "the index is read from memory",
        Reason::NotAffine => "arithmetic on run-time values is not affine",
        Reason::RunTimeStride => "a value given at run time",
        Reason::UnknownType => "a type or its size is not visible",
        Reason::UnknownFunction => "a function's body is not visible",
        Reason::AmbiguousCall => "which of several functions is called is not known",
        Reason::UnknownName => "a name is not visible",
        Reason::DataDependentMask | Reason::Exited => "which lanes are active depends on data",
        Reason::LoopCarried => "a loop variable changes in a way that is not followed",
        Reason::UnknownPointer => "where a pointer points is unknown",
        Reason::Unsupported => "a language construct is not modelled",
        Reason::Damaged => "the text did not parse",
        Reason::Hardware => "the cost in hardware is undocumented or not a fixed number",
        Reason::OutOfBounds => "the access leaves its array as far as it is followed",
        Reason::Budget => "the analysis ran out of steps",
        Reason::Uninitialized => "a variable is read before it is written",
        Reason::BlockShape => "no launch gives the block shape",
        Reason::Compiler => "the compiler may or may not combine accesses",
        Reason::Undefined => "the behaviour is undefined in C++",
    }
}
