//! Would longer rows help, and is that proved?
//!
//! A padding is offered only when the kernel, run again with it, finds every access of the array
//! at its ideal (or strictly better, which is then said) on every target asked for, every vector
//! access still aligned, and the block still inside the target's shared memory. Where the rows are
//! walked by a distance that is written out, it changes too, if it is proved that every access then
//! finds its element.
//!
//! A `wmma` call leaves no other layout than longer rows, as it asks for lines at one distance. Banks repeat after
//! 128 bytes and the call wants lines a multiple of 16 bytes apart, so seven lengths are all that there are:
//!
//! ```text
//! half s[64][16], 8 lines of 16 bytes at a time      wavefronts for each 8 lines
//!     rows of 32 bytes                                2: line 4 lies where line 0 does
//!     rows of 48, 80, 112, 144 bytes                  1: 16 bytes times an odd number
//!     rows of 64, 96, 128 bytes                       4, 2, 8
//! ```
//!
//! Of such an array the length with the fewest wavefronts is told even where one of its accesses takes more than
//! before, as no block does.

mod pitched;
pub(super) mod text;

use super::super::{Case, KernelRun, Length, Pitched, plural};
use super::declared::{asked, by_its_numbers, is_written_out, not_run};
use crate::banks::Target;
use crate::codegen::Merges;
use crate::diagnostic::{Basis, Edit, Fix};
use crate::events::{Access, AccessOp, Array, Pattern, Trace};
use crate::source::Span;
use crate::verdict::Totals;

/// The most elements tried.
const MOST: u64 = 8;
/// Bytes after which banks repeat.
const PERIOD: u64 = 128;
/// Bytes by which the lines of a `wmma` tile may be farther apart.
const LINE_STEP: u64 = 16;

/// A padding that the model has checked.
#[derive(Clone, Debug)]
pub(super) struct Padding {
    /// Elements added to each row.
    pub extra: u64,
    /// The rows.
    rows: Rows,
    /// The edits: of the declaration, and of the distance between rows where it is written out.
    pub edits: Vec<Edit>,
    /// On what it rests that nothing else changes.
    pub basis: Basis,
    /// What it does, in words.
    pub title: String,
    /// The help line.
    pub help: String,
    /// Whether no access of the array then takes more wavefronts than it has to.
    pub complete: bool,
    /// The wavefronts that are left, of all runs on all targets.
    pub left: u64,
    /// And those that are no more.
    pub saved: u64,
    /// The accesses that then take fewer wavefronts.
    helped: Vec<(Span, AccessOp)>,
}

/// What is known of longer rows.
#[derive(Clone, Debug)]
pub(super) enum Longer {
    /// These rows help.
    Help(Box<Padding>),
    /// Those of `wmma` tiles, of which no length takes fewer wavefronts than this, as declared.
    None(u64),
    /// None of those that were tried is seen to help.
    Unknown,
}

/// One access of the array in one run on one target.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Site {
    place: (usize, usize, Span, AccessOp),
    wavefronts: u64,
    ideal: u64,
    usual: u64,
    worst: u32,
    /// Bytes per lane of the instruction that the compiler makes of it and its neighbours.
    width: u32,
    /// Whether the compiler makes, or may make, one instruction of it and its neighbours.
    joined: bool,
}

/// The accesses of one array in all runs, on all targets.
struct Sites {
    list: Vec<Site>,
    /// Whether `wmma` calls are among them.
    tiles: bool,
}

impl Sites {
    /// `None` when some access of the array is not known.
    fn of(runs: &[KernelRun], name: Span) -> Option<Sites> {
        let mut sites = Sites { list: Vec::new(), tiles: false };
        runs.iter().enumerate().try_for_each(|(number, run)| sites.add(number, run, name))?;
        Some(sites)
    }

