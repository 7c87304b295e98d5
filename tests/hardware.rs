//! Does the bank model count what the hardware counted, and what NVIDIA documents for older devices?
#![allow(clippy::unwrap_used)] // a failed unwrap is a failed test

use cudalint::banks::{
    Access, AtomicKind, BankSize, ComputeCapability, Cost, Request, Target, contention, cost,
    lanes_served_together, period_bytes,
};

const FULL: u32 = u32::MAX;

fn target(text: &str) -> Target {
    Target::new(text.parse().unwrap())
}

fn kepler_eight() -> Target {
    Target { bank_size: BankSize::Eight, ..target("3.5") }
}

// ---- The measured tables

struct Row {
    line: u64,
    operation: String,
    bytes: u32,
    active: u32,
    offsets: [i64; 32],
    wavefronts: u32,
}

fn rows(file: &str) -> Vec<Row> {
    let path = format!("{}/fixtures/hardware/{file}", env!("CARGO_MANIFEST_DIR"));
    let mut reader = csv::Reader::from_path(path).unwrap();
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.unwrap();
        let offsets: Vec<i64> = record[3].split(' ').map(|o| o.parse().unwrap()).collect();
        rows.push(Row {
            line: record.position().unwrap().line(),
            operation: record[0].to_owned(),
            bytes: record[1].parse().unwrap(),
            active: u32::from_str_radix(&record[2], 16).unwrap(),
            offsets: offsets.try_into().unwrap(),
            wavefronts: record[4].parse().unwrap(),
        });
    }
    rows
}

