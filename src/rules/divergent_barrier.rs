//! ## What it does
//! Finds barriers of the whole block (`__syncthreads()` and its variants, `bar.sync`, `sync()` of a `thread_block` or
//! a `grid_group`) that only some threads of the block reach. The level depends on what the other threads do:
//!
//! | the other threads | |
//! |---|---|
//! | reach another barrier, and the threads that wait here reach it later | warning |
//! | continue after the condition, together with threads of their warp that wait here | warning |
//! | wait in another branch at the same time, and threads of one warp wait in both | warning |
//! | exit, and data that no thread has written is read after the barrier | warning |
//! | exit without reaching a grid barrier | warning |
//! | wait in another branch at the same time, in whole warps | note |
//! | do something that is not followed | note |
//! | reach it or not, as what each thread reads from global memory decides | note |
//! | may have left the loop around it, by a condition that no other threads look at | note |
//!
//! `barrier-after-exit` covers threads that exit without waiting anywhere.
//!
//! It also warns about barriers with a thread count (`bar.sync 1, 64`, `__barrier_sync_count`) that a different
//! number of threads reaches.
//!
//! ## Why is this bad
//! The CUDA programming guide allows `__syncthreads()` in conditional code only if the condition is the same for all
//! threads of the block. Otherwise the behaviour is undefined. What happens on a device depends on the other threads:
//!
//! - If they reach another barrier, the two pair up wrongly: threads pass too early and read data that is not written
//!   yet, or the kernel hangs.
//! - If the code continues after the condition, the compiler may make the warp wait there for all its threads. Those
//!   at the barrier never arrive, and the barrier never opens.
//! - If they exit, a block-wide barrier does not wait for them, but the data that they should have written is missing. A
//!   grid barrier waits for every block.
//! - If they wait in another branch, PTX lets the two barriers pair up as long as whole warps take either branch;
//!   `compute-sanitizer --tool synccheck` still reports it. PTX does not define this for parts of a warp.
//! - A barrier with a count opens each time that this many threads have arrived, counted in whole warps; threads that
//!   have exited do not count. If a different number arrives, the rest wait forever: an H200 hung.
//!
//! ## Example
//! ```cuda,fires
//! __global__ void reduce(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     if (threadIdx.x < 128) {
//!         s[threadIdx.x] += s[threadIdx.x + 128];
//!         __syncthreads();
//!     }
//!     if (threadIdx.x < 64) {
//!         s[threadIdx.x] += s[threadIdx.x + 64];
//!     }
//!     __syncthreads();
//!     out[threadIdx.x] = s[threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     reduce<<<1, 256>>>(out, in);
//! }
//! ```
//! Threads from 128 on reach the last barrier while the others are at the one before it.
//!
//! A device function that some threads leave early is the same, if its caller waits once more:
//! ```cuda,fires
//! __device__ void publish(float *s, int t, int n, float value) {
//!     if (t >= n) {
//!         return;
//!     }
//!     s[t] = value;
//!     __syncthreads();
//! }
//!
//! __global__ void reverse(float *out, const float *in) {
//!     __shared__ float s[256];
//!     publish(s, threadIdx.x, 100, in[threadIdx.x]);
//!     __syncthreads();
//!     out[threadIdx.x] = threadIdx.x < 100 ? s[99 - threadIdx.x] : 0.0f;
//! }
//!
//! void launch(float *out, const float *in) {
//!     reverse<<<1, 256>>>(out, in);
//! }
//! ```
//! This one is a note, because the rows may have different lengths:
//! ```cuda,fires
//! __global__ void row_sums(float *out, const int *begin, const float *in) {
//!     __shared__ float s[128];
//!     float sum = 0;
//!     for (int k = begin[threadIdx.x]; k < begin[threadIdx.x + 1]; ++k) {
//!         s[threadIdx.x] = in[k];
//!         __syncthreads();
//!         sum += s[127 - threadIdx.x];
//!         __syncthreads();
//!     }
//!     out[threadIdx.x] = sum;
//! }
//!
//! void launch(float *out, const int *begin, const float *in) {
//!     row_sums<<<1, 128>>>(out, begin, in);
//! }
//! ```
//!
//! ## Use instead
//! ```cuda,clean
//! __global__ void reduce(float *out, const float *in) {
//!     __shared__ float s[256];
//!     s[threadIdx.x] = in[threadIdx.x];
//!     __syncthreads();
//!     if (threadIdx.x < 128) {
//!         s[threadIdx.x] += s[threadIdx.x + 128];
//!     }
//!     __syncthreads();
//!     if (threadIdx.x < 64) {
//!         s[threadIdx.x] += s[threadIdx.x + 64];
//!     }
//!     __syncthreads();
//!     out[threadIdx.x] = s[threadIdx.x];
//! }
//!
//! void launch(float *out, const float *in) {
//!     reduce<<<1, 256>>>(out, in);
//! }
//! ```
//! Move the barrier out of the condition and guard only the work. If a group of warps works on its own, use a named
//! barrier for these warps, or `__syncwarp()` within one warp.
//!
//! ## Limits
//! - A condition on values loaded from memory may or may not be the same for the whole block. It is reported, as a
//!   note (of `barrier-after-exit` where threads exit by it), only if it consists of what each thread loads from global
//!   memory, of bounds and of thread numbers.
//! - If the trip count of a loop differs between threads because of a run-time bound, the finding is only a note: the
//!   bound may be a multiple of what the block processes per iteration. The same holds for a condition on high thread
//!   numbers in a block that no launch gives.
//! - It is unknown whether the compiler makes a warp wait after a condition: the warning says that it may.
//! - Data that is read but never written is reported only if the launch decides which threads are missing, and if
//!   every write to the array is followed. For a run-time bound, it is a note of `barrier-after-exit`.
//! - `__trap()` ends the kernel for all threads: nobody waits for a thread that calls it.
//! - For a barrier with a count, only a wrong count is reported, and only if it is known how often each statement with
//!   the barrier's number runs and nothing unknown in the kernel may wait or arrive there. `bar.arrive` is not followed.
//! - `cuda::barrier`, cooperative groups smaller than a block and cluster barriers are not judged.
//! - There is one finding for the barriers that a condition keeps the same threads from, at the first of them, unless
//!   the others do something else instead at each, or other data are missing.
//! - There is no fix: the text does not say which threads should wait.

