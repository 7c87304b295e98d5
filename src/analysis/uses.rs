//! Where does the text name something in a form of which it is not known that longer rows leave all else as it is?
//!
//! ```text
//! struct Storage { float tile[32][32]; };      its definition
//! __shared__ Storage s;                        the one shared object
//! s.tile[y][x]                                 an element, with all its subscripts
//! sizeof(Storage), f(s), s.tile[y], &s         none of these: the size, the address or the type of rows
//! ```
//!
//! Every name in the text counts, in untaken branches and unused functions, too. In a macro, nothing is known of it.

use super::shape_asked::Text;
use crate::preproc::Kind;
use crate::rules::{Use, UseForm};
use crate::source::{SourceFile, Span};
use std::sync::Arc;

/// How the names of files end that no other file includes.
const SOURCES: [&str; 2] = ["cu", "hip"];
/// What defines a class.
const CLASS: [&str; 3] = ["struct", "union", "class"];
/// What may stand before parentheses in a class that has data only.
const ATTRIBUTES: [&str; 4] = ["alignas", "__align__", "__attribute__", "aligned"];
/// What stands in a class that has more than data, or asks for the type of some.
const MORE_THAN_DATA: [&str; 13] = [
    "this",
    "friend",
    "operator",
    "template",
    "virtual",
    "using",
    "typedef",
    "static",
    "sizeof",
    "decltype",
    "auto",
    "__typeof__",
    "typeof",
];
/// What stands before a call where no type does.
const BEFORE_A_CALL: &[u8] = b";{}()=,+-/!?:<[|^%";

/// The first place in these files that names one of these in another form than those in which it may.
pub(super) fn stray_use(files: &[Arc<SourceFile>], uses: &[Use]) -> Option<Span> {
    let first = uses.first()?.declared;
    let is_source = |file: &SourceFile| {
        let ending = file.path.extension().and_then(|it| it.to_str()).map(str::to_ascii_lowercase);
        ending.is_some_and(|ending| SOURCES.contains(&ending.as_str()))
    };
    // A header may mean something else in another file.
    let of_header = uses.iter().find(|it| {
        it.declared.file != first.file
            || !files.iter().any(|file| file.id == it.declared.file && is_source(file))
    });
    if let Some(it) = of_header {
        return Some(it.declared);
    }
    let own = files.iter().find(|file| file.id == first.file)?;
    files.iter().enumerate().find_map(|(number, file)| {
        let is_known = files.iter().take(number).any(|known| known.id == file.id);
        (!is_known).then(|| Names::new(file).first_stray(own, uses)).flatten()
    })
}

/// The names in a file.
struct Names<'t> {
    file: &'t SourceFile,
    text: Text<'t>,
    /// By token: whether it stands in a directive.
    in_directive: Vec<bool>,
}

