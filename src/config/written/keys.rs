//! Which keys are there, what are they for, and what may stand behind them?
//!
//! One table for the messages about values of the wrong type and for the JSON schema. What is read is
//! decided by the parser; tests hold the table against it, both ways.

use super::LEVELS;
use crate::config::{FORMATS, SORTS};
use crate::rules;
use serde_json::{Value, json};
use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// A key.
pub(super) struct Key {
    /// Its name, behind those of the tables that it is in; `*` is any name.
    pub(super) path: &'static [&'static str],
    /// What it is for.
    about: &'static str,
    /// What stands behind it, as in "`targets` is a list of names".
    is: &'static str,
    /// How it is written.
    example: &'static str,
    /// The schema of what stands behind it.
    schema: fn() -> Value,
}

/// Every key, those of the file first.
pub(super) static KEYS: &[Key] = &[
    Key {
        path: &["extends"],
        about: "Another configuration file, relative to this one. Its values apply where this file says \
                nothing; its patterns count from this file's folder.",
        is: "the path of a file",
        example: r#"extends = "../common/cudalint.toml""#,
        schema: || json!({ "type": "string", "pattern": "\\.toml$" }),
    },
    Key {
        path: &["targets"],
        about: "Devices to judge for: compute capabilities such as sm_90 or 9.0.",
        is: "a list of names",
        example: r#"targets = ["sm_80", "sm_90"]"#,
        schema: || {
            let name = "^ *([A-Za-z]+_? *)?[0-9]+(\\.[0-9]+)?[A-Za-z]? *$";
            list(json!({ "type": "string", "pattern": name, "examples": ["sm_80", "sm_90"] }))
        },
    },
    Key {
        path: &["bank-size"],
        about: "Width of a bank in bytes; only compute capability 3.x has 8.",
        is: "a number",
        example: "bank-size = 4",
        schema: || json!({ "enum": [4, 8] }),
    },
    Key {
        path: &["min-share"],
        about: "Hide bank conflicts that cost less than this percentage of their kernel's shared-memory \
                wavefronts.",
        is: "a number",
        example: "min-share = 5",
        schema: || json!({ "type": "integer", "minimum": 0, "maximum": 100 }),
    },
    Key {
        path: &["min-ways"],
        about: "Hide bank conflicts with fewer ways.",
        is: "a number",
        example: "min-ways = 4",
        schema: || json!({ "type": "integer", "minimum": 0, "maximum": u32::MAX }),
    },
    Key {
        path: &["include"],
        about: "Folders to search for #include, relative to this file.",
        is: "a list of folders",
        example: r#"include = ["include"]"#,
        schema: || list(json!({ "type": "string" })),
    },
    Key {
        path: &["exclude"],
        about: "Files and folders to skip unless you name them; written as in .gitignore.",
        is: "a list of patterns",
        example: r#"exclude = ["third_party/"]"#,
        schema: || list(json!({ "type": "string" })),
    },
    Key {
        path: &["compile-commands"],
        about: "The compile_commands.json, or its folder, to read include folders, macros and devices from; \
                false: read none, and no macros from build scripts.",
        is: "a folder or `false`",
        example: r#"compile-commands = "build""#,
        schema: || json!({ "type": ["string", "boolean"] }),
    },
    Key {
        path: &["baseline"],
        about: "The file with the findings to hide. It applies to runs that start in this folder or below.",
        is: "the path of a file",
        example: r#"baseline = "cudalint-baseline.json""#,
        schema: || json!({ "type": "string" }),
    },
    Key {
        path: &["format"],
        about: "The format of the findings. It applies to runs that start in this folder or below.",
        is: "a word",
        example: r#"format = "short""#,
        schema: || json!({ "enum": FORMATS }),
    },
    Key {
        path: &["sort"],
        about: "The order of the findings. It applies to runs that start in this folder or below.",
        is: "a word",
        example: r#"sort = "path""#,
        schema: || json!({ "enum": SORTS }),
    },
    Key {
        path: &["top"],
        about: "Print only this many findings, the most expensive ones. It applies to runs that start in \
                this folder or below.",
        is: "a number",
        example: "top = 10",
        schema: || json!({ "type": "integer", "minimum": 1 }),
    },
    Key {
        path: &["defines"],
        about: "Macros, like -D of a compiler.",
        is: "a table of macros",
        example: "[defines]` and below it `N = 32",
        schema: || {
            let mut macros = table(value_of(&["defines", "*"]));
            macros["propertyNames"] = json!({ "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" });
            macros
        },
    },
    Key {
        path: &["defines", "*"],
        about: "What the macro stands for; true is 1, false is 0.",
        is: "a number, `true`, `false` or a text",
        example: "N = 32",
        schema: || json!({ "type": ["integer", "boolean", "string"] }),
    },
    Key {
        path: &["blocks"],
        about: "Block shapes of kernels whose launches do not give them; \"*\" is every kernel.",
        is: "a table of kernels",
        example: "[blocks]` and below it `k = [32, 8]",
        schema: || table(value_of(&["blocks", "*"])),
    },
    Key {
        path: &["blocks", "*"],
        about: "Threads along x, y and z, at most 1024 in all.",
        is: "a list of one to three numbers",
        example: "k = [32, 8]",
        schema: || {
            let threads = json!({ "type": "integer", "minimum": 1, "maximum": 1024 });
            json!({ "type": "array", "items": threads, "minItems": 1, "maxItems": 3 })
        },
    },
    Key {
        path: &["levels"],
        about: "The level of each rule; all is every rule not named.",
        is: "a table of rules",
        example: r#"[levels]` and below it `bank-conflict = "deny""#,
        schema: levels,
    },
    Key {
        path: &["levels", "*"],
        about: "allow: hidden; note: reported without failing the run; warn: a warning; deny: an error.",
        is: "a word",
        example: r#"all = "deny""#,
        schema: || json!({ "enum": LEVELS.map(|(word, _)| word) }),
    },
    Key {
        path: &["paths"],
        about: "Levels for some files only; of several entries that match a file, the last wins.",
        is: "a list of tables",
        example: "[[paths]]",
        schema: || {
            let (files, levels) = (value_of(&["paths", "files"]), value_of(&["paths", "levels"]));
            let entry = json!({ "files": files, "levels": levels });
            let required = ["files", "levels"];
            list(json!({
                "type": "object", "properties": entry, "required": required, "additionalProperties": false
            }))
        },
    },
    Key {
        path: &["paths", "files"],
        about: "Patterns of files, written as in .gitignore.",
        is: "a list of patterns",
        example: r#"files = ["tests/"]"#,
        schema: || list(json!({ "type": "string" })),
    },
    Key {
        path: &["paths", "levels"],
        about: "The level of each rule in these files.",
        is: "a table of rules",
        example: r#"[levels]` and below it `bank-conflict = "deny""#,
        schema: levels,
    },
];

