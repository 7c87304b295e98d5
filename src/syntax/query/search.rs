//! Which nodes are worth asking the queries about?
//!
//! Most of a tree is expressions in which nothing can be found. The search goes into a function
//! or a declaration only along the way to a word that matters, or to an error; and everywhere
//! else, where any node may be an item of the file.

use crate::syntax::SyntaxTree;
use aho_corasick::AhoCorasick;
use std::sync::OnceLock;
use tree_sitter::{Node, TreeCursor};

/// How deep the search goes; what is deeper, `lower` has cut.
const MAX_DEPTH: usize = 1000;

/// Every construct that counts inside a function or declaration holds one of these.
const WORDS: [&str; 15] = [
    "__shared__",
    "<<<",
    // A launch that a formatter took for comparisons.
    "< <",
    "Launch",
    "sync",
    "asm",
    "SharedMemConfig",
    "struct",
    "class",
    "union",
    "enum",
    "using",
    "typedef",
    "template",
    "namespace",
];

/// The way through one tree.
pub(super) struct Search<'t> {
    cursor: TreeCursor<'t>,
    /// Where the words are, in order.
    words: Vec<usize>,
}

impl<'t> Search<'t> {
    pub(super) fn new(tree: &'t SyntaxTree) -> Search<'t> {
        Search { cursor: tree.tree.walk(), words: words(tree.expanded.text()) }
    }

    /// Calls `see` with every node worth asking about, parents first, and its parent's kind.
    pub(super) fn visit(mut self, mut see: impl FnMut(Node<'t>, &'t str)) {
        // For each open node: its kind, and whether it stands in a function.
        let mut open: Vec<(&'t str, bool)> = Vec::new();
        loop {
            let node = self.cursor.node();
            let (parent, in_function) = open.last().copied().unwrap_or(("", false));
            if node.is_named() || node.is_missing() {
                see(node, parent);
            }
            if open.len() < MAX_DEPTH
                && node.child_count() > 0
                && self.goes_into(node, in_function)
                && self.cursor.goto_first_child()
            {
                open.push((node.kind(), in_function || node.kind() == "function_definition"));
                continue;
            }
            while !self.cursor.goto_next_sibling() {
                if open.pop().is_none() || !self.cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    fn goes_into(&self, node: Node<'t>, in_function: bool) -> bool {
        node.has_error() || self.holds_word(node) || is_open(node.kind(), in_function)
    }

    fn holds_word(&self, node: Node<'t>) -> bool {
        let first = self.words.partition_point(|&word| word < node.start_byte());
        self.words.get(first).is_some_and(|&word| word < node.end_byte())
    }
}

/// Whether a node without a word or an error may still hold items.
fn is_open(kind: &str, in_function: bool) -> bool {
    match kind {
        "struct_specifier"
        | "class_specifier"
        | "union_specifier"
        | "field_declaration_list"
        | "template_declaration" => true,
        "function_definition"
        | "declaration"
        | "field_declaration"
        | "alias_declaration"
        | "using_declaration"
        | "type_definition"
        | "enum_specifier"
        | "template_parameter_list"
        | "comment" => false,
        _ => !in_function,
    }
}

fn words(text: &str) -> Vec<usize> {
    static FINDER: OnceLock<Option<AhoCorasick>> = OnceLock::new();
    match FINDER.get_or_init(|| AhoCorasick::new(WORDS).ok()) {
        Some(finder) => finder.find_iter(text).map(|found| found.start()).collect(),
        // Without the finder, every byte is as good as a word.
        None => (0..text.len()).collect(),
    }
}
