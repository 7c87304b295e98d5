//! Which parts does a node of the syntax tree have?

use crate::syntax::field;
use tree_sitter::Node;

/// Whether a node carries no meaning of its own: comments may stand anywhere.
pub(super) fn is_trivia(node: Node<'_>) -> bool {
    matches!(node.kind(), "comment" | "attribute_declaration" | "attribute_specifier" | "preproc_call")
}

/// The named children that mean something.
pub(super) fn children<'n>(node: Node<'n>) -> Vec<Node<'n>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).filter(|child| !is_trivia(*child)).collect()
}

/// The first named child that means something.
pub(super) fn first_child<'n>(node: Node<'n>) -> Option<Node<'n>> {
    let mut cursor = node.walk();
    node.named_children(&mut cursor).find(|child| !is_trivia(*child))
}

/// The first child of this kind, anonymous ones too.
pub(super) fn child_of_kind<'n>(node: Node<'n>, kind: &str) -> Option<Node<'n>> {
    let mut cursor = node.walk();
    node.children(&mut cursor).find(|child| child.kind() == kind)
}

/// The function declarator inside pointers and references.
pub(super) fn function_declarator<'n>(declarator: Node<'n>) -> Option<Node<'n>> {
    let mut node = declarator;
    for _ in 0..1000 {
        match node.kind() {
            "function_declarator" | "abstract_function_declarator" => return Some(node),
            _ => {
                let inner = field(node, "declarator");
                node = inner.or_else(|| {
                    let mut cursor = node.walk();
                    node.named_children(&mut cursor)
                        .find(|child| !is_trivia(*child) && child.kind().ends_with("declarator"))
                })?;
            }
        }
    }
    None
}
