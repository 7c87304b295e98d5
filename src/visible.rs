//! Which characters of a text that others wrote may be shown as they are?
//!
//! File names and source lines end up on terminals and in the logs of CI servers, both of which take
//! orders from the text that they show. What is shown of them is therefore escaped:
//!
//! | in the text | what it could do | shown as |
//! |---|---|---|
//! | control characters | colour, erase or rewrite what is on the screen | `\u{1b}` |
//! | ends of lines | begin a line of their own: a false finding, an order | `\n`, `\r`, `\u{2028}` |
//! | marks of the direction of writing | show code in another order than it is compiled in | `\u{202e}` |
//! | characters without a shape | make two names look alike | `\u{200b}` |
//! | `::error::x` at the start of a line, `##[error]x` anywhere | be obeyed by a CI server | `\u{3a}:error::x` |
//!
//! An escape is for the eye alone: nothing reads it back. Formats for programs keep the data and use the
//! escapes of JSON ([`json`]).

use std::borrow::Cow;

/// What makes a CI server take the rest of a line for an order, wherever it stands in the line: GitHub
/// Actions, Azure Pipelines, TeamCity.
const ORDERS: [&str; 3] = ["##[", "##vso[", "##teamcity["];

/// What begins an order to GitHub Actions at the start of a line.
const COMMAND: &str = "::";

/// Whether a character is only what it looks like.
fn is_plain(char: char) -> bool {
    // `is_control` knows the C0 and C1 sets and DEL.
    !char.is_control()
        && !matches!(char,
            // Separators of lines and paragraphs.
            '\u{2028}' | '\u{2029}'
            // The direction of writing.
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{206f}'
            // No shape, and no meaning to the letters around, as the joiners of many scripts have.
            | '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// What is shown for a character; `None` when it may be shown itself.
#[must_use]
pub(crate) fn escape(char: char) -> Option<String> {
    match char {
        '\n' => Some("\\n".to_owned()),
        '\r' => Some("\\r".to_owned()),
        '\t' => Some("\\t".to_owned()),
        _ => (!is_plain(char)).then(|| char.escape_unicode().to_string()),
    }
}

/// A text as it is shown on one line.
#[must_use]
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, |_, _| false)
}

/// A text as it is shown on the lines that it has.
#[must_use]
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |char, rest| matches!(char, '\n' | '\t') || char == '\r' && rest.starts_with('\n'))
}

/// `keep` is given a character and the text behind it.
fn escaped(text: &str, keep: impl Fn(char, &str) -> bool) -> Cow<'_, str> {
    if text.chars().all(is_plain) && !has_order(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    let mut chars = text.chars();
    while let Some(char) = chars.next() {
        match escape(char).filter(|_| !keep(char, chars.as_str())) {
            Some(escape) => out.push_str(&escape),
            None => out.push(char),
        }
    }
    Cow::Owned(without_orders(out))
}

