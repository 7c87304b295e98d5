//! Does the bank model agree with a slow one written from the definitions, on any request?

use crate::support::random::Random;
use cudalint::banks::{
    Access, AtomicKind, BankSize, ComputeCapability, Cost, Request, Target, contention, cost,
    lanes_served_together, period_bytes,
};

const FULL: u32 = u32::MAX;

fn target(text: &str) -> Target {
    let (major, minor) =
        text.trim_start_matches("sm_").split_once('.').unwrap_or_else(|| text[3..].split_at(text.len() - 4));
    Target::new(ComputeCapability::new(major.parse().unwrap(), minor.parse().unwrap()))
}

fn kepler_eight() -> Target {
    Target { bank_size: BankSize::Eight, ..target("3.5") }
}

// ---- An independent slow oracle for 2.x and newer, from the definitions

/// The words (of `width` bytes) of each lane.
fn words_of(offset: i64, bytes: i64, width: i64) -> Vec<i64> {
    let mut words: Vec<i64> = (offset..offset + bytes).map(|byte| byte.div_euclid(width)).collect();
    words.dedup();
    words
}

/// The fullest bank's number of entries, where `same` says which entries are served in one pass.
fn fullest(
    lanes: &[usize],
    offsets: &[i64; 32],
    bytes: i64,
    width: i64,
    same: impl Fn(i64, i64) -> bool,
) -> u32 {
    let mut most = 0;
    for bank in 0..32 {
        let mut passes: Vec<i64> = Vec::new();
        for &lane in lanes {
            for word in words_of(offsets[lane], bytes, width) {
                if word.rem_euclid(32) == bank && !passes.iter().any(|&p| same(p, word)) {
                    passes.push(word);
                }
            }
        }
        most = most.max(passes.len() as u32);
    }
    most
}

/// Wavefronts and ideal of a naturally aligned load, store or 4-byte atomic.
fn oracle(access: Access, bytes: i64, active: u32, offsets: &[i64; 32], target: &Target) -> (u32, u32) {
    let active: Vec<usize> = (0..32).filter(|l| active & (1 << l) != 0).collect();
    let paired =
        |d: usize| active.iter().all(|&l| !active.contains(&(l ^ d)) || offsets[l] == offsets[l ^ d]);
    let merged = access == Access::Load && (paired(1) || paired(2));
    let major = target.capability.major;
    let lanes = match (major, bytes) {
        (2, 16) => 8,
        (2, 8) | (3, 16) => 16,
        (2 | 3, _) => 32,
        (_, 8) => 16 * (1 + usize::from(merged)),
        (_, 16) => 8 * (1 + usize::from(merged)),
        _ => 32,
    };
    let (mut sum, mut max, mut ideal) = (0, 0, 0);
    for group in 0..32 / lanes {
        let group: Vec<usize> = active.iter().copied().filter(|l| l / lanes == group).collect();
        if group.is_empty() {
            continue;
        }
        let passes = match (access, major, target.bank_size) {
            (Access::Atomic(AtomicKind::PopulationCount), ..) => {
                fullest(&group, offsets, bytes, 4, |a, b| a == b)
            }
            (Access::Atomic(_), ..) => fullest(&group, offsets, bytes, 4, |_, _| false),
            (Access::AsyncCopy, 8.., _) if bytes == 4 || bytes == 8 => {
                fullest(&group, offsets, bytes, 4, |_, _| false)
            }
            (_, 3, BankSize::Four) => {
                fullest(&group, offsets, bytes, 4, |a, b| a.div_euclid(64) == b.div_euclid(64))
            }
            (_, 3, BankSize::Eight) => fullest(&group, offsets, bytes, 8, |a, b| a == b),
            _ => fullest(&group, offsets, bytes, 4, |a, b| a == b),
        };
        sum += passes;
        max = max.max(passes);
        ideal += 1;
    }
    match (access, major, bytes) {
        _ if active.is_empty() => (0, 0),
        (Access::Atomic(AtomicKind::CompareAndSwap), ..) => (2 * sum, 2 * ideal),
        (_, 2, 16) => (1 + max, 2),
        _ => (sum, ideal),
    }
}

