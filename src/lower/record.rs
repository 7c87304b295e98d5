//! What is in this struct, class, union or enum, and what does this alias stand for?

use super::heads::Enclosing;
use super::lowerer::Lowerer;
use super::nodes::{child_of_kind, children};
use super::outline::is_function_declarator;
use super::scope::Binding;
use crate::ir::{
    Alias, BinaryOp, Declaration, Expr, ExprKind, Field, LocalId, Path, Record, Scalar, Stmt, StmtKind,
    Storage, TemplateArg, TemplateParam, TemplateParamKind, Type,
};
use crate::source::Span;
use crate::syntax::field;
use std::sync::Arc;
use tree_sitter::Node;

impl<'t> Lowerer<'t> {
    /// A record with a body, with the template parameters of the classes around it before its own.
    pub(super) fn record(
        &mut self,
        node: Node<'_>,
        heads: &[Node<'_>],
        outer: &[Node<'_>],
    ) -> Option<Record> {
        let body = field(node, "body")?;
        let name = self.outline.record_names.get(&node.id())?.clone();
        let mark = self.scope.enter();
        let mut template_params = Vec::new();
        for head in outer {
            template_params.extend(self.template_head(*head));
        }
        let of_outer = self.forwarded(&template_params.iter().collect::<Vec<_>>(), self.span(node));
        for head in heads {
            template_params.extend(self.template_head(*head));
        }
        let name_node = field(node, "name");
        let mut specialization = match name_node.filter(|name| name.kind() == "template_type") {
            Some(name) => match field(name, "arguments") {
                Some(args) => match self.template_args(args) {
                    // `struct Sum<>`: a pack of nothing.
                    list if list.is_empty() => {
                        let (kind, span) = (ExprKind::Expansion(self.name("")), self.span(args));
                        vec![TemplateArg::Value(Expr { kind, span })]
                    }
                    list => list,
                },
                None => Vec::new(),
            },
            None => Vec::new(),
        };
        if !specialization.is_empty() {
            for head in heads {
                template_params.extend(self.constraints(*head));
            }
        }
        // `Box<T>::Part<U, 2>` is one of `Box<T>::Part<U, N>`.
        if !specialization.is_empty() {
            specialization.splice(0..0, of_outer.unwrap_or_default());
        }
        let mut bases = Vec::new();
        if let Some(clause) = child_of_kind(node, "base_class_clause") {
            for base in children(clause) {
                if !matches!(base.kind(), "access_specifier" | "virtual") {
                    bases.push(self.type_specifier(base));
                }
            }
        }
        let mut align = self.specifiers(node).align;
        if align.is_none() {
            align = self.masked_align(self.start(node), self.start(body));
        }
        if align.is_none() {
            align = self.masked_align_after(self.end(body));
        }
        let spans = (self.span(name_node.unwrap_or(node)), self.span(node));
        let empty = Record::empty(name, self.namespace.clone(), template_params, spans);
        let mut record = Record {
            specialization,
            union: node.kind() == "union_specifier",
            bases,
            is_local: self.in_function,
            is_polymorphic: self.is_polymorphic(node, body),
            packed: self.packing(node, body),
            align,
            ..empty
        };
        self.members(body, &mut record);
        self.scope.leave(mark);
        Some(record)
    }

    /// The class template that a template declaration declares and does not define: its parameters may have defaults
    /// that the definition does not repeat.
    pub(super) fn declared_class(&mut self, template: Node<'_>) -> Option<Record> {
        let is_class = |node: &Node<'_>| matches!(node.kind(), "struct_specifier" | "class_specifier");
        let node = children(template).into_iter().find(is_class)?;
        let name = field(node, "name").filter(|name| name.kind() == "type_identifier")?;
        if field(node, "body").is_some() {
            return None;
        }
        let mark = self.scope.enter();
        let template_params = self.template_head(template);
        self.scope.leave(mark);
        let spans = (self.span(name), self.span(node));
        let name = self.name(self.text(name));
        Some(Record::empty(name, self.namespace.clone(), template_params, spans))
    }

    /// Whether a class has virtual functions or bases of its own.
    fn is_polymorphic(&self, node: Node<'_>, body: Node<'_>) -> bool {
        let is_virtual = |member: Node<'_>| child_of_kind(member, "virtual").is_some();
        child_of_kind(node, "base_class_clause").is_some_and(is_virtual)
            || children(body).into_iter().any(is_virtual)
    }

    /// The greatest alignment of the members of a packed record.
    fn packing(&self, node: Node<'_>, body: Node<'_>) -> Option<u64> {
        let attribute = self.is_masked_packed(self.start(node), self.end(body));
        if attribute { Some(1) } else { self.outline.packing_at(self.span(node).start) }
    }

    fn members(&mut self, body: Node<'_>, record: &mut Record) {
        if self.depth >= super::lowerer::MAX_DEPTH {
            return;
        }
        self.depth += 1;
        for member in children(body) {
            match member.kind() {
                "field_declaration" => self.field(member, record),
                "alias_declaration" | "type_definition" => {
                    self.defined_in_place(member, record);
                    record.aliases.extend(self.aliases(member, &[]));
                }
                "using_declaration" => {
                    if let Some(path) = children(member).pop().and_then(|named| self.path(named)) {
                        record.usings.push(path.name);
                    }
                }
                "enum_specifier" => self.member_enum(member, record),
                "struct_specifier" | "class_specifier" | "union_specifier" => {
                    self.nested_record(member, &[], record);
                }
                "template_declaration" => {
                    let inner = children(member).pop();
                    match inner.map(|inner| inner.kind()) {
                        Some("alias_declaration") => {
                            let alias = inner.map(|inner| self.aliases(inner, &[member]));
                            record.aliases.extend(alias.unwrap_or_default());
                        }
                        Some("struct_specifier" | "class_specifier" | "union_specifier") => {
                            inner.into_iter().for_each(|inner| self.nested_record(inner, &[member], record));
                        }
                        _ => {}
                    }
                }
                kind if kind.starts_with("preproc_") || kind == "ERROR" => self.members(member, record),
                _ => {}
            }
        }
        self.depth -= 1;
    }

    /// What a member defines in the place of its type.
    fn defined_in_place(&mut self, node: Node<'_>, record: &mut Record) {
        match written_type(node).map(|specifier| (specifier, specifier.kind())) {
            Some((specifier, "enum_specifier")) => self.member_enum(specifier, record),
            Some((specifier, "struct_specifier" | "class_specifier" | "union_specifier")) => {
                self.nested_record(specifier, &[], record);
            }
            _ => {}
        }
    }

    fn field(&mut self, node: Node<'_>, record: &mut Record) {
        let specifier = field(node, "type");
        self.defined_in_place(node, record);
        let mut specifiers = self.specifiers(node);
        if specifiers.align.is_none() {
            specifiers.align = self.masked_align(self.start(node), self.end(node));
        }
        let base = specifier.map_or(Type::Opaque, |specifier| self.type_specifier(specifier));
        let bit_field = child_of_kind(node, "bitfield_clause").is_some();
        let constant = specifiers.constexpr || specifiers.is_const;
        let is_static = specifiers.is_static || specifiers.constexpr || specifiers.shared;
        let mut cursor = node.walk();
        let declarators: Vec<Node<'_>> = node.children_by_field_name("declarator", &mut cursor).collect();
        let unnamed = declarators.is_empty();
        for declarator in declarators {
            if is_function_declarator(declarator) {
                continue;
            }
            let declared = self.declarator(base.clone(), declarator);
            let Some(name_node) = declared.name else { continue };
            let name = self.name(self.text(name_node));
            if !is_static {
                let ty = if declared.function.is_some() { Type::Opaque } else { declared.ty };
                let init = default_value(node, declarator).map(|value| self.full_expr(value));
                let align = specifiers.align.clone();
                let (mutable, volatile) = (specifiers.mutable, specifiers.is_volatile);
                record.fields.push(Field { name, ty, align, bit_field, mutable, volatile, init });
                continue;
            }
            let init = match default_value(node, declarator) {
                Some(value) => Some(self.full_expr(value)),
                None => self.initialiser(declarator, &declared.ty),
            };
            let storage = if specifiers.shared { Storage::Shared } else { Storage::Static };
            record.constants.push(Declaration {
                local: LocalId(0),
                namespace: self.namespace.clone(),
                name,
                template_params: Vec::new(),
                specialization: Vec::new(),
                ty: declared.ty,
                storage,
                align: specifiers.align.clone(),
                init,
                name_span: self.span(name_node),
                span: self.span(node),
                dimension_spans: declared.dimensions,
                constant,
                internal: self.is_unnamed,
                volatile: specifiers.is_volatile,
            });
        }
        let record_type = specifier.is_some_and(|specifier| {
            field(specifier, "body").is_some() && specifier.kind() != "enum_specifier"
        });
        let anonymous = record_type && specifier.is_some_and(|specifier| field(specifier, "name").is_none());
        if unnamed && (anonymous || bit_field) {
            let name = self.name("");
            let (align, mutable, volatile) = (specifiers.align, specifiers.mutable, specifiers.is_volatile);
            record.fields.push(Field { name, ty: base, align, bit_field, mutable, volatile, init: None });
        }
    }

    /// A record inside another: known to the outer one by an alias. At file scope it is found, and
    /// lowered, on its own.
    fn nested_record(&mut self, node: Node<'_>, heads: &[Node<'_>], record: &mut Record) {
        if field(node, "body").is_none() {
            return;
        }
        let Some(full) = self.outline.record_names.get(&node.id()).cloned() else { return };
        if self.in_function
            && let Some(nested) = self.deeper(|me| me.record(node, heads, &[])).flatten()
        {
            self.records.push(Arc::new(nested));
        }
        let mark = self.scope.enter();
        let mut own = Vec::new();
        for head in heads {
            own.extend(self.template_head(*head));
        }
        self.scope.leave(mark);
        let name = field(node, "name");
        let all: Vec<&TemplateParam> = record.template_params.iter().chain(&own).collect();
        let args = self.forwarded(&all, self.span(name.unwrap_or(node)));
        let path = Path { args, ..Path::simple(full) };
        let ty = Type::Named(Box::new(path));
        self.nested_records.insert(node.id(), ty.clone());
        let Some(name) = name.filter(|name| name.kind() == "type_identifier") else { return };
        let name = self.name(self.text(name));
        self.scope.bind(name.clone(), Binding::Alias { ty: ty.clone(), uses_slots: false });
        record.aliases.push(Alias { name, namespace: self.namespace.clone(), template_params: own, ty });
    }

    /// Template parameters as arguments of the same names.
    fn forwarded(&self, params: &[&TemplateParam], span: Span) -> Option<Vec<TemplateArg>> {
        if params.is_empty() || params.iter().any(|param| param.pack || param.name.is_empty()) {
            return None;
        }
        let forward = |param: &&TemplateParam| {
            let path = Box::new(Path::simple(param.name.clone()));
            match param.kind {
                TemplateParamKind::Value(..) => TemplateArg::Value(Expr { kind: ExprKind::Path(path), span }),
                _ => TemplateArg::Type(Type::Named(path)),
            }
        };
        Some(params.iter().map(forward).collect())
    }

    fn member_enum(&mut self, node: Node<'_>, record: &mut Record) {
        let constants = self.enumerators(node, Storage::Static);
        record.constants.extend(constants);
    }

    /// The enumerators as constants, those of an `enum class E` as `E::name`.
    pub(super) fn enumerators(&mut self, node: Node<'_>, storage: Storage) -> Vec<Declaration> {
        let Some(body) = field(node, "body") else { return Vec::new() };
        let scoped = child_of_kind(node, "class").or_else(|| child_of_kind(node, "struct")).is_some();
        let prefix = match field(node, "name") {
            Some(name) if scoped => format!("{}::", self.text(name)),
            _ => String::new(),
        };
        let ty = match field(node, "base") {
            Some(base) => self.type_specifier(base),
            None => Type::Scalar(Scalar::I32),
        };
        let mut out: Vec<Declaration> = Vec::new();
        // The last value that was written, and how many enumerators ago.
        let mut last: Option<(Expr, i128)> = None;
        for enumerator in children(body) {
            let Some(name_node) = field(enumerator, "name") else { continue };
            let (span, name_span) = (self.span(enumerator), self.span(name_node));
            let (base, by) = match field(enumerator, "value") {
                Some(value) => {
                    let mut value = self.full_expr(value);
                    if scoped {
                        name_enumerators(&mut value, &out, &prefix);
                    }
                    (value, 0)
                }
                None => match last.take() {
                    Some((base, by)) => (base, by + 1),
                    None => (Expr { kind: ExprKind::Int(0, Scalar::I32), span: name_span }, 0),
                },
            };
            let init = Some(offset(&base, by, name_span));
            last = Some((base, by));
            let name = self.name(&format!("{prefix}{}", self.text(name_node)));
            let mut local = LocalId(0);
            if storage == Storage::Automatic {
                local = self.declare(&name);
                self.scope.constants.extend(init.clone().map(|init| (local, init)));
            }
            out.push(Declaration {
                local,
                namespace: self.namespace.clone(),
                name,
                template_params: Vec::new(),
                specialization: Vec::new(),
                ty: ty.clone(),
                storage,
                align: None,
                init,
                name_span,
                span,
                dimension_spans: Vec::new(),
                constant: true,
                internal: true,
                volatile: false,
            });
        }
        out
    }

    /// `using X = T;` or `typedef T X, *Y;`
    pub(super) fn aliases(&mut self, node: Node<'_>, heads: &[Node<'_>]) -> Vec<Alias> {
        let mark = self.scope.enter();
        let mut template_params = Vec::new();
        for head in heads {
            template_params.extend(self.template_head(*head));
        }
        let mut out = Vec::new();
        let specifier = field(node, "type");
        let base = match specifier {
            Some(descriptor) if descriptor.kind() == "type_descriptor" => {
                self.qualified_descriptor(descriptor)
            }
            Some(specifier) => {
                let ty = self.type_specifier(specifier);
                self.qualified(node, ty)
            }
            None => Type::Opaque,
        };
        if let Some(name) = field(node, "name") {
            out.push(Alias {
                name: self.name(self.text(name)),
                namespace: self.namespace.clone(),
                template_params,
                ty: base,
            });
        } else {
            let mut cursor = node.walk();
            for declarator in node.children_by_field_name("declarator", &mut cursor) {
                let declared = self.declarator(base.clone(), declarator);
                let Some(name) = declared.name.map(|name| self.name(self.text(name))) else { continue };
                let ty = if declared.function.is_some() { Type::Opaque } else { declared.ty };
                out.push(Alias { name, namespace: self.namespace.clone(), template_params: Vec::new(), ty });
            }
        }
        self.scope.leave(mark);
        // `typedef struct S S;` and `typedef struct { ... } S;` say nothing more than `struct S` does.
        out.retain(|alias| alias.ty != Type::Named(Box::new(Path::simple(alias.name.clone()))));
        out
    }

