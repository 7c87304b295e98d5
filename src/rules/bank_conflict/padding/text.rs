//! How is a longer row written?

use super::super::super::{Case, Length};
use crate::diagnostic::Edit;
use crate::source::Span;

/// The edit of the innermost dimension.
pub fn length(case: &Case<'_>, length: Length, extra: u64) -> Option<Edit> {
    match length {
        Length::Row(span) => whole(case, span, extra),
        Length::Factor(span) => factor(case, span, extra),
        Length::Rows(span, rows) => whole(case, span, rows.checked_mul(extra)?),
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

/// The edit of a factor of a product, or of an argument: a number, a name, or a sum in parentheses.
pub fn factor(case: &Case<'_>, span: Span, extra: u64) -> Option<Edit> {
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
        false => return None,
    };
    Some(Edit { span, text })
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
pub fn widened(text: &str, extra: u64) -> String {
    if let Ok(number) = text.parse::<u64>() {
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

/// Whether a dimension is one that has been made longer before: `N + 1`.
pub fn is_longer(text: &str) -> bool {
    added(text).is_some()
}

/// What `N + 1` adds to what.
fn added(text: &str) -> Option<(&str, u64)> {
    let (rest, number) = text.rsplit_once('+')?;
    Some((rest, number.trim().parse().ok()?))
}
