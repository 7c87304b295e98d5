//! What do the rounds of loops, and other numbers that are not known, add to the offsets of all lanes?
//!
//! The round of a counted loop takes each of its values, and an event in its body stands for all of them. Anything
//! else may add any multiple of a number of bytes.

use crate::domain::{Lanes, Origin, SymbolId, gcd};
use crate::events::{Event, EventTree, GoesOn};
use rustc_hash::FxHashSet;

/// The most rounds of counted loops that are told apart.
const MOST_ROUNDS: i64 = 256;
/// Bytes by whose multiples a trace moves offsets.
const WINDOW: i64 = 256;
/// The round of a counted loop that moves all lanes by a multiple of this many bytes is no shift in a pattern.
const WIDEST: u64 = 16;

/// What is added to the offsets of all lanes alike, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Shift {
    /// Each of these, equally often.
    Each(Vec<i64>),
    /// Some multiple of this.
    Multiple(u64),
}

/// The active lanes of a mask.
pub(super) fn lanes(active: u32) -> impl Iterator<Item = usize> + Clone {
    (0..32usize).filter(move |lane| active >> lane & 1 == 1)
}

/// By event: in how many rounds of counted loops it stands for all.
pub(super) fn weights(tree: &EventTree) -> Vec<u64> {
    let events = tree.events();
    let mut rounds: Vec<u64> = vec![1; events.len()];
    let mut open: Vec<usize> = Vec::new();
    for (at, event) in events.iter().enumerate() {
        match event {
            Event::Loop { .. } => open.push(at),
            Event::EndOfLoop { round, goes_on, .. } => {
                let round = round.filter(|_| *goes_on == GoesOn::Surely);
                let last = round.and_then(|id| tree.symbol(id)?.high);
                let times = last.map_or(1, |last| last.unsigned_abs() + 1);
                open.pop().into_iter().for_each(|begin| rounds[begin] = times);
            }
            _ => {}
        }
    }
    let mut around: Vec<u64> = vec![1];
    let weight = |(event, times): (&Event, u64)| {
        let last = around.last().copied().unwrap_or(1);
        match event {
            Event::Loop { .. } => around.push(last.saturating_mul(times)),
            Event::EndOfLoop { .. } => drop(around.pop()),
            _ => {}
        }
        last
    };
    events.iter().zip(rounds).map(weight).collect()
}

/// The rounds of counted loops.
pub(super) fn counted(tree: &EventTree) -> FxHashSet<SymbolId> {
    let rounds = tree.events().iter().filter_map(|event| match event {
        Event::EndOfLoop { round, goes_on: GoesOn::Surely, .. } => *round,
        _ => None,
    });
    rounds.filter(|id| tree.symbol(*id).is_some_and(|symbol| symbol.high.is_some())).collect()
}

/// What symbols add to all lanes of an event.
pub(super) struct Added {
    pub shift: Shift,
    /// As in [`Pattern::unit`].
    pub unit: u64,
    /// The most that they add, if it is known.
    pub most: Option<i64>,
}

impl Added {
    /// `counted`: the rounds of counted loops.
    pub(super) fn of(
        tree: &EventTree,
        counted: &FxHashSet<SymbolId>,
        terms: &[(SymbolId, Lanes)],
    ) -> Result<Added, String> {
        let (mut step, mut unit, mut most) = (0, 0, Some(0i64));
        let mut each: Option<Vec<i64>> = Some(vec![0]);
        for (id, factor) in terms {
            let symbol = tree.symbol(*id);
            let factor =
                factor.as_constant().ok_or_else(|| symbol.map_or(String::new(), |it| it.name.to_string()))?;
            let last = symbol.filter(|it| it.origin == Origin::Loop).and_then(|it| it.high);
            let bytes = factor.unsigned_abs();
            let end = symbol.and_then(|it| if factor > 0 { it.high } else { it.low });
            most = most.zip(end).and_then(|(most, end)| most.checked_add(end.checked_mul(factor)?));
            let is_counted = counted.contains(id);
            step = gcd(step, bytes);
            if last.is_none() || !bytes.is_multiple_of(WIDEST) {
                unit = gcd(unit, bytes);
            }
            let rounds = last.filter(|last| is_counted && *last < MOST_ROUNDS);
            each = each.zip(rounds).and_then(|(each, last)| {
                let sums = each.iter().flat_map(|sum| (0..=last).map(move |round| sum + round * factor));
                Some(sums.take(MOST_ROUNDS as usize + 1).collect())
                    .filter(|sums: &Vec<i64>| sums.len() <= MOST_ROUNDS as usize)
            });
        }
        let unit = if unit.is_multiple_of(WINDOW as u64) { 0 } else { gcd(unit, WINDOW as u64) };
        Ok(Added { shift: each.map_or(Shift::Multiple(step), Shift::Each), unit, most })
    }
}
