//! What is a token on its way through the expansion of macros?

use super::lexer::{Kind, Token};

/// The file number of tokens that no file holds: the results of `#` and `##`.
pub(super) const MADE: u32 = u32::MAX;

/// A token on its way through expansion.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Piece {
    pub kind: Kind,
    /// White space stands before it.
    pub space: bool,
    /// It was written as an argument in the expanded file: `start..end` is its place there.
    pub argument: bool,
    /// It names a macro that may never be expanded again.
    pub painted: bool,
    /// The number of the file that holds it, or [`MADE`].
    pub file: u32,
    pub start: u32,
    pub end: u32,
}

impl Piece {
    /// A token of file number `file`.
    pub(super) fn of(token: Token, file: u32, argument: bool) -> Piece {
        let Token { kind, start, end, space, .. } = token;
        Piece { kind, space, argument, painted: false, file, start, end }
    }

    /// Whether it is a token of the file that is being expanded.
    pub(super) fn is_main(&self) -> bool {
        self.file == 0
    }

    /// Whether `next` follows it without a gap in one and the same file.
    pub(super) fn touches(&self, next: &Piece) -> bool {
        self.file == next.file && self.file != MADE && self.end == next.start && !next.space
    }
}
