//! Does the oracle itself know what small kernels do? Each answer here was worked out by hand.

use super::banks::{Serving, cost};
use super::barriers::meetings;
use super::compile::compiler;
use super::escapes::{escapes, wrong_subscripts};
use super::execution::{Launch, Step, read};
use super::races::{Between, races};
use super::unwritten::unwritten;
use std::collections::BTreeSet;
use std::path::Path;

/// Runs one kernel text; `None` without a compiler.
fn run(name: &str, text: &str) -> Option<Vec<Launch>> {
    let compiler = compiler().ok()?;
    let path = format!("tests/oracle/{name}.cu");
    let compiled = compiler.build(Path::new(&path), text).unwrap();
    Some(read(&compiled))
}

/// The line, counted from 1, at which a site lies.
fn line(launch: &Launch, site: usize) -> u32 {
    launch.place(site).line
}

#[test]
fn wavefronts_are_those_that_were_measured() {
    let mut compared = 0;
    for table in ["fixtures/hardware/requests-sm90.csv", "fixtures/hardware/requests-sm90-more.csv"] {
        let mut reader = csv::Reader::from_path(table).unwrap();
        for row in reader.records() {
            let row = row.unwrap();
            let serving = match &row[0] {
                "ld" => Serving::Load,
                "st" | "red.inc" => Serving::Store,
                op if op.contains("cas") || op.contains("matrix") || op.contains("cp") => continue,
                _ => Serving::ByLane,
            };
            let mask = u32::from_str_radix(&row[2], 16).unwrap();
            let offsets = row[3].split(' ').map(|offset| offset.parse().unwrap());
            let lanes: Vec<(u8, i64)> =
                (0..32u8).zip(offsets).filter(|(lane, _)| mask >> lane & 1 == 1).collect();
            let counted = cost(serving, row[1].parse().unwrap(), &lanes).wavefronts;
            assert_eq!(counted, row[4].parse::<u64>().unwrap(), "{row:?}");
            compared += 1;
        }
    }
    assert!(compared > 900, "{compared}");
}

#[test]
fn lanes_that_left_a_loop_wait_for_the_others() {
    let text = "\
__global__ void k(int *o) {
    __shared__ int s[1024];
    int t = threadIdx.x;
    for (int i = 0; i < t % 3; i++) s[t * 2 + i] = i;
    if (t & 1) s[t] = 1;
    else s[t] = 2;
    o[t] = s[t];
}
int main() { int *o; cudaMalloc(&o, 4096); k<<<1, 40>>>(o); }
";
    let Some(launches) = run("loops", text) else { return };
    let launch = &launches[0];
    assert_eq!(launch.kernel, "k");
    let lanes = |warp: usize, at: u32| -> Vec<usize> {
        let here = launch.accesses().filter(|(its, access)| *its == warp && line(launch, access.site) == at);
        here.map(|(_, access)| access.lanes.len()).collect()
    };
    // Of 32 lanes 21 make a first iteration and 10 a second; of the 8 others 5 and 3.
    assert_eq!((lanes(0, 4), lanes(1, 4)), (vec![21, 10], vec![5, 3]));
    assert_eq!((lanes(0, 5), lanes(0, 6), lanes(0, 7)), (vec![16], vec![16], vec![32]));
    assert_eq!((lanes(1, 5), lanes(1, 6), lanes(1, 7)), (vec![4], vec![4], vec![8]));
}

