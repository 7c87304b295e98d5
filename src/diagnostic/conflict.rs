//! What does a bank conflict cost, in numbers?
//!
//! A kernel's requests to shared memory take some wavefronts in each block; some of these are extra, since
//! the request could take fewer. The *share* of a conflict is its extra wavefronts by all of the kernel, and
//! its *weight*, by which findings are ranked, is
//!
//! ```text
//! weight = share x extra = extra² / all
//! ```
//!
//! An example. A block writes a tile by 32 requests of 1 wavefront and reads it by 32 requests of 32: the
//! kernel takes 32 + 1,024 = 1,056 wavefronts, of which the read has 1,024 - 32 = 992 extra. The share is
//! 992 / 1,056 = 94 %, the weight 0.94 x 992 = 932. Another kernel reads 128 times by 2 wavefronts instead
//! of 1, and takes 2,048 in all: 128 extra, 6 %, a weight of 8. It comes later: the same work there saves
//! less of a block and less of the kernel.
//!
//! Rounds of a loop count as often as it runs. Where that is not known, they count as 8 rounds, and
//! inside another such loop as many times more.

use crate::events::{AccessOp, Trace, Uncounted};
use crate::source::Span;

/// What several conflicts have in common, so that one change repairs them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cause {
    /// The kernel's name where it is defined, if the array is sized at launch: each kernel uses it as it likes.
    pub kernel: Option<Span>,
    /// The array's name in its declaration.
    pub array: Span,
    /// Whether lanes update one word, which no layout of the array changes.
    pub one_word: bool,
}

/// How sure the ways of a conflict are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// Every request that conflicts has as many.
    Sure,
    /// Some requests have, others fewer, or there may be fewer of them.
    UpTo,
    /// Data decide which lanes take part: fewer may meet.
    Possible,
}

/// The conflicts of one access, in one run on one target.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// What it shares with others.
    pub cause: Cause,
    /// The array, as it is called in its declaration.
    pub array: String,
    /// What the access calls it, if that is another name: a pointer, a parameter.
    pub through: Option<String>,
    /// What the access does.
    pub op: AccessOp,
    /// Into how many passes the worst request falls.
    pub ways: u32,
    /// Whether all requests are as bad.
    pub certainty: Certainty,
    /// Wavefronts of the worst request.
    pub wavefronts: u32,
    /// The fewest that it could take.
    pub ideal: u32,
    /// What it costs a block.
    pub cost: Cost,
    /// How often the access is reached and what that costs, in words.
    pub counts: Option<String>,
    /// Whether it rests on nothing but the code.
    pub exact: bool,
    /// The codes of what it rests on.
    pub assumptions: Vec<&'static str>,
    /// The same in words, the block aside.
    pub assumed: Vec<String>,
    /// Which of the kernel's runs it is.
    pub run: usize,
    /// Which of the targets.
    pub target: usize,
    /// The block of that run: threads in x, y and z.
    pub block: [u32; 3],
    /// In how many instances of the kernel the array conflicts.
    pub instances: usize,
    /// Whether a change is known that helps.
    pub remedy: bool,
}

/// Wavefronts of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cost {
    /// Those beyond the fewest possible.
    pub extra: u64,
    /// Those of all accesses of the kernel to shared memory.
    pub kernel: u64,
    /// Which loops count for several rounds in it.
    pub estimated: Estimated,
    /// Whether a block may come to fewer of the extra ones.
    pub at_most: bool,
    /// How many accesses of the kernel are not known; each of their requests counts as one wavefront.
    pub unknown: usize,
}

/// Loops that count for several rounds, because it is not known how often they run, or because that is too often for
/// each round to be looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimated {
    /// Whether there are some of unknown trip count.
    pub unknown: bool,
    /// Whether there are some of known trip count.
    pub long: bool,
    /// Whether some of these have fewer rounds than the others count for.
    pub short: bool,
}

impl Estimated {
    /// Of loops of which not every round was looked at, and which count for so many.
    #[must_use]
    pub fn of(loops: &[Span], trace: &Trace, rounds: u64) -> Estimated {
        let is_long = |of: &Span| trace.long_loops.contains(of);
        let is_short = |it: &&Uncounted| it.trips.is_some_and(|trips| trips < rounds);
        let short = trace.uncounted.iter().filter(is_short).any(|it| loops.contains(&it.span));
        Estimated { unknown: !loops.iter().all(is_long), long: loops.iter().any(is_long), short }
    }

    /// Whether there are any.
    #[must_use]
    pub fn any(self) -> bool {
        self.unknown || self.long
    }

    /// How they are counted: `counting 8 iterations for each loop of unknown trip count`.
    #[must_use]
    pub fn words(self, rounds: u64) -> String {
        format!("counting {rounds} iterations for each loop {}{}", self.which(), self.fewer())
    }

    /// How those are counted that have fewer iterations.
    #[must_use]
    pub fn fewer(self) -> &'static str {
        if self.short { ", or its largest trip count if that is smaller" } else { "" }
    }

    /// Which loops these are.
    #[must_use]
    pub fn which(self) -> &'static str {
        match (self.unknown, self.long) {
            (false, true) => "that is too long to be run to its end",
            (true, true) => "that is of unknown trip count or too long to be run to its end",
            (_, false) => "of unknown trip count",
        }
    }
}

impl Cost {
    /// How much of the kernel's wavefronts is extra, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        if self.kernel == 0 { 0.0 } else { (self.extra as f64 / self.kernel as f64).min(1.0) }
    }

    /// By what findings are ranked.
    #[must_use]
    pub fn weight(&self) -> f64 {
        self.share() * self.extra as f64
    }

    /// The share in words: `94 %`, `1.5 %`, without a word on whether it is a bound.
    #[must_use]
    pub fn percent(&self) -> String {
        match self.share() * 100.0 {
            percent if percent < 0.1 => "under 0.1 %".to_owned(),
            percent if percent < 10.0 => format!("{percent:.1} %"),
            // Some wavefronts are never extra.
            percent => format!("{} %", (percent.round() as u64).min(99)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cost(extra: u64, kernel: u64) -> Cost {
        Cost { extra, kernel, estimated: Estimated::default(), at_most: false, unknown: 0 }
    }

    #[test]
    fn the_example_of_the_documentation_holds() {
        let (tile, other) = (cost(992, 1056), cost(128, 2048));
        assert_eq!((tile.percent(), tile.weight().round()), ("94 %".to_owned(), 932.0));
        assert_eq!((other.percent(), other.weight()), ("6.2 %".to_owned(), 8.0));
        assert_eq!([cost(1, 66), cost(1, 2000)].map(|cost| cost.percent()), ["1.5 %", "under 0.1 %"]);
        assert_eq!(cost(9999, 10_000).percent(), "99 %");
        assert_eq!(cost(0, 0).share(), 0.0);
    }
}