fn every_row_agrees(file: &str, least: usize) {
    let rows = rows(file);
    assert!(rows.len() >= least, "{file} has only {} rows", rows.len());
    let mut wrong = String::new();
    for row in &rows {
        let access = row.operation.parse().unwrap();
        let request = Request::new(access, row.bytes, row.active, &row.offsets);
        let modelled = cost(&request, &target("sm_90")).map(|cost| cost.wavefronts);
        if modelled != Some(row.wavefronts) {
            wrong.push_str(&format!(
                "{file}:{}: {} of {} bytes, lanes {:08x}, at {:?}: measured {}, model {modelled:?}\n",
                row.line, row.operation, row.bytes, row.active, row.offsets, row.wavefronts
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {} rows differ:\n{wrong}", wrong.lines().count(), rows.len());
}

#[test]
fn every_measured_request_is_reproduced() {
    every_row_agrees("requests-sm90.csv", 866);
}

/// These were generated and measured after the rules were written down.
#[test]
fn requests_that_the_rules_were_not_made_from_are_reproduced_too() {
    every_row_agrees("requests-sm90-more.csv", 400);
}

#[test]
fn asynchronous_copies_take_turns_on_one_word() {
    every_row_agrees("async-copies-sm90.csv", 241);
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

/// A small deterministic generator (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

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
                let Cost { wavefronts, ideal, ways, witness } = cost(&request, &target).unwrap();
                let context = format!("round {round}, {target}: {request:?}");
                assert_eq!(
                    (wavefronts, ideal),
                    oracle(access, bytes, active, &offsets, &target),
                    "{context}"
                );
                assert!(ways <= wavefronts && wavefronts <= ways * ideal.max(1), "{ways} ways: {context}");
                assert_eq!(witness.is_some(), wavefronts > ideal, "{witness:?}: {context}");
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

// ---- What NVIDIA documents

fn strided(bytes: i64) -> [i64; 32] {
    std::array::from_fn(|lane| lane as i64 * bytes)
}

fn load(text: &str, bytes: u32, offsets: &[i64; 32]) -> Cost {
    cost(&Request::new(Access::Load, bytes, FULL, offsets), &target(text)).unwrap()
}

/// Wavefronts, ideal, ways.
fn numbers(cost: Cost) -> (u32, u32, u32) {
    (cost.wavefronts, cost.ideal, cost.ways)
}

#[test]
fn strides_of_32_bit_words() {
    //             stride   1.x  2.x  3.x/4  3.x/8  5.x+: ways
    let table = [
        (1, [1, 1, 1, 1, 1]),
        (2, [2, 2, 1, 1, 2]),
        // 8-byte words: lanes 1 and 22 want words 3 / 2 = 1 and 66 / 2 = 33
        (3, [1, 1, 1, 2, 1]),
        (4, [4, 4, 2, 2, 4]),
        (8, [8, 8, 4, 4, 8]),
        (16, [16, 16, 8, 8, 16]),
        (32, [16, 32, 16, 16, 32]),
        (33, [1, 1, 1, 1, 1]),
    ];
    let targets = [target("1.0"), target("2.0"), target("3.5"), kepler_eight(), target("9.0")];
    for (stride, expected) in table {
        let offsets = strided(4 * stride);
        let found = targets.map(|target| {
            let cost = cost(&Request::new(Access::Load, 4, FULL, &offsets), &target).unwrap();
            assert_eq!(cost.wavefronts, cost.ways * cost.ideal, "stride {stride} on {target}");
            cost.ways
        });
        assert_eq!(found, expected, "stride {stride}");
    }
}

#[test]
fn a_stride_is_clean_on_1_x_exactly_when_it_is_odd() {
    for stride in 0..64 {
        let clean = load("1.3", 4, &strided(4 * stride)).ways == 1;
        assert_eq!(clean, stride % 2 == 1 || stride == 0, "stride {stride}");
    }
}

#[test]
fn elements_indexed_by_lane() {
    //        bytes  align   1.x          2.x        3.x        5.x and newer
    let table = [
        (1, 0, (8, 2, 4), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
        (2, 0, (4, 2, 2), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
        (4, 0, (2, 2, 1), (1, 1, 1), (1, 1, 1), (1, 1, 1)),
        // double
        (8, 0, (8, 4, 2), (2, 2, 1), (1, 1, 1), (2, 2, 1)),
        // struct of 2 floats
        (8, 4, (8, 4, 2), (4, 2, 2), (2, 2, 1), (4, 2, 2)),
        // struct of 3 floats
        (12, 4, (6, 6, 1), (3, 3, 1), (3, 3, 1), (3, 3, 1)),
        // float4: 2-way at best on 2.x, says NVIDIA
        (16, 0, (32, 8, 4), (2, 2, 2), (2, 2, 1), (4, 4, 1)),
    ];
    for (bytes, align, tesla, fermi, kepler, modern) in table {
        let offsets = strided(i64::from(bytes));
        let request = Request { align, ..Request::new(Access::Load, bytes, FULL, &offsets) };
        for (text, expected) in [
            ("1.0", tesla),
            ("2.0", fermi),
            ("3.5", kepler),
            ("5.0", modern),
            ("9.0", modern),
            ("12.1", modern),
        ] {
            let found = numbers(cost(&request, &target(text)).unwrap());
            assert_eq!(found, expected, "{bytes} bytes aligned to {align} on {text}");
        }
    }
    let doubles = strided(8);
    let request = Request::new(Access::Load, 8, FULL, &doubles);
    assert_eq!(numbers(cost(&request, &kepler_eight()).unwrap()), (1, 1, 1));
}

#[test]
fn one_word_is_broadcast_on_every_device() {
    for text in ["1.0", "2.0", "3.5", "5.2", "7.0", "9.0", "10.0", "12.0"] {
        let cost = load(text, 4, &[128; 32]);
        assert_eq!((cost.wavefronts, cost.ways), (cost.ideal, 1), "{text}");
    }
}

#[test]
fn several_words_are_multicast_since_2_x_but_not_on_1_x() {
    // Four lanes read each word, all in different banks.
    let offsets: [i64; 32] = std::array::from_fn(|lane| (lane as i64 / 4) * 4);
    assert_eq!(load("1.0", 4, &offsets).ways, 4);
    for text in ["2.0", "3.5", "5.2", "9.0"] {
        assert_eq!(numbers(load(text, 4, &offsets)), (1, 1, 1), "{text}");
    }
}

#[test]
fn stores_to_one_word_do_not_conflict() {
    for text in ["1.0", "2.0", "3.5", "9.0"] {
        let cost = cost(&Request::new(Access::Store, 4, FULL, &[64; 32]), &target(text)).unwrap();
        assert_eq!((cost.wavefronts, cost.ways), (cost.ideal, 1), "{text}");
    }
}

#[test]
fn on_3_x_two_words_of_one_aligned_segment_are_free_so_the_base_matters() {
    let offsets: [i64; 32] = std::array::from_fn(|lane| if lane == 0 { 0 } else { 128 });
    let request = |base| Request { base, ..Request::new(Access::Load, 4, FULL, &offsets) };
    assert_eq!(cost(&request(0), &target("3.5")).unwrap().wavefronts, 1);
    assert_eq!(cost(&request(128), &target("3.5")).unwrap().wavefronts, 2);
    assert_eq!(cost(&request(0), &kepler_eight()).unwrap().wavefronts, 1);
}

#[test]
fn wide_loads_of_paired_addresses_merge_groups() {
    let wide = |distance: usize| std::array::from_fn(|lane| 16 * (lane & !distance) as i64);
    for distance in [1, 2] {
        assert_eq!(numbers(load("9.0", 16, &wide(distance))), (2 * 2, 2, 2), "lane ^ {distance}");
    }
    // Lanes paired across distance 4 share addresses as well, but the hardware does not look there.
    assert_eq!(load("9.0", 16, &wide(4)).ideal, 4);
    let store = cost(&Request::new(Access::Store, 16, FULL, &wide(1)), &target("9.0")).unwrap();
    assert_eq!(store.ideal, 4, "stores never merge");
}

#[test]
fn a_witness_is_the_pair_of_lowest_lanes() {
    let column = strided(128);
    let witness = load("9.0", 4, &column).witness.unwrap();
    assert_eq!((witness.lanes, witness.offsets, witness.bank), ((0, 1), (0, 128), 0));
    assert_eq!(load("9.0", 4, &strided(132)).witness, None);
}

#[test]
fn an_atomic_takes_turns_even_on_one_word() {
    let atomic = |kind, offsets: &[i64; 32]| {
        cost(&Request::new(Access::Atomic(kind), 4, FULL, offsets), &target("9.0")).map(numbers)
    };
    assert_eq!(atomic(AtomicKind::Integer, &[0; 32]), Some((32, 1, 32)));
    assert_eq!(atomic(AtomicKind::PopulationCount, &[0; 32]), Some((1, 1, 1)));
    assert_eq!(atomic(AtomicKind::CompareAndSwap, &[0; 32]), Some((64, 2, 32)));
    assert_eq!(atomic(AtomicKind::CompareAndSwap, &strided(4)), Some((2, 2, 1)));
}

#[test]
fn an_atomic_loop_has_contention_but_no_number() {
    for (kind, bytes) in [(AtomicKind::FloatAdd, 4), (AtomicKind::Wide64, 8), (AtomicKind::Emulated, 2)] {
        let offsets = strided(32);
        let request = Request::new(Access::Atomic(kind), bytes, FULL, &offsets);
        assert_eq!(cost(&request, &target("9.0")), None);
        let found = contention(&request, &target("9.0"));
        assert_eq!((found.lanes, found.witness.unwrap().lanes), (8, (0, 4)), "{kind:?}");
    }
}

#[test]
fn what_a_device_cannot_do_has_no_cost() {
    let offsets = strided(16);
    let known = |access, text: &str| cost(&Request::new(access, 4, FULL, &offsets), &target(text)).is_some();
    assert!(
        !known(Access::MatrixLoad { matrices: 4 }, "7.0") && known(Access::MatrixLoad { matrices: 4 }, "7.5")
    );
    assert!(
        !known(Access::MatrixStore { matrices: 4 }, "8.9")
            && known(Access::MatrixStore { matrices: 4 }, "9.0")
    );
    assert!(
        !known(Access::Atomic(AtomicKind::Integer), "3.5")
            && known(Access::Atomic(AtomicKind::Integer), "5.0")
    );
}

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
            assert_eq!((numbers(nothing), nothing.witness), ((0, 0, 0), None));
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

// ---- wmma

/// The requests of one warp-wide wmma call on 16x16x16, as `(access, bytes, lane offsets)`.
///
/// `matrix_a` and `matrix_b` of `half`: one `ldmatrix.x4`; lane `l` addresses row (or, column major, column)
/// `l % 16` of the tile, the left or right 16 bytes of it by `l / 16`. The layout only decides about `.trans`.
///
/// `float` accumulators: lane `l` holds, of each 8x8 quarter, the elements (l / 4, 2 * (l % 4)) and its right
/// neighbour. Row major, the two are adjacent: four 8-byte accesses. Column major they are `ld` apart: eight of
/// 4 bytes.
fn wmma(call: &str, layout: &str, ld: i64) -> Vec<(Access, u32, [i64; 32])> {
    if call.contains("matrix_a") || call.contains("matrix_b") {
        let rows = std::array::from_fn(|lane| (lane as i64 % 16) * ld * 2 + (lane as i64 / 16) * 16);
        return vec![(Access::MatrixLoad { matrices: 4 }, 16, rows)];
    }
    let access = if call.starts_with("load") { Access::Load } else { Access::Store };
    let mut requests = Vec::new();
    for quarter in 0..4 {
        let element = |lane: usize, right: i64| {
            let row = (quarter / 2) * 8 + lane as i64 / 4;
            let column = (quarter % 2) * 8 + 2 * (lane as i64 % 4) + right;
            4 * if layout == "row_major" { row * ld + column } else { column * ld + row }
        };
        if layout == "row_major" {
            requests.push((access, 8, std::array::from_fn(|lane| element(lane, 0))));
        } else {
            requests.push((access, 4, std::array::from_fn(|lane| element(lane, 0))));
            requests.push((access, 4, std::array::from_fn(|lane| element(lane, 1))));
        }
    }
    requests
}

#[test]
fn wmma_calls_cost_what_their_requests_cost() {
    let path = format!("{}/fixtures/hardware/wmma-sm90.csv", env!("CARGO_MANIFEST_DIR"));
    let mut reader = csv::Reader::from_path(path).unwrap();
    let mut wrong = Vec::new();
    let mut compared = 0;
    for record in reader.records() {
        let record = record.unwrap();
        let measured = (record[3].parse().unwrap(), record[4].parse().unwrap());
        let (mut wavefronts, mut ideal) = (0, 0);
        for (access, bytes, offsets) in wmma(&record[0], &record[1], record[2].parse().unwrap()) {
            let cost = cost(&Request::new(access, bytes, FULL, &offsets), &target("9.0")).unwrap();
            wavefronts += cost.wavefronts;
            ideal += cost.ideal;
        }
        compared += 1;
        if (wavefronts, ideal) != measured {
            wrong.push(format!("{record:?}: model {wavefronts} of {ideal}"));
        }
    }
    assert_eq!(compared, 88);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

// ---- Targets

#[test]
fn capabilities_parse_in_every_spelling() {
    for (text, major, minor) in [
        ("sm_90", 9, 0),
        ("sm_90a", 9, 0),
        ("SM_90", 9, 0),
        ("9.0", 9, 0),
        ("90", 9, 0),
        ("compute_86", 8, 6),
        ("cc7.0", 7, 0),
        ("cc 7.0", 7, 0),
        ("sm_100f", 10, 0),
        ("sm_120", 12, 0),
        ("12.1", 12, 1),
        ("sm_13", 1, 3),
        ("sm_135", 13, 5),
    ] {
        assert_eq!(text.parse(), Ok(ComputeCapability { major, minor }), "{text}");
    }
    for known in ComputeCapability::known() {
        assert_eq!(known.to_string().parse(), Ok(known));
    }
}

#[test]
fn what_is_no_capability_names_the_nearest() {
    for (text, nearest) in [
        ("sm_91", "sm_90"),
        ("sm_85", "sm_86"),
        ("7.3", "sm_72"),
        ("sm90x", "sm_90"),
        ("sm-86", "sm_86"),
        ("sm_9O", "sm_90"),
        ("compute-75", "sm_75"),
    ] {
        let error = text.parse::<ComputeCapability>().unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("`{text}` is not a compute capability; did you mean `{nearest}`?")
        );
    }
    for text in ["", "sm_", ".", "a", "é", "sm_é", "sm_999999999999", "-9.0", "+9.0"] {
        assert!(text.parse::<ComputeCapability>().is_err(), "{text}");
    }
}

#[test]
fn an_unknown_future_device_behaves_as_the_newest() {
    let (future, newest) = (target("sm_207"), target("12.1"));
    assert_eq!(future.family(), newest.family());
    assert_eq!(future.dynamic_shared_limit(), newest.dynamic_shared_limit());
}

#[test]
fn shared_memory_limits() {
    let kib = |text: &str| {
        let target = target(text);
        (target.static_shared_limit() / 1024, target.dynamic_shared_limit() / 1024)
    };
    for (text, expected) in [
        ("1.3", (16, 16)),
        ("3.5", (48, 48)),
        ("6.1", (48, 48)),
        ("7.0", (48, 96)),
        ("7.2", (48, 96)),
        ("7.5", (48, 64)),
        ("8.0", (48, 163)),
        ("8.6", (48, 99)),
        ("8.7", (48, 163)),
        ("8.9", (48, 99)),
        ("9.0", (48, 227)),
        ("10.0", (48, 227)),
        ("12.0", (48, 99)),
    ] {
        assert_eq!(kib(text), expected, "{text}");
    }
}
