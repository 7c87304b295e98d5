//! What does a site cost by the values of the symbols that keep its lanes apart?
//!
//! In `s[threadIdx.x * ld + k]` the factor of `k` is the same for all lanes and cancels; that of
//! `ld` is not, so the banks decide it by `ld` modulo their period. What a symbol is for decides
//! how its values are tried:
//!
//! | symbol | values |
//! |---|---|
//! | given from outside under a name (`ld`, a template parameter) | each residue is a row of a table |
//! | the counter of a loop that runs often | each residue in turn, all of them happen |
//! | anything else (a choice, a value from memory) | all have to agree |
//!
//! Symbols that go into every offset with the same factors count only by their sum: in a tile of
//! `[32][K + PAD]` the table is over `K + PAD`.
//!
//! A residue stands for all its numbers, and small ones are special: at `ld` = 0 all lanes read one
//! word, at `ld` = 8 those of `(x % 4) * ld + x / 4 * 8` meet. So each residue is tried near 0 and
//! far from it, and where the two differ the worse counts, as "up to".

mod joined;
mod tried;

use crate::codegen::{Merges, atomics};
use crate::domain::{Reason, gcd, lcm, quoted};
use joined::Weighing;
pub(super) use tried::{Tried, each_tried};

use super::request::{NoCost, TILE_LINES, can_be_aligned, copied, lanes, phases, shifts};
use super::{Again, Totals, is_copy_instruction};
use crate::banks::{self, Cost, Target};
use crate::events::{Access, Assumption, LinesApart, Pattern, Roots, Trace};
use crate::source::Span;

/// The most requests tried for one pattern of a site.
const MOST_TRIED: u64 = 8192;

/// The most requests tried for one site.
const MOST_TRIED_OF_SITE: u64 = 1 << 17;

/// The most symbols that a table is over.
const MOST_AXES: usize = 2;

/// Multiples of the period that no real offset comes near, by axis.
const FAR: [i64; 4] = [1_000_003, 70_000_027, 3_000_017, 900_000_011];

/// The name of a number that both a row of the table is over and a bound is made of that may not let all lanes in,
/// whatever it is: in `if (t < 64 / k) s[t * k]`, that of `k`.
pub(super) fn bounded(trace: &Trace, access: &Access, axes: &[Axis]) -> Option<String> {
    let bounds = access.assumptions.iter().filter_map(|assumption| match assumption {
        Assumption::InsideBounds { roots: Some(roots), possible: false, .. } => Some(roots),
        _ => None,
    });
    let rows = || axes.iter().filter(|axis| axis.role == Role::Row);
    let symbols = || rows().flat_map(|axis| &axis.symbols).map(|at| &trace.symbols[*at as usize]);
    let meets = |roots: &Roots| symbols().find(|symbol| symbol.roots.meet(roots));
    bounds.filter_map(meets).next().map(|symbol| symbol.name.clone())
}

/// A symbol, or a sum of some, over whose values a site is tried.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    /// Indices into [`Trace::symbols`] of what is added up; never empty.
    symbols: Vec<u32>,
    /// The values; the residues when there is a modulus.
    pub values: Vec<i64>,
    /// What the values are residues of.
    pub modulus: Option<i64>,
    role: Role,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// A row of the table for each value.
    Row,
    /// The values happen in turn.
    Turn,
    /// The values have to agree.
    Any,
}

impl Axis {
    /// The first symbol, which stands for the sum.
    fn first(&self) -> u32 {
        self.symbols.first().copied().unwrap_or(0)
    }

    /// As in the source text: `ld`, `K + PAD`.
    pub(super) fn name(&self, trace: &Trace) -> String {
        let names = self.symbols.iter().map(|symbol| trace.symbols[*symbol as usize].name.as_str());
        names.collect::<Vec<_>>().join(" + ")
    }
}

