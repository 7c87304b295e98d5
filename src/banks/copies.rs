//! How many wavefronts does a `cp.async` take, given what its lanes read from global memory?
//!
//! A copy **through** the first-level cache (`cp.async.ca`) reads the cache's 32 banks of 4 bytes and writes those
//! of shared memory, in one pass: lanes that are served together (32 of 4 bytes, 16 of 8, 8 of 16) take as many
//! wavefronts as the fullest bank on either side has words, if the other side has no conflict:
//!
//! ```text
//! 8 lanes of 16 bytes, to 128 bytes of shared memory that follow each other    wavefronts
//! from 128 bytes that follow each other                                        1
//! from 4 rows of 32 bytes, 1024 bytes apart: 4 words in each of 8 banks        4
//! ```
//!
//! A copy **around** it (`cp.async.cg`, 16 bytes) is shown by no counter of the hardware. Nsight's source page has a
//! number, made from the addresses. It counts how often a line of 128 bytes of global memory has to be laid over
//! a row of 128 bytes of shared memory. Both are 4 sectors of 32 bytes. A sector, or the half of it that is
//! copied, moves as a whole:
//!
//! ```text
//! sector of the line      0 1 2 3
//! goes to sector          0 1 2 3      1 wavefront: 128 bytes as they lie
//! goes to sector          3 2 1 0      1
//! goes to sector          0 2 . .      2: an even sector goes to an even one, an odd one to an even one
//! each half goes to the other half of its sector or of the next (16 bytes of padding)      3
//! ```
//!
//! Sectors move together when they belong to one line and one row, the same halves of them go to the same
//! halves, all even sectors go to even ones (or all to odd ones), and those of one parity change alike in the
//! higher bit of their number. Found on an H100 and held against 3,227 requests of it without exception
//! (`fixtures/hardware/README.md`); not held where a lane copies what another copies.

use super::groups::{Count, Group, Layout};
use super::{Access, Cost, Family, Request};

/// Bytes of a line of global memory, and of a row of shared memory.
const LINE: i64 = 128;
/// Bytes of a copy around the cache.
const WHOLE: u32 = 16;

/// What the lanes of a copy read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopySource<'a> {
    /// Lanes with equal numbers read from one stretch of global memory, others from other lines.
    pub stretches: &'a [u8; 32],
    /// The byte offset of each lane in its stretch, counted from the start of a line.
    pub offsets: &'a [i64; 32],
    /// Whether it goes around the first-level cache.
    pub around: bool,
}

/// The wavefronts of a `cp.async` on 8.0 and newer; `None` where they were not measured.
pub fn copy_cost(request: &Request<'_>, source: &CopySource<'_>) -> Option<Cost> {
    let lanes = || (0..32usize).filter(|lane| request.active >> lane & 1 == 1);
    let size = i64::from(request.bytes);
    let aligned = |lane: usize| {
        request.offsets[lane].wrapping_add(request.base) % size == 0 && source.offsets[lane] % size == 0
    };
    if request.access != Access::AsyncCopy || !matches!(request.bytes, 4 | 8 | WHOLE) || !lanes().all(aligned)
    {
        return None;
    }
    if request.active == 0 {
        return Some(Cost::NOTHING);
    }
    match source.around {
        true if request.bytes == WHOLE => around(request, source),
        true => None,
        false => through(request, source),
    }
}

/// Different things, in the order in which they came.
struct Distinct<T, const N: usize> {
    items: [T; N],
    count: usize,
}

impl<T: Copy + PartialEq, const N: usize> Distinct<T, N> {
    fn new(nothing: T) -> Self {
        Self { items: [nothing; N], count: 0 }
    }

    fn iter(&self) -> impl Iterator<Item = &T> {
        self.items.iter().take(self.count)
    }

    /// Whether it is new.
    fn add(&mut self, item: T) -> bool {
        let new = !self.iter().any(|other| *other == item);
        if let Some(slot) = self.items.get_mut(self.count).filter(|_| new) {
            *slot = item;
            self.count += 1;
        }
        new
    }
}

/// A line of global memory: its stretch and its number there.
type Line = (u8, i64);

/// What one lane copies around the cache: 16 bytes of a line, by their number in it, to 16 bytes of a row.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Move {
    line: Line,
    from: i64,
    row: i64,
    to: i64,
}

impl Move {
    /// Whether the other half of the sector goes to the other half of the same sector.
    fn goes_along(&self, other: &Move) -> bool {
        (self.line, self.from ^ 1, self.row, self.to ^ 1) == (other.line, other.from, other.row, other.to)
    }
}

/// What sectors that move together have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Together {
    line: Line,
    row: i64,
    /// Which halves of the row's sectors are written, as bits.
    halves: u8,
    /// Whether halves change places.
    crossed: bool,
    /// Whether even sectors become odd ones.
    odd: bool,
}

/// How sectors change, beside what they have in common.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Change {
    together: Together,
    /// Whether it is an odd sector of the line.
    odd: bool,
    /// Whether the higher bit of its number changes.
    high: bool,
}

const NOWHERE: Move = Move { line: (0, 0), from: 0, row: 0, to: 0 };
const NOTHING: Together = Together { line: (0, 0), row: 0, halves: 0, crossed: false, odd: false };

