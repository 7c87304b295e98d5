//! Which lines do words name, and what are these called now?
//!
//! Words that are kept for a later version of the text hold a mark where they name a line: the number of the
//! name, between two characters that no text holds. Places on one line share a name.

use crate::source::{Moves, Sources, Span};
use crate::visible::one_line;

/// Around the number of a name. Unicode keeps both for use within a program.
const MARKS: [char; 2] = ['\u{FDD0}', '\u{FDD1}'];

/// The lines that some words name.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Named {
    names: Vec<Name>,
}

#[derive(Clone, Debug)]
struct Name {
    form: Form,
    /// All places that are called so.
    places: Vec<Span>,
    words: String,
}

/// How a line is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// `file.cu:12`
    Whole,
    /// `line 12`
    Line,
}

impl Form {
    /// What the line of a place is called.
    pub(super) fn words(self, place: Span, sources: &Sources) -> String {
        let file = sources.get(place.file);
        let line = file.line_column(place.start).0;
        match self {
            Form::Whole => format!("{}:{line}", one_line(&file.display_path())),
            Form::Line => format!("line {line}"),
        }
    }
}

impl Named {
    /// What stands for the name of a line.
    pub(super) fn mark(&mut self, form: Form, place: Span, sources: &Sources) -> String {
        let words = form.words(place, sources);
        let known = self.names.iter().position(|name| name.form == form && name.words == words);
        let number = known.unwrap_or_else(|| {
            self.names.push(Name { form, places: Vec::new(), words });
            self.names.len() - 1
        });
        let places = &mut self.names[number].places;
        if !places.contains(&place) {
            places.push(place);
        }
        format!("{}{number}{}", MARKS[0], MARKS[1])
    }

    /// Puts names in for marks.
    pub(in super::super) fn put_into(&self, words: &mut String) {
        if !words.contains(MARKS[0]) {
            return;
        }
        let mut pieces = words.split(MARKS);
        let mut whole = pieces.next().unwrap_or_default().to_owned();
        while let Some(number) = pieces.next() {
            let name = number.parse().ok().and_then(|number: usize| self.names.get(number));
            whole.push_str(name.map_or(number, |name| &name.words));
            whole.push_str(pieces.next().unwrap_or_default());
        }
        *words = whole;
    }

    /// The same lines in a later version of the texts. `None` where two have become one, or one two: there
    /// would be other words.
    pub(in super::super) fn moved(&self, moves: &Moves, sources: &Sources) -> Option<Named> {
        let mut now = Named::default();
        for (number, name) in self.names.iter().enumerate() {
            for place in &name.places {
                now.mark(name.form, moves.now(*place)?, sources);
                if now.names.len() != number + 1 {
                    return None;
                }
            }
        }
        let alike = |(before, now): (&Name, &Name)| before.places.len() == now.places.len();
        (now.names.iter().zip(&self.names).all(alike)).then_some(now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::SourceFile;
    use std::path::Path;
    use std::sync::Arc;

    fn span(file: &SourceFile, text: &str) -> Span {
        let start = file.text.find(text).unwrap() as u32;
        Span { file: file.id, start, end: start + text.len() as u32, nth: 0 }
    }

    #[test]
    fn lines_are_called_as_they_are_numbered_now() {
        let sources = Sources::default();
        let file = |text: &str| -> Arc<SourceFile> { sources.add(Path::new("a.cu"), text.into()) };
        let before = file("a\nb c\nd\n");
        let mut named = Named::default();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|text| span(&before, text));
        let marks = [(Form::Whole, a), (Form::Line, b), (Form::Line, c), (Form::Whole, d)]
            .map(|(form, place)| named.mark(form, place, &sources));
        assert_eq!(marks[1], marks[2]);
        let words = format!("from {}, {}, {} to {}", marks[0], marks[1], marks[2], marks[3]);
        let read = |named: &Named| {
            let mut words = words.clone();
            named.put_into(&mut words);
            words
        };
        assert_eq!(read(&named), "from a.cu:1, line 2, line 2 to a.cu:3");
        let moved = |text: &str| named.moved(&Moves::between(&before, &file(text)), &sources);
        assert_eq!(read(&moved("a\n\nb c\nd\n").unwrap()), "from a.cu:1, line 3, line 3 to a.cu:4");
        // `b` and `c` part; `c` and `d` come to stand on one line, but are called differently.
        assert!(moved("a\nb\nc\nd\n").is_none());
        assert!(moved("a\nb c d\n").is_some());
        assert!(moved("a\nb d\n").is_none());
    }
}