/// What a site costs.
#[derive(Debug)]
pub(super) struct Weighed {
    /// The symbols of the table; none when the cost depends on nothing.
    pub axes: Vec<Axis>,
    /// By the values of the axes, the last the fastest; `None` for values that no program can have.
    pub rows: Vec<Option<Row>>,
    /// What was taken for granted.
    pub assumptions: Vec<Assumption>,
    /// Whether its requests are joined to those of another site.
    pub follows: bool,
}

/// What a site costs for one value of each axis.
#[derive(Clone, Debug, Default)]
pub(super) struct Row {
    /// The sums.
    pub totals: Totals,
    /// The wavefronts beyond the ideal, by the innermost loop of unknown length, if there is one.
    pub extra: Vec<(Option<Span>, u64)>,
    /// Whether only some of the numbers with these residues cost as much.
    pub at_most: bool,
    /// What requests that another site begins take of that, if it has others of its own.
    pub again: Vec<Again>,
}

impl Row {
    /// Whether some request takes more wavefronts than it could.
    pub(super) fn conflicts(&self) -> bool {
        self.totals.wavefronts > self.totals.ideal
    }

    fn add(&mut self, cost: &Cost, pattern: &Pattern, again: bool) {
        self.totals.add(cost, pattern);
        for &(innermost, times) in &pattern.within {
            let by = times.saturating_mul(cost.excess().into());
            let all = times.saturating_mul(cost.wavefronts.into());
            self.again.extend(again.then_some(Again { innermost, extra: by, all }));
            match self.extra.iter_mut().find(|(known, _)| *known == innermost) {
                Some((_, sum)) => *sum = sum.saturating_add(by),
                None => self.extra.push((innermost, by)),
            }
        }
    }
}

/// The values of the axes in a row, by its number.
pub(super) fn values(axes: &[Axis], row: usize) -> Vec<i64> {
    let at = digits(row, axes.iter().map(|axis| axis.values.len()));
    axes.iter().zip(at).map(|(axis, at)| axis.values[at]).collect()
}

/// Costs an access of a trace, by its number.
pub(super) fn weigh(
    trace: &Trace,
    merges: &Merges,
    number: usize,
    target: &Target,
) -> Result<Weighed, NoCost> {
    let access = &trace.accesses[number];
    let site = Site::new(trace, number, target);
    let table: Vec<usize> = site.with_role(Role::Row).collect();
    if table.len() > MOST_AXES {
        return Err(site.undecided(&table));
    }
    let mut weighing = Weighing::new(&site, merges, number);
    let lengths = || table.iter().map(|&axis| site.axes[axis].values.len());
    let mut rows: Vec<Option<Row>> = vec![Some(Row::default()); lengths().product()];
    let mut all: Vec<(&Pattern, Costs)> = Vec::with_capacity(access.patterns.len());
    for (at, pattern) in access.patterns.iter().enumerate() {
        all.push((pattern, weighing.costs(at, pattern)?));
    }
    for (pattern, costs) in &all {
        if pattern.varying.is_empty() {
            let lanes = lanes(access, pattern.active, &pattern.offsets, target)?;
            let assumed = atomics::assumption(pattern.active, lanes);
            assumed.into_iter().for_each(|it| weighing.assume(it));
        }
        if costs.in_turn {
            weighing.assume(Assumption::MeetsBanksEvenly);
        }
    }
    for (number, slot) in rows.iter_mut().enumerate() {
        let at = digits(number, lengths());
        let found: Option<Vec<&PatternRow>> =
            all.iter().map(|(_, costs)| costs.at(&site, &table, &at)).collect();
        let Some(found) = found else {
            *slot = None;
            continue;
        };
        let row = slot.get_or_insert_default();
        // Costs in turn are those of as many rounds of a loop: so often happens what is the same in each.
        let rounds = found.iter().map(|it| it.costs.len().max(1) as u64).fold(1, lcm);
        for ((pattern, costs), of) in all.iter().zip(&found) {
            for _ in 0..rounds / of.costs.len().max(1) as u64 {
                of.costs.iter().for_each(|cost| row.add(cost, pattern, costs.again));
            }
            row.at_most |= of.at_most;
        }
    }
    // Lanes that read one word when the stride is 0 say nothing of the stride that is meant.
    if rows.iter().flatten().all(Row::conflicts) {
        for &axis in &table {
            if site.vanishes(axis) {
                weighing.assume(Assumption::NotZero { name: site.axes[axis].name(trace).into() });
            }
        }
    }
    let axes = table.iter().map(|&axis| site.axes[axis].clone()).collect();
    let Weighing { assumptions, follows, .. } = weighing;
    Ok(Weighed { axes, rows, assumptions, follows })
}