    /// Adds the accesses of one run; `None` when one of them is not known.
    fn add(&mut self, run: usize, kernel: &KernelRun, name: Span) -> Option<()> {
        let merges = Merges::of(&kernel.trace);
        for (target, judgements) in kernel.judgements.iter().enumerate() {
            for (at, (access, judgement)) in kernel.trace.accesses.iter().zip(judgements).enumerate() {
                // What only the profiler's page shows is no cost that padding could save.
                if kernel.trace.arrays[access.array].name_span == name && !judgement.page_only {
                    let totals = judgement.totals?;
                    // The request that it is a part of is counted where it begins.
                    let totals = if judgement.follows { Totals::default() } else { totals };
                    let place = (run, target, access.span, access.op);
                    let (wavefronts, ideal) = (totals.wavefronts, totals.ideal);
                    let wide = merges.any(at, 0).filter(|wide| !wide.single);
                    self.tiles |= access.fragment;
                    self.list.push(Site {
                        place,
                        wavefronts,
                        ideal,
                        usual: totals.usual,
                        worst: totals.worst.wavefronts,
                        width: wide.map_or(access.bytes.unwrap_or(0), |wide| wide.bytes),
                        joined: wide.is_some(),
                    });
                }
            }
        }
        Some(())
    }

    fn wavefronts(&self) -> u64 {
        self.list.iter().fold(0, |sum, site| sum.saturating_add(site.wavefronts))
    }

    fn ideal(&self) -> u64 {
        self.list.iter().fold(0, |sum, site| sum.saturating_add(site.ideal))
    }

    /// Whether none of them is to be reported.
    fn are_fine(&self) -> bool {
        self.list.iter().all(|site| site.wavefronts <= site.usual)
    }

    /// Places in the text.
    fn count(&self) -> u64 {
        let mut spans: Vec<(Span, AccessOp)> = Vec::new();
        for (_, _, span, op) in self.list.iter().map(|site| site.place) {
            if !spans.contains(&(span, op)) {
                spans.push((span, op));
            }
        }
        spans.len() as u64
    }

    /// Wavefronts of the worst request, if they are the same everywhere, whatever the compiler joins.
    fn same_worst(&self) -> Option<u32> {
        let first = self.list.first()?.worst;
        self.list.iter().all(|site| site.worst == first && !site.joined).then_some(first)
    }
}

/// What makes the rows longer.
#[derive(Clone, Debug)]
enum Rows {
    /// The declaration alone.
    Declared,
    /// The distance between them, too.
    Pitched {
        pitched: Pitched,
        /// Other rows of the array, which so many elements were added to before.
        before: Vec<(Pitched, u64)>,
    },
}

impl Rows {
    fn run(&self, case: &Case<'_>, name: Span, run: usize, extra: u64) -> Option<KernelRun> {
        match self {
            Rows::Declared => case.padder.run(run, name, extra),
            Rows::Pitched { pitched, .. } => case.padder.run_pitched(run, pitched, extra),
        }
    }

    fn forecast(&self, case: &Case<'_>, name: Span, run: usize, extra: u64) -> Option<KernelRun> {
        match self {
            Rows::Declared => case.padder.forecast(run, name, extra),
            Rows::Pitched { .. } => None,
        }
    }

    /// Other rows of the array, which so many elements were added to before.
    fn before(&self) -> &[(Pitched, u64)] {
        match self {
            Rows::Declared => &[],
            Rows::Pitched { before, .. } => before,
        }
    }

    /// Bytes that launches then give the block more, if that is for whoever writes them to see to.
    fn grown(&self, extra: u64, element: u64) -> Option<u64> {
        let Rows::Pitched { pitched, before } = self else { return None };
        let all = before.iter().map(|(pitched, extra)| (pitched, *extra)).chain([(pitched, extra)]);
        let of = |(pitched, extra): (&Pitched, u64)| match pitched.length {
            Length::Given(rows) => Some(rows.saturating_mul(extra).saturating_mul(element)),
            _ => None,
        };
        all.map(of).sum()
    }
}

impl Padding {
    /// Whether an access then takes fewer wavefronts.
    pub(super) fn helps(&self, access: &Access) -> bool {
        self.helped.contains(&(access.span, access.op))
    }

    /// The fix that writes it, if it can be written with proof. What leaves a conflict is for the author to want.
    pub(super) fn fix(&self) -> Option<Fix> {
        let Padding { title, edits, complete, .. } = self;
        let fewer = || "it makes conflicts fewer and leaves some".to_owned();
        let basis = match self.basis.clone() {
            basis if *complete => basis,
            Basis::Accesses { name, scope, seen, doubt } => {
                Basis::Accesses { name, scope, seen, doubt: Some(doubt.unwrap_or_else(fewer)) }
            }
            Basis::Subscripts => Basis::Judgement(fewer()),
            Basis::Judgement(why) => Basis::Judgement(why),
        };
        let fix = || Fix { title: title.clone(), edits: edits.clone(), basis, leaves: !complete };
        (!edits.is_empty()).then(fix)
    }

