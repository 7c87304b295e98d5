//! What does the bank model say of one request of a trace?
//!
//! Turns an access and the offsets of its lanes into a question to `banks`. An unknown number that
//! shifts all lanes alike is tried in every phase that matters to the banks.

use super::is_copy_instruction;
use crate::banks::{self, Contention, CopySource, Cost, Family, Request, Target};
use crate::codegen::{Wide, atomics};
use crate::domain::{Reason, gcd};
use crate::events::{Access, AccessOp, JOINED_IN_PART, Pattern};

/// Why a request has no cost.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum NoCost {
    /// An atomic that does not take a fixed number of passes.
    NoFigure(Contention),
    /// Not known.
    Unknown(Reason, String),
}

/// The shifts by which an unknown uniform offset can move the request in the banks.
pub(super) fn shifts(unit: u64, target: &Target) -> Vec<i64> {
    let matters = period(target);
    let step = gcd(unit, matters);
    if unit == 0 || step == matters {
        return vec![0];
    }
    (0..matters / step).map(|k| (k * step) as i64).collect()
}

/// Bytes after which a shift of all lanes changes nothing.
fn period(target: &Target) -> u64 {
    match target.family() {
        Family::KeplerFour => 256,
        Family::KeplerEight => 8,
        Family::Tesla | Family::Fermi | Family::Modern => 4,
    }
}

/// The lanes for which there is a request, of those that are active.
pub(super) fn lanes(
    access: &Access,
    active: u32,
    offsets: &[i64; 32],
    target: &Target,
) -> Result<u32, NoCost> {
    match access.op {
        AccessOp::Atomic => atomics::lanes(access, active, offsets, target)
            .map_err(|why| NoCost::Unknown(Reason::Compiler, why.0.to_string())),
        _ => Ok(active),
    }
}

/// The cost, when it is the same in every phase.
pub(super) fn phases(
    access: &Access,
    active: u32,
    offsets: &[i64; 32],
    shifts: &[i64],
    target: &Target,
) -> Result<Cost, NoCost> {
    let mut found: Option<Cost> = None;
    if access.joins_members == JOINED_IN_PART
        && access.bytes.is_some_and(|bytes| bytes > 16 && bytes % 16 == 0)
    {
        let reason = "the compiler splits the copy of this struct into accesses of different widths";
        return Err(NoCost::Unknown(Reason::Compiler, reason.to_string()));
    }
    let align = alignment(access, active, offsets, target);
    let active = lanes(access, active, offsets, target)?;
    for shift in aligned(access, active, offsets, shifts, target) {
        let moved = offsets.map(|offset| offset.wrapping_add(shift));
        let request = question(access, access.bytes, active, &moved, align, target);
        let Some(cost) = banks::cost(&request, target) else {
            if matches!(access.op, AccessOp::Atomic) {
                return Err(NoCost::NoFigure(banks::contention(&request, target)));
            }
            return Err(NoCost::Unknown(Reason::Hardware, format!("{target} has no such instruction")));
        };
        match &found {
            Some(old) if (old.wavefronts, old.ideal) != (cost.wavefronts, cost.ideal) => {
                let reason = "it depends on where in the banks the access begins".to_string();
                return Err(NoCost::Unknown(Reason::RunTimeStride, reason));
            }
            Some(_) => {}
            None => found = Some(cost),
        }
    }
    found.ok_or_else(|| NoCost::Unknown(Reason::Unsupported, "nothing was accessed".to_string()))
}

/// What a request costs, asked as its access is, with its lanes at other places; `None` where that is not known.
pub(crate) fn moved_cost(
    access: &Access,
    pattern: &Pattern,
    offsets: &[i64; 32],
    target: &Target,
) -> Option<Cost> {
    if is_copy_instruction(access, target) {
        let moved = Pattern { offsets: *offsets, unit: 0, varying: Vec::new(), ..pattern.clone() };
        return copied(access, &moved, target).ok();
    }
    phases(access, pattern.active, offsets, &[0], target).ok()
}