mod counts;
mod words;

use super::{About, Case, KernelRun, Rule};
use crate::diagnostic::{Diagnostic, Level};
use crate::domain::{Shape, ThreadSet};
use crate::events::{Absence, Barrier, Missing, Split, SplitKind, Then};
use crate::explanation::{Explanation, Picture, WarpAtBarrier};
use crate::source::Span;

/// The rule.
pub(super) static RULE: Rule = Rule {
    id: "divergent-barrier",
    about: About::Correctness,
    level: Level::Warn,
    summary: "a block-wide barrier that only some threads of the block reach",
    docs: include_str!("divergent_barrier.rs"),
};

/// From this compute capability on, a barrier waits for the threads that have not exited; before, it
/// counts warps.
const COUNTS_THREADS: u32 = 7;

/// Threads that do not come to a barrier, and what that means.
struct Found<'a> {
    run: usize,
    barrier: &'a Barrier,
    absence: &'a Absence,
    /// What others read that no thread writes.
    missing: Option<&'a Missing>,
    /// What others read and only threads would have written that have exited by a bound. Of a block that nobody gave,
    /// which threads those are is not known.
    left_unwritten: Option<&'a Missing>,
    level: Level,
}

impl Found<'_> {
    /// Grows with what is to be said first.
    fn weight(&self) -> (Level, u8, bool) {
        (self.level, self.absence.then.rank(), self.missing.or(self.left_unwritten).is_some())
    }

    /// Whether the harm is that data are missing.
    fn is_of_data(&self) -> bool {
        self.missing.is_some() && !matches!(self.absence.then, Then::Rejoin(_) | Then::Barrier(_))
    }

    /// Whether the threads only exit.
    fn is_harmless(&self) -> bool {
        self.absence.then == Then::Exit
            && self.missing.or(self.left_unwritten).is_none()
            && self.level < RULE.level
    }

    /// Whether the threads wait in another branch, as PTX lets them.
    fn is_pair(&self) -> bool {
        matches!(self.absence.then, Then::Pair(_)) && self.level < RULE.level
    }

    /// Whether the threads exit, and nothing is said but that.
    fn is_exit(&self, case: &Case<'_>) -> bool {
        let kernel = &case.runs[self.run];
        let exits = self.absence.then == Then::Exit && self.missing.is_none() && !self.barrier.of_grid;
        exits && is_sure(kernel, &self.absence.split, Shape { dims: kernel.block })
    }

    /// Whether both have one cause: a condition keeps threads from both that do the same instead.
    fn is_as(&self, other: &Found<'_>) -> bool {
        let exits = self.is_harmless() || self.left_unwritten.is_some();
        let alike =
            exits && other.is_harmless() || self.is_pair() && other.is_pair() || self.does_the_same(other);
        alike && self.absence.split.span == other.absence.split.span
    }

    /// Whether the threads do the same instead, with the same harm. Where data are missing, those of each barrier are
    /// others.
    fn does_the_same(&self, other: &Found<'_>) -> bool {
        let (one, two) = (self.absence, other.absence);
        let is_one_trace = self.run == other.run || !matches!(one.then, Then::Barrier(_) | Then::Pair(_));
        is_one_trace
            && one.then == two.then
            && one.split.branch == two.split.branch
            && [self, other].iter().all(|it| it.missing.or(it.left_unwritten).is_none())
            && (self.level, self.barrier.of_grid) == (other.level, other.barrier.of_grid)
    }
}

