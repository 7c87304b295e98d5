//! How is a finding made of a fact?

pub(super) mod atomics;

use super::{Case, KernelRun, Rule, Unjudged, access_words, listed};
use crate::diagnostic::{Basis, Diagnostic, Edit, Fix, Hazard, Level, Step};
use crate::domain::Reason;
use crate::events::{Access, AccessOp, Assumption, Call, Is, Side, Trace};
use crate::facts::{Across, Facts, PossibleRace, Race};
use crate::source::Span;
use std::sync::Arc;

/// Accesses of further races that are shown with a finding, at the most.
const MOST_OTHERS: usize = 3;
/// Barriers that one finding advises, at the most.
const MOST_BARRIERS: usize = 8;

/// Characters of a condition that are shown, at the most.
const MOST_SHOWN: usize = 60;

/// Facts about single accesses as findings: one for each site, for the first run that has it. `of`: the facts
/// of a run; `access`: which access one of them is about.
pub(super) fn of_each_site<T>(
    case: &Case<'_>,
    of: impl Fn(&Facts) -> &[T],
    access: impl Fn(&T) -> usize,
    describe: impl Fn(usize, &T) -> Diagnostic,
    out: &mut Vec<Diagnostic>,
) {
    let mut told: Vec<(Span, AccessOp, Span)> = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        for fact in of(&run.facts) {
            let access = &run.trace.accesses[access(fact)];
            let site = (access.span, access.op, run.trace.arrays[access.array].name_span);
            if !told.contains(&site) {
                told.push(site);
                out.push(describe(number, fact));
            }
        }
    }
}

/// A finding at an access of a run, with what is to be known of the run and what the fact rests on.
pub(super) fn finding(
    rule: &Rule,
    case: &Case<'_>,
    run: usize,
    access: &Access,
    assumptions: &[Assumption],
    message: String,
) -> Diagnostic {
    finding_by(rule, case, run, (access, access.path(0), &[]), assumptions, message)
}

/// The same of an access that a block comes to by certain calls, and by some more.
pub(super) fn finding_by(
    rule: &Rule,
    case: &Case<'_>,
    run: usize,
    (access, calls, others): (&Access, &[Call], &[&[Call]]),
    assumptions: &[Assumption],
    message: String,
) -> Diagnostic {
    let mut notes = vec![case.block_words(run)];
    notes.extend(case.instance_words(run));
    notes.extend(case.calls_words(run, calls, others));
    notes.extend(assumptions.iter().map(|assumed| format!("assumed: {assumed}")));
    let kernel = case.runs[run].kernel.clone();
    Diagnostic { notes, kernel, ..Diagnostic::plain(rule.id, rule.level, access.span, message) }
}

/// A finding of a run, which is a note where nobody gave the block.
pub(super) fn of_block(run: &KernelRun, finding: Diagnostic) -> Diagnostic {
    match run.unjudged == Some(Unjudged::Block) {
        true => Diagnostic { level: Level::Note, loudest: Level::Note, ..finding },
        false => finding,
    }
}

/// Whether two threads are in different rows of a block that nobody gave, which may have one row alone.
pub(super) fn are_of_supposed_rows(run: &KernelRun, (one, other): (usize, usize)) -> bool {
    let row = |thread: usize| thread / run.block[0].max(1) as usize;
    run.unjudged == Some(Unjudged::Block) && row(one) != row(other)
}

/// Two accesses of a run that nothing orders, by their numbers, and the ways by which a block comes to them.
#[derive(Clone, Copy)]
pub(super) struct Ways<'a> {
    /// The accesses.
    pub accesses: (usize, usize),
    /// The numbers of the ways.
    pub paths: (u32, u32),
    /// The sides of conditions that a block has to take.
    pub sides: &'a [Side],
    /// Whether the second is done in the next round of a loop.
    pub is_across: bool,
}

impl<'a> Ways<'a> {
    /// Those of a race.
    pub(super) fn of(race: &'a Race) -> Ways<'a> {
        Ways {
            accesses: (race.first, race.second),
            paths: race.paths,
            sides: &race.sides,
            is_across: race.across.is_some(),
        }
    }

    /// Those of a possible race.
    pub(super) fn of_possible(race: &PossibleRace) -> Ways<'static> {
        Ways {
            accesses: (race.first, race.second),
            paths: race.paths,
            sides: &[],
            is_across: race.across.is_some(),
        }
    }

