//! Which lanes do not participate in a warp intrinsic as its mask demands?
//!
//! Every participating lane must be in its own mask. Every lane in the mask that has not exited must reach the same
//! intrinsic with the same mask. It may do so in another statement:
//!
//! ```text
//! if (lane < 16) a = __shfl_sync(~0u, v, 0);      lanes 0 to 15: once
//! else           b = __shfl_sync(~0u, v, 16);     lanes 16 to 31: once, so both meet
//! ```
//!
//! So this module counts how often each lane reaches an intrinsic with a given mask. A lane in the mask that gets
//! there less often than another is missing where only the other one is.

use super::witness::can_hold;
use crate::domain::{Shape, ThreadSet};
use crate::events::{Call, Event, LaneMask, LaneOp, LaneOps, Ranks, Split, SplitKind, Trace};
use crate::source::Span;
use std::sync::Arc;

/// Lanes that do not meet as they should.
#[derive(Clone, Debug)]
pub(crate) struct LaneFault {
    /// The call of the intrinsic.
    pub span: Span,
    /// The intrinsic.
    pub name: Arc<str>,
    /// The calls that led to it.
    pub calls: Vec<Call>,
    /// What is wrong with it.
    pub what: Lanes,
    /// The condition that keeps the other lanes away, if one does.
    pub split: Option<Split>,
}

/// What is wrong at an intrinsic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    /// It is one of those that went with compute capability 7.0.
    Gone,
    /// Lanes of a warp that come to it are not in their own mask.
    Unnamed { warp: usize, mask: u32, lane: u32 },
    /// Lanes are named, are there, and do not come. `then`: where one of them meets others later, at a barrier or
    /// another intrinsic.
    Missing { warp: usize, mask: u32, lanes: u32, then: Option<Span> },
    /// All lanes that read another read one that is not named or not there.
    Unread { warp: usize, reader: u32, source: u32, why: NotThere },
    /// Near a bound, a lane reads one that the bound keeps away. `then`: where that one meets others later, at a barrier or
    /// another intrinsic.
    Edge { warp: usize, reader: u32, source: u32, then: Option<Span> },
    /// The lanes that are named are those that happen to be there.
    Happens,
    /// What each lane reads for itself decides which of the lanes come that the mask names.
    Chosen { mask: u32 },
}

/// Why a lane has nothing to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NotThere {
    /// The mask does not name it.
    Unnamed,
    /// The block has no such thread.
    Beyond,
    /// It has left the kernel.
    Exited,
}

/// What is wrong in a run, one for each call.
pub(super) fn find(trace: &Trace, shape: Shape, given: bool, all_seen: bool) -> Vec<LaneFault> {
    let ops = &trace.lanes;
    let is_whole = trace.stopped.is_none() && all_seen && !ops.is_open();
    let mut found: Vec<LaneFault> = Vec::new();
    for op in ops.ops() {
        if found.iter().any(|it| it.span == op.span) {
            continue;
        }
        let judged = given && op.is_sure && can_hold(&op.assumptions);
        let what = match &op.mask {
            LaneMask::Nobody => Some(Lanes::Gone),
            LaneMask::Active if judged && happens(op, shape) => Some(Lanes::Happens),
            LaneMask::Known(_) if judged => unnamed(op, shape)
                .or_else(|| missing(trace, op, shape).filter(|_| is_whole))
                .or_else(|| unread(op, shape))
                .or_else(|| at_the_edge(trace, op, shape)),
            LaneMask::Known(_) if given && can_hold(&op.assumptions) => chosen(op, shape),
            _ => None,
        };
        let Some(what) = what else { continue };
        let split = match what {
            Lanes::Missing { warp, lanes, .. } => {
                split_around(op, |split| split.before.minus(&split.taken).warp(warp) & lanes != 0)
            }
            Lanes::Edge { warp, reader, source, .. } => bound_between(op, warp, (reader, source)).cloned(),
            Lanes::Happens => split_around(op, |split| !split.kind.is_data()),
            Lanes::Chosen { .. } => split_around(op, |split| split.kind == SplitKind::OwnData),
            _ => None,
        };
        let (name, calls) = (Arc::clone(&op.name), op.calls.clone());
        found.push(LaneFault { span: op.span, name, calls, what, split });
    }
    found
}

/// The outermost condition around an operation of which something holds.
fn split_around(op: &LaneOp, wanted: impl Fn(&Split) -> bool) -> Option<Split> {
    op.splits.iter().find(|split| wanted(split)).cloned()
}

/// The numbers of the warps of which some lanes come.
fn warps(op: &LaneOp, shape: Shape) -> impl Iterator<Item = (usize, u32)> {
    let threads = op.threads;
    (0..shape.threads().div_ceil(32))
        .map(move |warp| (warp, threads.warp(warp)))
        .filter(|(_, here)| *here != 0)
}

