//! What do the lines of a `Makefile` set, and which commands do its rules have?

use super::super::branches::{Branches, Truth};
use super::super::doubt::{DOUBT, either, is_doubtful, marked, shell_words, unknown};
use super::super::flags::{Given, Place, add_words, defined_in};
use super::super::{Read, is_against_gpu};
use super::expand::{Variables, find_outside, split_arguments};
use super::{Command, Makefile};
use crate::headers::normalise;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

/// How deep scripts may include each other, and how many one may.
const MOST_NESTED: usize = 4;
const MOST_INCLUDED: usize = 32;
/// How many commands are looked at.
const MOST_COMMANDS: usize = 2000;

/// A rule; its commands are expanded when all variables are set.
struct Rule {
    targets: Vec<String>,
    needs: Vec<String>,
    commands: Vec<(String, Truth, Place)>,
    state: Truth,
}

struct Reading<'a> {
    folder: &'a Path,
    read: &'a Read,
    variables: Variables,
    rules: Vec<Rule>,
    branches: Branches,
    doubted: Given,
    written: BTreeMap<String, Place>,
    included: usize,
    /// Whether a line with a tab belongs to a rule.
    in_rule: bool,
    /// Whether a `define` is open.
    in_define: bool,
}

/// Reads a script.
pub(super) fn makefile(folder: &Path, path: &Path, text: &str, read: &Read) -> Makefile {
    let mut reading = Reading {
        folder,
        read,
        variables: Variables::new(),
        rules: Vec::new(),
        branches: Branches::default(),
        doubted: Given::default(),
        written: BTreeMap::new(),
        included: 0,
        in_rule: false,
        in_define: false,
    };
    let script = Rc::from(path);
    reading.script(text, &script, 0);
    let commands = reading.commands();
    let flags = reading.flags();
    Makefile {
        folder: folder.to_path_buf(),
        commands,
        flags,
        doubted: reading.doubted,
        written: reading.written,
        start: Place { script, line: 1 },
    }
}

