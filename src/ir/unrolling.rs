//! What does the text say of unrolling a loop?

/// What the text says of a loop that the compiler may make straight code of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unrolling {
    /// `#pragma unroll`.
    Asked,
    /// `#pragma unroll 4`: so many rounds at a time.
    By(u32),
    /// `#pragma unroll 1`.
    Forbidden,
    /// Nothing, and there is no loop in it.
    OfInnermost,
    /// Nothing, and there is.
    OfOuter,
}
