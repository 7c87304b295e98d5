//! How many passes does one group of lanes that is served together need, on a device that can multicast?

use super::{Family, Request, Witness};

/// Where a device keeps a word: in which bank, and in which row of banks.
/// What lies in one row of one bank is delivered in one pass.
pub(super) struct Layout {
    /// log2 of the bytes of a bank's word.
    word_shift: u32,
    /// The number of banks less one.
    bank_mask: i64,
    /// log2 of the words of a row: two words of a bank share a row in 3.x's 4-byte mode.
    row_shift: u32,
}

impl Layout {
    pub(super) const fn of(family: Family) -> Self {
        let (word_shift, bank_mask, row_shift) = match family {
            Family::Tesla => (2, 15, 4),
            Family::Fermi | Family::Modern => (2, 31, 5),
            Family::KeplerFour => (2, 31, 6),
            Family::KeplerEight => (3, 31, 5),
        };
        Self { word_shift, bank_mask, row_shift }
    }
}

/// What takes a pass of its own within a bank.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Count {
    /// Each distinct row: lanes that want the same word share.
    Words,
    /// Each lane: atomics and asynchronous copies take turns, even on one word.
    Lanes,
}

/// Lanes of one machine access that are served together.
#[derive(Clone, Copy)]
pub(super) struct Group<'a> {
    pub(super) request: &'a Request<'a>,
    /// Bytes from each lane's offset to this machine access.
    pub(super) shift: i64,
    /// Width of the machine access, at most 16.
    pub(super) bytes: u32,
    /// The active lanes of the group.
    pub(super) lanes: u32,
}

/// The outcome for one group.
#[derive(Clone, Copy)]
pub(super) struct Passes {
    pub(super) ways: u32,
    pub(super) witness: Option<Witness>,
}

/// 32 lanes of 16 bytes, each of which may touch a fifth word when it is not aligned.
const MOST_ENTRIES: usize = 32 * 5;
const NONE: u8 = u8::MAX;

/// The rows that are wanted from each bank, as linked lists in fixed storage.
struct Wanted {
    rows: [i64; MOST_ENTRIES],
    next: [u8; MOST_ENTRIES],
    used: u8,
    head: [u8; 32],
    count: [u8; 32],
    /// The lanes that brought each bank its first and its second entry.
    lanes: [(u8, u8); 32],
}

impl Wanted {
    fn new() -> Self {
        Self {
            rows: [0; MOST_ENTRIES],
            next: [NONE; MOST_ENTRIES],
            used: 0,
            head: [NONE; 32],
            count: [0; 32],
            lanes: [(NONE, NONE); 32],
        }
    }

    fn has(&self, bank: usize, row: i64) -> bool {
        let mut entry = self.head[bank];
        while entry != NONE {
            if self.rows[usize::from(entry)] == row {
                return true;
            }
            entry = self.next[usize::from(entry)];
        }
        false
    }

    fn add(&mut self, bank: usize, row: i64, lane: u8) {
        if usize::from(self.used) >= MOST_ENTRIES {
            return;
        }
        self.rows[usize::from(self.used)] = row;
        self.next[usize::from(self.used)] = self.head[bank];
        self.head[bank] = self.used;
        self.used += 1;
        self.count[bank] += 1;
        match self.count[bank] {
            1 => self.lanes[bank].0 = lane,
            2 => self.lanes[bank].1 = lane,
            _ => {}
        }
    }
}

impl Group<'_> {
    /// The byte address at which a lane's machine access starts.
    pub(super) fn address(&self, lane: usize) -> i64 {
        let offset = self.request.offsets.get(lane).copied().unwrap_or(0);
        offset.wrapping_add(self.request.base).wrapping_add(self.shift)
    }

    pub(super) fn active_lanes(&self) -> impl Iterator<Item = u8> + use<> {
        let lanes = self.lanes;
        (0..32).filter(move |lane| lanes >> lane & 1 == 1)
    }

    /// The witness for two lanes that meet in `bank`.
    pub(super) fn witness(&self, (low, high): (u8, u8), bank: u32) -> Witness {
        let offset = |lane: u8| self.address(usize::from(lane)).wrapping_sub(self.request.base);
        Witness { lanes: (low, high), offsets: (offset(low), offset(high)), bank }
    }

    /// Hands each word that a lane wants to `see`: the lane, the bank, and the row of banks.
    pub(super) fn each_word(&self, layout: &Layout, mut see: impl FnMut(u8, usize, i64)) {
        for lane in self.active_lanes() {
            let address = self.address(usize::from(lane));
            let first = address >> layout.word_shift;
            let before = address & ((1 << layout.word_shift) - 1);
            let words = (before + i64::from(self.bytes) - 1) >> layout.word_shift;
            for word in (0..=words).map(|i| first.wrapping_add(i)) {
                see(lane, (word & layout.bank_mask) as usize, word >> layout.row_shift);
            }
        }
    }

    pub(super) fn passes(&self, layout: &Layout, count: Count) -> Passes {
        let mut wanted = Wanted::new();
        self.each_word(layout, |lane, bank, row| {
            if count == Count::Lanes || !wanted.has(bank, row) {
                wanted.add(bank, row, lane);
            }
        });
        let ways = wanted.count.iter().copied().max().unwrap_or(0);
        let fullest = (0_u32..32).zip(wanted.count).filter(|&(_, count)| count == ways && count > 1);
        let witness = fullest
            .map(|(bank, _)| (wanted.lanes[bank as usize], bank))
            .min()
            .map(|(lanes, bank)| self.witness(lanes, bank));
        Passes { ways: u32::from(ways), witness }
    }
}
