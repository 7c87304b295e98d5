//! How does the grammar spell it?
//!
//! Parses expanded text with tree-sitter. Never fails; knows its error spans.

mod again;
pub mod query;
mod recover;

use crate::preproc::Expanded;
use crate::source::Span;
pub use again::Clean;
use rustc_hash::FxHashMap;
use std::cell::RefCell;
use std::sync::OnceLock;
use tree_sitter::{Language, Node, Parser, Tree};

/// A parsed file.
#[derive(Debug)]
pub struct SyntaxTree {
    /// What was parsed.
    pub expanded: Expanded,
    /// The tree over the expanded text.
    pub tree: Tree,
    /// Kernels that the tree lost in an error, parsed again on their own, in order.
    pub recovered: Vec<Recovered>,
}

/// A `__global__` definition that was found by its text. Its nodes have the same positions as
/// those of the whole tree, which holds nothing worth reading between `start` and `end`.
#[derive(Debug)]
pub struct Recovered {
    /// The tree over this definition alone.
    pub tree: Tree,
    /// First byte in the expanded text.
    pub start: u32,
    /// One past the last byte in the expanded text.
    pub end: u32,
}

/// The child in a field of a node.
#[must_use]
pub fn field<'n>(node: Node<'n>, name: &str) -> Option<Node<'n>> {
    // By name, tree-sitter would compare it with those of all fields, every time.
    static FIELDS: OnceLock<FxHashMap<String, u16>> = OnceLock::new();
    let fields = FIELDS.get_or_init(|| {
        let language: Language = tree_sitter_cuda::LANGUAGE.into();
        let count = u16::try_from(language.field_count()).unwrap_or(u16::MAX);
        let named = |id| language.field_name_for_id(id).map(|name| (name.to_string(), id));
        (1..=count).filter_map(named).collect()
    });
    node.child_by_field_id(*fields.get(name)?)
}

/// The version of the grammar's crate, which a test compares with `Cargo.lock`. The version in the grammar's
/// own tables is that of the release before.
pub const GRAMMAR_VERSION: &str = "0.21.2";

impl SyntaxTree {
    /// Parses; `None` only when the parser gives up, which it does not without a time limit.
    #[must_use]
    pub fn parse(expanded: Expanded) -> Option<SyntaxTree> {
        SyntaxTree::parse_after(expanded, None)
    }

    /// The same, the sooner the more of an earlier version of the text still stands.
    #[must_use]
    pub fn parse_after(expanded: Expanded, earlier: Option<&Clean>) -> Option<SyntaxTree> {
        thread_local! {
            static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
        }
        let (tree, recovered) = PARSER.with_borrow_mut(|slot| {
            let parser = slot.get_or_insert_with(Parser::new);
            parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).ok()?;
            let changed = earlier.and_then(|earlier| earlier.changed_to(parser, expanded.text()));
            let tree = match changed {
                Some(tree) => tree,
                None => parser.parse(expanded.text(), None)?,
            };
            let recovered = recover::kernels(parser, expanded.text(), &tree);
            Some((tree, recovered))
        })?;
        Some(SyntaxTree { expanded, tree, recovered })
    }

    /// The kernels that the tree lost and that were found again.
    #[must_use]
    pub fn recovered(&self) -> &[Recovered] {
        &self.recovered
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
        Span { file: self.expanded.file.id, start, end, nth: 0 }
    }
}
