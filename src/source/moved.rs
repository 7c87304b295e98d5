//! Where is a place of one version of a text in the next, and is something the same there?
//!
//! Two versions have a beginning and an end in common; what lies in between is the change. A place before
//! the change stays where it is, one behind it moves by what the text has grown, and one around it grows.
//! What begins or ends within the change has no place any more. Example:
//!
//! ```text
//! int a; int bcd; int e;        before
//! int a; int b; int e;          now
//! ```
//!
//! Bytes 12 to 14, `cd`, have become nothing. `a` stays at 4..5, `e` moves from 20..21 to 18..19, `bcd` at 11..14
//! is now at 11..12, and `d` at 13..14 is nowhere.
//!
//! To compare two values with all the places in them, each is hashed: those of the old one as where they
//! are now. A [`Span`] is the only thing that hashes as a `u128`, by which the hasher tells it.

use super::{FileId, SourceFile, Span};
use rustc_hash::FxHashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// How a text became another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    /// The file as it is now.
    now: FileId,
    /// Where the change begins.
    start: u32,
    /// Where it ends, before and now.
    ends: [u32; 2],
}

/// How texts became others. Those of which it knows nothing are as they were.
#[derive(Clone, Debug, Default)]
pub(crate) struct Moves {
    changes: FxHashMap<FileId, Change>,
}

impl Moves {
    /// From one version of a file to the next.
    pub(crate) fn between(before: &SourceFile, now: &SourceFile) -> Moves {
        let (start, rest) = common_ends(&before.text, &now.text);
        let ends = [before, now].map(|file| (file.text.len() - rest) as u32);
        let change = Change { now: now.id, start: start as u32, ends };
        Moves { changes: [(before.id, change)].into_iter().collect() }
    }

    /// Knows of these texts, too.
    pub(crate) fn add(&mut self, others: &Moves) {
        self.changes.extend(&others.changes);
    }

    /// Where a place is now.
    pub(crate) fn now(&self, place: Span) -> Option<Span> {
        let Some(Change { now, start, ends: [before, after] }) = self.changes.get(&place.file).copied()
        else {
            return Some(place);
        };
        let moved = |at: u32| at - before + after;
        if place.end <= start {
            Some(Span { file: now, ..place })
        } else if place.start >= before {
            Some(Span { file: now, start: moved(place.start), end: moved(place.end), ..place })
        } else if place.start <= start && place.end >= before {
            Some(Span { file: now, end: moved(place.end), ..place })
        } else {
            None
        }
    }

    /// Whether a value of before is this one of now, but for where things stand.
    pub(crate) fn lead<T: Hash + ?Sized>(&self, before: &T, now: &T) -> bool {
        let mut old = PlaceHasher { hasher: DefaultHasher::new(), moves: Some(self), is_lost: false };
        before.hash(&mut old);
        let mut new = PlaceHasher { hasher: DefaultHasher::new(), moves: None, is_lost: false };
        now.hash(&mut new);
        !old.is_lost && old.finish() == new.finish()
    }
}

/// How many bytes two texts have in common at their beginning, and how many at the end of what is left then.
pub(crate) fn common_ends(old: &str, new: &str) -> (usize, usize) {
    let (old_bytes, new_bytes) = (old.as_bytes(), new.as_bytes());
    let pairs = old_bytes.iter().zip(new_bytes);
    let mut start = pairs.take_while(|(old, new)| old == new).count();
    // A character is whole, or another.
    while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
        start -= 1;
    }
    let pairs = old_bytes[start..].iter().rev().zip(new_bytes[start..].iter().rev());
    let mut rest = pairs.take_while(|(old, new)| old == new).count();
    while !old.is_char_boundary(old.len() - rest) || !new.is_char_boundary(new.len() - rest) {
        rest -= 1;
    }
    (start, rest)
}

/// Hashes places as where they are now.
struct PlaceHasher<'m> {
    hasher: DefaultHasher,
    /// `None` for a value of now.
    moves: Option<&'m Moves>,
    /// Whether a place has gone.
    is_lost: bool,
}

impl Hasher for PlaceHasher<'_> {
    fn finish(&self) -> u64 {
        self.hasher.finish()
    }

    fn write(&mut self, bytes: &[u8]) {
        self.hasher.write(bytes);
    }

    fn write_u128(&mut self, packed: u128) {
        let place = Span::unpacked(packed);
        let now = self.moves.map_or(Some(place), |moves| moves.now(place));
        self.is_lost |= now.is_none();
        self.hasher.write_u128(now.unwrap_or(place).packed());
    }

    // As a `u128` by default, which it is not.
    fn write_i128(&mut self, number: i128) {
        self.hasher.write(&number.to_ne_bytes());
    }
}

impl Span {
    fn packed(self) -> u128 {
        let [nth, file, start, end] = [self.nth, self.file.0, self.start, self.end].map(u128::from);
        nth << 96 | file << 64 | start << 32 | end
    }

    fn unpacked(packed: u128) -> Span {
        let [nth, file, start, end] = [96, 64, 32, 0].map(|shift| (packed >> shift) as u32);
        Span { file: FileId(file), start, end, nth }
    }
}

impl Hash for Span {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u128(self.packed());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(id: u32, text: &str) -> SourceFile {
        SourceFile::new(FileId(id), "a.cu".into(), text.as_bytes().to_vec())
    }

    fn span(file: u32, start: u32, end: u32) -> Span {
        Span { file: FileId(file), start, end, nth: 0 }
    }

    #[test]
    fn the_example_of_the_documentation_holds() {
        let moves = Moves::between(&file(0, "int a; int bcd; int e;"), &file(1, "int a; int b; int e;"));
        let now = |start, end| moves.now(span(0, start, end));
        assert_eq!(now(4, 5), Some(span(1, 4, 5)));
        assert_eq!(now(20, 21), Some(span(1, 18, 19)));
        assert_eq!(now(11, 14), Some(span(1, 11, 12)));
        assert_eq!(now(13, 14), None);
        // Of other files nothing is known to have changed.
        assert_eq!(moves.now(span(5, 11, 12)), Some(span(5, 11, 12)));
    }

    #[test]
    fn what_begins_or_ends_within_the_change_has_gone() {
        let moves = Moves::between(&file(0, "abcdefgh"), &file(1, "abXfgh"));
        let now = |start, end| moves.now(span(0, start, end));
        assert_eq!([now(2, 4), now(0, 3), now(4, 8), now(3, 4)], [None, None, None, None]);
        assert_eq!(
            [now(0, 2), now(5, 8), now(2, 5)].map(|it| it.map(|it| it.end)),
            [Some(2), Some(6), Some(3)]
        );
    }

    #[test]
    fn values_are_compared_with_their_places_moved() {
        let moves = Moves::between(&file(0, "f(1); g(2); h();"), &file(1, "f(1); g(234); h();"));
        let (before, now) = ((span(0, 12, 13), -7i128, "h"), (span(1, 14, 15), -7i128, "h"));
        assert!(moves.lead(&before, &now));
        assert!(!moves.lead(&before, &(span(1, 13, 14), -7, "h")));
        assert!(!moves.lead(&before, &(span(1, 14, 15), -7, "i")));
        assert!(!moves.lead(&before, &(span(1, 14, 15), 7, "h")));
        // A number that looks like a place is none.
        assert!(!moves.lead(&(12i128 << 32 | 13), &((1i128 << 64) | (14i128 << 32) | 15)));
    }
}
