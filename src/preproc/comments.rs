//! What do the comments of a text ask of this tool?
//!
//! | written | asks |
//! |---|---|
//! | `// cudalint: allow(bank-conflict): reason` | silence about this line, or the statement below |
//! | `// cudalint: allow-file(bank-conflict)` | silence about the file |
//! | `// cudalint: expect(bank-conflict)` | as `allow`, and there must be a finding |
//! | `// cudalint: block(32, 8)` | the block of the kernel below |
//!
//! Several rules stand in one pair of parentheses, several asks in one comment. What a rule's
//! name means is not known here.

mod removal;

pub(crate) use removal::removal;

use super::lexer::Lexer;
use crate::shape;
use memchr::memmem;
use std::ops::Range;

/// What opens a comment that is meant for this tool.
const MARK: &str = "cudalint:";
/// The same as far as it must be right for a comment to be taken for one of those, in any case.
const NAME: &str = "cudalint";
/// The words that may follow.
const WORDS: [&str; 4] = ["allow", "allow-file", "block", "expect"];
/// How many tokens a statement may have that a comment stands above.
const LONGEST_STATEMENT: usize = 4096;

/// One thing asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Directive {
    /// What.
    pub ask: Ask,
    /// The word or the rule's name, in bytes of the text.
    pub span: Range<u32>,
    /// The comment that it stands in.
    pub comment: Range<u32>,
    /// What it is about: the line beside the comment, or the statement below it.
    pub covers: Range<u32>,
    /// Where the token after the comment starts; the text's end when there is none.
    pub next: u32,
}

/// What a comment asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// No finding of this rule where the comment stands.
    Allow(String),
    /// No finding of this rule in the file.
    AllowFile(String),
    /// There is a finding of this rule, and it is not to be told.
    Expect(String),
    /// The block of the kernel below.
    Block([u32; 3]),
    /// Not understood: what is wrong, and what to write instead.
    Malformed(String, String),
}

/// Everything that the comments of a text ask for, in order.
#[must_use]
pub fn directives(text: &str) -> Vec<Directive> {
    // The name without its first letter, which may be a capital.
    let spellings = [NAME.get(1..).unwrap_or(NAME), "UDALINT"];
    if !spellings.iter().any(|name| memmem::find(text.as_bytes(), name.as_bytes()).is_some()) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut lexer = Lexer::new(text);
    let mut before = 0;
    loop {
        let after = lexer.clone();
        let next = lexer.next();
        let end = next.map_or(text.len(), |token| token.start as usize);
        // The same for all comments up to the next token.
        let mut statement_end = None;
        for comment in comments(text, before..end) {
            let mut asks = Vec::new();
            for (at, line) in lines(text, comment.clone()) {
                asks.extend(parse(at, line));
            }
            if asks.is_empty() {
                continue;
            }
            let covers = covers(text, before, &comment, || {
                *statement_end.get_or_insert_with(|| end_of_statement(text, after.clone()))
            });
            found.extend(asks.into_iter().map(|(ask, span)| Directive {
                ask,
                span: span.start as u32..span.end as u32,
                comment: comment.start as u32..comment.end as u32,
                covers: covers.start as u32..covers.end as u32,
                next: end as u32,
            }));
        }
        match next {
            Some(token) => before = token.end as usize,
            None => return found,
        }
    }
}

/// The comments of a range without tokens.
fn comments(text: &str, range: Range<usize>) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = range.start;
    while let Some(slash) = text.get(at..range.end).and_then(|rest| rest.find('/')).map(|slash| at + slash) {
        let rest = text.get(slash..range.end).unwrap_or("");
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.get(2..).and_then(|inside| inside.find("*/")).map_or(rest.len(), |end| end + 4)
        } else {
            1
        };
        if length > 1 {
            found.push(slash..slash + length);
        }
        at = slash + length;
    }
    found
}

/// The lines of a comment with their places, without what decorates them.
fn lines(text: &str, comment: Range<usize>) -> impl Iterator<Item = (usize, &str)> {
    let whole = text.get(comment.clone()).unwrap_or("");
    let whole = whole.strip_suffix("*/").unwrap_or(whole);
    let mut at = comment.start;
    whole.split_inclusive('\n').map(move |line| {
        let start = at;
        at += line.len();
        let inside =
            line.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, '/' | '*' | '!' | '<'));
        (start + (line.len() - inside.len()), inside.trim_end())
    })
}

