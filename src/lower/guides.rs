//! For which class templates does the text have deduction guides that are no templates?
//!
//! ```text
//! template <class T> struct Buffer { Buffer(T value); };
//! Buffer(char) -> Buffer<int>;          `Buffer b('a');` is a Buffer<int>
//! ```
//!
//! The grammar does not know them, so they are found by their tokens: one name in front of the parentheses and behind
//! the arrow. Nothing else in C++ looks like that, as a function and a class template of one scope have different names.

use crate::ir::Name;
use crate::preproc::{Kind, Lexer, Token};

/// What may stand before one.
const SPECIFIERS: [&str; 3] = ["explicit", "__host__", "__device__"];

/// The names of such classes, each once.
pub(super) fn plain_guides(text: &str) -> Vec<Name> {
    let mut found: Vec<Name> = Vec::new();
    // Few files have an arrow behind a parenthesis.
    let behind_parenthesis = |(at, _): (usize, &str)| text[..at].trim_end().ends_with(')');
    if !text.match_indices("->").any(behind_parenthesis) {
        return found;
    }
    let mut lexer = Lexer::new(text);
    let tokens: Vec<Token> = std::iter::from_fn(|| lexer.next()).collect();
    let word = |at: usize| tokens.get(at).and_then(|token| text.get(token.range()));
    let is = |at: usize, punct: u8| tokens.get(at).is_some_and(|token| token.is(punct));
    // What is called behind its arguments is an expression.
    let ends_behind_arguments = |begin: usize| {
        let mut depth = 0;
        let close = (begin..tokens.len()).find(|&at| {
            depth += usize::from(is(at, b'<'));
            depth -= usize::from(is(at, b'>'));
            depth == 0
        });
        close.is_some_and(|close| is(close + 1, b';'))
    };
    let mut open: Vec<usize> = Vec::new();
    for at in 0..tokens.len() {
        if is(at, b'(') {
            open.push(at);
        }
        if !is(at, b')') {
            continue;
        }
        let Some(name) = open.pop().and_then(|begin| begin.checked_sub(1)) else { continue };
        let is_guide = is(at + 1, b'-')
            && is(at + 2, b'>')
            && is(at + 4, b'<')
            && ends_behind_arguments(at + 4)
            && tokens[name].kind == Kind::Ident
            && word(name) == word(at + 3)
            // That of a template is read.
            && name.checked_sub(1).is_none_or(|before| {
                [b';', b'{', b'}', b']'].into_iter().any(|punct| is(before, punct))
                    || word(before).is_some_and(|word| SPECIFIERS.contains(&word))
            });
        if let Some(class) = word(name).filter(|class| is_guide && found.iter().all(|it| &**it != *class)) {
            found.push(class.into());
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::plain_guides;

    #[test]
    fn guides_are_told_from_calls_and_templates() {
        let found = |text: &str| plain_guides(text).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(found("Buffer(char, int (&)[4]) -> Buffer<int>;"), ["Buffer"]);
        assert_eq!(found("explicit Buffer(char)\n  -> Buffer<int>;"), ["Buffer"]);
        assert_eq!(found("[[nodiscard]] Buffer(char) -> Buffer<Pair<int, 2>>;"), ["Buffer"]);
        assert!(found("; f(a)->f<int>();").is_empty());
        assert!(found("template <class T> Buffer(T *) -> Buffer<T>;").is_empty());
        assert!(found("auto made(int n) -> Buffer<int>; x = f(a)->f<int>();").is_empty());
    }
}
