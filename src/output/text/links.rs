//! Which words of the findings lead somewhere when they are clicked on?
//!
//! The name of a rule to its page, if the project has one, and a place to its file, by the sequence that terminals
//! call OSC 8: `ESC ] 8 ; ; ADDRESS ESC \`, the words, and the same again without an address. The text is read line
//! by line as it was rendered: `warning[rule]: ...` begins a finding, `┌─ file:line:column` names a place.

use std::ops::Range;

/// What stands before a place.
const CORNER: &str = "┌─";

/// The text with links. `address_of` says where a rule and where a file, by the name that is shown, can be found.
pub(super) fn linked(text: &str, address_of: &dyn Fn(Word<'_>) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    for line in text.split_inclusive('\n') {
        let found = place(line).or_else(|| rule(line));
        let address = found.and_then(|(word, range)| Some((address_of(word)?, range)));
        match address {
            Some((address, Range { start, end })) => {
                let (before, words, behind) = (&line[..start], &line[start..end], &line[end..]);
                out.push_str(&format!("{before}\x1b]8;;{address}\x1b\\{words}\x1b]8;;\x1b\\{behind}"));
            }
            None => out.push_str(line),
        }
    }
    out
}

/// A word that may lead somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word<'t> {
    /// The id of a rule.
    Rule(&'t str),
    /// The name of a file.
    File(&'t str),
}

/// The file of a place, and where the place stands in the line.
fn place(line: &str) -> Option<(Word<'_>, Range<usize>)> {
    let (before, behind) = line.split_once(CORNER)?;
    // Behind it, only the numbers of lines are as wide as the bars of the lines below.
    if !without_colors(before).trim().is_empty() {
        return None;
    }
    let start = before.len() + CORNER.len() + (behind.len() - after_colors(behind).len());
    let words = line.get(start..)?.trim_end();
    let mut parts = words.rsplitn(3, ':');
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let numbers = parts.next().is_some_and(is_number) && parts.next().is_some_and(is_number);
    let file = parts.next().filter(|file| numbers && !file.is_empty())?;
    Some((Word::File(file), start..start + words.len()))
}

/// The rule of a finding's first line, and where it stands.
fn rule(line: &str) -> Option<(Word<'_>, Range<usize>)> {
    let words = after_colors(line);
    let level = ["error[", "warning[", "note["].into_iter().find(|level| words.starts_with(level))?;
    let start = line.len() - words.len() + level.len();
    let end = start + line.get(start..)?.find(']')?;
    Some((Word::Rule(line.get(start..end)?), start..end))
}

/// The rest of a line behind spaces and colours.
fn after_colors(mut line: &str) -> &str {
    loop {
        line = line.trim_start_matches(' ');
        let color = line.strip_prefix("\x1b[").and_then(|rest| rest.split_once('m'));
        match color.filter(|(codes, _)| codes.bytes().all(|byte| byte.is_ascii_digit() || byte == b';')) {
            Some((_, rest)) => line = rest,
            None => return line,
        }
    }
}

fn without_colors(line: &str) -> String {
    let mut parts = line.split("\x1b[");
    let first = parts.next().unwrap_or("").to_owned();
    first + &parts.map(|part| part.split_once('m').map_or(part, |(_, rest)| rest)).collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        linked(text, &|word| match word {
            Word::Rule(rule) => (rule == "a-b").then(|| "R".to_owned()),
            Word::File(file) => (file != "odd").then(|| format!("F/{file}")),
        })
        .replace('\x1b', "^")
    }

    #[test]
    fn rules_and_places_lead_somewhere() {
        assert_eq!(shown("warning[a-b]: `x[1]`\n"), "warning[^]8;;R^\\a-b^]8;;^\\]: `x[1]`\n");
        assert_eq!(shown("  ┌─ d/a b.cu:3:14\n"), "  ┌─ ^]8;;F/d/a b.cu^\\d/a b.cu:3:14^]8;;^\\\n");
        let colored = "\x1b[0m\x1b[1;38;5;9merror[a-b]\x1b[0m: x\n  \x1b[34m┌─\x1b[0m a.cu:1:2\n";
        let both = "^[0m^[1;38;5;9merror[^]8;;R^\\a-b^]8;;^\\]^[0m: x\n  ^[34m┌─^[0m ^]8;;F/a.cu^\\a.cu:1:2^]8;;^\\\n";
        assert_eq!(shown(colored), both);
    }

    #[test]
    fn other_lines_stay_as_they_are() {
        for text in [
            "warning[other]: x\n",
            "  ┌─ odd:1:2\n",
            "  ┌─ a.cu\n",
            "  ┌─ a.cu:1:\n",
            "3 │ // ┌─ a.cu:1:2\n",
            "  = note: error[a-b]\n",
            "3 │ x = y; // warning[a-b]\n",
            "\x1b[warning[a-b]\n",
        ] {
            assert_eq!(shown(text), text.replace('\x1b', "^"), "{text}");
        }
    }
}