/// The numbers of the lanes in a set.
fn lanes_of(set: u32) -> impl Iterator<Item = u32> {
    (0..32).filter(move |lane| set >> lane & 1 == 1)
}

/// The mask that a lane gives.
fn mask_of(op: &LaneOp, warp: usize, lane: u32, shape: Shape) -> Option<u32> {
    let LaneMask::Known(masks) = &op.mask else { return None };
    Some(masks.at(warp * 32 + lane as usize, shape) as u32)
}

fn unnamed(op: &LaneOp, shape: Shape) -> Option<Lanes> {
    let in_warp = |(warp, here): (usize, u32)| {
        let mut faults = lanes_of(here).filter_map(move |lane| {
            let mask = mask_of(op, warp, lane, shape)?;
            (mask >> lane & 1 == 0).then_some(Lanes::Unnamed { warp, mask, lane })
        });
        faults.next()
    };
    warps(op, shape).find_map(in_warp)
}

/// Lanes that are named and surely come less often than one that names them.
fn missing(trace: &Trace, op: &LaneOp, shape: Shape) -> Option<Lanes> {
    let ops = &trace.lanes;
    warps(op, shape).find_map(|(warp, here)| {
        let first = lanes_of(here).next()?;
        let mask = mask_of(op, warp, first, shape)?;
        if lanes_of(here).any(|lane| mask_of(op, warp, lane, shape) != Some(mask)) {
            return None;
        }
        let exist = ThreadSet::all(shape).warp(warp);
        let named = mask & exist & !op.exited.warp(warp) & !here;
        let stays_away = |lane: &u32| comes_less_often(ops, op, (warp, mask), *lane, first, shape);
        let lanes = lanes_of(named).filter(stays_away).fold(0, |all, lane| all | 1 << lane);
        let then = || meets_later(trace, op, warp, lanes);
        (lanes != 0).then(|| Lanes::Missing { warp, mask, lanes, then: then() })
    })
}

/// Where one of some lanes comes to a barrier or an intrinsic behind this one.
fn meets_later(trace: &Trace, op: &LaneOp, warp: usize, lanes: u32) -> Option<Span> {
    let of_them = |threads: &ThreadSet| threads.warp(warp) & lanes != 0;
    let barriers = trace.tree.events().iter().skip(op.at).find_map(|event| match event {
        Event::Barrier { span, threads, .. } if of_them(threads) => Some(*span),
        _ => None,
    });
    let later = |it: &&LaneOp| it.at >= op.at && it.span != op.span && of_them(&it.threads);
    trace.lanes.ops().iter().find(later).map(|it| it.span).or(barriers)
}

/// Whether a lane surely comes to an intrinsic with this mask less often than another, as long as it has not
/// left the kernel.
fn comes_less_often(
    ops: &LaneOps,
    op: &LaneOp,
    (warp, mask): (usize, u32),
    lane: u32,
    other: u32,
    shape: Shape,
) -> bool {
    let (mut comes, mut others) = (0u64, 0u64);
    for it in ops.ops().iter().filter(|it| it.name == op.name) {
        let has = |lane: u32| it.threads.warp(warp) >> lane & 1 == 1;
        if it.exited.warp(warp) >> lane & 1 == 1 {
            continue;
        }
        let is_known = matches!(it.mask, LaneMask::Known(_));
        if has(lane) && (!it.is_sure || !is_known || !it.is_counted && !has(other)) {
            return false;
        }
        let same = |lane: u32| has(lane) && mask_of(it, warp, lane, shape) == Some(mask);
        comes = comes.saturating_add(if same(lane) { it.times } else { 0 });
        others = others.saturating_add(if same(other) && it.is_sure { it.times } else { 0 });
    }
    comes < others
}

/// A shuffle of which no lane gets anything: each that reads another reads one that is not there.
fn unread(op: &LaneOp, shape: Shape) -> Option<Lanes> {
    let sources = op.sources.as_ref()?;
    let exist = ThreadSet::all(shape);
    warps(op, shape).find_map(|(warp, here)| {
        let mut first = None;
        for reader in lanes_of(here) {
            let source = u32::from(*sources.get(warp * 32 + reader as usize)?);
            if source == reader {
                continue;
            }
            let lacks = |set: u32| set >> source & 1 == 0;
            let why = match mask_of(op, warp, reader, shape)? {
                _ if lacks(exist.warp(warp)) => NotThere::Beyond,
                _ if !lacks(op.exited.warp(warp)) => NotThere::Exited,
                mask if lacks(mask) => NotThere::Unnamed,
                _ => return None,
            };
            // What is put into a variable may be passed over where the block is too small for it.
            if op.is_set_aside && why != NotThere::Unnamed {
                return None;
            }
            first.get_or_insert(Lanes::Unread { warp, reader, source, why });
        }
        first
    })
}

