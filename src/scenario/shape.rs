//! Which block is a kernel run with when no launch tells?
//!
//! One that its arrays leave room for: a block whose threads leave an array cannot be the one, and of
//! an array with a place for each thread it is likely that each thread has its place.
//!
//! | in the kernel | block |
//! |---|---|
//! | `__shared__ float s[128]; s[threadIdx.x] = x;` | 128, which just fills `s` |
//! | `__shared__ float s[64]; s[2 * threadIdx.x] = x;` | 32, which just fills `s` |
//! | `__shared__ float s[16][17]; s[threadIdx.y][threadIdx.x] = x;` | 16 x 16 (rows are padded by at most 4 elements) |
//! | `__shared__ float s[32][33]; for (int k = 0; k < 32; k += 8) s[threadIdx.y + k][threadIdx.x] = x;` | 32 x 8 |
//! | `__shared__ float s[32][33]; for (int i = threadIdx.y; i < 32; i += 8) s[i][threadIdx.x] = x;` | 32 x 8 |
//! | `__shared__ float s[256]; s[threadIdx.y * 32 + threadIdx.x] = x;` | 32 x 8 |
//! | `__shared__ float s[512]; for (int i = threadIdx.y * 32 + threadIdx.x; i < 512; i += 256) s[i] = x;` | 32 x 8 |
//! | `__shared__ float s[128]; if (threadIdx.x < 128) s[threadIdx.x] = x;` | 256, or as likely 128 or 512 |
//! | `__launch_bounds__(512)`, `__shared__ float s[256]; for (int i = threadIdx.y * 32 + threadIdx.x; i < 256; i += n) s[i] = x;` | 32 x 16, or as likely 32 x 8 |
//! | `extern __shared__ float s[]; s[threadIdx.x] = x;` | the same |
//! | `__shared__ float s[1]; s[threadIdx.x] = x;` | none is known |
//!
//! Shapes are tried by running the kernel: guards and whatever else decides who accesses an array count
//! as they do in any run. No shape is run that cannot change the answer:
//!
//! - Whether another shape fits that is as likely as the one chosen is left open. The verdicts have to hold
//!   for it too, and it is run when there is a verdict to be taken back.
//! - A run that knows of no access, or was stopped, is silent: it tells nothing of blocks. Where the first
//!   shape gives such a run, larger ones need not be tried.
//! - The variants of one kernel tend to be silent together. Once one was, the next begins with that shape.
//! - Once so many variants were stopped that the others will not be run, their shape is the first.

use super::strides::strides;
use super::{Probes, Scenario, valid};
use crate::events::{Access, Covers, LaunchArg, Trace};
use crate::exec::entry::{Setting, constant_in_kernel, run_flat};
use crate::ir::Function;
use crate::ir::program::Program;
use crate::shape::BlockFrom;
use std::sync::Arc;

/// The threads of a block that are tried first, and besides.
const USUAL: [u32; 3] = [256, 128, 512];
/// Those that are tried where a kernel looks at all three coordinates.
const DEEP: [[u32; 3]; 6] = [[32, 8, 1], [16, 16, 1], [32, 32, 1], [8, 8, 4], [4, 4, 8], [4, 1, 32]];
/// Where one of so many threads overruns an array, how often a smaller one is tried: it takes 10 to
/// find any number below 1024.
const MOST_TRIES: usize = 12;
/// The longest row by which a block's extent is told: 1024 threads, padded.
const MOST_IMPLIED: u32 = 1028;
/// The shortest row that alone tells of a block smaller than a warp: fewer places may be for something else.
const LEAST_ROW: u32 = 4;
/// By how many elements the row of an array is padded at most.
const MOST_PADDING: u32 = 4;

/// What is known of the way to run a kernel, except its block.
pub(super) struct Search<'a, 'b> {
    pub program: &'a Program,
    pub kernel: &'a Arc<Function>,
    pub template_args: Vec<LaunchArg>,
    /// As in [`Setting::args`].
    pub args: Vec<Option<i64>>,
    /// As in [`Setting::covers`].
    pub covers: Vec<(String, Covers)>,
    /// The extents that are known.
    pub partly: [Option<i64>; 3],
    /// Runs that were made on the way.
    pub probes: &'a mut Probes<'b>,
    /// Whether the kernel looks at `threadIdx.z`, once that is known.
    pub is_deep: Option<bool>,
}

