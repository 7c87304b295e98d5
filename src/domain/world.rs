//! What does arithmetic make of integers that are affine in unknown symbols?
//!
//! Sums and products, `/` and `%`, minimum and maximum stay affine where they can, and are symbols of their own where
//! all threads have the same. What is left is not affine: the caller knows what it can say of it.

use super::int::fits;
use super::quotients::{Division, Quotients};
use super::results::Results;
use super::rounding::Rounding;
use super::{Int, Key, Lanes, NotAffine, Origin, Shape, SymbolId, Symbols, ThreadSet, gcd, joined, lcm};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// The most symbols of a number that is noted beside what it is in its type.
const MOST_UNWRAPPED: usize = 64;

/// What integer arithmetic needs to know and to note.
#[derive(Debug)]
pub(crate) struct World {
    /// The block's shape.
    pub shape: Shape,
    /// Every thread of the block.
    pub all: ThreadSet,
    /// The symbols.
    pub symbols: Symbols,
    /// By symbol: the multiple it should be for an operator to be decided.
    pub demands: FxHashMap<SymbolId, u64>,
    /// Symbols that were taken to be non-negative.
    pub taken_nonnegative: Vec<SymbolId>,
    /// Numbers of 32 bits or more that may have wrapped, and what each is but for a multiple of 2^32.
    unwrapped: FxHashMap<SymbolId, Int>,
    /// The smaller or larger of two numbers from which something was taken: what it was before.
    pub(super) reduced: FxHashMap<SymbolId, Int>,
    /// Quotients that are not affine.
    pub(super) quotients: Quotients,
    /// How numbers were divided whose sign is not known.
    pub(super) rounding: Rounding,
    /// Whether anything may hang on the signs of numbers though no pattern of addresses shows it.
    pub relied_on_signs: Cell<bool>,
    /// Results of operators on spread numbers, which loops ask for again and again.
    results: Results,
    /// How often a number with symbols of known range was seen to leave its type.
    pub overflows: Cell<u64>,
}

impl World {
    /// Drops the results that are remembered.
    #[cfg(test)]
    pub(crate) fn forget_results(&mut self) {
        self.results = Results::default();
    }

    /// A world for a block of this shape.
    #[must_use]
    pub(crate) fn new(shape: Shape) -> World {
        World {
            shape,
            all: ThreadSet::all(shape),
            symbols: Symbols::default(),
            demands: FxHashMap::default(),
            taken_nonnegative: Vec::new(),
            unwrapped: FxHashMap::default(),
            reduced: FxHashMap::default(),
            quotients: Quotients::default(),
            rounding: Rounding::default(),
            relied_on_signs: Cell::new(false),
            results: Results::default(),
            overflows: Cell::new(0),
        }
    }

    fn sum(&self, a: &Lanes, b: &Lanes) -> Lanes {
        match (a, b) {
            (Lanes::Closed(_), Lanes::Closed(_)) => a.add(b, self.shape),
            _ if a.is_zero() || b.is_zero() => a.add(b, self.shape),
            _ => self.results.of("+", a, b, || a.add(b, self.shape)),
        }
    }

    fn difference(&self, a: &Lanes, b: &Lanes) -> Lanes {
        match (a, b) {
            (Lanes::Closed(_), Lanes::Closed(_)) => a.sub(b, self.shape),
            _ => self.results.of("-", a, b, || a.sub(b, self.shape)),
        }
    }

    fn scaled(&self, a: &Lanes, factor: i64) -> Lanes {
        match a {
            Lanes::Each(_) if factor != 1 => {
                self.results.of("*", a, &Lanes::constant(factor), || a.scale(factor))
            }
            _ => a.scale(factor),
        }
    }

