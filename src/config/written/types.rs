//! What should a value have been that is of the wrong type?

use std::ops::Range;
use toml::de::{DeTable, DeValue};

/// What the value there should be, and an example. `None` when the text is no TOML, or the place is that
/// of no key.
pub(super) fn expected(text: &str, place: &Range<usize>) -> Option<(String, &'static str)> {
    let table = DeTable::parse(text).ok()?;
    let keys = keys_to(table.get_ref(), place)?;
    let shape = match keys.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["targets"] => ("a list of names", r#"targets = ["sm_80", "sm_90"]"#),
        ["bank-size"] => ("a number", "bank-size = 4"),
        ["min-share"] => ("a number", "min-share = 5"),
        ["min-ways"] => ("a number", "min-ways = 4"),
        ["include"] => ("a list of folders", r#"include = ["include"]"#),
        ["exclude"] => ("a list of patterns", r#"exclude = ["third_party/"]"#),
        ["compile-commands"] => ("a folder or `false`", r#"compile-commands = "build""#),
        ["defines"] => ("a table of macros", r#"[defines]` and below it `N = 32"#),
        ["defines", _] => ("a number, `true`, `false` or a text", "N = 32"),
        ["blocks"] => ("a table of kernels", "[blocks]` and below it `k = [32, 8]"),
        ["blocks", _] => ("a list of one to three numbers", "k = [32, 8]"),
        ["levels"] | ["paths", "levels"] => {
            ("a table of rules", r#"[levels]` and below it `bank-conflict = "deny""#)
        }
        ["levels", _] | ["paths", "levels", _] => ("a word", r#"all = "deny""#),
        ["paths", "files"] => ("a list of patterns", r#"files = ["tests/"]"#),
        ["paths"] if is_list(table.get_ref(), "paths") => {
            let message = "an entry of `paths` has `files` and `levels`";
            return Some((message.to_owned(), r#"levels = { bank-conflict = "note" }"#));
        }
        ["paths"] => ("a list of tables", "[[paths]]"),
        _ => return None,
    };
    Some((format!("`{}` is {}", keys.join("."), shape.0), shape.1))
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
