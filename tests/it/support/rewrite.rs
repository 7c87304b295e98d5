//! Ways to write a CUDA text otherwise without meaning anything else.
//!
//! Every rewrite is a function from a text to a text, on pieces that a small lexer of its own finds:
//! what the analyzer takes for a token is what is being tested.

use super::random::Random;
use std::collections::{BTreeMap, BTreeSet};

/// What a piece of a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Space,
    /// A comment, without the newline behind `//`.
    Comment,
    /// From `#` to the end of its line, without the newline.
    Directive,
    Word,
    Number,
    /// A string or a character.
    Text,
    Sign,
}

use Kind::{Comment, Directive, Number, Sign, Space, Text, Word};

type Piece<'t> = (Kind, &'t str);

const SIGNS: [&str; 27] = [
    "<<<", ">>>", "...", "<<=", ">>=", "->*", "::", "->", "++", "--", "<<", ">>", "<=", ">=", "==", "!=",
    "&&", "||", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "%=", ".*",
];

/// The pieces of a text: put together they are the text.
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut found: Vec<Piece> = Vec::new();
    let mut rest = text;
    let mut fresh = true;
    while let Some(first) = rest.chars().next() {
        let (kind, length) = piece(rest, first, fresh);
        let (this, behind) = rest.split_at(length);
        fresh = match kind {
            Space => fresh || this.contains('\n'),
            Comment => fresh,
            _ => false,
        };
        found.push((kind, this));
        rest = behind;
    }
    found
}

fn piece(rest: &str, first: char, fresh: bool) -> (Kind, usize) {
    let run = |same: &dyn Fn(char) -> bool| rest.find(|c| !same(c)).unwrap_or(rest.len());
    let word = |c: char| c == '_' || c.is_alphanumeric();
    if first.is_whitespace() {
        (Space, run(&char::is_whitespace))
    } else if rest.starts_with("/*") {
        (Comment, rest.find("*/").map_or(rest.len(), |at| at + 2))
    } else if rest.starts_with("//") {
        (Comment, line_length(rest))
    } else if first == '#' && fresh {
        (Directive, line_length(rest))
    } else if rest.starts_with("R\"(") {
        (Text, rest.find(")\"").map_or(rest.len(), |at| at + 2))
    } else if first == '"' || first == '\'' {
        let mut escaped = false;
        let end = rest.char_indices().skip(1).find(|(_, c)| {
            let ends = *c == first && !escaped;
            escaped = *c == '\\' && !escaped;
            ends
        });
        (Text, end.map_or(rest.len(), |(at, c)| at + c.len_utf8()))
    } else if first.is_ascii_digit() {
        (Number, run(&|c| word(c) || c == '.' || c == '\''))
    } else if word(first) {
        let length = run(&word);
        // The grammar knows `operator[]` and `operator()` only with nothing between their brackets.
        let whole =
            &rest[..length] == "operator" && ["[]", "()"].iter().any(|it| rest[length..].starts_with(it));
        (Word, if whole { length + 2 } else { length })
    } else {
        let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign));
        (Sign, sign.map_or(first.len_utf8(), |sign| sign.len()))
    }
}

/// Bytes up to the newline that no `\` stands before.
fn line_length(rest: &str) -> usize {
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        let ended = line.trim_end_matches(['\r', '\n']);
        if !ended.ends_with('\\') {
            return at + ended.len();
        }
        at += line.len();
    }
    rest.len()
}

fn together<'t>(pieces: impl IntoIterator<Item = &'t str>) -> String {
    pieces.into_iter().collect()
}

fn is_token(kind: Kind) -> bool {
    matches!(kind, Word | Number | Text | Sign)
}

/// `between` behind every token that is not the last before a directive.
fn behind_tokens(text: &str, mut between: impl FnMut(usize) -> String) -> String {
    let mut out = String::new();
    for (at, (kind, piece)) in pieces(text).into_iter().enumerate() {
        out.push_str(piece);
        if is_token(kind) {
            if piece == "/" {
                // Or it would open a comment with what follows.
                out.push(' ');
            }
            out.push_str(&between(at));
        }
    }
    out
}

/// A comment between any two tokens, with what confuses a careless reader in it.
pub fn commented(text: &str) -> String {
    let comments = ["/**/", "/* \" */", "/* ' } ; */", "/* // */", "/*\n#if 0\n*/", "/* \\*/", "/***/"];
    behind_tokens(text, |at| comments[at % comments.len()].to_owned())
}

