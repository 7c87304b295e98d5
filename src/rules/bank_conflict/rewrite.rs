//! How is another layout of an array written in the kernel's text, and if not, why not?
//!
//! Every place that names the array has to change with it, and each is proved to:
//!
//! | asked | of |
//! |---|---|
//! | each place is a whole element, and nothing leads from one to its neighbours | the program ([`Elements`]) |
//! | each of them was run, and each subscript stays in its row and plane | the runs |
//! | the text names the array nowhere else: not in an `#if` that is not taken, a macro, a `sizeof` | the text |
//!
//! Then elements only change places, and the kernel computes what it did.
//!
//! ```text
//! tile[row - 1][c]                  as tile[r][c ^ (r & 31)]
//! tile[row - 1][c ^ ((row - 1) & 31)]
//! ```
//!
//! An array for each member is the one layout that changes names, not subscripts ([`apart`]).
//!
//! A layout that leaves the subscripts as they are, or takes rows for columns, costs nothing. Whether more operations
//! in each index pay is not proved by wavefronts: those are for the author to ask for.

mod apart;

use super::super::{Case, Element, Elements, Fixed, Form, is_assumed};
use super::declared::{is_written_out, not_run_words, was_run};
use super::padding::text::widened;
use super::spelling::{change, column_of, length_of, lengths_written, place_of};
use crate::diagnostic::{Basis, Edit, Fix};
use crate::events::Array;
use crate::preproc::{Kind, Lexer, Token};
use crate::remedy::{Found, Layout, Tried};
use crate::source::Span;

/// The longest subscript that is written twice.
const LONGEST: usize = 80;

/// Why a layout is not written.
pub(super) enum Unwritten {
    /// Here an element is not accessed by one member, of a type that the language defines.
    Members(Span),
    /// The name of an array for one member stands for something else.
    Taken(String),
    /// `wmma` calls would ask for rows at another distance.
    Calls,
    /// The elements cannot be given another index.
    Fixed(Fixed),
    /// A subscript is not seen to stay in its row or plane.
    Strays,
    /// This element was not run.
    NotRun(Span),
    /// This element is not written out in one line, or comes from a macro.
    Macro(Span),
    /// This subscript does something, or is long, and would be written twice.
    Twice(Span),
    /// In this element it matters which subscript is evaluated first.
    Order(Span),
    /// An element is in another's subscript.
    Nested(Span),
    /// The text names the array here, where the program does not.
    Elsewhere(Span),
    /// The declaration is not written out.
    Declaration,
    /// Here the size or the type of the array is asked for.
    ShapeAsked(Span),
}

impl Unwritten {
    /// In words, behind "not written by a fix: ".
    pub(super) fn words(&self, case: &Case<'_>, array: &str) -> String {
        let at = |span: &Span| (case.place)(*span);
        match self {
            Unwritten::Members(span) => {
                format!("the access of `{array}` at {} does not name one member of a built-in type", at(span))
            }
            Unwritten::Taken(name) => format!("the name `{name}` is already in use"),
            Unwritten::Calls => format!(
                "every index and `wmma` call would need the new leading dimension, and not every access is \
                 proved to still reach its element of `{array}`"
            ),
            Unwritten::Fixed(Fixed::Declared) => format!("the kernel does not declare `{array}` itself"),
            Unwritten::Fixed(Fixed::Whole(span)) => {
                format!("`{array}` is used without all its subscripts at {}", at(span))
            }
            Unwritten::Fixed(Fixed::Address(span)) => {
                format!("the address of an element of `{array}` is taken at {}", at(span))
            }
            Unwritten::Fixed(Fixed::Handed(span)) => {
                format!("an element of `{array}` may be passed by reference at {}", at(span))
            }
            Unwritten::Strays => {
                format!("not every subscript of `{array}` is known to stay in its row or plane")
            }
            Unwritten::NotRun(span) => not_run_words(case, array, *span),
            Unwritten::Macro(span) => {
                let place = at(span);
                format!(
                    "the element of `{array}` at {place} is not plain text on one line (a macro or a comment)"
                )
            }
            Unwritten::Twice(span) => format!("the subscript at {} would be written twice", at(span)),
            Unwritten::Order(span) => {
                format!("the evaluation order of the subscripts matters at {}", at(span))
            }
            Unwritten::Nested(span) => format!("`{array}` occurs in its own subscript at {}", at(span)),
            Unwritten::Elsewhere(span) => {
                format!("`{array}` is named at {}, where the analysis did not see it", at(span))
            }
            Unwritten::Declaration => format!("the declaration of `{array}` is not written out"),
            Unwritten::ShapeAsked(span) => format!("the size or type of `{array}` matters at {}", at(span)),
        }
    }
}

