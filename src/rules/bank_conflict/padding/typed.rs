//! How are longer rows written where types say how long they are, and is it proved that elements are found?
//!
//! ```text
//! struct Storage { float tile[32][32]; };        float tile[32][33];
//! void fill(float (*t)[32]);                     void fill(float (*t)[33]);
//! ```
//!
//! The kernel finds the elements that it did if its accesses go to places of their own ([`finds_the_same`]). Whoever
//! else uses these types is not run. So they are written only if all that the text says of them is known to stay right:
//! plain subscripts of shared objects, of classes that have data only and no other object. Else, and for a class that is
//! larger or a number in its methods, the help says what to look at.

use super::super::super::{Case, KernelRun, Typed, TypedLength, TypedWhat, listed, plural};
use super::super::declared::asked_but;
use super::{Padding, Rows, Search, and, declared, text};
use crate::diagnostic::{Basis, Edit};
use crate::events::Trace;
use crate::remedy::longer::Sites;
use crate::remedy::{Run, finds_the_same};
use crate::source::Span;

/// Bytes of a word by which a class becomes longer.
const WORD: u64 = 4;

/// The edits that make rows longer, and what they are in words.
pub(super) struct Written {
    /// None where the author has to choose.
    pub edits: Vec<Edit>,
    pub words: String,
    /// Bytes that the block takes more.
    pub bytes: u64,
    /// On what it rests that nothing else changes.
    pub basis: Basis,
    /// On what it is correct, in words, where that is for the author to see.
    pub condition: String,
}

impl Written {
    fn of(edits: Vec<Edit>, words: String) -> Written {
        Written { edits, words, bytes: 0, basis: Basis::Subscripts, condition: String::new() }
    }
}

