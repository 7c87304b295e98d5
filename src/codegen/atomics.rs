//! Which lanes of a warp carry out an atomic, and by which instruction?
//!
//! Where the compiler sees that all lanes of a warp update one word, it combines their operands first and
//! lets one lane do the atomic. Seen in the machine code of nvcc 12.4, 13.0 and 13.5
//! (`fixtures/measure/machine-code.csv`), for 32-bit integers at an address that is seen to be the same:
//!
//! | | from 8.0 on | 5.0 to 7.5 |
//! |---|---|---|
//! | add, sub, result unused, same operand | one lane: population count | the same |
//! | add, sub, result unused, own operands | one lane: `REDUX` | one lane of a full warp: shuffles |
//! | add, sub, result used, same operand | one lane, then a shuffle | the same |
//! | add, sub, result used, own operands | one lane of a full warp: shuffles | the same |
//! | min, max, and, or, xor, result unused | one lane: `REDUX` | one lane of a full warp |
//! | min, max, and, or, xor, result used | each lane | each lane |
//! | exch, CAS, inc and dec up to a limit | each lane | each lane |
//! | floating point, 64 bits | loops | loops |
//!
//! "Of a full warp": the code asks whether all 32 lanes are there, and if not, each lane does it by itself.
//! At any other address each lane does its own, but for `atomicAdd(p, 1)` whose result is unused: from 8.0 on
//! that is an instruction of its own, `ATOMS.POPC.INC`, in which lanes share a word.
//!
//! What the compiler takes to be the same is found by [`uniformity`](super::uniformity).

use crate::banks::{AtomicKind, ComputeCapability, Family, Target};
use crate::events::{Access, Assumption, Atomic, Operation, Seen};

/// From here on there are `REDUX` and `ATOMS.POPC.INC`.
const REDUCES: ComputeCapability = ComputeCapability::new(8, 0);

/// What an atomic on a 32-bit integer does; also one whose name is that of PTX.
pub(crate) fn integer_operation(kind: &str) -> Operation {
    match kind.to_ascii_lowercase().as_str() {
        "add" | "sub" => Operation::Add,
        "min" | "max" | "and" | "or" | "xor" => Operation::Combine,
        "cas" => Operation::CompareAndSwap,
        _ => Operation::Exchange,
    }
}

/// Who does an atomic of which all lanes update one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum By {
    /// Each lane.
    EachLane,
    /// One lane for all.
    OneLane,
    /// One lane for all, if all 32 are there; else each.
    OneLaneOfFullWarp,
    /// Either of the last two.
    OneLanePerhaps,
}

/// Who does it where the compiler sees that all lanes update one word.
fn done_by(atomic: &Atomic, target: &Target) -> By {
    let reduces = target.capability >= REDUCES;
    match (atomic.operation, atomic.used) {
        (Operation::Add, used) => match atomic.operand {
            Seen::Same => By::OneLane,
            _ if !used && reduces => By::OneLane,
            Seen::Apart => By::OneLaneOfFullWarp,
            Seen::Perhaps => By::OneLanePerhaps,
        },
        (Operation::Combine, false) if reduces => By::OneLane,
        (Operation::Combine, false) => By::OneLaneOfFullWarp,
        _ => By::EachLane,
    }
}

/// Why it is not known which lanes do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Undecided(pub &'static str);

/// The lanes that do it, of those that are active and whose words lie at these offsets.
pub(crate) fn lanes(
    access: &Access,
    active: u32,
    offsets: &[i64; 32],
    target: &Target,
) -> Result<u32, Undecided> {
    let Some(atomic) = &access.atomic else { return Ok(active) };
    let one = active & active.wrapping_neg();
    let word = offsets[one.trailing_zeros().min(31) as usize];
    let together = (0..32).all(|lane| active >> lane & 1 == 0 || offsets[lane] == word);
    let by = done_by(atomic, target);
    if active == one || !together || by == By::EachLane || target.family() != Family::Modern {
        return Ok(active);
    }
    let unknown = |why| Err(Undecided(why));
    match (atomic.address, by) {
        (Seen::Apart, _) => Ok(active),
        // Lanes of one word share it.
        (Seen::Perhaps, _) if kind(access, target) == AtomicKind::PopulationCount => Ok(active),
        (Seen::Perhaps, _) => {
            unknown("one lane may do it for its warp: the compiler may see that all lanes update one word")
        }
        (Seen::Same, By::OneLane) => Ok(one),
        (Seen::Same, _) if access.doubt.is_some() => {
            unknown("one lane does it for its warp only if all lanes get here, which is unknown")
        }
        (Seen::Same, _) if active == u32::MAX => Ok(one),
        (Seen::Same, By::OneLanePerhaps) => {
            unknown("one lane may do it for its warp: the compiler may see that all lanes add one number")
        }
        (Seen::Same, _) => Ok(active),
    }
}

/// What is taken for granted where so many lanes do it of those that are active.
pub(crate) fn assumption(active: u32, lanes: u32) -> Option<Assumption> {
    (active != lanes).then_some(Assumption::OneLaneForWarp)
}

/// The instruction.
pub(crate) fn kind(access: &Access, target: &Target) -> AtomicKind {
    let Some(atomic) = &access.atomic else { return AtomicKind::Integer };
    match atomic.operation {
        Operation::Add if atomic.adds_one && !atomic.used && target.capability >= REDUCES => {
            AtomicKind::PopulationCount
        }
        Operation::Add | Operation::Combine | Operation::Exchange => AtomicKind::Integer,
        Operation::CompareAndSwap => AtomicKind::CompareAndSwap,
        Operation::Float => AtomicKind::FloatAdd,
        Operation::Wide => AtomicKind::Wide64,
    }
}
