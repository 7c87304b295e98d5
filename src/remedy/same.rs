//! Does a kernel find the elements of an array in another layout that it finds as it is?
//!
//! A run as it is and one with the other layout do the same accesses in the same order. Each tells where an access
//! of a thread lies, so together they tell where the layout puts what lies there:
//!
//! ```text
//! sm.tile[y][x]          byte 128 y + 4 x        132 y + 4 x: what lay at 132 is at 136
//! flat[i]                byte 4 i                4 i: what lay at 132 is at 132, which is another place
//! ```
//!
//! If each byte goes to one place, and no two to the same, the kernel reads what it has written, as before. Uses that
//! follow each other ([`views`](super::views)) are asked one by one. All threads and all rounds are looked at; where an
//! access lies at a place that is not known, nothing is proved.

use super::Run;
use super::lane::{Key, asked, width};
use super::layout::Layout;
use super::views::views;
use crate::domain::{Int, Shape, SymbolId};
use crate::events::{Access, AccessEvent, Event, EventTree, Trace};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most places of threads that are looked at.
const MOST_STEPS: usize = 1 << 23;
/// The most values that numbers which are not known give an offset.
const MOST_VALUES: i64 = 4096;

/// Where a byte comes from that keeps nothing.
const NOTHING: i64 = i64::MIN;

/// Whether the accesses of these arrays find in `after` the elements that they find in a run as it is.
pub(crate) fn finds_the_same(run: &Run<'_>, after: &Trace, arrays: &[Span]) -> bool {
    arrays.iter().all(|name| {
        let views = views(&[*run], *name).unwrap_or_default();
        Search { run, after, name: *name, by: None, steps: MOST_STEPS }.finds_the_same(&views).is_some()
    })
}

/// Whether the accesses of an array find in `after` the elements where a layout puts the byte that they find in a run
/// as it is.
pub(super) fn are_moved_by(run: &Run<'_>, after: &Trace, name: Span, to: &dyn Fn(u64) -> u64) -> bool {
    let mut search = Search { run, after, name, by: Some(to), steps: MOST_STEPS };
    search.finds_the_same(&[]).is_some()
}

/// Whether the accesses of an array find in `after`, where rows are declared longer by so many elements, the elements
/// that they find in a run as it is: a `wmma` call does if the distance of lines that it asks for grows with the rows.
pub(crate) fn move_with_rows(run: &Run<'_>, after: &Trace, name: Span, extra: u64) -> bool {
    let Some(array) = run.trace.arrays.iter().find(|array| array.name_span == name) else { return true };
    let (Some(Some(row)), Some(element)) = (array.dimensions.last().copied(), array.element_bytes) else {
        return false;
    };
    let dimension = (array.dimensions.len() - 1, extra);
    let layout = Layout::Longer { row, extra, dimension };
    are_moved_by(run, after, name, &|at| layout.byte(at, element))
}

struct Search<'a> {
    run: &'a Run<'a>,
    after: &'a Trace,
    name: Span,
    /// Where each byte has to go, if that is known.
    by: Option<&'a dyn Fn(u64) -> u64>,
    steps: usize,
}

/// Where bytes go, and where what is there comes from.
#[derive(Default)]
struct Moves {
    to: FxHashMap<i64, i64>,
    from: FxHashMap<i64, i64>,
}

impl Moves {
    /// Notes that a byte goes there; `None` if it goes elsewhere, or another does.
    fn note(&mut self, from: i64, to: i64) -> Option<()> {
        let is_one = *self.to.entry(from).or_insert(to) == to && *self.from.entry(to).or_insert(from) == from;
        is_one.then_some(())
    }

    /// Notes that nothing is kept at a byte that is accessed.
    fn note_unused(&mut self, to: i64) -> Option<()> {
        (*self.from.entry(to).or_insert(NOTHING) == NOTHING).then_some(())
    }
}

/// An offset as it was seen, so that it is looked at once.
type Seen = (usize, Vec<i64>, Vec<i64>);