    /// The types that a statement in a function defines. Aliases are replaced by what they stand
    /// for wherever they are used, records become the module's under a name of their own, and
    /// enumerators are local constants.
    pub(super) fn local_types(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        let specifier = match node.kind() {
            "declaration" | "type_definition" | "alias_declaration" => written_type(node),
            "template_declaration" => children(node).pop(),
            _ => Some(node),
        };
        if !self.in_function {
            return;
        }
        match specifier.map(|specifier| (specifier, specifier.kind())) {
            Some((specifier, "struct_specifier" | "class_specifier" | "union_specifier")) => {
                self.local_record(specifier);
            }
            Some((specifier, "enum_specifier")) => self.local_enum(specifier, out),
            _ => {}
        }
        if matches!(node.kind(), "alias_declaration" | "type_definition") {
            let uses = self.slot_uses;
            for alias in self.aliases(node, &[]) {
                let uses_slots = self.slot_uses != uses;
                self.scope.bind(alias.name, Binding::Alias { ty: alias.ty.unqualified(), uses_slots });
            }
        }
    }

    fn local_record(&mut self, node: Node<'_>) {
        let Some(full) = self.outline.record_names.get(&node.id()).cloned() else { return };
        if let Some(name) = field(node, "name") {
            let name = self.name(self.text(name));
            self.scope.bind(name, Binding::TypeName(full));
        }
        let before = std::mem::replace(&mut self.in_local_record, true);
        if let Some(record) = self.record(node, &[], &[]) {
            self.records.push(Arc::new(record));
        }
        self.in_local_record = before;
    }

