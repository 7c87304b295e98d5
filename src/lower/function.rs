//! Who may call this function, with what, and what are its parameters?

use super::heads::{Enclosing, Heads};
use super::lowerer::Lowerer;
use super::nodes::{child_of_kind, children, first_child, function_declarator};
use super::outline::declared_name;
use super::scope::Binding;
use super::types::Declared;
use super::waits::may_wait;
use crate::builtins::{ptx, says_lanes};
use crate::ir::found_later::FoundLater;
use crate::ir::{
    Expr, ExprKind, Function, FunctionKind, Mentions, Name, Param, Stmt, StmtKind, TemplateParam,
    TemplateParamKind, Through, Type,
};
use crate::syntax::field;
use std::ops::Range;
use tree_sitter::Node;

/// The last segment of a module-wide record name.
fn last_segment(name: &str) -> &str {
    let name = name.rsplit("::").next().unwrap_or(name);
    name.split('@').next().unwrap_or(name)
}

impl<'t> Lowerer<'t> {
    /// The names that what encloses an item brings into force.
    pub(super) fn bind_local_records(&mut self, enclosing: &Enclosing<'t>) {
        for function in &enclosing.functions {
            for (name, full) in self.outline.local_records.get(&function.id()).into_iter().flatten() {
                self.scope.bind(name.clone(), Binding::TypeName(full.clone()));
            }
        }
    }

    /// A function with a body, or the function among a declaration's declarators.
    pub(super) fn function(
        &mut self,
        node: Node<'t>,
        declarator: Node<'t>,
        enclosing: &Enclosing<'t>,
    ) -> Option<Function> {
        self.in_function = true;
        self.bind_local_records(enclosing);
        let (function_node, name_node) = (function_declarator(declarator), declared_name_of(declarator)?);
        let Heads { owner, owner_params, owner_args, template_params, specialization, mut constraints } =
            self.heads(node, declarator, enclosing);
        let name = self.function_name_of(node, name_node, owner.as_deref());
        self.function_name = name.clone();
        let specifiers = self.specifiers(node);
        let kind = if specifiers.kernel || self.is_masked_kernel(self.head(node, enclosing)) {
            FunctionKind::Kernel
        } else if specifiers.device || specifiers.constexpr {
            FunctionKind::Device
        } else {
            FunctionKind::Host
        };
        // Those of a member that is no template are met where it is called.
        match template_params.is_empty() {
            true => constraints.clear(),
            false => constraints.extend(function_node.and_then(|function| self.required(function))),
        }
        let return_type = self.returned(node, declarator, name_node);
        let list = function_node.and_then(|function| field(function, "parameters"));
        let params = list.map(|list| self.params(list)).unwrap_or_default();
        let mut body = field(node, "body").map(|body| self.function_body(node, body));
        if body.is_none() && child_of_kind(node, "try_statement").is_some() {
            body = Some(vec![self.stmt_at(node, StmtKind::Try(Vec::new()))]);
        }
        // `T() = default;` does nothing but what each constructor begins with.
        let is_default = child_of_kind(node, "default_method_clause").is_some();
        if is_default && params.is_empty() && owner.as_ref() == Some(&name) {
            body = Some(Vec::new());
        }
        let launch_bounds = self.launch_bounds(node, enclosing);
        let outermost = enclosing.outermost(node);
        let span = self.span(outermost).to(self.span(node));
        let name_span = self.span(name_node);
        let waits = body.as_ref().is_some_and(|body| may_wait(&params, body));
        Some(Function {
            name,
            namespace: self.namespace.clone(),
            owner,
            owner_params,
            owner_args,
            kind,
            template_params,
            constraints,
            specialization,
            is_virtual: child_of_kind(node, "virtual").is_some(),
            is_const: function_node.is_some_and(|function| self.is_const_method(function)),
            params,
            return_type,
            locals: std::mem::take(&mut self.locals),
            body,
            launch_bounds,
            block_directive: super::directive::block(&self.outline.tree.expanded, span, name_span),
            damaged: self.outline.damaged.contains(&node.id()),
            calls: FoundLater::default(),
            writes: FoundLater::default(),
            declared_types: FoundLater::default(),
            shared_locals: FoundLater::default(),
            mentions: Mentions {
                volatile: says_volatile(self.text(node)),
                waits,
                atomics: says_atomic(self.text(node)),
                lanes: says_lanes(self.text(node)),
                ..self.outline.mentions.get(&node.id()).copied().unwrap_or_default()
            },
            name_span,
            span,
        })
    }

