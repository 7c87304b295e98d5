//! Which parts of the file are live, and what is defined where?
//!
//! Runs the directives of a file and of the headers it includes, in true order.

use super::condition::{Answer, Surroundings, answer};
use super::directives::{DirectiveKind, Directives, HeaderCache, Test};
use super::expansion::{Expander, Kept};
use super::lexer::Lexer;
use super::macros::{MacroRef, Macros};
use super::outside::Outside;
use super::{Included, Includes};
use crate::source::{FileId, SourceFile};
use rustc_hash::FxHashMap;
use std::ops::Range;
use std::sync::Arc;

/// How deep headers may include each other: as deep as compilers let them.
const MAX_INCLUDE_DEPTH: usize = 200;
/// How many directives of headers one file may run.
const MAX_HEADER_DIRECTIVES: u64 = 1 << 20;
/// The same, times the headers that they stand in. Each header is run by itself too, and what is run
/// of headers that all lead to each other has to stay within bounds in all.
const MAX_HEADER_WORK: u64 = 1 << 29;
/// How many includes of headers that are to be run only once, and were, count as one directive.
const INCLUDES_FOR_ONE: u64 = 8;
/// How often headers are asked whether they mean something else where they are included again.
const MOST_MEANINGS: u32 = 64;
/// How many tokens the conditions of one file may cost.
const CONDITION_BUDGET: u64 = 8 << 20;

/// Runs directives.
pub(crate) struct Replay<'r> {
    pub macros: Macros,
    /// What of the main file is not text: directives and untaken branches, in order.
    pub blanks: Vec<Range<usize>>,
    /// What of the main file stands under a condition that cannot be answered, or under its other branches, in order.
    pub undecided: Vec<Range<usize>>,
    /// The headers, in order of first inclusion, if they are asked for.
    pub headers: Vec<Included>,
    lists_headers: bool,
    includes: &'r dyn Includes,
    cache: &'r HeaderCache,
    /// The files met so far.
    seen: FxHashMap<FileId, Seen>,
    /// Those that are to be run only once.
    once: Set,
    /// Those that were met.
    met: Set,
    /// What macros were defined as when `#pragma push_macro` kept it, the latest last.
    pushed: Vec<(Box<str>, Option<MacroRef>)>,
    /// The byte of the main file from which definitions hold.
    from: u32,
    header_directives: u64,
    most_directives: u64,
    /// How many headers were asked what they mean where they are included again.
    asked_again: u32,
    conditions: Kept,
}

/// Files, a bit for each: nearly every directive asks.
#[derive(Clone, Debug, Default)]
struct Set(Vec<u64>);

impl Set {
    fn contains(&self, file: FileId) -> bool {
        self.0.get(file.0 as usize / 64).is_some_and(|word| word >> (file.0 % 64) & 1 == 1)
    }

    fn insert(&mut self, file: FileId) {
        let at = file.0 as usize / 64;
        if at >= self.0.len() {
            self.0.resize(at + 1, 0);
        }
        if let Some(word) = self.0.get_mut(at) {
            *word |= 1 << (file.0 % 64);
        }
    }
}

/// What happened to a file so far.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Its number among the expansion's files.
    number: u32,
    entered: bool,
    /// It was included where it was too deep to enter.
    too_deep: bool,
}

/// A conditional that is open.
struct Conditional {
    /// Whether a branch was taken.
    taken: bool,
    /// Whether every build takes the branch that runs.
    is_sure: bool,
}

/// A file being run: which, where in it, and the open conditionals.
struct Open {
    number: u32,
    next: usize,
    around: Vec<Conditional>,
    /// How many conditionals are open around the first that cannot be answered, and where that begins.
    undecided: Option<(usize, u32)>,
}

/// What comes after a directive.
enum Then {
    /// The next one.
    Next,
    /// The directive of this number: the lines between are not compiled.
    SkipTo(u32),
    /// This header.
    Enter(Arc<SourceFile>),
}

