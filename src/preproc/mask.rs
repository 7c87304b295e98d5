//! What can the grammar not parse, and what did it mean?
//!
//! Blanks such constructs, byte for byte, so that every position stays where it is, and
//! records the ones whose meaning is needed later. Two kinds: attributes that CUDA or a
//! compiler defines ([`attributes`]), and macros that nothing visible defines ([`unknown`]).

mod attributes;
mod kernel;
mod unknown;
mod words;

use super::declared::DeclaredTypes;
use super::lexer::{Kind, Lexer, Token};
use super::{MaskKind, Masked};
use rustc_hash::FxHashSet;
use std::cell::OnceCell;
use std::ops::Range;

pub(crate) use attributes::VALUE_OF_DECLTYPE;
pub(crate) use words::{is_builtin_type, is_keyword, is_specifier};

/// Masks `text`, or the `original` when there is none. Returns the new text, if it differs
/// from the original, and what was masked.
pub(super) fn apply(original: &str, text: Option<String>) -> (Option<String>, Vec<Masked>) {
    let mut masker = Masker::new(text.as_deref().unwrap_or(original));
    masker.run();
    let Masker { mut edits, mut masked, .. } = masker;
    if edits.is_empty() {
        return (text, masked);
    }
    edits.sort_by_key(|edit| (edit.range.start, std::cmp::Reverse(edit.range.end)));
    masked.sort_by_key(|mask| mask.start);
    let edited = edit(text.as_deref().unwrap_or(original), &edits);
    (Some(edited), masked)
}

/// Bytes to blank, and what to write at their start instead of blanks.
struct Edit {
    range: Range<usize>,
    with: &'static str,
}

fn edit(text: &str, edits: &[Edit]) -> String {
    let mut out = String::with_capacity(text.len());
    for edit in edits {
        // An edit inside an earlier one is already done.
        if edit.range.start < out.len() {
            continue;
        }
        out.push_str(text.get(out.len()..edit.range.start).unwrap_or(""));
        let bytes = text.get(edit.range.clone()).unwrap_or("").bytes();
        out.push_str(edit.with);
        for byte in bytes.skip(edit.with.len()) {
            out.push(if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' });
        }
    }
    out.push_str(text.get(out.len()..).unwrap_or(""));
    out
}

/// No partner.
const NONE: u32 = u32::MAX;

/// The tokens of a text and what is to be done to it.
struct Masker<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    /// For each bracket, the number of the token that it pairs with, or [`NONE`].
    partner: Vec<u32>,
    /// Whether the token has been blanked.
    gone: Vec<bool>,
    /// The last token that stays, before the one being looked at.
    before: Option<usize>,
    /// The brackets that are open at the one being looked at.
    open: Vec<usize>,
    declared: DeclaredTypes<'t>,
    /// The names of functions that are launched and not seen to be kernels, once that is asked.
    launched: OnceCell<FxHashSet<&'t str>>,
    edits: Vec<Edit>,
    masked: Vec<Masked>,
}

