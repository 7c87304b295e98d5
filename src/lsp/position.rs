//! Where is a byte of a text, in the words of an editor?

use ls_types::{Position, PositionEncodingKind};

/// What the columns of an editor count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16.
    Utf16,
}

impl Encoding {
    /// Bytes if the editor can count them, else what every editor can.
    pub(super) fn of(offered: Option<&[PositionEncodingKind]>) -> Encoding {
        match offered {
            Some(kinds) if kinds.contains(&PositionEncodingKind::UTF8) => Encoding::Utf8,
            _ => Encoding::Utf16,
        }
    }

    pub(super) fn kind(self) -> PositionEncodingKind {
        match self {
            Encoding::Utf8 => PositionEncodingKind::UTF8,
            Encoding::Utf16 => PositionEncodingKind::UTF16,
        }
    }

    fn units(self, character: char) -> usize {
        match self {
            Encoding::Utf8 => character.len_utf8(),
            Encoding::Utf16 => character.len_utf16(),
        }
    }
}

/// Where the lines of a text start: behind `\n`, `\r\n`, and a `\r` that stands alone.
#[derive(Debug)]
pub(super) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(super) fn of(text: &str) -> Lines {
        let bytes = text.as_bytes();
        let ends = memchr::memchr2_iter(b'\n', b'\r', bytes)
            .filter(|at| bytes.get(*at) == Some(&b'\n') || bytes.get(at + 1) != Some(&b'\n'));
        Lines { starts: std::iter::once(0).chain(ends.map(|at| at + 1)).collect() }
    }

    /// Where the byte at `offset` is, or the end of the text.
    pub(super) fn position(&self, text: &str, offset: usize, encoding: Encoding) -> Position {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        let start = self.starts.get(line).copied().unwrap_or(0);
        let before = text.get(start..).unwrap_or("").char_indices();
        let before = before.take_while(|(at, _)| start + at < offset);
        let column: usize = before.map(|(_, character)| encoding.units(character)).sum();
        Position::new(u32::try_from(line).unwrap_or(u32::MAX), u32::try_from(column).unwrap_or(u32::MAX))
    }

    /// The byte at a position; the end of the line, or of the text, for one behind it.
    pub(super) fn offset(&self, text: &str, position: Position, encoding: Encoding) -> usize {
        let Some(start) = self.starts.get(position.line as usize).copied() else { return text.len() };
        let end = self.starts.get(position.line as usize + 1).copied().unwrap_or(text.len());
        let line = text.get(start..end).unwrap_or("").trim_end_matches(['\n', '\r']);
        let mut column = 0;
        for (at, character) in line.char_indices() {
            if column >= position.character as usize {
                return start + at;
            }
            column += encoding.units(character);
        }
        start + line.len()
    }

    /// The first byte of the line that holds the byte at `offset`.
    pub(super) fn start_of_line(&self, offset: usize) -> usize {
        let line = self.starts.partition_point(|start| *start <= offset).saturating_sub(1);
        self.starts.get(line).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_what_was_agreed_on() {
        let text = "int é;\n/* 𝛼 */ x\r\ny\rz";
        let lines = Lines::of(text);
        let x = text.find('x').unwrap();
        assert_eq!(lines.position(text, x, Encoding::Utf8), Position::new(1, 11));
        assert_eq!(lines.position(text, x, Encoding::Utf16), Position::new(1, 9));
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            for (offset, _) in text.char_indices().filter(|(_, c)| *c != '\n') {
                let position = lines.position(text, offset, encoding);
                assert_eq!(lines.offset(text, position, encoding), offset, "{position:?}");
            }
        }
        assert_eq!(lines.position(text, text.len(), Encoding::Utf16), Position::new(3, 1));
    }

    #[test]
    fn a_position_behind_the_line_is_its_end() {
        let text = "ab\r\ncd";
        let lines = Lines::of(text);
        assert_eq!(lines.offset(text, Position::new(0, 99), Encoding::Utf16), 2);
        assert_eq!(lines.offset(text, Position::new(9, 0), Encoding::Utf16), 6);
        // The half of a character that takes two units.
        let text = "𝛼b";
        assert_eq!(Lines::of(text).offset(text, Position::new(0, 1), Encoding::Utf16), 4);
    }

    #[test]
    fn bytes_are_counted_where_the_editor_can() {
        let both = [PositionEncodingKind::UTF16, PositionEncodingKind::UTF8];
        assert_eq!(Encoding::of(Some(&both)), Encoding::Utf8);
        assert_eq!(Encoding::of(Some(&[PositionEncodingKind::UTF32])), Encoding::Utf16);
        assert_eq!(Encoding::of(None), Encoding::Utf16);
    }
}
