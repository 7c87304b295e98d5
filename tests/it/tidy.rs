//! Is the project in order?

mod circles;
mod edges;

use cudalint::rules;
use std::fs;
use std::path::Path;
use std::process::Command;
use walkdir::WalkDir;

/// Lines of code that a file may have, without its unit tests.
const LONGEST: usize = 500;

struct Source {
    /// Relative to the root, with `/`.
    path: String,
    text: String,
}

impl Source {
    /// The file without its unit tests and without comments.
    fn code(&self) -> Vec<&str> {
        let mut kept = Vec::new();
        let mut lines = self.text.lines();
        while let Some(line) = lines.next() {
            if line.starts_with("#[cfg(test)]") {
                // What it stands above ends with a line at the margin.
                let margin = |line: &&str| !line.starts_with([' ', '#', ')']);
                lines.by_ref().find(|line| margin(line) && line.ends_with([';', '}']));
            } else if !line.trim_start().starts_with("//") {
                kept.push(line);
            }
        }
        kept
    }

    /// `banks` for `src/banks.rs` and for `src/banks/target.rs`; empty for other folders.
    fn module(&self) -> &str {
        let inside = self.path.strip_prefix("src/").unwrap_or("");
        inside.split(['/', '.']).next().unwrap_or("")
    }

    fn is_test(&self) -> bool {
        self.path.ends_with("/tests.rs") || self.path.contains("/tests/")
    }
}

fn sources(folder: &str) -> Vec<Source> {
    let files = WalkDir::new(folder).sort_by_file_name().into_iter().map(|entry| entry.unwrap().into_path());
    files
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .map(|path| Source {
            text: fs::read_to_string(&path).unwrap(),
            path: path.to_string_lossy().replace('\\', "/"),
        })
        .collect()
}

/// Fails with every complaint at once.
fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

#[test]
fn every_rule_file_is_registered_documented_and_has_fixtures() {
    let readme = fs::read_to_string("README.md").unwrap();
    let mut complaints = Vec::new();
    for source in sources("src/rules") {
        let Some(name) = source.path.strip_prefix("src/rules/").and_then(|name| name.strip_suffix(".rs"))
        else {
            continue;
        };
        // `blocks` says where a block comes from, `causes` puts findings together, `fact` is what the rules on facts share,
        // `launches` what those on launches do, `lines` names lines of any, `standing` sums up with `unjudged`, `typed`
        // says what types say.
        if matches!(
            name,
            "tests" | "fact" | "launches" | "blocks" | "causes" | "lines" | "standing" | "typed" | "unjudged"
        ) || name.contains('/')
        {
            continue;
        }
        let id = name.replace('_', "-");
        if rules::find(&id).is_none() {
            complaints.push(format!("{} is not in rules::ALL as `{id}`", source.path));
        }
    }
    for rule in rules::ALL {
        let file = format!("src/rules/{}.rs", rule.id.replace('-', "_"));
        if !Path::new(&file).is_file() {
            complaints.push(format!("`{}` has no {file}", rule.id));
        }
        let row =
            format!("| `{}` | {} | {} |", rule.id, cudalint::output::level_word(rule.level), rule.summary);
        if !readme.contains(&row) {
            complaints.push(format!("README.md lacks the row {row}"));
        }
        let folder = format!("fixtures/{}", rule.id);
        let has = |extension: &str| {
            WalkDir::new(&folder)
                .into_iter()
                .flatten()
                .any(|entry| entry.path().extension().is_some_and(|it| it == extension))
        };
        if !has("cu") {
            complaints.push(format!("{folder} holds no .cu file"));
        }
        if !has("txt") {
            complaints.push(format!("{folder} holds no rendered text (.txt)"));
        }
    }
    assert_none(&complaints);
}