    fn local_enum(&mut self, node: Node<'_>, out: &mut Vec<Stmt>) {
        if field(node, "body").is_none() {
            return;
        }
        if let Some(name) = field(node, "name") {
            let name = self.name(self.text(name));
            let ty = match field(node, "base") {
                Some(base) => self.type_specifier(base),
                None => Type::Scalar(Scalar::I32),
            };
            self.scope.bind(name, Binding::Alias { ty, uses_slots: false });
        }
        let declarations = self.enumerators(node, Storage::Automatic);
        if !declarations.is_empty() {
            out.push(self.stmt_at(node, StmtKind::Declare(declarations)));
        }
    }

    /// The record among what a function's enclosing levels say.
    pub(super) fn enclosed_record(&mut self, node: Node<'t>, enclosing: &Enclosing<'t>) -> Option<Record> {
        self.record(node, &enclosing.templates, &enclosing.owner_templates)
    }
}

/// In the braces of `enum class E`, its enumerators so far have bare names: they are what they are.
fn name_enumerators(value: &mut Expr, known: &[Declaration], prefix: &str) {
    match &mut value.kind {
        ExprKind::Path(path) if path.qualifiers.is_empty() && !path.global => {
            let is_meant = |it: &&Declaration| it.name.strip_prefix(prefix) == Some(&*path.name);
            if let Some(init) = known.iter().find(is_meant).and_then(|it| it.init.clone()) {
                value.kind = init.kind;
            }
        }
        ExprKind::Unary(_, inner) | ExprKind::Cast(_, inner) => name_enumerators(inner, known, prefix),
        ExprKind::Binary(_, a, b) => {
            name_enumerators(a, known, prefix);
            name_enumerators(b, known, prefix);
        }
        ExprKind::Conditional(a, b, c) => {
            [a, b, c].into_iter().for_each(|part| name_enumerators(part, known, prefix));
        }
        _ => {}
    }
}

