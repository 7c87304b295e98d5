//! How is a text written of which a part is not known?
//!
//! A word with a mark in it may be there or not, and if it is, not all of it need be known.

/// The mark. No script that is read has this character.
pub(super) const DOUBT: char = '\0';

/// Longer texts are taken for unknown.
pub(super) const MOST_TEXT: usize = 1 << 14;

pub(super) fn is_doubtful(text: &str) -> bool {
    text.contains(DOUBT)
}

pub(super) fn unknown() -> String {
    DOUBT.to_string()
}

pub(super) fn without_marks(text: &str) -> String {
    text.replace(DOUBT, "")
}

/// The words of a text as the shell splits them, their marks with them; nothing if a quote is left open.
pub(super) fn shell_words(text: &str) -> Option<Vec<String>> {
    // The shell's words have no such character.
    const STAND_IN: &str = "\u{1}";
    let words = shlex::split(&text.replace(DOUBT, STAND_IN))?;
    Some(words.into_iter().map(|word| word.replace(STAND_IN, "\0")).collect())
}

fn is_gap(char: char) -> bool {
    char.is_whitespace() || char == ';'
}

/// The text, each word of it with a mark.
pub(super) fn marked(text: &str) -> String {
    marked_unless(text, |_| false)
}

fn marked_unless(text: &str, certain: impl Fn(&str) -> bool) -> String {
    if text.len() > MOST_TEXT {
        return unknown();
    }
    let mut found = String::with_capacity(text.len() + 8);
    for part in text.split_inclusive(is_gap) {
        let word = part.trim_end_matches(is_gap);
        if !word.is_empty() && !word.starts_with(DOUBT) && !certain(word) {
            found.push(DOUBT);
        }
        found.push_str(part);
    }
    if text.trim().is_empty() { unknown() } else { found }
}

/// What a variable holds that may have been set to another text: the words of both, those that only one of
/// them has with a mark.
pub(super) fn either(old: Option<&str>, new: &str) -> String {
    let Some(old) = old else { return marked(new) };
    if old == new {
        return new.to_owned();
    }
    let words = |text: &str| -> Vec<String> {
        text.split(is_gap).filter(|it| !it.is_empty()).map(str::to_owned).collect()
    };
    let (before, after) = (words(old), words(new));
    if before.len().saturating_mul(after.len()) > 1 << 16 {
        return unknown();
    }
    let mut found = marked_unless(new, |word| before.iter().any(|it| it == word));
    let separator = if new.contains(';') || old.contains(';') { ';' } else { ' ' };
    for word in before.iter().filter(|word| !after.contains(word)) {
        found.push(separator);
        found.push_str(&marked(word));
    }
    if found.len() > MOST_TEXT { unknown() } else { found }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_both_texts_have_is_certain() {
        assert_eq!(either(Some("-DA -DB"), "-DA -DB -DC"), "-DA -DB \0-DC");
        assert_eq!(either(Some("64"), "32"), "\u{0}32 \u{0}64");
        assert_eq!(either(Some("64"), "64"), "64");
        assert_eq!(either(None, "a;b"), "\0a;\0b");
        assert_eq!(either(None, ""), "\0");
        assert_eq!(either(Some("a"), ""), "\0 \0a");
    }
}
