//! What has to go from a text so that one thing is not asked for any more?
//!
//! | written | without `a` |
//! |---|---|
//! | `x; // cudalint: allow(a): why` | `x;` |
//! | a line of its own with `// cudalint: allow(a)` | no such line |
//! | `// cudalint: allow(a, b): why` | `// cudalint: allow(b): why` |
//! | `// cudalint: allow(a), expect(b)` | `// cudalint: expect(b)` |
//!
//! A removal is read again: where more or less has gone than what was asked for, there is none.

use super::{Ask, Directive, MARK, directives};
use std::ops::Range;

/// The bytes to take away, so that what is asked for at `ask` is not; `None` where nothing is asked for there
/// alone, or that would change more.
#[must_use]
pub(crate) fn removal(text: &str, ask: Range<u32>) -> Option<Range<usize>> {
    let all = directives(text);
    let at = all.iter().position(|it| it.span == ask)?;
    let cut = cut(text, &all, &all[at])?;
    let mut rest = text.to_owned();
    rest.replace_range(cut.clone(), "");
    let asks = |all: &[Directive]| all.iter().map(|it| it.ask.clone()).collect::<Vec<Ask>>();
    let mut expected = asks(&all);
    expected.remove(at);
    (asks(&directives(&rest)) == expected).then_some(cut)
}

fn cut(text: &str, all: &[Directive], gone: &Directive) -> Option<Range<usize>> {
    let (start, end) = (gone.span.start as usize, gone.span.end as usize);
    let line = line_of(text, start);
    let is_of_line = |it: &&Directive| line.contains(&(it.span.start as usize));
    if all.iter().filter(is_of_line).count() == 1 {
        return whole(text, &gone.comment, line);
    }
    // One of several names in parentheses.
    let (before, behind) = (text.get(line.start..start)?, text.get(end..line.end)?);
    if let Some(next) = behind.trim_start().strip_prefix(',') {
        return Some(start..line.end - next.trim_start().len());
    }
    if let Some(earlier) = before.trim_end().strip_suffix(',')
        && !matches!(gone.ask, Ask::Block(_))
    {
        return Some(line.start + earlier.trim_end().len()..end);
    }
    // The only one, with its word, among other things asked for.
    let (word, close) = match gone.ask {
        Ask::Block(_) => (start, end),
        _ => {
            (line.start + before.trim_end().strip_suffix('(')?.trim_end().len(), end + behind.find(')')? + 1)
        }
    };
    let head = text.get(line.start..word)?;
    let head = head.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '-');
    let separates = |c: char| c.is_whitespace() || c == ',';
    if head.trim_end().ends_with(MARK) {
        let rest = text.get(close..line.end)?;
        return Some(line.start + head.len()..line.end - rest.trim_start_matches(separates).len());
    }
    Some(line.start + head.trim_end_matches(separates).len()..close)
}

/// The comment with the space that it leaves; of a comment of several lines its line, if it has one for itself.
fn whole(text: &str, comment: &Range<u32>, line: Range<usize>) -> Option<Range<usize>> {
    let comment = comment.start as usize..comment.end as usize;
    // A backslash joins lines.
    let above = text.get(..line.start)?.trim_end_matches(['\n', '\r']);
    if above.ends_with('\\') || text.get(line.clone())?.ends_with('\\') {
        return None;
    }
    let next =
        text.get(line.end..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| line.end + at + 1);
    if text.get(comment.clone())?.contains('\n') {
        return (comment.start < line.start && line.end < comment.end).then_some(line.start..next);
    }
    // A comment up to the end of its line may hold a carriage return.
    let end = comment.end.min(line.end);
    let (before, behind) = (text.get(line.start..comment.start)?, text.get(end..line.end)?);
    Some(match (before.trim().is_empty(), behind.trim().is_empty()) {
        (true, true) => line.start..next,
        (true, false) => comment.start..line.end - behind.trim_start().len(),
        (false, _) => line.start + before.trim_end().len()..end,
    })
}

/// The line that a byte is in, without what ends it.
fn line_of(text: &str, at: usize) -> Range<usize> {
    let start = text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |end| end + 1);
    let line = text.get(start..).and_then(|rest| rest.lines().next()).unwrap_or("");
    start..start + line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text without each of the things that it asks for.
    fn without(text: &str) -> Vec<Option<String>> {
        let all = directives(text);
        let removed = |it: &Directive| {
            let cut = removal(text, it.span.clone())?;
            Some(format!("{}{}", &text[..cut.start], &text[cut.end..]))
        };
        all.iter().map(removed).collect()
    }

    fn some(texts: &[&str]) -> Vec<Option<String>> {
        texts.iter().map(|text| Some((*text).to_owned())).collect()
    }

    #[test]
    fn a_comment_that_asks_for_one_thing_goes_with_its_reason_and_line() {
        assert_eq!(without("x; // cudalint: allow(a): why\ny;\n"), some(&["x;\ny;\n"]));
        assert_eq!(without("x;\r\n  // cudalint: allow(a)\r\ny;"), some(&["x;\r\ny;"]));
        assert_eq!(without("  /* cudalint: allow(a) */ y;\n"), some(&["  y;\n"]));
        assert_eq!(without("f(/* cudalint: allow(a) */ y);\n"), some(&["f( y);\n"]));
        assert_eq!(without("x;\n// cudalint: block(1)"), some(&["x;\n"]));
        assert_eq!(
            without("/*\n * about x\n * cudalint: allow(a)\n */\nx;"),
            some(&["/*\n * about x\n */\nx;"])
        );
    }

    #[test]
    fn one_of_several_goes_alone() {
        let text = "// cudalint: allow(a, b), expect(c): why\n";
        let expected = [
            "// cudalint: allow(b), expect(c): why\n",
            "// cudalint: allow(a), expect(c): why\n",
            "// cudalint: allow(a, b): why\n",
        ];
        assert_eq!(without(text), some(&expected));
        let text = "/* cudalint: block(32, 8) allow(a) */";
        assert_eq!(without(text), some(&["/* cudalint: allow(a) */", "/* cudalint: block(32, 8) */"]));
    }

    #[test]
    fn where_more_would_change_nothing_goes() {
        // The lines of a macro, and the first line of a comment of several.
        assert_eq!(without("#define X \\\n  y; /* cudalint: allow(a) */ \\\n  z\n"), [None]);
        assert_eq!(without("/* cudalint: allow(a)\n   more */\nx;"), [None]);
        assert_eq!(removal("// cudalint: allow(a)\nx;", 0..1), None);
    }
}
