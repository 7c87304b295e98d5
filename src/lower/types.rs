//! Which type is written here?

use super::lowerer::Lowerer;
use super::nodes::{child_of_kind, children, first_child, is_trivia};
use super::scope::Binding;
use crate::ir::{Path, Qualifiers, Scalar, Type};
use crate::source::Span;
use crate::syntax::field;
use tree_sitter::Node;

/// How many `*`, `&` and dimensions one declarator may pile up.
const MAX_DECLARATOR: u32 = 32;

/// What a declarator says.
pub(super) struct Declared<'n> {
    /// The type; for a function its return type.
    pub ty: Type,
    /// The node of the name, if it has one.
    pub name: Option<Node<'n>>,
    /// The array dimensions that belong to the name, outermost first.
    pub dimensions: Vec<Span>,
    /// The function declarator, if this declares a function.
    pub function: Option<Node<'n>>,
    /// The names of a structured binding.
    pub bindings: Vec<Node<'n>>,
    /// Whether the outermost part of the type is a pointer or reference.
    pub indirect: bool,
    /// Whether it is a pointer that is itself `const`.
    pub constant_pointer: bool,
    /// Whether it is a pack.
    pub pack: bool,
}

impl Declared<'_> {
    /// A type without a declarator.
    pub(super) fn unnamed(ty: Type) -> Self {
        Declared {
            ty,
            name: None,
            dimensions: Vec::new(),
            function: None,
            bindings: Vec::new(),
            indirect: false,
            constant_pointer: false,
            pack: false,
        }
    }
}

/// A scalar, `void` or nothing by a name without `std::`.
pub(super) fn builtin_type(name: &str) -> Option<Type> {
    let scalar = match name {
        "void" => return Some(Type::Void),
        "bool" | "_Bool" => Scalar::Bool,
        "char" | "int8_t" | "int_least8_t" | "int_fast8_t" | "__int8_t" => Scalar::I8,
        "uchar" | "uint8_t" | "u_char" | "char8_t" | "u_int8_t" | "__uint8_t" => Scalar::U8,
        "uint_least8_t" | "uint_fast8_t" => Scalar::U8,
        "short" | "int16_t" | "int_least16_t" | "__int16_t" => Scalar::I16,
        "ushort" | "uint16_t" | "uint_least16_t" | "char16_t" | "u_short" => Scalar::U16,
        "u_int16_t" | "__uint16_t" => Scalar::U16,
        "int" | "int32_t" | "signed" | "wchar_t" | "int_least32_t" | "__int32" => Scalar::I32,
        "__int32_t" => Scalar::I32,
        "uint" | "uint32_t" | "unsigned" | "char32_t" | "uint_least32_t" | "u_int" => Scalar::U32,
        "u_int32_t" | "__uint32_t" => Scalar::U32,
        "long" | "int64_t" | "ptrdiff_t" | "intptr_t" | "ssize_t" | "intmax_t" | "__int64" | "off_t"
        | "int_least64_t" | "int_fast64_t" | "int_fast32_t" | "int_fast16_t" | "__int64_t" => Scalar::I64,
        "ulong" | "uint64_t" | "size_t" | "uintptr_t" | "uintmax_t" | "uint_least64_t" | "uint_fast64_t"
        | "uint_fast32_t" | "uint_fast16_t" | "u_long" | "u_int64_t" | "__uint64_t" => Scalar::U64,
        "float" => Scalar::F32,
        "double" => Scalar::F64,
        _ => return None,
    };
    Some(Type::Scalar(scalar))
}

/// Whether CUDA's headers define a type of this name.
fn is_cuda_type(name: &str) -> bool {
    let vector = name.strip_suffix(['1', '2', '3', '4']).is_some_and(|element| {
        matches!(
            element,
            "char"
                | "uchar"
                | "short"
                | "ushort"
                | "int"
                | "uint"
                | "long"
                | "ulong"
                | "longlong"
                | "ulonglong"
                | "float"
                | "double"
        )
    });
    vector
        || matches!(
            name,
            "dim3"
                | "half"
                | "half2"
                | "__half"
                | "__half2"
                | "nv_bfloat16"
                | "nv_bfloat162"
                | "__nv_bfloat16"
                | "__nv_bfloat162"
                | "__nv_fp8_e4m3"
                | "__nv_fp8_e5m2"
                | "float_t"
                | "cudaError_t"
                | "cudaStream_t"
                | "cudaEvent_t"
                | "CUdeviceptr"
                | "CUtexObject"
                | "CUsurfObject"
                | "cuComplex"
                | "cuFloatComplex"
                | "cuDoubleComplex"
                | "cufftReal"
                | "cufftDoubleReal"
                | "cufftComplex"
                | "cufftDoubleComplex"
                | "hipComplex"
                | "hipFloatComplex"
                | "hipDoubleComplex"
                | "hipfftReal"
                | "hipfftDoubleReal"
                | "hipfftComplex"
                | "hipfftDoubleComplex"
                | "hip_bfloat16"
                | "__hip_bfloat16"
                | "cudaTextureObject_t"
                | "cudaSurfaceObject_t"
        )
}

