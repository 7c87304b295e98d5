//! How often does what is in a loop count of which it is not known how often it runs?
//!
//! A run records one round of such a loop. Where costs are compared, that round stands for several, and inside another
//! such loop for as many times more; or what is before a loop would look as dear as what is in it.

use crate::events::{Access, Call, Pattern, Trace, Uncounted};
use crate::source::Span;

/// For how many rounds a loop counts of which it is not known how often it runs. One that is cut short counts as often
/// as it runs if that is less.
pub const ROUNDS: u64 = 8;

/// The parts of a request in which is counted how often it counts: sums of them come out even.
const SHARES: u64 = 1 << 20;

/// Of loops inside each other, as many count.
const DEEPEST: usize = 4;

/// How often what is in an innermost loop of unknown length counts, reached by these calls.
pub(super) fn weight(trace: &Trace, innermost: Option<Span>, path: &[Call]) -> u64 {
    let Some(innermost) = innermost else { return 1 };
    let is_own = |it: &&Uncounted| it.span == innermost;
    let own = trace.uncounted.iter().find(is_own).map_or(ROUNDS, counts);
    let outer = trace.uncounted.iter().filter(|it| !is_own(it) && is_around(it.span, innermost, path));
    own * product(outer, DEEPEST - 1)
}

/// How often what an access does counts that is reached by these calls, by the text alone.
#[must_use]
pub(crate) fn rounds_at(trace: &Trace, span: Span, path: &[Call]) -> u64 {
    product(trace.uncounted.iter().filter(|outer| is_around(outer.span, span, path)), DEEPEST)
}

/// How often a request of an access happens, one round for each loop; and how often it counts, in [`SHARES`]. Where
/// several rounds in a row were counted, they stand for one: each of 64 requests, one in each of 64 rounds, counts for
/// an eighth if the loop counts for 8 rounds.
#[must_use]
pub(crate) fn counted(trace: &Trace, access: &Access, pattern: &Pattern) -> (u64, u64) {
    let path = access.path(pattern.first.path);
    pattern.within.iter().fold((0, 0), |(once, counted): (u64, u64), (innermost, times)| {
        let rounds = access.rounds_in_a_row(*innermost);
        let weighed = times.saturating_mul(SHARES).saturating_mul(weight(trace, *innermost, path)) / rounds;
        (once.saturating_add(*times), counted.saturating_add(weighed))
    })
}

/// As many whole ones as so many shares come to.
#[must_use]
pub(crate) fn whole(shares: u64) -> u64 {
    shares.saturating_add(SHARES / 2) / SHARES
}

fn is_around(outer: Span, inner: Span, path: &[Call]) -> bool {
    let holds =
        |inner: Span| outer.file == inner.file && outer.start <= inner.start && inner.end <= outer.end;
    holds(inner) || path.iter().any(|call| holds(call.span))
}

/// For how many rounds a loop counts.
fn counts(of: &Uncounted) -> u64 {
    of.trips.map_or(ROUNDS, |trips| trips.clamp(1, ROUNDS))
}

/// How often what is in so many loops counts.
fn product<'a>(loops: impl Iterator<Item = &'a Uncounted>, most: usize) -> u64 {
    loops.take(most).map(counts).product()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    #[test]
    fn a_loop_that_is_cut_short_counts_as_often_as_it_runs() {
        let span = |start, end| Span { file: FileId(0), start, end, nth: 0 };
        let mut trace = Trace::default();
        trace.note_uncounted(span(0, 100), None);
        trace.note_uncounted(span(10, 90), Some(3));
        trace.note_uncounted(span(20, 30), Some(1000));
        trace.note_uncounted(span(10, 90), Some(4));
        assert_eq!(weight(&trace, Some(span(0, 100)), &[]), ROUNDS);
        assert_eq!(weight(&trace, Some(span(10, 90)), &[]), 4 * ROUNDS);
        assert_eq!(weight(&trace, Some(span(20, 30)), &[]), ROUNDS * 4 * ROUNDS);
        assert_eq!(rounds_at(&trace, span(40, 50), &[]), 4 * ROUNDS);
    }
}
