use super::*;

/// A table over `ld` modulo the number of figures: ways by residue, 1 for free, 0 for impossible.
fn table(ways: &[u32]) -> StrideTable {
    let symbols = vec![TableSymbol { name: "ld".into(), modulus: Some(ways.len() as i64) }];
    let rows = ways.iter().enumerate().filter(|(_, ways)| **ways > 0);
    let row = |(at, &ways): (usize, &u32)| TableRow {
        values: vec![at as i64],
        wavefronts: ways,
        ideal: 1,
        ways,
        at_most: false,
    };
    StrideTable { symbols, rows: rows.map(row).collect() }
}

fn words(ways: &[u32]) -> String {
    table(ways).reduced().words()
}

#[test]
fn a_stride_is_told_by_the_powers_of_two_that_divide_it() {
    assert_eq!(
        words(&[8, 1, 2, 1, 4, 1, 2, 1]),
        "conflict-free exactly when `ld` is odd; 2-way when `ld` is even but not a multiple of 4; \
         4-way when `ld` is a multiple of 4 but not of 8; 8-way when `ld` is a multiple of 8"
    );
}

#[test]
fn levels_of_equal_cost_are_one() {
    assert_eq!(
        words(&[4, 1, 2, 1, 2, 1, 2, 1]),
        "conflict-free exactly when `ld` is odd; 2-way when `ld` is even but not a multiple of 8; \
         4-way when `ld` is a multiple of 8"
    );
    assert_eq!(
        words(&[4, 1, 1, 1, 2, 1, 1, 1]),
        "conflict-free exactly when `ld` is not a multiple of 4; \
         2-way when `ld` is a multiple of 4 but not of 8; 4-way when `ld` is a multiple of 8"
    );
}

#[test]
fn a_shifted_ladder_names_the_shift() {
    assert_eq!(
        words(&[1, 2, 1, 4, 1, 2, 1, 8]),
        "conflict-free exactly when `ld` is even; 2-way when `ld + 1` is even but not a multiple of 4; \
         4-way when `ld + 1` is a multiple of 4 but not of 8; 8-way when `ld + 1` is a multiple of 8"
    );
}

#[test]
fn the_modulus_is_the_shortest_that_tells_all() {
    let long: Vec<u32> = (0..32).map(|v| if v % 4 == 0 { 2 } else { 1 }).collect();
    let short = table(&long).reduced();
    assert_eq!(short.symbols[0].modulus, Some(4));
    assert_eq!(short.rows.len(), 4);
    let same = table(&[3; 8]).reduced();
    assert_eq!((same.symbols.len(), same.rows.len()), (0, 1));
}

#[test]
fn residues_that_no_program_has_are_not_spoken_of() {
    // Of multiples of 4, which a 16-byte access asks for: 4 and 12 are free, 0 and 8 are not.
    assert_eq!(
        words(&[4, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0]),
        "conflict-free exactly when `ld` is not a multiple of 8; \
         2-way when `ld` is a multiple of 8 but not of 16; 4-way when `ld` is a multiple of 16"
    );
}

#[test]
fn what_is_no_ladder_is_told_by_residues() {
    assert_eq!(
        words(&[2, 1, 1, 2, 1, 1, 1, 1]),
        "conflict-free exactly when `ld` modulo 8 is not 0 or 3; 2-way when `ld` modulo 8 is 0 or 3"
    );
}

#[test]
fn values_themselves_are_told_without_a_modulus() {
    let mut table = table(&[2, 1, 1]);
    table.symbols[0].modulus = None;
    assert_eq!(table.reduced().words(), "conflict-free exactly when `ld` is 1 or 2; 2-way when `ld` is 0");
}

#[test]
fn two_symbols_are_told_apart_when_they_can_be() {
    let symbol = |name: &str| TableSymbol { name: name.into(), modulus: Some(2) };
    let row = |a: i64, b: i64, ways: u32| TableRow {
        values: vec![a, b],
        wavefronts: ways,
        ideal: 1,
        ways,
        at_most: ways > 2,
    };
    let symbols = vec![symbol("ld"), symbol("pitch")];
    let rows = vec![row(0, 0, 2), row(0, 1, 2), row(1, 0, 1), row(1, 1, 4)];
    let both = StrideTable { symbols: symbols.clone(), rows };
    assert_eq!(both.over(), "`ld` and `pitch`");
    assert_eq!(
        both.words(),
        "conflict-free exactly when `ld` is odd and `pitch` is even; 2-way when `ld` is even; \
         up to 4-way when `ld` is odd and `pitch` is odd"
    );
    let rows = vec![row(0, 0, 2), row(0, 1, 1), row(1, 0, 1), row(1, 1, 2)];
    assert_eq!(
        StrideTable { symbols, rows }.words(),
        "conflict-free exactly when `ld` modulo 2 and `pitch` modulo 2 are one of 2 of 4 pairs, such as \
         0 and 1; 2-way when `ld` modulo 2 and `pitch` modulo 2 are one of 2 of 4 pairs, such as 0 and 0"
    );
}
