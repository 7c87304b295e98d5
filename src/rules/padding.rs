//! Would longer rows help, and is that proved?
//!
//! A padding is offered only when the kernel, run again with it, finds every access of the array
//! at its ideal (or strictly better, which is then said) on every target asked for, every vector
//! access still aligned, and the block still inside the target's shared memory.

use super::{Case, KernelRun, plural};
use crate::diagnostic::Edit;
use crate::source::Span;
use crate::trace::{Access, Array, Pattern, Trace};
use crate::verdict::AccessOp;

/// The most elements tried.
const MOST: u64 = 8;

/// A padding that the model has checked.
#[derive(Clone, Debug)]
pub struct Padding {
    /// The edit of the declaration.
    pub edit: Edit,
    /// What it does, in words.
    pub title: String,
    /// The help line.
    pub help: String,
    /// Whether every access of the array is then at its ideal.
    pub complete: bool,
}

/// Sums over the accesses of one array in all runs, on all targets.
#[derive(Clone, Default)]
struct Sum {
    wavefronts: u64,
    ideal: u64,
    sites: Vec<(Span, AccessOp)>,
}

impl Sum {
    /// Adds a run's accesses of the array; `None` when one of them is not known.
    fn add(&mut self, run: &KernelRun, name: Span) -> Option<()> {
        for by_site in &run.judgements {
            for (access, judgement) in run.trace.accesses.iter().zip(by_site) {
                if run.trace.arrays[access.array].name_span != name {
                    continue;
                }
                let totals = judgement.totals?;
                self.wavefronts = self.wavefronts.saturating_add(totals.wavefronts);
                self.ideal = self.ideal.saturating_add(totals.ideal);
                if !self.sites.contains(&(access.span, access.op)) {
                    self.sites.push((access.span, access.op));
                }
            }
        }
        Some(())
    }
}

/// The sums with `extra` elements more in each row; `None` when that is not possible, not known,
/// or surely neither free of conflicts nor better than `least` wavefronts.
fn padded(case: &Case<'_>, name: Span, extra: u64, least: u64) -> Option<Sum> {
    let mut sum = Sum::default();
    for (at, run) in case.runs.iter().enumerate() {
        // A run without the array is as before.
        if find(&run.trace, name).is_none() {
            continue;
        }
        let again = case.padded(at, name, extra)?;
        if !fits(case, &again, name) {
            return None;
        }
        sum.add(&again, name)?;
        if sum.wavefronts > sum.ideal && sum.wavefronts >= least {
            return None;
        }
    }
    Some(sum)
}

impl Padding {
    /// Looks for the smallest padding of the array declared at `name` that helps.
    pub fn search(case: &Case<'_>, name: Span) -> Option<Padding> {
        let array = find(&case.runs.first()?.trace, name)
            .or_else(|| case.runs.iter().find_map(|r| find(&r.trace, name)))?;
        let movable =
            |a: &Array| !a.dynamic && !a.flattened && a.dimensions.len() >= 2 && a.bytes().is_some();
        if !case.runs.iter().filter_map(|run| find(&run.trace, name)).all(movable) {
            return None;
        }
        let mut before = Sum::default();
        for run in case.runs {
            before.add(run, name)?;
        }
        let mut best: Option<(u64, Sum)> = None;
        for extra in 1..=MOST {
            let least = best.as_ref().map_or(before.wavefronts, |(_, sum)| sum.wavefronts);
            let Some(after) = padded(case, name, extra, least) else { continue };
            if after.wavefronts == after.ideal {
                best = Some((extra, after));
                break;
            }
            let better = best.as_ref().is_none_or(|(_, b)| after.wavefronts < b.wavefronts);
            if better && after.wavefronts < before.wavefronts && after.sites.len() == before.sites.len() {
                best = Some((extra, after));
            }
        }
        let (extra, after) = best?;
        Some(Padding::describe(case, array, extra, &before, &after))
    }

    fn describe(case: &Case<'_>, array: &Array, extra: u64, before: &Sum, after: &Sum) -> Padding {
        let span = array.dimension_spans.last().copied().unwrap_or(array.name_span);
        let text = widened((case.text)(span).trim(), extra);
        let dimensions: String = array
            .dimension_spans
            .iter()
            .enumerate()
            .map(|(at, span)| {
                let last = at + 1 == array.dimension_spans.len();
                if last { format!("[{text}]") } else { format!("[{}]", (case.text)(*span).trim()) }
            })
            .collect();
        let declaration = format!("{} {}{dimensions}", array.element, array.name);
        let title = format!("pad the rows of `{}` by {}", array.name, plural(extra, "element"));
        let complete = after.wavefronts == after.ideal;
        let rows: u64 = array.dimensions.iter().rev().skip(1).map(|d| d.unwrap_or(1)).product();
        let bytes = rows * extra * array.element_bytes.unwrap_or(0);
        let gain = if complete {
            format!("then {} of `{}` without conflicts", accesses(after.sites.len()), array.name)
        } else {
            format!(
                "then {} of `{}` take {} per block instead of {}, not the ideal {}",
                accesses(after.sites.len()).trim_end_matches(" is").trim_end_matches(" are"),
                array.name,
                plural(after.wavefronts, "wavefront"),
                before.wavefronts,
                after.ideal
            )
        };
        let help =
            format!("pad the rows by {}: `{declaration}`; {gain} (+{bytes} bytes)", plural(extra, "element"));
        Padding { edit: Edit { span, text }, title, help, complete }
    }
}

fn accesses(sites: usize) -> String {
    if sites == 1 { "the only access is".to_string() } else { format!("all {sites} accesses are") }
}

/// The dimension with the padding: `32` becomes `33`, `N` becomes `N + 1`.
fn widened(text: &str, extra: u64) -> String {
    if let Ok(number) = text.parse::<u64>() {
        return (number + extra).to_string();
    }
    let simple = text
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | ' ' | '*' | '+' | '-' | '/' | '(' | ')'));
    if simple { format!("{text} + {extra}") } else { format!("({text}) + {extra}") }
}

fn find(trace: &Trace, name: Span) -> Option<&Array> {
    trace.arrays.iter().find(|array| array.name_span == name)
}

/// Whether vector accesses stay aligned and the block stays inside static shared memory.
fn fits(case: &Case<'_>, run: &KernelRun, name: Span) -> bool {
    let of_array = |a: &&Access| run.trace.arrays[a.array].name_span == name;
    let aligned = run.trace.accesses.iter().filter(of_array).all(|access| {
        let bytes = access.bytes.unwrap_or(1);
        // A type that is less aligned than its size is split by the compiler.
        let natural = bytes.is_power_of_two() && (access.align == 0 || access.align >= bytes);
        let multiple = |offset: i64| offset % i64::from(bytes) == 0;
        let active = |p: &Pattern| (0..32).filter(|lane| p.active >> lane & 1 == 1).collect::<Vec<usize>>();
        !natural
            || access.patterns.iter().all(|p| {
                p.unit % u64::from(bytes) == 0
                    && active(p).into_iter().all(|lane| {
                        multiple(p.offsets[lane])
                            && p.varying.iter().all(|(_, factors)| multiple(factors[lane]))
                    })
            })
    });
    let total: u64 = run.trace.arrays.iter().filter(|a| !a.dynamic).map(|a| a.bytes().unwrap_or(0)).sum();
    let limit = case.targets.iter().map(|target| u64::from(target.static_shared_limit())).min().unwrap_or(0);
    aligned && total <= limit
}
