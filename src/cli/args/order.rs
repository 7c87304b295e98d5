//! Where does the subcommand stand?
//!
//! clap takes a subcommand's options only behind its name. Users write `cudalint --target sm_80 check src`
//! as well, and mean the same.

use super::Cli;
use clap::{Arg, Command, CommandFactory};
use std::ffi::{OsStr, OsString};

/// The words of a command line with the subcommand, if there is one behind options, in front of them.
pub fn subcommand_first(mut words: Vec<OsString>) -> Vec<OsString> {
    if !words.get(1).is_some_and(|word| is_option(word)) {
        return words;
    }
    let root = Cli::command();
    if let Some(at) = first_operand(&root, &words)
        && is_subcommand(&root, &words[at])
    {
        let subcommand = words.remove(at);
        words.insert(1, subcommand);
    }
    words
}

/// The subcommand that a word most likely means.
pub fn nearest_subcommand(word: &str) -> Option<String> {
    let root = Cli::command();
    let names = root.get_subcommands().map(Command::get_name);
    let distance = |name: &str| strsim::damerau_levenshtein(name, &word.to_lowercase());
    let (distance, name) = names.map(|name| (distance(name), name)).min()?;
    (distance <= (name.len() / 3).max(1)).then(|| name.to_owned())
}

fn is_subcommand(root: &Command, word: &OsStr) -> bool {
    word == "help" || root.get_subcommands().any(|command| word == command.get_name())
}

fn is_option(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    bytes.len() > 1 && bytes.starts_with(b"-")
}

/// The place of the first word that is neither an option nor an option's value.
fn first_operand(root: &Command, words: &[OsString]) -> Option<usize> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        if word == "--" {
            return None;
        }
        if !is_option(word) {
            return Some(at);
        }
        at += if value_follows(root, &word.to_string_lossy()) { 2 } else { 1 };
    }
    None
}

/// Whether the next word is the value of this option: `--target`, `-I`, `-qI`, but not `-Iinclude`.
fn value_follows(root: &Command, option: &str) -> bool {
    let commands = || std::iter::once(root).chain(root.get_subcommands());
    let takes_value = |is_it: &dyn Fn(&Arg) -> bool| {
        let mut found = commands().flat_map(Command::get_arguments).filter(|arg| is_it(arg));
        found.any(|arg| arg.get_action().takes_values())
    };
    if let Some(long) = option.strip_prefix("--") {
        return takes_value(&|arg| arg.get_long() == Some(long));
    }
    // Behind the first letter that takes a value, the rest of the word is that value.
    let mut letters = option.chars().skip(1);
    let first = letters.find(|letter| takes_value(&|arg| arg.get_short() == Some(*letter)));
    first.is_some() && letters.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(line: &str) -> String {
        let words = line.split_whitespace().map(OsString::from).collect();
        let words = subcommand_first(words).into_iter().map(|word| word.into_string().unwrap());
        words.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_subcommand_behind_options_comes_to_the_front() {
        for (written, meant) in [
            ("cudalint --target sm_80 check src", "cudalint check --target sm_80 src"),
            ("cudalint --target=sm_80 -q accesses src", "cudalint accesses --target=sm_80 -q src"),
            ("cudalint -I inc -Ilib -qI x explain a.cu:1", "cudalint explain -I inc -Ilib -qI x a.cu:1"),
            ("cudalint -D all check", "cudalint check -D all"),
            ("cudalint -q help", "cudalint help -q"),
        ] {
            assert_eq!(ordered(written), meant);
        }
    }

    #[test]
    fn what_is_no_subcommand_stays_where_it_is() {
        for line in [
            "cudalint check --target sm_80 src",
            "cudalint src check",
            "cudalint -q src check",
            "cudalint -q -- check",
            "cudalint --output check src",
            "cudalint -o check src",
            "cudalint -q",
            "cudalint",
            "cudalint -",
        ] {
            assert_eq!(ordered(line), line);
        }
    }

    #[test]
    fn a_misspelt_subcommand_is_known() {
        let nearest = |word: &str| nearest_subcommand(word);
        assert_eq!(nearest("chek").as_deref(), Some("check"));
        assert_eq!(nearest("Acesses").as_deref(), Some("accesses"));
        assert_eq!(nearest("explian").as_deref(), Some("explain"));
        for other in ["src", "kernels", "c", "benchmarks"] {
            assert_eq!(nearest(other), None, "{other}");
        }
    }
}
