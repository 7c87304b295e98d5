//! Where does a text ask for the size or the type of an array, so that longer rows mean something else there?
//!
//! ```text
//! __shared__ float tile[32][32];
//! int row = sizeof(tile[0]) / sizeof(tile[0][0]);        the size of a row; of an element it stays as it is
//! decltype(tile) *other;                                 the type
//! auto step = &tile[1][0] - &tile[0][0];                 how far rows are apart
//! fill(tile, in);                                        the type, where the function takes `float (&t)[32][32]`
//! float (*rows)[32] = tile;                              the type
//! float (&row)[32] = tile[y];                            the type of a row
//! ```
//!
//! The text is looked through from the declaration to the end of what is around it, untaken branches and all.

use crate::ir::names::mentioned_names;
use crate::ir::program::Program;
use crate::ir::{ExprKind, Function, Name, Type};
use crate::preproc::{Kind, Lexer, Token, partners};
use crate::source::{SourceFile, Span};

/// What asks for the size or type of what stands in its parentheses.
const ASKING: [&str; 9] =
    ["sizeof", "decltype", "typeof", "__typeof__", "__typeof", "size", "ssize", "alignof", "countof"];

/// The first place that asks for the size or type of the array whose name is declared at `array`. What its name stands
/// for at the places that are `known` changes with it.
pub(super) fn shape_asked(program: &Program, file: &SourceFile, array: Span, known: &[Span]) -> Option<Span> {
    let text = Text::new(&file.text);
    let is_name = |token: &Token| token.start == array.start && token.kind == Kind::Ident;
    let name = text.tokens.iter().position(is_name)?;
    let dimensions = text.subscripts(name).0;
    for at in name + 1..text.tokens.len() {
        if text.partner(at).is_some_and(|open| open < name) && text.is(at, b'}') {
            break;
        }
        let is_name = text.tokens[at].kind == Kind::Ident && text.word(at) == text.word(name);
        let is_known = || {
            let start = text.tokens[at].start;
            known.iter().any(|known| (known.file, known.start) == (array.file, start))
        };
        if is_name && !text.is_member(at) && !is_known() && text.asks(program, at, dimensions) {
            let range = text.tokens[at].range();
            return Some(Span { start: range.start as u32, end: range.end as u32, ..array });
        }
    }
    None
}

/// A file's tokens.
pub(super) struct Text<'t> {
    text: &'t str,
    pub(super) tokens: Vec<Token>,
    partners: Vec<u32>,
}

