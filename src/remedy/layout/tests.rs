//! Does each layout keep elements apart, in the bytes that it says, and repeat as it says?

use super::*;

const ELEMENTS: [u64; 5] = [1, 2, 4, 12, 16];

/// Layouts of an array of 24 rows of 48 elements, or of 1152.
fn layouts() -> Vec<Layout> {
    let mut all = vec![Layout::Declared, Layout::Swapped { rows: 24, columns: 48 }];
    for extra in 1..=4 {
        all.push(Layout::Longer { row: 48, extra, dimension: (1, extra) });
        all.push(Layout::Longer { row: 48 * 6, extra: 48 * extra, dimension: (1, extra) });
    }
    all.extend([(16, 8), (48, 1), (80, 8)].map(|(row, extra)| Layout::Rows { row, extra }));
    for (shift, left) in [(1, 0), (3, 0), (5, 0), (5, 2), (7, 2)] {
        all.push(Layout::Skewed { shift, left });
    }
    for (row, bits, left) in [(48, 4, 0), (48, 2, 2), (16, 4, 0), (32, 5, 0), (64, 3, 2), (128, 5, 2)] {
        all.push(Layout::Combined { row, terms: vec![Term { shift: 0, bits, factor: 1u64 << left }] });
        all.push(Layout::Combined { row, terms: vec![Term { shift: 1, bits, factor: 1u64 << left }] });
    }
    all.push(Layout::Combined { row: 32, terms: terms(&[3, 5, 9, 17, 30]) });
    all.extend([1, 2, 4, 16].map(|by| Layout::Rotated { row: 48, by }));
    all
}

#[test]
fn every_element_has_a_place_of_its_own_within_the_array() {
    for layout in layouts() {
        for element in ELEMENTS {
            let bytes = 1152 * element;
            let mut taken = vec![false; layout.bytes(bytes, element) as usize];
            for at in 0..bytes {
                let place = layout.byte(at, element) as usize;
                assert!(place < taken.len(), "{layout:?}: byte {at} goes to {place} of {}", taken.len());
                assert!(!taken[place], "{layout:?}: byte {at} goes where another is");
                taken[place] = true;
            }
        }
    }
}

#[test]
fn members_apart_have_places_of_their_own() {
    let layout = Layout::Apart { count: 96, word: 4 };
    let mut places: Vec<u64> = (0..96 * 20).map(|at| layout.byte(at, 20)).collect();
    // The second member of element 3.
    assert_eq!(places[3 * 20 + 4], (96 + 3) * 4);
    places.sort_unstable();
    assert!(places.into_iter().eq(0..96 * 20));
}

#[test]
fn after_a_period_all_lies_a_multiple_of_the_window_further() {
    for layout in layouts() {
        for element in ELEMENTS {
            let Some(period) = layout.period(element) else { continue };
            let by = layout.byte(period, element) - layout.byte(0, element);
            assert_eq!(by % WINDOW, 0, "{layout:?}, {element} bytes");
            for at in (0..4096 * element).step_by(element as usize) {
                let there = layout.byte(at + period, element);
                assert_eq!(there - layout.byte(at, element), by, "{layout:?}, {element} bytes, {at}");
            }
        }
    }
}

#[test]
fn a_linear_function_is_written_with_few_terms() {
    assert_eq!(terms(&[1, 2, 4]), [Term { shift: 0, bits: 3, factor: 1 }]);
    assert_eq!(terms(&[0, 4, 8]), [Term { shift: 1, bits: 2, factor: 4 }]);
    let vectors = [3, 6, 0, 16];
    let written = terms(&vectors);
    assert_eq!(written.len(), 3);
    for row in 0..16u64 {
        let sum = (0..4).filter(|bit| row >> bit & 1 == 1).fold(0, |sum, bit| sum ^ vectors[bit]);
        assert_eq!(written.iter().fold(0, |sum, term| sum ^ term.of(row)), sum, "{row}");
    }
}

#[test]
fn operations_are_those_that_are_written() {
    let combined = |row, shift, bits, left| Layout::Combined {
        row,
        terms: vec![Term { shift, bits, factor: 1u64 << left }],
    };
    // tile[r][c ^ (r & 31)] of 96 rows, and tile[r][c ^ r] of 32
    assert_eq!(combined(128, 0, 5, 0).operations(&[96, 128]), 2);
    assert_eq!(combined(32, 0, 5, 0).operations(&[32, 32]), 1);
    // s[i ^ (i >> 5)] of 1024, and s[i ^ (((i >> 5) & 7) << 2)]
    assert_eq!(combined(32, 0, 5, 0).operations(&[1024]), 2);
    assert_eq!(combined(32, 0, 3, 2).operations(&[1024]), 4);
    // s[r][c ^ ((c >> 5) & 3)]
    assert_eq!(combined(32, 0, 2, 0).operations(&[8, 128]), 3);
    assert_eq!(Layout::Skewed { shift: 5, left: 0 }.operations(&[512]), 2);
    assert_eq!(Layout::Rotated { row: 32, by: 1 }.operations(&[32, 32]), 2);
    assert_eq!(Layout::Rotated { row: 33, by: 2 }.operations(&[32, 33]), 7);
}

#[test]
fn in_an_instance_of_other_dimensions_elements_stay_apart_and_in_their_rows() {
    let forms: [&[u64]; 7] = [&[64, 64], &[8, 32], &[64, 48], &[96, 128], &[4, 8, 32], &[4, 6, 32], &[1024]];
    let term = |shift, bits, factor| Term { shift, bits, factor };
    let layouts = [
        Layout::Longer { row: 64, extra: 3, dimension: (1, 3) },
        Layout::Swapped { rows: 64, columns: 64 },
        Layout::Rotated { row: 64, by: 16 },
        Layout::Combined { row: 64, terms: vec![term(0, 5, 1)] },
        Layout::Combined { row: 64, terms: vec![term(0, 3, 4), term(4, 1, 3)] },
        Layout::Combined { row: 16, terms: vec![term(0, 2, 4)] },
    ];
    let (mut made, mut refused) = (0, 0);
    for layout in layouts {
        for to in forms {
            let Some(there) = layout.in_instance(&[64, 64], to) else {
                refused += 1;
                continue;
            };
            made += 1;
            let elements: u64 = to.iter().product();
            let length = there.length(elements);
            let mut taken = vec![false; length as usize];
            for at in 0..elements {
                let place = there.byte(at, 1) as usize;
                assert!(!std::mem::replace(&mut taken[place], true), "{there:?} of {to:?}: {at}");
                let row = to[to.len() - 1];
                let stays = !matches!(there, Layout::Combined { .. } | Layout::Rotated { .. });
                assert!(stays || place as u64 / row == at / row, "{there:?} of {to:?}: {at}");
            }
        }
    }
    assert!(made > 15 && refused > 10, "{made} made, {refused} refused");
    let xor = Layout::Combined { row: 64, terms: vec![term(0, 5, 1)] };
    assert_eq!(xor.in_instance(&[64, 64], &[64, 48]), None, "column 47 would go to column 48");
    assert!(xor.in_instance(&[64, 64], &[8, 32]).is_some());
}