    /// Sum.
    #[must_use]
    pub(crate) fn add(&self, a: &Int, b: &Int) -> Int {
        let base = self.sum(&a.base, &b.base);
        let sight = a.sight.plus(b.sight);
        if b.terms.is_empty() {
            return Int { base, terms: a.terms.clone(), sight };
        }
        let mut terms = a.terms.clone();
        for (id, factor) in &b.terms {
            match terms.binary_search_by_key(id, |(id, _)| *id) {
                Ok(at) => {
                    let sum = terms[at].1.add(factor, self.shape);
                    if sum.is_zero() {
                        terms.remove(at);
                    } else {
                        terms[at].1 = sum;
                    }
                }
                Err(at) => terms.insert(at, (*id, factor.clone())),
            }
        }
        Int { base, terms, sight }
    }

    /// The same with another symbol in place of one, in products too.
    pub(crate) fn renamed(&mut self, a: &Int, from: SymbolId, to: SymbolId) -> Int {
        let has = |world: &World, id: SymbolId| world.symbols.get(id).factors.contains(&from);
        if !a.terms.iter().any(|(id, _)| has(self, *id)) {
            return a.clone();
        }
        let mut renamed = Int::known(a.base.clone());
        for (id, factor) in &a.terms {
            let mut id = *id;
            if has(self, id) {
                let factors = self.symbols.get(id).factors.clone();
                let mut others = factors.iter().map(|part| if *part == from { to } else { *part });
                let first = others.next().unwrap_or(to);
                id = others.fold(first, |product, part| self.symbols.product(product, part));
            }
            let term = Int::of(Lanes::constant(0), vec![(id, factor.clone())]);
            renamed = self.add(&renamed, &term);
        }
        renamed
    }

    /// Notes that a symbol is a number but for a multiple of 2^32. Of a sum of very many it is not noted: a loop would
    /// make one that grows with each iteration.
    pub(crate) fn set_unwrapped(&mut self, symbol: SymbolId, int: &Int) {
        let whole = self.unwrapped(int);
        if whole.terms.len() <= MOST_UNWRAPPED {
            self.unwrapped.insert(symbol, whole);
        }
    }

    /// The same but for a multiple of 2^32, without the symbols of numbers that may have wrapped.
    pub(crate) fn unwrapped(&self, a: &Int) -> Int {
        let plain =
            |(id, factor): &(SymbolId, Lanes)| factor.as_constant().zip(self.unwrapped.get(id)).is_none();
        if a.terms.iter().all(plain) {
            return a.clone();
        }
        let mut sum = Int::of(a.base.clone(), a.terms.iter().filter(|term| plain(term)).cloned().collect());
        for (id, factor) in a.terms.iter().filter(|term| !plain(term)) {
            if let Some((factor, whole)) = factor.as_constant().zip(self.unwrapped.get(id)) {
                sum = self.add(&sum, &self.scale(whole, factor));
            }
        }
        sum
    }

    /// Product with a number.
    #[must_use]
    pub(crate) fn scale(&self, a: &Int, factor: i64) -> Int {
        match factor {
            0 => return Int::constant(0),
            1 => return a.clone(),
            _ => {}
        }
        // A factor that wraps to 0 is none.
        let terms = a.terms.iter().map(|(id, f)| (*id, self.scaled(f, factor))).filter(|(_, f)| !f.is_zero());
        Int { base: self.scaled(&a.base, factor), terms: terms.collect(), sight: a.sight.times(factor) }
    }

    /// Difference.
    #[must_use]
    pub(crate) fn sub(&self, a: &Int, b: &Int) -> Int {
        if b.terms.is_empty() {
            let base = self.difference(&a.base, &b.base);
            return Int { base, terms: a.terms.clone(), sight: a.sight.plus(b.sight.times(-1)) };
        }
        self.add(a, &self.scale(b, -1))
    }

