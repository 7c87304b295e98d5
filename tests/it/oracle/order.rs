//! What is ordered before what, between the threads of a block?
//!
//! A barrier of the block orders everything before it with everything after it. `__syncwarp` does the same
//! for its lanes. Shuffles and votes do not order memory. Within a warp that is kept as one clock for each
//! lane, with what the lane has heard of the clocks of the others.

use super::execution::{Access, Launch, Step};

/// The clocks of a warp's lanes.
#[derive(Debug)]
pub struct Clocks {
    heard: [[u32; 32]; 32],
}

impl Clocks {
    pub fn new() -> Clocks {
        let mut clocks = Clocks { heard: [[0; 32]; 32] };
        (0..32).for_each(|lane| clocks.heard[lane][lane] = 1);
        clocks
    }

    /// The time of a lane.
    pub fn now(&self, lane: u8) -> u32 {
        self.heard[lane as usize][lane as usize]
    }

    /// Whether what `lane` did at `time` is ordered before what `later` does now.
    pub fn is_before(&self, lane: u8, time: u32, later: u8) -> bool {
        lane == later || self.heard[later as usize][lane as usize] >= time
    }

    /// The lanes of a mask meet.
    fn meet(&mut self, mask: u32) {
        let lanes = || (0..32).filter(|lane| mask >> lane & 1 == 1);
        let mut all = [0; 32];
        for lane in lanes() {
            all.iter_mut().zip(self.heard[lane]).for_each(|(known, heard)| *known = (*known).max(heard));
        }
        for lane in lanes() {
            self.heard[lane] = all;
            self.heard[lane][lane] += 1;
        }
    }
}

/// Calls `visit` for every access, warp by warp and in order, with the clocks of its warp.
pub fn accesses_in_order(launch: &Launch, mut visit: impl FnMut(usize, &Access, &Clocks)) {
    for (warp, steps) in launch.warps.iter().enumerate() {
        let mut clocks = Clocks::new();
        for step in steps {
            match step {
                Step::Access(access) => visit(warp, access, &clocks),
                Step::WarpSync(meeting) => clocks.meet(meeting.mask),
                _ => {}
            }
        }
    }
}
