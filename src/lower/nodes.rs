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

/// Whether an error is an argument of a variable that parsed as a function: the `0` of `float *p(0);`. It is parsed
/// again.
pub(super) fn is_argument(node: Node<'_>) -> bool {
    // To find a parent takes as long as the tree is deep, so it is asked for last.
    if !node.is_error() {
        return false;
    }
    let mut above = node.parent().filter(|it| it.kind() == "parameter_list");
    while let Some(declarator) = above.and_then(|it| it.parent()) {
        if !declarator.kind().ends_with("_declarator") {
            return declarator.kind() == "declaration";
        }
        above = Some(declarator);
    }
    false
}

/// The union that is all of a statement, or of a declaration: the grammar misses the declared name there.
pub(super) fn anonymous_union<'n>(node: Node<'n>) -> Option<Node<'n>> {
    let union = match node.kind() {
        "declaration" if field(node, "declarator").is_some_and(|it| it.is_missing()) => field(node, "type")?,
        _ => node,
    };
    (union.kind() == "union_specifier" && field(union, "name").is_none()).then_some(union)
}
