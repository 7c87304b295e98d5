//! May accesses whose cost is not known stay in an array that gets another layout?
//!
//! What a float `atomicAdd` costs, or a read at an index that was loaded, is not known; what the array's other
//! accesses cost is, and a layout for them is worth telling. The elements that are not counted change places with the
//! others, so the kernel computes the same. Two things are held against the layout:
//!
//! | | |
//! |---|---|
//! | an access that is wider than an element, or that the compiler may join with its neighbours | every piece of its width stays whole and aligned, wherever it is |
//! | an access whose places are known | its lanes want no more words of one bank than they did |
//!
//! Where nothing is known of the places, the access may get slower or faster, and the help says that it is not
//! counted. Where data choose among the places of each thread, as in `sums[threadIdx.x][bin]`, no layout is judged.

use super::layout::Layout;
use super::rounds::{Shift, lanes};
use super::{Undecided, Why};
use crate::events::{Access, AccessEvent, AccessOp};
use crate::source::Span;
use rustc_hash::FxHashSet;

/// Bytes of a bank's word, and how many banks there are.
const WORD: i64 = 4;
const BANKS: i64 = 32;
/// The most bytes that the places of accesses may be moved by, one after the other, for each request.
const MOST_PHASES: u64 = 64;
/// The most requests that are held against a layout.
const MOST: usize = 64;
/// The most pieces of an array that are looked at.
const MOST_PIECES: u64 = 1 << 15;

/// The accesses of an array whose cost is not counted.
#[derive(Debug, Default)]
pub(super) struct Uncounted {
    spans: Vec<Span>,
    list: Vec<One>,
}

/// One of them, in one run.
#[derive(Debug)]
struct One {
    /// The run, and the number of the access in its trace.
    key: (usize, usize),
    span: Span,
    /// Bytes of a lane that stay together: its own, or those that the compiler may join.
    width: u64,
    /// Index into the forms of the array.
    form: usize,
    /// Where its warps go, as far as that is known.
    places: FxHashSet<(u32, [i64; 32], Shift)>,
}

impl Uncounted {
    /// The accesses at these places are not to be counted.
    pub(super) fn new(spans: &[Span]) -> Uncounted {
        Uncounted { spans: spans.to_vec(), list: Vec::new() }
    }

    /// Whether an access is not to be counted.
    pub(super) fn is_one(&self, span: Span) -> bool {
        self.spans.contains(&span)
    }

    /// Adds one; it has to be of a known width, and ask for nothing but its own bytes. `joined`: bytes of what the
    /// compiler makes, or may make, of it and its neighbours.
    pub(super) fn add(
        &mut self,
        access: &Access,
        key: (usize, usize),
        form: usize,
        joined: u64,
    ) -> Result<(), Undecided> {
        let is_simple = matches!(access.op, AccessOp::Load | AccessOp::Store | AccessOp::Atomic);
        let width =
            access.bytes.filter(|bytes| bytes.is_power_of_two() && is_simple && !access.tiles.fragment);
        let width = u64::from(width.ok_or(Undecided::Unknown(access.span))?).max(joined);
        if access.outside {
            return Err(Undecided::Outside(access.span));
        }
        self.list.push(One { key, span: access.span, width, form, places: FxHashSet::default() });
        Ok(())
    }

    /// Whether the access of a run, by its number there, is one.
    pub(super) fn contains(&self, key: (usize, usize)) -> bool {
        self.list.iter().any(|one| one.key == key)
    }

    /// Whether some are of a run.
    pub(super) fn is_in_run(&self, run: usize) -> bool {
        self.list.iter().any(|one| one.key.0 == run)
    }

    /// Its warps go there, moved by some of a shift.
    pub(super) fn place(&mut self, key: (usize, usize), event: &AccessEvent, values: &[i64], shift: &Shift) {
        let Some(one) = self.list.iter_mut().find(|one| one.key == key) else { return };
        for warp in 0..values.len().div_ceil(32) {
            let active = event.threads.warp(warp);
            let mut offsets = [0; 32];
            for lane in lanes(active) {
                offsets[lane] = values[warp * 32 + lane];
            }
            if active != 0 && one.places.len() < MOST {
                one.places.insert((active, offsets, shift.clone()));
            }
        }
    }

    /// The run of each, and the form that the array has there.
    pub(super) fn forms(&mut self) -> impl Iterator<Item = (usize, &mut usize)> {
        self.list.iter_mut().map(|one| (one.key.0, &mut one.form))
    }

    /// The bytes of their lanes, each with the form that the array has there.
    pub(super) fn widths(&self) -> impl Iterator<Item = (usize, u64)> {
        self.list.iter().map(|one| (one.form, one.width))
    }

    /// Where they stand, in the order of the text.
    pub(super) fn spans(&self) -> Vec<Span> {
        let mut spans: Vec<Span> = self.list.iter().map(|one| one.span).collect();
        spans.sort_unstable();
        spans.dedup();
        spans
    }

    /// Whether a layout, here by form of the array with the bytes of it and of an element, keeps each of them whole,
    /// aligned, and as good as it is as far as its places are known.
    pub(super) fn are_spared(&self, layouts: &[Layout], sizes: &[(u64, u64)]) -> Result<(), Why> {
        for one in &self.list {
            let (Some(layout), Some((bytes, element))) = (layouts.get(one.form), sizes.get(one.form)) else {
                continue;
            };
            if *layout == Layout::Declared {
                continue;
            }
            one.stays_whole(layout, *bytes, *element)?;
            let mut places: Vec<_> = one.places.iter().collect();
            places.sort_unstable();
            for (active, offsets, shift) in places {
                if !one.is_as_good(layout, *element, (*active, offsets), shift) {
                    return Err(Why::WorseUncounted(one.span));
                }
            }
        }
        Ok(())
    }
}

