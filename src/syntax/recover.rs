//! Which kernels did the parser lose, and what do they look like on their own?
//!
//! One bad construct can turn everything around it into an error. A kernel's header is easy
//! to find by its text, and the slice from there to its closing brace usually parses.

use super::{Recovered, field};
use crate::preproc::{Kind, Lexer, Token, is_specifier, partners};
use tree_sitter::{Node, Parser, Point, Range, Tree};

/// How many kernels of one file are looked for.
const MOST: usize = 1000;
/// How deep in the tree a kernel's definition may be.
const DEEPEST: usize = 200;

/// The kernels of `text` that have no definition in `tree`.
pub(super) fn kernels(parser: &mut Parser, text: &str, tree: &Tree) -> Vec<Recovered> {
    if !tree.root_node().has_error() || !text.contains("__global__") {
        return Vec::new();
    }
    let mut lexer = Lexer::new(text);
    let tokens: Vec<Token> = std::iter::from_fn(|| lexer.next()).collect();
    let words = Words::new(text, &tokens);

    let mut recovered: Vec<Recovered> = Vec::new();
    // Slices that do not close may overlap: parse no more than a few times the text in all.
    let mut budget = text.len().saturating_mul(4);
    for &at in words.keywords.iter().take(MOST) {
        let Some(open) = words.body(at) else { continue };
        let (keyword, end) = (tokens[at], tokens[words.close_of_body(open)].end);
        let start = tokens[words.start(at)].start;
        let overlaps = recovered.last().is_some_and(|before| before.end > start);
        let length = (end - start) as usize;
        if overlaps || length > budget || is_whole(tree, keyword, end) {
            continue;
        }
        budget -= length;
        if let Some(tree) = parse_slice(parser, text, start, end)
            && is_whole(&tree, keyword, end)
        {
            recovered.push(Recovered { tree, start, end });
        }
    }
    recovered
}

/// Whether the tree has a function definition from this `__global__` to the byte `end`.
fn is_whole(tree: &Tree, keyword: Token, end: u32) -> bool {
    let mut cursor = tree.walk();
    for _ in 0..DEEPEST {
        let node = cursor.node();
        match node.kind() {
            "function_definition" => {
                return node.end_byte() == end as usize
                    && field(node, "body").is_some()
                    && field(node, "declarator").is_some_and(has_parameters);
            }
            // A kernel inside a function is one that an error put there.
            "compound_statement" | "parameter_list" => return false,
            _ => {}
        }
        if cursor.goto_first_child_for_byte(keyword.start as usize).is_none() {
            return false;
        }
    }
    false
}

fn has_parameters(declarator: Node<'_>) -> bool {
    declarator.kind() == "function_declarator" && field(declarator, "parameters").is_some()
}

fn parse_slice(parser: &mut Parser, text: &str, start: u32, end: u32) -> Option<Tree> {
    let (start, end) = (start as usize, end as usize);
    let range = Range {
        start_byte: start,
        end_byte: end,
        start_point: point(text, start),
        end_point: point(text, end),
    };
    parser.set_included_ranges(&[range]).ok()?;
    let tree = parser.parse(text, None);
    parser.set_included_ranges(&[]).ok()?;
    tree
}

fn point(text: &str, at: usize) -> Point {
    let head = text.as_bytes().get(..at).unwrap_or(text.as_bytes());
    let line_start = memchr::memrchr(b'\n', head).map_or(0, |newline| newline + 1);
    Point::new(memchr::memchr_iter(b'\n', head).count(), head.len() - line_start)
}

/// The tokens of a text and the places among them that matter.
struct Words<'t> {
    text: &'t str,
    tokens: &'t [Token],
    partner: Vec<u32>,
    /// The tokens that are `__global__`.
    keywords: Vec<usize>,
    /// The tokens that are `}` in the first column.
    outer_braces: Vec<usize>,
}

impl<'t> Words<'t> {
    fn new(text: &'t str, tokens: &'t [Token]) -> Words<'t> {
        let partner = partners(tokens);
        let mut words = Words { text, tokens, partner, keywords: Vec::new(), outer_braces: Vec::new() };
        words.keywords = (0..tokens.len()).filter(|&at| words.word(at) == "__global__").collect();
        words.outer_braces =
            (0..tokens.len()).filter(|&at| words.is(at, b'}') && words.begins_column(at)).collect();
        words
    }

    fn word(&self, at: usize) -> &'t str {
        self.tokens.get(at).and_then(|token| self.text.get(token.range())).unwrap_or("")
    }

    fn is(&self, at: usize, punct: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(punct))
    }

    fn partner(&self, at: usize) -> Option<usize> {
        self.partner.get(at).filter(|&&partner| partner != u32::MAX).map(|&partner| partner as usize)
    }

    /// The `{` of the definition that the `__global__` at a token belongs to.
    fn body(&self, keyword: usize) -> Option<usize> {
        let mut at = keyword + 1;
        while let Some(token) = self.tokens.get(at) {
            match token.kind {
                Kind::Punct(b'(') => {
                    at = self.partner(at)?;
                    if self.is(at + 1, b'{') {
                        return Some(at + 1);
                    }
                }
                Kind::Punct(b';' | b'{' | b'}') => return None,
                Kind::Ident if self.word(at) == "__global__" => return None,
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// The `}` that ends a body. Where braces do not match, one in the first column does.
    fn close_of_body(&self, open: usize) -> usize {
        let close = self.partner(open);
        let next_keyword = self.keywords.get(self.keywords.partition_point(|&at| at < open));
        match close {
            Some(close) if next_keyword.is_none_or(|&keyword| keyword > close) => close,
            _ => {
                let next = self.outer_braces.partition_point(|&at| at < open);
                let outer = self.outer_braces.get(next).copied();
                outer.or(close).unwrap_or(self.tokens.len() - 1)
            }
        }
    }

    fn begins_column(&self, at: usize) -> bool {
        let before = self.tokens.get(at).and_then(|token| (token.start as usize).checked_sub(1));
        before.is_none_or(|before| self.text.as_bytes().get(before) == Some(&b'\n'))
    }

    /// The first token of the definition that the `__global__` at a token belongs to.
    fn start(&self, keyword: usize) -> usize {
        let mut at = keyword;
        while let Some(before) = at.checked_sub(1) {
            let word = self.word(before);
            if is_specifier(word) || word == "\"C\"" && self.word(before.saturating_sub(1)) == "extern" {
                at = before;
            } else if self.is(before, b')')
                && let Some(name) = self.partner(before).and_then(|open| open.checked_sub(1))
                && matches!(self.word(name), "__launch_bounds__" | "requires")
            {
                at = name;
            } else if self.is(before, b'>')
                && let Some(template) = self.template(before)
            {
                at = template;
            } else {
                break;
            }
        }
        at
    }

    /// The `template` whose parameters end at a `>`.
    fn template(&self, close: usize) -> Option<usize> {
        const LONGEST: usize = 1000;
        let mut depth = 0_i32;
        for at in (close.saturating_sub(LONGEST)..=close).rev() {
            if self.is(at, b'>') {
                depth += 1;
            } else if self.is(at, b'<') {
                depth -= 1;
                if depth == 0 {
                    return at.checked_sub(1).filter(|&at| self.word(at) == "template");
                }
            } else if self.is(at, b';') || self.is(at, b'{') || self.is(at, b'}') {
                return None;
            }
        }
        None
    }
}
