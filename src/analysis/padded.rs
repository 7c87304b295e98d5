//! What would the runs of a kernel be if the rows of an array were longer?
//!
//! A byte offset is affine in the padding: `offset(p) = offset(0) + p · element · row`. So one run
//! tells every padding, if it tells the row. It is made with the rows of every array that can be
//! padded stretched by a multiple of 256 bytes, far more than the array is long:
//!
//! | | lane 0 | lane 1 | lane 2 |
//! |---|---|---|---|
//! | `tile[threadIdx.x][1]`, rows of 128 bytes | 4 | 132 | 260 |
//! | stretched by 65536 bytes | 4 | 65668 | 131332 |
//! | so the row, from the lowest lane's | 0 | 1 | 2 |
//! | and with rows of 132 bytes | 4 | 136 | 268 |
//!
//! The lowest lane's own row is not seen, as a trace keeps offsets by their place in a window of
//! 256 bytes: it moves all lanes by an unknown multiple of the padding's bytes. That can change
//! only what rests on alignment (which vector accesses stay legal, which neighbours the compiler
//! joins), and is one more reason why a forecast is no proof.

use super::elements::elements;
use super::folds::folds;
use super::pitch::Pitches;
use super::runs::{Subject, Variant};
use super::typed::{Candidate, candidates};
use crate::domain::gcd;
use crate::events::{Access, Array, Pattern, Trace};
use crate::rules::{Elements, Fixed, Fold, KernelRun, Padder, Pitched, Typed};
use crate::source::Span;
use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

/// Bytes by whose multiples a trace moves offsets.
const WINDOW: i64 = 256;

/// How many times its own length an array's rows are stretched by.
const TIMES: u64 = 8;

/// The run of a scenario's variant with all rows stretched.
struct Stretched {
    run: usize,
    variant: Variant,
    trace: Rc<Trace>,
}

/// A subject's runs with longer rows.
pub struct Padded<'a> {
    subject: Subject<'a>,
    runs: &'a [KernelRun],
    stretched: RefCell<Vec<Stretched>>,
    pitches: Pitches<'a>,
    /// What types say of arrays.
    typed: RefCell<Vec<Candidate>>,
    /// By run: what it is in each shape of its block.
    ways: Vec<OnceCell<Vec<KernelRun>>>,
    /// By run: over which its verdicts are.
    variants: Vec<OnceCell<Vec<Variant>>>,
}

impl<'a> Padded<'a> {
    /// `runs` are those of the subject as it is, by scenario.
    #[must_use]
    pub fn new(subject: Subject<'a>, runs: &'a [KernelRun]) -> Padded<'a> {
        let ways = runs.iter().map(|_| OnceCell::new()).collect();
        let variants = runs.iter().map(|_| OnceCell::new()).collect();
        let pitches = Pitches::new(subject, runs);
        let (stretched, typed) = (RefCell::default(), RefCell::default());
        Padded { subject, runs, stretched, pitches, typed, ways, variants }
    }

    fn variants_of(&self, run: usize) -> &[Variant] {
        let known = self.variants.get(run).zip(self.subject.scenarios.get(run));
        known.map_or(&[], |(known, scenario)| known.get_or_init(|| self.subject.variants(scenario)))
    }

    /// The run with all rows stretched.
    fn stretched(&self, run: usize, variant: &Variant) -> Option<Rc<Trace>> {
        let made = |it: &&Stretched| it.run == run && it.variant == *variant;
        if let Some(known) = self.stretched.borrow().iter().find(made) {
            return Some(Rc::clone(&known.trace));
        }
        let arrays = &self.runs.get(run)?.trace.arrays;
        let pads: Vec<(Span, u64)> =
            arrays.iter().filter_map(|array| Some((array.name_span, stretch(array)?))).collect();
        let trace = Rc::new(self.subject.run(self.subject.scenarios.get(run)?, variant, &pads));
        let made = Stretched { run, variant: variant.clone(), trace: Rc::clone(&trace) };
        self.stretched.borrow_mut().push(made);
        Some(trace)
    }
}

