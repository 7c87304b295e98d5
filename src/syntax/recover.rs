//! Which kernels did the parser lose, and what do they look like on their own?
//!
//! One bad construct can turn everything around it into an error. A kernel's header is easy
//! to find by its text, and the slice from there to its closing brace usually parses.

use super::Recovered;
use crate::preproc::{Kind, Lexer, Token, is_specifier, partners};
use tree_sitter::{Node, Parser, Point, Range, Tree};

/// The kernels of `text` that have no definition in `tree`.
pub(super) fn kernels(parser: &mut Parser, text: &str, tree: &Tree) -> Vec<Recovered> {
    if !tree.root_node().has_error() || !text.contains("__global__") {
        return Vec::new();
    }
    let mut lexer = Lexer::new(text);
    let tokens: Vec<Token> = std::iter::from_fn(|| lexer.next()).collect();
    let partner = partners(&tokens);
    let words = Words { text, tokens: &tokens, partner: &partner };

    let mut recovered: Vec<Recovered> = Vec::new();
    let mut searched = 0;
    for at in 0..tokens.len() {
        if at < searched || words.word(at) != "__global__" {
            continue;
        }
        let Some(open) = words.body(at) else { continue };
        let close = words.close_of_body(open);
        let (Some(keyword), Some(last)) = (tokens.get(at), tokens.get(close)) else { continue };
        if is_whole(tree, *keyword, last.end) {
            continue;
        }
        let start = tokens[words.start(at)].start;
        if recovered.last().is_some_and(|before| before.end > start) {
            continue;
        }
        if let Some(tree) = parse_slice(parser, text, start, last.end)
            && is_whole(&tree, *keyword, last.end)
        {
            recovered.push(Recovered { tree, start, end: last.end });
            searched = close + 1;
        }
    }
    recovered
}

/// Whether the tree has a function definition from this `__global__` to the byte `end`.
fn is_whole(tree: &Tree, keyword: Token, end: u32) -> bool {
    let mut node = tree.root_node().descendant_for_byte_range(keyword.start as usize, keyword.end as usize);
    while let Some(inner) = node {
        match inner.kind() {
            "function_definition" => {
                return inner.end_byte() == end as usize
                    && inner.child_by_field_name("body").is_some()
                    && inner.child_by_field_name("declarator").is_some_and(has_parameters)
                    && !is_inside_function(inner);
            }
            "compound_statement" | "parameter_list" => return false,
            _ => node = inner.parent(),
        }
    }
    false
}

fn has_parameters(declarator: Node<'_>) -> bool {
    declarator.kind() == "function_declarator" && declarator.child_by_field_name("parameters").is_some()
}

fn is_inside_function(node: Node<'_>) -> bool {
    let mut above = node.parent();
    while let Some(node) = above {
        if matches!(node.kind(), "compound_statement" | "function_definition") {
            return true;
        }
        above = node.parent();
    }
    false
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

struct Words<'t> {
    text: &'t str,
    tokens: &'t [Token],
    partner: &'t [u32],
}

impl<'t> Words<'t> {
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
        let kernel_inside = |close: usize| (open..close).any(|at| self.word(at) == "__global__");
        match close {
            Some(close) if !kernel_inside(close) => close,
            _ => (open..self.tokens.len())
                .find(|&at| self.is(at, b'}') && self.begins_column(at))
                .or(close)
                .unwrap_or(self.tokens.len().saturating_sub(1)),
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