/// The fix that writes the layout.
pub(super) fn written(case: &Case<'_>, found: &Found<'_>, best: &Tried) -> Result<Fix, Unwritten> {
    let array = found.array;
    let leaves = found.by_run(best).iter().any(|run| run.after > run.ideal);
    let title = change(case, found, &best.layout);
    if let Some(span) = (case.shape_asked)(array.name_span, &[]) {
        return Err(Unwritten::ShapeAsked(span));
    }
    if !is_written_out(case, array) {
        return Err(Unwritten::Declaration);
    }
    match &best.layout {
        Layout::Declared => Err(Unwritten::Declaration),
        Layout::Rows { .. } => Err(Unwritten::Calls),
        Layout::Longer { dimension: (at, by), .. } => {
            check_subscripts(case, array)?;
            let span = *array.dimension_spans.get(*at).ok_or(Unwritten::Declaration)?;
            let text = widened((case.text)(span).trim(), *by);
            let doubt = costs(found, best, leaves);
            let basis = doubt.map_or(Basis::Subscripts, |doubt| Basis::Judgement(doubt.to_owned()));
            Ok(Fix { title, edits: vec![Edit { span, text }], basis, leaves })
        }
        layout => {
            let elements = case.padder.elements(array.name_span).map_err(Unwritten::Fixed)?;
            check_subscripts(case, array)?;
            let is_apart = matches!(layout, Layout::Apart { .. });
            let mut edits = match is_apart {
                true => apart::declaration(case, array, &elements)?,
                false => declaration(case, found, layout)?,
            };
            if elements.list.iter().any(|it| it.subscripts.len() != array.dimensions.len()) {
                return Err(Unwritten::Declaration);
            }
            for element in &elements.list {
                let place = Place::of(case, array, element)?;
                edits.extend(match is_apart {
                    true => apart::place(case, array, element)?,
                    false => place.edits(case, found, layout)?,
                });
            }
            check_elsewhere(case, array, &elements)?;
            edits.sort_by_key(|edit| edit.span);
            let overlaps = |pair: &&[Edit]| pair[1].span.start < pair[0].span.end;
            if let Some([_, inner]) = edits.windows(2).find(overlaps) {
                return Err(Unwritten::Nested(inner.span));
            }
            let basis = Basis::Accesses {
                name: array.name.clone(),
                scope: Span { start: array.name_span.end, ..elements.scope },
                seen: elements.list.iter().map(|element| element.name).collect(),
                doubt: costs(found, best, leaves)
                    .or_else(|| is_apart.then_some("every access of a member then names a different array"))
                    .or_else(|| doubt(case, &elements))
                    .map(str::to_owned),
            };
            Ok(Fix { title, edits, basis, leaves })
        }
    }
}

