//! What do the requests of a site cost as parts of the wider ones that the compiler makes of neighbours?
//!
//! Where lanes lie a run-time number of bytes apart, the wider request is weighed for each value of that number, as the
//! narrow one is.

use super::{Costs, MOST_TRIED_OF_SITE, Site};
use crate::banks::Cost;
use crate::codegen::{Merges, Wide};
use crate::events::{Access, Assumption, Pattern};
use crate::verdict::request::{NoCost, as_joined, may_be_joined, perhaps_joined};

/// What is found while the patterns of one access are weighed.
pub(super) struct Weighing<'a> {
    site: &'a Site<'a>,
    merges: &'a Merges,
    /// The access, by its number.
    number: usize,
    /// How much more may be tried.
    left: u64,
    /// The access alone, as a part of a wider one.
    part: Option<Access>,
    /// What the costs rest on.
    pub assumptions: Vec<Assumption>,
    /// Whether it is a part of a request that another access begins.
    pub follows: bool,
}

impl<'a> Weighing<'a> {
    pub(super) fn new(site: &'a Site<'a>, merges: &'a Merges, number: usize) -> Weighing<'a> {
        let (left, assumptions) = (MOST_TRIED_OF_SITE, Vec::new());
        Weighing { site, merges, number, left, part: None, assumptions, follows: false }
    }

    pub(super) fn assume(&mut self, assumption: Assumption) {
        if !self.assumptions.contains(&assumption) {
            self.assumptions.push(assumption);
        }
    }

    /// What a pattern costs, by its number.
    pub(super) fn costs(&mut self, at: usize, pattern: &Pattern) -> Result<Costs, NoCost> {
        let costs = self.site.pattern(pattern, &mut self.left)?;
        match pattern.varying.is_empty() {
            true => self.joined(at, pattern, costs),
            false => self.joined_by_values(at, pattern, costs),
        }
    }

    /// Of a pattern whose lanes are known numbers of bytes apart.
    fn joined(&mut self, at: usize, pattern: &Pattern, mut costs: Costs) -> Result<Costs, NoCost> {
        let Some(Some(row)) = costs.rows.first_mut().filter(|_| costs.axes.is_empty()) else {
            return Ok(costs);
        };
        let (access, target) = (self.site.access, self.site.target);
        let conflicts = |costs: &[Cost]| costs.iter().any(|cost| cost.excess() > 0);
        let mut conflict = conflicts(&row.costs);
        let wide = self.merges.get(self.number, at, target);
        if let Some(wide) = wide
            && let Some((bytes, cost)) = as_joined(access, pattern, wide, target)
        {
            // Its other parts are the same request.
            self.follows |= !wide.head && !wide.single;
            costs.again = !wide.head && wide.single;
            row.costs = if wide.first { vec![cost] } else { Vec::new() };
            if conflict || conflicts(&[cost]) || wide.in_part {
                self.assume(Assumption::Joined { bytes, partly: wide.single });
            }
            conflict = conflicts(&[cost]);
        }
        let wider = self
            .merges
            .possible(self.number, at, target)
            .filter(|wider| wide.is_none_or(|wide| wide.bytes < wider.bytes));
        if let Some(wider) = wider {
            if conflict {
                perhaps_joined(access, pattern, wider, target)?;
            }
            // There would be fewer of them, even if none conflicts.
            self.assume(Assumption::NotJoined { bytes: wider.bytes, again: wide.is_some() });
        }
        Ok(costs)
    }

    /// Of one whose lanes are numbers of bytes apart that are chosen.
    fn joined_by_values(&mut self, at: usize, pattern: &Pattern, costs: Costs) -> Result<Costs, NoCost> {
        let target = self.site.target;
        if let Some(wide) = self.merges.possible(self.number, at, target)
            && has_conflict(&costs)
            && !has_conflict(&self.as_part(pattern, wide)?)
        {
            return Err(may_be_joined());
        }
        let Some(wide) = self.merges.get(self.number, at, target) else { return Ok(costs) };
        let mut whole = self.as_part(pattern, wide)?;
        self.follows |= !wide.head && !wide.single;
        whole.again = !wide.head && wide.single;
        if has_conflict(&costs) || has_conflict(&whole) || wide.in_part {
            self.assume(Assumption::Joined { bytes: wide.bytes, partly: wide.single });
        }
        if !wide.first {
            whole.rows.iter_mut().flatten().for_each(|row| row.costs.clear());
        }
        Ok(whole)
    }

    /// What a pattern costs as a part of a wider request.
    fn as_part(&mut self, pattern: &Pattern, wide: &Wide) -> Result<Costs, NoCost> {
        let whole = Pattern { offsets: wide.offsets, ..pattern.clone() };
        let Site { trace, access, target, copies, ref axes } = *self.site;
        let part = self.part.get_or_insert_with(|| Access { patterns: Vec::new(), ..access.clone() });
        part.bytes = Some(wide.bytes);
        Site { trace, access: part, target, copies, axes: axes.clone() }.pattern(&whole, &mut self.left)
    }
}

/// Whether there is a conflict in some row.
fn has_conflict(costs: &Costs) -> bool {
    costs.rows.iter().flatten().flat_map(|row| &row.costs).any(|cost| cost.excess() > 0)
}
