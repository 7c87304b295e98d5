//! Which name is written here?

use super::lowerer::Lowerer;
use super::nodes::{child_of_kind, children, first_child, is_trivia};
use super::scope::Binding;
use crate::ir::{Expr, ExprKind, Name, Path, TemplateArg, Type};
use crate::syntax::field;
use tree_sitter::Node;

impl Lowerer<'_> {
    /// A name with its qualifiers and template arguments; `None` when it is not a name.
    pub(super) fn path(&mut self, node: Node<'_>) -> Option<Path> {
        let mut qualifiers = Vec::new();
        let mut node = node;
        let global = node.kind() == "qualified_identifier" && field(node, "scope").is_none();
        while node.kind() == "qualified_identifier" {
            if let Some(scope) = field(node, "scope") {
                let (name, args) = self.segment(scope)?;
                qualifiers.push((name, args.unwrap_or_default()));
            }
            node = field(node, "name")?;
        }
        if qualifiers.len() > 32 {
            return None;
        }
        let (name, args) = self.segment(node)?;
        self.replace_namespace(&mut qualifiers);
        let mut path = Path { qualifiers, name, args, global };
        self.replace_alias(&mut path);
        Some(path)
    }

    /// The alias of a namespace becomes the namespace.
    fn replace_namespace(&self, qualifiers: &mut Vec<(Name, Vec<TemplateArg>)>) {
        let known = |(name, args): &(Name, Vec<TemplateArg>)| {
            args.is_empty().then(|| self.outline.namespace_aliases.get(&**name)).flatten()
        };
        if let Some(Some(parts)) = qualifiers.first().and_then(known) {
            let named = parts.iter().map(|part| (self.name(part), Vec::new()));
            qualifiers.splice(..1, named);
        }
    }

    /// A local alias at the start of `path` becomes what it stands for.
    fn replace_alias(&mut self, path: &mut Path) {
        let first = path.qualifiers.first().map_or(&path.name, |(name, _)| name);
        let replacement = match self.scope.get(first) {
            Some(Binding::Alias { ty: Type::Named(named), .. }) => (**named).clone(),
            Some(Binding::TypeName(name)) if name != first => Path::simple(name.clone()),
            _ => return,
        };
        if path.qualifiers.is_empty() {
            // The bare alias is a type, which `named_type` replaces.
            return;
        }
        let mut qualifiers = replacement.qualifiers;
        qualifiers.push((replacement.name, replacement.args.unwrap_or_default()));
        qualifiers.extend(path.qualifiers.drain(1..));
        path.qualifiers = qualifiers;
    }

    fn segment(&mut self, node: Node<'_>) -> Option<(Name, Option<Vec<TemplateArg>>)> {
        match node.kind() {
            "identifier"
            | "type_identifier"
            | "namespace_identifier"
            | "field_identifier"
            | "primitive_type"
            | "literal_suffix"
            | "statement_identifier" => {
                let text = self.text(node);
                (!text.is_empty()).then(|| (self.name(text), None))
            }
            "template_type" | "template_function" | "template_method" => {
                let name = self.text(field(node, "name")?);
                let name = self.name(name);
                let args = field(node, "arguments")?;
                Some((name, Some(self.template_args(args))))
            }
            "dependent_name" | "dependent_type" | "dependent_identifier" | "dependent_field_identifier" => {
                let inner = first_child(node)?;
                self.deeper(|me| me.segment(inner))?
            }
            "operator_name" => Some((self.operator_name(node), None)),
            "destructor_name" => Some((self.destructor_name(node)?, None)),
            "operator_cast" => {
                let text: String = self.text(node).split_whitespace().collect::<Vec<_>>().join(" ");
                let text = text.replace("operator ", "operator");
                Some((self.name(&text), None))
            }
            _ => None,
        }
    }

    /// `~Tile`, whatever stands between its parts.
    pub(super) fn destructor_name(&mut self, node: Node<'_>) -> Option<Name> {
        let mut cursor = node.walk();
        let name = node.named_children(&mut cursor).find(|child| !is_trivia(*child))?;
        let text = format!("~{}", self.text(name));
        Some(self.name(&text))
    }

    /// `operator()`, whatever stands between its parts.
    pub(super) fn operator_name(&mut self, node: Node<'_>) -> Name {
        let mut cursor = node.walk();
        let parts = node.children(&mut cursor).filter(|part| !is_trivia(*part));
        let text: String = parts.flat_map(|part| self.text(part).split_whitespace()).collect();
        self.name(&text)
    }

    /// The arguments between `<` and `>`.
    pub(super) fn template_args(&mut self, list: Node<'_>) -> Vec<TemplateArg> {
        let lowered =
            self.deeper(|me| children(list).into_iter().map(|arg| me.template_arg(arg)).collect::<Vec<_>>());
        lowered.unwrap_or_else(|| vec![TemplateArg::Type(Type::Opaque)])
    }

    fn template_arg(&mut self, node: Node<'_>) -> TemplateArg {
        if node.kind() == "parameter_pack_expansion"
            && let Some(kind) = self.expanded_pack(node)
        {
            return TemplateArg::Value(Expr { kind, span: self.span(node) });
        }
        if node.kind() != "type_descriptor" {
            return TemplateArg::Value(self.expr(node));
        }
        if let Some(call) = self.call_as_function_type(node) {
            return TemplateArg::Value(call);
        }
        let parts = children(node);
        if let [only] = parts.as_slice()
            && matches!(only.kind(), "type_identifier" | "qualified_identifier")
            && child_of_kind(node, "type_qualifier").is_none()
            && let Some(value) = self.member_of_decltype(*only).or_else(|| self.value_named(*only))
        {
            return TemplateArg::Value(value);
        }
        TemplateArg::Type(self.qualified_descriptor(node))
    }

    /// `Ts...`, of a pack by its bare name.
    fn expanded_pack(&mut self, node: Node<'_>) -> Option<ExprKind> {
        let pattern = field(node, "pattern")?;
        let name = match children(pattern).as_slice() {
            [] => pattern,
            [only] if pattern.kind() == "type_descriptor" => *only,
            _ => return None,
        };
        let is_name = matches!(name.kind(), "identifier" | "type_identifier");
        is_name.then(|| ExprKind::Expansion(self.name(self.text(name))))
    }

    /// The value a name stands for, when it is known to be no type.
    fn value_named(&mut self, node: Node<'_>) -> Option<Expr> {
        self.is_value(node).then(|| self.name_expr(node))
    }

    /// Whether a name is known to be no type.
    pub(super) fn is_value(&self, node: Node<'_>) -> bool {
        let text = self.text(node);
        match self.scope.get(text) {
            Some(Binding::Slot(_) | Binding::Value) => true,
            Some(_) => false,
            None if node.kind() == "type_identifier" => {
                self.outline.variables.contains(text) && !self.outline.types.contains(text)
            }
            None => {
                let last = text.rsplit("::").next().unwrap_or(text).trim();
                self.outline.variables.contains(last) && !self.outline.types.contains(last)
            }
        }
    }

    /// `decltype(x)::value`, also by the name of a local alias: the member of `x`, which is not run.
    fn member_of_decltype(&mut self, node: Node<'_>) -> Option<Expr> {
        if node.kind() != "qualified_identifier" {
            return None;
        }
        let (scope, name) = (field(node, "scope")?, field(node, "name")?);
        let ty = match scope.kind() {
            "decltype" => self.type_specifier(scope),
            _ => match self.scope.get(self.text(scope)) {
                Some(Binding::Alias { ty: Type::Decltype(of), .. }) => Type::Decltype(of.clone()),
                _ => return None,
            },
        };
        let Type::Decltype(of) = ty else { return None };
        let span = self.span(node);
        // What its members are is asked of an object: only one that a name stands for has no effects.
        let kind = match (of.kind, self.segment(name)) {
            (ExprKind::Local(local), Some((name, args))) => {
                let base = Box::new(Expr { kind: ExprKind::Local(local), span });
                ExprKind::Member { base, name, arrow: false, args, class: None }
            }
            _ => ExprKind::Unsupported("a member of the type that `decltype` tells"),
        };
        Some(Expr { kind, span })
    }

    /// A name as an expression: a slot when it is one.
    pub(super) fn name_expr(&mut self, node: Node<'_>) -> Expr {
        let span = self.span(node);
        if let Some(again) = self.comparison_as_template(node) {
            return again;
        }
        let text = self.text(node);
        // Also `E::A` of a local `enum class E`, whose slot is called so.
        if matches!(
            node.kind(),
            "identifier" | "type_identifier" | "field_identifier" | "qualified_identifier" | "number_literal"
        ) && let Some(Binding::Slot(local)) = self.scope.get(text)
        {
            let local = *local;
            self.slot_uses = self.slot_uses.wrapping_add(1);
            if self.in_local_record {
                let known = self.scope.constants.get(&local).cloned();
                let unknown = ExprKind::Unsupported("local variable in a local type");
                return known.unwrap_or(Expr { kind: unknown, span });
            }
            let slot = Expr { kind: ExprKind::Local(self.captured(local)), span };
            if self.kinds.addresses.contains(&local) {
                return Expr { kind: ExprKind::Deref(Box::new(slot)), span };
            }
            return slot;
        }
        if let Some(member) = self.member_of_decltype(node) {
            return member;
        }
        let path = match node.kind() {
            "number_literal" => Some(Path::simple(self.name(text))),
            _ => self.path(node),
        };
        match path {
            Some(path) => Expr { kind: ExprKind::Path(Box::new(path)), span },
            None => Expr { kind: ExprKind::Unsupported("name whose scope is not followed"), span },
        }
    }
}
