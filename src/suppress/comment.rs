//! Where may a comment stand that allows a finding, and how is it written?
//!
//! On a line of its own above the finding's line, if the line begins with a token that begins a line for the
//! compiler, too. It does not in a macro that goes on behind a `\`, in a raw string or behind a comment of several
//! lines: there a new line would be part of something else.

use crate::preproc::{Lexer, Token};
use crate::source::SourceFile;

/// What can be wrong with a reason.
const NO_REASON: &str = "a reason is one line that does not end in `\\`";

/// Checks the words that are to stand behind the rule.
///
/// # Errors
/// When a comment cannot hold them, in words.
pub(crate) fn check_reason(reason: &str) -> Result<(), &'static str> {
    // A `\` at the end would take the next line into the comment.
    let fits = !reason.contains(char::is_control) && !reason.trim_end().ends_with('\\');
    if fits { Ok(()) } else { Err(NO_REASON) }
}

/// The byte where a line of its own can be put in above the one that holds byte `at`.
///
/// # Errors
/// When no comment can stand there, in words.
pub(crate) fn place_above(file: &SourceFile, at: usize) -> Result<usize, &'static str> {
    let head = file.text.get(..at).ok_or("it is outside the file")?;
    let line = head.rfind('\n').map_or(0, |newline| newline + 1);
    let text = file.text.get(line..).unwrap_or("");
    let first = line + indent(text).len();
    let tokens = || {
        std::iter::from_fn({
            let mut lexer = Lexer::new(&file.text);
            move || lexer.next()
        })
    };
    let begins = |token: &Token| token.start as usize == first && token.first_in_line;
    match tokens().find(begins) {
        Some(token) if token.is(b'#') => Err("the line is a directive of the preprocessor"),
        Some(_) => Ok(line),
        None => Err("the line continues the one above"),
    }
}

/// A line of its own, as the line below it is indented, that allows these rules; without a reason if it is empty.
#[must_use]
pub(crate) fn line(file: &SourceFile, place: usize, rules: &[&str], reason: &str) -> String {
    let because = if reason.trim().is_empty() { String::new() } else { format!(": {}", reason.trim()) };
    above(file, place, &format!("allow({}){because}", rules.join(", ")))
}

/// Likewise, that gives a kernel's block: threads in x, y and z.
#[must_use]
pub(crate) fn block(file: &SourceFile, place: usize, block: [u32; 3]) -> String {
    above(file, place, &block_words(block))
}

/// `block(32, 8)`: the last numbers may be left out where they are 1.
#[must_use]
pub(crate) fn block_words(block: [u32; 3]) -> String {
    let told = block.iter().rposition(|threads| *threads != 1).unwrap_or(0);
    let numbers: Vec<String> = block[..=told].iter().map(u32::to_string).collect();
    format!("block({})", numbers.join(", "))
}

fn above(file: &SourceFile, place: usize, asks: &str) -> String {
    let below = file.text.get(place..).unwrap_or("");
    let end = if file.text.contains("\r\n") { "\r\n" } else { "\n" };
    format!("{}// cudalint: {asks}{end}", indent(below))
}

/// The white space before a line's text.
fn indent(line: &str) -> &str {
    let length = line.find(|c: char| c != ' ' && c != '\t').unwrap_or(line.len());
    line.get(..length).unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::FileId;

    fn placed(text: &str, at: &str) -> Result<String, &'static str> {
        let file = SourceFile::new(FileId(0), "a.cu".into(), text.as_bytes().to_vec());
        let place = place_above(&file, text.find(at).unwrap())?;
        let (before, behind) = text.split_at(place);
        Ok(format!("{before}{}{behind}", line(&file, place, &["a", "b-c"], " why ")))
    }

    #[test]
    fn a_comment_stands_above_the_line_and_like_it() {
        assert_eq!(
            placed("x;\n\t y[i];\n", "[i]").unwrap(),
            "x;\n\t // cudalint: allow(a, b-c): why\n\t y[i];\n"
        );
        assert_eq!(placed("y[i];", "y").unwrap(), "// cudalint: allow(a, b-c): why\ny[i];");
        let windows = "x;\r\n  y[i];\r\n";
        assert_eq!(placed(windows, "y").unwrap(), "x;\r\n  // cudalint: allow(a, b-c): why\r\n  y[i];\r\n");
        let spread = "f(a,\n  s[i],\n  b);\n";
        assert_eq!(
            placed(spread, "s[i]").unwrap(),
            "f(a,\n  // cudalint: allow(a, b-c): why\n  s[i],\n  b);\n"
        );
    }

    #[test]
    fn no_comment_goes_into_what_goes_on() {
        for (text, at) in [
            ("#define M(i) f(); \\\n  s[i]\nM(1);", "s[i]"),
            ("#define M(i) f(); \\ \n  s[i]\nM(1);", "s[i]"),
            ("p(R\"(\n s\n)\", s[i]);", ")\", s"),
            ("char *t = \"a\\\nb\"; s[i] = 0;", "b\"; s"),
            ("/* one\n two */ s[i] = 0;", "s[i]"),
            ("#if N\n#pragma unroll\nx;", "unroll"),
        ] {
            placed(text, at).unwrap_err();
        }
        placed("#define M(i) s[i]\nM(1);", "M(1)").unwrap();
    }

    #[test]
    fn a_reason_stays_in_its_line() {
        for good in ["", "once per block", "see C:\\x, größe"] {
            check_reason(good).unwrap();
        }
        for bad in ["a\nb", "a\\", "a\\ ", "\x1b[1m"] {
            check_reason(bad).unwrap_err();
        }
    }
}