    /// The calls that lead to the two.
    fn calls(self, trace: &Trace) -> (&[Call], &[Call]) {
        let calls = |number: usize, path| trace.accesses[number].path(path);
        (calls(self.accesses.0, self.paths.0), calls(self.accesses.1, self.paths.1))
    }

    /// Where they stand in the function that reaches both: what is called there stands at its call.
    pub(super) fn places(self, trace: &Trace) -> (Span, Span) {
        let (to_first, to_second) = self.calls(trace);
        let common = to_first.iter().zip(to_second).take_while(|(one, other)| one == other).count();
        let place = |calls: &[Call], access: usize| {
            calls.get(common).map_or(trace.accesses[access].span, |call| call.span)
        };
        (place(to_first, self.accesses.0), place(to_second, self.accesses.1))
    }

    /// A finding at the second.
    pub(super) fn finding(
        self,
        rule: &Rule,
        case: &Case<'_>,
        run: usize,
        assumptions: &[Assumption],
        message: String,
    ) -> Diagnostic {
        let trace = &case.runs[run].trace;
        let (to_first, to_second) = self.calls(trace);
        let functions =
            |calls: &'_ [Call]| calls.iter().map(|call| Arc::clone(&call.function)).collect::<Vec<_>>();
        let second = &trace.accesses[self.accesses.1];
        // Where they stand in different functions, their places say as much.
        let mut finding = if functions(to_first) == functions(to_second) {
            finding_by(rule, case, run, (second, to_first, &[to_second]), assumptions, message)
        } else {
            finding_by(rule, case, run, (second, to_second, &[]), assumptions, message)
        };
        let sides = sides_words(case, self.sides).map(|words| match self.is_across {
            true => format!("when the loop repeats, {words}"),
            false => words,
        });
        finding.notes.splice(0..0, sides);
        finding
    }
}

/// The conditions under which a block does what is told.
pub(super) fn sides_words(case: &Case<'_>, sides: &[Side]) -> Option<String> {
    let mut words: Vec<(bool, String)> = Vec::new();
    let text_of = |span: Span| (case.text)(span).split_whitespace().collect::<Vec<_>>().join(" ");
    for Side { span, is } in sides {
        let text = text_of(*span);
        // A macro or a function says less than its place.
        let is_short = text.len() <= MOST_SHOWN && !text.ends_with([')', ';', '\\']);
        let place = || format!("the condition at {}", (case.place)(*span));
        let side = match (is, is_short) {
            (Is::Holds(holds), true) => (*holds, format!("`{text}`")),
            (Is::Holds(holds), false) => (*holds, format!("{} holds", place())),
            (Is::Case(label), true) => (true, format!("`{text}` is `{}`", text_of(*label))),
            (Is::Case(label), false) => (true, format!("{} is `{}`", place(), text_of(*label))),
        };
        if !words.contains(&side) {
            words.push(side);
        }
    }
    let shown = &words[words.len().saturating_sub(MOST_OTHERS)..];
    let of = |wanted: bool| -> Vec<String> {
        shown.iter().filter(|(holds, _)| *holds == wanted).map(|(_, words)| words.clone()).collect()
    };
    let parts = [("if", listed(&of(true))), ("unless", of(false).join(" or "))];
    let parts = parts.iter().filter(|(_, what)| !what.is_empty());
    let parts: Vec<String> = parts.map(|(word, what)| format!("{word} {what}")).collect();
    (!parts.is_empty()).then(|| format!("this happens {}", parts.join(", ")))
}

/// Puts a barrier between two accesses that nothing orders: the advice, and the edit where there is a place for it.
/// `others`: more such pairs, each of which gets one, too, where the text has none between them then. `who`: those who
/// have to reach it, in words. `round`: a loop of which a round begins between the two. `may_stand`: whether they all may come to a place.
pub(super) fn barrier(
    case: &Case<'_>,
    (places, others): ((Span, Span), &[(Span, Span)]),
    (across, round): (Option<Across>, Option<Span>),
    (call, who): (&str, &str),
    may_stand: &dyn Fn(Span) -> bool,
) -> (String, Option<Fix>) {
    let between = |places| {
        let edit = |across| (case.between)(places, across, &format!("{call};"));
        let of_round = || edit(Some(Across { of: round?, by_all: false }));
        edit(across).or_else(of_round).filter(|edit| may_stand(edit.span))
    };
    let Some(edit) = between(places) else {
        let place = if across.is_some() { "at the end of the loop body" } else { "between the two" };
        let help = format!(
            "put `{call}` {place}, where {who} reaches it; cudalint finds no such place in the code \
                     as written"
        );
        return (help, None);
    };
    let mut edits = vec![edit];
    for pair in others {
        let parts = |edit: &Edit| {
            let (at, (first, second)) = (edit.span, *pair);
            at.file == first.file && first.end <= at.start && at.start <= second.start
        };
        let known = edits.iter().any(parts) || edits.len() >= MOST_BARRIERS;
        let more = if known { None } else { between(*pair) };
        edits.extend(more.filter(|more| edits.iter().all(|edit| edit.span != more.span)));
    }
    edits.sort_by_key(|edit| edit.span);
    let title = format!("put `{call}` {}", place_words(case, &edits));
    let doubt = format!("only you know whether {who} reaches it");
    let help = format!("{title}; {who} must reach it");
    (help, Some(Fix { title, edits, basis: Basis::Judgement(doubt), leaves: false }))
}