impl Random {
    fn mask(&mut self) -> u32 {
        match self.below(4) {
            0 => FULL,
            1 => (1_u64 << self.below(33)).wrapping_sub(1) as u32,
            2 => self.next() as u32,
            _ => (self.next() & self.next()) as u32,
        }
    }

    /// Offsets that are multiples of `bytes`, of the shapes that real code has and some that it has not.
    fn offsets(&mut self, bytes: i64) -> [i64; 32] {
        let start = (self.below(64) as i64 - 32) * bytes;
        let stride = self.below(40) as i64 * bytes;
        let spread = 1 + self.below(200);
        let merge = [0, 1, 2, 3, 4][self.below(5) as usize];
        let shape = self.below(3);
        let distinct: Vec<i64> = (0..32).map(|_| self.below(spread) as i64 * bytes).collect();
        std::array::from_fn(|lane| {
            let lane = if merge == 3 { lane / 4 } else { lane & !merge };
            start
                + match shape {
                    0 => lane as i64 * stride,
                    1 => distinct[lane],
                    _ => (lane as i64 % 8) * stride + (lane as i64 / 8) * bytes,
                }
        })
    }
}

#[test]
fn random_requests_agree_with_the_slow_oracle() {
    let targets =
        [target("2.0"), target("3.5"), kepler_eight(), target("5.2"), target("sm_90"), target("12.0")];
    let kinds = [AtomicKind::Integer, AtomicKind::PopulationCount, AtomicKind::CompareAndSwap];
    let mut random = Random(1);
    for round in 0..1500 {
        let bytes = [1, 2, 4, 8, 16][random.below(5) as usize];
        let active = random.mask();
        let offsets = random.offsets(bytes);
        for target in targets {
            let mut accesses = vec![Access::Load, Access::Store, Access::AsyncCopy];
            if bytes == 4 && target.capability.major >= 5 {
                accesses.extend(kinds.map(Access::Atomic));
            }
            for access in accesses {
                let request = Request::new(access, bytes as u32, active, &offsets);
                let Cost { wavefronts, ideal, usual, ways, witness, accesses } =
                    cost(&request, &target).unwrap();
                let context = format!("round {round}, {target}: {request:?}");
                assert_eq!(
                    (wavefronts, ideal),
                    oracle(access, bytes, active, &offsets, &target),
                    "{context}"
                );
                assert!(ideal <= usual, "{context}");
                assert!(ways <= wavefronts && wavefronts <= ways * ideal.max(1), "{ways} ways: {context}");
                assert_eq!(witness.is_some(), wavefronts > ideal, "{witness:?}: {context}");
                assert_eq!(accesses, u32::from(active != 0), "{context}");
            }
        }
    }
}

#[test]
fn witnesses_are_two_active_lanes_that_collide_in_one_group() {
    let mut random = Random(2);
    for text in ["1.0", "2.0", "3.5", "7.0", "9.0"] {
        let target = target(text);
        for _ in 0..2000 {
            let bytes = [1, 2, 4, 8, 16][random.below(5) as usize];
            let (active, offsets) = (random.mask(), random.offsets(bytes));
            let request = Request::new(Access::Load, bytes as u32, active, &offsets);
            let Some(witness) = cost(&request, &target).unwrap().witness else { continue };
            let (low, high) = (u32::from(witness.lanes.0), u32::from(witness.lanes.1));
            let together = lanes_served_together(&request, &target);
            assert!(low < high && low / together == high / together, "{request:?}: {witness:?}");
            assert!(active >> low & 1 == 1 && active >> high & 1 == 1, "{request:?}: {witness:?}");
            let reaches =
                |start: i64| (start..start + bytes).any(|byte| target.bank_of(byte) == witness.bank);
            assert!(reaches(witness.offsets.0) && reaches(witness.offsets.1), "{request:?}: {witness:?}");
        }
    }
}

