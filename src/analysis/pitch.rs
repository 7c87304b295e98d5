//! Which expressions in a kernel must change so that the rows of an array become longer, and is that
//! proved?
//!
//! Candidates come from the program ([`sites`]): the factors that have one value in all indices. They
//! are proved by runs in which that value is a number that is not known ([`crate::exec::pitch`]): in
//! every scenario every access must be seen to find its element, and every place that names the array
//! or a pointer into it must have been run.

mod launches;
mod parts;
pub(super) mod sites;

use super::runs::{Subject, Variant};
use crate::events::{Array, PitchFacts, Trace};
use crate::exec::pitch::{Extra, Longer, Pitch};
use crate::ir::visit::children;
use crate::ir::{Expr, ExprKind, Function, Name, Storage};
use crate::rules::{KernelRun, Length, PitchSite, Pitched};
use crate::shape::BlockFrom;
use crate::source::Span;
pub(super) use launches::names;
use parts::{Parts, parts};
use rustc_hash::{FxHashMap, FxHashSet};
use sites::{Factor, Product, Sites, address, is_written_out, mentions};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

/// Pitches that are tried for one array.
const MOST_PITCHES: usize = 4;

/// Scenarios of a kernel that are all run again.
const MOST_SCENARIOS: usize = 24;

/// What expressions are that are one number, by their address in the program.
type Values = FxHashMap<usize, i64>;

/// A pitch that was proved.
struct Proved {
    array: Span,
    sites: Arc<FxHashSet<usize>>,
    /// Elements of a row, by run.
    elements: Vec<i64>,
    /// Distances between other rows, which are longer already: by run.
    before: Vec<Vec<Longer>>,
}

/// The pitches of a kernel's arrays.
pub struct Pitches<'a> {
    subject: Subject<'a>,
    runs: &'a [KernelRun],
    proved: RefCell<Vec<Proved>>,
    /// What the factors in indices are, by run, once it was asked for.
    watched: RefCell<Option<Rc<Vec<Values>>>>,
}

