//! Which regions are one piece of straight code?

use super::First;
use std::ops::RangeInclusive;

/// Loops that are unrolled whole although nothing in the source says so, with what stands around them:
/// the first and last region ([`First::region`](super::First::region)) of straight code, in order, apart from each other.
#[derive(Clone, Debug, Default)]
pub struct Straight {
    surely: Vec<(u32, u32)>,
    perhaps: Vec<(u32, u32)>,
    /// Those of `surely` whose rounds the compiler can count.
    counted: Vec<(u32, u32)>,
    /// Loops that are to be unrolled and whose rounds it cannot count: from the position of the first access
    /// ([`First::position`](super::First::position)) to that of the last, in the order in which they end.
    open: Vec<(u32, u32)>,
    /// Likewise those that may be too large to be unrolled whole.
    large: Vec<(u32, u32)>,
    /// Likewise those of which the text asks that several rounds be made in one.
    in_part: Vec<(u32, u32)>,
}

/// How a loop becomes straight code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unrolled {
    /// It may.
    Perhaps,
    /// Surely, if the compiler can count its rounds.
    Surely,
    /// Surely, and it can: each round is code of its own.
    Counted,
}

impl Straight {
    /// Adds a loop that ends now: the region before it, those of its rounds, and the one after it.
    pub fn add(&mut self, before: u32, after: u32, how: Unrolled) {
        let within = |spans: &mut Vec<(u32, u32)>| {
            while spans.pop_if(|span| span.0 >= before).is_some() {}
            match spans.last_mut() {
                // What is before it is after another.
                Some(span) if span.1 >= before => span.1 = after,
                _ => spans.push((before, after)),
            }
        };
        within(&mut self.perhaps);
        if how != Unrolled::Perhaps {
            within(&mut self.surely);
        }
        if how == Unrolled::Counted {
            within(&mut self.counted);
        }
    }

    /// Adds a loop that is to be unrolled and whose rounds the compiler cannot count, by the positions of its accesses.
    pub fn add_open(&mut self, positions: RangeInclusive<u32>) {
        add_positions(&mut self.open, &positions);
    }

    /// Adds a loop that is to be unrolled and may be too large for that.
    pub fn add_large(&mut self, positions: RangeInclusive<u32>) {
        add_positions(&mut self.large, &positions);
    }

    /// Adds a loop of which several rounds are made in one.
    pub fn add_in_part(&mut self, positions: RangeInclusive<u32>) {
        add_positions(&mut self.in_part, &positions);
    }

    /// Whether an access is in a loop of which several rounds are made in one.
    #[must_use]
    pub fn is_in_part(&self, first: &First) -> bool {
        let at = self.in_part.partition_point(|it| it.1 < first.position);
        self.in_part.get(at).is_some_and(|it| it.0 <= first.position)
    }

    /// Takes back the loops whose accesses were, behind this position.
    pub fn take_back(&mut self, position: u32) {
        for loops in [&mut self.open, &mut self.large, &mut self.in_part] {
            while loops.pop_if(|it| it.1 > position).is_some() {}
        }
    }

    /// Whether accesses from one to another are one piece of straight code, and each round of its loops code of its
    /// own: `None` if not, and if so, whether surely.
    #[must_use]
    pub fn is_written_out(&self, first: &First, last: &First) -> Option<bool> {
        let at = self.counted.partition_point(|span| span.1 < first.region);
        let within = self.counted.get(at).is_some_and(|span| span.0 <= first.region && last.region <= span.1);
        let has_none = |loops: &[(u32, u32)]| {
            let at = loops.partition_point(|it| it.1 < first.position);
            loops.get(at).is_none_or(|it| it.0 > last.position)
        };
        let is = (first.region == last.region || within) && has_none(&self.open);
        is.then(|| has_none(&self.large))
    }

    /// Whether two regions are one piece of straight code: `None` if not, and if so, whether surely.
    #[must_use]
    pub fn together(&self, one: u32, other: u32) -> Option<bool> {
        let within = |spans: &[(u32, u32)]| {
            let at = spans.partition_point(|span| span.1 < one.min(other));
            spans.get(at).is_some_and(|span| span.0 <= one.min(other) && one.max(other) <= span.1)
        };
        let sure = one == other || within(&self.surely);
        (sure || within(&self.perhaps)).then_some(sure)
    }
}

/// Adds the positions of a loop's accesses, which include those of the loops in it.
fn add_positions(loops: &mut Vec<(u32, u32)>, positions: &RangeInclusive<u32>) {
    if !positions.is_empty() {
        while loops.pop_if(|inner| inner.0 >= *positions.start()).is_some() {}
        loops.push((*positions.start(), *positions.end()));
    }
}
