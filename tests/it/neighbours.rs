//! Are runs of neighbours joined as nvcc joins them?
//!
//! `fixtures/hardware/neighbours.cu` has kernels that read or write a run of each row, and `neighbours-sm90.csv` what
//! each took on a GPU, in all: a run of seven `float`s of rows of eight is read as four and four, and written as four,
//! two and one. Of `short`s that are loaded, it is not always known what is joined.

use crate::support::accesses::accesses;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// Kernels of which an access is unknown, at the most.
const MOST_UNKNOWN: usize = 3;

/// What a kernel took.
#[derive(Deserialize)]
struct Row {
    operation: String,
    r#type: String,
    stride: u32,
    first: u32,
    count: u32,
    wavefronts: u64,
}

impl Row {
    /// The instance as `accesses` names it.
    fn kernel(&self) -> String {
        let Row { operation, r#type, stride, first, count, .. } = self;
        format!("{operation}<{type}, {stride}, {first}, {count}>")
    }
}

#[derive(Deserialize)]
struct Said {
    kernel: String,
    wavefronts: Option<u64>,
}

#[test]
fn runs_of_neighbours_take_what_a_gpu_counted() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hardware");
    let mut said: BTreeMap<String, Option<u64>> = BTreeMap::new();
    for access in accesses::<Said>(&folder.join("neighbours.cu")) {
        let sum = said.entry(access.kernel).or_insert(Some(0));
        *sum = sum.zip(access.wavefronts).map(|(sum, more)| sum + more);
    }
    let mut reader = csv::Reader::from_path(folder.join("neighbours-sm90.csv")).unwrap();
    let rows: Vec<Row> = reader.deserialize().map(Result::unwrap).collect();
    assert!(rows.len() > 240);
    let (mut wrong, mut unknown) = (Vec::new(), Vec::new());
    for row in &rows {
        let kernel = row.kernel();
        match said.get(&kernel) {
            Some(Some(wavefronts)) if *wavefronts == row.wavefronts => {}
            Some(None) => unknown.push(kernel),
            other => wrong.push(format!("{kernel}: {other:?} said, {} counted", row.wavefronts)),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unknown.len() <= MOST_UNKNOWN, "{}", unknown.join("\n"));
}