    /// Product; symbols multiply into product symbols.
    pub(crate) fn mul(&mut self, a: &Int, b: &Int) -> Result<Int, NotAffine> {
        if let Some(factor) = b.as_constant() {
            return Ok(self.scale(a, factor));
        }
        if let Some(factor) = a.as_constant() {
            return Ok(self.scale(b, factor));
        }
        if a.terms.len() * b.terms.len() > 16 {
            return Err(NotAffine);
        }
        let shape = self.shape;
        let mut sum = Int::known(a.base.mul(&b.base, shape));
        let mut add_term = |world: &World, id, factor: Lanes| {
            if !factor.is_zero() {
                sum = world.add(&sum, &Int::of(Lanes::constant(0), vec![(id, factor)]));
            }
        };
        for (id, factor) in &a.terms {
            add_term(self, *id, factor.mul(&b.base, shape));
        }
        for (id, factor) in &b.terms {
            add_term(self, *id, factor.mul(&a.base, shape));
        }
        for (ida, fa) in &a.terms {
            for (idb, fb) in &b.terms {
                if self.symbols.get(*ida).factors.len() + self.symbols.get(*idb).factors.len() > 4 {
                    return Err(NotAffine);
                }
                let id = self.symbols.product(*ida, *idb);
                add_term(self, id, fa.mul(fb, shape));
            }
        }
        Ok(sum)
    }

    /// Least and greatest value over all threads, as far as known.
    #[must_use]
    pub(crate) fn bounds(&self, a: &Int) -> (Option<i64>, Option<i64>) {
        let (low, high) = self.bounds_by_terms(a);
        if !a.is_per_thread() {
            return (low, high);
        }
        // A dividend without a multiple of its quotient is a remainder.
        let floored = |(id, factor): &(SymbolId, Lanes)| {
            let (dividend, by) = self.floored(*id)?;
            let factor = factor.as_constant().filter(|factor| factor % by == 0)?;
            Some((Int::symbol(*id), dividend, by, -(factor / by)))
        };
        let Some((quotient, dividend, by, times)) = a.terms.iter().find_map(floored) else {
            return (low, high);
        };
        let rest = self.sub(dividend, &self.scale(&quotient, by));
        let (least, most) = self.bounds_by_terms(&self.sub(a, &self.scale(&rest, times)));
        let ends = [0, times.saturating_mul(by - 1)];
        let plus = |sum: Option<i64>, end: Option<&i64>| sum?.checked_add(*end?);
        let (least, most) = (plus(least, ends.iter().min()), plus(most, ends.iter().max()));
        (low.max(least), high.into_iter().chain(most).min())
    }

    /// Least and greatest value, each symbol taken for itself.
    fn bounds_by_terms(&self, a: &Int) -> (Option<i64>, Option<i64>) {
        self.bounds_with(a, |id| {
            let symbol = self.symbols.get(id);
            (symbol.low, symbol.high)
        })
    }

    /// The same where the least and greatest value of each symbol are others.
    pub(crate) fn bounds_with(
        &self,
        a: &Int,
        ends_of: impl Fn(SymbolId) -> (Option<i64>, Option<i64>),
    ) -> (Option<i64>, Option<i64>) {
        let (low, high) = a.base.bounds(self.shape);
        let (mut low, mut high) = (Some(low), Some(high));
        for (id, factor) in &a.terms {
            let (lowest, highest) = ends_of(*id);
            let (least, most) = factor.bounds(self.shape);
            let reach = |factor: i64, up: bool| {
                let end = if (factor >= 0) == up { highest } else { lowest };
                if factor == 0 { Some(0) } else { end?.checked_mul(factor) }
            };
            let smallest = [reach(least, false), reach(most, false)];
            let largest = [reach(least, true), reach(most, true)];
            let plus = |sum: Option<i64>, part: Option<i64>| sum?.checked_add(part?);
            low = plus(low, smallest[0].zip(smallest[1]).map(|(a, b)| a.min(b)));
            high = plus(high, largest[0].zip(largest[1]).map(|(a, b)| a.max(b)));
        }
        (low, high)
    }

    pub(super) fn within(&self, a: &Int, low: i64, high: i64) -> bool {
        let (least, most) = self.bounds(a);
        least.is_some_and(|v| v >= low) && most.is_some_and(|v| v <= high)
    }

    /// Notes that the unknown symbols of `a` are taken to be non-negative, where truncating
    /// division would otherwise differ from the floor that distributes. Of what threads read it is not.
    pub(super) fn take_nonnegative(&mut self, a: &Int) -> Result<(), NotAffine> {
        if self.bounds(a).0.is_some_and(|low| low >= 0) {
            return Ok(());
        }
        if a.is_per_thread() {
            return Err(NotAffine);
        }
        for (id, _) in &a.terms {
            if self.symbols.get(*id).low.is_none_or(|low| low < 0) && !self.taken_nonnegative.contains(id) {
                self.taken_nonnegative.push(*id);
            }
        }
        Ok(())
    }

