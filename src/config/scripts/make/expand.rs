//! What does a text of a `Makefile` become, once its variables are put in?

use super::super::doubt::{DOUBT, MOST_TEXT, is_doubtful, marked, unknown, without_marks};
use rustc_hash::FxHashMap;
use std::cell::Cell;

/// A variable.
#[derive(Clone)]
pub(super) struct Variable {
    pub text: String,
    /// Whether it is expanded where it is used, not where it is set.
    pub late: bool,
}

/// All variables.
pub(super) struct Variables {
    all: FxHashMap<String, Variable>,
    /// How many more are looked up: each may ask for others many times.
    left: Cell<usize>,
}

/// How many are looked up in a script.
const MOST_LOOKUPS: usize = 100_000;
/// How deep variables may lead to each other.
const MOST_NESTED: usize = 20;

/// What the environment may tell.
const OF_ENVIRONMENT: [&str; 16] = [
    "CURDIR",
    "DESTDIR",
    "HOME",
    "HOSTNAME",
    "HOSTTYPE",
    "LANG",
    "LD_LIBRARY_PATH",
    "LOGNAME",
    "MAKECMDGOALS",
    "MAKEFILE_LIST",
    "MAKEFLAGS",
    "PATH",
    "PWD",
    "SHELL",
    "TERM",
    "USER",
];
/// What make itself sets.
const OF_MAKE: [(&str, &str); 5] =
    [("CC", "cc"), ("CXX", "g++"), ("CPP", "cc -E"), ("MAKE", "make"), ("RM", "rm -f")];

impl Variables {
    pub(super) fn new() -> Variables {
        let of_make = OF_MAKE.map(|(name, text)| (name.to_owned(), text.to_owned()));
        let set = of_make.into_iter().map(|(name, text)| (name, Variable { text, late: false }));
        Variables { all: set.collect(), left: Cell::new(MOST_LOOKUPS) }
    }

    pub(super) fn get(&self, name: &str) -> Option<&Variable> {
        self.all.get(name)
    }

    pub(super) fn set(&mut self, name: &str, text: String, late: bool) {
        let text = if text.len() > MOST_TEXT { unknown() } else { text };
        self.all.insert(name.to_owned(), Variable { text, late });
    }

