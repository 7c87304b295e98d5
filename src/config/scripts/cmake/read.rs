//! What do the commands of a `CMakeLists.txt` set and define?

use super::super::branches::Branches;
use super::super::doubt::{DOUBT, is_doubtful, marked, unknown, without_marks};
use super::super::flags::{Given, Place, Said, add_words, definition, meet};
use super::super::is_against_gpu;
use super::NAME;
use super::conditions::{self, Word};
use super::generator::see_through;
use super::lexer::{Argument, Command, Kind};
use super::targets::{Link, Target, Targets, anything};
use super::values::State;
use crate::headers::normalise;
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// For how many folders it is kept what was set when they were added.
const MOST_STATES: usize = 64;
/// How many definitions of a command are read.
const MOST_ITEMS: usize = 512;

/// What a script leaves.
pub(super) struct Outcome {
    pub state: State,
    pub targets: Targets,
    pub children: Vec<(Option<PathBuf>, Rc<State>)>,
}

struct Reading<'a> {
    folder: &'a Path,
    script: Rc<Path>,
    state: State,
    branches: Branches,
    targets: Targets,
    children: Vec<(Option<PathBuf>, Rc<State>)>,
    /// What is linked in a branch, with the depth and number of that.
    perhaps: Vec<((usize, usize), String, Link)>,
    /// How often what was set has been kept, and whether it has changed since.
    kept: usize,
    changed: bool,
}

/// Commands that do not set the variables which they name.
const HARMLESS: [&str; 20] = [
    "message",
    "set_property",
    "mark_as_advanced",
    "install",
    "cmake_minimum_required",
    "set_target_properties",
    "set_source_files_properties",
    "set_directory_properties",
    "include_directories",
    "link_directories",
    "link_libraries",
    "include",
    "find_package",
    "cmake_policy",
    "source_group",
    "export",
    "enable_language",
    "enable_testing",
    "define_property",
    "add_test",
];

/// Carries out the commands of a script.
pub(super) fn script(folder: &Path, commands: &[Command], mut state: State) -> Outcome {
    let text = folder.to_string_lossy();
    for name in ["CMAKE_CURRENT_SOURCE_DIR", "CMAKE_CURRENT_LIST_DIR"] {
        state.set(name, &text, &[], Some(true));
    }
    let mut reading = Reading {
        folder,
        script: Rc::from(folder.join(NAME)),
        state,
        branches: Branches::default(),
        targets: Targets::new(),
        children: Vec::new(),
        perhaps: Vec::new(),
        kept: 0,
        changed: true,
    };
    for command in commands {
        if command.name == "return" && reading.branches.state() == Some(true) {
            break;
        }
        reading.command(command);
    }
    Outcome { state: reading.state, targets: reading.targets, children: reading.children }
}

/// What the items of a command are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Items {
    /// `X=1`, `-DX=1`
    Definitions,
    /// `-DX=1`, `-UX`, others
    Options,
}