/// An array that a thread leaves.
struct Overrun {
    /// The first such thread.
    thread: u32,
    array: String,
}

impl Overrun {
    fn of(trace: &Trace) -> Option<Overrun> {
        let leave = trace.accesses.iter().filter_map(|access| Some((access.overrun?, access.array)));
        let (thread, array) = leave.min()?;
        Some(Overrun { thread, array: trace.arrays[array].name.clone() })
    }
}

impl Search<'_, '_> {
    /// The block, with others that are as likely.
    pub(super) fn scenario(mut self) -> Scenario {
        let scenario = self.find();
        self.probes.count_found(&scenario.setting);
        scenario
    }

    fn find(&mut self) -> Scenario {
        let bound = self.bound();
        let known = |d: Option<i64>| d.and_then(|d| u32::try_from(d).ok()).filter(|d| (1..=1024).contains(d));
        let partly = self.partly.map(known);
        let sizes = bound.map_or(USUAL.to_vec(), |n| vec![n]);
        let from = if bound.is_some() { BlockFrom::LaunchBounds } else { BlockFrom::Default };
        let shapes = completions(partly, &sizes);
        if !shapes.is_empty() {
            return self.of_shapes(shapes, from, |n| completions(partly, &[n]));
        }
        let setting = self.setting([bound.unwrap_or(USUAL[0]), 1, 1]);
        let probe = run_flat(self.program, self.kernel, &setting, self.probes.budget);
        if !probe.axes[1] && !probe.axes[2] {
            self.probes.keep(setting, probe);
            let [by_loops, ..] = strides(self.program, self.kernel, &self.template_args);
            return match by_loops.map(|n| [n, 1, 1]).filter(|_| bound.is_none()) {
                Some(block) if is_likely(block) && self.fits(block) => {
                    self.of(block, BlockFrom::Implied, Vec::new())
                }
                _ => self.flat(bound),
            };
        }
        let likely = match bound {
            Some(n) => rectangles(n),
            None => vec![[32, 8, 1], [16, 16, 1], [32, 32, 1], [8, 8, 4]],
        };
        let is_left = self.probes.found.too_long().is_some();
        if let Some((first, others)) = likely.split_first()
            && (is_left || self.probes.silent.contains(first) && self.is_silent(*first))
        {
            return self.of(*first, from, others.to_vec());
        }
        // No extent is 1 or one that someone would write, so that each coordinate can be told from a
        // constant, and the block's extents from numbers that stay what they are in another block.
        let odd = [19, 9, 2];
        let probe = self.trace(odd);
        // Which may be what an extent is that the code reads of the block.
        let is_own = (0..2).any(|axis| probe.extents[axis].is_some_and(|it| it.0 == u64::from(odd[axis])));
        let (is_deep, implied) = (probe.axes[2], implied(probe).filter(|_| !is_own));
        self.is_deep = Some(is_deep);
        let likely = match bound {
            // What is done with a third coordinate tells less of the others.
            None if is_deep => DEEP.to_vec(),
            _ => likely,
        };
        let most = bound.unwrap_or(u32::MAX);
        let by_loops = strides(self.program, self.kernel, &self.template_args);
        if let Some((block, _)) = &implied {
            // A thread may have several rows, though the first of them is its own.
            let block = std::array::from_fn(|axis| by_loops[axis].unwrap_or(block[axis]));
            let is_told = by_loops.iter().any(Option::is_some) && is_likely(block);
            if is_told && block.iter().product::<u32>() <= most && self.fits(block) {
                return self.of(block, BlockFrom::Implied, Vec::new());
            }
        }
        if let Some((block, _)) = &implied
            && let Some(full) = bound.and_then(|n| with_threads(*block, n))
            && self.fits(full)
            && self.fits(*block)
        {
            return self.of(full, from, vec![*block]);
        }
        if let Some((block, arrays)) = implied
            && let Some(found) = self.implied_or_less(block, &arrays, most)
        {
            return found;
        }
        let told = completions(by_loops, &sizes);
        match told.is_empty() {
            true => self.of_shapes(likely, from, rectangles),
            false => self.of_shapes(told, from, |n| completions(by_loops, &[n])),
        }
    }

