//! Why is no layout judged, or this one not?

use super::super::{Case, KernelRun, is_assumed, listed, plural};
use super::{Conflict, words};
use crate::events::{Access, Array, Assumption};
use crate::remedy::{Undecided, Why};
use crate::source::Span;

/// The most bytes of a vector, such as `double4`.
const MOST_OF_VECTORS: u64 = 32;
/// The most accesses that are named.
const MOST_PLACES: usize = 3;

/// Why a layout is not judged.
pub(super) fn why_words(case: &Case<'_>, why: &Why) -> String {
    match why {
        Why::TooLarge(bytes) => format!("too large: {bytes} bytes"),
        Why::Split(span) => format!("misaligned at {}", (case.place)(*span)),
        Why::Shifted => "not judged: depends on a run-time offset".to_owned(),
        Why::Often => "not judged: it is not known how often each request happens".to_owned(),
        Why::NoCost => "not judged: the cost of a request is unknown".to_owned(),
        Why::NoBetter => "no better".to_owned(),
        Why::Instance => "does not fit the array in some instance of the kernel".to_owned(),
        Why::WorseByData => "costs more for some data".to_owned(),
        Why::WorseThere => "costs more in some run of the kernel".to_owned(),
        Why::WorseUncounted(span) => {
            format!("may make the access at {} slower", (case.place)(*span))
        }
        Why::Steps => "not judged: the search budget ran out".to_owned(),
    }
}

/// Why no layout is judged.
pub(super) fn undecided_words(case: &Case<'_>, why: &Undecided) -> String {
    let at = |span: &Span| (case.place)(*span);
    match why {
        Undecided::Unknown(span) => format!("the cost of the access at {} is unknown", at(span)),
        Undecided::Outside(span) => format!("the access at {} leaves the array", at(span)),
        Undecided::Fragment(span) => {
            format!("the leading dimension of the `wmma` call at {} is unknown", at(span))
        }
        Undecided::Often(span) => {
            format!("it is not known how often each request of the access at {} happens", at(span))
        }
        // What has no name in the text is described.
        Undecided::Varying(_, name) if name.starts_with("the ") => {
            format!("the distance between lanes depends on {name}")
        }
        Undecided::Varying(_, name) => format!("the distance between lanes depends on `{name}`"),
        Undecided::Length { dynamic: true } => "the array is sized at launch".to_owned(),
        Undecided::Length { dynamic: false } => "the length of the array is not known".to_owned(),
        Undecided::Overlaid(other) => format!("`{other}` lies in the same dynamic shared memory"),
        Undecided::Instances => "its elements differ between instances of the kernel".to_owned(),
        Undecided::SeveralWays => several_ways(case),
        Undecided::OwnRows(span) if !is_by_name(case, *span) => format!(
            "the access at {} goes by a pointer or reference that has the length of the rows in its type",
            at(span)
        ),
        Undecided::Rows(span) | Undecided::OwnRows(span) => {
            format!("the access at {} is not known to stay in the row that its index names", at(span))
        }
        Undecided::Shifted => "the cost of a request depends on a run-time offset".to_owned(),
        Undecided::Recast(span) => {
            format!("the access at {} does not index the array directly", at(span))
        }
        Undecided::AlsoUsed(kernel) => format!("the kernel at {} may also use the array", at(kernel)),
        Undecided::TooMany => "there are too many different requests".to_owned(),
    }
}

/// Whether an access names its array, and no pointer to it.
fn is_by_name(case: &Case<'_>, span: Span) -> bool {
    let mut accesses = case.runs.iter().flat_map(|run| run.trace.accesses.iter().map(move |it| (run, it)));
    let access = accesses.find(|(_, access)| access.span == span);
    let text = (case.text)(span);
    access.is_some_and(|(run, access)| {
        let rest = text.strip_prefix(run.trace.arrays[access.array].name.as_str());
        rest.is_some_and(|rest| rest.trim_start().starts_with('['))
    })
}

