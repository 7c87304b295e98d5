//! What does this expression mean?
//!
//! One small function per kind, so that a level of nesting takes little stack even in a build
//! without optimisation.

use super::damage::{has_direct_damage, is_harmless};
use super::literal;
use super::lowerer::{Lowerer, Special, TOO_DEEP};
use super::nodes::{child_of_kind, children, first_child};
use crate::ir::{BinaryOp, Expr, ExprKind, Join, Pack, Scalar, Type, UnaryOp};
use crate::source::Span;
use crate::syntax::field;
use tree_sitter::Node;

/// A binary operator by its spelling.
pub(super) fn binary_operator(text: &str) -> Option<BinaryOp> {
    Some(match text {
        "+" => BinaryOp::Add,
        "-" => BinaryOp::Sub,
        "*" => BinaryOp::Mul,
        "/" => BinaryOp::Div,
        "%" => BinaryOp::Rem,
        "<<" => BinaryOp::Shl,
        ">>" => BinaryOp::Shr,
        "&" | "bitand" => BinaryOp::And,
        "|" | "bitor" => BinaryOp::Or,
        "^" | "xor" => BinaryOp::Xor,
        "&&" | "and" => BinaryOp::LogicalAnd,
        "||" | "or" => BinaryOp::LogicalOr,
        "==" => BinaryOp::Eq,
        "!=" | "not_eq" => BinaryOp::Ne,
        "<" => BinaryOp::Lt,
        "<=" => BinaryOp::Le,
        ">" => BinaryOp::Gt,
        ">=" => BinaryOp::Ge,
        _ => return None,
    })
}

fn compound_operator(text: &str) -> Option<Option<BinaryOp>> {
    match text {
        "=" => Some(None),
        "and_eq" => Some(Some(BinaryOp::And)),
        "or_eq" => Some(Some(BinaryOp::Or)),
        "xor_eq" => Some(Some(BinaryOp::Xor)),
        _ => binary_operator(text.strip_suffix('=')?).map(Some),
    }
}

