//! Which accesses of different threads meet in a byte without anything that orders them?

use super::execution::{Access, Launch, SiteId, VariableId};
use super::order::accesses_in_order;
use super::trace::Kind;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Between {
    /// Lanes of one warp store with one instruction: which value stays is not defined.
    OneInstruction,
    /// Threads of one warp.
    Lanes,
    /// Threads of different warps.
    Warps,
}

/// One of the two that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    pub thread: u32,
    pub site: SiteId,
    pub stores: bool,
    pub is_atomic: bool,
    /// When, by the clock of its lane.
    time: u32,
}

/// Two accesses of which at least one stores, and not both are atomic. One is given for each pair of
/// sites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    pub between: Between,
    pub variable: VariableId,
    pub offset: i64,
    pub first: Part,
    pub second: Part,
}

/// A byte between two barriers.
#[derive(Debug, Default)]
struct Byte {
    loads: Vec<Part>,
    stores: Vec<Part>,
}

/// The races of a launch. Accesses behind different numbers of barriers of the block are ordered.
pub fn races(launch: &Launch) -> Vec<Race> {
    let mut bytes: BTreeMap<(u32, VariableId, i64), Byte> = BTreeMap::new();
    let mut found: BTreeSet<(Between, SiteId, SiteId)> = BTreeSet::new();
    let mut races = Vec::new();
    accesses_in_order(launch, |warp, access, clocks| {
        // Lanes of this very request, which run at once.
        let mut at_once: BTreeMap<(VariableId, i64), Part> = BTreeMap::new();
        for lane in &access.lanes {
            let part = part(warp, access, lane.lane, clocks.now(lane.lane));
            for offset in lane.offset..lane.offset + i64::from(access.bytes) {
                let byte = bytes.entry((access.interval, lane.variable, offset)).or_default();
                let mut report = |between, first: Part| {
                    if found.insert((between, first.site, part.site)) {
                        races.push(Race { between, variable: lane.variable, offset, first, second: part });
                    }
                };
                let mut others: Vec<Part> = byte.stores.clone();
                if part.stores {
                    others.extend(&byte.loads);
                }
                for other in others {
                    let harmless = other.is_atomic && part.is_atomic;
                    if harmless || other.thread == part.thread {
                        continue;
                    }
                    if other.thread as usize / 32 != warp {
                        report(Between::Warps, other);
                    } else if !clocks.is_before((other.thread % 32) as u8, other.time, lane.lane)
                        && at_once.get(&(lane.variable, offset)) != Some(&other)
                    {
                        report(Between::Lanes, other);
                    }
                }
                if part.stores && !part.is_atomic {
                    if let Some(other) = at_once.get(&(lane.variable, offset)) {
                        report(Between::OneInstruction, *other);
                    }
                    at_once.insert((lane.variable, offset), part);
                }
            }
        }
        // Only now: lanes of one request are compared among themselves above.
        for lane in &access.lanes {
            let part = part(warp, access, lane.lane, clocks.now(lane.lane));
            for offset in lane.offset..lane.offset + i64::from(access.bytes) {
                let byte = bytes.entry((access.interval, lane.variable, offset)).or_default();
                let list = if part.stores { &mut byte.stores } else { &mut byte.loads };
                if !list.contains(&part) {
                    list.push(part);
                }
            }
        }
    });
    races
}

fn part(warp: usize, access: &Access, lane: u8, time: u32) -> Part {
    let thread = warp as u32 * 32 + u32::from(lane);
    let is_atomic = access.kind == Kind::Atomic;
    Part { thread, site: access.site, stores: access.kind != Kind::Load, is_atomic, time }
}