/// A text of several lines from which a CI server takes no orders.
#[must_use]
pub(crate) fn without_commands(text: String) -> String {
    let text = without_orders(text);
    let is_command = |line: &str| line.trim_start().starts_with(COMMAND);
    if !text.contains(COMMAND) || !text.lines().any(is_command) {
        return text;
    }
    let line = |line: &str| match is_command(line) {
        true => line.replacen(':', "\\u{3a}", 1),
        false => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// Where the characters of a line stand that make it an order to some CI server.
#[must_use]
pub(crate) fn orders(line: &str) -> Vec<usize> {
    // Of C++ that begins so, `::thrust::copy(...)` and its like are many; orders are these.
    const NAMES: [&str; 15] = [
        "add-mask",
        "add-matcher",
        "add-path",
        "debug",
        "echo",
        "endgroup",
        "error",
        "group",
        "notice",
        "remove-matcher",
        "save-state",
        "set-env",
        "set-output",
        "stop-commands",
        "warning",
    ];
    let mut found = Vec::new();
    let start = line.trim_start();
    let name = start.strip_prefix(COMMAND).and_then(|rest| rest.split([' ', ':']).next());
    if name.is_some_and(|name| NAMES.iter().any(|it| it.eq_ignore_ascii_case(name))) {
        found.push(line.len() - start.len());
    }
    if has_order(line) {
        let ends =
            ORDERS.iter().flat_map(|order| line.match_indices(order).map(|(at, it)| at + it.len() - 1));
        found.extend(ends);
    }
    found
}

fn has_order(text: &str) -> bool {
    // Hardly any text holds the first two.
    text.contains("##") && ORDERS.iter().any(|order| text.contains(order))
}

fn without_orders(text: String) -> String {
    if !has_order(&text) {
        return text;
    }
    ORDERS.iter().fold(text, |text, order| text.replace(order, &order.replace('[', "\\u{5b}")))
}

/// A JSON text of the same value, in which no such character stands and no order. All of JSON but its
/// strings is ASCII, and an escape may stand for any character of a string.
#[must_use]
pub(crate) fn json(text: String) -> String {
    if text.chars().all(|char| char == '\n' || is_plain(char)) && !text.contains("##") {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 16);
    for char in text.chars() {
        if char == '#' && out.ends_with('#') {
            out.push_str("\\u0023");
        } else if char == '\n' || is_plain(char) {
            out.push(char);
        } else {
            let mut units = [0; 2];
            out.extend(char.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_escaped_and_what_is_read_is_not() {
        assert_eq!(one_line("a\x1b[31m\nb\r\t\u{9b}"), "a\\u{1b}[31m\\nb\\r\\t\\u{9b}");
        assert_eq!(
            one_line("\u{202e}x\u{2066}\u{200f}\u{61c}\u{2028}"),
            "\\u{202e}x\\u{2066}\\u{200f}\\u{61c}\\u{2028}"
        );
        assert_eq!(one_line("a\u{200b}b\u{feff}"), "a\\u{200b}b\\u{feff}");
        for plain in ["größe", "n\u{303}", "計算\u{3000}。", "سلام", "\u{1f469}\u{200d}\u{1f52c}", "a \\n b"]
        {
            assert_eq!(one_line(plain), plain);
        }
        assert_eq!(lines("a\n\tb\r\n\x07\rc"), "a\n\tb\r\n\\u{7}\\rc");
    }

    #[test]
    fn no_line_is_an_order() {
        let plain = "a ::error::x\n## title\nx ##y[2]\n";
        assert_eq!(without_commands(plain.to_owned()), plain);
        let text = "::error::x\n \u{a0}\t::add-mask::y\nz ##[debug]d ##vso[task]e ##teamcity[f]\n";
        let shown = without_commands(text.to_owned());
        assert_eq!(
            shown,
            "\\u{3a}:error::x\n \u{a0}\t\\u{3a}:add-mask::y\nz ##\\u{5b}debug]d ##vso\\u{5b}task]e \
             ##teamcity\\u{5b}f]\n"
        );
        assert!(text.lines().all(|line| !orders(line).is_empty()));
        assert!(shown.lines().all(|line| orders(line).is_empty()));
        assert_eq!([orders(" ::error x::y"), orders("::group::##[a]##vso[")], [vec![1], vec![0, 11, 19]]);
        for plain in ["::thrust::copy(a);", " ::std::min(a, b)", "x ## y"] {
            assert!(orders(plain).is_empty(), "{plain}");
        }
        assert_eq!(one_line("a ##[error]b"), "a ##\\u{5b}error]b");
    }

    #[test]
    fn json_stays_the_same_value() {
        for text in ["a\x1b\u{7f}\u{9b}\u{202e}", "##vso[x]####", "\u{e0041}\"\\\n", "größe"] {
            let plain = serde_json::to_string(text).unwrap();
            let safe = json(plain.clone());
            assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
            assert!(safe.chars().all(is_plain) && !has_order(&safe), "{safe}");
            assert_eq!(safe == plain, text == "größe");
        }
    }
}
