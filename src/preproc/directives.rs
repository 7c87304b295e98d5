//! Which preprocessor directives does this file hold, and where does each conditional go on?
//!
//! A file's directives are read once; what they mean depends on the macros at the time
//! they are replayed.

use super::Includes;
use super::lexer::{Kind, Lexer, Token};
use super::seen::Seen;
use crate::source::{FileId, SourceFile, Span};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// One file's directives, in order.
#[derive(Debug)]
pub(crate) struct Directives {
    /// The file.
    pub file: Arc<SourceFile>,
    /// Whether `file` belongs to the run, so that spans into it mean something.
    pub has_spans: bool,
    /// The directives.
    pub list: Vec<Directive>,
    /// The numbers of the headers that `list`'s includes led to so far; else [`NO_HEADER`], or [`NOT_FOUND`]
    /// where they led to none. Apart from the list, because most includes lead to a file that was included before: many are told at once.
    led_to: Box<[AtomicU32]>,
    /// What is found out about the file on demand.
    pub seen: Seen,
}

/// Not the number of a header.
const NO_HEADER: u32 = u32::MAX;
/// What stands for the number of a header that was not found.
const NOT_FOUND: u32 = u32::MAX - 1;

/// One directive: the bytes from its `#` to its last token.
#[derive(Debug)]
pub(crate) struct Directive {
    /// The `#`.
    pub start: u32,
    /// One past the last token.
    pub end: u32,
    /// What it says.
    pub kind: DirectiveKind,
}

/// What a directive says. `next` is the index of the conditional directive that ends the
/// group this one opens, or the number of directives when nothing does.
#[derive(Debug)]
pub(crate) enum DirectiveKind {
    /// `#define`
    Define(Box<Define>),
    /// `#undef NAME`
    Undef(Range<usize>),
    /// `#if`, `#ifdef`, `#ifndef`
    If { test: Test, next: u32 },
    /// `#elif`, `#elifdef`, `#elifndef`
    Elif { test: Test, next: u32 },
    /// `#else`
    Else { next: u32 },
    /// `#endif`
    Endif,
    /// `#include` and what it led to, which is looked up once.
    Include { spec: Range<usize>, angled: bool, found: OnceLock<Option<Arc<SourceFile>>> },
    /// `#include MACRO`
    IncludeMacro(Range<usize>),
    /// `#pragma once`
    PragmaOnce,
    /// `#pragma push_macro("NAME")`
    PushMacro(Range<usize>),
    /// `#pragma pop_macro("NAME")`
    PopMacro(Range<usize>),
    /// `#pragma`, `#error`, `#line`, a lone `#`, and whatever else
    Other,
}

/// The condition of a conditional directive.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    /// The bytes of an expression.
    Expression(Range<usize>),
    /// `#ifdef`
    Defined(Range<usize>),
    /// `#ifndef`
    NotDefined(Range<usize>),
}

/// A macro's definition.
#[derive(Debug)]
pub(crate) struct Define {
    /// The name.
    pub name: Arc<str>,
    /// The parameters' names, `None` for an object-like macro. A variadic macro's last one
    /// is `__VA_ARGS__` or the name before `...`.
    pub params: Option<Vec<Range<usize>>>,
    /// Whether the last parameter takes all remaining arguments.
    pub variadic: bool,
    /// The bytes of the replacement.
    pub body: Range<usize>,
}

impl Directives {
    /// Reads a file's directives.
    pub(crate) fn read(file: Arc<SourceFile>, has_spans: bool) -> Directives {
        let text = file.text.as_str();
        let mut list = Vec::new();
        let mut groups = Vec::new();
        // Most of a file has no directives; nothing after the last `#` can be one.
        let end = memchr::memrchr(b'#', text.as_bytes()).map_or(0, |last| last + 1);
        let mut lexer = Lexer::new(text);
        while (lexer.position() as usize) < end
            && let Some(token) = lexer.next()
        {
            if token.is(b'#') && token.first_in_line {
                let kind = directive(text, &mut lexer, list.len(), &mut groups, &mut list);
                list.push(Directive { start: token.start, end: lexer.position(), kind });
            }
        }
        let count = list.len() as u32;
        groups.into_iter().for_each(|open| link(&mut list, open, count));
        let led_to = list.iter().map(|_| AtomicU32::new(NO_HEADER)).collect();
        Directives { file, has_spans, list, led_to, seen: Seen::default() }
    }

    /// The header that directive `index` includes.
    pub(crate) fn included(&self, index: usize, includes: &dyn Includes) -> Option<&Arc<SourceFile>> {
        let DirectiveKind::Include { spec, angled, found } = &self.list.get(index)?.kind else { return None };
        let open = || {
            let spec = self.file.text.get(spec.clone()).unwrap_or("");
            let found = includes.open(&self.file, spec, *angled);
            if let (Some(found), Some(place)) = (&found, self.led_to.get(index)) {
                place.store(found.id.0, Ordering::Relaxed);
            }
            found
        };
        found.get_or_init(open).as_ref()
    }

