//! How does the cost of a site go with a value that is given at run time, in numbers and words?
//!
//! Most tables are ladders: the cost of `s[threadIdx.x * ld]` goes with the largest power of two
//! that divides `ld`, that of `s[threadIdx.x * (ld + 1)]` with the one that divides `ld + 1`.
//!
//! | `ld` modulo 32 | ways | in words |
//! |---|---|---|
//! | 1, 3, 5, ... 31 | none | `ld` is odd |
//! | 2, 6, 10, ... 30 | 2 | `ld` is even but not a multiple of 4 |
//! | 0 | 32 | `ld` is a multiple of 32 |
//!
//! What is no ladder is told by its residues.

/// Wavefronts as a function of values that are given at run time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrideTable {
    /// What it is over, one or two symbols.
    pub symbols: Vec<TableSymbol>,
    /// One for each combination of values that a program can have, in their order.
    pub rows: Vec<TableRow>,
}

/// A symbol of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableSymbol {
    /// Its name, as in the source text.
    pub name: String,
    /// The number of which the values are residues, a power of two; `None` when they are the
    /// values themselves.
    pub modulus: Option<i64>,
}

/// What the site costs for some values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRow {
    /// One for each symbol.
    pub values: Vec<i64>,
    /// Wavefronts of the worst request.
    pub wavefronts: u32,
    /// The fewest that this request could take.
    pub ideal: u32,
    /// The passes that its worst group of lanes takes.
    pub ways: u32,
    /// Whether only some of the numbers with these residues cost as much.
    pub at_most: bool,
}

/// The values of equal cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableClass {
    /// Whether they are free of conflicts.
    pub free: bool,
    /// `conflict-free`, `2-way`, `up to 4-way`
    pub cost: String,
    /// When that is so: "`ld` is odd"
    pub when: String,
}

impl TableRow {
    /// Whether the site is free of conflicts.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.wavefronts <= self.ideal
    }

    /// What distinguishes costs in words: 1 is free of conflicts.
    fn ways(&self) -> u32 {
        if self.is_free() { 1 } else { self.ways.max(2) }
    }
}

impl StrideTable {
    /// The table with the shortest moduli, and without symbols that make no difference.
    #[must_use]
    pub fn reduced(mut self) -> StrideTable {
        for at in 0..self.symbols.len() {
            while let Some(modulus) = self.symbols[at].modulus.filter(|m| *m > 1 && m % 2 == 0) {
                let Some(shorter) = self.halved(at, modulus / 2) else { break };
                self = shorter;
            }
        }
        let mut at = 0;
        while let Some(symbol) = self.symbols.get(at) {
            if symbol.modulus != Some(1) {
                at += 1;
                continue;
            }
            self.symbols.remove(at);
            for row in &mut self.rows {
                row.values.remove(at);
            }
        }
        self
    }

    /// The table modulo half as much for one symbol, if that says the same.
    fn halved(&self, at: usize, half: i64) -> Option<StrideTable> {
        let mut rows: Vec<TableRow> = Vec::new();
        for row in &self.rows {
            let mut short = row.clone();
            short.values[at] %= half;
            match rows.iter().find(|other| other.values == short.values) {
                Some(other) if *other == short => {}
                Some(_) => return None,
                None => rows.push(short),
            }
        }
        rows.sort_by(|a, b| a.values.cmp(&b.values));
        let mut symbols = self.symbols.clone();
        symbols[at].modulus = Some(half);
        Some(StrideTable { symbols, rows })
    }

    /// What it is over: "`ld`", "`ld` and `pitch`".
    #[must_use]
    pub fn over(&self) -> String {
        let names: Vec<String> = self.symbols.iter().map(|symbol| format!("`{}`", symbol.name)).collect();
        names.join(" and ")
    }

