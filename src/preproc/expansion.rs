//! What does one use of a macro become?
//!
//! The C rules: arguments are expanded before they are put in, unless `#` or `##` touches
//! them; the result is scanned again; a macro is not expanded inside its own expansion.
//! Directives among the arguments are carried out before these are expanded, as by GCC. Every step is counted, so
//! that no set of definitions can make this slow.

use super::builtin::is_short_fallback;
use super::lexer::{Kind, Lexer, Token, is_ident};
use super::macros::{MacroRef, Macros};
use super::piece::{MADE, Piece};
use super::replacement::{Body, BodyPiece};
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::Range;
use std::rc::Rc;

/// How deep the arguments of macro calls may nest in each other.
const MAX_NESTING: u32 = 64;
/// How many tokens one use may handle, its nested uses included.
const MAX_STEPS: u64 = 400_000;
/// How many bytes one use may become.
const MAX_BYTES: usize = 64 << 10;

/// The use cannot be expanded within the limits, or its call is not closed.
#[derive(Debug)]
pub(crate) struct LeaveAsIs;

/// What is kept between the expansions of one file.
#[derive(Debug)]
pub(crate) struct Kept {
    /// How many more tokens may be handled.
    budget: u64,
    /// The replacements that were used before.
    bodies: FxHashMap<MacroRef, Rc<Body>>,
}

impl Kept {
    /// Nothing yet, and a budget of tokens.
    pub(super) fn with_budget(budget: u64) -> Kept {
        Kept { budget, bodies: FxHashMap::default() }
    }
}

/// Expands uses in one file.
pub(crate) struct Expander<'a> {
    macros: &'a Macros,
    kept: &'a mut Kept,
    /// The byte of the expanded file at which names are looked up.
    at: u32,
    made: String,
    active: FxHashSet<MacroRef>,
    steps: u64,
    in_condition: bool,
}

struct Frame {
    pieces: Rc<[Piece]>,
    next: usize,
    of: Option<MacroRef>,
}

/// The input of one scan: a stack of expansions over, perhaps, the file's own text.
struct Input<'l, 't> {
    frames: Vec<Frame>,
    text: Option<&'l mut Lexer<'t>>,
}