impl<'t> Text<'t> {
    pub(super) fn new(text: &'t str) -> Text<'t> {
        let mut lexer = Lexer::new(text);
        let tokens: Vec<Token> = std::iter::from_fn(|| lexer.next()).collect();
        Text { text, partners: partners(&tokens), tokens }
    }

    pub(super) fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).and_then(|token| self.text.get(token.range())).unwrap_or("")
    }

    pub(super) fn is(&self, at: usize, punct: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(punct))
    }

    /// Whether this stands so many tokens before another.
    pub(super) fn stands_before(&self, at: usize, back: usize, punct: u8) -> bool {
        at.checked_sub(back).is_some_and(|at| self.is(at, punct))
    }

    pub(super) fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).map(|&partner| partner as usize).filter(|&partner| partner < self.tokens.len())
    }

    /// How many pairs of brackets stand behind a token, and what comes behind them.
    pub(super) fn subscripts(&self, at: usize) -> (usize, usize) {
        let (mut count, mut next) = (0, at + 1);
        while self.is(next, b'[')
            && let Some(close) = self.partner(next)
        {
            count += 1;
            next = close + 1;
        }
        (count, next)
    }

    /// Whether brackets that close at a token stand behind parentheses, as in `(&row)[32]`.
    fn closes_a_declarator(&self, close: usize) -> bool {
        let mut at = close;
        while self.is(at, b']')
            && let Some(before) = self.partner(at).and_then(|open| open.checked_sub(1))
        {
            at = before;
        }
        self.is(at, b')')
    }

    pub(super) fn is_member(&self, at: usize) -> bool {
        self.stands_before(at, 1, b'.') || self.stands_before(at, 1, b'>') && self.stands_before(at, 2, b'-')
    }

    /// The parentheses around a token in its statement, innermost first.
    fn around(&self, at: usize) -> Vec<usize> {
        let (mut found, mut at) = (Vec::new(), at);
        while let Some(before) = at.checked_sub(1) {
            if [b';', b'{'].iter().any(|&punct| self.is(before, punct)) {
                break;
            }
            let opening = self.partner(before).filter(|&open| open < before);
            if opening.is_none() && self.is(before, b'(') {
                found.push(before);
            } else if self.is(before, b'}') {
                break;
            }
            at = opening.unwrap_or(before);
        }
        found
    }

    /// Whether a mention of the array asks for its size or type.
    fn asks(&self, program: &Program, at: usize, dimensions: usize) -> bool {
        let (subscripts, end) = self.subscripts(at);
        if subscripts >= dimensions {
            // The distance between two elements.
            let minus = |at: usize| self.is(at, b'-') && !self.is(at + 1, b'>');
            return self.stands_before(at, 1, b'&') && (minus(end) || at.checked_sub(2).is_some_and(minus));
        }
        let Some(before) = at.checked_sub(1) else { return false };
        let around = self.around(at);
        let asking = |open: &usize| open.checked_sub(1).is_some_and(|word| ASKING.contains(&self.word(word)));
        if self.word(before) == "sizeof" || around.iter().any(asking) {
            return true;
        }
        // `float (*rows)[32] = tile;`, `float (&row)[32] = tile[y];`
        if self.is(before, b'=')
            && self.stands_before(at, 2, b']')
            && (subscripts == 0 || self.closes_a_declarator(at - 2))
        {
            return true;
        }
        // `auto &same = tile;`, `auto *whole = &tile;`
        if self.is(before, b'=') && self.stands_before(at, 3, b'&') || self.is(before, b'&') {
            return true;
        }
        let Some(&open) = around.first() else { return false };
        let is_argument =
            (open == before || self.is(before, b',')) && (self.is(end, b',') || self.is(end, b')'));
        is_argument && self.takes_its_type(program, open, at)
    }

    /// Whether the file defines a macro of this name, or makes a lambda that has it.
    fn is_macro_or_lambda(&self, name: &str) -> bool {
        (1..self.tokens.len()).any(|at| {
            let is_made = || self.is(at + 1, b'=') && self.is(at + 2, b'[');
            self.word(at) == name && (self.word(at - 1) == "define" || is_made())
        })
    }

    /// Whether a function that is called there may take an array of so many elements as the argument at a token.
    fn takes_its_type(&self, program: &Program, open: usize, at: usize) -> bool {
        let Some(callee) = open.checked_sub(1) else { return false };
        // A lambda where it is made, or a template's instance.
        if [b'}', b')'].iter().any(|&punct| self.is(callee, punct)) {
            return true;
        }
        let (mut number, mut next) = (0, open + 1);
        while next < at {
            number += usize::from(self.is(next, b','));
            next = self.partner(next).filter(|&close| close > next).unwrap_or(next) + 1;
        }
        let name = self.word(callee);
        let functions = program.functions(name);
        if functions.is_empty() && self.is_macro_or_lambda(name) {
            return true;
        }
        functions
            .iter()
            .any(|function| function.params.get(number).is_some_and(|it| says_length(&it.ty, function)))
    }
}

/// Whether a parameter's type says how long rows are, or learns it from the argument for the function to use.
fn says_length(ty: &Type, function: &Function) -> bool {
    let learned = |name: &Name| function.template_params.iter().any(|param| param.name == *name);
    match ty {
        Type::Reference(inner) => match &**inner {
            Type::Named(path) => learned(&path.name),
            Type::Auto => true,
            inner => says_length(inner, function),
        },
        Type::Pointer(inner) => says_length(inner, function),
        Type::Array(inner, _) if matches!(**inner, Type::Array(..)) => says_length(inner, function),
        Type::Array(_, Some(length)) => match &length.kind {
            // It is mentioned once in the parameter.
            ExprKind::Path(path) if learned(&path.name) => {
                mentioned_names(function).iter().filter(|name| **name == path.name).count() > 1
            }
            _ => true,
        },
        _ => false,
    }
}
