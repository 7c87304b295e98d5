//! In which banks do the rows of an array lie?
//!
//! Each row is a strip of words, and one bank is marked in all of them. Rows of 128 bytes all begin in the bank
//! of the first, so that the marks stand below each other: a column lies in one bank. Rows of 132 bytes begin one
//! bank further each, and the marks run along a diagonal:
//!
//! ```text
//! float t[4][32]   #...............................   float t[4][33]   #...............................#
//!                  #...............................                    ...............................#.
//!                  #...............................                    ..............................#..
//! ```

use super::Link;
use super::listing::Listing;
use crate::events::Array;
use crate::output::count;
use crate::source::Sources;
use crate::visible::one_line;
use std::collections::BTreeSet;

/// The most rows that are drawn: the banks repeat.
const MOST_ROWS: u64 = 32;
/// The most lines of a flat array.
const MOST_LINES: u64 = 8;
/// The most words of a row that are drawn, in rounds of the banks.
const MOST_ROUNDS: u64 = 2;

/// An array, and its rows as strips.
pub(super) struct BankMap {
    /// `float tile[32][33]`
    pub declaration: String,
    pub at: Link,
    /// What is known of it, in words.
    pub words: String,
    /// How many banks there are.
    pub banks: u32,
    pub strips: Vec<Strip>,
    /// What is not drawn.
    pub left_out: String,
}

/// A row.
pub(super) struct Strip {
    /// Its index, or that of the first element.
    pub label: String,
    /// The bank in which it begins; a row may begin within a word.
    pub start: f64,
    /// Words.
    pub length: f64,
}

impl BankMap {
    /// `banks`: how many there are, and their width in bytes.
    pub(super) fn of(
        sources: &Sources,
        listing: &Listing<'_>,
        array: &Array,
        (banks, width): (u32, u32),
    ) -> BankMap {
        let dimensions: String = array.dimensions.iter().map(|it| format!("[{}]", length(*it))).collect();
        let declaration = format!("{} {}{dimensions}", array.element, array.name);
        let mut map = BankMap {
            declaration: one_line(declaration.trim()).into_owned(),
            at: Link::to(sources, listing, array.name_span),
            words: String::new(),
            banks,
            strips: Vec::new(),
            left_out: String::new(),
        };
        let (Some(element), Some(bytes)) = (array.element_bytes, array.bytes()) else {
            map.words = match array.dynamic {
                true => "It is sized at launch.".to_owned(),
                false => "Its length or element size is unknown.".to_owned(),
            };
            return map;
        };
        let round = u64::from(banks) * u64::from(width);
        let (row, is_flat) = array.row_bytes().map_or((round, true), |row| (row, false));
        if row == 0 || bytes == 0 {
            return map;
        }
        let rows = bytes.div_ceil(row);
        let most = if is_flat { MOST_LINES } else { MOST_ROWS };
        let words = |bytes: u64| bytes as f64 / f64::from(width);
        let strip = |at: u64| Strip {
            label: if is_flat { (at * row).div_ceil(element).to_string() } else { at.to_string() },
            start: words(at * row % round),
            length: words(row.min(bytes - at * row).min(MOST_ROUNDS * round)),
        };
        map.strips = (0..rows.min(most)).map(strip).collect();
        map.words = match is_flat {
            true => format!("{}.", plural(bytes, "byte")),
            false => {
                let begins: BTreeSet<u64> =
                    (0..rows.min(most)).map(|at| at * row % round / u64::from(width)).collect();
                format!(
                    "{}, {} apart: the first {} begin in {}.",
                    plural(rows, "row"),
                    plural(row, "byte"),
                    rows.min(most),
                    plural(begins.len() as u64, "bank")
                )
            }
        };
        let mut left = Vec::new();
        if rows > most {
            left.push(plural(rows - most, if is_flat { "further line" } else { "further row" }));
        }
        if row > MOST_ROUNDS * round {
            left.push(format!("all but the first {} of each row", plural(MOST_ROUNDS * round, "byte")));
        }
        if !left.is_empty() {
            map.left_out = format!("Not drawn: {}.", left.join(", "));
        }
        map
    }
}

fn length(length: Option<u64>) -> String {
    length.map_or_else(String::new, |length| length.to_string())
}

fn plural(number: u64, one: &str) -> String {
    count(usize::try_from(number).unwrap_or(usize::MAX), one)
}