/// One access with the symbols that matter to it.
struct Site<'a> {
    trace: &'a Trace,
    access: &'a Access,
    target: &'a Target,
    /// Whether it is a copy that the target has an instruction for.
    copies: bool,
    axes: Vec<Axis>,
}

/// What one pattern costs.
struct Costs {
    /// The axes with role `Row` that it depends on.
    axes: Vec<usize>,
    /// By their values, the last the fastest.
    rows: Vec<Option<PatternRow>>,
    /// Whether a loop's counter takes its values in turn.
    in_turn: bool,
    /// Whether it is a part of a request that another site begins, and its site has others of its own.
    again: bool,
}

#[derive(Clone)]
struct PatternRow {
    /// One cost, or one for each value that happens in turn.
    costs: Vec<Cost>,
    at_most: bool,
}

/// A product of symbols by which lanes may differ.
struct Term<'p> {
    /// What each lane multiplies it with.
    factors: &'p [i64; 32],
    /// The axes whose values it is made of, one that is squared twice.
    axes: Vec<usize>,
}

impl Costs {
    /// The row for the digits of the site's table.
    fn at(&self, site: &Site<'_>, table: &[usize], digits: &[usize]) -> Option<&PatternRow> {
        let own = table.iter().zip(digits).filter(|(axis, _)| self.axes.contains(axis));
        let row = own.fold(0, |row, (axis, digit)| row * site.axes[*axis].values.len() + digit);
        self.rows.get(row)?.as_ref()
    }
}

