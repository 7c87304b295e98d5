//! Which layouts are tried, and in which order?
//!
//! First those that leave the indices as they are: longer rows and planes, rows for columns, an array for
//! each member. Then skews, then exclusive ors of one term and rotations. Last the exclusive ors in general,
//! where nothing met the bound: each bit of the row's number has a number of its own, and one after the other
//! is changed to what costs least, until no change helps. Each kind ends at the first that meets the bound.

use super::lane::width;
use super::layout::{Layout, Term, row_bits, terms};
use super::longer::extras;
use super::requests::Form;
use super::weigh::{Scales, Weight};
use super::{Found, Tried, Why, tiles};
use crate::domain::lcm;

/// Bytes of a row of banks.
const LINE: u64 = 128;
/// The most bits of a row's number that are given numbers one by one.
const MOST_BITS: usize = 8;
/// How often each of them is changed.
const ROUNDS: usize = 2;
/// Operations that an exclusive or with more than one term takes at the least.
const LEAST_OPERATIONS: u64 = 2;
/// The farthest bit of an index that is added or combined.
const MOST_SHIFT: u32 = 14;

/// What the layouts of an array may be.
struct Shape {
    /// As the first instance of the kernel has them, which the text of a layout is made for.
    dimensions: Vec<u64>,
    elements: u64,
    /// Bytes of the smallest element that an instance has.
    element: u64,
    /// Whether all instances have that one.
    same_element: bool,
    /// log2 of the elements that stay together: those of the widest access, in the instance where they are most.
    group: u32,
    /// Whether the rows can be made longer in the declaration alone.
    free_rows: bool,
    /// Whether its length is written, and not told at the launch.
    declared: bool,
}

impl Shape {
    fn of(scales: &Scales<'_>) -> Option<Shape> {
        let array = scales.requests.array;
        let forms = &scales.requests.forms;
        let dimensions = forms.first()?.lengths.clone();
        let element = forms.iter().map(|form| form.element).min()?;
        let together = |(number, form): (usize, &Form)| {
            let own = scales.requests.sites.iter().filter(|site| site.form == number);
            let others = scales.requests.uncounted.widths().filter(|(form, _)| *form == number);
            let widths = own.map(|site| width(site.access)).chain(others.map(|(_, width)| width));
            let group = widths.fold(form.element, lcm) / form.element;
            group.is_power_of_two().then(|| group.trailing_zeros())
        };
        let groups: Option<Vec<u32>> = forms.iter().enumerate().map(together).collect();
        let group = groups?.into_iter().max()?;
        Some(Shape {
            elements: dimensions.iter().product(),
            dimensions,
            element,
            same_element: scales.requests.only_element().is_some(),
            group,
            free_rows: array.has_free_rows(),
            declared: !array.dynamic,
        })
    }

    /// Elements of the innermost dimension, if there are several dimensions.
    fn row(&self) -> Option<u64> {
        self.dimensions.split_last().filter(|(_, outer)| !outer.is_empty()).map(|(row, _)| *row)
    }

    /// log2 of the elements in a row of banks, at most.
    fn bank_bits(&self) -> u32 {
        (LINE / self.element).max(1).ilog2()
    }
}

