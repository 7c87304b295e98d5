//! What does a kernel hold, in all ways that it was run?

use crate::events::AccessOp;
use crate::rules::KernelRun;
use crate::source::Span;
use crate::verdict::Status;

/// A kernel that was run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetKernel {
    /// Where its name is.
    pub name: Span,
    /// The shared arrays that it came by, each once.
    pub arrays: Vec<MetArray>,
    /// The accesses of them that it came by, each once.
    pub sites: Vec<MetSite>,
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
    /// Whether it takes more wavefronts than it has to, in some run and on some target.
    pub conflicts: bool,
    /// Whether nothing is known of it, in some run or on some target.
    pub unknown: bool,
}

impl MetKernel {
    /// What the runs of a kernel came by.
    pub(super) fn of(name: Span, runs: &[KernelRun]) -> MetKernel {
        let mut met = MetKernel { name, arrays: Vec::new(), sites: Vec::new() };
        for run in runs {
            for access in &run.trace.accesses {
                let array = &run.trace.arrays[access.array];
                met.array(MetArray { name: array.name_span, bytes: array.bytes() });
            }
            for (number, access) in run.trace.accesses.iter().enumerate() {
                let judgements = || run.judgements.iter().filter_map(|all| all.get(number));
                let conflicts = judgements()
                    .filter_map(|judgement| judgement.totals)
                    .any(|totals| totals.wavefronts > totals.usual && totals.worst.ways > 1);
                let unknown = judgements().any(|judgement| judgement.status == Status::Unknown);
                met.site(MetSite { span: access.span, op: access.op, conflicts, unknown });
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
            Some(known) => {
                known.conflicts |= site.conflicts;
                known.unknown |= site.unknown;
            }
            None => self.sites.push(site),
        }
    }
}
