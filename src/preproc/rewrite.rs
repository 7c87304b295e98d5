//! What does the file's text become when its macros are expanded?
//!
//! Copies the text run by run and records for every run where it came from. A use becomes
//! one segment that stands for the whole use, except that arguments which appear unchanged in
//! the result keep their own places: code that is passed to a macro is found where it is written.

use super::expansion::{Expander, Kept, must_separate};
use super::lexer::{Kind, Lexer, Token};
use super::macros::Macros;
use super::piece::Piece;
use super::{Segment, SpanMap};
use crate::source::Span;

/// How many tokens of macro expansion a file may cost, beyond eight for each of its bytes.
const BUDGET: u64 = 1 << 20;

/// The new text and its map; `None` when no macro is used.
pub(crate) fn expand_text(base: &str, macros: &Macros) -> Option<(String, SpanMap)> {
    let length = base.len();
    let mut kept = Kept::with_budget(BUDGET.saturating_add(length as u64 * 8));
    let mut expander = Expander::new(macros, &mut kept);
    let mut writer = Writer {
        base,
        out: String::new(),
        segments: Vec::new(),
        copied: 0,
        limit: length.saturating_mul(4).saturating_add(64 << 10),
    };
    let mut lexer = Lexer::new(base);
    while let Some(token) = lexer.next() {
        let Some(name) = base.get(token.range()) else { continue };
        if token.kind != Kind::Ident {
            continue;
        }
        let Some(place) = macros.get_or_fallback(name, token.start) else { continue };
        let mut after = lexer.clone();
        let Ok(pieces) = expander.expand_use(token, &mut after) else { continue };
        if is_name_alone(&pieces, token, &after) || is_assertion(name, &after) {
            continue;
        }
        let used = Use { start: token.start, end: after.position(), definition: macros.span(place) };
        if writer.replace(&used, &pieces, &expander) {
            lexer = after;
        }
    }
    writer.finish()
}

/// Whether nothing was expanded: a function-like macro's name without a call.
fn is_name_alone(pieces: &[Piece], name: Token, after: &Lexer<'_>) -> bool {
    after.position() == name.end
        && matches!(pieces, [piece] if piece.kind == Kind::Ident && piece.start == name.start && piece.is_main())
}

/// An assertion in a statement of its own is clearer as the call that it looks like.
fn is_assertion(name: &str, after: &Lexer<'_>) -> bool {
    let tail = name.len().checked_sub(6).and_then(|at| name.get(at..));
    tail.is_some_and(|tail| tail.eq_ignore_ascii_case("assert"))
        && after.clone().next().is_some_and(|token| token.is(b';'))
}

struct Use {
    start: u32,
    end: u32,
    definition: Option<Span>,
}

struct Writer<'t> {
    base: &'t str,
    out: String,
    segments: Vec<Segment>,
    /// How far the original has been used up.
    copied: u32,
    limit: usize,
}

impl<'t> Writer<'t> {
    fn open_segment(&mut self, original_start: u32, from: Option<&Use>, is_argument: bool) {
        let segment = Segment {
            expanded_start: self.out.len() as u32,
            original_start,
            macro_use_end: from.filter(|_| !is_argument).map(|used| used.end),
            definition: from.and_then(|used| used.definition),
            is_argument,
        };
        match self.segments.last_mut() {
            Some(last) if last.expanded_start == segment.expanded_start => *last = segment,
            _ => self.segments.push(segment),
        }
    }

    fn copy_until(&mut self, end: u32) {
        if end > self.copied {
            self.open_segment(self.copied, None, false);
            self.out.push_str(self.base.get(self.copied as usize..end as usize).unwrap_or(""));
        }
        self.copied = end;
    }

    fn separate_from(&mut self, right: Option<u8>) -> bool {
        match (self.out.bytes().next_back(), right) {
            (Some(left), Some(right)) => must_separate(left, right),
            _ => false,
        }
    }

    /// Writes the expansion of a use, unless the file has grown too much.
    fn replace(&mut self, used: &Use, pieces: &[Piece], expander: &Expander<'_>) -> bool {
        let bytes: usize = pieces.iter().map(|piece| (piece.end - piece.start) as usize + 1).sum();
        let rest = self.base.len() - used.end as usize;
        let verbatim = used.start.saturating_sub(self.copied) as usize;
        if self.out.len() + verbatim + bytes + rest > self.limit {
            return false;
        }
        self.copy_until(used.start);
        let mut in_macro = false;
        let mut last: Option<Piece> = None;
        for piece in pieces {
            let text = expander.text(piece);
            let gap = last.and_then(|last| self.gap(&last, piece));
            match gap {
                Some(gap) => self.out.push_str(gap),
                None => {
                    let adjacent = last.is_some_and(|last| last.touches(piece));
                    let space = match last {
                        Some(_) if adjacent => false,
                        Some(_) if piece.space => true,
                        _ => self.separate_from(text.bytes().next()),
                    };
                    if !in_macro && (space || !piece.argument) {
                        self.open_segment(used.start, Some(used), false);
                        in_macro = true;
                    }
                    if space {
                        self.out.push(' ');
                    }
                    if piece.argument {
                        self.open_segment(piece.start, Some(used), true);
                        in_macro = false;
                    }
                }
            }
            self.out.push_str(text);
            last = Some(*piece);
        }
        self.copied = used.end;
        if self.separate_from(self.base.as_bytes().get(used.end as usize).copied()) {
            if !in_macro {
                self.open_segment(used.start, Some(used), false);
            }
            self.out.push(' ');
        }
        true
    }

    /// The white space between two arguments' tokens that follow each other in the original.
    fn gap(&self, left: &Piece, right: &Piece) -> Option<&'t str> {
        const LONGEST: u32 = 1024;
        if !left.argument || !right.argument || right.start < left.end || right.start - left.end > LONGEST {
            return None;
        }
        let gap = self.base.get(left.end as usize..right.start as usize)?;
        gap.bytes().all(|byte| byte.is_ascii_whitespace()).then_some(gap)
    }

    fn finish(mut self) -> Option<(String, SpanMap)> {
        if self.segments.is_empty() && self.copied == 0 {
            return None;
        }
        self.copy_until(self.base.len() as u32);
        Some((self.out, SpanMap { segments: self.segments }))
    }
}
