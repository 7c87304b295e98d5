//! Which rows of an array are made longer, and how is that written?
//!
//! For each kind of rows that the text has, [`longer`] finds the length that was checked. A padding is
//! offered only with it. Where the rows are walked by a distance that is written out, it changes too, if it is proved
//! that every access then finds its element.

mod pitched;
pub(super) mod text;
mod typed;
mod variants;

use super::super::{Case, KernelRun, Length, Pitched, Typed, plural};
use super::cost::rounds;
use super::declared::{asked, by_its_numbers, is_written_out, not_run};
use crate::diagnostic::{Basis, Edit, Fix};
use crate::events::{Access, AccessOp, Array};
use crate::remedy::longer::{self, Cost, Lengthened, Sites, find};
use crate::remedy::{Run, move_with_rows};
use crate::source::Span;

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
    /// Whether some accesses cost more than before.
    pub costs: bool,
    /// What the accesses then cost, in wavefronts and instructions that are no longer joined.
    pub price: u64,
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
    /// What types say of them.
    Typed {
        typed: Typed,
        /// Other rows, of other members, which so many elements were added to before.
        before: Vec<(Typed, u64)>,
    },
}

impl Rows {
    fn run(&self, case: &Case<'_>, name: Span, run: usize, extra: u64) -> Option<KernelRun> {
        match self {
            Rows::Declared => case.padder.run(run, name, extra),
            Rows::Pitched { pitched, .. } => case.padder.run_pitched(run, pitched, extra),
            Rows::Typed { typed, before } => case.padder.run_typed(run, &typed::all(typed, before, extra)),
        }
    }

    fn forecast(&self, case: &Case<'_>, name: Span, run: usize, extra: u64) -> Option<KernelRun> {
        match self {
            Rows::Declared => case.padder.forecast(run, name, extra),
            Rows::Pitched { .. } | Rows::Typed { .. } => None,
        }
    }

    /// Other rows of the array, which so many elements were added to before.
    fn before(&self) -> Vec<u64> {
        match self {
            Rows::Declared => Vec::new(),
            Rows::Typed { before, .. } => before.iter().map(|(_, extra)| *extra).collect(),
            Rows::Pitched { before, .. } => before.iter().map(|(_, extra)| *extra).collect(),
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
}

/// An array whose rows are made longer.
struct Search<'a> {
    case: &'a Case<'a>,
    runs: &'a [Run<'a>],
    array: &'a Array,
    before: &'a Sites,
}

/// Looks for the smallest padding of the array declared at `name` that helps. `runs` are those of the case.
pub(super) fn search<'a>(case: &'a Case<'a>, runs: &'a [Run<'a>], name: Span) -> Longer {
    let array = runs.iter().find_map(|run| find(run.trace, name));
    let Some((array, before)) = array.zip(Sites::of(runs, name)) else { return Longer::Unknown };
    let free = runs.iter().filter_map(|run| find(run.trace, name)).all(Array::has_free_rows);
    Search { case, runs, array, before: &before }.in_all_rows(free)
}

/// Looks for elements that lie further apart, as their class is longer.
pub(super) fn of_elements<'a>(case: &'a Case<'a>, runs: &'a [Run<'a>], name: Span) -> Option<Padding> {
    let array = runs.iter().find_map(|run| find(run.trace, name))?;
    let before = Sites::of(runs, name)?;
    Search { case, runs, array, before: &before }.in_types(true, None)
}

/// Looks for longer rows where every access moves with its row, but is not proved to stay inside it. Like other layouts,
/// they are correct only if it does.
pub(super) fn of_rows_in_doubt<'a>(case: &'a Case<'a>, runs: &'a [Run<'a>], name: Span) -> Option<Padding> {
    let array = runs.iter().find_map(|run| find(run.trace, name))?;
    let has_rows = !array.dynamic && array.flattened && array.dimensions.len() > 1;
    let before = Sites::of(runs, name).filter(|_| has_rows)?;
    let found = Search { case, runs, array, before: &before }.with(Rows::Declared, &mut true)?;
    let why = format!("not every subscript of `{}` is known to stay in its row or plane", array.name);
    Some(Padding { basis: Basis::Judgement(why), ..found })
}

