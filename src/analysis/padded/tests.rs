use super::{Padded, Span};
use crate::analysis::load::Asks;
use crate::analysis::runs::{Follow, Subject};
use crate::analysis::targets;
use crate::exec::budget::FileBudget;
use crate::ir::program::Program;
use crate::lower::lower;
use crate::preproc::Expanded;
use crate::rules::{KernelRun, Padder};
use crate::scenario::{self, Probes};
use crate::source::{FileId, SourceFile};
use crate::syntax::SyntaxTree;
use std::sync::Arc;

/// Wavefronts and ideal by access; `None` where they are not known.
fn figures(run: &KernelRun, array: Span) -> Vec<Option<(u64, u64)>> {
    let accesses = run.trace.accesses.iter().zip(&run.judgements[0]);
    accesses
        .filter(|(access, _)| run.trace.arrays[access.array].name_span == array)
        .map(|(_, judgement)| judgement.totals.map(|totals| (totals.wavefronts, totals.ideal)))
        .collect()
}

/// Compares forecasts with runs for some paddings of the array of this name. How many of the
/// forecasts, by padding and access, say something.
#[track_caller]
fn compare(text: &str, name: &str, paddings: impl IntoIterator<Item = u64>) -> usize {
    let file = SourceFile::new(FileId(0), "a.cu".into(), text.as_bytes().to_vec());
    let tree = SyntaxTree::parse(Expanded::unchanged(Arc::new(file))).unwrap();
    let program = Program::new(vec![Arc::new(lower(&tree))], None);
    let kernel = Arc::clone(program.own_kernels().next().unwrap());
    let budget = FileBudget::default();
    let mut probes = Probes::new(&budget);
    let scenarios = scenario::scenarios(&program, &kernel, &[], &[], &mut probes);
    let targets = targets(&[], false);
    let (program, kernel, scenarios) = (&program, &kernel, &scenarios);
    let subject = Subject {
        program,
        kernel,
        scenarios,
        launches: &[],
        targets: &targets,
        hosts: &[],
        budget: &budget,
        follow: Follow::Nothing,
        asks: Asks::default(),
        is_cut: &|| false,
    };
    let runs = subject.run_all(probes);
    let padder = Padded::new(subject, &runs);
    let array = runs[0].trace.arrays.iter().find(|array| array.name == name).unwrap().name_span;
    assert_eq!(figures(&padder.forecast(0, array, 0).unwrap(), array), figures(&runs[0], array), "as it is");
    let mut told = 0;
    for extra in paddings {
        let forecast = figures(&padder.forecast(0, array, extra).unwrap(), array);
        let ran = figures(&padder.run(0, array, extra).unwrap(), array);
        assert_eq!(forecast.len(), ran.len());
        for (forecast, ran) in forecast.into_iter().zip(ran).filter(|(forecast, _)| forecast.is_some()) {
            assert_eq!(forecast, ran, "{extra} more in each row of {name}");
            told += 1;
        }
    }
    told
}

#[test]
fn a_transpose() {
    let text = "// cudalint: block(32, 8)
__global__ void k(float *out, const float *in, int n) {
    __shared__ float tile[32][32];
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[j * n];
    __syncthreads();
    for (int j = 0; j < 32; j += 8) out[j * n] = tile[threadIdx.x][threadIdx.y + j];
}";
    assert_eq!(compare(text, "tile", 1..=8), 16);
}

#[test]
fn rows_that_differ_between_warps_and_rounds() {
    let text = "// cudalint: block(256)
__global__ void k(const float *a, float *out, int n) {
    __shared__ float as[128][8], bs[8][128];
    float sum = 0;
    for (int step = 0; step < n; step++) {
        for (int i = threadIdx.x; i < 1024; i += 256) as[i / 8][i % 8] = a[i];
        for (int i = threadIdx.x; i < 1024; i += 256) bs[i / 128][i % 128] = a[i];
        __syncthreads();
        for (int k = 0; k < 8; k++) {
            for (int i = 0; i < 8; i++) sum += as[threadIdx.x / 16 * 8 + i][k] * bs[k][threadIdx.x % 16 * 8 + i];
            // Keeps the compiler from joining the reads of several rounds.
            __syncthreads();
        }
    }
    out[threadIdx.x] = sum;
}";
    assert_eq!(compare(text, "as", 1..=8), 16);
}

#[test]
fn a_row_given_at_run_time() {
    let text = "// cudalint: block(16, 16)
__global__ void k(float *out, int n) {
    __shared__ float tile[4][16][16];
    tile[n % 4][threadIdx.x][threadIdx.y] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[n & 3][threadIdx.y][threadIdx.x];
}";
    assert_eq!(compare(text, "tile", 1..=8), 16);
}

#[test]
fn elements_smaller_than_a_bank_and_vectors() {
    let text = "// cudalint: block(32)
__global__ void k(float *out) {
    __shared__ unsigned char bytes[32][64];
    __shared__ float4 wide[32][8];
    bytes[threadIdx.x][0] = 1;
    wide[threadIdx.x][0] = make_float4(0, 0, 0, 0);
    out[0] = bytes[threadIdx.x][4] + wide[threadIdx.x][1].x;
}";
    assert!(compare(text, "bytes", 1..=8) > 0);
    assert_eq!(compare(text, "wide", 1..=8), 16);
}
