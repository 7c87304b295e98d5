//! Where are the things that `lower` starts from?
//!
//! All of `queries/*.scm` is one compiled query. Its patterns are single nodes: a pattern with
//! children costs milliseconds to compile and time at every node. What a node stands in and what
//! it holds is checked here. The query is asked about the nodes that `Search` leads to, and not
//! about the expressions in between. What it finds comes out in document order, outer before
//! inner, whatever broken node it stands in.

mod calls;
mod search;

use super::{SyntaxTree, field};
use search::Search;
use std::cmp::Reverse;
use std::sync::OnceLock;
use tree_sitter::{Node, Query, QueryCursor, StreamingIterator};

const SOURCE: &str = concat!(
    include_str!("../../queries/aliases.scm"),
    include_str!("../../queries/calls.scm"),
    include_str!("../../queries/damage.scm"),
    include_str!("../../queries/enums.scm"),
    include_str!("../../queries/functions.scm"),
    include_str!("../../queries/records.scm"),
    include_str!("../../queries/variables.scm"),
);

/// What was found.
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

/// What a capture of the queries stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Capture {
    /// The node itself is what it is.
    Is(Found),
    /// A call of anything.
    Call,
    /// Inline assembly.
    Assembly,
    /// A statement, wherever it stands.
    Statement,
}

impl Capture {
    fn of_name(name: &str) -> Option<Capture> {
        Some(Capture::Is(match name {
            "alias" => Found::Alias,
            "damage" => Found::Damage,
            "declaration" => Found::Declaration,
            "enum" => Found::Enum,
            "field" => Found::Field,
            "function" => Found::Function,
            "instantiation" => Found::Instantiation,
            "launch" => Found::Launch,
            "namespace" => Found::Namespace,
            "record" => Found::Record,
            "template" => Found::Template,
            "assembly" => return Some(Capture::Assembly),
            "call" => return Some(Capture::Call),
            "statement" => return Some(Capture::Statement),
            _ => return None,
        }))
    }
}

struct Compiled {
    query: Query,
    /// By capture number.
    captures: Vec<Option<Capture>>,
}

fn compiled() -> Option<&'static Compiled> {
    static COMPILED: OnceLock<Option<Compiled>> = OnceLock::new();
    let compile = || {
        let query = Query::new(&tree_sitter_cuda::LANGUAGE.into(), SOURCE).ok()?;
        let captures = query.capture_names().iter().map(|name| Capture::of_name(name)).collect();
        Some(Compiled { query, captures })
    };
    COMPILED.get_or_init(compile).as_ref()
}

/// Everything the queries find in `tree`, in document order, outer before inner.
#[must_use]
pub fn find(tree: &SyntaxTree) -> Vec<(Found, Node<'_>)> {
    let Some(compiled) = compiled() else { return Vec::new() };
    let text = tree.expanded.text().as_bytes();
    let mut cursor = QueryCursor::new();
    // One node at a time.
    cursor.set_max_start_depth(Some(0));
    let mut found = Vec::new();
    Search::new(tree).visit(|node, parent| {
        let mut matches = cursor.matches(&compiled.query, node, text);
        while let Some(matched) = matches.next() {
            let captures = matched.captures().iter();
            for capture in captures.filter_map(|it| *compiled.captures.get(it.index as usize)?) {
                note(tree, capture, node, parent, &mut found);
            }
        }
    });
    found.sort_by_key(|(what, node)| (node.start_byte(), Reverse(node.end_byte()), *what));
    found.dedup_by_key(|(what, node)| (*what, node.id()));
    found
}

/// Keeps what `lower` starts from.
fn note<'t>(
    tree: &'t SyntaxTree,
    capture: Capture,
    node: Node<'t>,
    parent: &str,
    found: &mut Vec<(Found, Node<'t>)>,
) {
    match capture {
        Capture::Is(Found::Record | Found::Enum) if field(node, "body").is_none() => {}
        Capture::Is(what) => {
            found.push((what, node));
            if what == Found::Declaration && is_shared(tree, node) {
                found.push((Found::Shared, node));
            }
        }
        Capture::Call => found.extend(calls::meaning(tree, node).map(|what| (what, node))),
        Capture::Assembly => {
            found.extend(field(node, "assembly_code").map(|code| (Found::Assembly, code)));
        }
        Capture::Statement => {
            if is_stray(node, parent) {
                found.push((Found::Stray, node));
            }
        }
    }
}

fn is_shared(tree: &SyntaxTree, declaration: Node<'_>) -> bool {
    let mut cursor = declaration.walk();
    let mut children = declaration.named_children(&mut cursor);
    children.any(|child| child.kind() == "type_qualifier" && tree.text(child) == "__shared__")
}

/// Whether a statement stands where none can.
fn is_stray(statement: Node<'_>, parent: &str) -> bool {
    let control_flow = || {
        matches!(
            statement.kind(),
            "compound_statement"
                | "if_statement"
                | "for_statement"
                | "while_statement"
                | "do_statement"
                | "switch_statement"
                | "case_statement"
                | "for_range_loop"
                | "expression_statement"
        )
    };
    parent == "ERROR" || parent == "translation_unit" && control_flow()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_queries_compile_and_every_capture_is_known() {
        let query = Query::new(&tree_sitter_cuda::LANGUAGE.into(), SOURCE).unwrap();
        for name in query.capture_names() {
            assert!(Capture::of_name(name).is_some(), "unknown capture {name}");
        }
    }
}
