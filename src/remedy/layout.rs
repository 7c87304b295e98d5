//! In which other orders can the elements of an array lie?
//!
//! A layout gives each element a place of its own. Places are counted in elements, but for the members of a
//! struct. In an array of rows of `C` elements, element `i` lies in row `r = i / C`, column `c = i % C`:
//!
//! | layout | place | in the text |
//! |---|---|---|
//! | longer rows | `i + x * r` | `s[R][C + x]`, or the distance of rows in each index |
//! | rows for columns | `c * R + r` | `s[c][r]` |
//! | an array for each member | word `w` of element `i` at `w * N + i` | `s_w[i]` |
//! | skew | `i + (i >> k)` | the same |
//! | exclusive or | `r * C + (c ^ f(r))` | `s[r][c ^ (r & 31)]` |
//! | rotation | `r * C + (c + a * r) % C` | the same |
//!
//! The exclusive or keeps each element in its row: `f` gives numbers below a power of two that divides `C`,
//! and two columns of one row stay apart, since `x ^ f = y ^ f` only if `x = y`. `f` is linear: each bit of
//! `r` has a number, and those of the bits that are set are combined by `^`. In a flat array rows are as long
//! as a power of two and `f` takes its bits from `i` itself. Example, with rows of 4 and `f(r) = r & 3`:
//!
//! ```text
//! row 0   0 1 2 3      row 2   2 3 0 1      column 0 lies in places 0, 1, 2, 3 of
//! row 1   1 0 3 2      row 3   3 2 1 0      its rows: in four banks
//! ```
//!
//! A skew is an exclusive or's cousin with plus: it grows with `i`, so no two elements meet, but the array
//! gets longer.

use crate::domain::lcm;

/// Bytes after which the banks of every family repeat.
const WINDOW: u64 = 256;

/// Another order of the elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As declared.
    Declared,
    /// So many elements more after each `row` elements.
    Longer {
        /// Elements of a row, or of a plane.
        row: u64,
        /// Elements added to it.
        extra: u64,
        /// Which dimension then has a greater length, counted from the outermost, and by how much.
        dimension: (usize, u64),
    },
    /// So many elements more after each `row` elements, in rows that are no dimension of the array.
    Rows {
        /// Elements of a row.
        row: u64,
        /// Elements added to it.
        extra: u64,
    },
    /// Rows for columns.
    Swapped {
        /// Of the array as declared.
        rows: u64,
        /// Of the array as declared.
        columns: u64,
    },
    /// An array of words for each word of an element.
    Apart {
        /// The elements.
        count: u64,
        /// Bytes of a word.
        word: u64,
    },
    /// `i + ((i >> shift) << left)`
    Skewed {
        /// Which bits are added.
        shift: u32,
        /// By how many bits they go up again.
        left: u32,
    },
    /// The column's exclusive or with numbers made of bits of the row.
    Combined {
        /// Elements of a row.
        row: u64,
        /// What is combined with the column.
        terms: Vec<Term>,
    },
    /// Each row turned by `by` elements more than the one before it.
    Rotated {
        /// Elements of a row.
        row: u64,
        /// Elements by which each row is turned.
        by: u64,
    },
}

/// Some bits of a row's number, times a number: `((r >> shift) & (2^bits - 1)) * factor`. Of several bits the factor
/// is a power of two, so that the products of the bits have no bit in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Term {
    /// The lowest of the bits.
    pub shift: u32,
    /// How many.
    pub bits: u32,
    /// What they are multiplied by.
    pub factor: u64,
}

impl Term {
    fn of(self, row: u64) -> u64 {
        (row >> self.shift & ((1 << self.bits) - 1)) * self.factor
    }

    /// Operations beside the exclusive or; `all`: the bits that the number of a row has, `first`: how far up
    /// they stand in what is written.
    fn operations(self, all: u32, first: u32) -> u32 {
        u32::from(self.shift + first > 0)
            + u32::from(self.shift + self.bits < all)
            + u32::from(self.factor > 1)
    }
}

/// How many bits the number of a row has, in an array of so many elements in rows of `row`.
pub(crate) fn row_bits(elements: u64, row: u64) -> u32 {
    u64::BITS - (elements.div_ceil(row).max(2) - 1).leading_zeros()
}