/// Those of some shifts by which all lanes are aligned as the access demands; all if there are none.
fn aligned(access: &Access, active: u32, offsets: &[i64; 32], shifts: &[i64], target: &Target) -> Vec<i64> {
    let align = gcd(asked_alignment(access), period(target)) as i64;
    let first = offsets.get(active.trailing_zeros() as usize).copied().unwrap_or(0);
    let fits = |shift: &i64| first.wrapping_add(*shift).rem_euclid(align) == 0;
    let fitting: Vec<i64> = shifts.iter().copied().filter(fits).collect();
    match fitting.is_empty() || !can_be_aligned(access, active, offsets) {
        true => shifts.to_vec(),
        false => fitting,
    }
}

/// The cost of a copy by what its lanes read, when it is the same wherever in a line and in a row of 128
/// bytes what is not known lets it begin.
pub(super) fn copied(access: &Access, pattern: &Pattern, target: &Target) -> Result<Cost, NoCost> {
    let unknown = |kind, text: &str| Err(NoCost::Unknown(kind, text.to_string()));
    let Some(from) = &pattern.source else {
        return unknown(
            Reason::UnknownPointer,
            "its wavefronts depend on which lines of global memory it copies from",
        );
    };
    if !pattern.varying.is_empty() {
        let text = "a run-time size separates the places that it copies to";
        return unknown(Reason::RunTimeStride, text);
    }
    let bytes = access.bytes.unwrap_or(4);
    let (to, by) = begins(&pattern.offsets, pattern.active, pattern.unit, bytes);
    let (read, read_by) = begins(&from.offsets, pattern.active, from.unit, bytes);
    let mut found: Option<Cost> = None;
    for (shift, read_shift) in by.iter().flat_map(|a| read_by.iter().map(move |b| (*a, *b))) {
        let moved = to.map(|offset| offset.wrapping_add(shift));
        let request = question(access, Some(bytes), pattern.active, &moved, 0, target);
        let offsets = &read.map(|offset| offset.wrapping_add(read_shift));
        let source = CopySource { stretches: &from.stretches, offsets, around: access.around };
        let Some(cost) = banks::copy_cost(&request, &source) else {
            return unknown(Reason::Hardware, "the cost of this kind of copy was not measured");
        };
        match &found {
            Some(old) if (old.wavefronts, old.ideal) != (cost.wavefronts, cost.ideal) => {
                let text = "it depends on where in a 128-byte line it starts to read or write";
                return unknown(Reason::RunTimeStride, text);
            }
            Some(_) => {}
            None => found = Some(cost),
        }
    }
    found.ok_or_else(|| NoCost::Unknown(Reason::Unsupported, "nothing was accessed".to_string()))
}

/// Offsets and what may be added to them, of a copy, which is always aligned: 128 bytes on all is as before.
fn begins(offsets: &[i64; 32], active: u32, unit: u64, bytes: u32) -> ([i64; 32], Vec<i64>) {
    if unit == 0 {
        return (*offsets, vec![0]);
    }
    // What is added makes up for what is missing to the alignment.
    let first = offsets.get(active.trailing_zeros() as usize).copied().unwrap_or(0);
    let missing = first.rem_euclid(i64::from(bytes));
    let step = gcd(unit, 128).max(u64::from(bytes)) as usize;
    let shifts = (0..128).step_by(step).map(|shift| shift as i64).collect();
    (offsets.map(|offset| offset.wrapping_sub(missing)), shifts)
}

/// What the bank model is asked of lanes at these offsets.
pub(super) fn question<'a>(
    access: &Access,
    bytes: Option<u32>,
    active: u32,
    offsets: &'a [i64; 32],
    align: u32,
    target: &Target,
) -> Request<'a> {
    let bytes = bytes.unwrap_or(4);
    Request { access: bank_access(access, target), bytes, active, offsets, align, base: 0 }
}

/// The alignment by which the access is split: wider if the members of a copied struct become one access.
/// The compiler has to see that it is aligned.
pub(super) fn alignment(access: &Access, active: u32, offsets: &[i64; 32], target: &Target) -> u32 {
    let bytes = access.bytes.unwrap_or(0);
    let lanes = || (0..32).filter(|lane| active >> lane & 1 == 1);
    let fits = |unit: &u32| {
        *unit <= access.joins_members
            && bytes.is_multiple_of(*unit)
            && access.patterns.iter().all(|pattern| keeps_alignment(pattern, *unit))
            && lanes().all(|lane| offsets[lane].rem_euclid(i64::from(*unit)) == 0)
    };
    let joined = if target.family() == Family::Modern { [16, 8].into_iter().find(fits) } else { None };
    joined.filter(|unit| *unit > access.align).unwrap_or(access.align)
}

