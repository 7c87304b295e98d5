//! How is a longer row written?

use super::super::super::{Case, Length, PitchSite};
use crate::diagnostic::Edit;
use crate::source::Span;

/// The edits of the innermost dimension, by place.
pub(super) fn length(case: &Case<'_>, length: &Length, extra: u64) -> Option<Vec<Vec<Edit>>> {
    match length {
        Length::Row(span) => Some(vec![vec![whole(case, *span, extra)?]]),
        Length::Factor(at) => Some(vec![site(case, *at, extra)?]),
        Length::Rows(span, rows) => Some(vec![vec![whole(case, *span, rows.checked_mul(extra)?)?]]),
        Length::Launches(_, room) if extra > *room => None,
        Length::Launches(sites, _) => sites.iter().map(|at| site(case, *at, extra)).collect(),
        Length::Given(_) => Some(Vec::new()),
    }
}

fn whole(case: &Case<'_>, span: Span, extra: u64) -> Option<Edit> {
    let text = (case.text)(span);
    let text = text.trim();
    // A dimension out of a macro stands under the macro's use.
    let before = (case.text)(Span { start: span.start.saturating_sub(8), end: span.start, ..span });
    if !before.trim_end().ends_with('[') {
        return None;
    }
    (!text.is_empty()).then(|| Edit { span, text: widened(text, extra) })
}

/// The edits of a distance between rows where it is written: `row * 32` becomes `row * 33`, and so does
/// `row << 5`.
pub(super) fn site(case: &Case<'_>, at: PitchSite, extra: u64) -> Option<Vec<Edit>> {
    let Some(shifted) = at.shifted else { return Some(vec![factor(case, at.span, extra)?]) };
    let between = Span { start: shifted.span.end, end: at.span.start, ..at.span };
    let text = (case.text)(between);
    let (before, after) = text.split_once("<<")?;
    let plain = |part: &str, paren| part.chars().all(|c| c.is_whitespace() || c == paren);
    if !plain(before, ')') || !plain(after, '(') || (shifted.is_loose && !before.contains(')')) {
        return None;
    }
    let start = between.start.checked_add(u32::try_from(before.len()).ok()?)?;
    let operator = Span { start, end: start.checked_add(2)?, ..between };
    let bits = (case.text)(at.span);
    let is_name = bits.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && bits.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':');
    let digits = bits.trim_end_matches(['u', 'U', 'l', 'L']);
    let number = match digits.parse::<u32>() {
        Ok(_) if digits.starts_with('0') => return None,
        Ok(bits) => 1u64.checked_shl(bits)?.checked_add(extra)?.to_string(),
        Err(_) if is_name => format!("((1 << {bits}) + {extra})"),
        Err(_) => return None,
    };
    Some(vec![Edit { span: operator, text: "*".to_owned() }, Edit { span: at.span, text: number }])
}

/// The edit of a factor of a product, or of an argument: a number, a name, or a sum in parentheses.
fn factor(case: &Case<'_>, span: Span, extra: u64) -> Option<Edit> {
    let text = (case.text)(span);
    let around =
        (case.text)(Span { start: span.start.checked_sub(1)?, end: span.end.checked_add(1)?, ..span });
    let enclosed = around.starts_with('(') && around.ends_with(')');
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        let digits = text.trim_end_matches(['u', 'U', 'l', 'L']);
        let number = digits.parse::<u64>().ok().filter(|_| digits == "0" || !digits.starts_with('0'))?;
        let suffix = text.get(digits.len()..)?;
        return Some(Edit { span, text: format!("{}{suffix}", number.checked_add(extra)?) });
    }
    let name = !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':');
    let text = match name {
        // In parentheses always: it may be the argument of a macro.
        true => format!("({text} + {extra})"),
        false if enclosed && is_sum(&text) => widened(&text, extra),
        // An argument.
        false if is_sum(&text) => format!("({})", widened(&text, extra)),
        false => return None,
    };
    Some(Edit { span, text })
}

