//! Where does a tile stay a tile?

use super::*;

/// A tile of 16 lines of 16 `half`s.
fn tile(distance: i64) -> Tile {
    Tile { distance, lines: 16, length: 32, element: 2, lanes: [0; 32] }
}

#[test]
fn lines_stay_at_one_distance_where_each_lies_in_its_row() {
    let rows = Layout::Rows { row: 16, extra: 8 };
    assert_eq!(moved(&tile(32), 0, &rows, 2, true), Some(48));
    assert_eq!(moved(&tile(512), 512, &rows, 2, true), Some(768));
    // A whole tile in one row.
    assert_eq!(moved(&tile(32), 512, &Layout::Rows { row: 256, extra: 16 }, 2, true), Some(32));
}

#[test]
fn lines_that_cross_rows_are_no_tile() {
    let rows = Layout::Rows { row: 16, extra: 8 };
    assert_eq!(moved(&tile(32), 16, &rows, 2, false), None);
    // Lines of which one is in a row of its own and the next is not.
    assert_eq!(moved(&tile(48), 0, &rows, 2, false), None);
    assert_eq!(moved(&tile(32), 0, &Layout::Rows { row: 24, extra: 8 }, 2, true), None);
}

#[test]
fn a_tile_starts_where_a_call_can_read_it() {
    // The second tile of a line would start at byte 528.
    let rows = Layout::Rows { row: 256, extra: 8 };
    assert_eq!(moved(&tile(32), 0, &rows, 2, true), Some(32));
    assert_eq!(moved(&tile(32), 512, &rows, 2, true), None);
}

#[test]
fn exclusive_ors_are_for_no_tile() {
    let layout =
        Layout::Combined { row: 16, terms: vec![super::super::Term { shift: 0, bits: 1, factor: 8 }] };
    assert_eq!(moved(&tile(32), 0, &layout, 2, true), None);
}
