//! How is a layout spelled: by what to declare, and by what an element is then?
//!
//! `tile[r][c]` stands for an element of rows, `s[i]` for one of a flat array. A fix puts what is written in place of
//! these letters.

use super::super::{Case, listed};
use super::declared::is_written_out;
use super::padding::text::{as_factor, skewed, widened};
use super::padding::written_type;
use crate::events::Array;
use crate::remedy::{Found, Layout, Term, is_part_of_index, row_bits};
use crate::source::Span;

/// What becomes of the text.
pub(super) fn change(case: &Case<'_>, found: &Found<'_>, layout: &Layout) -> String {
    let array = found.array;
    let declared = |dimensions: &[String]| {
        let ty = match is_written_out(case, array) {
            true => written_type(&(case.text)(Span { end: array.name_span.start, ..array.span })),
            false => String::new(),
        };
        let dimensions: String = dimensions.iter().map(|it| format!("[{it}]")).collect();
        format!("declare `{ty}{}{dimensions}`", array.name)
    };
    let indexed = || format!("index `{}` as `{}`", subscripts(array), name(case, found, layout));
    let mut lengths = lengths_written(case, array);
    match layout {
        Layout::Declared => String::new(),
        Layout::Longer { dimension: (at, by), .. } => {
            if let Some(length) = lengths.get_mut(*at) {
                *length = widened(length, *by);
            }
            declared(&lengths)
        }
        Layout::Swapped { .. } => {
            lengths.reverse();
            format!("{} and {}", declared(&lengths), indexed())
        }
        Layout::Apart { .. } => {
            format!("give each member of `{}` its own array", array.name)
        }
        Layout::Skewed { .. } => {
            format!("{} and {}", indexed(), declared(&[length_of(case, found, layout)]))
        }
        Layout::Rows { row, extra } => {
            let last = lengths.len().checked_sub(1).filter(|_| found.views == 1);
            let is_row = found.forms.iter().all(|form| form.last() == Some(row));
            let declaration = match (last, array.dynamic) {
                (Some(0), false) => Some(declared(&[length_of(case, found, layout)])),
                (Some(last), false) if is_row => {
                    lengths[last] = widened(&lengths[last], *extra);
                    Some(declared(&lengths))
                }
                _ => None,
            };
            let declaration = declaration.map(|it| format!(", {it}")).unwrap_or_default();
            rows(found, *row, *extra, &declaration)
        }
        Layout::Combined { .. } | Layout::Rotated { .. } => indexed(),
    }
}

/// Rows that lie farther apart, and what the calls then ask for that read and write tiles.
fn rows(found: &Found<'_>, row: u64, extra: u64, declaration: &str) -> String {
    let calls: Vec<String> = found
        .distances
        .iter()
        .filter(|(now, then)| now != then)
        .map(|(now, then)| format!("{then} instead of {now}"))
        .collect();
    // As the calls count them, where they agree.
    let bytes = |elements: u64| elements * found.array.element_bytes.unwrap_or(1);
    let counted = |elements: u64| {
        let own = found.line_element.filter(|own| bytes(elements).is_multiple_of(*own));
        own.map_or(bytes(elements), |own| bytes(elements) / own)
    };
    let what = if found.line_element.is_some() { "elements" } else { "bytes" };
    let calls = match calls.is_empty() {
        true => String::new(),
        false => format!(" and give the `wmma` calls the leading dimension {}", listed(&calls)),
    };
    let (rows, apart) = (counted(row), counted(row + extra));
    match found.views {
        1 => format!(
            "lay the rows of {rows} {what} of `{}` {apart} apart wherever it is indexed{declaration}{calls}",
            found.array.name
        ),
        _ => format!("lay its rows of {rows} {what} {apart} apart there{calls}"),
    }
}

/// A layout by what an element of it is in the text.
pub(super) fn name(case: &Case<'_>, found: &Found<'_>, layout: &Layout) -> String {
    let array = found.array;
    let own = subscripts(array);
    let column = |index: &str| match own.strip_suffix("[c]") {
        Some(rows) => format!("{rows}[{index}]"),
        None => format!("{}[{index}]", array.name),
    };
    match layout {
        Layout::Declared => own,
        Layout::Longer { dimension: (at, by), .. } => {
            let mut lengths = lengths_written(case, array);
            if let Some(length) = lengths.get_mut(*at) {
                *length = widened(length, *by);
            }
            let lengths: String = lengths.iter().map(|it| format!("[{it}]")).collect();
            format!("{}{lengths}", array.name)
        }
        Layout::Swapped { .. } => format!("{}[c][r]", array.name),
        Layout::Apart { .. } => "an array for each member".to_owned(),
        Layout::Rows { row, extra } => format!("{}[i + i / {row} * {extra}]", array.name),
        layout => column(&column_of(case, found, layout, &|name| name.trim_end_matches('+').to_owned())),
    }
}