/// Tries them, and keeps what was found.
pub(super) fn try_all(scales: &Scales<'_>, found: &mut Found<'_>) {
    let Some(shape) = Shape::of(scales).filter(|_| found.bound < found.before || found.at_most) else {
        return;
    };
    let kinds: &[fn(&Shape, &Scales<'_>) -> Vec<Layout>] = match scales.requests.has_tiles() {
        true => &[apart],
        false => &[declared, swapped, skewed, combined, rotated],
    };
    for kind in kinds {
        for layout in kind(&shape, scales) {
            if weigh(scales, found, &shape, layout) {
                break;
            }
        }
    }
    let met = found.tried.iter().any(|it| it.wavefronts() == Ok(found.bound) && found.is_worth(it));
    if !met && !scales.requests.has_tiles() && found.could_be_worth(LEAST_OPERATIONS) {
        in_general(scales, found, &shape);
    }
}

/// Rows for columns, if they keep all requests from conflicts whose lanes are where data say, and what is found to be
/// the best does not.
pub(super) fn for_data(scales: &Scales<'_>, found: &Found<'_>) -> Option<Tried> {
    let best = found.best().or_else(|| found.tried.first())?;
    let (_, left) = found.worst_by_data(best)?;
    let shape = Shape::of(scales).filter(|_| left > 1)?;
    let layout = swapped(&shape, scales).into_iter().find(|it| matches!(it, Layout::Swapped { .. }))?;
    let weight = scales.weigh(&layout, u64::MAX);
    let is_free = weight.as_ref().is_ok_and(|weight| weight.by_data.iter().all(|worst| *worst <= 1));
    is_free.then_some(Tried { layout, bytes: 0, operations: 0, weight })
}

/// Tries one; whether it meets the bound.
fn weigh(scales: &Scales<'_>, found: &mut Found<'_>, shape: &Shape, layout: Layout) -> bool {
    let weight = scales.weigh(&layout, found.before);
    let weight =
        weight.and_then(|it| if found.spares_every_run(&it) { Ok(it) } else { Err(Why::WorseThere) });
    let weight = weight.and_then(|it| if found.spares_data(&it) { Ok(it) } else { Err(Why::WorseByData) });
    let is_least =
        |weight: &Weight| weight.wavefronts == found.bound && weight.by_data.iter().all(|worst| *worst <= 1);
    let met = weight.as_ref().is_ok_and(is_least);
    let there = scales.in_forms(&layout).unwrap_or_default();
    let more = there.iter().enumerate().map(|(form, layout)| {
        let now = scales.bytes(form).max(scales.requests.room);
        layout.bytes(scales.bytes(form), scales.requests.element_of(form)).saturating_sub(now)
    });
    let bytes = more.max().unwrap_or(0);
    let operations =
        there.iter().zip(&scales.requests.forms).map(|(layout, form)| layout.operations(&form.lengths));
    let operations = operations.max().unwrap_or_else(|| layout.operations(&shape.dimensions));
    found.tried.push(Tried { layout, bytes, operations, weight });
    met
}

/// Longer rows and planes.
fn declared(shape: &Shape, _: &Scales<'_>) -> Vec<Layout> {
    if !shape.free_rows {
        return Vec::new();
    }
    let mut found = Vec::new();
    for dimension in (1..shape.dimensions.len()).rev() {
        let inner: u64 = shape.dimensions[dimension + 1..].iter().product();
        let row = shape.dimensions[dimension] * inner;
        let longer = |by| Layout::Longer { row, extra: by * inner, dimension: (dimension, by) };
        found.extend(extras(shape.element * inner).map(longer));
    }
    found
}

/// Rows farther apart, of the length that the lines of tiles are.
fn apart(_: &Shape, scales: &Scales<'_>) -> Vec<Layout> {
    let element = scales.requests.only_element();
    element.map(|element| tiles::rows(&scales.requests.line_distances(), element)).unwrap_or_default()
}

/// Rows for columns, or an array for each member.
fn swapped(shape: &Shape, scales: &Scales<'_>) -> Vec<Layout> {
    if let ([rows, columns], true, 0) = (shape.dimensions.as_slice(), shape.free_rows, shape.group) {
        return vec![Layout::Swapped { rows: *rows, columns: *columns }];
    }
    let ([count], true) = (shape.dimensions.as_slice(), shape.declared && shape.same_element) else {
        return Vec::new();
    };
    let mut widths = scales.requests.sites.iter().map(|site| width(site.access));
    let Some(word) = widths.next().filter(|word| widths.all(|other| other == *word)) else {
        return Vec::new();
    };
    let members = word < shape.element && word.is_multiple_of(4) && shape.element.is_multiple_of(word);
    members.then_some(Layout::Apart { count: *count, word }).into_iter().collect()
}

/// Skews of a flat array.
fn skewed(shape: &Shape, _: &Scales<'_>) -> Vec<Layout> {
    let ([length], true) = (shape.dimensions.as_slice(), shape.declared) else { return Vec::new() };
    // One row of banks after the other, then what takes the fewest bytes.
    let line = shape.bank_bits();
    let others = (shape.group + 1..=MOST_SHIFT).rev().filter(|shift| *shift != line);
    let all = std::iter::once(line).filter(|line| *line > shape.group).chain(others);
    let within = all.filter(|shift| 1 << shift < *length);
    within.map(|shift| Layout::Skewed { shift, left: shape.group }).collect()
}

/// Exclusive ors of one term.
fn combined(shape: &Shape, _: &Scales<'_>) -> Vec<Layout> {
    let top = shape.bank_bits();
    let mut found = Vec::new();
    for bits in (1..=top.saturating_sub(shape.group)).rev() {
        let (unit, factor) = (1 << (shape.group + bits), 1 << shape.group);
        let term = |shift| Term { shift, bits, factor };
        match shape.row() {
            Some(row) if row.is_multiple_of(unit) => {
                // Higher bits of the column itself.
                let within =
                    (shape.group + bits..MOST_SHIFT).filter(|shift| row.is_multiple_of(1 << (shift + bits)));
                let own = |shift: u32| Layout::Combined { row: 1u64 << shift, terms: vec![term(0)] };
                found.extend(within.filter(|shift| row > 1 << shift).map(own));
                let all = row_bits(shape.elements, row);
                let seen = |shift: &u32| (bits == 1 || shift + bits <= all) && shape.is_seen(*shift, bits);
                let shifts = (0..all).filter(seen);
                found.extend(shifts.map(|shift| Layout::Combined { row, terms: vec![term(shift)] }));
            }
            None if shape.elements.is_multiple_of(unit) => {
                let seen = |shift: &u32| {
                    shape.elements > 1 << shift && (bits == 1 || bits <= row_bits(shape.elements, 1 << shift))
                };
                let shifts = (shape.group + bits..=MOST_SHIFT).filter(seen);
                let term = term(0);
                found.extend(shifts.map(|shift| Layout::Combined { row: 1 << shift, terms: vec![term] }));
            }
            _ => {}
        }
    }
    found
}

impl Shape {
    /// Whether bits of the row's number, counted over all rows, are bits of the last but one subscript.
    fn is_seen(&self, shift: u32, bits: u32) -> bool {
        match self.dimensions.as_slice() {
            [_, _] => true,
            [.., rows, _] => rows.is_multiple_of(1 << (shift + bits)),
            _ => false,
        }
    }
}

/// Rows that are turned.
fn rotated(shape: &Shape, _: &Scales<'_>) -> Vec<Layout> {
    let ([_, row], false) = (shape.dimensions.as_slice(), shape.dimensions.len() != 2) else {
        return Vec::new();
    };
    let steps = (shape.group..5).map(|bits| 1 << bits).filter(|by| by < row);
    steps.map(|by| Layout::Rotated { row: *row, by }).collect()
}

/// Exclusive ors in general.
fn in_general(scales: &Scales<'_>, found: &mut Found<'_>, shape: &Shape) {
    let row = shape.row().unwrap_or(1 << shape.bank_bits());
    // Numbers below this keep a column in its row.
    let below = 1u64 << row.trailing_zeros().min(shape.bank_bits());
    let unit = 1u64 << shape.group;
    if below <= unit || row >= shape.elements || !shape.elements.is_multiple_of(below) {
        return;
    }
    let seen =
        (0..row_bits(shape.elements, row)).filter(|bit| shape.row().is_none() || shape.is_seen(*bit, 1));
    let bits = seen.count().min(MOST_BITS);
    let mut vectors = vec![0u64; bits];
    let mut least = found.before;
    for _ in 0..ROUNDS {
        let before = least;
        for bit in 0..vectors.len() {
            let old = vectors[bit];
            let mut best = (least, old);
            for vector in (0..below).step_by(unit as usize).filter(|vector| *vector != old) {
                vectors[bit] = vector;
                let layout = Layout::Combined { row, terms: terms(&vectors) };
                let weight = scales.weigh(&layout, best.0);
                best = weight.map_or(best, |weight| best.min((weight.wavefronts, vector)));
            }
            (least, vectors[bit]) = best;
        }
        if least == before || least == found.bound {
            break;
        }
    }
    if least < found.before {
        weigh(scales, found, shape, Layout::Combined { row, terms: terms(&vectors) });
    }
}