impl Reading<'_> {
    fn script(&mut self, text: &str, script: &Rc<Path>, depth: usize) {
        let mut lines = text.lines().enumerate();
        while let Some((number, first)) = lines.next() {
            let mut line = first.to_owned();
            // An odd number of strokes: the line goes on.
            while (line.len() - line.trim_end_matches('\\').len()) % 2 == 1 {
                line.pop();
                let Some((_, next)) = lines.next() else { break };
                line.push(' ');
                line.push_str(next.trim_start());
            }
            let place = Place { script: Rc::clone(script), line: number + 1 };
            self.line(&line, &place, depth);
        }
    }

    fn line(&mut self, line: &str, place: &Place, depth: usize) {
        let word = line.split_whitespace().next().unwrap_or_default();
        if self.in_define {
            self.in_define = word != "endef";
            return;
        }
        if self.in_rule && line.starts_with('\t') {
            self.command(line.trim(), place);
            return;
        }
        let line = without_comment(line).trim();
        if line.is_empty() || self.condition(line) {
            return;
        }
        let state = self.branches.state();
        if word == "define" {
            self.in_define = true;
            let name = line.split_whitespace().nth(1).unwrap_or_default();
            if state != Some(false) {
                self.variables.set(name, unknown(), false);
            }
            return;
        }
        if state == Some(false) {
            // Its commands are not carried out either.
            self.in_rule = find_outside(line, ':').is_some() && assignment(line).is_none();
            if self.in_rule {
                self.rules.push(Rule { targets: Vec::new(), needs: Vec::new(), commands: Vec::new(), state });
            }
            return;
        }
        if let Some((name, operator, value)) = assignment(line) {
            self.in_rule = false;
            self.assign(name, operator, value, place);
        } else if ["include", "-include", "sinclude"].contains(&word) {
            self.in_rule = false;
            self.include(&line[word.len()..], depth);
        } else if let Some(at) = find_outside(line, ':') {
            self.rule(&line[..at], line[at + 1..].trim_start_matches(':'), place);
        }
    }

    /// Takes in a line of a rule.
    fn command(&mut self, line: &str, place: &Place) {
        let state = self.branches.state();
        if let Some(rule) = self.rules.last_mut().filter(|_| state != Some(false) && !line.starts_with('#')) {
            rule.commands.push((line.to_owned(), state, place.clone()));
            if state == Some(true) {
                self.writes(line, place);
            }
        }
    }

    /// Whether the line is about a condition.
    fn condition(&mut self, line: &str) -> bool {
        let (word, rest) = line.split_once([' ', '\t', '(']).unwrap_or((line, ""));
        let rest = &line[line.len() - rest.len() - usize::from(line[word.len()..].starts_with('('))..];
        match word {
            "ifeq" | "ifneq" | "ifdef" | "ifndef" => {
                let truth = self.truth(word, rest.trim());
                self.branches.open(truth);
            }
            "else" => {
                let rest = rest.trim();
                let word: &str = rest.split([' ', '\t', '(']).next().unwrap_or_default();
                if word.starts_with("if") {
                    let truth = self.truth(word, rest[word.len()..].trim());
                    self.branches.other(truth);
                } else {
                    self.branches.last();
                }
            }
            "endif" => self.branches.close(),
            _ => return false,
        }
        true
    }

    fn truth(&self, word: &str, condition: &str) -> Truth {
        if let "ifdef" | "ifndef" = word {
            let name = self.variables.expand(condition);
            if is_doubtful(&name) {
                return None;
            }
            let set = self.variables.is_set(name.trim())?;
            return (!is_against_gpu(&name, if set { "1" } else { "" })).then_some(set == (word == "ifdef"));
        }
        let sides: Vec<&str> = match condition.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            Some(inner) => split_arguments(inner),
            // In quotes of either kind.
            None => {
                let quote = condition.chars().next().filter(|it| ['"', '\''].contains(it))?;
                let (left, rest) = condition[1..].split_once(quote)?;
                let rest = rest.trim();
                let quote = rest.chars().next().filter(|it| ['"', '\''].contains(it))?;
                vec![left, rest[1..].strip_suffix(quote)?]
            }
        };
        let [left, right] = sides[..] else { return None };
        let raw = (left, right);
        let (left, right) = (self.variables.expand(left), self.variables.expand(right));
        if is_doubtful(&left) || is_doubtful(&right) {
            return None;
        }
        if is_against_gpu(raw.0, &left) || is_against_gpu(raw.1, &right) {
            return None;
        }
        Some((left.trim() == right.trim()) == (word == "ifeq"))
    }

    fn assign(&mut self, name: &str, operator: &str, value: &str, place: &Place) {
        let name = self.variables.expand(name);
        if is_doubtful(&name) {
            return;
        }
        let state = self.branches.state();
        let old = self.variables.get(&name).cloned();
        let (text, late) = match operator {
            "!" => (unknown(), false),
            "?" if old.is_some() => return,
            "" | "?" => (value.to_owned(), true),
            "+" => match &old {
                Some(old) if old.late => (format!("{} {value}", old.text), true),
                Some(old) => (format!("{} {}", old.text, self.variables.expand(value)), false),
                None => (value.to_owned(), true),
            },
            _ => (self.variables.expand(value), false),
        };
        if state == Some(true) {
            self.writes(value, place);
            self.variables.set(&name, text, late);
        } else {
            let late = late || old.as_ref().is_some_and(|old| old.late);
            let text = either(old.as_ref().map(|old| old.text.as_str()), &text);
            self.variables.set(&name, text, late);
        }
    }

    /// Remembers which macros a line defines.
    fn writes(&mut self, line: &str, place: &Place) {
        self.written.extend(defined_in(line).map(|name| (name.to_owned(), place.clone())));
    }

    fn include(&mut self, names: &str, depth: usize) {
        let names = self.variables.expand(names);
        let state = self.branches.state();
        for name in names.split_whitespace().filter(|name| !is_doubtful(name)) {
            if depth == MOST_NESTED || self.included == MOST_INCLUDED {
                return;
            }
            self.included += 1;
            let path = normalise(&self.folder.join(name));
            if let Some(text) = (self.read)(&path) {
                let around = std::mem::take(&mut self.branches);
                if state.is_none() {
                    self.branches.open(None);
                }
                self.script(&text, &Rc::from(path), depth + 1);
                self.branches = around;
                (self.in_rule, self.in_define) = (false, false);
            }
        }
    }

    fn rule(&mut self, targets: &str, rest: &str, place: &Place) {
        let words = |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
        if let Some((_, _, value)) = assignment(rest) {
            // What one target has is not known to be what the file has.
            let value = marked(&self.variables.expand(value));
            add_words(&words(&value), &|_| place.clone(), &mut self.doubted);
            self.in_rule = false;
            return;
        }
        let (needs, command) = match find_outside(rest, ';') {
            Some(at) => (&rest[..at], Some(&rest[at + 1..])),
            None => (rest, None),
        };
        // `$(OBJECTS): %.o: %.cu`
        let needs = find_outside(needs, ':').map_or(needs, |at| &needs[at + 1..]);
        self.rules.push(Rule {
            targets: words(&self.variables.expand(targets)),
            needs: words(&self.variables.expand(needs)),
            commands: Vec::new(),
            state: self.branches.state(),
        });
        self.in_rule = true;
        if let Some(command) = command {
            self.command(command.trim(), place);
        }
    }

    /// The commands that compile.
    fn commands(&self) -> Vec<Command> {
        let mut found = Vec::new();
        for rule in self.rules.iter().filter(|rule| rule.state != Some(false)) {
            for (line, state, place) in &rule.commands {
                let raw = line.trim_start_matches(['@', '-', '+', ' ']);
                for part in self.variables.expand(raw).split(['|', ';']).flat_map(|it| it.split("&&")) {
                    let is_known = found.len() < MOST_COMMANDS;
                    if let Some(words) = words(part).filter(|words| is_known && compiles(line, words)) {
                        found.push(Command {
                            targets: rule.targets.clone(),
                            needs: rule.needs.clone(),
                            words,
                            doubtful: state.is_none() || rule.state.is_none(),
                            place: place.clone(),
                        });
                    }
                }
            }
        }
        found
    }

    /// What the variables named like flags hold.
    fn flags(&self) -> [Vec<String>; 2] {
        let mut found = [Vec::new(), Vec::new()];
        for name in self.variables.names() {
            let upper = name.to_ascii_uppercase();
            let is_cuda =
                ["NVCC", "CUDA", "NVFLAGS", "CUFLAGS", "HIPFLAGS"].iter().any(|it| upper.contains(it))
                    && upper.contains("FLAGS");
            let general = ["CFLAGS", "CXXFLAGS", "CPPFLAGS", "CCFLAGS", "DEFINES", "DEFINE", "DEFS"];
            let number = match (is_cuda, general.contains(&name)) {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => continue,
            };
            let of_variable = words(&self.variables.expand(&format!("$({name})"))).unwrap_or_default();
            // Which of two variables is written last on a command is not known.
            for word in of_variable {
                if !found[number].contains(&word) && found[number].len() < 200 {
                    found[number].push(word);
                }
            }
        }
        found
    }
}