impl<'r> Replay<'r> {
    /// Starts with `macros`, whose file 0 is the main file.
    pub(super) fn new(
        macros: Macros,
        includes: &'r dyn Includes,
        cache: &'r HeaderCache,
        lists_headers: bool,
    ) -> Replay<'r> {
        let main = macros.files.first();
        let seen = main.map(|main| (main.file.id, Seen { entered: true, ..Seen::default() }));
        Replay {
            macros,
            blanks: Vec::new(),
            undecided: Vec::new(),
            headers: Vec::new(),
            lists_headers,
            includes,
            cache,
            seen: seen.into_iter().collect(),
            once: Set::default(),
            met: Set::default(),
            from: 0,
            header_directives: 0,
            most_directives: MAX_HEADER_DIRECTIVES,
            asked_again: 0,
            pushed: Vec::new(),
            conditions: Kept::with_budget(CONDITION_BUDGET),
        }
    }

    /// Runs the main file.
    pub(super) fn run(&mut self) {
        let mut open = vec![Open { number: 0, next: 0, around: Vec::new(), undecided: None }];
        while let Some(top) = open.last_mut() {
            let Some(file) = self.macros.files.get(top.number as usize).map(Arc::clone) else { return };
            let header = open.len() > 1;
            let found = self.run_file(&file, &mut open, header);
            match found {
                Some(header) => self.enter(&header, &mut open),
                None => {
                    open.pop();
                }
            }
        }
    }

    /// Whether a header was left out, or not run to its end, because it would have been too much.
    #[must_use]
    pub(super) fn is_cut_short(&self) -> bool {
        self.header_directives > self.most_directives
            || self.seen.values().any(|seen| seen.too_deep && !seen.entered)
    }

    /// Runs the topmost file until its end (`None`) or until it includes a header.
    fn run_file(
        &mut self,
        file: &Arc<Directives>,
        open: &mut [Open],
        header: bool,
    ) -> Option<Arc<SourceFile>> {
        let deepest = open.len() > MAX_INCLUDE_DEPTH;
        let top = open.last_mut()?;
        while let Some(directive) = file.list.get(top.next) {
            if header {
                // Where nothing can be entered any more, only a new header is of interest.
                let known = if deepest { &self.met } else { &self.once };
                let again = file.included_again(top.next, |header| known.contains(header));
                if again > 0 {
                    self.header_directives += 1 + again as u64 / INCLUDES_FOR_ONE;
                    top.next += again;
                    continue;
                }
                self.header_directives += 1;
                if self.header_directives > self.most_directives {
                    return None;
                }
            } else {
                self.from = directive.end;
                self.blank(directive.start, directive.end);
            }
            let index = top.next as u32;
            top.next += 1;
            let skip_to = match self.follow(file, top, index) {
                Then::Next => None,
                Then::SkipTo(next) => Some(next),
                Then::Enter(header) => return Some(header),
            };
            if let Some(next) = skip_to {
                top.next = next as usize;
                if !header {
                    let end = file.list.get(top.next).map_or(file.file.text.len() as u32, |next| next.start);
                    self.blank(directive.end, end);
                }
            }
        }
        None
    }

    /// Does what one directive of the topmost file says.
    fn follow(&mut self, file: &Directives, top: &mut Open, index: u32) -> Then {
        let Some(directive) = file.list.get(index as usize) else { return Then::Next };
        let skip_unless = |taken: bool, next: u32| if taken { Then::Next } else { Then::SkipTo(next) };
        match &directive.kind {
            DirectiveKind::Define(define) => {
                let place = MacroRef { file: top.number, index };
                match top.number == 0 && top.around.iter().all(|it| it.is_sure) {
                    // The file itself says so, and no compiler passes it by.
                    true => self.macros.set_in_any_case(&define.name, self.from, Some(place)),
                    false => self.macros.set(&define.name, self.from, Some(place)),
                }
            }
            DirectiveKind::Undef(name) => {
                let name = file.file.text.get(name.clone()).unwrap_or("");
                self.macros.set_in_any_case(name, self.from, None);
            }
            DirectiveKind::If { test, next } => {
                let answer = self.test(file, top.number, test);
                if answer == Answer::Open && top.undecided.is_none() {
                    top.undecided = Some((top.around.len(), directive.end));
                }
                let taken = answer == Answer::True;
                if !taken && top.number == 0 {
                    file.miss(index as usize);
                }
                top.around.push(Conditional { taken, is_sure: is_sure(file, index, test) });
                return skip_unless(taken, *next);
            }
            DirectiveKind::Elif { test, next } => {
                let before = top.around.last().is_none_or(|it| it.taken);
                let answer = if before { Answer::False } else { self.test(file, top.number, test) };
                if answer == Answer::Open && top.undecided.is_none() {
                    top.undecided = Some((top.around.len().saturating_sub(1), directive.end));
                }
                let taken = answer == Answer::True;
                if taken && let Some(last) = top.around.last_mut() {
                    *last = Conditional { taken, is_sure: false };
                }
                return skip_unless(taken, *next);
            }
            DirectiveKind::Else { next } => {
                let other = Conditional { taken: true, is_sure: false };
                let taken = top.around.last_mut().is_some_and(|last| !std::mem::replace(last, other).taken);
                return skip_unless(taken, *next);
            }
            DirectiveKind::Endif => {
                top.around.pop();
                let ended = top.undecided.filter(|(around, _)| top.around.len() <= *around);
                if let Some((_, start)) = ended {
                    top.undecided = None;
                    if top.number == 0 {
                        self.undecided.push(start as usize..directive.start as usize);
                    }
                }
            }
            DirectiveKind::Include { .. } => match file.included(index as usize, self.includes) {
                Some(found) if !self.once.contains(found.id) => return Then::Enter(Arc::clone(found)),
                Some(_) => {}
                None => file.miss(index as usize),
            },
            DirectiveKind::IncludeMacro(range) => {
                if let Some(found) = self.include_macro(file, top.number, range) {
                    return Then::Enter(found);
                }
            }
            DirectiveKind::PushMacro(name) => {
                let name = file.file.text.get(name.clone()).unwrap_or("");
                self.pushed.push((name.into(), self.macros.get(name, u32::MAX)));
            }
            DirectiveKind::PopMacro(name) => {
                let name = file.file.text.get(name.clone()).unwrap_or("");
                if let Some(at) = self.pushed.iter().rposition(|(pushed, _)| **pushed == *name) {
                    let (_, definition) = self.pushed.remove(at);
                    self.macros.set_in_any_case(name, self.from, definition);
                }
            }
            DirectiveKind::PragmaOnce => {
                self.once.insert(file.file.id);
            }
            DirectiveKind::Other => {}
        }
        Then::Next
    }

    fn blank(&mut self, start: u32, end: u32) {
        let (start, end) = (start as usize, end as usize);
        match self.blanks.last_mut() {
            Some(last) if last.end == start => last.end = end,
            _ => self.blanks.push(start..end),
        }
    }

    fn enter(&mut self, header: &Arc<SourceFile>, open: &mut Vec<Open>) {
        let deep = open.len() > MAX_INCLUDE_DEPTH;
        let number = self.macros.files.len() as u32;
        let seen = self.seen.entry(header.id).or_insert(Seen { number, ..Seen::default() });
        let own = seen.number;
        seen.too_deep |= deep;
        seen.entered |= !deep;
        if own == number {
            self.met.insert(header.id);
            self.macros.files.push(self.cache.directives(header));
            self.most_directives = self.most_directives.min(MAX_HEADER_WORK / (u64::from(number) + 1));
            if self.lists_headers {
                let outside = Outside::of(header, &self.macros, self.includes, self.cache);
                self.headers.push(Included { file: Arc::clone(header), outside });
            }
        } else if self.lists_headers && !deep {
            self.include_again(header, own);
        }
        if !deep && !self.once.contains(header.id) {
            open.push(Open { number: own, next: 0, around: Vec::new(), undecided: None });
        }
    }

    /// Lists a header once more that means something else where it is included again: definitions in place of
    /// declarations, or functions of other names. `number`: its number among the files.
    fn include_again(&mut self, header: &Arc<SourceFile>, number: u32) {
        let directives = self.cache.directives(header);
        if self.asked_again >= MOST_MEANINGS
            || self.once.contains(header.id)
            || self.is_guarded(&directives, number)
        {
            return;
        }
        self.asked_again += 1;
        let outside = Outside::of(header, &self.macros, self.includes, self.cache);
        let is_new = |it: &Included| it.file.id != header.id || it.outside != outside;
        if self.headers.iter().all(is_new) {
            self.headers.push(Included { file: Arc::clone(header), outside });
        }
    }

    /// Whether what a header defined itself decides how it is read the next time.
    fn is_guarded(&self, header: &Directives, number: u32) -> bool {
        let is_own = |name: &str| self.macros.get(name, u32::MAX).is_some_and(|place| place.file == number);
        header.list.iter().any(|directive| match &directive.kind {
            DirectiveKind::If { test, .. } | DirectiveKind::Elif { test, .. } => {
                let (Test::Defined(range) | Test::NotDefined(range) | Test::Expression(range)) = test;
                let text = header.file.text.get(range.clone()).unwrap_or("");
                text.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_own)
            }
            _ => false,
        })
    }

    fn test(&mut self, file: &Directives, number: u32, test: &Test) -> Answer {
        let name = |range: &Range<usize>| file.file.text.get(range.clone()).unwrap_or("");
        match test {
            Test::Defined(range) | Test::NotDefined(range) => {
                let is_wanted = matches!(test, Test::Defined(_));
                if is_defined(&self.macros, name(range)) == is_wanted { Answer::True } else { Answer::False }
            }
            Test::Expression(range) => {
                let mut expander = Expander::new(&self.macros, &mut self.conditions);
                let pieces = expander.expand_condition(number, range).unwrap_or_default();
                let around = Around { macros: &self.macros, includes: self.includes, from: &file.file };
                answer(&expander, &pieces, &around)
            }
        }
    }

    /// The header that `#include MACRO` leads to.
    fn include_macro(
        &mut self,
        file: &Directives,
        number: u32,
        range: &Range<usize>,
    ) -> Option<Arc<SourceFile>> {
        let mut expander = Expander::new(&self.macros, &mut self.conditions);
        let pieces = expander.expand_condition(number, range).ok()?;
        let written: String = pieces.iter().map(|piece| expander.text(piece)).collect();
        let mut lexer = Lexer::new(&written);
        let (spec, angled) = lexer.header_name()?;
        self.includes.open(&file.file, written.get(spec)?, angled)
    }
}

