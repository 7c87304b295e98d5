//! Is this a call, a cast, a construction, a launch, or a misparse of something else?

use super::damage::has_direct_damage;
use super::lowerer::{Lowerer, Special};
use super::nodes::{child_of_kind, children, first_child};
use super::scope::Binding;
use super::types::builtin_type;
use crate::ir::{Asm, Expr, ExprKind, Launch, Type};
use crate::preproc::VALUE_OF_DECLTYPE;
use crate::syntax::field;
use tree_sitter::Node;

impl Lowerer<'_> {
    pub(super) fn call(&mut self, node: Node<'_>) -> ExprKind {
        if let Some(config) = child_of_kind(node, "kernel_call_syntax") {
            return self.launch(node, config);
        }
        let Some(callee) = field(node, "function") else { return ExprKind::Damaged };
        if node.has_error() && has_direct_damage(node, self) {
            return ExprKind::Damaged;
        }
        let arguments = field(node, "arguments");
        if let Some(ty) = self.parenthesized_type(callee).or_else(|| self.likely_cast(callee, arguments)) {
            return match arguments {
                Some(list) => self.c_cast(ty, list),
                None => ExprKind::Damaged,
            };
        }
        match callee.kind() {
            "template_function" => {
                if let Some(kind) = self.named_cast(callee, arguments) {
                    return kind;
                }
                if let Some(patch) = self.comparison(callee) {
                    return patch.kind;
                }
            }
            "primitive_type" | "decltype" | "sized_type_specifier" => {
                let ty = self.type_specifier(callee);
                return self.construct(ty, arguments);
            }
            "call_expression" => {
                if let Some(ty) = self.type_of_value(callee) {
                    return self.construct(ty, arguments);
                }
            }
            _ => {}
        }
        if let Some(ty) = self.type_called(callee) {
            return self.construct(ty, arguments);
        }
        let callee = Box::new(self.expr(callee));
        ExprKind::Call { callee, args: self.arguments(arguments) }
    }

    fn arguments(&mut self, list: Option<Node<'_>>) -> Vec<Expr> {
        list.map(|list| self.list(list)).unwrap_or_default()
    }

    fn construct(&mut self, ty: Type, arguments: Option<Node<'_>>) -> ExprKind {
        let mut args = self.arguments(arguments);
        match (&ty, args.len()) {
            (Type::Scalar(_) | Type::Void | Type::Pointer(_), 1) => match args.pop() {
                Some(arg) => ExprKind::Cast(ty, Box::new(arg)),
                None => ExprKind::Damaged,
            },
            _ => ExprKind::Construct(ty, args),
        }
    }

    /// The type in `decltype(x)()`, which stands as a call where it begins a statement.
    fn type_of_value(&mut self, callee: Node<'_>) -> Option<Type> {
        if field(callee, "function").map(|name| self.text(name)) != Some(VALUE_OF_DECLTYPE) {
            return None;
        }
        let value = first_child(field(callee, "arguments")?)?;
        Some(Type::Decltype(Box::new(self.full_expr(value))))
    }

    /// The type that is called like a function: `float4(...)`, `T(x)`.
    fn type_called(&mut self, callee: Node<'_>) -> Option<Type> {
        let name = match callee.kind() {
            "identifier" => self.text(callee),
            "template_function" => self.text(field(callee, "name")?),
            "qualified_identifier" => {
                let text = self.text(callee);
                let bare = text.strip_prefix("::").unwrap_or(text);
                let bare = bare.strip_prefix("cuda::").unwrap_or(bare).strip_prefix("std::").unwrap_or(bare);
                builtin_type(bare)?;
                bare
            }
            _ => return None,
        };
        // What a function declares for itself hides methods and functions of that name.
        let is_own = matches!(self.scope.get(name), Some(Binding::Alias { .. } | Binding::TypeName(_)));
        if !is_own && (!self.is_type_name(name) || self.outline.functions.contains(name)) {
            return None;
        }
        Some(self.named_type(callee))
    }

    /// The type in `(T)`, when the parenthesised name is known to be one.
    pub(super) fn parenthesized_type(&mut self, node: Node<'_>) -> Option<Type> {
        if node.kind() != "parenthesized_expression" {
            return None;
        }
        let inner = first_child(node)?;
        let known = match inner.kind() {
            "identifier" => self.is_type_name(self.text(inner)),
            "primitive_type" | "sized_type_specifier" => true,
            "qualified_identifier" => {
                let text = self.text(inner);
                let bare = text.rsplit("::").next().unwrap_or(text);
                let standard = text.starts_with("std::") || text.starts_with("cuda::std::");
                (standard && builtin_type(bare).is_some()) || self.outline.types.contains(bare)
            }
            "template_function" => {
                let name = self.text(field(inner, "name")?);
                self.outline.types.contains(name) && !self.outline.functions.contains(name)
            }
            _ => false,
        };
        known.then(|| self.named_type(inner))
    }

    /// `(name)(x)` with a name from elsewhere: nobody puts a function's name in parentheses to call
    /// it with one argument.
    fn likely_cast(&mut self, callee: Node<'_>, arguments: Option<Node<'_>>) -> Option<Type> {
        if callee.kind() != "parenthesized_expression" || children(arguments?).len() != 1 {
            return None;
        }
        let inner = first_child(callee)?;
        let text = self.text(inner);
        let name = match inner.kind() {
            "identifier" => text,
            "qualified_identifier" => text.rsplit("::").next().unwrap_or(text),
            _ => return None,
        };
        let bound = matches!(self.scope.get(text), Some(Binding::Slot(_) | Binding::Value));
        let known = self.outline.functions.contains(name) || self.outline.variables.contains(name);
        (!bound && !known).then(|| self.named_type(inner))
    }

    /// `(T)(a)`; `(T)(a, b)` casts the comma expression.
    fn c_cast(&mut self, ty: Type, list: Node<'_>) -> ExprKind {
        let args = self.list(list).into_iter().take(64);
        let joined = args.reduce(|left, right| {
            let span = left.span.to(right.span);
            Expr { kind: ExprKind::Comma(Box::new(left), Box::new(right)), span }
        });
        match joined {
            Some(value) => ExprKind::Cast(ty, Box::new(value)),
            None => ExprKind::Construct(ty, Vec::new()),
        }
    }

    /// `static_cast<T>(x)` and its kin.
    fn named_cast(&mut self, callee: Node<'_>, arguments: Option<Node<'_>>) -> Option<ExprKind> {
        let name = self.text(field(callee, "name")?);
        if !matches!(name, "static_cast" | "reinterpret_cast" | "const_cast" | "dynamic_cast") {
            return None;
        }
        let target = children(field(callee, "arguments")?);
        let ty = match target.first() {
            Some(target) if target.kind() == "type_descriptor" => self.type_specifier(*target),
            _ => Type::Opaque,
        };
        let mut args = self.arguments(arguments);
        match (args.pop(), args.is_empty()) {
            (Some(arg), true) => Some(ExprKind::Cast(ty, Box::new(arg))),
            _ => Some(ExprKind::Damaged),
        }
    }

    /// `i < n && j > (m)`, which parses as a call of `i<n && j>`: told by `i` being a variable.
    fn comparison(&mut self, callee: Node<'_>) -> Option<Expr> {
        let variable = self.is_variable(self.text(field(callee, "name")?));
        if variable { self.comparison_patch(callee, callee) } else { None }
    }

    /// Has `a < b` parsed again as a comparison, when `a` was taken for a template.
    pub(super) fn comparison_patch(&mut self, node: Node<'_>, template: Node<'_>) -> Option<Expr> {
        let less = field(template, "arguments")?.child(0)?;
        if less.kind() != "<" {
            return None;
        }
        let at = self.start(less);
        self.specials.insert(at, Special::Less);
        Some(self.patch(node, at, ">".into()))
    }

    fn is_variable(&self, name: &str) -> bool {
        match self.scope.get(name) {
            Some(binding) => matches!(binding, Binding::Slot(_) | Binding::Value),
            None => self.outline.variables.contains(name) && !self.outline.functions.contains(name),
        }
    }

    /// Whether a qualified name is that of a number, as far as what is declared in the file tells.
    fn is_constant(&self, qualified: Node<'_>) -> bool {
        let mut name = qualified;
        while let Some(inner) = field(name, "name") {
            name = inner;
        }
        let name = self.text(name);
        let (outline, is_type) = (self.outline, builtin_type(name).is_some());
        let is_value = outline.variables.contains(name) || outline.members.contains(name);
        is_value && !is_type && !outline.types.contains(name)
    }

    /// `(a * (b)) - c` parses as a cast of `-c` to a pointer to a function. With a number in the
    /// place of `a` it cannot. `(Tile::rows) - c` parses as a cast to `Tile::rows`, and `(N) && c` as one of the
    /// address of a label.
    pub(super) fn variable_as_type(&mut self, cast: Node<'_>) -> Option<Expr> {
        let descriptor = field(cast, "type")?;
        let ty = field(descriptor, "type")?;
        let is_operand = descriptor.named_child_count() == 1 && self.is_of_both(cast);
        if ty.kind() == "qualified_identifier"
            && descriptor.named_child_count() == 1
            && (is_operand || self.is_constant(ty))
        {
            // Without its parentheses it can be nothing else.
            let (start, end) = (self.start(cast), self.start(field(cast, "value")?));
            let text = self.source.get(start..end)?.replace(['(', ')'], " ");
            return Some(self.patch(cast, start, text));
        }
        if ty.kind() != "type_identifier" || !(is_operand || self.is_variable(self.text(ty))) {
            return None;
        }
        let at = self.start(ty);
        self.specials.insert(at, Special::Variable);
        Some(self.patch(cast, at, "0".repeat(self.end(ty) - at)))
    }

    /// Whether what is cast begins with `&&`: nothing has the address of an address, and labels that are cast are not
    /// in the code of kernels, so that this is `&&` between two operands.
    fn is_of_both(&self, cast: Node<'_>) -> bool {
        let is_address = |node: &Node<'_>| {
            node.kind() == "pointer_expression" && field(*node, "operator").is_some_and(|op| op.kind() == "&")
        };
        let value = field(cast, "value").filter(is_address);
        let inner = value.and_then(|value| field(value, "argument")).filter(is_address);
        value.zip(inner).is_some_and(|(value, inner)| self.start(inner) == self.start(value) + 1)
    }

    /// Has `(T)` parsed again as a prefix operator, when a postfix or binary operator swallowed it.
    pub(super) fn cast_patch(&mut self, parenthesized: Node<'_>, ty: Type) -> Expr {
        let (start, end) = (self.start(parenthesized), self.end(parenthesized));
        let blank = end.saturating_sub(start + 1);
        self.specials.insert(start + blank, Special::Cast(ty));
        self.patch(parenthesized, start, format!("{}~", " ".repeat(blank)))
    }

    /// `(T)(x)[i]` and `(T)(x).y` cast the whole of `(x)[i]`, but parse as `((T)(x))[i]`.
    pub(super) fn postfix_of_cast(&mut self, node: Node<'_>) -> Option<Expr> {
        let base = field(node, "argument")?;
        if base.kind() != "call_expression" {
            return None;
        }
        let callee = field(base, "function")?;
        let ty = self.parenthesized_type(callee)?;
        Some(self.cast_patch(callee, ty))
    }

    fn launch(&mut self, node: Node<'_>, config: Node<'_>) -> ExprKind {
        let kernel = match field(node, "function") {
            Some(kernel) => self.expr(kernel),
            None => Expr { kind: ExprKind::Damaged, span: self.span(node) },
        };
        let mut parts = self.list(config).into_iter();
        let (grid, block, dynamic_bytes) = (parts.next(), parts.next(), parts.next());
        let args = self.arguments(field(node, "arguments"));
        ExprKind::Launch(Box::new(Launch { kernel, grid, block, dynamic_bytes, args }))
    }

    pub(super) fn asm(&mut self, node: Node<'_>) -> ExprKind {
        let code = field(node, "assembly_code");
        let template = code.map(|code| self.string(code)).unwrap_or_default();
        let outputs = self.asm_operands(field(node, "output_operands"));
        let inputs = self.asm_operands(field(node, "input_operands"));
        ExprKind::Asm(Box::new(Asm { template, outputs, inputs }))
    }

    fn asm_operands(&mut self, list: Option<Node<'_>>) -> Vec<(String, Expr)> {
        let Some(list) = list else { return Vec::new() };
        let mut operands = Vec::new();
        for operand in children(list) {
            let constraint = field(operand, "constraint");
            let constraint = constraint.map(|text| self.string(text)).unwrap_or_default();
            let value = match field(operand, "value") {
                Some(value) => self.expr(value),
                None => Expr { kind: ExprKind::Damaged, span: self.span(operand) },
            };
            operands.push((constraint, value));
        }
        operands
    }
}
