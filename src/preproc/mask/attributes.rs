//! Which attributes does CUDA or a compiler define that the grammar does not know?

use super::words::{is_builtin_type, is_cuda_attribute, is_keyword, is_specifier};
use super::{Kind, MaskKind, Masker};

/// What stands for `decltype` where the grammar would take it for the beginning of a declaration.
pub(crate) const VALUE_OF_DECLTYPE: &str = "__typeof";

impl Masker<'_> {
    /// Masks the attribute or keyword at a token, if it is one. Whether it was.
    pub(super) fn attribute(&mut self, at: usize, word: &str) -> bool {
        match word {
            "__align__" => self.mask_call(at, MaskKind::Align),
            "__cluster_dims__" => self.mask_call(at, MaskKind::ClusterDims),
            "__maxnreg__" | "__block_size__" => self.mask_call(at, MaskKind::Other),
            "_Pragma" | "__pragma" => self.mask_call(at, MaskKind::Pragma),
            "__launch_bounds__" => self.launch_bounds(at),
            "alignas" => self.alignas(at),
            "__attribute__" | "__attribute" | "__declspec" => self.compiler_attribute(at),
            "__grid_constant__" | "__restrict" | "register" | "__nv_pure__" => {
                self.mask(at, at, MaskKind::Other, "");
                true
            }
            // A macro whose header was not found may be known with the type that another release leaves to the text.
            "void" if self.word_before() == "void" => {
                self.mask(at, at, MaskKind::Other, "");
                true
            }
            // The grammar takes it behind `*` only.
            "__restrict__" if self.before_is(b"&") => {
                self.mask(at, at, MaskKind::Other, "");
                true
            }
            "typename" => self.typename_of_value(at) || self.default_of_template(at),
            "decltype" => self.decltype_of_value(at),
            "class" => {
                self.default_of_template(at);
                false
            }
            "enum" => {
                self.base_of_enum(at);
                true
            }
            "template" => {
                self.class_instantiation(at);
                true
            }
            _ if is_cuda_attribute(word) => self.attributes_of_friend(at),
            "typeid" if is_builtin_type(self.word(at + 2)) => {
                self.mask_inside(at + 1);
                true
            }
            "asm" | "__asm__" | "__asm" => {
                self.asm_operands(at);
                true
            }
            _ => false,
        }
    }

    /// Masks a `#pragma unroll` that is what a macro stands for. By the standard it is no directive; nvcc takes it
    /// for one.
    pub(super) fn pragma_of_macro(&mut self, at: usize) {
        let ends = |it: &usize| {
            self.begins_line(*it) || matches!(self.word(*it), "for" | "while" | "do" | "{" | "}" | ";")
        };
        let Some(end) = (at + 2..=self.tokens.len()).find(ends) else { return };
        let said = self.between(at + 1, end);
        self.mask(at, end - 1, MaskKind::Pragma, said);
    }

    /// Masks `word(...)`.
    fn mask_call(&mut self, at: usize, kind: MaskKind) -> bool {
        let Some(close) = self.close(at + 1) else { return false };
        let args = self.between(at + 1, close).to_owned();
        self.mask(at, close, kind, &args);
        true
    }

    /// Masks what is between the parentheses.
    fn mask_inside(&mut self, open: usize) {
        if let Some(close) = self.close(open).filter(|&close| close > open + 1) {
            self.mask(open + 1, close - 1, MaskKind::Other, "");
        }
    }

    /// The grammar takes one or two plain expressions before the function's name.
    fn launch_bounds(&mut self, at: usize) -> bool {
        let Some(close) = self.close(at + 1) else { return false };
        let odd = |word: &str| matches!(word, "decltype" | "{" | "typename" | "");
        // A longer one is none, and looking for one in each other must stay cheap.
        let too_much = close - at > 256
            || self.commas(at + 1, close).len() > 1
            || close == at + 2
            || (at + 2..close).any(|inside| odd(self.word(inside)));
        let misplaced = matches!(self.kind(close + 1), Some(Kind::Punct(b'(' | b';' | b'{')) | None)
            || self.before_is(b")");
        if too_much || misplaced {
            return self.mask_call(at, MaskKind::LaunchBounds);
        }
        true
    }

    /// The grammar takes `alignas` among the specifiers, not after the declared name.
    fn alignas(&mut self, at: usize) -> bool {
        let fits = match self.before.map(|before| self.tokens[before].kind) {
            Some(Kind::Ident) => is_keyword(self.word_before()),
            Some(Kind::Punct(b'*' | b']' | b'&')) => false,
            _ => true,
        };
        fits || self.mask_call(at, MaskKind::Align)
    }

    /// `__attribute__((aligned(16)))` and its like.
    fn compiler_attribute(&mut self, at: usize) -> bool {
        let Some(close) = self.close(at + 1) else { return false };
        let aligned = (at + 2..close).find_map(|inside| {
            let names = matches!(self.word(inside), "aligned" | "__aligned__" | "align");
            let close = self.close(inside + 1).filter(|_| names)?;
            Some(self.between(inside + 1, close).to_owned())
        });
        let packed = (at + 2..close).any(|inside| matches!(self.word(inside), "packed" | "__packed__"));
        match aligned {
            _ if packed => self.mask(at, close, MaskKind::Packed, ""),
            Some(args) => self.mask(at, close, MaskKind::Align, &args),
            None => self.mask(at, close, MaskKind::Other, ""),
        }
        true
    }

    /// `typename C::Shape{}` as a value: the grammar reads it without the keyword.
    fn typename_of_value(&mut self, at: usize) -> bool {
        if self.word_before() == "using" {
            self.mask(at, at, MaskKind::Other, "");
            return true;
        }
        let begins = self.begins_statement() || matches!(self.word_before(), "else" | "do");
        if !(begins || self.before_is(b"(,={?:&|+-*") || self.word_before() == "return") {
            return false;
        }
        let Some(end) = self.end_of_type(at + 1).filter(|&end| !begins || self.makes_value(end)) else {
            return false;
        };
        if end > at + 1 {
            self.mask(at, at, MaskKind::Other, "");
            return true;
        }
        false
    }

    /// `decltype(f)()(x);`: the grammar takes what begins a statement so for a declaration. `__typeof`, which is as
    /// long, it takes for a call, and so for the value that this is.
    fn decltype_of_value(&mut self, at: usize) -> bool {
        let begins = self.begins_statement() || matches!(self.word_before(), "else" | "do");
        let open = self.close(at + 1).map(|close| close + 1);
        if begins && open.is_some_and(|open| self.is(open, b'(') && self.makes_value(open)) {
            self.blank(at, at, VALUE_OF_DECLTYPE);
        }
        true
    }

    /// Where the type's name at a token ends: the bracket behind it. None if a name follows that it declares.
    fn end_of_type(&self, first: usize) -> Option<usize> {
        let mut end = first;
        let mut angles = 0_u32;
        while let Some(kind) = self.kind(end) {
            match kind {
                Kind::Punct(b'<') => angles += 1,
                Kind::Punct(b'>') if angles > 0 => angles -= 1,
                Kind::Punct(b'(' | b'{') if angles == 0 => return Some(end),
                Kind::Punct(b'(') => end = self.partner_of(end).unwrap_or(end),
                Kind::Punct(b';' | b'{' | b')' | b'}') => return None,
                Kind::Punct(b':') => {}
                Kind::Ident
                    if angles == 0
                        && end > first
                        && self.is_ident(end - 1)
                        && self.word(end - 1) != "template" =>
                {
                    return None;
                }
                Kind::Ident => {}
                _ if angles == 0 => return None,
                _ => {}
            }
            end += 1;
            if end >= first + 64 {
                return None;
            }
        }
        Some(end)
    }

    /// Whether the bracket behind the type that begins a statement makes a value of it, and does not hold what is
    /// declared, as in `T (*f)(int);`.
    fn makes_value(&self, open: usize) -> bool {
        let Some(close) = self.partner_of(open).filter(|&close| close > open) else { return false };
        let next = close + 1;
        let is_member = self.is(next, b'.') || (self.is(next, b'-') && self.is(next + 1, b'>'));
        let is_used = is_member || self.is(next, b'(') || self.is(next, b';');
        let declares = || {
            (open + 1..close).all(|inside| {
                let kind = self.kind(inside);
                matches!(kind, Some(Kind::Ident | Kind::Punct(b'*' | b'&' | b':')))
            })
        };
        self.is(open, b'{') || close == open + 1 || is_member || (is_used && !declares())
    }

    /// `template <class T, class P = T*>`: the grammar takes no pointer as a default.
    fn default_of_template(&mut self, at: usize) -> bool {
        if !(self.before_is(b"<,") && self.is_ident(at + 1) && self.is(at + 2, b'=')) {
            return false;
        }
        let mut angles = 0_u32;
        for next in at + 3..at + 64 {
            match self.kind(next) {
                Some(Kind::Punct(b'<')) => angles += 1,
                Some(Kind::Punct(b'>')) if angles > 0 => angles -= 1,
                Some(Kind::Punct(b'*' | b'&')) if angles == 0 => self.mask(next, next, MaskKind::Other, ""),
                Some(Kind::Ident) if angles == 0 && self.word(next) == "const" => {
                    self.mask(next, next, MaskKind::Other, "");
                }
                Some(Kind::Ident | Kind::Punct(b':')) => {}
                _ if angles > 0 => {}
                _ => break,
            }
        }
        true
    }

    /// `enum : int {`: the grammar wants a name before the base.
    fn base_of_enum(&mut self, at: usize) {
        let brace = (at + 2..at + 10).find(|&next| !self.is_ident(next) && !self.is(next, b':'));
        if self.is(at + 1, b':')
            && let Some(brace) = brace.filter(|&brace| self.is(brace, b'{'))
        {
            self.mask(at + 1, brace - 1, MaskKind::Other, "");
        }
    }

    /// `template class Name<float>;`: the grammar takes it without `class`, as if it declared something. Nothing is
    /// instantiated by `extern template class Name<float>;`.
    fn class_instantiation(&mut self, at: usize) {
        if !matches!(self.word(at + 1), "class" | "struct") {
            return;
        }
        let end = (at + 2..at + 256).find(|&next| self.is(next, b';') || self.is(next, b'{'));
        let Some(end) = end.filter(|&end| self.is(end, b';')) else { return };
        let is_declared = self.before.is_some_and(|before| self.word(before) == "extern");
        match is_declared || !self.is(end - 1, b'>') {
            true => self.mask(at, end - 1, MaskKind::Other, ""),
            false => self.mask(at + 1, at + 1, MaskKind::Other, ""),
        }
    }

    /// `__device__ friend bool f()`: the grammar wants `friend` first.
    fn attributes_of_friend(&mut self, at: usize) -> bool {
        let end = (at..at + 8).find(|&next| !is_specifier(self.word(next)) || self.word(next) == "friend");
        if let Some(end) = end.filter(|&end| self.word(end) == "friend") {
            self.mask(at, end - 1, MaskKind::Other, "");
        }
        true
    }

    /// `void f(Operator op = {})`: the grammar takes no braces as a default.
    pub(super) fn default_of_parameter(&mut self, at: usize) {
        let Some(close) = self.partner_of(at + 1).filter(|_| self.is(at + 1, b'{')) else { return };
        let in_parameters = self.open.last().is_some_and(|&open| self.is(open, b'('));
        let ends = matches!(self.kind(close + 1), Some(Kind::Punct(b',' | b')')));
        if in_parameters && ends && self.before.is_some_and(|before| self.is_ident(before)) {
            self.mask(at, close, MaskKind::Other, "");
        }
    }

    /// In `asm(... : MACRO(p), "r"(x))` the macro stands for a constraint and its operand.
    fn asm_operands(&mut self, at: usize) {
        let open = (at + 1..at + 4).find(|&next| self.is(next, b'('));
        let Some((open, close)) = open.and_then(|open| Some((open, self.close(open)?))) else { return };
        for inside in open + 1..close.min(open + 4096) {
            let starts = matches!(self.kind(inside - 1), Some(Kind::Punct(b':' | b',')));
            if starts && self.is_ident(inside) && self.is(inside + 1, b'(') {
                self.blank(inside, inside, "\"\"");
            }
        }
    }

    /// `"ld [" REG "];"` and `"%" PRIu64`: the grammar wants strings side by side.
    pub(super) fn string_with_macro(&mut self, at: usize) {
        let next = at + 1;
        if self.is_ident(next)
            && self.tokens[next].space
            && !is_keyword(self.word(next))
            && (self.kind(next + 1) == Some(Kind::String)
                || super::super::declared::is_upper(self.word(next)))
            && self.word_before() != "extern"
        {
            self.mask(next, next, MaskKind::Other, "");
        }
    }

    /// `[=] __device__ (int i) {...}` and `[=](int i) __device__ {...}`.
    pub(super) fn attributes_of_lambda(&mut self, at: usize) {
        let mut end = at + 1;
        while is_cuda_attribute(self.word(end)) {
            end += 1;
        }
        if end == at + 1 {
            self.unknown_lambda_attribute(at);
            return;
        }
        let goes_on = match self.kind(end) {
            Some(Kind::Punct(b'(')) => self.is(at, b']'),
            Some(Kind::Punct(b'{')) => true,
            Some(Kind::Punct(b'-')) => self.is(end + 1, b'>'),
            Some(Kind::Ident) => matches!(self.word(end), "mutable" | "noexcept"),
            _ => false,
        };
        if goes_on {
            let is_device = (at + 1..end).any(|at| self.word(at) == "__device__");
            let kind = if is_device { MaskKind::DeviceLambda } else { MaskKind::Other };
            self.mask(at + 1, end - 1, kind, "");
        }
    }

    /// `[=] SOME_LAMBDA (int i) {...}`
    fn unknown_lambda_attribute(&mut self, at: usize) {
        let next = at + 1;
        if !self.is(at, b']') || !self.is_ident(next) || !self.is(next + 1, b'(') {
            return;
        }
        let Some(open) = self.partner_of(at) else { return };
        let captures = match open.checked_sub(1).and_then(|before| self.kind(before)) {
            None | Some(Kind::Punct(b'(' | b',' | b'=' | b'{' | b';' | b'}' | b'&')) => true,
            Some(Kind::Ident) => self.word(open - 1) == "return",
            _ => false,
        };
        let body =
            self.close(next + 1).is_some_and(|close| self.is(close + 1, b'{') || self.is(close + 1, b'-'));
        if captures && body && !is_specifier(self.word(next)) {
            self.mask(next, next, MaskKind::Other, "");
        }
    }
}
