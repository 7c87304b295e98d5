//! Which loops run, and what was found of loops so far?

use crate::domain::{Int, Key, SymbolId, Variation};
use crate::events::{Differs, EndOfRound, GoesOn, Then};
use crate::exec::value::{ObjectId, Steps, Value};
use crate::ir::LocalId;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The loops that run, and what was found of loops so far.
#[derive(Default)]
pub struct LoopContext {
    /// The loops around of which it is not known how often they run, innermost last.
    pub uncounted: Vec<Span>,
    /// How many of them are only so because the steps did not suffice for all their rounds.
    pub cut: u32,
    /// Slots that were assigned since a loop began to watch, innermost loop last.
    pub watched: Vec<Vec<(usize, LocalId)>>,
    /// The most rounds of a loop that were held against the longest that is run for real.
    pub most_rounds: u64,
    /// Whether an access has left its shared array, or a number its type, since a loop began to watch
    /// for it.
    pub out_of_bounds: bool,
    /// The first condition that asks for what is read from memory, and for more than how one number compares with a
    /// constant.
    pub data_asked: Option<Span>,
    /// Comparisons of numbers that are not all of the type `int`.
    pub of_other_types: FxHashSet<Span>,
    /// The numbers that conditions compared with constants.
    pub numbers_asked: Vec<(SymbolId, Span)>,
    /// By loop: whether it has a second round, and what leads to the end of the first.
    pub second_rounds: FxHashMap<LoopPlace, (GoesOn, EndOfRound)>,
    /// Whether the banks of a request depend on the round of a counted loop.
    pub uneven: bool,
    /// Whether threads may leave the loop that runs in different iterations.
    pub apart: bool,
    /// The states that were kept when the loop that runs began.
    pub left_of_loop: usize,
    /// The conditions around the iteration that runs.
    pub around_iteration: usize,
    /// Conditions found open so far.
    pub open: u64,
    /// Those in the rounds of a loop that were watched last.
    pub watched_open: u64,
    /// The variables declared in the bodies of loops, by their address.
    pub declared: FxHashMap<usize, Rc<FxHashSet<LocalId>>>,
    /// What was found of loops so far.
    pub plans: FxHashMap<LoopKey, Known>,
    /// Why what was computed since the last statement may be another number in some rounds of a loop.
    pub differs: Option<Differs>,
    /// The barriers come to in the loops around of which it is not known how often they run.
    pub came: Vec<usize>,
    /// Absences from barriers of which something worse was found, and what was known of each before.
    pub worsened: Vec<(usize, usize, Then)>,
    /// What is known of the bounds of loops.
    pub bounds: Bounds,
    /// Loops whose rounds were too many for the steps that were left, in the order in which that was found.
    pub shortened: Vec<LoopKey>,
    /// Loops that were run for real to their end, each round of which was counted.
    pub whole: Vec<LoopKey>,
    /// Steps of rounds that were run in vain, which may be taken again.
    pub given_back: u64,
    /// Loops around whose values are enumerated.
    pub enumerating: u32,
}

impl LoopContext {
    /// Loops that ran for real to their end at first, and of which one round stood for all once the steps did not suffice.
    /// The counts of their accesses mix both.
    #[must_use]
    pub fn mixed(&self) -> Vec<LoopKey> {
        let is_cut = |key: &&LoopKey| self.plans.get(*key).is_some_and(|plan| plan.cut);
        self.whole.iter().filter(is_cut).copied().collect()
    }

    /// Lets one round stand for all from the start on in loops that turned out to take too many steps.
    pub fn cut_short(&mut self, loops: &[LoopKey]) {
        for key in loops {
            let known = self.plans.entry(*key).or_default();
            (known.long, known.cut) = (true, true);
        }
    }
}

/// How a variable changes from iteration to iteration.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    /// By this much each time.
    By(Int),
    /// By some multiple of this number, another one each time, which is the same for all threads.
    Multiple(i64),
    /// By this much each time, modulo a number below which it stays.
    Around { step: i64, modulus: i64 },
    /// It is read anew each time.
    Renewed,
    /// In a way that is not followed; a pointer leads into what it led into before the loop, or into this.
    Lost(Variation, ObjectId),
    /// Of an object, each part in a way of its own; those that are not named stay as they are.
    Parts(Rc<Vec<(Steps, Change)>>),
}

/// Where a loop stands, and which of its function's loops it is: loops that come out of one use of a macro have
/// one span.
pub(crate) type LoopPlace = (Span, u32);

/// The loop's place, the call that led to it, and the depth of the call stack.
pub(crate) type LoopKey = (LoopPlace, Option<Span>, usize);

/// What is remembered of a loop.
#[derive(Clone, Debug, Default)]
pub(crate) struct Known {
    /// It ran for real for too long.
    pub(crate) long: bool,
    /// It would not have been, but for the steps that were left.
    pub(crate) cut: bool,
    /// All threads may leave it together in any round.
    pub(crate) together: bool,
    /// Its rounds are not all alike.
    pub(crate) uneven: bool,
    /// It could not be followed through values that begin with a number that is not known.
    pub(crate) not_followed: bool,
    /// The compiler makes no straight code of it, and numbers that it changes told places apart.
    pub(crate) stays: bool,
    /// How it changed the state.
    pub found: Option<Rc<Found>>,
}

impl Known {
    /// Drops what only makes it quicker to find again.
    #[cfg(test)]
    pub(crate) fn forget(&mut self) {
        self.found = None;
    }
}

/// How a loop changes the state.
#[derive(Debug)]
pub(crate) struct Found {
    pub plan: Vec<(usize, LocalId, Change)>,
    /// What the variables of the plan were at the loop's start.
    pub kinds: Vec<Kind>,
    pub unroll: u64,
}

/// As much of a value as decides what can be known of it in a loop.
pub(crate) type Kind = (std::mem::Discriminant<Value>, bool);

/// What a kernel tells of the bounds of its loops.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bounds {
    /// Loops that were taken to go on until an index leaves its array, and the symbols that bound them.
    pub open: Vec<(LoopKey, SymbolId)>,
    /// What a run before told of such symbols.
    pub told: Vec<(LoopKey, Key, i64)>,
}

impl Bounds {
    /// Whether nothing was told.
    pub(crate) fn is_empty(&self) -> bool {
        self.told.is_empty()
    }
}