#[test]
fn a_uniform_offset_of_one_period_changes_nothing() {
    let mut random = Random(3);
    let targets = [target("1.3"), target("2.1"), target("3.0"), kepler_eight(), target("8.6")];
    for _ in 0..2000 {
        let bytes = [1, 2, 4, 8, 12, 16, 20][random.below(7) as usize];
        let (active, offsets) = (random.mask(), random.offsets(bytes));
        for target in targets {
            let by = i64::from(period_bytes(&target)) * (random.below(2001) as i64 - 1000);
            let moved = offsets.map(|offset| offset + by);
            let count = |offsets| {
                cost(&Request::new(Access::Load, bytes as u32, active, offsets), &target)
                    .map(|c| (c.wavefronts, c.ideal, c.ways))
            };
            assert_eq!(count(&offsets), count(&moved), "{target}, {bytes} bytes, {by}, {offsets:?}");
            let based = Request { base: by, ..Request::new(Access::Load, bytes as u32, active, &offsets) };
            assert_eq!(count(&offsets), cost(&based, &target).map(|c| (c.wavefronts, c.ideal, c.ways)));
        }
    }
}

/// Where lanes meet by words and not by longer segments, a shift by whole banks only rotates them.
#[test]
fn a_uniform_offset_of_whole_banks_changes_nothing() {
    let mut random = Random(4);
    let targets =
        [target("1.3"), target("2.1"), kepler_eight(), target("5.2"), target("9.0"), target("12.0")];
    let kinds = [AtomicKind::Integer, AtomicKind::PopulationCount, AtomicKind::CompareAndSwap];
    for _ in 0..2000 {
        let bytes = [1, 2, 4, 8, 12, 16, 20][random.below(7) as usize];
        let (active, offsets) = (random.mask(), random.offsets(bytes));
        for target in targets {
            let mut accesses = vec![Access::Load, Access::Store, Access::AsyncCopy];
            accesses.extend(kinds.map(Access::Atomic));
            let by = i64::from(target.bank_bytes()) * (random.below(2001) as i64 - 1000);
            let moved = offsets.map(|offset| offset + by);
            for access in accesses {
                let count = |offsets| {
                    cost(&Request::new(access, bytes as u32, active, offsets), &target)
                        .map(|c| (c.wavefronts, c.ideal, c.usual, c.ways))
                };
                assert_eq!(count(&offsets), count(&moved), "{target}, {access:?}, {bytes} bytes, {by}");
            }
        }
    }
}

// ---- 1.x: all choices of broadcast words and lanes tried

/// The fewest steps for lanes given as words, trying every choice that the documentation leaves open.
fn fewest_steps(words: &[i64]) -> u32 {
    fn search(left: &[i64], budget: u32) -> bool {
        if left.is_empty() {
            return true;
        }
        if budget == 0 {
            return false;
        }
        let mut tried = Vec::new();
        for &word in left {
            if tried.contains(&word) {
                continue;
            }
            tried.push(word);
            let rest: Vec<i64> = left.iter().copied().filter(|&w| w != word).collect();
            if singles(&rest, word.rem_euclid(16), 0, &mut Vec::new(), budget) {
                return true;
            }
        }
        false
    }
    /// Chooses one lane for each bank from `bank` on, other than the broadcasting one.
    fn singles(rest: &[i64], broadcasting: i64, bank: i64, taken: &mut Vec<usize>, budget: u32) -> bool {
        if bank == 16 {
            let mut left: Vec<i64> =
                rest.iter().enumerate().filter(|(i, _)| !taken.contains(i)).map(|(_, &w)| w).collect();
            left.sort_unstable();
            return search(&left, budget - 1);
        }
        let mut choices: Vec<usize> = (0..rest.len()).filter(|&i| rest[i].rem_euclid(16) == bank).collect();
        choices.sort_by_key(|&i| rest[i]);
        choices.dedup_by_key(|i| rest[*i]);
        if bank == broadcasting || choices.is_empty() {
            return singles(rest, broadcasting, bank + 1, taken, budget);
        }
        choices.into_iter().any(|choice| {
            taken.push(choice);
            let found = singles(rest, broadcasting, bank + 1, taken, budget);
            taken.pop();
            found
        })
    }
    (0..).find(|&budget| search(words, budget)).unwrap()
}

