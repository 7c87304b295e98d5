//! For which threads may a comparison hold, and for which may it fail, by what is known of its numbers?

use super::machine::Machine;
use super::value::Relation;
use crate::domain::{Int, Lanes, ThreadSet};

impl Machine<'_> {
    /// The threads for which a comparison may hold and may fail, by what of it is known: of `t < 1 ? n : 0` it is 0 for
    /// all threads but one, and in `t < min(32, n)`, it fails for thread 32.
    pub(super) fn by_what_is_known(&self, difference: &Int, relation: Relation) -> (ThreadSet, ThreadSet) {
        let (holds, fails) = self.by_range(difference, relation);
        if difference.terms.iter().all(|(_, factor)| factor.as_constant().is_some()) {
            return (holds, fails);
        }
        let shape = self.shape();
        let factors: Vec<_> = difference.terms.iter().map(|(_, factor)| factor.spread(shape)).collect();
        let base = difference.base.spread(shape);
        let is_known = |thread: usize| factors.iter().all(|factor| factor[thread] == 0);
        let may = |wanted: bool, thread: usize| !is_known(thread) || relation.holds(base[thread]) == wanted;
        let [may_hold, may_fail] =
            [true, false].map(|wanted| ThreadSet::collect(shape, |thread| may(wanted, thread)));
        (holds.and(&may_hold), fails.and(&may_fail))
    }

    fn by_range(&self, difference: &Int, relation: Relation) -> (ThreadSet, ThreadSet) {
        let (all, shape) = (self.world.all, self.shape());
        let terms = Int::of(Lanes::constant(0), difference.terms.clone());
        let (least, most) = self.world.bounds(&terms);
        if least.is_none() && most.is_none() {
            return (all, all);
        }
        let base = difference.base.spread(shape);
        let end = |thread: usize, end: Option<i64>| end.and_then(|end| base[thread].checked_add(end));
        let may = |wanted: bool, thread: usize| {
            // Of what is not known, the end that makes it likeliest.
            let (low, high) = (end(thread, least), end(thread, most));
            let likeliest = match (relation, wanted) {
                (Relation::Less | Relation::LessEqual, true)
                | (Relation::Greater | Relation::GreaterEqual, false) => low,
                (Relation::Less | Relation::LessEqual, false)
                | (Relation::Greater | Relation::GreaterEqual, true) => high,
                (Relation::Equal | Relation::NotEqual, _) => None,
            };
            likeliest.is_none_or(|value| relation.holds(value) == wanted)
        };
        let [holds, fails] =
            [true, false].map(|wanted| ThreadSet::collect(shape, |thread| may(wanted, thread)));
        if holds != all || fails != all {
            self.world.note_decided(difference);
        }
        (holds, fails)
    }
}
