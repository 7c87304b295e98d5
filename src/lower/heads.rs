//! Of which class is a function, and for which templates?
//!
//! The `template <...>` in front of a definition belong to the class, to the function, or to both.

use super::lowerer::Lowerer;
use super::nodes::function_declarator;
use super::outline::{Level, Outline};
use crate::ir::{Expr, ExprKind, Name, TemplateArg, TemplateParam, Type};
use crate::syntax::field;
use crate::syntax::query::Found;
use tree_sitter::Node;

/// What encloses a function or record, as far as its meaning depends on it.
pub(super) struct Enclosing<'t> {
    /// The `template <...>` heads that belong to it, outermost first.
    pub templates: Vec<Node<'t>>,
    /// The innermost class, if it is a member.
    pub owner: Option<Name>,
    /// The `template <...>` heads of the classes around it, outermost first.
    pub owner_templates: Vec<Node<'t>>,
    /// The functions around it.
    pub functions: Vec<Node<'t>>,
}

impl<'t> Enclosing<'t> {
    pub(super) fn new(outline: &Outline<'t>, levels: &[Level<'t>]) -> Enclosing<'t> {
        let template = |level: &&Level<'t>| level.what == Found::Template;
        let own = levels.iter().rev().take_while(template).count();
        let (outer, own) = levels.split_at(levels.len() - own);
        let owner = outer.iter().rev().find(|level| level.what == Found::Record);
        let functions = outer.iter().filter(|level| level.what == Found::Function);
        Enclosing {
            templates: own.iter().map(|level| level.node).collect(),
            owner: owner.and_then(|level| outline.record_names.get(&level.node.id()).cloned()),
            owner_templates: outer.iter().filter(template).map(|level| level.node).collect(),
            functions: functions.map(|level| level.node).collect(),
        }
    }

    /// The node where the text of the whole item starts.
    pub(super) fn outermost(&self, node: Node<'t>) -> Node<'t> {
        self.templates.first().copied().unwrap_or(node)
    }
}

/// Of which class a function is, and for which templates.
pub(super) struct Heads {
    pub(super) owner: Option<Name>,
    pub(super) owner_params: Vec<TemplateParam>,
    pub(super) owner_args: Vec<TemplateArg>,
    pub(super) template_params: Vec<TemplateParam>,
    pub(super) specialization: Vec<TemplateArg>,
    /// What the function's own templates ask of their arguments.
    pub(super) constraints: Vec<TemplateParam>,
}

fn is_expansion(arg: &TemplateArg) -> bool {
    matches!(arg, TemplateArg::Value(Expr { kind: ExprKind::Expansion(_), .. }))
}

/// Whether a template argument is a parameter and nothing else.
fn is_parameter(arg: &TemplateArg, name: &Name) -> bool {
    let path = match arg {
        TemplateArg::Type(Type::Named(path)) => path,
        TemplateArg::Value(Expr { kind: ExprKind::Path(path), .. }) => path,
        TemplateArg::Value(Expr { kind: ExprKind::Expansion(pack), .. }) => return pack == name,
        _ => return false,
    };
    path.name == *name && path.qualifiers.is_empty() && path.args.is_none()
}