impl<'a> Pitches<'a> {
    /// `runs` are those of the subject as it is, by scenario.
    #[must_use]
    pub fn new(subject: Subject<'a>, runs: &'a [KernelRun]) -> Pitches<'a> {
        Pitches { subject, runs, proved: RefCell::default(), watched: RefCell::default() }
    }

    /// Hands out the pitches of an array that can be changed, until one is taken. `after`: another pitch of the
    /// array, by its number, that so many elements were added to.
    pub fn of(&self, array: Span, after: Option<(usize, u64)>, take: &mut dyn FnMut(Pitched) -> bool) {
        let kernel = self.subject.kernel;
        if self.runs.len() > MOST_SCENARIOS {
            return;
        }
        let Some(before) = self.lengthened(after) else { return };
        let is_longer = |site: &usize| before.iter().flatten().any(|it| it.sites.contains(site));
        let Some(sites) = Sites::of(kernel, array) else { return };
        let Some(values) = self.watched(array) else { return };
        let mut tried: Vec<FxHashSet<usize>> = Vec::new();
        for (elements, alone) in candidates(&sites, &values[0]) {
            if tried.len() >= MOST_PITCHES {
                break;
            }
            let mut chosen = chosen(&sites, elements, alone, &values[0]);
            chosen.retain(|factor| !is_longer(&address(factor.expr)));
            let chosen = of_one_name(kernel, chosen);
            let addresses: FxHashSet<usize> = chosen.iter().map(|factor| address(factor.expr)).collect();
            if tried.contains(&addresses) || !chosen.iter().all(|factor| is_written_out(kernel, factor.expr))
            {
                continue;
            }
            tried.push(addresses.clone());
            if let Some(pitched) = self.prove(array, &sites, &chosen, addresses, (&values, &before))
                && take(pitched)
            {
                return;
            }
        }
    }

    /// What is longer already, by run, if so many elements were added to a pitch.
    fn lengthened(&self, after: Option<(usize, u64)>) -> Option<Vec<Vec<Longer>>> {
        let Some((number, extra)) = after else { return Some(vec![Vec::new(); self.runs.len()]) };
        let (all, extra) = (self.proved.borrow(), i64::try_from(extra).ok()?);
        let proved = all.get(number)?;
        let mut before = proved.before.clone();
        for (longer, elements) in before.iter_mut().zip(&proved.elements) {
            longer.push(Longer { sites: Arc::clone(&proved.sites), elements: *elements, extra });
        }
        Some(before)
    }

    /// What the factors in the indices of all arrays are, by run.
    fn watched(&self, array: Span) -> Option<Rc<Vec<Values>>> {
        if let Some(known) = self.watched.borrow().as_ref() {
            return Some(Rc::clone(known));
        }
        let mut all = FxHashSet::default();
        let mut arrays: Vec<Span> =
            self.runs.iter().flat_map(|run| &run.trace.arrays).map(|array| array.name_span).collect();
        arrays.sort();
        arrays.dedup();
        for sites in arrays.into_iter().filter_map(|array| Sites::of(self.subject.kernel, array)) {
            sites.products.iter().chain(&sites.length).for_each(|product| addresses(product, &mut all));
        }
        let all = Arc::new(all);
        let watched = (0..self.runs.len()).map(|run| {
            let (sites, extra) = (Arc::clone(&all), Extra::Watched);
            let pitch = Pitch { array, elements: 0, sites, extra, before: Vec::new() };
            let scenario = self.subject.scenarios.get(run)?;
            let trace = self.subject.run_pitched(scenario, &Variant::of(scenario), pitch);
            let values = trace.pitch.values;
            Some(values.into_iter().filter_map(|(site, value)| Some((site, value?))).collect())
        });
        let watched: Rc<Vec<_>> = Rc::new(watched.collect::<Option<_>>()?);
        *self.watched.borrow_mut() = Some(Rc::clone(&watched));
        Some(watched)
    }

    /// The proof that these expressions are the pitch of the array and nothing else; by run what expressions are,
    /// and which rows are longer already.
    fn prove(
        &self,
        array: Span,
        sites: &Sites<'_>,
        chosen: &[&Factor<'_>],
        addresses: FxHashSet<usize>,
        (values, before): (&[Values], &[Vec<Longer>]),
    ) -> Option<Pitched> {
        let elements = self.elements(array, &addresses, values)?;
        let given = sites.declaration.storage == Storage::DynamicShared;
        let declared = match given {
            true => None,
            false => Some(self.length(array, sites, chosen, &elements, values)?),
        };
        let is_first = before.iter().all(Vec::is_empty);
        if !is_first && !given {
            return None;
        }
        let proved = Proved { array, sites: Arc::new(addresses), elements, before: before.to_vec() };
        if given && !self.is_alone(&proved) {
            return None;
        }
        // The rows that the launches must have room for.
        let mut rows = Some(0);
        let mut seen = FxHashSet::default();
        let mut entered: FxHashSet<Span> = FxHashSet::default();
        for run in 0..self.runs.len() {
            let mut broken = false;
            self.judged(&proved, run, Extra::Any, &mut |trace| {
                let PitchFacts { broken: why, lost, mentions, .. } = &trace.pitch;
                broken |= why.is_some() || trace.stopped.is_some() || (lost.is_some() && !sites.plain);
                match self.parts(&proved, run, trace) {
                    Some(parts) => rows = rows.zip(parts.rows).map(|(a, b): (i64, i64)| a.max(b)),
                    None => broken = true,
                }
                seen.extend(mentions);
                entered.extend(&trace.entered);
                !broken
            })?;
            if broken {
                return None;
            }
        }
        let functions = self.subject.program.modules.iter().flat_map(|module| &module.functions);
        let entered = functions.filter(|function| entered.contains(&function.name_span));
        if !entered.chain([self.subject.kernel]).all(|function| all_seen(function, &seen)) {
            return None;
        }
        let length = match declared {
            // What lies before the rows is no row.
            Some(Length::Rows(span, all)) => {
                let accessed = rows.and_then(|rows| u64::try_from(rows).ok());
                Length::Rows(span, accessed.map_or(all, |accessed| accessed.min(all)))
            }
            Some(length) => length,
            None => match self.launched(&proved, rows).filter(|_| is_first) {
                Some(length) => length,
                None => Length::Given(u64::try_from(rows?).ok()?.saturating_sub(1)),
            },
        };
        let number = self.proved.borrow().len();
        self.proved.borrow_mut().push(proved);
        let mut places: Vec<PitchSite> = chosen.iter().map(|factor| factor.site()).collect();
        places.sort();
        places.dedup();
        Some(Pitched {
            number,
            sites: places,
            length,
            scope: Span { start: sites.declaration.name_span.end, ..self.subject.kernel.span },
            seen: seen.into_iter().collect(),
            doubt: self.doubt(given),
        })
    }

    /// Of how many elements the rows are in each run, if the expressions are one number that may be a pitch.
    fn elements(&self, array: Span, addresses: &FxHashSet<usize>, values: &[Values]) -> Option<Vec<i64>> {
        let mut elements = Vec::new();
        for (run, values) in values.iter().enumerate() {
            let mut known = addresses.iter().filter_map(|site| values.get(site));
            let has = self.runs[run].trace.arrays.iter().any(|it| it.name_span == array);
            let first = match known.next() {
                Some(first) => *first,
                None if !has => 0,
                // With no expression to change, the rows are those of the declaration.
                None => self.row(run, array)?,
            };
            if !known.all(|other| *other == first) || (has && first < 2) {
                return None;
            }
            elements.push(first);
        }
        Some(elements)
    }

    /// Why the change may be wrong though it is proved for what was run. `given`: the array is sized by launches.
    fn doubt(&self, given: bool) -> Option<&'static str> {
        let assumed = |run: &KernelRun| matches!(run.block_from, BlockFrom::Default | BlockFrom::Implied);
        let own = self.subject.program.modules.first().and_then(|module| module.file);
        if given {
            Some("the byte counts at its launches change, too")
        } else if self.runs.iter().any(assumed) {
            Some("it assumes the block shape, and with it that no index leaves its row")
        } else if own != Some(self.subject.kernel.span.file) {
            Some("other files may include the kernel and change its meaning")
        } else {
            None
        }
    }

    /// Where the rows lie in a run with a distance that is not known.
    fn parts(&self, proved: &Proved, run: usize, trace: &Trace) -> Option<Parts> {
        let of_array = |it: &&Array| it.name_span == proved.array;
        let Some(array) = trace.arrays.iter().find(of_array) else { return Some(Parts { rows: Some(0) }) };
        let element = i64::try_from(array.element_bytes?).ok()?;
        parts(&trace.pitch.pieces, element.checked_mul(*proved.elements.get(run)?)?)
    }

    /// Elements of a declared row.
    fn row(&self, run: usize, array: Span) -> Option<i64> {
        let array = self.runs[run].trace.arrays.iter().find(|it| it.name_span == array)?;
        i64::try_from((*array.dimensions.last()?)?).ok()
    }

    /// How the declaration changes.
    fn length(
        &self,
        array: Span,
        sites: &Sites<'_>,
        chosen: &[&Factor<'_>],
        elements: &[i64],
        values: &[Values],
    ) -> Option<Length> {
        let runs: Vec<usize> = (0..self.runs.len()).filter(|run| elements[*run] > 0).collect();
        let span = *sites.declaration.dimension_spans.last()?;
        let lengths: Vec<i64> = runs.iter().map(|run| self.row(*run, array)).collect::<Option<_>>()?;
        let pitches: Vec<i64> = runs.iter().map(|run| elements[*run]).collect();
        if lengths == pitches {
            return Some(Length::Row(span));
        }
        let factors = sites.length.as_ref().map_or(&[][..], |product| &product.factors);
        let named = chosen.first().map(|factor| given_names(self.subject.kernel, factor.expr));
        let is_pitch = |expr: &Expr| {
            let of_name = named.as_ref().is_none_or(|named| *named == given_names(self.subject.kernel, expr));
            of_name && runs.iter().all(|run| values[*run].get(&address(expr)) == Some(&elements[*run]))
        };
        let factor = factors.iter().rev().find(|factor| is_pitch(factor.expr));
        if let Some(factor) =
            factor.filter(|factor| factors.len() > 1 && is_written_out(self.subject.kernel, factor.expr))
        {
            return Some(Length::Factor(factor.site()));
        }
        let (length, pitch) = (*lengths.first()?, *pitches.first()?);
        let same = lengths.iter().all(|it| *it == length) && pitches.iter().all(|it| *it == pitch);
        // Before the last element lie so many whole rows, each of which is longer; of planes, all have as many.
        let planes = sites.declaration.dimension_spans.len() > 1;
        let part = if planes { pitch.checked_sub(1)? } else { 0 };
        let rows = length.checked_add(part)?.checked_div(pitch)?;
        same.then_some(Length::Rows(span, u64::try_from(rows).ok()?))
    }

    /// Whether no other array begins where this one in dynamic memory does.
    fn is_alone(&self, proved: &Proved) -> bool {
        let of_runs = self.runs.iter().zip(&proved.elements).filter(|(_, elements)| **elements > 0);
        let mut arrays = of_runs.flat_map(|(run, _)| &run.trace.arrays);
        !arrays.any(|it| it.dynamic && it.name_span != proved.array)
    }

    /// How the launches change that give the array its memory.
    fn launched(&self, proved: &Proved, rows: Option<i64>) -> Option<Length> {
        let elements = &proved.elements;
        let runs: Vec<usize> = (0..self.runs.len()).filter(|run| elements[*run] > 0).collect();
        let first = *elements.get(*runs.first()?)?;
        let mut fixed = 0;
        let mut found = None;
        for run in runs {
            let arrays = &self.runs[run].trace.arrays;
            if elements[run] != first {
                return None;
            }
            let others = arrays.iter().filter(|it| !it.dynamic).map(Array::bytes);
            let bytes = others.sum::<Option<u64>>().and_then(|bytes| i64::try_from(bytes).ok())?;
            fixed = bytes.max(fixed);
            found = found.or(arrays.iter().find(|it| it.dynamic));
        }
        launches::counted(&self.subject, found?, launches::Grown { elements: first, rows, fixed })
    }

    /// The run of this number with rows longer by so many elements.
    #[must_use]
    pub fn run(&self, pitched: usize, run: usize, extra: u64) -> Option<KernelRun> {
        let all = self.proved.borrow();
        let proved = all.get(pitched)?;
        let mut broken = false;
        let extra = Extra::Elements(i64::try_from(extra).ok()?);
        let judged = self.judged(proved, run, extra, &mut |trace| {
            broken |= trace.pitch.broken.is_some();
            !broken
        });
        judged.filter(|_| !broken)
    }

    /// `look` is shown each run, and says whether the others are of any use.
    fn judged(
        &self,
        proved: &Proved,
        run: usize,
        extra: Extra,
        look: &mut dyn FnMut(&Trace) -> bool,
    ) -> Option<KernelRun> {
        let scenario = self.subject.scenarios.get(run)?;
        let elements = *proved.elements.get(run)?;
        let mut useful = true;
        Some(self.subject.judged(scenario, &mut |variant| {
            if !useful {
                return Trace::default();
            }
            let (array, sites) = (proved.array, Arc::clone(&proved.sites));
            let before = proved.before.get(run).cloned().unwrap_or_default();
            let pitch = Pitch { array, elements, sites, extra, before };
            let mut trace = self.subject.run_pitched(scenario, variant, pitch);
            useful = look(&trace);
            if !useful {
                return Trace::default();
            }
            let arrays = &trace.arrays;
            trace.accesses.retain(|access| arrays[access.array].name_span == proved.array);
            trace
        }))
    }
}