    /// Whether the run in this block tells nothing of blocks: it was stopped, or knows of no access, and
    /// none leaves an array.
    fn is_silent(&mut self, block: [u32; 3]) -> bool {
        let trace = self.trace(block);
        let is_known = |access: &Access| access.unknown.is_none() && trace.stopped.is_none();
        let is_silent = !trace.accesses.iter().any(is_known) && !trace.leaves_an_array();
        if is_silent && !self.probes.silent.contains(&block) {
            self.probes.silent.push(block);
        }
        is_silent
    }

    /// The block that subscripts imply; where its threads leave an array, since each has several places there,
    /// the largest that is half as high or wide, or a quarter, and so on.
    fn implied_or_less(&mut self, block: [u32; 3], arrays: &[String], most: u32) -> Option<Scenario> {
        let mut filled = arrays.to_vec();
        // With a third coordinate there are too many ways to have less.
        let most_halvings = if self.is_deep == Some(true) { 1 } else { block[0].max(block[1]).ilog2() };
        for halvings in 0..most_halvings {
            let lower = [block[0], block[1] >> halvings, block[2]];
            let narrower = [block[0] >> halvings, block[1], block[2]];
            for shape in [lower, narrower] {
                // Less than a warp is launched for one array, with a thread for each of its elements.
                let is_told = |threads: &u32| *threads == 1 || *threads >= LEAST_ROW;
                let for_one = halvings == 0 && arrays.len() == 1 && shape.iter().all(is_told);
                let least = if for_one { 1 } else { 32 };
                if !(least..=most).contains(&shape.iter().product()) {
                    continue;
                }
                match self.overrun(shape) {
                    Some(overrun) => filled = vec![overrun.array],
                    // What changes with the block is no constant that implies it.
                    None => {
                        let same = implied(self.trace(shape)).is_some_and(|(again, _)| again == block);
                        return same.then(|| self.filling(shape, filled));
                    }
                }
            }
        }
        None
    }

    /// The number in `__launch_bounds__`.
    fn bound(&self) -> Option<u32> {
        let expr = self.kernel.launch_bounds.first()?;
        let bound = constant_in_kernel(self.program, self.kernel, &self.template_args, expr)?;
        u32::try_from(bound).ok().filter(|n| (1..=1024).contains(n))
    }

    /// The block of a kernel that looks at `threadIdx.x` alone.
    fn flat(&mut self, bound: Option<u32>) -> Scenario {
        let usual = bound.unwrap_or(USUAL[0]);
        if let Some(overrun) = self.overrun([usual, 1, 1]) {
            return self.smaller(usual, overrun);
        }
        if let Some(bound) = bound {
            return self.of([bound, 1, 1], BlockFrom::LaunchBounds, Vec::new());
        }
        let [_, less, more] = USUAL;
        let as_likely = vec![[less, 1, 1], [more, 1, 1]];
        let extent = self.trace([usual, 1, 1]).extents[0];
        if extent.is_none() && self.is_silent([usual, 1, 1]) {
            return self.of([usual, 1, 1], BlockFrom::Default, as_likely);
        }
        let Some(overrun) = self.overrun([more, 1, 1]) else {
            return match extent.and_then(|(length, array)| Some((tidy(u32::try_from(length).ok()?), array))) {
                Some((n, array)) if n > more && n <= 1024 && self.overrun([n, 1, 1]).is_none() => {
                    let array = self.trace([n, 1, 1]).arrays[array].name.clone();
                    self.filling([n, 1, 1], vec![array])
                }
                _ => self.of([usual, 1, 1], BlockFrom::Default, as_likely),
            };
        };
        let most = tidy(overrun.thread);
        match most == usual || most > usual && self.fills(most) {
            true => self.filling([most, 1, 1], vec![overrun.array]),
            false => self.of([usual, 1, 1], BlockFrom::Default, vec![[less, 1, 1]]),
        }
    }

    /// The greatest block below one of so many threads, which overruns an array.
    fn smaller(&mut self, threads: u32, mut overrun: Overrun) -> Scenario {
        let (mut fits, mut leaves) = (1_u32, threads);
        for _ in 0..MOST_TRIES {
            // Those before the first that leaves are likely to stay, unless it is where they end.
            let told = fits == 1 && (2..leaves).contains(&overrun.thread);
            let most = if told { overrun.thread } else { fits.midpoint(leaves) };
            match self.overrun([most, 1, 1]) {
                Some(next) => (leaves, overrun) = (most, next),
                None => fits = most,
            }
            if told && fits == most || leaves - fits <= 1 {
                break;
            }
        }
        let most = tidy(fits);
        match most {
            // One thread alone would fill any array.
            0 | 1 => self.misfit(overrun.array),
            _ if self.fills(most) => self.filling([most, 1, 1], vec![overrun.array]),
            // Nobody launches a part of a warp for the room that an array happens to leave.
            _ if most < 32 => self.misfit(overrun.array),
            _ => {
                let most = 1 << most.ilog2();
                self.of([most, 1, 1], BlockFrom::Default, vec![[most / 2, 1, 1]])
            }
        }
    }