/// What a line of a comment asks for, with the places of the words.
fn parse(at: usize, line: &str) -> Vec<(Ask, Range<usize>)> {
    let Some(mut rest) = line.strip_prefix(MARK) else {
        return misspelt_mark(at, line).into_iter().collect();
    };
    let mut found = Vec::new();
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == ',');
        let start = at + (line.len() - rest.len());
        let length =
            rest.find(|c: char| !(c.is_alphanumeric() || matches!(c, '-' | '_'))).unwrap_or(rest.len());
        let (word, after) = rest.split_at(length);
        let here = start..start + length;
        if !WORDS.contains(&word) {
            // Behind something that was understood, anything may stand.
            if found.is_empty() {
                found.push((unknown_word(word), here));
            }
            return found;
        }
        let inside = after.trim_start().strip_prefix('(').and_then(|inside| inside.split_once(')'));
        let Some((inside, behind)) = inside else {
            let help =
                if word == "block" { "block(32, 8)".to_owned() } else { format!("{word}(bank-conflict)") };
            let what = format!("`{word}` needs parentheses after it");
            found.push((Ask::Malformed(what, format!("write `{help}`")), here));
            return found;
        };
        let inside_at = at + (line.len() - behind.len() - 1 - inside.len());
        if word == "block" {
            found.push(match shape::block(inside) {
                Ok(shape) => (Ask::Block(shape), start..inside_at + inside.len() + 1),
                Err(error) => {
                    let help = "one to three numbers of threads, as in `block(32, 8)`".to_owned();
                    (Ask::Malformed(error, help), inside_at..inside_at + inside.len())
                }
            });
        } else {
            let mut at = inside_at;
            for part in inside.split(',') {
                let name = part.trim();
                let start = at + (part.len() - part.trim_start().len());
                at += part.len() + 1;
                let ask = match word {
                    _ if name.is_empty() => Ask::Malformed(
                        format!("`{word}` names no rule"),
                        format!("write `{word}(bank-conflict)`, or another rule of `cudalint rules`"),
                    ),
                    "allow" => Ask::Allow(name.to_owned()),
                    "allow-file" => Ask::AllowFile(name.to_owned()),
                    _ => Ask::Expect(name.to_owned()),
                };
                found.push((ask, start..start + name.len()));
            }
        }
        rest = behind;
    }
}

/// What a line most likely asks for that opens nearly as it should: `cudalint allow(rule)`.
fn misspelt_mark(at: usize, line: &str) -> Option<(Ask, Range<usize>)> {
    let (name, behind) = line.split_at_checked(NAME.len())?;
    let rest = behind.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | '-' | '=' | ','));
    // Prose may begin with the name, too.
    let length = rest.find(|c: char| !(c.is_alphanumeric() || c == '-'))?;
    let (word, arguments) = rest.split_at(length);
    let is_ask = WORDS.contains(&word) && arguments.trim_start().starts_with('(');
    if !name.eq_ignore_ascii_case(NAME) || behind == rest || !is_ask {
        return None;
    }
    let arguments = arguments.find(')').and_then(|end| arguments.get(..=end)).unwrap_or(arguments);
    let written = line.len() - rest.len();
    let opening = line.get(..written + word.len())?;
    let what = format!("`{opening}` is not understood: a cudalint comment starts with `{MARK}`");
    let help = format!("write `{MARK} {word}{arguments}`");
    Some((Ask::Malformed(what, help), at..at + written + word.len()))
}

fn unknown_word(word: &str) -> Ask {
    let near = WORDS.iter().map(|known| (strsim::damerau_levenshtein(known, &word.to_lowercase()), known));
    let nearest = near.min().filter(|(distance, _)| *distance <= 2);
    let what = if word.is_empty() {
        format!("nothing follows `{MARK}`")
    } else {
        format!("a comment cannot ask for `{word}`")
    };
    let help = match nearest {
        Some((_, known)) => format!("did you mean `{known}`?"),
        None => "a comment asks for `allow(RULE)`, `allow-file(RULE)`, `expect(RULE)` or `block(X, Y, Z)`"
            .to_owned(),
    };
    Ask::Malformed(what, help)
}

/// What a comment is about: its line when a token stands before it there, else the statement
/// that follows, with the whole lines it is on. `before` is the end of the token before,
/// `end_of_statement` the end of that statement, if there is one.
fn covers(
    text: &str,
    before: usize,
    comment: &Range<usize>,
    end_of_statement: impl FnOnce() -> Option<usize>,
) -> Range<usize> {
    let line_start = |at: usize| text.get(..at).and_then(|head| head.rfind('\n')).map_or(0, |at| at + 1);
    let line_end =
        |at: usize| text.get(at..).and_then(|tail| tail.find('\n')).map_or(text.len(), |length| at + length);
    if before > line_start(comment.start) {
        return line_start(comment.start)..line_end(comment.start);
    }
    comment.start..line_end(end_of_statement().unwrap_or(comment.end))
}

