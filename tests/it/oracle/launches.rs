//! How does a CUDA file become C++ that a host compiler takes?
//!
//! Two things are not C++, and only they are rewritten; every line stays where it is:
//!
//! | written | becomes |
//! |---|---|
//! | `kernel<T><<<grid, block, bytes>>>(a, b)` | `::oracle::launch("kernel<T>", file, line, grid, block, bytes, [&] { kernel<T>(a, b); })` |
//! | `extern __shared__ float s[];` | `extern float s[] asm("oracle_dynamic");` |
//!
//! Everything else is done by the headers in `cuda/`.

/// The text with launches and dynamic arrays rewritten.
pub fn rewrite(text: &str) -> Result<String, String> {
    let tokens = tokens(text);
    let mut edits: Vec<(usize, usize, String)> = Vec::new();
    for at in 0..tokens.len() {
        let word = tokens[at].text(text);
        if word == "extern" {
            dynamic_array(text, &tokens, at, &mut edits);
        } else if word == "<<<" {
            edits.extend(launch(text, &tokens, at).ok_or_else(|| {
                let line = text[..tokens[at].start].lines().count();
                format!("line {line}: a launch that is not understood")
            })?);
        } else if word == "static" || word == "__shared__" {
            // `static __shared__`: the macro brings its own `static`.
            let other = tokens.get(at + 1).map(|next| next.text(text));
            if word == "static" && other == Some("__shared__") {
                edits.push((tokens[at].start, tokens[at].end, String::new()));
            } else if word == "__shared__" && other == Some("static") {
                edits.push((tokens[at + 1].start, tokens[at + 1].end, String::new()));
            }
        }
    }
    edits.sort();
    let (mut out, mut from) = (String::new(), 0);
    for (start, end, with) in edits {
        out.push_str(&text[from..start]);
        out.push_str(&with);
        from = end;
    }
    out.push_str(&text[from..]);
    Ok(out)
}

/// A word, a number, a literal, or a mark of one character; `<<<`, `>>>` and `::` are one.
#[derive(Clone, Copy, Debug)]
struct Token {
    start: usize,
    end: usize,
}

impl Token {
    fn text<'a>(&self, text: &'a str) -> &'a str {
        &text[self.start..self.end]
    }
}

/// The tokens, without comments.
fn tokens(text: &str) -> Vec<Token> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let length = if rest.starts_with("//") {
            at += rest.find('\n').unwrap_or(rest.len());
            continue;
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
            continue;
        } else if rest.starts_with("<<<") || rest.starts_with(">>>") {
            3
        } else if rest.starts_with("::") {
            2
        } else {
            match bytes[at] {
                quote @ (b'"' | b'\'') => quoted(rest.as_bytes(), quote),
                b'R' if rest.starts_with("R\"") => raw(rest),
                byte if is_word(byte) => bytes[at..].iter().take_while(|byte| is_word(**byte)).count(),
                byte if byte.is_ascii_whitespace() => {
                    at += 1;
                    continue;
                }
                _ => rest.chars().next().map_or(1, char::len_utf8),
            }
        };
        found.push(Token { start: at, end: at + length });
        at += length;
    }
    found
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "return" | "else" | "do")
}

