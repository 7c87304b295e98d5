//! What stands between neighbours, and does it keep the compiler from joining them?

use super::{Group, relative};
use crate::events::{Access, AccessOp, Array, Pattern, Trace};

/// Whether the program has nothing between the parts that keeps the compiler from joining them.
pub(super) fn nothing_between<'a>(
    trace: &Trace,
    op: AccessOp,
    parts: impl Iterator<Item = &'a Pattern> + Clone,
) -> bool {
    // What the compiler leaves out stands nowhere.
    let before = |list: &[u32], part: &Pattern| {
        list.partition_point(|position| *position < part.first.position) as u32
    };
    let span = |number: &dyn Fn(&Pattern) -> u32| {
        let numbers = parts.clone().map(|part| number(part) - before(&trace.left_out.stores, part));
        numbers.clone().max().unwrap_or(0) - numbers.min().unwrap_or(0)
    };
    match op {
        AccessOp::Store => {
            let number = |part: &Pattern| part.first.position - before(&trace.left_out.loads, part);
            span(&number) as usize + 1 == parts.clone().count()
        }
        _ => span(&|part| part.first.writes) == 0,
    }
}

/// Whether one of two loads may stay behind a branch of a loop while the other is made once before it: where the length
/// of an array is not known, no load is made in advance that might lie outside.
pub(super) fn may_stay(array: &Array, one: &Pattern, other: &Pattern) -> bool {
    let is_in_loop = |of: &Pattern| of.within.iter().any(|(innermost, _)| innermost.is_some());
    array.dynamic && one.first.stretch != other.first.stretch && is_in_loop(one)
}

/// Accesses that may stand between others of their array that are joined; more are taken to be in the way.
const MOST_BETWEEN: usize = 64;

/// The requests by array and program order: their place, access and pattern.
pub(super) struct Order(Vec<Vec<(u32, usize, usize)>>);

impl Order {
    pub(super) fn of(trace: &Trace) -> Order {
        let mut by_array: Vec<Vec<(u32, usize, usize)>> = vec![Vec::new(); trace.arrays.len()];
        for (at, access) in trace.accesses.iter().enumerate() {
            let places =
                access.patterns.iter().enumerate().map(|(n, pattern)| (pattern.first.position, at, n));
            by_array[access.array].extend(places);
        }
        by_array.iter_mut().for_each(|places| places.sort_unstable());
        Order(by_array)
    }

    /// Whether what stands between the parts surely touches other bytes than those that have to pass
    /// it: loads go up to the first, stores down to the last.
    pub(super) fn may_move<'a>(
        &self,
        trace: &Trace,
        group: &Group,
        wide: i64,
        parts: impl Iterator<Item = &'a Pattern> + Clone,
    ) -> bool {
        let positions = parts.clone().map(|part| part.first.position);
        let (from, to) = (positions.clone().min().unwrap_or(0), positions.max().unwrap_or(0));
        if parts.clone().map(|part| part.first.turn).max() == parts.clone().map(|part| part.first.turn).min()
        {
            return true;
        }
        let Some(places) = group.array.map(|array| &self.0[array]) else { return false };
        let between =
            places.partition_point(|place| place.0 <= from)..places.partition_point(|place| place.0 < to);
        let in_the_way = |&(position, access, pattern): &(u32, usize, usize)| {
            let (other, pattern) = (&trace.accesses[access], &trace.accesses[access].patterns[pattern]);
            let passed = |part: &&Pattern| match group.op {
                AccessOp::Store => part.first.position < position,
                _ => part.first.position > position,
            };
            other.op != group.op
                && parts.clone().filter(passed).any(|part| {
                    let residue = relative(part).0.rem_euclid(wide);
                    !touches_others(other, pattern, wide, residue..residue + i64::from(group.bytes))
                })
        };
        between.len() <= MOST_BETWEEN && !places[between].iter().any(in_the_way)
    }
}

/// Whether a request surely touches none of these bytes, counted modulo the size of a wide request.
fn touches_others(access: &Access, pattern: &Pattern, wide: i64, bytes: std::ops::Range<i64>) -> bool {
    let Some(size) = access.bytes.map(i64::from) else { return false };
    let known = access.unknown.is_none() && !pattern.anywhere && pattern.varying.is_empty();
    let lanes = (0..32).filter(|lane| pattern.active >> lane & 1 == 1);
    known
        && pattern.unit.is_multiple_of(wide.unsigned_abs())
        && lanes
            .map(|lane| pattern.offsets[lane].rem_euclid(wide))
            .all(|begin| begin + size <= wide && (begin + size <= bytes.start || bytes.end <= begin))
}
