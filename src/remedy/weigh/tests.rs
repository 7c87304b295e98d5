//! Is the bound below what any layout takes?

use super::*;
use crate::banks::{Access as Banked, BankSize, ComputeCapability, Request as Asked, cost};
use crate::random::Random;

const MODERN: Target = Target { capability: ComputeCapability::new(9, 0), bank_size: BankSize::Four };

/// Requests of random lanes, in a random order of the array's pieces.
fn below_every_order(access: Banked, bytes: u32, kind: Option<AtomicKind>) -> bool {
    let mut random = Random(7 + u64::from(bytes));
    let mut met = false;
    for _ in 0..400 {
        let pieces = [4, 32, 200][random.below(3) as usize];
        let offsets: [i64; 32] = std::array::from_fn(|_| random.below(pieces) as i64 * i64::from(bytes));
        let active = if random.below(2) == 0 { u32::MAX } else { random.next() as u32 | 1 };
        let ask = |offsets: &[i64; 32]| cost(&Asked::new(access, bytes, active, offsets), &MODERN).unwrap();
        let bound = fewest(&ask(&offsets), kind, active, &offsets);
        for _ in 0..8 {
            let mut order: Vec<i64> = (0..pieces as i64).collect();
            for last in (1..order.len()).rev() {
                order.swap(last, random.below(last as u64 + 1) as usize);
            }
            let moved = offsets.map(|offset| order[(offset / i64::from(bytes)) as usize] * i64::from(bytes));
            let took = ask(&moved).wavefronts;
            assert!(bound <= took, "{access:?} of {bytes} bytes, {active:#x}: {bound} > {took}: {offsets:?}");
            met |= bound == took;
        }
    }
    met
}

#[test]
fn no_order_takes_fewer_than_the_bound_and_some_takes_as_few() {
    for bytes in [1, 2, 4, 8, 16] {
        assert!(below_every_order(Banked::Load, bytes, None));
        assert!(below_every_order(Banked::Store, bytes, None));
    }
    for kind in [AtomicKind::Integer, AtomicKind::CompareAndSwap, AtomicKind::PopulationCount] {
        assert!(below_every_order(Banked::Atomic(kind), 4, Some(kind)));
    }
}

#[test]
fn lanes_that_update_one_word_take_turns_in_any_layout() {
    let offsets: [i64; 32] = std::array::from_fn(|lane| (lane % 4 * 4) as i64);
    let kind = AtomicKind::Integer;
    let now = cost(&Asked::new(Banked::Atomic(kind), 4, u32::MAX, &offsets), &MODERN).unwrap();
    assert_eq!(fewest(&now, Some(kind), u32::MAX, &offsets), 8);
}
