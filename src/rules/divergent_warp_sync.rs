//! ## What it does
//! Finds intrinsics that bring the lanes of a warp together (`__syncwarp`, `__shfl_*_sync`, `__ballot_sync`,
//! `__any_sync`, `__all_sync`, `__match_*_sync`, `__reduce_*_sync`) where the lanes that come are not those that
//! the mask names:
//!
//! | | |
//! |---|---|
//! | a lane that takes part is not in its own mask | warning |
//! | lanes are in the mask, have not left the kernel, do not come, and later meet others at a barrier or another intrinsic | warning |
//! | the same, and they leave the kernel without that | note |
//! | a shuffle in which each lane that reads another reads one that is not in the mask, not in the block or has left the kernel | warning |
//! | what each lane reads from global memory decides whether it comes, and the mask names others | note |
//! | `__syncwarp(__activemask())`, or a shuffle over a distance with that mask, in code that only a part of a warp runs | note |
//! | `__shfl`, `__any`, `__all`, `__ballot`, without `_sync` | error |
//!
//! ## Why is this bad
//! From compute capability 7.0 on each lane of a warp has its own program counter. An intrinsic with a mask waits
//! for the lanes that it names, and the CUDA programming guide leaves the result undefined if one of them has not
//! left the kernel and does not come to the same intrinsic with the same mask. An H200 hung in most kernels whose
//! missing lanes waited at a barrier or at another intrinsic, and gave wrong sums in one that came to the same one
//! later; where they only left the kernel, it went on. A lane that is not in its own mask stopped the kernel with an
//! illegal instruction. A value that is read from a lane that does not take part is undefined.
//!
//! `__activemask()` brings no lanes together. It tells which of them happen to run this instruction at once, and
//! these need not be all that are to come.
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
//! Lanes 16 to 31 are named, pass by the loop, and wait at the `__syncwarp`.
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
//! The block has 16 threads: each of them reads a lane that does not exist.
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
//! Take the intrinsic out of the condition, or name the lanes that come: `__ballot_sync` in front of the condition
//! tells which these are.
//!
//! ## Limits
//! - For targets before 7.0 nothing is said.
//! - Only where the block is given and the numbers decide who comes, or each lane by what it reads for itself. A
//!   condition on a bound that is given at run time may let whole warps through.
//! - Naming lanes that have left the kernel, or that the block does not have, is allowed, and nothing is said of it.
//! - Lanes may come to the same intrinsic with the same mask in another statement: only how often they come
//!   counts. Whether these statements pair up as they are meant to is not looked at.
//! - Nothing is said of missing lanes in kernels that call what is not seen: it may bring lanes together.
//! - A shuffle of which some lane gets a value is not looked at, as in the steps of a reduction by `__shfl_down_sync`;
//!   nor is one whose value is first put into a variable, and so may be passed over, unless its mask lacks the lanes.
//! - Of several instances of a kernel that are launched with the same block, the first is looked at.
//! - Groups of `cooperative_groups` and PTX in `asm` are not judged.
//! - An intrinsic without `_sync` is left alone where a function or macro of that name is defined.
//! - Nothing is said of HIP, whose warps may have 64 lanes.

