//! Which variables does a union without a name declare in a function?
//!
//! `union { float f; int i; };` is `union U { float f; int i; } u;` for names that nobody knows, with `f` for `u.f` and
//! `i` for `u.i`. So it becomes a variable, and references to its members.

use super::lowerer::Lowerer;
use super::nodes::{anonymous_union, children};
use super::outline::innermost_name;
use super::specifiers::Specifiers;
use crate::ir::{Declaration, Expr, ExprKind, Stmt, StmtKind, Storage, Type};
use crate::syntax::field;
use tree_sitter::Node;

impl Lowerer<'_> {
    /// Declares the members of a union without a name, where a statement or a declaration is one.
    pub(super) fn anonymous_union(&mut self, node: Node<'_>, specifiers: &Specifiers, out: &mut Vec<Stmt>) {
        let Some(union) = anonymous_union(node) else { return };
        let Some(body) = field(union, "body") else { return };
        let ty = self.type_specifier(union);
        let (name, span) = (self.name("(union)"), self.span(union));
        let whole = self.plain_declaration(node, name, span, ty, None);
        let whole_of = whole.local;
        let storage = specifiers.storage(true);
        if storage == Storage::Shared {
            self.kinds.shared.insert(whole_of);
        }
        let (align, volatile) = (specifiers.align.clone(), specifiers.is_volatile);
        let mut declarations = vec![Declaration { storage, align, volatile, ..whole }];
        for name_node in names(body) {
            let (name, span) = (self.name(self.text(name_node)), self.span(name_node));
            let base = Box::new(Expr { kind: ExprKind::Local(whole_of), span });
            let member = ExprKind::Member { base, name: name.clone(), arrow: false, args: None, class: None };
            let init = Some(Expr { kind: member, span });
            let ty = Type::Reference(Box::new(Type::Auto));
            declarations.push(self.plain_declaration(node, name, span, ty, init));
        }
        out.push(self.stmt_at(node, StmtKind::Declare(declarations)));
    }
}

/// The names of the members, with those in structs without a name.
fn names<'n>(body: Node<'n>) -> Vec<Node<'n>> {
    let (mut found, mut waiting) = (Vec::new(), vec![body]);
    while let Some(body) = waiting.pop() {
        for member in children(body).into_iter().filter(|it| it.kind() == "field_declaration") {
            let mut cursor = member.walk();
            let declarators: Vec<Node<'n>> =
                member.children_by_field_name("declarator", &mut cursor).collect();
            let inner =
                field(member, "type").filter(|ty| declarators.is_empty() && field(*ty, "name").is_none());
            waiting.extend(inner.and_then(|ty| field(ty, "body")));
            found.extend(declarators.into_iter().filter_map(innermost_name));
        }
    }
    found
}