#[test]
fn modules_touch_only_what_is_theirs() {
    // (word, modules that may use it, why)
    let files = "only the command line touches files";
    let walls: [(&str, &[&str], &str); 14] = [
        ("tree_sitter", &["lower", "syntax"], "no tree node outlives `lower`"),
        ("std::fs", &["cli", "walk", "main"], files),
        (".is_file()", &["cli", "walk", "main"], files),
        (".is_dir()", &["cli", "walk", "main"], files),
        (".exists()", &["cli", "walk", "main"], files),
        (".canonicalize()", &["cli", "walk", "main"], files),
        ("read_dir", &["cli", "walk", "main"], files),
        ("std::env", &["cli", "main"], "only the command line knows the environment"),
        ("Command::new", &["cli", "main"], "only the command line runs programs"),
        ("println!", &["cli", "main"], "only the command line prints"),
        ("eprint", &["cli", "main"], "only the command line prints"),
        ("std::io::std", &["cli", "main"], "only the command line reads and prints"),
        ("process::exit", &["cli", "main"], "only the command line ends the program"),
        ("clap", &["cli", "main"], "flags are the command line's"),
    ];
    let mut complaints = Vec::new();
    for source in sources("src").iter().filter(|source| !source.is_test()) {
        let module = source.module().to_owned();
        for line in source.code() {
            for (word, allowed, why) in walls {
                if line.contains(word) && !allowed.contains(&module.as_str()) {
                    complaints.push(format!("{}: `{}`: {why}", source.path, line.trim()));
                }
            }
        }
    }
    assert_none(&complaints);
}

#[test]
fn the_version_that_is_told_of_the_grammar_is_that_of_its_crate() {
    let lock = fs::read_to_string("Cargo.lock").unwrap();
    let entry = lock.split("[[package]]").find(|it| it.contains("\nname = \"tree-sitter-cuda\"\n")).unwrap();
    let version = entry.lines().find_map(|line| line.strip_prefix("version = ")).unwrap();
    assert_eq!(version.trim_matches('"'), cudalint::syntax::GRAMMAR_VERSION);
    // Another one would not be told of.
    let manifest = fs::read_to_string("Cargo.toml").unwrap();
    assert!(manifest.contains(&format!("tree-sitter-cuda = \"={}\"", cudalint::syntax::GRAMMAR_VERSION)));
}

/// The platform's name as Cargo spells it, such as `x86_64-unknown-linux-gnu`.
fn host() -> String {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

/// As far as the packages that are built on this platform say: a fresh machine has no others.
#[test]
fn no_dependency_wants_a_newer_compiler_than_is_promised() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let host = host();
    let arguments =
        ["metadata", "--locked", "--offline", "--format-version", "1", "--filter-platform", &host];
    let output = Command::new(cargo).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let packages = metadata["packages"].as_array().unwrap();
    let wanted = |package: &serde_json::Value| -> Option<Vec<u32>> {
        let version = package["rust_version"].as_str()?;
        Some(version.split('.').map(|part| part.parse().unwrap()).collect())
    };
    let own = packages.iter().find(|package| package["name"] == "cudalint").and_then(wanted).unwrap();
    let readme = fs::read_to_string("README.md").unwrap();
    let install = fs::read_to_string("docs/install.md").unwrap();
    let promise = format!("Rust {}.{} or newer", own[0], own[1]);
    assert!(readme.contains(&promise) && install.contains(&promise), "{promise}");
    let newer: Vec<String> = packages
        .iter()
        .filter(|package| wanted(package).is_some_and(|version| version[..2] > own[..2]))
        .map(|package| format!("{} wants {}", package["name"], package["rust_version"]))
        .collect();
    assert_none(&newer);
    assert!(packages.iter().filter(|package| wanted(package).is_some()).count() > 50, "most of them say");
}

#[test]
fn files_are_short() {
    let mut complaints = Vec::new();
    for source in sources("src").iter().filter(|source| !source.is_test()) {
        let lines = source.code().iter().filter(|line| !line.trim().is_empty()).count();
        if lines > LONGEST {
            complaints
                .push(format!("{} has {lines} lines of code; at most {LONGEST}: split by idea", source.path));
        }
    }
    assert_none(&complaints);
}

#[test]
fn every_module_says_what_it_answers() {
    let mut complaints = Vec::new();
    for source in sources("src").into_iter().chain(sources("tests")) {
        let unit_tests = source.path.starts_with("src/") && source.is_test();
        if !source.text.starts_with("//!") && !unit_tests {
            complaints.push(format!("{} does not open with `//!`", source.path));
        }
        if source.path.ends_with("/mod.rs") {
            complaints.push(format!("{}: use `name.rs` beside `name/`", source.path));
        }
    }
    assert_none(&complaints);
}

#[test]
fn nothing_is_left_to_do() {
    let mut complaints = Vec::new();
    let words = ["TODO", "FIXME", "XXX", "TEMPORARY", "TO CONNECT"];
    for source in sources("src") {
        for (at, line) in source.text.lines().enumerate() {
            if words.iter().any(|word| line.contains(word)) {
                complaints.push(format!("{}:{}: {}", source.path, at + 1, line.trim()));
            }
        }
    }
    assert_none(&complaints);
}
