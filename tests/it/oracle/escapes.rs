//! Which accesses leave their array, and by how much?
//!
//! While a kernel file runs, each shared variable has a stretch of memory to itself. So what leaves one
//! meets nothing else, and still tells from where it came.

use super::execution::{Launch, SiteId, Step, VariableId};
use std::collections::BTreeMap;

/// Bytes outside the variable were accessed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escape {
    pub site: SiteId,
    pub variable: VariableId,
    /// The first byte of the lowest and of the highest access that left it.
    pub lowest: i64,
    pub highest: i64,
    /// The first thread that did.
    pub thread: u32,
}

/// A subscript was outside its dimension; the access may still lie in the variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrongSubscript {
    pub site: SiteId,
    /// As the compiler writes it: `float [4]`.
    pub array: String,
    pub lowest: i32,
    pub highest: i32,
}

/// What leaves its variable, one for each site and variable.
pub fn escapes(launch: &Launch) -> Vec<Escape> {
    let mut found: BTreeMap<(SiteId, VariableId), Escape> = BTreeMap::new();
    for (warp, access) in launch.accesses() {
        for lane in &access.lanes {
            let extent = launch.variables[lane.variable].bytes as i64;
            if lane.offset >= 0 && lane.offset + i64::from(access.bytes) <= extent {
                continue;
            }
            let (lowest, highest) = (lane.offset, lane.offset);
            let thread = warp as u32 * 32 + u32::from(lane.lane);
            let new = Escape { site: access.site, variable: lane.variable, lowest, highest, thread };
            let known = found.entry((access.site, lane.variable)).or_insert(new);
            known.lowest = known.lowest.min(lane.offset);
            known.highest = known.highest.max(lane.offset);
        }
    }
    found.into_values().collect()
}

/// Subscripts outside their dimension, one for each site and dimension.
pub fn wrong_subscripts(launch: &Launch) -> Vec<WrongSubscript> {
    let mut found: BTreeMap<(SiteId, &str), WrongSubscript> = BTreeMap::new();
    for step in launch.warps.iter().flatten() {
        let Step::Subscript(subscript) = step else { continue };
        for (_, index) in &subscript.lanes {
            let new = || WrongSubscript {
                site: subscript.site,
                array: subscript.array.clone(),
                lowest: *index,
                highest: *index,
            };
            let known = found.entry((subscript.site, &subscript.array)).or_insert_with(new);
            known.lowest = known.lowest.min(*index);
            known.highest = known.highest.max(*index);
        }
    }
    found.into_values().collect()
}
