//! Which neighbours may be joined in loops whose rounds were not all run?
//!
//! A kernel may take too many steps for all rounds of a loop to be run one by one. The compiler unrolls the loop all
//! the same, and joins neighbours of different rounds, which the run did not see in one piece of straight code:
//!
//! ```text
//! for (k = 0; k < 4; k++)
//!     for (i = 0; i < 64; i++)        run once for all rounds
//!         sum[i] += a[t * 4 + k] * b[i];
//! ```
//!
//! There `a[t * 4 + k]` and its neighbours are read in rounds of `k` that such a loop parts. So a request of a site in
//! one may be a part of a wider one if its neighbour is requested somewhere.

use super::{joinable, relative};
use crate::events::{Access, AccessOp, Assumption, Pattern, Trace};
use rustc_hash::FxHashSet;

/// The requests of arrays that such loops access.
pub(super) struct Cut {
    requests: FxHashSet<Request>,
}

/// A narrow request: the array, what is done, bytes per lane, the lanes, and where they lie from the first byte on.
#[derive(PartialEq, Eq, Hash)]
struct Request {
    array: usize,
    op: AccessOp,
    bytes: u32,
    active: u32,
    first: i64,
    shape: [i64; 32],
}

impl Cut {
    pub(super) fn of(trace: &Trace) -> Cut {
        let arrays: FxHashSet<usize> =
            trace.accesses.iter().filter(|it| is_cut(it)).map(|it| it.array).collect();
        let of_arrays = trace.accesses.iter().filter(|it| arrays.contains(&it.array));
        let requests = of_arrays
            .flat_map(|access| access.patterns.iter().filter_map(|it| Request::of(access, it)))
            .collect();
        Cut { requests }
    }

    /// Whether a site stands in such a loop, and a request lies next to this one of its.
    pub(super) fn has_neighbour(&self, access: &Access, pattern: &Pattern) -> bool {
        let Some(request) = Request::of(access, pattern).filter(|_| is_cut(access)) else { return false };
        let bytes = i64::from(request.bytes);
        let (before, after) = (request.first - bytes, request.first + bytes);
        let mut beside = request;
        [before, after].into_iter().any(|first| {
            beside.first = first;
            self.requests.contains(&beside)
        })
    }
}

impl Request {
    fn of(access: &Access, pattern: &Pattern) -> Option<Request> {
        let bytes = joinable(access)?;
        let (first, shape) = relative(pattern);
        let (array, op, active) = (access.array, access.op, pattern.active);
        Some(Request { array, op, bytes, active, first, shape })
    }
}

fn is_cut(access: &Access) -> bool {
    access.assumptions.contains(&Assumption::CutShort)
}
