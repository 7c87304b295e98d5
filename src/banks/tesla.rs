//! How many steps does a half-warp need on 1.x, where only one word per step can be broadcast?
//!
//! In each step the hardware chooses one word to broadcast, serves every lane that reads within it, and one more
//! lane in each *other* bank. Which word and which lanes it chooses is not documented, so the count is the
//! fewest steps that any choice allows.
//!
//! That minimum has a closed form. Let `T` be the number of steps. A bank that is the broadcasting one in `k` of
//! them serves `k` whole words and `T - k` single lanes, so it is done when the lanes outside its `k` most wanted
//! words are at most `T - k`. Each step broadcasts in one bank, so `T` steps are enough exactly when the banks'
//! smallest such `k` add up to at most `T`.

use super::Access;
use super::groups::{Group, Passes};

const LANES: usize = 16;

/// The lanes of a half-warp by bank: how many want each of the bank's words.
#[derive(Clone, Copy, Default)]
struct Bank {
    /// The words, or single addresses for stores, in order of their first lane.
    words: [i64; LANES],
    /// The lanes of each word.
    wanted_by: [u8; LANES],
    /// How many words.
    len: usize,
    /// The lanes that brought the first and the second word.
    first_lanes: (u8, u8),
    /// The first two lanes, whichever words they want.
    any_lanes: (u8, u8),
    /// How many lanes.
    lanes: u8,
}

impl Bank {
    fn add(&mut self, word: i64, lane: u8) {
        match self.lanes {
            0 => self.any_lanes.0 = lane,
            1 => self.any_lanes.1 = lane,
            _ => {}
        }
        self.lanes += 1;
        let known = self.words.iter().take(self.len).position(|&w| w == word);
        let at = known.unwrap_or(self.len);
        if let (Some(slot), Some(count)) = (self.words.get_mut(at), self.wanted_by.get_mut(at)) {
            *slot = word;
            *count += 1;
        }
        if known.is_none() {
            match self.len {
                0 => self.first_lanes.0 = lane,
                1 => self.first_lanes.1 = lane,
                _ => {}
            }
            self.len += 1;
        }
    }

    /// In how many of `steps` steps this bank must broadcast to be done; `None` if no number is enough.
    fn broadcasts(&self, steps: u32) -> Option<u32> {
        let mut waiting: u32 = self.wanted_by.iter().copied().map(u32::from).sum();
        for (broadcasts, &most) in (0..=steps).zip(&self.wanted_by) {
            if waiting <= steps - broadcasts {
                return Some(broadcasts);
            }
            waiting -= u32::from(most);
        }
        None
    }
}

/// The steps of one half-warp for an access of at most 4 bytes per lane.
pub(super) fn passes(group: &Group<'_>) -> Passes {
    let store = group.request.access != Access::Load;
    let mut banks = [Bank::default(); 16];
    for lane in group.active_lanes() {
        let address = group.address(usize::from(lane));
        // Nothing is broadcast to a store: lanes share a step only when they write the same address, where one
        // of them wins.
        let word = if store { address } else { address >> 2 };
        banks[(address >> 2 & 15) as usize].add(word, lane);
    }
    let ways = if store {
        banks.iter().map(|bank| bank.len as u32).max().unwrap_or(0)
    } else {
        for bank in &mut banks {
            bank.wanted_by.sort_unstable_by(|a, b| b.cmp(a));
        }
        let enough = |steps: u32| {
            let mut broadcasts = banks.iter().map(|bank| bank.broadcasts(steps));
            broadcasts.try_fold(0, |sum, b| Some(sum + b?)).is_some_and(|sum| sum <= steps)
        };
        (1..=LANES as u32).find(|&steps| enough(steps)).unwrap_or(LANES as u32)
    };
    Passes { ways, witness: (ways > 1).then(|| witness(group, &banks)).flatten() }
}

/// Two lanes with different words of one bank. Where no bank has those, the half-warp reads within several words
/// of different banks of which only one is broadcast: then two lanes of the word that most lanes want.
fn witness(group: &Group<'_>, banks: &[Bank; 16]) -> Option<super::Witness> {
    let most = banks.iter().map(|bank| bank.len).max()?;
    let most_lanes = banks.iter().map(|bank| bank.lanes).max()?;
    let (lanes, bank) = (0_u32..)
        .zip(banks)
        .filter(|(_, bank)| if most > 1 { bank.len == most } else { bank.lanes == most_lanes })
        .map(|(number, bank)| (if most > 1 { bank.first_lanes } else { bank.any_lanes }, number))
        .min()?;
    Some(group.witness(lanes, bank))
}
