//! From where do the lanes of an asynchronous copy read?

use super::CopiedFrom;
use crate::domain::{Spread, SymbolId, gcd};
use smallvec::SmallVec;
use std::sync::Arc;

/// Bytes of a line of global memory.
const LINE: u64 = 128;

/// The bytes from the start of a line that the threads of a copy read from.
#[derive(Clone, Debug)]
pub(crate) struct CopySource {
    /// The known part, by thread.
    pub base: Arc<Spread>,
    /// The unknown part.
    pub terms: Vec<CopyTerm>,
}

/// An unknown number and what it is multiplied with, by thread.
#[derive(Clone, Debug)]
pub(crate) struct CopyTerm {
    /// The number.
    pub symbol: SymbolId,
    /// By thread.
    pub factors: Arc<Spread>,
    /// If it is taken to keep threads apart by whole lines: the bytes that it is multiplied with, a
    /// multiple of these; itself or a factor of it.
    pub rows: Option<u64>,
}

impl CopySource {
    /// What the lanes of a warp read.
    pub(super) fn of_warp(&self, warp: usize, mask: u32) -> Option<CopiedFrom> {
        let active = || (0..32usize).filter(|lane| mask >> lane & 1 == 1);
        let thread = |lane: usize| warp * 32 + lane;
        let last = active().next_back()?;
        if thread(last) >= self.base.len() || self.terms.iter().any(|term| thread(last) >= term.factors.len())
        {
            return None;
        }
        let alike = |term: &CopyTerm, a: usize, b: usize| term.factors[thread(a)] == term.factors[thread(b)];
        // Of each stretch, the first lane and the lowest offset.
        let mut seen: SmallVec<[(usize, i64); 32]> = SmallVec::new();
        let mut stretches = [0u8; 32];
        let mut offsets = [0i64; 32];
        for lane in active() {
            let offset = self.base[thread(lane)];
            let of_lane = |(other, _): &(usize, i64)| self.terms.iter().all(|term| alike(term, *other, lane));
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
        for term in self.terms.iter().filter(|term| active().all(|lane| alike(term, first, lane))) {
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
