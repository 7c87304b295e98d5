//! What of an offset do banks depend on?
//!
//! Offsets are moved by a multiple of the longest bank period of any target, so that equal requests of other warps and
//! rounds are equal; of the unknown part, only what it may be a multiple of is kept.

use crate::domain::{Int, Sight, gcd};
use crate::events::{CopiedFrom, Pattern};
use rustc_hash::FxHasher;
use std::hash::{Hash, Hasher};

/// Bytes after which the bank of an address repeats on every target.
pub(super) const WINDOW: i64 = 256;

/// What is added to all lanes alike, and when.
#[derive(Clone, Copy)]
pub(super) struct Shift {
    pub unit: u64,
    /// The same without the numbers that the compiler knows.
    pub open: u64,
    pub walk: Option<u64>,
    pub moved: Option<i64>,
    pub taken: i64,
    pub apart: u8,
    pub added: u64,
    pub sight: Sight,
    pub anywhere: bool,
}

impl Shift {
    /// An unknown multiple of this many bytes is added too. `walks`: of one access, by a loop's counter.
    pub(super) fn also(&mut self, bytes: u64, walks: bool) {
        match self.walk {
            None if walks => self.walk = Some(self.unit),
            _ => self.walk = self.walk.map(|rest| gcd(rest, bytes)),
        }
        self.unit = gcd(self.unit, bytes);
        self.open = gcd(self.open, bytes);
    }
}

/// What tells one request of a site from another.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Requested<'a> {
    pub anywhere: bool,
    pub active: u32,
    pub unit: u64,
    pub offsets: &'a [i64; 32],
    pub varying: &'a [(u32, [i64; 32])],
    pub source: Option<&'a CopiedFrom>,
}

impl<'a> Requested<'a> {
    pub(super) fn of(pattern: &'a Pattern) -> Requested<'a> {
        let Pattern { offsets, anywhere, active, varying, unit, source, .. } = pattern;
        let (anywhere, active, unit) = (*anywhere, *active, *unit);
        Requested { anywhere, active, unit, offsets, varying, source: source.as_deref() }
    }

    pub(super) fn hash(&self) -> u64 {
        let mut hasher = FxHasher::default();
        Hash::hash(self, &mut hasher);
        hasher.finish()
    }
}

/// A number for the unknown part of an offset: another for another sum.
pub(super) fn sum_of_terms(offset: &Int) -> u64 {
    let mut hasher = FxHasher::default();
    offset.terms.iter().for_each(|(id, factor)| (*id, factor.as_constant()).hash(&mut hasher));
    hasher.finish()
}

/// The largest power of two up to 16 that divides all differences between the offsets.
pub(super) fn divisor(offsets: &[i64]) -> u8 {
    let first = offsets.first().copied().unwrap_or(0);
    let bits = offsets.iter().fold(16, |bits, offset| bits | offset.wrapping_sub(first));
    1 << bits.trailing_zeros().min(4)
}

/// The numbers of a warp's active lanes.
pub(super) fn lanes_of(values: &[i64], warp: usize, mask: u32) -> [i64; 32] {
    let mut lanes = [0i64; 32];
    if let (u32::MAX, Some(all)) = (mask, values.get(warp * 32..warp * 32 + 32)) {
        lanes.copy_from_slice(all);
        return lanes;
    }
    for (lane, slot) in lanes.iter_mut().enumerate().filter(|(lane, _)| mask >> lane & 1 == 1) {
        *slot = values[warp * 32 + lane];
    }
    lanes
}

/// Moves the lowest active lane into the first window; also by how much.
pub(super) fn normalise(mut offsets: [i64; 32], mask: u32) -> ([i64; 32], i64) {
    if mask == u32::MAX {
        let lowest = offsets.iter().fold(i64::MAX, |low, &offset| low.min(offset));
        let shift = lowest.div_euclid(WINDOW) * WINDOW;
        return (offsets.map(|offset| offset.wrapping_sub(shift)), shift);
    }
    let lanes = (0..32).filter(|lane| mask >> lane & 1 == 1);
    let lowest = lanes.clone().map(|lane| offsets[lane]).min().unwrap_or(0);
    let shift = lowest.div_euclid(WINDOW) * WINDOW;
    for lane in lanes {
        offsets[lane] = offsets[lane].wrapping_sub(shift);
    }
    (offsets, shift)
}