    /// C++ `/`, towards zero, or `%`, with the sign of the dividend.
    pub(crate) fn divide(
        &mut self,
        op: &'static str,
        a: &Int,
        b: &Int,
        division: Division,
    ) -> Result<Int, NotAffine> {
        let is_rest = op == "%";
        let may_be_large = [a, b].iter().any(|it| self.bounds(it).0.is_none_or(|low| low < 0));
        // Another number where one of them is below 0: so it has another name.
        let name = match (division, is_rest) {
            (Division::Unsigned(_), _) if !may_be_large => op,
            (Division::Unsigned(8), false) => "64-bit unsigned /",
            (Division::Unsigned(8), true) => "64-bit unsigned %",
            (Division::Unsigned(_), false) => "unsigned /",
            (Division::Unsigned(_), true) => "unsigned %",
            _ => op,
        };
        if let (Some(x), Some(y)) = (a.as_known(), b.as_known()) {
            // What has no sign and fewer bytes is not below 0.
            let is_large = division == Division::Unsigned(8);
            let apply = |a: i64, b: i64| match (b, is_large, is_rest) {
                (0, ..) => 0,
                (_, true, false) => (a as u64 / b as u64) as i64,
                (_, true, true) => (a as u64 % b as u64) as i64,
                (_, false, false) => a.wrapping_div(b),
                (_, false, true) => a.wrapping_rem(b),
            };
            return Ok(Int::known(self.results.of(name, x, y, || x.zip(y, self.shape, apply))));
        }
        match b.as_constant() {
            Some(divisor) if divisor > 0 => self.divide_by(a, divisor, is_rest, division),
            _ => self.symbolic_operation(name, a, b, 0),
        }
    }

    /// `floor(a / m)` for `m > 0`.
    ///
    /// With `g` the common divisor of `m` and every factor, `a = g·T + base`, and
    /// `floor(a / m) = floor((T + floor(base / g)) / (m / g))`: decided when `m / g` is 1, and
    /// uniform when `floor(base / g)` is.
    pub(super) fn floor_div(&mut self, a: &Int, m: i64) -> Result<Int, NotAffine> {
        self.quotient_by(a, m, Division::Floor)
    }

    /// The same of a number of which it makes no difference how it is rounded, or is told.
    pub(super) fn quotient_by(&mut self, a: &Int, m: i64, division: Division) -> Result<Int, NotAffine> {
        if m == 1 {
            return Ok(a.clone());
        }
        if self.within(a, 0, m - 1) {
            return Ok(Int::constant(0));
        }
        let (reduced, rest) = self.reduce(a, m);
        if rest == 1 {
            return Ok(reduced);
        }
        if reduced.is_alike() {
            let quotient = self.symbolic_operation("/", &reduced, &Int::constant(rest), 0)?;
            self.note_rounding(&quotient, &reduced, false, division);
            return Ok(quotient);
        }
        self.demand(a, m);
        Err(NotAffine)
    }

    /// `a - m·floor(a / m)` for `m > 0`.
    pub(crate) fn floor_rem(&mut self, a: &Int, m: i64) -> Result<Int, NotAffine> {
        self.rest_by(a, m, Division::Floor)
    }

    /// The same of a number of which it makes no difference how it is rounded, or is told.
    pub(super) fn rest_by(&mut self, a: &Int, m: i64, division: Division) -> Result<Int, NotAffine> {
        if self.within(a, 0, m - 1) {
            return Ok(a.clone());
        }
        let (reduced, rest) = self.reduce(a, m);
        let step = m / rest;
        let low = Int::known(a.base.map(self.shape, |v| v.rem_euclid(step)));
        if rest == 1 {
            return Ok(low);
        }
        if reduced.is_alike() {
            let high = self.symbolic_operation("%", &reduced, &Int::constant(rest), rest - 1)?;
            self.note_rounding(&high, &reduced, true, division);
            return Ok(self.add(&self.scale(&high, step), &low));
        }
        self.demand(a, m);
        Err(NotAffine)
    }

