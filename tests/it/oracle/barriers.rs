//! At which barriers of the block did its threads meet, and who had ended before?

use super::execution::{Launch, SiteId, Step};
use std::collections::BTreeMap;

/// All threads that had not ended met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meeting {
    /// The threads by the barrier at which they waited. Several sites may be one barrier, reached on
    /// several paths.
    pub arrived: BTreeMap<SiteId, Vec<u32>>,
    /// The threads that had ended.
    pub ended: Vec<u32>,
}

/// The meetings of a launch, in order.
pub fn meetings(launch: &Launch) -> Vec<Meeting> {
    let mut meetings: Vec<Meeting> = Vec::new();
    for (warp, steps) in launch.warps.iter().enumerate() {
        for step in steps {
            let Step::Barrier { site, mask, interval } = step else { continue };
            if meetings.len() <= *interval as usize {
                meetings.resize_with(*interval as usize + 1, Meeting::default);
            }
            let lanes = (0..32u32).filter(|lane| mask >> lane & 1 == 1);
            let arrived = meetings[*interval as usize].arrived.entry(*site).or_default();
            arrived.extend(lanes.map(|lane| warp as u32 * 32 + lane));
        }
    }
    let threads = launch.block.iter().product();
    for meeting in &mut meetings {
        let has_come = |thread: &u32| meeting.arrived.values().any(|threads| threads.contains(thread));
        meeting.ended = (0..threads).filter(|thread| !has_come(thread)).collect();
    }
    meetings
}
