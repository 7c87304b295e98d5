//! How much does a run cost, against the bare parse that it cannot do without?
//!
//! `cargo bench` measures generated corpora. With `CUDALINT_CORPUS=FOLDER` every folder in FOLDER
//! (or FOLDER itself, when it has none) is measured too. The first table holds the released program,
//! started as a user starts it, against a bare tree-sitter parse of the same files: processor time of
//! all threads, so that what else the machine does counts little, and the most memory that was held.
//! Tables of the heaviest fixtures and of what grows with what follow, then Criterion's figures.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use cpu_time::ProcessTime;
use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use cudalint::analysis::{Files, Loaded, Options, Run, Wanted};
use cudalint::banks::{Access, Request, Target, cost};
use cudalint::walk::{self, Candidate};
use rayon::prelude::*;
use std::fmt::Write;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tree_sitter::Parser;
use wait4::Wait4;

/// The stack of the program's own workers.
const STACK_BYTES: usize = 32 << 20;

struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Option<Vec<u8>> {
        walk::read(&Candidate::header(path)).ok().flatten()
    }
}

struct Corpus {
    name: String,
    files: Vec<(PathBuf, Vec<u8>)>,
}

impl Corpus {
    fn folder(path: &Path) -> Corpus {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let candidates = walk::find(&[path.to_path_buf()], &[], &|_, _| false).candidates;
        let read = |candidate: &Candidate| {
            let bytes = walk::read(candidate).ok().flatten()?;
            Some((candidate.path.clone(), bytes))
        };
        Corpus { name, files: candidates.iter().filter_map(read).collect() }
    }

    fn bytes(&self) -> u64 {
        self.files.iter().map(|(_, bytes)| bytes.len() as u64).sum()
    }

    /// The whole run; the number of verdicts.
    fn analyse(&self) -> usize {
        let paths: Vec<PathBuf> = self.files.iter().map(|(path, _)| path.clone()).collect();
        let run = Run::new(Options::default(), &paths, Box::new(Disk));
        let files: Vec<&(PathBuf, Vec<u8>)> = self.files.iter().collect();
        let loaded: Vec<_> = one_by_one(files, |(path, bytes)| run.load(path, bytes.clone()));
        let survey = run.survey(&loaded);
        let loaded = one_by_one(loaded, |loaded| run.follow(loaded, &survey));
        let links = run.link(&loaded);
        let analyze = |loaded: &Loaded| run.analyze(loaded, &links, Wanted::Findings);
        let reports = one_by_one(loaded.iter().collect(), |loaded| (loaded, analyze(loaded)));
        let entered = reports.iter().flat_map(|(_, report)| report.entered.iter().copied()).collect();
        let reports = one_by_one(reports, |(loaded, mut report)| {
            run.analyze_unreached(loaded, &entered, Wanted::Findings, &mut report);
            report
        });
        reports.iter().map(|report| report.verdicts.len() + report.diagnostics.len()).sum()
    }

    /// A bare parse of the same files; the number of top-level nodes.
    fn parse(&self) -> usize {
        let files: Vec<&(PathBuf, Vec<u8>)> = self.files.iter().collect();
        let nodes = one_by_one(files, |(_, bytes)| {
            let mut parser = Parser::new();
            parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).unwrap();
            parser.parse(bytes, None).unwrap().root_node().child_count()
        });
        nodes.into_iter().map(|count| count as usize).sum()
    }
}

/// As the program hands out its files: one at a time.
fn one_by_one<I: Send, T: Send>(items: Vec<I>, work: impl Fn(I) -> T + Send + Sync) -> Vec<T> {
    items.into_iter().par_bridge().map(work).collect()
}