impl<'t> Names<'t> {
    fn new(file: &'t SourceFile) -> Names<'t> {
        let text = Text::new(&file.text);
        let mut within = false;
        let directives = text.tokens.iter().map(|token| {
            within = if token.first_in_line { token.is(b'#') } else { within };
            within
        });
        let in_directive = directives.collect();
        Names { file, text, in_directive }
    }

    fn span(&self, at: usize) -> Option<Span> {
        let token = self.text.tokens.get(at)?;
        Some(Span { file: self.file.id, start: token.start, end: token.end, nth: 0 })
    }

    fn first_stray(&self, own: &SourceFile, uses: &[Use]) -> Option<Span> {
        let is_own = self.file.id == own.id;
        let strays = |at: usize| {
            let token = &self.text.tokens[at];
            // Macros make names of parts of them.
            if is_own && token.is(b'#') && self.in_directive[at] && self.text.is(at + 1, b'#') {
                return true;
            }
            let mut named = uses.iter().filter(|it| self.text.word(at) == it.name);
            token.kind == Kind::Ident && named.any(|it| self.is_stray(at, it))
        };
        let class = uses.iter().find(|it| is_own && !self.defines_data(it)).map(|it| it.declared);
        class.or_else(|| (0..self.text.tokens.len()).find(|&at| strays(at)).and_then(|at| self.span(at)))
    }

    /// Whether a name at a token stands in a form that is not known.
    fn is_stray(&self, at: usize, it: &Use) -> bool {
        if self.in_directive[at] {
            return true;
        }
        let text = &self.text;
        let Some(own) = self.span(at) else { return false };
        let within = |of: Span| of.file == own.file && (of.start..of.end).contains(&own.start);
        if within(it.declared) || !it.scope.is_none_or(within) {
            return false;
        }
        match &it.form {
            UseForm::Class { object, .. } => {
                self.span(at + 1) != Some(*object) || self.shared_before(at).is_none()
            }
            _ if text.is_member(at) => false,
            UseForm::Object(members) => {
                let member = members.iter().find(|(name, _)| name == text.word(at + 2));
                let whole = |(_, rank): &(String, usize)| text.subscripts(at + 2).0 >= *rank;
                !text.is(at + 1, b'.') || !member.is_some_and(whole) || self.takes_address(at)
            }
            UseForm::Rows(rank, known) => {
                let is_known = known.iter().any(|known| (known.file, known.start) == (own.file, own.start));
                !is_known && (text.subscripts(at).0 < *rank || self.takes_address(at))
            }
            UseForm::Function => {
                let before = at.checked_sub(1);
                let in_place = before.is_some_and(|before| {
                    self.text.word(before) == "return"
                        || BEFORE_A_CALL.iter().any(|&punct| text.is(before, punct))
                });
                !in_place || !text.is(at + 1, b'(')
            }
        }
    }

    /// Whether the address of what stands at a token is taken, other than for an atomic.
    fn takes_address(&self, at: usize) -> bool {
        let text = &self.text;
        // `&(tile[0][0])`
        let is_call = |open: usize| {
            open.checked_sub(1).is_some_and(|callee| matches!(text.tokens[callee].kind, Kind::Ident))
        };
        let mut at = at;
        while text.stands_before(at, 1, b'(') && !is_call(at - 1) {
            at -= 1;
        }
        let atomic = at.checked_sub(3).map_or("", |callee| text.word(callee));
        text.stands_before(at, 1, b'&')
            && !(text.stands_before(at, 2, b'(') && atomic.starts_with("atomic"))
            && !at.checked_sub(2).is_some_and(|operand| {
                let is_value = matches!(text.tokens[operand].kind, Kind::Ident | Kind::Number);
                let closes = text.is(operand, b']') || text.is(operand, b')');
                is_value && text.word(operand) != "return" || closes
            })
    }

    /// The `__shared__` before a class's name or the word before it, if it stands there.
    fn shared_before(&self, at: usize) -> Option<usize> {
        let before = at.checked_sub(1)?;
        let before = if CLASS.contains(&self.text.word(before)) { before.checked_sub(1)? } else { before };
        (self.text.word(before) == "__shared__").then_some(before)
    }

    /// Whether a class has data only, and is defined by itself or with its one object; true of all else.
    fn defines_data(&self, it: &Use) -> bool {
        let UseForm::Class { extent, object } = &it.form else { return true };
        let text = &self.text;
        let index = |start: u32| text.tokens.iter().position(|token| token.start >= start);
        let Some(open) =
            index(extent.start).and_then(|first| (first..text.tokens.len()).find(|&at| text.is(at, b'{')))
        else {
            return false;
        };
        let Some((close, object)) = text.partner(open).zip(index(object.start)) else { return false };
        let is_data = |at: usize| {
            let word = text.word(at);
            let opens = |before: usize| text.is(before, b')') || text.tokens[before].kind == Kind::Ident;
            let is_call = || text.is(at, b'(') && opens(at - 1) && !ATTRIBUTES.contains(&text.word(at - 1));
            !(MORE_THAN_DATA.contains(&word) || self.in_directive[at] || is_call())
        };
        let name = index(it.declared.start).unwrap_or(open).min(open);
        let with_object = close + 1 == object && self.shared_before(name).is_some();
        text.is(object + 1, b';')
            && (with_object || text.is(close + 1, b';'))
            && (open + 1..close).all(is_data)
    }
}