/// What speaks against a layout that is proved, if something does.
fn costs(found: &Found<'_>, best: &Tried, leaves: bool) -> Option<&'static str> {
    match () {
        () if leaves => Some("it reduces the conflicts but does not remove them all"),
        () if best.operations > 0 => Some("each index takes more operations: measure whether it pays off"),
        () if found.worst_by_data(best).is_some_and(|(_, then)| then > 1) => {
            Some("for data-dependent indices only the worst case is known")
        }
        () if found.at_most => Some("the compiler may no longer combine accesses that it combines now"),
        () => None,
    }
}

/// Why the proof may not speak of everyone who runs the kernel, if it may not.
fn doubt(case: &Case<'_>, elements: &Elements) -> Option<&'static str> {
    match () {
        () if case.runs.iter().any(|run| is_assumed(run.block_from)) => {
            Some("it assumes the block shape, and with it that no index leaves its row")
        }
        () if !elements.is_in_given_file => Some("other files may include the kernel and change its meaning"),
        () => None,
    }
}

/// Whether each subscript is seen to stay below its dimension.
fn check_subscripts(case: &Case<'_>, array: &Array) -> Result<(), Unwritten> {
    let mut arrays = case.runs.iter().flat_map(|run| &run.trace.arrays);
    let stray = arrays.any(|it| it.name_span == array.name_span && !it.is_named_by_subscripts());
    if stray { Err(Unwritten::Strays) } else { Ok(()) }
}

/// The edits of the declaration.
fn declaration(case: &Case<'_>, found: &Found<'_>, layout: &Layout) -> Result<Vec<Edit>, Unwritten> {
    let array = found.array;
    let spans = &array.dimension_spans;
    let texts = match layout {
        Layout::Swapped { .. } => lengths_written(case, array).into_iter().rev().collect(),
        Layout::Skewed { .. } => vec![length_of(case, found, layout)],
        _ => return Ok(Vec::new()),
    };
    if texts.len() != spans.len() {
        return Err(Unwritten::Declaration);
    }
    Ok(spans.iter().zip(texts).map(|(span, text)| Edit { span: *span, text }).collect())
}

/// Whether the text names the array where the program does not.
fn check_elsewhere(case: &Case<'_>, array: &Array, elements: &Elements) -> Result<(), Unwritten> {
    let text = (case.text)(elements.scope);
    let mut lexer = Lexer::new(&text);
    let tokens: Vec<Token> = std::iter::from_fn(|| lexer.next()).collect();
    for (at, token) in tokens.iter().enumerate() {
        let is_name = token.kind == Kind::Ident && text.get(token.range()) == Some(array.name.as_str());
        let is_member = at.checked_sub(1).and_then(|before| tokens.get(before)).is_some_and(|it| it.is(b'.'));
        let start = elements.scope.start.saturating_add(token.start);
        let known = start == array.name_span.start || elements.list.iter().any(|it| it.name.start == start);
        if is_name && !is_member && !known {
            let end = start.saturating_add(array.name.len() as u32);
            return Err(Unwritten::Elsewhere(Span { start, end, ..elements.scope }));
        }
    }
    Ok(())
}

/// An element as it is written.
struct Place<'e> {
    element: &'e Element,
    /// What is in brackets.
    subscripts: Vec<(Span, String)>,
}

impl<'e> Place<'e> {
    fn of(case: &Case<'_>, array: &Array, element: &'e Element) -> Result<Place<'e>, Unwritten> {
        let made_by_macro = || Unwritten::Macro(element.span);
        if !was_run(case, array, element) {
            return Err(Unwritten::NotRun(element.span));
        }
        if (case.text)(element.name) != array.name || element.name.start != element.span.start {
            return Err(made_by_macro());
        }
        let mut subscripts = Vec::new();
        let mut start = element.name.end;
        for subscript in &element.subscripts {
            let whole = Span { start, end: subscript.end, ..element.span };
            let text = if start < subscript.end { (case.text)(whole) } else { String::new() };
            let trimmed = text.trim_start();
            let before = text.len() - trimmed.len() + 1;
            let inner = trimmed.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
            let inner = inner.filter(|it| is_one_expression(it)).ok_or_else(made_by_macro)?;
            let first = start as usize + before + inner.len() - inner.trim_start().len();
            let inner = inner.trim();
            let at = |place: usize| u32::try_from(place).unwrap_or(u32::MAX);
            let span = Span { start: at(first), end: at(first + inner.len()), ..element.span };
            subscripts.push((span, inner.to_owned()));
            start = subscript.end;
        }
        Ok(Place { element, subscripts })
    }

    /// The subscripts as they then are.
    fn edits(&self, case: &Case<'_>, found: &Found<'_>, layout: &Layout) -> Result<Vec<Edit>, Unwritten> {
        let edit = |(span, _): &(Span, String), text: String| Edit { span: *span, text };
        if let Layout::Swapped { .. } = layout {
            if self.element.in_order {
                return Err(Unwritten::Order(self.element.span));
            }
            let others = self.subscripts.iter().rev().map(|(_, text)| text.clone());
            return Ok(self.subscripts.iter().zip(others).map(|(own, text)| edit(own, text)).collect());
        }
        let last = self.subscripts.len() - 1;
        let decimal = |text: &&String| *text == "0" || !text.starts_with('0');
        let number = Some(&self.subscripts[last].1).filter(decimal).and_then(|text| text.parse().ok());
        if let (Some(number), true) = (number, place_of(found, layout, 0).is_some()) {
            let place = place_of(found, layout, number).unwrap_or(number);
            return Ok(vec![edit(&self.subscripts[last], place.to_string())]);
        }
        let row = last.checked_sub(1);
        let text = column_of(case, found, layout, &|name| match name {
            "r" => row.map_or_else(String::new, |row| self.part(row, false)),
            "c+" | "i+" => self.part(last, true),
            _ => self.part(last, false),
        });
        for (at, (span, own)) in self.subscripts.iter().enumerate() {
            let names: &[&str] = match at {
                _ if at == last => &["c", "i"],
                _ if Some(at) == row => &["r"],
                _ => &[],
            };
            let written = names.iter().map(|name| uses(case, found, layout, name)).sum::<usize>();
            // That of the row stays where it is, too.
            let written = written + usize::from(at != last);
            let is_fine = self.element.subscripts[at].is_repeatable && own.len() <= LONGEST;
            if written > 1 && !is_fine {
                return Err(Unwritten::Twice(*span));
            }
        }
        if self.element.in_order {
            return Err(Unwritten::Order(self.element.span));
        }
        Ok(vec![edit(&self.subscripts[last], text)])
    }

    /// A subscript as a part of another expression; `sum`: a sum goes on behind it.
    fn part(&self, at: usize, sum: bool) -> String {
        let text = &self.subscripts[at].1;
        match self.element.subscripts[at].form {
            Form::Whole if is_name_or_number(text) => text.clone(),
            Form::Whole | Form::Sum if sum && !text.starts_with(['-', '+']) => text.clone(),
            _ => format!("({text})"),
        }
    }
}

/// How often a layout names the subscript that it calls so.
fn uses(case: &Case<'_>, found: &Found<'_>, layout: &Layout, name: &str) -> usize {
    let count = std::cell::Cell::new(0);
    column_of(case, found, layout, &|asked| {
        if asked.trim_end_matches('+') == name {
            count.set(count.get() + 1);
        }
        String::new()
    });
    count.get()
}

/// Whether nothing in a text ends it, or hides in it.
fn is_one_expression(text: &str) -> bool {
    let mut depth = 0i32;
    let balanced = text.chars().all(|c| {
        depth += i32::from(matches!(c, '(' | '[')) - i32::from(matches!(c, ')' | ']'));
        depth >= 0
    });
    let plain =
        !text.contains(['\n', '\\', '#', '"', '{', ';']) && !text.contains("//") && !text.contains("/*");
    balanced && depth == 0 && plain && !text.trim().is_empty()
}

/// Whether a text is a name, a member of one, or a number.
fn is_name_or_number(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':'))
}
