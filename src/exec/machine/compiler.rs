//! What is counted as the code runs, for the sake of what the compiler makes of it?

use super::loops::LoopPlace;
use crate::builtins::InnerBranches;
use crate::codegen::{AtLaunch, Recent, Registers, Uniformities};
use crate::domain::ThreadSet;
use crate::ir::LocalId;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What is counted and known for the compiler's sake.
#[derive(Default)]
pub struct ForCompiler {
    /// Block barriers passed so far, and what else keeps the compiler from joining accesses.
    pub epoch: u32,
    /// Those among them that are only rounds of loops: threads wait for nobody there.
    pub epochs_of_loops: u32,
    /// Rounds of loops so far that the compiler does not make straight code of.
    pub region: u32,
    /// Iterations so far of loops whose trip count the compiler does not know, and loops ended.
    pub iteration: u32,
    /// Loops so far that were run for all rounds at once.
    pub rolled: u32,
    /// Accesses of memory other than shared so far.
    pub elsewhere: u64,
    /// Writes to variables and accesses of statements that are passed over, by their address.
    pub passed: FxHashMap<usize, Operations>,
    /// The variables that loops assign, by the loop.
    pub carried: FxHashMap<LoopPlace, Rc<[LocalId]>>,
    /// The stretch of code without branches that runs, and how many there were.
    pub stretch: Stretch,
    /// Rounds of the loops that run, innermost last.
    pub rounds: Vec<Rounds>,
    /// By shared array: whether it was read last, and how often that changed.
    pub turns: Vec<(bool, u32)>,
    /// By site: the piece of straight code in which it was reached last, and how often it had been reached before.
    pub begun: FxHashMap<usize, (u32, u32)>,
    /// Writes to variables so far.
    pub writes: u64,
    /// The branches of its operands in which the sides of the condition stand that was evaluated last.
    pub operands: [Vec<u32>; 2],
    /// What the straight code at hand has in registers.
    pub registers: Registers,
    /// The places that were accessed since other threads may last have written.
    pub recent: Recent,
    /// What the compiler does not know, though a launch tells it.
    pub at_launch: AtLaunch,
    /// What the compiler sees to be the same in all lanes.
    pub uniformities: Uniformities,
}

impl ForCompiler {
    /// The last moment, by number, at which threads may have waited for others.
    pub(crate) fn last_wait(&self) -> u32 {
        self.epoch.wrapping_sub(self.epochs_of_loops)
    }

    /// A round of a loop begins, or a loop ends, over which the compiler joins nothing, if `parts`.
    pub(crate) fn begin_epoch_of_loop(&mut self, parts: bool) {
        self.epoch = self.epoch.wrapping_add(u32::from(parts));
        self.epochs_of_loops = self.epochs_of_loops.wrapping_add(u32::from(parts));
    }
}

/// What a statement does that is passed over.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Operations {
    /// Variables written.
    pub writes: u64,
    /// Accesses of memory other than shared.
    pub elsewhere: u64,
    /// Whether some of these are made under a condition.
    pub branches: bool,
    /// Whether objects begin to live of a class that is not seen, and that may wait.
    pub may_order: bool,
    /// Whether lanes may come together in it to exchange values.
    pub exchanges: bool,
    /// Whether there is a loop in it, or a function that may have one.
    pub loops: bool,
    /// The branches of its operations.
    pub inner: InnerBranches,
}

/// Stretches of code without branches, by number. The compiler joins accesses within one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stretch {
    /// The one that runs.
    pub at: u32,
    /// The branches around it, outermost first, by number.
    pub branches: Vec<u32>,
    /// How often threads left an iteration, a loop or a function.
    pub left: u64,
    /// Operations with branches of their own so far, and those of them that call.
    pub skips: u32,
    pub calls: u32,
    /// The stretches of the condition that split threads last: all of it, and each of its sides.
    pub split: Option<[u32; 3]>,
    /// Those in which the condition goes on that comes next.
    pub again: Option<[u32; 3]>,
    /// The conditional expression that ended last.
    pub answered: Option<Answered>,
    count: u32,
}

/// A conditional expression that ended.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Answered {
    /// Its condition.
    pub cond: Span,
    /// Who asked.
    pub active: ThreadSet,
    /// Its stretches.
    pub split: [u32; 3],
    /// What had been done when it ended.
    pub passed: (u32, u64, u64),
}

impl Stretch {
    /// An operation runs that has such branches.
    pub(crate) fn pass(&mut self, branches: InnerBranches) {
        self.skips = self.skips.wrapping_add(u32::from(branches >= InnerBranches::Skips));
        self.calls = self.calls.wrapping_add(u32::from(branches == InnerBranches::Calls));
    }

    /// The branch that has begun goes on where another with the same condition ended.
    pub(crate) fn go_on_in(&mut self, stretch: u32) {
        self.at = stretch;
        if let Some(last) = self.branches.last_mut() {
            *last = stretch;
        }
    }

    /// Another begins.
    pub(crate) fn begin(&mut self) {
        self.count = self.count.wrapping_add(1);
        self.at = self.count;
    }
}

/// The rounds of a loop.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rounds {
    /// How many were begun.
    pub begun: u64,
    /// Whether only the launch tells how many there are.
    pub at_launch: bool,
    /// How many the text asks to be made in one, if there are more.
    pub in_one: Option<u64>,
}
