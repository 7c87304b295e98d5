//! ## What it does
//! Finds warp-wide intrinsics (`__syncwarp`, `__shfl_*_sync`, `__ballot_sync`, `__any_sync`, `__all_sync`,
//! `__match_*_sync`, `__reduce_*_sync`) that other lanes reach than those in the mask:
//!
//! | | |
//! |---|---|
//! | a participating lane is not in its own mask | warning |
//! | lanes in the mask have not exited and do not arrive, and later synchronize with others at a barrier or another intrinsic | warning |
//! | the same, but they exit without that | note |
//! | a shuffle in which every lane that reads another lane reads one that is not in the mask, not in the block, or has exited | warning |
//! | a bound may keep away a lane that another reads with a shuffle: `if (i < n)` around it, with an `n` that need not be a multiple of 32 | note |
//! | what each lane reads from global memory decides whether it arrives, and the mask has other lanes | note |
//! | `__syncwarp(__activemask())`, or a shuffle over a distance with that mask, in code that only part of a warp runs | note |
//! | `__shfl`, `__any`, `__all`, `__ballot`, without `_sync` | error |
//!
//! ## Why is this bad
//! From compute capability 7.0 on, each lane of a warp has its own program counter. An intrinsic with a mask waits
//! for the lanes in it. The CUDA programming guide leaves the result undefined if one of them has not exited and does
//! not reach the same intrinsic with the same mask. An H200 hung in most kernels whose missing lanes waited at a
//! barrier or another intrinsic, and gave wrong sums in one where they reached the same intrinsic later. If they only
//! exited, it continued, and a shuffle that read such a lane gave 0: the largest of negative numbers was 0. A lane that
//! was not in its own mask stopped the kernel with an illegal instruction. A value read from a lane that does not
//! participate is undefined.
//!
//! `__activemask()` does not synchronize. It returns the lanes that happen to run this instruction together, and
//! these need not be all the lanes that should participate.
//!
//! The intrinsics without `_sync` do not compile for devices from 7.0 on.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void half_sum(float *out, const float *in) {
//!     float v = in[threadIdx.x];
//!     if (threadIdx.x < 16) {
//!         for (int offset = 8; offset > 0; offset /= 2)
//!             v += __shfl_down_sync(0xffffffff, v, offset);
//!     }
//!     __syncwarp();
//!     out[threadIdx.x] = v;
//! }
//!
//! void launch(float *out, const float *in) {
//!     half_sum<<<1, 32>>>(out, in);
//! }
//! ```
//! Lanes 16 to 31 are in the mask, skip the loop, and wait at the `__syncwarp`.
//!
//! ```cuda,fires
//! __global__ void mirror(float *out, const float *in) {
//!     float v = in[threadIdx.x];
//!     out[threadIdx.x] = v + __shfl_xor_sync(0xffffffff, v, 16);
//! }
//!
//! void launch(float *out, const float *in) {
//!     mirror<<<1, 16>>>(out, in);
//! }
//! ```
//! The block has 16 threads, and each reads a lane that does not exist.
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void half_sum(float *out, const float *in) {
//!     float v = in[threadIdx.x];
//!     unsigned mask = __ballot_sync(0xffffffff, threadIdx.x < 16);
//!     if (threadIdx.x < 16) {
//!         for (int offset = 8; offset > 0; offset /= 2)
//!             v += __shfl_down_sync(mask, v, offset);
//!     }
//!     out[threadIdx.x] = v;
//! }
//!
//! __global__ void mirror(float *out, const float *in) {
//!     float v = in[threadIdx.x];
//!     out[threadIdx.x] = v + __shfl_xor_sync(0xffffffff, v, 8);
//! }
//!
//! void launch(float *out, const float *in) {
//!     half_sum<<<1, 32>>>(out, in);
//!     mirror<<<1, 16>>>(out, in);
//! }
//! ```
//! Move the intrinsic out of the condition, or compute the mask before the condition with `__ballot_sync`.
//!
//! ## Limits
//! - Targets before 7.0 are not checked.
//! - The block must be given, and known numbers must decide which lanes arrive, or each lane by what it reads for itself.
//!   A condition on a run-time bound counts only where a shuffle reads a lane that it may keep away, and uses the value
//!   at once. Bounds of loops do not count, nor do bounds of which the kernel asks for a remainder (`n % 32 == 0`), or
//!   that another condition holds against whole warps.
//! - A mask may contain lanes that have exited or that the block does not have: that is allowed and not reported.
//! - Lanes may reach the same intrinsic with the same mask in another statement: only how often they arrive counts.
//!   Whether these statements pair up as intended is not checked.
//! - Missing lanes are not reported in kernels that call unseen functions, because these may synchronize lanes.
//! - A shuffle in which some lane gets a defined value is not checked, as in the steps of a reduction by
//!   `__shfl_down_sync`. Nor is one whose value first goes into a variable, which may be unused, unless its mask lacks
//!   the lanes.
//! - Of several instances of a kernel launched with the same block, only the first is checked.
//! - `cooperative_groups` and PTX in `asm` are not judged.
//! - An intrinsic without `_sync` is not reported if a function or macro of that name is defined.
//! - HIP is not checked, because its warps may have 64 lanes.

use super::{About, Case, KernelRun, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::events::SplitKind;
use crate::facts::{LaneFault, Lanes, NotThere};
use crate::source::Span;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "divergent-warp-sync",
    about: About::Correctness,
    level: Level::Warn,
    summary: "a warp intrinsic whose mask names other lanes than those that reach it",
    docs: include_str!("divergent_warp_sync.rs"),
};

/// Finds such calls: one finding for each.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    if case.targets.iter().all(|target| !target.has_independent_lanes()) {
        return;
    }
    let mut told: Vec<Span> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        for fault in &run.facts.lanes {
            // Warps of other devices have 64 lanes.
            let is_hip = (case.is_hip)(fault.span) || (case.says)(fault.span, &["__HIP"]);
            if is_hip || told.contains(&fault.span) || fault.what == Lanes::Gone && is_own(case, fault) {
                continue;
            }
            told.push(fault.span);
            out.push(describe(case, number, run, fault));
        }
    }
}

