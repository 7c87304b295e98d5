//! Changes of files as a unified diff, as git writes and reads it.
//!
//! A diff is data: to be applied, it must hold every byte of the lines. What goes to a terminal or into a
//! log is a copy of it in which what they would obey is escaped ([`shown`]).

use crate::source;
use crate::visible::{escape, orders};
use similar::{ChangeTag, TextDiff};
use std::path::{MAIN_SEPARATOR, Path};

/// The changes of one file from its old bytes to its new.
#[must_use]
pub fn render(path: &Path, old: &[u8], new: &[u8]) -> Vec<u8> {
    // Only `\n` ends a line of a diff.
    let lines = |bytes| <[u8]>::split_inclusive(bytes, |&byte| byte == b'\n').collect::<Vec<&[u8]>>();
    let (old, new) = (lines(old), lines(new));
    let diff = TextDiff::from_slices(&old, &new);
    let mut out = Vec::new();
    for hunk in diff.unified_diff().iter_hunks() {
        if out.is_empty() {
            let (from, to) = if path.is_absolute() { ("", "") } else { ("a/", "b/") };
            out.extend(format!("--- {}\n+++ {}\n", header(from, path), header(to, path)).into_bytes());
        }
        out.extend(format!("{}\n", hunk.header()).into_bytes());
        for change in hunk.iter_changes() {
            out.push(match change.tag() {
                ChangeTag::Equal => b' ',
                ChangeTag::Delete => b'-',
                ChangeTag::Insert => b'+',
            });
            out.extend_from_slice(change.value());
            if !change.value().ends_with(b"\n") {
                out.extend_from_slice(b"\n\\ No newline at end of file\n");
            }
        }
    }
    out
}

/// A name in a header: in quotes where it has characters that would make another header of it.
fn header(side: &str, path: &Path) -> String {
    let shown = source::display_path(path);
    let is_odd = |char: char| matches!(char, '"' | '\\') || escape(char).is_some();
    let bytes = if MAIN_SEPARATOR == '/' { path.as_os_str().as_encoded_bytes() } else { shown.as_bytes() };
    let mut out = format!("{side}{shown}");
    let orders = orders(&text_of(bytes));
    if shown.contains(is_odd) || !orders.is_empty() || shown.as_bytes() != bytes {
        out = format!("\"{side}");
        let mut at = 0;
        for chunk in bytes.utf8_chunks() {
            for char in chunk.valid().chars() {
                match char {
                    '\n' => out.push_str("\\n"),
                    '\t' => out.push_str("\\t"),
                    '\r' => out.push_str("\\r"),
                    '"' => out.push_str("\\\""),
                    '\\' => out.push_str("\\\\"),
                    _ if is_odd(char) || orders.contains(&at) => {
                        push_octal(&mut out, char.encode_utf8(&mut [0; 4]).as_bytes());
                    }
                    _ => out.push(char),
                }
                at += char.len_utf8();
            }
            push_octal(&mut out, chunk.invalid());
            at += chunk.invalid().len();
        }
        out.push('"');
    }
    // Where a name with spaces ends.
    if shown.contains(' ') {
        out.push('\t');
    }
    out
}

/// What can be read of some bytes, every byte at its place.
fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        text.extend(std::iter::repeat_n('?', chunk.invalid().len()));
    }
    text
}

fn push_octal(out: &mut String, bytes: &[u8]) {
    out.extend(bytes.iter().map(|byte| format!("\\{byte:03o}")));
}

/// A diff for a terminal or a log, and how many of its lines are not shown as they are: with these it can no
/// longer be applied.
#[must_use]
pub fn shown(diff: &[u8]) -> (Vec<u8>, usize) {
    let (mut out, mut escaped) = (Vec::with_capacity(diff.len()), 0);
    for line in diff.split_inclusive(|&byte| byte == b'\n') {
        let start = out.len();
        push_line(&mut out, line);
        escaped += usize::from(out.get(start..) != Some(line));
    }
    (out, escaped)
}