fn generated() -> Vec<Corpus> {
    let corpus = |name: &str, count: usize, text: &dyn Fn(usize) -> String| {
        let files = (0..count).map(|at| (PathBuf::from(format!("{at}.cu")), text(at).into_bytes()));
        Corpus { name: name.to_string(), files: files.collect() }
    };
    let transpose = |at: usize| {
        let (tile, pad) = ([16, 32][at % 2], at / 2 % 2);
        format!(
            "#define TILE {tile}\n\
             __global__ void transpose(float *out, const float *in, int n) {{\n    \
             __shared__ float tile[TILE][TILE + {pad}];\n    \
             int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;\n    \
             if (x < n && y < n) tile[threadIdx.y][threadIdx.x] = in[y * n + x];\n    \
             __syncthreads();\n    \
             out[x * n + y] = tile[threadIdx.x][threadIdx.y];\n}}\n\
             void launch(float *out, const float *in, int n) {{\n    \
             transpose<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(out, in, n);\n}}\n"
        )
    };
    let multiply = |at: usize| {
        let depth = [8, 16, 32][at % 3];
        format!(
            "template <int BM, int BN, int BK>\n\
             __global__ void multiply(const float *a, const float *b, float *c, int m, int n, int k) {{\n    \
             __shared__ float as[BM][BK], bs[BK][BN];\n    float sums[8][8] = {{}};\n    \
             int tid = threadIdx.x, row = tid / 16, column = tid % 16;\n    \
             for (int step = 0; step < k; step += BK) {{\n        \
             for (int i = tid; i < BM * BK; i += 256) as[i / BK][i % BK] = a[(blockIdx.y * BM + i / BK) * k + step + i % BK];\n        \
             for (int i = tid; i < BK * BN; i += 256) bs[i / BN][i % BN] = b[(step + i / BN) * n + blockIdx.x * BN + i % BN];\n        \
             __syncthreads();\n        \
             for (int inner = 0; inner < BK; inner++)\n            \
             for (int i = 0; i < 8; i++)\n                \
             for (int j = 0; j < 8; j++) sums[i][j] += as[row * 8 + i][inner] * bs[inner][column * 8 + j];\n        \
             __syncthreads();\n    }}\n    c[tid] = sums[0][0];\n}}\n\
             void launch(const float *a, const float *b, float *c, int n) {{\n    \
             multiply<128, 128, {depth}><<<dim3(n, n), 256>>>(a, b, c, n, n, n);\n}}\n"
        )
    };
    let plain = |at: usize| {
        let mut text = String::new();
        for number in 0..60 {
            writeln!(
                text,
                "__global__ void scale{number}(float *x, int n) {{ int i = blockIdx.x * blockDim.x + threadIdx.x; \
                 if (i < n) x[i] = x[i] * {at}.f + {number}.f; }}\n\
                 void launch{number}(float *x, int n) {{ scale{number}<<<(n + 255) / 256, 256>>>(x, n); }}"
            )
            .unwrap();
        }
        text
    };
    vec![
        corpus("transpose", 300, &transpose),
        corpus("multiply", 60, &multiply),
        corpus("no shared memory", 100, &plain),
    ]
}

fn fetched() -> Vec<(Corpus, Folder)> {
    let Some(folder) = std::env::var_os("CUDALINT_CORPUS").map(PathBuf::from) else { return Vec::new() };
    let mut folders: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    if folders.is_empty() {
        folders.push(folder);
    }
    let read = folders.into_iter().map(|folder| (Corpus::folder(&folder), Folder::Given(folder)));
    read.filter(|(corpus, _)| !corpus.files.is_empty()).collect()
}

/// The least processor time of three, of all threads.
fn cheapest(mut work: impl FnMut() -> usize) -> Duration {
    let rounds = (0..3).map(|_| {
        let start = ProcessTime::now();
        black_box(work());
        start.elapsed()
    });
    rounds.min().unwrap_or_default()
}

/// What one run of the program cost.
struct Cost {
    /// Of all threads.
    processor: Duration,
    wall: Duration,
    peak_bytes: u64,
}