/// Every address that a run is to watch.
fn addresses(product: &Product<'_>, all: &mut FxHashSet<usize>) {
    for factor in &product.factors {
        all.insert(address(factor.expr));
        factor.inner.iter().for_each(|product| addresses(product, all));
    }
}

/// The numbers that may be the pitch, the most frequent first, and whether terms that are nothing but
/// that number are rows too.
fn candidates(sites: &Sites<'_>, values: &Values) -> Vec<(i64, bool)> {
    let mut counts: Vec<(i64, usize)> = Vec::new();
    let mut add = |value: i64| match counts.iter_mut().find(|(known, _)| *known == value) {
        Some((_, count)) => *count += 1,
        None => counts.push((value, 1)),
    };
    fn all(product: &Product<'_>, values: &Values, add: &mut dyn FnMut(i64)) {
        for factor in &product.factors {
            if let Some(value) =
                values.get(&address(factor.expr)).filter(|_| product.factors.len() > 1 || product.argument)
            {
                add(*value);
            }
            factor.inner.iter().for_each(|product| all(product, values, add));
        }
    }
    sites.products.iter().for_each(|product| all(product, values, &mut add));
    counts.retain(|(value, _)| *value >= 2);
    counts.sort_by_key(|(value, count)| (std::cmp::Reverse(*count), std::cmp::Reverse(*value)));
    counts.into_iter().flat_map(|(value, _)| [(value, false), (value, true)]).collect()
}