    /// `(T + floor(base / g), m / g)` as in [`World::floor_div`].
    pub(super) fn reduce(&self, a: &Int, m: i64) -> (Int, i64) {
        let step = gcd(a.terms_gcd(), m.unsigned_abs()) as i64;
        let terms = a.terms.iter().map(|(id, f)| (*id, f.map(self.shape, |v| v / step))).collect();
        let base = a.base.map(self.shape, |v| v.div_euclid(step));
        (Int::of(base, terms), m / step)
    }

    /// Asks for the symbols of `a` to be such multiples that `a`'s terms are multiples of `m`.
    pub(super) fn demand(&mut self, a: &Int, m: i64) {
        for (id, factor) in &a.terms {
            let multiple = m.unsigned_abs() / gcd(factor.gcd(), m.unsigned_abs()).max(1);
            for part in self.symbols.get(*id).factors.clone() {
                if !part.is_per_thread() && self.symbols.get(part).origin != Origin::Choice && multiple > 1 {
                    let entry = self.demands.entry(part).or_insert(1);
                    *entry = lcm(*entry, multiple);
                }
            }
        }
    }

    /// The symbol for an operator over values that are made alike for all threads: one of each thread's own where
    /// such a one is among theirs. At most `high` when that is positive.
    pub(crate) fn symbolic_operation(
        &mut self,
        op: &'static str,
        a: &Int,
        b: &Int,
        high: i64,
    ) -> Result<Int, NotAffine> {
        let (Some(ka), Some(kb)) = (a.canonical(), b.canonical()) else { return Err(NotAffine) };
        let ends = |int: &Int| match op {
            "min" | "max" => self.bounds_of_any_sign(int),
            _ => self.bounds(int),
        };
        let nonnegative = [a, b].iter().all(|v| ends(v).0.is_some_and(|low| low >= 0)) || high > 0;
        let most = if high > 0 { Some(high) } else { self.operation_high(op, a, b) };
        // The smaller of two is no more than either, of whatever sign, and the larger no less.
        let lows = || [a, b].into_iter().filter_map(|it| ends(it).0);
        let (low, high) = match op {
            "min" => (nonnegative.then_some(0), most),
            "max" => (lows().max(), most.filter(|_| nonnegative)),
            _ => (nonnegative.then_some(0), most.filter(|_| nonnegative)),
        };
        let origin = a.terms.iter().chain(&b.terms).map(|(id, _)| self.symbols.get(*id).origin).max();
        let id = self.symbols.intern(
            Key::Operation(op, ka, kb),
            |symbols| {
                if matches!(op, "min" | "max") {
                    let operands = [a, b].map(|int| describe(symbols, int));
                    return format!("{op}({})", joined(&operands, ", "));
                }
                let words = |int: &Int| parenthesize(&describe(symbols, int));
                // `n / m (unsigned)`
                let (kind, op) = op.rsplit_once(' ').map_or((None, op), |(kind, op)| (Some(kind), op));
                let kind = kind.map(|kind| format!("({kind})"));
                let (a, b) = (words(a), words(b));
                let parts = [Some(a.as_str()), Some(op), Some(b.as_str()), kind.as_deref()];
                joined(&parts.into_iter().flatten().collect::<Vec<&str>>(), " ")
            },
            origin.unwrap_or(Origin::Given),
            low,
            high,
        );
        self.note_sign(op, id, [a, b]);
        Ok(Int::symbol(id))
    }

    fn operation_high(&self, op: &str, a: &Int, b: &Int) -> Option<i64> {
        let (high, divisor) = (self.bounds(a).1, b.as_constant());
        match (op, divisor) {
            ("/", Some(d)) if d > 0 => high.map(|h| h / d),
            ("%", Some(d)) if d > 0 => Some(high.map_or(d - 1, |h| h.min(d - 1))),
            ("&", Some(mask)) if mask >= 0 => Some(mask),
            ("min", _) => high.into_iter().chain(self.bounds(b).1).min(),
            ("max", _) => Some(high?.max(self.bounds(b).1?)),
            ("/" | ">>" | "%", _) => high,
            _ => None,
        }
    }

