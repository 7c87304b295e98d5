//! Does a condition of CMake hold, as far as the text tells?

use super::super::branches::{Truth, and, not, or};
use super::super::doubt::is_doubtful;

/// A word of a condition.
pub(super) struct Word {
    pub text: String,
    /// It may name a variable.
    pub plain: bool,
}

/// What the text of a script has set a variable to.
pub(super) type Lookup<'l> = dyn Fn(&str) -> Option<String> + 'l;

/// How deep brackets are followed.
const MOST_NESTED: usize = 32;

struct Parser<'a> {
    words: &'a [Word],
    at: usize,
    depth: usize,
    value: &'a Lookup<'a>,
}

/// Whether the words hold. What asks for anything but variables that the text sets is not known.
pub(super) fn holds(words: &[Word], value: &Lookup) -> Truth {
    let mut parser = Parser { words, at: 0, depth: 0, value };
    let truth = parser.either();
    if parser.at == words.len() { truth } else { None }
}

impl<'a> Parser<'a> {
    fn takes(&mut self, word: &str) -> bool {
        let found = self.words.get(self.at).is_some_and(|it| it.plain && it.text == word);
        self.at += usize::from(found);
        found
    }

    fn either(&mut self) -> Truth {
        self.joined("OR", or, Self::both)
    }

    fn both(&mut self) -> Truth {
        self.joined("AND", and, Self::negated)
    }

    /// Parts with a word between any two.
    fn joined(&mut self, word: &str, join: fn(Truth, Truth) -> Truth, part: fn(&mut Self) -> Truth) -> Truth {
        let mut truth = part(self);
        while self.takes(word) {
            truth = join(truth, part(self));
        }
        truth
    }

    fn negated(&mut self) -> Truth {
        let mut truth = true;
        while self.takes("NOT") {
            truth = !truth;
        }
        let inner = self.single();
        if truth { inner } else { not(inner) }
    }

    fn single(&mut self) -> Truth {
        if self.takes("(") {
            if self.depth == MOST_NESTED {
                self.at = self.words.len() + 1;
                return None;
            }
            self.depth += 1;
            let truth = self.either();
            self.depth -= 1;
            if !self.takes(")") {
                self.at = self.words.len() + 1;
            }
            return truth;
        }
        if self.takes("DEFINED") {
            let name = self.next()?;
            // What it does not set may be set elsewhere.
            return (self.value)(&name.text).filter(|it| !is_doubtful(it)).map(|_| true);
        }
        for word in ["EXISTS", "TARGET", "COMMAND", "POLICY", "TEST", "IS_DIRECTORY", "IS_ABSOLUTE"] {
            if self.takes(word) {
                self.next();
                return None;
            }
        }
        let left = self.next()?;
        let Some(operator) = self.operator() else { return self.truth(left) };
        let right = self.next()?;
        let left = self.text(left, false)?;
        let right = self.text(right, true)?;
        match operator {
            "STREQUAL" => Some(left == right),
            "EQUAL" | "LESS" | "GREATER" | "LESS_EQUAL" | "GREATER_EQUAL" => {
                let (left, right) = (left.trim().parse::<i64>().ok()?, right.trim().parse::<i64>().ok()?);
                Some(match operator {
                    "EQUAL" => left == right,
                    "LESS" => left < right,
                    "GREATER" => left > right,
                    "LESS_EQUAL" => left <= right,
                    _ => left >= right,
                })
            }
            _ => None,
        }
    }