    /// A run made again with it.
    pub(super) fn run(&self, case: &Case<'_>, name: Span, run: usize) -> Option<KernelRun> {
        self.rows.run(case, name, run, self.extra)
    }

    /// Looks for the smallest padding of the array declared at `name` that helps.
    pub(super) fn search(case: &Case<'_>, name: Span) -> Longer {
        let array = case.runs.iter().find_map(|run| find(&run.trace, name));
        let Some((array, before)) = array.zip(Sites::of(case.runs, name)) else { return Longer::Unknown };
        let free = case.runs.iter().filter_map(|run| find(&run.trace, name)).all(Array::has_free_rows);
        let mut best = None;
        let mut none = false;
        if free {
            best = Padding::with(case, array, &before, Rows::Declared, &mut false);
        }
        // Rows that are declared may be further apart than those that are walked.
        if best.as_ref().is_none_or(|padding: &Padding| !padding.complete) {
            case.padder.pitches(name, None, &mut |pitched| {
                // Rows that are walked as they are declared.
                let declared = matches!(pitched.length, Length::Row(_));
                let mut all = true;
                let rows = Rows::Pitched { pitched, before: Vec::new() };
                let found = Padding::with(case, array, &before, rows, &mut all);
                none |= found.is_none() && declared && all && before.tiles;
                let complete = found.as_ref().is_some_and(|padding| padding.complete);
                if complete || best.is_none() {
                    best = found;
                }
                complete
            });
        }
        while let Some(more) = best.as_ref().and_then(|padding| padding.with_other_rows(case, array, &before))
        {
            best = Some(more);
        }
        match best {
            Some(padding) => Longer::Help(Box::new(padding)),
            None if none => Longer::None(before.wavefronts()),
            None => Longer::Unknown,
        }
    }

    /// The same and other rows of the array longer, too, where the launches are left to whoever reads the help.
    fn with_other_rows(&self, case: &Case<'_>, array: &Array, before: &Sites) -> Option<Padding> {
        let Rows::Pitched { pitched: first, before: others } = &self.rows else { return None };
        if self.complete || !matches!(first.length, Length::Given(_)) {
            return None;
        }
        let mut best: Option<Padding> = None;
        case.padder.pitches(array.name_span, Some((first, self.extra)), &mut |pitched| {
            let others = others.iter().cloned().chain([(first.clone(), self.extra)]);
            let rows = Rows::Pitched { pitched, before: others.collect() };
            let found = Padding::with(case, array, before, rows, &mut true);
            let better = |found: &Padding| found.left < best.as_ref().map_or(self.left, |best| best.left);
            if let Some(found) = found.filter(better) {
                best = Some(found);
            }
            best.as_ref().is_some_and(|best| best.complete)
        });
        best
    }

    /// The best padding of these rows; `all` stays set if each length was judged.
    fn with(case: &Case<'_>, array: &Array, before: &Sites, rows: Rows, all: &mut bool) -> Option<Padding> {
        let (extra, after) = best(case, array, before, &rows, all)?;
        // Instances of a template differ in their rows: only a padding that serves all is offered. With tiles,
        // none takes more than before.
        let instances = case.runs.iter().any(|run| run.kernel != case.runs[0].kernel);
        if instances && !after.are_fine() && !before.tiles {
            *all = false;
            return None;
        }
        Padding::describe(case, array, extra, before, &after, rows)
    }

