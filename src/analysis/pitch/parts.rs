//! Do all accesses of a run find their element when rows become longer?
//!
//! The memory may be carved up: rows lie from byte `S` on, and behind row `R` something else. With rows
//! longer by `x` elements, what is before `S` stays, element `c` of row `r` moves by `x · r`, and all that
//! is behind the rows by `x · R`: another place for each. So any `S` and `R` that every access keeps to
//! are a proof.
//!
//! | access | row | column |
//! |---|---|---|
//! | before the rows | 0 for all threads | ends at `S` at the latest |
//! | of the rows | from 0, below `R` | from `S`, ends at `S` and a row's bytes |
//! | behind the rows | `R` for all threads | from `S` |

use crate::events::PitchPiece;

/// The most numbers that are tried for `S` and for `R`.
const MOST: usize = 64;

/// A proof: the rows that there are, as far as known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// As many rows as are accessed, if that is known.
    pub rows: Option<i64>,
}

/// Finds where the rows lie, in bytes; `None` when accesses do not keep to any such place.
#[must_use]
pub fn parts(pieces: &[PitchPiece], row: i64) -> Option<Parts> {
    let single = |piece: &PitchPiece| piece.rows.0.filter(|_| piece.rows.0 == piece.rows.1);
    let mut starts = vec![0];
    let mut ends = vec![None];
    for piece in pieces {
        if !starts.contains(&piece.column.0) && piece.column.0 > 0 {
            starts.push(piece.column.0);
        }
        if let Some(number) = single(piece).filter(|it| *it > 0 && !ends.contains(&Some(*it))) {
            ends.push(Some(number));
        }
    }
    if starts.len() > MOST || ends.len() > MOST {
        // Not carved up, or not.
        (starts, ends) = (vec![0], vec![None]);
    }
    let keeps = |piece: &PitchPiece, start: i64, end: Option<i64>| {
        let number = single(piece);
        let (from, to) = piece.column;
        let ends_by = |limit: i64| to.is_some_and(|to| to <= limit);
        let before = start > 0 && number == Some(0) && from >= 0 && ends_by(start);
        let behind = end.is_some() && number == end && from >= start;
        let first = start == 0 || piece.rows.0.is_some_and(|first| first >= 0);
        let below = end.is_none_or(|end| piece.rows.1.is_some_and(|last| last < end));
        before || behind || (first && below && from >= start && ends_by(start.saturating_add(row)))
    };
    for start in &starts {
        for end in &ends {
            if pieces.iter().all(|piece| keeps(piece, *start, *end)) {
                let last = pieces.iter().map(|piece| piece.rows.1).collect::<Option<Vec<i64>>>();
                let most = || last.and_then(|last| last.into_iter().max()?.checked_add(1));
                return Some(Parts { rows: end.or_else(most) });
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::parts;
    use crate::events::PitchPiece;

    fn piece(rows: (i64, i64), column: (i64, i64)) -> PitchPiece {
        PitchPiece { rows: (Some(rows.0), Some(rows.1)), column: (column.0, Some(column.1)) }
    }

    fn rows(pieces: &[PitchPiece]) -> Option<i64> {
        parts(pieces, 128).and_then(|parts| parts.rows)
    }

    #[test]
    fn rows_alone() {
        assert_eq!(rows(&[piece((0, 31), (0, 128)), piece((3, 3), (0, 4))]), Some(32));
        assert_eq!(rows(&[piece((0, 31), (0, 132))]), None, "past its row");
        assert_eq!(rows(&[piece((0, 31), (-4, 4))]), None, "before its row");
    }

    #[test]
    fn something_behind_and_before_the_rows() {
        assert_eq!(rows(&[piece((0, 31), (0, 128)), piece((32, 32), (0, 4096))]), Some(32));
        let open = PitchPiece { rows: (Some(32), Some(32)), column: (0, None) };
        assert_eq!(rows(&[piece((0, 31), (0, 128)), open]), Some(32), "its end need not be known");
        assert_eq!(rows(&[piece((0, 32), (0, 128)), piece((32, 32), (0, 4096))]), None, "a row too many");
        assert_eq!(rows(&[piece((0, 0), (0, 512)), piece((0, 31), (512, 640))]), Some(32));
        assert_eq!(rows(&[piece((0, 0), (0, 516)), piece((0, 31), (512, 640))]), None, "they overlap");
        assert_eq!(
            rows(&[piece((0, 0), (0, 4096)), piece((0, 31), (0, 128))]),
            None,
            "all elements in order"
        );
    }

    #[test]
    fn two_things_behind_the_rows() {
        let last = piece((32, 32), (4096, 4100));
        assert_eq!(rows(&[piece((0, 31), (0, 128)), piece((32, 32), (0, 4096)), last]), Some(32));
        assert_eq!(rows(&[piece((0, 31), (0, 128)), piece((33, 33), (0, 4096)), last]), None, "two ends");
    }
}
