//! Which request of a site shows what a verdict says?

use super::request::{alignment, as_joined, lanes, moved_cost, question};
use super::symbols::{Tried, each_tried};
use super::table::{StrideTable, TableRow};
use super::{Totals, Worst};
use crate::banks::{self, Cost, Served, Target};
use crate::codegen::Merges;
use crate::events::{Access, Pattern, Trace};

/// One request, as the hardware gets it.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The warp that does it.
    pub warp: u32,
    /// The active lanes; bit `l` is lane `l`.
    pub active: u32,
    /// What it costs.
    pub cost: Cost,
    /// How it is served, by machine access; `None` where only the count is known.
    pub served: Option<Vec<Served>>,
}

/// What an example is to show.
#[derive(Clone, Copy, Debug)]
pub enum Sought<'a> {
    /// The worst request of the sums.
    Worst(&'a Totals),
    /// A request of a warp with these active lanes.
    Lanes(u32, u32),
    /// The worst request with the values of a table's row.
    Row(&'a StrideTable, &'a TableRow),
}

impl Sought<'_> {
    fn fits(self, trace: &Trace, number: usize, tried: &Tried<'_>) -> bool {
        let pattern = &trace.accesses[number].patterns[tried.pattern];
        match self {
            _ if pattern.anywhere => false,
            Sought::Worst(Totals { worst, .. }) => {
                same(tried.cost, worst) && pattern.first_warp == worst.warp
            }
            Sought::Lanes(warp, active) => pattern.warps >> (warp & 31) & 1 == 1 && pattern.active == active,
            Sought::Row(table, row) => {
                let chosen = |name: &str| tried.values.iter().find(|(other, _)| other == name);
                let fits = table.symbols.iter().zip(&row.values).all(|(symbol, value)| {
                    chosen(&symbol.name).is_some_and(|(_, chosen)| match symbol.modulus {
                        Some(modulus) => chosen.rem_euclid(modulus.max(1)) == *value,
                        None => chosen == value,
                    })
                });
                fits && (tried.cost.wavefronts, tried.cost.ideal) == (row.wavefronts, row.ideal)
            }
        }
    }
}

fn same(cost: &Cost, worst: &Worst) -> bool {
    (cost.wavefronts, cost.ideal, cost.ways, cost.witness)
        == (worst.wavefronts, worst.ideal, worst.ways, worst.witness)
}

/// The request of a pattern as the hardware gets it with its lanes at other places; `None` where its cost is not
/// known.
pub(crate) fn moved_example(
    access: &Access,
    pattern: &Pattern,
    offsets: &[i64; 32],
    target: &Target,
) -> Option<Example> {
    let cost = moved_cost(access, pattern, offsets, target)?;
    let align = alignment(access, pattern.active, offsets, target);
    Some(as_example(access, pattern, (offsets, access.bytes, align), cost, target))
}

/// A request at these offsets, of so many bytes and so aligned.
fn as_example(
    access: &Access,
    pattern: &Pattern,
    (offsets, bytes, align): (&[i64; 32], Option<u32>, u32),
    cost: Cost,
    target: &Target,
) -> Example {
    let active = lanes(access, pattern.active, offsets, target).unwrap_or(pattern.active);
    let served = banks::schedule(&question(access, bytes, active, offsets, align, target), target);
    // Of a copy what it reads counts, too, which the banks of what it writes do not show.
    let sum = |all: &[Served]| all.iter().map(|it| it.wavefronts * it.times * it.passes).sum::<u32>();
    let served = served.filter(|served| sum(served) == cost.wavefronts);
    Example { warp: pattern.first_warp, active: pattern.active, cost, served }
}

/// A request of an access, by its number, that shows what is sought.
#[must_use]
pub fn example(
    trace: &Trace,
    merges: &Merges,
    number: usize,
    target: &Target,
    sought: Sought<'_>,
) -> Option<Example> {
    let access = &trace.accesses[number];
    let mut found = None;
    each_tried(trace, number, target, &mut |tried| {
        let pattern = &access.patterns[tried.pattern];
        let of = |offsets: &[i64; 32], bytes: Option<u32>, align: u32, cost: Cost| {
            as_example(access, pattern, (offsets, bytes, align), cost, target)
        };
        // Neighbouring accesses that the compiler joins are one wider request.
        let wide = merges.get(number, tried.pattern, target);
        let wide = wide.map(|wide| {
            let mut wide = *wide;
            // Where what lanes add besides is chosen.
            if !pattern.varying.is_empty() {
                let moved = wide.offsets.iter_mut().zip(tried.offsets).zip(&pattern.offsets);
                moved.for_each(|((offset, to), from)| *offset = offset.wrapping_add(to.wrapping_sub(*from)));
            }
            wide
        });
        let joined = wide.and_then(|wide| {
            let (bytes, cost) = as_joined(access, pattern, &wide, target)?;
            Some((wide.offsets, bytes, cost))
        });
        found = match joined {
            Some((offsets, bytes, cost)) => {
                let tried = Tried { offsets: &offsets, cost: &cost, ..*tried };
                sought.fits(trace, number, &tried).then(|| of(&offsets, Some(bytes), 0, cost))
            }
            None => sought.fits(trace, number, tried).then(|| {
                let align = alignment(access, pattern.active, tried.offsets, target);
                of(tried.offsets, access.bytes, align, *tried.cost)
            }),
        };
        found.is_some()
    });
    found
}