#[test]
fn half_warps_of_1_x_take_the_fewest_steps_that_any_choice_allows() {
    let mut random = Random(4);
    for _ in 0..400 {
        let lanes = 1 + random.below(7) as usize;
        let banks = 1 + random.below(3) as i64;
        let words: Vec<i64> =
            (0..lanes).map(|_| random.below(banks as u64) as i64 + 16 * random.below(2) as i64).collect();
        let offsets = std::array::from_fn(|lane| words.get(lane).map_or(0, |word| word * 4));
        let request = Request::new(Access::Load, 4, (1 << lanes) - 1, &offsets);
        let found = cost(&request, &target("1.1")).unwrap();
        assert_eq!((found.wavefronts, found.ideal), (fewest_steps(&words), 1), "{words:?}");
    }
}

// ---- Any request

#[test]
fn every_request_has_an_answer() {
    let extremes = [i64::MIN, i64::MIN + 1, -1, 0, 1, 3, i64::MAX - 1, i64::MAX];
    let mut random = Random(5);
    for text in ["1.0", "2.0", "3.5", "9.0", "25.5"] {
        for bytes in (0..40).chain([64, 1000, u32::MAX - 1, u32::MAX]) {
            let offsets = std::array::from_fn(|_| match random.below(2) {
                0 => extremes[random.below(8) as usize],
                _ => random.next() as i64,
            });
            for access in
                [Access::Load, Access::Store, Access::AsyncCopy, Access::MatrixLoad { matrices: 255 }]
            {
                for align in [0, 1, 3, 4, 8, 16, 1 << 31] {
                    let (active, base) = (random.mask(), random.next() as i64);
                    let request = Request { align, base, ..Request::new(access, bytes, active, &offsets) };
                    if let Some(cost) = cost(&request, &target(text)) {
                        assert!(cost.ideal <= cost.wavefronts, "{request:?} on {text}: {cost:?}");
                    }
                    assert!(lanes_served_together(&request, &target(text)) <= 32);
                    assert!(contention(&request, &target(text)).lanes <= 32 * 5);
                }
            }
            let idle = Request::new(Access::Load, bytes, 0, &offsets);
            let nothing = cost(&idle, &target(text)).unwrap();
            assert_eq!((nothing.wavefronts, nothing.ideal, nothing.ways, nothing.witness), (0, 0, 0, None));
        }
    }
}

#[test]
fn a_split_access_costs_what_its_pieces_cost() {
    let mut random = Random(6);
    for round in 0..500 {
        let (bytes, align) =
            [(3, 1), (6, 2), (12, 4), (24, 8), (28, 4), (7, 4), (40, 8), (22, 16)][random.below(8) as usize];
        let active = random.mask();
        let offsets = random.offsets(align);
        for target in [target("1.3"), target("2.0"), target("3.5"), kepler_eight(), target("8.0")] {
            let request =
                Request { align: align as u32, ..Request::new(Access::Load, bytes as u32, active, &offsets) };
            let (mut wavefronts, mut ideal, mut at) = (0, 0, 0);
            while at < bytes {
                let widest = if target.capability.major == 1 { 4 } else { 16 };
                let piece = [16, 8, 4, 2, 1]
                    .into_iter()
                    .find(|&p| p <= align && p <= widest && p <= bytes - at && at % p == 0);
                let piece = piece.unwrap();
                let moved = offsets.map(|offset| offset + at);
                let part = cost(&Request::new(Access::Load, piece as u32, active, &moved), &target).unwrap();
                wavefronts += part.wavefronts;
                ideal += part.ideal;
                at += piece;
            }
            let found = cost(&request, &target).unwrap();
            assert_eq!(
                (found.wavefronts, found.ideal),
                (wavefronts, ideal),
                "round {round}: {request:?} on {target}"
            );
        }
    }
}
