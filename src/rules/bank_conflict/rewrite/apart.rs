//! How does an array of structs become an array for each member, in the text?
//!
//! ```text
//! __shared__ Body body[256];            __shared__ float body_x[256], body_mass[256];
//! body[t].x = in[t];                    body_x[t] = in[t];
//! sum += body[k].mass;                  sum += body_mass[k];
//! ```
//!
//! Every place that names the array has to name one member of one element. Members that no place names get no array.

use super::Unwritten;
use crate::diagnostic::Edit;
use crate::events::Array;
use crate::rules::{Case, Element, Elements, Member};
use crate::source::Span;

/// The edits of a place that names a member.
pub(super) fn place(case: &Case<'_>, array: &Array, element: &Element) -> Result<Vec<Edit>, Unwritten> {
    let member = member(element)?;
    let start = element.span.end;
    let behind = Span { start, end: member.end, ..element.span };
    let is_plain = start < member.end
        && (case.text)(behind).split_whitespace().collect::<String>() == format!(".{}", member.name);
    if !is_plain {
        return Err(Unwritten::Macro(element.span));
    }
    Ok(vec![
        Edit { span: element.name, text: own_name(array, member) },
        Edit { span: behind, text: String::new() },
    ])
}

/// The edits of the declaration, which must declare the array and nothing else.
pub(super) fn declaration(
    case: &Case<'_>,
    array: &Array,
    elements: &Elements,
) -> Result<Vec<Edit>, Unwritten> {
    let mut members: Vec<&Member> = Vec::new();
    for element in &elements.list {
        let member = member(element)?;
        if members.iter().all(|known| known.name != member.name) {
            members.push(member);
        }
    }
    let mut taken = members.iter().map(|it| own_name(array, it));
    if let Some(name) = taken.find(|name| (case.says)(elements.scope, &[name.as_str()])) {
        return Err(Unwritten::Taken(name));
    }
    let (name, whole) = (array.name_span, array.span);
    let last = array.dimension_spans.last().ok_or(Unwritten::Declaration)?;
    let is_around = whole.file == name.file && whole.start < name.start && last.end < whole.end;
    let before = (case.text)(Span { end: name.start, ..whole });
    let behind = (case.text)(Span { start: last.end.saturating_add(1), ..whole });
    let is_word = |c: char| c.is_alphanumeric() || c.is_whitespace() || "_:".contains(c);
    let words: Vec<&str> = before.split_whitespace().collect();
    let is_plain = words.first() == Some(&"__shared__")
        && before.chars().all(is_word)
        && !words.iter().any(|word| ["static", "extern", "const", "inline"].contains(word));
    if !is_around || !is_plain || behind.trim() != ";" {
        return Err(Unwritten::Declaration);
    }
    let storage = if words.contains(&"volatile") { "__shared__ volatile" } else { "__shared__" };
    let dimensions = (case.text)(Span { start: name.end, end: last.end.saturating_add(1), ..name });
    let mut types: Vec<(&str, Vec<String>)> = Vec::new();
    for member in members {
        let declarator = format!("{}{}", own_name(array, member), dimensions.trim());
        let ty = member.ty.unwrap_or_default();
        match types.iter_mut().find(|(known, _)| *known == ty) {
            Some((_, declarators)) => declarators.push(declarator),
            None => types.push((ty, vec![declarator])),
        }
    }
    let declared = types.iter().map(|(ty, names)| format!("{storage} {ty} {};", names.join(", ")));
    Ok(vec![Edit { span: whole, text: declared.collect::<Vec<_>>().join(" ") }])
}

/// The member that a place names.
fn member(element: &Element) -> Result<&Member, Unwritten> {
    element.member.as_ref().filter(|it| it.ty.is_some()).ok_or(Unwritten::Members(element.span))
}

/// The name of the array for one member.
fn own_name(array: &Array, member: &Member) -> String {
    format!("{}_{}", array.name, member.name)
}
