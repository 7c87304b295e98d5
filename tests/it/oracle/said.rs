//! What does `cudalint accesses` say of a file?

use super::execution::Launch;
use crate::support::accesses::{accesses, of_text};
use serde::Deserialize;
use std::path::Path;
use std::process::Command;

/// One line of `cudalint accesses --format json`, as far as it matters here.
#[derive(Clone, Debug, Deserialize)]
pub struct Said {
    file: String,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub kernel: String,
    pub array: String,
    pub op: String,
    pub bytes: Option<u32>,
    pub block: [u32; 3],
    pub status: String,
    pub assumptions: Vec<String>,
    rests_on: Vec<RestsOn>,
    pub reason: Option<String>,
    pub requests: Option<u64>,
    pub wavefronts: Option<u64>,
    pub worst: Option<u64>,
    uncounted_loops: Vec<serde_json::Value>,
}

/// An assumption, by its code.
#[derive(Clone, Debug, Deserialize)]
struct RestsOn {
    code: String,
    bytes: Option<u32>,
    partly: Option<bool>,
}

/// What assumptions mean for a comparison with accesses as they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Model {
    /// Neighbouring accesses are joined into one of so many bytes.
    pub joined: Option<u32>,
    /// Only some of them are.
    pub joined_in_part: bool,
    /// Every lane is counted that may be active, or is in a block in the middle of the data.
    pub at_most: bool,
    /// Lanes are chosen by data, but no choice conflicts.
    pub any_lanes: bool,
    /// Of a loop, one round is counted.
    pub per_round: bool,
}

impl Model {
    /// Whether perhaps no lane does it.
    pub fn may_not_happen(&self) -> bool {
        self.at_most || self.any_lanes || self.per_round
    }
}

impl Said {
    pub fn is_decided(&self) -> bool {
        matches!(self.status.as_str(), "exact" | "assumed")
    }

    /// Whether somebody gave the block: a launch that happens, a comment or an option.
    pub fn is_of_given_block(&self) -> bool {
        self.rests_on.iter().all(|assumption| assumption.code != "block")
    }

    /// The assumptions that are about what the compiler makes of the text, or about lanes that data choose.
    pub fn model(&self) -> Model {
        let mut model = Model { per_round: !self.uncounted_loops.is_empty(), ..Model::default() };
        for assumption in &self.rests_on {
            match assumption.code.as_str() {
                "joined" => {
                    model.joined = assumption.bytes;
                    model.joined_in_part = assumption.partly == Some(true);
                }
                "every-lane" | "inside-bounds" => model.at_most = true,
                "any-lanes" => model.any_lanes = true,
                _ => {}
            }
        }
        model
    }

    /// Whether this is said of the kernel and the block of a launch.
    pub fn is_of(&self, launch: &Launch) -> bool {
        self.block == launch.block && is_same_kernel(&self.kernel, &launch.kernel)
    }
}

/// Runs the tool on a file.
pub fn said(path: &Path) -> Vec<Said> {
    // Of headers nothing is compared.
    accesses(path).into_iter().filter(|said: &Said| Path::new(&said.file) == path).collect()
}

/// The same of a text that a file may hold, among the files of a folder.
pub fn said_of_text(path: &Path, text: &str, folder: &Path) -> Vec<Said> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cudalint"));
    command.args(["accesses", "--format", "json", "--quiet", "--threads", "1", "--target", "sm_90"]);
    let stdout = of_text(command, path, text, folder);
    let said = stdout.lines().map(|line| serde_json::from_str(line).unwrap());
    said.filter(|said: &Said| Path::new(&said.file) == path).collect()
}

/// Whether the tool and the compiler mean the same instance of a kernel. The tool may write `?` for an
/// argument, and leaves out those that have their default.
fn is_same_kernel(said: &str, compiled: &str) -> bool {
    let (said_name, said_arguments) = parts(said);
    let (name, arguments) = parts(compiled);
    let same = |(a, b): (&String, &String)| a == "?" || a == b;
    said_name == name && said_arguments.iter().zip(&arguments).all(same)
}

/// The name without its namespaces, and the template arguments in a plain form.
fn parts(kernel: &str) -> (&str, Vec<String>) {
    let (name, arguments) = kernel.split_once('<').unwrap_or((kernel, ""));
    let name = name.rsplit("::").next().unwrap_or(name).trim();
    let arguments = arguments.strip_suffix('>').unwrap_or(arguments);
    let (mut found, mut depth) = (vec![String::new()], 0);
    for character in arguments.chars() {
        match character {
            ',' if depth == 0 => {
                found.push(String::new());
                continue;
            }
            '<' | '(' | '{' => depth += 1,
            '>' | ')' | '}' => depth -= 1,
            _ => {}
        }
        found.last_mut().unwrap().push(character);
    }
    found.retain(|argument| !argument.trim().is_empty());
    (name, found.iter().map(|argument| plain(argument.trim())).collect())
}

/// `4u`, `(unsigned int)4` and `4` are the same; so are `true` and `1`.
fn plain(argument: &str) -> String {
    if argument.contains("<lambda") || argument.contains("(lambda") {
        return "lambda".to_owned();
    }
    // `Twice<Plus<2> >`
    let argument = &argument.replace(" >", ">");
    let value = match argument.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        Some((_, value)) if !value.is_empty() => value.trim(),
        _ => argument.as_str(),
    };
    match value {
        "true" => return "1".to_owned(),
        "false" => return "0".to_owned(),
        _ => {}
    }
    let number = value.trim_end_matches(['u', 'l', 'U', 'L']);
    let is_number = number.chars().all(|it| it.is_ascii_digit() || it == '-') && !number.is_empty();
    let text = if is_number { number } else { value };
    // `short unsigned int` and `unsigned short` are one type, as are `int const*` and `const int*`.
    let sorted = |text: &str| {
        let mut words: Vec<&str> = text.split_whitespace().collect();
        if words.iter().any(|word| matches!(*word, "short" | "long" | "unsigned")) {
            words.retain(|word| *word != "int");
        }
        words.sort_unstable();
        words.join(" ")
    };
    let text: Vec<String> = text.split('*').map(sorted).collect();
    text.join("*")
}

#[test]
fn instances_of_kernels_are_told_apart() {
    assert!(is_same_kernel("tile<float, 16>", "tile<float, 16u>"));
    assert!(is_same_kernel("tile<float>", "tile<float, 4>"));
    assert!(is_same_kernel("n::pick<?, 1>", "pick<Kind, true>"));
    assert!(!is_same_kernel("tile<float, 16>", "tile<float, 32>"));
    assert!(is_same_kernel("tile<unsigned short>", "tile<short unsigned int>"));
    assert!(is_same_kernel("tile<const short*>", "tile<short int const*>"));
    assert!(!is_same_kernel("tile<const short*>", "tile<short int* const>"));
    assert!(is_same_kernel("run<Twice<Plus<2>>>", "run<Twice<Plus<2> > >"));
    assert!(is_same_kernel("run<(lambda)>", "run<main()::<lambda(int)> >"));
    assert!(is_same_kernel("run<main::(lambda 2)>", "run<main()::<lambda(int)> >"));
    assert!(!is_same_kernel("run<(lambda)>", "run<Twice>"));
    assert!(!is_same_kernel("tile", "tiles"));
    assert!(!is_same_kernel("run<Cell>", "run<n::Cell>"));
    assert!(!is_same_kernel("run<Of<float>::In>", "run<Of<int>::In>"));
}
