//! How fast is the whole run, against nothing but a tree-sitter parse of the same files?
//!
//! `cargo bench` measures generated kernels. With `CUDALINT_CORPUS=FOLDER` it also takes every
//! CUDA file below that folder and prints one line: files, bytes, both times, and their ratio.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use cudalint::analysis::{Files, Loaded, Options, Run};
use cudalint::banks::{Access, ComputeCapability, Request, Target, cost};
use rayon::prelude::*;
use std::cell::RefCell;
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        std::fs::read(path).ok()
    }
}

type Corpus = Vec<(PathBuf, Vec<u8>)>;

fn bare_parse(files: &Corpus) {
    thread_local!(static PARSER: RefCell<tree_sitter::Parser> = RefCell::new(tree_sitter::Parser::new()));
    files.par_iter().for_each(|(_, bytes)| {
        PARSER.with_borrow_mut(|parser| {
            if parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).is_ok() {
                black_box(parser.parse(bytes, None));
            }
        });
    });
}

fn whole_run(files: &Corpus) -> usize {
    let paths: Vec<PathBuf> = files.iter().map(|(path, _)| path.clone()).collect();
    let run = Run::new(Options::default(), &paths, Box::new(Disk));
    let loaded: Vec<Loaded> = files.par_iter().map(|(path, bytes)| run.load(path, bytes.clone())).collect();
    let links = run.link(&loaded);
    loaded.par_iter().map(|it| run.analyze(it, &links).verdicts.len()).sum()
}

/// A file of `kernels` transposes and reductions, each launched.
fn generated(kernels: usize) -> Corpus {
    let mut text = String::new();
    for k in 0..kernels {
        let _ = write!(
            text,
            "__global__ void transpose{k}(float *out, const float *in, int n) {{\n  __shared__ float tile[32][{}];\n\
             \x20 int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;\n\
             \x20 for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];\n\
             \x20 __syncthreads();\n\
             \x20 for (int j = 0; j < 32; j += 8) out[(x + j) * n + y] = tile[threadIdx.x][threadIdx.y + j];\n}}\n\
             void launch{k}(float *o, float *i, int n) {{ transpose{k}<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(o, i, n); }}\n",
            32 + k % 2
        );
    }
    vec![(PathBuf::from("generated.cu"), text.into_bytes())]
}

fn corpus(folder: &Path) -> Corpus {
    let is_cuda = |path: &Path| path.extension().is_some_and(|e| e == "cu" || e == "cuh");
    let mut paths: Vec<PathBuf> = walkdir::WalkDir::new(folder)
        .into_iter()
        .filter_map(Result::ok)
        .map(walkdir::DirEntry::into_path)
        .filter(|path| path.is_file() && is_cuda(path))
        .collect();
    paths.sort();
    paths.into_iter().filter_map(|path| std::fs::read(&path).ok().map(|bytes| (path, bytes))).collect()
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..5)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[2]
}

fn against_the_parse(_: &mut Criterion) {
    let Some(folder) = std::env::var_os("CUDALINT_CORPUS") else {
        println!("CUDALINT_CORPUS is not set: no folder of real files to compare with a bare parse");
        return;
    };
    let files = corpus(Path::new(&folder));
    let bytes: usize = files.iter().map(|(_, bytes)| bytes.len()).sum();
    let parse = median(|| bare_parse(&files));
    let run = median(|| {
        black_box(whole_run(&files));
    });
    println!(
        "{} files, {:.1} MB: bare parse {:.2} s, whole run {:.2} s, ratio {:.2}",
        files.len(),
        bytes as f64 / 1e6,
        parse.as_secs_f64(),
        run.as_secs_f64(),
        run.as_secs_f64() / parse.as_secs_f64()
    );
}

fn generated_kernels(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("kernels");
    for kernels in [10, 20, 40, 80] {
        let files = generated(kernels);
        group.throughput(Throughput::Bytes(files[0].1.len() as u64));
        group.bench_with_input(BenchmarkId::new("whole run", kernels), &files, |b, files| {
            b.iter(|| whole_run(files))
        });
        group.bench_with_input(BenchmarkId::new("bare parse", kernels), &files, |b, files| {
            b.iter(|| bare_parse(files))
        });
    }
    group.finish();
}

fn requests(criterion: &mut Criterion) {
    let target = Target::new(ComputeCapability::new(9, 0));
    let offsets: [i64; 32] = std::array::from_fn(|lane| lane as i64 * 132);
    criterion.bench_function("one request", |b| {
        b.iter(|| cost(&Request::new(Access::Load, 4, u32::MAX, black_box(&offsets)), &target));
    });
}

criterion_group!(benches, generated_kernels, requests, against_the_parse);
criterion_main!(benches);
