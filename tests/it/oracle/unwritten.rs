//! What is read before it is written?

use super::execution::{Launch, SiteId, VariableId};
use super::order::accesses_in_order;
use super::trace::Kind;
use std::collections::BTreeMap;

/// A byte was read that nothing had surely written before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unwritten {
    pub site: SiteId,
    pub variable: VariableId,
    /// The lowest such byte.
    pub offset: i64,
    /// A thread that read it.
    pub thread: u32,
    /// Whether it was written without an order: no barrier lies between. Else it never was, or later.
    pub is_race: bool,
}

/// Warp, barriers before, variable, byte.
type Byte = (usize, u32, VariableId, i64);
/// Lane, and when by its clock.
type Writer = (u8, u32);

/// The reads of what was not written before, one for each site and variable, of those that race and of those
/// that do not.
pub fn unwritten(launch: &Launch) -> Vec<Unwritten> {
    // After how many barriers of the block each byte was first written.
    let mut first_written: BTreeMap<(VariableId, i64), u32> = BTreeMap::new();
    for (_, access) in launch.accesses().filter(|(_, access)| access.kind != Kind::Load) {
        for lane in &access.lanes {
            for offset in lane.offset..lane.offset + i64::from(access.bytes) {
                let first = first_written.entry((lane.variable, offset)).or_insert(access.interval);
                *first = (*first).min(access.interval);
            }
        }
    }
    // By whom, and when by the clock of the lane, since the last barrier of the block.
    let mut writers: BTreeMap<Byte, Vec<Writer>> = BTreeMap::new();
    let mut found: BTreeMap<(SiteId, VariableId, bool), Unwritten> = BTreeMap::new();
    accesses_in_order(launch, |warp, access, clocks| {
        let reads = matches!(access.kind, Kind::Load | Kind::Atomic);
        for lane in access.lanes.iter().filter(|_| reads) {
            for offset in lane.offset..lane.offset + i64::from(access.bytes) {
                let first = first_written.get(&(lane.variable, offset));
                if first.is_some_and(|interval| *interval < access.interval) {
                    continue;
                }
                let here = writers.get(&(warp, access.interval, lane.variable, offset));
                let mut writers = here.into_iter().flatten();
                if writers.any(|(writer, time)| clocks.is_before(*writer, *time, lane.lane)) {
                    continue;
                }
                let is_atomic_on_atomic = access.kind == Kind::Atomic && first == Some(&access.interval);
                let new = Unwritten {
                    site: access.site,
                    variable: lane.variable,
                    offset,
                    thread: warp as u32 * 32 + u32::from(lane.lane),
                    is_race: first == Some(&access.interval) && !is_atomic_on_atomic,
                };
                let known = found.entry((access.site, lane.variable, new.is_race)).or_insert(new);
                known.offset = known.offset.min(offset);
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
    found.into_values().collect()
}