/// What a constant is defined as, so many more.
pub(super) fn value(text: &str, is_macro: bool, extra: u64) -> String {
    let inner = text.strip_prefix('(').and_then(|it| it.strip_suffix(')')).filter(|it| is_sum(it));
    match (inner, widened(text, extra)) {
        (Some(inner), _) => format!("({})", widened(inner, extra)),
        (None, longer) if is_macro && !longer.chars().all(|c| c.is_ascii_digit()) => format!("({longer})"),
        (None, longer) => longer,
    }
}

/// Whether a text is names and numbers with `+`, `-`, `*` and `/` between them, and parentheses that
/// belong together.
fn is_sum(text: &str) -> bool {
    let mut open = 0i32;
    let balanced = text.chars().all(|c| {
        open += i32::from(c == '(') - i32::from(c == ')');
        open >= 0
    });
    let plain =
        |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | ' ' | '*' | '+' | '-' | '/' | '(' | ')');
    balanced && open == 0 && text.chars().all(plain)
}

/// The dimension with the padding: `32` becomes `33`, `N` becomes `N + 1`, `N + 1` becomes `N + 2`.
pub(in super::super) fn widened(text: &str, extra: u64) -> String {
    // A number that starts with 0 has another base.
    let decimal = text == "0" || !text.starts_with('0');
    if let Some(number) = text.parse::<u64>().ok().filter(|_| decimal) {
        return (number.saturating_add(extra)).to_string();
    }
    let simple = text
        .chars()
        .all(|c| c.is_alphanumeric() || matches!(c, '_' | ':' | ' ' | '*' | '+' | '-' | '/' | '(' | ')'));
    if !simple {
        return format!("({text}) + {extra}");
    }
    if let Some((rest, number)) = added(text) {
        return format!(
            "{rest}+{}{}",
            if rest.ends_with(' ') { " " } else { "" },
            number.saturating_add(extra)
        );
    }
    format!("{text} + {extra}")
}

/// The length of a flat array to which each element `i` that it has adds `(i >> shift) << left`: `N` becomes
/// `N + ((N - 1) >> 5)`.
pub(in super::super) fn skewed(text: &str, shift: u32, left: u32) -> String {
    let own = if is_sum(text) { text.to_owned() } else { format!("({text})") };
    let less = match added(&own) {
        Some((rest, 1)) => as_factor(rest.trim_end()),
        Some((rest, more @ 2..)) => format!("({} + {})", rest.trim_end(), more - 1),
        _ => format!("({own} - 1)"),
    };
    match left {
        0 => format!("{own} + ({less} >> {shift})"),
        left => format!("{own} + (({less} >> {shift}) << {left})"),
    }
}

/// A length as a part of a longer expression: `N` stays, `N + 1` becomes `(N + 1)`.
pub(in super::super) fn as_factor(text: &str) -> String {
    let one = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':'));
    if one { text.to_owned() } else { format!("({text})") }
}

/// Whether a dimension is one that has been made longer before: `N + 1`.
pub(super) fn is_longer(text: &str) -> bool {
    added(text).is_some()
}

/// What `N + 1` adds to what.
fn added(text: &str) -> Option<(&str, u64)> {
    let (rest, number) = text.rsplit_once('+')?;
    Some((rest, number.trim().parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skewed_length_subtracts_from_the_number_that_is_there() {
        assert_eq!(skewed("N", 5, 0), "N + ((N - 1) >> 5)");
        assert_eq!(skewed("N + 1", 5, 0), "N + 1 + (N >> 5)");
        assert_eq!(skewed("N+3", 5, 2), "N+3 + (((N + 2) >> 5) << 2)");
        assert_eq!(skewed("A * B + 1", 4, 0), "A * B + 1 + ((A * B) >> 4)");
    }
}
