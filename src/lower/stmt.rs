//! What does this statement do?
//!
//! Statements are appended to a list, because some become several and a few become none. Every
//! statement of the text leaves something behind, unless it does nothing at run time.

use super::damage::{has_direct_damage, is_harmless};
use super::lowerer::{Lowerer, TOO_DEEP};
use super::masks::UNSEEN_MACRO;
use super::nodes::{child_of_kind, children, first_child};
use super::specifiers::Specifiers;
use crate::ir::unrolling::Unrolling;
use crate::ir::{Case, Expr, ExprKind, Stmt, StmtKind};
use crate::syntax::field;
use tree_sitter::Node;

/// The body of a loop, and what [`StmtKind::Loop`] says of it.
pub(super) struct Body {
    pub body: Vec<Stmt>,
    pub unrolling: Unrolling,
    pub number: u32,
}

/// `switch (n) { case 0: do { f(); case 1: g(); } while (h()); }`.
const LABEL_INSIDE: &str = "case label inside a statement";

impl Lowerer<'_> {
    /// The statements of a body in a scope of its own: `{ ... }` or a single statement.
    pub(super) fn body(&mut self, node: Node<'_>) -> Vec<Stmt> {
        let mark = self.scope.enter();
        let mut out = Vec::new();
        match node.kind() {
            "compound_statement" => self.stmts(node, &mut out),
            _ => self.stmt(node, &mut out),
        }
        self.scope.leave(mark);
        out
    }

    /// The children of a node as statements, in the scope at hand.
    pub(super) fn stmts(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mut cursor = node.walk();
        let mut before = self.start(node);
        for child in node.named_children(&mut cursor) {
            self.masked_statements(before, self.start(child), out);
            self.stmt(child, out);
            before = self.end(child);
        }
        self.masked_statements(before, self.end(node), out);
    }

    /// One statement, or whatever stands in its place.
    pub(super) fn stmt(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        if self.depth >= super::lowerer::MAX_DEPTH {
            out.push(self.stmt_at(node, StmtKind::Unsupported(TOO_DEEP, Vec::new())));
            return;
        }
        self.depth += 1;
        self.stmt_inner(node, out);
        self.depth -= 1;
    }

    fn stmt_inner(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        match node.kind() {
            "expression_statement" => self.expression_stmt(node, out),
            "declaration" => self.declaration_or_product(node, out),
            "compound_statement" => {
                let body = self.body(node);
                out.push(self.stmt_at(node, StmtKind::Block(body)));
            }
            "if_statement" => self.if_stmt(node, out),
            "for_statement" => self.for_stmt(node, out),
            "while_statement" => self.while_stmt(node, out),
            "do_statement" => self.do_stmt(node, out),
            "switch_statement" => self.switch_stmt(node, out),
            "return_statement" => {
                let value = first_child(node).map(|value| self.full_expr(value));
                out.push(self.stmt_at(node, StmtKind::Return(value)));
            }
            "break_statement" => out.push(self.stmt_at(node, StmtKind::Break)),
            "continue_statement" => out.push(self.stmt_at(node, StmtKind::Continue)),
            _ => self.rarer_stmt(node, out),
        }
    }

    fn rarer_stmt(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        match node.kind() {
            "comment"
            | "using_declaration"
            | "static_assert_declaration"
            | "namespace_alias_definition"
            | "preproc_call"
            | "preproc_include"
            | "preproc_def"
            | "preproc_function_def"
            | "attribute_declaration"
            | "attribute_specifier"
            | "preproc_directive" => {}
            "struct_specifier"
            | "class_specifier"
            | "union_specifier"
            | "enum_specifier"
            | "type_definition"
            | "alias_declaration"
            | "template_declaration" => {
                self.local_types(node, out);
                self.anonymous_union(node, &Specifiers::default(), out);
            }
            "attributed_statement" => {
                for inner in children(node) {
                    self.stmt(inner, out);
                }
            }
            "preproc_if" | "preproc_ifdef" | "preproc_else" | "preproc_elif" | "preproc_elifdef" => {
                self.preprocessor_leftover(node, out);
            }
            "for_range_loop" => self.range_for(node, out),
            "goto_statement" => {
                let label = field(node, "label").map_or("", |label| self.text(label));
                self.labels.any = true;
                out.push(self.stmt_at(node, StmtKind::Goto(self.name(label))));
            }
            "labeled_statement" => {
                let parts = children(node);
                let label = parts.first().map_or("", |label| self.text(*label));
                out.push(self.stmt_at(node, StmtKind::Label(self.name(label))));
                parts.into_iter().skip(1).for_each(|inner| self.stmt(inner, out));
            }
            "try_statement" => self.try_stmt(node, out),
            "throw_statement" => {
                if let Some(thrown) = children(node).into_iter().next() {
                    let thrown = self.expr(thrown);
                    out.push(self.stmt_at(node, StmtKind::Expr(thrown)));
                }
                out.push(self.stmt_at(node, StmtKind::Throw));
            }
            "case_statement" => {
                self.labels.inside += 1;
                let mut body = Vec::new();
                self.case_body(node, &mut body);
                out.push(self.stmt_at(node, StmtKind::Unsupported(LABEL_INSIDE, body)));
            }
            "function_definition" => self.nested_function(node, out),
            "co_return_statement" | "co_yield_statement" => {
                self.note_unfollowed(self.text(node));
                out.push(self.stmt_at(node, StmtKind::Unsupported("coroutine statement", Vec::new())));
            }
            "ERROR" => self.damaged_stmt(node, out),
            _ if node.is_missing() => {}
            _ => {
                let expr = self.full_expr(node);
                out.push(self.stmt_at(node, StmtKind::Expr(expr)));
            }
        }
    }

    fn expression_stmt(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let parts = children(node);
        if let [only] = parts.as_slice() {
            if self.pointer_to_array(node, *only, out) || self.template_declaration(node, *only, out) {
                return;
            }
            let expr = self.full_expr(*only);
            // A name alone does nothing, unless it is a macro.
            let kind = match expr.kind {
                ExprKind::Path(_) => StmtKind::Unsupported(UNSEEN_MACRO, Vec::new()),
                _ => StmtKind::Expr(expr),
            };
            out.push(self.stmt_at(node, kind));
            return;
        }
        // Nothing: the empty statement. More than one: an error among them.
        for part in parts {
            match part.is_error() {
                true => self.damaged_stmt(part, out),
                false => {
                    let expr = self.full_expr(part);
                    out.push(self.stmt_at(node, StmtKind::Expr(expr)));
                }
            }
        }
    }

    fn field_body(&mut self, node: Node<'_>, name: &str) -> Vec<Stmt> {
        field(node, name).map(|body| self.body(body)).unwrap_or_default()
    }

    /// Wraps what stands in `inner` in a block when something precedes it.
    pub(super) fn with_init(
        &self,
        node: Node<'_>,
        mut init: Vec<Stmt>,
        inner: StmtKind,
        out: &mut Vec<Stmt>,
    ) {
        let stmt = self.stmt_at(node, inner);
        if init.is_empty() {
            out.push(stmt);
            return;
        }
        init.push(stmt);
        out.push(self.stmt_at(node, StmtKind::Block(init)));
    }

    /// The condition of an `if`, `while` or `switch`; what it declares goes to `init`.
    fn condition(&mut self, node: Node<'_>, init: &mut Vec<Stmt>) -> Expr {
        let damaged = Expr { kind: ExprKind::Damaged, span: self.span(node) };
        let Some(clause) = field(node, "condition") else { return damaged };
        if clause.kind() != "condition_clause" {
            return self.full_expr(clause);
        }
        if let Some(first) = field(clause, "initializer") {
            self.init_stmt(first, init);
        }
        if has_direct_damage(clause, self) {
            let kind = self.with_changes(clause, ExprKind::Damaged);
            return Expr { kind, span: self.span(clause) };
        }
        let Some(value) = field(clause, "value") else { return damaged };
        if value.kind() != "declaration" {
            return self.full_expr(value);
        }
        self.declaration_stmt(value, init);
        match init.last() {
            Some(Stmt { kind: StmtKind::Declare(declarations), .. }) => match declarations.last() {
                Some(last) => Expr { kind: ExprKind::Local(last.local), span: last.name_span },
                None => damaged,
            },
            _ => damaged,
        }
    }

    pub(super) fn init_stmt(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        match node.kind() {
            "init_statement" => self.stmts(node, out),
            _ => self.stmt(node, out),
        }
    }

    fn if_stmt(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mark = self.scope.enter();
        let mut init = Vec::new();
        let cond = self.condition(node, &mut init);
        let then = self.field_body(node, "consequence");
        let mut otherwise = Vec::new();
        if let Some(clause) = field(node, "alternative") {
            let inner = self.scope.enter();
            match children(clause).as_slice() {
                [only] if only.kind() == "compound_statement" => otherwise = self.body(*only),
                parts => parts.iter().for_each(|part| self.stmt(*part, &mut otherwise)),
            }
            self.scope.leave(inner);
        }
        self.scope.leave(mark);
        self.with_init(node, init, StmtKind::If { cond, then, otherwise }, out);
        self.direct_errors(node, out);
    }

    fn for_stmt(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mark = self.scope.enter();
        let mut init = Vec::new();
        if let Some(first) = field(node, "initializer") {
            self.init_stmt(first, &mut init);
        }
        let cond = match field(node, "condition") {
            _ if has_direct_damage(node, self) => {
                Some(Expr { kind: ExprKind::Damaged, span: self.span(node) })
            }
            Some(cond) => Some(self.full_expr(cond)),
            None => None,
        };
        let step = field(node, "update").map(|step| self.full_expr(step));
        let Body { body, unrolling, number } = self.loop_body(node);
        self.scope.leave(mark);
        self.with_init(
            node,
            init,
            StmtKind::Loop { cond, body, step, body_first: false, unrolling, number },
            out,
        );
    }

    /// The body, and what the compiler is to make of the loop.
    pub(super) fn loop_body(&mut self, node: Node<'_>) -> Body {
        let before = self.loops;
        let body = self.field_body(node, "body");
        let innermost = self.loops == before;
        let number = self.loops;
        self.loops = self.loops.wrapping_add(1);
        let asked = self.asked_to_unroll(node);
        let unrolling = match asked {
            Some(asked) => asked,
            None if innermost => Unrolling::OfInnermost,
            None => Unrolling::OfOuter,
        };
        Body { body, unrolling, number }
    }

    /// What stands before a loop says of unrolling it.
    fn asked_to_unroll(&self, node: Node<'_>) -> Option<Unrolling> {
        let said = self.pragma_operator(node).or_else(|| self.pragma_directive(node))?.trim();
        let said = said.split_once("//").map_or(said, |(said, _)| said);
        let said = said.split_once("/*").map_or(said, |(said, _)| said);
        if said.trim() == "nounroll" {
            return Some(Unrolling::Forbidden);
        }
        let factor = said.strip_prefix("unroll")?.trim().trim_start_matches('(').trim_end_matches(')');
        Some(match factor.trim().parse() {
            Ok(1) => Unrolling::Forbidden,
            Ok(rounds @ 2..) => Unrolling::By(rounds),
            _ => Unrolling::Asked,
        })
    }

    /// What the `#pragma` on the line before a statement says. Directives are blank in the text that is parsed.
    fn pragma_directive(&self, node: Node<'_>) -> Option<&str> {
        if self.is_behind_another_of_macro(node) {
            return None;
        }
        let text = &self.outline.tree.expanded.file.text;
        let before = text.get(..self.span(node).start as usize).unwrap_or("").trim_end();
        let line = before.rsplit('\n').next().unwrap_or("").trim_start();
        line.strip_prefix('#')?.trim_start().strip_prefix("pragma")
    }

    /// Whether a statement comes out of a macro that has something else before it: what stands before the
    /// macro's use is then not about it.
    fn is_behind_another_of_macro(&self, node: Node<'_>) -> bool {
        let start = self.start(node);
        let before = self.source.get(..start).unwrap_or("").trim_end().len();
        if before == 0 || self.fixed_span.is_some() {
            return false;
        }
        let (last, first) = (self.span_of(before - 1, before), self.span_of(start, start + 1));
        first.start <= last.start && last.start < first.end
    }

    fn while_stmt(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mark = self.scope.enter();
        let mut init = Vec::new();
        let cond = self.condition(node, &mut init);
        let Body { body, unrolling, number } = self.loop_body(node);
        self.scope.leave(mark);
        let again =
            |cond, body| StmtKind::Loop { cond, body, step: None, body_first: false, unrolling, number };
        if init.is_empty() {
            out.push(self.stmt_at(node, again(Some(cond), body)));
            return;
        }
        // `while (T x = f())` declares anew in every iteration.
        let stop = Stmt { kind: StmtKind::Break, span: cond.span };
        let span = cond.span;
        let test = StmtKind::If { cond, then: body, otherwise: vec![stop] };
        init.push(Stmt { kind: test, span });
        out.push(self.stmt_at(node, again(None, init)));
    }

    fn do_stmt(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let Body { body, unrolling, number } = self.loop_body(node);
        let cond = field(node, "condition").map(|cond| self.full_expr(cond));
        let cond = Some(cond.unwrap_or(Expr { kind: ExprKind::Damaged, span: self.span(node) }));
        let made = StmtKind::Loop { cond, body, step: None, body_first: true, unrolling, number };
        out.push(self.stmt_at(node, made));
    }

    fn switch_stmt(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mark = self.scope.enter();
        let mut init = Vec::new();
        let value = self.condition(node, &mut init);
        let mut cases: Vec<Case> = Vec::new();
        let labels_around = std::mem::take(&mut self.labels.inside);
        let Some(body) = field(node, "body") else { return };
        if body.kind() != "compound_statement" {
            let inner = self.body(body);
            self.scope.leave(mark);
            let kind = StmtKind::Unsupported("switch without a block", inner);
            return self.with_init(node, init, kind, out);
        }
        let mut cursor = body.walk();
        for child in body.named_children(&mut cursor) {
            self.switch_part(child, &mut cases, &mut init);
        }
        self.scope.leave(mark);
        // Where such a label leads is not followed, so that all that follows may happen or not.
        let kind = match std::mem::replace(&mut self.labels.inside, labels_around) {
            0 => StmtKind::Switch { value, cases },
            _ => {
                init.push(self.stmt_at(node, StmtKind::Expr(value)));
                let bodies = cases.into_iter().flat_map(|case| case.body).collect();
                StmtKind::Unsupported(LABEL_INSIDE, bodies)
            }
        };
        self.with_init(node, init, kind, out);
    }

    fn switch_part(&mut self, child: Node<'_>, cases: &mut Vec<Case>, init: &mut Vec<Stmt>) {
        if child.kind().starts_with("preproc_") && child.named_child_count() > 0 && self.depth < 100 {
            let mut cursor = child.walk();
            self.depth += 1;
            for (index, part) in child.named_children(&mut cursor).enumerate() {
                let named = ["name", "condition"].map(|name| field(child, name));
                if !named.contains(&Some(part)) && (index > 0 || child.kind() == "preproc_else") {
                    self.switch_part(part, cases, init);
                }
            }
            self.depth -= 1;
            return;
        }
        if child.kind() != "case_statement" {
            match cases.last_mut() {
                Some(case) => {
                    let mut body = std::mem::take(&mut case.body);
                    self.stmt(child, &mut body);
                    case.body = body;
                }
                // Before the first label only declarations have a meaning, without their values.
                None => self.stmt(child, init),
            }
            return;
        }
        let value = field(child, "value").map(|value| self.full_expr(value));
        let mut body = Vec::new();
        self.case_body(child, &mut body);
        cases.push(Case { value, body });
    }

    fn case_body(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let value = field(node, "value");
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor) {
            if Some(child) != value {
                self.stmt(child, out);
            }
        }
    }

    fn try_stmt(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let mut body = self.field_body(node, "body");
        for clause in children(node).into_iter().filter(|clause| clause.kind() == "catch_clause") {
            let mark = self.scope.enter();
            if let Some(list) = field(clause, "parameters") {
                self.params(list);
            }
            let handler = self.field_body(clause, "body");
            self.scope.leave(mark);
            body.push(self.stmt_at(clause, StmtKind::Unsupported("catch", handler)));
        }
        out.push(self.stmt_at(node, StmtKind::Try(body)));
    }

    /// `FOR_EACH(i, n) { ... }` with an unknown macro parses as a function without a type. A true
    /// function in here lost its place to damage, and is lowered on its own.
    fn nested_function(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        if field(node, "type").is_some() || child_of_kind(node, "__global__").is_some() {
            self.note_unfollowed(self.text(node));
            out.push(self.stmt_at(node, StmtKind::Unsupported("function inside a function", Vec::new())));
            return;
        }
        if let Some(head) = field(node, "declarator") {
            self.note_unfollowed(self.text(head));
        }
        let body = self.field_body(node, "body");
        out.push(self.stmt_at(node, StmtKind::Unsupported("macro with a block", body)));
    }

    /// `#if` in text that did not go through the preprocessor: every branch may run.
    fn preprocessor_leftover(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let skipped = ["name", "condition"].map(|name| field(node, name));
        let mut body = Vec::new();
        for child in children(node) {
            if !skipped.contains(&Some(child)) {
                self.stmt(child, &mut body);
            }
        }
        if !body.is_empty() {
            out.push(self.stmt_at(node, StmtKind::Unsupported("preprocessor condition", body)));
        }
    }

    /// What is intact inside an error, after a mark for the error itself.
    fn damaged_stmt(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        if is_harmless(node, self) {
            return;
        }
        out.push(self.stmt_at(node, StmtKind::Damaged));
        let is_intact = |child: &Node<'_>| {
            let kind = child.kind();
            kind.ends_with("_statement") || kind == "declaration" || child.is_error()
        };
        let mut cursor = node.walk();
        let intact: Vec<Node<'_>> = node.named_children(&mut cursor).filter(is_intact).collect();
        let mut text = self.text(node).to_owned();
        for child in intact.iter().rev() {
            let at = self.start(node);
            let range = self.start(*child) - at..self.end(*child) - at;
            if text.get(range.clone()).is_some() {
                text.replace_range(range.clone(), &" ".repeat(range.len()));
            }
        }
        self.note_unfollowed(&text);
        let changes = self.changes(&text, self.start(node)).into_iter();
        out.extend(changes.map(|change| self.stmt_at(node, StmtKind::Expr(change))));
        intact.into_iter().for_each(|child| self.stmt(child, out));
    }

    /// Errors beside the parts of a statement.
    fn direct_errors(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        if !node.has_error() {
            return;
        }
        for child in children(node).into_iter().filter(|child| child.is_error()) {
            self.damaged_stmt(child, out);
        }
    }
}