/// The length of a flat array that is skewed, as it is to be written.
pub(super) fn length_of(case: &Case<'_>, found: &Found<'_>, layout: &Layout) -> String {
    let lengths: Vec<u64> = found.forms.iter().filter_map(|form| form.first().copied()).collect();
    match (layout, lengths.as_slice(), lengths_written(case, found.array).as_slice()) {
        (_, [], _) | (_, _, []) => String::new(),
        (_, [length], [written, ..]) if !names_something(written) => layout.length(*length).to_string(),
        (Layout::Skewed { shift, left }, _, [written, ..]) => skewed(written, *shift, *left),
        (Layout::Rows { row, extra }, lengths, [written, ..]) => {
            let own = as_factor(written);
            match lengths.iter().all(|length| length.is_multiple_of(*row)) {
                true => format!("{own} / {row} * {}", row + extra),
                false => format!("({own} + {}) / {row} * {}", row - 1, row + extra),
            }
        }
        _ => String::new(),
    }
}

/// Where an element of a flat array then is; `None` for one that has rows.
pub(super) fn place_of(found: &Found<'_>, layout: &Layout, element: u64) -> Option<u64> {
    (found.array.dimensions.len() < 2).then(|| layout.place(element))
}

/// The last subscript of an element in a layout. `part` says how those of now are written there: the last one
/// (`c`, or `i` of a flat array) and the one before it (`r`); with `+` behind it, where a sum goes on behind it.
pub(super) fn column_of(
    case: &Case<'_>,
    found: &Found<'_>,
    layout: &Layout,
    part: &dyn Fn(&str) -> String,
) -> String {
    let flat = found.array.dimensions.len() < 2;
    match layout {
        Layout::Skewed { shift, left: 0 } => format!("{} + ({} >> {shift})", part("i+"), part("i")),
        Layout::Skewed { shift, left } => {
            format!("{} + (({} >> {shift}) << {left})", part("i+"), part("i"))
        }
        Layout::Combined { row, terms } => {
            let own = if flat { "i" } else { "c" };
            let in_index = found.forms.first().is_some_and(|form| is_part_of_index(form, *row));
            let (index, first) = if in_index { (own, row.trailing_zeros()) } else { ("r", 0) };
            // A mask is left out only where no instance needs it.
            let lines = found.forms.iter().map(|form| {
                let row = if in_index { *row } else { form.last().copied().unwrap_or(1) };
                row_bits(form.iter().product(), row)
            });
            let lines = lines.max().unwrap_or(0);
            let own = Some(part(own)).filter(|own| own != "0");
            let terms = terms.iter().map(|it| term(&part(index), *it, first, lines));
            own.into_iter().chain(terms).collect::<Vec<_>>().join(" ^ ")
        }
        Layout::Rotated { row, by } => {
            let row = match lengths_written(case, found.array).last() {
                Some(written) if found.forms.len() > 1 || names_something(written) => as_factor(written),
                _ => row.to_string(),
            };
            match (by, part("c+").as_str()) {
                (1, "0") => format!("{} % {row}", part("r")),
                (1, own) => format!("({own} + {}) % {row}", part("r")),
                (by, own) => format!("({own} + {by} * {}) % {row}", part("r")),
            }
        }
        Layout::Declared
        | Layout::Longer { .. }
        | Layout::Rows { .. }
        | Layout::Swapped { .. }
        | Layout::Apart { .. } => part("c"),
    }
}

/// Bits of an index, at another place: `((i >> 5) & 7) << 2`. `all`: the bits that there are above `first`.
fn term(index: &str, term: Term, first: u32, all: u32) -> String {
    let shift = term.shift + first;
    let mut text = if shift > 0 { format!("({index} >> {shift})") } else { index.to_owned() };
    if term.shift + term.bits < all {
        text = format!("({text} & {})", (1u64 << term.bits) - 1);
    }
    if term.factor > 1 {
        text = match term.factor.is_power_of_two() {
            true => format!("({text} << {})", term.factor.trailing_zeros()),
            false => format!("({text} * {})", term.factor),
        };
    }
    text
}

/// Whether a length is more than numbers: what it names may be another number in another instance or build.
fn names_something(length: &str) -> bool {
    length.contains(|c: char| c.is_alphabetic() || c == '_')
}

/// The dimensions as they are written, or as numbers where the declaration does not say them.
pub(super) fn lengths_written(case: &Case<'_>, array: &Array) -> Vec<String> {
    if !is_written_out(case, array) {
        let number = |length: &Option<u64>| length.map_or_else(String::new, |length| length.to_string());
        return array.dimensions.iter().map(number).collect();
    }
    // Broken lines are put into one, if no comment ends with one of them.
    let words = |text: String| match text.contains("//") {
        true => text.trim().to_owned(),
        false => text.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    array.dimension_spans.iter().map(|span| words((case.text)(*span))).collect()
}

/// An element as it is written: `s[i]`, `tile[r][c]`.
fn subscripts(array: &Array) -> String {
    let indices: &[&str] = match array.dimensions.len() {
        0 | 1 => &["i"],
        2 => &["r", "c"],
        3 => &["p", "r", "c"],
        _ => &["..", "r", "c"],
    };
    let indices: String = indices.iter().map(|index| format!("[{index}]")).collect();
    format!("{}{indices}", array.name)
}