impl<'t> Masker<'t> {
    fn new(text: &'t str) -> Masker<'t> {
        let mut lexer = Lexer::new(text);
        let mut tokens = Vec::with_capacity(text.len() / 5);
        tokens.extend(std::iter::from_fn(|| lexer.next()));
        let partner = partners(&tokens);
        let gone = vec![false; tokens.len()];
        let mut masker = Masker {
            text,
            tokens,
            partner,
            gone,
            before: None,
            open: Vec::new(),
            declared: DeclaredTypes::default(),
            launched: OnceCell::new(),
            edits: Vec::new(),
            masked: Vec::new(),
        };
        if let Some(start) = lexer.open_comment {
            masker.edits.push(Edit { range: start as usize..text.len(), with: "" });
        }
        masker
    }

    fn run(&mut self) {
        for at in 0..self.tokens.len() {
            self.declared.see(self.word(at));
            match self.tokens[at].kind {
                _ if self.gone[at] => {}
                Kind::Ident => {
                    let word = self.word(at);
                    if word == "operator" {
                        self.name_of_call(at + 1);
                    }
                    if !self.attribute(at, word) {
                        self.unknown_macro(at, word);
                    }
                }
                Kind::String => self.string_with_macro(at),
                Kind::Punct(b'=') => self.default_of_parameter(at),
                Kind::Punct(b']' | b')') => self.attributes_of_lambda(at),
                Kind::Punct(b'#') if self.word(at + 1) == "pragma" => self.pragma_of_macro(at),
                Kind::Punct(b'#' | b'@' | b'`' | b'\\' | 0..=31) => self.blank(at, at, ""),
                _ => {}
            }
            if !self.gone[at] {
                self.before = Some(at);
            }
            match self.partner_of(at) {
                Some(partner) if partner > at => self.open.push(at),
                Some(_) => {
                    self.open.pop();
                }
                None => {}
            }
        }
    }

    /// `operator( )`: the grammar wants the two together.
    fn name_of_call(&mut self, open: usize) {
        if self.is(open, b'(') && self.is(open + 1, b')') && !self.between(open, open + 1).is_empty() {
            self.blank(open, open + 1, "()");
        }
    }

    /// The text of a token; empty beyond the last.
    fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).and_then(|token| self.text.get(token.range())).unwrap_or("")
    }

    fn kind(&self, at: usize) -> Option<Kind> {
        self.tokens.get(at).map(|token| token.kind)
    }

    fn is(&self, at: usize, punct: u8) -> bool {
        self.kind(at) == Some(Kind::Punct(punct))
    }

    fn is_ident(&self, at: usize) -> bool {
        self.kind(at) == Some(Kind::Ident)
    }

    /// Whether the token begins a line, or there is none.
    fn begins_line(&self, at: usize) -> bool {
        self.tokens.get(at).is_none_or(|token| token.first_in_line)
    }

    fn before_is(&self, puncts: &[u8]) -> bool {
        self.before.is_some_and(|at| matches!(self.tokens[at].kind, Kind::Punct(p) if puncts.contains(&p)))
    }

    fn word_before(&self) -> &'t str {
        self.before.map_or("", |at| self.word(at))
    }

    /// The `)` of the `(` at a token.
    fn close(&self, open: usize) -> Option<usize> {
        self.partner_of(open).filter(|_| self.is(open, b'('))
    }

    fn partner_of(&self, at: usize) -> Option<usize> {
        self.partner.get(at).filter(|&&partner| partner != NONE).map(|&partner| partner as usize)
    }

    /// The numbers of the tokens that separate the arguments between `open` and `close`.
    fn commas(&self, open: usize, close: usize) -> Vec<usize> {
        let mut commas = Vec::new();
        let mut at = open + 1;
        while at < close {
            match self.partner_of(at) {
                Some(partner) if partner > at => at = partner,
                _ if self.is(at, b',') => commas.push(at),
                _ => {}
            }
            at += 1;
        }
        commas
    }

    /// Blanks the tokens `first..=last`, with `with` in place of the first blanks.
    fn blank(&mut self, first: usize, last: usize, with: &'static str) {
        let (Some(start), Some(end)) = (self.tokens.get(first), self.tokens.get(last)) else { return };
        let range = start.start as usize..end.end as usize;
        if with.len() > range.len() {
            return;
        }
        self.edits.push(Edit { range, with });
        if with.is_empty()
            && let Some(gone) = self.gone.get_mut(first..=last)
        {
            gone.fill(true);
        }
    }

    /// Blanks the tokens and records what they were.
    fn mask(&mut self, first: usize, last: usize, kind: MaskKind, args: &str) {
        let (Some(start), Some(end)) = (self.tokens.get(first), self.tokens.get(last)) else { return };
        self.masked.push(Masked { start: start.start, end: end.end, kind, args: args.trim().to_owned() });
        self.blank(first, last, "");
    }

    /// Records what a token is and writes something else in its place, if that is no longer.
    fn mask_as(&mut self, at: usize, kind: MaskKind, with: &'static str) {
        let Some(token) = self.tokens.get(at).filter(|token| token.range().len() >= with.len()) else {
            return;
        };
        self.masked.push(Masked { start: token.start, end: token.end, kind, args: String::new() });
        self.blank(at, at, with);
    }

    /// The text between two tokens.
    fn between(&self, open: usize, close: usize) -> &'t str {
        match (self.tokens.get(open), self.tokens.get(close)) {
            (Some(open), Some(close)) => self.text.get(open.end as usize..close.start as usize).unwrap_or(""),
            _ => "",
        }
    }
}

/// For each bracket the number of the token it pairs with, else `u32::MAX`.
pub(crate) fn partners(tokens: &[Token]) -> Vec<u32> {
    let mut partner = vec![NONE; tokens.len()];
    let mut open: Vec<(u8, usize)> = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let Kind::Punct(punct) = token.kind else { continue };
        let opened = match punct {
            b'(' | b'[' | b'{' => {
                open.push((punct, at));
                continue;
            }
            b')' => b'(',
            b']' => b'[',
            b'}' => b'{',
            _ => continue,
        };
        // A brace closes over parentheses that were never closed, nothing else does.
        while opened == b'{' && open.last().is_some_and(|&(other, _)| other != b'{') {
            open.pop();
        }
        if let Some(&(other, first)) = open.last()
            && other == opened
        {
            open.pop();
            partner[first] = at as u32;
            partner[at] = first as u32;
        }
    }
    partner
}