    /// Whether so many threads, which leave no array, are a block that someone would choose.
    fn fills(&mut self, threads: u32) -> bool {
        let row = |trace: &Trace| trace.extents[0].is_some_and(|(length, _)| length == u64::from(threads));
        let is_round = threads.is_multiple_of(32) || threads < 32 && threads.is_power_of_two();
        is_round || row(self.trace([threads, 1, 1]))
    }

    /// The first of these shapes that leaves no array, the others being as likely. If all do, the same of
    /// shapes with fewer threads.
    fn of_shapes(
        &mut self,
        mut shapes: Vec<[u32; 3]>,
        from: BlockFrom,
        with_threads: impl Fn(u32) -> Vec<[u32; 3]>,
    ) -> Scenario {
        let size = |shape: &[u32; 3]| shape.iter().product::<u32>();
        if let Some((first, others)) = shapes.split_first()
            && self.fits(*first)
            && (self.is_silent(*first)
                || others.iter().filter(|other| size(other) > size(first)).all(|larger| self.fits(*larger)))
        {
            return self.of(*first, from, others.to_vec());
        }
        let mut threads = shapes.first().map_or(1, size);
        let mut overruns: Vec<(u32, Overrun)> = Vec::new();
        let mut is_first = true;
        loop {
            let mut fitting = Vec::new();
            for shape in shapes {
                match self.overrun(shape) {
                    None => fitting.push(shape),
                    Some(overrun) => overruns.push((size(&shape), overrun)),
                }
            }
            // Without a look at it, a third extent is likely 1.
            let likely = fitting.iter().position(|shape| shape[2] == 1 || self.is_deep != Some(false));
            if let Some(first) = likely.map(|at| fitting.remove(at)) {
                let (first, others) = (&first, &fitting);
                if let Some(higher) = self.higher(*first, &overruns) {
                    return higher;
                }
                if self.is_deep == Some(true) {
                    return self.of(*first, from, others.clone());
                }
                let larger = overruns.iter().find(|(threads, _)| *threads > size(first));
                let only = others.iter().all(|other| size(other) < size(first));
                return match larger {
                    Some((_, overrun)) if only => self.filling(*first, vec![overrun.array.clone()]),
                    Some((_, overrun)) if !is_first => {
                        let alternatives = others.clone();
                        Scenario { alternatives, ..self.filling(*first, vec![overrun.array.clone()]) }
                    }
                    _ => self.of(*first, from, others.clone()),
                };
            }
            threads /= 2;
            is_first = false;
            shapes = with_threads(threads);
            // Of a launch that tells one extent, the block may be smaller than a warp.
            let least = if self.partly.iter().any(Option::is_some) { 2 } else { 32 };
            if threads < least {
                return self.misfit(overruns.pop().map(|(_, overrun)| overrun.array).unwrap_or_default());
            }
        }
    }

    /// A block with rows as long, and as many more of them as fill the array that too many overrun.
    fn higher(&mut self, [x, y, z]: [u32; 3], overruns: &[(u32, Overrun)]) -> Option<Scenario> {
        let rows =
            |overrun: &Overrun| overrun.thread.checked_div(x).filter(|_| overrun.thread.is_multiple_of(x));
        let mut fuller = overruns.iter().filter_map(|(_, overrun)| Some((rows(overrun)?, overrun)));
        let (rows, overrun) = fuller.find(|(rows, _)| *rows > y && z == 1)?;
        let array = overrun.array.clone();
        self.overrun([x, rows, 1]).is_none().then(|| self.filling([x, rows, 1], vec![array]))
    }

    fn of(&self, block: [u32; 3], block_from: BlockFrom, alternatives: Vec<[u32; 3]>) -> Scenario {
        Scenario { block_from, alternatives, ..Scenario::of(self.setting(block)) }
    }

    /// The block that just fills arrays.
    fn filling(&self, block: [u32; 3], arrays: Vec<String>) -> Scenario {
        Scenario { fills: arrays, ..self.of(block, BlockFrom::Implied, Vec::new()) }
    }

