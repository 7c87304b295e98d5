//! Which requests are tried for a site, one by one?
//!
//! The same that [`weigh`](super::weigh) adds up, handed out to whoever looks for an example of one.

use super::{MOST_TRIED, Role, Site, shifts};
use crate::banks::{Cost, Target};
use crate::events::Trace;

/// A request that was tried.
#[derive(Debug)]
pub(crate) struct Tried<'a> {
    /// The number of its pattern.
    pub pattern: usize,
    /// The symbols of the site's table by name, and the values chosen for them.
    pub values: &'a [(String, i64)],
    /// The byte offsets of its lanes.
    pub offsets: &'a [i64; 32],
    /// What it costs.
    pub cost: &'a Cost,
}

/// Hands the requests of a site to `see` until that has seen enough.
pub(crate) fn each_tried(
    trace: &Trace,
    number: usize,
    target: &Target,
    see: &mut dyn FnMut(&Tried<'_>) -> bool,
) {
    let access = &trace.accesses[number];
    let site = Site::new(trace, number, target);
    let table: Vec<usize> = site.with_role(Role::Row).collect();
    let used = |pattern: usize, axis: &usize| {
        let symbol = site.axes[*axis].first();
        access.patterns[pattern].varying.iter().any(|(term, _)| site.has_factor(*term, symbol))
    };
    for (number, pattern) in access.patterns.iter().enumerate() {
        let shifts = shifts(pattern.unit, target);
        let own: Vec<usize> = (0..site.axes.len()).filter(|axis| used(number, axis)).collect();
        let lengths: Vec<usize> = own.iter().map(|&axis| site.axes[axis].values.len()).collect();
        let combinations = lengths.iter().fold(1u64, |n, &length| n.saturating_mul(length as u64));
        let named = own.iter().any(|axis| table.contains(axis));
        let sides: &[bool] = if named { &[false, true] } else { &[false] };
        let terms = site.terms(pattern);
        let mut values = vec![0i64; site.axes.len()];
        for &far in sides {
            for combination in 0..combinations.min(MOST_TRIED) as usize {
                site.choose(&own, combination, &lengths, far, &mut values);
                let offsets = site.offsets(pattern, &terms, &values);
                if named && !site.can_happen(pattern, &offsets, &values) {
                    continue;
                }
                let Ok(cost) = site.cost(pattern, &offsets, &shifts) else { continue };
                let chosen: Vec<(String, i64)> =
                    table.iter().map(|&axis| (site.axes[axis].name(trace), values[axis])).collect();
                let tried = Tried { pattern: number, values: &chosen, offsets: &offsets, cost: &cost };
                if see(&tried) {
                    return;
                }
            }
        }
    }
}
