//! What does a kernel hold, in all ways that it was run?

use crate::events::{AccessOp, LaunchSite};
use crate::ir::Function;
use crate::rules::standing::{Races, standing};
use crate::rules::{KernelRun, is_assumed};
use crate::source::Span;
use crate::verdict::Status;

/// A kernel that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetKernel {
    /// Where its name is.
    pub name: Span,
    /// The launches that it was run for, each once.
    pub launches: Vec<Span>,
    /// All of it.
    pub whole: Span,
    /// Where a comment above it gives its block.
    pub directive: Option<Span>,
    /// The block that it was run with first, if nobody gave one: threads in x, y and z.
    pub assumed: Option<[u32; 3]>,
    /// The shared arrays that it came by, each once.
    pub arrays: Vec<MetArray>,
    /// The accesses of them that it came by, each once.
    pub sites: Vec<MetSite>,
    /// What is known of its races in all of these ways: proved where each is, and found where one is. `None`
    /// where it does not touch shared memory. Proved only where a proof was asked for.
    pub races: Option<Races>,
}

/// A shared array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetArray {
    /// Where its name is.
    pub name: Span,
    /// The bytes that it takes where it takes most, if they are always known.
    pub bytes: Option<u64>,
}

/// An access of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetSite {
    /// Where it is.
    pub span: Span,
    /// What it does.
    pub op: AccessOp,
    /// The ways of its worst request, over the runs and targets for which they are known; 1 for a run
    /// without conflicts.
    pub ways: Option<MetWays>,
    /// Whether nothing is known of it, in some run or on some target.
    pub unknown: bool,
}

/// The ways of one access in several runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetWays {
    /// In the run where they are fewest.
    pub least: u32,
    /// In the run where they are most.
    pub most: u32,
}

impl MetWays {
    fn join(self, other: MetWays) -> MetWays {
        MetWays { least: self.least.min(other.least), most: self.most.max(other.most) }
    }
}

impl MetSite {
    /// Whether it takes more wavefronts than it has to, in some run and on some target.
    #[must_use]
    pub fn conflicts(&self) -> bool {
        self.ways.is_some_and(|ways| ways.most > 1)
    }

    /// Takes in what another run says of the same access.
    pub(crate) fn join(&mut self, other: &MetSite) {
        self.ways = match (self.ways, other.ways) {
            (Some(mine), Some(theirs)) => Some(mine.join(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        self.unknown |= other.unknown;
    }
}

impl MetKernel {
    /// What the runs of a kernel came by.
    pub(super) fn of(kernel: &Function, launches: &[LaunchSite], runs: &[KernelRun]) -> MetKernel {
        let mut met = MetKernel {
            name: kernel.name_span,
            launches: Vec::new(),
            whole: kernel.span,
            directive: kernel.block_directive.map(|(_, span)| span),
            assumed: runs.iter().find(|run| is_assumed(run.block_from)).map(|run| run.block),
            arrays: Vec::new(),
            sites: Vec::new(),
            races: runs.iter().filter_map(known_of).reduce(Races::join),
        };
        for launch in launches {
            if !met.launches.contains(&launch.span) {
                met.launches.push(launch.span);
            }
        }
        for run in runs {
            for access in &run.trace.accesses {
                let array = &run.trace.arrays[access.array];
                met.array(MetArray { name: array.name_span, bytes: array.bytes() });
            }
            for (number, access) in run.trace.accesses.iter().enumerate() {
                let judgements = || run.judgements.iter().filter_map(|all| all.get(number));
                let ways = judgements().filter_map(|judgement| judgement.totals).map(|totals| {
                    let conflicts = totals.wavefronts > totals.usual;
                    let ways = if conflicts { totals.worst.ways.max(1) } else { 1 };
                    MetWays { least: ways, most: ways }
                });
                let ways = ways.reduce(MetWays::join);
                let unknown = judgements().any(|judgement| judgement.status == Status::Unknown);
                met.site(MetSite { span: access.span, op: access.op, ways, unknown });
            }
        }
        met
    }

    fn array(&mut self, array: MetArray) {
        match self.arrays.iter_mut().find(|known| known.name == array.name) {
            Some(known) => {
                known.bytes = known.bytes.zip(array.bytes).map(|(one, other)| one.max(other));
            }
            None => self.arrays.push(array),
        }
    }

    fn site(&mut self, site: MetSite) {
        match self.sites.iter_mut().find(|known| (known.span, known.op) == (site.span, site.op)) {
            Some(known) => known.join(&site),
            None => self.sites.push(site),
        }
    }
}

/// What is known of a run's races in all blocks that it stands for.
fn known_of(run: &KernelRun) -> Option<Races> {
    match standing(run)?.0 {
        Races::Proved if run.may_have_another_block() => Some(Races::Undecided),
        races => Some(races),
    }
}
