//! Does the bank model count what the hardware counted, and what NVIDIA documents for older devices?

use cudalint::banks::fragment::{Element, Role, Tile};
use cudalint::banks::{
    Access, AtomicKind, BankSize, CopySource, Cost, Request, Target, contention, copy_cost, cost, schedule,
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

/// A copy's table has what its lanes read as one more column, and rows that are not claimed to be known.
#[test]
fn copies_that_are_known_take_what_was_measured() {
    let path = format!("{}/fixtures/hardware/copies-sm90.csv", env!("CARGO_MANIFEST_DIR"));
    let (mut around, mut through, mut wrong) = (0, 0, String::new());
    for record in csv::Reader::from_path(path).unwrap().records() {
        let record = record.unwrap();
        let offsets = |column: usize| -> [i64; 32] {
            let list: Vec<i64> = record[column].split(' ').map(|o| o.parse().unwrap()).collect();
            list.try_into().unwrap()
        };
        let (to, from) = (offsets(3), offsets(4));
        let active = u32::from_str_radix(&record[2], 16).unwrap();
        let request = Request::new(Access::AsyncCopy, record[1].parse().unwrap(), active, &to);
        let cg = &record[0] == "cp.async.cg";
        let source = CopySource { stretches: &[0; 32], offsets: &from, around: cg };
        let Some(modelled) = copy_cost(&request, &source) else { continue };
        *(if cg { &mut around } else { &mut through }) += 1;
        if modelled.wavefronts.to_string() != record[5] {
            wrong.push_str(&format!("{}: model {}\n", record.as_slice(), modelled.wavefronts));
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    eprintln!("known: {around} copies around the cache, {through} through it");
    assert!((around, through) >= (822, 460), "only {around} and {through} rows are known");
}

/// What is drawn is what is counted: the spelled-out wavefronts add up, on every device.
#[test]
fn a_schedule_has_the_wavefronts_of_the_count() {
    let targets: Vec<Target> = ["sm_20", "sm_35", "sm_52", "sm_75", "sm_80", "sm_90"]
        .into_iter()
        .map(target)
        .chain([kepler_eight()])
        .collect();
    let mut drawn = 0;
    for file in ["requests-sm90.csv", "requests-sm90-more.csv", "async-copies-sm90.csv"] {
        for (row, target) in rows(file).iter().flat_map(|row| targets.iter().map(move |it| (row, it))) {
            let access = row.operation.parse().unwrap();
            // Odd sizes and alignments are split.
            for (bytes, align) in [(row.bytes, 0), (row.bytes, 4), (12, 4), (7, 1), (24, 8)] {
                let request = Request { align, ..Request::new(access, bytes, row.active, &row.offsets) };
                let counted = cost(&request, target);
                let Some(served) = schedule(&request, target) else {
                    let fermi = *target == targets[0] && bytes >= 16;
                    assert!(counted.is_none() || fermi, "{request:?} on {target}");
                    continue;
                };
                let sum: u32 = served.iter().map(|it| it.wavefronts * it.times * it.passes).sum();
                assert_eq!(Some(sum), counted.map(|it| it.wavefronts), "{request:?} on {target}");
                for piece in &served {
                    let last = piece.touches.iter().map(|it| it.wavefront).max().unwrap_or(0);
                    assert_eq!(last, piece.wavefronts);
                    assert!(piece.touches.iter().all(|it| row.active >> it.lane & 1 == 1));
                }
                drawn += 1;
            }
        }
    }
    assert!(drawn > 20_000, "{drawn}");
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

// ---- wmma

/// `load_matrix_sync matrix_a half 16x16x16`, `row_major`: whether it is a load, and the tile.
fn tile(call: &str, layout: &str) -> (bool, Tile) {
    let (rest, shape) = call.rsplit_once(' ').unwrap();
    let (call, rest) = rest.split_once(' ').unwrap();
    let (role, element) = rest.split_once(' ').unwrap();
    let shape: Vec<u32> = shape.split('x').map(|extent| extent.parse().unwrap()).collect();
    let role = match role {
        "matrix_a" => Role::A,
        "matrix_b" => Role::B,
        _ => Role::Accumulator,
    };
    let elements = [
        ("signed char", Element::Byte),
        ("unsigned char", Element::Byte),
        ("half", Element::Half),
        ("__nv_bfloat16", Element::Bfloat16),
        ("tf32", Element::Tf32),
        ("float", Element::Float),
        ("int", Element::Int),
        ("double", Element::Double),
    ];
    let element = elements.iter().find(|(name, _)| *name == element).unwrap().1;
    let shape = [shape[0], shape[1], shape[2]];
    (call == "load_matrix_sync", Tile { role, shape, element, by_row: layout == "row_major" })
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
        let (load, tile) = tile(&record[0], &record[1]);
        let ld: i64 = record[2].parse().unwrap();
        for request in tile.requests().unwrap() {
            let size = i64::from(tile.element.bytes());
            let offsets = request.lanes.map(|(line, at)| (i64::from(line) * ld + i64::from(at)) * size);
            let access = match (request.matrices, load) {
                (0, true) => Access::Load,
                (0, false) => Access::Store,
                (matrices, _) => Access::MatrixLoad { matrices },
            };
            let cost = cost(&Request::new(access, request.bytes, FULL, &offsets), &target("9.0")).unwrap();
            wavefronts += cost.wavefronts;
            ideal += cost.ideal;
        }
        compared += 1;
        if (wavefronts, ideal) != measured {
            wrong.push(format!("{record:?}: model {wavefronts} of {ideal}"));
        }
    }
    assert_eq!(compared, 954);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
