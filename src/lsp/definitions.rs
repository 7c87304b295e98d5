//! From where is a kernel launched, and which kernel does a launch mean?
//!
//! | asked at | told |
//! |---|---|
//! | the name of a kernel, where it is defined | the launches that give it its blocks |
//! | the comment above it that gives its block | the same |
//! | the name of the kernel in a launch, or of a variable that holds it | the kernel; several where it may mean several |

use super::Checked;
use super::places::Places;
use crate::analysis::MetKernel;
use crate::source::Span;
use ls_types::{Location, Position, Range};
use std::path::Path;

/// The places that belong to a position of a file, in order, each once.
pub(super) fn definitions(
    checked: &Checked,
    places: &Places<'_>,
    path: &Path,
    position: Position,
) -> Vec<Location> {
    let touches = |span: Span| {
        let at = || places.span(span.file, Range::new(position, position)).start;
        places.path(span.file).is_some_and(|other| other == path) && (span.start..=span.end).contains(&at())
    };
    let mut found: Vec<Location> = Vec::new();
    for kernel in &checked.kernels {
        if touches(kernel.name) || kernel.directive.is_some_and(touches) {
            found.extend(kernel.launches.iter().filter_map(|launch| places.location(*launch)));
        }
        let mut launches = kernel.launches.iter().copied().filter(|launch| touches(*launch));
        if launches.any(|launch| is_name(kernel, launch, places, position)) {
            found.extend(places.location(kernel.name));
        }
    }
    let start = |it: &Location| (it.uri.as_str().to_owned(), it.range.start.line, it.range.start.character);
    found.sort_by_key(start);
    found.dedup();
    found
}

/// Whether the word at a position of a launch is the name of its kernel, or stands for it.
fn is_name(kernel: &MetKernel, launch: Span, places: &Places<'_>, position: Position) -> bool {
    let name = places.file(kernel.name.file);
    let file = places.file(launch.file);
    let at = places.span(launch.file, Range::new(position, position)).start;
    let Some((word, rest)) = word(&file.text, at as usize) else { return false };
    !word.is_empty() && (word == name.slice(kernel.name) || rest.trim_start().starts_with("<<<"))
}

/// The identifier that a byte of a text stands in or behind, and what follows it.
fn word(text: &str, at: usize) -> Option<(&str, &str)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let (before, behind) = text.split_at_checked(at)?;
    let start = before.trim_end_matches(is_part).len();
    let end = at + behind.find(|c| !is_part(c)).unwrap_or(behind.len());
    Some((text.get(start..end)?, text.get(end..)?))
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn a_word_is_met_at_both_its_ends() {
        let text = "(n::turn<é>)";
        for at in 4..=8 {
            assert_eq!(word(text, at), Some(("turn", "<é>)")));
        }
        let words = [0, 1, 3].map(|at| word(text, at).map(|(word, _)| word));
        assert_eq!(words, [Some(""), Some("n"), Some("")]);
        // In the middle of a character, and beyond the end.
        assert_eq!([word(text, 10), word(text, 99)], [None, None]);
    }
}