#[test]
fn races_are_found_where_nothing_orders() {
    let text = "\
__global__ void k(int *o) {
    __shared__ int a[64], b[64], c[64], d[64], count;
    int t = threadIdx.x;
    a[t] = t;
    o[0] = a[63 - t];
    b[t] = t;
    __syncwarp();
    o[1] = b[t ^ 1];
    c[t] = t;
    o[2] = c[t ^ 1];
    d[t / 2] = t;
    atomicAdd(&count, 1);
    __syncthreads();
    o[3] = a[t ^ 33] + d[t];
}
int main() { int *o; cudaMalloc(&o, 4096); k<<<1, 64>>>(o); }
";
    let Some(launches) = run("races", text) else { return };
    let launch = &launches[0];
    let mut found: Vec<(Between, u32, u32)> = races(launch)
        .iter()
        .map(|race| {
            let (a, b) = (line(launch, race.first.site), line(launch, race.second.site));
            (race.between, a.min(b), a.max(b))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    let expected = [(Between::OneInstruction, 11, 11), (Between::Lanes, 9, 10), (Between::Warps, 4, 5)];
    assert_eq!(found, expected);
}

#[test]
fn accesses_that_leave_their_array_tell_by_how_much() {
    let text = "\
__global__ void k(int *o) {
    __shared__ float before[8];
    __shared__ float s[4][8];
    extern __shared__ int dynamic[];
    int t = threadIdx.x;
    before[t % 8] = 0;
    s[t / 8][t % 8 + 1] = 1;
    float *p = &s[0][0];
    p[t - 3] = 2;
    dynamic[t] = 3;
    o[t] = s[3][t & 7];
}
int main() { int *o; cudaMalloc(&o, 4096); k<<<1, 32, 96>>>(o); }
";
    let Some(launches) = run("escapes", text) else { return };
    let launch = &launches[0];
    let found: Vec<(u32, &str, i64, i64, u32)> = escapes(launch)
        .iter()
        .map(|it| {
            let variable = &launch.variables[it.variable];
            (line(launch, it.site), variable.name.as_str(), it.lowest, it.highest, it.thread)
        })
        .collect();
    assert_eq!(found, [(7, "s", 128, 128, 31), (9, "s", -12, -4, 0), (10, "dynamic", 96, 124, 24)]);
    let subscripts = wrong_subscripts(launch);
    assert_eq!(subscripts.len(), 1);
    let only = &subscripts[0];
    assert_eq!((line(launch, only.site), only.array.as_str()), (7, "float [8]"));
    assert_eq!((only.lowest, only.highest), (8, 8));
    let s = launch.variables.iter().find(|variable| variable.name == "s").unwrap();
    assert_eq!((s.bytes, &s.extents[..], s.element_bytes), (128, &[4, 8][..], 4));
}

#[test]
fn reads_of_what_was_not_written_are_found() {
    let text = "\
struct Pair { int a, b; };
__global__ void k(int *o) {
    __shared__ int a[64], b[64], c[64], never;
    __shared__ Pair p[64];
    int t = threadIdx.x;
    if (t < 60) a[t] = t;
    b[t] = t;
    o[0] = b[t];
    o[1] = b[t ^ 32];
    o[2] = never;
    p[t].a = t;
    __syncthreads();
    o[3] = a[t];
    o[4] = b[63 - t];
    o[5] = p[t].b;
    c[t] = 1;
    __syncwarp();
    o[6] = c[t ^ 1];
}
int main() { int *o; cudaMalloc(&o, 4096); k<<<1, 64>>>(o); }
";
    let Some(launches) = run("unwritten", text) else { return };
    let launch = &launches[0];
    let mut found: Vec<(u32, &str, i64, bool)> = unwritten(launch)
        .iter()
        .map(|it| (line(launch, it.site), launch.variables[it.variable].name.as_str(), it.offset, it.is_race))
        .collect();
    found.sort_unstable();
    let expected = [(9, "b", 0, true), (10, "never", 0, false), (13, "a", 240, false), (15, "p", 4, false)];
    assert_eq!(found, expected);
}

#[test]
fn threads_meet_at_barriers_until_they_end() {
    let text = "\
__global__ void k(int *o) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    if (t >= 40) return;
    if (t < 20) __syncthreads();
    else __syncthreads();
    o[t] = s[63 - t];
}
int main() { int *o; cudaMalloc(&o, 4096); k<<<1, 64>>>(o); }
";
    let Some(launches) = run("barriers", text) else { return };
    let launch = &launches[0];
    let found = meetings(launch);
    assert_eq!(found.len(), 2);
    assert_eq!((found[0].arrived.len(), found[0].ended.len()), (1, 0));
    let arrived: Vec<(u32, usize)> =
        found[1].arrived.iter().map(|(site, threads)| (line(launch, *site), threads.len())).collect();
    assert_eq!(arrived, [(7, 20), (8, 20)]);
    assert_eq!(found[1].ended, (40..64).collect::<Vec<u32>>());
}