    fn describe(
        case: &Case<'_>,
        array: &Array,
        extra: u64,
        before: &Sites,
        after: &Sites,
        rows: Rows,
    ) -> Option<Padding> {
        let by = extra_words(case, array, extra, &rows);
        let complete = after.are_fine();
        let (who, gain) = gain_words(before, after);
        let elements = |extra: u64| {
            let rows: u64 = array.dimensions.iter().rev().skip(1).map(|d| d.unwrap_or(1)).product();
            rows.saturating_mul(extra).saturating_mul(array.element_bytes.unwrap_or(0))
        };
        let (edits, basis, changes, bytes) = match &rows {
            Rows::Declared if !is_written_out(case, array) => {
                (Vec::new(), Basis::Subscripts, by_its_numbers(array, extra), elements(extra))
            }
            Rows::Declared => {
                let span = array.dimension_spans.last().copied().unwrap_or(array.name_span);
                let edit = Edit { span, text: text::widened((case.text)(span).trim(), extra) };
                let changes = format!("`{}`", declared(case, array, std::slice::from_ref(&edit)));
                let basis = not_run(case, array).map_or(Basis::Subscripts, Basis::Judgement);
                (vec![edit], basis, changes, elements(extra))
            }
            Rows::Pitched { pitched, before } => {
                let pitched::Written { edits, words } = pitched::written(case, array, pitched, extra)?;
                let basis = Basis::Accesses {
                    name: array.name.clone(),
                    scope: pitched.scope,
                    seen: pitched.seen.clone(),
                    doubt: pitched.doubt.map(str::to_owned),
                };
                let others = before
                    .iter()
                    .map(|(other, extra)| Some(pitched::written(case, array, other, *extra)?.words));
                let mut all: Vec<String> = others.collect::<Option<_>>()?;
                all.push(words);
                let grown = rows.grown(extra, array.element_bytes.unwrap_or(0));
                all.extend(grown.map(|bytes| {
                    let up_to = if case.runs.len() > 1 { "up to " } else { "" };
                    format!("{up_to}{bytes} bytes more at each launch")
                }));
                (edits, basis, and(&all), 0)
            }
        };
        let title = format!("pad the rows of `{}` by {by}", array.name);
        let cost = if bytes == 0 { String::new() } else { format!(" (+{bytes} bytes)") };
        let (mut edits, mut asked_too) = (edits, String::new());
        if let Rows::Declared = rows {
            asked_too = asked(case, array);
            if !asked_too.is_empty() {
                edits.clear();
            }
        }
        let help = format!(
            "pad the rows by {by}: {changes}{asked_too}; {who} of `{}` then {gain}{cost}",
            array.name
        );
        let better = before.list.iter().zip(&after.list).filter(|(old, new)| new.wavefronts < old.wavefronts);
        let helped = better.map(|(old, _)| (old.place.2, old.place.3)).collect();
        let left = after.wavefronts();
        let saved = before.wavefronts().saturating_sub(left);
        Some(Padding { extra, rows, edits, basis, title, help, complete, left, saved, helped })
    }
}

/// By how much the rows grow: `one element`, `2 and 3 elements`.
fn extra_words(case: &Case<'_>, array: &Array, extra: u64, rows: &Rows) -> String {
    let more = match rows {
        Rows::Declared => {
            array.dimension_spans.last().is_some_and(|it| text::is_longer((case.text)(*it).trim()))
        }
        Rows::Pitched { .. } => false,
    };
    let elements = if more { "more element" } else { "element" };
    match (rows.before(), extra) {
        ([], 1) => format!("one {elements}"),
        (before, _) if before.iter().all(|(_, other)| *other == extra) => plural(extra, elements),
        (before, _) => {
            let all: Vec<String> = before.iter().map(|(_, extra)| extra.to_string()).collect();
            format!("{} and {}", all.join(", "), plural(extra, elements))
        }
    }
}

/// Which accesses gain by it, and what they take then.
fn gain_words(before: &Sites, after: &Sites) -> (String, String) {
    let (who, verb) = match after.count() {
        1 => ("this access".to_owned(), "takes"),
        2 => ("both accesses".to_owned(), "take"),
        many => (format!("all {many} accesses"), "take"),
    };
    let ideal = after.wavefronts() == after.ideal();
    let gain = match after.same_worst() {
        Some(worst) if ideal => format!("{verb} {}", plural(worst.into(), "wavefront")),
        _ if ideal => format!("{verb} the fewest wavefronts possible"),
        _ => format!(
            "{verb} {} in total instead of {}; the minimum is {}",
            plural(after.wavefronts(), "wavefront"),
            before.wavefronts(),
            after.ideal()
        ),
    };
    (who, gain)
}

