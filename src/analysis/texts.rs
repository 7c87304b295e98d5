//! What does the text say around what was found?
//!
//! A kernel is judged by its program; rules ask the text itself for a few things more. Where a later run is
//! to take over what is found, each question is written down with its answer, so that it can be asked again
//! when the text has changed.

mod named;

use super::between::insert_between;
use super::removal::remove_statement;
use super::shape_asked::shape_asked;
use super::uses::stray_use;
use crate::diagnostic::Edit;
use crate::facts::Across;
use crate::ir::FunctionKind;
use crate::ir::program::Program;
use crate::preproc::{Constant, Lexer, Token, constant, names};
use crate::reach::Reach;
use crate::rules::{Use, UseForm};
use crate::source::{FileId, Moves, SourceFile, Sources, Span};
use named::Form;
pub(super) use named::Named;
use std::cell::RefCell;
use std::sync::Arc;

/// The texts of a program.
pub(super) struct Texts<'a> {
    sources: &'a Sources,
    program: &'a Program,
    /// What was asked, if that is to be known.
    notes: Option<RefCell<Notes>>,
}

/// What was asked of the texts.
#[derive(Debug, Default)]
pub(super) struct Notes {
    /// Each question once.
    pub asked: Vec<Asked>,
    /// The lines whose names were asked for, instead of which the answers held marks.
    pub named: Named,
}

/// How the name of a HIP source file ends.
const HIP_ENDING: &str = "hip";
/// What a file for HIP includes.
const HIP_HEADER: &str = "hip_runtime";