    /// Whether directive `index` was run and led to no header, or past its branch.
    pub(super) fn led_nowhere(&self, index: usize) -> bool {
        self.led_to.get(index).is_some_and(|place| place.load(Ordering::Relaxed) == NOT_FOUND)
    }

    /// Notes that directive `index` was run and led to no header, or past its branch.
    pub(crate) fn miss(&self, index: usize) {
        if let Some(place) = self.led_to.get(index) {
            place.store(NOT_FOUND, Ordering::Relaxed);
        }
    }

    /// How many directives from `index` on include, one after the other, headers that are `done`.
    pub(crate) fn included_again(&self, index: usize, done: impl Fn(FileId) -> bool) -> usize {
        let rest = self.led_to.get(index..).unwrap_or_default().iter();
        let headers = rest.map(|place| place.load(Ordering::Relaxed));
        headers.take_while(|header| *header < NOT_FOUND && done(FileId(*header))).count()
    }

    /// The includes that were run and led to nothing.
    fn missing(&self) -> impl Iterator<Item = Missing> {
        (0..self.list.len()).filter(|index| self.led_nowhere(*index)).filter_map(|index| {
            let DirectiveKind::Include { spec, angled, .. } = &self.list.get(index)?.kind else {
                return None;
            };
            let spec = self.file.text.get(spec.clone())?.to_owned();
            Some(Missing { at: self.span(index as u32)?, spec, angled: *angled })
        })
    }

    /// The macro that directive `index` defines.
    pub(crate) fn define(&self, index: u32) -> Option<&Define> {
        match &self.list.get(index as usize)?.kind {
            DirectiveKind::Define(define) => Some(define),
            _ => None,
        }
    }

    /// Where directive `index` stands, if its file belongs to the run.
    pub(crate) fn span(&self, index: u32) -> Option<Span> {
        let directive = self.list.get(index as usize).filter(|_| self.has_spans)?;
        Some(Span { file: self.file.id, start: directive.start, end: directive.end, nth: 0 })
    }
}

fn link(list: &mut [Directive], open: usize, to: u32) {
    if let Some(Directive { kind, .. }) = list.get_mut(open)
        && let DirectiveKind::If { next, .. }
        | DirectiveKind::Elif { next, .. }
        | DirectiveKind::Else { next } = kind
    {
        *next = to;
    }
}

/// Reads one directive after its `#` and leaves the lexer after its last token.
fn directive(
    text: &str,
    lexer: &mut Lexer<'_>,
    index: usize,
    groups: &mut Vec<usize>,
    list: &mut [Directive],
) -> DirectiveKind {
    let Some(name) = token_of_line(lexer) else { return DirectiveKind::Other };
    let word = text.get(name.range()).unwrap_or("");
    let next = u32::MAX;
    let kind = match word {
        "define" => return define(text, lexer),
        "include" | "import" => return include(lexer),
        "undef" => token_of_line(lexer).map_or(DirectiveKind::Other, |t| DirectiveKind::Undef(t.range())),
        "if" => DirectiveKind::If { test: Test::Expression(rest_of_line(lexer)), next },
        "ifdef" => DirectiveKind::If { test: Test::Defined(name_range(lexer)), next },
        "ifndef" => DirectiveKind::If { test: Test::NotDefined(name_range(lexer)), next },
        "elif" => DirectiveKind::Elif { test: Test::Expression(rest_of_line(lexer)), next },
        "elifdef" => DirectiveKind::Elif { test: Test::Defined(name_range(lexer)), next },
        "elifndef" => DirectiveKind::Elif { test: Test::NotDefined(name_range(lexer)), next },
        "else" => DirectiveKind::Else { next },
        "endif" => DirectiveKind::Endif,
        "pragma" => pragma(text, lexer),
        _ => DirectiveKind::Other,
    };
    rest_of_line(lexer);
    match kind {
        DirectiveKind::If { .. } => groups.push(index),
        DirectiveKind::Elif { .. } | DirectiveKind::Else { .. } => match groups.last_mut() {
            Some(open) => link(list, std::mem::replace(open, index), index as u32),
            None => return DirectiveKind::Other,
        },
        DirectiveKind::Endif => match groups.pop() {
            Some(open) => link(list, open, index as u32),
            None => return DirectiveKind::Other,
        },
        _ => {}
    }
    kind
}

