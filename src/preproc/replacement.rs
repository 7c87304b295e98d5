//! What does a macro put in place of its use?
//!
//! Cuts the replacement of a `#define` into tokens and finds the parameters, `#` and `##`
//! among them, once for all uses.

use super::directives::Define;
use super::lexer::{Kind, Lexer, Token};
use super::macros::{MacroRef, Macros};
use super::piece::Piece;

/// Macros with more parameters, or a longer replacement in bytes, are left alone.
const MAX_PARAMS: usize = 128;
const MAX_BODY: usize = 1 << 20;

/// A macro's replacement, cut into tokens once.
#[derive(Debug)]
pub(crate) struct Body {
    /// The macro.
    pub place: MacroRef,
    /// How many parameters; `None` for an object-like macro.
    pub params: Option<usize>,
    /// Whether the last parameter takes all remaining arguments.
    pub variadic: bool,
    /// The replacement.
    pub pieces: Vec<BodyPiece>,
}

/// A piece of a replacement.
#[derive(Clone, Copy, Debug)]
pub(crate) enum BodyPiece {
    /// A token that is no parameter.
    Plain(Piece),
    /// A parameter.
    Param { index: usize, space: bool },
    /// `#` and a parameter
    Stringize { index: usize, space: bool },
    /// `##`
    Paste,
    /// `__VA_OPT__(`, and how many pieces it holds
    VaOpt(usize),
}

impl Body {
    /// Reads the replacement of a macro; `None` when it is beyond the limits.
    pub(super) fn read(macros: &Macros, place: MacroRef) -> Option<Body> {
        let define = macros.define(place)?;
        if define.body.len() > MAX_BODY || define.params.as_ref().is_some_and(|p| p.len() > MAX_PARAMS) {
            return None;
        }
        let text = macros.files.get(place.file as usize)?.file.text.as_str();
        let mut lexer = Lexer::over(text, define.body.start as u32, define.body.end as u32);
        let tokens: Vec<Token> = std::iter::from_fn(|| lexer.next()).collect();
        let names = Parameters { define, text };
        let pieces = body_pieces(&names, &tokens, place.file);
        Some(Body { place, params: define.params.as_ref().map(Vec::len), variadic: define.variadic, pieces })
    }
}

struct Parameters<'d> {
    define: &'d Define,
    text: &'d str,
}

impl Parameters<'_> {
    fn index(&self, token: Token) -> Option<usize> {
        let params = self.define.params.as_ref()?;
        let name = self.text.get(token.range())?;
        params.iter().position(|param| {
            let param = self.text.get(param.clone()).unwrap_or("");
            param == name || param == "." && name == "__VA_ARGS__"
        })
    }
}

fn body_pieces(params: &Parameters<'_>, tokens: &[Token], file: u32) -> Vec<BodyPiece> {
    let mut pieces = Vec::with_capacity(tokens.len());
    let mut optional: Vec<(usize, usize)> = Vec::new();
    let mut depth = 0_usize;
    let mut at = 0;
    while let Some(&token) = tokens.get(at) {
        at += 1;
        let next = tokens.get(at).copied();
        let space = token.space;
        match token.kind {
            Kind::Punct(b'#') if next.is_some_and(|next| next.is(b'#') && next.start == token.end) => {
                pieces.push(BodyPiece::Paste);
                at += 1;
            }
            Kind::Punct(b'#') if params.define.params.is_some() => {
                match next.and_then(|next| params.index(next)) {
                    Some(index) => {
                        pieces.push(BodyPiece::Stringize { index, space });
                        at += 1;
                    }
                    None => pieces.push(BodyPiece::Plain(Piece::of(token, file, false))),
                }
            }
            Kind::Ident => match params.index(token) {
                Some(index) => pieces.push(BodyPiece::Param { index, space }),
                None if params.define.variadic
                    && params.text.get(token.range()) == Some("__VA_OPT__")
                    && next.is_some_and(|next| next.is(b'(')) =>
                {
                    optional.push((pieces.len(), depth));
                    pieces.push(BodyPiece::VaOpt(0));
                    depth += 1;
                    at += 1;
                }
                None => pieces.push(BodyPiece::Plain(Piece::of(token, file, false))),
            },
            kind => {
                match kind {
                    Kind::Punct(b'(') => depth += 1,
                    Kind::Punct(b')') => depth = depth.saturating_sub(1),
                    _ => {}
                }
                if kind == Kind::Punct(b')')
                    && let Some(&(open, before)) = optional.last()
                    && before == depth
                {
                    optional.pop();
                    let length = pieces.len() - open - 1;
                    pieces[open] = BodyPiece::VaOpt(length);
                } else {
                    pieces.push(BodyPiece::Plain(Piece::of(token, file, false)));
                }
            }
        }
    }
    pieces
}
