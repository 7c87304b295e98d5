use super::*;
use crate::domain::Shape;

const SHAPE: Shape = Shape { dims: [16, 4, 1] };

fn threads() -> Int {
    Int::known(Lanes::coordinate(0, SHAPE).add(&Lanes::coordinate(1, SHAPE).scale(16), SHAPE))
}

/// What a number is in a thread where the other symbols have these values.
fn value(world: &World, int: &Int, thread: usize, given: &[(SymbolId, i64)]) -> i64 {
    let of_term = |(id, factor): &(SymbolId, Lanes)| {
        let known = given.iter().find(|(symbol, _)| symbol == id).map(|(_, value)| *value);
        let number = known.unwrap_or_else(|| {
            let quotient = world.quotients.of(*id).expect("a quotient");
            let dividend = value(world, &quotient.dividend, thread, given);
            let divisor = value(world, &quotient.divisor, thread, given);
            if quotient.division == Division::Floor {
                dividend.div_euclid(divisor)
            } else {
                dividend / divisor
            }
        });
        factor.at(thread, SHAPE) * number
    };
    int.base.at(thread, SHAPE) + int.terms.iter().map(of_term).sum::<i64>()
}

#[test]
fn residues_and_quotients_are_those_of_the_numbers() {
    for (step, plus, m) in [(16, 3, 64), (12, -5, 40), (1, 0, 7), (6, 100, 48), (-10, 2, 16), (7, 1, 32)] {
        let mut world = World::new(SHAPE);
        let k = world.symbols.fresh("k".into(), Origin::Loop, Some(0), None);
        let a = world.add(&threads(), &world.scale(&Int::symbol(k), step));
        let a = world.add(&a, &Int::constant(plus));
        let rest = world.residue(&a, m).expect("a residue");
        let often = world.floor_quotient(&a, m).expect("a quotient");
        for (round, thread) in (0..50).flat_map(|round| (0..64).map(move |thread| (round, thread))) {
            let given = [(k, round)];
            let number = thread as i64 + step * round + plus;
            assert_eq!(value(&world, &rest, thread, &given), number.rem_euclid(m), "{number} mod {m}");
            assert_eq!(value(&world, &often, thread, &given), number.div_euclid(m), "{number} / {m}");
        }
        let (low, high) = world.bounds(&rest);
        assert!(low >= Some(0) && high.is_some_and(|high| high < m), "{low:?} to {high:?} below {m}");
    }
}

#[test]
fn one_round_after_another_is_the_next() {
    let mut world = World::new(SHAPE);
    let k = Int::symbol(world.symbols.fresh("k".into(), Origin::Loop, Some(0), None));
    let at = |world: &mut World, plus: i64| {
        let unwound = world.add(&threads(), &world.scale(&k, 24));
        world.add(&unwound, &Int::constant(plus))
    };
    let now = at(&mut world, 0);
    let now = world.residue(&now, 1000).expect("a residue");
    let step = world.add(&now, &Int::constant(24));
    let next = at(&mut world, 24);
    assert_eq!(world.residue(&step, 1000), world.residue(&next, 1000));
    assert_ne!(world.residue(&step, 1000), world.residue(&now, 1000));
}

#[test]
fn a_row_and_its_column_are_the_number() {
    let mut world = World::new(SHAPE);
    let n = Int::symbol(world.symbols.fresh("n".into(), Origin::Given, None, None));
    let row = world.quotient(&threads(), &n, Division::Signed).expect("a quotient");
    let begins = world.mul(&row, &n).expect("a product");
    let column = world.sub(&threads(), &begins);
    let again = world.quotient(&threads(), &n, Division::Signed).expect("a quotient");
    let begins = world.mul(&again, &n).expect("a product");
    assert!(column.is_per_thread());
    assert_eq!(world.add(&begins, &column), threads());
}

#[test]
fn a_quotient_that_a_warp_has_in_common_says_so() {
    let mut world = World::new(Shape { dims: [64, 1, 1] });
    let n = Int::symbol(world.symbols.fresh("n".into(), Origin::Given, None, None));
    let warps = Int::known(Lanes::coordinate(0, world.shape).map(world.shape, |x| x / 32));
    let threads = Int::known(Lanes::coordinate(0, world.shape));
    for (dividend, is_one) in [(warps, true), (threads, false)] {
        let quotient = world.quotient(&dividend, &n, Division::Signed).expect("a quotient");
        assert_eq!(world.symbols.get(quotient.terms[0].0).of_warp, is_one);
    }
}
