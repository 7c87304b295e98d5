//! Which regions are one piece of straight code?

/// Loops that are unrolled whole although nothing in the source says so, with what stands around them:
/// the first and last region ([`First::region`](super::First::region)) of straight code, in order, apart from each other.
#[derive(Clone, Debug, Default)]
pub struct Straight {
    surely: Vec<(u32, u32)>,
    perhaps: Vec<(u32, u32)>,
    /// Those of `surely` whose rounds the compiler can count.
    counted: Vec<(u32, u32)>,
    /// Regions with a loop that is to be unrolled and whose rounds it cannot count, in order.
    open: Vec<u32>,
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

    /// Adds a region with a loop that is to be unrolled and whose rounds the compiler cannot count.
    pub fn add_open(&mut self, region: u32) {
        if self.open.last() != Some(&region) {
            self.open.push(region);
        }
    }

    /// Whether these regions are one piece of straight code, and each round of its loops code of its own.
    #[must_use]
    pub fn is_written_out(&self, first: u32, last: u32) -> bool {
        let at = self.counted.partition_point(|span| span.1 < first);
        let within = self.counted.get(at).is_some_and(|span| span.0 <= first && last <= span.1);
        let open = self.open.partition_point(|region| *region < first);
        (first == last || within) && self.open.get(open).is_none_or(|region| *region > last)
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