impl<'a> Expander<'a> {
    /// An expander that goes on with what was `kept`.
    pub(super) fn new(macros: &'a Macros, kept: &'a mut Kept) -> Expander<'a> {
        Expander {
            macros,
            kept,
            at: u32::MAX,
            made: String::new(),
            active: FxHashSet::default(),
            steps: 0,
            in_condition: false,
        }
    }

    /// The text of a token.
    pub(super) fn text(&self, piece: &Piece) -> &str {
        let text = match piece.file {
            MADE => Some(self.made.as_str()),
            file => self.macros.files.get(file as usize).map(|file| file.file.text.as_str()),
        };
        text.and_then(|text| text.get(piece.start as usize..piece.end as usize)).unwrap_or("")
    }

    /// Expands the use of a macro whose name is `name`; `lexer` stands after it and is moved
    /// to the end of the use.
    pub(super) fn expand_use(&mut self, name: Token, lexer: &mut Lexer<'_>) -> Result<Vec<Piece>, LeaveAsIs> {
        self.at = name.start;
        self.start();
        let first = Rc::from([Piece::of(name, 0, false)]);
        let mut input = Input { frames: vec![Frame { pieces: first, next: 0, of: None }], text: Some(lexer) };
        self.scan(&mut input, 0)
    }

    /// Expands the condition at `range` of file number `file` with the macros of the moment.
    pub(super) fn expand_condition(
        &mut self,
        file: u32,
        range: &Range<usize>,
    ) -> Result<Vec<Piece>, LeaveAsIs> {
        let macros = self.macros;
        let text = macros.files.get(file as usize).map_or("", |file| file.file.text.as_str());
        let mut lexer = Lexer::over(text, range.start as u32, range.end as u32);
        let pieces: Vec<Piece> =
            std::iter::from_fn(|| lexer.next()).map(|token| Piece::of(token, file, false)).collect();
        self.start();
        self.in_condition = true;
        let mut input =
            Input { frames: vec![Frame { pieces: pieces.into(), next: 0, of: None }], text: None };
        let result = self.scan(&mut input, 0);
        self.in_condition = false;
        result
    }

    fn start(&mut self) {
        self.active.clear();
        self.made.clear();
        self.steps = 0;
    }

    fn step(&mut self, tokens: usize) -> Result<(), LeaveAsIs> {
        let tokens = tokens as u64;
        self.steps += tokens;
        self.kept.budget = self.kept.budget.saturating_sub(tokens);
        if self.steps > MAX_STEPS || self.kept.budget == 0 { Err(LeaveAsIs) } else { Ok(()) }
    }

    /// Reads everything of `input`'s frames, expanding what is a macro.
    fn scan(&mut self, input: &mut Input<'_, '_>, nesting: u32) -> Result<Vec<Piece>, LeaveAsIs> {
        if nesting > MAX_NESTING {
            return Err(LeaveAsIs);
        }
        let mut out = Vec::new();
        let mut bytes = 0;
        while let Some(piece) = self.next(input)? {
            if let Some(body) = self.body_of(&piece)
                && self.stands_as_meant(&piece, &body, input)
                && (body.params.is_none() || self.open_paren(input))
            {
                let arguments = match body.params {
                    Some(_) => self.arguments(input, &body)?,
                    None => Vec::new(),
                };
                let pieces = self.substitute(&body, &arguments, piece.space, nesting)?;
                self.active.insert(body.place);
                input.frames.push(Frame { pieces: pieces.into(), next: 0, of: Some(body.place) });
                continue;
            }
            bytes += (piece.end - piece.start) as usize + 1;
            if bytes > MAX_BYTES {
                return Err(LeaveAsIs);
            }
            out.push(piece);
            if self.in_condition && piece.kind == Kind::Ident {
                self.copy_operand(input, &piece, &mut out)?;
            }
        }
        Ok(out)
    }

    /// Copies what `defined` and `__has_include` apply to, unexpanded.
    fn copy_operand(
        &mut self,
        input: &mut Input<'_, '_>,
        word: &Piece,
        out: &mut Vec<Piece>,
    ) -> Result<(), LeaveAsIs> {
        let until_close = match self.text(word) {
            "defined" => false,
            "__has_include" | "__has_include_next" => true,
            _ => return Ok(()),
        };
        let mut open = false;
        while let Some(piece) = self.next(input)? {
            out.push(piece);
            match piece.kind {
                Kind::Punct(b'(') if !open => open = true,
                Kind::Punct(b')') => break,
                _ if !open || !until_close && piece.kind == Kind::Ident => break,
                _ => {}
            }
        }
        Ok(())
    }

    /// The next token of the frames, painted if its macro is being expanded.
    fn next(&mut self, input: &mut Input<'_, '_>) -> Result<Option<Piece>, LeaveAsIs> {
        while let Some(frame) = input.frames.last_mut() {
            if let Some(piece) = frame.pieces.get(frame.next) {
                frame.next += 1;
                let mut piece = *piece;
                self.step(1)?;
                if piece.kind == Kind::Ident && !self.active.is_empty() && !piece.painted {
                    let place = self.lookup(&piece);
                    piece.painted = place.is_some_and(|place| self.active.contains(&place));
                }
                return Ok(Some(piece));
            }
            if let Some(place) = input.frames.pop().and_then(|frame| frame.of) {
                self.active.remove(&place);
            }
        }
        Ok(None)
    }

    fn lookup(&self, piece: &Piece) -> Option<MacroRef> {
        let name = self.text(piece);
        if self.in_condition {
            self.macros.get(name, self.at)
        } else {
            self.macros.get_or_fallback(name, self.at)
        }
    }

    fn body_of(&mut self, piece: &Piece) -> Option<Rc<Body>> {
        if piece.kind != Kind::Ident || piece.painted {
            return None;
        }
        let place = self.lookup(piece)?;
        if let Some(body) = self.kept.bodies.get(&place) {
            return Some(Rc::clone(body));
        }
        let body = Rc::new(Body::read(self.macros, place)?);
        self.kept.bodies.insert(place, Rc::clone(&body));
        Some(body)
    }

    /// Whether a well-known short name stands where only attributes can: before a word.
    fn stands_as_meant(&self, name: &Piece, body: &Body, input: &Input<'_, '_>) -> bool {
        if !Macros::is_fallback(body.place) || !is_short_fallback(self.text(name)) {
            return true;
        }
        let mut frames = input.frames.iter().rev();
        let next = frames.find_map(|frame| frame.pieces.get(frame.next)).map(|piece| piece.kind);
        let in_text = || input.text.as_deref().and_then(|lexer| lexer.clone().next()).map(|token| token.kind);
        next.or_else(in_text) == Some(Kind::Ident)
    }

    /// Whether the next token is `(`, which is then read.
    fn open_paren(&mut self, input: &mut Input<'_, '_>) -> bool {
        for depth in (0..input.frames.len()).rev() {
            let frame = &input.frames[depth];
            let Some(piece) = frame.pieces.get(frame.next) else { continue };
            if piece.kind != Kind::Punct(b'(') {
                return false;
            }
            while input.frames.len() > depth + 1 {
                if let Some(place) = input.frames.pop().and_then(|frame| frame.of) {
                    self.active.remove(&place);
                }
            }
            input.frames[depth].next += 1;
            return true;
        }
        let Some(lexer) = &mut input.text else { return false };
        let mut ahead = (**lexer).clone();
        let open = ahead.next().is_some_and(|token| token.is(b'('));
        if open {
            **lexer = ahead;
            self.active.clear();
            input.frames.clear();
        }
        open
    }

    /// Reads a call's arguments up to its `)`.
    fn arguments(&mut self, input: &mut Input<'_, '_>, body: &Body) -> Result<Vec<Vec<Piece>>, LeaveAsIs> {
        let wanted = body.params.unwrap_or(0);
        let mut arguments = vec![Vec::new()];
        let mut depth = 0_usize;
        loop {
            let piece = match self.next(input)? {
                Some(piece) => piece,
                None => {
                    self.step(1)?;
                    let token = input.text.as_mut().and_then(|lexer| lexer.next()).ok_or(LeaveAsIs)?;
                    // A `#define` between the arguments counts for all of them, as they are expanded after that.
                    self.at = self.at.max(token.end);
                    Piece::of(token, 0, true)
                }
            };
            match piece.kind {
                Kind::Punct(b'(') => depth += 1,
                Kind::Punct(b')') if depth == 0 => break,
                Kind::Punct(b')') => depth -= 1,
                Kind::Punct(b',') if depth == 0 && !(body.variadic && arguments.len() >= wanted) => {
                    arguments.push(Vec::new());
                    continue;
                }
                _ => {}
            }
            if let Some(last) = arguments.last_mut() {
                last.push(piece);
            }
        }
        let given = arguments.len();
        let empty = given == 1 && arguments[0].is_empty();
        let fits = given == wanted || wanted == 0 && empty || body.variadic && given + 1 == wanted;
        arguments.resize(wanted, Vec::new());
        if fits { Ok(arguments) } else { Err(LeaveAsIs) }
    }

    /// The replacement with the arguments put in.
    fn substitute(
        &mut self,
        body: &Body,
        arguments: &[Vec<Piece>],
        space: bool,
        nesting: u32,
    ) -> Result<Vec<Piece>, LeaveAsIs> {
        let mut expanded: Vec<Option<Rc<[Piece]>>> = vec![None; arguments.len()];
        let mut out: Vec<Piece> = Vec::with_capacity(body.pieces.len());
        let mut paste = false;
        let mut index = 0;
        while let Some(&piece) = body.pieces.get(index) {
            index += 1;
            let pasted_next = matches!(body.pieces.get(index), Some(BodyPiece::Paste));
            let before = out.len();
            match piece {
                BodyPiece::Plain(piece) => out.push(piece),
                BodyPiece::Paste => {
                    // `, ## __VA_ARGS__` drops the comma when there are no further arguments.
                    let rest = body.params.and_then(|params| arguments.get(params.wrapping_sub(1)));
                    let comma = out.last().is_some_and(|last| last.kind == Kind::Punct(b','));
                    let variadic = matches!(body.pieces.get(index), Some(&BodyPiece::Param { index, .. })
                        if body.variadic && Some(index + 1) == body.params);
                    match rest {
                        Some(rest) if comma && variadic && rest.is_empty() => {
                            out.pop();
                        }
                        Some(_) if comma && variadic => {}
                        _ => paste = true,
                    }
                    continue;
                }
                BodyPiece::VaOpt(length) => {
                    let rest = body.params.and_then(|params| arguments.get(params.wrapping_sub(1)));
                    if rest.is_none_or(|rest| rest.is_empty()) {
                        index += length;
                    }
                    continue;
                }
                BodyPiece::Stringize { index, space } => {
                    let literal = self.stringize(arguments.get(index).map_or(&[], Vec::as_slice));
                    out.push(Piece { space, ..literal });
                }
                BodyPiece::Param { index, space } => {
                    let raw = arguments.get(index).map_or(&[][..], Vec::as_slice);
                    if paste || pasted_next {
                        out.extend_from_slice(raw);
                    } else if let Some(slot) = expanded.get_mut(index) {
                        let pieces = match slot {
                            Some(pieces) => Rc::clone(pieces),
                            None => {
                                let pieces = self.expand_argument(raw, nesting)?;
                                Rc::clone(slot.insert(pieces))
                            }
                        };
                        out.extend_from_slice(&pieces);
                    }
                    if let Some(first) = out.get_mut(before) {
                        first.space = space;
                    }
                }
            }
            self.step(out.len() - before)?;
            if std::mem::take(&mut paste) && before > 0 && out.len() > before {
                let glued = self.glue(out[before - 1], out[before]);
                out.splice(before - 1..=before, glued);
            }
        }
        if let Some(first) = out.first_mut() {
            first.space = space;
        }
        Ok(out)
    }

    fn expand_argument(&mut self, raw: &[Piece], nesting: u32) -> Result<Rc<[Piece]>, LeaveAsIs> {
        if !raw.iter().any(|piece| piece.kind == Kind::Ident) {
            return Ok(raw.into());
        }
        let mut input = Input { frames: vec![Frame { pieces: raw.into(), next: 0, of: None }], text: None };
        Ok(self.scan(&mut input, nesting + 1)?.into())
    }

    /// The string literal that `#` makes.
    fn stringize(&mut self, pieces: &[Piece]) -> Piece {
        let mut literal = String::from("\"");
        for (index, piece) in pieces.iter().enumerate() {
            if index > 0 && piece.space {
                literal.push(' ');
            }
            let text = self.text(piece);
            if matches!(piece.kind, Kind::String | Kind::Char) {
                for character in text.chars() {
                    if matches!(character, '"' | '\\') {
                        literal.push('\\');
                    }
                    literal.push(character);
                }
            } else {
                literal.push_str(text);
            }
        }
        literal.push('"');
        self.make(&literal)
    }

    /// What `##` makes of two tokens: one if they fit together, else both.
    fn glue(&mut self, left: Piece, right: Piece) -> Vec<Piece> {
        let glued = [self.text(&left), self.text(&right)].concat();
        let mut lexer = Lexer::new(&glued);
        let whole = lexer.next().is_some_and(|token| token.end as usize == glued.len());
        let operators = matches!((left.kind, right.kind), (Kind::Punct(_), Kind::Punct(_)));
        if whole || operators {
            vec![Piece { space: left.space, ..self.make(&glued) }]
        } else {
            vec![left, right]
        }
    }

    fn make(&mut self, text: &str) -> Piece {
        let start = self.made.len() as u32;
        self.made.push_str(text);
        let kind = Lexer::new(text).next().map_or(Kind::Punct(b' '), |token| token.kind);
        let end = self.made.len() as u32;
        Piece { kind, space: false, argument: false, painted: false, file: MADE, start, end }
    }
}

/// Whether a blank must stand between two bytes so that they stay two tokens.
pub(crate) fn must_separate(left: u8, right: u8) -> bool {
    let operator = |byte| b"+-<>&|=:/*%^!.#".contains(&byte);
    let quote = |byte| matches!(byte, b'"' | b'\'');
    is_ident(left) && (is_ident(right) || quote(right))
        || quote(left) && is_ident(right)
        || operator(left) && operator(right)
        || left == b'.' && right.is_ascii_digit()
        || left.is_ascii_digit() && right == b'.'
}
