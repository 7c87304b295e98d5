//! Where are the things that `lower` starts from?
//!
//! All of `queries/*.scm` is one compiled query, run once over a tree. What it finds comes out in
//! document order, outer before inner, whatever broken node it stands in.

use super::SyntaxTree;
use std::cmp::Reverse;
use std::sync::OnceLock;
use tree_sitter::{Node, Query, QueryCursor, StreamingIterator};

const SOURCE: &str = concat!(
    include_str!("../../queries/aliases.scm"),
    include_str!("../../queries/banks.scm"),
    include_str!("../../queries/barriers.scm"),
    include_str!("../../queries/damage.scm"),
    include_str!("../../queries/enums.scm"),
    include_str!("../../queries/functions.scm"),
    include_str!("../../queries/launches.scm"),
    include_str!("../../queries/records.scm"),
    include_str!("../../queries/shared.scm"),
    include_str!("../../queries/variables.scm"),
);

/// What a capture of the queries stands for; each is the capture's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Found {
    /// `template <...> ...`
    Template,
    /// A function with a body.
    Function,
    /// A statement outside any function.
    Stray,
    /// A declaration, local ones too.
    Declaration,
    /// A member declaration.
    Field,
    /// A struct, class or union with a body.
    Record,
    /// An enumeration with a body.
    Enum,
    /// A `using X = ...` or `typedef`.
    Alias,
    /// An explicit instantiation.
    Instantiation,
    /// A namespace's name.
    Namespace,
    /// A `__shared__` declaration.
    Shared,
    /// A kernel launch.
    Launch,
    /// A block barrier.
    Barrier,
    /// The text of an `asm` statement.
    Assembly,
    /// A call that asks for eight-byte banks.
    EightByteBanks,
    /// A part that did not parse.
    Damage,
}

impl Found {
    fn of_capture(name: &str) -> Option<Found> {
        Some(match name {
            "alias" => Found::Alias,
            "assembly" => Found::Assembly,
            "barrier" => Found::Barrier,
            "damage" => Found::Damage,
            "declaration" => Found::Declaration,
            "eight_byte_banks" => Found::EightByteBanks,
            "enum" => Found::Enum,
            "field" => Found::Field,
            "function" => Found::Function,
            "instantiation" => Found::Instantiation,
            "launch" => Found::Launch,
            "namespace" => Found::Namespace,
            "record" => Found::Record,
            "shared" => Found::Shared,
            "stray" => Found::Stray,
            "template" => Found::Template,
            _ => return None,
        })
    }
}

struct Compiled {
    query: Query,
    /// By capture number; `None` for captures that only serve a predicate.
    captures: Vec<Option<Found>>,
}

fn compiled() -> Option<&'static Compiled> {
    static COMPILED: OnceLock<Option<Compiled>> = OnceLock::new();
    let compile = || {
        let query = Query::new(&tree_sitter_cuda::LANGUAGE.into(), SOURCE).ok()?;
        let captures = query.capture_names().iter().map(|name| Found::of_capture(name)).collect();
        Some(Compiled { query, captures })
    };
    COMPILED.get_or_init(compile).as_ref()
}

/// The most matches that may be under way at once: an enclosing node's match stays open while its
/// inside is walked, so without a limit deep nesting takes quadratic time.
const OPEN_MATCHES: u32 = 1024;

/// How deep in the tree a match may begin. The cursor counts levels in 16 bits: beyond, matches
/// would never end.
const DEEPEST: u32 = 8192;

/// Everything the queries find in `tree`, in document order, outer before inner.
#[must_use]
pub fn find(tree: &SyntaxTree) -> Vec<(Found, Node<'_>)> {
    let Some(compiled) = compiled() else { return Vec::new() };
    let mut cursor = QueryCursor::new();
    cursor.set_match_limit(OPEN_MATCHES);
    cursor.set_max_start_depth(Some(DEEPEST));
    let mut matches = cursor.matches(&compiled.query, tree.tree.root_node(), tree.expanded.text().as_bytes());
    let mut found = Vec::new();
    while let Some(matched) = matches.next() {
        for capture in matched.captures() {
            if let Some(Some(what)) = compiled.captures.get(capture.index as usize) {
                found.push((*what, capture.node));
            }
        }
    }
    found.sort_by_key(|(what, node)| (node.start_byte(), Reverse(node.end_byte()), *what));
    found.dedup_by_key(|(what, node)| (*what, node.id()));
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queries_compile_and_every_capture_is_known() {
        let query = Query::new(&tree_sitter_cuda::LANGUAGE.into(), SOURCE).unwrap();
        for name in query.capture_names() {
            assert!(name.starts_with('_') || Found::of_capture(name).is_some(), "unknown capture {name}");
        }
    }
}
