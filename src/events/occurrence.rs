//! What is told each time that threads come to an access?
//!
//! Whoever runs code says it once. The event tree keeps the whole offsets; the requests of warps are made of the same
//! ([`Requests`](super::Requests)).

use super::{AccessEvent, Assumption, Call, CopySource};
use crate::domain::{Int, Unknown};
use crate::source::Span;

/// Threads come to an access.
pub(crate) struct Occurrence<'a> {
    /// What the event tree keeps of it: where it lies for each thread, and who does it.
    pub event: &'a AccessEvent,
    /// Why it is not known where it lies, or how many bytes it takes.
    pub unknown: Option<Unknown>,
    /// What is known of its requests all the same.
    pub partly: Partly,
    /// Why its threads are only an upper bound, if they are.
    pub doubt: Option<&'a Unknown>,
    /// What is taken for granted besides: of the memory that it copies from, and of how often it happens.
    pub besides: &'a [Assumption],
    /// What it copies from, if it is an asynchronous copy and that is known.
    pub source: Option<&'a CopySource>,
    /// Of a `wmma` call: how many bytes the lines of its tile lie apart.
    pub lines_apart: Option<&'a Int>,
    /// The first thread that lies outside the array, of those that are active, or may be if that is in doubt.
    pub outside: Option<u32>,
    /// Whether it is in rounds of which there may be fewer.
    pub is_at_most: bool,
    /// Whether what it reads is in a register, so that it makes no request.
    pub is_kept: bool,
    /// Or if the code since this region is straight.
    pub kept_since: Option<(u32, Option<u32>)>,
    /// How often it happens now.
    pub times: u64,
    /// The calls around.
    pub calls: &'a [Call],
    /// The innermost branch around that a block may pass by, by its number.
    pub branch: Option<u32>,
    /// The innermost loop around of which it is not known how often it runs.
    pub within: Option<Span>,
    /// When it happens, as the compiler sees it.
    pub moment: Moment<'a>,
}

/// What is known of the requests of an access of which something is not known.
pub(crate) enum Partly {
    /// Nothing.
    Unknown,
    /// No two lanes of a warp share a bank, wherever they are.
    ConflictFree,
    /// The offset up to a number that the lanes of each warp have in common, and that leaves banks as they are.
    WithinWarp(Int),
    /// All but how many there are, for the compiler combines them in ways of its own.
    Combined,
}

/// A moment of a run, by what bears on what the compiler makes of accesses. The numbers are those of
/// [`Pattern`](super::Pattern).
pub(crate) struct Moment<'a> {
    /// Block barriers and rounds of uncounted loops passed before.
    pub epoch: u32,
    /// Rounds begun of loops that stay loops.
    pub region: u32,
    /// Iterations begun of loops whose trip count the compiler does not know, and loops ended.
    pub iteration: u32,
    /// The stretch of code without branches.
    pub stretch: u32,
    /// The branches around that stretch, outermost first.
    pub branches: &'a [u32],
    /// Operations with branches of their own passed before, and those of them that call.
    pub skips: u32,
    pub calls: u32,
    /// How often the array had gone from being read to being written, or back.
    pub turn: u32,
    /// How often the site had been reached in the same piece of straight code.
    pub within: u32,
}
