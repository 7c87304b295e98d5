//! What does an array's declaration say itself, and what in the kernel rests on it?

use super::super::{Case, Element};
use crate::events::Array;
use crate::source::Span;

/// Whether the array's name and dimensions stand in its declaration as they are: no macro and no alias of its type
/// says them.
pub(super) fn is_written_out(case: &Case<'_>, array: &Array) -> bool {
    let Some(last) = array.dimension_spans.last() else { return array.dimensions.is_empty() };
    let name = array.name_span;
    if last.file != name.file || last.end < name.end || (case.text)(name) != array.name {
        return false;
    }
    let plain = |text: &str| text.split_whitespace().collect::<String>();
    let dimensions: String =
        array.dimension_spans.iter().map(|span| format!("[{}]", (case.text)(*span))).collect();
    let whole = Span { start: name.end, end: last.end.saturating_add(1), ..name };
    plain(&(case.text)(whole)) == plain(&dimensions)
}

/// The array with its rows so many elements longer, where its declaration does not say its dimensions.
pub(super) fn by_its_numbers(array: &Array, extra: u64) -> String {
    let last = array.dimensions.len().saturating_sub(1);
    let lengths = array.dimensions.iter().enumerate().map(|(at, length)| match length {
        Some(length) if at == last => format!("[{}]", length.saturating_add(extra)),
        Some(length) => format!("[{length}]"),
        None => "[]".to_owned(),
    });
    format!("`{}{}` where a macro or a type gives its dimensions", array.name, lengths.collect::<String>())
}

/// What else has to change with the array's dimensions, in words: who asks for its size or type.
pub(super) fn asked(case: &Case<'_>, array: &Array) -> String {
    asked_but(case, array, array.name_span, &[])
}

/// The same of the array whose name is declared at `name`, but for some places.
pub(super) fn asked_but(case: &Case<'_>, array: &Array, name: Span, known: &[Span]) -> String {
    let place = (case.shape_asked)(name, known);
    place.map_or_else(String::new, |place| {
        let of = &array.name;
        format!(", and adjust {}, which depends on the size or type of `{of}`", (case.place)(place))
    })
}

/// Whether an element was accessed in some run.
pub(super) fn was_run(case: &Case<'_>, array: &Array, element: &Element) -> bool {
    let mut accesses = case.runs.iter().flat_map(|run| run.trace.accesses.iter().map(move |it| (run, it)));
    accesses.any(|(run, access)| {
        run.trace.arrays[access.array].name_span == array.name_span
            && access.span.file == element.span.file
            && access.span.start <= element.span.start
            && element.span.end <= access.span.end
    })
}

/// That an element was not run, which may rest on where rows begin: in words, if there is one.
pub(super) fn not_run(case: &Case<'_>, array: &Array) -> Option<String> {
    let elements = case.padder.elements(array.name_span).ok()?;
    let element = elements.list.iter().find(|element| !was_run(case, array, element))?;
    Some(not_run_words(case, &array.name, element.name))
}

/// That the array is named at a place that was not run.
pub(super) fn not_run_words(case: &Case<'_>, array: &str, place: Span) -> String {
    format!("`{array}` is named at {}, which the analysis did not run", (case.place)(place))
}