/// Of what several ways to run the kernel were tried.
fn several_ways(case: &Case<'_>) -> String {
    let judgements = case.runs.iter().flat_map(|run| run.judgements.iter().flatten());
    let mut open: Vec<String> = Vec::new();
    for assumed in judgements.flat_map(|judgement| &judgement.assumptions) {
        if let Assumption::ElementSize { name, .. } = assumed {
            let name = format!("the size of `{name}`");
            open.extend((!open.contains(&name)).then_some(name));
        }
    }
    for (name, modulus) in case.runs.iter().flat_map(|run| &run.trace.demands) {
        let name = format!("`{name}` modulo {modulus}");
        open.extend((!open.contains(&name)).then_some(name));
    }
    let assumed = |run: &KernelRun| is_assumed(run.block_from);
    if open.is_empty() && !case.runs.iter().any(assumed) {
        let types = case.runs.iter().flat_map(|run| &run.trace.unsized_types);
        let mut types: Vec<String> = types.map(|name| format!("the size of `{name}`")).collect();
        types.dedup();
        open = types;
    }
    match open.as_slice() {
        [] if case.runs.iter().any(assumed) => "the block shape is not known".to_owned(),
        [] => "the kernel runs in several ways, which were judged together".to_owned(),
        [one] => format!("{one} is not known"),
        many => format!("{} are not known", listed(many)),
    }
}

/// An access of the array that no index of its own names: through a pointer to a struct that is laid over it, or
/// to elements where it is declared as bytes.
pub(super) fn recast(case: &Case<'_>, array: &Array) -> Option<Span> {
    if array.dimensions.len() > 1 {
        return None;
    }
    let of_array =
        |run: &KernelRun, access: &Access| run.trace.arrays[access.array].name_span == array.name_span;
    let own = case.runs.iter().flat_map(|run| run.trace.accesses.iter().filter(move |it| of_array(run, it)));
    let is_recast = |access: &&Access| {
        let bytes = access.bytes.map(u64::from);
        array.element_bytes == Some(1) && bytes > Some(1)
            || array.dimensions.is_empty()
            || (case.text)(access.span).contains("->")
    };
    own.filter(is_recast).map(|access| access.span).next()
}

/// That no layout is proposed for the access of a conflict, and why.
pub(super) fn no_layout(case: &Case<'_>, conflict: &Conflict<'_>, why: &Undecided) -> String {
    let why = match why {
        Undecided::Unknown(span) if *span == conflict.access.span => {
            match words::unknown_elsewhere(case, conflict) {
                Some(there) => format!("the cost of this access {there} is unknown"),
                None => "the cost of this access in another layout is unknown".to_owned(),
            }
        }
        Undecided::Recast(_) if let Some(words) = of_members(case, conflict) => return words,
        other => undecided_words(case, other),
    };
    format!("no other layout is judged: {why}")
}

/// That layouts within an object are not judged, and what says how they are: the conflict is in an array that is a member
/// of it, as `sm.tile[y][x]`, or behind its methods.
fn of_members(case: &Case<'_>, conflict: &Conflict<'_>) -> Option<String> {
    let array = &case.runs[conflict.run].trace.arrays[conflict.access.array];
    let is_object =
        array.dimensions.is_empty() && !array.of_numbers && array.element_bytes > Some(MOST_OF_VECTORS);
    let none = format!("no layout of the members of `{}` is judged", array.name);
    let text = (case.text)(conflict.access.span);
    let (member, subscripts) = text.split_once('[').unwrap_or((&text, ""));
    let member = member.trim_end();
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.');
    let is_direct = member.contains('.') && member.chars().all(is_path) && subscripts.contains("][");
    is_object.then(|| match is_direct {
        true => format!(
            "{none}: the declaration of `{member}` says how far its rows lie apart; try longer ones there"
        ),
        false => format!("{none}: its type says how far apart its elements lie"),
    })
}

/// That the cost of some accesses is in none of the figures before, in words that go on behind them.
pub(super) fn uncounted_words(case: &Case<'_>, uncounted: &[Span]) -> String {
    let mut places: Vec<String> = uncounted.iter().map(|span| (case.place)(*span)).collect();
    places.dedup();
    let more = places.len().saturating_sub(MOST_PLACES);
    places.truncate(MOST_PLACES);
    places.extend((more > 0).then(|| plural(more as u64, "other")));
    match places.as_slice() {
        [] => String::new(),
        [place] => format!(", not counting the access at {place}, whose cost in another layout is unknown"),
        _ => format!(
            ", not counting the accesses at {}, whose cost in another layout is unknown",
            listed(&places)
        ),
    }
}
