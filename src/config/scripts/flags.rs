//! Which macros do the words of a compile command define?

use super::doubt::{is_doubtful, without_marks};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

/// What is said of a macro.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Said {
    /// It stands for this.
    Value(String),
    /// It is not defined.
    Undefined,
    /// Something that is not known.
    Doubt,
}

/// A line of a script.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub script: Rc<Path>,
    pub line: usize,
}

/// What is said of macros, by name.
pub(super) type Given = BTreeMap<String, (Said, Place)>;

/// Flags that hand the next word to another program.
const HAND_ON: [&str; 10] = [
    "-Xcompiler",
    "--compiler-options",
    "-Xptxas",
    "--ptxas-options",
    "-Xlinker",
    "--linker-options",
    "-Xarchive",
    "-Xnvlink",
    "-Xclang",
    "-Xcudafe",
];

/// Takes in the words of a command; of several that say something of a macro, the last is in force.
/// `place`: where a macro is defined.
pub(super) fn add_words(words: &[String], place: &dyn Fn(&str) -> Place, given: &mut Given) {
    let mut words = words.iter();
    while let Some(marked) = words.next() {
        let word = without_marks(marked);
        if HAND_ON.contains(&word.as_str()) {
            words.next();
            continue;
        }
        let defines = ["--define-macro", "-D"].iter().find_map(|flag| word.strip_prefix(flag));
        let undefines = ["--undefine-macro", "-U"].iter().find_map(|flag| word.strip_prefix(flag));
        let Some(rest) = defines.or(undefines) else { continue };
        let mut text = if is_doubtful(marked) { super::doubt::marked(rest) } else { rest.to_owned() };
        if rest.is_empty() {
            let Some(next) = words.next() else { break };
            text.push_str(next);
        }
        let text = text.strip_prefix('=').unwrap_or(&text);
        let Some((name, said)) = definition(text) else { continue };
        let said = if defines.is_some() || said == Said::Doubt { said } else { Said::Undefined };
        let place = place(&name);
        given.insert(name, (said, place));
    }
}

/// What `NAME` or `NAME=value` says; nothing if that is not one this is about.
pub(super) fn definition(text: &str) -> Option<(String, Said)> {
    let (name, value) = text.split_once('=').unwrap_or((text, "1"));
    let doubtful = is_doubtful(text);
    let name = without_marks(name);
    let mut chars = name.chars();
    let is_name = chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_');
    // Those with two lines are the compiler's.
    if !is_name || name.starts_with("__") {
        return None;
    }
    let value = value.trim();
    let said = if doubtful || !is_plain(value) { Said::Doubt } else { Said::Value(value.to_owned()) };
    Some((name, said))
}

/// The names behind each `-D` of a text.
pub(super) fn defined_in(text: &str) -> impl Iterator<Item = &str> {
    let name = |at: usize| {
        let rest = text[at + 2..].trim_start();
        let end = rest.find(|char: char| !(char.is_ascii_alphanumeric() || char == '_'));
        &rest[..end.unwrap_or(rest.len())]
    };
    text.match_indices("-D").map(move |(at, _)| name(at)).filter(|name| !name.is_empty())
}

/// Whether this is text of C, as it is written: no shell, make or CMake has to work on it.
fn is_plain(value: &str) -> bool {
    let balanced = |quote: char| value.matches(quote).count().is_multiple_of(2);
    let known = |char: char| char.is_ascii_graphic() && !"$`\\@#;".contains(char) || char == ' ';
    value.chars().all(known) && balanced('"') && balanced('\'')
}

/// Takes in what is said of a macro elsewhere, in no order that is known.
pub(super) fn meet(given: &mut Given, name: String, said: Said, place: Place) {
    let known = given.entry(name).or_insert_with(|| (said.clone(), place));
    if known.0 != said {
        known.0 = Said::Doubt;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<(String, Said)> {
        let words = shlex::split(line).unwrap();
        let place = Place { script: Rc::from(Path::new("/p/Makefile")), line: 1 };
        let mut given = Given::default();
        add_words(&words, &|_| place.clone(), &mut given);
        given.into_iter().map(|(name, (said, _))| (name, said)).collect()
    }

    fn value(name: &str, value: &str) -> (String, Said) {
        (name.to_owned(), Said::Value(value.to_owned()))
    }

    #[test]
    fn macros_are_read_in_all_their_spellings() {
        let found = of("nvcc -DA -D B=2 --define-macro=C=3 --define-macro D -DE='\"x y\"' -DF= -DNDEBUG");
        let expected = [("A", "1"), ("B", "2"), ("C", "3"), ("D", "1"), ("E", "\"x y\""), ("F", "")];
        let mut expected: Vec<_> = expected.into_iter().map(|(name, text)| value(name, text)).collect();
        expected.push(value("NDEBUG", "1"));
        assert_eq!(found, expected);
        assert_eq!(of("nvcc -DA=1 -DA=2"), [value("A", "2")]);
        assert_eq!(of("nvcc -DA=1 -UA"), [("A".to_owned(), Said::Undefined)]);
    }

    #[test]
    fn what_is_not_for_the_device_or_not_plain_is_left_out() {
        assert_eq!(
            of("nvcc -Xcompiler -DA --compiler-options -DB -Xcompiler=-DC -D__D=1 '-DF(x)=x' -D1"),
            []
        );
        for word in ["-DA=$N", "'-DA=`date`'", "-DA=@B@", "-DA='\\x'", "-DA=\0", "\0-DA=1", "-DA='\"'"] {
            assert_eq!(of(word), [("A".to_owned(), Said::Doubt)], "{word:?}");
        }
        assert_eq!(of("-DA=1 \0-UA"), [("A".to_owned(), Said::Doubt)]);
    }
}