/// The expressions that are the pitch, if it is this number: of each product the last such factor.
fn chosen<'s, 'p>(sites: &'s Sites<'p>, elements: i64, alone: bool, values: &Values) -> Vec<&'s Factor<'p>> {
    fn choose<'s, 'p>(
        product: &'s Product<'p>,
        holds: &dyn Fn(&Expr) -> bool,
        alone: bool,
        found: &mut Vec<&'s Factor<'p>>,
    ) {
        let fits = alone || product.factors.len() > 1 || product.argument;
        match product.factors.iter().rev().find(|factor| fits && holds(factor.expr)) {
            Some(factor) => found.push(factor),
            None => {
                for factor in &product.factors {
                    factor.inner.iter().for_each(|product| choose(product, holds, alone, found));
                }
            }
        }
    }
    let mut found = Vec::new();
    let holds = |expr: &Expr| values.get(&address(expr)) == Some(&elements);
    sites.products.iter().for_each(|product| choose(product, &holds, alone, &mut found));
    found
}

/// The names in an expression that other instances of a template give other values: its parameters, and
/// the variables that may be made of them.
fn given_names(kernel: &Function, expr: &Expr) -> Vec<Name> {
    fn collect(kernel: &Function, expr: &Expr, found: &mut Vec<Name>) {
        match &expr.kind {
            ExprKind::Path(path) if kernel.template_params.iter().any(|it| it.name == path.name) => {
                found.push(Name::clone(&path.name));
            }
            ExprKind::Local(local) => {
                found.extend(kernel.locals.get(local.0 as usize).map(|it| Name::clone(&it.name)));
            }
            _ => {}
        }
        children(expr, &mut |inner| collect(kernel, inner, found));
    }
    let mut found = Vec::new();
    if !kernel.template_params.is_empty() {
        collect(kernel, expr, &mut found);
        found.sort_unstable();
    }
    found
}

/// Those of the factors that are the same in every instance of a template: `WM` may be what `BM` is in
/// the instances seen, and is not its rows all the same. The most frequent of them are kept.
fn of_one_name<'s, 'p>(kernel: &Function, mut chosen: Vec<&'s Factor<'p>>) -> Vec<&'s Factor<'p>> {
    let names: Vec<Vec<Name>> = chosen.iter().map(|factor| given_names(kernel, factor.expr)).collect();
    let count = |name: &Vec<Name>| names.iter().filter(|other| *other == name).count();
    // Of equally frequent ones the first.
    let Some(most) = names.iter().rev().max_by_key(|name| count(name)) else { return chosen };
    let mut keep = names.iter().map(|name| name == most);
    chosen.retain(|_| keep.next().unwrap_or(true));
    chosen
}

/// Whether of each variable that was seen to lead into the array every mention was.
fn all_seen(function: &Function, seen: &FxHashSet<Span>) -> bool {
    let by_variable = mentions(function);
    by_variable.values().all(|spans| {
        !spans.iter().any(|span| seen.contains(span)) || spans.iter().all(|span| seen.contains(span))
    })
}