/// The cheapest of three runs of the program over a folder.
fn program(folder: &Path) -> Cost {
    let runs = (0..3).map(|_| {
        let start = Instant::now();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
        command.current_dir(folder).args(["check", "."]).stdout(Stdio::null()).stderr(Stdio::null());
        let used = command.spawn().unwrap().wait4().unwrap().rusage;
        let (processor, peak_bytes) = (used.utime + used.stime, used.maxrss);
        Cost { processor, wall: start.elapsed(), peak_bytes }
    });
    runs.min_by_key(|run| run.processor).unwrap()
}

fn whole_run(criterion: &mut Criterion) {
    rayon::ThreadPoolBuilder::new().stack_size(STACK_BYTES).build_global().unwrap();
    println!(
        "{:>40} {:>6} {:>8} {:>10} {:>10} {:>6} {:>10} {:>9}",
        "corpus", "files", "KiB", "parse", "program", "ratio", "wall", "peak"
    );
    for (corpus, folder) in generated().into_iter().map(written).chain(fetched()) {
        let parse = cheapest(|| corpus.parse());
        let whole = program(folder.path());
        println!(
            "{:>40} {:>6} {:>8} {:>8.1?} {:>8.1?} {:>6.2} {:>8.1?} {:>5} MiB",
            corpus.name,
            corpus.files.len(),
            corpus.bytes() / 1024,
            parse,
            whole.processor,
            whole.processor.as_secs_f64() / parse.as_secs_f64().max(1e-9),
            whole.wall,
            whole.peak_bytes >> 20,
        );
    }
    heaviest_fixtures();
    growth();
    let mut group = criterion.benchmark_group("whole run");
    group.sample_size(10).warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2));
    for corpus in generated() {
        group.throughput(Throughput::Bytes(corpus.bytes()));
        group.bench_function(BenchmarkId::new("cudalint", &corpus.name), |b| b.iter(|| corpus.analyse()));
        group.bench_function(BenchmarkId::new("parse", &corpus.name), |b| b.iter(|| corpus.parse()));
    }
    group.finish();
}

/// A folder on the disk.
enum Folder {
    Made(tempfile::TempDir),
    Given(PathBuf),
}

impl Folder {
    fn path(&self) -> &Path {
        match self {
            Folder::Made(folder) => folder.path(),
            Folder::Given(path) => path,
        }
    }
}

/// Writes a corpus into a folder.
fn written(corpus: Corpus) -> (Corpus, Folder) {
    let folder = tempfile::tempdir().unwrap();
    for (path, bytes) in &corpus.files {
        std::fs::write(folder.path().join(path), bytes).unwrap();
    }
    (corpus, Folder::Made(folder))
}

/// The least processor time of three that one file takes.
fn time_of(text: &str) -> Duration {
    let path = PathBuf::from("a.cu");
    cheapest(|| {
        let run = Run::new(Options::default(), std::slice::from_ref(&path), Box::new(Disk));
        run.analyze_file(&path, text.as_bytes().to_vec()).verdicts.len()
    })
}

fn heaviest_fixtures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let corpus = Corpus::folder(&folder);
    let mut times: Vec<(Duration, &Path)> = corpus
        .files
        .iter()
        .map(|(path, bytes)| (time_of(&String::from_utf8_lossy(bytes)), path.strip_prefix(&folder).unwrap()))
        .collect();
    times.sort_by(|a, b| b.cmp(a));
    println!("\nthe heaviest of {} fixtures, each alone", times.len());
    for (time, path) in times.iter().take(5) {
        println!("{time:>10.1?}  {}", path.display());
    }
}