impl Search<'_> {
    /// A padding of what types say of rows, or of elements, if it leaves less than `known` does.
    pub(super) fn in_types(&self, of_elements: bool, known: Option<&Padding>) -> Option<Padding> {
        let rank = |it: &Padding| (!it.complete, it.left, it.edits.is_empty());
        let better = |found: &Padding, best: Option<&Padding>| {
            best.or(known).is_none_or(|best| rank(found) < rank(best))
        };
        let all = self.case.padder.typed(self.array.name_span).into_iter();
        let all = all.filter(|typed| matches!(typed.what, TypedWhat::Class { .. }) == of_elements);
        let mut best: Option<Padding> = None;
        let mut helping: Vec<Typed> = Vec::new();
        for typed in all.filter(|typed| self.is_promising(typed)) {
            let rows = Rows::Typed { typed: typed.clone(), before: Vec::new() };
            let Some(found) = self.with(rows, &mut true) else { continue };
            helping.push(typed);
            if better(&found, best.as_ref()) {
                best = Some(found);
            }
            if best.as_ref().is_some_and(|best| best.complete) {
                return best;
            }
        }
        // Each member may have conflicts of its own.
        helping.retain(|typed| matches!(typed.what, TypedWhat::Members(_)));
        while let Some(more) = best.as_ref().and_then(|best| self.with_other_members(best, &helping)) {
            best = Some(more);
        }
        best
    }

    /// Whether something changes for the accesses of the array where this is larger, and it is proved that they find
    /// their elements.
    fn is_promising(&self, typed: &Typed) -> bool {
        let name = self.array.name_span;
        let of_array = |run: &Run<'_>| run.trace.arrays.iter().any(|array| array.name_span == name);
        let Some(number) = self.runs.iter().position(of_array) else { return false };
        // There may be room for one word in each element as it is.
        let extra = if matches!(typed.what, TypedWhat::Class { .. }) { 2 } else { 1 };
        let Some(again) = self.case.padder.run_typed(number, &[(typed.clone(), extra)]) else { return false };
        let before = &self.runs[number];
        let after = Run { trace: &again.trace, judgements: &again.judgements, ..*before };
        let changes = || {
            let sites = Sites::of(&[*before], name).zip(Sites::of(&[after], name));
            let differ = |(before, after): (Sites, Sites)| {
                !after.helped(&before).is_empty() || !before.helped(&after).is_empty()
            };
            sites.is_some_and(differ)
        };
        self.keeps_elements(typed, number, &again) && changes()
    }

    /// The rows of another member longer, too.
    fn with_other_members(&self, padding: &Padding, others: &[Typed]) -> Option<Padding> {
        let Rows::Typed { typed, before } = &padding.rows else { return None };
        let known = all(typed, before, padding.extra);
        let is_new = |other: &&Typed| known.iter().all(|(known, _)| known != *other);
        let others = others.iter().filter(is_new).filter(|_| !padding.complete);
        let with = |other: &Typed| {
            let found = self.with(Rows::Typed { typed: other.clone(), before: known.clone() }, &mut true);
            found.filter(|found| found.left < padding.left)
        };
        others.filter_map(with).min_by_key(|found| found.left)
    }

    /// Whether a run with longer rows finds the elements that it found, and takes no more for other arrays that have
    /// the same rows.
    pub(super) fn keeps_elements(&self, typed: &Typed, run: usize, again: &KernelRun) -> bool {
        let Some(before) = self.runs.get(run) else { return false };
        let arrays = &typed.arrays;
        let after = Run { trace: &again.trace, judgements: &again.judgements, ..*before };
        let costs_no_more = |name: &&Span| {
            let sum = |run: &Run<'_>| Sites::of(&[*run], **name).map(|sites| sites.wavefronts());
            sum(before).zip(sum(&after)).is_some_and(|(before, after)| after <= before)
        };
        let others = arrays.iter().filter(|name| **name != self.array.name_span);
        others.into_iter().all(|name| costs_no_more(&name)) && finds_the_same(before, &again.trace, arrays)
    }

    /// Longer rows as they are written.
    pub(super) fn written(&self, typed: &[(Typed, u64)]) -> Option<Written> {
        let parts = typed.iter().map(|(typed, extra)| self.part(typed, *extra));
        let parts: Vec<Written> = parts.collect::<Option<_>>()?;
        let words: Vec<String> = parts.iter().map(|part| part.words.clone()).collect();
        let mut edits: Vec<Edit> = Vec::new();
        // All of them, or none.
        if parts.iter().all(|part| !part.edits.is_empty()) {
            edits.extend(parts.iter().flat_map(|part| part.edits.iter().cloned()));
            edits.sort_by_key(|edit| edit.span);
            edits.dedup();
        }
        let condition = parts.iter().map(|part| part.condition.clone()).find(|it| !it.is_empty());
        let condition = condition.unwrap_or_default();
        let basis = parts.into_iter().next_back()?.basis;
        Some(Written { edits, words: and(&words), bytes: self.more_bytes(typed), basis, condition })
    }

    /// What becomes of one of them.
    fn part(&self, typed: &Typed, extra: u64) -> Option<Written> {
        let (mut part, class) = match &typed.what {
            TypedWhat::Variables(variables) => return self.variables(typed, variables, extra),
            TypedWhat::Members(members) => (self.members(members, extra)?, &members.first()?.of),
            TypedWhat::Factors { of, places } => (self.factors(of, places, extra)?, &of.of),
            TypedWhat::Class { name, .. } => {
                let more = if extra == 1 { "an unused word" } else { &plural(extra, "unused word") };
                let words = format!("{more} of 4 bytes at the end of {}", class_words(name));
                (Written::of(Vec::new(), words), name)
            }
        };
        let class = class_words(class);
        part.basis = Basis::Judgement(format!("other code may rest on the size of {class}"));
        let number = match typed.what {
            TypedWhat::Factors { .. } => "this number means the length of its rows in each place and ",
            _ => "",
        };
        self.close(typed, part, &format!("{number}nothing else rests on the size or layout of {class}"))
    }

    /// What is to be written, if all that the text says of it stays right; else the condition under which it does.
    fn close(&self, typed: &Typed, mut part: Written, condition: &str) -> Option<Written> {
        let stray = (self.case.stray_use)(&typed.uses).filter(|_| typed.is_closed);
        if !typed.is_closed || stray.is_some() {
            part.edits.clear();
            let place = stray.map(|span| format!(": see {}", (self.case.place)(span)));
            part.condition = format!("; correct only if {condition}{}", place.unwrap_or_default());
        }
        Some(part)
    }

    fn members(&self, members: &[TypedLength], extra: u64) -> Option<Written> {
        let edits = members.iter().map(|member| longer(self.case, member, extra));
        let edits: Vec<Edit> = edits.collect::<Option<_>>()?;
        let words = members.iter().zip(&edits).map(|(member, edit)| {
            format!("`{}` in {}", declarator(self.case, member, edit), class_words(&member.of))
        });
        let words: Vec<String> = words.collect();
        Some(Written::of(edits, and(&words)))
    }

    fn factors(&self, of: &TypedLength, places: &[Span], extra: u64) -> Option<Written> {
        let edits = places.iter().map(|place| factor(self.case, *place, extra));
        let edits: Vec<Edit> = edits.collect::<Option<_>>()?;
        let first = edits.first()?;
        let words = format!(
            "`{}` instead of `{}` in {} of {} ({})",
            first.text,
            (self.case.text)(first.span),
            plural(places.len() as u64, "place"),
            class_words(&of.of),
            listed(&lines(self.case, places)),
        );
        Some(Written::of(edits, words))
    }

    fn variables(&self, typed: &Typed, variables: &[TypedLength], extra: u64) -> Option<Written> {
        let case = self.case;
        let edits = variables.iter().map(|variable| longer(case, variable, extra));
        let edits: Vec<Edit> = edits.collect::<Option<_>>()?;
        let asked = typed.arrays.iter().map(|name| asked_but(case, self.array, *name, &typed.named));
        let asked = asked.into_iter().find(|words| !words.is_empty());
        let mut part = match edits.as_slice() {
            [only] => {
                let words = format!("`{}`", declared(case, self.array, std::slice::from_ref(only)));
                Written::of(edits, words)
            }
            _ => {
                let words = and(&variables_words(case, variables, &edits));
                let why = "other code may rest on the types of these parameters and pointers".to_owned();
                let part = Written { basis: Basis::Judgement(why), ..Written::of(edits, words) };
                self.close(typed, part, "nothing else rests on the types of these parameters and pointers")?
            }
        };
        if let Some(asked) = asked {
            part.words += &asked;
            part.edits.clear();
        }
        Some(part)
    }

    /// Bytes by which the arrays of a block grow.
    fn more_bytes(&self, typed: &[(Typed, u64)]) -> u64 {
        let name = self.array.name_span;
        let bytes = |trace: &Trace| -> u64 {
            trace.arrays.iter().filter(|it| !it.dynamic).filter_map(crate::events::Array::bytes).sum()
        };
        let with_it = self.runs.iter().position(|run| run.trace.arrays.iter().any(|it| it.name_span == name));
        let more = with_it.and_then(|run| {
            let again = self.case.padder.run_typed(run, typed)?;
            bytes(&again.trace).checked_sub(bytes(self.runs[run].trace))
        });
        more.unwrap_or(0)
    }
}