impl<'a> Site<'a> {
    fn new(trace: &'a Trace, number: usize, target: &'a Target) -> Site<'a> {
        let access = &trace.accesses[number];
        let copies = is_copy_instruction(access, target);
        Site { trace, access, target, copies, axes: axes(trace, access, target) }
    }

    /// What a request costs whose lanes are at these offsets.
    fn cost(&self, pattern: &Pattern, offsets: &[i64; 32], shifts: &[i64]) -> Result<Cost, NoCost> {
        match self.copies {
            true => copied(self.access, pattern, self.target),
            false => phases(self.access, pattern.active, offsets, shifts, self.target),
        }
    }

    fn with_role(&self, role: Role) -> impl Iterator<Item = usize> + '_ {
        (0..self.axes.len()).filter(move |&axis| self.axes[axis].role == role)
    }

    fn undecided(&self, axes: &[usize]) -> NoCost {
        let name = |axis: &usize| quoted(&self.axes[*axis].name(self.trace));
        let mut names: Vec<String> = axes.iter().map(name).collect();
        names.dedup();
        NoCost::Unknown(Reason::RunTimeStride, format!("it depends on {}", names.join(" and ")))
    }

    fn pattern(&self, pattern: &Pattern, left: &mut u64) -> Result<Costs, NoCost> {
        let shifts = shifts(pattern.unit, self.target);
        let uses = |axis: &usize| {
            let symbol = self.axes[*axis].first();
            pattern.varying.iter().any(|(term, _)| self.has_factor(*term, symbol))
        };
        let of = |role| self.with_role(role).filter(uses).collect::<Vec<usize>>();
        let (table, turns, any) = (of(Role::Row), of(Role::Turn), of(Role::Any));
        let combinations = |axes: &[usize]| {
            axes.iter().fold(1u64, |n, &axis| n.saturating_mul(self.axes[axis].values.len() as u64))
        };
        let sides: &[bool] = if table.is_empty() { &[false] } else { &[false, true] };
        let (rows, in_turn, alike) = (combinations(&table), combinations(&turns), combinations(&any));
        let tried = [rows, in_turn, alike, shifts.len() as u64].into_iter().fold(1, u64::saturating_mul);
        if tried > MOST_TRIED || tried > *left {
            return Err(self.undecided(&[table, turns, any].concat()));
        }
        *left -= tried;
        let lengths = |axes: &[usize]| axes.iter().map(|&a| self.axes[a].values.len()).collect::<Vec<_>>();
        let (of_rows, of_turns, of_any) = (lengths(&table), lengths(&turns), lengths(&any));
        let terms = self.terms(pattern);
        let mut values = vec![0i64; self.axes.len()];
        let mut found: Vec<Option<PatternRow>> = Vec::new();
        for row in 0..rows as usize {
            let mut worst: Option<PatternRow> = None;
            for &far in sides {
                self.choose(&table, row, &of_rows, far, &mut values);
                let mut costs: Vec<Cost> = Vec::new();
                for turn in 0..in_turn as usize {
                    self.choose(&turns, turn, &of_turns, false, &mut values);
                    let mut agreed: Option<Cost> = None;
                    for other in 0..alike as usize {
                        self.choose(&any, other, &of_any, false, &mut values);
                        let offsets = self.offsets(pattern, &terms, &values);
                        let named = !table.is_empty();
                        if named && !self.can_happen(pattern, &offsets, &values) {
                            continue;
                        }
                        let cost = self.cost(pattern, &offsets, &shifts)?;
                        match &agreed {
                            Some(old) if !same(old, &cost) => return Err(self.undecided(&any)),
                            Some(_) => {}
                            None => agreed = Some(cost),
                        }
                    }
                    costs.extend(agreed);
                }
                if costs.is_empty() {
                    continue;
                }
                if costs.iter().all(|cost| same(cost, &costs[0])) {
                    costs.truncate(1);
                }
                let new = PatternRow { costs, at_most: false };
                worst = Some(match worst {
                    Some(old) => old.worse(new),
                    None => new,
                });
            }
            found.push(worst);
        }
        let in_turn = found.iter().flatten().any(|row| row.costs.len() > 1);
        Ok(Costs { axes: table, rows: found, in_turn, again: false })
    }

    /// Sets some axes to the values of a combination, by its number.
    fn choose(&self, axes: &[usize], number: usize, lengths: &[usize], far: bool, values: &mut [i64]) {
        let mut rest = number;
        for (&axis, &length) in axes.iter().zip(lengths).rev() {
            let value = self.axes[axis].values[rest % length.max(1)];
            rest /= length.max(1);
            values[axis] = match self.axes[axis].modulus {
                Some(modulus) if far => value.wrapping_add(modulus.wrapping_mul(FAR[axis % FAR.len()])),
                Some(modulus) if value == 0 => modulus,
                _ => value,
            };
        }
    }

    /// What the lanes' offsets are made of, besides numbers.
    fn terms<'p>(&self, pattern: &'p Pattern) -> Vec<Term<'p>> {
        // The first symbol of a sum has the value of all.
        let varying = pattern.varying.iter().filter(|(term, _)| self.is_counted(*term));
        let axes = |term: u32| {
            let powers = self.axes.iter().map(move |axis| self.power(term, axis.first()));
            powers.enumerate().flat_map(|(axis, power)| std::iter::repeat_n(axis, power)).collect()
        };
        varying.map(|(term, factors)| Term { factors, axes: axes(*term) }).collect()
    }

    /// The lanes' offsets with these values of the axes.
    fn offsets(&self, pattern: &Pattern, terms: &[Term<'_>], values: &[i64]) -> [i64; 32] {
        let mut offsets = pattern.offsets;
        for term in terms {
            let product = term.axes.iter().fold(1i64, |product, &axis| product.wrapping_mul(values[axis]));
            for (offset, factor) in offsets.iter_mut().zip(term.factors) {
                *offset = offset.wrapping_add(factor.wrapping_mul(product));
            }
        }
        offsets
    }

    /// Whether a program can ask for these offsets, with these values of the axes.
    fn can_happen(&self, pattern: &Pattern, offsets: &[i64; 32], values: &[i64]) -> bool {
        let fits = |lines: &LinesApart| {
            let terms = lines.terms.iter().filter(|(term, _)| self.is_counted(*term));
            let sum = terms.fold(lines.known, |sum, (term, factor)| {
                sum.wrapping_add(factor.wrapping_mul(self.product(*term, values)))
            });
            let is_varying = |term: &u32| pattern.varying.iter().any(|(known, _)| known == term);
            sum % TILE_LINES == 0 || !lines.terms.iter().all(|(term, _)| is_varying(term))
        };
        can_be_aligned(self.access, pattern.active, offsets)
            && pattern.lines_apart.as_deref().is_none_or(fits)
    }

    /// Whether a symbol is no further one of a sum that its first stands for.
    fn is_counted(&self, term: u32) -> bool {
        !self.axes.iter().flat_map(|axis| axis.symbols.iter().skip(1)).any(|other| *other == term)
    }

    /// The value of a product of symbols.
    fn product(&self, term: u32, values: &[i64]) -> i64 {
        self.axes.iter().zip(values).fold(1i64, |product, (axis, value)| {
            (0..self.power(term, axis.first())).fold(product, |product, _| product.wrapping_mul(*value))
        })
    }

    /// How often a symbol is a factor of a term.
    fn power(&self, term: u32, symbol: u32) -> usize {
        if term == symbol {
            return 1;
        }
        let factors = &self.trace.symbols[term as usize].factors;
        factors.iter().filter(|factor| **factor == symbol).count()
    }

    fn has_factor(&self, term: u32, symbol: u32) -> bool {
        self.power(term, symbol) > 0
    }

    /// Whether some request is free of conflicts when the symbol is 0, and the symbol may be.
    fn vanishes(&self, axis: usize) -> bool {
        let ranges = self.axes[axis].symbols.iter().map(|symbol| self.trace.symbols[*symbol as usize].range);
        let sum = |a: Option<i64>, b: Option<i64>| a.zip(b).and_then(|(a, b)| a.checked_add(b));
        let (low, high) =
            ranges.fold((Some(0), Some(0)), |(low, high), range| (sum(low, range.0), sum(high, range.1)));
        if self.axes[axis].modulus.is_none() || low.is_some_and(|v| v > 0) || high.is_some_and(|v| v < 0) {
            return false;
        }
        let all: Vec<usize> = (0..self.axes.len()).collect();
        let lengths: Vec<usize> = self.axes.iter().map(|axis| axis.values.len()).collect();
        let mut values = vec![0i64; self.axes.len()];
        self.choose(&all, 0, &lengths, true, &mut values);
        values[axis] = 0;
        self.access.patterns.iter().any(|pattern| {
            let offsets = self.offsets(pattern, &self.terms(pattern), &values);
            let cost = phases(self.access, pattern.active, &offsets, &[0], self.target);
            cost.is_ok_and(|cost| cost.excess() == 0)
        })
    }
}