/// Whether a name may be the program's own.
fn is_own(case: &Case<'_>, fault: &LaneFault) -> bool {
    let defined = format!("define {}", fault.name);
    (case.says)(fault.span, &[&defined])
}

/// What is said of a fault, but for where it is.
struct Words {
    level: Level,
    message: String,
    notes: Vec<&'static str>,
    help: String,
}

/// What to do about a mask that names lanes which do not come.
const MASK_BEFORE: &str =
    "compute the mask before the condition: `unsigned mask = __ballot_sync(0xffffffff, condition);`";

fn words(fault: &LaneFault) -> Words {
    let name = &fault.name;
    let level = RULE.level;
    match fault.what {
        Lanes::Gone => {
            let mask = if name.starts_with("__shfl") { "0xffffffff, value, ..." } else { "0xffffffff, ..." };
            Words {
                level: Level::Deny,
                message: format!("`{name}` is not available from compute capability 7.0 on"),
                notes: vec!["from compute capability 7.0 on, a mask must name the participating lanes"],
                help: format!("if the whole warp reaches it, use `{name}_sync({mask})`"),
            }
        }
        Lanes::Unnamed { mask, lane, .. } => Words {
            level,
            message: format!("lane {lane} executes this `{name}`, but is not in its own mask {mask:#010x}"),
            notes: vec!["a participating lane must be in the mask"],
            help: own_bit_help(mask),
        },
        Lanes::Missing { mask, lanes, then, .. } => {
            let (who, verb) = lane_words(lanes, "does", "do");
            let is_one = lanes.count_ones() == 1;
            let (level, waiting) = match (then, is_one) {
                (Some(_), _) => (level, "the two may wait for each other: the kernel may hang"),
                (None, true) => (Level::Note, "this lane exits without synchronizing with any others"),
                (None, false) => (Level::Note, "these lanes exit without synchronizing with any others"),
            };
            let them = if is_one { "it" } else { "them" };
            let undefined = "the CUDA programming guide leaves the result undefined if a lane in the mask does \
                             not execute it";
            Words {
                level,
                message: format!(
                    "{who} {verb} not reach this `{name}`, but its mask {mask:#010x} includes {them}"
                ),
                notes: vec![waiting, undefined],
                help: format!("let every lane of the warp reach it, or {MASK_BEFORE}"),
            }
        }
        Lanes::Unread { reader, source, why, .. } => {
            let why = match why {
                NotThere::Unnamed => "that lane is not in the mask",
                NotThere::Beyond => "the block has no such lane",
                NotThere::Exited => "that lane has exited",
            };
            Words {
                level,
                message: format!("lane {reader} reads lane {source} with this `{name}`, but {why}"),
                notes: vec!["no lane reads a participating lane: every result is undefined"],
                help: "read from participating lanes".to_owned(),
            }
        }
        Lanes::Edge { reader, source, then, .. } => at_the_edge(name, (reader, source), then.is_some()),
        Lanes::Chosen { mask } => Words {
            level: Level::Note,
            message: format!(
                "possible: data choose which lanes come to this `{name}`, and its mask {mask:#010x} names others"
            ),
            notes: vec!["a lane that reads other data may not arrive, and the lanes here wait for it"],
            help: format!("let every lane of the warp reach it, or {MASK_BEFORE}"),
        },
        Lanes::Happens => Words {
            level: Level::Note,
            message: format!("`__activemask()` names only the lanes that happen to be at this `{name}`"),
            notes: vec![
                "`__activemask()` does not synchronize: lanes that should take part may be elsewhere",
            ],
            help: MASK_BEFORE.to_owned(),
        },
    }
}