/// A question and its answer.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Asked {
    question: Question,
    answer: Answer,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Question {
    Text(Span),
    Constant(Span),
    Says(Span, Vec<String>),
    IsHip(Span),
    /// What stands between the parentheses of calls of a function.
    Calls(Span, String),
    Between {
        places: (Span, Span),
        across: Option<Across>,
        statement: String,
    },
    Removal(Span),
    /// Who asks for the size or type of an array, other than at some places.
    ShapeAsked(Span, Vec<Span>),
    /// Where things are named in another form than those in which they may be.
    StrayUse(Vec<Use>),
    /// Which other kernel names an array.
    AlsoUsed {
        array: Span,
        kernel: Span,
    },
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Answer {
    Words(String),
    Says(bool),
    /// What it is defined as, whether it is a macro, and where it is named.
    Constant(Option<(Span, bool, Vec<Span>)>),
    /// What is to be replaced, and by what.
    Edit(Option<(Span, String)>),
    Place(Option<Span>),
}

impl Question {
    /// The same of a later version of the texts; `None` where a place is nowhere any more.
    fn moved(&self, moves: &Moves) -> Option<Question> {
        let place = |span: &Span| moves.now(*span);
        Some(match self {
            Question::Text(span) => Question::Text(place(span)?),
            Question::Constant(span) => Question::Constant(place(span)?),
            Question::Says(span, words) => Question::Says(place(span)?, words.clone()),
            Question::IsHip(span) => Question::IsHip(place(span)?),
            Question::Calls(span, name) => Question::Calls(place(span)?, name.clone()),
            Question::Between { places: (first, second), across, statement } => Question::Between {
                places: (place(first)?, place(second)?),
                across: match across {
                    Some(across) => Some(Across { of: place(&across.of)?, ..*across }),
                    None => None,
                },
                statement: statement.clone(),
            },
            Question::Removal(span) => Question::Removal(place(span)?),
            Question::ShapeAsked(array, known) => {
                Question::ShapeAsked(place(array)?, known.iter().map(place).collect::<Option<_>>()?)
            }
            Question::StrayUse(uses) => {
                Question::StrayUse(uses.iter().map(|it| moved_use(it, moves)).collect::<Option<_>>()?)
            }
            Question::AlsoUsed { array, kernel } => {
                Question::AlsoUsed { array: place(array)?, kernel: place(kernel)? }
            }
        })
    }
}

/// Something that is named, in a later version of the texts.
fn moved_use(it: &Use, moves: &Moves) -> Option<Use> {
    let place = |span: &Span| moves.now(*span);
    let scope = match &it.scope {
        Some(scope) => Some(place(scope)?),
        None => None,
    };
    let form = match &it.form {
        UseForm::Class { extent, object } => {
            UseForm::Class { extent: place(extent)?, object: place(object)? }
        }
        UseForm::Rows(dimensions, places) => {
            UseForm::Rows(*dimensions, places.iter().map(place).collect::<Option<_>>()?)
        }
        form @ (UseForm::Object(_) | UseForm::Function) => form.clone(),
    };
    Some(Use { name: it.name.clone(), declared: place(&it.declared)?, scope, form })
}

impl<'a> Texts<'a> {
    /// The texts of these modules; `notes`: whether what is asked of them is to be written down.
    pub(super) fn new(sources: &'a Sources, program: &'a Program, notes: bool) -> Texts<'a> {
        Texts { sources, program, notes: notes.then(RefCell::default) }
    }

    /// What was asked so far.
    pub(super) fn notes(self) -> Notes {
        self.notes.map(RefCell::into_inner).unwrap_or_default()
    }

    /// The original text under a span.
    pub(super) fn text(&self, span: Span) -> String {
        let text = self.sources.get(span.file).slice(span).to_owned();
        self.note(|| Question::Text(span), || Answer::Words(text.clone()));
        text
    }

    /// `file:line` of a span.
    pub(super) fn place(&self, span: Span) -> String {
        self.name(Form::Whole, span)
    }

    /// `line 12` of a span.
    pub(super) fn line(&self, span: Span) -> String {
        self.name(Form::Line, span)
    }

    fn name(&self, form: Form, span: Span) -> String {
        match &self.notes {
            Some(notes) => notes.borrow_mut().named.mark(form, span, self.sources),
            None => form.words(span, self.sources),
        }
    }

    /// The constant that is named under a span, if no header names it, too: it may be used there.
    pub(super) fn constant(&self, span: Span) -> Option<Constant> {
        let file = self.sources.get(span.file);
        let mut others = self.files().filter(|other| *other != span.file).map(|it| self.sources.get(it));
        let found = constant(&file.text, span.range());
        let found = found.filter(|_| !others.any(|other| names(&other.text, file.slice(span))));
        self.note(
            || Question::Constant(span),
            || {
                Answer::Constant(found.as_ref().map(|Constant { value, is_macro, mentions }| {
                    let place = |range: &std::ops::Range<usize>| Span {
                        start: range.start as u32,
                        end: range.end as u32,
                        ..span
                    };
                    (place(value), *is_macro, mentions.iter().map(place).collect())
                }))
            },
        );
        found
    }

    /// Whether the program's files, or the one that a span lies in, hold one of these words.
    pub(super) fn says(&self, span: Span, words: &[&str]) -> bool {
        let says = self.any_file(span, |file| words.iter().any(|word| is_said(&file.text, word)));
        let question = || Question::Says(span, words.iter().map(|&word| word.to_owned()).collect());
        self.note(question, || Answer::Says(says));
        says
    }

    /// Whether the program, or the file that a span lies in, is written for HIP, by the names or the text of its files.
    pub(super) fn is_hip(&self, span: Span) -> bool {
        let is_named = |file: &SourceFile| {
            file.path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case(HIP_ENDING))
        };
        let is_hip = self.any_file(span, |file| is_named(file) || file.text.contains(HIP_HEADER));
        self.note(|| Question::IsHip(span), || Answer::Says(is_hip));
        is_hip
    }

    fn any_file(&self, span: Span, is: impl Fn(&SourceFile) -> bool) -> bool {
        let mut texts = self.files().chain([span.file]).map(|file| self.sources.get(file));
        texts.any(|file| is(&file))
    }

    /// What stands between the parentheses wherever one of these files calls something whose name ends so.
    pub(super) fn calls(&self, span: Span, name: &str) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for file in self.files().chain([span.file]) {
            let text = &self.sources.get(file).text;
            for at in in_code(text, name) {
                let rest = text[at + name.len()..].trim_start();
                let inside = rest.strip_prefix('(').and_then(in_parentheses).map(str::to_owned);
                found.extend(inside.filter(|inside| !found.contains(inside)));
            }
        }
        self.note(|| Question::Calls(span, name.to_owned()), || Answer::Words(found.join("\n;\n")));
        found
    }

    /// The edit that puts a statement between two places.
    pub(super) fn between(
        &self,
        places: (Span, Span),
        across: Option<Across>,
        statement: &str,
    ) -> Option<Edit> {
        let file_of = |span: Span| -> Arc<SourceFile> { self.sources.get(span.file) };
        let edit = insert_between(self.program, &file_of, places, across, statement);
        let question = || Question::Between { places, across, statement: statement.to_owned() };
        self.note(question, || Answer::Edit(edit.as_ref().map(|it| (it.span, it.text.clone()))));
        edit
    }

    /// The edit that takes a statement out, of which the span is the expression.
    pub(super) fn removal(&self, span: Span) -> Option<Edit> {
        let edit = remove_statement(&self.sources.get(span.file), span);
        let answer = || Answer::Edit(edit.as_ref().map(|it| (it.span, it.text.clone())));
        self.note(|| Question::Removal(span), answer);
        edit
    }

    /// The first place that asks for the size or type of the array whose name is declared there, but for those that
    /// are `known`.
    pub(super) fn shape_asked(&self, array: Span, known: &[Span]) -> Option<Span> {
        let found = shape_asked(self.program, &self.sources.get(array.file), array, known);
        self.note(|| Question::ShapeAsked(array, known.to_vec()), || Answer::Place(found));
        found
    }

    /// The first place that names one of these in another form than those in which it may.
    pub(super) fn stray_use(&self, uses: &[Use]) -> Option<Span> {
        let mut files: Vec<Arc<SourceFile>> = self.files().map(|file| self.sources.get(file)).collect();
        files.extend(uses.first().map(|it| self.sources.get(it.declared.file)));
        let found = stray_use(&files, uses);
        self.note(|| Question::StrayUse(uses.to_vec()), || Answer::Place(found));
        found
    }

    /// Another kernel than the one of this name that may use the array of file scope whose name is declared there.
    pub(super) fn also_used(&self, array: Span, kernel: Span) -> Option<Span> {
        let mut variables = self.program.modules.iter().flat_map(|module| &module.variables);
        let variable = variables.find(|variable| variable.name_span == array);
        let found = variable.and_then(|variable| {
            let reach = Reach::new(self.program);
            let functions = self.program.modules.iter().flat_map(|module| &module.functions);
            let mut others = functions.filter(|function| {
                function.kind == FunctionKind::Kernel
                    && function.body.is_some()
                    && function.name_span != kernel
            });
            others.find(|other| reach.may_use(other, variable)).map(|other| other.name_span)
        });
        self.note(|| Question::AlsoUsed { array, kernel }, || Answer::Place(found));
        found
    }

    fn files(&self) -> impl Iterator<Item = FileId> + '_ {
        self.program.modules.iter().filter_map(|module| module.file)
    }

    fn note(&self, question: impl FnOnce() -> Question, answer: impl FnOnce() -> Answer) {
        let Some(notes) = &self.notes else { return };
        let question = question();
        let asked = &mut notes.borrow_mut().asked;
        if !asked.iter().any(|it| it.question == question) {
            asked.push(Asked { question, answer: answer() });
        }
    }

    /// Asks what was asked of an earlier version of the texts. `None` if an answer is another now, where things
    /// stand aside.
    pub(super) fn ask_again(self, earlier: &[Asked], moves: &Moves) -> Option<Vec<Asked>> {
        for asked in earlier {
            self.ask(&asked.question.moved(moves)?);
        }
        let now = self.notes().asked;
        let alike = |(before, now): (&Asked, &Asked)| moves.lead(&before.answer, &now.answer);
        (earlier.len() == now.len() && earlier.iter().zip(&now).all(alike)).then_some(now)
    }

    /// Asks a question, of which only the answer is noted.
    fn ask(&self, question: &Question) {
        match question {
            Question::Text(span) => drop(self.text(*span)),
            Question::Constant(span) => drop(self.constant(*span)),
            Question::Says(span, words) => {
                self.says(*span, &words.iter().map(String::as_str).collect::<Vec<_>>());
            }
            Question::IsHip(span) => {
                self.is_hip(*span);
            }
            Question::Calls(span, name) => drop(self.calls(*span, name)),
            Question::Between { places, across, statement } => {
                drop(self.between(*places, *across, statement));
            }
            Question::Removal(span) => drop(self.removal(*span)),
            Question::ShapeAsked(array, known) => drop(self.shape_asked(*array, known)),
            Question::StrayUse(uses) => drop(self.stray_use(uses)),
            Question::AlsoUsed { array, kernel } => drop(self.also_used(*array, *kernel)),
        }
    }
}

/// What comes before the parenthesis that closes one.
fn in_parentheses(text: &str) -> Option<&str> {
    let mut depth = 0usize;
    for (at, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return text.get(..at),
            ')' => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Whether a text says a word outside of its comments.
fn is_said(text: &str, word: &str) -> bool {
    in_code(text, word).next().is_some()
}

/// Where a text says a word outside of its comments.
fn in_code<'t>(text: &'t str, word: &'t str) -> impl Iterator<Item = usize> + 't {
    let mut lexer = Lexer::new(text);
    let mut token = None;
    text.match_indices(word).map(|(at, _)| at).filter(move |at| {
        let is_before = |token: &Option<Token>| token.is_none_or(|token| token.range().end <= *at);
        while is_before(&token) {
            token = lexer.next();
            if token.is_none() {
                return false;
            }
        }
        token.is_some_and(|token| token.range().start <= *at)
    })
}