impl Reading<'_> {
    fn command(&mut self, command: &Command) {
        let arguments = command.arguments.as_slice();
        if self.is_about_branches(command) {
            return;
        }
        self.changed |= command.name != "add_subdirectory";
        let (first, rest) = match arguments.split_first() {
            Some((first, rest)) => (self.state.expand(first), rest),
            None => return,
        };
        match command.name.as_str() {
            "set" => self.set(&first, rest),
            "option" => self.option(&first, rest),
            "unset" => match self.branches.state() {
                Some(true) => self.state.unset(&first),
                state => self.state.set(&first, "", &[], state),
            },
            "list" | "string" if matches!(first.as_str(), "APPEND" | "PREPEND") => {
                self.append(&command.name, first == "PREPEND", rest);
            }
            "file" if first.starts_with("GLOB") => self.glob(rest),
            "project" => self.project(&first),
            "add_subdirectory" => self.child(&first),
            "add_definitions" | "add_compile_options" => self.define_here(command, Items::Options),
            "add_compile_definitions" => self.define_here(command, Items::Definitions),
            "remove_definitions" => self.remove(command),
            "target_compile_definitions" => self.define_for(&first, command, Items::Definitions),
            "target_compile_options" => self.define_for(&first, command, Items::Options),
            "target_link_libraries" => self.link(&first, rest),
            "target_sources" => self.sources(&first, rest),
            name if ["add_library", "add_executable", "add_module"].iter().any(|it| name.ends_with(it)) => {
                self.target(&first, rest, !name.ends_with("executable"));
            }
            name if name.ends_with("_properties") || name == "set_property" => self.properties(command),
            name if HARMLESS.contains(&name) || name.starts_with("target_") => {}
            _ => self.forget(arguments),
        }
    }

    fn is_about_branches(&mut self, command: &Command) -> bool {
        match command.name.as_str() {
            "if" => {
                let truth = self.truth(&command.arguments);
                self.branches.open(truth);
            }
            "elseif" => {
                let truth = self.truth(&command.arguments);
                self.branches.other(truth);
            }
            "else" => self.branches.last(),
            // How often they run, and with what, is not asked.
            "foreach" | "while" | "function" | "macro" => {
                self.branches.open(None);
                if let Some(first) = command.arguments.first().filter(|_| command.name == "foreach") {
                    let name = self.state.expand(first);
                    self.state.set(&name, &unknown(), &[anything()], Some(true));
                }
                // Parameters hide what has their name outside.
                let has_parameters = ["function", "macro"].contains(&command.name.as_str());
                for argument in command.arguments.iter().skip(1).filter(|_| has_parameters) {
                    if self.state.get(&argument.text).is_some() {
                        self.state.set(&argument.text, &unknown(), &[anything()], Some(true));
                    }
                }
            }
            "endif" => {
                let (depth, _) = self.branches.position();
                let all = self.branches.all();
                self.branches.close();
                self.link_in_all(depth, all);
            }
            "endforeach" | "endwhile" | "endfunction" | "endmacro" => self.branches.close(),
            _ => return false,
        }
        true
    }

    fn truth(&mut self, arguments: &[Argument]) -> Option<bool> {
        let mut words = Vec::new();
        for argument in arguments {
            let mut text = self.state.expand(argument);
            let plain = argument.kind == Kind::Plain;
            let against = argument.text.contains("${") && is_against_gpu(&argument.text, &text);
            if against || text.eq_ignore_ascii_case("cpu") {
                text = unknown();
            }
            words.push(Word { plain, text });
        }
        let state = &self.state;
        let value = |name: &str| {
            let value = state.get(name)?;
            Some(if is_against_gpu(name, value) { unknown() } else { value.to_owned() })
        };
        conditions::holds(&words, &value)
    }

    fn set(&mut self, name: &str, values: &[Argument]) {
        if is_doubtful(name) || name.contains(['{', '$']) {
            return;
        }
        let at = |word: &str| values.iter().position(|it| it.kind == Kind::Plain && it.text == word);
        if at("PARENT_SCOPE").is_some() {
            return;
        }
        let cache = at("CACHE");
        let values = values.get(..cache.unwrap_or(values.len())).unwrap_or_default();
        let keeps = cache.is_some() && at("FORCE").is_none() && self.state.get(name).is_some();
        let state = self.branches.state();
        let text = self.state.items(values).join(";");
        let may = self.state.may(values);
        if keeps {
            return;
        }
        if state == Some(true) {
            for value in values {
                self.state.writes(value, &self.script);
            }
            if values.is_empty() && cache.is_none() {
                self.state.unset(name);
                return;
            }
        }
        self.state.set(name, &text, &may, state);
    }

    fn option(&mut self, name: &str, rest: &[Argument]) {
        if is_doubtful(name) || self.state.get(name).is_some() {
            return;
        }
        let value = rest.get(1).map_or_else(|| "OFF".to_owned(), |value| self.state.expand(value));
        self.state.set(name, &value, &[], self.branches.state());
    }

    /// `list(APPEND X a b)`, `string(APPEND X " a")`
    fn append(&mut self, command: &str, before: bool, rest: &[Argument]) {
        let Some((name, values)) = rest.split_first() else { return };
        let name = self.state.expand(name);
        if is_doubtful(&name) {
            return;
        }
        let separator = if command == "list" { ";" } else { "" };
        let added = self.state.items(values).join(separator);
        let may = self.state.may(values);
        // A list may be empty at first; flags may be those of the environment.
        let old = self.state.get(&name).map_or_else(
            || if name.ends_with("FLAGS") { format!("{DOUBT} ") } else { String::new() },
            str::to_owned,
        );
        let separator = if old.is_empty() || added.is_empty() { "" } else { separator };
        let text = if before { [&added, separator, &old] } else { [&old, separator, &added] }.concat();
        let state = self.branches.state();
        if state == Some(true) {
            for value in values {
                self.state.writes(value, &self.script);
            }
        }
        self.state.set(&name, &text, &may, state);
    }

    fn glob(&mut self, rest: &[Argument]) {
        let Some((name, patterns)) = rest.split_first() else { return };
        let name = self.state.expand(name);
        let patterns = self.state.items(patterns);
        let may: Vec<String> = patterns.iter().map(|it| format!("{DOUBT}{}", without_marks(it))).collect();
        self.state.set(&name, &unknown(), &may, Some(true));
    }

    fn project(&mut self, name: &str) {
        let folder = self.folder.to_string_lossy();
        let state = self.branches.state();
        self.state.set("PROJECT_NAME", name, &[name.to_owned()], state);
        self.state.set("PROJECT_SOURCE_DIR", &folder, &[], state);
        if !is_doubtful(name) {
            self.state.set(&format!("{name}_SOURCE_DIR"), &folder, &[], state);
        }
    }

    fn child(&mut self, path: &str) {
        let path = (!is_doubtful(path)).then(|| normalise(&self.folder.join(path)));
        let same = self.children.last().filter(|_| !self.changed).map(|(_, state)| Rc::clone(state));
        let state = match same {
            Some(state) => state,
            None if self.kept == MOST_STATES => return,
            None => {
                self.kept += 1;
                self.changed = false;
                Rc::new(self.state.clone())
            }
        };
        self.children.push((path, state));
    }

    /// Commands that are not known may set what they name.
    fn forget(&mut self, arguments: &[Argument]) {
        if self.branches.state() == Some(false) {
            return;
        }
        for argument in arguments.iter().filter(|argument| argument.kind == Kind::Plain) {
            if self.state.is_known(&argument.text) {
                self.state.set(&argument.text, &unknown(), &[anything()], Some(true));
            }
        }
    }

    /// What the items of a command define, with marks where that is not known.
    fn given(&mut self, command: &Command, items: &[String], kind: Items) -> Given {
        let seen = see_through(&items.join(";"));
        let seen = if self.branches.state().is_none() { marked(&seen) } else { seen };
        let place = |name: &str| {
            let line = command.arguments.iter().find(|it| it.text.contains(name)).map(|it| it.line);
            Place { script: Rc::clone(&self.script), line: line.unwrap_or(command.line) }
        };
        let mut given = Given::default();
        let words = seen.split(';').filter(|it| !it.is_empty()).take(MOST_ITEMS);
        match kind {
            Items::Definitions => {
                for word in words {
                    let bare = word.trim_start_matches(DOUBT);
                    let bare = bare.strip_prefix("-D").unwrap_or(bare);
                    let word = if is_doubtful(word) { format!("{DOUBT}{bare}") } else { bare.to_owned() };
                    if let Some((name, said)) = definition(&word) {
                        let place = place(&name);
                        meet(&mut given, name, said, place);
                    }
                }
            }
            Items::Options => {
                // Several flags in one word: whether the compiler sees them as such is not known.
                let split = |word: &str| -> Vec<String> {
                    if !word.contains(" -") {
                        return vec![word.to_owned()];
                    }
                    marked(word).split_whitespace().map(str::to_owned).collect()
                };
                let words: Vec<String> = words.flat_map(split).collect();
                add_words(&words, &place, &mut given);
            }
        }
        given
    }

    /// Takes in what is defined for all that is compiled in the folder.
    fn define_here(&mut self, command: &Command, kind: Items) {
        if self.branches.state() == Some(false) {
            return;
        }
        let items = self.state.items(&command.arguments);
        let given = self.given(command, &items, kind);
        for (name, (said, place)) in given {
            meet(&mut self.state.given, name, said, place);
        }
    }

    fn remove(&mut self, command: &Command) {
        let state = self.branches.state();
        let items = self.state.items(&command.arguments);
        for (name, (_, place)) in self.given(command, &items, Items::Options) {
            match state {
                Some(true) => _ = self.state.given.remove(&name),
                Some(false) => {}
                None => meet(&mut self.state.given, name, Said::Doubt, place),
            }
        }
    }

    /// Takes in what is defined for a target.
    fn define_for(&mut self, target: &str, command: &Command, kind: Items) {
        if self.branches.state() == Some(false) {
            return;
        }
        let items = self.state.items(command.arguments.get(1..).unwrap_or_default());
        for (own, handed_on, items) in by_keyword(&items) {
            for (name, (said, place)) in self.given(command, items, kind) {
                if is_doubtful(target) {
                    // It may be any target.
                    meet(&mut self.state.given, name, Said::Doubt, place);
                    continue;
                }
                let target = self.targets.entry(target.to_owned()).or_default();
                if own {
                    meet(&mut target.own, name.clone(), said.clone(), place.clone());
                }
                if handed_on {
                    meet(&mut target.handed_on, name, said, place);
                }
            }
        }
    }

    /// Properties may define macros for some files: these are not known of any.
    fn properties(&mut self, command: &Command) {
        let items = self.state.items(&command.arguments);
        let keys = ["COMPILE_DEFINITIONS", "COMPILE_OPTIONS", "COMPILE_FLAGS"];
        let Some(at) = items.iter().position(|item| keys.contains(&item.as_str())) else { return };
        if self.branches.state() == Some(false) {
            return;
        }
        for item in items.iter().skip(at + 1).flat_map(|item| item.split([' ', ';'])).take(MOST_ITEMS) {
            let place = Place { script: Rc::clone(&self.script), line: command.line };
            if let Some((name, _)) = definition(item.strip_prefix("-D").unwrap_or(item)) {
                meet(&mut self.state.given, name, Said::Doubt, place);
            }
        }
    }

    fn link(&mut self, name: &str, rest: &[Argument]) {
        let state = self.branches.state();
        if state == Some(false) || is_doubtful(name) {
            return;
        }
        let items = self.state.items(rest);
        for (own, handed_on, libraries) in by_keyword(&items) {
            let target = self.targets.entry(name.to_owned()).or_default();
            for library in libraries {
                let doubtful = state.is_none() || is_doubtful(library);
                let link = Link { library: without_marks(library), own, handed_on, doubtful };
                if doubtful && !is_doubtful(&link.library) && self.perhaps.len() < MOST_ITEMS {
                    self.perhaps.push((self.branches.position(), name.to_owned(), link.clone()));
                }
                target.links.push(link);
            }
        }
    }

    /// Takes in what every branch of a condition links. `all`: how many branches there are.
    fn link_in_all(&mut self, depth: usize, all: Option<usize>) {
        let (ended, open) = std::mem::take(&mut self.perhaps).into_iter().partition(|it| it.0.0 >= depth);
        self.perhaps = open;
        let ended: Vec<((usize, usize), String, Link)> = ended;
        for (_, name, link) in ended.iter().filter(|it| it.0.1 == 0) {
            let in_branch =
                |number: usize| ended.iter().any(|it| it.0.1 == number && it.1 == *name && it.2 == *link);
            if all.is_some_and(|all| (1..all).all(in_branch)) {
                let doubtful = self.branches.state() != Some(true);
                let link = Link { doubtful, ..link.clone() };
                if doubtful {
                    self.perhaps.push((self.branches.position(), name.clone(), link.clone()));
                }
                self.targets.entry(name.clone()).or_default().links.push(link);
            }
        }
    }

    /// `add_library(name a.cu)`
    fn target(&mut self, name: &str, rest: &[Argument], is_library: bool) {
        let of = rest.iter().position(|it| it.text == "ALIAS").and_then(|at| rest.get(at + 1));
        if let Some(of) = of {
            let library = self.state.expand(of);
            let link = Link { library, own: true, handed_on: true, doubtful: false };
            self.targets.entry(name.to_owned()).or_default().links.push(link);
            return;
        }
        self.sources(name, rest);
        self.targets.entry(name.to_owned()).or_default().is_library = is_library;
    }

    fn sources(&mut self, name: &str, rest: &[Argument]) {
        let sources = self.state.may(rest);
        let target: &mut Target = self.targets.entry(name.to_owned()).or_default();
        target.sources.extend(sources);
    }
}

/// The items behind each keyword: whether they are for the target, and for those who link it.
fn by_keyword(items: &[String]) -> Vec<(bool, bool, &[String])> {
    let key = |item: &String| match item.as_str() {
        "PRIVATE" | "LINK_PRIVATE" => Some((true, false)),
        "INTERFACE" | "LINK_INTERFACE_LIBRARIES" => Some((false, true)),
        "PUBLIC" | "LINK_PUBLIC" | "BEFORE" => Some((true, true)),
        _ => None,
    };
    let (mut found, mut rest, mut keys) = (Vec::new(), items, (true, true));
    while !rest.is_empty() {
        if let Some(next) = rest.first().and_then(key) {
            keys = next;
            rest = rest.get(1..).unwrap_or_default();
            continue;
        }
        let end = rest.iter().position(|item| key(item).is_some()).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        found.push((keys.0, keys.1, part));
        rest = after;
    }
    found
}
