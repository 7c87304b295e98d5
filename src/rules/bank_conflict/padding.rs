//! Would longer rows help, and is that proved?
//!
//! A padding is offered only when the kernel, run again with it, finds every access of the array
//! at its ideal (or strictly better, which is then said) on every target asked for, every vector
//! access still aligned, and the block still inside the target's shared memory.

use super::super::{Case, KernelRun, plural};
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

/// One access of the array in one run on one target.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Site {
    place: (usize, usize, Span, AccessOp),
    wavefronts: u64,
    ideal: u64,
    worst: u32,
}

/// The accesses of one array in all runs, on all targets.
struct Sites(Vec<Site>);

impl Sites {
    /// `None` when some access of the array is not known.
    fn of(runs: &[KernelRun], name: Span) -> Option<Sites> {
        let mut sites = Sites(Vec::new());
        runs.iter().enumerate().try_for_each(|(number, run)| sites.add(number, run, name))?;
        Some(sites)
    }

    /// Adds the accesses of one run; `None` when one of them is not known.
    fn add(&mut self, run: usize, kernel: &KernelRun, name: Span) -> Option<()> {
        for (target, judgements) in kernel.judgements.iter().enumerate() {
            for (access, judgement) in kernel.trace.accesses.iter().zip(judgements) {
                if kernel.trace.arrays[access.array].name_span == name {
                    let totals = judgement.totals?;
                    let place = (run, target, access.span, access.op);
                    let (wavefronts, ideal) = (totals.wavefronts, totals.ideal);
                    self.0.push(Site { place, wavefronts, ideal, worst: totals.worst.wavefronts });
                }
            }
        }
        Some(())
    }

    fn wavefronts(&self) -> u64 {
        self.0.iter().fold(0, |sum, site| sum.saturating_add(site.wavefronts))
    }

    fn ideal(&self) -> u64 {
        self.0.iter().fold(0, |sum, site| sum.saturating_add(site.ideal))
    }

    /// Places in the text.
    fn count(&self) -> u64 {
        let mut spans: Vec<(Span, AccessOp)> = Vec::new();
        for (_, _, span, op) in self.0.iter().map(|site| site.place) {
            if !spans.contains(&(span, op)) {
                spans.push((span, op));
            }
        }
        spans.len() as u64
    }

    /// Wavefronts of the worst request, if they are the same everywhere.
    fn same_worst(&self) -> Option<u32> {
        let first = self.0.first()?.worst;
        self.0.iter().all(|site| site.worst == first).then_some(first)
    }
}

impl Padding {
    /// Looks for the smallest padding of the array declared at `name` that helps.
    pub fn search(case: &Case<'_>, name: Span) -> Option<Padding> {
        let array = case.runs.iter().find_map(|run| find(&run.trace, name))?;
        let movable =
            |a: &Array| !a.dynamic && !a.flattened && a.dimensions.len() >= 2 && a.bytes().is_some();
        if !case.runs.iter().filter_map(|run| find(&run.trace, name)).all(movable) {
            return None;
        }
        let before = Sites::of(case.runs, name)?;
        let mut best: Option<(u64, Sites)> = None;
        for extra in 1..=MOST {
            let Some(after) = padded(case, name, extra, &before) else { continue };
            let complete = after.wavefronts() == after.ideal();
            let least = best.as_ref().map_or(before.wavefronts(), |(_, best)| best.wavefronts());
            if after.wavefronts() < least {
                best = Some((extra, after));
            }
            if complete {
                break;
            }
        }
        let (extra, after) = best?;
        // Instances of a template differ in their rows: only a padding that serves all is offered.
        let instances = case.runs.iter().any(|run| run.kernel != case.runs[0].kernel);
        if instances && after.wavefronts() != after.ideal() {
            return None;
        }
        Some(Padding::describe(case, array, extra, &before, &after))
    }

    fn describe(case: &Case<'_>, array: &Array, extra: u64, before: &Sites, after: &Sites) -> Padding {
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
        // The type as it is written there; a template parameter stays one.
        let written = (case.text)(array.span).contains(&array.element);
        let ty = if written { format!("{} ", array.element) } else { String::new() };
        let declaration = format!("{ty}{}{dimensions}", array.name);
        let by = if extra == 1 { "one element".to_owned() } else { plural(extra, "element") };
        let title = format!("pad the rows of `{}` by {by}", array.name);
        let complete = after.wavefronts() == after.ideal();
        let rows: u64 = array.dimensions.iter().rev().skip(1).map(|d| d.unwrap_or(1)).product();
        let bytes = rows.saturating_mul(extra).saturating_mul(array.element_bytes.unwrap_or(0));
        let (who, verb) = match after.count() {
            1 => ("this access".to_owned(), "takes"),
            2 => ("both accesses".to_owned(), "take"),
            many => (format!("all {many} accesses"), "take"),
        };
        let gain = match after.same_worst() {
            Some(worst) if complete => format!("{verb} {}", plural(worst.into(), "wavefront")),
            _ if complete => format!("{verb} as few wavefronts as they can"),
            _ => format!(
                "{verb} {} instead of {}, at best {}",
                plural(after.wavefronts(), "wavefront"),
                before.wavefronts(),
                after.ideal()
            ),
        };
        let help = format!(
            "pad the rows by {by}: `{declaration}`; {who} of `{}` then {gain} (+{bytes} bytes)",
            array.name
        );
        Padding { edit: Edit { span, text }, title, help, complete }
    }
}

/// The accesses with `extra` elements more in each row; `None` when that is not possible, not
/// known, or worse for some access.
fn padded(case: &Case<'_>, name: Span, extra: u64, before: &Sites) -> Option<Sites> {
    let mut all = Sites(Vec::new());
    for (number, run) in case.runs.iter().enumerate() {
        // A run without the array is as before.
        if find(&run.trace, name).is_none() {
            continue;
        }
        let again = case.padded(number, name, extra).filter(|again| fits(case, again, name))?;
        let known = all.0.len();
        all.add(number, &again, name)?;
        let worse = |(new, old): (&Site, &Site)| new.place != old.place || new.wavefronts > old.wavefronts;
        if all.0.len() > before.0.len() || all.0[known..].iter().zip(&before.0[known..]).any(worse) {
            return None;
        }
    }
    (all.0.len() == before.0.len()).then_some(all)
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