use super::{About, Case, KernelRun, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::facts::{LaneFault, Lanes, NotThere};
use crate::source::Span;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "divergent-warp-sync",
    about: About::Correctness,
    level: Level::Warn,
    summary: "an intrinsic that brings lanes of a warp together, to which others come than its mask names",
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
            let is_hip = (case.says)(fault.span, &["hip_runtime", "__HIP"]);
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

fn describe(case: &Case<'_>, number: usize, run: &KernelRun, fault: &LaneFault) -> Diagnostic {
    let name = &fault.name;
    let mut labels = Vec::new();
    let mut notes = Vec::new();
    let mut helps = Vec::new();
    let mut level = RULE.level;
    let message = match fault.what {
        Lanes::Gone => {
            level = Level::Deny;
            notes.push("devices from 7.0 on need the lanes that take part to be named".to_owned());
            let mask = if name.starts_with("__shfl") { "0xffffffff, value, ..." } else { "0xffffffff, ..." };
            helps.push(format!("where the whole warp comes to it: `{name}_sync({mask})`"));
            format!("`{name}` does not exist from compute capability 7.0 on")
        }
        Lanes::Unnamed { mask, lane, .. } => {
            notes.push("a lane that takes part has to be named".to_owned());
            helps.push("give each lane a mask with its own bit".to_owned());
            format!("lane {lane} comes to this `{name}`, and is not in its own mask {mask:#010x}")
        }
        Lanes::Missing { mask, lanes, then, .. } => {
            let (what, own) = match then {
                Some(span) => {
                    labels.push((span, "these lanes meet others here".to_owned()));
                    ("the two may wait for each other: the kernel may hang", None)
                }
                None => ("these lanes meet nobody else and leave the kernel", Some(Level::Note)),
            };
            level = own.unwrap_or(level);
            notes.push(what.to_owned());
            notes.push("the CUDA programming guide leaves the result undefined if a lane that is named does not come".to_owned());
            helps.push(
                "let every lane of the warp reach it, or name those that come: \
                 `unsigned mask = __ballot_sync(0xffffffff, condition);` in front of the condition"
                    .to_owned(),
            );
            let (who, verb) = lane_words(lanes, "does", "do");
            format!("{who} {verb} not come to this `{name}`, whose mask {mask:#010x} names them")
        }
        Lanes::Unread { reader, source, why, .. } => {
            notes.push("no lane reads one that takes part: each gets an undefined value".to_owned());
            helps.push("read lanes that take part".to_owned());
            let why = match why {
                NotThere::Unnamed => "that lane is not in the mask",
                NotThere::Beyond => "the block has no such lane",
                NotThere::Exited => "that lane has left the kernel",
            };
            format!("lane {reader} reads lane {source} by this `{name}`, and {why}")
        }
        Lanes::Chosen { mask } => {
            level = Level::Note;
            notes.push(
                "a lane that reads other data may not come, and those that are here wait for it".to_owned(),
            );
            helps.push(
                "let every lane of the warp reach it, or name those that come: \
                 `unsigned mask = __ballot_sync(0xffffffff, condition);` in front of the condition"
                    .to_owned(),
            );
            format!(
                "possible: data choose which lanes come to this `{name}`, and its mask {mask:#010x} names others"
            )
        }
        Lanes::Happens => {
            level = Level::Note;
            notes.push("it brings no lanes together: those that ought to come may be elsewhere".to_owned());
            helps.push(
                "take the mask in front of the condition: `unsigned mask = __ballot_sync(0xffffffff, condition);`"
                    .to_owned(),
            );
            format!("`__activemask()` names the lanes that happen to be at this `{name}`, and no others")
        }
    };
    if let Some(split) = &fault.split {
        let words = match fault.what {
            Lanes::Missing { lanes, .. } => {
                let (who, verb) = lane_words(lanes, "takes", "take");
                format!("{who} {verb} the other way here")
            }
            Lanes::Chosen { .. } => "each lane decides by what it reads for itself".to_owned(),
            _ => "not all lanes of a warp pass here".to_owned(),
        };
        labels.push((split.span, words));
    }
    if fault.what != Lanes::Gone {
        let warp = match fault.what {
            Lanes::Unnamed { warp, .. } | Lanes::Missing { warp, .. } | Lanes::Unread { warp, .. } => warp,
            Lanes::Gone | Lanes::Happens | Lanes::Chosen { .. } => 0,
        };
        if warp > 0 {
            notes.push(format!("the lanes are those of warp {warp} of the block"));
        }
        notes.push(case.block_words(number));
        notes.extend(case.instance_words(number));
        notes.extend(case.calls_words(number, &fault.calls, &[]));
    }
    let kernel = run.kernel.clone();
    Diagnostic { labels, notes, helps, kernel, ..Diagnostic::plain(RULE.id, level, fault.span, message) }
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
        (all, _) => format!("{all} lanes, of which {first} is the first,"),
    };
    (words, many)
}
