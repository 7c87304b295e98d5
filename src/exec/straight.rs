//! What does the compiler read once that the source reads twice?
//!
//! Inside straight code (no barrier, no fence, no round of a loop that stays a loop) a value that was
//! loaded stays in a register until its array is written: of `for m: for n: a[m] * b[n]`, unrolled,
//! 8 x 8 products need 16 loads, not 128. Requests are counted so.

use super::int::Int;
use super::lanes::Lanes;
use super::machine::Machine;
use super::symbol::SymbolId;
use crate::verdict::AccessOp;
use rustc_hash::FxHashSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The loads of the straight code at hand.
#[derive(Debug, Default)]
pub struct Loaded {
    /// Site, turn of the array, and which addresses by which threads.
    sites: FxHashSet<(usize, u32, u64)>,
    /// The epoch and region of that code.
    at: (u32, u32),
}

impl Loaded {
    /// Nothing counts as loaded any more.
    pub fn forget(&mut self) {
        self.sites.clear();
    }
}

impl Machine<'_> {
    /// Whether this very load stands in straight code with nothing written or waited for since: the
    /// compiler keeps what it has read.
    pub(super) fn in_register(&mut self, site: usize, offset: &Int) -> bool {
        if self.trace.accesses[site].op != AccessOp::Load {
            return false;
        }
        let now = (self.epoch, self.region);
        if self.index.loaded.at != now {
            self.index.loaded.at = now;
            self.index.loaded.forget();
        }
        let turn = self.turn(site);
        let mut hasher = DefaultHasher::new();
        let mut add = |lanes: &Lanes| match lanes {
            Lanes::Closed(form) => form.hash(&mut hasher),
            Lanes::Each(values) => values.hash(&mut hasher),
        };
        add(&offset.base);
        offset.terms.iter().for_each(|(_, factor)| add(factor));
        let symbols: Vec<SymbolId> = offset.terms.iter().map(|(id, _)| *id).collect();
        (symbols, self.state.active, self.weight).hash(&mut hasher);
        !self.index.loaded.sites.insert((site, turn, hasher.finish()))
    }

    /// How often this site's array has gone from being read to being written, or back.
    pub(super) fn turn(&mut self, site: usize) -> u32 {
        let access = &self.trace.accesses[site];
        let reads = matches!(access.op, AccessOp::Load | AccessOp::MatrixLoad);
        if self.turns.len() <= access.array {
            self.turns.resize(access.array + 1, (reads, 0));
        }
        let (was, turns) = &mut self.turns[access.array];
        if *was != reads {
            (*was, *turns) = (reads, turns.wrapping_add(1));
        }
        *turns
    }
}