/// The words of a command as the shell sees them; one with what the shell works out has a mark.
fn words(text: &str) -> Option<Vec<String>> {
    let mark = |word: String| if word.contains('`') { format!("{DOUBT}{word}") } else { word };
    Some(shell_words(text)?.into_iter().map(mark).collect())
}

/// Whether a command compiles. `line`: as it is written, for compilers that are looked for.
fn compiles(line: &str, words: &[String]) -> bool {
    const ONLY_LISTS: [&str; 6] = ["-M", "-MM", "--generate-dependencies", "-dlink", "-dlto", "--version"];
    let lower = line.to_ascii_lowercase();
    let names = ["nvcc", "hipcc", "clang", "g++", "gcc", "(cc)", "(cxx)", "{cc}", "{cxx}"];
    let is_compiler = |word: &String| ["nvcc", "hipcc", "clang++", "g++"].iter().any(|it| word.ends_with(it));
    (names.iter().any(|name| lower.contains(name)) || words.iter().any(is_compiler))
        && !words.iter().any(|word| ONLY_LISTS.contains(&word.as_str()))
        && words.len() > 1
}

fn without_comment(line: &str) -> &str {
    let mut before = ' ';
    for (at, char) in line.char_indices() {
        if char == '#' && before != '\\' {
            return &line[..at];
        }
        before = char;
    }
    line
}

/// Name, operator and value of `NAME += value`; the operator without its `=` and with one `:` at most.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let mut line = line.trim_start();
    for word in ["export", "override", "private"] {
        let rest = line.strip_prefix(word).filter(|rest| rest.starts_with([' ', '\t']));
        line = rest.map_or(line, str::trim_start);
    }
    let at = find_outside(line, '=')?;
    let left = &line[..at];
    let name = left.trim_end_matches([':', '?', '+', '!']);
    let operator = &left[name.len()..];
    let name = name.trim();
    let is_name = !name.is_empty() && find_outside(name, ':').is_none() && !has_gap(name);
    let operator = if operator.starts_with(':') { ":" } else { operator };
    is_name.then(|| (name, operator, line[at + 1..].trim()))
}

/// Whether there is white space in a name, the references in it aside.
fn has_gap(name: &str) -> bool {
    find_outside(name, ' ').is_some() || find_outside(name, '\t').is_some()
}
