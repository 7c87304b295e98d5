//! How is a longer distance between rows written, in the indices and in the declaration?
//!
//! Where a constant names the distance and nothing else rests on it, the constant changes; else each
//! place where it is written does.

use super::super::super::{Case, Length, PitchSite, Pitched, listed, plural};
use super::{declared, text};
use crate::diagnostic::Edit;
use crate::events::Array;
use crate::source::Span;
use std::collections::BTreeSet;

/// The most lines that are named.
const MOST_LINES: usize = 6;

/// The edits that make a distance between rows longer, and what they are in words.
pub(super) struct Written {
    /// None where the launches are left to whoever reads the words; what becomes of those is not in the words.
    pub edits: Vec<Edit>,
    /// What changes: `float s[32 * 33]` and `33` for `32` in 3 places (line 4 and line 7).
    pub words: String,
}

/// A place where it is written.
struct Place {
    edits: Vec<Edit>,
}

pub(super) fn written(case: &Case<'_>, array: &Array, pitched: &Pitched, extra: u64) -> Option<Written> {
    let place = |at: &PitchSite| Some(Place { edits: text::site(case, *at, extra)? });
    let mut places: Vec<Place> = pitched.sites.iter().map(place).collect::<Option<_>>()?;
    let length = text::length(case, &pitched.length, extra)?;
    let mut length: Vec<Place> = length.into_iter().map(|edits| Place { edits }).collect();
    let constants = constants(case, places.iter().chain(&length), extra);
    let changes = |place: &Place| match place.edits.as_slice() {
        [edit] => !constants.iter().any(|constant| constant.named.contains(&edit.span)),
        _ => true,
    };
    places.retain(changes);
    length.retain(changes);
    let mut words = Vec::new();
    match (&pitched.length, length.as_slice()) {
        (Length::Launches(..), []) | (Length::Given(_), _) => {}
        (Length::Launches(..), [first, ..]) => {
            let (old, new) = first.words(case);
            let launches = match length.len() {
                1 => "the byte count at the launch".to_owned(),
                many => format!("the byte counts at {many} launches"),
            };
            words.push(format!("{new} instead of {old} in {launches}"));
        }
        (_, []) if !constants.is_empty() => {}
        (_, changed) => {
            let edits: Vec<Edit> = changed.iter().flat_map(|place| place.edits.clone()).collect();
            words.push(format!("`{}`", declared(case, array, &edits)));
        }
    }
    for Constant { edit, name, .. } in &constants {
        words.push(format!(
            "`{}` instead of `{}` where `{name}` is defined",
            edit.text,
            (case.text)(edit.span)
        ));
    }
    words.extend(changed_places(case, array, &places));
    if matches!(pitched.length, Length::Given(_)) {
        return Some(Written { edits: Vec::new(), words: words.join(" and ") });
    }
    let mut edits: Vec<Edit> = places.into_iter().flat_map(|place| place.edits).collect();
    edits.extend(constants.into_iter().map(|constant| constant.edit));
    edits.extend(length.into_iter().flat_map(|place| place.edits));
    Some(Written { edits, words: words.join(" and ") })
}

/// What changes where, each text by itself.
fn changed_places(case: &Case<'_>, array: &Array, places: &[Place]) -> Vec<String> {
    let mut texts: Vec<((String, String), Vec<Span>)> = Vec::new();
    for place in places {
        let (own, at) = (place.words(case), place.edits.iter().map(|edit| edit.span).min());
        match texts.iter_mut().find(|(known, _)| *known == own) {
            Some((_, spans)) => spans.extend(at),
            None => texts.push((own, at.into_iter().collect())),
        }
    }
    let words = |((old, new), mut spans): ((String, String), Vec<Span>)| {
        spans.sort();
        let mut lines: Vec<String> = Vec::new();
        for span in &spans {
            let line = match span.file == array.name_span.file {
                true => (case.line)(*span),
                false => (case.place)(*span),
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let more = lines.len().saturating_sub(MOST_LINES);
        lines.truncate(MOST_LINES);
        lines.extend((more > 0).then(|| format!("{more} more")));
        format!("{new} instead of {old} in {} ({})", plural(spans.len() as u64, "place"), listed(&lines))
    };
    texts.into_iter().map(words).collect()
}

impl Place {
    /// What is written there, and what is to be.
    fn words(&self, case: &Case<'_>) -> (String, String) {
        match self.edits.as_slice() {
            [operator, bits] => {
                let old = [operator, bits].map(|edit| (case.text)(edit.span));
                (format!("`{} {}`", old[0], old[1]), format!("`{} {}`", operator.text, bits.text))
            }
            [edit, ..] => (format!("`{}`", (case.text)(edit.span)), format!("`{}`", edit.text)),
            [] => (String::new(), String::new()),
        }
    }
}

/// A constant that is the distance and nothing else.
struct Constant {
    name: String,
    edit: Edit,
    /// Everything that names it.
    named: Vec<Span>,
}

/// The constants of which every mention is a place that would change.
fn constants<'p>(case: &Case<'_>, places: impl Iterator<Item = &'p Place>, extra: u64) -> Vec<Constant> {
    let edits = places.map(|place| place.edits.as_slice());
    // A shift has two.
    let changed: BTreeSet<Span> =
        edits.filter(|edits| edits.len() == 1).flatten().map(|edit| edit.span).collect();
    let mut found: Vec<Constant> = Vec::new();
    for span in &changed {
        let name = (case.text)(*span);
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_')
            || found.iter().any(|it| it.name == name)
        {
            continue;
        }
        let Some(constant) = (case.constant)(*span) else { continue };
        let within = |range: &std::ops::Range<usize>| {
            let bounds = (u32::try_from(range.start).ok()?, u32::try_from(range.end).ok()?);
            Some(Span { start: bounds.0, end: bounds.1, ..*span })
        };
        let Some(named) = constant.mentions.iter().map(within).collect::<Option<Vec<Span>>>() else {
            continue;
        };
        let Some(value) = within(&constant.value) else { continue };
        if named.iter().all(|mention| changed.contains(mention)) {
            let text = text::value((case.text)(value).trim(), constant.is_macro, extra);
            found.push(Constant { name, edit: Edit { span: value, text }, named });
        }
    }
    found
}