    /// What a function returns.
    fn returned(&mut self, node: Node<'t>, declarator: Node<'t>, name_node: Node<'t>) -> Type {
        let written = match (field(node, "type"), name_node.kind()) {
            (Some(_), _) if self.conversion_before(node).is_some() => self.named_type(name_node),
            (Some(ty), _) => self.type_specifier(ty),
            (None, "operator_cast") => self.type_of(name_node),
            (None, _) => Type::Void,
        };
        let mut return_type = self.declarator(written, declarator).ty;
        if name_node.kind() == "operator_cast" {
            // `operator T *()`: the pointer stands behind the name.
            let mut inner = field(name_node, "declarator");
            while let Some(pointer) = inner.filter(|node| node.kind() == "abstract_pointer_declarator") {
                return_type = Type::Pointer(Box::new(return_type));
                inner = field(pointer, "declarator");
            }
        }
        return_type
    }

    fn is_const_method(&self, function: Node<'_>) -> bool {
        let mut cursor = function.walk();
        function
            .children(&mut cursor)
            .any(|child| child.kind() == "type_qualifier" && self.text(child) == "const")
    }

    fn function_body(&mut self, node: Node<'_>, body: Node<'_>) -> Vec<Stmt> {
        let mut out = Vec::new();
        if let Some(list) = child_of_kind(node, "field_initializer_list") {
            for field in children(list) {
                self.member_initialiser(field, &mut out);
            }
        }
        match body.kind() {
            "compound_statement" => self.stmts(body, &mut out),
            _ => self.stmt(body, &mut out),
        }
        self.sort_jumps(out)
    }

    /// `: x(a)` becomes `this->x = a`.
    fn member_initialiser(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let parts = children(node);
        let (Some(name), Some(list)) = (parts.first(), parts.last()) else { return };
        let span = self.span(node);
        let Some(name) = initialised_name(*name).filter(|_| parts.len() >= 2) else {
            self.note_unfollowed(self.text(*list));
            out.push(Stmt { kind: StmtKind::Unsupported("base class initialiser", Vec::new()), span });
            return;
        };
        let mut args: Vec<Expr> = children(*list).into_iter().map(|arg| self.full_expr(arg)).collect();
        let value = match args.pop() {
            Some(only) if args.is_empty() => only,
            last => {
                args.extend(last);
                Expr { kind: ExprKind::InitList(args), span }
            }
        };
        let base = Box::new(Expr { kind: ExprKind::This, span });
        let name = self.name(self.text(name));
        let target =
            Expr { kind: ExprKind::Member { base, name, arrow: true, args: None, class: None }, span };
        let kind = ExprKind::Assign(None, Box::new(target), Box::new(value));
        out.push(Stmt { kind: StmtKind::Expr(Expr { kind, span }), span });
    }

    fn function_name_of(&mut self, node: Node<'_>, name: Node<'_>, owner: Option<&str>) -> Name {
        let text = self.text(name);
        if self.conversion_before(node).is_some() {
            return self.name(&format!("operator {text}"));
        }
        match name.kind() {
            "operator_name" => self.operator_name(name),
            "destructor_name" => self.destructor_name(name).unwrap_or_else(|| self.name(text)),
            "operator_cast" => {
                let to = field(name, "type").map_or("", |ty| self.text(ty));
                self.name(&format!("operator {to}"))
            }
            // A constructor is known by its class, whatever class that is nested in.
            _ if owner.is_some_and(|owner| last_segment(owner) == text) => match owner {
                Some(owner) => self.name(owner),
                None => self.name(text),
            },
            _ => self.name(text),
        }
    }

    pub(super) fn is_empty_head(&self, template: Node<'_>) -> bool {
        field(template, "parameters").is_some_and(|list| children(list).is_empty())
    }

    /// The parameters of a `template <...>`; their names are in force afterwards.
    pub(super) fn template_head(&mut self, template: Node<'_>) -> Vec<TemplateParam> {
        let Some(list) = field(template, "parameters") else { return Vec::new() };
        children(list).into_iter().filter_map(|param| self.template_param(param)).collect()
    }

