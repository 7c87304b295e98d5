//! How does the grammar spell it?
//!
//! Parses expanded text with tree-sitter. Never fails; knows its error spans.

pub mod query;

use crate::preproc::Expanded;
use crate::source::Span;
use std::cell::RefCell;
use tree_sitter::{Node, Parser, Tree};

/// A parsed file.
#[derive(Debug)]
pub struct SyntaxTree {
    /// What was parsed.
    pub expanded: Expanded,
    /// The tree over the expanded text.
    pub tree: Tree,
}

impl SyntaxTree {
    /// Parses; `None` only when the parser gives up, which it does not without a time limit.
    #[must_use]
    pub fn parse(expanded: Expanded) -> Option<SyntaxTree> {
        thread_local! {
            static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
        }
        let tree = PARSER.with_borrow_mut(|slot| {
            let parser = slot.get_or_insert_with(Parser::new);
            parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).ok()?;
            parser.parse(expanded.text(), None)
        })?;
        Some(SyntaxTree { expanded, tree })
    }

    /// The expanded text under a node.
    #[must_use]
    pub fn text(&self, node: Node<'_>) -> &str {
        self.expanded.text().get(node.byte_range()).unwrap_or("")
    }

    /// Where a node stands in the original text.
    #[must_use]
    pub fn span(&self, node: Node<'_>) -> Span {
        let (start, end) = self.expanded.map.original(node.start_byte() as u32, node.end_byte() as u32);
        Span { file: self.expanded.file.id, start, end }
    }
}