    pub(super) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.all.keys().map(String::as_str).collect();
        names.sort_unstable();
        names
    }

    /// The text with the values of its variables. What a rule's command is about (`$<`) stays.
    pub(super) fn expand(&self, text: &str) -> String {
        self.expand_in(text, 0)
    }

    /// Whether a variable is set to something.
    pub(super) fn is_set(&self, name: &str) -> Option<bool> {
        match self.all.get(name) {
            Some(variable) if is_doubtful(&variable.text) => None,
            Some(variable) => Some(!variable.text.is_empty()),
            None if OF_ENVIRONMENT.contains(&name) => None,
            None => Some(false),
        }
    }

    fn expand_in(&self, text: &str, depth: usize) -> String {
        let mut found = String::new();
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            found.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let Some(char) = rest.chars().next() else { break };
            let value = match char {
                '(' | '{' => {
                    let Some(end) = closing(rest) else { return unknown() };
                    let inner = &rest[1..end];
                    rest = &rest[end + 1..];
                    self.reference(inner, depth + 1)
                }
                _ => {
                    rest = &rest[char.len_utf8()..];
                    match char {
                        // The shell's variable.
                        '$' => unknown(),
                        '@' | '<' | '^' | '+' | '?' | '*' | '%' | '|' => format!("${char}"),
                        _ => self.value(char.encode_utf8(&mut [0; 4]), depth + 1),
                    }
                }
            };
            // A mark is of all words of what follows it.
            found.push_str(&if found.ends_with(DOUBT) { marked(&value) } else { value });
            if found.len() > MOST_TEXT {
                return unknown();
            }
        }
        found.push_str(rest);
        found
    }

    fn reference(&self, inner: &str, depth: usize) -> String {
        if depth > MOST_NESTED {
            return unknown();
        }
        let name = inner.trim();
        if let Some((function, arguments)) = name.split_once(char::is_whitespace) {
            if function.chars().all(|char| char.is_ascii_lowercase() || char == '-') {
                return self.call(function, arguments, depth);
            }
            return unknown();
        }
        if let Some((name, change)) = name.split_once(':') {
            let Some((from, to)) = change.split_once('=') else { return unknown() };
            let (from, to) = (self.expand_in(from, depth), self.expand_in(to, depth));
            let (from, to) =
                if from.contains('%') { (from, to) } else { (format!("%{from}"), format!("%{to}")) };
            return substituted(&self.value(name, depth), &from, &to);
        }
        if name.contains('$') {
            let name = self.expand_in(name, depth);
            return if is_doubtful(&name) { unknown() } else { self.value(&name, depth) };
        }
        // `$(@D)`
        if name.starts_with(['@', '<', '^', '+', '?', '*', '%', '|']) {
            return format!("{DOUBT}${}", &name[..1]);
        }
        self.value(name, depth)
    }

    fn value(&self, name: &str, depth: usize) -> String {
        let left = self.left.get();
        if left == 0 || depth > MOST_NESTED {
            return unknown();
        }
        self.left.set(left - 1);
        match self.all.get(name) {
            Some(variable) if variable.late => self.expand_in(&variable.text, depth),
            Some(variable) => variable.text.clone(),
            None if OF_ENVIRONMENT.contains(&name) => unknown(),
            None => String::new(),
        }
    }

    /// What a function gives; of those that change names of files, in which form.
    fn call(&self, function: &str, arguments: &str, depth: usize) -> String {
        let arguments: Vec<&str> = split_arguments(arguments);
        let expanded = |number: usize| {
            let text = arguments.get(number).map(|text| self.expand_in(text, depth));
            text.unwrap_or_default().trim().to_owned()
        };
        let names = |text: String| if text.is_empty() { String::new() } else { marked(&text) };
        match (function, arguments.len()) {
            ("info" | "warning" | "error", _) => String::new(),
            ("strip" | "sort", 1) => expanded(0),
            ("wildcard", 1) => marked(&expanded(0)),
            ("notdir" | "abspath" | "realpath", 1) => names(expanded(0)),
            ("addprefix" | "filter" | "filter-out", 2) => names(expanded(1)),
            ("addsuffix", 2) => names(substituted(&expanded(1), "%", &format!("%{}", expanded(0)))),
            ("patsubst", 3) => substituted(&expanded(2), &expanded(0), &expanded(1)),
            _ => unknown(),
        }
    }
}

/// The words of a text, those of a pattern by another.
fn substituted(text: &str, from: &str, to: &str) -> String {
    let doubtful = is_doubtful(from) || is_doubtful(to);
    let (from, to) = (without_marks(from), without_marks(to));
    let Some((start, end)) = from.split_once('%') else { return marked(text) };
    let changed = text.split_whitespace().map(|word| {
        let bare = word.trim_start_matches(DOUBT);
        let stem = bare.strip_prefix(start).and_then(|rest| rest.strip_suffix(end));
        let bare = match stem {
            Some(stem) if !bare.is_empty() => to.replacen('%', stem, 1),
            _ => bare.to_owned(),
        };
        if doubtful || is_doubtful(word) { format!("{DOUBT}{bare}") } else { bare }
    });
    let mut found = String::new();
    for word in changed {
        if found.len() + word.len() > MOST_TEXT {
            return unknown();
        }
        found.push_str(&word);
        found.push(' ');
    }
    found.trim_end().to_owned()
}

/// Where the bracket ends that the text begins with.
fn closing(text: &str) -> Option<usize> {
    let (open, close) = if text.starts_with('(') { ('(', ')') } else { ('{', '}') };
    let mut depth = 0usize;
    for (at, char) in text.char_indices() {
        if char == open {
            depth += 1;
        } else if char == close {
            depth -= 1;
            if depth == 0 {
                return Some(at);
            }
        }
    }
    None
}

/// The parts between the commas that are in no bracket.
pub(super) fn split_arguments(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0usize, 0, Vec::new());
    for (at, char) in text.char_indices() {
        match char {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts
}

/// Where a character stands that is in no reference to a variable.
pub(super) fn find_outside(text: &str, wanted: char) -> Option<usize> {
    let mut depth = 0usize;
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        match char {
            '(' | '{' if before == '$' || depth > 0 => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ if char == wanted && depth == 0 => return Some(at),
            _ => {}
        }
        before = char;
    }
    None
}
