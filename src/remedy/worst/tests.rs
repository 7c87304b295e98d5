//! Is the worst that is told the worst of all data?

use super::*;
use crate::banks::{Access as Banked, BankSize, ComputeCapability, Request, cost};
use crate::random::Random;

const MODERN: Target = Target { capability: ComputeCapability::new(9, 0), bank_size: BankSize::Four };

/// The most wavefronts of a request over every choice of its lanes' places.
fn by_trial(places: &[Vec<u32>], layout: &Layout, access: Banked) -> u32 {
    let mut most = 0;
    let mut choice = vec![0; places.len()];
    loop {
        let mut offsets = [0; 32];
        for (lane, (own, at)) in places.iter().zip(&choice).enumerate() {
            offsets[lane] = layout.byte(own[*at].into(), 4) as i64;
        }
        let active = (1u32 << places.len()) - 1;
        most = most.max(cost(&Request::new(access, 4, active, &offsets), &MODERN).unwrap().wavefronts);
        let Some(next) = (0..places.len()).find(|lane| choice[*lane] + 1 < places[*lane].len()) else {
            return most;
        };
        choice[next] += 1;
        choice[..next].fill(0);
    }
}

fn worst(places: &[Vec<u32>], layout: &Layout, turns: Turns) -> u32 {
    let places = places.iter().map(|own| own.clone().into()).collect();
    Scattered { site: 0, places, width: 4 }.most(layout, 4, turns).unwrap()
}

#[test]
fn the_worst_is_the_worst_of_every_choice() {
    let mut random = Random(11);
    let layouts = [
        Layout::Declared,
        Layout::Longer { row: 32, extra: 1, dimension: (1, 1) },
        Layout::Swapped { rows: 4, columns: 32 },
    ];
    for _ in 0..300 {
        let lanes = 2 + random.below(4) as usize;
        let mut some = |_| {
            let count = 1 + random.below(4) as usize;
            (0..count).map(|_| random.below(4) as u32 * 128 + random.below(3) as u32 * 4).collect()
        };
        let places: Vec<Vec<u32>> = (0..lanes).map(&mut some).collect();
        for layout in &layouts {
            assert_eq!(
                worst(&places, layout, Turns::Words),
                by_trial(&places, layout, Banked::Load),
                "{places:?}"
            );
            let atomic = Banked::Atomic(AtomicKind::Integer);
            assert_eq!(
                worst(&places, layout, Turns::Lanes(1)),
                by_trial(&places, layout, atomic),
                "{places:?}"
            );
        }
    }
}

#[test]
fn places_are_all_that_stay_in_the_array() {
    let reach = |base, terms: &[Term]| reached(base, terms, 60, 4);
    assert_eq!(reach(8, &[]), Some(vec![8]));
    assert_eq!(reach(8, &[(4, Some(0), Some(2))]), Some(vec![8, 12, 16]));
    assert_eq!(reach(8, &[(-4, Some(0), Some(5))]), Some(vec![0, 4, 8]));
    assert_eq!(
        reach(0, &[(16, None, None), (4, Some(0), Some(1))]),
        Some(vec![0, 4, 16, 20, 32, 36, 48, 52])
    );
    assert_eq!(reach(52, &[(4, Some(-1), None)]), Some(vec![48, 52, 56, 60]));
    // Nowhere in the array, between elements, two numbers without an end.
    assert_eq!(reach(64, &[]), None);
    assert_eq!(reach(2, &[]), None);
    assert_eq!(reach(0, &[(16, None, None), (4, None, None)]), None);
}