/// The schema of the value of a key, with what it is for.
pub(super) fn value_of(path: &[&str]) -> Value {
    let Some(key) = KEYS.iter().find(|key| key.path == path) else { return json!(true) };
    let mut schema = (key.schema)();
    schema["description"] = json!(key.about);
    schema
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn table(values: Value) -> Value {
    json!({ "type": "object", "additionalProperties": values })
}

fn levels() -> Value {
    let level = |about: &str| {
        let mut schema = value_of(&["levels", "*"]);
        schema["description"] = json!(about);
        schema
    };
    let all = ("all".to_owned(), level("Every rule not named."));
    let rules = rules::ALL.iter().map(|rule| (rule.id.to_owned(), level(rule.summary)));
    let properties: serde_json::Map<String, Value> = std::iter::once(all).chain(rules).collect();
    json!({ "type": "object", "properties": properties, "additionalProperties": false })
}

/// What the value there should be, and an example. `None` when the text is no TOML, or the place is that
/// of no key.
pub(super) fn expected(text: &str, place: &Range<usize>) -> Option<(String, &'static str)> {
    let table = DeTable::parse(text).ok()?;
    let keys = keys_to(table.get_ref(), place)?;
    let names: Vec<&str> = keys.iter().map(String::as_str).collect();
    if names == ["paths"] && is_list(table.get_ref(), "paths") {
        let message = "an entry of `paths` has `files` and `levels`";
        return Some((message.to_owned(), r#"levels = { bank-conflict = "note" }"#));
    }
    // A level in `paths` is as one of the file.
    let names = if names.starts_with(&["paths", "levels"]) { &names[1..] } else { &names[..] };
    let fits = |key: &&Key| {
        let mut parts = key.path.iter().zip(names);
        key.path.len() == names.len() && parts.all(|(part, name)| part == name || *part == "*")
    };
    let key = KEYS.iter().find(fits)?;
    Some((format!("`{}` is {}", keys.join("."), key.is), key.example))
}

/// The keys that lead to the innermost value around a place.
fn keys_to(table: &DeTable<'_>, place: &Range<usize>) -> Option<Vec<String>> {
    table.iter().find_map(|(key, value)| {
        let below = below(value.get_ref(), place);
        let is_here = || value.span().start <= place.start && place.end <= value.span().end;
        let rest = below.or_else(|| is_here().then(Vec::new))?;
        Some(std::iter::once(key.get_ref().to_string()).chain(rest).collect())
    })
}

fn below(value: &DeValue<'_>, place: &Range<usize>) -> Option<Vec<String>> {
    match value {
        // The tables of a list may be far apart.
        DeValue::Array(items) => items.iter().find_map(|item| below(item.get_ref(), place)),
        DeValue::Table(table) => keys_to(table, place),
        _ => None,
    }
}

fn is_list(table: &DeTable<'_>, key: &str) -> bool {
    table.iter().any(|(name, value)| name.get_ref() == key && matches!(value.get_ref(), DeValue::Array(_)))
}
