//! Can two threads touch the same byte in two accesses?
//!
//! An offset is a known number for each thread plus symbols with factors. A symbol that is the same for both accesses
//! cancels in the difference; any other adds a multiple of its factor, within its range. Two tests can separate two
//! threads: the ranges of their bytes do not overlap, or their distance modulo the common divisor of all such factors
//! is too far from 0. Example: each warp has a row of 256 bytes, in which a lane touches words that are 128 bytes
//! apart from one iteration to the next.
//!
//! ```text
//! s[64 * warp + 32 * k + lane], k = 0, 1      bytes 256 w + 128 k + 4 l
//! warps: rows 256 apart, of 256 bytes each    the ranges do not meet
//! lanes: 4 apart modulo 128, 4 bytes each     the distances are no multiple of 128
//! ```

use crate::domain::{Int, Lanes, Shape, SymbolId, ThreadSet, gcd, lcm};
use crate::events::{EventTree, PerTile, WarpTile};

/// How the rounds of loops in which an access is done relate to those of a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// They are the same.
    Same,
    /// The later access is done in a round of a loop that this one lies before.
    Before {
        /// The symbol of the round's number.
        round: SymbolId,
        /// That number.
        number: i64,
    },
    /// The later one is done in a later round.
    Next {
        /// The symbol of the round's number.
        round: SymbolId,
        /// How many rounds later.
        by: i64,
        /// The first symbol that differs between rounds.
        from: SymbolId,
    },
    /// They are any two.
    Apart {
        /// The first symbol that differs between rounds.
        from: SymbolId,
        /// What the later one calls the rounds beyond whole passes of the loop that the earlier one is done in, and how
        /// many these are.
        rest: Option<(SymbolId, i64)>,
    },
}

/// One of two accesses.
pub(super) struct Side<'a> {
    /// Byte offsets from the beginning of the array.
    pub offset: &'a Int,
    /// The threads that may do it.
    pub threads: ThreadSet,
    /// Bytes that a thread touches.
    pub bytes: i64,
    /// Matrices of a matrix access, each of 8 rows that the first lanes give; 0 for others.
    pub rows: u8,
}

/// What two accesses are held against each other by.
pub(super) struct Meeting<'a> {
    pub tree: &'a EventTree,
    pub shape: Shape,
    pub relation: Relation,
    /// The warps whose lanes have met in between, by bit, in tiles of each size.
    pub met: PerTile<u32>,
    /// Whether what one thread does twice counts: where an access stands for its whole warp, or is on its way.
    pub own_counts: bool,
}

/// What symbols add to the distance of two accesses.
struct Added {
    /// At the least and at the most; `None` where there is no bound.
    low: Option<i64>,
    high: Option<i64>,
    /// What all of it is a multiple of; 0 if it is nothing.
    unit: u64,
    /// What is known of it, for the later access.
    known: Lanes,
}

/// A number of a round, and the least number after which all remainders of it come again.
type Turn = (SymbolId, i64);

/// The most numbers of rounds that are tried one by one.
const MOST_TURNS: i64 = 16;