/// Where barriers come to stand: before statements, or before the braces that close the bodies of loops.
fn place_words(case: &Case<'_>, edits: &[Edit]) -> String {
    let closes = |edit: &&Edit| {
        let at = edit.span.start;
        (case.text)(Span { end: at + 1, ..edit.span }) == "}"
    };
    let (loops, statements): (Vec<&Edit>, Vec<&Edit>) = edits.iter().partition(closes);
    let places: Vec<String> = statements.iter().map(|edit| (case.place)(edit.span)).collect();
    let before = match places.as_slice() {
        [] => None,
        [place] => Some(format!("before the statement at {place}")),
        places => Some(format!("before the statements at {}", listed(places))),
    };
    let at_end = match loops.as_slice() {
        [] => None,
        [_] => Some("at the end of the loop body".to_owned()),
        _ => Some("at the end of the loop bodies".to_owned()),
    };
    before.into_iter().chain(at_end).collect::<Vec<_>>().join(" and ")
}

/// The two threads of a race.
pub(super) fn hazard(trace: &Trace, race: &Race) -> Option<Box<Hazard>> {
    let step = |number: usize, thread: usize| {
        let access = &trace.accesses[number];
        Step { thread, span: access.span, does: does(access) }
    };
    let (after, before) = race.bounds;
    Some(Box::new(Hazard {
        array: trace.arrays[trace.accesses[race.first].array].name.clone(),
        declared: trace.arrays[trace.accesses[race.first].array].name_span,
        places: Ways::of(race).places(trace),
        first: step(race.first, race.threads.0),
        second: step(race.second, race.threads.1),
        across: race.across.map(|it| it.of),
        after,
        before,
    }))
}

/// Labels on accesses of further races; `shown`: the accesses that the finding shows already, with `places`.
pub(super) fn also_unordered(
    trace: &Trace,
    shown: &[usize],
    places: &[Span],
    others: &[&Race],
) -> Vec<(Span, String)> {
    let span = |number: usize| trace.accesses[number].span;
    let mut seen: Vec<Span> =
        shown.iter().map(|number| span(*number)).chain(places.iter().copied()).collect();
    let mut labels = Vec::new();
    for other in others.iter().flat_map(|it| [it.first, it.second]).map(span) {
        if !seen.contains(&other) && labels.len() < MOST_OTHERS {
            labels.push((other, "this is not ordered either".to_owned()));
            seen.push(other);
        }
    }
    labels
}

/// Words to add where the second thread overwrites what the first one writes. Two writes are only reported where
/// their values differ.
pub(super) fn another_value(first: &Access, second: &Access) -> &'static str {
    let writes =
        |access: &Access| matches!(access.op, AccessOp::Store | AccessOp::MatrixStore | AccessOp::AsyncCopy);
    if writes(first) && writes(second) { " with a different value" } else { "" }
}

/// What the second thread does to what the first one did. `other`: from [`another_value`].
pub(super) fn does_to(second: &Access, other: &str) -> String {
    if other.is_empty() { does(second) } else { "overwrites".to_owned() }
}

/// What one thread does: `reads`, `writes` or `updates`.
pub(super) fn does(access: &Access) -> String {
    format!("{}s", access_words(access.op).1)
}

/// Words on an access of which data choose the threads.
pub(super) fn data_choose(access: &Access) -> String {
    // Where bounds have a say, too, they would be named.
    let why = access.doubt.as_ref().filter(|why| why.reason == Reason::DataDependent);
    let why = why.map_or(String::new(), |why| format!(": {}", why.detail));
    format!("data decide which threads {} it{why}", access_words(access.op).1.trim_end_matches('s'))
}
