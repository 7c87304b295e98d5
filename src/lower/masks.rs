//! What did the preprocessor blank out here that still has a meaning?

use super::lowerer::Lowerer;
use super::nodes::children;
use crate::ir::{Expr, Stmt, StmtKind};
use crate::preproc::{MaskKind, Masked};
use crate::syntax::field;
use std::ops::Range;
use tree_sitter::Node;

/// How far before a declaration its first, blanked word is looked for.
const LOOK_BACK: usize = 4096;

/// What a statement is called that nothing visible defines.
pub(super) const UNSEEN_MACRO: &str = "a macro that nothing visible defines";

impl<'t> Lowerer<'t> {
    /// What was blanked between two positions, or before the first one with nothing but blank and comments between.
    fn masked_between(&self, start: usize, end: usize, kind: MaskKind) -> Option<&'t Masked> {
        if self.fixed_span.is_some() {
            return None;
        }
        let masked = &self.outline.tree.expanded.masked;
        let mut first = masked.partition_point(|mask| (mask.start as usize) < start);
        let mut from = start;
        while let Some(before) = first.checked_sub(1).and_then(|at| masked.get(at))
            && from.saturating_sub(before.end as usize) < LOOK_BACK
            && self.source.get(before.end as usize..from).is_some_and(is_blank)
        {
            (first, from) = (first - 1, before.start as usize);
        }
        masked
            .get(first..)?
            .iter()
            .take_while(|mask| (mask.start as usize) < end)
            .find(|mask| mask.kind == kind)
    }

    /// What the `_Pragma` says that was blanked directly before a statement, wherever macros brought it from.
    pub(super) fn pragma_operator(&self, node: Node<'_>) -> Option<&'t str> {
        if self.fixed_span.is_some() {
            return None;
        }
        let start = self.start(node);
        let masked = &self.outline.tree.expanded.masked;
        let mask = masked[..masked.partition_point(|mask| (mask.start as usize) < start)].last()?;
        let between = self.source.get(mask.end as usize..start)?;
        let args = mask.args.trim();
        let unquoted = args.strip_prefix('"').and_then(|args| args.strip_suffix('"')).unwrap_or(args);
        (mask.kind == MaskKind::Pragma && is_blank(between)).then_some(unquoted)
    }

    /// The macros blanked between two positions where a statement stands, each as one.
    pub(super) fn masked_statements(&self, start: usize, end: usize, out: &mut Vec<Stmt>) {
        if self.fixed_span.is_some() {
            return;
        }
        let masked = &self.outline.tree.expanded.masked;
        let first = masked.partition_point(|mask| (mask.start as usize) < start);
        let between = masked[first..].iter().take_while(|mask| (mask.end as usize) <= end);
        for mask in between.filter(|mask| mask.kind == MaskKind::Statement) {
            let span = self.span_of(mask.start as usize, mask.end as usize);
            out.push(Stmt { kind: StmtKind::Unsupported(UNSEEN_MACRO, Vec::new()), span });
        }
    }

    /// The alignment blanked from a declaration.
    pub(super) fn masked_align(&mut self, start: usize, end: usize) -> Option<Expr> {
        let mask = self.masked_between(start, end, MaskKind::Align)?;
        self.mask_arguments(mask).into_iter().next()
    }

    /// Whether `__attribute__((packed))` was blanked in a record's head or directly after its body.
    pub(super) fn is_masked_packed(&self, start: usize, end: usize) -> bool {
        let after = self.source.as_bytes().get(end..).unwrap_or_default();
        let blank = after.iter().take(LOOK_BACK).take_while(|byte| byte.is_ascii_whitespace()).count();
        self.masked_between(start, end + blank, MaskKind::Packed).is_some()
    }

    /// The alignment blanked directly after a record's body.
    pub(super) fn masked_align_after(&mut self, end: usize) -> Option<Expr> {
        let after = self.source.as_bytes().get(end..).unwrap_or_default();
        let blank = after.iter().take(LOOK_BACK).take_while(|byte| byte.is_ascii_whitespace()).count();
        let masked = &self.outline.tree.expanded.masked;
        let first = masked.partition_point(|mask| (mask.start as usize) < end);
        let mask = masked.get(first).filter(|mask| mask.kind == MaskKind::Align)?;
        let near = (mask.start as usize) < end + blank && self.fixed_span.is_none();
        near.then(|| self.mask_arguments(mask).into_iter().next())?
    }

    /// Whether `__device__` was blanked in the head of a lambda.
    pub(super) fn is_masked_device(&self, start: usize, end: usize) -> bool {
        self.masked_between(start, end, MaskKind::DeviceLambda).is_some()
    }

    /// Whether a macro was blanked from a function's head that says that it is a kernel.
    pub(super) fn is_masked_kernel(&self, head: Range<usize>) -> bool {
        self.masked_between(head.start, head.end, MaskKind::Kernel).is_some()
    }

    /// The launch bounds blanked from a function's head.
    pub(super) fn masked_launch_bounds(&mut self, head: Range<usize>) -> Vec<Expr> {
        match self.masked_between(head.start, head.end, MaskKind::LaunchBounds) {
            Some(mask) => self.mask_arguments(mask),
            None => Vec::new(),
        }
    }

    /// A mask's arguments as expressions that stand where the mask does.
    fn mask_arguments(&mut self, mask: &'t Masked) -> Vec<Expr> {
        let span = self.outline.span(mask.start as usize, mask.end as usize);
        let mut inner = Lowerer::new(self.outline, &[]);
        inner.source = &mask.args;
        inner.fixed_span = Some(span);
        // The last of them may be followed by a line comment.
        let lowered = inner.reparse(0..mask.args.len(), "x=f(", "\n);", &[], |me, right| {
            let arguments = field(right, "arguments")?;
            Some(children(arguments).into_iter().map(|argument| me.full_expr(argument)).collect())
        });
        lowered.flatten().unwrap_or_default()
    }
}

/// Whether a text is nothing but white space, comments and lines that go on.
fn is_blank(text: &str) -> bool {
    let mut rest = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\\');
    while !rest.is_empty() {
        let behind = match rest.strip_prefix("/*") {
            Some(comment) => comment.split_once("*/").map(|(_, behind)| behind),
            None => rest
                .strip_prefix("//")
                .map(|comment| comment.split_once('\n').map_or("", |(_, behind)| behind)),
        };
        let Some(behind) = behind else { return false };
        rest = behind.trim_start_matches(|c: char| c.is_whitespace() || c == '\\');
    }
    true
}
