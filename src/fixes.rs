//! Which edits repair the findings, are they safe, and what is a file's text with them?
//!
//! An edit that puts a barrier between two accesses is never safe: where all threads come by is for the author to
//! say. Nor is one that takes a barrier out, which may be there for another reason. One that gives elements another
//! index was proved place by place, and says itself what speaks against it. Any other lengthens the rows of an array
//! in its declaration. The model has run the kernel with it; what the model cannot see is code that rests
//! on the array's type or size. So an edit is safe when the declaration is written out where it stands, and
//! everything in its scope that names the array gives it all its subscripts and takes no address.

use crate::diagnostic::{Basis, Diagnostic, Edit, Fix};
use crate::preproc::{Kind, Lexer, Token, partners};
use crate::source::{SourceFile, Sources, Span};
use std::ops::Range;

/// A fix, and the findings that it repairs.
#[derive(Debug)]
pub(crate) struct Repair<'a> {
    /// The fix.
    pub fix: &'a Fix,
    /// The numbers of the findings.
    pub findings: Vec<usize>,
    /// Why it may break the program, if it may.
    pub doubt: Option<String>,
}

/// The fixes of findings, each once, in order.
#[must_use]
pub(crate) fn repairs<'a>(sources: &Sources, findings: &'a [Diagnostic]) -> Vec<Repair<'a>> {
    let mut found: Vec<Repair<'a>> = Vec::new();
    let mut covered = Vec::new();
    for (number, finding) in findings.iter().enumerate() {
        let Some(fix) = &finding.fix else { continue };
        if findings.iter().filter_map(|it| it.fix.as_ref()).any(|other| covers(other, fix)) {
            covered.push((number, fix));
            continue;
        }
        match found.iter_mut().find(|repair| repair.fix.edits == fix.edits) {
            Some(repair) => repair.findings.push(number),
            None => {
                let doubt = why_unsafe(sources, fix);
                found.push(Repair { fix, findings: vec![number], doubt });
            }
        }
    }
    for (number, fix) in covered {
        let by = found.iter_mut().find(|repair| covers(repair.fix, fix));
        by.into_iter().for_each(|repair| repair.findings.push(number));
    }
    found
}

/// Whether a fix puts barriers of the block wherever another one puts such of the warp, which are of no use beside them.
fn covers(fix: &Fix, of_warp: &Fix) -> bool {
    let is_covered = |edit: &Edit| {
        edit.text.contains("__syncwarp()") && {
            let wide = edit.text.replace("__syncwarp()", "__syncthreads()");
            fix.edits.iter().any(|it| it.span == edit.span && it.text == wide)
        }
    };
    of_warp.edits.iter().all(is_covered)
}

/// Why a fix may break the program, so that only `--unsafe-fixes` makes it; `None` if it may not.
#[must_use]
pub(crate) fn why_unsafe(sources: &Sources, fix: &Fix) -> Option<String> {
    match &fix.basis {
        Basis::Judgement(doubt) => Some(doubt.clone()),
        Basis::Subscripts => fix.edits.iter().find_map(|edit| doubt(&sources.get(edit.span.file), edit)),
        Basis::Accesses { name, scope, seen, doubt } => {
            doubt.clone().or_else(|| unseen(&sources.get(scope.file), name, *scope, seen))
        }
    }
}

/// The bytes with the edits, which are of one file; `None` when they overlap or lie outside.
#[must_use]
pub(crate) fn apply(bytes: &[u8], edits: &[&Edit]) -> Option<Vec<u8>> {
    let mut edits = edits.to_vec();
    edits.sort_by_key(|edit| (edit.span.start, edit.span.end));
    let mut out = Vec::with_capacity(bytes.len() + 16);
    let mut copied = 0;
    for edit in edits {
        let Range { start, end } = edit.span.range();
        out.extend_from_slice(bytes.get(copied..start)?);
        out.extend_from_slice(edit.text.as_bytes());
        copied = end.max(start);
    }
    out.extend_from_slice(bytes.get(copied..)?);
    Some(out)
}

/// Why a longer row may break the program, if it may.
fn doubt(file: &SourceFile, edit: &Edit) -> Option<String> {
    let text = Text::new(&file.text);
    let elsewhere = || Some("the array's declaration is not written out in full".to_owned());
    let Some(array) = text.array(edit.span.range()) else { return elsewhere() };
    let name = text.word(array.name);
    for at in array.name + 1..text.tokens.len() {
        if text.partner(at).is_some_and(|open| open < array.name) && text.tokens[at].is(b'}') {
            break;
        }
        if text.tokens[at].kind != Kind::Ident || text.word(at) != name || text.is_member(at) {
            continue;
        }
        let line = file.line_column(text.tokens[at].start).0;
        if text.subscripts(at) < array.dimensions {
            return Some(format!("`{name}` is used without all its subscripts on line {line}"));
        }
        if text.is_address(at) {
            return Some(format!("the address of an element of `{name}` is taken on line {line}"));
        }
    }
    None
}

