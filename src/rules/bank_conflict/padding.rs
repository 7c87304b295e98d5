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
                // What only the profiler's page shows is no cost that padding could save.
                if kernel.trace.arrays[access.array].name_span == name && !judgement.page_only {
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
        if !case.runs.iter().filter_map(|run| find(&run.trace, name)).all(Array::has_free_rows) {
            return None;
        }
        let before = Sites::of(case.runs, name)?;
        let (extra, after) = best(case, name, &before)?;
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
        let ty = written_type(&(case.text)(Span { end: array.name_span.start, ..array.span }));
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

/// The padding with the fewest wavefronts, and of those the smallest, that was run and found better.
fn best(case: &Case<'_>, name: Span, before: &Sites) -> Option<(u64, Sites)> {
    let forecast = |run: usize, extra| case.padder.forecast(run, name, extra);
    // Forecasts are of use when they know what is known.
    let trusted = matches!(effect(case, name, before, |run| forecast(run, 0)),
        Effect::Known(sites) if sites.0 == before.0);
    let guess = |extra| match trusted {
        true => effect(case, name, before, |run| forecast(run, extra)),
        false => Effect::Unknown,
    };
    let mut tried: Vec<(u64, Effect)> = (1..=MOST).map(|extra| (extra, guess(extra))).collect();
    let mut proved = [false; MOST as usize];
    loop {
        let rank = |effect: &Effect| match effect {
            Effect::Known(sites) => (sites.wavefronts() > sites.ideal(), sites.wavefronts()),
            // It may be the best.
            Effect::Unknown => (false, 0),
            Effect::Worse => (true, u64::MAX),
        };
        let at = (0..tried.len()).min_by_key(|&at| rank(&tried[at].1))?;
        let (extra, known) = &mut tried[at];
        if matches!(known, Effect::Worse)
            || matches!(known, Effect::Known(sites) if sites.wavefronts() >= before.wavefronts())
        {
            return None;
        }
        if proved[at] {
            let Effect::Known(sites) = std::mem::replace(known, Effect::Worse) else { return None };
            return Some((*extra, sites));
        }
        *known = match effect(case, name, before, |run| case.padder.run(run, name, *extra)) {
            Effect::Unknown => Effect::Worse,
            other => other,
        };
        proved[at] = true;
    }
}

/// What a padding does to the accesses of the array.
enum Effect {
    Known(Sites),
    /// Not possible, or worse for some access.
    Worse,
    Unknown,
}

/// What a padding does, by what `padded` says of each run.
fn effect(
    case: &Case<'_>,
    name: Span,
    before: &Sites,
    padded: impl Fn(usize) -> Option<KernelRun>,
) -> Effect {
    let mut all = Sites(Vec::new());
    for (number, run) in case.runs.iter().enumerate() {
        // A run without the array is as before.
        if find(&run.trace, name).is_none() {
            continue;
        }
        let Some(again) = padded(number) else { return Effect::Unknown };
        if !fits(case, &again, name) {
            return Effect::Worse;
        }
        let known = all.0.len();
        if all.add(number, &again, name).is_none() {
            return Effect::Unknown;
        }
        let worse = |(new, old): (&Site, &Site)| new.place != old.place || new.wavefronts > old.wavefronts;
        if all.0.len() > before.0.len() || all.0[known..].iter().zip(&before.0[known..]).any(worse) {
            return Effect::Worse;
        }
    }
    if all.0.len() == before.0.len() { Effect::Known(all) } else { Effect::Worse }
}

/// The type in front of a declared name, with a space behind it; empty when more stands there.
fn written_type(before: &str) -> String {
    if before.contains(|c: char| !(c.is_alphanumeric() || c.is_whitespace() || "_:<>".contains(c))) {
        return String::new();
    }
    let storage = ["__shared__", "static", "extern"];
    let words = before.split_whitespace().filter(|word| !storage.contains(word));
    words.flat_map(|word| [word, " "]).collect()
}

/// The dimension with the padding: `32` becomes `33`, `N` becomes `N + 1`, `N + 1` becomes `N + 2`.
fn widened(text: &str, extra: u64) -> String {
    if let Ok(number) = text.parse::<u64>() {
        return (number.saturating_add(extra)).to_string();
    }
    let simple = text
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | ' ' | '*' | '+' | '-' | '/' | '(' | ')'));
    if !simple {
        return format!("({text}) + {extra}");
    }
    if let Some((rest, number)) = text.rsplit_once('+')
        && let Ok(number) = number.trim().parse::<u64>()
    {
        return format!(
            "{rest}+{}{}",
            if rest.ends_with(' ') { " " } else { "" },
            number.saturating_add(extra)
        );
    }
    format!("{text} + {extra}")
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