    /// Thread by thread when both are known, a symbol when both are uniform.
    pub(crate) fn known_or_symbolic(
        &mut self,
        op: &'static str,
        a: &Int,
        b: &Int,
        apply: impl Fn(i64, i64) -> i64,
    ) -> Result<Int, NotAffine> {
        match (a.as_known(), b.as_known()) {
            (Some(x), Some(y)) => Ok(Int::known(self.results.of(op, x, y, || x.zip(y, self.shape, apply)))),
            _ => self.symbolic_operation(op, a, b, 0),
        }
    }

    /// Wraps known numbers into a C++ integer type of `bits` bits. Symbols are left alone:
    /// they are taken not to overflow.
    #[must_use]
    pub(crate) fn wrap(&self, a: Int, bits: u32, signed: bool) -> Int {
        let Some(known) = a.as_known() else {
            if let (Some(low), Some(high)) = self.bounds(&a)
                && !fits(low, high, bits, signed)
            {
                self.overflows.set(self.overflows.get() + 1);
            }
            return a;
        };
        let (low, high) = known.bounds(self.shape);
        if fits(low, high, bits, signed) {
            return a;
        }
        let shift = 64 - bits;
        let wrapped = known.map(self.shape, |v| {
            if signed { v << shift >> shift } else { ((v as u64) << shift >> shift) as i64 }
        });
        Int { sight: a.sight, ..Int::known(wrapped) }
    }

    /// `a` in the threads of `mask`, `b` elsewhere.
    #[must_use]
    pub(crate) fn blend(&self, a: &Int, b: &Int, mask: &ThreadSet) -> Int {
        let zero = Lanes::constant(0);
        let base = a.base.blend(&b.base, mask, self.shape);
        let mut ids: Vec<SymbolId> = a.terms.iter().chain(&b.terms).map(|(id, _)| *id).collect();
        ids.sort_unstable();
        ids.dedup();
        let factor = |v: &Int, id| {
            v.terms.iter().find(|(other, _)| *other == id).map_or_else(|| zero.clone(), |(_, f)| f.clone())
        };
        let terms = ids
            .into_iter()
            .map(|id| (id, factor(a, id).blend(&factor(b, id), mask, self.shape)))
            .filter(|(_, f)| !f.is_zero())
            .collect();
        Int { base, terms, sight: a.sight.or(b.sight) }
    }
}

/// A uniform value in words: `n / 4 - 3`.
fn describe(symbols: &Symbols, a: &Int) -> String {
    let mut parts: Vec<String> = Vec::new();
    for (id, factor) in &a.terms {
        let name = &symbols.get(*id).name;
        parts.push(match factor.as_constant() {
            Some(1) => name.to_string(),
            Some(-1) => format!("-{}", parenthesize(name)),
            Some(f) => format!("{f} * {}", parenthesize(name)),
            None => format!("... * {}", parenthesize(name)),
        });
    }
    match a.base.as_constant() {
        Some(0) if !parts.is_empty() => {}
        Some(d) => parts.push(d.to_string()),
        None => parts.push("...".to_string()),
    }
    joined(&parts, " + ").replace("+ -", "- ")
}

fn parenthesize(text: &str) -> String {
    let is_one = !text.contains(' ') || is_call(text);
    if is_one { text.to_string() } else { format!("({text})") }
}

/// Whether a text is `min(...)` or `max(...)` and nothing more.
fn is_call(text: &str) -> bool {
    let Some(inside) = ["min(", "max("].iter().find_map(|name| text.strip_prefix(name)) else { return false };
    let mut open = 1;
    let end = inside.bytes().position(|byte| {
        open += i32::from(byte == b'(') - i32::from(byte == b')');
        open == 0
    });
    end.is_some_and(|end| end + 1 == inside.len())
}
