//! What do the lanes of an asynchronous copy read from global memory?
//!
//! What such a copy costs depends on which lanes read from the same line of 128 bytes, and where in it. Only
//! differences matter, and where lines begin:
//!
//! ```text
//! cp.async of A + (row0 + t / 2) * K + k0 + t % 2 * 8, of halves: byte t / 2 * 2 * K + t % 2 * 16 + what all lanes share
//! lanes 0 and 1: one stretch, bytes 0 and 16      lanes 2 and 3: another stretch (2 * K on), bytes 0 and 16
//! ```
//!
//! A size given at run time that keeps lanes apart is taken to keep them apart by whole lines, and memory to begin
//! with a line, as `cudaMalloc` and aligned rows give it. Both are stated as assumptions.

use super::machine::{Copying, Machine};
use super::value::{Offset, Target, Value};
use crate::domain::{Int, Lanes, Origin, SymbolId, gcd};
use crate::events::{Assumption, CopySource, CopyTerm};

impl Machine<'_> {
    /// A copy from there.
    pub(super) fn copying(&self, source: Option<&Value>, around: bool) -> Copying {
        let from = || {
            let Some(Value::Pointer(pointer)) = source else { return None };
            let Target::Memory(object, Offset::Known(offset)) = &pointer.target else { return None };
            if self.is_one_of_several(*object) {
                return None;
            }
            let Int { base, terms, .. } = self.substitute(offset);
            let spread = |lanes: &Lanes| lanes.spread(self.shape());
            // What differs between threads and is no size may have any effect.
            let size = |id: SymbolId, factor: &Lanes| {
                factor.as_constant().is_some() || self.world.symbols.get(id).origin == Origin::Given
            };
            if !terms.iter().all(|(id, factor)| size(*id, factor)) {
                return None;
            }
            let mut terms: Vec<CopyTerm> = terms
                .iter()
                .map(|(id, factor)| CopyTerm { symbol: *id, factors: spread(factor), rows: None })
                .collect();
            let apart = |term: &CopyTerm| {
                let first = term.factors.first().copied().unwrap_or(0);
                term.factors
                    .iter()
                    .fold(0, |step, factor| gcd(step, factor.wrapping_sub(first).unsigned_abs()))
            };
            let steps: Vec<(SymbolId, u64)> = terms.iter().map(|term| (term.symbol, apart(term))).collect();
            for term in &mut terms {
                let factors = &self.world.symbols.get(term.symbol).factors;
                let known = |(symbol, step): &&(SymbolId, u64)| {
                    *step > 0 && (*symbol == term.symbol || factors.contains(symbol))
                };
                term.rows = steps.iter().find(known).map(|(_, step)| *step);
            }
            Some(CopySource { base: spread(&base), terms })
        };
        Copying { around, from: from() }
    }

    /// What is taken for granted of what the copy at hand reads.
    pub(super) fn copy_assumptions(&self) -> Vec<Assumption> {
        let Some(from) = self.at_hand.copying.as_ref().and_then(|copying| copying.from.as_ref()) else {
            return Vec::new();
        };
        let both = self.at_hand.copying.as_ref().is_some_and(|copying| copying.around);
        let mut assumed = vec![Assumption::CopyAligned { both }];
        for term in from.terms.iter().filter(|term| term.factors.windows(2).any(|pair| pair[0] != pair[1])) {
            let name = (*self.world.symbols.get(term.symbol).name).into();
            assumed.push(Assumption::RowsAligned { name });
        }
        assumed
    }
}
