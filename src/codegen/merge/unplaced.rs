//! Which constant addresses of several small variables may be neighbours, where it is not known where these lie?
//!
//! `__shared__ float mean;` of a kernel and `__shared__ float deviation;` of a function that it calls may lie side by
//! side. Then the compiler reads both at once.

use super::{Joins, Wide, joinable};
use crate::codegen::layout;
use crate::events::{AccessOp, Trace};
use rustc_hash::FxHashMap;

/// Bytes of the widest access.
const WIDEST: u64 = 16;

/// What neighbours have in common: what is done, of how many bytes, by which lanes and warps, and between which barriers;
/// of stores, in which piece of code.
type Alike = (AccessOp, u32, u32, u32, u32, Option<u32>);

/// Notes of such requests that they may be parts of wider ones.
pub(super) fn note(trace: &Trace, addresses: &[Option<u64>], joins: &mut Joins) {
    let mut groups: FxHashMap<Alike, Vec<(usize, usize)>> = FxHashMap::default();
    for (at, access) in trace.accesses.iter().enumerate() {
        let array = &trace.arrays[access.array];
        let is_small = array.bytes().is_some_and(|bytes| bytes < WIDEST) && !array.dynamic && !array.global;
        // Narrower ones are not joined where their array is not aligned.
        let Some(bytes) = joinable(access).filter(|bytes| is_small && matches!(bytes, 4 | 8)) else {
            continue;
        };
        let constants = layout::constants(access);
        for (number, pattern) in access
            .patterns
            .iter()
            .enumerate()
            .filter(|(number, it)| constants[*number] && it.sight.hidden == 0)
        {
            let stretch = (access.op == AccessOp::Store).then_some(pattern.first.stretch);
            let alike = (access.op, bytes, pattern.active, pattern.warps, pattern.first.epoch, stretch);
            groups.entry(alike).or_default().push((at, number));
        }
    }
    for ((_, bytes, ..), requests) in groups {
        let array = |(access, _): &(usize, usize)| trace.accesses[*access].array;
        for own @ (access, number) in &requests {
            let is_beside = |other: &(usize, usize)| {
                let (own, other) = (array(own), array(other));
                own != other && (addresses[own].is_none() || addresses[other].is_none())
            };
            let pattern = &trace.accesses[*access].patterns[*number];
            if requests.iter().any(is_beside) {
                let wide = Wide::possible(2 * bytes, pattern.offsets);
                joins[*access][*number] = joins[*access][*number].or(Some(wide));
            }
        }
    }
}