/// Whether nothing that is not known takes a request out of the alignment to so many bytes.
fn keeps_alignment(pattern: &Pattern, bytes: u32) -> bool {
    let mut factors = pattern.varying.iter().flat_map(|(_, factors)| factors);
    pattern.unit.is_multiple_of(u64::from(bytes)) && factors.all(|factor| factor % i64::from(bytes) == 0)
}

/// Of what number of bytes the distance of a tile's lines has to be a multiple.
pub(super) const TILE_LINES: i64 = 16;

/// Whether the lanes can all be aligned as the access demands: an address that is not is an error
/// at run time. Only differences between lanes tell, since where the array starts is not known.
pub(super) fn can_be_aligned(access: &Access, active: u32, offsets: &[i64; 32]) -> bool {
    let matrix = matches!(access.op, AccessOp::MatrixLoad | AccessOp::MatrixStore);
    // A matrix access takes its addresses from eight lanes for each matrix.
    let active =
        if matrix { active & low_lanes(8 * u32::from(access.tiles.matrices.max(1))) } else { active };
    let align = asked_alignment(access) as i64;
    let mut lanes = (0..32).filter(|lane| active >> lane & 1 == 1).map(|lane| offsets[lane]);
    let first = lanes.next().unwrap_or(0);
    // A power of two.
    lanes.all(|offset| offset.wrapping_sub(first) & (align - 1) == 0)
}

/// Of what number of bytes the address of each lane has to be a multiple.
fn asked_alignment(access: &Access) -> u64 {
    let asked = match access.align {
        _ if matches!(access.op, AccessOp::MatrixLoad | AccessOp::MatrixStore) => 16,
        0 => access.bytes.unwrap_or(1),
        align => align,
    };
    1 << asked.trailing_zeros().min(4)
}

fn low_lanes(count: u32) -> u32 {
    if count >= 32 { u32::MAX } else { (1 << count) - 1 }
}

/// The cost as a part of a wider request and its bytes.
pub(super) fn as_joined(
    access: &Access,
    pattern: &Pattern,
    wide: &Wide,
    target: &Target,
) -> Option<(u32, Cost)> {
    joined(access, pattern, wide, target).next()
}

/// Not known, if a wider request of which it may be a part is free of conflicts.
pub(super) fn perhaps_joined(
    access: &Access,
    pattern: &Pattern,
    wide: &Wide,
    target: &Target,
) -> Result<(), NoCost> {
    // Of 8 and 16 bytes the hardware takes 2 and 4 as a rule, even where it could pair lanes.
    let free = |(bytes, cost): (u32, Cost)| cost.wavefronts <= cost.ideal.max(bytes / 4);
    if joined(access, pattern, wide, target).any(free) { Err(may_be_joined()) } else { Ok(()) }
}

pub(super) fn may_be_joined() -> NoCost {
    let reason = "the compiler may combine neighbouring accesses of a thread into one without conflicts";
    NoCost::Unknown(Reason::Compiler, reason.to_string())
}

/// The costs as a part of requests up to a wide one, the widest first.
fn joined<'a>(
    access: &'a Access,
    pattern: &'a Pattern,
    wide: &'a Wide,
    target: &'a Target,
) -> impl Iterator<Item = (u32, Cost)> + 'a {
    let narrow = access.bytes.unwrap_or(4);
    let widths = std::iter::successors(Some(wide.bytes), |bytes| Some(bytes / 2));
    widths.take_while(move |&bytes| bytes > narrow).filter_map(move |bytes| {
        let request = question(access, Some(bytes), pattern.active, &wide.offsets, 0, target);
        banks::cost(&request, target).map(|cost| (bytes, cost))
    })
}

fn bank_access(access: &Access, target: &Target) -> banks::Access {
    match access.op {
        AccessOp::Load => banks::Access::Load,
        AccessOp::Store => banks::Access::Store,
        AccessOp::AsyncCopy => banks::Access::AsyncCopy,
        AccessOp::MatrixLoad => banks::Access::MatrixLoad { matrices: access.tiles.matrices.max(1) },
        AccessOp::MatrixStore => banks::Access::MatrixStore { matrices: access.tiles.matrices.max(1) },
        AccessOp::Atomic => banks::Access::Atomic(atomics::kind(access, target)),
    }
}