/// `unsigned long long int` and its permutations.
fn sized(words: &[&str]) -> Option<Type> {
    let count = |word: &str| words.iter().filter(|w| **w == word).count();
    let unsigned = count("unsigned") > 0;
    let scalar = if count("double") > 0 {
        Scalar::F64
    } else if count("char") > 0 {
        if unsigned { Scalar::U8 } else { Scalar::I8 }
    } else if count("short") > 0 {
        if unsigned { Scalar::U16 } else { Scalar::I16 }
    } else if count("long") > 0 || count("__int64") > 0 {
        if unsigned { Scalar::U64 } else { Scalar::I64 }
    } else if words.iter().all(|w| matches!(*w, "unsigned" | "signed" | "int")) {
        if unsigned { Scalar::U32 } else { Scalar::I32 }
    } else {
        return None;
    };
    Some(Type::Scalar(scalar))
}

impl Lowerer<'_> {
    /// Whether a name without qualifiers is known to be a type.
    pub(super) fn is_type_name(&self, name: &str) -> bool {
        match self.scope.get(name) {
            Some(Binding::Alias { .. } | Binding::TypeName(_)) => true,
            Some(Binding::Slot(_) | Binding::Value) => false,
            None => builtin_type(name).is_some() || is_cuda_type(name) || self.outline.types.contains(name),
        }
    }

    /// The type of a type specifier (a declaration's `type`).
    pub(super) fn type_specifier(&mut self, node: Node<'_>) -> Type {
        self.deeper(|me| me.type_specifier_inner(node)).unwrap_or(Type::Opaque)
    }

    fn type_specifier_inner(&mut self, node: Node<'_>) -> Type {
        match node.kind() {
            "primitive_type"
            | "type_identifier"
            | "identifier"
            | "qualified_identifier"
            | "template_type"
            | "template_function"
            | "dependent_name" => self.named_type(node),
            "sized_type_specifier" => {
                let mut cursor = node.walk();
                let words = node.children(&mut cursor).filter(|child| !is_trivia(*child));
                let words: Vec<&str> = words.map(|child| self.text(child)).collect();
                sized(&words).unwrap_or(Type::Opaque)
            }
            "dependent_type" => first_child(node).map_or(Type::Opaque, |inner| self.type_specifier(inner)),
            "placeholder_type_specifier" | "auto" => Type::Auto,
            "decltype" => self.decltype(node),
            "struct_specifier" | "class_specifier" | "union_specifier" => self.record_type(node),
            "enum_specifier" => match field(node, "name") {
                Some(name) => self.named_type(name),
                None => Type::Scalar(Scalar::I32),
            },
            "type_descriptor" => self.type_descriptor(node),
            _ => Type::Opaque,
        }
    }

    fn decltype(&mut self, node: Node<'_>) -> Type {
        match first_child(node) {
            Some(inner) if inner.kind() == "auto" => Type::Auto,
            Some(inner) => {
                if let Some(ty) = self.type_of_initialised(inner) {
                    return ty;
                }
                let ty = Type::Decltype(Box::new(self.expr(inner)));
                if self.is_place(inner) { Type::Reference(Box::new(ty)) } else { ty }
            }
            None => Type::Auto,
        }
    }

    /// What `decltype` says of the variable that is being initialised: `T *p = reinterpret_cast<decltype(p)>(bytes);`.
    fn type_of_initialised(&self, node: Node<'_>) -> Option<Type> {
        let (name, ty) = self.initialised.as_ref()?;
        (node.kind() == "identifier" && self.text(node) == name).then(|| ty.clone())
    }

    /// Whether `decltype` of this is a reference: of a place that is not merely named.
    fn is_place(&self, node: Node<'_>) -> bool {
        let (mut inner, mut named) = (node, true);
        while inner.kind() == "parenthesized_expression" {
            let Some(next) = first_child(inner) else { return false };
            (inner, named) = (next, false);
        }
        match inner.kind() {
            // `decltype(r)` of a reference is one, too.
            "identifier" if named => match self.scope.get(self.text(inner)) {
                Some(Binding::Slot(local)) => self.kinds.references.contains(local),
                _ => false,
            },
            "identifier" | "field_expression" => !named,
            "subscript_expression" | "assignment_expression" => true,
            "pointer_expression" => self.text(inner).starts_with('*'),
            _ => false,
        }
    }

    /// A struct, class or union where a type is expected.
    fn record_type(&mut self, node: Node<'_>) -> Type {
        if let Some(ty) = self.nested_records.get(&node.id()) {
            return ty.clone();
        }
        if let Some(name) = self.outline.record_names.get(&node.id()) {
            return Type::Named(Box::new(Path::simple(name.clone())));
        }
        field(node, "name").map_or(Type::Opaque, |name| self.named_type(name))
    }

    /// The type that a name names.
    pub(super) fn named_type(&mut self, node: Node<'_>) -> Type {
        let Some(path) = self.path(node) else { return Type::Opaque };
        self.type_of_path(path)
    }

    /// The type that a path names.
    pub(super) fn type_of_path(&mut self, path: Path) -> Type {
        if path.args.is_none() {
            if path.qualifiers.is_empty() {
                match self.scope.get(&path.name) {
                    Some(Binding::Alias { uses_slots: true, .. }) if self.in_local_record => {
                        return Type::Opaque;
                    }
                    Some(Binding::Alias { ty, uses_slots }) => {
                        self.slot_uses = self.slot_uses.wrapping_add(u32::from(*uses_slots));
                        return ty.clone();
                    }
                    Some(Binding::TypeName(name)) => {
                        return Type::Named(Box::new(Path::simple(name.clone())));
                    }
                    Some(_) => return Type::Named(Box::new(path)),
                    None => {}
                }
            }
            let standard = path.qualifiers.iter().all(|(name, _)| matches!(&**name, "std" | "cuda"));
            if standard && let Some(builtin) = builtin_type(&path.name) {
                return builtin;
            }
        }
        Type::Named(Box::new(path))
    }

    /// The type that a node names in its field of that name.
    pub(super) fn type_of(&mut self, node: Node<'_>) -> Type {
        match field(node, "type") {
            Some(specifier) => self.type_specifier(specifier),
            None => Type::Opaque,
        }
    }

    /// A type with an optional abstract declarator, as in a cast.
    pub(super) fn type_descriptor(&mut self, node: Node<'_>) -> Type {
        let base = self.type_of(node);
        let base = self.if_volatile(node, base);
        match field(node, "declarator") {
            Some(declarator) => self.declarator(base, declarator).ty,
            None => base,
        }
    }

    /// The same with `const` and `volatile`, for which a template may ask.
    pub(super) fn qualified_descriptor(&mut self, node: Node<'_>) -> Type {
        let ty = self.type_of(node);
        let base = self.qualified(node, ty);
        match field(node, "declarator") {
            Some(declarator) => {
                let declared = self.declarator(base, declarator);
                match declared.constant_pointer {
                    true => {
                        Type::Qualified(Qualifiers { constant: true, volatile: false }, Box::new(declared.ty))
                    }
                    false => declared.ty,
                }
            }
            None => base,
        }
    }

    /// A type with the `volatile` that stands beside it: what is cast to it is read each time.
    fn if_volatile(&self, around: Node<'_>, ty: Type) -> Type {
        match self.qualified(around, ty) {
            Type::Qualified(Qualifiers { volatile: true, .. }, inner) => {
                Type::Qualified(Qualifiers { constant: false, volatile: true }, inner)
            }
            Type::Qualified(_, inner) => *inner,
            ty => ty,
        }
    }

    /// A type with the `const` and `volatile` that stand beside it.
    pub(super) fn qualified(&self, around: Node<'_>, ty: Type) -> Type {
        let words: Vec<&str> = children(around)
            .into_iter()
            .filter(|child| child.kind() == "type_qualifier")
            .map(|child| self.text(child))
            .collect();
        let qualifiers =
            Qualifiers { constant: words.contains(&"const"), volatile: words.contains(&"volatile") };
        match ty {
            Type::Opaque | Type::Auto => ty,
            _ if qualifiers.is_empty() => ty,
            _ => Type::Qualified(qualifiers, Box::new(ty)),
        }
    }

    /// Walks a declarator from the outside in: what is outside applies to the type first.
    pub(super) fn declarator<'n>(&mut self, base: Type, node: Node<'n>) -> Declared<'n> {
        let mut out = Declared::unnamed(base);
        let mut wraps = 0;
        let mut next = Some(node);
        while let Some(node) = next {
            next = self.declarator_step(node, &mut out);
            wraps += 1;
            if wraps > MAX_DECLARATOR && !matches!(out.ty, Type::Opaque) {
                out.ty = Type::Opaque;
            }
        }
        out.dimensions.reverse();
        out
    }

    fn declarator_step<'n>(&mut self, node: Node<'n>, out: &mut Declared<'n>) -> Option<Node<'n>> {
        let inner = |node: Node<'n>| {
            let skipped = ["type_qualifier", "ERROR", "ms_call_modifier", "ms_pointer_modifier"];
            field(node, "declarator").or_else(|| {
                let mut cursor = node.walk();
                node.named_children(&mut cursor)
                    .find(|child| !is_trivia(*child) && !skipped.contains(&child.kind()))
            })
        };
        let opaque = matches!(out.ty, Type::Opaque);
        let ty = std::mem::replace(&mut out.ty, Type::Opaque);
        match node.kind() {
            "pointer_declarator" | "abstract_pointer_declarator" | "pointer_type_declarator" => {
                out.ty = if opaque { ty } else { Type::Pointer(Box::new(ty)) };
                (out.indirect, out.function) = (true, None);
                out.constant_pointer = children(node)
                    .iter()
                    .any(|child| child.kind() == "type_qualifier" && self.text(*child) == "const");
                out.dimensions.clear();
                inner(node)
            }
            "reference_declarator" | "abstract_reference_declarator" => {
                out.ty = Type::Reference(Box::new(ty));
                (out.indirect, out.constant_pointer, out.function) = (true, false, None);
                out.dimensions.clear();
                inner(node)
            }
            "array_declarator" | "abstract_array_declarator" => {
                let size = field(node, "size");
                let length = size.map(|size| Box::new(self.full_expr(size)));
                out.dimensions.push(match (size, child_of_kind(node, "[")) {
                    (Some(size), _) => self.span(size),
                    (None, Some(bracket)) => self.span_of(self.end(bracket), self.end(bracket)),
                    (None, None) => self.span_of(self.end(node), self.end(node)),
                });
                out.ty = Type::Array(Box::new(ty), length);
                (out.indirect, out.constant_pointer) = (false, false);
                field(node, "declarator")
            }
            "function_declarator" | "abstract_function_declarator" => {
                let named = inner(node);
                if out.name.is_none() && named.is_some_and(names_a_function) {
                    out.ty = self.return_type(node, ty);
                    out.function = Some(node);
                }
                named
            }
            "variadic_declarator" | "abstract_variadic_declarator" => {
                (out.ty, out.pack) = (ty, true);
                inner(node)
            }
            "structured_binding_declarator" => {
                out.ty = ty;
                out.bindings =
                    children(node).into_iter().filter(|child| child.kind() == "identifier").collect();
                None
            }
            "parenthesized_declarator"
            | "abstract_parenthesized_declarator"
            | "attributed_declarator"
            | "init_declarator"
            | "type_descriptor" => {
                out.ty = ty;
                inner(node)
            }
            _ => {
                out.ty = ty;
                if !node.is_error() && !node.is_missing() {
                    out.name = Some(node);
                }
                None
            }
        }
    }

    fn return_type(&mut self, function: Node<'_>, written: Type) -> Type {
        let trailing = child_of_kind(function, "trailing_return_type").and_then(first_child);
        trailing.map_or(written, |descriptor| self.type_specifier(descriptor))
    }
}

/// Whether a function declarator's inside is the function's name, and not a pointer to one.
fn names_a_function(mut node: Node<'_>) -> bool {
    while node.kind() == "parenthesized_declarator" {
        match first_child(node) {
            Some(inner) => node = inner,
            None => return false,
        }
    }
    matches!(
        node.kind(),
        "identifier"
            | "field_identifier"
            | "type_identifier"
            | "qualified_identifier"
            | "template_function"
            | "template_method"
            | "operator_name"
            | "destructor_name"
            | "operator_cast"
            | "dependent_name"
    )
}