/// A line comment behind every token.
pub fn line_commented(text: &str) -> String {
    let comments = ["// it's\n", "// \" /*\n", "// } )\n", "//\n", "// */\n"];
    behind_tokens(text, |at| comments[at % comments.len()].to_owned())
}

/// Every token on a line of its own.
pub fn a_token_a_line(text: &str) -> String {
    behind_tokens(text, |_| "\n".to_owned())
}

/// Every token on a line of its own that a `\` joins to the next, and far to the right.
pub fn spliced(text: &str) -> String {
    behind_tokens(text, |at| if at % 3 == 0 { " \\\n".to_owned() } else { "\t\t ".to_owned() })
}

/// No white space but what is needed.
pub fn dense(text: &str) -> String {
    let pieces = pieces(text);
    let mut out = String::new();
    for (at, (kind, piece)) in pieces.iter().enumerate() {
        if *kind != Space {
            out.push_str(piece);
            continue;
        }
        let before = at.checked_sub(1).and_then(|at| pieces.get(at));
        let after = pieces.get(at + 1);
        let ends_line = |piece: Option<&Piece>| {
            piece.is_some_and(|(kind, text)| *kind == Directive || text.starts_with("//"))
        };
        // Of a macro that no one defines, its line tells where the statement ends.
        let closes = before.is_some_and(|it| it.1 == ")") && piece.contains('\n');
        if closes || ends_line(before) || after.is_some_and(|(kind, _)| *kind == Directive) {
            out.push('\n');
        } else if before.is_some_and(|(kind, _)| *kind != Sign)
            && after.is_some_and(|(kind, _)| *kind != Sign)
            || before.is_some_and(|(kind, _)| *kind == Sign) && after.is_some_and(|(kind, _)| *kind == Sign)
        {
            out.push(' ');
        }
    }
    out
}

pub fn crlf(text: &str) -> String {
    text.replace("\r\n", "\n").replace('\n', "\r\n")
}

pub fn with_bom(text: &str) -> String {
    format!("\u{feff}{text}")
}

/// Tabs, blanks at the ends of lines, form feeds and empty lines.
pub fn untidy(text: &str) -> String {
    together(pieces(text).into_iter().map(|(kind, piece)| match (kind, piece) {
        (Space, " ") => " \t ",
        (Space, "\n") => "  \t\n\n\x0c\n",
        _ => piece,
    }))
}

/// In `#if 1`, behind an `#if 0` full of rubbish, with an include guard.
pub fn in_conditions(text: &str) -> String {
    let rubbish = "it's } ) ] \"\n#define __shared__ broken\n#error no\n#if 1\n#else\n#endif\n";
    format!(
        "#ifndef GUARD_OF_THIS\n#define GUARD_OF_THIS 1\n#if 0\n{rubbish}#else\n#if defined(GUARD_OF_THIS) && \
         GUARD_OF_THIS > 0\n{text}\n#endif\n#endif\n#endif\n"
    )
}

/// Plain decimal numbers that are not 0, replaced by a name for each, which `define` puts in front.
fn numbers_named(text: &str, define: impl Fn(&str) -> String) -> String {
    let mut numbers = BTreeSet::new();
    let mut out = String::new();
    let pieces = pieces(text);
    // What is pasted together must not be something else.
    if text.contains("##") {
        return text.to_owned();
    }
    for (at, (kind, piece)) in pieces.iter().enumerate() {
        // What a directive of the tool or an attribute says is not the program's.
        let member = at > 0 && pieces[at - 1].1 == ".";
        if *kind == Number && !member && piece.bytes().all(|byte| byte.is_ascii_digit()) && *piece != "0" {
            numbers.insert(*piece);
            out.push_str(&format!("NUMBER_{piece}"));
        } else {
            out.push_str(piece);
        }
    }
    let definitions: String = numbers.into_iter().map(define).collect();
    format!("{definitions}{out}")
}

/// Every number in a macro, some of which call others.
pub fn numbers_in_macros(text: &str) -> String {
    let text = numbers_named(text, |number| format!("#define NUMBER_{number} (ITSELF({number}) + 0)\n"));
    format!("#define ITSELF(x) (x)\n{text}")
}

/// Every number as a constant.
pub fn numbers_in_constants(text: &str) -> String {
    numbers_named(text, |number| format!("constexpr int NUMBER_{number} = {number};\n"))
}