impl Search<'_> {
    fn in_all_rows(&self, free: bool) -> Longer {
        let mut best = None;
        let mut none = false;
        if free {
            best = self.with(Rows::Declared, &mut false);
            // Lengths that some way to run the kernel gives another verdict are weighed in each of them.
            if best.as_ref().is_none_or(|padding: &Padding| !padding.complete) {
                best = self.in_each_variant(best.as_ref()).or(best);
            }
        }
        if best.as_ref().is_none_or(|padding: &Padding| !padding.complete || padding.edits.is_empty()) {
            best = self.in_types(false, best.as_ref()).or(best);
        }
        // Rows that are declared may be further apart than those that are walked.
        if best.as_ref().is_none_or(|padding: &Padding| !padding.complete) {
            self.case.padder.pitches(self.array.name_span, None, &mut |pitched| {
                // Rows that are walked as they are declared.
                let declared = matches!(pitched.length, Length::Row(_));
                let mut all = true;
                let found = self.with(Rows::Pitched { pitched, before: Vec::new() }, &mut all);
                none |= found.is_none() && declared && all && self.before.tiles;
                let complete = found.as_ref().is_some_and(|padding| padding.complete);
                if complete || best.is_none() {
                    best = found;
                }
                complete
            });
        }
        while let Some(more) = best.as_ref().and_then(|padding| self.with_other_rows(padding)) {
            best = Some(more);
        }
        match best {
            Some(padding) => Longer::Help(Box::new(padding)),
            None if none => Longer::None(self.before.wavefronts()),
            None => Longer::Unknown,
        }
    }

    /// A padding and other rows of the array longer, too, where the launches are left to whoever reads the help.
    fn with_other_rows(&self, padding: &Padding) -> Option<Padding> {
        let Rows::Pitched { pitched: first, before: others } = &padding.rows else { return None };
        if padding.complete || !matches!(first.length, Length::Given(_)) {
            return None;
        }
        let mut best: Option<Padding> = None;
        self.case.padder.pitches(self.array.name_span, Some((first, padding.extra)), &mut |pitched| {
            let others = others.iter().cloned().chain([(first.clone(), padding.extra)]);
            let found = self.with(Rows::Pitched { pitched, before: others.collect() }, &mut true);
            let better = |found: &Padding| found.left < best.as_ref().map_or(padding.left, |best| best.left);
            if let Some(found) = found.filter(better) {
                best = Some(found);
            }
            best.as_ref().is_some_and(|best| best.complete)
        });
        best
    }

    /// The best padding of these rows; `all` stays set if each length was judged.
    fn with(&self, rows: Rows, all: &mut bool) -> Option<Padding> {
        let Search { case, runs, array, before } = *self;
        let (name, element) = (array.name_span, array.element_bytes.unwrap_or(1));
        let lengthened = |run: Option<KernelRun>| run.map(Lengthened::from);
        let longer = longer::Rows {
            runs,
            targets: case.targets,
            array,
            again: &|run, extra| {
                let again = rows.run(case, name, run, extra)?;
                let is_proved = match &rows {
                    Rows::Typed { typed, .. } => self.keeps_elements(typed, run, &again),
                    // A call names the distance of its lines itself, whatever the declaration says.
                    Rows::Declared if before.tiles => {
                        let whole = case.padder.run_whole(run, name, extra);
                        whole.is_some_and(|after| move_with_rows(&runs[run], &after, name, extra))
                    }
                    _ => true,
                };
                lengthened(is_proved.then_some(again))
            },
            forecast: &|run, extra| lengthened(rows.forecast(case, name, run, extra)),
            in_indices: matches!(rows, Rows::Pitched { .. }),
            told: None,
            grown: &|extra| rows.grown(extra, element),
        };
        let (extra, after) = longer::best(&longer, before, all)?;
        // Instances of a template differ in their rows: only a padding that serves all is offered. With tiles,
        // none takes more than before.
        let instances = case.runs.iter().any(|run| run.kernel != case.runs[0].kernel);
        if instances && !after.are_fine() && !before.tiles {
            *all = false;
            return None;
        }
        self.describe(extra, &after, rows, None)
    }

    /// `open`: in which ways to run the kernel a conflict is left, which is not told of in `after`.
    fn describe(&self, extra: u64, after: &Sites, rows: Rows, open: Option<&str>) -> Option<Padding> {
        let Search { case, array, before, .. } = *self;
        let by = extra_words(case, array, extra, &rows);
        let complete = after.are_fine() && open.is_none();
        let (who, gain) = gain_words(before, after, &rounds(case, array));
        let elements = |extra: u64| {
            let rows: u64 = array.dimensions.iter().rev().skip(1).map(|d| d.unwrap_or(1)).product();
            rows.saturating_mul(extra).saturating_mul(array.element_bytes.unwrap_or(0))
        };
        let mut condition = String::new();
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
            Rows::Typed { typed, before } => {
                let all = typed::all(typed, before, extra);
                let written = self.written(&all)?;
                condition = written.condition;
                (written.edits, written.basis, written.words, written.bytes)
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
        let lead = match &rows {
            Rows::Typed { typed, .. } => typed::lead(typed, extra, &by),
            _ => format!("pad the rows by {by}"),
        };
        let title = format!("pad the rows of `{}` by {by}", array.name);
        let memory = if bytes == 0 { String::new() } else { format!(" (+{bytes} bytes)") };
        let (mut edits, mut asked_too) = (edits, String::new());
        if let Rows::Declared = rows {
            asked_too = asked(case, array);
            if !asked_too.is_empty() {
                edits.clear();
            }
        }
        let open = open.map(|open| format!("; {open} some conflicts remain")).unwrap_or_default();
        let help = format!(
            "{lead}: {changes}{asked_too}; {who} of `{}` then {gain}{open}{memory}{condition}",
            array.name
        );
        let cost = after.cost(before).filter(|cost| *cost == Cost::Split || !before.tiles);
        let basis = cost.map_or(basis.clone(), |cost| with_cost(basis, cost));
        let price = after.wavefronts().saturating_add(after.split_off(before));
        let helped = after.helped(before);
        let left = after.wavefronts();
        let saved = before.wavefronts().saturating_sub(left);
        let costs = cost.is_some();
        Some(Padding { extra, rows, edits, basis, title, help, complete, costs, price, left, saved, helped })
    }
}