    fn next(&mut self) -> Option<&'a Word> {
        let word = self.words.get(self.at);
        self.at += 1;
        word
    }

    fn operator(&mut self) -> Option<&'a str> {
        let word = self.words.get(self.at).filter(|it| it.plain)?;
        let others = ["MATCHES", "IN_LIST", "STRLESS", "STRGREATER", "PATH_EQUAL", "IS_NEWER_THAN"];
        let numbers = ["STREQUAL", "EQUAL", "LESS", "GREATER", "LESS_EQUAL", "GREATER_EQUAL"];
        let text = word.text.as_str();
        let is_operator = others.contains(&text) || numbers.contains(&text) || text.starts_with("VERSION_");
        self.at += usize::from(is_operator);
        is_operator.then_some(text)
    }

    /// What a side of a comparison says. A word that is no variable stands for itself on the right; on the
    /// left, it may be one that is set elsewhere.
    fn text(&self, word: &Word, right: bool) -> Option<String> {
        let text = &word.text;
        let is_number = text.parse::<i64>().is_ok();
        let value = if word.plain { (self.value)(text) } else { Some(text.clone()) };
        let value = value.or_else(|| (right || is_number).then(|| text.clone()));
        value.filter(|it| !is_doubtful(it))
    }

    fn truth(&self, word: &Word) -> Truth {
        if is_doubtful(&word.text) {
            return None;
        }
        if let Some(constant) = constant(&word.text) {
            return Some(constant);
        }
        let value = if word.plain { (self.value)(&word.text)? } else { return None };
        if is_doubtful(&value) {
            return None;
        }
        // Of a variable, all that is not false is true.
        Some(constant(&value).unwrap_or(!value.ends_with("-NOTFOUND")))
    }
}

fn constant(word: &str) -> Option<bool> {
    if let Ok(number) = word.parse::<i64>() {
        return Some(number != 0);
    }
    match word.to_ascii_uppercase().as_str() {
        "ON" | "YES" | "TRUE" | "Y" => Some(true),
        "OFF" | "NO" | "FALSE" | "N" | "IGNORE" | "NOTFOUND" | "" => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Truth {
        let word = |word: &str| match word.strip_prefix('\'') {
            Some(quoted) => Word { text: quoted.to_owned(), plain: false },
            None => Word { text: word.to_owned(), plain: true },
        };
        let words: Vec<Word> = line.split_whitespace().map(word).collect();
        let value = |name: &str| match name {
            "SIZE" => Some("64".to_owned()),
            "OFFV" => Some("off".to_owned()),
            "NAME" => Some("text".to_owned()),
            "MISSING" => Some("X-NOTFOUND".to_owned()),
            "DOUBT" => Some("\0a".to_owned()),
            _ => None,
        };
        holds(&words, &value)
    }

    #[test]
    fn conditions_on_what_is_set_are_decided() {
        for line in [
            "ON",
            "NOT OFF",
            "SIZE",
            "NAME",
            "NOT MISSING",
            "NOT OFFV",
            "SIZE EQUAL 64",
            "SIZE STREQUAL '64",
            "'64 STREQUAL SIZE",
            "NAME STREQUAL text",
            "SIZE GREATER 32 AND SIZE LESS_EQUAL 64",
            "( OFFV OR SIZE ) AND NOT ( NAME STREQUAL 'x )",
            "DEFINED SIZE",
            "ON OR UNSET",
        ] {
            assert_eq!(of(line), Some(true), "{line}");
            assert_eq!(of(&format!("NOT ( {line} )")), Some(false), "{line}");
        }
    }

    #[test]
    fn other_conditions_are_not_known() {
        for line in [
            "",
            "UNSET",
            "NOT UNSET",
            "DOUBT",
            "UNSET STREQUAL x",
            "NAME MATCHES t",
            "SIZE VERSION_LESS 65",
            "EXISTS x",
            "TARGET x",
            "DEFINED UNSET",
            "DEFINED DOUBT",
            "SIZE AND UNSET",
            "NAME STREQUAL DOUBT",
            "NAME EQUAL 4",
            "( ON",
            "ON )",
            "ON ON",
            "AND",
            "'text",
        ] {
            assert_eq!(of(line), None, "{line}");
        }
        assert_eq!(of(&"( ".repeat(100_000)), None);
        assert_eq!(of(&"NOT ".repeat(100_000)), None);
    }
}