fn quoted(bytes: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < bytes.len() && bytes[at] != quote && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

fn raw(rest: &str) -> usize {
    let Some(open) = rest.find('(') else { return 2 };
    let close = format!("){}\"", &rest[2..open]);
    rest.find(&close).map_or(rest.len(), |at| at + close.len())
}

/// Rewrites a declaration that begins with `extern` at `at`, if it is one of dynamic shared memory.
fn dynamic_array(text: &str, tokens: &[Token], at: usize, edits: &mut Vec<(usize, usize, String)>) {
    let statement = tokens[at..].iter().take_while(|token| !matches!(token.text(text), ";" | "{" | "}"));
    let statement: Vec<&Token> = statement.collect();
    let Some(qualifier) = statement.iter().find(|token| token.text(text) == "__shared__") else { return };
    edits.push((qualifier.start, qualifier.end, String::new()));
    // Behind the last `]` of each declarator.
    let closes = |at: usize| statement.get(at).is_some_and(|token| token.text(text) == "]");
    let opens = |at: usize| statement.get(at).is_some_and(|token| token.text(text) == "[");
    for (at, token) in statement.iter().enumerate() {
        if closes(at) && !opens(at + 1) {
            edits.push((token.end, token.end, " asm(\"oracle_dynamic\")".to_owned()));
        }
    }
}

/// The edits for the launch whose `<<<` is at `at`.
fn launch(text: &str, tokens: &[Token], at: usize) -> Option<Vec<(usize, usize, String)>> {
    let word = |at: usize| tokens[at].text(text);
    let mut first = at;
    // Back over template arguments, then over the name and what qualifies it.
    if word(at - 1).ends_with('>') {
        let mut depth = 0;
        loop {
            first = first.checked_sub(1)?;
            match word(first) {
                ">" => depth += 1,
                ">>>" => depth += 3,
                "<" => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                break;
            }
        }
    }
    first = first.checked_sub(1)?;
    while first > 0 && word(first - 1) == "::" {
        first -= 1;
        if first > 0 && is_word(word(first - 1).as_bytes()[0]) && !is_keyword(word(first - 1)) {
            first -= 1;
        }
    }
    let end = (at + 1..tokens.len()).find(|&other| word(other) == ">>>")?;
    // Where each begins and ends.
    let mut parts = vec![(tokens[at].end, tokens[at].end)];
    let mut depth = 0;
    for token in &tokens[at + 1..end] {
        match token.text(text) {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            "," if depth == 0 => {
                parts.push((token.end, token.end));
                continue;
            }
            _ => {}
        }
        parts.last_mut()?.1 = token.end;
    }
    if parts.len() < 2 || word(end + 1) != "(" {
        return None;
    }
    let mut depth = 0;
    let last = (end + 1..tokens.len()).find(|&other| {
        match word(other) {
            "(" => depth += 1,
            ")" => depth -= 1,
            _ => {}
        }
        depth == 0
    })?;
    let kernel = &text[tokens[first].start..tokens[at].start];
    let configuration = |at: usize| parts.get(at).map_or("0", |(from, to)| text[*from..*to].trim());
    let begin = format!(
        "::oracle::launch(\"{}\", __FILE__, __LINE__, {}, {}, {}, [&] {{ {kernel}",
        kernel.split_whitespace().collect::<Vec<_>>().join(" ").replace('"', "\\\""),
        configuration(0),
        configuration(1),
        configuration(2),
    );
    Some(vec![
        (tokens[first].start, tokens[end].end, begin),
        (tokens[last].end, tokens[last].end, "; })".to_owned()),
    ])
}

#[test]
fn launches_become_calls() {
    let text = "int main() { if (x) k<<<dim3(2, 3), 32>>>(a, f(b)); else ::n::t<int, 4><<<1, n>>>(a); }";
    let expected = "int main() { if (x) ::oracle::launch(\"k\", __FILE__, __LINE__, dim3(2, 3), 32, 0, \
                    [&] { k(a, f(b)); }); else ::oracle::launch(\"::n::t<int, 4>\", __FILE__, __LINE__, 1, n, 0, \
                    [&] { ::n::t<int, 4>(a); }); }";
    assert_eq!(rewrite(text).unwrap(), expected);
}

#[test]
fn only_dynamic_arrays_are_renamed() {
    let text = "extern __shared__ float s[]; extern \"C\" __global__ void k() { __shared__ int t[4]; }";
    let expected = "extern  float s[] asm(\"oracle_dynamic\"); extern \"C\" __global__ void k() { __shared__ int t[4]; }";
    assert_eq!(rewrite(text).unwrap(), expected);
    let rows = rewrite("extern __shared__ int a[][4], b[];").unwrap();
    assert_eq!(rows, "extern  int a[][4] asm(\"oracle_dynamic\"), b[] asm(\"oracle_dynamic\");");
}

#[test]
fn text_in_comments_and_literals_stays() {
    let text = "// k<<<1, 2>>>(a)\n/* extern __shared__ int s[]; */ const char *p = \"k<<<1>>>()\"; static __shared__ int s;";
    assert_eq!(rewrite(text).unwrap(), text.replace("static ", " "));
}
