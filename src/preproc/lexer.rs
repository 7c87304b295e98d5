//! Where do the tokens of this text begin and end?
//!
//! A hand-written scanner for C++ preprocessing tokens. It skips comments, white space and
//! line continuations, never copies, never fails and reads every byte once.
//!
//! Invariant: a token begins and ends on a character boundary, because bytes from 0x80 up
//! count as identifier characters and every other boundary is at an ASCII byte.

use memchr::memmem;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An identifier or keyword.
    Ident,
    /// A preprocessing number: `12`, `0x1'000u`, `1.5e-3f`, also `128x64`.
    Number,
    /// A string literal with its prefix, raw strings included.
    String,
    /// A character literal with its prefix.
    Char,
    /// One byte of punctuation.
    Punct(u8),
}

/// One token: where it is and what stood before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// What it is.
    pub kind: Kind,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// White space or a comment stands before it.
    pub space: bool,
    /// It is the first of its line. A newline inside a comment or after `\` does not count.
    pub first_in_line: bool,
}

impl Token {
    /// The token's bytes as a range.
    pub(crate) fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }

    /// Whether it is this byte of punctuation.
    pub(crate) fn is(self, punct: u8) -> bool {
        self.kind == Kind::Punct(punct)
    }
}

/// Reads tokens from a range of a text.
#[derive(Clone, Debug)]
pub(crate) struct Lexer<'t> {
    text: &'t [u8],
    pos: usize,
    end: usize,
    line_start: bool,
    /// Where a block comment starts that nothing ends.
    pub open_comment: Option<u32>,
}