    pub(super) fn template_param(&mut self, node: Node<'_>) -> Option<TemplateParam> {
        let kind = node.kind();
        match kind {
            "type_parameter_declaration"
            | "optional_type_parameter_declaration"
            | "variadic_type_parameter_declaration" => {
                let default = field(node, "default_type");
                let named = field(node, "name").or_else(|| child_of_kind(node, "type_identifier"));
                let name = self.name(named.map_or("", |name| self.text(name)));
                let default = default.map(|ty| self.type_specifier(ty));
                self.bind_template(&name, true);
                let pack = kind == "variadic_type_parameter_declaration";
                Some(TemplateParam { name, kind: TemplateParamKind::Type(default), pack })
            }
            "parameter_declaration" if self.is_constrained(node) => {
                let name = self.name(field(node, "declarator").map_or("", |name| self.text(name)));
                self.bind_template(&name, true);
                Some(TemplateParam { name, kind: TemplateParamKind::Type(None), pack: false })
            }
            "parameter_declaration" | "optional_parameter_declaration" | "variadic_parameter_declaration" => {
                let (declared, _) = self.parameter_type(node);
                let default = field(node, "default_value").map(|value| self.full_expr(value));
                let name = self.name(declared.name.map_or("", |name| self.text(name)));
                self.bind_template(&name, false);
                let pack = declared.pack || kind == "variadic_parameter_declaration";
                Some(TemplateParam { name, kind: TemplateParamKind::Value(declared.ty, default), pack })
            }
            "template_template_parameter_declaration" => {
                let inner = children(node).pop()?;
                let named = child_of_kind(inner, "type_identifier");
                let name = self.name(named.map_or("", |name| self.text(name)));
                self.bind_template(&name, true);
                let default = field(inner, "default_type").map(|ty| self.type_specifier(ty));
                Some(TemplateParam { name, kind: TemplateParamKind::Template(default), pack: false })
            }
            // A constrained parameter (`Integral T`) and what did not parse still take a place.
            _ => Some(TemplateParam {
                name: self.name(""),
                kind: TemplateParamKind::Template(None),
                pack: false,
            }),
        }
    }

    fn bind_template(&mut self, name: &Name, is_type: bool) {
        if !name.is_empty() {
            let binding = if is_type { Binding::TypeName(name.clone()) } else { Binding::Value };
            self.scope.bind(name.clone(), binding);
        }
    }