impl<'t> Lowerer<'t> {
    /// Of which class a function is, and for which templates.
    pub(super) fn heads(&mut self, node: Node<'t>, declarator: Node<'t>, enclosing: &Enclosing<'t>) -> Heads {
        let friend = enclosing.owner.is_some()
            && node.parent().is_some_and(|parent| parent.kind() == "friend_declaration");
        let mut owner = enclosing.owner.clone().filter(|_| !friend);
        let mut owner_heads = enclosing.owner_templates.clone();
        let mut heads = enclosing.templates.clone();
        if let Some((class, class_is_template)) = self.qualified_owner(node, declarator) {
            owner = Some(class);
            if class_is_template || heads.len() > 1 {
                let count = if heads.len() > 1 { heads.len() - 1 } else { heads.len() };
                owner_heads.extend(heads.drain(..count));
            }
        }
        let mut owner_params = Vec::new();
        for head in owner_heads {
            owner_params.extend(self.template_head(head));
        }
        let owner_args = self.owner_arguments(node, declarator);
        // `template <class T> void S<T>::f()` is written for the template, `void S<T *>::f()` for a specialisation.
        // `void Sum<T, More...>::f()` may be either.
        let is_open = owner_args.len() > 1 && owner_args.iter().any(is_expansion);
        let of_template = !owner_params.is_empty()
            && !is_open
            && owner_args.len() == owner_params.len()
            && owner_args.iter().zip(&owner_params).all(|(arg, param)| is_parameter(arg, &param.name));
        // Of which class in another is not told by these arguments.
        let is_inner = !owner_params.is_empty() && owner.as_deref().is_some_and(|owner| owner.contains("::"));
        let owner_args = if of_template || is_inner { Vec::new() } else { owner_args };
        let explicit = heads.last().is_some_and(|head| self.is_empty_head(*head));
        let mut template_params = Vec::new();
        let mut constraints = Vec::new();
        for head in heads {
            template_params.extend(self.template_head(head));
            constraints.extend(self.constraints(head));
        }
        let specialization = match explicit {
            // `template <> void f(int)`: what it is for is what its parameters tell.
            true => match self.explicit_arguments(declarator) {
                none if none.is_empty() => vec![TemplateArg::Type(Type::Auto)],
                written => written,
            },
            false => Vec::new(),
        };
        Heads { owner, owner_params, owner_args, template_params, specialization, constraints }
    }

    /// The name of a function with what stands before it.
    fn whole_name<'n>(&self, node: Node<'n>, declarator: Node<'n>) -> Option<Node<'n>> {
        match self.conversion_before(node) {
            Some(conversion) => Some(conversion),
            None => field(function_declarator(declarator)?, "declarator"),
        }
    }

    /// In `S::operator float()` the grammar takes `S::operator` for a type, and `float` for a name.
    pub(super) fn conversion_before<'n>(&self, node: Node<'n>) -> Option<Node<'n>> {
        let ty = field(node, "type")?;
        let mut name = ty;
        while name.kind() == "qualified_identifier" {
            name = field(name, "name")?;
        }
        (self.text(name) == "operator").then_some(ty)
    }

    /// For `S<T>::f`: `S`, and whether it has template arguments.
    fn qualified_owner(&mut self, node: Node<'_>, declarator: Node<'_>) -> Option<(Name, bool)> {
        let mut name = self.whole_name(node, declarator)?;
        let (mut owner, mut templated) = (String::new(), false);
        while name.kind() == "qualified_identifier" {
            if let Some(scope) = field(name, "scope") {
                templated |= scope.kind() == "template_type";
                let text = self.text(field(scope, "name").unwrap_or(scope));
                let namespace = self.outline.namespaces.contains(text) && !self.outline.types.contains(text);
                if !namespace {
                    owner.push_str(if owner.is_empty() { "" } else { "::" });
                    owner.push_str(text);
                }
            }
            name = field(name, "name")?;
        }
        (!owner.is_empty()).then(|| (self.name(&owner), templated))
    }

    /// For `S<float>::f`: `float`. Not of a class in another.
    fn owner_arguments(&mut self, node: Node<'_>, declarator: Node<'_>) -> Vec<TemplateArg> {
        let mut name = self.whole_name(node, declarator);
        let mut found = Vec::new();
        while let Some(qualified) = name.filter(|name| name.kind() == "qualified_identifier") {
            if !found.is_empty() {
                return Vec::new();
            }
            let scope = field(qualified, "scope").filter(|scope| scope.kind() == "template_type");
            if let Some(args) = scope.and_then(|scope| field(scope, "arguments")) {
                found = self.template_args(args);
            }
            name = field(qualified, "name");
        }
        found
    }

    fn explicit_arguments(&mut self, declarator: Node<'_>) -> Vec<TemplateArg> {
        let Some(function) = function_declarator(declarator) else { return Vec::new() };
        let mut name = field(function, "declarator");
        while let Some(node) = name {
            match node.kind() {
                "qualified_identifier" => name = field(node, "name"),
                "template_function" | "template_method" => {
                    let args = field(node, "arguments");
                    return args.map(|args| self.template_args(args)).unwrap_or_default();
                }
                _ => break,
            }
        }
        Vec::new()
    }
}
