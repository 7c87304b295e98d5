//! What does a template ask of its arguments with `requires` and concepts?
//!
//! It becomes what `enable_if` says of them, a type that there is where it holds, as the default of a parameter
//! without a name:
//!
//! ```text
//! template <class T> requires Wide<T> void f(T);     template <class T, class = std::enable_if_t<Wide<T>>> void f(T);
//! template <Wide T> void f(T);                       the same
//! ```
//!
//! A concept is a constant that is a template.

use super::lowerer::Lowerer;
use super::nodes::{child_of_kind, children, first_child};
use crate::ir::{
    BinaryOp, Declaration, Expr, ExprKind, Path, Scalar, TemplateArg, TemplateParam, TemplateParamKind, Type,
};
use crate::syntax::field;
use tree_sitter::Node;

/// Concepts of the standard library that `standard.h` has.
const STANDARD: [&str; 5] = ["integral", "signed_integral", "unsigned_integral", "floating_point", "same_as"];

impl Lowerer<'_> {
    /// `concept Wide = sizeof(T) > 4;`
    pub(super) fn concept(&mut self, node: Node<'_>) -> Option<Declaration> {
        let name = field(node, "name")?;
        let (init, span) = (children(node).pop()?, self.span(name));
        let init = self.constraint(init);
        let name = self.name(self.text(name));
        let declared = self.plain_declaration(node, name, span, Type::Scalar(Scalar::Bool), Some(init));
        Some(Declaration { constant: true, ..declared })
    }

    /// Whether the type of a template's parameter is a concept, so that the parameter is a type.
    pub(super) fn is_constrained(&self, param: Node<'_>) -> bool {
        let Some(mut ty) = field(param, "type") else { return false };
        let mut scopes = Vec::new();
        while ty.kind() == "qualified_identifier" {
            scopes.extend(field(ty, "scope").map(|scope| self.text(scope)));
            let Some(name) = field(ty, "name") else { return false };
            ty = name;
        }
        if ty.kind() == "template_type" {
            let Some(name) = field(ty, "name") else { return false };
            ty = name;
        }
        let name = self.text(ty);
        match scopes.as_slice() {
            ["std"] | ["cuda", "std"] => STANDARD.contains(&name),
            _ => self.outline.concepts.contains(name),
        }
    }

    /// What the head of a template asks for.
    pub(super) fn constraints(&mut self, head: Node<'_>) -> Vec<TemplateParam> {
        let mut found = Vec::new();
        for param in field(head, "parameters").map(children).unwrap_or_default() {
            if param.kind() == "parameter_declaration" && self.is_constrained(param) {
                found.extend(self.constraint_of(param));
            }
        }
        found.extend(self.required(head));
        found
    }

    /// What the `requires` behind a template's head asks for, or one behind the parameters of a function.
    pub(super) fn required(&mut self, node: Node<'_>) -> Option<TemplateParam> {
        // The field is that of a parenthesis, too.
        let constraint = first_child(child_of_kind(node, "requires_clause")?)?;
        let constraint = self.constraint(constraint);
        Some(asked(constraint))
    }

    /// `Wide T` asks for `Wide<T>`, `Same<int> T` for `Same<T, int>`.
    fn constraint_of(&mut self, param: Node<'_>) -> Option<TemplateParam> {
        let (concept, name) = (field(param, "type")?, field(param, "declarator")?);
        let span = self.span(concept);
        let mut path = self.path(concept)?;
        let own = Path::simple(self.name(self.text(name)));
        let own = TemplateArg::Type(Type::Named(Box::new(own)));
        path.args = Some(std::iter::once(own).chain(path.args.unwrap_or_default()).collect());
        Some(asked(Expr { kind: ExprKind::Path(Box::new(path)), span }))
    }

    fn constraint(&mut self, node: Node<'_>) -> Expr {
        let op = match node.kind() {
            "constraint_conjunction" => BinaryOp::LogicalAnd,
            "constraint_disjunction" => BinaryOp::LogicalOr,
            "type_identifier" | "template_type" | "qualified_identifier" => return self.name_expr(node),
            _ => return self.full_expr(node),
        };
        let span = self.span(node);
        let (left, right) = (field(node, "left"), field(node, "right"));
        let (Some(left), Some(right)) = (left, right) else {
            return Expr { kind: ExprKind::Unsupported("requires expression"), span };
        };
        let (left, right) = (self.constraint(left), self.constraint(right));
        Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span }
    }
}

/// A parameter that there is nothing for unless a constraint holds.
fn asked(constraint: Expr) -> TemplateParam {
    let path = Path {
        qualifiers: vec![("std".into(), Vec::new())],
        name: "enable_if_t".into(),
        args: Some(vec![TemplateArg::Value(constraint)]),
        global: false,
    };
    let kind = TemplateParamKind::Type(Some(Type::Named(Box::new(path))));
    TemplateParam { name: "".into(), kind, pack: false }
}