impl PatternRow {
    fn worse(self, other: PatternRow) -> PatternRow {
        let excess = |row: &PatternRow| row.costs.iter().map(Cost::excess).max().unwrap_or(0);
        let at_most = self.costs.len() != other.costs.len()
            || !self.costs.iter().zip(&other.costs).all(|(a, b)| same(a, b));
        let worse = if excess(&other) > excess(&self) { other } else { self };
        PatternRow { at_most, ..worse }
    }
}

fn same(a: &Cost, b: &Cost) -> bool {
    (a.wavefronts, a.ideal) == (b.wavefronts, b.ideal)
}

/// The digits of a number in a mixed base, the last the fastest.
fn digits(number: usize, lengths: impl DoubleEndedIterator<Item = usize>) -> Vec<usize> {
    let mut rest = number;
    let mut found: Vec<usize> = Vec::new();
    for length in lengths.rev() {
        found.push(rest % length.max(1));
        rest /= length.max(1);
    }
    found.reverse();
    found
}

/// The symbols that keep the lanes of a site apart, with the values to try.
fn axes(trace: &Trace, access: &Access, target: &Target) -> Vec<Axis> {
    let period = u64::from(banks::period_bytes(target));
    // By term: the period of its value in the banks.
    let mut terms: Vec<(u32, u64)> = Vec::new();
    for pattern in &access.patterns {
        for (symbol, factors) in &pattern.varying {
            let own = period / divisor(factors, pattern.active, period);
            match terms.iter_mut().find(|(other, _)| other == symbol) {
                Some((_, longest)) => *longest = (*longest).max(own),
                None => terms.push((*symbol, own)),
            }
        }
    }
    // A product is taken as one value unless a factor is of use by itself.
    let factors = |term: u32| &trace.symbols[term as usize].factors;
    let whole = |term: u32| {
        factors(term).iter().all(|&factor| {
            let elsewhere =
                |other: u32| other != term && (other == factor || factors(other).contains(&factor));
            trace.symbols[factor as usize].given && !terms.iter().any(|(other, _)| elsewhere(*other))
        })
    };
    let mut found: Vec<(u32, u64)> = Vec::new();
    for &(term, period) in &terms {
        let parts = if whole(term) { std::slice::from_ref(&term) } else { factors(term).as_slice() };
        for part in parts {
            match found.iter_mut().find(|(other, _)| other == part) {
                Some((_, longest)) => *longest = (*longest).max(period),
                None => found.push((*part, period)),
            }
        }
    }
    let mut axes: Vec<Axis> = Vec::new();
    for axis in found.into_iter().map(|(symbol, period)| axis(trace, symbol, period)) {
        let added = |axis: &Axis| {
            let term = terms.iter().any(|(term, _)| *term == axis.first());
            term && axis.role == Role::Row && axis.modulus.is_some()
        };
        let alike = |other: &&mut Axis| added(other) && always_together(access, other.first(), axis.first());
        match axes.iter_mut().find(alike).filter(|_| added(&axis)) {
            Some(other) => other.symbols.push(axis.first()),
            None => axes.push(axis),
        }
    }
    axes
}

