//! Which words are macros that nothing visible defines, by where they stand?
//!
//! Only what cannot be C++ otherwise is touched: two names side by side where one belongs,
//! a call without `;` at the end of its line, statements among arguments.

use super::super::declared::is_upper;
use super::words::{begins_declaration, is_builtin_type, is_keyword, is_specifier};
use super::{Kind, MaskKind, Masker};

impl Masker<'_> {
    /// Masks the identifier at a token if it must be a macro.
    pub(super) fn unknown_macro(&mut self, at: usize, word: &str) {
        match word {
            "namespace" => return self.namespace(at),
            "class" | "struct" => return self.class(at),
            _ if is_keyword(word) || self.declared.is_type(word) => return,
            _ => {}
        }
        let next = at + 1;
        if self.is(next, b'(') {
            if let Some(close) = self.close(next) {
                self.unknown_call(at, next, close);
            }
        } else if is_upper(word) {
            self.unknown_word(at);
        }
    }

    /// Masks a word in capitals if it must be a macro.
    fn unknown_word(&mut self, at: usize) {
        if self.heads_kernel(at + 1) {
            self.mask(at, at, MaskKind::Kernel, "");
        } else if self.is_marker(at)
            || self.is_declaration_prefix(at)
            || self.is_parameter_attribute(at)
            || self.is_function_suffix(at)
            || self.is_calling_convention(at)
        {
            // Alone on its line where a statement begins it may be one.
            let alone = self.begins_statement() && self.begins_line(at + 1);
            let kind = if alone { MaskKind::Statement } else { MaskKind::Other };
            self.mask(at, at, kind, "");
        } else if self.is_head_of_kernel(at) {
            // The type is a part of it.
            self.mask_as(at, MaskKind::Kernel, "void");
        }
    }

    /// Whether the token at hand begins a statement or a declaration.
    pub(super) fn begins_statement(&self) -> bool {
        self.before.is_none() || self.before_is(b";{}")
    }

    fn unknown_call(&mut self, at: usize, open: usize, close: usize) {
        let begins = self.begins_statement();
        let after = close + 1;
        let apart = self.begins_line(at) || self.before_is(b"{;");
        if begins && apart && self.ends_statement(after) {
            return self.mask(at, close, MaskKind::Statement, "");
        }
        if is_upper(self.word(at)) && self.heads_kernel(after) {
            return self.mask(at, close, MaskKind::Kernel, "");
        }
        let prefix = begins || self.before_is(b">") || is_specifier(self.word_before());
        if prefix && is_specifier(self.word(after)) {
            return self.mask(at, close, MaskKind::Other, "");
        }
        let names_function = self.is_ident(after) && self.is(after + 1, b'(');
        if self.word_before() == "void" && names_function {
            return self.mask(at, close, MaskKind::Other, "");
        }
        if begins && is_upper(self.word(at)) && self.is(after, b'{') {
            return self.test_case(open, close);
        }
        if !(begins || self.after_condition()) {
            return;
        }
        if self.is(after, b';') && self.has_bare_type(open, close) && !self.names_class(at) {
            return self.mask(at, close, MaskKind::Other, "");
        }
        self.statements_as_argument(at, open, close);
    }

    /// Whether a statement can begin at a token and the call before it needs no `;`.
    fn ends_statement(&self, after: usize) -> bool {
        if !self.begins_line(after) {
            return false;
        }
        match self.kind(after) {
            None => true,
            Some(Kind::Ident) => !matches!(
                self.word(after),
                "const" | "noexcept" | "override" | "final" | "try" | "requires" | "volatile" | "throw"
            ),
            // The last element of a list has no `;` either.
            Some(Kind::Punct(b'}')) => !self.before_is(b"{"),
            _ => false,
        }
    }

    /// Whether the token at hand follows `if (...)` or `else`.
    fn after_condition(&self) -> bool {
        let Some(before) = self.before else { return false };
        if self.word(before) == "else" {
            return true;
        }
        let open = self.partner_of(before).filter(|_| self.is(before, b')'));
        open.and_then(|open| open.checked_sub(1))
            .is_some_and(|word| matches!(self.word(word), "if" | "for" | "while" | "constexpr"))
    }

    /// Whether it is the name of a class that is defined before: `Shape(int, int);` declares a constructor.
    fn names_class(&self, at: usize) -> bool {
        let word = self.word(at);
        let says = |before: usize| matches!(self.word(before), "class" | "struct" | "union");
        (0..at).filter(|before| says(*before)).any(|before| {
            let mut names = (before + 1..before + 4).take_while(|name| self.is_ident(*name));
            names.any(|name| self.word(name) == word)
        })
    }

    /// Whether some argument is nothing but a built-in type: `SWAP(int, a, b)`.
    fn has_bare_type(&self, open: usize, close: usize) -> bool {
        let commas = self.commas(open, close);
        let starts = std::iter::once(open).chain(commas.iter().copied());
        let ends = commas.iter().copied().chain(std::iter::once(close));
        starts.zip(ends).any(|(start, end)| {
            is_builtin_type(self.word(start + 1))
                && (start + 1..end).all(|at| {
                    let word = self.word(at);
                    is_builtin_type(word) || matches!(word, "const" | "*" | "&")
                })
        })
    }

    /// `DISPATCH(type, "name", using T = float; run<T>();)`: makes a block of the statements.
    fn statements_as_argument(&mut self, at: usize, open: usize, close: usize) {
        let mut semicolon = None;
        let mut inside = open + 1;
        while inside < close && semicolon.is_none() {
            match self.partner_of(inside) {
                Some(partner) if partner > inside => inside = partner,
                _ if self.is(inside, b';') => semicolon = Some(inside),
                _ => {}
            }
            inside += 1;
        }
        let Some(semicolon) = semicolon else { return };
        let commas = self.commas(open, semicolon);
        let begins =
            |&comma: &usize| matches!(self.word(comma + 1), "using" | "typedef" | "constexpr" | "const");
        let Some(last) = commas.iter().copied().find(|comma| begins(comma)).or(commas.last().copied()) else {
            return;
        };
        self.blank(at, last, "{");
        self.blank(close, close, "}");
        for argument in at + 1..=last {
            self.gone[argument] = true;
        }
    }

    /// `TEST(Suite, 128x64_stage2) {`: the arguments are names, not expressions.
    fn test_case(&mut self, open: usize, close: usize) {
        let odd = |at: usize| {
            let word = self.word(at);
            self.kind(at) == Some(Kind::Number) && word.contains('_')
                || word.starts_with(|first: char| first.is_ascii_digit())
                    && word.contains('x')
                    && !word.starts_with("0x")
        };
        if close > open + 1 && (open + 1..close).any(odd) {
            self.mask(open + 1, close - 1, MaskKind::Other, "");
        }
    }

    /// `LIB_NAMESPACE_BEGIN` alone on its line.
    fn is_marker(&self, at: usize) -> bool {
        let next = at + 1;
        if !(self.begins_statement() && self.begins_line(at) && self.begins_line(next)) {
            return false;
        }
        match self.kind(next) {
            None => true,
            // `TYPE` alone on a line may be the type of the function on the next.
            Some(Kind::Ident) => is_keyword(self.word(next)) || !self.is(next + 1, b'('),
            Some(Kind::Punct(b'}')) => !self.before_is(b"{"),
            _ => false,
        }
    }

    /// `EXPORT void f()`, `ATTRIBUTE static Type f()`.
    fn is_declaration_prefix(&self, at: usize) -> bool {
        if !(self.begins_statement()
            || self.before_is(b">")
            || is_specifier(self.word_before())
            || self.word_before() == "\"C\"")
        {
            return false;
        }
        let mut next = at + 1;
        while is_specifier(self.word(next)) {
            next += 1;
        }
        let word = self.word(next);
        if begins_declaration(word) {
            return true;
        }
        if word == "const" {
            return begins_declaration(self.word(next + 1));
        }
        let second = self.word(next + 1);
        self.is_ident(next) && !is_keyword(word) && self.is_ident(next + 1) && !is_keyword(second)
    }

    /// `f(GRID_CONST const int n, const float* RESTRICT a)`
    fn is_parameter_attribute(&self, at: usize) -> bool {
        let next = self.word(at + 1);
        if self.before_is(b"*&") {
            let ends = matches!(self.kind(at + 2), Some(Kind::Punct(b',' | b')' | b'=' | b';' | b'[')));
            return self.is_ident(at + 1) && !is_keyword(next) && ends;
        }
        if !self.before_is(b"(,") {
            return false;
        }
        if next == "const" {
            return is_builtin_type(self.word(at + 2)) || self.is_ident(at + 2) && self.is_ident(at + 3);
        }
        begins_declaration(next)
            || self.is_ident(at + 1)
                && !is_keyword(next)
                && self.is_ident(at + 2)
                && !is_keyword(self.word(at + 2))
    }

    /// `void f() SOME_NOEXCEPT {`
    fn is_function_suffix(&self, at: usize) -> bool {
        let Some(before) = self.before.filter(|&before| self.is(before, b')')) else { return false };
        let name = self.partner_of(before).and_then(|open| open.checked_sub(1));
        self.is(at + 1, b'{') && name.is_some_and(|name| self.is_ident(name) && !is_keyword(self.word(name)))
    }

    /// `void CALLBACK f(int i)`
    fn is_calling_convention(&self, at: usize) -> bool {
        is_builtin_type(self.word_before()) && self.is_ident(at + 1) && self.is(at + 2, b'(')
    }

    /// `namespace API lib {`
    fn namespace(&mut self, at: usize) {
        if self.is_ident(at + 1) && self.is_ident(at + 2) {
            self.mask(at + 1, at + 1, MaskKind::Other, "");
        }
    }

    /// `class EXPORT Name {`, `struct ALIGNED(16) Name {`
    fn class(&mut self, at: usize) {
        let first = at + 1;
        // Attributes with a meaning are masked as what they are.
        let attribute = matches!(
            self.word(first),
            "__align__" | "alignas" | "__attribute__" | "__attribute" | "__declspec"
        );
        if !self.is_ident(first) || is_keyword(self.word(first)) || attribute {
            return;
        }
        let ends = |at| matches!(self.kind(at), Some(Kind::Punct(b'{' | b':' | b'<')));
        match self.close(first + 1) {
            Some(close) if self.is_ident(close + 1) && ends(close + 2) => {
                self.mask(first, close, MaskKind::Other, "");
            }
            Some(_) => {}
            None if is_upper(self.word(first)) && self.is_ident(first + 1) && ends(first + 2) => {
                self.mask(first, first, MaskKind::Other, "");
            }
            None => {}
        }
    }
}