impl One {
    /// Whether each piece of its width stays in one piece, and aligned.
    fn stays_whole(&self, layout: &Layout, bytes: u64, element: u64) -> Result<(), Why> {
        let unit = layout.unit(element);
        if self.width <= unit && unit.is_multiple_of(self.width) {
            return Ok(());
        }
        if bytes / self.width > MOST_PIECES {
            return Err(Why::Steps);
        }
        let is_whole = |piece: u64| {
            let (from, to) = (piece * self.width, layout.byte(piece * self.width, element));
            let mut parts = (0..self.width).step_by(unit as usize);
            to.is_multiple_of(self.width) && parts.all(|part| layout.byte(from + part, element) == to + part)
        };
        match (0..bytes / self.width).all(is_whole) {
            true => Ok(()),
            false => Err(Why::Split(self.span)),
        }
    }

    /// Whether the lanes of a warp then want no more words of one bank than now, wherever they are moved to.
    fn is_as_good(&self, layout: &Layout, element: u64, warp: (u32, &[i64; 32]), shift: &Shift) -> bool {
        let (active, offsets) = warp;
        let starts: Vec<i64> = match shift {
            Shift::Each(starts) => starts.clone(),
            Shift::Multiple(step) => {
                let Some(period) = layout.period(element) else { return false };
                let step = (*step).max(1);
                let lowest = lanes(active).map(|lane| offsets[lane]).min().unwrap_or(0);
                let up = lowest.min(0).unsigned_abs().next_multiple_of(step);
                (0..(period / step).clamp(1, MOST_PHASES)).map(|phase| (up + phase * step) as i64).collect()
            }
        };
        starts.iter().all(|start| {
            let (mut now, mut then) = ([0; 32], [0; 32]);
            for lane in lanes(active) {
                let Some(from) = offsets[lane].checked_add(*start) else { return false };
                let Ok(place) = u64::try_from(from) else { return false };
                (now[lane], then[lane]) = (from, layout.byte(place, element) as i64);
            }
            fullest(active, &then, self.width) <= fullest(active, &now, self.width)
        })
    }
}

/// The most words that lanes want of one bank, of so many bytes each.
fn fullest(active: u32, offsets: &[i64; 32], width: u64) -> usize {
    let width = i64::try_from(width).unwrap_or(WORD);
    let words = lanes(active).flat_map(|lane| {
        let (first, last) = (offsets[lane].div_euclid(WORD), (offsets[lane] + width - 1).div_euclid(WORD));
        first..=last
    });
    let words: FxHashSet<i64> = words.collect();
    let mut banks = [0usize; BANKS as usize];
    for word in words {
        banks[word.rem_euclid(BANKS) as usize] += 1;
    }
    banks.into_iter().max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::super::Term;
    use super::*;
    use crate::source::FileId;

    #[test]
    fn lanes_in_one_column_want_as_many_words_of_its_bank() {
        let column: [i64; 32] = std::array::from_fn(|lane| lane as i64 * 128);
        let row: [i64; 32] = std::array::from_fn(|lane| lane as i64 * 4);
        assert_eq!(fullest(u32::MAX, &column, 4), 32);
        assert_eq!(fullest(u32::MAX, &row, 4), 1);
        assert_eq!(fullest(0xff, &column, 8), 8);
        assert_eq!(fullest(u32::MAX, &[64; 32], 4), 1, "one word for all");
    }

    #[test]
    fn a_layout_may_not_split_what_is_wider_than_an_element_nor_make_it_worse() {
        let span = Span { file: FileId::NO_TEXT, start: 0, end: 0, nth: 0 };
        let one = |width| One { key: (0, 0), span, width, form: 0, places: FxHashSet::default() };
        let skew = Layout::Skewed { shift: 5, left: 0 };
        assert_eq!(one(16).stays_whole(&skew, 1024, 4), Err(Why::Split(span)));
        assert_eq!(one(4).stays_whole(&skew, 1024, 4), Ok(()));
        let swizzle = Layout::Combined { row: 32, terms: vec![Term { shift: 0, bits: 3, factor: 4 }] };
        assert_eq!(one(16).stays_whole(&swizzle, 1024, 4), Ok(()));
        assert_eq!(one(32).stays_whole(&swizzle, 1024, 4), Err(Why::Split(span)));
        // Every second element without a skew: two lanes a bank. A longer stride turns into one that is worse.
        let stride: [i64; 32] = std::array::from_fn(|lane| lane as i64 * 132);
        let column: [i64; 32] = std::array::from_fn(|lane| lane as i64 * 128);
        let exact = Shift::Each(vec![0]);
        let rows = Layout::Combined { row: 32, terms: vec![Term { shift: 0, bits: 5, factor: 1 }] };
        assert!(one(4).is_as_good(&rows, 4, (u32::MAX, &column), &exact));
        assert!(!one(4).is_as_good(&rows, 4, (u32::MAX, &stride), &exact), "a diagonal becomes a column");
        assert!(!one(4).is_as_good(&rows, 4, (u32::MAX, &stride), &Shift::Multiple(128)));
    }
}