    /// The values of equal cost in words, cheapest first.
    #[must_use]
    pub fn classes(&self) -> Vec<TableClass> {
        let mut ways: Vec<u32> = self.rows.iter().map(TableRow::ways).collect();
        ways.sort_unstable();
        ways.dedup();
        let rows_of = |ways: u32| self.rows.iter().filter(|row| row.ways() == ways).collect::<Vec<_>>();
        let sets: Vec<Vec<&TableRow>> = ways.iter().map(|&ways| rows_of(ways)).collect();
        let shift = self.common_shift(&sets);
        let class = |(ways, rows): (u32, Vec<&TableRow>)| {
            let up_to = if rows.iter().any(|row| row.at_most) { "up to " } else { "" };
            let cost = if ways == 1 { "conflict-free".to_owned() } else { format!("{up_to}{ways}-way") };
            TableClass { free: ways == 1, cost, when: self.when(&rows, shift) }
        };
        ways.into_iter().zip(sets).map(class).collect()
    }

    /// The number to add to the only symbol so that every class is a ladder of it.
    fn common_shift(&self, sets: &[Vec<&TableRow>]) -> Option<i64> {
        let [symbol] = self.symbols.as_slice() else { return None };
        let modulus = symbol.modulus?;
        let values = |rows: &mut dyn Iterator<Item = &TableRow>| -> Vec<i64> {
            rows.filter_map(|row| row.values.first().copied()).collect()
        };
        let possible = values(&mut self.rows.iter());
        let sets: Vec<Vec<i64>> = sets.iter().map(|rows| values(&mut rows.iter().copied())).collect();
        shifts(modulus)
            .into_iter()
            .find(|&shift| sets.iter().all(|set| steps(set, &possible, modulus, shift).is_some()))
    }

    /// All classes in one line: "conflict-free exactly when `ld` is odd; 2-way when ...".
    #[must_use]
    pub fn words(&self) -> String {
        let class = |class: TableClass| {
            let exactly = if class.free { "exactly " } else { "" };
            format!("{} {exactly}when {}", class.cost, class.when)
        };
        self.classes().into_iter().map(class).collect::<Vec<_>>().join("; ")
    }

    /// The condition under which a row is one of these.
    fn when(&self, rows: &[&TableRow], shift: Option<i64>) -> String {
        // Each symbol by itself, when every combination of the values they take is among them.
        let taken = |at: usize, rows: &mut dyn Iterator<Item = &TableRow>| {
            let mut values: Vec<i64> = rows.map(|row| row.values[at]).collect();
            values.sort_unstable();
            values.dedup();
            values
        };
        let chosen: Vec<Vec<i64>> =
            (0..self.symbols.len()).map(|at| taken(at, &mut rows.iter().copied())).collect();
        let possible: Vec<Vec<i64>> =
            (0..self.symbols.len()).map(|at| taken(at, &mut self.rows.iter())).collect();
        let within = |row: &&TableRow| row.values.iter().zip(&chosen).all(|(v, set)| set.contains(v));
        if self.rows.iter().filter(within).count() == rows.len() {
            let parts = self.symbols.iter().zip(&chosen).zip(&possible);
            let parts = parts.filter(|((_, chosen), possible)| chosen != possible);
            let parts: Vec<String> =
                parts.map(|((symbol, chosen), possible)| symbol.among(chosen, possible, shift)).collect();
            return parts.join(" and ");
        }
        let example: Vec<String> =
            rows.iter().take(1).flat_map(|row| &row.values).map(ToString::to_string).collect();
        let (some, all, example) = (rows.len(), self.rows.len(), example.join(" and "));
        format!("{} are one of {some} of {all} pairs, such as {example}", self.moduli())
    }

    /// "`ld` modulo 32 and `pitch` modulo 8".
    fn moduli(&self) -> String {
        let symbol = |symbol: &TableSymbol| match symbol.modulus {
            Some(modulus) => format!("`{}` modulo {modulus}", symbol.name),
            None => format!("`{}`", symbol.name),
        };
        self.symbols.iter().map(symbol).collect::<Vec<_>>().join(" and ")
    }
}

/// Values told one by one.
const MOST_TOLD: usize = 8;