impl Search<'_> {
    fn finds_the_same(&mut self, views: &[Vec<Key>]) -> Option<()> {
        let (before, after) = (self.run.trace, self.after);
        let is_whole = |trace: &Trace| {
            let unclear = |event: &Event| matches!(event, Event::MayAccess { .. });
            trace.tree.len() > 0
                && !trace.tree.is_cut()
                && trace.stopped.is_none()
                && !trace.tree.events().iter().any(unclear)
        };
        if !is_whole(before) || !is_whole(after) {
            return None;
        }
        let (of_before, of_after) = (self.events(before), self.events(after));
        if of_before.len() != of_after.len() {
            return None;
        }
        let mut moves: Vec<Moves> = Vec::new();
        moves.resize_with(views.len().max(1), Moves::default);
        let mut seen: FxHashSet<Seen> = FxHashSet::default();
        for (old, new) in of_before.into_iter().zip(of_after) {
            let access = &before.accesses[old.access];
            let other = &after.accesses[new.access];
            // What becomes longer is copied as a whole.
            let alike = (access.span, access.op) == (other.span, other.op)
                && access.bytes.zip(other.bytes).is_some_and(|(bytes, longer)| bytes <= longer)
                && old.threads == new.threads
                && old.object == new.object;
            // Where the layout is not known, it is not known either where the lines of a tile go between its lanes.
            if !alike || access.tiles.fragment && self.by.is_none() {
                return None;
            }
            let key = (access.span, access.op);
            let view = views.iter().position(|view| view.contains(&key));
            let moves = &mut moves[view.unwrap_or(0)];
            self.note(old, new, (access, width(other), moves, &mut seen))?;
        }
        Some(())
    }

    fn events<'t>(&self, trace: &'t Trace) -> Vec<&'t AccessEvent> {
        let own = |event: &'t Event| match event {
            Event::Access(it) if trace.arrays[trace.accesses[it.access].array].name_span == self.name => {
                Some(it)
            }
            _ => None,
        };
        trace.tree.events().iter().filter_map(own).collect()
    }

    /// Notes where an access finds its elements now and then.
    fn note(
        &mut self,
        old: &AccessEvent,
        new: &AccessEvent,
        (access, longer, moves, seen): (&Access, u64, &mut Moves, &mut FxHashSet<Seen>),
    ) -> Option<()> {
        let (was, is) = (old.offset.as_ref()?, new.offset.as_ref()?);
        let symbols = self.symbols(was, is)?;
        let shape = Shape { dims: self.run.block };
        let asked = asked(access);
        let (bytes, longer) = (i64::try_from(width(access)).ok()?, i64::try_from(longer).ok()?);
        let threads: Vec<usize> =
            old.threads.threads().filter(|thread| asked >> (thread % 32) & 1 == 1).collect();
        let (base, new_base) = (was.base.spread(shape), is.base.spread(shape));
        for values in values(&symbols)? {
            self.steps = self.steps.checked_sub(threads.len())?;
            let at = |base: &[i64], of: &Int| -> Option<Vec<i64>> {
                let add = |thread: usize| {
                    symbols.iter().zip(&values).try_fold(base[thread], |sum, ((id, ..), value)| {
                        let factor = of.terms.iter().find(|(other, _)| other == id);
                        let factor = factor.map_or(0, |(_, factor)| factor.at(thread, shape));
                        sum.checked_add(factor.checked_mul(*value)?)
                    })
                };
                threads.iter().map(|thread| add(*thread)).collect()
            };
            let (from, to) = (at(&base, was)?, at(&new_base, is)?);
            if !seen.insert((old.access, from.clone(), to.clone())) {
                continue;
            }
            let looked_at = threads.len().checked_mul(usize::try_from(bytes).ok()?)?;
            self.steps = self.steps.checked_sub(looked_at)?;
            for (from, to) in from.into_iter().zip(to) {
                if let Some(by) = self.by {
                    (i64::try_from(by(u64::try_from(from).ok()?)).ok()? == to).then_some(())?;
                }
                let note = |byte| moves.note(from.checked_add(byte)?, to.checked_add(byte)?);
                (0..bytes).try_for_each(note)?;
                (bytes..longer).try_for_each(|byte| moves.note_unused(to.checked_add(byte)?))?;
            }
        }
        Some(())
    }

    /// The numbers that are not known in an offset, with the values that each may have; `None` if these are not known,
    /// or the two offsets rest on different ones.
    fn symbols(&self, was: &Int, is: &Int) -> Option<Vec<(SymbolId, i64, i64)>> {
        let mut ids: Vec<SymbolId> = was.terms.iter().chain(&is.terms).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        let facts = |tree: &EventTree, id: SymbolId| {
            let symbol = tree.symbol(id)?;
            Some((symbol.name.to_string(), symbol.low?, symbol.high?))
        };
        let of = |id: SymbolId| {
            let (name, low, high) = facts(&self.run.trace.tree, id)?;
            let same = facts(&self.after.tree, id) == Some((name, low, high));
            // What each thread has for itself is not one number.
            (same && !id.is_per_thread()).then_some((id, low, high))
        };
        ids.into_iter().map(of).collect()
    }
}

/// All values of some numbers together, if they are not too many.
fn values(symbols: &[(SymbolId, i64, i64)]) -> Option<Vec<Vec<i64>>> {
    let counts = symbols.iter().map(|(_, low, high)| high.checked_sub(*low)?.checked_add(1));
    let count = counts.into_iter().try_fold(1i64, |all, count| all.checked_mul(count?))?;
    if !(0..=MOST_VALUES).contains(&count) {
        return None;
    }
    let with = |all: Vec<Vec<i64>>, (_, low, high): &(SymbolId, i64, i64)| {
        let of = |before: &Vec<i64>| {
            let before = before.clone();
            (*low..=*high).map(move |value| before.iter().copied().chain([value]).collect())
        };
        all.iter().flat_map(of).collect()
    };
    Some(symbols.iter().fold(vec![Vec::new()], with))
}