/// Whether rows of so many elements are no rows that are declared: their number is some bits of the index of
/// a flat array, or of a column.
pub(crate) fn is_part_of_index(dimensions: &[u64], row: u64) -> bool {
    dimensions.len() < 2 || dimensions.last().is_some_and(|declared| row < *declared)
}

/// The terms of a linear function, by the number that each bit of the row has.
pub(super) fn terms(vectors: &[u64]) -> Vec<Term> {
    let mut found: Vec<Term> = Vec::new();
    for (bit, vector) in (0u32..).zip(vectors).filter(|(_, vector)| **vector > 0) {
        match found.last_mut() {
            // It goes on where the one before it ends.
            Some(Term { shift, bits, factor })
                if *shift + *bits == bit && factor.is_power_of_two() && *vector == *factor << *bits =>
            {
                *bits += 1;
            }
            _ => found.push(Term { shift: bit, bits: 1, factor: *vector }),
        }
    }
    found
}

impl Layout {
    /// The element's place, in elements. Of members apart, elements are words.
    pub(crate) fn place(&self, at: u64) -> u64 {
        match self {
            Layout::Declared => at,
            Layout::Longer { row, extra, .. } | Layout::Rows { row, extra } => at + at / row * extra,
            Layout::Swapped { rows, columns } => at % columns * rows + at / columns,
            Layout::Apart { .. } => at,
            Layout::Skewed { shift, left } => at + (at >> shift << left),
            Layout::Combined { row, terms } => {
                let (line, column) = (at / row, at % row);
                line * row + terms.iter().fold(column, |column, term| column ^ term.of(line))
            }
            Layout::Rotated { row, by } => {
                let (line, column) = (at / row, at % row);
                line * row + (column + by * (line % row)) % row
            }
        }
    }

    /// The place of a byte, in an array of elements of `element` bytes.
    pub(super) fn byte(&self, at: u64, element: u64) -> u64 {
        match self {
            Layout::Apart { count, word } => {
                let (number, within) = (at / element, at % element);
                (within / word * count + number) * word + within % word
            }
            _ => self.place(at / element) * element + at % element,
        }
    }

    /// Bytes that stay together wherever they lie.
    pub(super) fn unit(&self, element: u64) -> u64 {
        match self {
            Layout::Apart { word, .. } => *word,
            _ => element,
        }
    }

    /// Bytes that an array of `bytes` then takes.
    pub(super) fn bytes(&self, bytes: u64, element: u64) -> u64 {
        match self {
            Layout::Longer { row, extra, .. } | Layout::Rows { row, extra } => {
                bytes + bytes.div_ceil(row * element) * extra * element
            }
            Layout::Skewed { .. } if bytes >= element => self.byte(bytes - element, element) + element,
            _ => bytes,
        }
    }

    /// The length of a flat array of so many elements.
    pub(crate) fn length(&self, elements: u64) -> u64 {
        self.bytes(elements, 1)
    }