impl TableSymbol {
    /// "`ld` is odd": the condition under which a possible value is a chosen one.
    fn among(&self, chosen: &[i64], possible: &[i64], shift: Option<i64>) -> String {
        let Some(modulus) = self.modulus else {
            return format!("`{}` is {}", self.name, alternatives(chosen));
        };
        if let Some(words) = self.ladder(chosen, possible, modulus, shift) {
            return words;
        }
        let others: Vec<i64> = possible.iter().copied().filter(|v| !chosen.contains(v)).collect();
        if others.len() < chosen.len() && others.len() <= MOST_TOLD {
            return format!("`{}` modulo {modulus} is not {}", self.name, alternatives(&others));
        }
        if chosen.len() <= MOST_TOLD {
            return format!("`{}` modulo {modulus} is {}", self.name, alternatives(chosen));
        }
        let (some, all) = (chosen.len(), possible.len());
        let first = alternatives(&chosen[..3]);
        format!("`{}` modulo {modulus} is one of {some} of {all} values, such as {first}", self.name)
    }

    /// The condition as a divisibility of the symbol plus a number, `shift` when that will do.
    fn ladder(&self, chosen: &[i64], possible: &[i64], modulus: i64, shift: Option<i64>) -> Option<String> {
        let mut tried = shift.into_iter().chain(shifts(modulus));
        let found = tried.find_map(|shift| Some((shift, steps(chosen, possible, modulus, shift)?)));
        found.map(|(shift, (low, high))| self.divisible(shift, low, high, modulus.trailing_zeros()))
    }

    /// "`ld` is even but not a multiple of 4", by the powers of two that divide the symbol plus `shift`.
    fn divisible(&self, shift: i64, low: u32, high: u32, top: u32) -> String {
        let name = if self.name.contains(' ') { format!("({})", self.name) } else { self.name.clone() };
        let (least, most) = (1i64 << low, 1i64 << (high + 1).min(top));
        // A multiple of what is asked for need not be added.
        let modulus = if high == top { least } else { most };
        let rest = shift.rem_euclid(modulus);
        let rest = if rest > modulus / 2 { rest - modulus } else { rest };
        let shifted = match rest {
            0 => format!("`{}`", self.name),
            1.. => format!("`{name} + {rest}`"),
            _ => format!("`{name} - {}`", -rest),
        };
        let plain = format!("`{}`", self.name);
        let (odd, even) = if shift % 2 == 0 { ("odd", "even") } else { ("even", "odd") };
        match (low, high) {
            (0, 0) => format!("{plain} is {odd}"),
            (0, _) => format!("{shifted} is not a multiple of {most}"),
            (1, _) if high == top => format!("{plain} is {even}"),
            (_, _) if high == top => format!("{shifted} is a multiple of {least}"),
            (1, _) => format!("{shifted} is even but not a multiple of {most}"),
            _ => format!("{shifted} is a multiple of {least} but not of {most}"),
        }
    }
}

/// The numbers to add that are tried, the smallest first.
fn shifts(modulus: i64) -> Vec<i64> {
    let mut shifts: Vec<i64> = (1 - modulus / 2..=modulus / 2).collect();
    shifts.sort_by_key(|shift| (shift.abs(), *shift < 0));
    shifts
}

/// The least and the greatest power of two that divide the chosen values plus `shift`, if no other
/// possible value lies between.
fn steps(chosen: &[i64], possible: &[i64], modulus: i64, shift: i64) -> Option<(u32, u32)> {
    let top = modulus.trailing_zeros();
    let twos = |value: &i64| (value + shift).rem_euclid(modulus).trailing_zeros().min(top);
    let low = chosen.iter().map(twos).min()?;
    let high = chosen.iter().map(twos).max()?;
    if possible.iter().any(|v| (low..=high).contains(&twos(v)) != chosen.contains(v)) {
        return None;
    }
    // What no possible value exceeds or falls below need not be said.
    let least = possible.iter().map(twos).min()?;
    let most = possible.iter().map(twos).max()?;
    Some((if low == least { 0 } else { low }, if high == most { top } else { high }))
}

/// `1`, `1 or 2`, `1, 2 or 3`
fn alternatives(values: &[i64]) -> String {
    let words: Vec<String> = values.iter().map(ToString::to_string).collect();
    match words.as_slice() {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}

#[cfg(test)]
mod tests;
