//! What has a script for CMake set so far?

use super::super::doubt::{DOUBT, MOST_TEXT, either, is_doubtful, shell_words, unknown};
use super::super::flags::{Given, Place, add_words, defined_in};
use super::generator::see_through;
use super::lexer::{Argument, Kind};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

/// How many characters variables may become in a script, all in all.
const MOST_WORK: usize = 16 << 20;
/// How many words are kept of what may be in a variable.
const MOST_WORDS: usize = 4096;

/// A variable.
#[derive(Clone)]
struct Variable {
    text: Rc<str>,
    /// All words that were put into it under whatever condition: which sources the build by default leaves
    /// out does not matter to one that is being checked.
    may: Rc<[String]>,
}

/// What is set at a place of a script, and what folders that are added there inherit.
#[derive(Clone)]
pub(super) struct State {
    variables: FxHashMap<String, Variable>,
    /// What is said for all that is compiled in the folder.
    pub given: Given,
    /// The last lines in force that write a macro into flags.
    written: BTreeMap<String, Place>,
    left: usize,
}

impl State {
    /// At the start of a project.
    pub(super) fn new(folder: &Path) -> State {
        let mut state = State {
            variables: FxHashMap::default(),
            given: Given::default(),
            written: BTreeMap::new(),
            left: MOST_WORK,
        };
        let text = folder.to_string_lossy();
        for name in ["CMAKE_SOURCE_DIR", "PROJECT_SOURCE_DIR"] {
            state.set(name, &text, &[], Some(true));
        }
        state
    }

    /// Text of the script alone: what is not known of it has a mark.
    pub(super) fn expand(&mut self, argument: &Argument) -> String {
        if argument.kind == Kind::Literal {
            return argument.text.clone();
        }
        let mut found = String::new();
        let mut rest = argument.text.as_str();
        while let Some(at) = rest.find(['$', '\\']) {
            found.push_str(&rest[..at]);
            rest = &rest[at..];
            if let Some(after) = rest.strip_prefix('\\') {
                let Some(char) = after.chars().next() else { break };
                // In a list, this would separate.
                found.push(if char == ';' { DOUBT } else { char });
                rest = &after[char.len_utf8()..];
            } else if let Some(after) = rest.strip_prefix("${") {
                let Some((name, after)) = after.split_once('}') else { return unknown() };
                // A name that is made of others leaves a bracket behind, which no plain text has.
                found.push_str(self.variables.get(name).map_or("\0", |variable| &variable.text));
                rest = after;
            } else if rest.starts_with("$ENV{") || rest.starts_with("$CACHE{") {
                found.push(DOUBT);
                rest = rest.split_once('}').map_or("", |(_, after)| after);
            } else {
                found.push('$');
                rest = &rest[1..];
            }
            if found.len() > MOST_TEXT || self.left < found.len() {
                return unknown();
            }
        }
        found.push_str(rest);
        self.left = self.left.saturating_sub(found.len());
        found
    }

    /// The values of arguments.
    pub(super) fn items(&mut self, arguments: &[Argument]) -> Vec<String> {
        let mut found = Vec::new();
        for argument in arguments.iter().take(MOST_WORDS) {
            let text = self.expand(argument);
            match argument.kind {
                Kind::Plain => found.extend(text.split(';').filter(|it| !it.is_empty()).map(str::to_owned)),
                Kind::Quoted | Kind::Literal => found.push(text),
            }
        }
        found
    }

    /// All that the arguments may name.
    pub(super) fn may(&mut self, arguments: &[Argument]) -> Vec<String> {
        let mut found = Vec::new();
        for argument in arguments.iter().take(MOST_WORDS) {
            let name = argument.text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
            let name = name.filter(|name| !name.contains(['$', '{', '}']) && argument.kind != Kind::Literal);
            match name.map(|name| self.variables.get(name)) {
                Some(Some(variable)) => found.extend(variable.may.iter().cloned()),
                Some(None) => found.push(unknown()),
                None => {
                    let text = self.expand(argument);
                    found.extend(text.split(';').filter(|it| !it.is_empty()).map(str::to_owned));
                }
            }
            if found.len() > MOST_WORDS {
                return vec![unknown()];
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(|variable| &*variable.text)
    }

    /// Sets a variable under a condition. `may`: all words that the new value may have.
    pub(super) fn set(&mut self, name: &str, text: &str, may: &[String], state: Option<bool>) {
        let old = self.variables.get(name);
        let mut words: Vec<String> = old.map(|old| old.may.to_vec()).unwrap_or_default();
        words.extend_from_slice(may);
        words.sort_unstable();
        words.dedup();
        if words.len() > MOST_WORDS || self.left < words.len() {
            words = vec![unknown()];
        }
        self.left = self.left.saturating_sub(words.len());
        let text: Rc<str> = match (state, old) {
            (Some(true), _) if text.len() > MOST_TEXT => Rc::from("\0"),
            (Some(true), _) => Rc::from(text),
            (Some(false), Some(old)) => Rc::clone(&old.text),
            // It is not set, but may have these words in another build.
            (Some(false), None) => Rc::from("\0"),
            (None, old) => Rc::from(either(old.map(|old| &*old.text), text)),
        };
        self.variables.insert(name.to_owned(), Variable { text, may: words.into() });
    }

    pub(super) fn unset(&mut self, name: &str) {
        self.variables.remove(name);
    }

    pub(super) fn is_known(&self, name: &str) -> bool {
        self.get(name).is_some_and(|text| !is_doubtful(text))
    }

    /// Remembers which macros an argument defines.
    pub(super) fn writes(&mut self, argument: &Argument, script: &Rc<Path>) {
        let place = Place { script: Rc::clone(script), line: argument.line };
        self.written.extend(defined_in(&argument.text).map(|name| (name.to_owned(), place.clone())));
    }

    /// What the variables with flags for CUDA define.
    pub(super) fn cuda_flags(&self) -> Given {
        let mut given = Given::default();
        for name in ["CMAKE_CUDA_FLAGS", "CUDA_NVCC_FLAGS"] {
            let text = self.get(name).unwrap_or_default().replace(';', " ");
            let words = shell_words(&see_through(&text)).unwrap_or_default();
            // Without a line, it is not one that this text wrote.
            let Some(first) = self.written.values().next() else { continue };
            let place = |name: &str| self.written.get(name).unwrap_or(first).clone();
            let mut found = Given::default();
            add_words(&words, &place, &mut found);
            given.extend(found);
        }
        given
    }
}