    /// What the same text makes of the array in an instance of the kernel in which it has other dimensions: `from`
    /// are those for which this layout was made. `None` where elements would no longer stay apart there, or in
    /// their row. Example: `tile[r][c ^ (r & 31)]`, made for `[64][64]`, is a layout of `[8][32]`, but not of
    /// `[64][48]`, in which column 47 would go to column 48.
    pub(super) fn in_instance(&self, from: &[u64], to: &[u64]) -> Option<Layout> {
        if from == to {
            return Some(self.clone());
        }
        if from.len() != to.len() {
            return None;
        }
        let last = *to.last()?;
        match self {
            Layout::Declared | Layout::Skewed { .. } | Layout::Rows { .. } => Some(self.clone()),
            Layout::Longer { dimension: (at, by), .. } => {
                let inner: u64 = to.get(at + 1..)?.iter().product();
                Some(Layout::Longer { row: to.get(*at)? * inner, extra: by * inner, dimension: (*at, *by) })
            }
            Layout::Swapped { .. } => match to {
                [rows, columns] => Some(Layout::Swapped { rows: *rows, columns: *columns }),
                _ => None,
            },
            Layout::Apart { word, .. } => Some(Layout::Apart { count: last, word: *word }),
            Layout::Rotated { by, .. } => {
                (to.len() == 2 && *by < last).then_some(Layout::Rotated { row: last, by: *by })
            }
            Layout::Combined { row, terms } => {
                let part = is_part_of_index(from, *row);
                let row = if part { *row } else { last };
                let values = terms.iter().map(|term| ((1 << term.bits) - 1) * term.factor);
                let most = values.fold(0, |most: u64, value| most | value);
                let unit = (most + 1).next_power_of_two();
                // Where the bits that are combined end, and what they are bits of.
                let end = terms.iter().map(|term| term.shift + term.bits).max()?;
                let stays = match (to, part) {
                    ([length], _) => length.is_multiple_of(unit),
                    (_, true) => last.is_multiple_of(row << end),
                    ([_, _], false) => last.is_multiple_of(unit),
                    ([.., rows, _], false) => last.is_multiple_of(unit) && rows.is_multiple_of(1 << end),
                    _ => false,
                };
                let fits = stays && is_part_of_index(to, row) == part;
                fits.then(|| Layout::Combined { row, terms: terms.clone() })
            }
        }
    }

    /// Integer operations that each access takes more, as the index is written. A multiplication that is
    /// written as such stands for one, a remainder by a power of two too, any other for five.
    pub(super) fn operations(&self, dimensions: &[u64]) -> u32 {
        match self {
            Layout::Declared | Layout::Longer { .. } | Layout::Swapped { .. } | Layout::Apart { .. } => 0,
            Layout::Skewed { left, .. } => 2 + u32::from(*left > 0),
            Layout::Combined { row, terms } => {
                let all = row_bits(dimensions.iter().product(), *row);
                let first = if is_part_of_index(dimensions, *row) { row.trailing_zeros() } else { 0 };
                terms.iter().map(|term| 1 + term.operations(all, first)).sum()
            }
            // Rows that are declared have a number of their own in the index, which is multiplied in any case.
            Layout::Rows { row, .. } if dimensions.len() > 1 && dimensions.last() == Some(row) => 0,
            // A product, a division and a sum.
            Layout::Rows { row, .. } => {
                if row.is_power_of_two() {
                    3
                } else {
                    6
                }
            }
            Layout::Rotated { row, by } => 1 + u32::from(*by > 1) + if row.is_power_of_two() { 1 } else { 5 },
        }
    }

    /// Bytes by which all lanes can be moved, and then lie as far from each other as before, a multiple of
    /// 256 bytes further in all; `None` where there is no such number.
    pub(super) fn period(&self, element: u64) -> Option<u64> {
        // So many elements are a multiple of the window.
        let whole = |elements: u64| lcm(elements * element, WINDOW);
        match self {
            Layout::Declared => Some(WINDOW),
            Layout::Longer { row, extra, .. } | Layout::Rows { row, extra } => {
                let (old, new) = (row * element, (row + extra) * element);
                old.checked_mul(lcm(new, WINDOW) / new)
            }
            Layout::Swapped { .. } | Layout::Apart { .. } => None,
            Layout::Skewed { shift, left } => {
                let (old, new) = (element << shift, (element << shift) + (element << left));
                old.checked_mul(lcm(new, WINDOW) / new)
            }
            Layout::Combined { row, terms } => {
                let bits = terms.iter().map(|term| term.shift + term.bits).max().unwrap_or(0);
                Some(whole(row << bits))
            }
            Layout::Rotated { row, .. } => Some(whole(row * row)),
        }
    }

    /// What it asks of the text: nothing but the declaration or the order of subscripts, more memory and
    /// another index, another index.
    pub(super) fn rank(&self) -> u32 {
        match self {
            Layout::Declared | Layout::Longer { .. } | Layout::Swapped { .. } | Layout::Apart { .. } => 0,
            Layout::Skewed { .. } | Layout::Rows { .. } => 1,
            Layout::Combined { .. } | Layout::Rotated { .. } => 2,
        }
    }
}

#[cfg(test)]
mod tests;