/// What takes how long when there is 1, 2, 4, 8 times as much of it.
fn growth() {
    let kernels = |count: usize, block: usize, rounds: usize| {
        let mut text = String::new();
        for number in 0..count {
            writeln!(
                text,
                "// cudalint: block({block})\n\
                 __global__ void k{number}(float *x) {{ __shared__ float s[{block}][33]; float sum = 0;\n\
                 for (int i = 0; i < {rounds}; i++) {{ s[threadIdx.x][i & 31] = x[i]; __syncthreads();\n\
                 sum += s[threadIdx.x ^ 1][(i + threadIdx.x) & 31]; }} x[threadIdx.x] = sum; }}"
            )
            .unwrap();
        }
        text
    };
    let files = |count: usize| {
        let files =
            (0..count).map(|at| (PathBuf::from(format!("{at}.cu")), kernels(1, 128, 16).into_bytes()));
        let corpus = Corpus { name: String::new(), files: files.collect() };
        cheapest(|| corpus.analyse())
    };
    let headers = |count: usize| {
        let folder = tempfile::tempdir().unwrap();
        for at in 0..count {
            let others = (1..10).map(|by| format!("#include \"{}.cuh\"\n", (at * 31 + by * by * 97) % count));
            let text = format!("#pragma once\n{}#define M{at} {at}\n", others.collect::<String>());
            std::fs::write(folder.path().join(format!("{at}.cuh")), text).unwrap();
        }
        let main = format!("#include \"0.cuh\"\n{}", kernels(1, 128, 16)).into_bytes();
        let corpus = Corpus { name: String::new(), files: vec![(folder.path().join("a.cu"), main)] };
        cheapest(|| corpus.analyse())
    };
    type Row<'a> = (&'a str, &'a dyn Fn(usize) -> Duration);
    let rows: [Row<'_>; 5] = [
        ("50 files", &|times| files(50 * times)),
        ("100 headers, each to all", &|times| headers(100 * times)),
        ("16 kernels of a file", &|times| time_of(&kernels(16 * times, 128, 16))),
        ("128 threads of a block", &|times| time_of(&kernels(4, 128 * times, 16))),
        ("64 rounds of a loop", &|times| time_of(&kernels(4, 128, 64 * times))),
    ];
    println!("\n{:>24} {:>10} {:>10} {:>10} {:>10}", "growth", "1x", "2x", "4x", "8x");
    for (name, time) in rows {
        print!("{name:>24}");
        [1, 2, 4, 8].map(time).iter().for_each(|time| print!(" {time:>10.1?}"));
        println!();
    }
}

fn bank_requests(criterion: &mut Criterion) {
    let target = Target::new("9.0".parse().unwrap());
    let mut group = criterion.benchmark_group("banks");
    group.throughput(Throughput::Elements(1)).measurement_time(Duration::from_secs(1));
    for (name, bytes, stride) in
        [("row", 4, 4), ("column", 4, 128), ("float4", 16, 16), ("double column", 8, 264)]
    {
        let offsets: [i64; 32] = std::array::from_fn(|lane| lane as i64 * stride);
        let request =
            Request { access: Access::Load, bytes, active: u32::MAX, offsets: &offsets, align: 0, base: 0 };
        group.bench_function(name, |b| b.iter(|| cost(black_box(&request), &target)));
    }
    group.finish();
}

fn start_up(criterion: &mut Criterion) {
    let root = tempfile::tempdir().unwrap();
    let judged =
        "__global__ void k(int *p) { __shared__ int s[32]; s[threadIdx.x] = 1; p[0] = s[threadIdx.x]; }\n";
    std::fs::write(root.path().join("plain.cu"), "__global__ void k(int *p) { p[0] = 1; }\n").unwrap();
    std::fs::write(root.path().join("judged.cu"), judged).unwrap();
    let mut group = criterion.benchmark_group("start-up");
    group.sample_size(20).measurement_time(Duration::from_secs(2));
    for (name, file) in [("nothing to judge", "plain.cu"), ("one kernel to judge", "judged.cu")] {
        group.bench_function(name, |b| {
            b.iter(|| {
                let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
                command.current_dir(root.path()).args(["-q", file]).status().unwrap()
            });
        });
    }
    group.finish();
}

criterion_group!(benches, whole_run, bank_requests, start_up);
criterion_main!(benches);