    fn parameter_type<'n>(&mut self, node: Node<'n>) -> (Declared<'n>, bool) {
        let base = self.type_of(node);
        match field(node, "declarator") {
            Some(declarator) => (self.declarator(base, declarator), true),
            None => (Declared::unnamed(base), false),
        }
    }

    /// Whether a parameter is declared with `&&`.
    fn is_declared_to_move(&self, param: Node<'_>) -> bool {
        let mut node = field(param, "declarator");
        while let Some(declarator) = node {
            if declarator.kind().ends_with("reference_declarator") {
                return child_of_kind(declarator, "&&").is_some();
            }
            let named = children(declarator).into_iter().find(|child| child.kind().ends_with("declarator"));
            node = field(declarator, "declarator").or(named);
        }
        false
    }

    /// The parameters of a function or lambda; their names are in force afterwards.
    pub(super) fn params(&mut self, list: Node<'_>) -> Vec<Param> {
        let mut out = Vec::new();
        for node in children(list) {
            if !node.kind().ends_with("parameter_declaration") {
                continue;
            }
            let (declared, _) = self.parameter_type(node);
            if declared.ty == Type::Void && declared.name.is_none() {
                continue;
            }
            let ty = match declared.ty {
                _ if declared.function.is_some() => Type::Opaque,
                Type::Array(element, _) => Type::Pointer(element),
                ty => ty,
            };
            let default = field(node, "default_value").map(|value| self.full_expr(value));
            let name = self.name(declared.name.map_or("", |name| self.text(name)));
            let local = self.declare(&name);
            let says = |word: &str| {
                children(node)
                    .iter()
                    .any(|child| child.kind() == "type_qualifier" && self.text(*child) == word)
            };
            let (is_const, is_volatile) = (says("const"), says("volatile"));
            let through = if is_volatile { Through::Untold } else { Through::of(&ty, is_const) };
            self.note_declared(local, declared.constant_pointer || is_const && !declared.indirect, through);
            self.note_volatile(local, is_volatile);
            if matches!(ty, Type::Reference(_)) {
                self.kinds.references.insert(local);
            }
            let to_data = matches!(&ty, Type::Pointer(to) if !matches!(**to, Type::Pointer(_)));
            let restrict = to_data && self.text(node).contains("__restrict");
            let pack = node.kind() == "variadic_parameter_declaration";
            // The grammar does not know `A *...a`: of which type they are is not known then.
            let ty = if pack && node.has_error() { Type::Opaque } else { ty };
            let moves = matches!(ty, Type::Reference(_)) && self.is_declared_to_move(node);
            let to_const = through == Through::Const;
            let to_volatile = is_volatile && matches!(ty, Type::Pointer(_) | Type::Reference(_));
            out.push(Param {
                local,
                name,
                ty,
                to_const,
                to_volatile,
                moves,
                restrict,
                pack,
                default,
                span: self.span(node),
            });
        }
        // `f(int, ...)`
        if child_of_kind(list, "...").is_some() {
            let name = self.name("");
            let (local, span) = (self.declare(&name), self.span(list));
            out.push(Param {
                local,
                name,
                ty: Type::Opaque,
                to_const: false,
                to_volatile: false,
                moves: false,
                restrict: false,
                pack: true,
                default: None,
                span,
            });
        }
        out
    }

    fn launch_bounds(&mut self, node: Node<'t>, enclosing: &Enclosing<'t>) -> Vec<Expr> {
        if let Some(bounds) = child_of_kind(node, "launch_bounds") {
            return children(bounds).into_iter().map(|bound| self.full_expr(bound)).collect();
        }
        self.masked_launch_bounds(self.head(node, enclosing))
    }

    /// Where the head of a function lies.
    fn head(&self, node: Node<'t>, enclosing: &Enclosing<'t>) -> Range<usize> {
        let end = field(node, "body").map_or(self.end(node), |body| self.start(body));
        self.start(enclosing.outermost(node))..end
    }
}

fn declared_name_of<'n>(declarator: Node<'n>) -> Option<Node<'n>> {
    super::outline::innermost_name(declarator)
}

/// The declarators of a node that declare functions.
pub(super) fn prototypes<'n>(node: Node<'n>) -> Vec<Node<'n>> {
    let mut cursor = node.walk();
    node.children_by_field_name("declarator", &mut cursor)
        .filter(|declarator| super::outline::is_function_declarator(*declarator))
        .collect()
}

/// Whether a function definition is really the use of an unknown macro with a block.
pub(super) fn is_macro_block(node: Node<'_>) -> bool {
    field(node, "type").is_none()
        && child_of_kind(node, "__global__").is_none()
        && child_of_kind(node, "__device__").is_none()
        && first_child(node).is_some_and(|first| first.kind() == "function_declarator")
        && declared_name(node).is_some_and(|name| name.kind() == "identifier")
}

/// Whether a text may hold the qualifier `volatile`, other than as in `asm volatile` and `asm __volatile__`.
pub(super) fn says_volatile(text: &str) -> bool {
    memchr::memmem::find_iter(text.as_bytes(), "volatile").any(|at| {
        let before = text.get(..at).unwrap_or("");
        let before = before.strip_suffix("__").unwrap_or(before).trim_end();
        !["asm", "__asm", "__asm__"].iter().any(|word| before.ends_with(word))
    })
}

/// Whether there may be an atomic: by name, or in PTX as `atom.` and `red.`.
fn says_atomic(text: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), b"atomic").is_some() || ptx::says_atomic(text)
}

/// The node of the name of what an initialiser is for: of `detail::Base<T>(x)`, `Base`.
fn initialised_name(node: Node<'_>) -> Option<Node<'_>> {
    let mut node = node;
    loop {
        node = match node.kind() {
            "field_identifier" | "identifier" | "type_identifier" => return Some(node),
            "template_method"
            | "template_type"
            | "template_function"
            | "qualified_field_identifier"
            | "qualified_identifier" => field(node, "name")?,
            _ => return None,
        };
    }
}
