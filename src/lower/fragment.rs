//! What would the grammar make of this text in another place, or slightly changed?
//!
//! Some expressions cannot be parsed without knowing which names are types: `i < n && j > (m)` comes
//! out as a call of the template `i<n && j>`, `dim3 block(BX, BY);` as the declaration of a function.
//! The lowering does know, and parses the piece again. Patches keep every length, so that spans hold.

use super::lowerer::{Lowerer, Patch};
use crate::ir::{Expr, ExprKind};
use crate::syntax::field;
use std::cell::RefCell;
use std::ops::Range;
use tree_sitter::{Node, Parser, Tree};

fn parse(text: &str) -> Option<Tree> {
    thread_local! {
        static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
    }
    PARSER.with_borrow_mut(|slot| {
        let parser = slot.get_or_insert_with(Parser::new);
        parser.set_language(&tree_sitter_cuda::LANGUAGE.into()).ok()?;
        parser.parse(text, None)
    })
}

/// The right side of the fragment's only statement, which is an assignment, or the condition of an `if`.
fn right_side<'n>(root: Node<'n>) -> Option<Node<'n>> {
    let statement = root.named_child(0)?;
    if statement.kind() == "if_statement" {
        return field(field(statement, "condition")?, "value");
    }
    let assignment = statement.named_child(0)?;
    (assignment.kind() == "assignment_expression").then(|| field(assignment, "right"))?
}

impl<'t> Lowerer<'t> {
    /// Parses a range of the text between `prefix` (an assignment's start, or that of an `if`) and
    /// `suffix`, and lowers the assignment's right side, or the condition, with `inside`.
    pub(super) fn reparse<R>(
        &mut self,
        range: Range<usize>,
        prefix: &str,
        suffix: &str,
        patches: &[Patch],
        inside: impl FnOnce(&mut Self, Node<'_>) -> R,
    ) -> Option<R> {
        let piece = self.source.get(range.clone())?;
        if !self.outline.spend(piece.len()) {
            return None;
        }
        let mut bytes = format!("{prefix}{piece}{suffix}").into_bytes();
        for patch in patches {
            let at = (patch.start + prefix.len()).checked_sub(range.start)?;
            bytes.get_mut(at..at + patch.text.len())?.copy_from_slice(patch.text.as_bytes());
        }
        let tree = parse(&String::from_utf8(bytes).ok()?)?;
        let right = right_side(tree.root_node())?;
        let delta = std::mem::replace(&mut self.delta, range.start as isize - prefix.len() as isize);
        let result = inside(self, right);
        self.delta = delta;
        Some(result)
    }

    /// `(a = 1, f())`: the grammar knows such a sequence in the condition of an `if`, but in plain
    /// parentheses it does not. `inside` is what stands in the parentheses.
    pub(super) fn sequence(&mut self, inside: Node<'_>) -> Option<Expr> {
        if !matches!(inside.kind(), "comma_expression" | "assignment_expression") {
            return None;
        }
        let range = self.start(inside)..self.end(inside);
        let whole = |me: &mut Self, node: Node<'_>| (!node.has_error()).then(|| me.expr(node));
        self.reparse(range, "if(", ");", &[], whole)?
    }

    /// An expression that is not part of another: where misparses found inside are put right.
    pub(super) fn full_expr(&mut self, node: Node<'_>) -> Expr {
        let outer = std::mem::take(&mut self.patches);
        let locals = self.locals.len();
        let mut expr = self.expr(node);
        let mut patches: Vec<Patch> = Vec::new();
        let range = self.start(node)..self.end(node);
        for _ in 0..8 {
            if self.patches.is_empty() {
                break;
            }
            patches.append(&mut self.patches);
            self.locals.truncate(locals);
            self.changed.clear();
            let again = self.reparse(range.clone(), "x=(", ");", &patches, |me, right| me.expr(right));
            match again {
                Some(again) => expr = again,
                None => break,
            }
        }
        self.patches = outer;
        expr
    }

    /// Asks for a reparse of the expression at hand.
    pub(super) fn patch(&mut self, node: Node<'_>, start: usize, text: String) -> Expr {
        self.patches.push(Patch { start, text });
        Expr { kind: ExprKind::Damaged, span: self.span(node) }
    }
}