/// What is said where a lane reads another that a bound may keep away. `waits`: whether that one meets others later.
fn at_the_edge(name: &str, (reader, source): (u32, u32), waits: bool) -> Words {
    let note = match waits {
        true => "lanes that skip it wait elsewhere for those that are here: the kernel may hang",
        false => {
            "a value read from a lane that does not participate is undefined: for lanes that had exited, an H200 gave 0"
        }
    };
    let help = "let every lane of the warp reach it: guard only what accesses memory, and give the lanes beyond the \
                bound a neutral value";
    Words {
        level: Level::Note,
        message: format!(
            "possible: near the bound, lane {reader} reads lane {source} with this `{name}`, but lane {source} does not \
             reach it"
        ),
        notes: vec![note],
        help: help.to_owned(),
    }
}

fn describe(case: &Case<'_>, number: usize, run: &KernelRun, fault: &LaneFault) -> Diagnostic {
    let Words { level, message, notes, help } = words(fault);
    let mut notes: Vec<String> = notes.into_iter().map(str::to_owned).collect();
    let mut labels = Vec::new();
    if let Lanes::Missing { then: Some(span), lanes, .. } = fault.what {
        let (who, verb) = match lanes.count_ones() {
            1 => ("this lane", "synchronizes"),
            _ => ("these lanes", "synchronize"),
        };
        labels.push((span, format!("{who} {verb} with others here")));
    }
    if let Lanes::Edge { then: Some(span), .. } = fault.what {
        labels.push((span, "lanes that skip it wait here".to_owned()));
    }
    if let Some(split) = &fault.split {
        if let (Lanes::Edge { .. }, SplitKind::Guard(bound)) = (fault.what, &split.kind) {
            notes.insert(0, format!("all lanes reach it only if {}", bound.words));
        }
        let words = match fault.what {
            Lanes::Edge { .. } => "near the bound, this condition splits the lanes of a warp".to_owned(),
            Lanes::Missing { lanes, .. } => {
                let (who, verb) = lane_words(lanes, "takes", "take");
                format!("{who} {verb} the other way here")
            }
            _ => "the lanes of a warp diverge here".to_owned(),
        };
        labels.push((split.span, words));
    }
    if fault.what != Lanes::Gone {
        let warp = match fault.what {
            Lanes::Unnamed { warp, .. }
            | Lanes::Missing { warp, .. }
            | Lanes::Unread { warp, .. }
            | Lanes::Edge { warp, .. } => warp,
            Lanes::Gone | Lanes::Happens | Lanes::Chosen { .. } => 0,
        };
        if warp > 0 {
            notes.push(format!("the lanes are those of warp {warp} of the block"));
        }
        notes.push(case.block_words(number));
        notes.extend(case.instance_words(number));
        notes.extend(case.calls_words(number, &fault.calls, &[]));
    }
    let (helps, kernel) = (vec![help], run.kernel.clone());
    Diagnostic { labels, notes, helps, kernel, ..Diagnostic::plain(RULE.id, level, fault.span, message) }
}

/// What to do about a mask without the lane that uses it.
fn own_bit_help(mask: u32) -> String {
    // `0xfffffff`: a digit got lost.
    let ones = mask.trailing_ones();
    match ones.is_multiple_of(4) && (24..32).contains(&ones) && mask >> ones == 0 {
        true => format!("write `0xffffffff` for all lanes: {mask:#x} has {} digits, and not 8", ones / 4),
        false => "set each lane's own bit in its mask".to_owned(),
    }
}

/// The lanes of a set, with a verb: `lane 3 does`, `lanes 16 to 31 do`, `lanes 1, 3 and others do`.
fn lane_words<'a>(lanes: u32, one: &'a str, many: &'a str) -> (String, &'a str) {
    let first = lanes.trailing_zeros();
    let last = 31 - lanes.leading_zeros();
    if lanes.count_ones() == 1 {
        return (format!("lane {first}"), one);
    }
    let words = match (lanes.count_ones(), last - first + 1) {
        (2, _) => format!("lanes {first} and {last}"),
        (all, span) if all == span => format!("lanes {first} to {last}"),
        (all, _) => format!("{all} lanes, starting with lane {first},"),
    };
    (words, many)
}
