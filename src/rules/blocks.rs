//! What is said of the block that a run has, and of the launch that gives it?

use super::{Case, KernelRun, listed};
use crate::events::{Array, Assumption, Doubted, EndedBy, Refuted};
use crate::shape::BlockFrom;
use crate::source::Span;

/// What is said of a launch that gives several blocks, not all of which are known.
const MAY_DIFFER: &str = "which may also give another block";

/// What is taken for granted of a block that host code limits.
const AT_LIMIT: &str = "if the `min` in host code reaches its limit";

/// What is said of a block between which and others host code chooses, and to which no numbers lead that were tried.
const MAY_NEVER: &str = "which may never give it";

/// Whether neither the user nor a launch gave the block shape.
#[must_use]
pub fn is_assumed(from: BlockFrom) -> bool {
    matches!(from, BlockFrom::LaunchBounds | BlockFrom::Implied | BlockFrom::Default)
}

/// Where a block shape came from, in words.
#[must_use]
pub fn block_source(from: BlockFrom) -> &'static str {
    match from {
        BlockFrom::Directive => "from the directive above the kernel",
        BlockFrom::Config => "from the configuration",
        BlockFrom::Flag => "from the command line",
        BlockFrom::Launch => "from a launch",
        BlockFrom::LaunchBounds => "from `__launch_bounds__`",
        BlockFrom::Implied => "implied by the arrays and the loops over them",
        BlockFrom::Default => "assumed",
    }
}

impl Case<'_> {
    /// Which block, and where it came from.
    pub(super) fn block_words(&self, run: usize) -> String {
        let run = &self.runs[run];
        let [x, y, z] = run.block;
        let block = format!("block is ({x}, {y}, {z})");
        if let Some(why) = &run.misfit {
            return why.clone();
        }
        let refuted = run.refuted.as_ref().map(|refuted| self.refuted_words(refuted));
        let rival =
            |other: Span| format!("; it may mean the kernel of the same name at {}", (self.place)(other));
        let rival = run.rival.map(rival).unwrap_or_default();
        let words = match (run.block_from, run.launch) {
            (BlockFrom::Launch, Some(span)) => {
                let limit = if run.is_at_limit { format!(", {AT_LIMIT}") } else { String::new() };
                let other = run.open_launch.map(|_| format!(", {MAY_DIFFER}")).unwrap_or_default();
                let never = if run.is_unmet { format!(", {MAY_NEVER}") } else { String::new() };
                format!("{block}, from the launch at {}{limit}{other}{never}", (self.place)(span))
            }
            (from, Some(span)) if is_assumed(from) => {
                format!("{}; the launch at {} does not give it", run.assumed_words(), (self.place)(span))
            }
            (from, None) if is_assumed(from) => format!("{}; no launch was found", run.assumed_words()),
            (from, _) => format!("{block}, {}", block_source(from)),
        };
        words + &refuted.unwrap_or_default() + &rival
    }

    /// What keeps a launch from happening, and what is made of that.
    fn refuted_words(&self, refuted: &Refuted) -> String {
        let what = match refuted.by {
            EndedBy::Assert => "the assert",
            EndedBy::Check => "the check",
        };
        let place = (self.place)(refuted.span);
        let taken = refuted.numbers.iter().map(|Doubted { name, multiple }| match multiple {
            1 => format!("`{name}` counts as unknown"),
            many => format!("`{name}` counts as an unknown multiple of {many}"),
        });
        let taken: Vec<String> = taken.collect();
        let so = if taken.is_empty() { "" } else { ", so " };
        // What is not followed may give other numbers.
        let kept = format!("as far as cudalint follows the host code, {what} at {place} prevents it");
        format!("; {kept}{so}{}", listed(&taken))
    }
}

impl KernelRun {
    /// The assumption that the block shape is, unless the user gave it or a launch that happens.
    #[must_use]
    pub fn block_assumption(&self) -> Option<Assumption> {
        let why = match (is_assumed(self.block_from), self.launch.is_some()) {
            (true, true) => "the launch does not give it",
            (true, false) => "no launch was found",
            (false, _) if self.refuted.is_some() => {
                "which never happens as far as cudalint follows the host code"
            }
            (false, _) if self.rival.is_some() => "which may mean another kernel of the same name",
            (false, _) if self.is_unmet => MAY_NEVER,
            (false, _) if self.is_at_limit => AT_LIMIT,
            (false, _) if self.open_launch.is_some() => MAY_DIFFER,
            (false, _) => return None,
        };
        let mark = if is_assumed(self.block_from) { ";" } else { "," };
        Some(Assumption::Block { words: format!("{}{mark} {why}", self.assumed_words()).into() })
    }

    /// Whether the user or a launch gives the block, as far as numbers were tried.
    #[must_use]
    pub(super) fn is_block_given(&self) -> bool {
        !is_assumed(self.block_from) && !self.is_unmet
    }

    /// Whether its launch may give a block that is not this one, and not known.
    #[must_use]
    pub(crate) fn may_have_another_block(&self) -> bool {
        self.is_at_limit || self.open_launch.is_some()
    }

    /// The block, and where it is from or why it is this one.
    fn assumed_words(&self) -> String {
        let [x, y, z] = self.block;
        let names = self.fills.join("` and `");
        match self.elements_and_threads() {
            _ if self.fills.is_empty() => {
                format!("block is ({x}, {y}, {z}), {}", block_source(self.block_from))
            }
            // Several rows for each thread do not tell how many threads there are.
            Some((array, elements, threads))
                if array.dimensions.len() > 1 && elements >= threads.saturating_mul(2) =>
            {
                format!("block is ({x}, {y}, {z}), {}", block_source(self.block_from))
            }
            Some((_, elements, threads)) if !elements.is_multiple_of(threads) => {
                format!("block of ({x}, {y}, {z}) assumed: its accesses stay inside `{names}`")
            }
            _ => format!("block of ({x}, {y}, {z}) assumed: it exactly fills `{names}`"),
        }
    }

    /// The first of the arrays that the block fills, the number of its elements, and that of the threads; None if these
    /// are not known.
    fn elements_and_threads(&self) -> Option<(&Array, u64, u64)> {
        let name = self.fills.first()?;
        let array = self.trace.arrays.iter().find(|array| array.name == *name)?;
        let elements: Option<u64> = array.dimensions.iter().copied().product();
        let threads: u64 = self.block.iter().map(|extent| u64::from(*extent)).product();
        Some((array, elements?, threads.max(1)))
    }
}
