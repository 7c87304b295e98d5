//! What do generator expressions leave of a text when CUDA is compiled?

use super::super::doubt::{marked, unknown};

/// How deep they are followed.
const MOST_NESTED: usize = 12;

/// The text for CUDA in the project's own build; what other conditions decide gets marks.
pub(super) fn see_through(text: &str) -> String {
    nested(text, 0)
}

fn nested(text: &str, depth: usize) -> String {
    let mut found = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("$<") {
        found.push_str(&rest[..at]);
        rest = &rest[at..];
        let end = closing(rest).filter(|_| depth < MOST_NESTED);
        let Some(end) = end else {
            found.push_str(&marked(&rest.replace("$<", "")));
            return found;
        };
        let inner = &rest[2..end];
        rest = &rest[end + 1..];
        let Some((condition, text)) = split(inner) else {
            found.push_str(&unknown());
            continue;
        };
        match condition {
            "BUILD_INTERFACE" => found.push_str(&nested(text, depth + 1)),
            "INSTALL_INTERFACE" => {}
            _ => match languages(condition) {
                Some(languages) if languages.split(',').any(|it| it.trim() == "CUDA") => {
                    found.push_str(&nested(text, depth + 1));
                }
                Some(_) => {}
                None => found.push_str(&marked(&nested(text, depth + 1))),
            },
        }
    }
    found.push_str(rest);
    found
}

/// The languages of `$<COMPILE_LANGUAGE:CXX,CUDA>`.
fn languages(condition: &str) -> Option<&str> {
    condition.strip_prefix("$<COMPILE_LANGUAGE:")?.strip_suffix('>').filter(|it| !it.contains("$<"))
}

/// Where the expression ends that the text begins with.
fn closing(text: &str) -> Option<usize> {
    let mut depth = 0usize;
    let mut before = ' ';
    for (at, char) in text.char_indices() {
        match char {
            '<' if before == '$' => depth += 1,
            '>' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        before = char;
    }
    None
}

/// The condition and the text of `condition:text`.
fn split(inner: &str) -> Option<(&str, &str)> {
    let mut depth = 0usize;
    let mut before = ' ';
    for (at, char) in inner.char_indices() {
        match char {
            '<' if before == '$' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            ':' if depth == 0 => return Some((&inner[..at], &inner[at + 1..])),
            _ => {}
        }
        before = char;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_seen_through() {
        for (text, left) in [
            ("-DA", "-DA"),
            ("$<$<COMPILE_LANGUAGE:CUDA>:-DA;-DB>;-DC", "-DA;-DB;-DC"),
            ("$<$<COMPILE_LANGUAGE:CXX,CUDA>:-DA>", "-DA"),
            ("$<$<COMPILE_LANGUAGE:CXX>:-DA>", ""),
            ("$<BUILD_INTERFACE:$<$<COMPILE_LANGUAGE:CUDA>:-DA>>", "-DA"),
            ("$<INSTALL_INTERFACE:-DA>", ""),
            ("$<$<CONFIG:Debug>:-DA;-DB>", "\0-DA;\0-DB"),
            ("$<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<CONFIG:Debug>>:-DA>", "\0-DA"),
            ("-DA=$<TARGET_FILE>", "-DA=\0"),
            ("$<$<COMPILE_LANGUAGE:CUDA>:-DA", "\0COMPILE_LANGUAGE:CUDA>:-DA"),
        ] {
            assert_eq!(see_through(text), left, "{text}");
        }
        see_through(&"$<".repeat(8000));
        see_through(&format!("{}{}", "$<a:".repeat(4000), ">".repeat(4000)));
    }
}