/// What a pragma says of macros or of the file, after the word `pragma`.
fn pragma(text: &str, lexer: &mut Lexer<'_>) -> DirectiveKind {
    let word = token_of_line(lexer).and_then(|token| text.get(token.range())).unwrap_or("");
    if word == "once" {
        return DirectiveKind::PragmaOnce;
    }
    let is_pop = word == "pop_macro";
    if !is_pop && word != "push_macro" || !token_of_line(lexer).is_some_and(|token| token.is(b'(')) {
        return DirectiveKind::Other;
    }
    let quoted = token_of_line(lexer).map(|token| token.range());
    let name = quoted.filter(|it| text.get(it.clone()).is_some_and(|it| it.len() > 2 && it.starts_with('"')));
    match name.map(|it| it.start + 1..it.end - 1) {
        Some(name) if is_pop => DirectiveKind::PopMacro(name),
        Some(name) => DirectiveKind::PushMacro(name),
        None => DirectiveKind::Other,
    }
}

/// The next token of the line; the lexer is left after the last token, not at the newline.
fn token_of_line(lexer: &mut Lexer<'_>) -> Option<Token> {
    let before = lexer.position();
    let token = lexer.next_in_line();
    if token.is_none() {
        lexer.seek(before);
    }
    token
}

fn name_range(lexer: &mut Lexer<'_>) -> Range<usize> {
    token_of_line(lexer).map_or(0..0, Token::range)
}

fn rest_of_line(lexer: &mut Lexer<'_>) -> Range<usize> {
    let start = lexer.position() as usize;
    let mut first = None;
    let mut end = start;
    while let Some(token) = token_of_line(lexer) {
        first.get_or_insert(token.start as usize);
        end = token.end as usize;
    }
    first.unwrap_or(end)..end
}

fn include(lexer: &mut Lexer<'_>) -> DirectiveKind {
    let kind = lexer.header_name().map(|(spec, angled)| DirectiveKind::Include {
        spec,
        angled,
        found: OnceLock::new(),
    });
    let rest = rest_of_line(lexer);
    kind.unwrap_or(DirectiveKind::IncludeMacro(rest))
}

fn define(text: &str, lexer: &mut Lexer<'_>) -> DirectiveKind {
    let Some(name) = token_of_line(lexer).filter(|token| token.kind == Kind::Ident) else {
        rest_of_line(lexer);
        return DirectiveKind::Other;
    };
    let mut params = None;
    let mut variadic = false;
    if lexer.peek_byte() == Some(b'(') {
        let mut names: Vec<Range<usize>> = Vec::new();
        let mut named = false;
        loop {
            let Some(token) = token_of_line(lexer) else { return DirectiveKind::Other };
            match token.kind {
                Kind::Punct(b')') => break,
                Kind::Punct(b',') => named = false,
                Kind::Ident => {
                    names.push(token.range());
                    named = true;
                }
                Kind::Punct(b'.') if !variadic => {
                    variadic = true;
                    if !named {
                        // The three dots stand for `__VA_ARGS__`.
                        names.push(token.range());
                    }
                }
                _ => {}
            }
        }
        params = Some(names);
    }
    let body = rest_of_line(lexer);
    let name = text.get(name.range()).unwrap_or("").into();
    DirectiveKind::Define(Box::new(Define { name, params, variadic, body }))
}

/// An `#include` that led to nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Where it stands.
    pub at: Span,
    /// What is included.
    pub spec: String,
    /// Whether it is written in angle brackets.
    pub angled: bool,
}

/// The directives of every header of a run. One cache belongs to one [`super::Includes`],
/// because it also keeps where each `#include` led. Shared between threads.
#[derive(Debug, Default)]
pub struct HeaderCache {
    files: RwLock<FxHashMap<FileId, Arc<OnceLock<Arc<Directives>>>>>,
}

impl HeaderCache {
    /// The includes of all files that were run and led to nothing, in no order.
    #[must_use]
    pub fn missing(&self) -> Vec<Missing> {
        self.all().iter().flat_map(|file| file.missing()).collect()
    }

    /// The directives of all files that were run.
    pub(super) fn all(&self) -> Vec<Arc<Directives>> {
        let files = self.files.read().unwrap_or_else(PoisonError::into_inner);
        files.values().filter_map(|file| file.get()).cloned().collect()
    }

    /// A file's directives, read on the first call. Reading takes no other lock.
    pub(crate) fn directives(&self, file: &Arc<SourceFile>) -> Arc<Directives> {
        let known = self.files.read().unwrap_or_else(PoisonError::into_inner).get(&file.id).cloned();
        let cell = known.unwrap_or_else(|| {
            let mut files = self.files.write().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(files.entry(file.id).or_default())
        });
        Arc::clone(cell.get_or_init(|| Arc::new(Directives::read(Arc::clone(file), true))))
    }
}
