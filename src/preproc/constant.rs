//! Where does a text define the constant that it names here, and where else does it name it?
//!
//! Asked of the tokens alone, so that nothing is missed that a branch of an `#if` or a macro hides.

use super::lexer::{Kind, Lexer, Token};
use super::partners;
use memchr::memmem;
use std::ops::Range;

/// The most words in front of the name in a definition.
const MOST_WORDS: usize = 8;

/// A named number and all that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// What it is defined as.
    pub value: Range<usize>,
    /// Whether it is a macro.
    pub is_macro: bool,
    /// Where it is named, its definition aside: in its function, or anywhere if it is of no function.
    pub mentions: Vec<Range<usize>>,
}

/// The constant named at `at`; `None` when its definition is not the only one in the text, or is no
/// `#define`, `const` or `constexpr`.
#[must_use]
pub fn constant(text: &str, at: Range<usize>) -> Option<Constant> {
    let name = text.get(at.clone())?;
    let mut lexer = Lexer::new(text);
    let tokens: Vec<Token> = std::iter::from_fn(|| lexer.next()).collect();
    let partners = partners(&tokens);
    let reader = Reader { text, tokens: &tokens, partners: &partners };
    let mut definitions = (0..tokens.len())
        .filter(|&it| tokens[it].kind == Kind::Ident && reader.word(it) == name)
        .filter_map(|it| Some((it, reader.definition(it)?)))
        .filter(|(_, (_, _, scope))| scope.contains(&at.start));
    let (own, (value, is_macro, scope)) = definitions.next()?;
    if definitions.next().is_some() {
        return None;
    }
    let named = |it: &usize| {
        *it != own
            && tokens[*it].kind == Kind::Ident
            && scope.contains(&(tokens[*it].start as usize))
            && reader.word(*it) == name
    };
    let mentions = (0..tokens.len()).filter(named).map(|it| tokens[it].range()).collect();
    Some(Constant { value, is_macro, mentions })
}

/// Whether a name stands anywhere in a text.
#[must_use]
pub fn names(text: &str, name: &str) -> bool {
    let is_part =
        |byte: Option<&u8>| byte.is_some_and(|it| it.is_ascii_alphanumeric() || *it == b'_' || *it > 127);
    let bytes = text.as_bytes();
    memmem::find_iter(bytes, name.as_bytes()).any(|at| {
        let before = at.checked_sub(1).and_then(|it| bytes.get(it));
        !is_part(before) && !is_part(bytes.get(at + name.len()))
    })
}

struct Reader<'t> {
    text: &'t str,
    tokens: &'t [Token],
    partners: &'t [u32],
}

impl<'t> Reader<'t> {
    fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).and_then(|token| self.text.get(token.range())).unwrap_or("")
    }

    fn is(&self, at: usize, punct: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(punct))
    }

    /// What the token defines if it is a definition's name: the value, whether it is a macro, and where
    /// it holds.
    fn definition(&self, at: usize) -> Option<(Range<usize>, bool, Range<usize>)> {
        let before = at.checked_sub(1)?;
        let next = self.tokens.get(at + 1)?;
        let whole = 0..self.text.len();
        if self.word(before) == "define" && before.checked_sub(1).is_some_and(|hash| self.is(hash, b'#')) {
            // `NAME(` without a space takes parameters.
            if next.first_in_line || (next.is(b'(') && !next.space) {
                return None;
            }
            let end = (at + 1..self.tokens.len()).take_while(|&it| !self.tokens[it].first_in_line).last()?;
            return Some((next.start as usize..self.tokens[end].range().end, true, whole));
        }
        if !next.is(b'=') || self.is(at + 2, b'=') || !self.is_constant(at) {
            return None;
        }
        let mut last = at + 1;
        loop {
            let token = self.tokens.get(last + 1)?;
            if token.is(b',') || token.is(b';') {
                break;
            }
            if [b')', b']', b'}'].iter().any(|&close| token.is(close))
                || token.first_in_line && token.is(b'#')
            {
                return None;
            }
            let opens = [b'(', b'[', b'{'].iter().any(|&open| token.is(open));
            last = if opens { self.partner(last + 1)? } else { last + 1 };
        }
        let first = self.tokens.get(at + 2).filter(|_| last > at + 1)?;
        Some((first.start as usize..self.tokens[last].range().end, false, self.scope(at).unwrap_or(whole)))
    }

    /// Whether `const` or `constexpr` stands in front of a name, with nothing but a type between.
    fn is_constant(&self, name: usize) -> bool {
        let words = (0..name).rev().take(MOST_WORDS);
        let mut words = words.take_while(|&at| self.tokens[at].kind == Kind::Ident || self.is(at, b':'));
        words.any(|at| matches!(self.word(at), "const" | "constexpr"))
    }

    fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).map(|&partner| partner as usize).filter(|&it| it < self.tokens.len())
    }

    /// The innermost block of a function around a token.
    fn scope(&self, at: usize) -> Option<Range<usize>> {
        let around =
            |&open: &usize| self.is(open, b'{') && self.partner(open).is_some_and(|close| close > at);
        let open = (0..at).rev().find(around)?;
        // In other braces names are those of a namespace or a class.
        let in_function = |open: usize| {
            open.checked_sub(1).is_some_and(|it| self.is(it, b')') || matches!(self.word(it), "else" | "do"))
        };
        let close = self.partner(open)?;
        in_function(open).then(|| self.tokens[open].range().end..self.tokens[close].start as usize)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::{constant, names};

    /// The value, and how often else the constant is named, that the first `[` of a text names.
    fn found(text: &str) -> Option<(&str, usize)> {
        let start = text.find('[').unwrap() + 1;
        let end = start + text[start..].find(']').unwrap();
        constant(text, start..end).map(|it| (&text[it.value], it.mentions.len()))
    }

    #[test]
    fn a_macro_and_a_constant_have_a_value_and_mentions() {
        assert_eq!(found("#define P 32\nint s[P]; // P\nint t = P * 2;"), Some(("32", 2)));
        assert_eq!(found("#define P (8 * 4) // bytes\nint s[P];"), Some(("(8 * 4)", 1)));
        assert_eq!(found("static constexpr int Q = 1, P = f(2, 3) + Q;\nint s[P];"), None);
        assert_eq!(
            found("static constexpr unsigned int P = f(2, 3) + Q;\nint s[P];"),
            Some(("f(2, 3) + Q", 1))
        );
    }

    #[test]
    fn one_of_a_function_is_not_that_of_another() {
        let text = "void f() { const int P = 8; g(P); }\nvoid h() { const int P = 9; int s[P]; }";
        assert_eq!(found(text), Some(("9", 1)));
        let text = "const int P = 7;\nvoid h() { const int P = 9; int s[P]; }";
        assert_eq!(found(text), None);
    }

    #[test]
    fn what_is_no_constant_or_defined_twice_has_no_value() {
        assert_eq!(found("int P = 8; int s[P];"), None);
        assert_eq!(found("#define P(x) 8\nint s[P];"), None);
        assert_eq!(found("void f(const int P = 8) { int s[P]; }"), None);
        assert_eq!(found("#if A\n#define P 8\n#else\n#define P 9\n#endif\nint s[P];"), None);
        assert_eq!(found("#ifndef P\n#define P 8\n#endif\nint s[P];"), Some(("8", 2)));
        assert_eq!(found("#define P\nint s[P];"), None);
        assert!(names("AP(P)", "P") && !names("AP(P1) P_ éP", "P"));
        assert_eq!(
            found("struct T { static constexpr int P = 8; int s[P]; }; int n = T::P;"),
            Some(("8", 2))
        );
    }
}