/// Every number as an enumerator.
pub fn numbers_in_enumerators(text: &str) -> String {
    numbers_named(text, |number| format!("enum {{ NUMBER_{number} = {number} }};\n"))
}

/// `[i]` as `[(i)]`, and lengths of arrays likewise.
pub fn in_parentheses(text: &str) -> String {
    let pieces: Vec<Piece> = pieces(text);
    let mut out = String::new();
    let mut open = Vec::new();
    let code: Vec<&str> =
        pieces.iter().filter(|(kind, _)| is_token(*kind)).map(|(_, piece)| *piece).collect();
    let mut token = 0usize;
    for (kind, piece) in pieces {
        if !is_token(kind) {
            out.push_str(piece);
            continue;
        }
        let (before, after) = (token.checked_sub(1).map(|at| code[at]), code.get(token + 1).copied());
        token += 1;
        match piece {
            "[" => {
                let is_word = |text: &str| text.ends_with(|c: char| c == '_' || c.is_alphanumeric());
                let index = before.is_some_and(|it| is_word(it) && it != "return" || it == "]" || it == ")");
                let wrapped = index && after != Some("]") && before != Some("operator");
                open.push(wrapped);
                out.push_str(if wrapped { "[(" } else { "[" });
            }
            "]" => out.push_str(if open.pop() == Some(true) { ")]" } else { "]" }),
            _ => out.push_str(piece),
        }
    }
    out
}

/// Names that mean something without being declared here.
const GIVEN: [&str; 24] = [
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "x",
    "y",
    "z",
    "w",
    "int",
    "unsigned",
    "float",
    "double",
    "char",
    "short",
    "long",
    "bool",
    "auto",
    "void",
    "const",
    "half",
    "size_t",
    "main",
    "sizeof",
];

/// The variables that are declared in the text and nothing else, with new names: each other's.
pub fn new_names(text: &str, others: &str, random: &mut Random) -> BTreeMap<String, String> {
    let all = pieces(text);
    let code: Vec<Piece> = all.iter().copied().filter(|(kind, _)| is_token(*kind)).collect();
    let hidden: String = all
        .iter()
        .filter(|(kind, _)| matches!(kind, Directive | Comment | Text))
        .map(|(_, piece)| *piece)
        .chain([others])
        .collect::<Vec<_>>()
        .join("\n");
    let taken: BTreeSet<&str> = pieces(&hidden)
        .into_iter()
        .flat_map(|(_, piece)| piece.split(|c: char| c != '_' && !c.is_alphanumeric()))
        .collect();
    let mut declared = BTreeSet::new();
    let mut elsewhere = BTreeSet::new();
    for at in 0..code.len() {
        let (kind, name) = code[at];
        if kind != Word {
            continue;
        }
        let before = |back: usize| at.checked_sub(back).map_or(("", Sign), |at| (code[at].1, code[at].0));
        if matches!(
            before(1).0,
            "." | "->" | "::" | "struct" | "class" | "typename" | "goto" | "using" | "namespace"
        ) {
            elsewhere.insert(name);
        }
        let ty = match before(1) {
            ("*" | "&" | "__restrict__", _) => before(2),
            other => other,
        };
        let typed = ["int", "unsigned", "float", "double", "char", "short", "bool", "auto", "float4", "T"];
        let follows = code
            .get(at + 1)
            .is_some_and(|(_, next)| matches!(*next, "=" | ";" | "," | ")" | "[" | ">" | ":"));
        if follows && typed.contains(&ty.0) && name != "operator" && !GIVEN.contains(&name) {
            declared.insert(name);
        }
    }
    let free = |name: &&str| !elsewhere.contains(*name) && !taken.contains(*name);
    let names: Vec<&str> = declared.into_iter().filter(free).collect();
    let mut new: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    for at in (1..new.len()).rev() {
        new.swap(at, random.below(at as u64 + 1) as usize);
    }
    for name in &mut new {
        // Some are names that are no one's.
        match random.below(4) {
            0 => *name = format!("{name}_of_a_rather_long_and_telling_name_{}", random.below(10)),
            1 => *name = format!("\u{e9}{name}"),
            _ => {}
        }
    }
    names.into_iter().map(str::to_owned).zip(new).collect()
}

/// The text with these names.
pub fn renamed(text: &str, names: &BTreeMap<String, String>) -> String {
    together(pieces(text).into_iter().map(|(kind, piece)| match names.get(piece) {
        Some(new) if kind == Word => new,
        _ => piece,
    }))
}