/// `base + by`, in one literal where that can be.
fn offset(base: &Expr, by: i128, span: Span) -> Expr {
    if by == 0 {
        return base.clone();
    }
    let kind = match base.kind {
        ExprKind::Int(value, scalar) => ExprKind::Int(value.saturating_add(by), scalar),
        _ => {
            let by = Expr { kind: ExprKind::Int(by, Scalar::I32), span };
            ExprKind::Binary(BinaryOp::Add, Box::new(base.clone()), Box::new(by))
        }
    };
    Expr { kind, span }
}

/// What stands behind one of the declarators of `int a = 1, b = 2;` in a class.
fn default_value<'n>(node: Node<'n>, declarator: Node<'n>) -> Option<Node<'n>> {
    let mut cursor = node.walk();
    let mut found = false;
    if !cursor.goto_first_child() {
        return None;
    }
    loop {
        match cursor.field_name() {
            Some("declarator") if found => return None,
            Some("declarator") => found = cursor.node() == declarator,
            Some("default_value") if found => return Some(cursor.node()),
            _ => {}
        }
        if !cursor.goto_next_sibling() {
            return None;
        }
    }
}

/// The type that a declaration or an alias spells, which may be a definition.
fn written_type(node: Node<'_>) -> Option<Node<'_>> {
    let spelled = field(node, "type")?;
    if spelled.kind() == "type_descriptor" { field(spelled, "type") } else { Some(spelled) }
}
