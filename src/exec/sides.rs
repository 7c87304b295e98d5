//! Which threads are on one side of a comparison, whatever is not known of it?
//!
//! ```text
//! t < n         each thread may be on another side than the next
//! t / 32 < n    the lanes of a warp are on one
//! t < 256 * n   in a block of 256, all are on one
//! t * n < 10    for each thread, `n` counts another number of times
//! ```

use super::value::Relation;
use crate::domain::{Int, Shape, SymbolId, gcd};
use crate::events::Ranks;
use rustc_hash::FxHashMap;

/// Whether some of these threads are on other sides than others.
pub(super) fn are_apart(sides: &[i128]) -> bool {
    sides.iter().any(|side| *side != sides[0])
}

/// By a number for each thread, which of them agree on a comparison whatever is not known of it: those for which each
/// unknown number counts as much, and whose known parts lie on one side of each multiple of the common factor. A guard
/// against a multiple of the block's extent never splits it. `multiple_of`: of which number a symbol is a multiple.
pub(super) fn sides(
    difference: &Int,
    relation: Relation,
    shape: Shape,
    multiple_of: &dyn Fn(SymbolId) -> i64,
) -> Vec<i128> {
    let base = difference.base.spread(shape);
    if difference.terms.iter().all(|(_, factor)| factor.as_constant().is_some()) {
        let factors = difference.terms.iter().filter_map(|(id, factor)| {
            let factor = factor.as_constant()?;
            Some(factor.checked_mul(multiple_of(*id)).unwrap_or(factor).unsigned_abs())
        });
        let step = factors.fold(0, gcd) as i64;
        return base.iter().map(|known| side(relation, *known, step)).collect();
    }
    let factors: Vec<_> = difference.terms.iter().map(|(_, factor)| factor.spread(shape)).collect();
    let mut numbers: FxHashMap<(Vec<i64>, i128), i128> = FxHashMap::default();
    let mut number = |thread: usize| {
        let own: Vec<i64> = factors.iter().map(|of| of[thread]).collect();
        let step = own.iter().map(|factor| factor.unsigned_abs()).fold(0, gcd) as i64;
        let next = numbers.len() as i128;
        *numbers.entry((own, side(relation, base[thread], step))).or_insert(next)
    };
    (0..shape.threads()).map(&mut number).collect()
}

/// In which order a guard lets threads in, by a number for each; `taken`: on which side it is that they come. None where
/// unknown numbers count differently for each thread, or the comparison is no order.
pub(super) fn ranks(difference: &Int, sides: &[i128], relation: Relation, taken: bool) -> Option<Ranks> {
    let is_less = match relation {
        Relation::Less | Relation::LessEqual => true,
        Relation::Greater | Relation::GreaterEqual => false,
        Relation::Equal | Relation::NotEqual => return None,
    };
    if !difference.terms.iter().all(|(_, factor)| factor.as_constant().is_some()) {
        return None;
    }
    let symbols = difference.terms.iter().map(|(id, _)| *id).collect();
    let by_warps = !sides.chunks(32).any(are_apart);
    let mut order = sides.to_vec();
    order.sort_unstable();
    order.dedup();
    let last = order.len().saturating_sub(1);
    let rank = |side: &i128| {
        let at = order.binary_search(side).unwrap_or_default();
        (if is_less == taken { at } else { last - at }) as u16
    };
    Some(Ranks { symbols, of: sides.iter().map(rank).collect(), by_warps })
}

/// What decides on which side of a comparison a known number is, beside a multiple of `step` that is not
/// known: of those that agree in it none is ever apart.
fn side(relation: Relation, known: i64, step: i64) -> i128 {
    let (known, step) = (i128::from(known), i128::from(step));
    // In steps only: a guard against a multiple of the block's extent never splits it.
    match (relation, step) {
        (_, 0) => known,
        (Relation::Less | Relation::GreaterEqual, _) => known.div_euclid(step),
        (Relation::LessEqual | Relation::Greater, _) => (known - 1).div_euclid(step),
        (Relation::Equal | Relation::NotEqual, _) => i128::from(known % step != 0) * (known + 1),
    }
}