/// Where the text names an array that the analysis did not see there, in an untaken `#if` or a `sizeof`.
fn unseen(file: &SourceFile, name: &str, scope: Span, seen: &[Span]) -> Option<String> {
    let text = Text::new(&file.text);
    let token = (0..text.tokens.len()).find(|&at| {
        let token = &text.tokens[at];
        let within = |span: &Span| span.file == file.id && (span.start..span.end).contains(&token.start);
        (scope.start..scope.end).contains(&token.start)
            && token.kind == Kind::Ident
            && text.word(at) == name
            && !text.is_member(at)
            && !seen.iter().any(within)
    })?;
    let line = file.line_column(text.tokens[token].start).0;
    Some(format!("`{name}` is named on line {line}, where the analysis did not see it"))
}

/// A file's tokens.
struct Text<'t> {
    text: &'t str,
    tokens: Vec<Token>,
    partners: Vec<u32>,
}

/// Where an array is declared.
struct Declared {
    /// The token that is its name.
    name: usize,
    dimensions: usize,
}

impl<'t> Text<'t> {
    fn new(text: &'t str) -> Text<'t> {
        let mut lexer = Lexer::new(text);
        let tokens: Vec<Token> = std::iter::from_fn(|| lexer.next()).collect();
        let partners = partners(&tokens);
        Text { text, tokens, partners }
    }

    fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).and_then(|token| self.text.get(token.range())).unwrap_or("")
    }

    fn is(&self, at: usize, punct: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(punct))
    }

    fn partner(&self, at: usize) -> Option<usize> {
        self.partners.get(at).map(|&partner| partner as usize).filter(|&partner| partner < self.tokens.len())
    }

    /// The shared array one of whose dimensions is written at `dimension`.
    fn array(&self, dimension: Range<usize>) -> Option<Declared> {
        let first = self.tokens.partition_point(|token| (token.start as usize) < dimension.start);
        let mut open = first.checked_sub(1)?;
        let close = self.partner(open).filter(|_| self.is(open, b'['))?;
        let inside = self.tokens.get(close.checked_sub(1)?)?.range().end;
        if self.tokens.get(first)?.start as usize != dimension.start || inside != dimension.end {
            return None;
        }
        let mut name = open.checked_sub(1)?;
        while self.is(name, b']') {
            open = self.partner(name)?;
            name = open.checked_sub(1)?;
        }
        let is_name = self.tokens.get(name)?.kind == Kind::Ident;
        let before = (0..name).rev().take_while(|&at| {
            !self.tokens.get(at).is_some_and(|token| [b';', b'{', b'}'].iter().any(|&punct| token.is(punct)))
        });
        let mut words = before.map(|at| self.word(at));
        let shared = words.any(|word| word == "__shared__");
        (is_name && shared).then(|| Declared { name, dimensions: self.subscripts(name) })
    }

    /// How many pairs of brackets stand behind a token.
    fn subscripts(&self, at: usize) -> usize {
        let mut count = 0;
        let mut next = at + 1;
        while self.is(next, b'[')
            && let Some(close) = self.partner(next)
        {
            count += 1;
            next = close + 1;
        }
        count
    }

    /// Whether a name is a member's: `.name` or `->name`.
    fn is_member(&self, at: usize) -> bool {
        let before = |back: usize, punct| at.checked_sub(back).is_some_and(|at| self.is(at, punct));
        before(1, b'.') || before(1, b'>') && before(2, b'-')
    }

    /// Whether `&` stands before a name and is no binary operator.
    fn is_address(&self, at: usize) -> bool {
        let Some(and) = at.checked_sub(1).filter(|&before| self.is(before, b'&')) else { return false };
        let operand = and.checked_sub(1).and_then(|before| self.tokens.get(before));
        !operand.is_some_and(|token| {
            let word = self.text.get(token.range()).unwrap_or("");
            word != "return"
                && (matches!(token.kind, Kind::Ident | Kind::Number) || token.is(b']') || token.is(b')'))
        })
    }
}

#[cfg(test)]
mod tests;