/// A lane of a shuffle that reads another which a bound may keep away from it: `if (i < n) v += __shfl_down_sync(~0u, v, 1);`
/// with an `n` that is no multiple of 32.
fn at_the_edge(trace: &Trace, op: &LaneOp, shape: Shape) -> Option<Lanes> {
    // What is put into a variable may be passed over where the bound keeps the other away.
    let sources = op.sources.as_ref().filter(|_| !op.is_set_aside)?;
    warps(op, shape).find_map(|(warp, here)| {
        lanes_of(here).find_map(|reader| {
            let source = u32::from(*sources.get(warp * 32 + reader as usize)?);
            let bound = bound_between(op, warp, (reader, source)).filter(|_| here >> source & 1 == 1)?;
            let has_left = op.exits.iter().any(|exit| std::ptr::eq(exit, bound));
            let then = if has_left { None } else { behind(trace, op, bound) };
            Some(Lanes::Edge { warp, reader, source, then })
        })
    })
}

/// The bound that may keep a lane of a warp away where another comes.
fn bound_between(op: &LaneOp, warp: usize, (comes, other): (u32, u32)) -> Option<&Split> {
    let splits = || op.splits.iter().chain(&op.exits);
    // Where whole warps come by another condition on the same numbers, it may see to that.
    let is_whole = |of: &Ranks| {
        let of_whole = splits().flat_map(ranks).filter(|ranks| ranks.by_warps);
        of_whole.flat_map(|ranks| &ranks.symbols).any(|id| of.symbols.contains(id))
    };
    let rank = |ranks: &Ranks, lane: u32| ranks.of.get(warp * 32 + lane as usize).copied();
    let may_lack = |ranks: &Arc<Ranks>| rank(ranks, other) > rank(ranks, comes) && !is_whole(ranks);
    splits().find(|split| ranks(split).any(may_lack))
}

/// Where threads come to a barrier or an intrinsic behind this one, whichever side of a condition around it they take.
fn behind(trace: &Trace, op: &LaneOp, split: &Split) -> Option<Span> {
    let is_outside = |splits: &[Split]| splits.iter().all(|it| it.id != split.id);
    let outside = |span: Span| trace.barriers.iter().any(|it| it.span == span && is_outside(&it.splits));
    let barriers = trace.tree.events().iter().skip(op.at).find_map(|event| match event {
        Event::Barrier { span, .. } if outside(*span) => Some(*span),
        _ => None,
    });
    let later = |it: &&LaneOp| it.at >= op.at && it.span != op.span && is_outside(&it.splits);
    trace.lanes.ops().iter().find(later).map(|it| it.span).or(barriers)
}

/// In which order guards let in the threads of a warp.
fn ranks(split: &Split) -> impl Iterator<Item = &Arc<Ranks>> {
    let bound = match &split.kind {
        SplitKind::Guard(bound) => Some(bound),
        _ => None,
    };
    bound.into_iter().flat_map(|bound| &bound.ranks)
}

/// Where what each lane reads for itself decides whether it comes, and all give one mask that names others.
fn chosen(op: &LaneOp, shape: Shape) -> Option<Lanes> {
    // The lanes of a warp agree on what is the same for all of them.
    let may_part = |split: &&Split| split.kind.is_data() && split.kind != SplitKind::WarpData;
    let mut by_data = op.splits.iter().filter(may_part).peekable();
    by_data.peek()?;
    if !by_data.all(|split| split.kind == SplitKind::OwnData) {
        return None;
    }
    warps(op, shape).find_map(|(warp, here)| {
        let first = lanes_of(here).next()?;
        let mask = mask_of(op, warp, first, shape)?;
        let alike = lanes_of(here).all(|lane| mask_of(op, warp, lane, shape) == Some(mask));
        (alike && (mask & here).count_ones() > 1).then_some(Lanes::Chosen { mask })
    })
}

/// Whether lanes that happen to be at one place are taken for those that ought to be there: at a `__syncwarp`, and
/// where a shuffle reads a lane at a distance, in code that only a part of a warp runs.
fn happens(op: &LaneOp, shape: Shape) -> bool {
    let counts_on_others =
        matches!(&*op.name, "__syncwarp" | "__shfl_up_sync" | "__shfl_down_sync" | "__shfl_xor_sync");
    let exist = ThreadSet::all(shape).minus(&op.exited);
    let parts = || warps(op, shape).any(|(warp, here)| here != exist.warp(warp));
    let may_part = |split: &Split| matches!(&split.kind, SplitKind::Guard(bound) if bound.cuts_warps);
    counts_on_others && (parts() || op.splits.iter().any(may_part))
}