impl Meeting<'_> {
    /// The first two different threads found that may touch one byte, whatever the round. Buffers that take turns,
    /// as in `buffer[k % 2]`, are told apart by the remainders of the round's number: each is tried.
    pub(super) fn first_in_any_turn(
        &self,
        one: &Side<'_>,
        other: &Side<'_>,
        left: &mut u64,
    ) -> Option<(usize, usize)> {
        if let Relation::Apart { rest: Some((rounds, number)), .. } = self.relation {
            let later = self.in_turn(other.offset, rounds, number);
            return self.first(one, &Side { offset: &later, ..*other }, left);
        }
        let Some((round, turns)) = self.turns(one.offset, other.offset) else {
            return self.first(one, other, left);
        };
        let (first, by) = match self.relation {
            Relation::Next { round: of, by, .. } if of == round => (0..turns, by),
            // The earlier one does not know the number.
            Relation::Before { round: of, number } if of == round => (number..number + 1, 0),
            _ => (0..turns, 0),
        };
        first.into_iter().find_map(|turn| {
            let (offset, later) = (self.in_turn(one.offset, round, turn), other.offset);
            let later = self.in_turn(later, round, turn.saturating_add(by));
            let (one, other) = (Side { offset: &offset, ..*one }, Side { offset: &later, ..*other });
            self.first(&one, &other, left)
        })
    }

    /// The round of which both offsets hold remainders, if it is of one number for both, or the next.
    fn turns(&self, one: &Int, other: &Int) -> Option<Turn> {
        let terms = || one.terms.iter().chain(&other.terms);
        let mut found: Option<Turn> = None;
        for remainder in terms().filter_map(|(id, _)| self.tree.remainder(*id)) {
            let is_one = self.is_one_number(remainder.of);
            match &mut found {
                None if is_one => found = Some((remainder.of, remainder.modulus)),
                Some((of, turns)) if *of == remainder.of => {
                    let all = lcm(turns.unsigned_abs(), remainder.modulus.unsigned_abs());
                    *turns = i64::try_from(all).ok()?;
                }
                _ => {}
            }
        }
        found.filter(|(_, turns)| *turns <= MOST_TURNS)
    }

    /// An offset where the number of a round has this remainder.
    fn in_turn(&self, offset: &Int, round: SymbolId, turn: i64) -> Int {
        let mut base = offset.base.clone();
        let mut terms = Vec::new();
        for (id, factor) in &offset.terms {
            match self.tree.remainder(*id).filter(|it| it.of == round) {
                Some(remainder) => base = base.add(&factor.scale(remainder.at(turn)), self.shape),
                None => terms.push((*id, factor.clone())),
            }
        }
        Int::of(base, terms)
    }

    /// The first two different threads found, of the earlier and of the later access, that may touch one byte.
    /// `left` counts down the comparisons that may be made; when it reaches 0, nothing is found.
    fn first(&self, one: &Side<'_>, other: &Side<'_>, left: &mut u64) -> Option<(usize, usize)> {
        let added = self.added(one.offset, other.offset);
        let later = Lanes::add(&other.offset.base, &added.known, self.shape);
        let (earlier, later) = (one.offset.base.spread(self.shape), later.spread(self.shape));
        let unit = i64::try_from(added.unit).unwrap_or(0);
        let range = added.low.zip(added.high);
        // Sorted by what narrows most: the rest modulo the unit, or the place itself.
        let by_rest = unit > 0 && range.is_none_or(|(low, high)| high.saturating_sub(low) >= unit);
        let key = |at: i64| if by_rest { at.rem_euclid(unit) } else { at };
        let mut sorted: Vec<(i64, usize)> =
            self.threads(other).map(|thread| (key(later[thread]), thread)).collect();
        sorted.sort_unstable();
        let may_touch = |distance: i64| {
            let apart = |(low, high): (i64, i64)| {
                distance.saturating_add(high) <= -other.bytes || distance.saturating_add(low) >= one.bytes
            };
            let rest = if unit > 0 { distance.rem_euclid(unit) } else { distance };
            let near = match unit {
                0 => distance > -other.bytes && distance < one.bytes,
                _ => rest < one.bytes || rest > unit - other.bytes,
            };
            near && !range.is_some_and(apart)
        };
        for thread in self.threads(one) {
            let at = earlier[thread];
            let (low, high) = match range {
                _ if by_rest => (at - other.bytes, at + one.bytes),
                Some((low, high)) => (
                    at.saturating_sub(high).saturating_sub(other.bytes),
                    at.saturating_sub(low).saturating_add(one.bytes),
                ),
                None => (i64::MIN, i64::MAX),
            };
            let windows = if by_rest { around(low, high, unit) } else { [(low, high), (1, 0)] };
            for (low, high) in windows {
                let begin = sorted.partition_point(|(key, _)| *key < low);
                for (_, by) in sorted[begin..].iter().take_while(|(key, _)| *key <= high) {
                    *left = left.saturating_sub(1);
                    if *left == 0 {
                        return None;
                    }
                    let mut tiles = WarpTile::all().filter(|tile| tile.holds_both(thread, *by));
                    let ordered = tiles.any(|tile| self.met.at(tile) >> (thread / 32) & 1 == 1);
                    let own = thread == *by && !self.own_counts;
                    if !own && !ordered && may_touch(later[*by].wrapping_sub(at)) {
                        return Some((thread, *by));
                    }
                }
            }
        }
        None
    }

    fn threads<'s>(&self, side: &'s Side<'_>) -> impl Iterator<Item = usize> + use<'s> {
        let rows = usize::from(side.rows) * 8;
        side.threads.threads().filter(move |thread| rows == 0 || thread % 32 < rows)
    }

    /// What symbols add to the later offset beside what they add to the earlier one.
    fn added(&self, one: &Int, other: &Int) -> Added {
        let mut added = Added { low: Some(0), high: Some(0), unit: 0, known: Lanes::constant(0) };
        let find = |int: &Int, id: SymbolId| {
            int.terms.iter().find(|(term, _)| *term == id).map(|(_, factor)| factor.clone())
        };
        for (id, factor) in &one.terms {
            let there = find(other, *id);
            let same = factor.as_constant().is_some() && there.as_ref() == Some(factor);
            if same && self.is_one_number(*id) {
                if let Relation::Next { round, by, .. } = self.relation
                    && round == *id
                {
                    added.known = added.known.add(&factor.scale(by), self.shape);
                }
                continue;
            }
            self.widen(&mut added, *id, factor, -1);
            if let Some(factor) = there {
                self.widen(&mut added, *id, &factor, 1);
            }
        }
        for (id, factor) in &other.terms {
            match self.relation {
                Relation::Before { round, number } | Relation::Apart { rest: Some((round, number)), .. }
                    if round == *id =>
                {
                    added.known = added.known.add(&factor.scale(number), self.shape);
                }
                _ if find(one, *id).is_none() => self.widen(&mut added, *id, factor, 1),
                _ => {}
            }
        }
        added
    }

    /// Whether a symbol is one number for both accesses, but for the number of the round that is the next.
    fn is_one_number(&self, id: SymbolId) -> bool {
        !id.is_per_thread()
            && match self.relation {
                Relation::Same | Relation::Before { .. } => true,
                Relation::Next { round, from, .. } => id == round || id < from,
                Relation::Apart { from, .. } => id < from,
            }
    }

    /// A symbol adds a multiple of a factor, of which only the range is known.
    fn widen(&self, added: &mut Added, id: SymbolId, factor: &Lanes, sign: i64) {
        added.unit = gcd(added.unit, factor.gcd());
        let factors = factor.bounds(self.shape);
        let ends = self.tree.symbol(id).map(|symbol| (symbol.low, symbol.high));
        let products = ends.and_then(|(low, high)| {
            let (low, high) = (low?, high?);
            let mut all = [0; 4];
            for (slot, (factor, end)) in
                all.iter_mut().zip([factors.0, factors.1].iter().flat_map(|f| [(f, low), (f, high)]))
            {
                *slot = factor.checked_mul(end)?.checked_mul(sign)?;
            }
            Some((all.iter().min().copied()?, all.iter().max().copied()?))
        });
        let plus = |sum: Option<i64>, part: Option<i64>| sum?.checked_add(part?);
        added.low = plus(added.low, products.map(|it| it.0));
        added.high = plus(added.high, products.map(|it| it.1));
    }
}

/// A window of rests modulo a unit, cut where it goes around.
fn around(low: i64, high: i64, unit: i64) -> [(i64, i64); 2] {
    if high - low >= unit {
        return [(0, unit), (1, 0)];
    }
    let (from, to) = (low.rem_euclid(unit), high.rem_euclid(unit));
    if from <= to { [(from, to), (1, 0)] } else { [(from, unit), (0, to)] }
}