fn push_line(out: &mut Vec<u8>, line: &[u8]) {
    let orders = orders(&text_of(line));
    let mut at = 0;
    for chunk in line.utf8_chunks() {
        for char in chunk.valid().chars() {
            let rest = line.get(at + char.len_utf8()..).unwrap_or_default();
            let is_end = char == '\n' || char == '\r' && rest == b"\n";
            // A byte-order mark, behind the sign of the line.
            let is_mark = char == '\u{feff}' && at == 1;
            let escape = match char {
                _ if orders.contains(&at) => Some(char.escape_unicode().to_string()),
                '\t' => None,
                _ => escape(char).filter(|_| !is_end && !is_mark),
            };
            match escape {
                Some(escape) => out.extend(escape.into_bytes()),
                None => out.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes()),
            }
            at += char.len_utf8();
        }
        for &byte in chunk.invalid() {
            match byte {
                // Control characters of Latin-1.
                0x80..=0x9f => out.extend(format!("\\x{byte:02x}").into_bytes()),
                _ => out.push(byte),
            }
            at += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &str) -> String {
        let diff = String::from_utf8(render(Path::new(name), b"a\n", b"b\n")).unwrap();
        diff.split("@@").next().unwrap().to_owned()
    }

    #[test]
    fn no_name_makes_a_header_of_its_own() {
        assert_eq!(headers("d/a.cu"), "--- a/d/a.cu\n+++ b/d/a.cu\n");
        assert_eq!(headers("d/größe.cu"), "--- a/d/größe.cu\n+++ b/d/größe.cu\n");
        assert_eq!(headers("a b.cu"), "--- a/a b.cu\t\n+++ b/a b.cu\t\n");
        assert_eq!(
            headers("x\n+++ b/other.cu"),
            "--- \"a/x\\n+++ b/other.cu\"\t\n+++ \"b/x\\n+++ b/other.cu\"\t\n"
        );
        assert_eq!(
            headers("x\ty\"\x1b\u{202e}"),
            "--- \"a/x\\ty\\\"\\033\\342\\200\\256\"\n+++ \"b/x\\ty\\\"\\033\\342\\200\\256\"\n"
        );
        #[cfg(unix)]
        {
            use std::os::unix::ffi::OsStrExt;
            let name = Path::new(std::ffi::OsStr::from_bytes(b"\xe9.cu"));
            assert!(render(name, b"a\n", b"b\n").starts_with(b"--- \"a/\\351.cu\"\n+++ \"b/\\351.cu\"\n@@"));
        }
        assert_eq!(headers("##[error]"), "--- \"a/##\\133error]\"\n+++ \"b/##\\133error]\"\n");
    }

    #[test]
    fn lines_end_where_git_says() {
        let diff = render(Path::new("a"), b"1\r2\r\n3", b"1\r2\r\n4\r");
        let expected = b"--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n 1\r2\r\n-3\n\\ No newline at end of file\n\
                         +4\r\n\\ No newline at end of file\n";
        assert_eq!(String::from_utf8_lossy(&diff), String::from_utf8_lossy(expected));
        assert!(render(Path::new("a"), b"1\n", b"1\n").is_empty());
    }

    #[test]
    fn what_is_shown_is_the_diff_but_for_what_acts() {
        let plain =
            "--- a/a\n+++ b/a\n@@ -1 +1 @@\n \u{feff}\tint é;\r\n-::thrust::copy(a);\n ::std::min(a, b)\n";
        assert_eq!(shown(plain.as_bytes()), (plain.as_bytes().to_vec(), 0));
        assert_eq!(shown(b" caf\xe9\n"), (b" caf\xe9\n".to_vec(), 0));
        let text = b" ::error::x\n+a\rb\x1b[2J\r\n \xe9\x9b1m\n x ##[error]y\n \xe2\x80\xae\n";
        let (out, escaped) = shown(text);
        let expected = b" \\u{3a}:error::x\n+a\\rb\\u{1b}[2J\r\n \xe9\\x9b1m\n \
                         x ##\\u{5b}error]y\n \\u{202e}\n";
        assert_eq!(String::from_utf8_lossy(&out), String::from_utf8_lossy(expected));
        assert_eq!(escaped, 5);
    }
}
