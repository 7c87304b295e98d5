//! What is told of lanes whose atomics update one word?
//!
//! No layout separates them. Where the operation is a sum, a minimum, a maximum or one of bits, of integers, and
//! nobody asks for the old value, the warp can combine its operands first, and one lane update the word: the result
//! is the same bit for bit. That holds where all 32 lanes are seen to come there together. Elsewhere who updates what
//! is for the author to know.

use super::super::{Case, plural};
use super::{Conflict, words};
use crate::banks::{ComputeCapability, Target};
use crate::events::{Operation, Pattern};
use crate::verdict::moved_cost;

/// From here on there is `__reduce_add_sync`.
const REDUCES: ComputeCapability = ComputeCapability::new(8, 0);

/// What helps lanes that update one word, if that is the conflict.
pub(super) fn help(case: &Case<'_>, conflict: &Conflict<'_>) -> Option<String> {
    if !words::is_one_word(conflict) {
        return None;
    }
    let general =
        "no layout separates updates of one word: let one lane of each warp update it for the others";
    Some(by_one_lane(case, conflict).unwrap_or_else(|| general.to_owned()))
}

/// How one lane does it for its warp, with what that takes, where the operation and the lanes allow it.
fn by_one_lane(case: &Case<'_>, conflict: &Conflict<'_>) -> Option<String> {
    let (access, target) = (conflict.access, case.targets.get(conflict.target)?);
    let atomic = access.atomic.filter(|_| access.bytes == Some(4))?;
    let is_full = access.patterns.iter().all(|it| it.active == u32::MAX && is_in_one_place(it));
    if !is_full || access.doubt.is_some() || conflict.lanes_by_data || access.at_most {
        return None;
    }
    let text = (case.text)(access.span);
    let name = text.split_once('(')?.0.trim();
    let combine = combine(name, target)?;
    let after = plural(after(conflict, target)?, "wavefront");
    let what = match (atomic.operation, atomic.used) {
        (Operation::Add | Operation::Combine, false) => {
            format!("combine the values of each warp with {combine}, then let one lane call `{name}`")
        }
        (Operation::Add, true) => format!(
            "combine the values of each warp with {combine}, let one lane call `{name}` and broadcast the old value with \
             `__shfl_sync`; each lane then adds the values of the lower lanes"
        ),
        _ => return None,
    };
    Some(format!(
        "no layout separates updates of one word: {what}; this takes {after} instead of {}",
        conflict.totals.wavefronts
    ))
}

/// By which intrinsic a warp combines what an atomic of this name would, in words.
fn combine(name: &str, target: &Target) -> Option<String> {
    let operation = match name.strip_prefix("atomic")?.trim_end_matches("_block").trim_end_matches("_system")
    {
        "Add" | "Sub" => "add",
        "Min" => "min",
        "Max" => "max",
        "And" => "and",
        "Or" => "or",
        "Xor" => "xor",
        _ => return None,
    };
    Some(match target.capability >= REDUCES {
        true => format!("`__reduce_{operation}_sync(0xffffffff, value)`"),
        false => "five `__shfl_xor_sync`".to_owned(),
    })
}

/// Whether all lanes of a request are at one place.
fn is_in_one_place(pattern: &Pattern) -> bool {
    pattern.varying.is_empty() && pattern.offsets.iter().all(|offset| *offset == pattern.offsets[0])
}

/// The wavefronts of one lane for each request.
fn after(conflict: &Conflict<'_>, target: &Target) -> Option<u64> {
    let access = conflict.access;
    let of = |pattern: &Pattern| {
        let one = Pattern { active: 1, ..pattern.clone() };
        let cost = moved_cost(access, &one, &pattern.offsets, target)?;
        Some(u64::from(cost.wavefronts).saturating_mul(pattern.count))
    };
    let sum = access.patterns.iter().map(of).try_fold(0u64, |sum, cost| Some(sum.saturating_add(cost?)));
    sum.filter(|after| *after < conflict.totals.wavefronts)
}