fn around(request: &Request<'_>, source: &CopySource<'_>) -> Option<Cost> {
    let mut moves = Distinct::<Move, 32>::new(NOWHERE);
    for lane in (0..32usize).filter(|lane| request.active >> lane & 1 == 1) {
        let from = source.offsets[lane];
        let to = request.offsets[lane].wrapping_add(request.base);
        let new = Move {
            line: (source.stretches[lane], from.div_euclid(LINE)),
            from: from.rem_euclid(LINE) / 16,
            row: to.div_euclid(LINE),
            to: to.rem_euclid(LINE) / 16,
        };
        let same_bytes = |old: &Move| {
            (old.line, old.from) == (new.line, new.from) || (old.row, old.to) == (new.row, new.to)
        };
        if moves.iter().any(same_bytes) {
            return None;
        }
        moves.add(new);
    }
    let mut changes = Distinct::<Change, 32>::new(Change { together: NOTHING, odd: false, high: false });
    for step in moves.iter() {
        let neighbour = moves.iter().find(|other| step.goes_along(other));
        let halves = 1u8 << (step.to & 1) | neighbour.map_or(0, |other| 1 << (other.to & 1));
        let (sector, place) = (step.from / 2, step.to / 2);
        let together = Together {
            line: step.line,
            row: step.row,
            halves,
            crossed: (step.from ^ step.to) & 1 == 1,
            odd: (sector ^ place) & 1 == 1,
        };
        changes.add(Change { together, odd: sector & 1 == 1, high: (sector ^ place) & 2 == 2 });
    }
    let mut all = Distinct::<Together, 32>::new(NOTHING);
    changes.iter().for_each(|change| _ = all.add(change.together));
    let passes = |together: &Together| {
        let of =
            |odd: bool| changes.iter().filter(|c| c.together == *together && c.odd == odd).count() as u32;
        of(false).max(of(true))
    };
    let wavefronts = all.iter().map(passes).sum();
    let ideal = (moves.count as u32 * WHOLE).div_ceil(LINE as u32);
    Some(Cost { wavefronts, ideal, usual: ideal, ways: 1, witness: None, accesses: 1 })
}

fn through(request: &Request<'_>, source: &CopySource<'_>) -> Option<Cost> {
    let layout = Layout::of(Family::Modern);
    let together = LINE as u32 / request.bytes;
    let first = u32::MAX >> (32 - together);
    let mut total = Cost::NOTHING;
    for start in (0..32).step_by(together as usize) {
        let lanes = request.active & first << start;
        if lanes == 0 {
            continue;
        }
        let group = Group { request, shift: 0, bytes: request.bytes, lanes };
        let written = group.passes(&layout, Count::Lanes);
        let (least, most) = words_of_banks(request, source, lanes);
        // Where the cache's banks are not wanted alike, or both sides conflict in ways of their own, the order of
        // the lanes counts.
        let conflict = written.ways > 1;
        if least != most || conflict && most > 1 && !conflicts_nest(request, source, lanes) {
            return None;
        }
        // 16 bytes of a line that other groups read too, or of two lines and a conflict, take one more now and then.
        let own = lines(source, lanes);
        let others = lines(source, request.active & !lanes);
        let shared = own.iter().any(|line| others.iter().any(|other| other == line));
        if request.bytes == WHOLE && (shared || conflict && most == 1 && own.count > 1) {
            return None;
        }
        // A conflict that the other side hides costs nothing.
        let costs = written.ways > most;
        let cost = Cost {
            wavefronts: written.ways.max(most),
            ideal: 1,
            usual: 1,
            ways: if costs { written.ways } else { 1 },
            witness: written.witness.filter(|_| costs),
            accesses: 0,
        };
        total.add(cost, 1);
    }
    Some(total.as_one())
}

/// Whether lanes that meet on one side meet on the other, one way or the other, and none read the same.
fn conflicts_nest(request: &Request<'_>, source: &CopySource<'_>, lanes: u32) -> bool {
    let (mut in_read, mut in_written) = (true, true);
    for one in (0..32usize).filter(|lane| lanes >> lane & 1 == 1) {
        for other in (0..one).filter(|lane| lanes >> lane & 1 == 1) {
            let apart = |offsets: &[i64; 32]| offsets[one].wrapping_sub(offsets[other]);
            if (source.stretches[one], source.offsets[one])
                == (source.stretches[other], source.offsets[other])
            {
                return false;
            }
            let read = apart(source.offsets) % LINE == 0;
            let written = apart(request.offsets) % LINE == 0;
            in_read &= read || !written;
            in_written &= written || !read;
        }
    }
    in_read || in_written
}

/// The fewest and the most words that a bank of the cache gives, of those that give any.
fn words_of_banks(request: &Request<'_>, source: &CopySource<'_>, lanes: u32) -> (u32, u32) {
    let mut words = Distinct::<(u8, i64), 128>::new((0, 0));
    let mut banks = [0u32; 32];
    for lane in (0..32usize).filter(|lane| lanes >> lane & 1 == 1) {
        for word in 0..i64::from(request.bytes) / 4 {
            let word = source.offsets[lane] / 4 + word;
            if words.add((source.stretches[lane], word)) {
                banks[word.rem_euclid(32) as usize] += 1;
            }
        }
    }
    let wanted = || banks.iter().copied().filter(|&words| words > 0);
    (wanted().min().unwrap_or(0), wanted().max().unwrap_or(0))
}

fn lines(source: &CopySource<'_>, lanes: u32) -> Distinct<Line, 32> {
    let mut found = Distinct::new((0, 0));
    for lane in (0..32usize).filter(|lane| lanes >> lane & 1 == 1) {
        found.add((source.stretches[lane], source.offsets[lane].div_euclid(LINE)));
    }
    found
}
