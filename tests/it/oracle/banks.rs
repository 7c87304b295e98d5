//! How many wavefronts does a request of a warp take, by the measured rules of compute capability 9.0?
//!
//! Written from the description of what was measured (`fixtures/hardware/README.md`), by counting words
//! in banks; it shares nothing with `src/banks`.
//!
//! | request | lanes served together |
//! |---|---|
//! | load or store of up to 4 bytes | 32 |
//! | 8 bytes | 16; a load of which all neighbours read the same, 32 |
//! | 16 bytes | 8; a load of which all neighbours read the same, 16 |
//!
//! | other sizes | in pieces that are aligned |
//!
//! Lanes that are served together take as many wavefronts as the fullest bank has different words. An
//! atomic operation takes one for each lane in the fullest bank; compare-and-swap twice as many.

use std::collections::{BTreeMap, BTreeSet};

/// How the lanes are served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Serving {
    Load,
    Store,
    /// An atomic operation, each lane by itself.
    ByLane,
}

/// The wavefronts of a request, and the fewest that as many bytes could take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cost {
    pub wavefronts: u64,
    pub ideal: u64,
    /// The instructions.
    pub requests: u64,
}

/// The cost of a request of `bytes` per lane: lanes and where they access.
pub fn cost(serving: Serving, bytes: u32, lanes: &[(u8, i64)]) -> Cost {
    if serving == Serving::ByLane {
        let mut banks: BTreeMap<i64, u64> = BTreeMap::new();
        for (_, offset) in lanes {
            *banks.entry(offset.div_euclid(4).rem_euclid(32)).or_default() += 1;
        }
        let wavefronts = banks.into_values().max().unwrap_or(0);
        return Cost { wavefronts, ideal: u64::from(!lanes.is_empty()), requests: 1 };
    }
    if !bytes.is_power_of_two() || bytes > 16 {
        // As many pieces as its alignment allows.
        let fits = |piece: u32| {
            bytes.is_multiple_of(piece)
                && lanes.iter().all(|(_, offset)| offset.rem_euclid(piece.into()) == 0)
        };
        let piece = [16, 8, 4, 2].into_iter().find(|piece| fits(*piece)).unwrap_or(1);
        let mut sum = Cost::default();
        for part in (0..bytes).step_by(piece as usize) {
            let shifted: Vec<(u8, i64)> =
                lanes.iter().map(|(lane, offset)| (*lane, offset + i64::from(part))).collect();
            let cost = cost(serving, piece, &shifted);
            sum = Cost {
                wavefronts: sum.wavefronts + cost.wavefronts,
                ideal: sum.ideal + cost.ideal,
                requests: sum.requests + 1,
            };
        }
        return sum;
    }
    let mut together = match bytes {
        16 => 8,
        8 => 16,
        _ => 32,
    };
    if serving == Serving::Load && together < 32 && (neighbours_agree(lanes, 1) || neighbours_agree(lanes, 2))
    {
        together *= 2;
    }
    let groups = |size: u8| lanes.iter().map(|(lane, _)| lane / size).collect::<BTreeSet<u8>>();
    let wavefronts = groups(together).into_iter().map(|group| {
        let served = lanes.iter().filter(|(lane, _)| lane / together == group);
        fullest_bank(served.map(|(_, offset)| *offset), bytes)
    });
    let wavefronts = wavefronts.sum();
    Cost { wavefronts, ideal: groups(together).len() as u64, requests: 1 }
}

/// Whether every lane accesses the same as the lane whose number differs in this bit, if that is active.
fn neighbours_agree(lanes: &[(u8, i64)], bit: u8) -> bool {
    lanes
        .iter()
        .all(|(lane, offset)| lanes.iter().all(|(other, theirs)| *other != lane ^ bit || theirs == offset))
}

/// The most different words in one bank.
fn fullest_bank(offsets: impl Iterator<Item = i64>, bytes: u32) -> u64 {
    let mut banks: BTreeMap<i64, BTreeSet<i64>> = BTreeMap::new();
    for offset in offsets {
        for word in offset.div_euclid(4)..=(offset + i64::from(bytes) - 1).div_euclid(4) {
            banks.entry(word.rem_euclid(32)).or_default().insert(word);
        }
    }
    banks.values().map(BTreeSet::len).max().unwrap_or(0) as u64
}