/// `a, b and c`.
fn and(parts: &[String]) -> String {
    match parts.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The declaration with edits of its innermost dimension.
fn declared(case: &Case<'_>, array: &Array, edits: &[Edit]) -> String {
    let ty = written_type(&(case.text)(Span { end: array.name_span.start, ..array.span }));
    let dimensions = array.dimension_spans.iter().enumerate().map(|(at, span)| {
        let text = (case.text)(*span);
        if at + 1 < array.dimension_spans.len() {
            return format!("[{}]", text.trim());
        }
        let (mut changed, mut copied) = (String::new(), 0);
        for edit in edits {
            let from = edit.span.start.saturating_sub(span.start) as usize;
            changed += text.get(copied..from).unwrap_or("");
            changed += &edit.text;
            copied = edit.span.end.saturating_sub(span.start) as usize;
        }
        changed += text.get(copied..).unwrap_or("");
        format!("[{}]", changed.trim())
    });
    format!("{ty}{}{}", array.name, dimensions.collect::<String>())
}

/// The numbers of elements by which rows are made longer.
fn lengths(element: u64, tiles: bool) -> Vec<u64> {
    if !tiles {
        return (1..=MOST).collect();
    }
    let fits = |extra: &u64| (extra * element).is_multiple_of(LINE_STEP);
    (1..PERIOD.div_ceil(element.max(1))).filter(fits).collect()
}

/// The padding with the fewest wavefronts, and of those the smallest, that was run and found better; `all` stays
/// set if each length was judged.
fn best(case: &Case<'_>, array: &Array, before: &Sites, rows: &Rows, all: &mut bool) -> Option<(u64, Sites)> {
    let name = array.name_span;
    // Rows that are no multiple of the widest access cannot all be accessed so.
    let widest = before.list.iter().map(|site| u64::from(site.width)).max().unwrap_or(1).max(1);
    let element = array.element_bytes.unwrap_or(1);
    let splits = |extra: u64| {
        matches!(rows, Rows::Pitched { .. }) && !extra.saturating_mul(element).is_multiple_of(widest)
    };
    let forecast = |run: usize, extra| rows.forecast(case, name, run, extra);
    // Forecasts are of use when they know what is known.
    let trusted = matches!(effect(case, name, before, None, |run| forecast(run, 0)),
        Effect::Known(sites) if sites.list == before.list);
    let guess = |extra| match trusted {
        _ if splits(extra) => Effect::Worse,
        true => effect(case, name, before, None, |run| forecast(run, extra)),
        false => Effect::Unknown,
    };
    let lengths = lengths(element, before.tiles).into_iter();
    let mut tried: Vec<(u64, Effect)> = lengths.map(|extra| (extra, guess(extra))).collect();
    let mut proved = vec![false; tried.len()];
    loop {
        *all &= !tried.iter().any(|(_, effect)| matches!(effect, Effect::Apart));
        let rank = |effect: &Effect| match effect {
            Effect::Known(sites) => (!sites.are_fine(), sites.wavefronts()),
            // It may be the best.
            Effect::Unknown => (false, 0),
            Effect::Worse | Effect::Apart => (true, u64::MAX),
        };
        let at = (0..tried.len()).min_by_key(|&at| rank(&tried[at].1))?;
        let (extra, known) = &mut tried[at];
        if matches!(known, Effect::Worse | Effect::Apart)
            || matches!(known, Effect::Known(sites) if sites.wavefronts() >= before.wavefronts())
        {
            return None;
        }
        if proved[at] {
            let Effect::Known(sites) = std::mem::replace(known, Effect::Worse) else { return None };
            return Some((*extra, sites));
        }
        let grown = rows.grown(*extra, element);
        *known = match effect(case, name, before, grown, |run| rows.run(case, name, run, *extra)) {
            Effect::Unknown => Effect::Apart,
            other => other,
        };
        proved[at] = true;
        // None can be better, and the smaller ones were tried.
        let ideal = matches!(known, Effect::Known(sites) if sites.wavefronts() == sites.ideal());
        if ideal && matches!(rows, Rows::Pitched { .. }) {
            let Effect::Known(sites) = std::mem::replace(known, Effect::Worse) else { return None };
            return Some((*extra, sites));
        }
    }
}

/// What a padding does to the accesses of the array.
enum Effect {
    Known(Sites),
    /// Not possible, or worse for some access.
    Worse,
    /// Not to be compared: accesses are no longer joined, or others, there is no room for them, or one run takes
    /// more wavefronts and all together take fewer.
    Apart,
    Unknown,
}

/// What a padding does, by what `padded` says of each run, if launches give the block `grown` bytes more.
fn effect(
    case: &Case<'_>,
    name: Span,
    before: &Sites,
    grown: Option<u64>,
    padded: impl Fn(usize) -> Option<KernelRun>,
) -> Effect {
    let mut all = Sites { list: Vec::new(), tiles: false };
    let mut costs_a_run = false;
    for (number, run) in case.runs.iter().enumerate() {
        // A run without the array is as before.
        if find(&run.trace, name).is_none() {
            continue;
        }
        let Some(again) = padded(number) else { return Effect::Unknown };
        if !has_room(case, &again, grown) {
            return Effect::Apart;
        }
        if !is_aligned(&again, name) {
            // What is not aligned as it is says nothing of other lengths.
            return if is_aligned(run, name) { Effect::Worse } else { Effect::Apart };
        }
        let known = all.list.len();
        if all.add(number, &again, name).is_none() {
            return Effect::Unknown;
        }
        if all.list.len() > before.list.len() {
            return Effect::Apart;
        }
        let pairs = || all.list[known..].iter().zip(&before.list[known..]);
        // Accesses that are no longer joined to their neighbours are more instructions.
        if pairs().any(|(new, old)| new.place != old.place || new.width < old.width) {
            return Effect::Apart;
        }
        let (then, now) = pairs().fold((0u64, 0u64), |(then, now), (new, old)| {
            (then.saturating_add(new.wavefronts), now.saturating_add(old.wavefronts))
        });
        let worse = |(new, old): (&Site, &Site)| new.wavefronts > old.wavefronts;
        if !before.tiles && pairs().any(worse) {
            return Effect::Worse;
        }
        costs_a_run |= then > now;
    }
    match all.list.len() == before.list.len() {
        true if !costs_a_run => Effect::Known(all),
        true if all.wavefronts() >= before.wavefronts() => Effect::Worse,
        _ => Effect::Apart,
    }
}

/// The type in front of a declared name, with a space behind it; empty when more stands there.
pub(super) fn written_type(before: &str) -> String {
    if before.contains(|c: char| !(c.is_alphanumeric() || c.is_whitespace() || "_:<>".contains(c))) {
        return String::new();
    }
    let storage = ["__shared__", "static", "extern"];
    let words = before.split_whitespace().filter(|word| !storage.contains(word));
    words.flat_map(|word| [word, " "]).collect()
}

fn find(trace: &Trace, name: Span) -> Option<&Array> {
    trace.arrays.iter().find(|array| array.name_span == name)
}

/// Whether vector accesses and tiles stay aligned.
fn is_aligned(run: &KernelRun, name: Span) -> bool {
    let of_array = |a: &&Access| run.trace.arrays[a.array].name_span == name;
    run.trace.accesses.iter().filter(of_array).all(|access| {
        let bytes = access.bytes.unwrap_or(1);
        // A type that is less aligned than its size is split by the compiler.
        let natural = bytes.is_power_of_two() && (access.align == 0 || access.align >= bytes);
        let multiple = |offset: i64| offset % i64::from(bytes) == 0;
        let active = |p: &Pattern| (0..32).filter(|lane| p.active >> lane & 1 == 1).collect::<Vec<usize>>();
        (!natural
            || access.patterns.iter().all(|p| {
                p.unit % u64::from(bytes) == 0
                    && active(p).into_iter().all(|lane| {
                        multiple(p.offsets[lane])
                            && p.varying.iter().all(|(_, factors)| multiple(factors[lane]))
                    })
            }))
            && (!access.fragment || access.tiles_fit)
    })
}

/// Whether the block stays inside static shared memory; and where launches give it `grown` bytes more, inside
/// what they may ask for.
fn has_room(case: &Case<'_>, run: &KernelRun, grown: Option<u64>) -> bool {
    let declared: u64 = run.trace.arrays.iter().filter(|a| !a.dynamic).map(|a| a.bytes().unwrap_or(0)).sum();
    let most = |of: fn(&Target) -> u32| case.targets.iter().map(|target| u64::from(of(target))).min();
    let Some(grown) = grown else { return Some(declared) <= most(Target::static_shared_limit) };
    let given = run.dynamic_bytes.map(|(bytes, _)| bytes.saturating_add(grown).saturating_add(declared));
    given.is_some_and(|bytes| Some(bytes) <= most(Target::dynamic_shared_limit))
}