impl Padder for Padded<'_> {
    fn run(&self, run: usize, array: Span, extra: u64) -> Option<KernelRun> {
        let scenario = self.subject.scenarios.get(run)?;
        Some(self.subject.judged(scenario, &mut |variant| {
            let mut trace = self.subject.run(scenario, variant, &[(array, extra)]);
            let arrays = &trace.arrays;
            trace.accesses.retain(|access| arrays[access.array].name_span == array);
            trace
        }))
    }

    fn variants(&self, run: usize) -> usize {
        self.variants_of(run).len()
    }

    fn run_variant(&self, (run, variant): (usize, usize), array: Span, extra: u64) -> Option<KernelRun> {
        let (scenario, variant) = (self.subject.scenarios.get(run)?, self.variants_of(run).get(variant)?);
        let it = self.subject.alone(scenario, variant, &[(array, extra)]);
        // As a verdict over all of them does, it passes over shapes in which the kernel leaves an array.
        let is_passed_over = variant.block != scenario.setting.block && it.trace.leaves_an_array();
        (!is_passed_over).then_some(it)
    }

    fn run_whole(&self, run: usize, array: Span, extra: u64) -> Option<Trace> {
        let scenario = self.subject.scenarios.get(run)?;
        Some(self.subject.run(scenario, &Variant::of(scenario), &[(array, extra)]))
    }

    fn forecast(&self, run: usize, array: Span, extra: u64) -> Option<KernelRun> {
        let scenario = self.subject.scenarios.get(run)?;
        let arrays = &self.runs.get(run)?.trace.arrays;
        let mut failed = false;
        let judged = self.subject.judged(scenario, &mut |variant| {
            // Elements of another size make rows of another length.
            failed |= !variant.types.is_empty();
            let stretched = self.stretched(run, variant);
            let trace = stretched.and_then(|stretched| shortened(&stretched, arrays, array, extra));
            failed |= trace.is_none();
            trace.unwrap_or_default()
        });
        (!failed).then_some(judged)
    }

    fn pitches(&self, array: Span, after: Option<(&Pitched, u64)>, take: &mut dyn FnMut(Pitched) -> bool) {
        self.pitches.of(array, after.map(|(pitched, extra)| (pitched.number, extra)), take);
    }

    fn typed(&self, array: Span) -> Vec<Typed> {
        let mut all = self.typed.borrow_mut();
        let first = all.len();
        all.extend(candidates(&self.subject, array, first));
        all[first..].iter().map(|candidate| candidate.typed.clone()).collect()
    }

    fn run_typed(&self, run: usize, typed: &[(Typed, u64)]) -> Option<KernelRun> {
        let all = self.typed.borrow();
        let mut longer: Vec<(usize, u64)> = Vec::new();
        for (typed, extra) in typed {
            let addresses = &all.get(typed.number)?.addresses;
            longer.extend(addresses.iter().map(|address| (*address, *extra)));
        }
        let scenario = self.subject.scenarios.get(run)?;
        let run = |variant: &Variant| self.subject.run_larger(scenario, variant, longer.clone());
        Some(self.subject.judged(scenario, &mut { run }))
    }

    fn elements(&self, array: Span) -> Result<Elements, Fixed> {
        elements(&self.subject, array)
    }

    fn folds(&self) -> Vec<Fold> {
        folds(&self.subject)
    }

    fn ways(&self, run: usize) -> &[KernelRun] {
        let known = self.ways.get(run).zip(self.subject.scenarios.get(run));
        known.map_or(&[], |(ways, scenario)| ways.get_or_init(|| self.subject.ways(scenario)))
    }

    fn run_pitched(&self, run: usize, pitched: &Pitched, extra: u64) -> Option<KernelRun> {
        self.pitches.run(pitched.number, run, extra)
    }
}

