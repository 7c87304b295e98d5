//! How often does what is in a loop count of which it is not known how often it runs?
//!
//! A run records one round of such a loop. Where costs are compared, that round stands for several, and inside another
//! such loop for as many times more; or what is before a loop would look as dear as what is in it.

use crate::events::{Access, Call, Pattern, Trace};
use crate::source::Span;

/// For how many rounds a loop counts of which it is not known how often it runs.
pub const ROUNDS: u64 = 8;

/// Of loops inside each other, as many count.
const DEEPEST: u32 = 4;

/// How often what is in an innermost loop of unknown length counts, reached by these calls.
pub(super) fn weight(trace: &Trace, innermost: Option<Span>, path: &[Call]) -> u64 {
    let Some(innermost) = innermost else { return 1 };
    let outer = trace.uncounted.iter().filter(|it| **it != innermost);
    power(1 + outer.filter(|outer| is_around(outer, innermost, path)).count())
}

/// How often what an access does counts that is reached by these calls, by the text alone.
#[must_use]
pub(crate) fn rounds_at(trace: &Trace, span: Span, path: &[Call]) -> u64 {
    power(trace.uncounted.iter().filter(|outer| is_around(outer, span, path)).count())
}

/// How often a request of an access happens, one round for each loop; and how often it counts.
#[must_use]
pub(crate) fn counted(trace: &Trace, access: &Access, pattern: &Pattern) -> (u64, u64) {
    let path = access.path(pattern.first.path);
    // Where several rounds in a row were counted, they stand for one.
    let in_a_row = access.rounds_counted();
    pattern.within.iter().fold((0, 0), |(once, counted): (u64, u64), (innermost, times)| {
        let weighed = times.saturating_mul(weight(trace, *innermost, path)) / in_a_row;
        (once.saturating_add(*times), counted.saturating_add(weighed))
    })
}

fn is_around(outer: &Span, inner: Span, path: &[Call]) -> bool {
    let holds =
        |inner: Span| outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end;
    holds(inner) || path.iter().any(|call| holds(call.span))
}

fn power(depth: usize) -> u64 {
    ROUNDS.pow((depth as u32).min(DEEPEST))
}