/// The end of the statement that the lexer comes to next.
fn end_of_statement(text: &str, mut lexer: Lexer<'_>) -> Option<usize> {
    let mut depth = 0_usize;
    let mut end = None;
    for _ in 0..LONGEST_STATEMENT {
        let Some(token) = lexer.next() else { break };
        end = Some(token.end as usize);
        match text.as_bytes().get(token.start as usize) {
            Some(b'(' | b'[') => depth += 1,
            Some(b')' | b']') => depth = depth.saturating_sub(1),
            Some(b';' | b'{' | b'}') if depth == 0 => break,
            _ => {}
        }
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is asked for, the words under it, and the lines (from 1) it is about.
    fn asked(text: &str) -> Vec<(Ask, &str, Range<usize>)> {
        let line = |at: u32| text[..at as usize].matches('\n').count() + 1;
        let found = directives(text).into_iter();
        let found = found.map(|it| {
            let words = &text[it.span.start as usize..it.span.end as usize];
            (it.ask, words, line(it.covers.start)..line(it.covers.end) + 1)
        });
        found.collect()
    }

    fn allow(rule: &str) -> Ask {
        Ask::Allow(rule.to_owned())
    }

    #[test]
    fn a_comment_is_about_its_line_or_the_statement_below() {
        assert_eq!(asked("int x;\ny = s[i]; // cudalint: allow(a): why\nz;\n"), [(allow("a"), "a", 2..3)]);
        assert_eq!(asked("// cudalint: allow(a)\ny = f(1;2) +\n    s[i];\nz;"), [(allow("a"), "a", 1..4)]);
        assert_eq!(asked("{\n  /* cudalint: allow(a) */ y = s[i];\n  z;\n}"), [(allow("a"), "a", 2..3)]);
        let pragma = "// cudalint: allow(a)\n// more\n#pragma unroll\nfor (i = 0; i < 4; i++) {\n x;\n}";
        assert_eq!(asked(pragma), [(allow("a"), "a", 1..5)]);
        assert_eq!(asked("x;\n// cudalint: allow(a)"), [(allow("a"), "a", 2..3)]);
    }

    #[test]
    fn one_comment_may_ask_for_several_things() {
        let found = asked("// cudalint: allow(a, b-c), expect( d ) because allow(e)\nx;");
        let expected = [(allow("a"), "a"), (allow("b-c"), "b-c"), (Ask::Expect("d".into()), "d")];
        let found: Vec<_> = found.into_iter().map(|(ask, words, _)| (ask, words)).collect();
        assert_eq!(found, expected);
        let found = asked("/*\n * cudalint: allow-file(a)\n * cudalint: block(32, 8): both\n */\nx;");
        let found: Vec<_> = found.into_iter().map(|(ask, words, _)| (ask, words)).collect();
        assert_eq!(found, [(Ask::AllowFile("a".into()), "a"), (Ask::Block([32, 8, 1]), "block(32, 8)")]);
    }

    #[test]
    fn what_is_not_understood_is_told_with_what_to_write() {
        for (text, what, help, words) in [
            ("// cudalint: alow(a)", "cannot ask for `alow`", "did you mean `allow`?", "alow"),
            ("// cudalint: silence", "cannot ask for `silence`", "`expect(RULE)`", "silence"),
            ("// cudalint: allow", "`allow` needs parentheses", "write `allow(bank-conflict)`", "allow"),
            ("// cudalint: allow()", "`allow` names no rule", "`cudalint rules`", ""),
            ("// cudalint: block(BX, 8)", "`BX` is not a number", "block(32, 8)", "BX, 8"),
            ("// cudalint: block(64, 32)", "at most 1024 threads", "block(32, 8)", "64, 32"),
            ("// cudalint:", "nothing follows", "`allow(RULE)`", ""),
            (
                "// cudalint allow(a): b",
                "`cudalint allow` is not understood",
                "write `cudalint: allow(a)`",
                "cudalint allow",
            ),
            ("/* Cudalint: block(32, 8) */", "starts with", "`cudalint: block(32, 8)`", "Cudalint: block"),
            ("// CUDALINT : expect (a", "starts with", "`cudalint: expect (a`", "CUDALINT : expect"),
            ("// cudalint-allow-file(a)", "starts with", "`cudalint: allow-file(a)`", "cudalint-allow-file"),
        ] {
            let found = asked(text);
            let [(Ask::Malformed(says, to_write), under, _)] = found.as_slice() else {
                panic!("{text}: {found:?}");
            };
            assert!(says.contains(what) && to_write.contains(help), "{text}: {says}; {to_write}");
            assert_eq!(*under, words, "{text}");
        }
    }

    #[test]
    fn only_a_comment_that_opens_with_the_mark_counts() {
        for text in [
            "s = \"// cudalint: allow(a)\";",
            "// see `cudalint: allow(a)`",
            "s = R\"(\n// cudalint: allow(a)\n)\";",
            "cudalint: allow(a);",
            "// cudalint finds this (and more)",
            "// cudalint allows (as it should) this",
            "// cudalint",
            "// cudalintallow(a)",
        ] {
            assert_eq!(asked(text), [], "{text}");
        }
        assert_eq!(asked("x; /// cudalint: allow(a)").len(), 1);
        assert_eq!(asked("x; /* cudalint: allow(a)").len(), 1);
    }
}
