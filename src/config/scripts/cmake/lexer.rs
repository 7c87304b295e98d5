//! Of which commands does a text for CMake consist?

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Command {
    /// Its name in lower case.
    pub name: String,
    pub arguments: Vec<Argument>,
    /// The line of its name, from 1.
    pub line: usize,
}

/// An argument; a bracket in it is one of its own.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Argument {
    /// As it is written, without the quotes around it.
    pub text: String,
    pub kind: Kind,
    pub line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Plain,
    /// In quotes: it is one value even with `;` in it.
    Quoted,
    /// In long brackets: nothing in it is expanded.
    Literal,
}

struct Lexer<'t> {
    rest: &'t str,
    line: usize,
}

/// The commands of a text; nothing if it is not what CMake reads.
pub(super) fn commands(text: &str) -> Option<Vec<Command>> {
    let mut lexer = Lexer { rest: text, line: 1 };
    let mut found = Vec::new();
    loop {
        lexer.skip_gaps()?;
        if lexer.rest.is_empty() {
            return Some(found);
        }
        let length = lexer.rest.find(|char: char| !(char.is_ascii_alphanumeric() || char == '_'))?;
        let line = lexer.line;
        let name = lexer.take(length).to_ascii_lowercase();
        lexer.skip_gaps()?;
        if name.is_empty() || !lexer.rest.starts_with('(') {
            return None;
        }
        lexer.take(1);
        found.push(Command { name, arguments: lexer.arguments()?, line });
    }
}

impl<'t> Lexer<'t> {
    fn take(&mut self, length: usize) -> &'t str {
        let (taken, rest) = self.rest.split_at(length);
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// White space and comments.
    fn skip_gaps(&mut self) -> Option<()> {
        loop {
            let gap = self.rest.len() - self.rest.trim_start().len();
            self.take(gap);
            let Some(comment) = self.rest.strip_prefix('#') else { return Some(()) };
            self.take(1);
            if comment.starts_with('[') && self.long_bracket()?.is_some() {
                continue;
            }
            let end = self.rest.find('\n').unwrap_or(self.rest.len());
            self.take(end);
        }
    }

    /// What stands in `[[ ]]` or `[=[ ]=]`, if that is what follows.
    fn long_bracket(&mut self) -> Option<Option<&'t str>> {
        let Some(after) = self.rest.strip_prefix('[') else { return Some(None) };
        let equals = after.len() - after.trim_start_matches('=').len();
        if !after[equals..].starts_with('[') {
            return Some(None);
        }
        let close = format!("]{}]", "=".repeat(equals));
        self.take(equals + 2);
        let end = self.rest.find(&close)?;
        let text = self.take(end);
        self.take(close.len());
        Some(Some(text))
    }

    fn arguments(&mut self) -> Option<Vec<Argument>> {
        let mut found = Vec::new();
        let mut depth = 0usize;
        loop {
            self.skip_gaps()?;
            let line = self.line;
            let (text, kind) = match self.rest.chars().next()? {
                '(' => {
                    depth += 1;
                    (self.take(1).to_owned(), Kind::Plain)
                }
                ')' if depth == 0 => {
                    self.take(1);
                    return Some(found);
                }
                ')' => {
                    depth -= 1;
                    (self.take(1).to_owned(), Kind::Plain)
                }
                '"' => {
                    self.take(1);
                    let end = end_of_quoted(self.rest)?;
                    let text = self.take(end).to_owned();
                    self.take(1);
                    (text, Kind::Quoted)
                }
                _ => match self.long_bracket()? {
                    Some(text) => (text.to_owned(), Kind::Literal),
                    None => {
                        let end = end_of_plain(self.rest)?;
                        (self.take(end).to_owned(), Kind::Plain)
                    }
                },
            };
            found.push(Argument { text, kind, line });
        }
    }
}

/// Where the text ends whose opening quote was read.
fn end_of_quoted(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (at, char) in text.char_indices() {
        match char {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(at),
            _ => {}
        }
    }
    None
}

/// Where an argument without quotes ends; there may be quotes within it, as in `-DX="a b"`.
fn end_of_plain(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(char) = text[at..].chars().next() {
        match char {
            '"' => at += 2 + end_of_quoted(&text[at + 1..])?,
            '\\' => {
                let next = text[at + 1..].chars().next()?;
                at += 1 + next.len_utf8();
            }
            '(' | ')' | '#' => break,
            _ if char.is_whitespace() => break,
            _ => at += char.len_utf8(),
        }
    }
    // A sign that begins nothing.
    (at > 0).then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Option<Vec<String>> {
        let show = |command: Command| {
            let arguments =
                command.arguments.iter().map(|it| format!("{}:{:?}:{}", it.text, it.kind, it.line));
            format!("{}@{} {}", command.name, command.line, arguments.collect::<Vec<_>>().join(" "))
        };
        Some(commands(text)?.into_iter().map(show).collect())
    }

    #[test]
    fn commands_are_told_apart() {
        let text = "# a\n#[[ b\n]] SET (X \"a b\" #c\n [=[ $d]]]=] -DX=\"a b\") \nif((A) AND b)\nelse()";
        assert_eq!(
            shown(text).unwrap(),
            [
                "set@3 X:Plain:3 a b:Quoted:3  $d]]:Literal:4 -DX=\"a b\":Plain:4",
                "if@5 (:Plain:5 A:Plain:5 ):Plain:5 AND:Plain:5 b:Plain:5",
                "else@6 ",
            ]
        );
    }

    #[test]
    fn what_cmake_does_not_read_is_refused() {
        for text in ["set", "set(", "set(\"", "set([[", "1(", "x y()", "set(a", "é()", "#[[", "set(\\", "()"]
        {
            assert_eq!(commands(text), None, "{text}");
        }
        assert_eq!(shown("").unwrap(), [""; 0]);
        assert_eq!(commands(&"a(".repeat(100_000)), None);
    }
}
