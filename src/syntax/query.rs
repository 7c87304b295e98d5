//! Where are the things that `lower` starts from?
//!
//! The patterns of `queries/*.scm` are kinds of nodes (`kinds`). What a node stands in and what it
//! holds is checked here. Asked are the nodes that `Search` leads to, and not the expressions in
//! between. What is found comes out in document order, outer before inner, whatever broken node
//! it stands in.

mod calls;
mod kinds;
mod search;

use super::{SyntaxTree, field};
use kinds::Kinds;
use search::Search;
use std::cmp::Reverse;
use tree_sitter::Node;

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

/// Everything the queries find in `tree`, in document order, outer before inner.
#[must_use]
pub fn find(tree: &SyntaxTree) -> Vec<(Found, Node<'_>)> {
    let kinds = Kinds::all();
    let mut found = Vec::new();
    Search::new(tree).visit(|node, parent| {
        kinds.captures(node).for_each(|capture| note(tree, capture, node, parent, &mut found));
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
