//! Which statements parse as something else, because the grammar does not know which names are types?

use super::lowerer::Lowerer;
use super::nodes::{children, first_child};
use super::scope::Binding;
use crate::ir::{Expr, Stmt, StmtKind, TemplateArg, Type};
use crate::syntax::field;
use tree_sitter::Node;

impl Lowerer<'_> {
    /// `float (*rows)[33] = ...;` parses as an assignment to `float(*rows)[33]`.
    pub(super) fn pointer_to_array(&mut self, node: Node<'_>, expr: Node<'_>, out: &mut Vec<Stmt>) -> bool {
        let (target, value) = match expr.kind() {
            "assignment_expression" => {
                let plain = field(expr, "operator").is_some_and(|op| op.kind() == "=");
                match (plain, field(expr, "left")) {
                    (true, Some(left)) => (left, field(expr, "right")),
                    _ => return false,
                }
            }
            _ => (expr, None),
        };
        let mut sizes = Vec::new();
        let mut base = target;
        while base.kind() == "subscript_expression" && sizes.len() < 16 {
            let Some(indices) = field(base, "indices") else { return false };
            sizes.push(first_child(indices));
            let Some(argument) = field(base, "argument") else { return false };
            base = argument;
        }
        if sizes.is_empty() || base.kind() != "call_expression" {
            return false;
        }
        let (Some(callee), Some(arguments)) = (field(base, "function"), field(base, "arguments")) else {
            return false;
        };
        let arguments = children(arguments);
        let [pointer] = arguments.as_slice() else { return false };
        let starred = pointer.kind() == "pointer_expression";
        let Some(name) = field(*pointer, "argument").filter(|name| name.kind() == "identifier") else {
            return false;
        };
        let is_type = match callee.kind() {
            "primitive_type" | "sized_type_specifier" => true,
            "identifier" => self.is_type_name(self.text(callee)),
            _ => false,
        };
        if !starred || !is_type {
            return false;
        }
        let reference = field(*pointer, "operator").is_some_and(|op| op.kind() == "&");
        let ty = self.type_specifier(callee);
        let pointee =
            array_of(ty, sizes.into_iter().rev().map(|size| size.map(|size| self.full_expr(size))).collect());
        let ty = match reference {
            true => Type::Reference(Box::new(pointee)),
            false => Type::Pointer(Box::new(pointee)),
        };
        out.push(self.declared_after_all(node, name, ty, value));
        true
    }

    /// `cg::thread_block_tile<32> warp = ...;` parses as two comparisons. Nobody compares like that
    /// for nothing, so `a < b > c` as a statement is the declaration of `c`.
    pub(super) fn template_declaration(
        &mut self,
        node: Node<'_>,
        expr: Node<'_>,
        out: &mut Vec<Stmt>,
    ) -> bool {
        let is = |node: Node<'_>, op: &str| node.kind() == "binary_expression" && operator(node) == Some(op);
        let Some(comparison) = side(expr, "left").filter(|left| is(expr, ">") && is(*left, "<")) else {
            return false;
        };
        let (Some(template), Some(argument), Some(right)) =
            (side(comparison, "left"), side(comparison, "right"), side(expr, "right"))
        else {
            return false;
        };
        let (name, value) = match right.kind() {
            "identifier" => (right, None),
            "assignment_expression" if operator(right) == Some("=") => match side(right, "left") {
                Some(name) => (name, side(right, "right")),
                None => return false,
            },
            _ => return false,
        };
        let is_name = matches!(template.kind(), "identifier" | "qualified_identifier");
        let known = matches!(self.scope.get(self.text(template)), Some(Binding::Slot(_)));
        if !is_name || known || name.kind() != "identifier" {
            return false;
        }
        let Some(mut path) = self.path(template) else { return false };
        path.args = Some(vec![TemplateArg::Value(self.full_expr(argument))]);
        let ty = self.type_of_path(path);
        out.push(self.declared_after_all(node, name, ty, value));
        true
    }

    /// `i < n >> 2` parses as the template `i<n>` that is greater than 2. A local variable or a member is no
    /// template, and nobody writes `>>` there who means two comparisons.
    pub(super) fn comparison_with_shift(
        &mut self,
        node: Node<'_>,
        left: Node<'_>,
        greater: Node<'_>,
    ) -> Option<Expr> {
        let template = template_of(left)?;
        let name = self.text(field(template, "name")?);
        let is_member = left.kind() == "field_expression";
        let is_local = matches!(self.scope.get(name), Some(Binding::Slot(_)));
        if self.end(left) != self.start(greater) || !(is_member || is_local) {
            return None;
        }
        self.comparison_patch(node, template)
    }

    /// `(i < n && j >= m)` parses as an assignment of `m` to `i<n && j>`: nobody writes such a one with the `>` and
    /// the `=` in one.
    pub(super) fn comparison_as_target(&mut self, node: Node<'_>) -> Option<Expr> {
        let (left, op) = (field(node, "left")?, field(node, "operator")?);
        if op.kind() != "=" || self.end(left) != self.start(op) {
            return None;
        }
        self.comparison_patch(node, template_of(left)?)
    }

    /// `t < Sizes<4, 2>::count` parses as `count` of a class `t<Sizes<4, 2>`, `t < math::twice<4>` as the template
    /// `t<math::twice<4>`. A variable has no template arguments.
    pub(super) fn comparison_as_template(&mut self, node: Node<'_>) -> Option<Expr> {
        let template = match node.kind() {
            "qualified_identifier" => field(node, "scope").filter(|scope| scope.kind() == "template_type")?,
            "template_function" => node,
            _ => return None,
        };
        let is_local = matches!(self.scope.get(self.text(field(template, "name")?)), Some(Binding::Slot(_)));
        if is_local { self.comparison_patch(node, template) } else { None }
    }

    /// `power(N)` as a template argument parses as the type of functions that take an `N` and return a `power`.
    /// A value is no parameter, and a function is no type.
    pub(super) fn call_as_function_type(&mut self, descriptor: Node<'_>) -> Option<Expr> {
        if !self.is_call(descriptor) {
            return None;
        }
        let range = self.start(descriptor)..self.end(descriptor);
        self.reparse(range, "x=", ";", &[], |me, right| me.full_expr(right))
    }

    /// Whether a type, or that of a parameter, is a call: what stands before its parentheses is known to be a
    /// function, or what stands in them a value.
    fn is_call(&mut self, described: Node<'_>) -> bool {
        let (Some(callee), Some(declarator)) = (field(described, "type"), field(described, "declarator"))
        else {
            return false;
        };
        let plain = matches!(callee.kind(), "type_identifier" | "qualified_identifier" | "template_type");
        if !plain || children(described).len() != 2 || declarator.kind() != "abstract_function_declarator" {
            return false;
        }
        let Some(parameters) = field(declarator, "parameters").filter(|_| children(declarator).len() == 1)
        else {
            return false;
        };
        let mut name = callee;
        while let Some(inner) = field(name, "name") {
            name = inner;
        }
        let name = self.text(name);
        if self.outline.functions.contains(name) && !self.is_type_name(name) {
            return true;
        }
        let mut types = children(parameters).into_iter().filter(|it| it.kind() == "parameter_declaration");
        types.any(|param| match children(param).as_slice() {
            [only] => self.is_value(*only),
            _ => self.deeper(|me| me.is_call(param)).unwrap_or(false),
        })
    }

    /// The declaration of `name` that a statement is, whatever it was parsed as.
    fn declared_after_all(
        &mut self,
        node: Node<'_>,
        name: Node<'_>,
        ty: Type,
        value: Option<Node<'_>>,
    ) -> Stmt {
        let init = value.map(|value| self.full_expr(value));
        let label = self.name(self.text(name));
        let declaration = self.plain_declaration(node, label, self.span(name), ty, init);
        self.stmt_at(node, StmtKind::Declare(vec![declaration]))
    }

    /// `a * b;` parses as a declaration whatever `a` is.
    pub(super) fn declaration_or_product(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let specifier = field(node, "type").filter(|ty| ty.kind() == "type_identifier");
        let variable =
            specifier.is_some_and(|ty| matches!(self.scope.get(self.text(ty)), Some(Binding::Slot(_))));
        if variable {
            let range = self.start(node)..self.end(node);
            let again = self.reparse(range, "x=", "", &[], |me, right| me.full_expr(right));
            if let Some(expr) = again {
                out.push(self.stmt_at(node, StmtKind::Expr(expr)));
                return;
            }
        }
        self.declaration_stmt(node, out);
    }
}

/// The function or method with template arguments that an expression names.
fn template_of(expr: Node<'_>) -> Option<Node<'_>> {
    match expr.kind() {
        "field_expression" => field(expr, "field").filter(|it| it.kind() == "template_method"),
        "template_function" => Some(expr),
        _ => None,
    }
}

fn operator<'n>(node: Node<'n>) -> Option<&'n str> {
    field(node, "operator").map(|op| op.kind())
}

fn side<'n>(node: Node<'n>, name: &str) -> Option<Node<'n>> {
    field(node, name)
}

/// An array type of these lengths, outermost first.
fn array_of(element: Type, lengths: Vec<Option<Expr>>) -> Type {
    lengths.into_iter().rev().fold(element, |of, length| Type::Array(Box::new(of), length.map(Box::new)))
}