impl Lowerer<'_> {
    /// An expression as a part of another; see [`Lowerer::full_expr`] for one that stands alone.
    pub(super) fn expr(&mut self, node: Node<'_>) -> Expr {
        let mut node = node;
        if node.kind() == "parenthesized_expression"
            && node.has_error()
            && let Some(kind) = self.deeper(|me| me.comma_parts(node)).flatten()
        {
            return Expr { kind, span: self.span(node) };
        }
        while node.kind() == "parenthesized_expression" && !has_direct_damage(node, self) {
            match first_child(node) {
                Some(inner) if has_direct_damage(inner, self) => match self.sequence(inner) {
                    Some(expr) => return expr,
                    None => node = inner,
                },
                Some(inner) if inner.kind() != "compound_statement" => node = inner,
                _ => break,
            }
        }
        let span = self.span(node);
        let kind = if node.is_missing() || node.is_error() {
            ExprKind::Damaged
        } else if self.depth >= super::lowerer::MAX_DEPTH {
            ExprKind::Unsupported(TOO_DEEP)
        } else {
            self.depth += 1;
            let kind = self.expr_kind(node);
            self.depth -= 1;
            match kind {
                ExprKind::Damaged | ExprKind::Unsupported(_) => self.with_changes(node, kind),
                kind => kind,
            }
        };
        Expr { kind, span }
    }

    fn boxed(&mut self, node: Node<'_>) -> Box<Expr> {
        Box::new(self.expr(node))
    }

    /// A field's expression; damaged when the parser found none.
    fn operand(&mut self, node: Node<'_>, name: &str) -> Box<Expr> {
        match field(node, name) {
            Some(operand) => self.boxed(operand),
            None => Box::new(Expr { kind: ExprKind::Damaged, span: self.span(node) }),
        }
    }

    fn expr_kind(&mut self, node: Node<'_>) -> ExprKind {
        let kind = node.kind();
        if node.has_error()
            && !matches!(kind, "initializer_list" | "lambda_expression" | "call_expression")
            && has_direct_damage(node, self)
        {
            return ExprKind::Damaged;
        }
        match kind {
            "identifier"
            | "qualified_identifier"
            | "template_function"
            | "type_identifier"
            | "field_identifier"
            | "template_type"
            | "operator_name"
            | "dependent_name"
            | "primitive_type"
            | "dependent_identifier" => self.name_expr(node).kind,
            "number_literal" => self.number(node),
            "char_literal" => literal::character(self.text(node)),
            "true" => ExprKind::Int(1, Scalar::Bool),
            "false" => ExprKind::Int(0, Scalar::Bool),
            "null" => ExprKind::Null,
            "this" => ExprKind::This,
            "string_literal" | "raw_string_literal" | "concatenated_string" => {
                let text = self.string(node);
                ExprKind::Str(self.name(&text))
            }
            "binary_expression" => self.binary(node),
            "assignment_expression" => self.assignment(node),
            "unary_expression" => self.unary(node),
            "pointer_expression" => self.pointer(node),
            "update_expression" => self.update(node),
            "conditional_expression" => self.conditional(node),
            "comma_expression" => {
                let left = self.operand(node, "left");
                ExprKind::Comma(left, self.operand(node, "right"))
            }
            "subscript_expression" => self.subscript(node),
            "field_expression" => self.member(node),
            "call_expression" => self.call(node),
            _ => self.rarer_expr_kind(node),
        }
    }

    fn rarer_expr_kind(&mut self, node: Node<'_>) -> ExprKind {
        match node.kind() {
            "cast_expression" => self.cast(node),
            "compound_literal_expression" => self.compound_literal(node),
            "initializer_list" => ExprKind::InitList(self.list(node)),
            "sizeof_expression" => self.sizeof(node),
            "alignof_expression" => match field(node, "type") {
                Some(of) => ExprKind::AlignofType(self.type_specifier(of)),
                None => ExprKind::Unsupported("alignof"),
            },
            "offsetof_expression" => self.offsetof(node),
            "lambda_expression" => self.lambda(node),
            "gnu_asm_expression" => self.asm(node),
            "condition_declaration" | "declaration" => ExprKind::Unsupported("declaration in an expression"),
            "extension_expression" => first_child(node).map_or(ExprKind::Damaged, |e| self.expr(e).kind),
            "type_descriptor" => match field(node, "type") {
                Some(name) => self.name_expr(name).kind,
                None => ExprKind::Unsupported("type as a value"),
            },
            "user_defined_literal" => ExprKind::Unsupported("user-defined literal"),
            "initializer_pair" => self.designated(node),
            "new_expression" => ExprKind::Unsupported("new expression"),
            "delete_expression" => ExprKind::Unsupported("delete expression"),
            "parameter_pack_expansion" | "fold_expression" => self.pack(node),
            "requires_expression" | "requires_clause" => ExprKind::Unsupported("requires expression"),
            "co_await_expression" => ExprKind::Unsupported("co_await expression"),
            "parenthesized_expression" if has_direct_damage(node, self) => ExprKind::Damaged,
            "parenthesized_expression" => ExprKind::Unsupported("statement expression"),
            "compound_statement" => ExprKind::Unsupported("statement expression"),
            "decltype" | "sized_type_specifier" => ExprKind::Unsupported("type as a value"),
            _ => ExprKind::Unsupported("expression of an unknown kind"),
        }
    }

    /// `.member = value` in a list in braces.
    fn designated(&mut self, node: Node<'_>) -> ExprKind {
        let mut cursor = node.walk();
        let designators: Vec<Node<'_>> = node.children_by_field_name("designator", &mut cursor).collect();
        let kind = ExprKind::Unsupported("designated initialiser");
        match (designators.as_slice(), field(node, "value")) {
            ([member], Some(value)) => {
                // A comment may stand before it.
                let mut inside = member.walk();
                let name = member.named_children(&mut inside).find(|it| it.kind() == "field_identifier");
                name.map_or(kind, |name| {
                    ExprKind::Designated(self.text(name).into(), Box::new(self.expr(value)))
                })
            }
            _ => self.with_changes(node, kind),
        }
    }

    /// `f(xs)...`, `(xs + ...)`, `(... + xs)`, `(xs + ... + x)`
    fn pack(&mut self, node: Node<'_>) -> ExprKind {
        let is_fold = node.kind() == "fold_expression";
        let side = |me: &mut Self, name: &str| {
            let side = field(node, name).filter(|side| side.is_named())?;
            Some(me.expr(side))
        };
        let (left, right) = match is_fold {
            true => (side(self, "left"), side(self, "right")),
            false => (side(self, "pattern"), None),
        };
        let op = field(node, "operator").map(|op| self.text(op));
        let join = op.and_then(|op| match op {
            "," => Some(Join::Comma),
            _ => binary_operator(op).map(Join::Binary).or_else(|| compound_operator(op).map(Join::Assign)),
        });
        let what = if is_fold { "fold expression" } else { "pack expansion" };
        let kind = self.with_changes(node, ExprKind::Unsupported(what));
        if left.is_none() && right.is_none() || is_fold && join.is_none() {
            return kind;
        }
        let otherwise = Expr { kind, span: self.span(node) };
        ExprKind::Pack(Box::new(Pack { left, right, join, otherwise }))
    }

    fn number(&mut self, node: Node<'_>) -> ExprKind {
        if matches!(self.specials.get(&self.start(node)), Some(Special::Variable)) {
            return self.name_expr(node).kind;
        }
        match literal::number(self.text(node)) {
            ExprKind::Unary(op, mut operand) => {
                operand.span = self.span(node);
                ExprKind::Unary(op, operand)
            }
            kind => kind,
        }
    }

    /// The text of a string, pieces joined; pieces that are names (of unknown macros) are left out.
    pub(super) fn string(&self, node: Node<'_>) -> String {
        if node.kind() == "concatenated_string" {
            return children(node).into_iter().take(10_000).map(|piece| self.string_piece(piece)).collect();
        }
        self.string_piece(node)
    }

    fn string_piece(&self, node: Node<'_>) -> String {
        match node.kind() {
            "raw_string_literal" => {
                child_of_kind(node, "raw_string_content").map_or(String::new(), |c| self.text(c).to_string())
            }
            "string_literal" => {
                let text = self.text(node);
                let open = text.find('"').map_or(0, |at| at + 1);
                let close = text.rfind('"').unwrap_or(open).max(open);
                literal::unescape(text.get(open..close).unwrap_or(""))
            }
            _ => String::new(),
        }
    }

    fn binary(&mut self, node: Node<'_>) -> ExprKind {
        let (Some(left), Some(op)) = (field(node, "left"), field(node, "operator")) else {
            return ExprKind::Damaged;
        };
        if matches!(op.kind(), "-" | "+" | "*" | "&")
            && let Some(ty) = self.parenthesized_type(left)
        {
            return self.cast_patch(left, ty).kind;
        }
        if op.kind() == ">"
            && let Some(comparison) = self.comparison_with_shift(node, left, op)
        {
            return comparison.kind;
        }
        let at = self.start(op);
        let operator = match self.specials.get(&at) {
            Some(Special::Less) => Some(BinaryOp::Lt),
            _ => binary_operator(op.kind()),
        };
        let left = self.boxed(left);
        let right = self.operand(node, "right");
        match operator {
            Some(operator) => ExprKind::Binary(operator, left, right),
            None => ExprKind::Unsupported("operator"),
        }
    }

    fn assignment(&mut self, node: Node<'_>) -> ExprKind {
        if let Some(again) = self.comparison_as_target(node) {
            return again.kind;
        }
        let conditionals = std::iter::successors(field(node, "left"), |it| field(*it, "alternative"))
            .take_while(|it| it.kind() == "conditional_expression")
            .count();
        let left = self.operand(node, "left");
        let right = self.operand(node, "right");
        let op = field(node, "operator").and_then(|op| compound_operator(op.kind()));
        match op {
            Some(op) => assigned_to_last(op, *left, right, conditionals).kind,
            None => ExprKind::Unsupported("operator"),
        }
    }

    fn unary(&mut self, node: Node<'_>) -> ExprKind {
        let Some(op) = field(node, "operator") else { return ExprKind::Damaged };
        let at = self.start(op);
        let operand = self.operand(node, "argument");
        if let Some(Special::Cast(ty)) = self.specials.get(&at) {
            return ExprKind::Cast(ty.clone(), operand);
        }
        let op = match op.kind() {
            "-" => UnaryOp::Neg,
            "+" => UnaryOp::Plus,
            "!" | "not" => UnaryOp::Not,
            "~" | "compl" => UnaryOp::BitNot,
            _ => return ExprKind::Unsupported("operator"),
        };
        ExprKind::Unary(op, operand)
    }

    fn pointer(&mut self, node: Node<'_>) -> ExprKind {
        let operand = self.operand(node, "argument");
        match field(node, "operator").map(|op| op.kind()) {
            Some("*") => ExprKind::Deref(operand),
            _ => ExprKind::AddressOf(operand),
        }
    }

    fn update(&mut self, node: Node<'_>) -> ExprKind {
        let (Some(target), Some(op)) = (field(node, "argument"), field(node, "operator")) else {
            return ExprKind::Damaged;
        };
        let by = if op.kind() == "--" { -1 } else { 1 };
        let post = op.start_byte() > target.start_byte();
        ExprKind::Step { target: self.boxed(target), by, post }
    }

    fn conditional(&mut self, node: Node<'_>) -> ExprKind {
        let cond = self.operand(node, "condition");
        let then = match field(node, "consequence") {
            Some(then) => self.boxed(then),
            None => cond.clone(),
        };
        ExprKind::Conditional(cond, then, self.operand(node, "alternative"))
    }

    fn subscript(&mut self, node: Node<'_>) -> ExprKind {
        if let Some(patch) = self.postfix_of_cast(node) {
            return patch.kind;
        }
        let base = self.operand(node, "argument");
        let span = self.span(node);
        let indices = match field(node, "indices") {
            Some(list) => self.list(list),
            None => Vec::new(),
        };
        let join = |left: Expr, right: Expr| {
            let span = left.span.to(right.span);
            Expr { kind: ExprKind::Comma(Box::new(left), Box::new(right)), span }
        };
        let many = indices.len() > 64;
        let index = indices.into_iter().take(64).reduce(join);
        match index {
            Some(index) if !many => ExprKind::Index(base, Box::new(index)),
            _ => ExprKind::Index(base, Box::new(Expr { kind: ExprKind::Damaged, span })),
        }
    }

    fn member(&mut self, node: Node<'_>) -> ExprKind {
        if let Some(patch) = self.postfix_of_cast(node) {
            return patch.kind;
        }
        let Some(mut member) = field(node, "field") else { return ExprKind::Damaged };
        let arrow = match field(node, "operator").map(|op| op.kind()) {
            Some("->") => true,
            Some(".") => false,
            _ => return ExprKind::Unsupported("pointer to member"),
        };
        let base = self.operand(node, "argument");
        let mut class = None;
        while member.kind() == "qualified_field_identifier" || member.kind() == "qualified_identifier" {
            class = field(member, "scope").or(class);
            match field(member, "name") {
                Some(name) => member = name,
                None => return ExprKind::Damaged,
            }
        }
        let class = class.map(|class| Box::new(self.named_type(class)));
        if matches!(member.kind(), "dependent_name" | "dependent_field_identifier")
            && let Some(inner) = first_child(member)
        {
            member = inner;
        }
        match member.kind() {
            "field_identifier" | "identifier" => {
                ExprKind::Member { base, name: self.name(self.text(member)), arrow, args: None, class }
            }
            "template_method" | "template_function" => {
                let (Some(name), Some(args)) = (field(member, "name"), field(member, "arguments")) else {
                    return ExprKind::Damaged;
                };
                let name = self.name(self.text(name));
                ExprKind::Member { base, name, arrow, args: Some(self.template_args(args)), class }
            }
            "operator_name" => {
                ExprKind::Member { base, name: self.operator_name(member), arrow, args: None, class }
            }
            "destructor_name" => ExprKind::Unsupported("destructor call"),
            _ => ExprKind::Unsupported("member of an unknown kind"),
        }
    }

    fn cast(&mut self, node: Node<'_>) -> ExprKind {
        if let Some(again) = self.variable_as_type(node) {
            return again.kind;
        }
        let ty = self.type_of(node);
        let operand = self.operand(node, "value");
        let unparenthesized = field(node, "value").map(|value| value.kind());
        match unparenthesized {
            Some("assignment_expression" | "cast_expression") => {
                cast_of_target(ty, operand, self.span(node).start)
            }
            _ => ExprKind::Cast(ty, operand),
        }
    }

    fn compound_literal(&mut self, node: Node<'_>) -> ExprKind {
        let ty = self.type_of(node);
        let items = field(node, "value").map(|list| self.list(list));
        ExprKind::Construct(ty, items.unwrap_or_default())
    }

    fn sizeof(&mut self, node: Node<'_>) -> ExprKind {
        if let Some(ty) = field(node, "type") {
            return ExprKind::SizeofType(self.type_specifier(ty));
        }
        let value = field(node, "value");
        if child_of_kind(node, "...").is_some() {
            let pack = value.filter(|value| value.kind() == "identifier");
            let unknown = ExprKind::Unsupported("sizeof...");
            return pack.map_or(unknown, |pack| ExprKind::SizeofPack(self.name(self.text(pack))));
        }
        let Some(value) = value else {
            return ExprKind::Unsupported("sizeof");
        };
        if let Some(ty) = self.parenthesized_type(value) {
            return ExprKind::SizeofType(ty);
        }
        ExprKind::SizeofExpr(self.boxed(value))
    }

    fn offsetof(&mut self, node: Node<'_>) -> ExprKind {
        match (field(node, "type"), field(node, "member")) {
            (Some(ty), Some(member)) => {
                ExprKind::Offsetof(self.type_specifier(ty), self.name(self.text(member)))
            }
            _ => ExprKind::Unsupported("offsetof"),
        }
    }

    /// The expressions of an argument or initialiser list, the damaged ones in their places.
    pub(super) fn list(&mut self, node: Node<'_>) -> Vec<Expr> {
        let mut out = Vec::new();
        for item in children(node) {
            if !is_harmless(item, self) {
                out.push(self.expr(item));
            }
        }
        out
    }
}

