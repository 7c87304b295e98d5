//! Which accesses has nothing surely ordered before the current place?
//!
//! An access is *open* until a barrier surely separates it from what follows. An asynchronous copy is in flight until
//! its threads wait for its group; barriers before that do not count. Example with two buffers:
//!
//! ```text
//! copy to buffer 0; commit       on its way, in the group that is 0 behind
//! copy to buffer 1; commit       the first is 1 behind, the second 0
//! wait for all but 1 group       the first has arrived
//! __syncthreads()                the first is ordered; the second may be written at any time yet
//! ```

use super::Loop;
use super::meet::Relation;
use crate::domain::{SymbolId, ThreadSet};
use crate::events::{Access, AccessEvent, AccessOp, Branches, PerTile, WarpTile};
use std::sync::Arc;

/// An access that nothing has surely ordered before the place at hand.
#[derive(Clone)]
pub(super) struct Live<'a> {
    pub event: &'a AccessEvent,
    pub access: &'a Access,
    /// The number of the event.
    pub at: usize,
    /// How its rounds of the loops around relate to those of the place at hand.
    pub relation: Relation,
    /// Of barriers that came since: the branches around them that are not around it.
    passed: Vec<Vec<u32>>,
    /// The warps whose lanes have met since, by bit, in tiles of each size.
    pub met: PerTile<u32>,
    /// The branches around it.
    pub branches: Branches,
    /// Whether it may have happened before a barrier that is taken for absent and that came since.
    pub is_crossed: bool,
    /// How far an asynchronous copy has come.
    way: Way,
}

/// How far what is written has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// It is there.
    Arrived,
    /// It is on its way, and in no group yet, as far as is known.
    Begun,
    /// It is on its way, in a group that at least so many others have come behind.
    Behind(u32),
}

impl<'a> Live<'a> {
    /// An access that is done at the place at hand.
    pub(super) fn new(event: &'a AccessEvent, access: &'a Access, at: usize) -> Live<'a> {
        let way = if access.op == AccessOp::AsyncCopy { Way::Begun } else { Way::Arrived };
        let (relation, branches) = (Relation::Same, Arc::clone(&event.branches));
        let (passed, met, is_crossed) = (Vec::new(), PerTile::default(), false);
        Live { event, access, at, relation, passed, met, branches, is_crossed, way }
    }

    /// The same as if it were done at once.
    #[must_use]
    pub(super) fn arrived(&self) -> Live<'a> {
        Live { way: Way::Arrived, ..self.clone() }
    }

    /// Whether it is a copy for which its threads have not surely waited.
    pub(super) fn is_on_its_way(&self) -> bool {
        self.way != Way::Arrived
    }

    /// A barrier with these branches around comes; whether it surely orders the access.
    pub(super) fn is_passed(&mut self, branches: &Branches) -> bool {
        if self.is_on_its_way() {
            return false;
        }
        let rest: Vec<u32> = branches.iter().filter(|it| !self.branches.contains(it)).copied().collect();
        let orders = rest.is_empty();
        if !orders && !self.passed.contains(&rest) {
            self.passed.push(rest);
        }
        orders
    }

    /// All lanes of these warps, by bit, come together in tiles, with these branches around.
    pub(super) fn meets(&mut self, tile: WarpTile, warps: u32, branches: &Branches) {
        if !self.is_on_its_way() && within(branches, &self.branches) {
            *self.met.at_mut(tile) |= warps;
        }
    }

    /// These threads put their copies into a group, with these branches around.
    pub(super) fn is_grouped(&mut self, threads: &ThreadSet, branches: &Branches) {
        if self.is_done_by(threads) && within(branches, &self.branches) {
            self.way = match self.way {
                Way::Arrived => Way::Arrived,
                Way::Begun => Way::Behind(0),
                Way::Behind(groups) => Way::Behind(groups.saturating_add(1)),
            };
        }
    }

    /// These threads wait for all groups but the latest `but`, or for all copies, with these branches around.
    pub(super) fn is_waited_for(&mut self, threads: &ThreadSet, but: Option<u32>, branches: &Branches) {
        let counts = self.is_done_by(threads) && within(branches, &self.branches);
        let arrives = match (but, self.way) {
            (None, _) => true,
            (Some(but), Way::Behind(groups)) => groups >= but,
            (Some(_), _) => false,
        };
        if counts && arrives {
            self.way = Way::Arrived;
        }
    }

    fn is_done_by(&self, threads: &ThreadSet) -> bool {
        self.event.threads.minus(threads).is_empty()
    }

    /// Whether something with these branches around surely comes after a barrier that came after this, or
    /// never happens beside it.
    pub(super) fn is_before(&self, branches: &Branches) -> bool {
        let passed = self.passed.iter().any(|rest| rest.iter().all(|it| branches.contains(it)));
        let excluded = self.branches.iter().any(|it| branches.contains(&(it ^ 1)));
        passed || excluded
    }

    /// It is done before a loop, and held against a round of it.
    pub(super) fn comes_before_round(&mut self, round: SymbolId, number: i64) {
        if self.relation == Relation::Same || self.is_before_rounds(round) {
            self.relation = Relation::Before { round, number };
        }
    }

    /// Whether it is held against the rounds of a loop that it is done before.
    pub(super) fn is_before_rounds(&self, of: SymbolId) -> bool {
        matches!(self.relation, Relation::Before { round, .. } if round == of)
    }

    /// The same as it is for another round of a loop, and for what follows the loop.
    #[must_use]
    pub(super) fn leaves(mut self, of: &Loop<'_>, relation: Relation) -> Self {
        self.relation = relation;
        let outside = |it: &u32| of.branches.contains(it);
        self.branches = self.branches.iter().filter(|it| outside(it)).copied().collect();
        self.passed.retain(|rest| rest.iter().all(outside));
        self
    }

    /// The same as it is for what follows a loop.
    #[must_use]
    pub(super) fn after_first_round(mut self) -> Self {
        if let Relation::Before { .. } = self.relation {
            self.relation = Relation::Same;
        }
        self
    }
}

/// Whether all branches around one thing are around another.
pub(super) fn within(inner: &Branches, outer: &Branches) -> bool {
    inner.iter().all(|it| outer.contains(it))
}
