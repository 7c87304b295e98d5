//! What does the bank model say of one request of a trace?
//!
//! Turns an access and the offsets of its lanes into a question to `banks`. An unknown number that
//! shifts all lanes alike is tried in every phase that matters to the banks.

use super::AccessOp;
use super::merge::Wide;
use crate::banks::{self, AtomicKind, Contention, Cost, Family, Request, Target};
use crate::exec::lanes::gcd;
use crate::exec::value::Reason;
use crate::trace::{Access, Atomic, Pattern};

/// Why a request has no cost.
#[derive(Clone, Debug, PartialEq)]
pub enum NoCost {
    /// An atomic that does not take a fixed number of passes.
    NoFigure(Contention),
    /// Not known.
    Unknown(Reason, String),
}

/// The shifts by which an unknown uniform offset can move the request in the banks.
pub fn shifts(unit: u64, target: &Target) -> Vec<i64> {
    let matters = match target.family() {
        Family::KeplerFour => 256,
        Family::KeplerEight => 8,
        Family::Tesla | Family::Fermi | Family::Modern => 4,
    };
    let step = gcd(unit, matters);
    if unit == 0 || step == matters {
        return vec![0];
    }
    (0..matters / step).map(|k| (k * step) as i64).collect()
}

/// The cost, when it is the same in every phase.
pub fn phases(
    access: &Access,
    active: u32,
    offsets: &[i64; 32],
    shifts: &[i64],
    target: &Target,
) -> Result<Cost, NoCost> {
    let mut found: Option<Cost> = None;
    let align = alignment(access, active, offsets, target);
    for shift in shifts {
        let moved = offsets.map(|offset| offset.wrapping_add(*shift));
        let request = Request {
            access: bank_access(access),
            bytes: access.bytes.unwrap_or(4),
            active,
            offsets: &moved,
            align,
            base: 0,
        };
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

/// The alignment by which the access is split: none if the members of a copied struct become one access.
/// The compiler has to see that it is aligned.
fn alignment(access: &Access, active: u32, offsets: &[i64; 32], target: &Target) -> u32 {
    let bytes = access.bytes.unwrap_or(0);
    let aligned = |offset: i64| offset.rem_euclid(i64::from(bytes.max(1))) == 0;
    let lanes = || (0..32).filter(|lane| active >> lane & 1 == 1);
    let joined = matches!(bytes, 8 | 16)
        && bytes <= access.joins_members
        && target.family() == Family::Modern
        && access.patterns.iter().all(|pattern| pattern.unit.is_multiple_of(u64::from(bytes)))
        && lanes().all(|lane| aligned(offsets[lane]));
    if joined { 0 } else { access.align }
}

/// Whether the lanes can all be aligned as the access demands: an address that is not is an error
/// at run time. Only differences between lanes tell, since where the array starts is not known.
pub fn can_be_aligned(access: &Access, active: u32, offsets: &[i64; 32]) -> bool {
    let matrix = matches!(access.op, AccessOp::MatrixLoad | AccessOp::MatrixStore);
    // A matrix access takes its addresses from eight lanes for each matrix.
    let active = if matrix { active & low_lanes(8 * u32::from(access.matrices.max(1))) } else { active };
    let asked = match access.align {
        _ if matrix => 16,
        0 => access.bytes.unwrap_or(1),
        align => align,
    };
    let align = 1i64 << asked.trailing_zeros().min(4);
    let mut lanes = (0..32).filter(|lane| active >> lane & 1 == 1).map(|lane| offsets[lane]);
    let first = lanes.next().unwrap_or(0);
    lanes.all(|offset| offset.wrapping_sub(first).rem_euclid(align) == 0)
}

fn low_lanes(count: u32) -> u32 {
    if count >= 32 { u32::MAX } else { (1 << count) - 1 }
}

/// The cost as a part of a wider request and its bytes, where the compiler surely makes one; not
/// known where it may make one that is free of conflicts.
pub fn as_joined(
    access: &Access,
    pattern: &Pattern,
    wide: &Wide,
    target: &Target,
) -> Result<Option<(u32, Cost)>, NoCost> {
    let narrow = access.bytes.unwrap_or(4);
    let widths = std::iter::successors(Some(wide.bytes), |bytes| Some(bytes / 2));
    let mut joined = widths.take_while(|&bytes| bytes > narrow).filter_map(|bytes| {
        let request = Request {
            access: bank_access(access),
            bytes,
            active: pattern.active,
            offsets: &wide.offsets,
            align: 0,
            base: 0,
        };
        banks::cost(&request, target).map(|cost| (bytes, cost))
    });
    if wide.sure {
        return Ok(joined.next());
    }
    // Of 8 and 16 bytes the hardware takes 2 and 4 as a rule, even where it could pair lanes.
    if joined.any(|(bytes, cost)| cost.wavefronts <= cost.ideal.max(bytes / 4)) {
        let reason =
            "neighbouring accesses of a thread, which the compiler may join into one without conflicts";
        return Err(NoCost::Unknown(Reason::Compiler, reason.to_string()));
    }
    Ok(None)
}

fn bank_access(access: &Access) -> banks::Access {
    match access.op {
        AccessOp::Load => banks::Access::Load,
        AccessOp::Store => banks::Access::Store,
        AccessOp::AsyncCopy => banks::Access::AsyncCopy,
        AccessOp::MatrixLoad => banks::Access::MatrixLoad { matrices: access.matrices.max(1) },
        AccessOp::MatrixStore => banks::Access::MatrixStore { matrices: access.matrices.max(1) },
        AccessOp::Atomic => banks::Access::Atomic(match access.atomic {
            Some(Atomic::CountUnused) => AtomicKind::PopulationCount,
            Some(Atomic::CompareAndSwap) => AtomicKind::CompareAndSwap,
            Some(Atomic::Float) => AtomicKind::FloatAdd,
            Some(Atomic::Wide) => AtomicKind::Wide64,
            Some(Atomic::Integer) | None => AtomicKind::Integer,
        }),
    }
}
