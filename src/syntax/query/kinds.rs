//! What do the queries say of a kind of node?
//!
//! The queries are tree-sitter's, but all of them are kinds of nodes with a capture:
//! `(enum_specifier) @enum`, `[(if_statement) (for_statement)] @statement`. That is a table by
//! kind, which is read in microseconds; tree-sitter's own analysis of the same text takes over
//! ten milliseconds, more than many a run.

use super::Capture;
use std::sync::OnceLock;
use tree_sitter::{Language, Node};

/// The captures, by kind.
#[derive(Debug)]
pub(super) struct Kinds {
    /// By the grammar's number of the kind.
    by_id: Vec<Option<Capture>>,
    error: Option<Capture>,
    missing: Option<Capture>,
}

impl Kinds {
    /// Those of all queries.
    pub(super) fn all() -> &'static Kinds {
        static ALL: OnceLock<Kinds> = OnceLock::new();
        ALL.get_or_init(|| Kinds::of(super::SOURCE))
    }

    fn of(source: &str) -> Kinds {
        let language: Language = tree_sitter_cuda::LANGUAGE.into();
        let mut kinds = Kinds { by_id: vec![None; language.node_kind_count()], error: None, missing: None };
        for (kind, capture) in read(source).unwrap_or_default() {
            let capture = Capture::of_name(capture);
            match kind {
                "ERROR" => kinds.error = capture,
                "MISSING" => kinds.missing = capture,
                _ => {
                    let id = usize::from(language.id_for_node_kind(kind, true));
                    if let Some(place) = kinds.by_id.get_mut(id).filter(|_| id != 0) {
                        *place = capture;
                    }
                }
            }
        }
        kinds
    }

    /// What a node is captured as.
    pub(super) fn captures(&self, node: Node<'_>) -> impl Iterator<Item = Capture> {
        let kind = match node.is_error() {
            true => self.error,
            false if node.is_named() => self.by_id.get(usize::from(node.kind_id())).copied().flatten(),
            false => None,
        };
        kind.into_iter().chain(self.missing.filter(|_| node.is_missing()))
    }
}

/// The kinds in a query, each with its capture; `None` if there is anything else in it.
fn read(source: &str) -> Option<Vec<(&str, &str)>> {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut waiting: Vec<&str> = Vec::new();
    for line in source.lines() {
        let mut rest = line.split(';').next().unwrap_or("").trim_start();
        while let Some(first) = rest.chars().next() {
            let inner = rest.get(first.len_utf8()..).unwrap_or("");
            let end = inner.find(|c| !is_word(c)).unwrap_or(inner.len());
            let (word, after) = inner.split_at(end);
            rest = match first {
                '[' | ']' => inner,
                '(' => {
                    waiting.push(word);
                    after.strip_prefix(')')?
                }
                '@' => {
                    found.extend(waiting.drain(..).map(|kind| (kind, word)));
                    after
                }
                _ => return None,
            };
            rest = rest.trim_start();
        }
    }
    waiting.is_empty().then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::query::SOURCE;
    use tree_sitter::{Parser, Query, QueryCursor, StreamingIterator};

    #[test]
    fn every_pattern_is_a_known_kind_with_a_known_capture() {
        let language: Language = tree_sitter_cuda::LANGUAGE.into();
        let found = read(SOURCE).unwrap();
        assert!(!found.is_empty());
        for (kind, capture) in found {
            let known = kind == "MISSING" || language.id_for_node_kind(kind, true) != 0;
            assert!(known, "unknown kind {kind}");
            assert!(Capture::of_name(capture).is_some(), "unknown capture {capture}");
        }
    }

    #[test]
    fn other_patterns_are_refused() {
        for text in ["(call_expression function: (identifier) @f)", "(a) (b)", "\"if\" @i", "(a (b) @b)"] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read("; a comment\n[(a)\n (b)] @c ; more"), Some(vec![("a", "c"), ("b", "c")]));
    }

    #[test]
    fn the_table_finds_what_the_query_finds() {
        let text = "namespace n { template <typename T> struct s { int a; enum { E }; }; }\n\
                    typedef int word; using word2 = int; union u { int a; };\n\
                    __global__ void k(float *p) { __shared__ float t[3]; asm(\"bar.sync 0;\"); f(1) }\n\
                    template void g<int>(int); } if (x) { k<<<1, 2>>>(p); return }; class c { void m() { } };";
        let language: Language = tree_sitter_cuda::LANGUAGE.into();
        let mut parser = Parser::new();
        parser.set_language(&language).unwrap();
        let tree = parser.parse(text, None).unwrap();
        let query = Query::new(&language, SOURCE).unwrap();
        let mut by_query = Vec::new();
        let mut cursor = QueryCursor::new();
        let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
        while let Some(matched) = matches.next() {
            for capture in matched.captures() {
                let name = query.capture_names()[capture.index as usize];
                by_query.push((
                    capture.node.start_byte(),
                    capture.node.id(),
                    Capture::of_name(name).unwrap(),
                ));
            }
        }
        let mut by_table = Vec::new();
        let mut waiting = vec![tree.root_node()];
        while let Some(node) = waiting.pop() {
            let captures = Kinds::all().captures(node);
            by_table.extend(captures.map(|capture| (node.start_byte(), node.id(), capture)));
            waiting.extend((0..node.child_count()).filter_map(|at| node.child(at)));
        }
        let sorted = |mut list: Vec<(usize, usize, Capture)>| {
            list.sort_by_key(|(start, id, capture)| (*start, *id, format!("{capture:?}")));
            list
        };
        let damaged = by_query.iter().any(|it| it.2 == Capture::Is(crate::syntax::query::Found::Damage));
        assert!(damaged && by_query.len() > 15, "{}", by_query.len());
        assert_eq!(sorted(by_table), sorted(by_query));
    }
}
