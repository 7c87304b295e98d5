//! Which variables does this declare, where do they live, and what do they start as?

use super::damage::has_direct_damage;
use super::lowerer::Lowerer;
use super::nodes::{anonymous_union, child_of_kind, children, first_child, is_argument};
use super::scope::Binding;
use super::specifiers::Specifiers;
use super::types::Declared;
use crate::ir::{Declaration, Expr, ExprKind, LocalId, Name, Stmt, StmtKind, Storage, Through, Type};
use crate::source::Span;
use crate::syntax::field;
use tree_sitter::Node;

impl Lowerer<'_> {
    /// The specifiers of a declaration, field or function, wherever among its children they stand.
    pub(super) fn specifiers(&mut self, node: Node<'_>) -> Specifiers {
        let mut out = Specifiers::default();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "type_qualifier" | "storage_class_specifier" | "ERROR" | "__device__" | "__global__" => {
                    for word in self.text(child).split_whitespace() {
                        out.word(word);
                    }
                    if let Some(alignas) = child_of_kind(child, "alignas_qualifier") {
                        out.align = self.alignas(alignas);
                    }
                }
                "alignas_qualifier" => out.align = self.alignas(child),
                "attribute_specifier" => out.align = self.aligned_attribute(child).or(out.align),
                "init_declarator" | "function_declarator" | "compound_statement" => break,
                _ => {}
            }
        }
        out
    }

    pub(super) fn alignas(&mut self, node: Node<'_>) -> Option<Expr> {
        let value = first_child(node)?;
        if value.kind() == "type_descriptor" {
            let ty = self.type_descriptor(value);
            return Some(Expr { kind: ExprKind::AlignofType(ty), span: self.span(value) });
        }
        Some(self.full_expr(value))
    }

    /// `__attribute__((aligned(16)))`
    pub(super) fn aligned_attribute(&mut self, node: Node<'_>) -> Option<Expr> {
        let call = first_child(first_child_any(node)?)?;
        let callee = field(call, "function")?;
        if !matches!(self.text(callee), "aligned" | "__aligned__") {
            return None;
        }
        first_child(field(call, "arguments")?).map(|value| self.full_expr(value))
    }

    /// A declaration in a function; its names are in force afterwards.
    pub(super) fn declaration_stmt(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let start = self.start(node);
        self.local_types(node, out);
        let mut specifiers = self.specifiers(node);
        if specifiers.align.is_none() {
            specifiers.align = self.masked_align(start, self.end(node));
        }
        if self.in_function && anonymous_union(node).is_some() {
            return self.anonymous_union(node, &specifiers, out);
        }
        let base = self.type_of(node);
        let damaged = has_direct_damage(node, self);
        let mut declarations = Vec::new();
        let mut cursor = node.walk();
        for declarator in node.children_by_field_name("declarator", &mut cursor) {
            self.declare_one(node, declarator, &base, &specifiers, &mut declarations);
        }
        // `if (T x = v)` has the value beside the declarator.
        let value = field(node, "value").or_else(|| field(node, "default_value"));
        if let (Some(value), Some(last)) = (value, declarations.last_mut()) {
            last.init = Some(self.full_expr(value));
        }
        if damaged {
            for declaration in &mut declarations {
                declaration.ty = Type::Opaque;
                let kind = self.with_changes(node, ExprKind::Damaged);
                declaration.init = Some(Expr { kind, span: declaration.span });
            }
            if declarations.is_empty() {
                out.push(self.stmt_at(node, StmtKind::Damaged));
            }
        }
        if !declarations.is_empty() {
            out.push(self.stmt_at(node, StmtKind::Declare(declarations)));
        }
    }

    fn declare_one(
        &mut self,
        node: Node<'_>,
        declarator: Node<'_>,
        base: &Type,
        specifiers: &Specifiers,
        out: &mut Vec<Declaration>,
    ) {
        let mut base = base.clone();
        if base == Type::Auto && self.is_decltype_of_place(node, declarator) {
            base = Type::Reference(Box::new(base));
        }
        let declared = self.declarator(base, declarator);
        if let Some(function) = declared.function {
            if !self.is_variable_after_all(function, &declared) {
                return;
            }
            let mut init = self.constructor_arguments(function);
            if let Some(Expr { kind: ExprKind::InitList(args), span }) = init {
                init = Some(Expr { kind: ExprKind::Construct(declared.ty.clone(), args), span });
            }
            let plain = Declared { function: None, ..declared };
            out.extend(self.finish_declaration(node, plain, specifiers, init));
            return;
        }
        if !declared.bindings.is_empty() {
            return self.structured_binding(node, declarator, declared, out);
        }
        // The initialiser hardly mentions the value that it initialises; an outer variable of the same name is what
        // real code means by it. Its type is another matter.
        let name = declared.name.filter(|_| declared.ty != Type::Auto).map(|it| self.text(it).to_owned());
        let outer = self.initialised.take();
        self.initialised = name.map(|name| (name, declared.ty.clone()));
        let init = self.initialiser(declarator, &declared.ty);
        self.initialised = outer;
        out.extend(self.finish_declaration(node, declared, specifiers, init));
    }

    /// `auto [x, y] = p;` is `auto e = p; auto &x = e.0, &y = e.1;` for a variable without a name.
    fn structured_binding(
        &mut self,
        node: Node<'_>,
        declarator: Node<'_>,
        declared: Declared<'_>,
        out: &mut Vec<Declaration>,
    ) {
        let span = self.span(declarator);
        let init = self.initialiser(declarator, &declared.ty);
        let name = self.name("(parts)");
        let whole = self.plain_declaration(node, name, span, declared.ty, init);
        let whole_of = whole.local;
        out.push(whole);
        for (at, name_node) in declared.bindings.into_iter().enumerate() {
            let (name, span) = (self.name(self.text(name_node)), self.span(name_node));
            let base = Box::new(Expr { kind: ExprKind::Local(whole_of), span });
            let part = ExprKind::Member {
                base,
                name: self.name(&at.to_string()),
                arrow: false,
                args: None,
                class: None,
            };
            let init = Some(Expr { kind: part, span });
            out.push(self.plain_declaration(node, name, span, Type::Reference(Box::new(Type::Auto)), init));
        }
    }

    /// The declaration of an automatic variable.
    pub(super) fn plain_declaration(
        &mut self,
        node: Node<'_>,
        name: Name,
        name_span: Span,
        ty: Type,
        init: Option<Expr>,
    ) -> Declaration {
        Declaration {
            local: self.declare(&name),
            namespace: self.namespace.clone(),
            name,
            template_params: Vec::new(),
            specialization: Vec::new(),
            ty,
            storage: Storage::Automatic,
            align: None,
            init,
            name_span,
            span: self.span(node),
            dimension_spans: Vec::new(),
            constant: false,
            internal: false,
            volatile: false,
        }
    }

    /// `decltype(auto)` of something in parentheses, of an element or of a call that hands one back is a
    /// reference to it.
    fn is_decltype_of_place(&self, node: Node<'_>, declarator: Node<'_>) -> bool {
        let decltype = field(node, "type").and_then(|ty| child_of_kind(ty, "decltype")).is_some();
        let places =
            ["parenthesized_expression", "subscript_expression", "pointer_expression", "call_expression"];
        decltype && field(declarator, "value").is_some_and(|value| places.contains(&value.kind()))
    }

    fn finish_declaration(
        &mut self,
        node: Node<'_>,
        declared: Declared<'_>,
        specifiers: &Specifiers,
        init: Option<Expr>,
    ) -> Option<Declaration> {
        let mut name_node = declared.name?;
        let mut specialization = Vec::new();
        if name_node.kind() == "template_function" {
            specialization =
                field(name_node, "arguments").map(|args| self.template_args(args)).unwrap_or_default();
            name_node = field(name_node, "name")?;
        }
        let name = self.name(self.text(name_node));
        let constant =
            specifiers.constexpr || declared.constant_pointer || (specifiers.is_const && !declared.indirect);
        let local = if self.in_function { self.declare(&name) } else { LocalId(0) };
        if self.in_function {
            let through = match specifiers.is_volatile {
                true => Through::Untold,
                false => Through::of(&declared.ty, specifiers.is_const),
            };
            self.note_declared(local, constant, through);
            self.note_volatile(local, specifiers.is_volatile);
        }
        if let Some(init) = &init
            && constant
            && self.in_function
        {
            self.scope.constants.insert(local, init.clone());
        }
        if specifiers.shared && self.in_function {
            self.kinds.shared.insert(local);
        }
        if matches!(declared.ty, Type::Reference(_)) && self.in_function {
            self.kinds.references.insert(local);
        }
        if matches!(declared.ty, Type::Array(..)) && self.in_function {
            self.kinds.arrays.insert(local);
        }
        Some(Declaration {
            local,
            namespace: self.namespace.clone(),
            name,
            template_params: Vec::new(),
            specialization,
            ty: declared.ty,
            storage: specifiers.storage(self.in_function),
            align: specifiers.align.clone(),
            init,
            name_span: self.span(name_node),
            span: self.span(node),
            dimension_spans: declared.dimensions,
            constant,
            internal: specifiers.is_static || self.is_unnamed,
            volatile: specifiers.is_volatile,
        })
    }

    /// The value of an `init_declarator`.
    pub(super) fn initialiser(&mut self, declarator: Node<'_>, ty: &Type) -> Option<Expr> {
        if declarator.kind() != "init_declarator" {
            return None;
        }
        let span = self.span(declarator);
        if has_direct_damage(declarator, self) {
            return Some(Expr { kind: self.with_changes(declarator, ExprKind::Damaged), span });
        }
        let value = field(declarator, "value")?;
        let assigned = child_of_kind(declarator, "=").is_some();
        let direct = match value.kind() {
            "argument_list" => true,
            "initializer_list" => !assigned && !matches!(ty, Type::Array(..)),
            _ => false,
        };
        if !direct {
            return Some(self.full_expr(value));
        }
        let value_span = self.span(value);
        let mut args: Vec<Expr> = children(value).into_iter().map(|arg| self.full_expr(arg)).collect();
        let kind = match ty {
            Type::Auto | Type::Reference(_) if args.len() == 1 => return args.pop(),
            _ => ExprKind::Construct(ty.clone(), args),
        };
        Some(Expr { kind, span: value_span })
    }

    /// `dim3 block(BX, BY);` parses as a function's declaration. Inside a function it is a variable
    /// unless its parameters can only be types.
    fn is_variable_after_all(&mut self, function: Node<'_>, declared: &Declared<'_>) -> bool {
        let Some(list) = field(function, "parameters") else { return false };
        let params = children(list);
        if params.is_empty() || matches!(declared.ty, Type::Void) {
            return false;
        }
        params.iter().all(|param| self.may_be_value(*param))
    }

    fn may_be_value(&mut self, param: Node<'_>) -> bool {
        if param.is_error() {
            return self.in_function && is_argument(param);
        }
        if param.kind() != "parameter_declaration" || child_of_kind(param, "type_qualifier").is_some() {
            return false;
        }
        let Some(ty) = field(param, "type") else { return false };
        let value = match ty.kind() {
            "type_identifier" => {
                let text = self.text(ty);
                match self.scope.get(text) {
                    Some(Binding::Slot(_) | Binding::Value) => true,
                    _ => self.in_function && !self.is_type_name(text) || self.is_file_variable(text),
                }
            }
            "qualified_identifier" | "template_type" => self.in_function,
            _ => false,
        };
        let declarator = field(param, "declarator");
        let plain_name = declarator.is_some_and(|inner| inner.kind() == "identifier");
        value && !plain_name
    }

    fn is_file_variable(&self, name: &str) -> bool {
        self.outline.variables.contains(name) && !self.outline.types.contains(name)
    }

    /// The arguments of a variable that parsed as a function, as an `InitList`.
    fn constructor_arguments(&mut self, function: Node<'_>) -> Option<Expr> {
        let list = field(function, "parameters")?;
        let span = self.span(list);
        let range = self.start(list)..self.end(list);
        let again = self.reparse(range, "x=f", ";", &[], |me, right| {
            let arguments = field(right, "arguments")?;
            Some(children(arguments).into_iter().map(|arg| me.full_expr(arg)).collect())
        });
        let kind = again.flatten().map_or(ExprKind::Damaged, ExprKind::InitList);
        Some(Expr { kind, span })
    }

    /// A declaration at file or namespace scope.
    pub(super) fn file_declarations(&mut self, node: Node<'_>) -> Vec<Declaration> {
        let mut out = Vec::new();
        let mut stmts = Vec::new();
        self.declaration_stmt(node, &mut stmts);
        for stmt in stmts {
            if let StmtKind::Declare(declarations) = stmt.kind {
                out.extend(declarations);
            }
        }
        out
    }
}

fn first_child_any<'n>(node: Node<'n>) -> Option<Node<'n>> {
    node.named_child(0)
}