impl<'t> Lexer<'t> {
    /// Over the whole text.
    pub(crate) fn new(text: &'t str) -> Lexer<'t> {
        let mut lexer = Lexer::over(text, 0, text.len() as u32);
        if text.starts_with('\u{feff}') {
            lexer.pos = '\u{feff}'.len_utf8();
        }
        lexer
    }

    /// Over `start..end` of a text; positions stay those of the whole text.
    pub(crate) fn over(text: &'t str, start: u32, end: u32) -> Lexer<'t> {
        let end = text.len().min(end as usize);
        let pos = end.min(start as usize);
        Lexer { text: text.as_bytes(), pos, end, line_start: true, open_comment: None }
    }

    /// How far it has read.
    pub(crate) fn position(&self) -> u32 {
        self.pos as u32
    }

    /// Goes on from `position`, in the middle of a line.
    pub(crate) fn seek(&mut self, position: u32) {
        self.pos = self.end.min(position as usize);
        self.line_start = false;
    }

    /// The next token; `None` at the end.
    pub(crate) fn next(&mut self) -> Option<Token> {
        self.token(false)
    }

    /// The next token of this line; `None`, without moving past it, at the newline.
    pub(crate) fn next_in_line(&mut self) -> Option<Token> {
        self.token(true)
    }

    /// The next byte, which is `None` at the end.
    pub(crate) fn peek_byte(&self) -> Option<u8> {
        (self.pos < self.end).then(|| self.at(0))
    }

    /// The header name at this place in an `#include`: `<...>` or `"..."`.
    pub(crate) fn header_name(&mut self) -> Option<(std::ops::Range<usize>, bool)> {
        self.skip_space(true);
        let close = match self.peek_byte()? {
            b'<' => b'>',
            b'"' => b'"',
            _ => return None,
        };
        let start = self.pos + 1;
        let length = self.text[start..self.end].iter().position(|&b| b == close || b == b'\n')?;
        (self.text[start + length] == close).then(|| {
            self.pos = start + length + 1;
            (start..start + length, close == b'>')
        })
    }

    fn at(&self, ahead: usize) -> u8 {
        let at = self.pos + ahead;
        if at < self.end { self.text[at] } else { 0 }
    }

    fn token(&mut self, in_line: bool) -> Option<Token> {
        let before = self.pos;
        // Most tokens stand right after the one before, or after one blank.
        if self.at(0) == b' ' {
            self.pos += 1;
        }
        if !is_ident(self.at(0)) && (self.skip_space(in_line) || self.pos >= self.end) {
            return None;
        }
        let start = self.pos;
        let first_in_line = std::mem::take(&mut self.line_start);
        let byte = self.text[start];
        let kind = if is_ident_start(byte) {
            self.identifier(start)
        } else if byte.is_ascii_digit() || byte == b'.' && self.at(1).is_ascii_digit() {
            self.number();
            Kind::Number
        } else if byte == b'"' {
            self.quoted(b'"');
            Kind::String
        } else if byte == b'\'' {
            self.quoted(b'\'');
            Kind::Char
        } else {
            self.pos += 1;
            Kind::Punct(byte)
        };
        let end = self.pos as u32;
        Some(Token { kind, start: start as u32, end, space: start > before, first_in_line })
    }

    /// Moves to the next byte of a token. With `in_line`, stops at a newline and says so.
    fn skip_space(&mut self, in_line: bool) -> bool {
        while self.pos < self.end {
            match self.text[self.pos] {
                b'\n' if in_line => return true,
                b'\n' => {
                    self.line_start = true;
                    self.pos += 1;
                }
                b' ' | b'\t' | b'\r' | b'\x0b' | b'\x0c' => self.pos += 1,
                b'\\' => match continuation(&self.text[self.pos..self.end]) {
                    Some(length) => self.pos += length,
                    None => return false,
                },
                b'/' if self.at(1) == b'/' => self.line_comment(),
                b'/' if self.at(1) == b'*' => {
                    let body = self.pos + 2;
                    match memmem::find(&self.text[body..self.end], b"*/") {
                        Some(length) => self.pos = body + length + 2,
                        None => {
                            self.open_comment = Some(self.pos as u32);
                            self.pos = self.end;
                        }
                    }
                }
                _ => return false,
            }
        }
        false
    }

    fn line_comment(&mut self) {
        while let Some(length) = memchr::memchr(b'\n', &self.text[self.pos..self.end]) {
            let newline = self.pos + length;
            let mut last = newline;
            if last > self.pos && self.text[last - 1] == b'\r' {
                last -= 1;
            }
            if last == self.pos || self.text[last - 1] != b'\\' {
                self.pos = newline;
                return;
            }
            self.pos = newline + 1;
        }
        self.pos = self.end;
    }

    fn identifier(&mut self, start: usize) -> Kind {
        let rest = &self.text[start..self.end];
        self.pos = start + rest.iter().position(|&byte| !is_ident(byte)).unwrap_or(rest.len());
        if matches!(self.at(0), b'"' | b'\'') && self.pos - start <= 3 {
            match (&self.text[start..self.pos], self.at(0)) {
                (b"R" | b"u8R" | b"uR" | b"UR" | b"LR", b'"') => {
                    if !self.raw_string() {
                        self.quoted(b'"');
                    }
                    return Kind::String;
                }
                (b"L" | b"u" | b"U" | b"u8", b'"') => {
                    self.quoted(b'"');
                    return Kind::String;
                }
                (b"L" | b"u" | b"U" | b"u8", b'\'') => {
                    self.quoted(b'\'');
                    return Kind::Char;
                }
                _ => {}
            }
        }
        Kind::Ident
    }

    fn number(&mut self) {
        let hex = self.at(0) == b'0' && matches!(self.at(1), b'x' | b'X');
        self.pos += 1;
        while self.pos < self.end {
            match self.at(0) {
                b'+' | b'-' => match self.text[self.pos - 1] {
                    b'e' | b'E' if !hex => {}
                    b'p' | b'P' => {}
                    _ => return,
                },
                b'\'' if is_ident(self.at(1)) => {}
                b'.' => {}
                byte if is_ident(byte) => {}
                _ => return,
            }
            self.pos += 1;
        }
    }

    /// A literal in `quote`s; one that is not closed ends with its line.
    fn quoted(&mut self, quote: u8) {
        self.pos += 1;
        while self.pos < self.end {
            let byte = self.text[self.pos];
            if byte == b'\\' {
                let skip = continuation(&self.text[self.pos..self.end]).unwrap_or(2);
                self.pos = self.end.min(self.pos + skip);
            } else if byte == b'\n' {
                return;
            } else {
                self.pos += 1;
                if byte == quote {
                    return;
                }
            }
        }
        // An escape may have ended inside a character; the range then ends with the text.
        self.pos = self.end;
    }

    fn raw_string(&mut self) -> bool {
        let rest = &self.text[self.pos + 1..self.end];
        let Some(open) = rest.iter().take(17).position(|&b| b == b'(') else { return false };
        if rest[..open].iter().any(|b| b.is_ascii_whitespace() || matches!(b, b')' | b'\\' | b'"')) {
            return false;
        }
        let mut close = vec![b')'];
        close.extend_from_slice(&rest[..open]);
        close.push(b'"');
        let body = self.pos + 1 + open + 1;
        self.pos = match memmem::find(&self.text[body..self.end], &close) {
            Some(length) => body + length + close.len(),
            None => self.end,
        };
        true
    }
}

/// The length of a line continuation that `text` starts with. As in gcc, white space may
/// stand between the backslash and the end of the line.
fn continuation(text: &[u8]) -> Option<usize> {
    let rest = text.strip_prefix(b"\\")?;
    let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t' | b'\r')).count();
    (rest.get(spaces) == Some(&b'\n')).then_some(spaces + 2)
}

/// Which bytes an identifier may contain: one look-up, because every byte of every file is asked.
const IDENT: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let this = byte as u8;
        table[byte] = this.is_ascii_alphanumeric() || this == b'_' || this == b'$' || this >= 0x80;
        byte += 1;
    }
    table
};

