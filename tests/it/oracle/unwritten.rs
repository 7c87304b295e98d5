//! What is read before it is written?

use super::execution::{Access, Launch, SiteId, VariableId};
use super::order::accesses_in_order;
use super::trace::Kind;
use std::collections::{BTreeMap, BTreeSet};

/// A byte was read that nothing had surely written before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritten {
    pub site: SiteId,
    pub variable: VariableId,
    /// The lowest such byte.
    pub offset: i64,
    /// A thread that read it.
    pub thread: u32,
    /// Whether another thread writes it without an order: no barrier lies between. Else nobody does before.
    pub is_race: bool,
}

/// Warp, barriers before, variable, byte.
type Byte = (usize, u32, VariableId, i64);
/// Lane, and when by its clock.
type Writer = (u8, u32);

/// When a byte was written first.
struct First {
    /// After how many barriers of the block.
    interval: u32,
    /// The thread that did between these barriers, if it was one.
    by: Option<u32>,
}

fn first_written(launch: &Launch) -> BTreeMap<(VariableId, i64), First> {
    let mut found: BTreeMap<(VariableId, i64), First> = BTreeMap::new();
    for (warp, access) in launch.accesses().filter(|(_, access)| access.kind != Kind::Load) {
        for lane in &access.lanes {
            let by = Some(warp as u32 * 32 + u32::from(lane.lane));
            for offset in lane.offset..lane.offset + i64::from(access.bytes) {
                let new = First { interval: access.interval, by };
                let first = found.entry((lane.variable, offset)).or_insert(new);
                if access.interval < first.interval {
                    *first = First { interval: access.interval, by };
                } else if access.interval == first.interval && first.by != by {
                    first.by = None;
                }
            }
        }
    }
    found
}

/// The reads of what was not written before, one for each site and variable, of those that race and of those
/// that do not.
pub fn unwritten(launch: &Launch) -> Vec<Unwritten> {
    let mut found: BTreeMap<(SiteId, VariableId, bool), Unwritten> = BTreeMap::new();
    each_unwritten(launch, |new| {
        let known = found.entry((new.site, new.variable, new.is_race)).or_insert_with(|| new.clone());
        known.offset = known.offset.min(new.offset);
    });
    found.into_values().collect()
}

/// The places where a byte is read that was, there or before, read unwritten: what was stored to it since may be
/// made of what it held, as by `+=` and `atomicAdd`.
pub fn made_of_unwritten(launch: &Launch) -> BTreeSet<SiteId> {
    let mut bytes: BTreeSet<(VariableId, i64)> = BTreeSet::new();
    each_unwritten(launch, |new| {
        bytes.insert((new.variable, new.offset));
    });
    let reads = launch.accesses().filter(|(_, access)| access.kind != Kind::Store);
    let is_of = |access: &Access| {
        access.lanes.iter().any(|lane| {
            let mut offsets = lane.offset..lane.offset + i64::from(access.bytes);
            offsets.any(|offset| bytes.contains(&(lane.variable, offset)))
        })
    };
    reads.filter(|(_, access)| is_of(access)).map(|(_, access)| access.site).collect()
}

/// Calls `found` for each byte that a thread reads and that nothing had surely written.
fn each_unwritten(launch: &Launch, mut found: impl FnMut(Unwritten)) {
    let first_written = first_written(launch);
    // By whom, and when by the clock of the lane, since the last barrier of the block.
    let mut writers: BTreeMap<Byte, Vec<Writer>> = BTreeMap::new();
    accesses_in_order(launch, |warp, access, clocks| {
        let reads = matches!(access.kind, Kind::Load | Kind::Atomic);
        for lane in access.lanes.iter().filter(|_| reads) {
            for offset in lane.offset..lane.offset + i64::from(access.bytes) {
                let first = first_written.get(&(lane.variable, offset));
                if first.is_some_and(|first| first.interval < access.interval) {
                    continue;
                }
                let thread = warp as u32 * 32 + u32::from(lane.lane);
                let here = writers.get(&(warp, access.interval, lane.variable, offset));
                let mut writers = here.into_iter().flatten();
                if writers.any(|(writer, time)| clocks.is_before(*writer, *time, lane.lane)) {
                    continue;
                }
                let others =
                    first.filter(|first| first.interval == access.interval && first.by != Some(thread));
                let is_race = others.is_some() && access.kind != Kind::Atomic;
                found(Unwritten { site: access.site, variable: lane.variable, offset, thread, is_race });
            }
        }
        if access.kind == Kind::Load {
            return;
        }
        for lane in &access.lanes {
            for offset in lane.offset..lane.offset + i64::from(access.bytes) {
                let known = writers.entry((warp, access.interval, lane.variable, offset)).or_default();
                known.push((lane.lane, clocks.now(lane.lane)));
            }
        }
    });
}