impl From<KernelRun> for Lengthened {
    fn from(run: KernelRun) -> Lengthened {
        let KernelRun { trace, judgements, dynamic_bytes, .. } = run;
        Lengthened { trace, judgements, dynamic_bytes: dynamic_bytes.map(|(bytes, _)| bytes) }
    }
}

/// On what a padding rests that costs some accesses more.
fn with_cost(basis: Basis, cost: Cost) -> Basis {
    let why = match cost {
        Cost::Split => "the compiler may no longer combine accesses that it combines now",
        Cost::More => "some accesses then take more wavefronts than now",
    };
    let why = why.to_owned();
    match basis {
        Basis::Accesses { name, scope, seen, doubt } => {
            Basis::Accesses { name, scope, seen, doubt: Some(doubt.unwrap_or(why)) }
        }
        Basis::Subscripts => Basis::Judgement(why),
        known @ Basis::Judgement(_) => known,
    }
}

/// By how much the rows grow: `one element`, `2 and 3 elements`.
fn extra_words(case: &Case<'_>, array: &Array, extra: u64, rows: &Rows) -> String {
    let more = match rows {
        Rows::Declared => {
            array.dimension_spans.last().is_some_and(|it| text::is_longer((case.text)(*it).trim()))
        }
        Rows::Pitched { .. } | Rows::Typed { .. } => false,
    };
    let elements = if more { "more element" } else { "element" };
    let before = rows.before();
    match extra {
        1 if before.iter().all(|other| *other == 1) => format!("one {elements}"),
        _ if before.iter().all(|other| *other == extra) => plural(extra, elements),
        _ => {
            let all: Vec<String> = before.iter().map(u64::to_string).collect();
            format!("{} and {extra} {elements}s", all.join(", "))
        }
    }
}

/// Which accesses gain by it, and what they take then.
fn gain_words(before: &Sites, after: &Sites, rounds: &str) -> (String, String) {
    let (who, verb) = match after.count() {
        1 => ("this access".to_owned(), "takes"),
        2 => ("both accesses".to_owned(), "take"),
        many => (format!("all {many} accesses"), "take"),
    };
    let is_split = after.cost(before) == Some(Cost::Split);
    let ideal = after.wavefronts() == after.ideal();
    let gain = match after.same_worst() {
        _ if ideal && is_split => format!(
            "{verb} {} in total instead of {}{rounds}",
            plural(after.wavefronts(), "wavefront"),
            before.wavefronts()
        ),
        Some(worst) if ideal => format!("{verb} {}", plural(worst.into(), "wavefront")),
        _ if ideal => format!("{verb} the fewest wavefronts possible"),
        _ => format!(
            "{verb} {} in total instead of {}{rounds}; the minimum is {}",
            plural(after.wavefronts(), "wavefront"),
            before.wavefronts(),
            after.ideal()
        ),
    };
    (who, gain)
}

/// `with elements of 1 or 2 bytes`
fn words_of_sizes(sizes: &[u64]) -> String {
    let words: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let words = match words.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} or {last}", first.join(", ")),
        _ => words.concat(),
    };
    format!("with elements of {words} {}", if sizes == [1] { "byte" } else { "bytes" })
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

/// The type in front of a declared name, with a space behind it; empty when more stands there.
pub(super) fn written_type(before: &str) -> String {
    if before.contains(|c: char| !(c.is_alphanumeric() || c.is_whitespace() || "_:<>".contains(c))) {
        return String::new();
    }
    let storage = ["__shared__", "static", "extern"];
    let words = before.split_whitespace().filter(|word| !storage.contains(word));
    words.flat_map(|word| [word, " "]).collect()
}