#[test]
fn copies_of_classes_belong_to_the_line_that_makes_them() {
    let text = "\
struct Pair { float a, b; };
struct Own { float a, b; __device__ Own &operator=(const Own &other) { a = other.a; return *this; } };
__device__ Pair operator+(Pair x, Pair y) { return {x.a + y.a, x.b + y.b}; }
__global__ void k(float4 *o) {
    __shared__ Pair p[64];
    __shared__ Own q[64];
    __shared__ float4 v[64];
    int t = threadIdx.x;
    p[t] = p[t ^ 1] + p[t ^ 2];
    q[t] = q[t ^ 1];
    v[t] = make_float4(1, 2, 3, 4);
    o[t] = v[t];
}
int main() { float4 *o; cudaMalloc(&o, 4096); k<<<1, 32>>>(o); }
";
    let Some(launches) = run("copies", text) else { return };
    let launch = &launches[0];
    let found: Vec<(u32, &str, u32)> = launch
        .accesses()
        .map(|(_, access)| {
            let variable = &launch.variables[access.lanes[0].variable];
            (line(launch, access.site), variable.name.as_str(), access.bytes)
        })
        .collect();
    let expected =
        [(9, "p", 8), (9, "p", 8), (9, "p", 8), (2, "q", 4), (2, "q", 4), (11, "v", 16), (12, "v", 16)];
    assert_eq!(found, expected);
}

#[test]
fn lanes_that_are_named_and_do_not_come_are_seen() {
    let text = "\
__global__ void k(float *o) {
    __shared__ float s[32];
    int t = threadIdx.x;
    s[t] = __shfl_xor_sync(0xffffffff, 1.0f, 1);
    if (t < 16) __syncwarp();
    s[t] = __shfl_xor_sync(0xffff, s[t], 1);
    __syncthreads();
    o[t] = s[t];
}
int main() { float *o; cudaMalloc(&o, 4096); k<<<1, 32>>>(o); }
";
    let Some(launches) = run("meetings", text) else { return };
    let launch = &launches[0];
    let meetings: Vec<(u32, u32, bool, bool)> = launch
        .warps
        .iter()
        .flatten()
        .filter_map(|step| match step {
            Step::WarpSync(it) | Step::WarpOp(it) => {
                Some((line(launch, it.site), it.mask, it.is_complete, it.are_named))
            }
            _ => None,
        })
        .collect();
    assert_eq!(meetings[0], (4, u32::MAX, true, true));
    assert!(meetings.contains(&(5, 0xffff, false, true)), "{meetings:x?}");
    assert!(meetings.iter().any(|(line, _, _, are_named)| *line == 6 && !are_named), "{meetings:x?}");
}

#[test]
fn addresses_that_a_type_does_not_allow_are_seen() {
    let text = "\
__global__ void k(float *o) {
    __shared__ float s[64];
    int t = threadIdx.x;
    s[t] = s[t + 32] = t;
    __syncwarp();
    o[t] = reinterpret_cast<float2 *>(&s[2 * t])->x;
    o[t] = reinterpret_cast<float2 *>(&s[t])->x;
}
int main() { float *o; cudaMalloc(&o, 4096); k<<<1, 32>>>(o); }
";
    let Some(launches) = run("addresses", text) else { return };
    let launch = &launches[0];
    let misaligned =
        |step: &Step| if let Step::Misaligned { site } = step { Some(line(launch, *site)) } else { None };
    let lines: BTreeSet<u32> = launch.warps.iter().flatten().filter_map(misaligned).collect();
    assert_eq!(lines, BTreeSet::from([7]));
}
