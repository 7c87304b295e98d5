//! What is special about the access that is about to be recorded?

use crate::domain::{Int, Unknown};
use crate::events::{Assumption, CopySource, MemberOf, Tile};
use crate::ir::Through;
use crate::source::Span;
use std::rc::Rc;
use std::sync::Arc;

/// The access that is about to be recorded.
pub struct AtHand {
    /// Matrices of the `ldmatrix` or `stmatrix` being recorded; else 0.
    pub matrices: u8,
    /// Whether the access recorded now is a part of a `wmma` call.
    pub fragment: bool,
    /// As [`Tiles::tiles_fit`](crate::events::Tiles::tiles_fit), of that call.
    pub tiles_fit: bool,
    /// How many bytes the lines of its tile lie apart.
    pub lines_apart: Option<Int>,
    /// The tile that it asks for.
    pub tile: Option<Arc<Tile>>,
    /// The asynchronous copy being recorded, if one is.
    pub copying: Option<Copying>,
    /// The expression whose value is only put into a variable, by its address.
    pub set_aside: Option<usize>,
    /// Why it is not known into how wide accesses the compiler combines those recorded now, where it is not.
    pub combined: Option<Unknown>,
    /// The argument that is handed to a function that is not seen, and what is known of its being read.
    pub lent: Option<(Span, Lent)>,
    /// Whether the value is used of the call at hand.
    pub is_used: bool,
    /// Whether the object that is read may be used only in part.
    pub used_in_part: bool,
    /// Which member of an object that is copied as a whole it is.
    pub member: Option<MemberOf>,
    /// Whether that object is written, or goes where no member of it is used by itself.
    pub copies: bool,
    /// Whether it is of one of several arrays, the same one in all threads.
    pub chosen: bool,
    /// Where the statement at hand stores one number from all lanes of a warp.
    pub stores_of_warp: Option<Span>,
    /// The last read of global memory at a known offset from its pointer.
    pub read_at: Option<(Span, Rc<Int>)>,
    /// What the function is one of that is about to be called.
    pub several: Option<OneOfSeveral>,
    /// Whether the object may be written that a method is about to be called on.
    pub receiver: Through,
    /// The loads on both sides of the condition at hand.
    pub sides: Rc<[Span]>,
}

impl Default for AtHand {
    fn default() -> AtHand {
        AtHand {
            matrices: 0,
            fragment: false,
            tiles_fit: true,
            lines_apart: None,
            tile: None,
            copying: None,
            set_aside: None,
            combined: None,
            lent: None,
            is_used: false,
            used_in_part: false,
            member: None,
            copies: false,
            chosen: false,
            stores_of_warp: None,
            read_at: None,
            several: None,
            receiver: Through::Untold,
            sides: Rc::default(),
        }
    }
}

/// What is known of the reading of an argument that may be taken by reference.
#[derive(Clone, Debug)]
pub(crate) enum Lent {
    /// Nothing, for this reason.
    Unknown(Unknown),
    /// That it happens once, if that is taken for granted.
    Assumed(Assumption),
}

/// One of several functions of which a call means one. An argument that all of them take by value is evaluated once,
/// whichever is meant.
#[derive(Clone, Debug)]
pub(crate) struct OneOfSeveral {
    /// Whether what is evaluated for it is not counted yet.
    pub is_first: bool,
    /// Which parameters all of them take by value.
    pub by_value: Rc<[bool]>,
    /// What was in doubt before the call, and whether data chose the threads.
    pub doubt: (Option<Unknown>, bool),
}

/// The copy being recorded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Copying {
    /// Whether it goes around the first-level cache.
    pub around: bool,
    /// The bytes from the start of a line that the threads read from, if known.
    pub from: Option<CopySource>,
}