/// What is larger, and by how much.
pub(super) fn all(typed: &Typed, before: &[(Typed, u64)], extra: u64) -> Vec<(Typed, u64)> {
    before.iter().cloned().chain([(typed.clone(), extra)]).collect()
}

/// What is padded, and by how much.
pub(super) fn lead(typed: &Typed, extra: u64, by: &str) -> String {
    match typed.what {
        TypedWhat::Class { .. } => {
            format!("lay the elements {} bytes further apart", extra * WORD)
        }
        _ => format!("pad the rows by {by}"),
    }
}

fn class_words(name: &str) -> String {
    // One without a name is called by what it is and where.
    let nameless = name.strip_prefix('(').and_then(|it| it.split_once(" at ")).map(|(what, _)| what);
    nameless.map_or_else(|| format!("`{name}`"), |what| format!("the {what}"))
}

/// The edit of the last length, where it stands in brackets.
fn longer(case: &Case<'_>, it: &TypedLength, extra: u64) -> Option<Edit> {
    let span = *it.lengths.last()?;
    text::length(case, &super::Length::Row(span), extra)?.into_iter().flatten().next()
}

/// The edit of a factor.
fn factor(case: &Case<'_>, span: Span, extra: u64) -> Option<Edit> {
    let site = super::super::super::PitchSite { span, shifted: None };
    text::site(case, site, extra)?.into_iter().next()
}

/// A member with its lengths: `tile[32][33]`.
fn declarator(case: &Case<'_>, member: &TypedLength, edit: &Edit) -> String {
    let length = |span: &Span| match *span == edit.span {
        true => format!("[{}]", edit.text),
        false => format!("[{}]", (case.text)(*span).trim()),
    };
    let lengths: String = member.lengths.iter().map(length).collect();
    format!("{}{lengths}", member.name)
}

/// What is written in the types of variables, by what is written there now.
fn variables_words(case: &Case<'_>, variables: &[TypedLength], edits: &[Edit]) -> Vec<String> {
    let mut by_text: Vec<(String, &Edit, Vec<String>, Vec<Span>)> = Vec::new();
    for (variable, edit) in variables.iter().zip(edits) {
        let old = (case.text)(edit.span);
        // A parameter that is only declared may have none.
        let name = if variable.name.is_empty() { "a parameter" } else { &format!("`{}`", variable.name) };
        let name = name.to_owned();
        match by_text.iter_mut().find(|(known, ..)| *known == old) {
            Some((_, _, names, spans)) => {
                names.extend((!names.contains(&name)).then_some(name));
                spans.push(edit.span);
            }
            None => by_text.push((old, edit, vec![name], vec![edit.span])),
        }
    }
    let words = |(old, edit, names, spans): (String, &Edit, Vec<String>, Vec<Span>)| {
        let types = if spans.len() == 1 { "type" } else { "types" };
        let (new, names) = (&edit.text, listed(&names));
        format!("`{new}` instead of `{old}` in the {types} of {names} ({})", listed(&lines(case, &spans)))
    };
    by_text.into_iter().map(words).collect()
}

/// The lines of some places, each once: those of the kernel's own file first. Which file was read first does not
/// matter for their order.
fn lines(case: &Case<'_>, spans: &[Span]) -> Vec<String> {
    let mut spans = spans.to_vec();
    spans.sort_by_cached_key(|span| {
        let begin_of_file = (case.place)(Span { start: 0, end: 0, ..*span });
        (span.file != case.kernel.file, begin_of_file, span.start)
    });
    let mut lines: Vec<String> = Vec::new();
    for span in &spans {
        let line = match span.file == case.kernel.file {
            true => (case.line)(*span),
            false => (case.place)(*span),
        };
        lines.extend((!lines.contains(&line)).then_some(line));
    }
    lines
}