/// Whether two symbols have the same factors in every request, neither as a part of a product.
fn always_together(access: &Access, a: u32, b: u32) -> bool {
    access.patterns.iter().all(|pattern| {
        let factors = |symbol| pattern.varying.iter().find(|(term, _)| *term == symbol).map(|(_, f)| f);
        factors(a) == factors(b)
    })
}

fn axis(trace: &Trace, symbol: u32, period: u64) -> Axis {
    let facts = &trace.symbols[symbol as usize];
    let residues = i64::try_from(period).unwrap_or(i64::MAX);
    if let (Some(low), Some(high)) = facts.range
        && high.checked_sub(low).is_some_and(|span| span >= 0 && span < residues)
    {
        let role = if facts.given { Role::Row } else { Role::Any };
        return Axis { symbols: vec![symbol], values: (low..=high).collect(), modulus: None, role };
    }
    if facts.given {
        Axis {
            symbols: vec![symbol],
            values: (0..residues).collect(),
            modulus: Some(residues),
            role: Role::Row,
        }
    } else if facts.counter {
        Axis { symbols: vec![symbol], values: (1..=residues).collect(), modulus: None, role: Role::Turn }
    } else {
        let from = i64::from(facts.range.0.is_some_and(|low| low > 0));
        let far = (0..residues).map(|r| r.wrapping_add(residues.wrapping_mul(FAR[0])));
        let values = (from..=residues).chain(far).collect();
        Axis { symbols: vec![symbol], values, modulus: None, role: Role::Any }
    }
}

/// The largest divisor of the period that divides all that a symbol's value is multiplied with.
fn divisor(factors: &[i64; 32], active: u32, period: u64) -> u64 {
    let lanes = (0..32).filter(|lane| active >> lane & 1 == 1);
    lanes.fold(period, |acc, lane| gcd(acc, factors[lane].unsigned_abs())).max(1)
}
