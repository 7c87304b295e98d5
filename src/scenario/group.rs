//! What do launches of one kernel that are taken together give it?

use crate::events::{Covers, LaunchArg, Refuted};
use crate::ir::Function;
use crate::source::Span;
use std::sync::Arc;

/// Launches of one kernel with the same block and template arguments.
#[derive(Clone, Debug)]
pub(super) struct Group {
    /// The block, as far as known.
    pub(super) block: [Option<i64>; 3],
    /// As in [`LaunchSite::warps`](crate::events::LaunchSite::warps), at each of its launches.
    pub(super) warps: [bool; 3],
    pub(super) template_args: Vec<LaunchArg>,
    /// The arguments on which all its launches agree.
    pub(super) args: Vec<Option<i64>>,
    /// Of what numbers the others are multiples, as far as they agree on it.
    pub(super) multiples: Vec<i64>,
    /// The most that each of them can be, at each of its launches.
    pub(super) most: Vec<Option<i64>>,
    /// As in [`LaunchSite::powers`](crate::events::LaunchSite::powers), at each of them.
    pub(super) powers: Vec<i64>,
    /// Which of the arguments are as large as there are threads, at each of its launches.
    pub(super) covers: Vec<Covers>,
    /// The fewest blocks that one of them is known to have in each direction.
    pub(super) grid: [Option<i64>; 3],
    /// The most blocks that one of them has in each direction, where host code limits them at each.
    pub(super) most_blocks: [Option<i64>; 3],
    /// The directions in which each of them is known to have one block.
    pub(super) flat: [bool; 3],
    /// As in [`LaunchSite::is_untied`](crate::events::LaunchSite::is_untied), of each of its launches.
    pub(super) is_untied: bool,
    /// The first of its launches.
    pub(super) span: Span,
    /// What keeps them from happening.
    pub(super) refuted: Option<Arc<Refuted>>,
    /// Another kernel that each of them may mean.
    pub(super) rival: Option<Span>,
    /// A launch that is taken to be like these, and of whose block less is known.
    pub(super) open: Option<Span>,
    /// Whether host code limits the block at each of them, and it is the one at the limit.
    pub(super) is_at_limit: bool,
    /// As in [`LaunchSite::is_unmet`](crate::events::LaunchSite::is_unmet), of each of them.
    pub(super) is_unmet: bool,
    /// The most bytes of dynamic shared memory that they give, and which does, if that is known of all.
    pub(super) dynamic_bytes: Option<(u64, Span)>,
    /// The fewest but none that one of them is known to give, and which does.
    pub(super) least_dynamic: Option<(u64, Span)>,
    /// The first that gives none.
    pub(super) no_dynamic: Option<Span>,
}

impl Group {
    /// The block as far as it is known, or likely.
    pub(super) fn likely_block(&self) -> [Option<i64>; 3] {
        std::array::from_fn(|axis| self.block[axis].or(self.warps[axis].then_some(32)))
    }

    /// The arguments that are not known, but to be multiples of a number, as in
    /// [`Setting::residues`](crate::exec::entry::Setting::residues).
    pub(super) fn residues(&self, kernel: &Function) -> Vec<(String, i64, i64)> {
        let args = self.args.iter().zip(&self.multiples).zip(&kernel.params);
        let open = args.filter(|((arg, multiple), _)| arg.is_none() && **multiple > 1);
        open.map(|((_, multiple), param)| (param.name.to_string(), *multiple, 0)).collect()
    }

    /// The most that parameters can be that are not known, unless it stands for another launch, too.
    pub(super) fn most(&self, kernel: &Function) -> Vec<(String, i64)> {
        let named = self.most.iter().zip(&kernel.params).filter(|_| self.open.is_none());
        named.filter_map(|(most, param)| Some((param.name.to_string(), (*most)?))).collect()
    }

    /// The powers of two of which parameters are multiples, unless it stands for another launch, too.
    pub(super) fn powers(&self, kernel: &Function) -> Vec<(String, i64)> {
        let named = self.powers.iter().zip(&kernel.params).filter(|_| self.open.is_none());
        let known = named.filter(|(power, _)| **power > 1);
        known.map(|(power, param)| (param.name.to_string(), *power)).collect()
    }

    /// Which parameters are as large as there are threads, unless it stands for another launch, too.
    pub(super) fn covers(&self, kernel: &Function) -> Vec<(String, Covers)> {
        let named = |it: &Covers| Some((kernel.params.get(it.arg)?.name.to_string(), *it));
        self.covers.iter().filter(|_| self.open.is_none()).filter_map(named).collect()
    }
}