/// Finds the barriers that not all threads reach: one finding for each condition and what those do instead that do not
/// come.
pub(super) fn check(case: &Case<'_>, out: &mut Vec<Diagnostic>) {
    let mut found: Vec<Found<'_>> = Vec::new();
    for (run, kernel) in case.runs.iter().enumerate() {
        for barrier in &kernel.trace.barriers {
            let Some(worst) = worst(case, run, barrier) else { continue };
            match found.iter_mut().find(|known| known.barrier.span == barrier.span) {
                Some(known) if known.weight() < worst.weight() => *known = worst,
                Some(_) => {}
                None => found.push(worst),
            }
        }
    }
    counts::check(case, out);
    by_data(case, &found, out);
    let mut told: Vec<Span> = Vec::new();
    for one in &found {
        if told.contains(&one.barrier.span) {
            continue;
        }
        let mut finding = words::describe(case, one);
        for other in found.iter().filter(|other| one.is_as(other)) {
            told.push(other.barrier.span);
            if finding.primary != other.barrier.span
                && finding.labels.iter().all(|(span, _)| *span != other.barrier.span)
            {
                finding.labels.push((other.barrier.span, "likewise".to_owned()));
            }
        }
        out.push(finding);
    }
}

/// Barriers to which threads come as what each of them reads decides: a note, as all may read the same. Those of which
/// more is known are told of otherwise, and those that one condition decides are told of together.
fn by_data(case: &Case<'_>, found: &[Found<'_>], out: &mut Vec<Diagnostic>) {
    let mut told: Vec<Span> = found.iter().map(|found| found.barrier.span).collect();
    let mut notes: Vec<(Span, Diagnostic)> = Vec::new();
    for (run, kernel) in case.runs.iter().enumerate() {
        for barrier in &kernel.trace.barriers {
            if told.contains(&barrier.span) || barrier.count.is_some() {
                continue;
            }
            let (cond, note) = match (barrier.by_own_data, barrier.left_in_part) {
                (Some(cond), _) => (cond, words::describe_by_data(case, run, barrier, cond)),
                (None, Some((threads, cond))) => {
                    (cond, words::describe_in_part(case, run, barrier, &threads, cond))
                }
                (None, None) => match barrier.exit_by_own_data {
                    Some(cond) => (cond, words::describe_exit_by_data(case, run, barrier, cond)),
                    None => continue,
                },
            };
            told.push(barrier.span);
            match notes.iter_mut().find(|(of, one)| (*of, &one.message) == (cond, &note.message)) {
                Some((_, one)) => one.labels.push((barrier.span, "likewise".to_owned())),
                None => notes.push((cond, note)),
            }
        }
    }
    out.extend(notes.into_iter().map(|(_, note)| note));
}

/// What is worst about a barrier.
fn worst<'a>(case: &Case<'a>, run: usize, barrier: &'a Barrier) -> Option<Found<'a>> {
    let found = barrier.absences.iter().map(|absence| {
        let kernel = &case.runs[run];
        let level = level(case, kernel, barrier, absence);
        let missing = absence.missing.as_ref();
        let left_unwritten = missing.filter(|it| it.writer.is_some() && kernel.is_block_given());
        let missing = missing.filter(|it| it.writer.is_none());
        Found { run, barrier, absence, missing, left_unwritten, level }
    });
    // The first of those that weigh the same.
    found.reduce(|worst, next| if next.weight() > worst.weight() { next } else { worst })
}

