//! Which words are they?

/// Words that CUDA puts before a function or a variable.
pub(super) fn is_cuda_attribute(word: &str) -> bool {
    matches!(
        word,
        "__global__"
            | "__device__"
            | "__host__"
            | "__forceinline__"
            | "__noinline__"
            | "__constant__"
            | "__managed__"
            | "__tile__"
    )
}

/// Words that may stand before the type of a declaration.
pub(crate) fn is_specifier(word: &str) -> bool {
    is_cuda_attribute(word)
        || matches!(
            word,
            "static"
                | "inline"
                | "constexpr"
                | "extern"
                | "virtual"
                | "explicit"
                | "friend"
                | "__inline__"
                | "__inline"
                | "thread_local"
        )
}

/// Words that are (part of) a built-in type.
pub(crate) fn is_builtin_type(word: &str) -> bool {
    matches!(
        word,
        "void"
            | "bool"
            | "char"
            | "short"
            | "int"
            | "long"
            | "float"
            | "double"
            | "unsigned"
            | "signed"
            | "auto"
            | "wchar_t"
            | "__half"
            | "half"
            | "size_t"
    )
}

/// Words that begin a declaration and are never a declared name.
pub(super) fn begins_declaration(word: &str) -> bool {
    is_builtin_type(word)
        || matches!(
            word,
            "template"
                | "typename"
                | "struct"
                | "class"
                | "union"
                | "enum"
                | "using"
                | "typedef"
                | "namespace"
        )
}

/// C++ keywords that can be followed by `(` or stand alone in a statement.
pub(crate) fn is_keyword(word: &str) -> bool {
    is_specifier(word)
        || begins_declaration(word)
        || matches!(
            word,
            "if" | "else"
                | "for"
                | "while"
                | "do"
                | "switch"
                | "case"
                | "default"
                | "return"
                | "break"
                | "continue"
                | "goto"
                | "try"
                | "catch"
                | "throw"
                | "new"
                | "delete"
                | "sizeof"
                | "alignof"
                | "alignas"
                | "decltype"
                | "noexcept"
                | "requires"
                | "concept"
                | "operator"
                | "this"
                | "const"
                | "volatile"
                | "mutable"
                | "override"
                | "final"
                | "public"
                | "private"
                | "protected"
                | "static_assert"
                | "asm"
                | "__asm__"
                | "__asm"
                | "co_await"
                | "co_return"
                | "co_yield"
                | "__shared__"
                | "__restrict__"
                | "__launch_bounds__"
                | "and"
                | "or"
                | "not"
        )
}