/// `a ? b : c = d` is `a ? b : (c = d)`, and parses as `(a ? b : c) = d`, with as many conditionals in one another.
fn assigned_to_last(op: Option<BinaryOp>, target: Expr, value: Box<Expr>, conditionals: usize) -> Expr {
    let span = Span { end: value.span.end, ..target.span };
    match target.kind {
        ExprKind::Conditional(cond, then, otherwise) if conditionals > 0 => {
            let otherwise = Box::new(assigned_to_last(op, *otherwise, value, conditionals - 1));
            Expr { kind: ExprKind::Conditional(cond, then, otherwise), span }
        }
        _ => Expr { kind: ExprKind::Assign(op, Box::new(target), value), span },
    }
}

/// `(T&)a = b` assigns to `(T&)a`, but the grammar has it as a cast of `a = b`. `operand` is what is cast, without
/// parentheses around it; `start` is where the cast begins.
fn cast_of_target(ty: Type, operand: Box<Expr>, start: u32) -> ExprKind {
    match operand.kind {
        ExprKind::Assign(op, target, value) => {
            let span = Span { start, ..target.span };
            let target = Expr { kind: ExprKind::Cast(ty, target), span };
            ExprKind::Assign(op, Box::new(target), value)
        }
        _ => ExprKind::Cast(ty, operand),
    }
}