struct Around<'a> {
    macros: &'a Macros,
    includes: &'a dyn Includes,
    from: &'a SourceFile,
}

impl Surroundings for Around<'_> {
    fn defined(&self, name: &str) -> bool {
        is_defined(self.macros, name)
    }

    fn has_include(&self, spec: &str, angled: bool) -> bool {
        self.includes.open(self.from, spec, angled).is_some()
    }
}

fn is_defined(macros: &Macros, name: &str) -> bool {
    const TESTS: [&str; 2] = ["__has_include", "__has_include_next"];
    macros.get(name, u32::MAX).is_some() || TESTS.contains(&name)
}

/// `text` with spaces in place of `blanks`; newlines stay.
pub(crate) fn blanked(text: &str, blanks: &[Range<usize>]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for blank in blanks {
        out.push_str(text.get(copied..blank.start).unwrap_or(""));
        for byte in text.get(blank.clone()).unwrap_or("").bytes() {
            out.push(if matches!(byte, b'\n' | b'\r') { char::from(byte) } else { ' ' });
        }
        copied = blank.end;
    }
    out.push_str(text.get(copied..).unwrap_or(""));
    out
}

/// Whether every build takes a branch that this one takes: a name is defined, a number is written, or the file asks
/// whether it was read before, by a name that it defines next.
fn is_sure(file: &Directives, index: u32, test: &Test) -> bool {
    let text = |range: &Range<usize>| file.file.text.get(range.clone()).unwrap_or("");
    match test {
        Test::Defined(_) => true,
        Test::NotDefined(range) => {
            let next = file.list.get(index as usize + 1).map(|next| &next.kind);
            matches!(next, Some(DirectiveKind::Define(define)) if *define.name == *text(range))
        }
        Test::Expression(range) => !text(range).contains(|c: char| c.is_ascii_alphabetic() || c == '_'),
    }
}