fn level(case: &Case<'_>, kernel: &KernelRun, barrier: &Barrier, absence: &Absence) -> Level {
    let shape = Shape { dims: kernel.block };
    let harm = match absence.then {
        Then::Exit | Then::Unknown(_) => barrier.of_grid || counts_warps(case),
        Then::Pair(partner) => !pairs_by_warps(kernel, barrier, absence, partner),
        Then::Rejoin(_) | Then::Barrier(_) => true,
    };
    // What is read of it may not matter: the upper half of a scan is garbage then, and nobody asks for it.
    let harm = harm || absence.missing.as_ref().is_some_and(|it| it.writer.is_none());
    if harm && is_sure(kernel, &absence.split, shape) { RULE.level } else { Level::Note }
}

/// Whether a device is asked about whose barriers count warps.
fn counts_warps(case: &Case<'_>) -> bool {
    case.targets.iter().any(|target| u32::from(target.capability.major) < COUNTS_THREADS)
}

/// Whether whole warps wait at either of two barriers.
fn pairs_by_warps(kernel: &KernelRun, barrier: &Barrier, absence: &Absence, partner: usize) -> bool {
    let shape = Shape { dims: kernel.block };
    let whole = |threads: &ThreadSet| threads.is_whole_warps(shape);
    match &absence.split.kind {
        SplitKind::Guard(bound) | SplitKind::Iterations(bound) => !bound.cuts_warps,
        SplitKind::Known | SplitKind::Data | SplitKind::OwnData | SplitKind::WarpData => {
            let other = kernel.trace.barriers.get(partner);
            whole(&barrier.active) && other.is_some_and(|other| whole(&other.active))
        }
    }
}

/// Whether it is known that threads part there in a launch that there is or may be: a bounds check
/// expects threads beyond the bound, a loop's condition does not; and a block that is only assumed says
/// nothing of its far threads.
fn is_sure(kernel: &KernelRun, split: &Split, shape: Shape) -> bool {
    let given = kernel.is_block_given();
    let [x, y, z] = shape.dims;
    // The neighbours of thread (0, 0, 0), which nearly any block has.
    let neighbours = [(x, 1), (y, x), (z, x.saturating_mul(y))];
    let first = split.taken.has(0);
    let near = || neighbours.iter().any(|(size, at)| *size > 1 && split.taken.has(*at as usize) != first);
    match split.kind {
        SplitKind::Guard(_) => true,
        SplitKind::Iterations(_) => false,
        SplitKind::Known | SplitKind::Data | SplitKind::OwnData | SplitKind::WarpData => given || near(),
    }
}

/// Explains the barrier at a place of a run: what is worst about it, or else that there is nothing.
pub(super) fn explain(case: &Case<'_>, run: usize, span: Span) -> Option<Explanation> {
    let kernel = &case.runs[run];
    let shape = Shape { dims: kernel.block };
    let here = || kernel.trace.barriers.iter().filter(|barrier| barrier.span == span);
    let found = here().filter_map(|barrier| worst(case, run, barrier));
    let found = found.reduce(|worst, next| if next.weight() > worst.weight() { next } else { worst });
    let barrier = found.as_ref().map(|found| found.barrier).or_else(|| here().next())?;
    let mut words = match &found {
        Some(found) => words::describe(case, found),
        None => words::no_finding(case, run, barrier),
    };
    words.notes.insert(0, format!("in kernel `{}`", kernel.kernel));
    for split in &barrier.splits {
        let text = words::passes(split);
        if words.labels.iter().all(|(known, _)| *known != split.span) {
            words.labels.push((split.span, text));
        }
    }
    let (exist, threads) = (ThreadSet::all(shape), shape.threads());
    let warp = |warp: usize| WarpAtBarrier {
        exist: exist.warp(warp),
        expected: barrier.expected.warp(warp),
        reach: barrier.active.warp(warp),
    };
    let warps = (0..threads.div_ceil(32)).map(warp).collect();
    Some(Explanation { words, pictures: vec![Picture::Threads(warps)], run: case.run_words(run) })
}
