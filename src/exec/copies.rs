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

use super::machine::{Copying, From, Machine, Term};
use super::value::{Offset, Target, Value};
use crate::domain::{Int, Lanes, Origin, SymbolId, gcd};
use crate::events::{Assumption, CopiedFrom};
use smallvec::SmallVec;

/// Bytes of a line of global memory.
const LINE: u64 = 128;

impl Machine<'_> {
    /// A copy from there.
    pub(super) fn copying(&self, source: Option<&Value>, around: bool) -> Copying {
        let from = || {
            let Some(Value::Pointer(pointer)) = source else { return None };
            let Target::Memory(_, Offset::Known(offset)) = &pointer.target else { return None };
            let Int { base, terms, .. } = self.substitute(offset);
            let spread = |lanes: &Lanes| lanes.spread(self.shape());
            // What differs between threads and is no size may have any effect.
            let size = |id: SymbolId, factor: &Lanes| {
                factor.as_constant().is_some() || self.world.symbols.get(id).origin == Origin::Given
            };
            if !terms.iter().all(|(id, factor)| size(*id, factor)) {
                return None;
            }
            let mut terms: Vec<Term> = terms
                .iter()
                .map(|(id, factor)| Term { symbol: *id, factors: spread(factor), rows: None })
                .collect();
            let apart = |term: &Term| {
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
            Some(From { base: spread(&base), terms })
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

impl Copying {
    /// What the lanes of a warp read.
    pub(super) fn of_warp(&self, warp: usize, mask: u32) -> Option<CopiedFrom> {
        let from = self.from.as_ref()?;
        let active = || (0..32usize).filter(|lane| mask >> lane & 1 == 1);
        let thread = |lane: usize| warp * 32 + lane;
        let last = active().next_back()?;
        if thread(last) >= from.base.len() || from.terms.iter().any(|term| thread(last) >= term.factors.len())
        {
            return None;
        }
        let alike = |term: &Term, a: usize, b: usize| term.factors[thread(a)] == term.factors[thread(b)];
        // Of each stretch, the first lane and the lowest offset.
        let mut seen: SmallVec<[(usize, i64); 32]> = SmallVec::new();
        let mut stretches = [0u8; 32];
        let mut offsets = [0i64; 32];
        for lane in active() {
            let offset = from.base[thread(lane)];
            let of_lane = |(other, _): &(usize, i64)| from.terms.iter().all(|term| alike(term, *other, lane));
            let number = seen.iter().position(of_lane).unwrap_or_else(|| {
                seen.push((lane, offset));
                seen.len() - 1
            });
            seen[number].1 = seen[number].1.min(offset);
            (stretches[lane], offsets[lane]) = (number as u8, offset);
        }
        let first = seen.first()?.0;
        // What moves all lanes alike; what keeps them apart does so by whole lines.
        let mut unit = 0;
        for term in from.terms.iter().filter(|term| active().all(|lane| alike(term, first, lane))) {
            let factor = term.factors[thread(first)].unsigned_abs();
            let whole = term.rows.is_some_and(|step| factor.is_multiple_of(step));
            unit = if whole { unit } else { gcd(unit, factor) };
        }
        for lane in active() {
            let lowest = seen[usize::from(stretches[lane])].1;
            let lines = lowest.div_euclid(LINE as i64).wrapping_mul(LINE as i64);
            offsets[lane] = offsets[lane].wrapping_sub(lines);
        }
        Some(CopiedFrom { stretches, offsets, unit: if unit == 0 { 0 } else { gcd(unit, LINE) } })
    }
}