/// Whether an identifier may start with this byte.
fn is_ident_start(byte: u8) -> bool {
    is_ident(byte) && !byte.is_ascii_digit()
}

/// Whether an identifier may contain this byte.
pub(crate) fn is_ident(byte: u8) -> bool {
    IDENT[byte as usize]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut lexer = Lexer::new(text);
        std::iter::from_fn(|| lexer.next()).map(|token| &text[token.range()]).collect()
    }

    #[test]
    fn literals_are_one_token() {
        assert_eq!(words("a 1'000u 0x1E+2 1.5e-3f .5"), ["a", "1'000u", "0x1E", "+", "2", "1.5e-3f", ".5"]);
        assert_eq!(
            words(r#"u8"a\"b" L'\'' R"x(a)" )x" R"#),
            [r#"u8"a\"b""#, r"L'\''", r#"R"x(a)" )x""#, "R"]
        );
    }

    #[test]
    fn comments_and_continuations_are_space() {
        assert_eq!(words("a/*x\ny*/b// c \\\n d\r\ne\\\r\nf"), ["a", "b", "e", "f"]);
        assert_eq!(words("\u{feff}#x"), ["#", "x"]);
    }

    #[test]
    fn lines_begin_after_a_newline_outside_comments() {
        let text = "a\n b /*\n*/ c \\\n d\ne";
        let mut lexer = Lexer::new(text);
        let first: Vec<bool> = std::iter::from_fn(|| lexer.next()).map(|token| token.first_in_line).collect();
        assert_eq!(first, [true, true, false, false, true]);
    }

    #[test]
    fn what_is_not_closed_ends_with_its_line_or_the_text() {
        assert_eq!(words("\"ab\nc"), ["\"ab", "c"]);
        assert_eq!(words("don't\nc"), ["don", "'t", "c"]);
        assert_eq!(words("R\"(ab\nc"), ["R\"(ab\nc"]);
        assert_eq!(words("\"\\"), ["\"\\"]);
        assert_eq!(words("\"\\é"), ["\"\\é"]);
        let mut lexer = Lexer::new("a /* b");
        while lexer.next().is_some() {}
        assert_eq!(lexer.open_comment, Some(2));
    }
}
