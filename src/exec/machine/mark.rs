//! What is a moment to which a run can be taken back?

use crate::codegen::Recent;
use crate::events::RequestMark;

/// A moment to which the trace can be taken back.
#[derive(Debug, PartialEq)]
pub struct Mark {
    /// The requests so far.
    pub requests: RequestMark,
    /// What was found worse of absences from barriers so far.
    pub worsened: usize,
    /// Barriers recorded so far.
    pub barriers: usize,
    /// Events so far.
    pub events: usize,
    /// As [`LoopContext::came`](super::LoopContext::came).
    pub came: usize,
    /// As [`LoopContext::whole`](super::LoopContext::whole).
    pub whole: usize,
    /// As [`Trace::uncounted`](crate::events::Trace::uncounted).
    pub uncounted: usize,
    /// Launches recorded so far.
    pub launches: usize,
    /// The places that were accessed.
    pub recent: Recent,
}