    /// Each block leaves an array.
    fn misfit(&self, array: String) -> Scenario {
        let usual = [USUAL[0], 1, 1];
        Scenario { misfit: Some(array), ..self.of(usual, BlockFrom::Default, Vec::new()) }
    }

    /// Whether no thread of a block leaves an array.
    fn fits(&mut self, block: [u32; 3]) -> bool {
        !self.trace(block).leaves_an_array()
    }

    fn overrun(&mut self, block: [u32; 3]) -> Option<Overrun> {
        Overrun::of(self.trace(block))
    }

    fn trace(&mut self, block: [u32; 3]) -> &Trace {
        let setting = self.setting(block);
        self.probes.run(self.program, self.kernel, setting)
    }

    fn setting(&self, block: [u32; 3]) -> Setting {
        let (template_args, args) = (self.template_args.clone(), self.args.clone());
        Setting { template_args, args, covers: self.covers.clone(), ..Setting::of(block) }
    }
}

/// A block of more rows than this, with just so many threads.
fn with_threads([x, y, z]: [u32; 3], threads: u32) -> Option<[u32; 3]> {
    (x > 0 && z == 1 && threads.is_multiple_of(x) && threads / x > y).then(|| [x, threads / x, 1])
}

/// Whether someone would launch it: it has a warp at least.
fn is_likely(block: [u32; 3]) -> bool {
    valid(block) && block.iter().product::<u32>() >= 32
}

/// So many threads, without those for which an array only has room because it is padded.
fn tidy(threads: u32) -> u32 {
    match threads.checked_ilog2() {
        Some(log) if threads - (1 << log) <= MOST_PADDING && threads >= 32 => 1 << log,
        _ => threads,
    }
}

/// Shapes of about these numbers of threads with the extents that are known, if one is.
fn completions(partly: [Option<u32>; 3], sizes: &[u32]) -> Vec<[u32; 3]> {
    let mut shapes: Vec<[u32; 3]> = Vec::new();
    let mut add = |shape: [u32; 3]| {
        if valid(shape) && !shapes.contains(&shape) {
            shapes.push(shape);
        }
    };
    for &size in sizes {
        match partly {
            [None, Some(y), z] => add([(size / y / z.unwrap_or(1)).max(1), y, z.unwrap_or(1)]),
            // A block of one column of threads is nothing that someone would launch: it is a way through host code
            // that is not taken.
            [Some(1), None, _] => {}
            [Some(x), None, z] => add([x, (size / x / z.unwrap_or(1)).max(1), z.unwrap_or(1)]),
            [Some(x), Some(y), z] => add([x, y, z.unwrap_or(1)]),
            _ => {}
        }
    }
    shapes
}

/// Two-dimensional blocks of `n` threads with the usual row lengths.
fn rectangles(n: u32) -> Vec<[u32; 3]> {
    let mut shapes: Vec<[u32; 3]> =
        [32, 16, 8, 64].iter().filter(|x| n.is_multiple_of(**x)).map(|&x| [x, n / x, 1]).collect();
    shapes.push([n, 1, 1]);
    shapes.dedup();
    shapes
}

/// The block that subscripts by bare coordinates imply, and the arrays that they are of:
/// `tile[threadIdx.y][threadIdx.x]` in a `[16][17]` tile is a block of 16 x 16.
fn implied(probe: &Trace) -> Option<([u32; 3], Vec<String>)> {
    let mut names: Vec<&str> = Vec::new();
    let mut extent = |axis: usize| -> Option<u32> {
        if !probe.axes[axis] {
            // A block of one column of threads is nothing that someone would launch: how many columns
            // there are is not told.
            return (axis > 0).then_some(1);
        }
        let (length, array) = probe.extents[axis]?;
        let length = u32::try_from(length).ok().filter(|length| *length <= MOST_IMPLIED)?;
        let name = probe.arrays[array].name.as_str();
        if !names.contains(&name) {
            names.push(name);
        }
        let rounded = if length.is_power_of_two() { length } else { (length + 1).next_power_of_two() / 2 };
        Some(if length - rounded <= MOST_PADDING { rounded } else { length })
    };
    let shape = [extent(0)?, extent(1)?, extent(2)?];
    valid(shape).then(|| (shape, names.into_iter().map(str::to_owned).collect()))
}