/// The elements by which the rows of an array are stretched, if they can be.
fn stretch(array: &Array) -> Option<u64> {
    let elements = array.bytes().filter(|_| array.has_free_rows())?.checked_div(array.element_bytes?)?;
    elements.checked_mul(TIMES)?.checked_next_multiple_of(WINDOW as u64)
}

/// What a stretched run would have recorded of one array with `extra` elements more in each row;
/// `arrays` are as declared.
fn shortened(stretched: &Trace, arrays: &[Array], name: Span, extra: u64) -> Option<Trace> {
    let array = arrays.iter().find(|array| array.name_span == name)?;
    let element = array.element_bytes?;
    let rows = Rows {
        stretch: i64::try_from(stretch(array)?.checked_mul(element)?).ok()?,
        padding: i64::try_from(extra.checked_mul(element)?).ok()?,
    };
    let of_array = |access: &&Access| stretched.arrays[access.array].name_span == name;
    let accesses = stretched.accesses.iter().filter(of_array).map(|access| {
        let patterns = access.patterns.iter().map(|pattern| rows.of(pattern)).collect::<Option<Vec<_>>>()?;
        Some(Access { patterns, ..access.clone() })
    });
    let accesses = accesses.collect::<Option<Vec<_>>>()?;
    let mut declared = stretched.arrays.clone();
    for array in &mut declared {
        let known = arrays.iter().find(|known| known.name_span == array.name_span)?;
        array.dimensions.clone_from(&known.dimensions);
        if let Some(Some(last)) = array.dimensions.last_mut().filter(|_| array.name_span == name) {
            *last = last.checked_add(extra)?;
        }
    }
    Some(Trace {
        accesses,
        arrays: declared,
        symbols: stretched.symbols.clone(),
        demands: stretched.demands.clone(),
        stopped: stretched.stopped.clone(),
        uncounted: stretched.uncounted.clone(),
        straight: stretched.straight.clone(),
        ..Trace::default()
    })
}

/// How much longer than declared rows are, in bytes.
struct Rows {
    stretch: i64,
    padding: i64,
}

impl Rows {
    /// The request with padded rows instead of stretched ones.
    fn of(&self, pattern: &Pattern) -> Option<Pattern> {
        let active = || (0..32usize).filter(|lane| pattern.active >> lane & 1 == 1);
        let lowest = active().map(|lane| pattern.offsets[lane]).min()?;
        let mut offsets = [0; 32];
        for lane in active() {
            offsets[lane] = lowest.checked_add(self.shorter(pattern.offsets[lane].checked_sub(lowest)?)?)?;
        }
        let lowest = active().map(|lane| offsets[lane]).min()?;
        for lane in active() {
            offsets[lane] = offsets[lane].checked_sub(lowest.div_euclid(WINDOW) * WINDOW)?;
        }
        let mut varying = Vec::with_capacity(pattern.varying.len());
        for (symbol, factors) in &pattern.varying {
            let mut shorter = [0; 32];
            for lane in active() {
                shorter[lane] = self.shorter(factors[lane])?;
            }
            varying.push((*symbol, shorter));
        }
        let window = WINDOW as u64;
        let unit = gcd(if pattern.unit == 0 { window } else { pattern.unit }, self.padding.unsigned_abs());
        let unit = if unit.is_multiple_of(window) { 0 } else { unit };
        Some(Pattern { offsets, varying, unit, ..pattern.clone() })
    }

    /// A distance with padded rows instead of stretched ones; `None` when its rows are not clear.
    fn shorter(&self, distance: i64) -> Option<i64> {
        let rows = distance.checked_add(self.stretch / 2)?.div_euclid(self.stretch);
        let declared = distance.checked_sub(rows.checked_mul(self.stretch)?)?;
        let clear = declared.abs() < self.stretch / 4;
        declared.checked_add(rows.checked_mul(self.padding)?).filter(|_| clear)
    }
}

#[cfg(test)]
mod tests;
